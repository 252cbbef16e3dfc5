#ifndef FDAPP_CUDA_EDGES_CUH
#define FDAPP_CUDA_EDGES_CUH

#include "pace.cuh"

/* What a kernel does with the edge planes of a slab besides computing them: it tells the host that they are
 * written, or sends them to the neighbours and tells these. */

/* kernels_meeting on the device. The words of a rank, each in a cache line of its own: the number of its
 * meetings, whether it has waited in vain, and the numbers that its neighbours have told. */
struct meeting {
  unsigned *mine, *theirs[SIDE_COUNT];
  int ranks[SIDE_COUNT];
  unsigned long long patience; /* nanoseconds */
  context_late *late;

  enum { COUNT, LATE, TOLD, APART = 32 };
  static_assert((TOLD + SIDE_COUNT) * APART * sizeof(unsigned) <= KERNELS_MEETING_BYTES, "a word for each");

  __device__ __forceinline__ unsigned count() const {
    return counter_read(mine + COUNT * APART);
  }

  /* Called by one thread, after a fence behind all that it and its block have written. */
  __device__ __forceinline__ void tell(unsigned number) const {
#pragma unroll
    for (int side = 0; side < SIDE_COUNT; side++) {
      const int there = TOLD + SIDE_COUNT - 1 - side; /* the rank below is told from above */
      if (theirs[side] != nullptr) number_write(theirs[side] + there * APART, number);
    }
    number_write(mine + COUNT * APART, number);
  }

  /* Returns 1 if the neighbour on this side, if there is one, has told `number`. */
  __device__ __forceinline__ bool told(int side, unsigned number) const {
    return theirs[side] == nullptr || (int)(number_read(mine + (TOLD + side) * APART) - number) >= 0;
  }

  /* Tells the host, and the neighbours, that rank `rank - 1` has not come. */
  __device__ __forceinline__ void give_up(unsigned rank) const {
    late->seconds = (unsigned)(patience / 1000000000);
    fence_system();
    late->rank = rank;
    number_write(mine + LATE * APART, rank);
#pragma unroll
    for (int side = 0; side < SIDE_COUNT; side++)
      if (theirs[side] != nullptr) number_write(theirs[side] + LATE * APART, rank);
  }

  /* Called by one thread; returns when both neighbours have told `number`. After a wait in vain, here or at a
   * neighbour, none waits again: the hosts find out, and end the run. */
  __device__ __forceinline__ void wait(unsigned number) const {
    constexpr unsigned POLLS = 1024; /* between looks at the clock */
    const unsigned long long start = clock_read();
#pragma unroll 1
    for (unsigned polls = 1;; polls++) {
      const bool below = told(SIDE_BELOW, number), above = told(SIDE_ABOVE, number);
      if (below && above) break;
      if (polls % POLLS != 0) continue;
      unsigned absent = number_read(mine + LATE * APART);
      if (absent == 0 && clock_read() - start < patience) continue;
      if (absent == 0) absent = (unsigned)ranks[below ? SIDE_ABOVE : SIDE_BELOW] + 1;
      give_up(absent);
      break;
    }
    fence_system();
  }
};

/* Signals to the host that the edges of a slab are written. The last of the `parts` that compute edges gives
 * the signal: blocks, or warps where a block's other warps are elsewhere. */
struct edge_signal {
  unsigned *done; /* zero between kernels */
  context_signal *host;
  unsigned number;
  int parts; /* 0: no signal */

  /* True if the pieces at the ends of the slab compute its edges first. */
  __device__ __forceinline__ bool ends_first() const {
    return parts > 0;
  }
  /* Called by one thread of a part, after a barrier of the part and a fence. Returns true for the last part.
   */
  __device__ __forceinline__ bool last() const {
    if (atomicAdd(done, 1U) + 1U < (unsigned)parts) return false;
    *done = 0;
    return true;
  }
  /* Called by one thread of a part, after a barrier of the part. */
  __device__ __forceinline__ void count() const {
    __threadfence();
    if (!last()) return;
    host->given = clock_read();
    __threadfence_system(); /* copies and other devices read what all threads have written */
    host->number = number;
  }
  /* Called by the whole block. */
  __device__ __forceinline__ void give() const {
    __syncthreads();
    if (threadIdx.x == 0) count();
  }
};

