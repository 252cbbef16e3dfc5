#include "problems/period.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"

/* Values beside the seam: the last three along an axis, then the first three. */
enum { SEAM = 6, PLANES = 3, FEWEST = 2 * SEAM };

/* Sums of squares over lines across the seam. */
typedef struct seam {
  double size, deviation;   /* the values; from the mean of a line */
  double apart;             /* the last one minus the first */
  double beside;            /* the two before the last one minus those after the first */
  double as_it_is, without; /* fourth differences at the first value: with, and without the last one */
} seam;

static void add_line(seam *seam, const double v[SEAM]) {
  const double own = v[1] - 4.0 * v[2] + 6.0 * v[3] - 4.0 * v[4] + v[5];
  const double other = v[0] - 4.0 * v[1] + 6.0 * v[3] - 4.0 * v[4] + v[5];
  double mean = 0.0;
  for (int i = 0; i < SEAM; i++) mean += v[i] / SEAM;
  for (int i = 0; i < SEAM; i++) {
    seam->size += v[i] * v[i] / SEAM;
    seam->deviation += (v[i] - mean) * (v[i] - mean) / SEAM;
  }
  seam->apart += (v[2] - v[3]) * (v[2] - v[3]);
  seam->beside += (v[1] - v[4]) * (v[1] - v[4]) + (v[0] - v[5]) * (v[0] - v[5]);
  seam->as_it_is += own * own;
  seam->without += other * other;
}

static int64_t beside(int64_t n, int i) {
  return i < SEAM / 2 ? n - SEAM / 2 + i : i - SEAM / 2;
}

static void add_plane(const dataset *d, const double *plane, seam seams[3]) {
  double v[SEAM];
  for (int64_t y = 0; y < d->n[1]; y++) {
    for (int i = 0; i < SEAM; i++) v[i] = plane[y * d->n[0] + beside(d->n[0], i)];
    add_line(&seams[0], v);
  }
  for (int64_t x = 0; x < d->n[0]; x++) {
    for (int i = 0; i < SEAM; i++) v[i] = plane[beside(d->n[1], i) * d->n[0] + x];
    add_line(&seams[1], v);
  }
}

static status add_planes(const dataset *d, double *planes, seam seams[3]) {
  const int64_t points = d->n[0] * d->n[1];
  for (int i = 0; i < PLANES; i++) {
    CHECK(dataset_read(d, PRECISION_DOUBLE, (2 * i + 1) * d->n[2] / (2 * PLANES), 1, planes));
    add_plane(d, planes, seams);
  }
  for (int i = 0; i < SEAM; i++)
    CHECK(dataset_read(d, PRECISION_DOUBLE, beside(d->n[2], i), 1, planes + (int64_t)i * points));
  for (int64_t p = 0; p < points; p++) {
    double v[SEAM];
    for (int i = 0; i < SEAM; i++) v[i] = planes[(int64_t)i * points + p];
    add_line(&seams[2], v);
  }
  return STATUS_OK;
}

static status judge(const dataset *d, int axis, const seam *seam) {
  const double rounding = 1e-12 * seam->deviation + 1e-26 * seam->size; /* squares: six digits */
  if (!(seam->apart <= rounding) || !(seam->as_it_is > rounding)) return STATUS_OK;
  if (seam->without < 0.2 * seam->as_it_is)
    return status_fail(
        STATUS_USAGE,
        "%s = %s: dataset %.200s holds one period and a point: along %c the first and the last of its "
        "%" PRId64
        " points agree; accepted: one period without its last point, or Spacing in /VTKHDF, which says "
        "where the points lie",
        d->key, d->path, d->name, "xyz"[axis], d -> n[axis]);
  if (seam->as_it_is > 1e-2 * seam->deviation && seam->beside > rounding)
    log_warning("%s = %s: along %c the first and the last of the %" PRId64
                " points of dataset %.200s agree; one period has no such last point",
                d->key, d->path, "xyz"[axis], d -> n[axis], d -> name);
  return STATUS_OK;
}

status period_check(const dataset *d, const dataset_place *place, const grid *grid) {
  int open[3];
  seam seams[3] = {{.size = 0.0}};
  for (int axis = 0; axis < 3; axis++)
    if (d->n[axis] < FEWEST) return STATUS_OK;
  for (int axis = 0; axis < 3; axis++) open[axis] = !grid->bounded[axis] && !place->known[axis];
  if (!open[0] && !open[1] && !open[2]) return STATUS_OK;
  double *planes = malloc((size_t)SEAM * (size_t)(d->n[0] * d->n[1]) * sizeof *planes);
  if (planes == NULL) return status_fail(STATUS_MEMORY, "%s = %s: no memory for planes", d->key, d->path);
  status result = add_planes(d, planes, seams);
  for (int axis = 0; axis < 3 && result == STATUS_OK; axis++)
    if (open[axis]) result = judge(d, axis, &seams[axis]);
  free(planes);
  return result;
}
