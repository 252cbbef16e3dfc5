#ifndef FDAPP_CUDA_SENDING_CUH
#define FDAPP_CUDA_SENDING_CUH

#include <climits>

#include "edges.cuh"
#include "ring.cuh"

/* Kernels that send the edges of a slab to the neighbours themselves. Only parts that compute edges read halo
 * planes, so they alone wait for the neighbours; and when they have ended, nothing reads halo planes any
 * more. */
struct edge_sender : edge_parts {
  meeting meet;
  ptrdiff_t apart[SIDE_COUNT]; /* bytes from a point of an edge plane to its place in a neighbour's halo */
  int below, above;            /* planes before this one are sent below, those from this one on above */

  __device__ __forceinline__ static bool ends_first() {
    return true;
  }
  /* Returns true for a piece with planes that are sent, which are also those that read halo planes. */
  __host__ __device__ __forceinline__ static bool is_edge(const kernels_planes &piece, int nz) {
    return piece.z0 < HALO || piece.z1 > nz - HALO;
  }

  /* The place in the neighbour's halo of what lies at `stored`. */
  __device__ __forceinline__ real *halo_of(real *stored, int side) const {
    return reinterpret_cast<real *>(reinterpret_cast<char *>(stored) + apart[side]);
  }
  /* Stores a vector of plane z in the neighbours' halos, too, if it belongs there. */
  __device__ __forceinline__ void store(int z, real *stored, const real (&value)[VECTOR]) const {
    if (z < below) vector_store(halo_of(stored, SIDE_BELOW), value);
    if (z >= above) vector_store(halo_of(stored, SIDE_ABOVE), value);
  }

  /* Called by the whole block before it reads halo planes. */
  __device__ __forceinline__ void wait() const {
    if (threadIdx.x + threadIdx.y == 0) meet.wait(meet.count());
    __syncthreads();
  }
  /* Called by the whole block when it has sent its edges. */
  __device__ __forceinline__ void tell() const {
    __syncthreads();
    if (threadIdx.x + threadIdx.y != 0) return;
    const unsigned number = meet.count() + 1;
    fence_system();
    if (!last()) return;
    fence_system();
    meet.tell(number);
  }
};

/* The copies that a block of the pipeline makes of its edges, which it computes first. Stores in another
 * device's memory hold a block up if they come close together, so each thread copies the vectors that it has
 * stored itself one at a time, spread over the planes that follow. */
template <class Tile> struct edge_copies {
  static constexpr int VECTORS = HALO * Tile::ROWS; /* of a thread and a side */

  const edge_sender &edges;
  const geometry &d;
  const place &at;
  real *out;
  bool active = false;    /* the edges are being or have been computed */
  int next, end;          /* vectors to copy: those below before those above */
  int stride;             /* planes from one copy to the next */
  real held[VECTOR] = {}; /* the vector on its way, and where to */
  real *to = nullptr;

  __device__ __forceinline__ edge_copies(const edge_sender &edges_, const geometry &d_, const place &at_,
                                         real *out_, const kernels_planes &piece)
      : edges(edges_), d(d_), at(at_), out(out_) {
    next = piece.z0 < HALO ? 0 : VECTORS;
    end = piece.z1 > d.nz - HALO ? 2 * VECTORS : VECTORS;
    stride = max(1, (piece.z1 - piece.z0 - HALO * divide_up(end - next, VECTORS)) / (end - next + 1));
  }

  /* Stores the vector on its way, and loads the next one. */
  __device__ __forceinline__ void step() {
    if (to != nullptr) vector_store(to, held);
    to = nullptr;
    const int side = next < VECTORS ? SIDE_BELOW : SIDE_ABOVE;
    const int k = next % VECTORS, row = k % Tile::ROWS;
    if (next < end && row < at.rows) {
      const int z = (side == SIDE_BELOW ? 0 : d.nz - HALO) + k / Tile::ROWS;
      real *from = advance(out + d.plane(z), at.bytes + row * at.pitch);
      vector_load(from, held);
      if (z < edges.below || z >= edges.above) to = edges.halo_of(from, side);
    }
    next++;
  }

  /* Called when the block has computed so many planes. */
  __device__ __forceinline__ void computed(int planes) {
    if (active && planes > HALO && planes % stride == 0 && next <= end) step();
  }
  /* Called by the whole block at its end, when most of what was stored far away has arrived there. */
  __device__ __forceinline__ void close() {
    while (next <= end) step();
    edges.tell();
  }
};

/* ---- Host side ---- */

/* For a launch whose output is `out`. `parts`: blocks that compute edges. */
static inline edge_sender edge_sender_of(const kernels_launch *launch, const real *out, int parts) {
  const kernels_sending *s = launch->sends;
  edge_sender e = {edge_parts_of(launch, parts), meeting_of(launch->context, &s->meeting), {}, 0, 0};
  const int from[SIDE_COUNT] = {0, launch->shape.nz - HALO};
  for (int side = 0; side < SIDE_COUNT; side++)
    e.apart[side] = static_cast<const char *>(s->to[side]) -
                    reinterpret_cast<const char *>(out + from[side] * launch->shape.plane);
  e.below = s->to[SIDE_BELOW] != nullptr ? HALO : INT_MIN;
  e.above = s->to[SIDE_ABOVE] != nullptr ? from[SIDE_ABOVE] : INT_MAX;
  return e;
}

#endif
