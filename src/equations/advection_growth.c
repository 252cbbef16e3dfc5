#include <math.h>
#include <stdlib.h>

#include "equations/advection.h"

/* How much phi may grow. With D the norm of phi - b, b the background, and div the velocity's divergence:
 *
 *     advective     dD/dt <= max |div| D/2
 *     conservative  dD/dt <= max |div| D/2 + max |div| |b|
 *     skew          dD/dt <=                 max |div| |b|/2
 *
 * Diffusion and what leaves through ends make D smaller. So much for a right solution. With differences
 *
 *     (delta f)(i) = sum over j of d(i,j) f(j)
 *
 * of which the weights of integrals times d are antisymmetric but for the ends, the discrete advective form
 * with the component c along an axis has, as energy rate of e = phi - b,
 *
 *     -<e, c delta e> = -1/2 <e, (c delta - delta c) e>,    (c delta - delta c)(i,j) = (c(i) - c(j)) d(i,j).
 *
 * The matrix of this commutator, of the product rule that differences do not obey, is symmetric in the inner
 * product, so its eigenvalues are at most its largest sum of magnitudes along a row. With s the largest
 * |c(i+1) - c(i)| / h, that bounds
 *
 *     dD/dt <= s w D,    w = 1/2 max over i of sum over j of |d(i,j)| |i - j| h,
 *
 * for each axis; axes add up. The conservative form has the commutator with the other sign, the skew form has
 * none. What upwind differences add to the conservative form never raises D. To the others they add |c| E,
 * with E negative. Of its symmetric part sqrt|c| E sqrt|c| is negative, and the rest has the entries
 * 1/2 (sqrt|c(i)| - sqrt|c(j)|)^2 E(i,j), which are at most 1/2 |c(i) - c(j)| |E(i,j)|: the same bound with
 * the weights of E. What enters through ends, and the errors of the redistancing, may make D four times as
 * large. */
static const double slack_ends = 4.0;

/* Largest change of a component from a point of a plane to the next point along axis d; `next`: the plane
 * above. */
static double largest_change(const grid *grid, int d, precision precision, const void *plane,
                             const void *next) {
  const int64_t nx = grid->n[0], ny = grid->n[1];
  const int64_t columns = nx - (d == AXIS_X && grid->bounded[d]),
                rows = ny - (d == AXIS_Y && grid->bounded[d]);
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (int64_t y = 0; y < rows; y++) {
    const int64_t row = y * nx, other = d == AXIS_Y ? (y + 1) % ny * nx : row;
    for (int64_t x = 0; x < columns; x++) {
      const int64_t at = d == AXIS_X ? (x + 1) % nx : x;
      const double change = kernels_number(precision, d == AXIS_Z ? next : plane, (size_t)(other + at)) -
                            kernels_number(precision, plane, (size_t)(row + x));
      largest = fmax(largest, fabs(change));
    }
  }
  return largest;
}

/* [out] slope: the largest change of a stored component along its own axis d, over the spacing. */
static status find_slope(const field *component, const grid *grid, int d, double *slope) {
  const precision precision = component->shape.precision;
  const size_t bytes = (size_t)(grid->n[0] * grid->n[1]) * kernels_element_size(precision);
  void *plane[2] = {malloc(bytes), malloc(bytes)};
  status result = STATUS_OK;
  if (plane[0] == NULL || plane[1] == NULL)
    result = status_fail(STATUS_MEMORY, "no memory for two planes of the velocity");
  if (result == STATUS_OK) result = field_load(component, 0, 1, plane[0]);
  for (int z = 0; z < grid->nz && result == STATUS_OK; z++) {
    const int last = grid->z0 + z + 1 == grid->n[2]; /* the next plane is a halo plane */
    result = field_load(component, z + 1, 1, plane[(z + 1) % 2]);
    if (result != STATUS_OK || (d == AXIS_Z && last && grid->bounded[d])) break;
    const double change = largest_change(grid, d, precision, plane[z % 2], plane[(z + 1) % 2]);
    *slope = fmax(*slope, change / grid->h[d]);
  }
  free(plane[0]);
  free(plane[1]);
  return result;
}

