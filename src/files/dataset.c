#include "files/dataset.h"

#include <errno.h>
#include <hdf5.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/hdf5_library.h"

/* Handles of an open dataset; the file is closed with all of them (H5F_CLOSE_STRONG). */
typedef struct handles {
  hid_t file, dataset, space;
} handles;

static status fail(const dataset *d, status code, const char *what) {
  return status_fail(code, "%s = %s: %s", d->key, d->path, what);
}

static status open_file(const dataset *d, hid_t *file) {
  char what[256];
  if (access(d->path, R_OK) != 0) {
    (void)snprintf(what, sizeof what, "cannot be opened: %s", strerror(errno));
    return fail(d, STATUS_FILE, what);
  }
  const hid_t access_list = H5Pcreate(H5P_FILE_ACCESS);
  *file = -1;
  if (access_list >= 0 && H5Pset_fclose_degree(access_list, H5F_CLOSE_STRONG) >= 0)
    *file = H5Fopen(d->path, H5F_ACC_RDONLY, access_list);
  if (access_list >= 0) (void)H5Pclose(access_list);
  return *file >= 0 ? STATUS_OK : fail(d, STATUS_FILE, "is no HDF5 file that can be opened");
}

/* Returns 1 if the dataset exists. HDF5 can only look up a name in a group that exists, so each group on the
 * path is tested. */
static int exists(hid_t file, const char *name) {
  char part[4096];
  (void)snprintf(part, sizeof part, "%s", name);
  for (char *c = part + (part[0] == '/'); *c != '\0'; c++) {
    if (*c != '/') continue;
    *c = '\0';
    if (H5Lexists(file, part, H5P_DEFAULT) <= 0) return 0;
    *c = '/';
  }
  return H5Lexists(file, part, H5P_DEFAULT) > 0;
}

/* Checks the dataset's shape. [out] n: its points. */
static status check_shape(const dataset *d, hid_t space, int64_t n[3]) {
  hsize_t found[H5S_MAX_RANK];
  char shape[256] = "", what[768];
  const int rank = H5Sget_simple_extent_dims(space, found, NULL);
  int fits = rank == 3;
  for (int i = 0; i < 3 && fits; i++) {
    const int64_t has = found[i] <= KERNELS_MOST_POINTS ? (int64_t)found[i] : -1;
    fits = has == d->n[2 - i] || (d->least > 0 && has >= d->least);
  }
  for (int i = 0; i < 3 && fits; i++) n[2 - i] = (int64_t)found[i];
  if (fits) return STATUS_OK;
  for (int i = 0; i < rank && strlen(shape) < 200; i++) {
    const size_t used = strlen(shape);
    (void)snprintf(shape + used, sizeof shape - used, "%s%llu", i > 0 ? ", " : "",
                   (unsigned long long)found[i]);
  }
  if (d->least > 0) {
    (void)snprintf(what, sizeof what,
                   "dataset %.200s has shape (%s); accepted: three axes of %" PRId64 " points and more",
                   d->name, shape, d->least);
  } else {
    (void)snprintf(what, sizeof what,
                   "dataset %.200s has shape (%s); accepted: (%" PRId64 ", %" PRId64 ", %" PRId64
                   "), nz, ny, nx; another grid with resample = yes",
                   d->name, shape, d->n[2], d->n[1], d->n[0]);
  }
  return fail(d, STATUS_USAGE, what);
}

static status check_type(const dataset *d, hid_t dataset) {
  const hid_t type = H5Dget_type(dataset);
  const H5T_class_t class = H5Tget_class(type);
  const int number = class == H5T_INTEGER || (class == H5T_FLOAT && H5Tget_size(type) <= sizeof(double));
  (void)H5Tclose(type);
  if (number) return STATUS_OK;
  char what[512];
  (void)snprintf(what, sizeof what,
                 "dataset %.200s has another type; accepted: integers, or half, single or double precision",
                 d->name);
  return fail(d, STATUS_USAGE, what);
}

