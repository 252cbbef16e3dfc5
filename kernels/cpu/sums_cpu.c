#include <math.h>

#include "lines.h"

/* Sums over planes in the order of kernels.h. */

/* Figures before ADDED are sums; of the others the largest is kept. MINIMUM is the largest of -value. The
 * figure of an error follows that of its value. */
enum { SUM, ERROR_SUM, SQUARES, ERROR_SQUARES, ADDED, MAXIMUM = ADDED, ERROR_MAXIMUM, MINIMUM, FIGURES };
enum { LANES = 32 };

/* One accumulator per lane for each figure. */
typedef struct cpu_lanes {
  double of[FIGURES][LANES];
} cpu_lanes;

static void lanes_clear(cpu_lanes *lanes) {
  for (int i = 0; i < FIGURES; i++)
    for (int l = 0; l < LANES; l++) lanes->of[i][l] = i < ADDED ? 0.0 : -INFINITY;
}

/* The larger value; a NaN in `value` is ignored. */
LINE_INLINE double larger(double value, double best) {
  return value > best ? value : best;
}

/* Adds `count` lanes of b, those from `from` on, to the lanes of a from `to` on. */
LINE_INLINE void lanes_add(cpu_lanes *a, int to, const cpu_lanes *b, int from, int count) {
#pragma GCC unroll 7
  for (int i = 0; i < FIGURES; i++) {
    double *sum = a->of[i] + to;
    const double *add = b->of[i] + from;
    for (int l = 0; l < count; l++) sum[l] = i < ADDED ? sum[l] + add[l] : larger(add[l], sum[l]);
  }
}

/* Adds the lanes pairwise into lane 0. Unrolled, as lanes_add is, because this is much of the time of short
 * rows. */
static void lanes_fold(cpu_lanes *lanes) {
#pragma GCC unroll 5
  for (int o = LANES / 2; o > 0; o /= 2) lanes_add(lanes, 0, lanes, o, o);
}

/* Adds points x .. x + count - 1 of a row, where x is a multiple of LANES: with a reference their errors,
 * else their values. weights: NULL, or those along x. */
LINE_INLINE void lanes_points(cpu_lanes *lanes, const real *f, const real *reference,
                              const kernels_weights *weights, int x, int count, int nx) {
  const int error = reference != NULL;
#pragma omp simd
  for (int l = 0; l < count; l++) {
    const double value = error ? fabs((double)f[x + l] - (double)reference[x + l]) : (double)f[x + l];
    const double part = weights == NULL ? value : kernels_weight(weights, AXIS_X, x + l, nx) * value;
    lanes->of[SUM + error][l] += part;
    lanes->of[SQUARES + error][l] = __builtin_fma(part, value, lanes->of[SQUARES + error][l]);
    lanes->of[MAXIMUM + error][l] = larger(value, lanes->of[MAXIMUM + error][l]);
    if (!error) lanes->of[MINIMUM][l] = larger(-value, lanes->of[MINIMUM][l]);
  }
}

/* Adds a row: blocks of a constant length, which keep the lanes in registers, then the rest. */
LINE_INLINE void lanes_row(cpu_lanes *lanes, const real *f, const real *reference,
                           const kernels_weights *weights, int nx) {
  const int whole = nx / LANES * LANES;
  for (int x = 0; x < whole; x += LANES) lanes_points(lanes, f, reference, weights, x, LANES, nx);
  lanes_points(lanes, f, reference, weights, whole, nx - whole, nx);
}

/* The sums of a row, in lane 0. */
LINE_INLINE void row_sums(cpu_lanes *row, const real *f, const real *reference,
                          const kernels_weights *weights, int nx) {
  lanes_clear(row);
  lanes_row(row, f, NULL, weights, nx);
  if (reference != NULL) lanes_row(row, f, reference, weights, nx);
  lanes_fold(row);
}

static kernels_plane_sums plane_sum(const cpu_frame *frame, const real *f, const real *reference,
                                    const kernels_weights *weights, int z) {
  cpu_lanes plane, row;
  lanes_clear(&plane);
  for (int y = 0; y < frame->ny; y++) {
    const ptrdiff_t at = row_offset(frame, y, z);
    const real *beside = reference == NULL ? NULL : reference + at;
    if (weights == NULL) {
      row_sums(&row, f + at, beside, NULL, frame->nx);
    } else {
      row_sums(&row, f + at, beside, weights, frame->nx);
      for (int i = 0; i < ADDED; i++) row.of[i][0] *= kernels_weight(weights, AXIS_Y, y, frame->ny);
    }
    lanes_add(&plane, y % LANES, &row, 0, 1);
  }
  lanes_fold(&plane);
  /* adding to zero turns -0 into +0, so that the order of comparisons has no effect */
  return (kernels_plane_sums){
      .sum = plane.of[SUM][0],
      .sum_squares = plane.of[SQUARES][0],
      .minimum = 0.0 - plane.of[MINIMUM][0],
      .maximum = 0.0 + plane.of[MAXIMUM][0],
      .error_sum = plane.of[ERROR_SUM][0],
      .error_squares = plane.of[ERROR_SQUARES][0],
      .error_maximum = reference == NULL ? 0.0 : plane.of[ERROR_MAXIMUM][0],
  };
}

status CPU_NAME(plane_sums_cpu_)(const kernels_launch *launch, const void *f, const void *reference,
                                 const kernels_weights *weights, kernels_plane_sums *sums) {
  const cpu_frame frame = frame_make(launch);
  const int count = kernels_plane_count(launch);
#pragma omp parallel for schedule(static) num_threads(launch->context->threads)
  for (int i = 0; i < count; i++)
    sums[i] = plane_sum(&frame, f, reference, weights, kernels_plane_at(launch, i));
  return STATUS_OK;
}