static status find_stored(const advection *a, const grid *grid, field *work, double slope[3],
                          double *divergence) {
  const kernels_launch launch = field_launch(work, &a->stencil);
  kernels_call call = {
      .kind = OPERATION_divergence, .out = {work->data}, .ends = a->bounded ? &a->inflow.ends : NULL};
  for (int d = 0; d < 3; d++) {
    call.in[d] = a->velocity[d].data;
    CHECK(find_slope(&a->velocity[d], grid, d, &slope[d]));
  }
  CHECK(apply_bounded(a->backend, &launch, &call));
  return field_largest(work, grid, divergence);
}

/* The weight w of an axis, above. */
static double weight_of(const advection *a, const grid *grid, operation_difference kind, int d) {
  const double *inside = kind == DIFFERENCE_FIRST ? a->stencil.first[d] : a->stencil.dissipation[d];
  const closure *closure = closure_of(a->stencil.order);
  double largest = 0.0;
  for (int k = 1; k <= STENCIL_RADIUS; k++) largest += k * fabs(inside[k - 1]) * grid->h[d];
  for (int i = 0; i < closure->rows && grid->bounded[d]; i++) {
    double sum = 0.0;
    for (int j = 0; j < closure->width; j++) sum += 0.5 * fabs(closure->row[kind][i][j]) * abs(i - j);
    largest = fmax(largest, sum);
  }
  return largest;
}

/* The rate at which differences let D grow, for all axes. */
static double rate_of(const advection *a, const grid *grid, const double slope[3]) {
  const config *config = a->config;
  double rate = 0.0;
  for (int d = 0; d < 3; d++) {
    if (config->form != FORM_SKEW) rate += slope[d] * weight_of(a, grid, DIFFERENCE_FIRST, d);
    if (config->difference == CONFIG_DIFFERENCE_UPWIND && config->form != FORM_CONSERVATIVE)
      rate += slope[d] * weight_of(a, grid, DIFFERENCE_DISSIPATION, d);
  }
  return rate;
}

/* The root mean square of the source is at most its largest value. Its factors are sums of a cosine and a
 * sine of the period. */
static status find_supply(const advection *a, const grid *grid, double *supply) {
  double start[CASES_SOURCES], later[CASES_SOURCES];
  cases_source_factors(a->config, 0.0, start);
  cases_source_factors(a->config, 0.25 * a->config->period, later);
  const double most[CASES_SOURCES] = {fabs(start[0]) + fabs(later[0]), fabs(a->config->amplitude)};
  for (int i = 0; i < a->source_count; i++) {
    double largest = 0.0;
    CHECK(field_largest(&a->source[i], grid, &largest));
    *supply += most[i] * largest;
  }
  return STATUS_OK;
}

status advection_growth(void *self, const grid *grid, field *work, equation_growth *growth) {
  const advection *a = self;
  const config *config = a->config;
  double slope[3] = {0.0}, divergence = 0.0;
  *growth = (equation_growth){.slack = EQUATION_SLACK_KEPT, .shifts = 1, .within = 1};
  CHECK(a->velocity_count > 0 ? find_stored(a, grid, work, slope, &divergence)
                              : cases_velocity_slopes(config, grid, slope, &divergence));
  if (config->form != FORM_SKEW) growth->rate = 0.5 * divergence;
  if (config->form == FORM_CONSERVATIVE) growth->drift = divergence;
  if (config->form == FORM_SKEW) growth->drift = 0.5 * divergence;
  growth->noise = fmax(rate_of(a, grid, slope) - growth->rate, 0.0);
  if (a->bounded || config->redistance_every > 0) growth->slack = slack_ends;
  if (config->redistance_every > 0)
    growth->largest = sqrt(grid->l[0] * grid->l[0] + grid->l[1] * grid->l[1] + grid->l[2] * grid->l[2]);
  return a->source_count > 0 ? find_supply(a, grid, &growth->supply) : STATUS_OK;
}
