#ifndef FDAPP_APP_ENERGY_H
#define FDAPP_APP_ENERGY_H

#include <jansson.h>

#include "app/solver.h"

/* Energy of the run's devices from hardware counters: of NVIDIA GPUs by NVML, loaded at run time, of
 * processors by RAPL. A GPU without a counter of energy has its power integrated, by the trapezoidal rule
 * over the calls of energy_watch (ten per second). If nothing can be read, the report has a reason instead of
 * a figure; nothing is estimated. */

enum { ENERGY_PACKAGES = 16, ENERGY_TEXT = 128, ENERGY_PATH = 256 };

#define ENERGY_NVML     "libnvidia-ml.so.1"
#define ENERGY_POWERCAP "/sys/class/powercap"

/* A processor package in RAPL. Its counter, in microjoules, wraps around to 0 beyond `range`. */
typedef struct energy_package {
  char path[ENERGY_PATH];
  uint64_t last, range;
} energy_package;

/* The meters that one rank reads. */
typedef struct energy {
  char method[ENERGY_TEXT]; /* description of the counters */
  char reason[ENERGY_TEXT]; /* why they cannot be read; "" if they can */
  int meters;               /* number of counters that this rank reads; 0 if another rank reads them */
  double joules;            /* counted so far */
  double power_limit;       /* watts, sum over this rank's devices; 0 unknown */
  double clock;             /* MHz of this rank's device at the last reading; 0 unknown */
  double started, seconds;  /* start and duration of counting */
  double read, watts;       /* time of the last reading, and the power then, where power is integrated */
  void *library, *device;   /* NVML */
  int integrates;           /* 1: power is integrated; 0: a counter of energy is read */
  uint64_t last;            /* counter at the last reading, in millijoules */
  energy_package packages[ENERGY_PACKAGES];
} energy;

/* Begins to count. uuid: the GPU's name in NVML, which is loaded from the library `nvml`; NULL: read the
 * processor packages below `powercap`. Sets `reason` if they cannot be read. Not collective. Call
 * energy_close afterwards. */
void energy_open(energy *energy, const char *uuid, const char *nvml, const char *powercap);

/* Adds the energy since the last call. RAPL's counters wrap around after some minutes at full power, so call
 * it more often. Not collective. */
void energy_read(energy *energy);
/* Calls energy_read if the last reading is a second old, or if power is integrated. NVML takes 3 to 18 ms, in
 * which the device has nothing to do. */
void energy_watch(energy *energy);

void energy_close(energy *energy);

/* energy_open for the solver's device. Of the ranks that share a GPU, or a node's processors, one reads.
 * Returns on all ranks at the same time: NVML opens up to 14 ms later on one rank than on another, which
 * would wait for it in its first step. Collective. STATUS_MPI. */
status energy_start(const solver *solver, energy *energy);

/* [out] json, on rank 0 (NULL elsewhere): {method, joules, average_watts, seconds, meters, power_limit_watts,
 * clock_mhz: {min, max}} of all devices, the last two for GPUs only; {method: null, reason} if a counter
 * cannot be read, or if the steps took less than a second. Collective. STATUS_MPI. */
status energy_report(MPI_Comm comm, const energy *energy, json_t **json);

#endif
