#ifndef FDAPP_APP_SOLVER_H
#define FDAPP_APP_SOLVER_H

#include "distance/redistance.h"
#include "equations/sources.h"
#include "stepping/stepper.h"

/* The numerics of a run, made from its configuration: backend, fields, halos, equation, scheme. No files. */
typedef struct solver {
  MPI_Comm comm;
  const config *config;
  grid grid;
  const kernels *backend;
  kernels_context *context;
  int threads;          /* CPU threads of this rank */
  int devices, sharing; /* devices of this kind that this rank sees; ranks on this rank's device */
  transport_choice transport;
  field_space space;
  halo halo;
  const equation *equation;
  void *terms; /* made by equation->create */
  sources sources;
  stepper stepper;
  redistance redistance; /* used if level_set.redistance_every is set */
  schedule_rates rates;  /* over all ranks, for the largest time factor */
} solver;

/* Memory of a run, computed without a device: for the plan and the check before allocation. */
typedef struct solver_needs {
  int fields;          /* number of arrays with a slab's shape */
  size_t device_bytes; /* on this rank */
  size_t pair_bytes;   /* further ones there, if stages are computed in pairs */
  size_t host_bytes; /* staging, buffers of snapshots, and a user's files while they are read; all memory for
                      * a backend in host memory */
  size_t copy_bytes; /* on the host: the copy from which whole snapshots are written while steps continue. A
                      * run that lacks room for it waits for its snapshots. 0: no copy is wanted */
} solver_needs;
void solver_estimate(const config *config, const equation *equation, const grid *grid, int host_memory,
                     solver_needs *needs);

/* The equation's rates over all ranks. Collective. STATUS_MEMORY, STATUS_MPI; STATUS_USAGE if OMP_NUM_THREADS
 * is too large. */
status solver_rates(MPI_Comm comm, const config *config, const equation *equation, const grid *grid,
                    schedule_rates *rates);

/* Opens the device, compares the memory needed with the free memory (for all ranks on the same device),
 * allocates everything. Collective; the same status on every rank. comm, config and equation must outlive the
 * solver, which must not move afterwards, because its parts point to one another. STATUS_DEVICE,
 * STATUS_MEMORY, STATUS_MPI; STATUS_USAGE as of halo_create, and if OMP_NUM_THREADS is too large. Call
 * solver_destroy even after an error. */
status solver_create(MPI_Comm comm, const config *config, const equation *equation, const grid *grid,
                     const kernels *backend, solver *solver);
/* Call halo_leave(&solver->halo) on all ranks before, if neighbours' memory is open (halo.h). Not collective
 * itself. */
void solver_destroy(solver *solver);

/* Sets the owned planes of `state` to the solution at `time`, which must be known then (equation.h). Not
 * collective. STATUS_MEMORY, STATUS_DEVICE. */
status solver_fill(const solver *solver, double time, state *state);

/* Tells the equation the size of all steps, before any state is made (equation.h, `settle`). Collective.
 * STATUS_DEVICE, STATUS_MEMORY, STATUS_MPI. */
status solver_settle(solver *solver, double dt);

/* Sets the state to the equation's initial state. Collective; halos valid afterwards. STATUS_MEMORY,
 * STATUS_DEVICE, STATUS_MPI. */
status solver_initialise(solver *solver);

/* Makes the state's halos valid after a state has been read. Collective. STATUS_MPI, STATUS_DEVICE. */
status solver_refresh(solver *solver);

/* Sets `rates` to those of the state (equation.measure). Collective. STATUS_DEVICE, STATUS_MPI. */
status solver_measure(solver *solver);

/* One step from t to t + dt. Collective. Returns when it is enqueued; with `sample`, when it is done and its
 * last stage has been added to stepper.times. STATUS_MPI, STATUS_DEVICE, STATUS_MEMORY. */
status solver_step(solver *solver, double t, double dt, int sample);

/* Replaces the first field by the signed distance to its zero level. Collective; halos valid afterwards.
 * STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status solver_redistance(solver *solver);

/* Waits until everything enqueued is done. Not collective. STATUS_DEVICE. */
status solver_wait(solver *solver);

/* Words per point, of all unknowns, that a step must move, and their bytes for this rank's owned points. */
int solver_step_words(const solver *solver);
double solver_step_bytes(const solver *solver);
/* Words of the last stage, whose parts stepper_times has; 0 if any two stages of a step are one sweep. */
int solver_last_words(const solver *solver);

#endif
