#include "kernels.h"

#include <string.h>

/* The list of backends: X(name), in the order in which `auto` tries them. The only place where a build option
 * decides what exists. */
#ifdef FDAPP_HAVE_CUDA
#define BACKENDS(X) X(cuda) X(cpu)
#else
#define BACKENDS(X) X(cpu)
#endif

#define X(name) extern const kernels kernels_##name;
BACKENDS(X)
#undef X

static const kernels *const backends[] = {
#define X(name) &kernels_##name,
    BACKENDS(X)
#undef X
};

int kernels_count(void) {
  return (int)(sizeof backends / sizeof backends[0]);
}

const kernels *kernels_at(int index) {
  return backends[index];
}

const kernels *kernels_find(const char *name) {
  for (int i = 0; i < kernels_count(); i++) {
    if (strcmp(backends[i]->name, name) == 0) return backends[i];
  }
  return NULL;
}
