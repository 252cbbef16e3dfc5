#include "app/beyond.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "problems/cases.h"
#include "problems/rounded.h"

/* What is tolerated, as shares of the range: `least`; beside jumps, whose ripples go both ways
 * (config/rotation.ini: -0.30 to 1.36 of 0 to 1), twice what is beyond the other end, too, as far as a jump
 * is that high; and never more than `most`. */
static const double least = 0.1, most = 0.5;
/* The range of a uniform field, as a share of its value, and what is one: round-off moves its values, too. */
static const double uniform = 0.1, still = 1e-6;

/* The values that the first field may have. */
typedef struct permitted {
  double low, high, range, supplied; /* supplied: what sources have added to both sides */
} permitted;

static permitted permitted_at(const bound *bound, double time) {
  const double *began = bound->from.began, *entered = bound->from.entered;
  const double supplied = bound_supplied(bound, time);
  const double low = fmin(began[0], entered[0]), high = fmax(began[1], entered[1]);
  const double largest = fmax(fabs(low), fabs(high)), apart = high - low + 2.0 * supplied;
  const double range = high - low > still * largest ? apart : fmax(apart, uniform * largest);
  return (permitted){low - supplied, high + supplied, range, supplied};
}

/* 1 if a value so far beyond an end of what is permitted is farther out than ripples of this height are. */
static int has_left(const permitted *in, double beyond, double ripples) {
  return beyond > fmin(least * in->range + ripples, most * in->range);
}

static void note(beyond_extremes *extremes, int end, double value, double jump, int64_t step) {
  const double farther = end == 0 ? extremes->value[0] - value : value - extremes->value[1];
  if (extremes->noted && farther <= 0.0) return;
  extremes->value[end] = value;
  extremes->jump[end] = jump;
  extremes->step[end] = step;
}

void beyond_note(beyond_extremes *extremes, const bound *bound, const diagnostics_record *record) {
  const diagnostics_field *now = &record->field[0];
  const double jump = bound->from.jump;
  if (!record->finite || !bound->growth.within || bound->growth.largest > 0.0) return;
  const permitted in = permitted_at(bound, record->time);
  note(extremes, 0, now->minimum, jump, record->step);
  note(extremes, 1, now->maximum, jump, record->step);
  extremes->noted = 1;
  if (has_left(&in, fmax(now->maximum - in.high, in.low - now->minimum), jump)) extremes->left = 1;
}

static int is_equal(double value, double wanted) {
  return value == wanted;
}

/* [out] factor: by how much values may have grown in this time where the velocity converges. A divergence of
 * less than a fiftieth of the largest sum of its terms may be an error of its differences. */
static status find_convergence(const solver *solver, double elapsed, double *factor) {
  const config *config = solver->config;
  double mine[2] = {0.0}, all[2];
  if (config_equation_uses(config, "form") && config->form != FORM_ADVECTIVE)
    CHECK(agree(solver->comm, cases_velocity_divergence(config, &solver->grid, &mine[0], &mine[1])));
  CHECK_MPI(MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, solver->comm));
  *factor =
      all[0] > 0.02 * all[1] ? rounded_exp((config->form == FORM_SKEW ? 0.5 : 1.0) * all[0] * elapsed) : 1.0;
  return STATUS_OK;
}

/* What else is there to try, in this order. */
static const char *advice(const solver *solver) {
  const config *config = solver->config;
  const int central =
      config_equation_uses(config, "difference") && config->difference == CONFIG_DIFFERENCE_CENTRAL;
  const int conserves = config_equation_uses(config, "form") && config->form == FORM_CONSERVATIVE;
  if (equation_is(config, EQUATION_CARRIED) && solver->rates.advection == 0.0)
    return "more points, or a lower compute.order";
  if (conserves) {
    return central ? "physics.form = skew, physics.difference = upwind or more points"
                   : "physics.form = skew or more points";
  }
  return central ? "physics.difference = upwind or more points" : "more points";
}

/* Where and when the value was: its place if it is of `state`, which is that of `step`. */
static status describe(const bound *bound, const state *state, int64_t step, double value, int64_t when,
                       char *words, size_t size) {
  double place[3];
  if (when != step) {
    (void)snprintf(words, size, "was %.4g at step %" PRId64, value, when);
    return STATUS_OK;
  }
  CHECK(bound_place(bound->solver, &state->part[0], is_equal, value, place));
  (void)snprintf(words, size, "is %.4g at %.4g, %.4g, %.4g", value, place[0], place[1], place[2]);
  return STATUS_OK;
}

status beyond_warn(const bound *bound, const beyond_extremes *extremes, const state *state, int64_t step,
                   double time) {
  const permitted in = permitted_at(bound, time);
  const double *value = extremes->value, below = in.low - value[0], above = value[1] - in.high;
  const int end = above > below;
  const double ripples = fmin(2.0 * fmax(fmin(above, below), 0.0), extremes->jump[end]);
  const double largest = fmax(fabs(in.low), fabs(in.high));
  double factor = 1.0;
  char words[128];
  if (!extremes->noted || fmax(above, below) <= 0.0) return STATUS_OK;
  if (!extremes->left && !has_left(&in, fmax(above, below), ripples)) return STATUS_OK;
  CHECK(find_convergence(bound->solver, time - bound->from.time, &factor));
  if (fmax(above, below) <= (1.0 + least) * (factor - 1.0) * largest) return STATUS_OK;
  CHECK(describe(bound, state, step, value[end], extremes->step[end], words, sizeof words));
  log_warning(
      "the solution %s, beyond all values that were there or entered%s, %.4g to %.4g: an error of the "
      "differences; %s",
      words, in.supplied > 0.0 ? ", with what sources add" : "", in.low, in.high, advice(bound->solver));
  return STATUS_OK;
}
