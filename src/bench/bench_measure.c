#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static const double sample_seconds = 2e-3;
enum { LAUNCHES = 1 << 16 };

static int ascending(const void *left, const void *right) {
  const double a = *(const double *)left;
  const double b = *(const double *)right;
  return (a > b) - (a < b);
}

bench_spread bench_spread_of(int count, double samples[]) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  return (bench_spread){.median = 0.5 * (samples[(count - 1) / 2] + samples[count / 2]),
                        .minimum = samples[0],
                        .maximum = samples[count - 1]};
}

/* [out] seconds: of one launch, averaged over a sample. */
static status sample(bench *bench, const bench_contestant *contestant, double *seconds) {
  const kernels *backend = bench->backend;
  CHECK(backend->queue_wait(bench->context, QUEUE_MAIN));
  CHECK(backend->event_record(bench->start, bench->context, QUEUE_MAIN));
  for (int i = 0; i < contestant->launches; i++) CHECK(contestant->work(contestant->job));
  CHECK(backend->event_record(bench->end, bench->context, QUEUE_MAIN));
  CHECK(backend->event_wait(bench->end));
  CHECK(backend->event_seconds(bench->start, bench->end, seconds));
  *seconds /= contestant->launches;
  return STATUS_OK;
}

/* Warms up, and finds the number of launches in a sample. */
static status calibrate(bench *bench, bench_contestant *contestant) {
  double seconds = 0.0;
  contestant->launches = 1;
  CHECK(sample(bench, contestant, &seconds));
  do {
    CHECK(sample(bench, contestant, &seconds));
    if (seconds * contestant->launches >= sample_seconds) return STATUS_OK;
    const double wanted = seconds > 0.0 ? 1.1 * sample_seconds / seconds : LAUNCHES;
    contestant->launches = wanted < LAUNCHES ? (int)wanted + 1 : LAUNCHES;
  } while (contestant->launches < LAUNCHES);
  return STATUS_OK;
}

/* Clock ticks that a hypervisor has taken from this machine's processors; 0 if the system does not count
 * them. */
static long long stolen_ticks(void) {
  long long ticks[8] = {0};
  FILE *file = fopen("/proc/stat", "r");
  if (file == NULL) return 0;
  const int found = fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &ticks[0], &ticks[1],
                           &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
  (void)fclose(file);
  return found == 8 ? ticks[7] : 0;
}

static status measure_rounds(bench *bench, int count, bench_contestant contestants[], double samples[]) {
  const int repeat = bench_samples(bench, BENCH_SAMPLES_KERNELS);
  int spare = bench->backend->host_memory ? repeat : 0;
  for (int round = 0; round < repeat;) {
    const long long before = stolen_ticks();
    for (int i = 0; i < count; i++) CHECK(sample(bench, &contestants[i], &samples[i * repeat + round]));
    if (spare > 0 && stolen_ticks() != before) {
      spare--;
      bench->rejected++;
    } else {
      round++;
    }
  }
  for (int i = 0; i < count; i++) {
    contestants[i].seconds = bench_spread_of(repeat, samples + (ptrdiff_t)i * repeat);
  }
  return STATUS_OK;
}

status bench_measure(bench *bench, int count, bench_contestant contestants[]) {
  for (int i = 0; i < count; i++) CHECK(calibrate(bench, &contestants[i]));
  double *samples =
      malloc((size_t)count * (size_t)bench_samples(bench, BENCH_SAMPLES_KERNELS) * sizeof *samples);
  if (samples == NULL) return status_fail(STATUS_MEMORY, "no memory for samples");
  const status result = measure_rounds(bench, count, contestants, samples);
  free(samples);
  return result;
}

void bench_noise_row(const void *user, int64_t z, int64_t y, double *row) {
  const int count = *(const int *)user;
  const uint64_t start = ((uint64_t)z << 40) ^ ((uint64_t)y << 20);
  for (int x = 0; x < count; x++) {
    uint64_t h = (start ^ (uint64_t)x) + 0x9e3779b97f4a7c15u; /* splitmix64 */
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    row[x] = (double)(int64_t)(h ^ (h >> 31)) * 0x1p-63;
  }
}

status bench_stream_work(void *job) {
  bench_stream *work = job;
  kernels_stream stream = work->stream;
  const size_t offset = work->step * (size_t)work->next;
  for (int i = 0; i < stream.reads; i++) stream.in[i] = (const char *)stream.in[i] + offset;
  for (int i = 0; i < stream.writes; i++) stream.out[i] = (char *)stream.out[i] + offset;
  work->next = (work->next + 1) % work->steps;
  return work->backend->stream(&work->launch, &stream);
}
