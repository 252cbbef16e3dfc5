#ifndef FDAPP_CUDA_TILES_CUH
#define FDAPP_CUDA_TILES_CUH

#include "operations.cuh"

/* The tiles with which the pipeline runs each operation: those that were fastest on compute capability 9.0
 * (docs/explanation/performance.md, "The choice of tiles"). Operations that were not measured take the tiles
 * of the gradient, or, if they difference a triple, those of the divergence. */

/* A block's tile has `width` columns, and each of its threads owns one vector in each of `rows` consecutive
 * rows. `stages` planes are being copied at a time; the loop over planes is unrolled by `unroll`. Every
 * `pace` planes the blocks wait for one another, or every `pace_waves` planes if they do not all run at once.
 */
struct tile_shape {
  int width, rows, threads, stages, pace;
  int unroll = 1, pace_waves = 0; /* 0: as `pace` */
  bool predicated = false;        /* threads with nothing to copy or store skip by predicates, not branches */
  bool rereads = false; /* planes ahead along z are read from the ring again, not kept in registers */
};

/* The shapes of an operation, and when each is used. One without a width stands for `usual`. A device whose
 * shared memory is too small for the others takes `small`, or the kernel without shared memory. */
struct tile_choice {
  tile_shape usual;
  tile_shape thin = {};  /* for slabs of up to `thin_planes`, where cutting along z would cost more */
  tile_shape odd = {};   /* for rows that are not whole vectors, in slabs that are not thin */
  tile_shape small = {}; /* where large tiles leave multiprocessors idle: its tile_cost is at most
                          * `small_cost` of that of `usual` */
  int thin_planes = 64;
  double small_cost = 0.65;
  int unpaced_planes = 32;        /* blocks of no more planes end before they drift apart: they do not wait */
  bool paced_thin = false;        /* blocks of more planes wait for one another in thin slabs, too */
  size_t bytes = (size_t)3 << 20; /* smaller launches take the kernel without shared memory */
  size_t pencil_points = 0;       /* launches of no more points take short pencils (pencil.cu) */
};

constexpr int WIDE = 32 * VECTOR, NARROW = 16 * VECTOR;

constexpr tile_shape predicated_if(bool condition, tile_shape shape) {
  shape.predicated = condition;
  return shape;
}

/* Shapes of several operations, with their number of rows. */
constexpr tile_shape WIDE_4 = {.width = WIDE, .rows = 4, .threads = 256, .stages = 2, .pace = 3, .unroll = 3};
constexpr tile_shape WIDE_2 = {.width = WIDE, .rows = 2, .threads = 256, .stages = 2, .pace = 3, .unroll = 3};
constexpr tile_shape SMALL_2 = {
    .width = NARROW, .rows = 2, .threads = 256, .stages = 3, .pace = 3, .unroll = 3};
constexpr tile_shape SMALL_EXTRAS = {
    .width = NARROW, .rows = 2, .threads = 256, .stages = 2, .pace = 3, .unroll = 3};

/* In double precision `usual` is as small as thin slabs need. */
constexpr tile_shape thin_if_single(tile_shape shape) {
  return SINGLE ? shape : tile_shape{};
}

constexpr tile_choice derivative_y_tiles() {
  tile_choice c = {{.width = NARROW, .rows = 4, .threads = 512, .stages = 2, .pace = 2}};
  c.thin = thin_if_single({.width = NARROW, .rows = 2, .threads = 512, .stages = 4, .pace = 4});
  c.small = {.width = NARROW, .rows = 2, .threads = 256, .stages = 4, .pace = 4};
  c.unpaced_planes = 16;
  c.paced_thin = true;
  c.pencil_points = SINGLE ? 0 : (size_t)1 << 18; /* 4.9 against 6.6 us at 64^3 */
  return c;
}

constexpr tile_choice derivative_z_tiles() {
  tile_choice c = {{.width = NARROW, .rows = 2, .threads = 512, .stages = 5, .pace = 5}};
  c.thin = thin_if_single({.width = NARROW, .rows = 1, .threads = 512, .stages = 8, .pace = 6});
  c.paced_thin = !SINGLE;
  c.bytes = (size_t)16 << 20;
  return c;
}

constexpr tile_choice gradient_tiles() {
  tile_choice c = {{.width = WIDE, .rows = 4, .threads = 256, .stages = 2, .pace = 2, .unroll = 3}};
  if (!SINGLE)
    c.usual = {
        .width = WIDE, .rows = 2, .threads = 512, .stages = 2, .pace = 2, .unroll = 1, .rereads = true};
  c.small = {.width = NARROW, .rows = 2, .threads = 256, .stages = 3, .pace = 2, .unroll = 3};
  c.thin = thin_if_single(c.small);
  c.small_cost = 0.9;
  c.paced_thin = !SINGLE;
  return c;
}

constexpr tile_choice divergence_tiles() {
  tile_choice c = {{.width = NARROW, .rows = 4, .threads = 256, .stages = 2, .pace = 2}};
  c.thin = thin_if_single({.width = WIDE, .rows = 2, .threads = 256, .stages = 2, .pace = 2});
  c.thin_planes = SINGLE ? 256 : 64; /* 256^3 gains 8 points */
  c.paced_thin = !SINGLE;
  return c;
}

