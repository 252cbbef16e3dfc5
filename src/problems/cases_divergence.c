#include <math.h>
#include <stdlib.h>

#include "problems/cases.h"

/* The divergence of a stored velocity at all points of a slab, by the differences of the run. A thread takes
 * BLOCK rows in y through all planes and keeps rows of v and w that several differences read. So it evaluates
 * u and w about once per point and v 1.5 times; without kept rows it would be 17 evaluations in all. */

/* A thread keeps one row of u, the rows of v around a block, and a block's rows of w in as many planes as
 * differences along z read. ROWS_V and PLANES_W are more than the CLOSURE_WIDTH points that one reads. */
enum { BLOCK = 16, ROWS_V = 32, PLANES_W = 16, ROWS = 1 + ROWS_V + BLOCK * PLANES_W };

/* The points of an axis that a difference reads, with their weights. Those beyond an end are periodic images.
 */
typedef struct taps {
  int count;
  int64_t at[CLOSURE_WIDTH];
  double weight[CLOSURE_WIDTH];
} taps;

/* Rows of one thread. */
typedef struct rows {
  cases_velocity velocity; /* a copy, for its member `component`; the tables are shared */
  struct {
    int64_t z, y;
  } held[ROWS];
  double *values;
} rows;

static taps taps_of(const grid *grid, const stencil *stencil, int d, int64_t i) {
  const closure *closure = closure_of(stencil->order);
  const int64_t n = grid->n[d], from_end = i < n - 1 - i ? i : n - 1 - i;
  const int high = from_end != i;
  taps taps = {0};
  if (grid->bounded[d] && from_end < closure->rows) {
    for (int j = 0; j < closure->width; j++) {
      const double weight = closure->row[DIFFERENCE_FIRST][from_end][j] / grid->h[d];
      taps.at[taps.count] = high ? n - 1 - j : j;
      taps.weight[taps.count++] = high ? -weight : weight;
    }
    return taps;
  }
  for (int k = STENCIL_RADIUS; k >= 1; k--) {
    for (int side = -1; side <= 1; side += 2) {
      taps.at[taps.count] = i + side * k;
      taps.weight[taps.count++] = side * stencil->first[d][k - 1];
    }
  }
  return taps;
}

static int64_t wrapped(int64_t i, int64_t n) {
  return (i % n + n) % n;
}

/* A row of a component, evaluated unless its slot holds it. */
static const double *row_of(rows *rows, axis component, int64_t z, int64_t y, int64_t slot) {
  const grid *grid = rows->velocity.grid;
  double *values = rows->values + slot * grid->n[0];
  if (rows->held[slot].z != z || rows->held[slot].y != y) {
    rows->velocity.component = component;
    cases_velocity_row(&rows->velocity, wrapped(z, grid->n[2]), wrapped(y, grid->n[1]), values);
    rows->held[slot].z = z;
    rows->held[slot].y = y;
  }
  return values;
}

/* Raises the largest divergence, and the largest sum of the magnitudes of its terms, by those of a row. */
static void look_at_row(rows *rows, const stencil *stencil, const taps *along_x, int64_t z, int64_t y,
                        double *divergence, double *terms) {
  const grid *grid = rows->velocity.grid;
  const taps along_y = taps_of(grid, stencil, AXIS_Y, y), along_z = taps_of(grid, stencil, AXIS_Z, z);
  const double *u = row_of(rows, AXIS_X, z, y, 0), *v[CLOSURE_WIDTH], *w[CLOSURE_WIDTH];
  for (int k = 0; k < along_y.count; k++)
    v[k] = row_of(rows, AXIS_Y, z, along_y.at[k], 1 + wrapped(along_y.at[k], ROWS_V));
  for (int k = 0; k < along_z.count; k++)
    w[k] = row_of(rows, AXIS_Z, along_z.at[k], y,
                  1 + ROWS_V + wrapped(along_z.at[k], PLANES_W) * BLOCK + y % BLOCK);
  for (int64_t x = 0; x < grid->n[0]; x++) {
    double slope[3] = {0.0};
    for (int k = 0; k < along_x[x].count; k++)
      slope[0] += along_x[x].weight[k] * u[wrapped(along_x[x].at[k], grid->n[0])];
    for (int k = 0; k < along_y.count; k++) slope[1] += along_y.weight[k] * v[k][x];
    for (int k = 0; k < along_z.count; k++) slope[2] += along_z.weight[k] * w[k][x];
    *divergence = fmax(*divergence, fabs(slope[0] + slope[1] + slope[2]));
    *terms = fmax(*terms, fabs(slope[0]) + fabs(slope[1]) + fabs(slope[2]));
  }
}

static int open_rows(const cases_velocity *velocity, rows *rows) {
  rows->velocity = *velocity;
  for (int slot = 0; slot < ROWS; slot++) rows->held[slot].z = INT64_MIN;
  rows->values = malloc(ROWS * (size_t)velocity->grid->n[0] * sizeof *rows->values);
  return rows->values != NULL;
}

static int look_at_all(const cases_velocity *velocity, const taps *along_x, double *divergence,
                       double *terms) {
  const grid *grid = velocity->grid;
  const stencil stencil = stencil_make(velocity->config->order, grid->h);
  double largest = 0.0, sum = 0.0;
  int complete = 1;
#pragma omp parallel reduction(max : largest, sum) reduction(&& : complete)
  {
    rows rows;
    complete = open_rows(velocity, &rows);
#pragma omp for schedule(static)
    for (int64_t first = 0; first < grid->n[1]; first += BLOCK) {
      for (int64_t z = grid->z0; z < grid->z0 + grid->nz && complete; z++)
        for (int64_t y = first; y < first + BLOCK && y < grid->n[1]; y++)
          look_at_row(&rows, &stencil, along_x, z, y, &largest, &sum);
    }
    free(rows.values);
  }
  *divergence = largest;
  *terms = sum;
  return complete;
}

status cases_velocity_divergence(const config *config, const grid *grid, double *divergence, double *terms) {
  const stencil stencil = stencil_make(config->order, grid->h);
  cases_velocity velocity;
  *divergence = *terms = 0.0;
  if (!cases_velocity_stored(config)) return STATUS_OK;
  CHECK(cases_velocity_open(config, grid, &velocity));
  taps *along_x = malloc((size_t)grid->n[0] * sizeof *along_x);
  for (int64_t x = 0; x < grid->n[0] && along_x != NULL; x++) along_x[x] = taps_of(grid, &stencil, AXIS_X, x);
  const int complete = along_x != NULL && look_at_all(&velocity, along_x, divergence, terms);
  free(along_x);
  cases_velocity_close(&velocity);
  return complete ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for rows of velocities");
}
