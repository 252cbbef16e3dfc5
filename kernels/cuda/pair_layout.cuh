#ifndef FDAPP_CUDA_PAIR_LAYOUT_CUH
#define FDAPP_CUDA_PAIR_LAYOUT_CUH

#include "edges.cuh"
#include "operations.cuh"
#include <barrier.cuh> /* found by the search path, as machine.cuh */

/* The shape of two operations in one sweep (pair.cuh). */

/* The constants of a pair. HANDED: blocks hand rims to one another. The planes of a block at one time, where
 * the base is an array of its own:
 *
 *     copied        z+10 and, with AHEAD = 2, z+11
 *     first makes   z+5, from planes of the field up to z+9
 *     second makes  z, from planes of the first up to z+4; z+5 is the LAG */
template <class First, class Second, bool HANDED> struct pair_layout {
  static constexpr bool BASE = First::OTHERS > 0; /* 1: the base is an array of its own; 0: it is the field */
  /* The tile, and the rows of a thread. With 28 rows the rings would not fit the 227 KiB of a block that
   * computes the first operation beyond its tile. AROUND: so many points of it on each side. */
  static constexpr int WIDTH = by_precision_value(64, 32), HEIGHT = HANDED ? 32 : 24, ROWS = 4;
  static constexpr int AROUND = HANDED ? 0 : HALO;
  static constexpr int AHEAD = by_precision_value(2, 1); /* planes being copied */
  /* Slots between the operations. The second one reads HALO + 1 of them, the plane that it computes and those
   * that enter its window; by the rest, LAG, the first one may run ahead. */
  static constexpr int S_PLANES = 6, LAG = S_PLANES - (HALO + 1);

  /* Sizes of planes in points: the first operation's field (F), its values (S), and the base (B). Rings hold
   * the planes being copied, the HALO + 1 that the first operation reads, and what the second one reads
   * later: the base. */
  static constexpr int FIRST_WIDTH = WIDTH + 2 * AROUND, FIRST_HEIGHT = HEIGHT + 2 * AROUND;
  static constexpr int F_WIDTH = FIRST_WIDTH + 2 * HALO, F_HEIGHT = FIRST_HEIGHT + 2 * HALO;
  static constexpr int S_WIDTH = WIDTH + 2 * HALO, S_HEIGHT = HEIGHT + 2 * HALO;
  static constexpr int B_WIDTH = FIRST_WIDTH, B_HEIGHT = FIRST_HEIGHT;
  static constexpr int F_PLANE = F_WIDTH * F_HEIGHT, S_PLANE = S_WIDTH * S_HEIGHT,
                       B_PLANE = B_WIDTH * B_HEIGHT;
  static constexpr int F_PLANES = BASE ? AHEAD + HALO + 1 : AHEAD + 2 * HALO + 1 + LAG;
  static constexpr int B_PLANES = BASE ? AHEAD + HALO + 1 + LAG : 1;

  /* Threads of each role; a thread owns a vector in each of ROWS rows. */
  static constexpr int FIRST_COLUMNS = FIRST_WIDTH / VECTOR, SECOND_COLUMNS = WIDTH / VECTOR;
  static constexpr int FIRST_UNITS = FIRST_COLUMNS * (FIRST_HEIGHT / ROWS);
  static constexpr int SECOND_UNITS = SECOND_COLUMNS * (HEIGHT / ROWS);
  static constexpr int FIRST_THREADS = divide_up(FIRST_UNITS, 32) * 32;
  static constexpr int SECOND_THREADS = divide_up(SECOND_UNITS, 32) * 32;
  static constexpr int COMPUTING = FIRST_THREADS + SECOND_THREADS, HELPING = 128;
  static constexpr int COPYING = HANDED ? HELPING / 2 : HELPING; /* of these, threads that copy planes */
  static constexpr int THREADS = COMPUTING + HELPING;

  /* The rims that a block hands to its neighbours: HALO rows below and above, then HALO columns left and
   * right. RIM_PLANES: so many planes of them are kept. When one is overwritten, this block's second
   * operation is at most S_PLANES behind, so all blocks have told that plane, and theirs are at most S_PLANES
   * behind it: nobody reads the old one any more. */
  static constexpr int RIM_ROWS = HALO * WIDTH, RIM_COLUMNS = HALO * HEIGHT;
  static constexpr int RIMS = 2 * (RIM_ROWS + RIM_COLUMNS), RIM_PLANES = 2 * S_PLANES;
  static constexpr int RIM_THREADS = 32; /* of the warp that brings those of neighbours */
  /* A block of 384 threads is launched with 168 registers each, 64512 in all. Copying warps hand theirs over,
   * in multiples of 8; they keep more of them where they have to remember places in two arrays. */
  static constexpr bool MANY_FOR_COPIES = BASE && (SINGLE || HANDED);
  static constexpr int REGISTERS = MANY_FOR_COPIES ? 216 : 224;
  static constexpr int REGISTERS_COPYING = MANY_FOR_COPIES ? 72 : 56;

  /* True: a shuffle tells the warp's role, so that the compiler knows it to be the same for all lanes.
   * Otherwise uniform registers, which lanes share, also keep the other role's constants. They do not suffice
   * for the coefficients of a difference and a velocity from tables: in double precision about 28 words per
   * thread are spilled instead of 13. With a uniform velocity hardly any are, and the shuffle was not timed.
   */
  static constexpr bool ROLES_SHUFFLED = First::TABLES;

  /* Offsets in shared memory. SHIFT makes addresses in shared and global memory agree modulo 32 bytes. */
  static constexpr int SHIFT = by_precision_value(4, 0);
  static constexpr int F = HANDED ? SHIFT : 0, S = F + F_PLANES * F_PLANE, B = S + S_PLANES * S_PLANE + SHIFT;
  /* The velocity's table along y, if it has tables, at the rows of the first operation. */
  static constexpr int Y = (B + (BASE ? B_PLANES * B_PLANE : 0) + 31) / 32 * 32;
  static constexpr int Y_PITCH = by_precision_value(8, 6);
  static constexpr int ELEMENTS = Y + (First::TABLES ? S_HEIGHT * Y_PITCH : 0);
  static constexpr int BARRIERS = 2 * F_PLANES + 3 * S_PLANES + B_PLANES;
  static constexpr size_t SHARED_BYTES = ELEMENTS * sizeof(real) + BARRIERS * sizeof(barrier);

  /* Returns true if all terms are of one field, and there is at most a base. */
  static constexpr bool fits(bool base, const operation &o) {
    return operation_inputs(&o) == (base ? 1U | OPERATION_BIT(SUM_IN_BASE) : 1U) && o.outputs == 1 &&
           o.velocity != VELOCITY_STORED && !operation_products(&o);
  }
  static_assert(fits(BASE, First::DECLARED) && fits(true, Second::DECLARED), "a field, and a base");
  static_assert(First::FIELD == 0 && Second::FIELD == 0 && !First::TRIPLE && !Second::TRIPLE, "one field");
  static_assert(COMPUTING % 128 == 0, "registers change hands between groups of four warps");
  static_assert((SECOND_UNITS % 32 == 0 || SECOND_UNITS > 32) && FIRST_UNITS > 32,
                "spare lanes double others");
};

