#ifndef FDAPP_CUDA_RING_CUH
#define FDAPP_CUDA_RING_CUH

#include "device.cuh"

/* Rings of planes in shared memory: asynchronous copies fill the slots of coming planes while earlier planes
 * are computed. Part of pipeline.cuh; docs/explanation/gpu-stage.md has a diagram. */

/* The members of a tile_shape that a kernel is compiled for. */
template <int WIDTH_, int ROWS_, int THREADS_, int IN_FLIGHT_, int UNROLL_, bool PREDICATED_, bool REREADS_>
struct tile {
  static constexpr int WIDTH = WIDTH_, ROWS = ROWS_, THREADS = THREADS_, IN_FLIGHT = IN_FLIGHT_,
                       UNROLL = UNROLL_;
  static constexpr int COLUMNS = WIDTH / VECTOR;
  static constexpr int HEIGHT = THREADS / COLUMNS * ROWS;
  static constexpr bool PREDICATED = PREDICATED_, REREADS = REREADS_;
  static_assert(UNROLL > 0, "nvcc forgets the default of a member that a designated initializer skips");
};

/* A thread's part of a tile: the first point of the tile, and the vector and the rows of this thread. */
struct place {
  int x0, y0, column, row;
  unsigned bytes; /* from the start of the field's plane to the thread's first vector */
  unsigned pitch; /* bytes from row to row */
  int rows;       /* rows that the thread stores; 0 if its column is not written */
};

/* Tiles begin with the first row that is written, but not with the first such column, so that they remain
 * aligned. */
template <class Tile> __device__ __forceinline__ place place_make(const geometry &d, int tile_x, int tile_y) {
  const int thread = (int)threadIdx.x;
  place at = {tile_x * Tile::WIDTH,
              d.y0 + tile_y * Tile::HEIGHT,
              thread % Tile::COLUMNS,
              thread / Tile::COLUMNS * Tile::ROWS,
              0,
              (unsigned)d.ldx * (unsigned)sizeof(real),
              0};
  const int x = at.x0 + at.column * VECTOR;
  at.bytes = (unsigned)(at.y0 + at.row) * at.pitch + (unsigned)x * (unsigned)sizeof(real);
  at.rows = x >= d.x0 && x < d.x1 ? min(Tile::ROWS, d.y1 - at.y0 - at.row) : 0;
  return at;
}

constexpr unsigned NONE = ~0U;

/* The element `bytes` after p. A byte offset takes fewer instructions than an index. */
__device__ __forceinline__ const real *advance(const real *p, unsigned bytes) {
  return reinterpret_cast<const real *>(reinterpret_cast<const char *>(p) + bytes);
}

__device__ __forceinline__ real *advance(real *p, unsigned bytes) {
  return reinterpret_cast<real *>(reinterpret_cast<char *>(p) + bytes);
}

/* A ring of DEPTH planes of a tile, extended on both sides by HALO columns (X) and HALO rows (Y). SHIFT makes
 * shared and global addresses agree modulo 32 bytes; otherwise copies would fetch each sector twice. */
