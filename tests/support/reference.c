#include "reference.h"

#include <math.h>
#include <string.h>

#include "reference_real.h"

static const reference_points *points(const kernels_shape *shape) {
  return shape->precision == PRECISION_SINGLE ? &reference_points_float : &reference_points_double;
}

double reference_value(const kernels_shape *shape, const void *f, int x, int y, int z) {
  return points(shape)->value(shape, f, x, y, z);
}

double reference_formula(const kernels_shape *shape, const kernels_tables *tables, int d, int x, int y,
                         int z) {
  return points(shape)->formula(shape, tables, d, x, y, z);
}

void reference_set(const kernels_shape *shape, void *f, int x, int y, int z, double value) {
  points(shape)->set(shape, f, x, y, z, value);
}

/* Every row (y, z) of the launch's planes. */
#define FOR_ROWS(launch, y, z)                                                                               \
  for (int range = 0; range < KERNELS_RANGES; range++)                                                       \
    for (int z = (launch)->planes[range].z0; z < (launch)->planes[range].z1; z++)                            \
      for (int y = 0; y < (launch)->shape.ny; y++)

void reference_apply(const kernels_launch *launch, const kernels_call *call) {
  const reference_points *p = points(&launch->shape);
  FOR_ROWS(launch, y, z) p->apply(launch, call, y, z);
}

void reference_derivative(const kernels_launch *launch, axis direction, const void *f, void *out) {
  const unsigned options = (unsigned)direction | DERIVATIVE_FIRST;
  reference_apply(launch, &(kernels_call){OPERATION_derivative, options, .in = {f}, .out = {out}});
}

void reference_gradient(const kernels_launch *launch, const void *f, void *const out[3]) {
  reference_apply(launch, &(kernels_call){OPERATION_gradient, .in = {f}, .out = {out[0], out[1], out[2]}});
}

void reference_divergence(const kernels_launch *launch, const void *const v[3], void *out) {
  reference_apply(launch, &(kernels_call){OPERATION_divergence, .in = {v[0], v[1], v[2]}, .out = {out}});
}

void reference_laplacian(const kernels_launch *launch, const void *f, void *out) {
  reference_apply(launch, &(kernels_call){OPERATION_laplacian, .in = {f}, .out = {out}});
}

void reference_axpy(const kernels_launch *launch, double a, const void *x, void *y) {
  reference_apply(launch, &(kernels_call){OPERATION_axpy, .in = {x, y}, .out = {y}, .scalar = {a}});
}

void reference_stage(const kernels_launch *launch, const advection_stage *stage) {
  const reference_points *p = points(&launch->shape);
  FOR_ROWS(launch, y, z) p->stage(launch, stage, y, z);
}

enum { LANES = 32, FIGURES = 4 }; /* sum, sum of squares, minimum, maximum */

static void figures_clear(double figures[FIGURES]) {
  figures[0] = figures[1] = 0.0;
  figures[2] = INFINITY;
  figures[3] = -INFINITY;
}

static void figures_add(double to[FIGURES], const double from[FIGURES]) {
  to[0] = to[0] + from[0];
  to[1] = to[1] + from[1];
  to[2] = fmin(to[2], from[2]);
  to[3] = fmax(to[3], from[3]);
}

/* Lane l += lane l + o for o = 16, 8, 4, 2, 1; the result is in lane 0. */
static void figures_fold(double lanes[LANES][FIGURES]) {
  for (int o = LANES / 2; o >= 1; o /= 2) {
    for (int l = 0; l < o; l++) figures_add(lanes[l], lanes[l + o]);
  }
}

/* The figures of one plane of f, or of |f - reference|. */
static void figures_plane(const kernels_shape *shape, const void *f, const void *reference, int z,
                          double figures[FIGURES]) {
  double rows[LANES][FIGURES];
  for (int l = 0; l < LANES; l++) figures_clear(rows[l]);
  for (int y = 0; y < shape->ny; y++) {
    double lanes[LANES][FIGURES];
    for (int l = 0; l < LANES; l++) figures_clear(lanes[l]);
    for (int x = 0; x < shape->nx; x++) {
      double v = reference_value(shape, f, x, y, z);
      if (reference != NULL) v = fabs(v - reference_value(shape, reference, x, y, z));
      double *lane = lanes[x % LANES];
      lane[0] = lane[0] + v;
      lane[1] = fma(v, v, lane[1]);
      lane[2] = fmin(lane[2], v);
      lane[3] = fmax(lane[3], v);
    }
    figures_fold(lanes);
    figures_add(rows[y % LANES], lanes[0]);
  }
  figures_fold(rows);
  memcpy(figures, rows[0], sizeof rows[0]);
}

/* Of one range; returns what follows the last plane's sums. */
static kernels_plane_sums *range_sums(const kernels_launch *launch, kernels_planes range, const void *f,
                                      const void *reference, kernels_plane_sums *sums) {
  for (int z = range.z0; z < range.z1; z++) {
    double figures[FIGURES], errors[FIGURES] = {0};
    figures_plane(&launch->shape, f, NULL, z, figures);
    if (reference != NULL) figures_plane(&launch->shape, f, reference, z, errors);
    *sums++ = (kernels_plane_sums){
        .sum = figures[0],
        .sum_squares = figures[1],
        .minimum = figures[2],
        .maximum = figures[3],
        .error_sum = errors[0],
        .error_squares = errors[1],
        .error_maximum = errors[3],
    };
  }
  return sums;
}

void reference_plane_sums(const kernels_launch *launch, const void *f, const void *reference,
                          kernels_plane_sums *sums) {
  for (int i = 0; i < KERNELS_RANGES; i++) {
    sums = range_sums(launch, launch->planes[i], f, reference, sums);
  }
}
