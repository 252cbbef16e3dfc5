#ifndef FDAPP_APP_STABILITY_H
#define FDAPP_APP_STABILITY_H

#include "config/config.h"
#include "stepping/schedule.h"

/* The step of a run against the stability limits of its scheme: the growth of every Fourier mode. Pure. */

/* The largest share of the step, at most 1, with which no mode grows. */
double stability_share(const config *config, const schedule *schedule, const schedule_rates *rates);

/* Warns if that is less than 1, naming the limit. Rank 0 prints. */
void stability_warn(const config *config, const schedule *schedule, const schedule_rates *rates);

#endif
