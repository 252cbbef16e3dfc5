#ifndef FDAPP_APP_PERF_H
#define FDAPP_APP_PERF_H

#include "files/rundir.h"
#include "app/answer.h"
#include "app/energy.h"
#include "app/solver.h"

/* Times of the phases of a run. They are measured on the host and shown to the device's profiler as ranges. A
 * phase ends when its work is done, not when it is enqueued. */

/* X(NAME, "name in perf.json") */
#define PERF_PHASE_LIST(X)                                                                                   \
  X(SETUP, "setup")                                                                                          \
  X(STEPS, "steps")                                                                                          \
  X(DIAGNOSTICS, "diagnostics")                                                                              \
  X(OUTPUT, "output")                                                                                        \
  X(SLICES, "slices")                                                                                        \
  X(HASH, "hash")

#define X(name, text) PERF_##name,
typedef enum perf_phase { PERF_PHASE_LIST(X) PERF_PHASE_COUNT } perf_phase;
#undef X

typedef struct perf {
  const kernels *backend; /* for profiler ranges; NULL while unknown */
  int ranges;             /* number of open profiler ranges */
  double started[PERF_PHASE_COUNT];
  double seconds[PERF_PHASE_COUNT];
  double largest[PERF_PHASE_COUNT]; /* longest single stretch */
  int64_t steps;                    /* taken by this process */
  energy energy;                    /* from the first step to the end of the last */
} perf;

/* The time between begin and end is added to the phase, on this rank; it is a named range for the device's
 * profiler. Not collective. */
void perf_begin(perf *perf, perf_phase phase);
void perf_end(perf *perf, perf_phase phase);

/* Writes perf.json, on rank 0. Collective. Measures the ceiling in the stepper's scratch fields, which are
 * overwritten; phi is unchanged, and halos are not needed. Times are in seconds; those of phases and stage
 * are {min, mean, max} over ranks:
 *
 *   provenance {version, revision, compiler, mpi, hdf5, cuda, host, date}, backend, device, ranks, threads,
 *   transport {name, reason}, overlap (the key; without effect on one rank), grid [nx, ny, nz], precision,
 *   order, scheme, form, velocity, steps, words_per_point_and_step, stages_per_step,
 *   words_per_point_and_last_stage (null if any two stages are one sweep),
 *   phases {setup, steps, diagnostics, output, slices, hash, halo_wait}: slices with probes, halo_wait the
 *   host's part of steps; stage {edges, interior, halo}: means of the last sweep of sampled steps, a stage or
 *   two (stepper_times),
 *   seconds_per_step, points_per_second, bytes_per_second, ceiling_bytes_per_second, share_of_ceiling,
 *   output_share; figure_of_merit (point updates per second), hash, verified (true, false, or null without a
 *   reference): null if the run did not reach its end (answer NULL); energy (energy_report);
 *   places: [{host, device, uuid of a GPU}] in rank order.
 *
 * STATUS_FILE, STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. */
status perf_write(const perf *perf, solver *solver, const rundir *rundir, const answer *answer);

#endif
