#ifndef FDAPP_KERNELS_CPU_LINES_H
#define FDAPP_KERNELS_CPU_LINES_H

/* A line: consecutive points of a row in one vector register. This file has the arithmetic of arithmetic.h on
 * lines, their neighbours in x, and the shape of a field. Compiled once per precision. */

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"
#include "stores.h"

/* A function that is called, because a copy for each term and kind of lines would take as long to compile. */
#define LINE_CALLED static __attribute__((noinline))

typedef FDAPP_REAL cpu_vector __attribute__((vector_size(CPU_LINE_BYTES), may_alias));

LINE_INLINE cpu_vector line_fma(cpu_vector a, cpu_vector b, cpu_vector c);
LINE_INLINE cpu_vector line_abs(cpu_vector a);
LINE_INLINE cpu_vector line_root(cpu_vector a);

#define FDAPP_NUMBER cpu_vector
#define NUMBER_FMA   line_fma
#define NUMBER_ABS   line_abs
#define NUMBER_ROOT  line_root
#include "arithmetic.h"

enum { LINE = CPU_LINE_BYTES / (int)sizeof(real), WIDTH = 2 * STENCIL_RADIUS + 1 };
/* Lines, and elements, per cache line. */
enum { STORE_LINES = CPU_STORE_BYTES / CPU_LINE_BYTES, STORE = STORE_LINES * LINE };
_Static_assert((int)STORE_LINES == 1 || (int)STORE_LINES == 2, "bundle_store keeps one line");
_Static_assert((int)CPU_STRIP_BYTES % (int)CPU_STORE_BYTES == 0 &&
                   (int)KERNELS_HOST_ALIGNMENT % (int)CPU_STORE_BYTES == 0,
               "strips and rows are whole cache lines");
_Static_assert((int)LINE >= (int)STENCIL_RADIUS, "the neighbours in x of a line lie in the lines beside it");

/* LINE_CALL(fmadd) is _mm512_fmadd_ps or that of 256 bits, _pd in double precision. With fewer instructions
 * than those of AVX2 and FMA there is none, and loops stand in. */
#define LINE_LETTER_float  s
#define LINE_LETTER_double d
#if defined(__AVX512F__)
#define LINE_CALL(name) CPU_EXPAND(_mm512_##name##_p, CPU_NAME(LINE_LETTER_))
#elif defined(__AVX2__) && defined(__FMA__)
#define LINE_CALL(name) CPU_EXPAND(_mm256_##name##_p, CPU_NAME(LINE_LETTER_))
#endif

LINE_INLINE cpu_vector line_fma(cpu_vector a, cpu_vector b, cpu_vector c) {
#ifdef LINE_CALL
  return LINE_CALL(fmadd)(a, b, c);
#else
  for (int i = 0; i < LINE; i++) c[i] = REAL_FMA(a[i], b[i], c[i]);
  return c;
#endif
}

/* Integers as wide as the elements of a line. */
typedef __typeof__(_Generic((real)0, float : (int32_t)0, double : (int64_t)0)) lane_integer;
typedef lane_integer cpu_lane_integers __attribute__((vector_size(CPU_LINE_BYTES)));

/* Absolute value; also clears the sign of zero. */
LINE_INLINE cpu_vector line_abs(cpu_vector a) {
  const lane_integer sign = (lane_integer)((uint64_t)1 << (8 * sizeof(real) - 1));
  return (cpu_vector)((cpu_lane_integers)a & ~((cpu_lane_integers){0} + sign));
}

LINE_INLINE cpu_vector line_root(cpu_vector a) {
#ifdef LINE_CALL
  return LINE_CALL(sqrt)(a);
#else
  for (int i = 0; i < LINE; i++) a[i] = REAL_ROOT(a[i]);
  return a;
#endif
}

/* The smaller of a and b; b if neither is less. */
LINE_INLINE cpu_vector line_min(cpu_vector a, cpu_vector b) {
#ifdef LINE_CALL
  return LINE_CALL(min)(a, b);
#else
  for (int i = 0; i < LINE; i++) b[i] = a[i] < b[i] ? a[i] : b[i];
  return b;
#endif
}

