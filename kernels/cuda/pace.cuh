#ifndef FDAPP_CUDA_PACE_CUH
#define FDAPP_CUDA_PACE_CUH

#include "device.cuh"

/* Keeps blocks that march along z at about the same plane, so that the halo rows that one has read are still
 * in the L2 cache when its neighbour needs them. SMs run at unequal speed, and blocks drift apart without
 * this (docs/explanation/performance.md, "Blocks in step").
 *
 * Each block takes a ticket when it starts, which is its tile. A group is a set of blocks that start
 * together, one wave of `round` consecutive tickets, and shares a counter. Cut and whole tiles never share a
 * group, because whole tiles that fill up the last wave of cut tiles start earlier than the others.
 *
 * Every few planes a block increments its group's counter and waits until the group has passed the previous
 * step. Waits have a time-out: the bits do not depend on them, and if a group cannot be resident at once (the
 * GPU is shared), each block waits in vain once and then no more. The last block to leave zeroes the
 * words. */
struct pace {
  unsigned *words; /* ticket, blocks that have left, edge blocks done, then one counter per group */
  int blocks;      /* in the grid */
  int first;       /* first ticket of a whole tile; tickets before are cut tiles */
  int round;       /* blocks resident at once; 0: no pacing */
  int every;       /* planes per step */
  int steps;       /* most steps of a block */

  __host__ __device__ __forceinline__ int groups() const {
    return divide_up(blocks, round) + divide_up(blocks - first, round);
  }
};

enum { PACE_TICKET, PACE_LEFT, PACE_EDGES, PACE_COUNTERS };
constexpr int PACE_POLLS = 128; /* about 0.1 ms */

/* The state of thread 0 of each block. */
struct pacer {
  unsigned *counter;
  unsigned size; /* blocks in the group */
  unsigned taken;
  unsigned seen;
  int every;
  int left; /* planes until the next step */
  bool waits;

  __device__ __forceinline__ void open(const pace &p, int ticket) {
    const int rounds = ticket / p.round, since = ticket - p.first, turns = since / p.round;
    int begin = rounds * p.round, index = rounds, end = min(begin + p.round, p.blocks);
    if (since < 0) {
      end = min(end, p.first);
    } else {
      begin = max(begin, p.first + turns * p.round);
      end = min(end, p.first + (turns + 1) * p.round);
      index += turns + 1;
    }
    counter = p.words + PACE_COUNTERS + index;
    size = (unsigned)(end - begin);
    taken = 0;
    seen = 0;
    every = p.every;
    left = 0;
    waits = true;
  }

  __device__ __forceinline__ void step() {
    const unsigned due = size * taken++;
    counter_add(counter, 1);
    if (!waits || seen >= due) return;
#pragma unroll 1
    for (int i = 0; i < PACE_POLLS; i++) {
      seen = counter_read(counter);
      if (seen >= due) return;
    }
    waits = false;
  }

  /* Called before each plane; waits if a step begins. */
  __device__ __forceinline__ void plane_begin() {
    if (left > 0) return;
    step();
    left = every;
  }

  /* Called after the plane's copies have been started. Reads the counter a plane before the step, so that its
   * value has arrived when it is needed. */
  __device__ __forceinline__ void copies_begun() {
    if (--left == 0) seen = counter_read(counter);
  }

  /* Adds the steps that this block does not take, so that others need not wait for it, and leaves. */
  __device__ __forceinline__ void close(const pace &p) {
    counter_add(counter, (unsigned)p.steps - taken);
    __threadfence();
    if (atomicAdd(p.words + PACE_LEFT, 1U) + 1U < (unsigned)p.blocks) return;
    __threadfence(); /* no block's count may come after the zeros */
    for (int i = 0; i < PACE_COUNTERS + p.groups(); i++) p.words[i] = 0;
  }
};

#endif
