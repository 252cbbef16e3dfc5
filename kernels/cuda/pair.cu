#include "pair.cuh"

/* Two stages in one sweep: advection with a uniform velocity, or in the advective form with one by formula,
 * without diffusion. The first stage may add a base; the second adds the same base, or the field of the
 * first. Differences are central. Upwind ones have pairs with a uniform velocity in double precision, where
 * blocks hand rims to one another; others were slower than two launches (docs/explanation/gpu-stage.md). */

constexpr unsigned UNIFORM = SUM_BASE | ADVECTION_UNIFORM | ADVECTION_GRADIENT;
constexpr unsigned FORMULA = SUM_BASE | ADVECTION_FORMULA | ADVECTION_GRADIENT;
constexpr unsigned UPWIND = UNIFORM | ADVECTION_UPWIND;
template <unsigned OPTIONS> using stage = op<OPERATION_advection, OPTIONS>;

/* The layout of pairs whose stages have these options, and the second a base. */
template <unsigned FIRST, bool HANDED>
using layout_of = pair_layout<stage<FIRST>, stage<FIRST | SUM_OWN>, HANDED>;

constexpr char NAME_OF_KERNEL[] = "kernel pair of stages";

/* Pieces along z if both edges of a slab are exchanged meanwhile: with fewer, they are not complete before
 * the launch is. */
constexpr int PIECES_WITH_EDGES = 3;

/* How a launch is divided, and whether blocks hand rims to one another. Then all blocks of a kernel run at
 * the same time, and planes of more tiles are divided into units of `rows` rows of tiles, one kernel after
 * the other. cost: how long a multiprocessor computes, in hundredths of a plane without rims. */
struct pair_plan {
  pair_cut cut; /* of the whole planes */
  bool handed;
  int units, rows;
  long cost;
};

/* The planes that a piece has at least if blocks hand rims to one another. */
static int least_planes(const kernels_launch *launch) {
  return launch->arrivals != nullptr ? pair_rims<layout_of<UNIFORM, true>>::LEAST : 2 * HALO;
}

/* The number of pieces along z with the least cost. A block passes 4 HALO more planes than it stores, and its
 * start costs about START planes. A plane with rims has a third more points, and takes PLANE hundredths of
 * the time of one without; seams take SEAMS hundredths more (both at 512^3, double precision). An exchange of
 * both edges at once that is not hidden, as behind blocks that all run at the same time, costs about as much
 * as an eighth of the planes. */
template <bool HANDED> static pair_plan plan_with(const kernels_launch *launch) {
  using layout = layout_of<UNIFORM, HANDED>;
  constexpr int START = 4, MOST = 64, PLANE = HANDED ? 120 : 100, SEAMS = 6;
  const kernels_shape &s = launch->shape;
  const bool both = !s.whole && launch->arrivals == nullptr;
  const int multiprocessors = launch->context->multiprocessors;
  const int tiles_x = divide_up(s.nx, layout::WIDTH), tiles_y = divide_up(s.ny, layout::HEIGHT);
  const int units = HANDED ? divide_up(tiles_y, std::max(1, multiprocessors / tiles_x)) : 1;
  const int rows = divide_up(tiles_y, units), tiles = tiles_x * rows;
  pair_plan plan = {{tiles_x, tiles_y, 1, 0, both}, HANDED, divide_up(tiles_y, rows), rows, LONG_MAX};
  const int least = HANDED ? least_planes(launch) : 2 * HALO; /* of a piece */
  const int most = std::min(MOST, std::max(1, s.nz / least));
  const int plane = PLANE + (plan.units > 1 ? SEAMS : 0);
  for (int count = 1; count <= most; count++) {
    const long rounds = divide_up(tiles * count, multiprocessors);
    if (HANDED && rounds > 1) break;
    long cost = plane * plan.units * rounds * (divide_up(s.nz, count) + 4 * HALO + START);
    if (both && (HANDED || count < PIECES_WITH_EDGES)) cost += 100 * s.nz / 8;
    if (cost >= plan.cost) continue;
    plan.cost = cost;
    plan.cut.pieces = count;
  }
  return plan;
}

/* Returns true if all rims are whole vectors, the rows of a rim have the same threads, no point lies in rims
 * on both sides of its tile, and there are enough planes. */
