#ifndef FDAPP_CUDA_TABLES_CUH
#define FDAPP_CUDA_TABLES_CUH

#include "operations.cuh"
#include "ring.cuh"

/* The velocity from tables, in a block that marches along z; part of pipeline.cuh. Shared memory holds a
 * table_pair for each row of a plane. The rows' pairs are computed one plane ahead of the newest plane; the
 * plane's table entries are copied asynchronously one plane earlier still, so that no thread waits for
 * either.
 *
 * SIDES: with HALO more rows and columns on both sides, for fluxes. BACK: number of planes before the newest
 * whose rows are kept. With 0, rows have as many slots as entries, and one counter serves both. */
template <class Tile, bool SIDES, int BACK> struct tables {
  static constexpr int SIDE = SIDES ? HALO : 0;
  /* Numbers in the pairs of a plane, and how many of them a thread computes. */
  static constexpr int PLANE = (Tile::HEIGHT + 2 * SIDE) * KERNELS_TABLE;
  static constexpr int FILLS = divide_up(PLANE, Tile::THREADS);
  static constexpr int COLUMNS = SIDES ? Tile::WIDTH + 2 * HALO : 0;
  static constexpr int ENTRIES = Tile::IN_FLIGHT + 1, DEPTH = BACK == 0 ? ENTRIES : BACK + 2;
  static constexpr int ELEMENTS = DEPTH * PLANE + ENTRIES * KERNELS_TABLE + COLUMNS;
  static_assert(Tile::THREADS % KERNELS_TABLE == 0, "a thread fills the same place of each row");

  real *rows;    /* ring of pairs, by component: product and sum */
  real *entries; /* ring of the planes' table entries */
  real *columns; /* component 0 along x, from column -HALO of the tile */
  const real *along_z;
  int nz;
  real own[3][VECTOR] = {}; /* tables along x at this thread's columns */
  real y[FILLS];            /* tables along y for the numbers that this thread computes */

  /* The index in a table's entry of the k-th number of a row: Y_0, A_0, Y_1, A_1, ... */
  __device__ __forceinline__ static int source_of(int k) {
    return k / 2 + k % 2 * 3;
  }

  __device__ __forceinline__ void open(real *shared, const arguments &a, const geometry &d, const place &at) {
    rows = shared;
    entries = rows + DEPTH * PLANE;
    columns = entries + ENTRIES * KERNELS_TABLE;
    along_z = a.table[2];
    nz = d.nz;
    const int x = at.x0 + at.column * VECTOR;
#pragma unroll
    for (int k = 0; k < 3; k++) {
      if (x < d.ldx) vector_load(a.table[0] + k * d.table_pitch() + x, own[k]);
    }
    const int i = (int)threadIdx.x;
#pragma unroll
    for (int f = 0; f < FILLS; f++) {
      const int row = min(at.y0 - SIDE + (i + f * Tile::THREADS) / KERNELS_TABLE, d.ny + HALO - 1);
      y[f] = a.table[1][row * KERNELS_TABLE + source_of(i % KERNELS_TABLE)];
    }
    for (int c = i; c < COLUMNS; c += Tile::THREADS)
      columns[c] = a.table[0][min(at.x0 - HALO + c, d.ldx + KERNELS_TABLE_SIDE - 1)];
  }

  /* The entry of plane z; any entry if there is no such plane. */
  __device__ __forceinline__ const real *entry_of(int z) const {
    return along_z + max(-HALO, min(z, nz + HALO - 1)) * KERNELS_TABLE;
  }

  /* Starts copying the entry of plane z. */
  __device__ __forceinline__ void copy(int entry, int z) const {
    const int i = (int)threadIdx.x * VECTOR;
    if (i >= KERNELS_TABLE) return;
    copy_vector(entries + entry * KERNELS_TABLE + i, entry_of(z) + i);
  }

  __device__ __forceinline__ void fill_from(int slot, const real *entry) const {
    const int i = (int)threadIdx.x, k = i % KERNELS_TABLE;
    const real z = entry[source_of(k)];
#pragma unroll
    for (int f = 0; f < FILLS; f++) {
      const int to = i + f * Tile::THREADS;
      if (to < PLANE) rows[slot * PLANE + to] = k % 2 == 0 ? y[f] * z : y[f] + z;
    }
  }

  /* Computes the rows of a plane whose entry has arrived. */
  __device__ __forceinline__ void fill(int slot, int entry) const {
    fill_from(slot, entries + entry * KERNELS_TABLE);
  }

  /* The same for the first plane of a piece, before which nothing was copied. */
  __device__ __forceinline__ void fill_first(int z) const {
    fill_from(0, entry_of(z));
  }

  /* The slot of the plane `planes` before the newest one. */
  __device__ __forceinline__ static int back(int newest, int planes) {
    return newest < planes ? newest - planes + DEPTH : newest - planes;
  }

  __device__ __forceinline__ table_pair pair(int slot, int component, const place &at, int row) const {
    const real *p = rows + slot * PLANE + (at.row + SIDE + row) * KERNELS_TABLE + 2 * component;
    return *reinterpret_cast<const table_pair *>(p);
  }

  /* The component on the vector in the thread's row `row`. */
  __device__ __forceinline__ void line(int slot, int component, const place &at, int row,
                                       real (&to)[VECTOR]) const {
    table_line(own[component], pair(slot, component, at, row), to);
  }

  /* All three components on that vector, with as few loads as possible. */
  __device__ __forceinline__ void point(int slot, const place &at, int row, real (&to)[3][VECTOR]) const {
    const real *p = rows + slot * PLANE + (at.row + SIDE + row) * KERNELS_TABLE;
    real pairs[KERNELS_TABLE];
#pragma unroll
    for (int i = 0; i < 6; i += VECTOR) vector_load(p + i, *reinterpret_cast<real(*)[VECTOR]>(pairs + i));
#pragma unroll
    for (int k = 0; k < 3; k++) table_line(own[k], {pairs[2 * k], pairs[2 * k + 1]}, to[k]);
  }

  /* Component 0 along x at the columns around the thread's. */
  __device__ __forceinline__ void columns_read(const place &at, real (&to)[VECTOR + 2 * HALO]) const {
    vectors_load(columns + at.column * VECTOR, to);
  }
};

#endif
