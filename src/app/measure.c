#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/running.h"
#include "base/log.h"

status measure_blown_up(const simulation *sim, const char *what) {
  const double dt = schedule_dt(&sim->schedule, sim->step);
  char last[96] = "no snapshot was written";
  if (sim->saved_step >= 0) {
    (void)snprintf(last, sizeof last, "the last good snapshot is that of step %" PRId64, sim->saved_step);
  } else if (!config_wants_states(sim->config)) {
    (void)strcpy(last, sim->kept != NULL ? "no whole snapshot is kept: output.checkpoint_every = 0"
                                         : "no snapshot is kept: output.fields_every = 0");
  }
  return status_fail(
      STATUS_BLOWN_UP,
      "the solution blew up: at step %" PRId64 ", t = %.9g, %s (dt = %.6g, Courant number %.4g); %s",
      sim->step, schedule_time(&sim->schedule, sim->step), what, dt, dt * sim->solver.rates.advection, last);
}

/* Called before anything overwrites or removes a good snapshot. */
static status check_bounded(const simulation *sim) {
  char grown[BOUND_TEXT];
  const char *what = bound_excess(&sim->bound, &sim->latest, grown);
  return what[0] == '\0' ? STATUS_OK : measure_blown_up(sim, what);
}

/* Measures the fields. exact: NULL, or the solution. */
static status take(simulation *sim, const state *fields, const state *exact) {
  const solver *solver = &sim->solver;
  const double time = schedule_time(&sim->schedule, sim->step);
  const double courant = schedule_dt(&sim->schedule, sim->step) * solver->rates.advection *
                         fabs(equation_rate_factor(solver->equation, sim->config, time));
  CHECK(diagnostics_measure(&sim->diagnostics, fields, exact, &sim->schedule, sim->step, courant,
                            &sim->latest));
  if (solver->equation->density == NULL) return STATUS_OK;
  state *scratch = stepper_scratch(&sim->solver.stepper);
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

status measure_start(simulation *sim) {
  const checkpoint_state *from = &sim->restart.from;
  const diagnostics_field *first = &sim->latest.field[0];
  CHECK(bound_open(&sim->solver, sim->stability.share >= 1.0, &sim->bound));
  CHECK(take(sim, state_of(sim), NULL)); /* the range in the line of progress, too */
  if (sim->restart.resumed && from->growth.known && !from->departed) {
    bound_resume(&sim->bound, &from->growth);
    return STATUS_OK;
  }
  bound_begin(&sim->bound, &sim->latest);
  const double end = schedule_time(&sim->schedule, sim->schedule.last_step);
  if (!sim->restart.resumed && first->minimum == first->maximum && bound_keeps_constant(&sim->bound, end))
    log_warning("the initial state is %.9g at every point: nothing will be seen to change", first->minimum);
  return STATUS_OK;
}

status measure(simulation *sim) {
  perf_begin(&sim->perf, PERF_DIAGNOSTICS);
  CHECK(measure_state(sim));
  CHECK(bound_extend(&sim->bound));
  perf_end(&sim->perf, PERF_DIAGNOSTICS);
  return agree(sim->comm, check_bounded(sim));
}

void measure_describe(const simulation *sim, int fields, char *text, size_t size) {
  const diagnostics_record *record = &sim->latest;
  text[0] = '\0';
  for (int f = 0; f < fields; f++) {
    const diagnostics_field *field = &record->field[f];
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s ", f > 0 ? ", " : "", sim->diagnostics.names[f]);
    const size_t named = strlen(text);
    if (isfinite(field->mass) && isfinite(field->l2))
      (void)snprintf(text + named, size - named, "%.4g to %.4g", field->minimum, field->maximum);
    else /* comparisons with NaN are false, so extrema and largest error mean nothing */
      (void)snprintf(text + named, size - named, "not finite");
  }
  const size_t used = strlen(text);
  if (record->finite && isfinite(record->field[0].error_linf))
    (void)snprintf(text + used, size - used, ", error %.3g", record->field[0].error_linf);
}
