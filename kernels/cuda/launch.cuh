#ifndef FDAPP_CUDA_LAUNCH_CUH
#define FDAPP_CUDA_LAUNCH_CUH

#include "pipeline.cuh"

/* Chooses the kernel and the tile of an operation. */

template <class A, class B> using by_precision = std::conditional_t<SINGLE, A, B>;

/* The table: tiles that were fastest on compute capability 9.0 (docs/explanation/performance.md, "The choice
 * of tiles"), and when they are used. A device with less shared memory than these need takes small ones, or
 * the kernel without. */
template <class Tile, class Thin = Tile, class Odd = Tile, class Small = Tile> struct choice {
  using tile = Tile;
  using small = Small;                       /* where large tiles leave multiprocessors idle: */
  static constexpr double SMALL_COST = 0.65; /* of the large tiles' tile_cost, or less; nobody waits there */
  using odd = Odd;                           /* where rows are not whole vectors, and the slab not thin */
  using thin = Thin;                        /* where cutting a slab along z costs more than small tiles do: */
  static constexpr int THIN_PLANES = 64;    /* slabs of no more planes */
  static constexpr int UNPACED_PLANES = 32; /* blocks of no more are over before they drift apart */
  static constexpr bool PACED_THIN = false; /* whether those of more wait for one another in thin slabs */
  static constexpr size_t BYTES = (size_t)3 << 20; /* of points: the least for the pipeline */
};
/* In double precision the tiles are as small anyway. */
template <class Tile, class Thin, class Small = Tile>
using choice_thin = choice<Tile, by_precision<Thin, Tile>, Tile, Small>;
template <class Tile, class Small> using choice_small = choice<Tile, Tile, Tile, Small>;
constexpr int WIDE = 32 * VECTOR, NARROW = 16 * VECTOR;
/* For stages: predicates where they were measured, in middle ones; the first and last ones that were tried
 * lost. */
template <bool CONDITION, class Tile>
using predicated_if = std::conditional_t<CONDITION, predicated<Tile>, Tile>;

template <class Op> struct choice_of;
template <>
struct choice_of<derivative_operation<AXIS_Y>>
    : choice_thin<tile<NARROW, 4, 512, 2, 2>, tile<NARROW, 2, 512, 4, 4>, tile<NARROW, 2, 256, 4, 4>> {
  static constexpr int UNPACED_PLANES = 16;
  static constexpr bool PACED_THIN = true;
};
template <>
struct choice_of<derivative_operation<AXIS_Z>>
    : choice_thin<tile<NARROW, 2, 512, 5, 5>, tile<NARROW, 1, 512, 8, 6>> {
  static constexpr bool PACED_THIN = !SINGLE;
  static constexpr size_t BYTES = (size_t)16 << 20;
};
template <>
struct choice_of<gradient_operation>
    : choice_thin<by_precision<tile<WIDE, 4, 256, 2, 2, 3>, rereading<tile<WIDE, 2, 512, 2, 2>>>,
                  tile<NARROW, 2, 256, 3, 2, 3>, tile<NARROW, 2, 256, 3, 2, 3>> {
  static constexpr double SMALL_COST = 0.9;
  static constexpr bool PACED_THIN = !SINGLE;
};
template <>
struct choice_of<divergence_operation> : choice_thin<tile<NARROW, 4, 256, 2, 2>, tile<WIDE, 2, 256, 2, 2>> {
  static constexpr int THIN_PLANES = by_precision_value(256, 64); /* 256^3 gains 8 points */
  static constexpr bool PACED_THIN = !SINGLE;
};
using small_tile = tile<NARROW, 2, 256, 3, 3, 3>;
using laplacian_tile = tile<WIDE, 4, 256, by_precision_value(3, 4), 18, 9, 9>;
template <>
struct choice_of<laplacian_operation>
    : choice<laplacian_tile, laplacian_tile,
             predicated<by_precision<laplacian_tile, tile<WIDE, 4, 128, 2, 18, 3, 9>>>, small_tile> {};

