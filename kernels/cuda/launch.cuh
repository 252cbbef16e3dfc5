#ifndef FDAPP_CUDA_LAUNCH_CUH
#define FDAPP_CUDA_LAUNCH_CUH

#include "pipeline.cuh"
#include "tiles.cuh"

/* Divides a launch of the pipeline among blocks, and chooses the kernel and the tile. Blocks start in this
 * order:
 *
 *     z ^   +------+------+    +------+------+------+
 *       |   |  2   |  3   |    |      |      |      |
 *       |   +------+------+    |  4   |  5   |  6   |
 *       |   |  0   |  1   |    |      |      |      |
 *       |   +------+------+    +------+------+------+
 *         cut tiles, here in 2         whole tiles
 *         pieces of `chunk` planes                        */

enum class use { USUAL, FAST, THIN, ODD, SMALL, TINY };

template <class Op, use USE> constexpr tile_shape shape_for() {
  constexpr tile_choice c = tiles_of<Op>();
  constexpr tile_shape s = USE == use::FAST    ? c.fast
                           : USE == use::THIN  ? c.thin
                           : USE == use::ODD   ? c.odd
                           : USE == use::SMALL ? c.small
                           : USE == use::TINY  ? c.tiny
                                               : c.usual;
  return s.width == 0 ? c.usual : s;
}

template <class Op, use USE>
using tile_for = tile<shape_for<Op, USE>().width, shape_for<Op, USE>().rows, shape_for<Op, USE>().threads,
                      shape_for<Op, USE>().in_flight, shape_for<Op, USE>().unroll,
                      shape_for<Op, USE>().predicated, shape_for<Op, USE>().rereads>;

constexpr size_t SHARED_STATIC = 128; /* shared memory of a kernel beside its rings, rounded up */

/* Cost of a launch in planes computed one after the other, in waves of `resident` blocks. Before its first
 * plane a block reads the planes of its window, which costs about as much as START more planes. */
static inline long rounds_cost(int blocks, int planes, int resident) {
  constexpr int START = 12;
  return (long)divide_up(blocks, resident) * (planes + START);
}

/* The number of pieces along z with the least cost, provided the blocks fill at least the share `fill` of
 * their waves; 0 if there is none. Two ranges of planes can need one piece more. */
static inline int pieces_choose(int tiles, int planes, int resident, double fill) {
  int best = 0;
  long least = LONG_MAX;
  for (int pieces = 1; pieces <= 16 && planes / pieces >= 2 * HALO; pieces++) {
    const int blocks = tiles * pieces;
    /* Pieces of this length would be fewer. */
    if (divide_up(planes, divide_up(planes, pieces)) != pieces) continue;
    const long cost = rounds_cost(blocks, divide_up(planes, pieces), resident);
    if (cost >= least || blocks < fill * divide_up(blocks, resident) * resident) continue;
    least = cost;
    best = pieces;
  }
  return best;
}

static inline pace pace_make(const kernels_launch *launch, const cut &c, int resident, int every,
                             int iterations) {
  const int first = c.cut_blocks();
  pace p = {launch->context->pace[launch->queue], first + c.whole_tiles(), first, 0, every, 0};
  if (every == 0 || p.blocks == 1) return p;
  p.round = resident;
  p.steps = divide_up(iterations, every);
  if (PACE_COUNTERS + p.groups() > CONTEXT_PACE_WORDS) p.round = 0;
  return p;
}

/* Divides the slab into two or more pieces of `chunk` planes, the two at its ends first. */
static inline geometry ends_first(geometry d, int chunk) {
  const kernels_planes slab = d.range[0];
  d.range[0] = {slab.z0, slab.z0 + chunk};
  d.range[1] = {std::max(slab.z0 + chunk, slab.z1 - chunk), slab.z1};
  d.range[2] = {d.range[0].z1, d.range[1].z0};
  return d;
}

/* Cuts all tiles into the number of pieces along z that is fastest. If it costs less, complete waves compute
 * whole tiles, and the remaining tiles come before them, cut into pieces that fill waves of their own,
 * because blocks that start early would run out of step. With `edges_first` the ends of a cut tile are pieces
 * of their own. */
