#ifndef FDAPP_APP_SOLVER_H
#define FDAPP_APP_SOLVER_H

#include "distance/redistance.h"
#include "equations/equation.h"
#include "stepping/stepper.h"

/* The numerics of a run put together from its configuration: backend, fields, halos, equation, scheme. No
 * files. */
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
  void *terms; /* what equation->create made */
  stepper stepper;
  redistance redistance; /* if level_set.redistance_every says so */
  schedule_rates rates;  /* over all ranks, at the largest time factor */
} solver;

/* What a run needs, computed without touching a device: for the plan and for the check before allocation. */
typedef struct solver_needs {
  int fields;          /* arrays of a slab's shape */
  size_t device_bytes; /* on this rank */
  size_t host_bytes;   /* staging and checkpoint buffers (equal to all memory for a backend in host memory) */
} solver_needs;
void solver_estimate(const config *config, const equation *equation, const grid *grid, int host_memory,
                     solver_needs *needs);

/* The backend that `config` names, or the first of the registry that can run here for `auto`; [out] note:
 * why, if `auto` passed one over ("" otherwise). Collective: the same on every rank. STATUS_DEVICE,
 * STATUS_MPI. */
status solver_backend(MPI_Comm comm, const config *config, const kernels **backend, char *note, size_t size);

/* The equation's rates over all ranks. Collective. STATUS_MEMORY, STATUS_MPI; STATUS_USAGE where
 * OMP_NUM_THREADS names too many threads. */
status solver_rates(MPI_Comm comm, const config *config, const equation *equation, const grid *grid,
                    schedule_rates *rates);

/* Opens the device, checks memory needed against memory free (of all ranks on the same device), allocates
 * everything. Collective; the same status on every rank. comm, config and equation must outlive the solver,
 * which must not move afterwards (its parts point to one another). STATUS_DEVICE, STATUS_MEMORY, STATUS_MPI;
 * STATUS_USAGE as of halo_create, and where OMP_NUM_THREADS names too many. After a failure solver_destroy is
 * due all the same. */
status solver_create(MPI_Comm comm, const config *config, const equation *equation, const grid *grid,
                     const kernels *backend, solver *solver);
/* After halo_leave(&solver->halo) on all ranks, if others' memory is open (halo.h). Not collective itself. */
void solver_destroy(solver *solver);

/* Sets the owned planes of `state` to the solution at `time`, known there (equation.h). Not collective.
 * STATUS_MEMORY, STATUS_DEVICE. */
status solver_fill(const solver *solver, double time, state *state);

/* The state = the equation's at t = 0. Collective; halos valid afterwards. STATUS_MEMORY, STATUS_DEVICE,
 * STATUS_MPI. */
status solver_initialise(solver *solver);

/* Makes the state's halos valid, after a state has been read into it. Collective. STATUS_MPI, STATUS_DEVICE.
 */
status solver_refresh(solver *solver);

/* One step from t to t + dt. Collective; returns when it is enqueued, or, with `sample`, when it is done and
 * its last stage is added to stepper.times. STATUS_MPI, STATUS_DEVICE, STATUS_MEMORY. */
status solver_step(solver *solver, double t, double dt, int sample);

/* Makes the first field the distance to its surface again. Collective; halos valid afterwards. STATUS_MEMORY,
 * STATUS_DEVICE, STATUS_MPI. */
status solver_redistance(solver *solver);

/* Waits until everything enqueued is done. Not collective. STATUS_DEVICE. */
status solver_wait(solver *solver);

/* Words that a step must move per point, of all unknowns, and the bytes of them on this rank's owned points.
 */
int solver_step_words(const solver *solver);
double solver_step_bytes(const solver *solver);

#endif