static bool rims_fit(const kernels_launch *launch) {
  using layout = layout_of<UNIFORM, true>;
  const kernels_shape &s = launch->shape;
  const int across = s.nx % layout::WIDTH, down = s.ny % layout::HEIGHT;
  return s.nx % VECTOR == 0 && s.ny % layout::ROWS == 0 && (across == 0 || across >= 2 * HALO) &&
         (down == 0 || down >= 2 * HALO) && s.nz >= least_planes(launch);
}

/* Rounds up, so that arrays begin where lines of the cache do. */
static size_t whole_lines(size_t bytes) {
  constexpr size_t LINE = 256;
  return (bytes + LINE - 1) / LINE * LINE;
}

/* Where things lie in the context's exchange memory: three words and the counters, which are zero between
 * kernels and so have a place that no shape changes; two seams, each in the place of the last but one; rims.
 */
struct exchange_layout {
  static constexpr size_t COUNTERS = 64 << 10, MOST = CONTEXT_RESERVE / 2;
  size_t seam, rims, bytes;
  int planes; /* counters of a piece */
  unsigned blocks;
  bool fits;
};

static exchange_layout exchange_layout_of(const kernels_launch *launch, const pair_plan &plan) {
  using layout = layout_of<UNIFORM, true>;
  const kernels_shape &s = launch->shape;
  exchange_layout x = {};
  x.planes = divide_up(s.nz, plan.cut.pieces);
  x.blocks = (unsigned)(plan.cut.tiles_x * plan.rows * plan.cut.pieces);
  x.seam = plan.units > 1 ? whole_lines((size_t)s.nz * 2 * HALO * (size_t)s.ldx * sizeof(real)) : 0;
  x.rims = x.COUNTERS + 2 * x.seam;
  x.bytes = x.rims + (size_t)layout::RIM_PLANES * x.blocks * layout::RIMS * sizeof(real);
  x.fits =
      (3 + (size_t)plan.cut.pieces * (size_t)x.planes) * sizeof(unsigned) <= x.COUNTERS && x.bytes <= x.MOST;
  return x;
}

/* only_handed: blocks hand rims to one another, or the plan has the cost LONG_MAX. */
static pair_plan plan_make(const kernels_launch *launch, bool only_handed) {
  pair_plan plain = plan_with<false>(launch);
  if (only_handed) plain.cost = LONG_MAX;
  if (!rims_fit(launch)) return plain;
  const pair_plan handed = plan_with<true>(launch);
  return handed.cost <= plain.cost && exchange_layout_of(launch, handed).fits ? handed : plain;
}

/* Makes room for what the blocks of a launch hand to one another. */
static status exchange_make(const kernels_launch *launch, const pair_plan &plan, pair_exchange *exchange) {
  *exchange = {};
  if (!plan.handed) return STATUS_OK;
  const exchange_layout x = exchange_layout_of(launch, plan);
  /* A block may wait for a neighbouring rank, for twice its seconds at most, before others wait for it. */
  const double neighbours = launch->arrivals != nullptr ? 2.0 * launch->arrivals->meeting.seconds : 0.0;
  constexpr double PATIENCE = 30.0; /* seconds */
  CHECK(context_exchange(launch->context, x.bytes));
  unsigned char *memory = static_cast<unsigned char *>(launch->context->exchange);
  unsigned *words = reinterpret_cast<unsigned *>(memory);
  exchange->rims = memory + x.rims;
  exchange->counters = words + 3;
  exchange->left = words + 2;
  exchange->stuck = words + 1;
  exchange->seamed = words;
  exchange->blocks = x.blocks;
  exchange->planes = x.planes;
  exchange->late = launch->context->late;
  exchange->patience = (unsigned long long)(1e9 * (PATIENCE + neighbours));
  for (int i = 0; i < 2 && x.seam > 0; i++)
    exchange->seam[i] = reinterpret_cast<real *>(memory + x.COUNTERS + (size_t)i * x.seam);
  return STATUS_OK;
}

/* What a launch needs besides how it is divided. */
struct pair_job {
  const kernels_launch *launch;
  arguments a, b; /* of the first and of the second operation */
  geometry d;
  pair_edges edges;
  bool signals;
};

/* Seams from `from` to `to`, each below the unit of the same number, in the places that they share with every
 * second other one. */
