/* Derivatives (the second ones from one load with the others), gradient, divergence and Laplacian of whole
 * fields against what centred differences of each order do to a product of sines, and the same bits on every
 * number of ranks as on one. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"
#include "config/config.h"
#include "domain/operators.h"
#include "domain/slab.h"

enum { DERIVATIVE = 0, GRADIENT = 3, DIVERGENCE = 6, LAPLACIAN = 7, SECOND = 8, RESULTS = 11 };

static const double pi = 3.14159265358979323846;
static const int64_t uneven[3] = {33, 20, 37};
static const double lengths[3] = {1.0, 0.7, 1.3};
/* Whole waves of the three components of a vector field; the first is the scalar field as well. */
static const int waves[3][3] = {{2, 1, 3}, {5, 2, 1}, {1, 3, 6}};

static double phase(int component, int d, int64_t i) {
  return 2.0 * pi * waves[component][d] * (double)i / (double)uneven[d] + 0.3 * d + component;
}

static void sines_row(const void *user, int64_t z, int64_t y, double *row) {
  const int component = *(const int *)user;
  for (int64_t x = 0; x < uneven[0]; x++)
    row[x] = sin(phase(component, 0, x)) * sin(phase(component, 1, y)) * sin(phase(component, 2, z));
}

/* What centred differences of `order` make of i k and of -k^2, from the series of arcsin in s = sin(kh/2). */
static double first_symbol(int order, int component, int d) {
  static const double series[4] = {1.0, 2.0 / 3.0, 8.0 / 15.0, 16.0 / 35.0};
  const double theta = 2.0 * pi * waves[component][d] / (double)uneven[d], s = sin(0.5 * theta);
  double sum = 0.0;
  for (int n = 0; n < order / 2; n++) sum += series[n] * pow(s, 2 * n);
  return sin(theta) * sum * (double)uneven[d] / lengths[d];
}

static double second_symbol(int order, int component, int d) {
  static const double series[4] = {1.0, 1.0 / 3.0, 8.0 / 45.0, 4.0 / 35.0};
  const double s = sin(pi * waves[component][d] / (double)uneven[d]), h = lengths[d] / (double)uneven[d];
  double sum = 0.0;
  for (int n = 0; n < order / 2; n++) sum += series[n] * pow(s, 2 * n);
  return -4.0 * s * s * sum / (h * h);
}

static double first(int order, int component, int d, const int64_t at[3]) {
  double product = first_symbol(order, component, d) * cos(phase(component, d, at[d]));
  for (int e = 0; e < 3; e++) product *= e == d ? 1.0 : sin(phase(component, e, at[e]));
  return product;
}

static double expected(int order, int result, const int64_t at[3]) {
  double sum = 0.0;
  if (result < DIVERGENCE) return first(order, 0, result % 3, at);
  if (result == DIVERGENCE) {
    for (int d = 0; d < 3; d++) sum += first(order, d, d, at);
    return sum;
  }
  for (int d = 0; d < 3; d++)
    sum += result == LAPLACIAN || result == SECOND + d ? second_symbol(order, 0, d) : 0.0;
  return sum * sin(phase(0, 0, at[0])) * sin(phase(0, 1, at[1])) * sin(phase(0, 2, at[2]));
}

/* Round-off of sums of values over h, or h^2: phases reach 40, so that sines are off by 20 epsilon at most.
 */
static double tolerance(int result, precision precision) {
  const double epsilon = precision == PRECISION_SINGLE ? FLT_EPSILON : DBL_EPSILON;
  double scale = 0.0;
  for (int d = 0; d < 3; d++) {
    const double inverse = (double)uneven[d] / lengths[d];
    scale += result >= LAPLACIAN ? 8.0 * inverse * inverse : 2.0 * inverse;
  }
  return 20.0 * epsilon * scale;
}

/* A field with halos that no exchange has filled. */
static status make_field(slab *slab, int component, field *field) {
  CHECK(field_create(&slab->space, field));
  return field_fill(field, slab->grid.z0, slab->grid.n[2], 0, sines_row, &component);
}