template <class Tile> static cut cut_make(geometry &d, int resident, bool edges_first) {
  constexpr double FULL = 0.97;
  const int planes = d.planes();
  const bool one_range = d.planes(0) == planes;
  const auto cost = [=](int tiles, int pieces) {
    return rounds_cost(tiles * pieces, divide_up(planes, pieces), resident);
  };
  cut c = {divide_up(d.nx, Tile::WIDTH), divide_up(d.y1 - d.y0, Tile::HEIGHT), 0, 0, planes, d.range[0]};
  const int tiles = c.tiles_x * c.tiles_y;
  const int left = tiles % resident;
  int cut_tiles = tiles;
  int pieces = std::max(1, pieces_choose(tiles, planes, resident, 0.0));
  const int others = one_range && left > 0 ? pieces_choose(left, planes, resident, FULL) : 0;
  if (others > 1 && cost(tiles - left, 1) + cost(left, others) < cost(tiles, pieces)) {
    cut_tiles = left;
    pieces = others;
  }
  if (one_range && pieces == 1) return c;
  c.cut_tiles = cut_tiles;
  c.chunk = divide_up(planes, pieces);
  if (edges_first) d = ends_first(d, c.chunk);
  c.pieces = d.pieces(c.chunk);
  return c;
}

/* Number of points that a multiprocessor computes one after the other, running one block at a time. */
template <class Tile> static double tile_cost(geometry d, int multiprocessors) {
  const cut c = cut_make<Tile>(d, multiprocessors, false);
  const long planes = rounds_cost(c.cut_blocks(), c.chunk, multiprocessors) +
                      rounds_cost(c.whole_tiles(), d.planes(), multiprocessors);
  return (double)planes * Tile::WIDTH * Tile::HEIGHT;
}

/* Most iterations of a block's loop over planes. */
template <class Op, class Tile> static int cut_iterations(const cut &c, bool edges_first) {
  const auto march = [](int planes) {
    return divide_up(planes + 2 * pipeline<Op, Tile>::LEAD, Tile::UNROLL) * Tile::UNROLL;
  };
  const int whole = c.slab.z1 - c.slab.z0;
  if (c.whole_tiles() == 0) return march(c.chunk);
  return edges_first ? march(HALO) + march(whole - HALO) : march(whole);
}

/* waits: blocks of many planes wait for one another (pace.cuh). */
template <class Op, use USE>
static status pipeline_launch(const kernels_launch *launch, const arguments &a, const char *name,
                              bool waits) {
  using Tile = tile_for<Op, USE>;
  constexpr tile_shape SHAPE = shape_for<Op, USE>();
  constexpr size_t shared = pipeline<Op, Tile>::SHARED_BYTES;
  kernels_context *context = launch->context;
  geometry d = launch_geometry(launch);
  const auto kernel = pipeline_kernel<Op, Tile>;
  int resident = 0;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Tile::THREADS, shared));
  if (resident == 0)
    return direct_launch<Op>(launch, a, name); /* other code occupies the device's shared memory */
  resident *= context->multiprocessors;
  const int planes = d.planes();
  const bool edges_first =
      Op::SENDS || (Op::EDGES && launch->edges != nullptr && planes >= 4 * HALO && d.planes(0) == planes);
  const cut c = cut_make<Tile>(d, resident, edges_first);
  const int blocks = c.cut_blocks() + c.whole_tiles();
  const bool paces = waits && c.longest() > tiles_of<Op>().unpaced_planes;
  const int pace_waves = SHAPE.pace_waves == 0 ? SHAPE.pace : SHAPE.pace_waves;
  const int every = !paces ? 0 : blocks <= resident ? SHAPE.pace : pace_waves;
  const pace paced = pace_make(launch, c, resident, every, cut_iterations<Op, Tile>(c, edges_first));
  const int ends = edges_first ? 2 * c.cut_tiles + c.whole_tiles() : 0;
  edges_of<Op> edges;
  if constexpr (Op::SENDS) {
    edges = edge_sender_of(launch, a.out[0], ends);
  } else {
    edges = edge_signal_of(launch, ends);
    if (edges_first) edges.number = context_event_signal(launch->edges, context, launch->queue);
  }
  kernel_launch(kernel, (unsigned)blocks, Tile::THREADS, shared, launch_stream(launch), a, d, c, paced,
                edges);
  return !Op::SENDS && edges_first ? context_launched(context, launch->queue, name)
                                   : launch_done(launch, name);
}

/* Points of a launch for each multiprocessor. */
static inline size_t points_each(const kernels_launch *launch) {
  const geometry d = launch_geometry(launch);
  return (size_t)d.ny * (size_t)d.nx * (size_t)d.planes() / (size_t)launch->context->multiprocessors;
}

