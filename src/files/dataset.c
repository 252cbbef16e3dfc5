#include "files/dataset.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "files/dataset_parts.h"
#include "files/hdf5_library.h"

/* Handles of an open dataset; the file is closed with all of them (H5F_CLOSE_STRONG). */
typedef struct handles {
  hid_t file, dataset, space;
} handles;

status dataset_fail(const dataset *d, status code, const char *format, ...) {
  char what[STATUS_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return status_fail(code, "%s = %s: %s", d->key, d->path, what);
}

/* Why a file that can be read is not opened as one of HDF5. */
static const char *unopened(const char *path) {
  static const char signature[8] = "\x89HDF\r\n\x1a\n";
  struct stat about;
  char first[sizeof signature] = "";
  if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) return "is a directory; accepted: an HDF5 file";
  FILE *file = fopen(path, "rb");
  const size_t read = file != NULL ? fread(first, 1, sizeof first, file) : 0;
  if (file != NULL) (void)fclose(file);
  if (read == 0) return "is empty; accepted: an HDF5 file";
  if (memcmp(first, signature, sizeof first) == 0)
    return "is an HDF5 file that cannot be opened: it is damaged, cut off, or being written";
  return "is no HDF5 file that can be opened; of numpy's arrays fdpost.write_field makes one";
}

status dataset_open(const dataset *d, hid_t *file) {
  if (access(d->path, R_OK) != 0)
    return dataset_fail(d, STATUS_FILE, "cannot be opened: %s", strerror(errno));
  const hid_t access_list = H5Pcreate(H5P_FILE_ACCESS);
  *file = -1;
  if (access_list >= 0 && H5Pset_fclose_degree(access_list, H5F_CLOSE_STRONG) >= 0)
    *file = H5Fopen(d->path, H5F_ACC_RDONLY, access_list);
  if (access_list >= 0) (void)H5Pclose(access_list);
  return *file >= 0 ? STATUS_OK : dataset_fail(d, STATUS_FILE, "%s", unopened(d->path));
}

/* Checks the dataset's shape. [out] n: its points. */
static status check_shape(const dataset *d, hid_t space, int64_t n[3]) {
  hsize_t found[H5S_MAX_RANK];
  char shape[256] = "";
  const int rank = H5Sget_simple_extent_dims(space, found, NULL);
  int fits = rank == 3;
  for (int i = 0; i < 3 && fits; i++) {
    const int64_t has = found[i] <= KERNELS_MOST_POINTS ? (int64_t)found[i] : -1;
    fits = has == d->n[2 - i] || (d->least > 0 && has >= d->least);
  }
  for (int i = 0; i < 3 && fits; i++) n[2 - i] = (int64_t)found[i];
  if (fits) return STATUS_OK;
  for (int i = 0; i < rank && strlen(shape) < 200; i++)
    text_add(shape, sizeof shape, ", ", "%llu", (unsigned long long)found[i]);
  if (d->least > 0)
    return dataset_fail(d, STATUS_USAGE,
                        "dataset %.200s has shape (%s); accepted: three axes of %" PRId64 " points and more",
                        d->name, shape, d->least);
  return dataset_fail(d, STATUS_USAGE,
                      "dataset %.200s has shape (%s); accepted: (%" PRId64 ", %" PRId64 ", %" PRId64
                      "), nz, ny, nx; another grid with resample = yes",
                      d->name, shape, d->n[2], d->n[1], d->n[0]);
}

static status check_type(const dataset *d, hid_t dataset) {
  const hid_t type = H5Dget_type(dataset);
  const H5T_class_t class = H5Tget_class(type);
  const int number = class == H5T_INTEGER || (class == H5T_FLOAT && H5Tget_size(type) <= sizeof(double));
  (void)H5Tclose(type);
  if (number) return STATUS_OK;
  return dataset_fail(
      d, STATUS_USAGE,
      "dataset %.200s has another type; accepted: integers, or half, single or double precision", d->name);
}

static status open_dataset(const dataset *d, handles *h) {
  *h = (handles){-1, -1, -1};
  CHECK(hdf5_library_start());
  CHECK(dataset_open(d, &h->file));
  if (dataset_link_exists(h->file, d->name)) h->dataset = H5Dopen2(h->file, d->name, H5P_DEFAULT);
  h->space = h->dataset >= 0 ? H5Dget_space(h->dataset) : -1;
  return h->space >= 0 ? check_type(d, h->dataset) : dataset_refuse_name(d, h->file);
}

int dataset_has(const char *path, const char *name) {
  const dataset d = {.key = "file", .path = path, .name = name};
  hid_t file = -1;
  if (hdf5_library_start() != STATUS_OK || dataset_open(&d, &file) != STATUS_OK) {
    status_clear();
    return 0;
  }
  const int has = dataset_link_exists(file, name);
  (void)H5Fclose(file);
  return has;
}

