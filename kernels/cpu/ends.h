#ifndef FDAPP_CPU_ENDS_H
#define FDAPP_CPU_ENDS_H

/* Closures and penalties on bundles. Along an axis in whose layer a point lies, its difference is a row of a
 * closure instead of the interior one. Each way of an operation is compiled twice (way.h): the function for
 * grids with ends calls the three functions below before and after its passes. These are compiled once for
 * all ways, so that compiling takes little longer. A call within a pass would keep coefficients out of
 * registers. */

#include "bundle.h"
#include "layer_ends.h"

/* A number for each point of a layer of x, by column, with zeros before and after them. */
typedef struct cpu_columns {
  real of[LINE + CLOSURE_ROWS + LINE];
} cpu_columns;

/* The data that all bundles of a call share. */
typedef struct cpu_ends {
  layer_ends of;
  int inside[2];               /* columns between the layers of x: inside[0] <= x < inside[1] */
  unsigned outputs, penalised; /* masks: of all outputs, of those that penalties are added to */
  int adds[3][2];              /* 0: no penalty is ever added at this end */
  int pulls[3][2];             /* 1: layer_ends.pull has a number that is not 0 */
  cpu_columns pull[2];         /* layer_ends.pull along x, by column */
  const real *in;              /* input 0 at point (0, 0, 0) */
  operation_velocity velocity; /* the source of the velocity; arrays at point (0, 0, 0) */
  const real *component[3], *table[3];
  real uniform[3];
} cpu_ends;

/* Scratch lines of a bundle in layers: differences by rows of closures, of one term at a time, and results
 * that wait for penalties. */
typedef struct cpu_closures {
  /* Along x, at both ends: the rows of a bundle, plane after plane, as in cpu_columns. */
  real x[2][LINE + CPU_PLANES * CPU_ROWS * CLOSURE_ROWS + LINE];
  cpu_scratch row; /* along y, then along z */
  cpu_scratch held[OPERATION_OUTPUTS];
} cpu_closures;

/* The layers that a bundle lies in. No bundle has points in and outside a layer of y or z (patch.h). */
typedef struct cpu_layer {
  const cpu_ends *ends;
  cpu_closures *closures;
  int row[3], high[3]; /* along y and z: of layer_row for the bundle's first row or plane */
  unsigned holds;      /* mask of the outputs that have penalties */
  /* Where three parts of its lines begin, and the last one ends, whole cache lines. line: those of the middle
   * part lie in no layer and have no images; the others are beside ends. held: the others wait for
   * penalties. */
  int line[4], held[4];
} cpu_layer;

/* Number of columns from the first one of a layer of x to column x. */
LINE_INLINE int layer_column(const cpu_ends *ends, int high, int x) {
  return high ? x - ends->inside[1] : x;
}

/* Returns 1 if the line there has points of the layer. */
LINE_INLINE int layer_has(const cpu_ends *ends, int column) {
  return ends->of.bounded[AXIS_X] && column > -LINE && column < ends->of.rows;
}

LINE_INLINE cpu_vector columns_load(const cpu_columns *columns, int column) {
  return line_load(columns->of + LINE + column);
}

/* Returns 1 if the line at column x has points in a layer of x. */
LINE_INLINE int line_in_layer(const cpu_ends *ends, int x) {
  return x < ends->inside[0] || x + LINE > ends->inside[1];
}

/* Returns 1 if a patch has points of the layer of x. */
LINE_INLINE int strip_meets(const cpu_ends *ends, const cpu_patch *patch, int high) {
  const int x1 = patch->x0 + patch->lines * LINE;
  return ends->of.bounded[AXIS_X] && (high ? x1 > ends->inside[1] : patch->x0 < ends->inside[0]);
}

/* Returns 1 if line b of output k waits for penalties. */
LINE_INLINE int layer_holds(const cpu_layer *layer, int k, int b) {
  return (layer->holds >> k & 1U) && (b < layer->held[1] || b >= layer->held[2]);
}

/* The row of a closure along y or z for row, or plane, i of the bundle. */
LINE_INLINE int layer_row_of(const cpu_layer *layer, int d, int i) {
  return layer->high[d] ? layer->row[d] - i : layer->row[d] + i;
}

/* The first point of a line of a bundle, in the slab. */
typedef struct cpu_point {
  int p[3];
} cpu_point;

LINE_INLINE cpu_point bundle_point(const cpu_bundle *bundle, int k, int r, int b) {
  const cpu_patch *patch = bundle->patch;
  return (cpu_point){{patch->x0 + b * LINE, bundle->y + r, patch->z + k}};
}

/* Fills `to` for the points of a launch. */
void CPU_NAME(ends_make_cpu_)(const kernels_launch *launch, const kernels_call *call,
                              const kernels_ends *ends, const kernels_inflow *inflow,
                              const kernels_coupling *coupling, cpu_ends *to);

/* The velocity along d on the line at p; from: e->velocity, a constant where time matters. */
LINE_INLINE cpu_vector ends_velocity(const cpu_ends *e, operation_velocity from, int d, const int p[3]) {
  if (from == VELOCITY_STORED) return line_load(e->component[d] + layer_element(&e->of, p));
  if (from != VELOCITY_TABLES) return line_fill(e->uniform[d]);
  const ptrdiff_t pitch = e->of.step[AXIS_Y] + 2 * KERNELS_TABLE_SIDE;
  const real *y = e->table[AXIS_Y] + (ptrdiff_t)p[1] * KERNELS_TABLE;
  const real *z = e->table[AXIS_Z] + (ptrdiff_t)p[2] * KERNELS_TABLE;
  return table_velocity(line_load(e->table[AXIS_X] + d * pitch + p[0]), line_fill(y[d] * z[d]),
                        line_fill(y[3 + d] + z[3 + d]));
}

/* A difference. in: the input at point (0, 0, 0); product: 1 if it is multiplied by the velocity along the
 * axis first. */
typedef struct cpu_closed {
  const real *in;
  operation_difference of;
  int product;
} cpu_closed;

/* Computes the differences along y or z of a bundle that lies in a layer of that axis. */
void CPU_NAME(closed_rows_cpu_)(const cpu_layer *layer, const cpu_closed *closed, int d,
                                const cpu_bundle *bundle, int planes);

/* Computes the differences along x of a bundle's points in layers of x. */
void CPU_NAME(closed_columns_cpu_)(const cpu_layer *layer, const cpu_closed *closed, const cpu_bundle *bundle,
                                   int planes);

/* Adds the penalties to the lines that wait for them, and stores these lines. */
void CPU_NAME(penalties_cpu_)(const cpu_layer *layer, const cpu_bundle *bundle, int planes,
                              cpu_output *outputs);

#endif
