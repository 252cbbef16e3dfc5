#ifndef FDAPP_CUDA_RING_CUH
#define FDAPP_CUDA_RING_CUH

#include "device.cuh"

/* Planes on their way through shared memory: rings of tiles, filled by asynchronous copies while earlier
 * planes are computed. Part of pipeline.cuh. */

constexpr int THREADS = 256;

/* A block's part of a plane: WIDTH columns; a thread owns one vector in each of ROWS consecutive rows. STAGES
 * planes are in flight; every PACE planes the blocks wait for one another (0: never). */
template <int WIDTH_, int ROWS_, int STAGES_, int PACE_, int UNROLL_ = 1> struct tile {
  static constexpr int WIDTH = WIDTH_, ROWS = ROWS_, STAGES = STAGES_, PACE = PACE_, UNROLL = UNROLL_;
  static constexpr int COLUMNS = WIDTH / VECTOR;
  static constexpr int HEIGHT = THREADS / COLUMNS * ROWS;
};

/* Where a thread stands: its tile's first point, its vector and rows in the tile, and what it stores. */
struct place {
  int x0, y0, column, row;
  int offset; /* of its first vector in a plane of the field */
  int rows;   /* to store; 0 to the right of the rows' padding */
};

template <class Tile> __device__ __forceinline__ place place_make(const geometry &d, int tile_x, int tile_y) {
  const int thread = (int)threadIdx.x;
  place at = {tile_x * Tile::WIDTH,
              tile_y * Tile::HEIGHT,
              thread % Tile::COLUMNS,
              thread / Tile::COLUMNS * Tile::ROWS,
              0,
              0};
  const int x = at.x0 + at.column * VECTOR;
  at.offset = (at.y0 + at.row) * d.ldx + x;
  at.rows = x < d.ldx ? min(Tile::ROWS, d.ny - at.y0 - at.row) : 0;
  return at;
}

__device__ __forceinline__ void copy_vector(real *to, const real *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from));
}

__device__ __forceinline__ void copy_element(real *to, const real *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "n"((int)sizeof(real)));
}

__device__ __forceinline__ void copy_commit() {
  asm volatile("cp.async.commit_group;" ::);
}

/* Waits until at most PENDING groups of this thread's copies are under way. */
template <int PENDING> __device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* DEPTH planes of a tile, with HALO more columns (X) and rows (Y) on both sides. Rows start where shared and
 * global address agree modulo 32 bytes, else copies would fetch every sector twice. */
