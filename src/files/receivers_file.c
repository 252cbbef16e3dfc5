#include "files/receivers_file.h"

#include "files/hdf5_write.h"

static status write_all(hid_t file, const char *path, const void *user) {
  const receivers_file *r = user;
  const hsize_t places[2] = {(hsize_t)r->receivers, 3}, rows[2] = {(hsize_t)r->rows, (hsize_t)r->receivers};
  CHECK(hdf5_write_array(file, path, "positions", H5T_NATIVE_DOUBLE, 2, places, r->positions));
  CHECK(hdf5_write_array(file, path, "time", H5T_NATIVE_DOUBLE, 1, rows, r->time));
  CHECK(hdf5_write_array(file, path, "step", H5T_NATIVE_INT64, 1, rows, r->step));
  CHECK(hdf5_write_array(file, path, "p", hdf5_real(r->precision), 2, rows, r->p));
  CHECK(hdf5_write_unit(file, path, "positions", r->length));
  CHECK(hdf5_write_unit(file, path, "time", r->time_unit));
  return hdf5_write_unit(file, path, "p", r->p_unit);
}

status receivers_file_write(const char *directory, const char *name, const receivers_file *file) {
  return hdf5_write_whole(directory, name, write_all, file);
}
