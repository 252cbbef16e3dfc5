#include <math.h>
#include <stdlib.h>

#include "equations/advection.h"

/* How much phi may grow. With D the norm of phi - b, b the background, and div the velocity's divergence:
 *
 *     advective     dD/dt <= max |div| D/2
 *     conservative  dD/dt <= max |div| D/2 + max |div| |b|
 *     skew          dD/dt <=                 max |div| |b|/2
 *
 * Diffusion, upwind differences and what leaves through ends make D smaller. The differences keep these
 * bounds if no component of the velocity changes along its own axis, and in the skew form always. Otherwise
 * noise of the grid, once a field has become too fine for it, makes D grow; the rate is taken from S, the
 * largest derivative of a component along its own axis (docs/explanation/equations.md has a command). A D
 * four times too large is nothing but error, whatever made it so. */
static const double noise_per_strain = 0.2;
static const double slack_noise = 4.0;

/* [out] largest: magnitude of a field's owned points. */
static status find_largest(const grid *grid, const field *field, double *largest) {
  kernels_plane_sums *planes = malloc((size_t)grid->nz * sizeof *planes);
  *largest = 0.0;
  if (planes == NULL) return status_fail(STATUS_MEMORY, "no memory for the sums of %d planes", grid->nz);
  const status result = field_sums(field, grid, NULL, planes);
  for (int z = 0; z < grid->nz && result == STATUS_OK; z++)
    *largest = fmax(*largest, fmax(fabs(planes[z].minimum), fabs(planes[z].maximum)));
  free(planes);
  return result;
}

/* The largest value of an operation on the stored velocity, by the differences of the run. */
static status find_of_velocity(const advection *a, const grid *grid, kernels_call call, field *work,
                               double *largest) {
  const kernels_launch launch = {.context = work->context,
                                 .queue = QUEUE_MAIN,
                                 .shape = work->shape,
                                 .planes = {{0, work->shape.nz}},
                                 .stencil = &a->stencil};
  call.out[0] = work->data;
  CHECK(apply_bounded(a->backend, &launch, &call, a->bounded ? &a->inflow.ends : NULL, NULL, NULL));
  return find_largest(grid, work, largest);
}

/* [out] strain: the largest derivative of a component along its own axis. */
static status find_stored(const advection *a, const grid *grid, field *work, double *strain,
                          double *divergence) {
  kernels_call whole = {.kind = OPERATION_divergence};
  for (int d = 0; d < 3; d++) {
    const kernels_call one = {
        .kind = OPERATION_derivative, .options = (unsigned)d, .in = {a->velocity[d].data}};
    double slope = 0.0;
    whole.in[d] = a->velocity[d].data;
    CHECK(find_of_velocity(a, grid, one, work, &slope));
    *strain = fmax(*strain, slope);
  }
  return find_of_velocity(a, grid, whole, work, divergence);
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
    CHECK(find_largest(grid, &a->source[i], &largest));
    *supply += most[i] * largest;
  }
  return STATUS_OK;
}

status advection_growth(void *self, const grid *grid, field *work, equation_growth *growth) {
  const advection *a = self;
  const config *config = a->config;
  double strain = 0.0, divergence = 0.0;
  *growth = (equation_growth){.slack = EQUATION_SLACK_KEPT, .most = slack_noise, .shifts = 1};
  CHECK(a->velocity_count > 0 ? find_stored(a, grid, work, &strain, &divergence)
                              : cases_velocity_strain(config, grid, &strain, &divergence));
  if (config->form != FORM_SKEW) growth->rate = 0.5 * divergence;
  if (config->form == FORM_CONSERVATIVE) growth->drift = divergence;
  if (config->form == FORM_SKEW) growth->drift = 0.5 * divergence;
  const int upwind = config->difference == CONFIG_DIFFERENCE_UPWIND;
  if (config->form != FORM_SKEW || upwind) growth->noise = noise_per_strain * strain;
  if (a->bounded || config->redistance_every > 0) growth->slack = slack_noise;
  if (config->redistance_every > 0)
    growth->largest = sqrt(grid->l[0] * grid->l[0] + grid->l[1] * grid->l[1] + grid->l[2] * grid->l[2]);
  return a->source_count > 0 ? find_supply(a, grid, &growth->supply) : STATUS_OK;
}
