#ifndef FDAPP_CUDA_TILES_CUH
#define FDAPP_CUDA_TILES_CUH

#include "operations.cuh"

/* The tiles with which the pipeline runs each operation: those that measured fastest on compute capability
 * 9.0 (docs/explanation/performance.md, "The choice of tiles"). Operations that were not measured take the
 * tiles of the gradient, or, if they difference a triple, those of the divergence. */

/* A block's tile has `width` columns, and each of its threads owns one vector in each of `rows` consecutive
 * rows. Copies of `in_flight` planes are under way at a time; the loop over planes is unrolled by `unroll`.
 * Every `pace` planes the blocks wait for one another, or every `pace_waves` planes if they do not all run at
 * once. */
struct tile_shape {
  int width, rows, threads, in_flight, pace;
  int unroll = 1, pace_waves = 0; /* 0: as `pace` */
  bool predicated = false;        /* copies and stores are skipped by predicates, not by branches */
  bool rereads = false; /* planes ahead along z are read from the ring again, not kept in registers */
};

/* The shapes of an operation, and when each is used. `usual` replaces a shape without a width, and where
 * memory is fast `fast` replaces `usual`. On a device with too little shared memory for these, `small` is
 * used, or the kernel without shared memory. */
struct tile_choice {
  tile_shape usual;
  tile_shape fast = {};  /* for fast memory (kernels_context.fast_memory) */
  tile_shape thin = {};  /* for slabs of at most `thin_planes` planes, where cutting along z costs more */
  tile_shape odd = {};   /* for rows that are not whole vectors, in slabs that are not thin */
  tile_shape small = {}; /* used where large tiles leave multiprocessors idle: if its tile_cost is at most
                          * `small_cost` times that of `usual` */
  tile_shape tiny = {};  /* for launches of at most `tiny_points` points a multiprocessor, which runs several
                          * of these blocks at a time */
  size_t tiny_points = 38000;
  int thin_planes = 64;
  double small_cost = 0.65;
  int unpaced_planes = 32;  /* blocks with at most this many planes do not wait for one another: they
                             * end before they drift apart */
  bool paced_thin = false;  /* longer blocks wait for one another in thin slabs, too */
  size_t bytes = 23 << 10;  /* launches of less a multiprocessor use the kernel without shared memory */
  int start = 6;            /* in that kernel: what loading the window costs a block, in halves of a plane */
  size_t pencil_points = 0; /* launches of at most so many a multiprocessor use long pencils */
};

constexpr int WIDE = 32 * VECTOR, NARROW = 16 * VECTOR;

/* Shapes used by several operations; the number in a name is that of rows. */
constexpr tile_shape WIDE_4 = {
    .width = WIDE, .rows = 4, .threads = 256, .in_flight = 2, .pace = 3, .unroll = 3};
constexpr tile_shape WIDE_2 = {
    .width = WIDE, .rows = 2, .threads = 256, .in_flight = 2, .pace = 3, .unroll = 3};
constexpr tile_shape LONG_4 = {
    .width = WIDE, .rows = 4, .threads = 256, .in_flight = 3, .pace = 18, .unroll = 9, .pace_waves = 9};
constexpr tile_shape REREADS_4 = {
    .width = WIDE, .rows = 4, .threads = 256, .in_flight = 2, .pace = 3, .unroll = 1, .rereads = true};
constexpr tile_shape SMALL_2 = {
    .width = NARROW, .rows = 2, .threads = 256, .in_flight = 3, .pace = 3, .unroll = 3};
constexpr tile_shape TINY_2 = {
    .width = NARROW, .rows = 2, .threads = 128, .in_flight = 3, .pace = 3, .unroll = 3};

/* Several outputs take the shape of one: along z other shapes gain 3 % at most
 * (docs/explanation/performance.md, "Several operators from one load"). */
constexpr tile_choice derivative_tiles(unsigned options) {
  const bool along_y = (options & DERIVATIVE_AXIS) == AXIS_Y;
  tile_choice c = {{.width = NARROW,
                    .rows = along_y ? 4 : 2,
                    .threads = 512,
                    .in_flight = along_y ? 2 : 5,
                    .pace = along_y ? 2 : 5}};
  c.paced_thin = along_y || !SINGLE;
  c.start = 3; /* not measured: a plane has few loads beside the 8 of the window */
  if ((options & ~(unsigned)DERIVATIVE_AXIS) != DERIVATIVE_FIRST) return c;
  if (along_y) {
    if (SINGLE) c.thin = {.width = NARROW, .rows = 2, .threads = 512, .in_flight = 4, .pace = 4};
    c.small = {.width = NARROW, .rows = 2, .threads = 256, .in_flight = 4, .pace = 4};
    c.unpaced_planes = 16;
  } else {
    if (SINGLE) c.thin = {.width = NARROW, .rows = 1, .threads = 512, .in_flight = 8, .pace = 6};
    c.bytes = 124 << 10;
  }
  c.pencil_points = along_y && !SINGLE ? 8000 : 16000; /* 4.4 against 7.1 us at 96^3, single, y */
  return c;
}

