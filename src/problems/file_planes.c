#include "problems/file_planes.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "problems/flow_state.h"
#include "problems/medium.h"
#include "problems/period.h"
#include "problems/problem.h"
#include "problems/resample.h"

static size_t plane_points(const grid *grid) {
  return (size_t)grid->n[0] * (size_t)grid->n[1];
}

/* Reads as many planes at a time as are consecutive in the file. */
static status read_all(const dataset *dataset, file_planes *planes) {
  const grid *grid = planes->grid;
  const int64_t n = grid->n[2], first = grid->z0 - KERNELS_HALO, count = grid->nz + 2 * KERNELS_HALO;
  const size_t bytes = plane_points(grid) * kernels_element_size(planes->precision);
  for (int64_t done = 0; done < count;) {
    const int64_t z = ((first + done) % n + n) % n;
    const int64_t piece = count - done < n - z ? count - done : n - z;
    CHECK(dataset_read(dataset, planes->precision, z, piece, (char *)planes->data + (size_t)done * bytes));
    done += piece;
  }
  return STATUS_OK;
}

static status read_slab(const dataset *dataset, file_planes *planes) {
  const grid *grid = planes->grid;
  const size_t before = KERNELS_HALO * plane_points(grid) * kernels_element_size(planes->precision);
  CHECK(read_all(dataset, planes));
  return dataset_check_values(dataset, planes->precision, grid->z0, grid->nz, (char *)planes->data + before,
                              PROBLEM_LARGEST);
}

/* initial.dataset chooses the dataset of initial.file, but for those of a flow, which have names of their
 * own. The values of a medium are checked as the file has them, because means over cells hide one of them. */
static dataset dataset_named(const char *key, const char *path, const char *name, int resample) {
  int chosen = strcmp(key, "initial.file") == 0;
  for (int i = 0; i < FLOW_UNKNOWNS; i++) chosen = chosen && strcmp(name, flow_dataset(i)) != 0;
  return (dataset){.key = key,
                   .path = path,
                   .name = name,
                   .option = chosen ? "initial.dataset" : NULL,
                   .least = resample ? RESAMPLE_POINTS : 0,
                   .range = strcmp(key, "medium.file") == 0 ? medium_accepted : NULL};
}

/* Looks at the dataset: [out] its shape and place, and whether its points are those of the grid. */
static status look(const grid *grid, dataset *dataset, dataset_place *place, int *same) {
  memcpy(dataset->n, grid->n, sizeof dataset->n);
  CHECK(dataset_check(dataset, place));
  *same = memcmp(dataset->n, grid->n, sizeof dataset->n) == 0;
  for (int d = 0; d < 3; d++)
    *same = *same && resample_fit_of(place, grid, d, dataset->n[d]) == RESAMPLE_ALIKE;
  return dataset->least > 0 ? resample_check(dataset, place, grid) : STATUS_OK;
}

status file_planes_find(const grid *grid, const char *key, const char *path, const char *name, int resample,
                        dataset *dataset, dataset_place *place, int *same) {
  *dataset = dataset_named(key, path, name, resample);
  return look(grid, dataset, place, same);
}

status file_planes_check(const grid *grid, const char *key, const char *path, const char *name, int resample,
                         dataset_place *place, int *elsewhere) {
  dataset dataset = dataset_named(key, path, name, resample);
  int same = 0;
  CHECK(look(grid, &dataset, place, &same));
  *elsewhere = !resample && !same;
  return period_check(&dataset, place, grid);
}

status file_planes_open(const config *config, const grid *grid, const char *key, const char *path,
                        const char *name, int resample, file_planes *planes) {
  dataset dataset = dataset_named(key, path, name, resample);
  const size_t points = plane_points(grid) * (size_t)(grid->nz + 2 * KERNELS_HALO);
  dataset_place place;
  int same = 0;
  *planes = (file_planes){.grid = grid, .precision = config->precision};
  CHECK(look(grid, &dataset, &place, &same));
  planes->data = malloc(points * kernels_element_size(config->precision));
  if (planes->data == NULL)
    return status_fail(STATUS_MEMORY, "%s = %s: no memory for its planes of this rank", key, path);
  const status result = resample && !same
                            ? resample_planes(&dataset, &place, grid, planes->precision, planes->data)
                            : read_slab(&dataset, planes);
  if (result != STATUS_OK) file_planes_close(planes);
  return result;
}

uint64_t file_planes_hash(const file_planes *planes) {
  const grid *grid = planes->grid;
  const size_t bytes = plane_points(grid) * kernels_element_size(planes->precision);
  const char *owned = (const char *)planes->data + KERNELS_HALO * bytes;
  uint64_t sum = 0;
  for (int z = 0; z < grid->nz; z++)
    sum += XXH3_64bits_withSeed(owned + (size_t)z * bytes, bytes, (uint64_t)(grid->z0 + z));
  return sum;
}

void file_planes_close(file_planes *planes) {
  free(planes->data);
  planes->data = NULL;
}

double file_planes_at(const file_planes *planes, int64_t z, int64_t y, int64_t x) {
  const grid *grid = planes->grid;
  int64_t local = z - grid->z0;
  if (local < -KERNELS_HALO) local += grid->n[2];
  if (local >= grid->nz + KERNELS_HALO) local -= grid->n[2];
  const size_t row = (size_t)((local + KERNELS_HALO) * grid->n[1] + y);
  return kernels_number(planes->precision, planes->data, row * (size_t)grid->n[0] + (size_t)x);
}
