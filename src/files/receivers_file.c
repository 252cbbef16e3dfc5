#include "files/receivers_file.h"

#include "files/hdf5_library.h"
#include "files/hdf5_write.h"

#include <string.h>

static status write_all(hid_t file, const char *path, const void *user) {
  const receivers_file *r = user;
  const hsize_t places[2] = {(hsize_t)r->receivers, 3}, rows[2] = {(hsize_t)r->rows, (hsize_t)r->receivers};
  CHECK(hdf5_write_array(file, path, "positions", H5T_NATIVE_DOUBLE, 2, places, r->positions));
  CHECK(hdf5_write_array(file, path, "time", H5T_NATIVE_DOUBLE, 1, rows, r->time));
  CHECK(hdf5_write_array(file, path, "step", H5T_NATIVE_INT64, 1, rows, r->step));
  CHECK(hdf5_write_array(file, path, "p", hdf5_real(r->precision), 2, rows, r->p));
  CHECK(hdf5_write_unit(file, path, "positions", r->length));
  CHECK(hdf5_write_unit(file, path, "time", r->time_unit));
  CHECK(hdf5_write_unit(file, path, "p", r->p_unit));
  return hdf5_write_text(file, path, "weights", r->weights);
}

status receivers_file_write(const char *directory, const char *name, const receivers_file *file) {
  return hdf5_write_whole(directory, name, write_all, file);
}

static status read_weights(hid_t file, const char *path, char weights[RECEIVERS_WEIGHTS]) {
  hid_t attribute = -1, type = -1;
  if (H5Aexists(file, "weights") <= 0) return STATUS_OK;
  CHECK_HDF5(STATUS_FILE, path, attribute = H5Aopen(file, "weights", H5P_DEFAULT));
  CHECK_HDF5(STATUS_FILE, path, type = H5Aget_type(attribute));
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
      H5Tget_size(type) >= RECEIVERS_WEIGHTS || H5Aget_storage_size(attribute) != H5Tget_size(type))
    return status_fail(STATUS_FILE, "%s: its attribute weights is no word", path);
  CHECK_HDF5(STATUS_FILE, path, H5Aread(attribute, type, weights));
  return STATUS_OK;
}

status receivers_file_weights(const char *path, char weights[RECEIVERS_WEIGHTS]) {
  hid_t access = -1, file = -1;
  memset(weights, 0, RECEIVERS_WEIGHTS);
  CHECK(hdf5_library_start());
  CHECK_HDF5(STATUS_FILE, path, access = H5Pcreate(H5P_FILE_ACCESS));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
  CHECK_HDF5(STATUS_FILE, path, file = H5Fopen(path, H5F_ACC_RDONLY, access));
  const status result = read_weights(file, path, weights);
  (void)H5Fclose(file);
  (void)H5Pclose(access);
  return result;
}
