#ifndef FDAPP_CUDA_LAYER_PLACES_CUH
#define FDAPP_CUDA_LAYER_PLACES_CUH

#include "device.cuh"
#include "operations.h"

#include "layer_ends.h"

/* Where the threads of a launch of layers (layers.cuh) find their points.
 *
 * The points that `apply` leaves out (kernels_launch.left_out), and the layers in z, are divided into boxes,
 * and no point is in two of them. Along each axis a box has the points of one layer, or those between the
 * layers; if the axis is periodic, those whose neighbours are images at one end, or those between. */

constexpr int SEVERAL = 3;      /* instead of the one axis in whose layer points lie */
constexpr int LAYER_BOXES = 28; /* 3 x 3 x 3 without the one between all layers, and 2 beside x */
/* Blocks are small, so that many warps wait for loads. */
constexpr int LAYER_BITS = 7, LAYER_THREADS = 1 << LAYER_BITS, LAYER_BLOCKS = by_precision_value(6, 4);

/* The axis along which a thread goes from point to point in a box, and the most points that it computes:
 * along the closed axis, except x, along which the threads of a warp lie beside one another. */
__host__ __device__ constexpr int layer_march(int only) {
  return only == AXIS_Y ? AXIS_Y : AXIS_Z;
}
__host__ __device__ constexpr int layer_chunk(int only) {
  return only == AXIS_X ? (SINGLE ? 8 : 16) : only == SEVERAL ? 4 : CLOSURE_ROWS;
}

struct layer_box {
  int origin[3], extent[3];
  int only;         /* layer's ONLY */
  int bits_x;       /* a tile has 2^bits_x points of each of its rows */
  int across, down; /* tiles along x, and along the other axis that is not the march's */
  unsigned first;   /* number of its first block */
};

/* The parameters of a launch besides arguments and geometry. */
struct layer_work {
  layer_ends ends;
  layer_box box[LAYER_BOXES];
  int boxes;
  unsigned blocks;
  unsigned terms, kinds, outputs; /* masks of the terms, differences and outputs in use */
  int touched;                    /* rows of an end that get penalties */
  unsigned options, parts;        /* parts: mask of those in use */

  /* The index of the point on an end of an axis. Along z it may lie outside the slab. */
  __device__ __forceinline__ int end_of(int axis, int high) const {
    return (high ? ends.last[axis] : 0) - ends.start[axis];
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

/* The points of a thread: the first one, and how many follow one another along layer_march(only). */
struct layer_place {
  int point[3], count, only;
};

/* Returns false if this thread has no points: tiles reach beyond boxes. */
__device__ __forceinline__ bool layer_find(const layer_work &w, layer_place &at) {
  int b = 0;
  while (b + 1 < w.boxes && blockIdx.x >= w.box[b + 1].first) b++;
  const layer_box &box = w.box[b];
  const int tile = (int)(blockIdx.x - box.first), row_of_tiles = tile / box.across;
  const int thread = (int)threadIdx.x, chunk = layer_chunk(box.only);
  const int column = (tile % box.across << box.bits_x) + (thread & ((1 << box.bits_x) - 1));
  const int row = (row_of_tiles % box.down << (LAYER_BITS - box.bits_x)) + (thread >> box.bits_x);
  const int first = row_of_tiles / box.down * chunk;
  const bool along_y = layer_march(box.only) == AXIS_Y;
  at.only = box.only;
  at.point[0] = box.origin[0] + column;
  at.point[1] = box.origin[1] + (along_y ? first : row);
  at.point[2] = box.origin[2] + (along_y ? row : first);
  at.count = min(chunk, box.extent[along_y ? 1 : 2] - first);
  return column < box.extent[0] && row < box.extent[along_y ? 2 : 1];
}

/* ---- Host side ---- */

/* The smallest number of bits whose power of two is at least n. */
static inline int bits_of(int n) {
  int bits = 0;
  while (1 << bits < n) bits++;
  return bits;
}

/* A range of indices along any axis. */
using layer_range = kernels_planes;

/* Appends a box, unless it is empty. */
static inline void box_add(layer_work &w, int only, layer_range x, layer_range y, layer_range z) {
  constexpr int WARP_BITS = 5;
  if (x.z1 <= x.z0 || y.z1 <= y.z0 || z.z1 <= z.z0) return;
  layer_box box = {{x.z0, y.z0, z.z0}, {x.z1 - x.z0, y.z1 - y.z0, z.z1 - z.z0}, only, 0, 0, 0, w.blocks};
  const int march = layer_march(only), other = AXIS_Y + AXIS_Z - march;
  box.bits_x = std::min(WARP_BITS, bits_of(box.extent[0]));
  box.across = divide_up(box.extent[0], 1 << box.bits_x);
  box.down = divide_up(box.extent[other], 1 << (LAYER_BITS - box.bits_x));
  w.blocks +=
      (unsigned)box.across * (unsigned)box.down * (unsigned)divide_up(box.extent[march], layer_chunk(only));
  w.box[w.boxes++] = box;
}

/* A range in three: indices below `low`, from there to `high`, and beyond. */
struct layer_thirds {
  layer_range third[3];
};

static inline layer_thirds thirds_make(layer_range all, int low, int high) {
  low = std::max(all.z0, std::min(low, all.z1));
  high = std::max(low, std::min(high, all.z1));
  return {{{all.z0, low}, {low, high}, {high, all.z1}}};
}

/* The boxes of a range of planes. Those that have most of the points come first. */
static inline void boxes_add(const kernels_launch *launch, const kernels_ends *ends, layer_range range,
                             layer_work &w) {
  constexpr int BETWEEN = 1; /* the number of that third */
  const geometry d = launch_geometry(launch);
  const layer_range inner = layers_between(&range, ends);
  const int *const bounded = ends->bounded;
  const int side_x = bounded[AXIS_X] ? ends->rows : HALO, side_y = bounded[AXIS_Y] ? ends->rows : HALO;
  const bool deep = ends->rows >= HALO; /* so points between layers have no images among their neighbours */
  const layer_thirds x = thirds_make({0, d.nx}, side_x, d.nx - side_x);
  const layer_thirds y = thirds_make({0, d.ny}, side_y, d.ny - side_y);
  const layer_thirds z = bounded[AXIS_Z] ? thirds_make(range, inner.z0, inner.z1)
                                         : thirds_make(range, d.memory.z0 + HALO, d.memory.z1 - HALO);
  for (int sides = 1; sides <= 3; sides++) { /* axes along which a box is not between */
    for (int k = 0; k < 27; k++) {
      const int at[3] = {k % 3, k / 3 % 3, k / 9};
      int count = 0, layers = 0, side = AXIS_X;
      for (int axis = 0; axis < 3; axis++) {
        if (at[axis] == BETWEEN) continue;
        count++;
        layers += bounded[axis];
        side = axis;
      }
      if (count == sides && layers > 0)
        box_add(w, sides == 1 && deep ? side : SEVERAL, x.third[at[0]], y.third[at[1]], z.third[at[2]]);
    }
  }
  if (!bounded[AXIS_X]) return;
  /* Along x whole vectors are left out, and so more than layers. */
  const layer_range between = x.third[BETWEEN], rows = {d.y0, d.y1};
  box_add(w, SEVERAL, {between.z0, std::min(d.x0, between.z1)}, rows, inner);
  box_add(w, SEVERAL, {std::max(d.x1, between.z0), between.z1}, rows, inner);
}

#endif
