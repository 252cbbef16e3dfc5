#include "files/hdf5_write.h"

#include "base/file.h"
#include "files/hdf5_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps the innermost message of the error stack, which names the system's reason. */
static herr_t keep_words(unsigned n, const H5E_error2_t *error, void *words) {
  (void)n;
  (void)snprintf(words, 256, "%s", error->desc != NULL ? error->desc : "");
  return 1;
}

status hdf5_failure(status code, const char *path, const char *call) {
  char words[256] = "";
  const char *equals = strstr(call, "= ");
  if (equals != NULL) call = equals + 2;
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_words, words);
  return status_fail(code, "%s: %.*s: %s", path, (int)strcspn(call, "("), call, words);
}

hid_t hdf5_real(precision precision) {
  return precision == PRECISION_SINGLE ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

status hdf5_write_attribute(hid_t object, const char *path, const char *name, hid_t type, hsize_t count,
                            const void *values) {
  hid_t space = -1;
  hid_t attribute = -1;
  CHECK_HDF5(STATUS_FILE, path,
             space = count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL));
  CHECK_HDF5(STATUS_FILE, path, attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  CHECK_HDF5(STATUS_FILE, path, H5Awrite(attribute, type, values));
  CHECK_HDF5(STATUS_FILE, path, H5Aclose(attribute));
  CHECK_HDF5(STATUS_FILE, path, H5Sclose(space));
  return STATUS_OK;
}

status hdf5_write_text(hid_t object, const char *path, const char *name, const char *text) {
  hid_t type = -1;
  CHECK_HDF5(STATUS_FILE, path, type = H5Tcopy(H5T_C_S1));
  /* the size is the text's, without a terminator: readers of VTKHDF 1.0 accept exactly the 9 bytes of
   * "ImageData" */
  CHECK_HDF5(STATUS_FILE, path, H5Tset_size(type, text[0] == '\0' ? 1 : strlen(text)));
  CHECK_HDF5(STATUS_FILE, path, H5Tset_strpad(type, H5T_STR_NULLPAD));
  CHECK(hdf5_write_attribute(object, path, name, type, 0, text));
  CHECK_HDF5(STATUS_FILE, path, H5Tclose(type));
  return STATUS_OK;
}

status hdf5_write_unit(hid_t file, const char *path, const char *place, const char *unit) {
  hid_t dataset = -1;
  if (unit[0] == '\0') return STATUS_OK;
  CHECK_HDF5(STATUS_FILE, path, dataset = H5Dopen2(file, place, H5P_DEFAULT));
  CHECK(hdf5_write_text(dataset, path, "units", unit));
  CHECK_HDF5(STATUS_FILE, path, H5Dclose(dataset));
  return STATUS_OK;
}

status hdf5_write_image(hid_t file, const char *path, const int extent[6], const double origin[3],
                        const double spacing[3], hid_t *group) {
  static const int version[2] = {1, 0};
  static const double direction[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  CHECK_HDF5(STATUS_FILE, path, *group = H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  CHECK(hdf5_write_attribute(*group, path, "Version", H5T_NATIVE_INT, 2, version));
  CHECK(hdf5_write_text(*group, path, "Type", "ImageData"));
  CHECK(hdf5_write_attribute(*group, path, "WholeExtent", H5T_NATIVE_INT, 6, extent));
  CHECK(hdf5_write_attribute(*group, path, "Origin", H5T_NATIVE_DOUBLE, 3, origin));
  CHECK(hdf5_write_attribute(*group, path, "Spacing", H5T_NATIVE_DOUBLE, 3, spacing));
  return hdf5_write_attribute(*group, path, "Direction", H5T_NATIVE_DOUBLE, 9, direction);
}

status hdf5_reserve_dataset(hid_t file, const char *path, const char *name, hid_t type, int rank,
                            const hsize_t *n, int64_t *offset) {
  hid_t plist = -1;
  hid_t space = -1;
  hid_t dataset = -1;
  CHECK_HDF5(STATUS_FILE, path, plist = H5Pcreate(H5P_DATASET_CREATE));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_layout(plist, H5D_CONTIGUOUS));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_obj_track_times(plist, 0));
  CHECK_HDF5(STATUS_FILE, path, space = H5Screate_simple(rank, n, NULL));
  CHECK_HDF5(STATUS_FILE, path,
             dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT));
  const haddr_t place = H5Dget_offset(dataset);
  if (place == HADDR_UNDEF) return hdf5_failure(STATUS_FILE, path, "H5Dget_offset");
  *offset = (int64_t)place;
  CHECK_HDF5(STATUS_FILE, path, H5Dclose(dataset));
  CHECK_HDF5(STATUS_FILE, path, H5Sclose(space));
  CHECK_HDF5(STATUS_FILE, path, H5Pclose(plist));
  return STATUS_OK;
}

