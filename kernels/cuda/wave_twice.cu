#include "wave_hand.cuh"
#include "wave_seams.cuh"
#include "wave_twice.cuh"

/* Reallocating registers needs compute capability 9.0, so this file is compiled for that alone. */

/* How a step is divided, and what a multiprocessor computes one after the other, in points. */
struct plan {
  pair_cut cut;    /* of the first unit of blocks that hand rims to one another */
  int units, down; /* launches one after the other, and rows of tiles */
  int chunk;       /* planes of a piece */
  long cost;       /* LONG_MAX: not possible */
};

/* The device has code and room for a kernel. */
template <class Kernel>
static bool has_room(const kernels_launch *launch, Kernel *kernel, int threads, size_t shared) {
  int blocks = 0;
  if (shared <= launch->context->shared_limit &&
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared) == cudaSuccess &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared) == cudaSuccess)
    return blocks > 0;
  (void)cudaGetLastError();
  return false;
}

/* Nothing is negated beyond ends of x and y, nor zero beyond any end. */
static bool has_plain_images(const kernels_wave &call) {
  for (int i = 0; i < 6; i++) {
    const wave_image kind = call.ends[i / 2][i % 2];
    if (kind == WAVE_ZERO || (kind == WAVE_ODD && i < 4)) return false;
  }
  return true;
}

/* Blocks that compute q around their tiles, and beyond ends as a Laplacian of images. Of a zero that is
 * negated this would be another zero. */
static plan plan_alone(const kernels_launch *launch, const wave_arguments &a, const geometry &d) {
  using Tile = wave_twice_tile;
  const int multiprocessors = launch->context->multiprocessors;
  plan p = {{}, 1, 0, 0, LONG_MAX};
  if (!has_plain_images(a.call) || !has_room(launch, wave_twice_kernel, Tile::THREADS, Tile::SHARED_BYTES))
    return p;
  const int tiles = divide_up(d.nx, Tile::WIDTH) * divide_up(d.ny, Tile::HEIGHT);
  p.chunk = wave_chunk(tiles, d.longest(), multiprocessors, 4 * HALO);
  p.cost = (long)divide_up(tiles * d.pieces(p.chunk), multiprocessors) * (p.chunk + 4 * HALO) * Tile::CORE;
  return p;
}

/* What blocks hand to one another in the context's exchange memory: words and counters, as pair.cu has them,
 * two seams, rims. */
struct hand_memory {
  static constexpr size_t COUNTERS = 64 << 10, MOST = CONTEXT_RESERVE / 2;
  size_t seam, rims, bytes;
};

static hand_memory memory_of(const geometry &d, const plan &p) {
  using Tile = wave_hand_tile;
  const size_t blocks = (size_t)(p.cut.tiles_x * p.cut.tiles_y * p.cut.pieces);
  hand_memory m = {};
  if (p.units > 1) m.seam = divide_up(d.nz * SEAM_ROWS * d.ldx, 64) * 64 * sizeof(real);
  m.rims = m.COUNTERS + 2 * m.seam;
  m.bytes = m.rims + Tile::RIM_PLANES * blocks * Tile::RIMS * sizeof(real);
  return m;
}

/* Blocks that hand rims to one another, all at the same time; units of rows of tiles one after the other. */
static plan plan_handed(const kernels_launch *launch, const geometry &d) {
  using Tile = wave_hand_tile;
  const int across = d.nx % Tile::WIDTH, rest = d.ny % Tile::HEIGHT, planes = d.planes(0);
  const int tiles_x = divide_up(d.nx, Tile::WIDTH), down = divide_up(d.ny, Tile::HEIGHT);
  const int most = std::min(down, launch->context->multiprocessors / tiles_x); /* rows of tiles at once */
  plan p = {{}, 0, down, 0, LONG_MAX};
  if (most == 0 || planes < d.planes() || d.nx % VECTOR != 0 || d.ny % WAVE_ROWS != 0 ||
      (across != 0 && across < 2 * HALO) || (rest != 0 && rest < 2 * HALO) ||
      (size_t)d.nz * SEAM_ROWS * (size_t)d.ldx > INT32_MAX)
    return p;
  p.units = divide_up(down, most);
  p.cut = {tiles_x, divide_up(down, p.units), 0, 0, false};
  p.cut.pieces =
      std::min(launch->context->multiprocessors / (p.cut.tiles_x * p.cut.tiles_y), planes / (4 * HALO));
  if (p.cut.pieces == 0) return p;
  p.chunk = divide_up(planes, p.cut.pieces);
  if ((3 + (size_t)p.cut.pieces * (size_t)p.chunk) * sizeof(unsigned) > hand_memory::COUNTERS ||
      memory_of(d, p).bytes > hand_memory::MOST ||
      !has_room(launch, wave_hand_kernel, Tile::THREADS, Tile::SHARED_BYTES))
    return p;
  p.cost = (long)p.units * (p.chunk + 4 * HALO) * Tile::CORE;
  return p;
}