/* `value` in all places. Subtracts zero, because -0 plus zero is +0. */
LINE_INLINE cpu_vector line_fill(real value) {
  return value - (cpu_vector){0};
}

LINE_INLINE cpu_vector line_load(const real *from) {
  cpu_vector line;
  __builtin_memcpy(&line, from, sizeof line);
  return line;
}

/* The shape of a field, and the coefficients in its precision. */
typedef struct cpu_frame {
  cpu_vector first[3][STENCIL_RADIUS];
  cpu_vector second[3][STENCIL_RADIUS + 1];
  cpu_vector dissipation[3][STENCIL_RADIUS];
  cpu_vector damping[3], taps[STENCIL_TAPS], share[2];
  int before, after; /* points that the taps reach from a flux's point */
  cpu_vector centre; /* of the Laplacian */
  int nx, ny, nz;
  kernels_planes memory; /* planes that are stored; planes beyond are images */
  ptrdiff_t row, plane;  /* strides in elements */
} cpu_frame;

LINE_INLINE cpu_frame frame_make(const kernels_launch *launch) {
  const stencil *coefficients = launch->stencil;
  const kernels_shape *shape = &launch->shape;
  const int halo = shape->whole ? 0 : KERNELS_HALO;
  cpu_frame frame = {
      .nx = shape->nx, .ny = shape->ny, .nz = shape->nz, .row = shape->ldx, .plane = shape->plane};
  frame.memory = (kernels_planes){-halo, shape->nz + halo};
  frame.before = stencil_taps_before(coefficients->order);
  frame.after = coefficients->order / 4;
  for (int i = 0; i < STENCIL_TAPS; i++) frame.taps[i] = line_fill((real)coefficients->taps[i]);
  for (int i = 0; i < 2; i++) frame.share[i] = line_fill((real)coefficients->share[i]);
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < STENCIL_RADIUS; k++) {
      frame.first[d][k] = line_fill((real)coefficients->first[d][k]);
      frame.dissipation[d][k] = line_fill((real)coefficients->dissipation[d][k]);
    }
    for (int k = 0; k <= STENCIL_RADIUS; k++)
      frame.second[d][k] = line_fill((real)coefficients->second[d][k]);
    frame.damping[d] = line_fill((real)coefficients->damping[d]);
  }
  frame.centre =
      line_fill((real)(coefficients->second[0][0] + coefficients->second[1][0] + coefficients->second[2][0]));
  return frame;
}

/* Offset of point (0, y, z); y may lie up to ny - 1 rows outside the plane and is wrapped. */
LINE_INLINE ptrdiff_t row_offset(const cpu_frame *frame, int y, int z) {
  if (y < 0) y += frame->ny;
  if (y >= frame->ny) y -= frame->ny;
  return (z + KERNELS_HALO) * frame->plane + y * frame->row;
}

/* The plane that holds the values of plane z: itself, or another one if z is an image. */
LINE_INLINE int plane_of(const cpu_frame *frame, int z) {
  while (z < frame->memory.z0) z += frame->nz;
  while (z >= frame->memory.z1) z -= frame->nz;
  return z;
}

/* The number of each lane. */
LINE_INLINE cpu_lane_integers lanes_make(void) {
  cpu_lane_integers lanes;
  for (int i = 0; i < LINE; i++) lanes[i] = i;
  return lanes;
}

/* a in the lanes of `where`, b in the others. */
LINE_INLINE cpu_vector line_choose(cpu_lane_integers where, cpu_vector a, cpu_vector b) {
  return (cpu_vector)((where & (cpu_lane_integers)a) | (~where & (cpu_lane_integers)b));
}

/* The first `count` columns of line a, and the rest of line b. */
LINE_INLINE cpu_vector line_join(cpu_vector a, cpu_vector b, int count) {
  return line_choose(lanes_make() < (cpu_lane_integers){0} + count, a, b);
}

/* Three consecutive lines. */
typedef struct cpu_triple {
  cpu_vector left, centre, right;
} cpu_triple;