/* Copies the bytes of a file in memory. [out] bytes: the caller frees them, whatever the status. */
static status take_bytes(hid_t file, const char *path, void **bytes, size_t *size) {
  CHECK_HDF5(STATUS_FILE, path, H5Fflush(file, H5F_SCOPE_GLOBAL));
  const ssize_t needed = H5Fget_file_image(file, NULL, 0);
  if (needed <= 0) return hdf5_failure(STATUS_FILE, path, "H5Fget_file_image");
  *size = (size_t)needed;
  *bytes = malloc(*size);
  if (*bytes == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for %zu bytes", path, *size);
  CHECK_HDF5(STATUS_FILE, path, H5Fget_file_image(file, *bytes, *size));
  return STATUS_OK;
}

/* Makes the file in memory only: after a failed write to disk HDF5 1.10 crashes in MPI_Finalize. */
static status make_file(const char *path, hdf5_writer *write, const void *user, void **bytes, size_t *size) {
  enum { FIRST_BYTES = 1 << 16 }; /* increment of a file in memory */
  hid_t access = -1, file = -1;
  CHECK(hdf5_library_start());
  CHECK_HDF5(STATUS_FILE, path, access = H5Pcreate(H5P_FILE_ACCESS));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fapl_core(access, FIRST_BYTES, 0));
  CHECK_HDF5(STATUS_FILE, path, file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
  status result = write(file, path, user);
  if (result == STATUS_OK) result = take_bytes(file, path, bytes, size);
  if (H5Fclose(file) < 0 && result == STATUS_OK) result = hdf5_failure(STATUS_FILE, path, "H5Fclose");
  (void)H5Pclose(access);
  return result;
}

status hdf5_write_whole(const char *directory, const char *name, hdf5_writer *write, const void *user) {
  void *bytes = NULL;
  size_t size = 0;
  status result = make_file(name, write, user, &bytes, &size);
  if (result == STATUS_OK) result = file_write_bytes(directory, name, bytes, size);
  free(bytes);
  return result;
}

status hdf5_write_array(hid_t file, const char *path, const char *name, hid_t type, int rank,
                        const hsize_t *n, const void *values) {
  hid_t space = -1, dataset = -1, plist = -1;
  CHECK_HDF5(STATUS_FILE, path, plist = H5Pcreate(H5P_DATASET_CREATE));
  /* Without times, equal contents are equal bytes. */
  CHECK_HDF5(STATUS_FILE, path, H5Pset_obj_track_times(plist, 0));
  CHECK_HDF5(STATUS_FILE, path, space = H5Screate_simple(rank, n, NULL));
  CHECK_HDF5(STATUS_FILE, path,
             dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT));
  CHECK_HDF5(STATUS_FILE, path, H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  CHECK_HDF5(STATUS_FILE, path, H5Dclose(dataset));
  CHECK_HDF5(STATUS_FILE, path, H5Sclose(space));
  CHECK_HDF5(STATUS_FILE, path, H5Pclose(plist));
  return STATUS_OK;
}
