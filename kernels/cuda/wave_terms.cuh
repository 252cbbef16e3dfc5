#ifndef FDAPP_CUDA_WAVE_TERMS_CUH
#define FDAPP_CUDA_WAVE_TERMS_CUH

#include "device.cuh"
#include "wave_call.h"

/* The terms of absorbing layers (wave_layers.h), which steps add to the first Laplacian: for each layer of
 * the slab, in the order of axes, the box of points that have a term. That of point (x, y, z) is at
 * first[z plane + (y step[1] + x step[0])]. Neighbours in memory are neighbours along x, or along y in layers
 * of x. */
struct wave_terms {
  int count; /* of layers that are there; the others have empty boxes */
  struct box {
    const real *first;
    ptrdiff_t plane;
    int step[2], from[3], to[3];
  } of[6];
};

static inline wave_terms wave_terms_make(const kernels_launch *launch, const wave_layers *layers) {
  const kernels_shape *shape = &launch->shape;
  const int n[3] = {shape->nx, shape->ny, shape->nz}, reach = wave_layers_depths(layers, WAVE_TERM);
  wave_terms terms = {};
  for (int i = 0; i < 6; i++) {
    const int axis = i / 2, end = i % 2, beyond = axis == AXIS_Z ? 0 : layers->beyond;
    if (layers->points == 0 || !layers->there[axis][end]) continue;
    ptrdiff_t step[3];
    for (int d = 0; d < 3; d++) step[d] = wave_layers_step(layers, shape, axis, d);
    wave_terms::box &box = terms.of[i];
    box = {static_cast<const real *>(layers->memory), 0, {}, {0, 0, -beyond}, {n[0], n[1], n[2] + beyond}};
    box.first += wave_layers_at(layers, shape, WAVE_TERM, axis, end, 0);
    if (end == 0) {
      box.to[axis] = reach;
    } else {
      box.from[axis] = n[axis] - reach;
      box.first += (n[axis] - 1) * step[axis];
      step[axis] *= -1;
    }
    box.plane = step[AXIS_Z];
    for (int d = 0; d < 2; d++) box.step[d] = (int)step[d];
    terms.count++;
  }
  return terms;
}

/* The layers that have terms of some of ROWS x COLUMNS points from (x, y) on, as bits: the same in all planes
 * but those of z. */
template <int ROWS, int COLUMNS>
__device__ __forceinline__ unsigned wave_terms_near(const wave_terms &terms, int x, int y) {
  unsigned near = 0;
#pragma unroll
  for (int i = 0; i < 6; i++) {
    const wave_terms::box &box = terms.of[i];
    const bool overlaps =
        y + ROWS > box.from[1] && y < box.to[1] && x + COLUMNS > box.from[0] && x < box.to[0];
    near |= (unsigned)overlaps << i;
  }
  return near;
}

/* Of these layers those that have plane z. */
__device__ __forceinline__ unsigned wave_terms_in(const wave_terms &terms, unsigned near, int z) {
#pragma unroll
  for (int i = 2 * AXIS_Z; i < 6; i++)
    if (z < terms.of[i].from[2] || z >= terms.of[i].to[2]) near &= ~(1U << i);
  return near;
}

/* The term of one point, box after box. */
__device__ __forceinline__ real wave_terms_point(const wave_terms &terms, int x, int y, int z, real to) {
  unsigned near = wave_terms_in(terms, wave_terms_near<1, 1>(terms, x, y), z);
#pragma unroll 1
  for (; near != 0; near &= near - 1) {
    const wave_terms::box &box = terms.of[__ffs((int)near) - 1];
    to += box.first[z * box.plane + (y * box.step[1] + x * box.step[0])];
  }
  return to;
}

/* The terms of a thread's ROWS vectors from (x, y) on. A load from global memory returns after all copies
 * that its multiprocessor has begun before, some 1300 cycles later, and a block that waits is waited for by
 * all others. So terms are copied to shared memory in time, those of two boxes to places of the thread's own:
 * of two layers of x and y, or of one of them and one of z. Others are loaded when they are needed. */
