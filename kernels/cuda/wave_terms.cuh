#ifndef FDAPP_CUDA_WAVE_TERMS_CUH
#define FDAPP_CUDA_WAVE_TERMS_CUH

#include "device.cuh"
#include "wave_call.h"

/* The terms of absorbing layers (wave_layers.h), which steps add to the first Laplacian: for each layer of
 * the slab, in the order of axes, the box of points that have a term. That of point (x, y, z) is at
 * first[x step[0] + y step[1] + z step[2]]. Neighbours in memory are neighbours along x, or along y in layers
 * of x (`upright`). */
struct wave_terms {
  int count;
  struct box {
    const real *first;
    ptrdiff_t step[3];
    int from[3], to[3];
    bool upright;
  } of[6];
};

static inline wave_terms wave_terms_make(const kernels_launch *launch, const wave_layers *layers) {
  const kernels_shape *shape = &launch->shape;
  const int n[3] = {shape->nx, shape->ny, shape->nz}, reach = wave_layers_depths(layers, WAVE_TERM);
  wave_terms terms = {};
  for (int i = 0; i < 6; i++) {
    const int axis = i / 2, end = i % 2, beyond = axis == AXIS_Z ? 0 : layers->beyond;
    if (layers->points == 0 || !layers->there[axis][end]) continue;
    wave_terms::box &box = terms.of[terms.count++];
    box = {static_cast<const real *>(layers->memory), {}, {0, 0, -beyond}, {n[0], n[1], n[2] + beyond}};
    box.first += wave_layers_at(layers, shape, WAVE_TERM, axis, end, 0);
    box.upright = axis == AXIS_X;
    for (int d = 0; d < 3; d++) box.step[d] = wave_layers_step(layers, shape, axis, d);
    if (end == 0) {
      box.to[axis] = reach;
    } else {
      box.from[axis] = n[axis] - reach;
      box.first += (n[axis] - 1) * box.step[axis];
      box.step[axis] *= -1;
    }
  }
  return terms;
}

/* The terms of ROWS x COLUMNS points from (x, y) on, in plane z, box after box. They are read before they are
 * needed, so that arithmetic of the step hides the time that the first box takes; and those of a later plane
 * are fetched into the cache. */
template <int ROWS, int COLUMNS> struct wave_terms_reader {
  static constexpr int LENGTH = COLUMNS, AHEAD = 2; /* elements that are read at once; planes */
  static_assert(LENGTH == 1 || (LENGTH == VECTOR && ROWS % VECTOR == 0), "single elements, or vectors");
  const wave_terms &terms;
  int x, y;
  unsigned near; /* near_of these */
  int z;
  unsigned left; /* boxes still to read, as bits */
  bool has;      /* something was read and not added */
  real term[ROWS][COLUMNS];

  /* The boxes with some of these points, as bits: the same in all planes but those of z. */
  __device__ __forceinline__ static unsigned near_of(const wave_terms &terms, int x, int y) {
    unsigned near = 0;
    for (int i = 0; i < terms.count; i++) {
      const wave_terms::box &box = terms.of[i];
      const bool overlaps =
          y + ROWS > box.from[1] && y < box.to[1] && x + COLUMNS > box.from[0] && x < box.to[0];
      near |= (unsigned)overlaps << i;
    }
    return near;
  }

  /* Finds the next box that has plane z, and reads its terms. To add -0 to other points changes nothing. */
  __device__ __forceinline__ void next() {
    has = false;
    int i = 0;
    while (!has && left != 0) {
      i = __ffs((int)left) - 1;
      left &= left - 1;
      has = z >= terms.of[i].from[2] && z < terms.of[i].to[2];
    }
    if (!has) return;
    const wave_terms::box &box = terms.of[i];
    const real *first = box.first + z * box.step[2] + y * box.step[1] + x * box.step[0];
    const ptrdiff_t ahead = z + AHEAD < box.to[2] ? AHEAD * box.step[2] : 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int e = 0; e < COLUMNS; e++) term[r][e] = -(real)0;
    if (box.upright)
      read_columns(box, first, ahead);
    else
      read_rows(box, first, ahead);
  }

  __device__ __forceinline__ static void read(const real *from, ptrdiff_t ahead, real (&to)[LENGTH]) {
    cache_fetch(from + ahead);
    if constexpr (LENGTH == 1)
      to[0] = *from;
    else
      vector_load(from, to);
  }

  __device__ __forceinline__ void read_rows(const wave_terms::box &box, const real *first, ptrdiff_t ahead) {
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (y + r >= box.from[1] && y + r < box.to[1]) read(first + r * box.step[1], ahead, term[r]);
  }

  __device__ __forceinline__ void read_columns(const wave_terms::box &box, const real *first,
                                               ptrdiff_t ahead) {
#pragma unroll
    for (int e = 0; e < COLUMNS; e++) {
      if (x + e < box.from[0] || x + e >= box.to[0]) continue;
#pragma unroll
      for (int r = 0; r < ROWS; r += LENGTH) {
        real column[LENGTH];
        read(first + e * box.step[0] + r, ahead, column);
#pragma unroll
        for (int k = 0; k < LENGTH; k++) term[r + k][e] = column[k];
      }
    }
  }

  /* Begins to read those of plane z, if they are wanted. */
  __device__ __forceinline__ void open(bool wanted, int z_) {
    z = z_;
    left = wanted ? near : 0;
    next();
  }

  /* Adds what was read, and all that is still to read. */
  __device__ __forceinline__ void add(real (&to)[ROWS][COLUMNS]) {
#pragma unroll 1
    while (has) {
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int e = 0; e < COLUMNS; e++) to[r][e] += term[r][e];
      next();
    }
  }
};

#endif