template <bool DIFFUSION>
struct choice_of<stage_operation<velocity::UNIFORM, FORM_ADVECTIVE, DIFFUSION, 0>>
    : choice_small<by_precision<tile<WIDE, 4, 256, 2, 3, 3>, tile<WIDE, 4, 256, 3, 18, 9, 9>>, small_tile> {};
template <>
struct choice_of<stage_operation<velocity::UNIFORM, FORM_ADVECTIVE, false, 1>>
    : choice_thin<tile<WIDE, 4, 256, 2, 3, 3>, small_tile, small_tile> {
  static constexpr double SMALL_COST = 0.93;
  static constexpr bool PACED_THIN = !SINGLE;
};
template <>
struct choice_of<stage_operation<velocity::UNIFORM, FORM_ADVECTIVE, true, 1>>
    : choice<tile<WIDE, 4, 256, 2, 3, 3>> {};
template <>
struct choice_of<stage_operation<velocity::UNIFORM, FORM_ADVECTIVE, false, 3>>
    : choice_small<by_precision<tile<WIDE, 2, 256, 2, 3, 3>, tile<WIDE, 1, 512, 2, 4, 3>>,
                   tile<NARROW, 2, 256, 2, 3, 3>> {
  static constexpr double SMALL_COST = 0.9;
};
template <>
struct choice_of<stage_operation<velocity::UNIFORM, FORM_ADVECTIVE, true, 3>>
    : choice<tile<WIDE, 2, 256, 2, 3, 3>> {};
template <bool DIFFUSION, int ADDED>
struct choice_of<stage_operation<velocity::TABLES, FORM_ADVECTIVE, DIFFUSION, ADDED>>
    : choice<by_precision<tile<WIDE, (ADDED < 3 ? 4 : 2), 256, 2, 3, 3>, tile<WIDE, 2, 256, 2, 4, 3>>> {};
template <>
struct choice_of<stage_operation<velocity::TABLES, FORM_ADVECTIVE, true, 1>>
    : choice<by_precision<tile<WIDE, 4, 256, 2, 3, 3>, predicated<rereading<tile<WIDE, 4, 256, 2, 5, 5>>>>> {
};
template <>
struct choice_of<stage_operation<velocity::TABLES, FORM_ADVECTIVE, false, 0>>
    : choice_of<stage_operation<velocity::UNIFORM, FORM_ADVECTIVE, false, 0>> {};
template <>
struct choice_of<stage_operation<velocity::TABLES, FORM_ADVECTIVE, false, 1>>
    : choice_small<by_precision<tile<WIDE, 4, 256, 2, 3, 3>, tile<WIDE, 4, 256, 2, 9, 9>>, small_tile> {};
template <>
struct choice_of<stage_operation<velocity::TABLES, FORM_ADVECTIVE, false, 3>>
    : choice_small<by_precision<tile<WIDE, 2, 256, 2, 3, 3>, tile<WIDE, 1, 512, 2, 6, 3>>,
                   tile<NARROW, 2, 256, 2, 3, 3>> {
  static constexpr double SMALL_COST = 0.9;
};
template <bool DIFFUSION, int ADDED>
struct choice_of<stage_operation<velocity::STORED, FORM_ADVECTIVE, DIFFUSION, ADDED>>
    : choice<
          std::conditional_t<(ADDED < 3), by_precision<tile<WIDE, 2, 256, 2, 3>, tile<WIDE, 2, 256, 2, 3, 3>>,
                             tile<NARROW, 2, 256, by_precision_value(2, 1), 2>>> {};
template <bool DIFFUSION, int ADDED>
struct choice_of<stage_operation<velocity::STORED, FORM_CONSERVATIVE, DIFFUSION, ADDED>>
    : choice<
          std::conditional_t<DIFFUSION, by_precision<tile<NARROW, 2, 128, 1, 2>, tile<NARROW, 1, 256, 2, 2>>,
                             tile<NARROW, 2, 128, 1, 2>>> {};
template <bool DIFFUSION, int ADDED>
struct choice_of<stage_operation<velocity::STORED, FORM_SKEW, DIFFUSION, ADDED>>
    : choice<predicated_if<SINGLE && ADDED == 1, tile<NARROW, 1, 256, 2, 2>>> {};
