#include "files/array_file.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/dataset_parts.h"
#include "files/hdf5_library.h"

typedef struct array_file {
  const char *key, *path, *name;
  int columns;
} array_file;

static status refuse(const array_file *f, status code, const char *what) {
  return status_fail(code, "%s = %s: dataset %s %s", f->key, f->path, f->name, what);
}

/* Refuses numbers that are absent or mean something else. [out] absent: see dataset_meaning. */
static status check_numbers(const array_file *f, hid_t dataset, dataset_absent *absent) {
  const struct dataset d = {.key = f->key, .path = f->path, .name = f->name};
  *absent = (dataset_absent){.low = -HUGE_VAL, .high = HUGE_VAL};
  CHECK(dataset_complete(&d, dataset, absent));
  return dataset_meaning(&d, dataset, absent, &(dataset_place){.known = {0}});
}

/* Refuses a dataset for its shape: `is` says what it is. */
static status refuse_shape(const array_file *f, const char *is, const char *with) {
  char shape[24] = "(n)", what[96];
  if (f->columns > 0) (void)snprintf(shape, sizeof shape, "(n, %d)", f->columns);
  (void)snprintf(what, sizeof what, "is %s %s%s", is, shape, with);
  return refuse(f, STATUS_USAGE, what);
}

static status check_shape(const array_file *f, hid_t dataset, hsize_t n[2]) {
  const hid_t space = H5Dget_space(dataset);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank != (f->columns > 0 ? 2 : 1) || H5Sget_simple_extent_dims(space, n, NULL) < 0 ||
      (f->columns > 0 && n[1] != (hsize_t)f->columns))
    return refuse_shape(f, "not of shape", "");
  return STATUS_OK;
}

static status read_values(const array_file *f, hid_t dataset, int64_t *rows, double **values) {
  dataset_absent absent;
  hsize_t n[2] = {0, 1};
  CHECK(check_shape(f, dataset, n));
  const size_t count = (size_t)(n[0] * n[1]);
  if (count == 0) /* of which HDF5 says that it was never written */
    return refuse_shape(f, "empty; accepted: shape", " with n at least 1");
  CHECK(check_numbers(f, dataset, &absent));
  *values = malloc(count * sizeof **values);
  if (*values == NULL) return refuse(f, STATUS_MEMORY, "needs more memory than there is");
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
    return refuse(f, STATUS_FILE, "cannot be read as numbers");
  for (size_t i = 0; i < count; i++) {
    if (!isfinite((*values)[i])) return refuse(f, STATUS_USAGE, "has a value that is not finite");
    const char *by = dataset_absent_by(&absent, (*values)[i]);
    char what[DATASET_BY + 32];
    (void)snprintf(what, sizeof what, "has a value that is none, by %s", by != NULL ? by : "");
    if (by != NULL) return refuse(f, STATUS_USAGE, what);
  }
  *rows = (int64_t)n[0];
  return STATUS_OK;
}

static status read_open(const array_file *f, hid_t file, int64_t *rows, double **values) {
  if (H5Lexists(file, f->name, H5P_DEFAULT) <= 0) return STATUS_OK;
  const hid_t dataset = H5Dopen2(file, f->name, H5P_DEFAULT);
  return dataset < 0 ? refuse(f, STATUS_FILE, "cannot be opened") : read_values(f, dataset, rows, values);
}

status array_file_read(const char *key, const char *path, const char *name, int columns, int64_t *rows,
                       double **values) {
  const array_file f = {key, path, name, columns};
  *rows = 0;
  *values = NULL;
  CHECK(hdf5_library_start());
  if (access(path, R_OK) != 0)
    return status_fail(STATUS_FILE, "%s = %s: cannot be opened: %s", key, path, strerror(errno));
  const hid_t plist = H5Pcreate(H5P_FILE_ACCESS);
  const hid_t file = plist >= 0 && H5Pset_fclose_degree(plist, H5F_CLOSE_STRONG) >= 0
                         ? H5Fopen(path, H5F_ACC_RDONLY, plist)
                         : -1;
  if (plist >= 0) (void)H5Pclose(plist);
  if (file < 0) return status_fail(STATUS_FILE, "%s = %s: %s", key, path, dataset_unopened(path));
  const status result = read_open(&f, file, rows, values);
  (void)H5Fclose(file);
  return result;
}
