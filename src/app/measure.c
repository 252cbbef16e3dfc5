#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/jumps.h"
#include "app/running.h"
#include "base/log.h"
#include "base/text.h"

/* The rate whose product with dt is the Courant number. */
static double rate_of(const schedule_rates *rates) {
  return rates->advection + (rates->shares ? rates->other : 0.0);
}

status measure_blown_up(const simulation *sim, const char *what) {
  const double dt = schedule_dt(&sim->schedule, sim->step), courant = dt * rate_of(&sim->solver.rates);
  char last[96] = "no snapshot was written", number[48] = "";
  if (sim->saved_step >= 0) {
    (void)snprintf(last, sizeof last, "the last good snapshot is that of step %" PRId64, sim->saved_step);
  } else if (!config_wants_states(sim->config)) {
    (void)strcpy(last, sim->kept != NULL ? "no whole snapshot is kept: output.checkpoint_every = 0"
                                         : "no snapshot is kept: output.fields_every = 0");
  }
  if (isfinite(courant)) (void)snprintf(number, sizeof number, ", Courant number %.4g", courant);
  return status_fail(STATUS_BLOWN_UP,
                     "the solution blew up: at step %" PRId64 ", t = %.9g, %s (dt = %.6g%s); %s", sim->step,
                     schedule_time(&sim->schedule, sim->step), what, dt, number, last);
}

/* Called before anything overwrites or removes a good snapshot. */
static status check_bounded(const simulation *sim) {
  char grown[BOUND_TEXT];
  const char *what = bound_excess(&sim->bound, &sim->latest, grown);
  return what[0] == '\0' ? STATUS_OK : measure_blown_up(sim, what);
}

static int is_not_above(double value, double least) {
  return !(value > least);
}

/* Refuses values of unknowns that must be positive, with the first place. Collective: every rank has the same
 * measurement. */
static status check_positive(simulation *sim) {
  const equation *equation = sim->solver.equation;
  for (int f = 0; f < equation->unknowns; f++) {
    if (!(equation->positive >> f & 1U) || sim->latest.field[f].minimum > 0.0) continue;
    double place[3];
    char what[192];
    CHECK(bound_place(&sim->solver, &state_of(sim)->part[f], is_not_above, 0.0, place));
    (void)snprintf(what, sizeof what,
                   "%s is %.6g at least; it is not positive at x = %.6g, y = %.6g, z = %.6g",
                   equation->names[f], sim->latest.field[f].minimum, place[0], place[1], place[2]);
    return measure_blown_up(sim, what);
  }
  return STATUS_OK;
}

/* Measures the fields. exact: NULL, or the solution. */
static status take(simulation *sim, const state *fields, const state *exact) {
  const solver *solver = &sim->solver;
  const double time = schedule_time(&sim->schedule, sim->step);
  const double courant = schedule_dt(&sim->schedule, sim->step) * rate_of(&solver->rates) *
                         fabs(equation_rate_factor(solver->equation, sim->config, time));
  state *scratch = stepper_scratch(&sim->solver.stepper);
  if (sim->diagnostics.figures.count > 0) sim->shown_step = -1;
  CHECK(diagnostics_measure(&sim->diagnostics, fields, exact, &scratch->part[0], &sim->schedule, sim->step,
                            courant, &sim->latest));
  if (solver->equation->density == NULL || equation_fact(solver->equation->uniform, sim->config))
    return STATUS_OK;
  sim->shown_step = -1;
  CHECK(agree(sim->comm, solver->equation->density(solver->terms, fields, scratch)));
  return diagnostics_energy(&sim->diagnostics, &scratch->part[0], &sim->latest);
}

static status measure_state(simulation *sim) {
  const double time = schedule_time(&sim->schedule, sim->step);
  const equation *equation = sim->solver.equation;
  state *exact = NULL;
  if (sim->diagnostics.with_errors && equation->known(sim->config, time)) {
    exact = stepper_scratch(&sim->solver.stepper);
    sim->shown_step = -1;
    CHECK(agree(sim->comm, solver_fill(&sim->solver, time, exact)));
  }
  return take(sim, state_of(sim), exact);
}

static int is_zero(const simulation *sim) {
  int zero = 1;
  for (int f = 0; f < sim->solver.equation->unknowns; f++)
    zero = zero && sim->latest.field[f].minimum == 0.0 && sim->latest.field[f].maximum == 0.0;
  return zero;
}

status measure_start(simulation *sim) {
  const checkpoint_state *from = &sim->restart.from;
  const diagnostics_field *first = &sim->latest.field[0];
  double height[3] = {0.0};
  CHECK(bound_open(&sim->solver, sim->stability.share >= 1.0, &sim->bound));
  CHECK(take(sim, state_of(sim), NULL)); /* the range in the line of progress, too */
  if (sim->restart.resumed && from->growth.known && !from->departed) {
    bound_resume(&sim->bound, &from->growth, &sim->latest);
    return STATUS_OK;
  }
  if (sim->bound.growth.within)
    CHECK(jumps_find(sim->comm, sim->config, &sim->grid, &state_of(sim)->part[0], sim->latest.time, height));
  bound_begin(&sim->bound, &sim->latest, height);
  const double end = schedule_time(&sim->schedule, sim->schedule.last_step);
  if (!sim->restart.resumed && first->minimum == first->maximum &&
      bound_keeps_constant(&sim->bound, is_zero(sim), end))
    log_warning("the initial state is %.9g at every point: nothing will be seen to change", first->minimum);
  return STATUS_OK;
}

status measure(simulation *sim) {
  perf_begin(&sim->perf, PERF_DIAGNOSTICS);
  CHECK(measure_state(sim));
  CHECK(bound_extend(&sim->bound, sim->latest.time));
  beyond_note(&sim->extremes, &sim->bound, &sim->latest);
  perf_end(&sim->perf, PERF_DIAGNOSTICS);
  CHECK(agree(sim->comm, check_positive(sim)));
  return agree(sim->comm, check_bounded(sim));
}

void measure_describe(const simulation *sim, int fields, char *text, size_t size) {
  const diagnostics_record *record = &sim->latest;
  text[0] = '\0';
  for (int f = 0; f < fields; f++) {
    const diagnostics_field *field = &record->field[f];
    text_add(text, size, ", ", "%s ", sim->diagnostics.names[f]);
    if (isfinite(field->mass) && isfinite(field->l2))
      text_add(text, size, "", "%.4g to %.4g", field->minimum, field->maximum);
    else /* comparisons with NaN are false, so extrema and largest error mean nothing */
      text_add(text, size, "", "not finite");
  }
  if (record->finite && isfinite(record->field[0].error_linf))
    text_add(text, size, "", ", largest error %.3g", record->field[0].error_linf);
}