/* Fluxes by formula are bound by arithmetic: two small blocks on an SM, which do not wait for each other (one
 * with extras in double precision). */
template <advection_form FORM, bool DIFFUSION, int ADDED>
struct choice_of<stage_operation<velocity::TABLES, FORM, DIFFUSION, ADDED>>
    : choice<tile<NARROW, 2, 128, 3, 6>> {};
template <int ADDED>
struct choice_of<stage_operation<velocity::TABLES, FORM_CONSERVATIVE, false, ADDED>>
    : choice<predicated_if<ADDED == 1,
                           by_precision<tile<WIDE, 2, 256, 3, 18, 9, 9>, tile<WIDE, 2, 256, 2, 3, 3>>>> {};

constexpr size_t SHARED_STATIC = 128; /* what a kernel has besides its rings, rounded up */

/* Planes that a device's rounds of blocks take one after the other; what a block needs to begin, the planes
 * before its first one included, costs about as much as START planes more. */
static inline long rounds_cost(int blocks, int planes, int resident) {
  constexpr int START = 12;
  return (long)divide_up(blocks, resident) * (planes + START);
}

/* The number of pieces along z that takes the fewest rounds of planes, with `resident` blocks at once, of
 * those that occupy the share `fill` of all rounds; 0: none. With two ranges of planes, of edges as a rule,
 * there can be one more. */
static inline int pieces_choose(int tiles, int planes, int resident, double fill) {
  int best = 0;
  long least = LONG_MAX;
  for (int pieces = 1; pieces <= 16 && planes / pieces >= 2 * HALO; pieces++) {
    const int blocks = tiles * pieces;
    if (divide_up(planes, divide_up(planes, pieces)) != pieces) continue; /* pieces as long make fewer */
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

/* The slab in two or more pieces of `chunk` planes, the two at its ends before those between. */
static inline geometry ends_first(geometry d, int chunk) {
  const kernels_planes slab = d.range[0];
  d.range[0] = {slab.z0, slab.z0 + chunk};
  d.range[1] = {std::max(slab.z0 + chunk, slab.z1 - chunk), slab.z1};
  d.range[2] = {d.range[0].z1, d.range[1].z0};
  return d;
}

/* All tiles in as many pieces as are fastest. Or, if that is faster, whole tiles in full rounds, and before
 * them those left over, in pieces which fill their rounds, too: whoever begins early would run out of step.
 * With `early` a cut tile's ends are pieces of their own. */
template <class Tile> static cut cut_make(geometry &d, int resident, bool early) {
  constexpr double FULL = 0.97;
  const int planes = d.planes();
  const bool one_range = d.planes(0) == planes;
  const auto cost = [=](int tiles, int pieces) {
    return rounds_cost(tiles * pieces, divide_up(planes, pieces), resident);
  };
  cut c = {divide_up(d.nx, Tile::WIDTH), divide_up(d.ny, Tile::HEIGHT), 0, 0, planes, d.range[0]};
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
  if (early) d = ends_first(d, c.chunk);
  c.pieces = d.pieces(c.chunk);
  return c;
}

/* Points that a multiprocessor computes one after the other, where each has one block at a time; planes to
 * begin with are counted, too. */
template <class Tile> static double tile_cost(geometry d, int multiprocessors) {
  const cut c = cut_make<Tile>(d, multiprocessors, false);
  const long planes = rounds_cost(c.cut_blocks(), c.chunk, multiprocessors) +
                      rounds_cost(c.whole_tiles(), d.planes(), multiprocessors);
  return (double)planes * Tile::WIDTH * Tile::HEIGHT;
}

/* Iterations of the loop over planes on the longest way of a block. */
template <class Op, class Tile> static int cut_iterations(const cut &c, bool early) {
  const auto march = [](int planes) {
    return divide_up(planes + 2 * pipeline<Op, Tile>::LEAD, Tile::UNROLL) * Tile::UNROLL;
  };
  const int whole = c.slab.z1 - c.slab.z0;
  if (c.whole_tiles() == 0) return march(c.chunk);
  return early ? march(HALO) + march(whole - HALO) : march(whole);
}

/* For a launch that is done with its edges only when it is done. */
static inline status edges_at_end(const kernels_launch *launch) {
  return launch->edges == nullptr ? STATUS_OK
                                  : context_event_record(launch->edges, launch->context, launch->queue);
}

template <class Op, class Tile>
static status pipeline_launch(const kernels_launch *launch, const arguments &a, const char *name,
                              bool waits) {
  constexpr size_t shared = pipeline<Op, Tile>::SHARED_BYTES;
  kernels_context *context = launch->context;
  geometry d = launch_geometry(launch);
  const auto kernel = pipeline_kernel<Op, Tile>;
  int resident = 0;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Tile::THREADS, shared));
  if (resident == 0) { /* what is left of the device has no place for a block */
    CHECK(direct_launch<Op>(launch, a, name));
    return edges_at_end(launch);
  }
  resident *= context->multiprocessors;
  const int planes = d.planes();
  const bool early = launch->edges != nullptr && planes >= 4 * HALO && d.planes(0) == planes;
  const cut c = cut_make<Tile>(d, resident, early);
  const int blocks = c.cut_blocks() + c.whole_tiles();
  const bool paces = waits && c.longest() > choice_of<Op>::UNPACED_PLANES;
  const int every = !paces ? 0 : blocks <= resident ? Tile::PACE : Tile::PACE_ROUNDS;
  const pace paced = pace_make(launch, c, resident, every, cut_iterations<Op, Tile>(c, early));
  edge_signal edges = {paced.words + PACE_EDGES, &context->signals[launch->queue], 0,
                       early ? 2 * c.cut_tiles + c.whole_tiles() : 0};
  if (early) edges.number = context_event_signal(launch->edges, context, launch->queue);
  kernel_launch(kernel, (unsigned)blocks, Tile::THREADS, shared, launch_stream(launch), a, d, c, paced,
                edges);
  CHECK(context_launched(context, launch->queue, name));
  return early ? STATUS_OK : edges_at_end(launch);
}