template <class Tile, bool X, bool Y, int DEPTH_> struct ring {
  static constexpr int DEPTH = DEPTH_;
  static constexpr int SIDE_X = X ? HALO : 0, SIDE_Y = Y ? HALO : 0;
  static constexpr int PITCH = Tile::WIDTH + 2 * SIDE_X, HEIGHT = Tile::HEIGHT + 2 * SIDE_Y;
  static constexpr int PLANE = PITCH * HEIGHT;
  static constexpr int SHIFT = X ? (32 - HALO * (int)sizeof(real) % 32) % 32 / (int)sizeof(real) : 0;
  static constexpr int ELEMENTS = (DEPTH * PLANE + SHIFT + 31) / 32 * 32;
  static constexpr int SIDE_VECTORS = 2 * SIDE_X / VECTOR; /* a row's vectors left and right of the tile */

  real *first; /* of plane 0 */
  int side_from,
      side_to; /* this thread's vector of the sides: offset in the field's plane (-1: none), in the ring's */

  /* Row of the field's plane under row `row` of the ring, or -1 if no point needs it. */
  __device__ __forceinline__ static int field_row(const geometry &d, const place &at, int row) {
    int y = at.y0 + row - SIDE_Y;
    if (y >= d.ny + SIDE_Y) return -1;
    if constexpr (Y) {
      if (y < 0) y += d.ny;
      if (y >= d.ny) y -= d.ny;
    }
    return y;
  }

  __device__ __forceinline__ void open(real *shared, const geometry &d, const place &at) {
    first = shared + SHIFT;
    side_from = -1;
    if constexpr (X) {
      static_assert(SIDE_VECTORS * HEIGHT <= THREADS, "a thread copies at most one vector of the sides");
      const int i = (int)threadIdx.x;
      if (i >= SIDE_VECTORS * HEIGHT) return;
      const int k = i % SIDE_VECTORS * VECTOR;
      const int row = i / SIDE_VECTORS;
      const int column = k < HALO ? k : Tile::WIDTH + k;
      const int y = field_row(d, at, row);
      int x = at.x0 - HALO + column;
      if (y < 0 || x >= d.nx + HALO) return;
      if (d.nx % VECTOR == 0) {
        if (x < 0) x += d.nx;
        if (x >= d.nx) x -= d.nx;
      } else if (x < 0 || x + VECTOR > d.nx) {
        return; /* images here do not begin at a vector: copy_images */
      }
      side_from = y * d.ldx + x;
      side_to = row * PITCH + column;
    }
  }

  __device__ __forceinline__ real *slot(int index) const {
    return first + index * PLANE;
  }

  /* The columns that no whole vector covers where nx is not a multiple of VECTOR: the row's end and the
   * images. */
  __device__ __forceinline__ static void copy_images(real *to, const real *plane, const geometry &d,
                                                     const place &at) {
    constexpr int LANES = 8; /* threads that share a row */
    const int whole = d.nx / VECTOR * VECTOR;
    const int left = at.x0 == 0 ? HALO : 0;
    const int count = left + max(min(d.nx, at.x0 + Tile::WIDTH) + HALO - whole, 0);
    for (int row = (int)threadIdx.x / LANES; row < HEIGHT; row += THREADS / LANES) {
      const int y = field_row(d, at, row);
      if (y < 0) return;
      for (int k = (int)threadIdx.x % LANES; k < count; k += LANES) {
        const int x = k < left ? k - HALO : whole + k - left;
        const int from = x < 0 ? x + d.nx : x >= d.nx ? x - d.nx : x;
        copy_element(to + row * PITCH + x - at.x0 + HALO, plane + y * d.ldx + from);
      }
    }
  }

  /* Starts copying the field's plane into a slot of the ring; the block shares the work. */
  __device__ __forceinline__ void copy(int index, const real *plane, const geometry &d,
                                       const place &at) const {
    real *to = slot(index);
    constexpr int STEP = THREADS / Tile::COLUMNS;
    int x = at.x0 + at.column * VECTOR;
    bool whole = x < d.nx; /* without X, padding may come along */
    if constexpr (X) {
      whole = x + VECTOR <= d.nx;
      if (d.nx % VECTOR == 0 && x >= d.nx) {
        whole = x < d.nx + HALO;
        x -= d.nx;
      }
    }
    const int row0 = at.row / Tile::ROWS;
    to += row0 * PITCH + SIDE_X + at.column * VECTOR;
    if (whole && at.y0 >= SIDE_Y && at.y0 + HEIGHT <= d.ny + SIDE_Y) { /* no row's image */
      const real *from = plane + ((at.y0 - SIDE_Y + row0) * d.ldx + x);
#pragma unroll
      for (int k = 0; k < (HEIGHT + STEP - 1) / STEP; k++, from += STEP * d.ldx) {
        if (HEIGHT % STEP == 0 || row0 + k * STEP < HEIGHT) copy_vector(to + k * STEP * PITCH, from);
      }
    } else if (whole) {
#pragma unroll 1
      for (int k = 0; row0 + k * STEP < HEIGHT; k++) {
        const int y = field_row(d, at, row0 + k * STEP);
        if (y >= 0) copy_vector(to + k * STEP * PITCH, plane + (y * d.ldx + x));
      }
    }
    if constexpr (X) {
      if (side_from >= 0) copy_vector(slot(index) + side_to, plane + side_from);
      if (d.nx % VECTOR != 0 && (at.x0 == 0 || at.x0 + Tile::WIDTH + HALO > d.nx / VECTOR * VECTOR)) {
        copy_images(slot(index), plane, d, at);
      }
    }
  }

  /* The same without sides, each thread its own vectors: to be read by this thread alone, without a barrier.
   */
  __device__ __forceinline__ void copy_own(int index, const real *plane, const geometry &d,
                                           const place &at) const {
    static_assert(!X && !Y, "sides are shared");
    real *to = slot(index);
    const int x = at.x0 + at.column * VECTOR;
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++) {
      const int y = at.y0 + at.row + r;
      if (x < d.nx && y < d.ny)
        copy_vector(to + (at.row + r) * PITCH + at.column * VECTOR, plane + y * d.ldx + x);
    }
  }

  /* The vector at `column` vectors and `row` rows from the thread's first. */
  __device__ __forceinline__ void read(int index, const place &at, int column, int row,
                                       real (&to)[VECTOR]) const {
    vector_load(slot(index) + (at.row + SIDE_Y + row) * PITCH + SIDE_X + (at.column + column) * VECTOR, to);
  }
};

#endif