static pair_exchange exchange_of(const kernels_context *context, const plan &p, const hand_memory &m) {
  constexpr double PATIENCE = 30.0; /* seconds */
  unsigned char *memory = static_cast<unsigned char *>(context->exchange);
  unsigned *words = reinterpret_cast<unsigned *>(memory);
  pair_exchange exchange = {};
  exchange.rims = memory + m.rims;
  exchange.seamed = words;
  exchange.stuck = words + 1;
  exchange.left = words + 2;
  exchange.counters = words + 3;
  exchange.planes = p.chunk;
  exchange.patience = (unsigned long long)(1e9 * PATIENCE);
  exchange.late = context->late;
  return exchange;
}

/* Seam k lies below unit k, and that of number `units` is seam 0 of a periodic axis. Two seams are in memory.
 */
static status launch_handed(const kernels_launch *launch, const wave_arguments &a, const geometry &d,
                            const plan &p) {
  using Tile = wave_hand_tile;
  const hand_memory m = memory_of(d, p);
  const bool periodic = a.call.ends[AXIS_Y][0] == WAVE_PERIODIC;
  pair_cut cut = p.cut;
  CHECK(context_exchange(launch->context, m.bytes));
  pair_exchange exchange = exchange_of(launch->context, p, m);
  const auto seam = [&](int k) {
    unsigned char *memory = static_cast<unsigned char *>(launch->context->exchange);
    return reinterpret_cast<real *>(memory + m.COUNTERS + (size_t)(k % 2) * m.seam);
  };
  if (p.units > 1 && periodic) wave_seam_launch(launch, a, d, 0, seam(0));
  for (int k = 0; k < p.units; k++) {
    cut.row0 = k * p.cut.tiles_y;
    cut.tiles_y = std::min(p.cut.tiles_y, p.down - cut.row0);
    exchange.blocks = (unsigned)(cut.tiles_x * cut.tiles_y * cut.pieces);
    if (p.units > 1) {
      const bool last = k + 1 == p.units;
      if (!last || periodic)
        wave_seam_launch(launch, a, d, last ? 0 : (cut.row0 + cut.tiles_y) * Tile::HEIGHT, seam(k + 1));
      exchange.seam[SIDE_BELOW] = seam(k);
      exchange.seam[SIDE_ABOVE] = seam(k + 1);
    }
    CHECK_CUDA(kernel_launch_together(wave_hand_kernel, exchange.blocks, Tile::THREADS, Tile::SHARED_BYTES,
                                      launch_stream(launch), a, d, cut, exchange));
  }
  return launch_done(launch, "wave, two Laplacians");
}

extern "C" bool NAME(wave_twice)(const kernels_launch *launch, const wave_arguments *a, const geometry *d,
                                 status *done) {
  using Tile = wave_twice_tile;
  constexpr size_t LEAST = 32 * Tile::CORE; /* points for each multiprocessor */
  if (a->call.plain || !wave_is_large(*d, LEAST * (size_t)launch->context->multiprocessors)) return false;
  const plan handed = plan_handed(launch, *d), alone = plan_alone(launch, *a, *d);
  if (handed.cost == LONG_MAX && alone.cost == LONG_MAX) return false;
  if (handed.cost <= alone.cost) {
    *done = launch_handed(launch, *a, *d, handed);
    return true;
  }
  const int tiles = divide_up(d->nx, Tile::WIDTH) * divide_up(d->ny, Tile::HEIGHT);
  kernel_launch(wave_twice_kernel, (unsigned)(tiles * d->pieces(alone.chunk)), Tile::THREADS,
                Tile::SHARED_BYTES, launch_stream(launch), *a, *d, alone.chunk);
  *done = launch_done(launch, "wave, two Laplacians");
  return true;
}