constexpr tile_choice gradient_tiles() {
  tile_choice c = {{.width = WIDE, .rows = 4, .threads = 256, .in_flight = 2, .pace = 2, .unroll = 3}};
  c.small = {.width = NARROW, .rows = 2, .threads = 256, .in_flight = 3, .pace = 2, .unroll = 3};
  c.small_cost = 0.9;
  c.paced_thin = !SINGLE;
  if (SINGLE) {
    c.thin = c.small;
  } else {
    c.usual.rows = 2;
    c.usual.threads = 512;
    c.usual.unroll = 1;
    c.usual.rereads = true;
  }
  return c;
}

constexpr tile_choice divergence_tiles() {
  tile_choice c = {{.width = NARROW, .rows = 4, .threads = 256, .in_flight = 2, .pace = 2}};
  if (SINGLE) c.thin = {.width = WIDE, .rows = 2, .threads = 256, .in_flight = 2, .pace = 2};
  c.thin_planes = SINGLE ? 256 : 64; /* 256^3 gains 8 points */
  c.paced_thin = !SINGLE;
  return c;
}

/* Not measured: the largest tiles of the two above whose rings fit beside those of the sum's `others`. */
constexpr tile_choice divergence_stage_tiles(unsigned options, int others) {
  if (options & OPTION_UPWIND)
    return {
        {.width = NARROW, .rows = 2, .threads = 256, .in_flight = options & SUM_EXTRAS ? 1 : 2, .pace = 2}};
  return {{.width = NARROW, .rows = others == 1 ? 4 : 2, .threads = 256, .in_flight = 2, .pace = 2}};
}

constexpr tile_choice gradient_stage_tiles(unsigned options, int others) {
  tile_choice upwind = {
      {.width = NARROW, .rows = 1, .threads = 256, .in_flight = options & SUM_EXTRAS ? 1 : 2, .pace = 2}};
  if (options & OPTION_UPWIND && !(options & SUM_OWN)) { /* measured: tiles-h100.json */
    upwind.small = upwind.usual;
    upwind.usual = {.width = SINGLE ? WIDE : NARROW,
                    .rows = 1,
                    .threads = SINGLE ? 512 : 128,
                    .in_flight = SINGLE ? 1 : 2,
                    .pace = SINGLE ? 2 : 3};
  }
  if (options & OPTION_UPWIND) return upwind;
  return {{.width = WIDE,
           .rows = others == 3 ? 2 : 1,
           .threads = 256,
           .in_flight = others >= 12 ? 1 : 2,
           .pace = 2,
           .unroll = 3}};
}

constexpr tile_choice laplacian_tiles() {
  tile_choice c = {LONG_4};
  c.usual.in_flight = SINGLE ? 3 : 4;
  c.odd = c.usual;
  if (!SINGLE) {
    c.odd.threads = 128;
    c.odd.in_flight = 2;
    c.odd.unroll = 3;
  }
  c.odd.predicated = true;
  c.small = SMALL_2;
  return c;
}

/* Stages whose velocity is uniform, or from tables in the advective form. Predicates were tried in some
 * stages of each kind: they gain in middle stages, and lose in first and last ones. In double precision
 * tiles that reread are the fastest of those tried, unless memory is fast. */
constexpr tile_choice stage_lean_tiles(unsigned options) {
  const bool tables = (options & ADVECTION_VELOCITY) == ADVECTION_FORMULA,
             diffusion = options & ADVECTION_DIFFUSION;
  const bool first = !(options & SUM_OWN), last = options & SUM_EXTRAS, middle = !first && !last;
  tile_choice c = {last ? WIDE_2 : WIDE_4};
  if (diffusion && (tables || !first)) {
    if (SINGLE || !tables) return c;
    if (middle) {
      c.usual.pace = c.usual.unroll = 5;
      c.usual.predicated = c.usual.rereads = true;
    } else {
      c.usual.rows = 2;
      c.usual.pace = 4;
    }
    return c;
  }
  c.small = SMALL_2;
  if (!diffusion && !(options & ADVECTION_UPWIND)) { /* with either nothing was tried */
    c.tiny = TINY_2;
    c.bytes = SINGLE ? 46 << 10 : 31 << 10;
  }
  if (!last && !SINGLE) {
    c.fast = first ? LONG_4 : WIDE_4;
    if (middle && tables) c.fast.pace = c.fast.unroll = 9;
    c.usual = first && (tables || diffusion) ? LONG_4 : REREADS_4;
  }
  if (middle && !tables) {
    if (SINGLE) c.thin = SMALL_2;
    c.small_cost = 0.93;
    c.paced_thin = !SINGLE;
  }
  if (last) {
    c.small.in_flight = 2;
    c.small_cost = 0.9;
    if (SINGLE) return c;
    c.usual.rows = 1;
    c.usual.threads = 512;
    c.usual.pace = tables ? 6 : 4;
  }
  return c;
}

