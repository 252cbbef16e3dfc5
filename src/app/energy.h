#ifndef FDAPP_APP_ENERGY_H
#define FDAPP_APP_ENERGY_H

#include <jansson.h>

#include "app/solver.h"

/* The energy that the devices of a run take, from their own counters: of NVIDIA GPUs by NVML, loaded when the
 * program runs, of processors by RAPL. Where a counter cannot be read there is no figure, and a reason in its
 * place: nothing is estimated. */

enum { ENERGY_PACKAGES = 16, ENERGY_TEXT = 128, ENERGY_PATH = 256 };

#define ENERGY_NVML     "libnvidia-ml.so.1"
#define ENERGY_POWERCAP "/sys/class/powercap"

/* A processor package of RAPL: microjoules, from 0 again beyond `range`. */
typedef struct energy_package {
  char path[ENERGY_PATH];
  uint64_t last, range;
} energy_package;

/* What one rank reads. */
typedef struct energy {
  char method[ENERGY_TEXT]; /* how it is read, for people */
  char reason[ENERGY_TEXT]; /* why it cannot be read; "" if it can */
  int meters;               /* counters that this rank reads; 0 where another rank reads them */
  double joules;            /* counted so far */
  double power_limit;       /* watts, sum over this rank's devices; 0 unknown */
  double clock;             /* MHz of this rank's device when last read; 0 unknown */
  double started, seconds;  /* of the counting */
  void *library, *device;   /* NVML */
  uint64_t last;            /* millijoules */
  energy_package packages[ENERGY_PACKAGES];
} energy;

/* Begins to count. uuid: the GPU's, as NVML names it, read from the library `nvml`; NULL: the processor
 * packages below `powercap`. `reason` is set if they cannot be read. Not collective; to be followed by
 * energy_close. */
void energy_open(energy *energy, const char *uuid, const char *nvml, const char *powercap);

/* Adds what was taken since the last call. RAPL's counters start again after some minutes at full power, so
 * it is to be called more often than that. Not collective. */
void energy_read(energy *energy);

void energy_close(energy *energy);

/* energy_open for the solver's device: of the ranks that share a GPU, or a node's processors, one reads.
 * Collective. STATUS_MPI. */
status energy_start(const solver *solver, energy *energy);

/* [out] json, on rank 0 (NULL elsewhere): {method, joules, average_watts, seconds, meters, power_limit_watts,
 * clock_mhz: {min, max}} of all devices, the latter two for GPUs alone; {method: null, reason} if one cannot
 * be read, or if the steps took less than a second. Collective. STATUS_MPI. */
status energy_report(MPI_Comm comm, const energy *energy, json_t **json);

#endif