static status open_dataset(const dataset *d, handles *h) {
  char what[512];
  *h = (handles){-1, -1, -1};
  CHECK(hdf5_library_start());
  CHECK(open_file(d, &h->file));
  if (!exists(h->file, d->name)) {
    (void)snprintf(what, sizeof what, "has no dataset %.200s", d->name);
    return fail(d, STATUS_USAGE, what);
  }
  h->dataset = H5Dopen2(h->file, d->name, H5P_DEFAULT);
  h->space = h->dataset >= 0 ? H5Dget_space(h->dataset) : -1;
  if (h->space < 0) {
    (void)snprintf(what, sizeof what, "%.200s is no dataset", d->name);
    return fail(d, STATUS_USAGE, what);
  }
  return check_type(d, h->dataset);
}

static void close_dataset(handles *h) {
  if (h->space >= 0) (void)H5Sclose(h->space);
  if (h->dataset >= 0) (void)H5Dclose(h->dataset);
  if (h->file >= 0) (void)H5Fclose(h->file);
}

/* Reads `count` numbers of an attribute of /VTKHDF. [out] has: 0 if there is no such attribute. */
static status read_attribute(const dataset *d, const handles *h, const char *name, int count, double *values,
                             int *has) {
  char what[256];
  *has = exists(h->file, "VTKHDF") && H5Aexists_by_name(h->file, "VTKHDF", name, H5P_DEFAULT) > 0;
  if (!*has) return STATUS_OK;
  const hid_t attribute = H5Aopen_by_name(h->file, "VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
  int good = space >= 0 && H5Sget_simple_extent_npoints(space) == count &&
             H5Aread(attribute, H5T_NATIVE_DOUBLE, values) >= 0;
  for (int i = 0; i < count; i++) good = good && fabs(values[i]) <= 1e30;
  if (space >= 0) (void)H5Sclose(space);
  if (attribute >= 0) (void)H5Aclose(attribute);
  if (good) return STATUS_OK;
  (void)snprintf(what, sizeof what, "attribute %s of /VTKHDF; accepted: %d numbers of at most 1e30 in size",
                 name, count);
  return fail(d, STATUS_USAGE, what);
}

/* Reads where the points lie, as a VTK image says it: the first one has the index in WholeExtent. */
static status read_place(const dataset *d, const handles *h, dataset_place *place) {
  double extent[6] = {0.0};
  int has = 0;
  *place = (dataset_place){.spacing = {1.0, 1.0, 1.0}};
  CHECK(read_attribute(d, h, "Spacing", 3, place->spacing, &place->known));
  if (!place->known) return STATUS_OK;
  CHECK(read_attribute(d, h, "Origin", 3, place->origin, &has));
  CHECK(read_attribute(d, h, "WholeExtent", 6, extent, &has));
  int good = 1;
  for (int axis = 0; axis < 3; axis++) {
    good = good && place->spacing[axis] > 0.0;
    place->origin[axis] += extent[(size_t)2 * (size_t)axis] * place->spacing[axis];
  }
  return good ? STATUS_OK
              : fail(d, STATUS_USAGE,
                     "attribute Spacing of /VTKHDF; accepted: three numbers above 0, at most 1e30");
}

status dataset_check(dataset *d, dataset_place *place) {
  handles h;
  status result = open_dataset(d, &h);
  if (result == STATUS_OK) result = check_shape(d, h.space, d->n);
  if (result == STATUS_OK) result = read_place(d, &h, place);
  close_dataset(&h);
  return result;
}

static status describe(const dataset *d, const handles *h, dataset_about *about) {
  hsize_t found[H5S_MAX_RANK] = {0};
  char what[512];
  const int dimensions = H5Sget_simple_extent_dims(h->space, found, NULL);
  if (dimensions != 3 || found[0] < 1 || found[1] < 1 || found[2] < 1) {
    (void)snprintf(what, sizeof what,
                   "dataset %.200s has %d dimensions; accepted: three, nz, ny, nx, each at least 1", d->name,
                   dimensions);
    return fail(d, STATUS_USAGE, what);
  }
  for (int axis = 0; axis < 3; axis++) about->n[axis] = (int64_t)found[2 - axis];
  const hid_t type = H5Dget_type(h->dataset);
  const size_t exact = H5Tget_class(type) == H5T_INTEGER ? sizeof(int16_t) : sizeof(float);
  about->precision = H5Tget_size(type) <= exact ? PRECISION_SINGLE : PRECISION_DOUBLE;
  (void)H5Tclose(type);
  return read_place(d, h, &about->place);
}

status dataset_describe(const dataset *d, dataset_about *about) {
  handles h;
  status result = open_dataset(d, &h);
  if (result == STATUS_OK) result = describe(d, &h, about);
  close_dataset(&h);
  return result;
}

/* Reads one plane per call, far below the 2 GiB to which some file systems limit a call. */
static status read_planes(const dataset *d, const handles *h, precision precision, int64_t z0, int64_t count,
                          void *planes) {
  const hid_t type = precision == PRECISION_SINGLE ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  const hsize_t plane[3] = {1, (hsize_t)d->n[1], (hsize_t)d->n[0]};
  const size_t bytes = (size_t)d->n[1] * (size_t)d->n[0] * kernels_element_size(precision);
  const hid_t memory = H5Screate_simple(3, plane, NULL);
  int read = memory >= 0;
  for (int64_t z = 0; z < count && read; z++) {
    const hsize_t start[3] = {(hsize_t)(z0 + z), 0, 0};
    read = H5Sselect_hyperslab(h->space, H5S_SELECT_SET, start, NULL, plane, NULL) >= 0 &&
           H5Dread(h->dataset, type, memory, h->space, H5P_DEFAULT, (char *)planes + (size_t)z * bytes) >= 0;
  }
  if (memory >= 0) (void)H5Sclose(memory);
  return read ? STATUS_OK : fail(d, STATUS_FILE, "cannot be read");
}

status dataset_read(const dataset *d, precision precision, int64_t z0, int64_t count, void *planes) {
  handles h;
  int64_t n[3];
  status result = open_dataset(d, &h);
  if (result == STATUS_OK) result = check_shape(d, h.space, n);
  if (result == STATUS_OK) result = read_planes(d, &h, precision, z0, count, planes);
  close_dataset(&h);
  return result;
}

/* Reads the value at (z, y, x) in double: rounded to single precision it may be infinite. */
static status read_value(const dataset *d, const hsize_t at[3], double *value) {
  static const hsize_t one[3] = {1, 1, 1};
  handles h;
  status result = open_dataset(d, &h);
  const hid_t memory = H5Screate_simple(1, one, NULL);
  if (result == STATUS_OK &&
      (memory < 0 || H5Sselect_hyperslab(h.space, H5S_SELECT_SET, at, NULL, one, NULL) < 0 ||
       H5Dread(h.dataset, H5T_NATIVE_DOUBLE, memory, h.space, H5P_DEFAULT, value) < 0))
    result = fail(d, STATUS_FILE, "cannot be read");
  if (memory >= 0) (void)H5Sclose(memory);
  close_dataset(&h);
  return result;
}

/* Refuses the value at point i of planes from z0 on. */
static status refuse_value(const dataset *d, int64_t z0, int64_t i, double largest) {
  const int64_t nx = d->n[0], plane = nx * d->n[1];
  const int64_t at[3] = {z0 + i / plane, i % plane / nx, i % nx};
  double value = 0.0;
  CHECK(read_value(d, (const hsize_t[3]){(hsize_t)at[0], (hsize_t)at[1], (hsize_t)at[2]}, &value));
  return status_fail(STATUS_USAGE,
                     "%s = %s: dataset %.200s is %g at [%" PRId64 ", %" PRId64 ", %" PRId64
                     "] (z, y, x); accepted: a magnitude of at most %g",
                     d->key, d->path, d->name, isnan(value) ? fabs(value) : value, at[0], at[1], at[2],
                     largest);
}

status dataset_check_values(const dataset *d, precision precision, int64_t z0, int64_t count,
                            const void *planes, double largest) {
  const int64_t plane = d->n[0] * d->n[1];
  for (int64_t i = 0; i < count * plane; i++) {
    const double value =
        precision == PRECISION_SINGLE ? (double)((const float *)planes)[i] : ((const double *)planes)[i];
    if (!(fabs(value) <= largest)) return refuse_value(d, z0, i, largest);
  }
  return STATUS_OK;
}