template <class Tile, bool X, bool Y, int DEPTH_> struct ring {
  static constexpr int DEPTH = DEPTH_;
  static constexpr int SIDE_X = X ? HALO : 0, SIDE_Y = Y ? HALO : 0;
  static constexpr int PITCH = Tile::WIDTH + 2 * SIDE_X, HEIGHT = Tile::HEIGHT + 2 * SIDE_Y;
  static constexpr int PLANE = PITCH * HEIGHT;
  static constexpr int SHIFT = X ? (32 - HALO * (int)sizeof(real) % 32) % 32 / (int)sizeof(real) : 0;
  static constexpr int IMAGES = /* most pairs of copy_images */
      X ? 2 * HALO * Tile::HEIGHT + (VECTOR - 1) * HEIGHT : 0;
  static constexpr int PLANES = (DEPTH * PLANE + SHIFT + 31) / 32 * 32;
  static constexpr int ELEMENTS = PLANES + (IMAGES * (int)(sizeof(uint2) / sizeof(real)) + 31) / 32 * 32;
  static constexpr int SIDE_VECTORS = 2 * SIDE_X / VECTOR; /* a row's vectors left and right of the tile */

  static constexpr int STEP = Tile::THREADS / Tile::COLUMNS; /* rows that the block copies at once */
  static constexpr int COPIES = (HEIGHT + STEP - 1) / STEP;

  real *first;           /* of plane 0 */
  unsigned from[COPIES]; /* byte offsets of this thread's vectors in the field's plane; NONE: no vector */
  int to;                /* element offset of its first vector in the ring's plane */
  unsigned side_from;    /* byte offset of this thread's vector in the sides */
  int side_to;
  int images; /* pairs of copy_images */

  /* The row of the field that ring row `row` holds. Ring rows beyond the last one needed may hold anything;
   * they mirror earlier rows, because one row for all of them would be a hot spot in memory. */
  __device__ __forceinline__ static int field_row(const geometry &d, const place &at, int row) {
    const int last = d.ny + SIDE_Y - 1;
    int y = at.y0 + row - SIDE_Y;
    if (y > last) y = max(2 * last - y, 0);
    if constexpr (Y) {
      if (y < 0) y += d.ny;
      if (y >= d.ny) y -= d.ny;
    }
    return y;
  }

  __device__ __forceinline__ static unsigned bytes(int y, int x, const geometry &d) {
    return ((unsigned)y * (unsigned)d.ldx + (unsigned)x) * (unsigned)sizeof(real);
  }

  /* The field's column at which the vector for column x begins; x may be a periodic image. -1 if copy_images
   * brings its elements one by one or none is needed. Without X a vector may include padding. */
  __device__ __forceinline__ static int field_column(const geometry &d, int x) {
    if constexpr (!X) return x < d.nx ? x : -1;
    if (x >= d.nx + HALO) return -1;
    if (d.nx % VECTOR == 0) return x < 0 ? x + d.nx : x >= d.nx ? x - d.nx : x;
    return x < 0 || x + VECTOR > d.nx ? -1 : x;
  }

  __device__ __forceinline__ void open(real *shared, const geometry &d, const place &at) {
    first = shared + SHIFT;
    const int row0 = (int)threadIdx.x / Tile::COLUMNS;
    const int x = field_column(d, at.x0 + at.column * VECTOR);
    to = row0 * PITCH + SIDE_X + at.column * VECTOR;
#pragma unroll
    for (int k = 0; k < COPIES; k++) from[k] = x < 0 ? NONE : bytes(field_row(d, at, row0 + k * STEP), x, d);
    side_from = NONE;
    side_to = 0;
    open_images(d, at);
    if constexpr (X) {
      static_assert(SIDE_VECTORS * HEIGHT <= Tile::THREADS,
                    "a thread copies at most one vector of the sides");
      const int i = (int)threadIdx.x;
      if (i >= SIDE_VECTORS * HEIGHT) return;
      const int k = i % SIDE_VECTORS * VECTOR;
      const int row = i / SIDE_VECTORS;
      const int column = k < HALO ? k : Tile::WIDTH + k;
      const int side = field_column(d, at.x0 - HALO + column);
      if (side >= 0) side_from = bytes(field_row(d, at, row), side, d);
      side_to = row * PITCH + column;
    }
  }

  __device__ __forceinline__ uint2 *table() const {
    return reinterpret_cast<uint2 *>(first - SHIFT + PLANES);
  }

  __device__ __forceinline__ real *slot(int index) const {
    return first + index * PLANE;
  }

  /* If nx is not a multiple of VECTOR, whole vectors leave out the end of each row and, in the tile's own
   * rows, the periodic images beside the tile. The places of these elements are computed once and kept in
   * shared memory as pairs: byte offset in the field's plane, element in the ring's plane. */
  __device__ __forceinline__ void open_images(const geometry &d, const place &at) {
    images = 0;
    if (!X || d.nx % VECTOR == 0) return;
    const int whole = d.nx / VECTOR * VECTOR, end = min(d.nx, at.x0 + Tile::WIDTH), right = max(whole, end);
    const int left = at.x0 == 0 ? HALO : 0;
    const int sides = left + max(end + HALO - right, 0), ends = right - whole;
    const int beside = sides * Tile::HEIGHT;
    images = beside + ends * HEIGHT;
    for (int i = (int)threadIdx.x; i < images; i += Tile::THREADS) {
      const int columns = i < beside ? sides : ends, j = i < beside ? i : i - beside, k = j % columns;
      const int row = j / columns + (i < beside ? SIDE_Y : 0);
      const int x = i >= beside ? whole + k : k < left ? k - HALO : right + k - left;
      const int inside = x < 0 ? x + d.nx : x >= d.nx ? x - d.nx : x;
      table()[i] =
          make_uint2(bytes(field_row(d, at, row), inside, d), (unsigned)(row * PITCH + x - at.x0 + HALO));
    }
  }

  /* Each thread copies the pairs that it has computed itself, so no barrier is needed. */
  __device__ __forceinline__ void copy_images(real *to, const real *plane, bool wanted) const {
    if constexpr (Tile::PREDICATED) {
#pragma unroll
      for (int k = 0; k < divide_up(IMAGES, Tile::THREADS); k++) {
        const int i = (int)threadIdx.x + k * Tile::THREADS;
        const bool mine = wanted && i < images;
        const uint2 pair = mine ? table()[i] : make_uint2(0, 0);
        copy_element_where(mine, to + pair.y, advance(plane, pair.x));
      }
    } else {
#pragma unroll 1
      for (int i = (int)threadIdx.x; i < images; i += Tile::THREADS) {
        const uint2 pair = table()[i];
        copy_element(to + pair.y, advance(plane, pair.x));
      }
    }
  }

  /* True if the k-th vector of the thread lies in the ring. */
  __device__ __forceinline__ static bool inside(int k) {
    return (k + 1) * STEP <= HEIGHT || (int)threadIdx.x / Tile::COLUMNS + k * STEP < HEIGHT;
  }

  /* Starts copying a plane of the field into slot `index`; the threads of the block share the work. Here and
   * below, `wanted` may be false only with predicated tiles. */
  __device__ __forceinline__ void copy(int index, const geometry &d, const real *plane, bool wanted) const {
    real *start = slot(index) + to;
    if constexpr (Tile::PREDICATED) {
      const bool own = wanted && from[0] != NONE;
#pragma unroll
      for (int k = 0; k < COPIES; k++)
        copy_vector_where(own && inside(k), start + k * STEP * PITCH, advance(plane, from[k]));
      if constexpr (X) {
        copy_vector_where(wanted && side_from != NONE, slot(index) + side_to, advance(plane, side_from));
        if (d.nx % VECTOR != 0) copy_images(slot(index), plane, wanted);
      }
      return;
    }
    if (from[0] != NONE) {
#pragma unroll
      for (int k = 0; k < COPIES; k++) {
        if (inside(k)) copy_vector(start + k * STEP * PITCH, advance(plane, from[k]));
      }
    }
    if constexpr (X) {
      if (side_from != NONE) copy_vector(slot(index) + side_to, advance(plane, side_from));
      if (images > 0) copy_images(slot(index), plane, true);
    }
  }

  /* The same for a ring without sides. A thread copies the vectors that only it reads, so no barrier is
   * needed. */
  __device__ __forceinline__ void copy_own(int index, const real *plane, const place &at, bool wanted) const {
    static_assert(!X && !Y, "sides are shared");
    real *to = slot(index) + at.row * PITCH + at.column * VECTOR;
#pragma unroll
    for (int r = 0; r < Tile::ROWS; r++) {
      if constexpr (Tile::PREDICATED) {
        copy_vector_where(wanted && r < at.rows, to + r * PITCH, advance(plane, at.bytes + r * at.pitch));
      } else {
        if (r < at.rows) copy_vector(to + r * PITCH, advance(plane, at.bytes + r * at.pitch));
      }
    }
  }

  /* Reads the vector `column` vectors and `row` rows from the thread's first one. */
  __device__ __forceinline__ void read(int index, const place &at, int column, int row,
                                       real (&to)[VECTOR]) const {
    vector_load(slot(index) + (at.row + SIDE_Y + row) * PITCH + SIDE_X + (at.column + column) * VECTOR, to);
  }
};

#endif