static pair_seams seams_make(const pair_job &job, const pair_plan &plan, const pair_exchange &e, int from,
                             int to) {
  pair_seams seams = {};
  for (int k = from; k <= to; k++) {
    seams.to[seams.count] = e.seam[k % 2];
    seams.first[seams.count++] = std::min(k * plan.rows * layout_of<UNIFORM, true>::HEIGHT, job.d.ny) - HALO;
  }
  return seams;
}

/* Computes the seams that a unit's kernel `e` needs and that are not there. If the device has multiprocessors
 * left beside those of the kernel's blocks, further blocks of it compute the planes that need late halos. */
template <class First>
static void seams_launch(const pair_job &job, pair_exchange &e, const pair_seams &seams) {
  constexpr unsigned MOST = 8;
  const bool down = job.launch->down;
  geometry d = job.d;
  if (job.launch->arrivals != nullptr) {
    const unsigned spare = (unsigned)job.launch->context->multiprocessors - e.blocks;
    e.seam_blocks = std::min(MOST, spare);
    e.seams = seams;
  }
  if (e.seam_blocks > 0) d.range[0] = down ? kernels_planes{HALO, d.nz} : kernels_planes{0, d.nz - HALO};
  const dim3 grid((unsigned)divide_up(d.nx, SEAM_LANES * VECTOR), (unsigned)seams.count,
                  (unsigned)d.pieces(SEAM_CHUNK));
  kernel_launch(seam_kernel<First>, grid, dim3(SEAM_LANES, 2 * HALO), 0, launch_stream(job.launch), job.a, d,
                seams, job.edges);
}

/* The kernels of all units. Before each come the seams that it needs and that are not there. */
template <class First, class Second, pair_way WAY>
static status units_launch(const pair_job &job, const pair_plan &plan) {
  using layout = pair_layout<First, Second, true>;
  const auto kernel = pair_kernel<First, Second, true, WAY>;
  pair_exchange e;
  CHECK(exchange_make(job.launch, plan, &e));
  CHECK_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)layout::SHARED_BYTES));
  for (int unit = 0; unit < plan.units; unit++) {
    pair_cut c = plan.cut;
    c.row0 = unit * plan.rows;
    c.tiles_y = std::min(plan.rows, plan.cut.tiles_y - c.row0);
    pair_exchange here = e;
    here.blocks = (unsigned)(c.tiles_x * c.tiles_y * c.pieces);
    here.seam[SIDE_BELOW] = e.seam[unit % 2];
    here.seam[SIDE_ABOVE] = e.seam[(unit + 1) % 2];
    if (plan.units > 1 && (unit == 0 || plan.units > 2))
      seams_launch<First>(job, here, seams_make(job, plan, e, unit == 0 ? 0 : unit + 1, unit + 1));
    CHECK_CUDA(kernel_launch_together(kernel, here.blocks + here.seam_blocks, layout::THREADS,
                                      layout::SHARED_BYTES, launch_stream(job.launch), job.a, job.b, job.d, c,
                                      job.edges, here));
  }
  return STATUS_OK;
}

/* The kernel whose blocks do not wait for one another. */
template <class First, class Second, pair_way WAY>
static status blocks_launch(const pair_job &job, const pair_plan &plan) {
  using layout = pair_layout<First, Second, false>;
  const auto kernel = pair_kernel<First, Second, false, WAY>;
  const pair_cut &c = plan.cut;
  CHECK_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)layout::SHARED_BYTES));
  kernel_launch(kernel, (unsigned)(c.tiles_x * c.tiles_y * c.pieces), layout::THREADS, layout::SHARED_BYTES,
                launch_stream(job.launch), job.a, job.b, job.d, c, job.edges, pair_exchange{});
  return STATUS_OK;
}

/* The edges of a launch. `warps` of a tile signal that edge planes are stored. */
static pair_edges edges_make(const kernels_launch *launch, const pair_plan &plan, int warps) {
  const int tiles = plan.cut.tiles_x * plan.cut.tiles_y;
  const kernels_arrivals none = {}, *arrivals = launch->arrivals != nullptr ? launch->arrivals : &none;
  pair_edges edges = {edge_signal_of(launch, (plan.cut.both ? 2 : 1) * tiles * warps),
                      meeting_of(launch->context, &arrivals->meeting), arrivals->number};
  return edges;
}

template <class First> constexpr bool ONLY_HANDED = (First::OPTIONS & ADVECTION_UPWIND) != 0;

