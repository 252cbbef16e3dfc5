#ifndef FDAPP_KERNELS_CPU_WAVE_LINES_H
#define FDAPP_KERNELS_CPU_WAVE_LINES_H

#include "lines.h"
#define NUMBER_FILL(x) line_fill((real)(x))
#include "wave_point.h"

/* Laplacians of a row of points in up to PLANES planes, one above another, line by line, and what becomes of
 * them. The planes share the lines above and below, so a plane is read by three passes over rows instead of
 * nine, and every array is read row after row, in the order of memory. With four rows of one plane instead,
 * which share lines just as well, 128^3 points took 1.5 to 2 times as long on a Zen 4. */

enum { RADIUS = STENCIL_RADIUS, PLANES = 4, DEEP = PLANES + 2 * STENCIL_RADIUS };

/* What becomes of a Laplacian: it is kept as it is; times K; or it makes a step with one, or with two. */
typedef enum wave_use { USE_SUM, USE_PRODUCT, USE_ONCE, USE_TWICE } wave_use;

/* A row in the planes of a stack: what its Laplacians read, and where their results go. */
typedef struct wave_group {
  const real *z[DEEP];               /* in planes from four below to four above */
  const real *y[PLANES][2 * RADIUS]; /* the rows beside it */
  const real *x[PLANES];             /* the row with images, to be read near its ends */
  const real *factor[PLANES], *before[PLANES], *p[PLANES];
  real *out[PLANES];
  ptrdiff_t row; /* to the next row of a field */
} wave_group;

#define EACH_PLANE _Pragma("GCC unroll 4") for (int i = 0; i < count; i++)

/* Lines of the Laplacians of a row in `count` planes. v: lines of the planes around; centre: the row near x,
 * with images. Each part is done for all planes before the next one, because the sum of a point is a chain of
 * fma. late: the pairs come after z+2. */
LINE_INLINE void laplacian_lines(const wave_coefficients *c, const wave_group *g, int count, int x,
                                 const number *v, const real *const *centre, int late, number *s) {
  EACH_PLANE s[i] = wave_rise(c, v[i], v[i + 1], v[i + 2], v[i + 3], v[i + 4]);
  if (late) EACH_PLANE s[i] = wave_fall(c, 1, s[i], v[i + 5], v[i + 6]);
  EACH_PLANE {
    const cpu_triple triple = {line_load(centre[i] - LINE), v[i + RADIUS], line_load(centre[i] + LINE)};
    number n[WIDTH];
    neighbours_x(n, &triple);
    s[i] = second_pairs(c->x, s[i], n[0], n[1], n[2], n[3], n[5], n[6], n[7], n[8]);
  }
  EACH_PLANE {
    number n[2 * RADIUS];
#pragma GCC unroll 8
    for (int k = 0; k < 2 * RADIUS; k++) n[k] = line_load(g->y[i][k] + x);
    s[i] = second_pairs(c->y, s[i], n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
  }
  if (!late) EACH_PLANE s[i] = wave_fall(c, 1, s[i], v[i + 5], v[i + 6]);
  EACH_PLANE s[i] = wave_fall(c, 3, s[i], v[i + 7], v[i + 8]);
}

/* What becomes of a line s of a Laplacian of a field, of which `centre` is the line. */
LINE_INLINE number used_line(const wave_group *g, wave_use use, int i, int x, number s, number centre) {
  if (use == USE_SUM) return s;
  const number factor = line_load(g->factor[i] + x);
  if (use == USE_PRODUCT) return factor * s;
  const number before = line_load(g->before[i] + x);
  if (use == USE_ONCE) return wave_once(factor * s, wave_drift(centre, before));
  return wave_twice(factor, s, wave_once(centre, wave_drift(line_load(g->p[i] + x), before)));
}

/* Fetches the next row into caches: they foresee the lines of a row, but not the next row. */
LINE_INLINE void fetch_lines(const wave_group *g, wave_use use, int count, int x) {
#pragma GCC unroll 4
  for (int i = 0; i < count; i++) {
    __builtin_prefetch((use == USE_TWICE ? g->p[i] : g->z[2 * RADIUS + i]) + g->row + x);
    __builtin_prefetch(g->factor[i] + g->row + x);
    if (use != USE_PRODUCT) __builtin_prefetch(g->before[i] + g->row + x);
  }
}

/* The results of a row in `count` planes. count, use: constants. */
LINE_INLINE void row_results(const wave_coefficients *coefficients, const wave_group *group, int count, int n,
                             wave_use use) {
  const wave_coefficients c = *coefficients;
  const wave_group g = *group;
  const int last = (n - RADIUS) / LINE * LINE; /* from there on, neighbours lie beyond the end */
  for (int x = 0; x < n; x += LINE) {
    const real *centre[PLANES];
    number v[DEEP], s[PLANES];
    EACH_PLANE centre[i] = (x == 0 || x >= last ? g.x[i] : g.z[i + RADIUS]) + x;
#pragma GCC unroll 12
    for (int k = 0; k < count + 2 * RADIUS; k++) {
      const int inside = k >= RADIUS && k < count + RADIUS;
      v[k] = line_load(inside ? centre[k - RADIUS] : g.z[k] + x);
    }
    laplacian_lines(&c, &g, count, x, v, centre, use == USE_TWICE, s);
    EACH_PLANE {
      const number result = used_line(&g, use, i, x, s[i], v[i + RADIUS]);
      __builtin_memcpy(g.out[i] + x, &result, sizeof result);
    }
    if (x % STORE == 0) fetch_lines(&g, use, count, x);
  }
}

typedef void row_function(const wave_coefficients *c, const wave_group *g, int n);

#define ROWS(use)                                                                                            \
  LINE_CALLED void planes_##use(const wave_coefficients *c, const wave_group *g, int n) {                    \
    row_results(c, g, PLANES, n, use);                                                                       \
  }                                                                                                          \
  LINE_CALLED void plane_##use(const wave_coefficients *c, const wave_group *g, int n) {                     \
    row_results(c, g, 1, n, use);                                                                            \
  }
ROWS(USE_SUM)
ROWS(USE_PRODUCT)
ROWS(USE_ONCE)
ROWS(USE_TWICE)
#undef ROWS

#undef EACH_PLANE

static row_function *const together[] = {planes_USE_SUM, planes_USE_PRODUCT, planes_USE_ONCE,
                                         planes_USE_TWICE},
                           *const singly[] = {plane_USE_SUM, plane_USE_PRODUCT, plane_USE_ONCE,
                                              plane_USE_TWICE};

#endif
