#ifndef FDAPP_CUDA_EDGES_CUH
#define FDAPP_CUDA_EDGES_CUH

#include "pace.cuh"

/* What a kernel does with the edge planes of a slab besides computing them: it tells the host that they are
 * written, or sends them to the neighbours and tells these (sending.cuh). */

static_assert(MEETING_WORDS * MEETING_APART * sizeof(unsigned) <= KERNELS_MEETING_BYTES, "a word for each");

/* kernels_meeting on the device. `what`: MEETING_TOLD or MEETING_CAME. */
struct meeting {
  unsigned *mine, *theirs[SIDE_COUNT];
  int ranks[SIDE_COUNT];
  unsigned long long patience; /* nanoseconds */
  context_late *late;

  __device__ __forceinline__ static unsigned *word(unsigned *words, int which) {
    return words + which * MEETING_APART;
  }
  __device__ __forceinline__ unsigned count() const {
    return counter_read(word(mine, MEETING_COUNT));
  }

  /* Called by one thread, after a fence behind all that it and its block have written. */
  __device__ __forceinline__ void tell(unsigned number) const {
#pragma unroll
    for (int side = 0; side < SIDE_COUNT; side++) {
      const int there = SIDE_COUNT - 1 - side; /* the rank below is told from above */
      if (theirs[side] != nullptr) number_write(word(theirs[side], MEETING_TOLD + there), number);
    }
    number_write(word(mine, MEETING_COUNT), number);
  }

  /* Returns true if `number` has come from the neighbour on this side, if there is one. */
  __device__ __forceinline__ bool here(int what, int side, unsigned number) const {
    return theirs[side] == nullptr || (int)(number_read(word(mine, what + side)) - number) >= 0;
  }

  /* Tells the neighbours that this rank is there, and waits for `number`. */
  __device__ __forceinline__ void tell_waiting(int what, unsigned number) const {
#pragma unroll
    for (int side = 0; side < SIDE_COUNT; side++) {
      const int there = SIDE_COUNT - 1 - side;
      if (theirs[side] != nullptr) number_write(word(theirs[side], what + there) + MEETING_WAITS, number);
    }
  }

  /* Returns true if the neighbour on this side waits itself. Where it waited, a number tells: it has told
   * none after the meeting, and sent at most the exchange after the one, for which it still waits. */
  __device__ __forceinline__ bool waits(int side) const {
    const unsigned *told = word(mine, MEETING_TOLD + side), *came = word(mine, MEETING_CAME + side);
    const unsigned meets = number_read(told + MEETING_WAITS), expects = number_read(came + MEETING_WAITS);
    return (meets != 0 && (int)(meets - number_read(told)) >= 0) ||
           (expects != 0 && (int)(expects + 1 - number_read(came)) >= 0);
  }

  /* Tells the host, and the neighbours, that rank `rank - 1` has not come. */
  __device__ __forceinline__ void give_up(unsigned rank) const {
    late->seconds = (unsigned)(patience / 1000000000);
    fence_system();
    late->rank = rank;
    number_write(word(mine, MEETING_LATE), rank);
#pragma unroll
    for (int side = 0; side < SIDE_COUNT; side++)
      if (theirs[side] != nullptr) number_write(word(theirs[side], MEETING_LATE), rank);
  }

  /* Returns true if `number` has come from one side, or, with SIDE_COUNT, from both. */
  __device__ __forceinline__ bool come(unsigned number, int what, int from) const {
    return (from == SIDE_ABOVE || here(what, SIDE_BELOW, number)) &&
           (from == SIDE_BELOW || here(what, SIDE_ABOVE, number));
  }

  /* Returns true if a wait that began at `start` is in vain, here or at a neighbour: then no kernel waits
   * again, the hosts find out, and end the run. A neighbour that waits itself is not the one to name: the
   * rank beside the missing one does that. */
  __device__ __forceinline__ bool in_vain(unsigned number, int what, int from,
                                          unsigned long long start) const {
    const bool below = from == SIDE_ABOVE || here(what, SIDE_BELOW, number);
    const bool above = from == SIDE_BELOW || here(what, SIDE_ABOVE, number);
    unsigned absent = number_read(word(mine, MEETING_LATE));
    const unsigned long long waited = clock_read() - start;
    if (absent == 0) {
      if (2 * waited >= patience) tell_waiting(what, number);
      if (waited < patience || (below && above)) return false;
      const bool gone_below = !below && !waits(SIDE_BELOW);
      const bool gone_above = !above && !waits(SIDE_ABOVE);
      if (!gone_below && !gone_above && waited < 2 * patience) return false;
      absent = (unsigned)ranks[gone_below || above ? SIDE_BELOW : SIDE_ABOVE] + 1;
    }
    give_up(absent);
    return true;
  }

  /* Called by one thread. Returns when `number` has come, or when the wait is in vain. */
  __device__ __forceinline__ void wait(unsigned number, int what = MEETING_TOLD,
                                       int from = SIDE_COUNT) const {
    constexpr unsigned POLLS = 64; /* between looks at the clock; a poll may take as long as a turn of a busy
                                    * processor (tests/emulated) */
    const unsigned long long start = clock_read();
    stress_rest();
#pragma unroll 1
    for (unsigned polls = 1; !come(number, what, from); polls++) {
      if (polls % POLLS == 0 && in_vain(number, what, from, start)) break;
    }
    fence_system();
  }
};

/* Counts the `parts` of a kernel that compute edges: blocks, or warps where a block's other warps are
 * elsewhere. */
struct edge_parts {
  unsigned *done; /* zero between kernels */
  int parts;

  /* Called by one thread of a part, after a barrier of the part and a fence. Returns true for the last part.
   */
  __device__ __forceinline__ bool last() const {
    stress_rest();
    if (atomicAdd(done, 1U) + 1U < (unsigned)parts) return false;
    *done = 0;
    return true;
  }
};

/* Signals to the host that the edges of a slab are written; the last part does. Without parts: no signal. */
struct edge_signal : edge_parts {
  context_signal *host;
  unsigned number;

  /* True if the pieces at the ends of the slab compute its edges first. */
  __device__ __forceinline__ bool ends_first() const {
    return parts > 0;
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

/* Signals when a block's edges are written, as it computes further planes. */
struct edge_watch {
  const edge_signal &edges;
  bool active; /* the edges are being or have been computed */

  __device__ __forceinline__ void computed(int planes) const {
    if (active && planes == HALO) edges.give();
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

static inline edge_parts edge_parts_of(const kernels_launch *launch, int parts) {
  return {launch->context->pace[launch->queue] + PACE_EDGES, parts};
}

static inline edge_signal edge_signal_of(const kernels_launch *launch, int parts) {
  return {edge_parts_of(launch, parts), &launch->context->signals[launch->queue], 0};
}

#endif
