#include "wave_call.h"

#include <string.h>

#include "kernels.h"

extern kernels_wave_function wave_cpu;

kernels_wave_function *kernels_wave_of(const kernels *backend) {
  return strcmp(backend->name, "cpu") == 0 ? wave_cpu : NULL;
}
