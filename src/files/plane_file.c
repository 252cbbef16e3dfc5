#include "files/plane_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/version.h"
#include "files/hdf5_library.h"
#include "files/hdf5_write.h"

enum { FIRST_BYTES = 1 << 16 }; /* increment of a file in memory */

/* The axes in the plane: the lower one, which is fastest, and the higher one. */
static void find_axes(const plane_file *plane, int axes[2]) {
  axes[0] = plane->axis == 0 ? 1 : 0;
  axes[1] = plane->axis == 2 ? 1 : 2;
}

static status write_fields(hid_t group, const char *path, const plane_file *plane) {
  int axes[2];
  hid_t data = -1, space = -1, dataset = -1, plist = -1;
  find_axes(plane, axes);
  const hsize_t shape[2] = {(hsize_t)plane->n[axes[1]], (hsize_t)plane->n[axes[0]]};
  const size_t bytes = (size_t)shape[0] * (size_t)shape[1] * kernels_element_size(plane->precision);
  const hid_t type = hdf5_real(plane->precision);
  CHECK_HDF5(STATUS_FILE, path, data = H5Gcreate2(group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  CHECK_HDF5(STATUS_FILE, path, plist = H5Pcreate(H5P_DATASET_CREATE));
  /* Without times, equal contents are equal bytes. */
  CHECK_HDF5(STATUS_FILE, path, H5Pset_obj_track_times(plist, 0));
  CHECK_HDF5(STATUS_FILE, path, space = H5Screate_simple(2, shape, NULL));
  for (int f = 0; f < plane->fields; f++) {
    const void *values = (const char *)plane->values + (size_t)f * bytes;
    CHECK_HDF5(STATUS_FILE, path,
               dataset = H5Dcreate2(data, plane->names[f], type, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    CHECK_HDF5(STATUS_FILE, path, H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    CHECK_HDF5(STATUS_FILE, path, H5Dclose(dataset));
  }
  CHECK_HDF5(STATUS_FILE, path, H5Sclose(space));
  CHECK_HDF5(STATUS_FILE, path, H5Pclose(plist));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(data));
  return STATUS_OK;
}

static status write_image(hid_t file, const char *path, const plane_file *plane) {
  int extent[6] = {0};
  double origin[3] = {0.0};
  hid_t group = -1;
  for (int d = 0; d < 3; d++) {
    if (d != plane->axis) extent[2 * d + 1] = (int)plane->n[d] - 1;
  }
  origin[plane->axis] = (double)plane->index * plane->h[plane->axis];
  CHECK(hdf5_write_image(file, path, extent, origin, plane->h, &group));
  CHECK(write_fields(group, path, plane));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(group));
  return STATUS_OK;
}

static status write_about(hid_t file, const char *path, const plane_file *plane) {
  hid_t group = -1;
  char names[512] = "";
  for (int f = 0; f < plane->fields; f++) {
    const size_t used = strlen(names);
    (void)snprintf(names + used, sizeof names - used, "%s%s", f > 0 ? " " : "", plane->names[f]);
  }
  CHECK_HDF5(STATUS_FILE, path, group = H5Gcreate2(file, "fdapp", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  CHECK(hdf5_write_attribute(group, path, "step", H5T_NATIVE_INT64, 0, &plane->step));
  CHECK(hdf5_write_attribute(group, path, "time", H5T_NATIVE_DOUBLE, 0, &plane->time));
  CHECK(hdf5_write_attribute(group, path, "dt", H5T_NATIVE_DOUBLE, 0, &plane->dt));
  CHECK(hdf5_write_attribute(group, path, "axis", H5T_NATIVE_INT, 0, &plane->axis));
  CHECK(hdf5_write_attribute(group, path, "index", H5T_NATIVE_INT64, 0, &plane->index));
  CHECK(hdf5_write_text(group, path, "fields", names));
  CHECK(hdf5_write_text(group, path, "version", FDAPP_VERSION));
  CHECK(hdf5_write_text(group, path, "revision", FDAPP_REVISION));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(group));
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
static status make_file(const char *path, const plane_file *plane, void **bytes, size_t *size) {
  hid_t access = -1, file = -1;
  CHECK(hdf5_library_start());
  CHECK_HDF5(STATUS_FILE, path, access = H5Pcreate(H5P_FILE_ACCESS));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fapl_core(access, FIRST_BYTES, 0));
  CHECK_HDF5(STATUS_FILE, path, file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
  status result = write_image(file, path, plane);
  if (result == STATUS_OK) result = write_about(file, path, plane);
  if (result == STATUS_OK) result = take_bytes(file, path, bytes, size);
  if (H5Fclose(file) < 0 && result == STATUS_OK) result = hdf5_failure(STATUS_FILE, path, "H5Fclose");
  (void)H5Pclose(access);
  return result;
}

status plane_file_write(const char *directory, const char *name, const plane_file *plane) {
  void *bytes = NULL;
  size_t size = 0;
  status result = make_file(name, plane, &bytes, &size);
  if (result == STATUS_OK) result = file_write_bytes(directory, name, bytes, size);
  free(bytes);
  return result;
}
