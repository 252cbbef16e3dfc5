#include <math.h>

#include "lines.h"

/* Sums over planes in the order of kernels.h. */

enum { LANES = 32 };

/* One accumulator per lane for each figure. */
typedef struct cpu_lanes {
  double sum[LANES], squares[LANES], minimum[LANES], maximum[LANES];
  double error_sum[LANES], error_squares[LANES], error_maximum[LANES];
} cpu_lanes;

static void lanes_clear(cpu_lanes *lanes) {
  for (int l = 0; l < LANES; l++) {
    lanes->sum[l] = lanes->squares[l] = lanes->error_sum[l] = lanes->error_squares[l] = 0.0;
    lanes->minimum[l] = INFINITY;
    lanes->maximum[l] = lanes->error_maximum[l] = -INFINITY;
  }
}

/* The smaller and the larger value; a NaN in `value` is ignored. */
LINE_INLINE double smaller(double value, double best) {
  return value < best ? value : best;
}

LINE_INLINE double larger(double value, double best) {
  return value > best ? value : best;
}

LINE_INLINE void lanes_values(cpu_lanes *lanes, const real *f, int count) {
#pragma omp simd
  for (int l = 0; l < count; l++) {
    const double value = (double)f[l];
    lanes->sum[l] += value;
    lanes->squares[l] = __builtin_fma(value, value, lanes->squares[l]);
    lanes->minimum[l] = smaller(value, lanes->minimum[l]);
    lanes->maximum[l] = larger(value, lanes->maximum[l]);
  }
}

LINE_INLINE void lanes_errors(cpu_lanes *lanes, const real *f, const real *reference, int count) {
#pragma omp simd
  for (int l = 0; l < count; l++) {
    const double error = fabs((double)f[l] - (double)reference[l]);
    lanes->error_sum[l] += error;
    lanes->error_squares[l] = __builtin_fma(error, error, lanes->error_squares[l]);
    lanes->error_maximum[l] = larger(error, lanes->error_maximum[l]);
  }
}

static void row_lanes(cpu_lanes *lanes, const real *f, const real *reference, int nx) {
  lanes_clear(lanes);
  const int whole = nx / LANES * LANES;
  for (int x = 0; x < whole; x += LANES) lanes_values(lanes, f + x, LANES);
  lanes_values(lanes, f + whole, nx - whole);
  if (reference == NULL) return;
  for (int x = 0; x < whole; x += LANES) lanes_errors(lanes, f + x, reference + x, LANES);
  lanes_errors(lanes, f + whole, reference + whole, nx - whole);
}

/* The same with the weights along x. */
static void row_lanes_weighted(cpu_lanes *lanes, const real *f, const real *reference, int nx,
                               const kernels_weights *weights) {
  lanes_clear(lanes);
  for (int x = 0; x < nx; x++) {
    const int l = x % LANES;
    const double weight = kernels_weight(weights, AXIS_X, x, nx);
    const double value = (double)f[x];
    const double part = weight * value;
    lanes->sum[l] += part;
    lanes->squares[l] = __builtin_fma(part, value, lanes->squares[l]);
    lanes->minimum[l] = smaller(value, lanes->minimum[l]);
    lanes->maximum[l] = larger(value, lanes->maximum[l]);
    if (reference == NULL) continue;
    const double error = fabs(value - (double)reference[x]);
    const double share = weight * error;
    lanes->error_sum[l] += share;
    lanes->error_squares[l] = __builtin_fma(share, error, lanes->error_squares[l]);
    lanes->error_maximum[l] = larger(error, lanes->error_maximum[l]);
  }
}

/* Multiplies a row's sums, in lane 0, by the row's weight. */
static void row_weigh(cpu_lanes *row, double weight) {
  row->sum[0] *= weight;
  row->squares[0] *= weight;
  row->error_sum[0] *= weight;
  row->error_squares[0] *= weight;
}

/* Adds the lanes pairwise into lane 0. */
static void lanes_fold(cpu_lanes *lanes) {
  for (int o = LANES / 2; o > 0; o /= 2) {
    for (int l = 0; l < o; l++) {
      lanes->sum[l] += lanes->sum[l + o];
      lanes->squares[l] += lanes->squares[l + o];
      lanes->minimum[l] = smaller(lanes->minimum[l + o], lanes->minimum[l]);
      lanes->maximum[l] = larger(lanes->maximum[l + o], lanes->maximum[l]);
      lanes->error_sum[l] += lanes->error_sum[l + o];
      lanes->error_squares[l] += lanes->error_squares[l + o];
      lanes->error_maximum[l] = larger(lanes->error_maximum[l + o], lanes->error_maximum[l]);
    }
  }
}

/* Adds a row's sums (lane 0 of `row`) to lane l of the plane. */
static void lanes_add(cpu_lanes *plane, int l, const cpu_lanes *row) {
  plane->sum[l] += row->sum[0];
  plane->squares[l] += row->squares[0];
  plane->minimum[l] = smaller(row->minimum[0], plane->minimum[l]);
  plane->maximum[l] = larger(row->maximum[0], plane->maximum[l]);
  plane->error_sum[l] += row->error_sum[0];
  plane->error_squares[l] += row->error_squares[0];
  plane->error_maximum[l] = larger(row->error_maximum[0], plane->error_maximum[l]);
}

static kernels_plane_sums plane_sum(const cpu_frame *frame, const real *f, const real *reference,
                                    const kernels_weights *weights, int z) {
  cpu_lanes plane, row;
  lanes_clear(&plane);
  for (int y = 0; y < frame->ny; y++) {
    const ptrdiff_t at = row_offset(frame, y, z);
    const real *beside = reference == NULL ? NULL : reference + at;
    if (weights == NULL) {
      row_lanes(&row, f + at, beside, frame->nx);
      lanes_fold(&row);
    } else {
      row_lanes_weighted(&row, f + at, beside, frame->nx, weights);
      lanes_fold(&row);
      row_weigh(&row, kernels_weight(weights, AXIS_Y, y, frame->ny));
    }
    lanes_add(&plane, y % LANES, &row);
  }
  lanes_fold(&plane);
  /* adding zero turns -0 into +0, so that the order of comparisons has no effect */
  return (kernels_plane_sums){
      .sum = plane.sum[0],
      .sum_squares = plane.squares[0],
      .minimum = plane.minimum[0] + 0.0,
      .maximum = plane.maximum[0] + 0.0,
      .error_sum = plane.error_sum[0],
      .error_squares = plane.error_squares[0],
      .error_maximum = reference == NULL ? 0.0 : plane.error_maximum[0],
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
