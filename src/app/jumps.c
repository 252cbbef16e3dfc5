#include "app/jumps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "problems/cases.h"

/* Points of a fourth difference. The largest one beside a jump is three times as high as the jump. */
enum { POINTS = 5 };
static const double per_jump = 3.0;

/* Consecutive planes of a field, the first of them local plane z. */
typedef struct window {
  const config *config;
  const grid *grid;
  const field *field;
  double time;
  formula *entering; /* boundary.value; NULL: nothing that could differ from the field enters */
  cases_velocity velocity;
  double *plane[POINTS];
} window;

static double fourth(double a, double b, double c, double d, double e) {
  return fabs(a - 4.0 * b + 6.0 * c - 4.0 * d + e);
}

/* Raises `largest` to the largest fourth differences along each axis that begin in row y of the window's
 * first plane; with_z: all planes are there. */
static void note_row(const window *window, int64_t y, int with_z, double largest[3]) {
  const grid *grid = window->grid;
  const int64_t nx = grid->n[0], ny = grid->n[1], end = grid->bounded[0] ? nx - POINTS + 1 : nx;
  const double *up[POINTS], *along[POINTS];
  for (int k = 0; k < POINTS; k++) {
    up[k] = window->plane[0] + (y + k) % ny * nx;
    along[k] = window->plane[k] + y * nx;
  }
  for (int64_t x = 0; x < end; x++)
    largest[0] = fmax(largest[0], fourth(up[0][x], up[0][(x + 1) % nx], up[0][(x + 2) % nx],
                                         up[0][(x + 3) % nx], up[0][(x + 4) % nx]));
  for (int64_t x = 0; x < nx && (y + POINTS <= ny || !grid->bounded[1]); x++)
    largest[1] = fmax(largest[1], fourth(up[0][x], up[1][x], up[2][x], up[3][x], up[4][x]));
  for (int64_t x = 0; x < nx && with_z; x++)
    largest[2] = fmax(largest[2], fourth(along[0][x], along[1][x], along[2][x], along[3][x], along[4][x]));
}

static void note_plane(const window *window, int with_z, double height[3]) {
  double largest[3] = {0.0};
#pragma omp parallel for schedule(static) reduction(max : largest[:3])
  for (int64_t y = 0; y < window->grid->n[1]; y++) note_row(window, y, with_z, largest);
  for (int d = 0; d < 3; d++) height[d] = fmax(height[d], largest[d] / per_jump);
}

/* 1 if a value enters at a point of an end: if the end has values, or the velocity points inwards, or may do
 * so later. */
static int enters(const window *window, int d, int end, const int64_t at[3]) {
  const config *config = window->config;
  if (config->ends[d][end] == CONFIG_END_DIRICHLET || !cases_velocity_steady(config)) return 1;
  const double along = cases_velocity_at(&window->velocity, (axis)d, at[2], at[1], at[0]);
  return end == GRID_LOW ? along > 0.0 : along < 0.0;
}

/* The largest difference between what enters through an end and the field there, of a plane of global index
 * z. */
static double largest_entering(const window *window, int d, int end, int64_t z, const double *plane) {
  const grid *grid = window->grid;
  const int64_t fixed = end == GRID_LOW ? 0 : grid->n[d] - 1;
  const int64_t first[2] = {d == AXIS_X ? fixed : 0, d == AXIS_Y ? fixed : 0};
  const int64_t last[2] = {d == AXIS_X ? fixed : grid->n[0] - 1, d == AXIS_Y ? fixed : grid->n[1] - 1};
  double largest = 0.0;
  if (!grid->bounded[d] || (d == AXIS_Z && z != fixed)) return 0.0;
  for (int64_t y = first[1]; y <= last[1]; y++) {
    for (int64_t x = first[0]; x <= last[0]; x++) {
      const double place[FORMULA_VARIABLES] = {grid_position(grid, 0, x), grid_position(grid, 1, y),
                                               grid_position(grid, 2, z), window->time};
      if (!enters(window, d, end, (const int64_t[]){x, y, z})) continue;
      largest = fmax(largest, fabs(formula_at(window->entering, place) - plane[y * grid->n[0] + x]));
    }
  }
  return largest;
}

static status find(window *window, double height[3]) {
  const grid *grid = window->grid;
  for (int k = 0; k < POINTS - 1; k++) CHECK(field_load_plane(window->field, k, window->plane[k]));
  for (int z = 0; z < grid->nz; z++) {
    const int with_z = !grid->bounded[2] || grid->z0 + z + POINTS <= grid->n[2];
    double *const first = window->plane[0];
    if (with_z) CHECK(field_load_plane(window->field, z + POINTS - 1, window->plane[POINTS - 1]));
    note_plane(window, with_z, height);
    for (int end = 0; end < 6 && window->entering != NULL; end++)
      height[end / 2] =
          fmax(height[end / 2], largest_entering(window, end / 2, end % 2, grid->z0 + z, first));
    for (int k = 0; k < POINTS - 1; k++) window->plane[k] = window->plane[k + 1];
    window->plane[POINTS - 1] = first;
  }
  return STATUS_OK;
}

/* Opens what enters; nothing if nothing does, or the field's own exact solution. */
static status open_entering(window *window) {
  const config *config = window->config;
  if (!cases_bounded(config) || strcmp(config->entering, CONFIG_EXACT) == 0) return STATUS_OK;
  CHECK(cases_velocity_open(config, window->grid, &window->velocity));
  const status result = formula_open(config, config->entering, "xyzt", &window->entering);
  if (result != STATUS_OK) cases_velocity_close(&window->velocity);
  return result;
}

static status find_in_planes(window *window, double height[3]) {
  const size_t bytes = (size_t)(window->grid->n[0] * window->grid->n[1]) * sizeof(double);
  int held = 1;
  for (int k = 0; k < POINTS; k++) {
    window->plane[k] = malloc(bytes);
    held = held && window->plane[k] != NULL;
  }
  const status result =
      held ? find(window, height) : status_fail(STATUS_MEMORY, "no memory for planes of the initial state");
  for (int k = 0; k < POINTS; k++) free(window->plane[k]);
  return result;
}

/* On this rank. */
static status find_mine(const config *config, const grid *grid, const field *field, double time,
                        double height[3]) {
  window window = {.config = config, .grid = grid, .field = field, .time = time};
  CHECK(open_entering(&window));
  const status result = find_in_planes(&window, height);
  if (window.entering == NULL) return result;
  formula_close(window.entering);
  cases_velocity_close(&window.velocity);
  return result;
}

status jumps_find(MPI_Comm comm, const config *config, const grid *grid, const field *field, double time,
                  double height[3]) {
  for (int d = 0; d < 3; d++) height[d] = 0.0;
  CHECK(agree(comm, find_mine(config, grid, field, time, height)));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, height, 3, MPI_DOUBLE, MPI_MAX, comm));
  return STATUS_OK;
}
