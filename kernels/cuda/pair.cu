#include "pair.cuh"

/* Two stages in one sweep: advection with a uniform velocity, or in the advective form with one by formula,
 * in central differences, without diffusion. The first stage may add a base; the second adds the same base,
 * or the field of the first. */

constexpr unsigned UNIFORM = STAGE_UNIFORM | STAGE_GRADIENT, FORMULA = STAGE_FORMULA | STAGE_GRADIENT;
template <unsigned OPTIONS> using stage = op<OPERATION_stage, OPTIONS>;

/* The layout of pairs whose stages have these options, and the second a base. */
template <unsigned FIRST> using layout_of = pair_layout<stage<FIRST>, stage<FIRST | STAGE_BASE>>;

constexpr char NAME_OF_KERNEL[] = "kernel pair of stages";

/* Pieces along z if the edges of a slab are exchanged meanwhile: with fewer, they are not complete before the
 * launch is. */
constexpr int PIECES_WITH_EDGES = 3;

/* The number of pieces along z, at least `fewest` where planes suffice, with the least cost, in planes that a
 * multiprocessor computes one after the other. A block passes 4 HALO more planes than it stores, and its
 * start costs about START planes. */
static long pair_cost(int tiles, int planes, int multiprocessors, int fewest, int *pieces) {
  constexpr int START = 4, MOST = 64;
  const int most = std::min(MOST, std::max(1, planes / (2 * HALO)));
  long least = LONG_MAX;
  for (int count = std::min(fewest, most); count <= most; count++) {
    const long rounds = divide_up(tiles * count, multiprocessors);
    const long cost = rounds * (divide_up(planes, count) + 4 * HALO + START);
    if (cost >= least) continue;
    least = cost;
    *pieces = count;
  }
  return least;
}

template <class First, class Second> static pair_cut pair_cut_make(const kernels_launch *launch) {
  using layout = pair_layout<First, Second>;
  const kernels_shape &s = launch->shape;
  pair_cut c = {divide_up(s.nx, layout::WIDTH), divide_up(s.ny, layout::HEIGHT), 1};
  const int fewest = launch->edges == nullptr ? 1 : PIECES_WITH_EDGES;
  (void)pair_cost(c.tiles_x * c.tiles_y, s.nz, launch->context->multiprocessors, fewest, &c.pieces);
  return c;
}

template <class First, class Second>
static status pair_launch(const kernels_launch *launch, const kernels_call *first,
                          const kernels_call *second) {
  using layout = pair_layout<First, Second>;
  kernels_context *context = launch->context;
  const pair_cut c = pair_cut_make<First, Second>(launch);
  const int tiles = c.tiles_x * c.tiles_y;
  geometry d = launch_geometry(launch);
  if (!launch->shape.whole) d.memory = {-2 * HALO, d.nz + 2 * HALO};
  const bool signals = launch->edges != nullptr && c.pieces > 1;
  edge_signal edges = edge_signal_of(launch, 2 * tiles * layout::SECOND_THREADS / 32);
  const auto kernel = signals ? pair_kernel<First, Second, true> : pair_kernel<First, Second, false>;
  CHECK_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)layout::SHARED_BYTES));
  if (signals) edges.number = context_event_signal(launch->edges, context, launch->queue);
  kernel_launch(kernel, (unsigned)(tiles * c.pieces), layout::THREADS, layout::SHARED_BYTES,
                launch_stream(launch), launch_arguments(launch, first), launch_arguments(launch, second), d,
                c, edges);
  return signals ? context_launched(context, launch->queue, NAME_OF_KERNEL)
                 : launch_done(launch, NAME_OF_KERNEL);
}

/* Returns true if the two calls are such a pair: the second reads what the first writes, has the base that
 * the kernel supports, and the same velocity. */
