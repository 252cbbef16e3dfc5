#ifndef FDAPP_CUDA_PAIR_COPIES_CUH
#define FDAPP_CUDA_PAIR_COPIES_CUH

#include "pair_layout.cuh"

/* The copying warps of a block of a pair (pair.cuh): they bring planes of the first operation's field, and of
 * the base if it has one, into rings. The members are those of pair_block. */
template <class First, class Second, bool HANDED, pair_way WAY> struct pair_copies {
  using layout = pair_layout<First, Second, HANDED>;
  static constexpr bool BASE = layout::BASE, DOWN = WAY == pair_way::DOWN;
  using f_slot = pair_slot<layout::F_PLANES>;
  using b_slot = pair_slot<layout::B_PLANES>;

  const arguments &a, &b;
  const geometry &d;
  const pair_edges &edges;
  int x0, y0;
  kernels_planes planes;
  real *f, *base;
  barrier *f_full, *f_free, *b_free;

  /* The element of a plane of the field at which the copy for the vector at x, y begins; x and y may be those
   * of images. -1 if the vector is not needed or images_copy brings it. */
  __device__ __forceinline__ int source(int x, int y) const {
    if (x >= d.nx + 2 * HALO || y >= d.ny + 2 * HALO) return -1;
    if (x < 0 || x + VECTOR > d.nx) {
      if (d.nx % VECTOR != 0) return -1;
      x += x < 0 ? d.nx : -d.nx;
    }
    y += y < 0 ? d.ny : y >= d.ny ? -d.ny : 0;
    return y * d.ldx + x;
  }

  /* Copies the elements that whole vectors leave out if nx is no multiple of VECTOR: the end of each row, and
   * the images beside it. 16 threads share a row, one column each, so places are found without a division. */
  template <int WIDE, int HIGH>
  __device__ __forceinline__ void images_copy(real *to, const real *plane, int around, int thread) const {
    constexpr int LANES = 16, STEP = layout::COPYING / LANES;
    static_assert(HIGH % STEP == 0, "every thread has as many rows");
    const int first = x0 - around, end = d.nx / VECTOR * VECTOR, row0 = thread / LANES;
    const int left = first < 0 ? -first : 0, right = max(end, first);
    const int columns = left + max(min(d.nx + around, first + WIDE) - right, 0);
#pragma unroll 1
    for (int k = thread % LANES; k < columns; k += LANES) {
      const int x = k < left ? first + k : right + k - left;
      const real *from = plane + (x < 0 ? x + d.nx : x >= d.nx ? x - d.nx : x);
      real *column = to + x - first;
#pragma unroll 1 /* unrolled, 512^3 takes 5 % longer: all roles share the instruction cache */
      for (int i = 0; i < HIGH / STEP; i++) {
        const int row = row0 + i * STEP, y = y0 - around + row;
        const int inside = y < 0 ? y + d.ny : y >= d.ny ? y - d.ny : y;
        if (y < d.ny + around) copy_element(column + row * WIDE, from + (ptrdiff_t)inside * d.ldx);
      }
    }
  }

  template <int WIDE, int HIGH, int COPIES>
  __device__ __forceinline__ void sources(int around, int thread, int (&from)[COPIES]) const {
#pragma unroll
    for (int q = 0; q < COPIES; q++) {
      const int v = thread + q * layout::COPYING, row = v / (WIDE / VECTOR), column = v % (WIDE / VECTOR);
      from[q] = row < HIGH ? source(x0 - around + column * VECTOR, y0 - around + row) : -1;
    }
  }

  template <int COPIES>
  __device__ __forceinline__ static void vectors_copy(real *to, const real *plane, int thread,
                                                      const int (&from)[COPIES]) {
    real *own = to + thread * VECTOR;
#pragma unroll
    for (int q = 0; q < COPIES; q++) {
      if (from[q] >= 0) /* unsigned: extended by its sign, it would take another register */
        copy_vector(own + q * layout::COPYING * VECTOR, plane + (unsigned)from[q]);
    }
  }

  /* The plane after z. */
  __device__ __forceinline__ int next(int z) const {
    if (DOWN) return z - 1;
    return z + 1 == d.memory.z1 ? 0 : z + 1;
  }

  /* The copying warps' loop: plane after plane of the field, each with the base's plane for the plane of the
   * first operation that it completes. count: of the field's planes. */
  __device__ __forceinline__ void run(int count, int thread) const {
    constexpr int F_COPIES = divide_up(layout::F_PLANE / VECTOR, layout::COPYING), AROUND = layout::AROUND;
    constexpr int B_COPIES = BASE ? divide_up(layout::B_PLANE / VECTOR, layout::COPYING) : 1;
    int f_from[F_COPIES], b_from[B_COPIES];
    sources<layout::F_WIDTH, layout::F_HEIGHT>(AROUND + HALO, thread, f_from);
    if constexpr (BASE) sources<layout::B_WIDTH, layout::B_HEIGHT>(AROUND, thread, b_from);
    const bool ragged =
        !HANDED && d.nx % VECTOR != 0 && (x0 == 0 || x0 + layout::WIDTH + 2 * HALO > d.nx / VECTOR * VECTOR);
    f_slot to = {0, 1};
    b_slot b_to = {0, 1};
    /* The first planes lie 2 * HALO and HALO before the piece. If no halo is stored, adding so many times nz
     * leads to their periodic images. */
    int z = DOWN ? planes.z1 - 1 + 2 * HALO : planes.z0 - 2 * HALO;
    int b_z = DOWN ? planes.z1 - 1 + HALO : planes.z0 - HALO;
    if (WAY == pair_way::ALONE && d.memory.z0 == 0) {
      z = (z + 2 * HALO * d.nz) % d.nz;
      b_z = (b_z + HALO * d.nz) % d.nz;
    }
    /* Planes before the halo planes at the sweep's end, then those: within the loop over planes, waiting
     * would take registers from it. */
    constexpr int PARTS = WAY == pair_way::ALONE ? 1 : 2;
    const int before = WAY == pair_way::ALONE ? count : min(count, DOWN ? z + 1 : d.nz - z);
#pragma unroll 1
    for (int part = 0, n = 0; part < PARTS; part++) {
      const int end = part == 0 ? before : count;
      if (PARTS > 1 && n < end && (z < 0 || z >= d.nz)) edges.wait(z < 0 ? SIDE_BELOW : SIDE_ABOVE);
#pragma unroll 1
      for (; n < end; n++) {
        barrier_wait(f_free + to.index, to.parity);
        stress_rest();
        real *f_to = f + to.index * layout::F_PLANE;
        const real *plane = a.in[First::FIELD] + d.plane(z);
        vectors_copy(f_to, plane, thread, f_from);
        if (ragged) images_copy<layout::F_WIDTH, layout::F_HEIGHT>(f_to, plane, AROUND + HALO, thread);
        if (BASE && n >= 2 * HALO) {
          barrier_wait(b_free + b_to.index, b_to.parity);
          real *base_to = base + b_to.index * layout::B_PLANE;
          const real *b_plane = b.in[Second::other(0)] + d.plane(b_z);
          vectors_copy(base_to, b_plane, thread, b_from);
          if (ragged) images_copy<layout::B_WIDTH, layout::B_HEIGHT>(base_to, b_plane, AROUND, thread);
          b_to.next();
          b_z = next(b_z);
        }
        barrier_arrive_copies(f_full + to.index);
        to.next();
        z = next(z);
      }
    }
  }
};

#endif
