/* A stand-in for NVML: one device, whose counter of energy and power are in the environment. Declared as
 * nvml.h does. */
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *megahertz);

static int the_device;

int nvmlInit_v2(void) {
  return 0;
}

int nvmlShutdown(void) {
  return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  *device = &the_device;
  return strcmp(uuid, "GPU-right") == 0 ? 0 : 6; /* NVML_ERROR_NOT_FOUND */
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
  const char *text = getenv("MILLIJOULES");
  if (device != &the_device || text == NULL) return 3; /* NVML_ERROR_NOT_SUPPORTED */
  *millijoules = strtoull(text, NULL, 10);
  return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  const char *text = getenv("MILLIWATTS");
  if (device != &the_device || text == NULL) return 3;
  *milliwatts = (unsigned)strtoul(text, NULL, 10);
  return 0;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) {
  *milliwatts = device == &the_device ? 700000 : 0;
  return 0;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *megahertz) {
  *megahertz = device == &the_device && clock == 1 ? 1980 : 0; /* NVML_CLOCK_SM */
  return 0;
}
