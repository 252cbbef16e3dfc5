#ifndef FDAPP_CUDA_LAYER_PLACES_CUH
#define FDAPP_CUDA_LAYER_PLACES_CUH

#include "device.cuh"
#include "operations.h"

extern "C" {
#include "layers.h"
}
#include "layer_ends.h"

/* Where the threads of a launch of layers (layers.cuh) find their vectors.
 *
 * The points that `apply` leaves out (kernels_launch.left_out), and the layers in z, are divided into boxes
 * of whole vectors. No point is in two boxes:
 *
 *   the layers in z are whole planes;
 *     on the other planes, the layers in y are whole rows;
 *       on the other rows, the layers in x are what remains. */

constexpr int LAYER_BOXES = 6 * KERNELS_RANGES;
constexpr int LAYER_BITS = 7, LAYER_THREADS = 1 << LAYER_BITS;
constexpr int LAYER_CHUNK = 4; /* most planes of a thread */

struct layer_box {
  int origin[3], extent[3]; /* along x in vectors */
  int bits_x;               /* a tile has 2^bits_x vectors of each of its rows */
  int across, down;         /* tiles along x and y */
  unsigned first;           /* number of its first block */
};

/* The parameters of a launch besides arguments and geometry. */
struct layer_work {
  layer_ends ends;
  layer_box box[LAYER_BOXES];
  int boxes;
  unsigned blocks;
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

/* The vectors of a thread: one on each of its planes. */
struct layer_place {
  int x, y, z0, z1;
};

/* Returns false if this thread has no vectors: tiles reach beyond boxes. */
__device__ __forceinline__ bool layer_find(const layer_work &w, layer_place &at) {
  int b = 0;
  while (b + 1 < w.boxes && blockIdx.x >= w.box[b + 1].first) b++;
  const layer_box &box = w.box[b];
  const int tile = (int)(blockIdx.x - box.first), row_of_tiles = tile / box.across;
  const int thread = (int)threadIdx.x;
  const int column = (tile % box.across << box.bits_x) + (thread & ((1 << box.bits_x) - 1));
  const int row = (row_of_tiles % box.down << (LAYER_BITS - box.bits_x)) + (thread >> box.bits_x);
  const int plane = row_of_tiles / box.down * LAYER_CHUNK;
  at.x = (box.origin[0] + column) * VECTOR;
  at.y = box.origin[1] + row;
  at.z0 = box.origin[2] + plane;
  at.z1 = box.origin[2] + min(plane + LAYER_CHUNK, box.extent[2]);
  return column < box.extent[0] && row < box.extent[1];
}

/* ---- Host side ---- */

/* The smallest number of bits whose power of two is at least n. */
static inline int bits_of(int n) {
  int bits = 0;
  while (1 << bits < n) bits++;
  return bits;
}

/* Appends a box from point to point, unless it is empty. Tiles are as high as a layer in y is thick. */
static inline void box_add(layer_work &w, int x0, int x1, int y0, int y1, int z0, int z1) {
  constexpr int WARP_BITS = 5;
  if (x1 <= x0 || y1 <= y0 || z1 <= z0) return;
  const int columns = divide_up(x1, VECTOR) - x0 / VECTOR;
  layer_box box = {{x0 / VECTOR, y0, z0}, {columns, y1 - y0, z1 - z0}, 0, 0, 0, w.blocks};
  box.bits_x = std::min(bits_of(columns), std::max(WARP_BITS, LAYER_BITS - bits_of(y1 - y0)));
  box.across = divide_up(columns, 1 << box.bits_x);
  box.down = divide_up(y1 - y0, 1 << (LAYER_BITS - box.bits_x));
  w.blocks += (unsigned)box.across * (unsigned)box.down * (unsigned)divide_up(z1 - z0, LAYER_CHUNK);
  w.box[w.boxes++] = box;
}

/* The boxes of a launch. */
static inline void boxes_add(const kernels_launch *launch, const kernels_ends *ends, layer_work &w) {
  const geometry d = launch_geometry(launch);
  for (int r = 0; r < KERNELS_RANGES; r++) {
    const kernels_planes range = d.range[r], inner = layers_between(&range, ends);
    box_add(w, 0, d.nx, 0, d.ny, range.z0, inner.z0);
    box_add(w, 0, d.nx, 0, d.ny, inner.z1, range.z1);
    box_add(w, 0, d.nx, 0, d.y0, inner.z0, inner.z1);
    box_add(w, 0, d.nx, d.y1, d.ny, inner.z0, inner.z1);
    box_add(w, 0, d.x0, d.y0, d.y1, inner.z0, inner.z1);
    box_add(w, d.x1, d.nx, d.y0, d.y1, inner.z0, inner.z1);
  }
}

#endif