template <class Op>
static status operation_launch(const kernels_launch *launch, const arguments &a, const char *name) {
  using Choice = choice_of<Op>;
  using Tile = typename Choice::tile;
  using Thin = typename Choice::thin;
  using Odd = typename Choice::odd;
  using Small = typename Choice::small;
  const geometry d = launch_geometry(launch);
  const size_t plane = (size_t)d.ny * (size_t)d.nx * sizeof(real);
  const bool large = plane * (size_t)d.planes() >= Choice::BYTES && d.ny >= 2 * HALO && d.nx >= 2 * HALO &&
                     (size_t)d.ny * (size_t)d.ldx * sizeof(real) <= UINT32_MAX;
  const size_t limit = launch->context->shared_limit - SHARED_STATIC;
  constexpr size_t SHARED = std::max(
      {pipeline<Op, Tile>::SHARED_BYTES, pipeline<Op, Thin>::SHARED_BYTES, pipeline<Op, Odd>::SHARED_BYTES});
  const int multiprocessors = launch->context->multiprocessors;
  const bool idle =
      large && !std::is_same_v<Small, Tile> &&
      tile_cost<Small>(d, multiprocessors) <= Choice::SMALL_COST * tile_cost<Tile>(d, multiprocessors);
  if (large && pipeline<Op, Small>::SHARED_BYTES <= limit && (idle || SHARED > limit))
    return pipeline_launch<Op, Small>(launch, a, name, false);
  if (large && SHARED <= limit) {
    if (d.planes() <= Choice::THIN_PLANES)
      return pipeline_launch<Op, Thin>(launch, a, name, Choice::PACED_THIN);
    return d.nx % VECTOR == 0 ? pipeline_launch<Op, Tile>(launch, a, name, true)
                              : pipeline_launch<Op, Odd>(launch, a, name, true);
  }
  CHECK(direct_launch<Op>(launch, a, name));
  return edges_at_end(launch);
}

#endif