static bool pair_is(const kernels_call *first, const kernels_call *second) {
  const unsigned options = first->options & ~STAGE_BASE;
  const void *base = first->options & STAGE_BASE ? first->in[STAGE_IN_BASE] : first->in[STAGE_IN_F];
  return first->kind == OPERATION_stage && second->kind == OPERATION_stage &&
         (options == UNIFORM || options == FORMULA) && second->options == (options | STAGE_BASE) &&
         second->in[STAGE_IN_BASE] == base && (options == UNIFORM || first->tables.y == second->tables.y);
}

/* Returns true if this build has code for the device, and the device room for the rings. */
static bool pair_has_device(const kernels_launch *launch) {
  using largest = layout_of<FORMULA>;
  using other = layout_of<FORMULA | STAGE_BASE>;
  static_assert(std::max(largest::SHARED_BYTES, other::SHARED_BYTES) <= 227 << 10,
                "a multiprocessor has no more");
  cudaFuncAttributes attributes;
  const cudaError_t found =
      cudaFuncGetAttributes(&attributes, pair_kernel<stage<UNIFORM>, stage<UNIFORM | STAGE_BASE>, false>);
  if (found != cudaSuccess) (void)cudaGetLastError();
  return found == cudaSuccess &&
         std::max(largest::SHARED_BYTES, other::SHARED_BYTES) <= launch->context->shared_limit;
}

/* Returns true if a pair is faster than two launches. The sweep halves memory traffic but computes the first
 * operation on 1.5 times the points. It pays if memory is slow compared with the multiprocessors, and if
 * these are filled: 1.4 (single) and 1.3 times (double precision) as fast on an H100, no gain on an H200.
 * With a velocity by formula the gain is 1.1, which idle multiprocessors, or rows that are no whole vectors,
 * would take away. */
static bool pair_pays(const kernels_launch *launch, bool formula) {
  constexpr double MOST_BANDWIDTH = 4e12;
  const double most_cost = formula ? 1.4 : 1.75;
  int kilohertz = 0, bits = 0, pieces = 1;
  const int device = launch->context->device, sms = launch->context->multiprocessors;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  using layout = layout_of<UNIFORM>;
  const kernels_shape &s = launch->shape;
  const int fewest = s.whole ? 1 : PIECES_WITH_EDGES;
  const int tiles = divide_up(s.nx, layout::WIDTH) * divide_up(s.ny, layout::HEIGHT);
  const double cost =
      (double)pair_cost(tiles, s.nz, sms, fewest, &pieces) * sms * layout::WIDTH * layout::HEIGHT;
  if (formula && s.nx % VECTOR != 0) return false;
  return 2e3 * kilohertz * bits / 8 < MOST_BANDWIDTH && cost < most_cost * s.nx * s.ny * s.nz;
}

extern "C" const char *NAME(pair_refused)(const kernels_launch *launch, const kernels_call *first,
                                          const kernels_call *second, int always) {
  const kernels_shape &s = launch->shape;
  if (!pair_is(first, second)) return "there is no kernel for two of these operations";
  if ((size_t)s.ny * (size_t)s.ldx > INT_MAX) return "the planes are too large";
  if (!pair_has_device(launch)) return "the device has no room, or this build no code for it";
  if (!always && !pair_pays(launch, first->options & STAGE_FORMULA)) return "they would not be faster here";
  return nullptr;
}

template <unsigned OPTIONS>
static status pair_apply(const kernels_launch *launch, const kernels_call *first,
                         const kernels_call *second) {
  using plain = stage<OPTIONS>;
  using based = stage<OPTIONS | STAGE_BASE>;
  return first->options & STAGE_BASE ? pair_launch<based, based>(launch, first, second)
                                     : pair_launch<plain, based>(launch, first, second);
}

extern "C" status NAME(apply_pair)(const kernels_launch *launch, const kernels_call *first,
                                   const kernels_call *second) {
  return (first->options & ~STAGE_BASE) == UNIFORM ? pair_apply<UNIFORM>(launch, first, second)
                                                   : pair_apply<FORMULA>(launch, first, second);
}