/* Returns true if the pipeline can have the grid, and is the faster one: from so many points on. */
static inline bool is_large(const kernels_launch *launch, size_t points) {
  const kernels_shape &s = launch->shape;
  return points_each(launch) >= points && s.ny >= 2 * HALO && s.nx >= 2 * HALO &&
         (size_t)s.ny * (size_t)s.ldx * sizeof(real) <= UINT32_MAX;
}

template <class Op> static bool is_tiny(const kernels_launch *launch) {
  constexpr tile_choice CHOICE = tiles_of<Op>();
  static_assert(pipeline<Op, tile_for<Op, use::TINY>>::SHARED_BYTES <=
                        pipeline<Op, tile_for<Op, use::SMALL>>::SHARED_BYTES ||
                    CHOICE.tiny.width == 0,
                "a device with room for small tiles has room for tiny ones");
  return CHOICE.tiny.width > 0 && points_each(launch) <= CHOICE.tiny_points;
}

/* Launches an operation that sends its edges. Such slabs are small (exchange.c), so small tiles suffice. */
template <class Op>
static status sending_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  constexpr size_t LEAST = 9100; /* points a multiprocessor from which the pipeline is faster */
  using Small = pipeline<Op, tile_for<Op, use::SMALL>>;
  if (!is_large(launch, LEAST) || launch->shape.nz < 4 * HALO ||
      Small::SHARED_BYTES > launch->context->shared_limit - SHARED_STATIC)
    return direct_launch<Op>(launch, a, name);
  return is_tiny<Op>(launch) ? pipeline_launch<Op, use::TINY>(launch, a, name, false)
                             : pipeline_launch<Op, use::SMALL>(launch, a, name, false);
}

/* Launches an operation with neighbours. */
template <class Op>
static status stencil_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  if constexpr (Op::DECLARED.edges == EDGES_SENT) {
    if (launch->sends != nullptr) return sending_launch<sending<Op>>(launch, a, name);
  }
  using Usual = pipeline<Op, tile_for<Op, use::USUAL>>;
  using Fast = pipeline<Op, tile_for<Op, use::FAST>>;
  using Small = pipeline<Op, tile_for<Op, use::SMALL>>;
  constexpr tile_choice CHOICE = tiles_of<Op>();
  constexpr size_t THIN = CHOICE.thin.width > 0 ? pipeline<Op, tile_for<Op, use::THIN>>::SHARED_BYTES : 0;
  constexpr size_t ODD = CHOICE.odd.width > 0 ? pipeline<Op, tile_for<Op, use::ODD>>::SHARED_BYTES : 0;
  const geometry d = launch_geometry(launch);
  const bool fast = launch->context->fast_memory != 0;
  const size_t shared = std::max({THIN, ODD, fast ? Fast::SHARED_BYTES : Usual::SHARED_BYTES});
  const size_t limit = launch->context->shared_limit - SHARED_STATIC;
  if (!is_large(launch, CHOICE.bytes / sizeof(real))) return direct_launch<Op>(launch, a, name);
  if (Small::SHARED_BYTES <= limit && is_tiny<Op>(launch))
    return pipeline_launch<Op, use::TINY>(launch, a, name, false);
  const int multiprocessors = launch->context->multiprocessors;
  const bool idle = CHOICE.small.width > 0 &&
                    tile_cost<tile_for<Op, use::SMALL>>(d, multiprocessors) <=
                        CHOICE.small_cost * tile_cost<tile_for<Op, use::USUAL>>(d, multiprocessors);
  if (Small::SHARED_BYTES <= limit && (idle || shared > limit))
    return pipeline_launch<Op, use::SMALL>(launch, a, name, false);
  if (shared > limit) return direct_launch<Op>(launch, a, name);
  const bool thin = d.planes() <= CHOICE.thin_planes, waits = !thin || CHOICE.paced_thin;
  if (thin && CHOICE.thin.width > 0) return pipeline_launch<Op, use::THIN>(launch, a, name, waits);
  if (!thin && CHOICE.odd.width > 0 && d.nx % VECTOR != 0)
    return pipeline_launch<Op, use::ODD>(launch, a, name, waits);
  return fast ? pipeline_launch<Op, use::FAST>(launch, a, name, waits)
              : pipeline_launch<Op, use::USUAL>(launch, a, name, waits);
}

#endif