static status apply(slab *slab, int result, field v[3], field out[3]) {
  const field *const in[3] = {&v[0], &v[1], &v[2]};
  field *const gradient[3] = {&out[0], &out[1], &out[2]};
  if (result < GRADIENT)
    return operators_derivative(&slab->halo, &slab->stencil, (axis)result, &v[0], &out[0]);
  if (result < DIVERGENCE) return operators_gradient(&slab->halo, &slab->stencil, &v[0], gradient);
  if (result == DIVERGENCE) return operators_divergence(&slab->halo, &slab->stencil, in, &out[0]);
  if (result >= SECOND) {
    const axis axis = (enum axis)(result - SECOND);
    field *const wanted[3] = {axis == AXIS_X ? &out[0] : NULL, &out[1], axis == AXIS_Y ? NULL : &out[2]};
    return operators_differences(&slab->halo, &slab->stencil, axis, &v[0], wanted);
  }
  return operators_laplacian(&slab->halo, &slab->stencil, &v[0], &out[0]);
}

/* One result of fresh fields, collected on rank 0. */
static status compute_one(slab *slab, int result, char *all) {
  field v[3], out[3];
  for (int d = 0; d < 3; d++) CHECK(make_field(slab, d, &v[d]));
  for (int d = 0; d < 3; d++) CHECK(field_create(&slab->space, &out[d]));
  CHECK(apply(slab, result, v, out));
  const int component = result >= SECOND                            ? 1
                        : result >= GRADIENT && result < DIVERGENCE ? result - GRADIENT
                                                                    : 0;
  CHECK(gather(slab->comm, &slab->grid, &out[component], all));
  CHECK(halo_leave(&slab->halo));
  for (int d = 0; d < 3; d++) {
    field_destroy(&v[d]);
    field_destroy(&out[d]);
  }
  return STATUS_OK;
}

static status compute(MPI_Comm comm, const char *backend, precision precision, int order, char *all[]) {
  slab slab;
  const slab_request request = {.n = {uneven[0], uneven[1], uneven[2]},
                                .l = {lengths[0], lengths[1], lengths[2]},
                                .order = order,
                                .precision = precision,
                                .backend = backend,
                                .fields = HALO_FIELDS};
  CHECK(slab_open(comm, &request, &slab));
  for (int result = 0; result < RESULTS; result++) CHECK(compute_one(&slab, result, all[result]));
  slab_close(&slab);
  return STATUS_OK;
}

static double value(const char *all, precision precision, int64_t i) {
  return precision == PRECISION_SINGLE ? (double)((const float *)all)[i] : ((const double *)all)[i];
}

static int check_values(const char *all, precision precision, int order, int result) {
  double worst = 0.0;
  for (int64_t i = 0; i < uneven[0] * uneven[1] * uneven[2]; i++) {
    const int64_t at[3] = {i % uneven[0], i / uneven[0] % uneven[1], i / (uneven[0] * uneven[1])};
    const double error = fabs(value(all, precision, i) - expected(order, result, at));
    if (!(error <= worst)) worst = error; /* NaN is worse than any */
  }
  if (worst <= tolerance(result, precision)) return 0;
  (void)printf("WRONG: result %d, order %d, %s: off by %g, at most %g is round-off\n", result, order,
               config_precision_name(precision), worst, tolerance(result, precision));
  return 1;
}

/* All results of one order and precision; the number of wrong ones. */
static int check(const char *backend, precision precision, int order) {
  const size_t bytes = (size_t)(uneven[0] * uneven[1] * uneven[2]) * kernels_element_size(precision);
  char *alone[RESULTS], *all[RESULTS];
  int rank = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < RESULTS; i++) {
    alone[i] = malloc(bytes);
    all[i] = malloc(bytes);
    memset(all[i], 0xff, bytes);
  }
  status status = compute(MPI_COMM_WORLD, backend, precision, order, all);
  if (status == STATUS_OK && rank == 0) status = compute(MPI_COMM_SELF, backend, precision, order, alone);
  if (status != STATUS_OK) {
    (void)printf("WRONG: %s\n", status_message(status));
    wrong++;
  }
  for (int i = 0; i < RESULTS; i++) {
    if (rank == 0) {
      wrong += check_values(all[i], precision, order, i);
      if (memcmp(all[i], alone[i], bytes) != 0) {
        (void)printf("WRONG: result %d, order %d: not the bits of one rank\n", i, order);
        wrong++;
      }
    }
    free(alone[i]);
    free(all[i]);
  }
  return wrong;
}

static int check_all(const kernels *backend) {
  int wrong = 0;
  for (int order = 2; order <= 8; order += 2) {
    wrong += check(backend->name, PRECISION_DOUBLE, order);
    wrong += check(backend->name, PRECISION_SINGLE, order);
  }
  return wrong;
}

int main(int argc, char **argv) {
  return check_on_backend(argc, argv, check_all);
}
