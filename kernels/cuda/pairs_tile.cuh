#ifndef FDAPP_CUDA_PAIRS_TILE_CUH
#define FDAPP_CUDA_PAIRS_TILE_CUH

#include <barrier.cuh>

#include "device.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define PAIRS_SLACK false
#else
#define PAIRS_SLACK (!SINGLE)
#endif

/* A tile of the engine that marches (pairs_march.cuh), and where things lie in a block's shared memory. */
template <class System, int COLUMNS, int ROWS, int EACH_THREAD, int UNROLLED = HALO> struct march_tile {
  static constexpr int EACH = EACH_THREAD, WIDTH = COLUMNS, HEIGHT = ROWS, THREADS = WIDTH / EACH * ROWS;
  static constexpr int UNROLL = UNROLLED; /* of the neighbours along an axis on one side */
  static constexpr int PITCH = WIDTH + 2 * HALO, FIELD = PITCH * (HEIGHT + 2 * HALO), CORE = WIDTH * HEIGHT;
  static constexpr int READS = __builtin_popcount(System::READS), PLANE = READS * FIELD;
  static_assert(System::READS == (1U << READS) - 1, "the first inputs are read");
  static constexpr int ASIDE = __builtin_popcount(System::ASIDE) + __builtin_popcount(System::ASIDE_SUMS);
  /* Planes in shared memory: one is read, the others are on their way. HALO of them have constant names. */
  static constexpr int RING = ASIDE > 0 ? HALO - 1 : HALO;
  /* Vectors of a plane: of the tile's columns, then of the columns beside it. No corners. */
  static constexpr int ACROSS = WIDTH / VECTOR, BESIDE = 2 * HALO / VECTOR;
  static constexpr int INNER = ACROSS * (HEIGHT + 2 * HALO), VECTORS = INNER + BESIDE * HEIGHT;
  static constexpr int COPIES = (VECTORS + THREADS - 1) / THREADS;
  /* Elements of the plane that lie in no whole vector of a row: images beside uneven rows, and their rest. */
  static constexpr int LINES = HEIGHT + 2 * HALO, SINGLES = (2 * HALO + VECTOR - 1) * LINES;
  /* Behind the ring: values and sums of the HALO planes that are kept, which only their own threads read. */
  static constexpr int KEPT = RING * PLANE, BARRIERS = (KEPT + HALO * ASIDE * CORE + 1) / 2 * 2;
  static constexpr int SINGLES_AT = BARRIERS + 2 * (int)(sizeof(barrier) / sizeof(real));
  /* Behind that: what is read at the points of the plane that is finished, and of the next one. */
  static constexpr int POINTS = SINGLES_AT + SINGLES * (int)(sizeof(uint2) / sizeof(real));
  __host__ __device__ static constexpr size_t shared_bytes(int points) {
    return (size_t)(POINTS + 2 * points * CORE) * sizeof(real);
  }
  /* Where the ring has a slot to spare, warps may be a plane apart: a plane is copied two steps ahead, and a
   * step waits for the end of the one before the last. On an H200 this is 7 % faster. */
  static constexpr bool SLACK = PAIRS_SLACK && RING == HALO;
  static constexpr int AHEAD =
      SLACK ? RING - 2 : RING - 1; /* a plane is copied as many steps before its own */
};

#endif