template <class First, class Second, pair_way WAY>
static status way_launch(const pair_job &job, const pair_plan &plan) {
  if constexpr (!ONLY_HANDED<First>) {
    if (!plan.handed) return blocks_launch<First, Second, WAY>(job, plan);
  }
  return units_launch<First, Second, WAY>(job, plan);
}

template <class First, class Second>
static status pair_launch(const kernels_launch *launch, const kernels_call *first,
                          const kernels_call *second) {
  const pair_plan plan = plan_make(launch, ONLY_HANDED<First>);
  kernels_context *context = launch->context;
  const int warps = plan.handed ? 1 : pair_layout<First, Second, false>::SECOND_THREADS / 32;
  const bool early = launch->arrivals != nullptr || (plan.cut.both && plan.cut.pieces > 1 && !plan.handed);
  if (launch->arrivals != nullptr && launch->edges == nullptr)
    return status_fail(STATUS_DEVICE, "%s: it waits for halo planes, but is told of no edges",
                       NAME_OF_KERNEL);
  if (plan.cost == LONG_MAX)
    return status_fail(STATUS_DEVICE, "%s: pair_refused was not asked", NAME_OF_KERNEL);
  pair_job job = {launch,
                  launch_arguments(launch, first),
                  launch_arguments(launch, second),
                  launch_geometry(launch),
                  edges_make(launch, plan, warps),
                  launch->edges != nullptr && early};
  if (!launch->shape.whole) job.d.memory = {-2 * HALO, job.d.nz + 2 * HALO};
  if (!job.signals) {
    CHECK((way_launch<First, Second, pair_way::ALONE>(job, plan)));
    return launch_done(launch, NAME_OF_KERNEL);
  }
  job.edges.number = context_event_signal(launch->edges, context, launch->queue);
  CHECK(launch->down ? (way_launch<First, Second, pair_way::DOWN>(job, plan))
                     : (way_launch<First, Second, pair_way::UP>(job, plan)));
  return context_launched(context, launch->queue, NAME_OF_KERNEL);
}

/* Returns true if the two calls are such a pair: the second reads what the first writes, has the base that
 * the kernel supports, and the same velocity. */
static bool pair_is(const kernels_call *first, const kernels_call *second) {
  const unsigned options = first->options & ~SUM_OWN;
  const void *base = first->in[first->options & SUM_OWN ? (int)SUM_IN_BASE : (int)ADVECTION_F];
  return first->kind == OPERATION_advection && second->kind == OPERATION_advection &&
         (options == UNIFORM || options == FORMULA || (!SINGLE && options == UPWIND)) &&
         second->options == (options | SUM_OWN) && second->in[SUM_IN_BASE] == base &&
         (options != FORMULA || first->tables.y == second->tables.y);
}

/* Returns true if this build has code for the device, and the device room for the rings. */
static bool pair_has_device(const kernels_launch *launch) {
  constexpr size_t LARGEST =
      std::max({layout_of<FORMULA, false>::SHARED_BYTES, layout_of<FORMULA | SUM_OWN, false>::SHARED_BYTES,
                layout_of<FORMULA, true>::SHARED_BYTES, layout_of<FORMULA | SUM_OWN, true>::SHARED_BYTES});
  static_assert(LARGEST <= 227 << 10, "a multiprocessor has no more");
  cudaFuncAttributes attributes;
  const cudaError_t found = cudaFuncGetAttributes(
      &attributes, pair_kernel<stage<UNIFORM>, stage<UNIFORM | SUM_OWN>, false, pair_way::ALONE>);
  if (found != cudaSuccess) (void)cudaGetLastError();
  return found == cudaSuccess && LARGEST <= launch->context->shared_limit;
}

/* The most that pairs may cost, as plans count it, where memory is slow enough: by formula and upwind the
 * gain is less. */
static double pair_limit(unsigned options, bool hides, bool fast_memory) {
  if (options & ADVECTION_UPWIND) return 1.15;
  if (options & ADVECTION_FORMULA) return SINGLE ? 1.4 : 1.3;
  if (hides) return 2.2;
  return fast_memory ? 1.25 : SINGLE ? 1.75 : 1.7;
}

