#ifndef FDAPP_EMULATED_NVTOOLSEXT_H
#define FDAPP_EMULATED_NVTOOLSEXT_H

/* No profiler. */
static inline int nvtxRangePushA(const char *name) {
  (void)name;
  return 0;
}
static inline int nvtxRangePop(void) {
  return 0;
}

#endif
