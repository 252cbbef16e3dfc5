#include "app/energy.h"

#include <dlfcn.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "domain/node.h"

/* Least duration of a measurement. NVML's counter is updated some ten times per second, and late: for 0.16 s
 * of full load on an H100 it gave a third of the power that several seconds gave, and for 0.02 s nothing. */
static const double least_seconds = 1.0;

/* From nvml.h; functions and values do not change between versions. */
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1 };
typedef int nvml_call(void);
typedef int nvml_find(const char *uuid, void **device);
typedef int nvml_energy(void *device, unsigned long long *millijoules);
typedef int nvml_power(void *device, unsigned *milliwatts);
typedef int nvml_clock(void *device, int clock, unsigned *megahertz);

/* Looks up a function of the library, or NULL. ISO C has no cast from an object's to a function's address. */
#define NVML(energy, type, name)                                                                             \
  type *name = NULL;                                                                                         \
  if ((energy)->library != NULL) *(void **)&name = dlsym((energy)->library, #name)

static void refuse(energy *energy, const char *reason) {
  (void)snprintf(energy->reason, sizeof energy->reason, "%s", reason);
  energy->meters = 0;
}

/* Reads the GPU's energy counter: millijoules since the driver was loaded. */
static int gpu_counter(const energy *energy, uint64_t *millijoules) {
  unsigned long long value = 0;
  NVML(energy, nvml_energy, nvmlDeviceGetTotalEnergyConsumption);
  if (nvmlDeviceGetTotalEnergyConsumption == NULL ||
      nvmlDeviceGetTotalEnergyConsumption(energy->device, &value) != NVML_SUCCESS)
    return 0;
  *millijoules = value;
  return 1;
}

static int gpu_power(const energy *energy, double *watts) {
  unsigned milliwatts = 0;
  NVML(energy, nvml_power, nvmlDeviceGetPowerUsage);
  if (nvmlDeviceGetPowerUsage == NULL || nvmlDeviceGetPowerUsage(energy->device, &milliwatts) != NVML_SUCCESS)
    return 0;
  *watts = 1e-3 * milliwatts;
  return 1;
}

/* Takes the device's counter of energy or, if there is none, its power. Returns 0 if it has neither. */
static int gpu_choose(energy *energy) {
  if (gpu_counter(energy, &energy->last)) return 1;
  energy->integrates = 1;
  (void)snprintf(energy->method, sizeof energy->method, "nvmlDeviceGetPowerUsage, integrated over time");
  return gpu_power(energy, &energy->watts);
}

static void gpu_open(energy *energy, const char *uuid, const char *library) {
  (void)snprintf(energy->method, sizeof energy->method, "nvmlDeviceGetTotalEnergyConsumption");
  energy->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (energy->library == NULL) {
    refuse(energy, "NVML, a part of the driver, is not found");
    return;
  }
  NVML(energy, nvml_call, nvmlInit_v2);
  NVML(energy, nvml_find, nvmlDeviceGetHandleByUUID);
  NVML(energy, nvml_power, nvmlDeviceGetEnforcedPowerLimit);
  unsigned milliwatts = 0;
  if (nvmlInit_v2 == NULL || nvmlDeviceGetHandleByUUID == NULL || nvmlInit_v2() != NVML_SUCCESS ||
      nvmlDeviceGetHandleByUUID(uuid, &energy->device) != NVML_SUCCESS) {
    refuse(energy, "NVML does not give access to the device");
  } else if (!gpu_choose(energy)) {
    refuse(energy, "the device has neither a counter of energy nor one of power");
  } else {
    energy->meters = 1;
    if (nvmlDeviceGetEnforcedPowerLimit != NULL &&
        nvmlDeviceGetEnforcedPowerLimit(energy->device, &milliwatts) == NVML_SUCCESS)
      energy->power_limit = 1e-3 * milliwatts;
  }
}

/* Adds what the counter of energy has gained. Returns 0 if it cannot be read. */
static int gpu_count(energy *energy) {
  uint64_t now = 0;
  if (!gpu_counter(energy, &now) || now < energy->last) return 0;
  energy->joules += 1e-3 * (double)(now - energy->last);
  energy->last = now;
  return 1;
}

/* Adds the power since the last reading times the time, by the trapezoidal rule. Returns 0 if it cannot be
 * read. */
static int gpu_integrate(energy *energy) {
  const double now = energy->started + energy->seconds;
  double watts = 0.0;
  if (!gpu_power(energy, &watts)) return 0;
  energy->joules += 0.5 * (energy->watts + watts) * (now - energy->read);
  energy->watts = watts;
  energy->read = now;
  return 1;
}

static void gpu_read(energy *energy) {
  unsigned megahertz = 0;
  NVML(energy, nvml_clock, nvmlDeviceGetClockInfo);
  if (!(energy->integrates ? gpu_integrate(energy) : gpu_count(energy))) {
    refuse(energy, "the device's counter could not be read to the end");
    return;
  }
  if (nvmlDeviceGetClockInfo != NULL &&
      nvmlDeviceGetClockInfo(energy->device, NVML_CLOCK_SM, &megahertz) == NVML_SUCCESS)
    energy->clock = megahertz;
}

static int file_number(const char *folder, const char *name, uint64_t *value) {
  char path[ENERGY_PATH + 32];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  const int found = file != NULL && fscanf(file, "%" SCNu64, value) == 1;
  if (file != NULL) (void)fclose(file);
  return found;
}

/* Returns 1 if a power-capping zone is a whole package. Other zones are parts of one, or the platform. */
static int is_package(const char *zone) {
  char path[ENERGY_PATH + 32];
  char name[32] = "";
  (void)snprintf(path, sizeof path, "%s/name", zone);
  FILE *file = fopen(path, "r");
  const int found =
      file != NULL && fgets(name, sizeof name, file) != NULL && strncmp(name, "package-", 8) == 0;
  if (file != NULL) (void)fclose(file);
  return found;
}

static void packages_open(energy *energy, const char *powercap) {
  char pattern[ENERGY_PATH];
  glob_t zones;
  (void)snprintf(energy->method, sizeof energy->method, "RAPL, whole processor packages");
  (void)snprintf(pattern, sizeof pattern, "%s/intel-rapl:*", powercap);
  if (glob(pattern, 0, NULL, &zones) != 0) {
    refuse(energy, "the kernel shows no RAPL counters here");
    return;
  }
  for (size_t i = 0; i < zones.gl_pathc && energy->reason[0] == '\0'; i++) {
    if (!is_package(zones.gl_pathv[i])) continue;
    energy_package *package = &energy->packages[energy->meters];
    if (energy->meters == ENERGY_PACKAGES || strlen(zones.gl_pathv[i]) >= ENERGY_PATH) {
      refuse(energy, "there are more RAPL packages than the program reads");
      break;
    }
    (void)snprintf(package->path, sizeof package->path, "%s", zones.gl_pathv[i]);
    if (!file_number(package->path, "energy_uj", &package->last) ||
        !file_number(package->path, "max_energy_range_uj", &package->range)) {
      refuse(energy, "RAPL's counters may not be read by this user");
      break;
    }
    energy->meters++;
  }
  if (energy->meters == 0 && energy->reason[0] == '\0') refuse(energy, "RAPL has no package here");
  globfree(&zones);
}

static void packages_read(energy *energy) {
  for (int i = 0; i < energy->meters; i++) {
    energy_package *package = &energy->packages[i];
    uint64_t now = 0;
    if (!file_number(package->path, "energy_uj", &now)) {
      refuse(energy, "RAPL's counters could not be read to the end");
      return;
    }
    const uint64_t again = now < package->last ? package->range : 0;
    energy->joules += 1e-6 * (double)(now + again - package->last);
    package->last = now;
  }
}

void energy_open(energy *energy, const char *uuid, const char *nvml, const char *powercap) {
  *energy = (struct energy){.reason = ""};
  if (uuid != NULL)
    gpu_open(energy, uuid, nvml);
  else
    packages_open(energy, powercap);
  energy->started = energy->read = MPI_Wtime();
}

void energy_read(energy *energy) {
  energy->seconds = MPI_Wtime() - energy->started;
  if (energy->meters == 0) return;
  if (energy->device != NULL)
    gpu_read(energy);
  else
    packages_read(energy);
}

void energy_watch(energy *energy) {
  const double now = MPI_Wtime() - energy->started;
  if (energy->integrates || now - energy->seconds >= least_seconds) energy_read(energy);
}

void energy_close(energy *energy) {
  NVML(energy, nvml_call, nvmlShutdown);
  if (nvmlShutdown != NULL) (void)nvmlShutdown();
  if (energy->library != NULL) (void)dlclose(energy->library);
  energy->library = NULL;
  energy->device = NULL;
}

status energy_start(const solver *solver, energy *energy) {
  node node;
  int identity = 0, devices = 0, first = 0;
  const kernels *backend = solver->backend;
  backend->device_identity(solver->context, &identity, &devices);
  CHECK(node_open(solver->comm, &node));
  CHECK(node_is_first(&node, identity, &first));
  CHECK(node_close(&node));
  if (first) {
    energy_open(energy, backend->device_uuid != NULL ? backend->device_uuid(solver->context) : NULL,
                ENERGY_NVML, ENERGY_POWERCAP);
  } else {
    *energy = (struct energy){.reason = ""};
  }
  CHECK_MPI(MPI_Barrier(solver->comm));
  energy->started = energy->read = MPI_Wtime();
  return STATUS_OK;
}

/* The reason of the lowest rank that cannot read its counter, on rank 0; "" if all can. */
static status find_reason(MPI_Comm comm, const energy *energy, char reason[ENERGY_TEXT]) {
  struct {
    int none, rank;
  } mine = {.none = energy->reason[0] == '\0'}, lowest;
  CHECK_MPI(MPI_Comm_rank(comm, &mine.rank));
  CHECK_MPI(MPI_Allreduce(&mine, &lowest, 1, MPI_2INT, MPI_MINLOC, comm));
  memcpy(reason, energy->reason, ENERGY_TEXT);
  CHECK_MPI(MPI_Bcast(reason, ENERGY_TEXT, MPI_CHAR, lowest.rank, comm));
  return STATUS_OK;
}

status energy_report(MPI_Comm comm, const energy *energy, json_t **json) {
  char reason[ENERGY_TEXT];
  const double mine[] = {energy->joules, energy->power_limit, (double)energy->meters};
  const double clocks[] = {energy->clock > 0.0 ? -energy->clock : -1e30, energy->clock, energy->seconds};
  double sum[3], most[3];
  int rank = 0;
  *json = NULL;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK(find_reason(comm, energy, reason));
  CHECK_MPI(MPI_Reduce(mine, sum, 3, MPI_DOUBLE, MPI_SUM, 0, comm));
  CHECK_MPI(MPI_Reduce(clocks, most, 3, MPI_DOUBLE, MPI_MAX, 0, comm));
  if (rank != 0) return STATUS_OK;
  if (reason[0] == '\0' && most[2] < least_seconds)
    (void)snprintf(reason, ENERGY_TEXT, "the steps took less than a second, too short for the counters");
  if (reason[0] != '\0') {
    *json = json_pack("{s:n, s:s}", "method", "reason", reason);
    return STATUS_OK;
  }
  *json = json_pack("{s:s, s:f, s:f, s:f, s:i}", "method", energy->method, "joules", sum[0], "average_watts",
                    sum[0] / most[2], "seconds", most[2], "meters", (int)sum[2]);
  if (sum[1] > 0.0) (void)json_object_set_new(*json, "power_limit_watts", json_real(sum[1]));
  if (most[1] > 0.0)
    (void)json_object_set_new(*json, "clock_mhz", json_pack("{s:f, s:f}", "min", -most[0], "max", most[1]));
  return STATUS_OK;
}
