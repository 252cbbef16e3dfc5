#ifndef FDAPP_APP_PLAN_H
#define FDAPP_APP_PLAN_H

#include "snapshots/checkpoint.h"
#include "stepping/schedule.h"
#include "app/solver.h"

/* The plan of a run, printed before it starts. Rank 0 prints; no device is needed. */

/* Prints the problem: grid and slabs, memory, case, scheme. host_memory: 1 if the backend computes in host
 * memory, 0 if it does not or is unknown. */
void plan_problem(const config *config, const grid *grid, int host_memory);

/* Prints the memory that the ranks of this node need, and the free memory, for a backend in host memory.
 * Warns if a node of the run has too little. Collective. STATUS_MPI, STATUS_DEVICE, STATUS_MEMORY. */
status plan_memory(MPI_Comm comm, const config *config, const grid *grid, const kernels *backend);

/* Prints a line if the search for the largest velocity, which determines dt, takes long. */
void plan_rate(const config *config, const grid *grid);

/* Describes point sources and receivers: how many points the shortest waves have, with a warning of few.
 * Warns of signals that begin after the last step, and of layers that are too thin for steps of dt. */
void plan_waves(const config *config, const grid *grid, const schedule *schedule, const schedule_rates *rates,
                double dt);

/* Prints the steps from `step`, where the run starts or resumes, to the last, and the files to come. begins:
 * 1 if the state of `step` is written, too. */
void plan_steps(const config *config, const grid *grid, const schedule *schedule, int64_t step, int begins);

/* Warns if a stored velocity has a divergence beyond round-off and the form is advective. Collective. Errors
 * as of cases_velocity_divergence; STATUS_MPI. */
status plan_warn_divergence(MPI_Comm comm, const config *config, const grid *grid,
                            const schedule_rates *rates);

#endif
