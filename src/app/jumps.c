#include "app/jumps.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"

/* Points of a fourth difference. The largest one beside a jump is three times as high as the jump. */
enum { POINTS = 5 };
static const double per_jump = 3.0;

/* Consecutive planes of a field, the first of them local plane z. */
typedef struct window {
  const grid *grid;
  const field *field;
  void *loaded; /* a plane in the field's precision */
  double *plane[POINTS];
} window;

static double fourth(double a, double b, double c, double d, double e) {
  return fabs(a - 4.0 * b + 6.0 * c - 4.0 * d + e);
}

/* The largest fourth difference that begins in row y of the window's first plane; with_z: all planes are
 * there. */
static double largest_of_row(const window *window, int64_t y, int with_z) {
  const grid *grid = window->grid;
  const int64_t nx = grid->n[0], ny = grid->n[1], end = grid->bounded[0] ? nx - POINTS + 1 : nx;
  const double *up[POINTS], *along[POINTS];
  double largest = 0.0;
  for (int k = 0; k < POINTS; k++) {
    up[k] = window->plane[0] + (y + k) % ny * nx;
    along[k] = window->plane[k] + y * nx;
  }
  for (int64_t x = 0; x < end; x++)
    largest = fmax(largest, fourth(up[0][x], up[0][(x + 1) % nx], up[0][(x + 2) % nx], up[0][(x + 3) % nx],
                                   up[0][(x + 4) % nx]));
  for (int64_t x = 0; x < nx && (y + POINTS <= ny || !grid->bounded[1]); x++)
    largest = fmax(largest, fourth(up[0][x], up[1][x], up[2][x], up[3][x], up[4][x]));
  for (int64_t x = 0; x < nx && with_z; x++)
    largest = fmax(largest, fourth(along[0][x], along[1][x], along[2][x], along[3][x], along[4][x]));
  return largest;
}

static double largest_of_plane(const window *window, int with_z) {
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (int64_t y = 0; y < window->grid->n[1]; y++) largest = fmax(largest, largest_of_row(window, y, with_z));
  return largest;
}

/* Extends `ends` by the values of a plane, of global index z, that lie on ends. */
static void note_ends(const grid *grid, int64_t z, const double *plane, double ends[2]) {
  const int64_t nx = grid->n[0], ny = grid->n[1];
  const int on_z = grid->bounded[2] && (z == 0 || z == grid->n[2] - 1);
  for (int64_t y = 0; y < ny; y++) {
    const int on_y = on_z || (grid->bounded[1] && (y == 0 || y == ny - 1));
    if (!on_y && !grid->bounded[0]) continue;
    for (int64_t x = 0; x < nx; x += on_y ? 1 : nx - 1) {
      ends[0] = fmin(ends[0], plane[y * nx + x]);
      ends[1] = fmax(ends[1], plane[y * nx + x]);
    }
  }
}

/* Loads local plane z, a halo plane or, if this rank has all planes, a periodic image, too. */
static status load(const window *window, int z, double *plane) {
  const grid *grid = window->grid;
  const int64_t points = grid->n[0] * grid->n[1];
  const int single = window->field->shape.precision == PRECISION_SINGLE;
  if (grid->nz == grid->n[2]) z %= grid->nz;
  CHECK(field_load(window->field, z, 1, single ? window->loaded : plane));
  for (int64_t i = 0; i < points && single; i++) plane[i] = (double)((const float *)window->loaded)[i];
  return STATUS_OK;
}

static status find(window *window, jumps *jumps) {
  const grid *grid = window->grid;
  for (int k = 0; k < POINTS - 1; k++) CHECK(load(window, k, window->plane[k]));
  for (int z = 0; z < grid->nz; z++) {
    const int with_z = !grid->bounded[2] || grid->z0 + z + POINTS <= grid->n[2];
    double *const first = window->plane[0];
    if (with_z) CHECK(load(window, z + POINTS - 1, window->plane[POINTS - 1]));
    jumps->height = fmax(jumps->height, largest_of_plane(window, with_z) / per_jump);
    note_ends(grid, grid->z0 + z, first, jumps->ends);
    for (int k = 0; k < POINTS - 1; k++) window->plane[k] = window->plane[k + 1];
    window->plane[POINTS - 1] = first;
  }
  return STATUS_OK;
}

/* On this rank. */
static status find_mine(const grid *grid, const field *field, jumps *jumps) {
  const size_t bytes = (size_t)(grid->n[0] * grid->n[1]) * sizeof(double);
  window window = {.grid = grid, .field = field, .loaded = malloc(bytes)};
  int held = window.loaded != NULL;
  for (int k = 0; k < POINTS; k++) {
    window.plane[k] = malloc(bytes);
    held = held && window.plane[k] != NULL;
  }
  const status result =
      held ? find(&window, jumps) : status_fail(STATUS_MEMORY, "no memory for planes of the initial state");
  for (int k = 0; k < POINTS; k++) free(window.plane[k]);
  free(window.loaded);
  return result;
}

status jumps_find(MPI_Comm comm, const grid *grid, const field *field, jumps *jumps) {
  *jumps = (struct jumps){.ends = {INFINITY, -INFINITY}};
  CHECK(agree(comm, find_mine(grid, field, jumps)));
  double all[3] = {jumps->height, -jumps->ends[0], jumps->ends[1]};
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_DOUBLE, MPI_MAX, comm));
  *jumps = (struct jumps){.height = all[0], .ends = {-all[1], all[2]}};
  return STATUS_OK;
}
