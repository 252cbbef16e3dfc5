#include "files/array_file.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "files/dataset_parts.h"
#include "files/hdf5_library.h"

static status refuse(const dataset *d, status code, const char *what) {
  return dataset_fail(d, code, "dataset %s %s", d->name, what);
}

/* Refuses a dataset for its shape: `is` says what it is. */
static status refuse_shape(const dataset *d, int columns, const char *is, const char *with) {
  char shape[24] = "(n)", what[96];
  if (columns > 0) (void)snprintf(shape, sizeof shape, "(n, %d)", columns);
  (void)snprintf(what, sizeof what, "is %s %s%s", is, shape, with);
  return refuse(d, STATUS_USAGE, what);
}

static status check_shape(const dataset *d, int columns, hid_t dataset, hsize_t n[2]) {
  const hid_t space = H5Dget_space(dataset);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank != (columns > 0 ? 2 : 1) || H5Sget_simple_extent_dims(space, n, NULL) < 0 ||
      (columns > 0 && n[1] != (hsize_t)columns))
    return refuse_shape(d, columns, "not of shape", "");
  return STATUS_OK;
}

static status read_values(const dataset *d, int columns, hid_t dataset, int64_t *rows, double **values) {
  dataset_absent absent = {.low = -HUGE_VAL, .high = HUGE_VAL};
  hsize_t n[2] = {0, 1};
  CHECK(check_shape(d, columns, dataset, n));
  const size_t count = (size_t)(n[0] * n[1]);
  if (count == 0) /* of which HDF5 says that it was never written */
    return refuse_shape(d, columns, "empty; accepted: shape", " with n at least 1");
  CHECK(dataset_complete(d, dataset, &absent));
  CHECK(dataset_meaning(d, dataset, &absent, &(dataset_place){.known = {0}}));
  *values = malloc(count * sizeof **values);
  if (*values == NULL) return refuse(d, STATUS_MEMORY, "needs more memory than there is");
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
    return refuse(d, STATUS_FILE, "cannot be read as numbers");
  for (size_t i = 0; i < count; i++) {
    if (!isfinite((*values)[i])) return refuse(d, STATUS_USAGE, "has a value that is not finite");
    const char *by = dataset_absent_by(&absent, (*values)[i]);
    if (by != NULL)
      return dataset_fail(d, STATUS_USAGE, "dataset %s has a value that is none, by %s", d->name, by);
  }
  *rows = (int64_t)n[0];
  return STATUS_OK;
}

static status read_open(const dataset *d, int columns, hid_t file, int64_t *rows, double **values) {
  if (H5Lexists(file, d->name, H5P_DEFAULT) <= 0) return STATUS_OK;
  const hid_t dataset = H5Dopen2(file, d->name, H5P_DEFAULT);
  return dataset < 0 ? refuse(d, STATUS_FILE, "cannot be opened")
                     : read_values(d, columns, dataset, rows, values);
}

status array_file_read(const char *key, const char *path, const char *name, int columns, int64_t *rows,
                       double **values) {
  const struct dataset d = {.key = key, .path = path, .name = name};
  hid_t file = -1;
  *rows = 0;
  *values = NULL;
  CHECK(hdf5_library_start());
  CHECK(dataset_open(&d, &file));
  const status result = read_open(&d, columns, file, rows, values);
  (void)H5Fclose(file);
  return result;
}
