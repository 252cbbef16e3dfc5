#ifndef FDAPP_PERF_H
#define FDAPP_PERF_H

#include "rundir.h"
#include "solver.h"

/* Where the time goes. Phases are timed on the host and shown to the device's profiler as ranges; a phase
 * ends when its work is done, not when it is enqueued. */

/* X(NAME, "name in perf.json") */
#define PERF_PHASE_LIST(X)                                                                                   \
  X(SETUP, "setup")                                                                                          \
  X(STEPS, "steps")                                                                                          \
  X(DIAGNOSTICS, "diagnostics")                                                                              \
  X(OUTPUT, "output")

#define X(name, text) PERF_##name,
typedef enum perf_phase { PERF_PHASE_LIST(X) PERF_PHASE_COUNT } perf_phase;
#undef X

typedef struct perf {
  const kernels *backend; /* for profiler ranges; NULL until known */
  int ranges;             /* of the profiler, begun and not ended */
  double started[PERF_PHASE_COUNT];
  double seconds[PERF_PHASE_COUNT];
  double largest[PERF_PHASE_COUNT]; /* longest single stretch */
  int64_t steps;                    /* taken by this process */
} perf;

void perf_begin(perf *perf, perf_phase phase);
void perf_end(perf *perf, perf_phase phase);

/* Bytes per second of a plain streaming loop with the reads and writes of this run's stage, on all ranks at
 * once, over fields as large as the run's: the ceiling that perf.json's share refers to. Sum over ranks; the
 * better of ordinary and non-temporal stores. Collective. Destroys the stepper's scratch fields, not phi.
 * About 0.2 seconds. */
status perf_ceiling(solver *solver, double *bytes_per_second);

/* Writes perf.json. Collective; rank 0 writes. Layout (times in seconds, over ranks {min, mean, max}):
 *   provenance {version, revision, compiler, mpi, hdf5, cuda, host, date}, backend, device, ranks, threads,
 *   transport {name, reason}, overlap, grid [nx, ny, nz], precision, order, scheme, form, velocity,
 *   steps, words_per_point_and_step, phases {setup, steps, diagnostics, output, halo_wait: the host's part of
 * steps}, stage {edges, interior, halo}: mean seconds of a sampled Runge-Kutta stage (stepper_times),
 *   seconds_per_step, points_per_second, bytes_per_second, ceiling_bytes_per_second, share_of_ceiling,
 * output_share. STATUS_FILE. */
status perf_write(const perf *perf, solver *solver, const rundir *rundir);

#endif
