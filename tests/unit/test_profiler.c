#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <mpi.h>

#include "app/perf.h"

/* A device's profiler sees the program's phases. No device is needed for that. */

/* The ranges that the recorder has seen in this process. */
static const char *recorded(void) {
  void *recorder = dlopen(NVTX_RECORDER, RTLD_NOW | RTLD_NOLOAD);
  assert_non_null(recorder); /* else NVTX has not loaded it */
  const char *(*read)(void) = NULL;
  *(void **)&read = dlsym(recorder, "nvtx_recorded");
  assert_non_null(read);
  return read();
}

/* Phases nest; one that began before the backend was known is no range, and ends none. */
static void phases_are_ranges(void **unused) {
  (void)unused;
  perf perf = {.backend = NULL};
  perf_begin(&perf, PERF_SETUP);
  perf.backend = kernels_find("cuda");
  assert_non_null(perf.backend);
  perf_end(&perf, PERF_SETUP);
  perf_begin(&perf, PERF_STEPS);
  perf_begin(&perf, PERF_DIAGNOSTICS);
  perf_end(&perf, PERF_DIAGNOSTICS);
  perf_begin(&perf, PERF_OUTPUT);
  perf_end(&perf, PERF_OUTPUT);
  perf_end(&perf, PERF_STEPS);
  assert_string_equal(recorded(), "steps;diagnostics;;output;;;");
}

int main(int argc, char **argv) {
  (void)setenv("NVTX_INJECTION64_PATH", NVTX_RECORDER, 1);
  MPI_Init(&argc, &argv); /* phases are timed by MPI's clock */
  const struct CMUnitTest tests[] = {cmocka_unit_test(phases_are_ranges)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  MPI_Finalize();
  return failed;
}
