/* Steps of RK4 in Horner's form, their stages two in one sweep against one by one, in one run:
 *
 *   bench_pairs [upwind] NX NY NZ [NX NY NZ ...]
 *
 * In central differences, or upwind ones. For each grid and precision that has pairs: whether both give the
 * bits of the CPU backend after three steps, and a row of times in milliseconds per step: medians of 15
 * single steps, and 100 steps back to back. Exit code 1 if any bit differs, 77 without a device that has
 * pairs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advection_stage.h"

enum { SLOTS = 3, SAMPLES = 15, STEPS_CHECKED = 3, STEPS_IN_ROW = 100, SKIPPED = 77 };

static const double weights[] = {1.0 / 4.0, 1.0 / 3.0, 1.0 / 2.0, 1.0};

/* A backend with the fields of a step; slot[0] holds phi. */
typedef struct machine {
  const kernels *backend;
  kernels_context *context;
  stencil stencil;
  kernels_launch launch;
  void *slot[SLOTS];
  kernels_event *start, *end;
  int upwind;
} machine;

static status machine_open(const char *name, int nx, int ny, int nz, enum precision precision, int upwind,
                           machine *m) {
  const kernels_setup setup = {.threads = 0};
  *m = (machine){.backend = kernels_find(name), .upwind = upwind};
  if (m->backend == NULL) return status_fail(STATUS_DEVICE, "no backend %s in this build", name);
  CHECK(m->backend->context_create(&setup, &m->context));
  const kernels_shape shape = kernels_shape_make(nx, ny, nz, 1, precision, m->backend->host_memory);
  m->stencil = stencil_make(8, (const double[3]){1.0 / nx, 1.1 / ny, 0.9 / nz});
  m->launch = (kernels_launch){.context = m->context,
                               .queue = QUEUE_MAIN,
                               .shape = shape,
                               .planes = {{0, nz}},
                               .stencil = &m->stencil};
  for (int i = 0; i < SLOTS; i++)
    CHECK(m->backend->memory_allocate(m->context, MEMORY_DEVICE, kernels_field_bytes(&shape), &m->slot[i]));
  CHECK(m->backend->event_create(m->context, &m->start));
  return m->backend->event_create(m->context, &m->end);
}

static void machine_close(machine *m) {
  for (int i = 0; i < SLOTS; i++) m->backend->memory_free(m->context, MEMORY_DEVICE, m->slot[i]);
  m->backend->event_destroy(m->start);
  m->backend->event_destroy(m->end);
  m->backend->context_destroy(m->context);
}

/* Stage i of a step: out and f are slots, every base is phi. */
static kernels_call stage_call(const machine *m, int i, int out, int f) {
  const double dt = 0.4 / m->launch.shape.nx;
  const advection_stage stage = {.out = m->slot[out],
                                 .f = m->slot[f],
                                 .base = f == 0 ? NULL : m->slot[0],
                                 .advection = -dt * weights[i],
                                 .dissipation = m->upwind ? dt * weights[i] : 0.0,
                                 .uniform = {0.9, 0.7, -0.8}};
  return advection_call(&stage, m->launch.shape.precision);
}

static status step_single(machine *m) {
  static const int out[] = {1, 2, 1, 0}, f[] = {0, 1, 2, 1};
  for (int i = 0; i < 4; i++) {
    const kernels_call call = stage_call(m, i, out[i], f[i]);
    CHECK(m->backend->apply(&m->launch, &call));
  }
  return STATUS_OK;
}

/* The result is in slot 1, which then becomes slot 0. */
static status step_pairs(machine *m) {
  const kernels_call calls[] = {stage_call(m, 0, 1, 0), stage_call(m, 1, 2, 1), stage_call(m, 2, 0, 2),
                                stage_call(m, 3, 1, 1)};
  kernels_call third = calls[2], last = calls[3];
  last.in[ADVECTION_F] = NULL; /* nobody reads what is between */
  third.out[0] = m->slot[2];
  CHECK(m->backend->apply_pair(&m->launch, &calls[0], &calls[1]));
  CHECK(m->backend->apply_pair(&m->launch, &third, &last));
  void *phi = m->slot[1];
  m->slot[1] = m->slot[0];
  m->slot[0] = phi;
  return STATUS_OK;
}

