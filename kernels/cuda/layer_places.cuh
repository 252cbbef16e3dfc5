#ifndef FDAPP_CUDA_LAYER_PLACES_CUH
#define FDAPP_CUDA_LAYER_PLACES_CUH

#include "device.cuh"
#include "operations.h"

extern "C" {
#include "layers.h"
}
#include "layer_ends.h"

/* Where the threads of a launch of layers (layers.cuh) find their vectors. */

/* The vectors that cover a box (layers.h), divided into tiles of one block each. A tile reaches far along all
 * axes, so that its threads have many neighbours in common (docs/explanation/performance.md, "Layers beside
 * open ends"). */
struct layer_box {
  layers_box points;
  int column, columns;    /* the first vector of a row, and their number */
  int bits_x, bits_y;     /* a tile has 2^bits_x vectors along x and 2^bits_y rows */
  int across, down;       /* tiles along x and y */
  unsigned first, vector; /* numbers of its first block and vector */
};

/* The parameters of a launch besides arguments and geometry. */
struct layer_work {
  layer_ends ends; /* its `result` has a vector for each of the launch's */
  layer_box box[LAYERS_MOST];
  int boxes;
  unsigned vectors, blocks;
  unsigned terms, kinds; /* masks of the terms and of the differences in use */
  int touched;           /* rows of an end that get penalties */
  unsigned options;

  /* The point that is number j of an end's rows: j points from the end. Beyond the width it is the last one
   * once more. */
  __device__ __forceinline__ int point_at(int axis, int high, int j) const {
    const int from_end = min(j, ends.width - 1);
    return (high ? ends.last[axis] - from_end : from_end) - ends.start[axis];
  }
  /* Returns true if points with this index along an axis get its penalties. */
  __device__ __forceinline__ bool touches(int axis, int i) const {
    int high;
    const int row = layer_row(&ends, axis, i, &high);
    return row >= 0 && row < touched;
  }
  __device__ __forceinline__ bool uses(operation_difference of) const {
    return (kinds >> of & 1U) != 0;
  }
};

constexpr int LAYER_BITS = by_precision_value(8, 7), LAYER_THREADS = 1 << LAYER_BITS;

/* A vector of a launch's layers. */
struct layer_place {
  int x, y, z;
  int from, to;    /* of the vector's points, those in the box: from <= v < to */
  unsigned number; /* of the vector */

  __device__ __forceinline__ bool has(int v) const {
    return v >= from && v < to;
  }
  /* Stores the points in the box; `row` is where the vector lies in a field. */
  __device__ __forceinline__ void store(real *row, const real (&value)[VECTOR]) const {
    if (from <= 0 && to >= VECTOR) {
      vector_store(row, value);
      return;
    }
#pragma unroll
    for (int v = 0; v < VECTOR; v++) {
      if (has(v)) row[v] = value[v];
    }
  }
};

/* The vector of this thread. Returns false if it has none: tiles reach beyond boxes. */
__device__ __forceinline__ bool layer_find(const layer_work &w, layer_place &at) {
  int b = 0;
  while (b + 1 < w.boxes && blockIdx.x >= w.box[b + 1].first) b++;
  const layer_box &box = w.box[b];
  const int tile = (int)(blockIdx.x - box.first), row_of_tiles = tile / box.across, thread = (int)threadIdx.x;
  const int bits_xy = box.bits_x + box.bits_y;
  const int column = (tile % box.across << box.bits_x) + (thread & ((1 << box.bits_x) - 1));
  const int y = (row_of_tiles % box.down << box.bits_y) + (thread >> box.bits_x & ((1 << box.bits_y) - 1));
  const int z = (row_of_tiles / box.down << (LAYER_BITS - bits_xy)) + (thread >> bits_xy);
  if (column >= box.columns || y >= box.points.extent[1] || z >= box.points.extent[2]) return false;
  at.x = (box.column + column) * VECTOR;
  at.y = box.points.origin[1] + y;
  at.z = box.points.origin[2] + z;
  at.from = box.points.origin[0] - at.x;
  at.to = at.from + box.points.extent[0];
  at.number =
      box.vector + (unsigned)(z * box.points.extent[1] + y) * (unsigned)box.columns + (unsigned)column;
  return true;
}

#endif