/* Seams between the units of a pair's launch (pair.cu): the first operation on HALO rows below and HALO rows
 * above each of them. */
struct pair_seams {
  real *to[2];  /* [plane][2 HALO][ldx] */
  int first[2]; /* the seam's first row, which may be that of an image */
  int count;
};

/* What blocks hand to one another, in device memory: rims[plane % RIM_PLANES][block][RIMS]; a counter for
 * each plane of each piece of the launch, of the blocks whose rims of that plane are written; and three
 * words. All counters and words are zero between kernels. */
struct pair_exchange {
  void *rims;
  /* blocks that have left; whether any has waited in vain; blocks that have computed seams */
  unsigned *counters, *left, *stuck, *seamed;
  unsigned blocks;
  int planes;                  /* counters of a piece */
  unsigned long long patience; /* nanoseconds for which blocks wait for one another */
  /* The rows of the first operation at the unit's lower and upper seam, [plane][2 HALO][ldx]; NULL if the
   * launch is one unit, whose last row of tiles is the first one's neighbour. */
  real *seam[SIDE_COUNT];
  context_late *late;
  /* Seams whose last planes, in the order of the sweep, further blocks of this launch compute: so many. */
  pair_seams seams;
  unsigned seam_blocks;
};

/* How a sweep goes: on one rank; upwards or downwards on several, where it signals that edges are complete
 * and waits for halo planes. */
enum class pair_way { ALONE, UP, DOWN };

/* How a launch is divided: from tile row `row0` on, tiles, and `pieces` pieces along z of nearly equal
 * length, which start in the order of the sweep. If both edges are signalled, the last one starts first,
 * because its edge is complete at its end. */
struct pair_cut {
  int tiles_x, tiles_y, pieces, row0;
  bool both;

  /* The turn in which the first piece of the sweep starts. */
  __device__ __forceinline__ int first() const {
    return both && pieces > 1 ? 1 : 0;
  }
  /* The place along z of the piece that starts in this turn. */
  __device__ __forceinline__ int piece(int turn, bool down) const {
    const int k = !both ? turn : turn == 0 ? pieces - 1 : turn - 1;
    return down ? pieces - 1 - k : k;
  }
};

/* What a launch has to do with neighbours: the signal, and what it waits for. */
struct pair_edges : edge_signal {
  meeting meet;
  unsigned arrived; /* number of the exchange whose halo planes are read */

  /* Called by a warp before it reads halo planes of this side. */
  __device__ __forceinline__ void wait(int side) const {
    if (threadIdx.x % 32 == 0) meet.wait(arrived, MEETING_CAME, side);
    warp_wait();
  }
};

/* A slot of a ring, and the parity of its barriers. */
template <int PLANES> struct pair_slot {
  int index, parity;

  __device__ __forceinline__ void next() {
    if (++index < PLANES) return;
    index = 0;
    parity ^= 1;
  }
};

/* A thread's first point, counted from the first one that the first operation computes, and its plane. */
struct pair_point {
  int column, row, z;
};

#endif