typedef status (*step)(machine *m);

static status steps_run(machine *m, step step, int count) {
  for (int i = 0; i < count; i++) CHECK(step(m));
  return STATUS_OK;
}

static status seconds_of(machine *m, step step, int count, double *seconds) {
  CHECK(m->backend->event_record(m->start, m->context, QUEUE_MAIN));
  CHECK(steps_run(m, step, count));
  CHECK(m->backend->event_record(m->end, m->context, QUEUE_MAIN));
  CHECK(m->backend->event_wait(m->end));
  return m->backend->event_seconds(m->start, m->end, seconds);
}

static int ascending(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static status median_of(machine *m, step step, double *median) {
  double samples[SAMPLES];
  CHECK(steps_run(m, step, 2));
  for (int i = 0; i < SAMPLES; i++) CHECK(seconds_of(m, step, 1, &samples[i]));
  qsort(samples, SAMPLES, sizeof *samples, ascending);
  *median = samples[SAMPLES / 2];
  return STATUS_OK;
}

/* Noise in (-1, 1) at a point, the same on every machine. */
static double noise(size_t i) {
  uint64_t h = (uint64_t)i + 0x9e3779b97f4a7c15U;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebU;
  return (double)(int64_t)(h ^ (h >> 31)) * 0x1p-63;
}

static size_t row_offset(const kernels_shape *s, int y, int z) {
  const size_t row = (size_t)(z + KERNELS_HALO) * (size_t)s->plane + (size_t)y * (size_t)s->ldx;
  return row * kernels_element_size(s->precision);
}

/* A copy of phi in host memory, of the machine's shape; or, `up`, from there. */
static status phi_copy(machine *m, void *host, int up) {
  const size_t bytes = kernels_field_bytes(&m->launch.shape);
  CHECK(
      m->backend->memory_copy(m->context, QUEUE_MAIN, up ? m->slot[0] : host, up ? host : m->slot[0], bytes));
  return m->backend->queue_wait(m->context, QUEUE_MAIN);
}

static status phi_set(machine *m, void *host) {
  const kernels_shape *s = &m->launch.shape;
#pragma omp parallel for
  for (int z = 0; z < s->nz; z++) {
    for (int y = 0; y < s->ny; y++) {
      char *row = (char *)host + row_offset(s, y, z);
      for (int x = 0; x < s->nx; x++) {
        const double value = noise(((size_t)z * (size_t)s->ny + (size_t)y) * (size_t)s->nx + (size_t)x);
        if (s->precision == PRECISION_SINGLE) {
          ((float *)row)[x] = (float)value;
        } else {
          ((double *)row)[x] = value;
        }
      }
    }
  }
  return phi_copy(m, host, 1);
}

/* Rows that differ. */
static long rows_differing(const machine *a, const void *phi_a, const machine *b, const void *phi_b) {
  const kernels_shape *s = &a->launch.shape;
  const size_t bytes = (size_t)s->nx * kernels_element_size(s->precision);
  long count = 0;
#pragma omp parallel for reduction(+ : count)
  for (int z = 0; z < s->nz; z++) {
    for (int y = 0; y < s->ny; y++)
      count += memcmp((const char *)phi_a + row_offset(s, y, z),
                      (const char *)phi_b + row_offset(&b->launch.shape, y, z), bytes) != 0;
  }
  return count;
}

/* phi after some steps on a machine, in `host`. */
static status march(machine *m, step step, void *host) {
  CHECK(phi_set(m, host));
  CHECK(steps_run(m, step, STEPS_CHECKED));
  return phi_copy(m, host, 0);
}

static int grid_run(int nx, int ny, int nz, enum precision precision, int upwind) {
  machine cpu, gpu;
  int different = 1;
  double single = 0.0, pairs = 0.0, single_row = 0.0, pairs_row = 0.0;
  status result = machine_open("cpu", nx, ny, nz, precision, upwind, &cpu);
  if (result == STATUS_OK) result = machine_open("cuda", nx, ny, nz, precision, upwind, &gpu);
  if (result != STATUS_OK) {
    (void)printf("%s\n", status_message(result));
    return SKIPPED;
  }
  const kernels_call first = stage_call(&gpu, 0, 1, 0), second = stage_call(&gpu, 1, 2, 1);
  const char *refused = gpu.backend->pair_refused(&gpu.launch, &first, &second, 1);
  const char *unwise = gpu.backend->pair_refused(&gpu.launch, &first, &second, 0);
  if (refused != NULL) {
    (void)printf("no pairs: %s\n", refused);
    machine_close(&cpu);
    machine_close(&gpu);
    return SKIPPED;
  }
  void *on_cpu = calloc(1, kernels_field_bytes(&cpu.launch.shape));
  void *one = calloc(1, kernels_field_bytes(&gpu.launch.shape)),
       *two = calloc(1, kernels_field_bytes(&gpu.launch.shape));
  if (on_cpu == NULL || one == NULL || two == NULL) return 1;
  result = march(&cpu, step_single, on_cpu);
  if (result == STATUS_OK) result = march(&gpu, step_single, one);
  if (result == STATUS_OK) result = march(&gpu, step_pairs, two);
  long wrong = rows_differing(&cpu, on_cpu, &gpu, one);
  const long wrong_pairs = rows_differing(&cpu, on_cpu, &gpu, two);
  if (result == STATUS_OK) result = median_of(&gpu, step_single, &single);
  if (result == STATUS_OK) result = median_of(&gpu, step_pairs, &pairs);
  if (result == STATUS_OK) result = seconds_of(&gpu, step_single, STEPS_IN_ROW, &single_row);
  if (result == STATUS_OK) result = seconds_of(&gpu, step_pairs, STEPS_IN_ROW, &pairs_row);
  if (result == STATUS_OK) result = march(&gpu, step_pairs, two); /* as it was, after hundreds of sweeps */
  const long wrong_after = rows_differing(&cpu, on_cpu, &gpu, two);
  different = result != STATUS_OK || wrong + wrong_pairs + wrong_after > 0;
  if (result != STATUS_OK) (void)printf("%s\n", status_message(result));
  (void)printf("%4d x %4d x %4d %s  rows that differ %ld, %ld, %ld  step %8.4f -> %8.4f ms (%.3f)  "
               "in a row %8.4f -> %8.4f (%.3f)  auto: %s\n",
               nx, ny, nz, precision == PRECISION_SINGLE ? "single" : "double", wrong, wrong_pairs,
               wrong_after, 1e3 * single, 1e3 * pairs, single / pairs, 1e3 * single_row / STEPS_IN_ROW,
               1e3 * pairs_row / STEPS_IN_ROW, single_row / pairs_row, unwise == NULL ? "pairs" : unwise);
  (void)fflush(stdout);
  free(on_cpu);
  free(one);
  free(two);
  machine_close(&cpu);
  machine_close(&gpu);
  return different;
}

int main(int argc, char **argv) {
  const int upwind = argc > 1 && strcmp(argv[1], "upwind") == 0, first = 1 + upwind;
  int result = SKIPPED;
  if (argc < first + 3 || (argc - first) % 3 != 0) {
    (void)fprintf(stderr, "usage: bench_pairs [upwind] NX NY NZ [NX NY NZ ...]\n");
    return 2;
  }
  for (int i = first; i < argc; i += 3) {
    for (int precision = 0; precision < 2; precision++) {
      const int n[3] = {atoi(argv[i]), atoi(argv[i + 1]), atoi(argv[i + 2])};
      const int this = grid_run(n[0], n[1], n[2], (enum precision)precision, upwind);
      if (this == 1 || result == SKIPPED) result = this;
    }
  }
  return result;
}