constexpr tile_choice laplacian_tiles() {
  tile_choice c = {{.width = WIDE,
                    .rows = 4,
                    .threads = 256,
                    .stages = SINGLE ? 3 : 4,
                    .pace = 18,
                    .unroll = 9,
                    .pace_waves = 9}};
  c.odd = c.usual;
  if (!SINGLE)
    c.odd = {.width = WIDE, .rows = 4, .threads = 128, .stages = 2, .pace = 18, .unroll = 3, .pace_waves = 9};
  c.odd.predicated = true;
  c.small = SMALL_2;
  return c;
}

/* Stages whose velocity is uniform, or of tables in the advective form. Predicates were measured in middle
 * stages, and win there; the first and last ones that were tried lost. */
constexpr tile_choice stage_lean_tiles(unsigned options) {
  const bool tables = (options & STAGE_VELOCITY) == STAGE_FORMULA, diffusion = options & STAGE_DIFFUSION;
  if (options & STAGE_EXTRAS) {
    if (diffusion && tables && !SINGLE)
      return {{.width = WIDE, .rows = 2, .threads = 256, .stages = 2, .pace = 4, .unroll = 3}};
    if (diffusion) return {WIDE_2};
    tile_choice c = {WIDE_2};
    if (!SINGLE)
      c.usual = {.width = WIDE, .rows = 1, .threads = 512, .stages = 2, .pace = tables ? 6 : 4, .unroll = 3};
    c.small = SMALL_EXTRAS;
    c.small_cost = 0.9;
    return c;
  }
  if (options & STAGE_BASE) {
    tile_choice c = {WIDE_4};
    if (diffusion && tables && !SINGLE)
      c.usual = {.width = WIDE,
                 .rows = 4,
                 .threads = 256,
                 .stages = 2,
                 .pace = 5,
                 .unroll = 5,
                 .predicated = true,
                 .rereads = true};
    if (diffusion) return c;
    c.small = SMALL_2;
    if (tables && !SINGLE)
      c.usual = {.width = WIDE, .rows = 4, .threads = 256, .stages = 2, .pace = 9, .unroll = 9};
    if (tables) return c;
    c.thin = thin_if_single(SMALL_2);
    c.small_cost = 0.93;
    c.paced_thin = !SINGLE;
    return c;
  }
  if (diffusion && tables)
    return {SINGLE
                ? WIDE_4
                : tile_shape{.width = WIDE, .rows = 2, .threads = 256, .stages = 2, .pace = 4, .unroll = 3}};
  tile_choice c = {WIDE_4};
  if (!SINGLE)
    c.usual = {
        .width = WIDE, .rows = 4, .threads = 256, .stages = 3, .pace = 18, .unroll = 9, .pace_waves = 9};
  c.small = SMALL_2;
  return c;
}

/* Fluxes of tables are bound by arithmetic: two small blocks run on a multiprocessor, which do not wait for
 * each other (one with extras in double precision). */
constexpr tile_choice stage_flux_tables_tiles(unsigned options) {
  if (options & (STAGE_GRADIENT | STAGE_DIFFUSION))
    return {{.width = NARROW, .rows = 2, .threads = 128, .stages = 3, .pace = 6}};
  const bool middle = (options & STAGE_BASE) && !(options & STAGE_EXTRAS);
  return {predicated_if(middle, SINGLE ? tile_shape{.width = WIDE,
                                                    .rows = 2,
                                                    .threads = 256,
                                                    .stages = 3,
                                                    .pace = 18,
                                                    .unroll = 9,
                                                    .pace_waves = 9}
                                       : WIDE_2)};
}

constexpr tile_choice stage_stored_tiles(unsigned options) {
  const bool base = options & STAGE_BASE, extras = options & STAGE_EXTRAS;
  if (!(options & STAGE_FLUX)) {
    if (extras) return {{.width = NARROW, .rows = 2, .threads = 256, .stages = SINGLE ? 2 : 1, .pace = 2}};
    return {{.width = WIDE, .rows = 2, .threads = 256, .stages = 2, .pace = 3, .unroll = SINGLE ? 1 : 3}};
  }
  const tile_shape one_row = {.width = NARROW, .rows = 1, .threads = 256, .stages = 2, .pace = 2};
  if (options & STAGE_GRADIENT) return {predicated_if(SINGLE && base && !extras, one_row)};
  if ((options & STAGE_DIFFUSION) && !SINGLE) return {one_row};
  return {{.width = NARROW, .rows = 2, .threads = 128, .stages = 1, .pace = 2}};
}

constexpr tile_choice stage_tiles(unsigned options) {
  if ((options & STAGE_VELOCITY) == STAGE_STORED) return stage_stored_tiles(options);
  return options & STAGE_FLUX ? stage_flux_tables_tiles(options) : stage_lean_tiles(options);
}

/* The table. */
template <class Op> constexpr tile_choice tiles_of() {
  switch (Op::KIND) {
  case OPERATION_derivative:
    return Op::OPTIONS == AXIS_Y ? derivative_y_tiles() : derivative_z_tiles();
  case OPERATION_laplacian:
    return laplacian_tiles();
  case OPERATION_stage:
    return stage_tiles(Op::OPTIONS);
  default:
    return Op::TRIPLE ? divergence_tiles() : gradient_tiles();
  }
}

#endif