/* Returns 1 if some x neighbours of the line at column x are periodic images. */
LINE_INLINE int line_at_edge(const cpu_frame *frame, int x) {
  return x < STENCIL_RADIUS || x + LINE + STENCIL_RADIUS > frame->nx;
}

/* Loads the line at column x of a row and the lines beside it, with periodic images. Columns that are neither
 * points nor their images have no meaning. `row` is the row's first column. images: a constant, 0 if the line
 * is not at an edge. */
LINE_INLINE void triple_load(cpu_triple *t, const cpu_frame *frame, const real *row, int x, int images) {
  const real *at = row + x;
  t->centre = line_load(at);
  if (!images || !line_at_edge(frame, x)) {
    t->left = line_load(at - LINE);
    t->right = line_load(at + LINE);
    return;
  }
  const int nx = frame->nx;
  const int left = nx - x; /* columns from x to the end */
  t->left = line_load(x == 0 ? row + nx - LINE : at - LINE);
  if (left <= LINE) {
    t->centre = line_join(t->centre, line_load(row - left), left);
    t->right = line_load(row + LINE - left);
  } else {
    t->right = line_join(line_load(at + LINE), line_load(row - (left - LINE)), left - LINE);
  }
}

/* The same of a row without images: columns before its first line, and those after its last one, have no
 * meaning. */
LINE_INLINE void triple_load_within(cpu_triple *t, const cpu_frame *frame, const real *row, int x) {
  const real *at = row + x;
  t->centre = line_load(at);
  t->left = line_load(x == 0 ? at : at - LINE);
  t->right = line_load(x + LINE >= frame->nx ? at : at + LINE);
}

/* LINE_SHIFT(a, b, shift): the line `shift` columns to the right of a, where b is the line after a; shift is
 * a constant of 0 .. LINE-1. It works in registers, because a load across two lines takes up to three times
 * as long as a load of one. */
#if defined(__AVX512F__)
#define LINE_SHIFT(a, b, shift)                                                                              \
  ((cpu_vector)_mm512_alignr_epi32((__m512i)(b), (__m512i)(a), (shift) * (int)sizeof(real) / 4))
#elif defined(__AVX2__)
#define LINE_HALVES(a, b) _mm256_permute2x128_si256((__m256i)(a), (__m256i)(b), 0x21)
#define LINE_BYTES(a, b, shift)                                                                              \
  ((cpu_vector)_mm256_alignr_epi8((__m256i)(b), (__m256i)(a), (shift) * (int)sizeof(real) % 16))
#define LINE_SHIFT(a, b, shift)                                                                              \
  ((shift) == 0          ? (a)                                                                               \
   : (shift) < LINE / 2  ? LINE_BYTES(a, LINE_HALVES(a, b), shift)                                           \
   : (shift) == LINE / 2 ? (cpu_vector)LINE_HALVES(a, b)                                                     \
                         : LINE_BYTES(LINE_HALVES(a, b), b, shift))
#else
LINE_INLINE cpu_vector line_shift(cpu_vector a, cpu_vector b, int shift) {
  const cpu_vector lines[2] = {a, b};
  return line_load((const real *)lines + shift);
}
#define LINE_SHIFT(a, b, shift) line_shift(a, b, shift)
#endif

/* The lines that begin 4 columns left of the middle one to 4 right of it. */
LINE_INLINE void neighbours_x(cpu_vector *n, const cpu_triple *t) {
  n[0] = LINE_SHIFT(t->left, t->centre, LINE - 4);
  n[1] = LINE_SHIFT(t->left, t->centre, LINE - 3);
  n[2] = LINE_SHIFT(t->left, t->centre, LINE - 2);
  n[3] = LINE_SHIFT(t->left, t->centre, LINE - 1);
  n[4] = t->centre;
  n[5] = LINE_SHIFT(t->centre, t->right, 1);
  n[6] = LINE_SHIFT(t->centre, t->right, 2);
  n[7] = LINE_SHIFT(t->centre, t->right, 3);
  n[8] = LINE == 4 ? t->right : LINE_SHIFT(t->centre, t->right, 4);
}

#endif
