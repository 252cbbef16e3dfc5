#include "problems/medium_means.h"

#include <stdlib.h>
#include <xxhash.h>

#include "problems/resample.h"

enum { PARTS = RESAMPLE_PARTS };

struct medium_means {
  const grid *grid;
  medium_point *point; /* planes z0 - KERNELS_HALO .. z0 + nz + KERNELS_HALO - 1 */
};

/* A file of another grid: its values in the parts of a plane's cells. */
typedef struct fine_file {
  dataset dataset;
  dataset_place place;
  resample_cells *cells; /* NULL: there is none */
  double *values;
} fine_file;

static status find_file(const config *config, const grid *grid, int which, fine_file *file, int *fine) {
  int same = 1;
  *fine = 0;
  if (medium_of(config, which) != MEDIUM_FILE || !config->medium_resample || config->medium_at_points)
    return STATUS_OK;
  CHECK(file_planes_find(grid, "medium.file", config->medium_file, medium_datasets[which], 1, &file->dataset,
                         &file->place, &same));
  *fine = !same;
  return STATUS_OK;
}

status medium_means_needed(const config *config, const grid *grid, int which, int *fine) {
  fine_file file;
  return find_file(config, grid, which, &file, fine);
}

static status open_file(const medium *medium, int which, fine_file *file) {
  const grid *grid = medium->grid;
  int fine = 0;
  CHECK(find_file(medium->config, grid, which, file, &fine));
  if (!fine) return STATUS_OK;
  CHECK(resample_cells_open(&file->dataset, &file->place, grid, &file->cells));
  file->values = malloc((size_t)(grid->n[0] * grid->n[1]) * PARTS * PARTS * sizeof *file->values);
  if (file->values != NULL) return STATUS_OK;
  return status_fail(STATUS_MEMORY, "medium.file = %s: no memory for the parts of a plane's cells",
                     medium->config->medium_file);
}

/* Adds part `part` along z of a point's cell: sums of 1/K and of densities. */
static void add_part(const medium *medium, const fine_file *file, const int64_t at[3], int part,
                     medium_point *sums) {
  const grid *grid = medium->grid;
  const int64_t row = grid->n[0] * PARTS;
  int accepted = 1;
  for (int i = 0; i < PARTS * PARTS; i++) {
    const int64_t px = at[0] * PARTS + i % PARTS, py = at[1] * PARTS + i / PARTS;
    const double x[3] = {resample_midpoint(grid, 0, at[0], i % PARTS),
                         resample_midpoint(grid, 1, at[1], i / PARTS),
                         resample_midpoint(grid, 2, at[2], part)};
    double of[CONFIG_MEDIA];
    for (int k = 0; k < CONFIG_MEDIA; k++)
      of[k] = medium_value(medium, k, at, x, file[k].cells != NULL ? &file[k].values[py * row + px] : NULL,
                           &accepted);
    const double c = of[CONFIG_MEDIUM_SPEED], density = of[CONFIG_MEDIUM_DENSITY];
    sums->stiffness += 1.0 / (density * c * c);
    sums->density += density;
  }
}

static status fill_plane(const medium *medium, const fine_file *file, int64_t z, medium_point *plane) {
  const int64_t nx = medium->grid->n[0], ny = medium->grid->n[1];
  for (int64_t i = 0; i < nx * ny; i++) plane[i] = (medium_point){0.0, 0.0};
  for (int part = 0; part < PARTS; part++) {
    for (int k = 0; k < CONFIG_MEDIA; k++)
      if (file[k].cells != NULL) CHECK(resample_cells_plane(file[k].cells, z, part, file[k].values));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < nx * ny; i++)
      add_part(medium, file, (const int64_t[3]){i % nx, i / nx, z}, part, &plane[i]);
  }
  const double count = PARTS * PARTS * PARTS;
  for (int64_t i = 0; i < nx * ny; i++)
    plane[i] = (medium_point){.stiffness = count / plane[i].stiffness, .density = plane[i].density / count};
  return STATUS_OK;
}

status medium_means_open(const medium *medium, medium_means **means) {
  const grid *grid = medium->grid;
  const int64_t points = grid->n[0] * grid->n[1], planes = grid->nz + 2 * KERNELS_HALO;
  fine_file file[CONFIG_MEDIA] = {{.cells = NULL}};
  medium_means *m = *means = calloc(1, sizeof *m);
  status result = m != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for the medium");
  if (result == STATUS_OK) {
    m->grid = grid;
    m->point = malloc((size_t)(points * planes) * sizeof *m->point);
    if (m->point == NULL) result = status_fail(STATUS_MEMORY, "no memory for the medium's means over cells");
  }
  const int count = medium_count(medium->config);
  for (int k = 0; k < CONFIG_MEDIA && k < count && result == STATUS_OK; k++)
    result = open_file(medium, k, &file[k]);
  for (int64_t i = 0; i < planes && result == STATUS_OK; i++) {
    const int64_t z = grid->z0 - KERNELS_HALO + i;
    result = fill_plane(medium, file, (z % grid->n[2] + grid->n[2]) % grid->n[2], m->point + i * points);
  }
  for (int k = 0; k < CONFIG_MEDIA; k++) {
    resample_cells_close(file[k].cells);
    free(file[k].values);
  }
  if (result == STATUS_OK) return STATUS_OK;
  medium_means_close(m);
  *means = NULL;
  return result;
}

void medium_means_close(medium_means *means) {
  if (means != NULL) free(means->point);
  free(means);
}

medium_point medium_means_at(const medium_means *means, int64_t z, int64_t y, int64_t x) {
  const grid *grid = means->grid;
  int64_t local = z - grid->z0;
  if (local < -KERNELS_HALO) local += grid->n[2];
  if (local >= grid->nz + KERNELS_HALO) local -= grid->n[2];
  return means->point[((local + KERNELS_HALO) * grid->n[1] + y) * grid->n[0] + x];
}

uint64_t medium_means_hash(const medium_means *means) {
  const grid *grid = means->grid;
  const int64_t points = grid->n[0] * grid->n[1];
  uint64_t sum = 0;
  for (int64_t z = 0; z < grid->nz; z++)
    sum += XXH3_64bits_withSeed(means->point + (z + KERNELS_HALO) * points,
                                (size_t)points * sizeof *means->point, (uint64_t)(grid->z0 + z));
  return sum;
}