/* For kernels that send the edges to the neighbours themselves. Only parts that compute edges read halo
 * planes, so they alone wait for the neighbours; and when they have ended, nothing reads halo planes any
 * more. */
struct edge_sender : edge_signal {
  int first;  /* 1: ends_first; 0: every block is a part, or in the direct kernel every one with edges */
  int pieces; /* along z, of the direct kernel */
  meeting meet;
  ptrdiff_t apart[SIDE_COUNT]; /* bytes from a point of an edge plane to its place in a neighbour's halo */
  ptrdiff_t below, above;      /* planes at smaller offsets are sent below, those from `above` on above */

  __device__ __forceinline__ bool ends_first() const {
    return first != 0;
  }
  /* Whether a piece sends, if the first two of each tile are those at the ends. */
  __device__ __forceinline__ bool sends(int piece) const {
    return !first || piece < 2;
  }
  /* The piece that the `block`-th to start computes in the direct kernel: from both ends inwards. */
  __device__ __forceinline__ int piece(int block) const {
    return block % 2 == 0 ? block / 2 : pieces - 1 - block / 2;
  }

  /* Stores a vector in a neighbour's halo, too, if the plane at this offset is an edge. */
  __device__ __forceinline__ void store(ptrdiff_t plane, real *stored, const real (&value)[VECTOR]) const {
    char *at = reinterpret_cast<char *>(stored);
    if (plane < below) vector_store(reinterpret_cast<real *>(at + apart[SIDE_BELOW]), value);
    if (plane >= above) vector_store(reinterpret_cast<real *>(at + apart[SIDE_ABOVE]), value);
  }

  /* Called by one thread of a part before it reads halo planes; a barrier follows. */
  __device__ __forceinline__ void wait() const {
    meet.wait(meet.count());
  }
  /* Called by the whole block when it has written its edges. */
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

/* ---- Host side ---- */

static inline meeting meeting_of(kernels_context *context, const kernels_meeting *from) {
  meeting m = {
      static_cast<unsigned *>(from->mine), {}, {}, (unsigned long long)(1e9 * from->seconds), context->late};
  for (int side = 0; side < SIDE_COUNT; side++) {
    m.theirs[side] = static_cast<unsigned *>(from->theirs[side]);
    m.ranks[side] = from->ranks[side];
  }
  return m;
}

static inline void edges_fill(edge_signal &e, const kernels_launch *launch, int parts) {
  e.done = launch->context->pace[launch->queue] + PACE_EDGES;
  e.host = &launch->context->signals[launch->queue];
  e.parts = parts;
}

/* For a launch whose output is `out`. `parts`: blocks that compute edges; first: they do so before others. */
static inline edge_sender sender_of(const kernels_launch *launch, const real *out, int parts, bool first) {
  const kernels_sending *s = launch->sends;
  edge_sender e = {};
  edges_fill(e, launch, parts);
  e.first = first;
  e.meet = meeting_of(launch->context, &s->meeting);
  const ptrdiff_t from[SIDE_COUNT] = {0, (launch->shape.nz - HALO) * launch->shape.plane};
  for (int side = 0; side < SIDE_COUNT; side++)
    e.apart[side] = static_cast<const char *>(s->to[side]) - reinterpret_cast<const char *>(out + from[side]);
  e.below = s->to[SIDE_BELOW] != nullptr ? HALO * launch->shape.plane : PTRDIFF_MIN;
  e.above = s->to[SIDE_ABOVE] != nullptr ? from[SIDE_ABOVE] : PTRDIFF_MAX;
  return e;
}

#endif
