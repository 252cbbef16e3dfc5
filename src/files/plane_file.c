#include "files/plane_file.h"

#include "base/text.h"
#include "base/version.h"
#include "files/hdf5_write.h"

/* The axes in the plane: the lower one, which is fastest, and the higher one. */
static void find_axes(const plane_file *plane, int axes[2]) {
  axes[0] = plane->axis == 0 ? 1 : 0;
  axes[1] = plane->axis == 2 ? 1 : 2;
}

static status write_fields(hid_t group, const char *path, const plane_file *plane) {
  int axes[2];
  hid_t data = -1;
  find_axes(plane, axes);
  const hsize_t shape[2] = {(hsize_t)plane->n[axes[1]], (hsize_t)plane->n[axes[0]]};
  const size_t bytes = (size_t)shape[0] * (size_t)shape[1] * kernels_element_size(plane->precision);
  CHECK_HDF5(STATUS_FILE, path, data = H5Gcreate2(group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  for (int f = 0; f < plane->fields; f++) {
    const void *values = (const char *)plane->values + (size_t)f * bytes;
    CHECK(hdf5_write_array(data, path, plane->names[f], hdf5_real(plane->precision), 2, shape, values));
    CHECK(hdf5_write_unit(data, path, plane->names[f], plane->units[f]));
  }
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
  for (int f = 0; f < plane->fields; f++) text_add(names, sizeof names, " ", "%s", plane->names[f]);
  CHECK_HDF5(STATUS_FILE, path, group = H5Gcreate2(file, "fdapp", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  CHECK(hdf5_write_attribute(group, path, "step", H5T_NATIVE_INT64, 0, &plane->step));
  CHECK(hdf5_write_attribute(group, path, "time", H5T_NATIVE_DOUBLE, 0, &plane->time));
  CHECK(hdf5_write_attribute(group, path, "dt", H5T_NATIVE_DOUBLE, 0, &plane->dt));
  CHECK(hdf5_write_attribute(group, path, "axis", H5T_NATIVE_INT, 0, &plane->axis));
  CHECK(hdf5_write_attribute(group, path, "index", H5T_NATIVE_INT64, 0, &plane->index));
  CHECK(hdf5_write_text(group, path, "fields", names));
  if (plane->length[0] != '\0') CHECK(hdf5_write_text(group, path, "units_length", plane->length));
  if (plane->time_unit[0] != '\0') CHECK(hdf5_write_text(group, path, "units_time", plane->time_unit));
  CHECK(hdf5_write_text(group, path, "version", FDAPP_VERSION));
  CHECK(hdf5_write_text(group, path, "revision", FDAPP_REVISION));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(group));
  return STATUS_OK;
}

static status write_plane(hid_t file, const char *path, const void *user) {
  const plane_file *plane = user;
  CHECK(write_image(file, path, plane));
  return write_about(file, path, plane);
}

status plane_file_write(const char *directory, const char *name, const plane_file *plane) {
  return hdf5_write_whole(directory, name, write_plane, plane);
}
