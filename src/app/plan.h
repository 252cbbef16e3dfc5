#ifndef FDAPP_APP_PLAN_H
#define FDAPP_APP_PLAN_H

#include "snapshots/checkpoint.h"
#include "stepping/schedule.h"
#include "app/solver.h"

/* What is going to happen, printed before it does. Rank 0 prints; no device is needed. */

/* The problem: grid and slabs, memory, case, scheme. host_memory: whether the backend computes in host
 * memory. */
void plan_problem(const config *config, const grid *grid, int host_memory);

/* Memory that the ranks of this node need beside what is free on it, for a backend in host memory; warns if a
 * node of the run has too little. Collective. STATUS_MPI, STATUS_DEVICE, STATUS_MEMORY. */
status plan_memory(MPI_Comm comm, const config *config, const grid *grid, const kernels *backend);

/* Where the largest velocity, which dt follows from, takes long to find: a line that says what is done. */
void plan_rate(const config *config, const grid *grid);

/* The steps from `step`, where the run starts or goes on, to the last, and the files to come; `begins`: the
 * state of `step` is among them. */
void plan_steps(const config *config, const grid *grid, const schedule *schedule, int64_t step, int begins);

/* Warns where dt is beyond what the scheme is stable for, naming the limit. */
void plan_warn_unstable(const config *config, const schedule *schedule, const schedule_rates *rates);

/* Warns where a stored velocity is not free of divergence in the advective form. Collective. As
 * cases_velocity_divergence; STATUS_MPI. */
status plan_warn_divergence(MPI_Comm comm, const config *config, const grid *grid);

#endif
