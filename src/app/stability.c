#include "app/stability.h"

#include <math.h>
#include <stdio.h>

#include "base/agree.h"
#include "base/log.h"
#include "settings/scheme.h"

/* The rates of the longest step. Adaptive steps have Courant numbers of their own, and the longest one is the
 * critical one for diffusion. The last step may be shorter than the others. */
static schedule_rates rates_of(const config *config, const schedule *schedule, const schedule_rates *rates,
                               double *dt) {
  schedule_rates all = *rates;
  *dt = schedule->timed > 0 && schedule->measured         ? schedule->dt
        : schedule->factor != NULL || schedule->timed > 0 ? schedule->longest
                                                          : schedule_dt(schedule, schedule->base_step + 1);
  if (schedule->factor == NULL) return all;
  const double factor = config->courant * schedule->reached / (*dt * rates->advection);
  all.advection *= factor;
  for (int d = 0; d < 3; d++) all.along[d] *= factor;
  return all;
}

/* The limit of waves by central differences without ends. */
static void find_plain(const config *config, const schedule_rates *rates, double dt, equation_limit *limit) {
  const scheme *scheme = schemes_at(config->scheme);
  const double courant = scheme_imaginary_limit(scheme) / stencil_first_maximum(config->order);
  limit->step = courant / rates->advection;
  (void)snprintf(limit->words, EQUATION_WORDS, EQUATION_BEYOND, dt * rates->advection, courant, scheme->name,
                 config->order);
}

status stability_find(MPI_Comm comm, const config *config, const grid *grid, const schedule *schedule,
                      const schedule_rates *rates, stability *stability) {
  const equation *equation = equation_of(config);
  *stability = (struct stability){0};
  const schedule_rates all = rates_of(config, schedule, rates, &stability->dt);
  int rank = 0;
  status found = STATUS_OK;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  /* By one rank: C libraries differ in their last digits, and a trial takes a tenth of a second. */
  if (equation->limit == NULL)
    find_plain(config, &all, stability->dt, &stability->limit);
  else if (rank == 0)
    found = equation->limit(config, grid, &all, stability->dt, &stability->limit);
  CHECK(agree(comm, found));
  CHECK_MPI(MPI_Bcast(&stability->limit, (int)sizeof stability->limit, MPI_BYTE, 0, comm));
  stability->share = fmin(1.0, stability->limit.step / stability->dt);
  return STATUS_OK;
}

/* Rounds down to 6 digits, so that the printed number is not larger than x. */
static double downwards(double x) {
  return x * (1.0 - 1e-5);
}

void stability_warn(const config *config, const schedule *schedule, const stability *stability) {
  const double dt = stability->dt, share = stability->share;
  if (share >= 1.0) return;
  if (schedule->factor != NULL) {
    log_warning("time.adaptive, with steps of up to %.6g, gives %s: the solution may grow without bound; try "
                "time.courant = %.6g",
                dt, stability->limit.words, downwards(config->courant * share));
  } else {
    log_warning("dt = %.6g gives %s: the solution %s grow without bound; dt <= %.6g is stable", dt,
                stability->limit.words, stability->limit.bound ? "may" : "will", downwards(dt * share));
  }
}
