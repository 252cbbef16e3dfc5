#ifndef FDAPP_CPU_ENDS_H
#define FDAPP_CPU_ENDS_H

/* Closures and penalties on lines. Along an axis in whose layer a point lies, its difference is a row of a
 * closure instead of the interior one. Each way of an operation is compiled twice (way.h): the function for
 * grids with ends calls the three functions below for lines in layers. These are compiled once for all ways,
 * so that compiling takes little longer. */

#include "bundle.h"
#include "layer_ends.h"

/* A number for each point of a layer of x, by column, with zeros before and after them. */
typedef struct cpu_columns {
  real of[LINE + CLOSURE_ROWS + LINE];
} cpu_columns;

/* The data that all bundles of a call share. */
typedef struct cpu_ends {
  layer_ends of;
  cpu_columns row[2][DIFFERENCES][CLOSURE_WIDTH]; /* along x: coefficients for each point, from the end on */
  int inside[2];               /* columns between the layers of x: inside[0] <= x < inside[1] */
  unsigned outputs, penalised; /* masks: of all outputs, of those that penalties are added to */
  int pulls[3][2];             /* 1: layer_ends.pull has a number that is not 0 */
  cpu_columns pull[2];         /* layer_ends.pull along x, by column */
  const real *in;              /* input 0 at point (0, 0, 0) */
  operation_velocity velocity; /* the source of the velocity; arrays at point (0, 0, 0) */
  const real *component[3], *table[3];
  real uniform[3];
} cpu_ends;

/* The layers that a bundle lies in. Bundles in layers of y or z are one row of one plane (patch.h). */
typedef struct cpu_layer {
  const cpu_ends *ends;
  int row[3], high[3]; /* along y and z: of layer_row; row is -1 for larger bundles */
  int penalised;       /* 1: the bundle is on an end of y or z, or an end draws it to a value */
  int line[4]; /* where three parts of its lines begin, and the last one ends: those of the middle part
                * lie in no layer and have no images */
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

/* Returns 1 if rows y to y + rows - 1, or planes, reach into a layer. */
LINE_INLINE int layer_meets(const layer_ends *e, int d, int first, int count) {
  const int from_low = e->start[d] + first, to_low = from_low + count - 1;
  return e->bounded[d] && (from_low < e->rows || e->last[d] - to_low < e->rows);
}

/* Fills `to` for the points of a launch. */
void CPU_NAME(ends_make_cpu_)(const kernels_launch *launch, const kernels_call *call,
                              const kernels_ends *ends, const kernels_inflow *inflow,
                              const kernels_coupling *coupling, cpu_ends *to);

/* ---- Lines in layers. p: the first point of a line, in the slab ---- */

/* The velocity along d; from: e->velocity, a constant where time matters. */
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

/* [out] line: the difference along y or z, in whose layer the line lies. */
void CPU_NAME(closed_row_cpu_)(const cpu_layer *layer, const cpu_closed *closed, int d, const int p[3],
                               cpu_vector *line);

/* Replaces the differences along x of those points of the line that lie in a layer. */
void CPU_NAME(closed_line_cpu_)(const cpu_layer *layer, const cpu_closed *closed, const int p[3],
                                cpu_vector *line);

/* Adds the penalties to the line of output k. */
void CPU_NAME(penalties_cpu_)(const cpu_layer *layer, int k, const int p[3], cpu_vector *line);

#endif