/* Fluxes with tables are bound by arithmetic. Two small blocks per multiprocessor, which do not wait for each
 * other, are fastest (one with extras in double precision). */
constexpr tile_choice stage_flux_tables_tiles(unsigned options) {
  if (options & (ADVECTION_GRADIENT | ADVECTION_DIFFUSION))
    return {{.width = NARROW, .rows = 2, .threads = 128, .in_flight = 3, .pace = 6}};
  tile_choice c = {SINGLE ? LONG_4 : WIDE_2};
  c.usual.rows = 2;
  c.usual.predicated = (options & SUM_OWN) && !(options & SUM_EXTRAS);
  return c;
}

constexpr tile_choice stage_stored_tiles(unsigned options) {
  const bool base = options & SUM_OWN, extras = options & SUM_EXTRAS;
  if (!(options & ADVECTION_FLUX) && !extras)
    return {{.width = WIDE, .rows = 2, .threads = 256, .in_flight = 2, .pace = 3, .unroll = SINGLE ? 1 : 3}};
  tile_choice c = {{.width = NARROW, .rows = 1, .threads = 256, .in_flight = 2, .pace = 2}};
  if (!(options & ADVECTION_FLUX)) {
    c.usual.rows = 2;
    c.usual.in_flight = SINGLE ? 2 : 1;
  } else if (options & ADVECTION_GRADIENT) {
    c.usual.predicated = SINGLE && base && !extras;
  } else if (SINGLE || !(options & ADVECTION_DIFFUSION)) {
    c.usual.rows = 2;
    c.usual.threads = 128;
    c.usual.in_flight = 1;
  }
  return c;
}

constexpr tile_choice stage_central_tiles(unsigned options) {
  if ((options & ADVECTION_VELOCITY) == ADVECTION_STORED) return stage_stored_tiles(options);
  return options & ADVECTION_FLUX ? stage_flux_tables_tiles(options) : stage_lean_tiles(options);
}

/* With dissipation there is twice the arithmetic: loops unrolled as far as in central stages exceed the
 * instruction cache, and with windows of as many rows registers spill, unless tiles reread. Most of these
 * stages are bound by arithmetic, and waiting for one another costs their blocks more than it saves. */
constexpr tile_choice stage_upwind_tiles(unsigned options) {
  const bool stored = (options & ADVECTION_VELOCITY) == ADVECTION_STORED, flux = options & ADVECTION_FLUX;
  const bool uniform = (options & ADVECTION_VELOCITY) == ADVECTION_UNIFORM;
  const bool base = options & SUM_OWN, last = options & SUM_EXTRAS;
  tile_choice c = stage_central_tiles(options);
  c.fast = {};
  if (stored && flux) {
    c = {{.width = NARROW, .rows = 1, .threads = 256, .in_flight = 2, .pace = 2}};
  } else if (flux) {
    c = stage_flux_tables_tiles(options | ADVECTION_DIFFUSION);
    c.usual.predicated = SINGLE && base && !last;
    c.usual.pace = 0;
  } else if (!stored && !SINGLE) {
    c.usual = last || options & ADVECTION_DIFFUSION ? WIDE_2 : REREADS_4;
    if (c.usual.rereads && !(uniform && base)) c.usual.pace = 0;
  }
  return c;
}

constexpr tile_choice advection_tiles(unsigned options) {
  return options & ADVECTION_UPWIND ? stage_upwind_tiles(options) : stage_central_tiles(options);
}

/* The shapes of each operation. */
template <class Op> constexpr tile_choice tiles_of() {
  switch (Op::KIND) {
  case OPERATION_derivative:
    return derivative_tiles(Op::OPTIONS);
  case OPERATION_laplacian:
    return laplacian_tiles();
  case OPERATION_divergence:
    return Op::OPTIONS & SUM_BASE ? divergence_stage_tiles(Op::OPTIONS, Op::OTHERS) : divergence_tiles();
  case OPERATION_gradient:
    return Op::OPTIONS & SUM_BASE ? gradient_stage_tiles(Op::OPTIONS, Op::OTHERS) : gradient_tiles();
  case OPERATION_advection:
    return advection_tiles(Op::OPTIONS);
  default:
    return Op::TRIPLE ? divergence_tiles() : gradient_tiles();
  }
}

#endif