/* Returns true if a pair is faster than two launches. The sweep halves memory traffic and is bound by the
 * multiprocessors, so it pays where memory is slow compared with them, and where these are filled. By formula
 * rows that are no whole vectors take the gain away, and in upwind differences a second unit. Where memory is
 * fast a uniform velocity gains only if blocks hand rims to one another, and one by formula nothing. On
 * several ranks pairs hide their exchange better than stages do. */
static bool pair_pays(const kernels_launch *launch, const pair_plan &plan, unsigned options) {
  const int sms = launch->context->multiprocessors;
  using layout = layout_of<UNIFORM, false>;
  const kernels_shape &s = launch->shape;
  const bool fast_memory = launch->context->fast_memory != 0;
  const bool formula = options & ADVECTION_FORMULA, upwind = options & ADVECTION_UPWIND;
  if ((formula && s.nx % VECTOR != 0) || (upwind && plan.units > 1)) return false;
  if (fast_memory && (formula || !plan.handed)) return false;
  const double most = pair_limit(options, launch->arrivals != nullptr, fast_memory);
  const double cost = 1e-2 * (double)plan.cost * sms * layout::WIDTH * layout::HEIGHT;
  return cost < most * s.nx * s.ny * s.nz;
}

/* Returns true if a multiprocessor has room for a block that hands rims to others; if not, the runtime
 * refuses to launch blocks that all run at the same time. By its registers and shared memory each block fits,
 * but a profiler may add to both. */
template <class First, class Second, pair_way WAY> static bool way_has_room() {
  using layout = pair_layout<First, Second, true>;
  const auto kernel = pair_kernel<First, Second, true, WAY>;
  int blocks = 0;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)layout::SHARED_BYTES) ==
          cudaSuccess &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, layout::THREADS, layout::SHARED_BYTES) ==
          cudaSuccess)
    return blocks > 0;
  (void)cudaGetLastError();
  return false;
}

template <class First, class Second> static bool ways_have_room(const kernels_launch *launch) {
  return way_has_room<First, Second, pair_way::ALONE>() &&
         (launch->shape.whole ||
          (way_has_room<First, Second, pair_way::UP>() && way_has_room<First, Second, pair_way::DOWN>()));
}

/* Calls use(First, Second), the two operations of a pair whose first call is this one; FIRST: its options
 * without a base. */
template <unsigned FIRST, class Use> static auto pair_based(const kernels_call *first, const Use &use) {
  using Second = stage<FIRST | SUM_OWN>;
  return first->options & SUM_OWN ? use(Second{}, Second{}) : use(stage<FIRST>{}, Second{});
}

template <class Use> static auto pair_dispatch(const kernels_call *first, const Use &use) {
  if constexpr (!SINGLE) {
    if (first->options & ADVECTION_UPWIND) return pair_based<UPWIND>(first, use);
  }
  return first->options & ADVECTION_FORMULA ? pair_based<FORMULA>(first, use)
                                            : pair_based<UNIFORM>(first, use);
}

extern "C" const char *NAME(pair_refused)(const kernels_launch *launch, const kernels_call *first,
                                          const kernels_call *second, int always) {
  const kernels_shape &s = launch->shape;
  if (!pair_is(first, second)) return "there is no kernel for two of these operations";
  if ((size_t)s.ny * (size_t)s.ldx > INT_MAX) return "the planes are too large";
  if (!pair_has_device(launch)) return "the device has no room, or this build no code for it";
  const pair_plan plan = plan_make(launch, first->options & ADVECTION_UPWIND);
  if (plan.cost == LONG_MAX) return "there is no kernel for two upwind stages on such a slab";
  if (!always && !pair_pays(launch, plan, first->options)) return "they would not be faster here";
  const auto have_room = [launch](auto of_first, auto of_second) {
    return ways_have_room<decltype(of_first), decltype(of_second)>(launch);
  };
  if (plan.handed && !pair_dispatch(first, have_room))
    return "blocks of a pair cannot all run at the same time";
  pair_exchange exchange;
  if (exchange_make(launch, plan, &exchange) == STATUS_OK) return nullptr;
  status_clear();
  return "the device has no memory left";
}

extern "C" status NAME(apply_pair)(const kernels_launch *launch, const kernels_call *first,
                                   const kernels_call *second) {
  return pair_dispatch(first, [=](auto of_first, auto of_second) {
    return pair_launch<decltype(of_first), decltype(of_second)>(launch, first, second);
  });
}