template <int ROWS> struct wave_terms_block {
  static_assert(ROWS % VECTOR == 0, "vectors of rows, and of columns");
  static constexpr int UPRIGHT = ROWS / VECTOR; /* vectors of a column */
  static constexpr int SIZE = ROWS * VECTOR;    /* elements of a place */
  struct place {
    real *first; /* or NULL */
    int pitch;
  };
  const wave_terms &terms;
  int x, y;
  unsigned near; /* wave_terms_near */

  /* Vector k of a box: a row's, or in layers of x (`upright`) a column's. */
  struct vectors {
    const real *first;
    int step, at, from, to, upright;

    __device__ __forceinline__ bool has(int k) const {
      const int i = at + (upright ? k / UPRIGHT : k);
      return i >= from && i < to;
    }
    __device__ __forceinline__ const real *of(int k) const {
      return first + (upright ? k / UPRIGHT * step + k % UPRIGHT * VECTOR : k * step);
    }
  };
  __device__ __forceinline__ vectors vectors_of(int i, int z) const {
    const wave_terms::box &box = terms.of[i];
    const int upright = i / 2 == AXIS_X, across = !upright;
    return {box.first + z * box.plane + (y * box.step[1] + x * box.step[0]),
            box.step[across],
            upright ? x : y,
            box.from[across],
            box.to[across],
            upright};
  }

  /* Points lie in layers of x and of y, and so need a second place in every plane. */
  __device__ __forceinline__ bool is_corner() const {
    return (near & 3U) != 0 && (near & 12U) != 0;
  }

  /* Starts copying the terms of plane z, and fetches those of a later plane into the cache. */
  __device__ __forceinline__ void copy(int z, const place (&to)[2]) const {
    constexpr int AHEAD = 2; /* planes */
    unsigned left = near == 0 ? 0 : wave_terms_in(terms, near, z);
#pragma unroll
    for (int n = 0; n < 2; n++) {
      if (left == 0) break;
      const int i = __ffs((int)left) - 1;
      left &= left - 1;
      const vectors v = vectors_of(i, z);
      const ptrdiff_t ahead = z + AHEAD < terms.of[i].to[2] ? AHEAD * terms.of[i].plane : 0;
      if (to[n].first == nullptr) continue;
#pragma unroll
      for (int k = 0; k < ROWS; k++) {
        if (!v.has(k)) continue;
        copy_vector(to[n].first + k * to[n].pitch, v.of(k));
        cache_fetch(v.of(k) + ahead);
      }
    }
  }

  /* Adds the terms of plane z, whose copies are there. To add -0 to other points changes nothing. */
  __device__ __forceinline__ void add(int z, const place (&from)[2], real (&to)[ROWS][VECTOR]) const {
    unsigned left = near == 0 ? 0 : wave_terms_in(terms, near, z);
#pragma unroll 1
    for (int n = 0; left != 0; n++, left &= left - 1) {
      const vectors v = vectors_of(__ffs((int)left) - 1, z);
      const place at = n == 0 ? from[0] : n == 1 ? from[1] : place{nullptr, 0};
      real term[ROWS][VECTOR];
#pragma unroll
      for (int k = 0; k < ROWS; k++) {
#pragma unroll
        for (int e = 0; e < VECTOR; e++) term[k][e] = -(real)0;
        if (at.first == nullptr)
          load_vector_where(v.has(k), v.of(k), term[k]);
        else if (v.has(k))
          vector_load(at.first + k * at.pitch, term[k]);
      }
#pragma unroll
      for (int k = 0; k < ROWS; k++)
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
          const real along = term[e * UPRIGHT + k / VECTOR][k % VECTOR];
          to[k][e] += v.upright ? along : term[k][e];
        }
    }
  }
};

#endif
