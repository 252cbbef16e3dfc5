#ifndef FDAPP_CUDA_MARCH_CUH
#define FDAPP_CUDA_MARCH_CUH

#include <climits>

#include "device.cuh"

/* Planes of a piece, for kernels whose blocks march a tile upwards through a piece: the number of pieces with
 * the least cost in waves of blocks. resident: blocks that the device holds. Each piece costs `more` planes
 * beside its own. */
static inline int march_chunk(int tiles, int planes, int resident, int more) {
  int best = planes;
  long least = LONG_MAX;
  for (int pieces = 1; pieces <= 64 && pieces <= planes; pieces++) {
    const int chunk = divide_up(planes, pieces);
    const long cost = (long)divide_up(tiles * divide_up(planes, chunk), resident) * (chunk + more);
    if (cost >= least) continue;
    least = cost;
    best = chunk;
  }
  return best;
}

#endif
