#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/running.h"
#include "base/log.h"

/* Blow-up: growth by this factor over the largest value at t = 0. Advection by a velocity without divergence,
 * and diffusion, make no value larger. Central differences overshoot by a factor of 2 or 3 where the grid
 * does not resolve the field (equations.md). An unstable step multiplies the field by a factor per step. */
static const double growth_most = 1e3;

static double magnitude(const diagnostics_field *field) {
  return fmax(fabs(field->minimum), fabs(field->maximum));
}

/* [out] what: describes the fault of the latest measurement, "" if there is none. */
static void find_fault(const simulation *sim, char what[160]) {
  const diagnostics_record *record = &sim->latest;
  what[0] = '\0';
  if (!record->finite) (void)snprintf(what, 160, "it is not finite");
  for (int f = 0; f < sim->diagnostics.fields && what[0] == '\0'; f++) {
    const double largest = magnitude(&record->field[f]);
    if (sim->scale[f] > 0.0 && largest > growth_most * sim->scale[f]) {
      (void)snprintf(what, 160, "|%s| reaches %.4g, from %.4g at t = 0", sim->diagnostics.names[f], largest,
                     sim->scale[f]);
    }
  }
}

/* Called before anything overwrites or removes a good snapshot. */
static status check_bounded(const simulation *sim) {
  const diagnostics_record *record = &sim->latest;
  char what[160];
  find_fault(sim, what);
  if (what[0] == '\0') return STATUS_OK;
  char last[96] = "no snapshot was written";
  if (sim->saved_step >= 0) {
    (void)snprintf(last, sizeof last, "the last good snapshot is that of step %" PRId64, sim->saved_step);
  } else if (!wants_states(sim->config)) {
    (void)strcpy(last, sim->kept != NULL ? "no whole snapshot is kept: output.checkpoint_every = 0"
                                         : "no snapshot is kept: output.fields_every = 0");
  }
  return status_fail(
      STATUS_BLOWN_UP,
      "the solution blew up: at step %" PRId64 ", t = %.9g, %s (dt = %.6g, Courant number %.4g); %s",
      record->step, record->time, what, record->dt, record->dt * sim->solver.rates.advection, last);
}

/* Measures the fields. exact: NULL, or the solution. */
static status take(simulation *sim, const state *fields, const state *exact) {
  const solver *solver = &sim->solver;
  const double time = schedule_time(&sim->schedule, sim->step);
  const double courant = schedule_dt(&sim->schedule, sim->step) * solver->rates.advection *
                         fabs(equation_rate_factor(solver->equation, sim->config, time));
  return diagnostics_measure(&sim->diagnostics, fields, exact, &sim->schedule, sim->step, courant,
                             &sim->latest);
}

static status measure_state(simulation *sim) {
  const double time = schedule_time(&sim->schedule, sim->step);
  const equation *equation = sim->solver.equation;
  state *exact = NULL;
  if (sim->diagnostics.with_errors && equation->known(sim->config, time)) {
    exact = stepper_scratch(&sim->solver.stepper);
    CHECK(agree(sim->comm, solver_fill(&sim->solver, time, exact)));
  }
  return take(sim, state_of(sim), exact);
}

/* Raises `scale` to the latest measurement. Collective. */
static void add_scale(simulation *sim) {
  for (int f = 0; f < sim->diagnostics.fields; f++)
    sim->scale[f] = fmax(sim->scale[f], magnitude(&sim->latest.field[f]));
}

status measure_scale(simulation *sim) {
  state *initial = state_of(sim);
  memset(sim->scale, 0, sizeof sim->scale);
  if (sim->restart.resumed) {
    initial = stepper_scratch(&sim->solver.stepper);
    CHECK(agree(sim->comm, solver_fill(&sim->solver, 0.0, initial)));
  }
  CHECK(take(sim, initial, NULL));
  add_scale(sim);
  const diagnostics_field *first = &sim->latest.field[0];
  if (!sim->restart.resumed && first->minimum == first->maximum)
    log_warning("the initial state is %.9g at every point: nothing will be seen to change", first->minimum);
  if (!sim->restart.from.departed) return STATUS_OK;
  CHECK(take(sim, state_of(sim), NULL));
  add_scale(sim);
  return STATUS_OK;
}

/* Raises `scale` to the values that have entered through ends, which may exceed all initial values.
 * Collective. */
static status add_entered(simulation *sim) {
  const solver *solver = &sim->solver;
  double largest = 0.0;
  if (solver->equation->entered == NULL) return STATUS_OK;
  const double mine = solver->equation->entered(solver->terms);
  CHECK_MPI(MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, sim->comm));
  for (int f = 0; f < sim->diagnostics.fields; f++) sim->scale[f] = fmax(sim->scale[f], largest);
  return STATUS_OK;
}

status measure(simulation *sim) {
  perf_begin(&sim->perf, PERF_DIAGNOSTICS);
  CHECK(measure_state(sim));
  CHECK(add_entered(sim));
  perf_end(&sim->perf, PERF_DIAGNOSTICS);
  return agree(sim->comm, check_bounded(sim));
}

void measure_describe(const simulation *sim, int fields, char *text, size_t size) {
  const diagnostics_record *record = &sim->latest;
  text[0] = '\0';
  for (int f = 0; f < fields; f++) {
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s %.4g to %.4g", f > 0 ? ", " : "",
                   sim->diagnostics.names[f], record->field[f].minimum, record->field[f].maximum);
  }
  const size_t used = strlen(text);
  if (isfinite(record->field[0].error_linf))
    (void)snprintf(text + used, size - used, ", error %.3g", record->field[0].error_linf);
}