static void close_dataset(handles *h) {
  if (h->space >= 0) (void)H5Sclose(h->space);
  if (h->dataset >= 0) (void)H5Dclose(h->dataset);
  if (h->file >= 0) (void)H5Fclose(h->file);
}

/* Reads `count` numbers of an attribute of the group VTKHDF. [out] has: 0 if there is no such attribute. */
static status read_attribute(const dataset *d, hid_t group, const char *name, int count, double *values,
                             int *has) {
  const int found = dataset_numbers(group, name, count, values);
  int good = found == count;
  *has = found != 0;
  for (int i = 0; i < count && good; i++) good = fabs(values[i]) <= 1e30;
  if (!*has || good) return STATUS_OK;
  return dataset_fail(d, STATUS_USAGE,
                      "attribute %s of /VTKHDF; accepted: %d numbers of at most 1e30 in size", name, count);
}

/* Refuses axes of the image that are not those of the grid. */
static status check_direction(const dataset *d, hid_t group) {
  double direction[9];
  int has = 0;
  CHECK(read_attribute(d, group, "Direction", 9, direction, &has));
  for (int i = 0; i < 9 && has; i++) {
    if (direction[i] != (i % 4 == 0 ? 1.0 : 0.0))
      return dataset_fail(
          d, STATUS_USAGE,
          "attribute Direction of /VTKHDF turns or mirrors the axes; accepted: 1 0 0 0 1 0 0 0 1");
  }
  return STATUS_OK;
}

/* Reads where the points lie, as a VTK image says it: the first one has the index in WholeExtent. */
static status read_image(const dataset *d, hid_t group, dataset_place *place) {
  double extent[6] = {0.0};
  int has = 0;
  dataset_place image = {.known = {1, 1, 1}};
  CHECK(check_direction(d, group));
  CHECK(read_attribute(d, group, "Spacing", 3, image.spacing, &has));
  if (!has) return STATUS_OK;
  *place = image;
  CHECK(read_attribute(d, group, "Origin", 3, place->origin, &has));
  CHECK(read_attribute(d, group, "WholeExtent", 6, extent, &has));
  int good = 1;
  for (int axis = 0; axis < 3; axis++) {
    good = good && place->spacing[axis] > 0.0;
    place->origin[axis] += extent[(size_t)2 * (size_t)axis] * place->spacing[axis];
  }
  return good ? STATUS_OK
              : dataset_fail(d, STATUS_USAGE,
                             "attribute Spacing of /VTKHDF; accepted: three numbers above 0, at most 1e30");
}

/* Refuses numbers that are absent or mean something else. [out] absent: see dataset_meaning; place: of the
 * points. */
static status read_meaning(const dataset *d, const handles *h, dataset_absent *absent, dataset_place *place) {
  *absent = (dataset_absent){.low = -HUGE_VAL, .high = HUGE_VAL};
  CHECK(dataset_complete(d, h->dataset, absent));
  CHECK(dataset_meaning(d, h->dataset, absent, place));
  const hid_t group =
      dataset_link_exists(h->file, "VTKHDF") ? H5Gopen2(h->file, "VTKHDF", H5P_DEFAULT) : (hid_t)-1;
  if (group < 0) return STATUS_OK;
  const status result = read_image(d, group, place);
  (void)H5Gclose(group);
  return result;
}

status dataset_check(dataset *d, dataset_place *place) {
  handles h;
  status result = open_dataset(d, &h);
  if (result == STATUS_OK) result = check_shape(d, h.space, d->n);
  if (result == STATUS_OK) result = read_meaning(d, &h, &d->absent, place);
  close_dataset(&h);
  return result;
}

static status describe(const dataset *d, const handles *h, dataset_about *about) {
  hsize_t found[H5S_MAX_RANK] = {0};
  const int dimensions = H5Sget_simple_extent_dims(h->space, found, NULL);
  if (dimensions != 3 || found[0] < 1 || found[1] < 1 || found[2] < 1) {
    return dataset_fail(d, STATUS_USAGE,
                        "dataset %.200s has %d dimensions; accepted: three, nz, ny, nx, each at least 1",
                        d->name, dimensions);
  }
  for (int axis = 0; axis < 3; axis++) about->n[axis] = (int64_t)found[2 - axis];
  const hid_t type = H5Dget_type(h->dataset);
  const size_t exact = H5Tget_class(type) == H5T_INTEGER ? sizeof(int16_t) : sizeof(float);
  about->precision = H5Tget_size(type) <= exact ? PRECISION_SINGLE : PRECISION_DOUBLE;
  (void)H5Tclose(type);
  dataset_absent absent;
  return read_meaning(d, h, &absent, &about->place);
}

status dataset_describe(const dataset *d, dataset_about *about) {
  handles h;
  status result = open_dataset(d, &h);
  if (result == STATUS_OK) result = describe(d, &h, about);
  close_dataset(&h);
  return result;
}

/* Reads the text with which fdapp made a file; NULL if there is none. The caller frees it. */
static char *read_configuration(hid_t file) {
  char *text = NULL;
  if (!dataset_link_exists(file, "fdapp") || H5Aexists_by_name(file, "fdapp", "config", H5P_DEFAULT) <= 0)
    return NULL;
  const hid_t attribute = H5Aopen_by_name(file, "fdapp", "config", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
  if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0) {
    text = calloc(H5Tget_size(type) + 1, 1);
    if (text != NULL && H5Aread(attribute, type, text) < 0) text[0] = '\0';
  }
  if (type >= 0) (void)H5Tclose(type);
  if (attribute >= 0) (void)H5Aclose(attribute);
  return text;
}

status dataset_origin(const dataset *d, int periodic[3], char **configuration) {
  handles h;
  double says[3];
  const status result = open_dataset(d, &h);
  for (int axis = 0; axis < 3; axis++) periodic[axis] = -1;
  *configuration = result == STATUS_OK ? read_configuration(h.file) : NULL;
  const hid_t group = result == STATUS_OK && dataset_link_exists(h.file, "VTKHDF")
                          ? H5Gopen2(h.file, "VTKHDF", H5P_DEFAULT)
                          : (hid_t)-1;
  const int known = group >= 0 && dataset_numbers(group, "Periodic", 3, says) == 3;
  for (int axis = 0; axis < 3 && known; axis++) periodic[axis] = says[axis] != 0.0;
  if (group >= 0) (void)H5Gclose(group);
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
  return read ? STATUS_OK : dataset_fail(d, STATUS_FILE, "cannot be read");
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
    result = dataset_fail(d, STATUS_FILE, "cannot be read");
  if (memory >= 0) (void)H5Sclose(memory);
  close_dataset(&h);
  return result;
}

/* Refuses the value at point i of planes from z0 on. by: what says that it is none, or NULL. */
static status refuse_value(const dataset *d, int64_t z0, int64_t i, const double range[2], const char *by) {
  const int64_t nx = d->n[0], plane = nx * d->n[1];
  const int64_t at[3] = {z0 + i / plane, i % plane / nx, i % nx};
  double value = 0.0;
  CHECK(read_value(d, (const hsize_t[3]){(hsize_t)at[0], (hsize_t)at[1], (hsize_t)at[2]}, &value));
  char accepted[128], text[NUMBER_TEXT];
  (void)snprintf(accepted, sizeof accepted, "a magnitude of at most %g", range[1]);
  if (d->range != NULL) (void)snprintf(accepted, sizeof accepted, "%g to %g", range[0], range[1]);
  if (by != NULL) (void)snprintf(accepted, sizeof accepted, "values alone: by %s this is none", by);
  return dataset_fail(
      d, STATUS_USAGE,
      "dataset %.200s is %s at [%" PRId64 ", %" PRId64 ", %" PRId64 "] (z, y, x); accepted: %s", d->name,
      number_apart(value, range[value > range[0]], text), at[0], at[1], at[2], accepted);
}

/* Either of them may have been rounded to single precision: 1e20 beside an attribute 1e20f, or the other way
 * round. */
static int is_absent(double value, double absent) {
  const double rounded = (double)(float)absent;
  return value == absent || value == rounded ||
         (absent == rounded && absent != 0.0 && (double)(float)value == rounded);
}

const char *dataset_absent_by(const dataset_absent *absent, double value) {
  for (int i = 0; i < absent->count; i++) {
    if (is_absent(value, absent->value[i])) return absent->by[i];
  }
  if (!(absent->low < absent->high)) return NULL;
  return value < absent->low ? absent->low_by : value > absent->high ? absent->high_by : NULL;
}

status dataset_check_values(const dataset *d, precision precision, int64_t z0, int64_t count,
                            const void *planes, double largest) {
  const double any[2] = {-largest, largest}, *range = d->range != NULL ? d->range : any;
  const int64_t plane = d->n[0] * d->n[1];
  for (int64_t i = 0; i < count * plane; i++) {
    const double value = kernels_number(precision, planes, (size_t)i);
    const char *by = dataset_absent_by(&d->absent, value);
    if (!(value >= range[0] && value <= range[1]) || by != NULL) return refuse_value(d, z0, i, range, by);
  }
  return STATUS_OK;
}
