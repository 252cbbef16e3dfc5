#ifndef FDAPP_CPU_ENDS_H
#define FDAPP_CPU_ENDS_H

/* Closures and penalties on bundles. A layer is the set of points beside an end of an axis; there, a
 * difference along this axis is a row of a closure instead of the interior one. Each way of an operation is
 * compiled twice (way.h): the function for periodic grids computes bundles outside all layers, the function
 * for grids with ends bundles in layers. If a bundle has penalties, its results wait in scratch lines, and
 * penalties_cpu_, which is compiled once for all ways, adds the penalties and stores the results. */

#include "bundle.h"
#include "layer_ends.h"

/* One number per column of a layer along x. One vector of zeros before them and two after them let any vector
 * be loaded whole that overlaps the layer, or lies in the padding of its row. */
typedef struct cpu_columns {
  _Alignas(CPU_LINE_BYTES) real of[LINE + CLOSURE_ROWS + 2 * LINE];
} cpu_columns;

/* A call. Its arrays are in the order of the declaration, its numbers have the field's precision. */
typedef struct cpu_job {
  cpu_frame frame;
  unsigned additions; /* the call's options beyond those of the way */
  unsigned terms;     /* mask of the terms in use */
  const real *in[OPERATION_ARRAYS], *table[3];
  real *out[LEAN_OUTPUTS];
  void *const *outputs; /* all of them, those of the call, for ways with more */
  cpu_vector scalar[OPERATION_SCALARS], weight[OPERATION_WEIGHTS], uniform[3];
} cpu_job;

/* Array of output k. */
LINE_INLINE real *job_out(const cpu_job *job, int k) {
  return k < LEAN_OUTPUTS ? job->out[k] : job->outputs[k];
}

/* A call on a grid with ends. */
typedef struct cpu_ends {
  cpu_job job; /* the first member, so that outside_layers can take this struct as a cpu_job */
  const operation *operation;
  patch_function *outside_layers, *in_layers;
  layer_ends of;
  int inside[2];                   /* columns between the layers of x: inside[0] <= x < inside[1] */
  unsigned penalised;              /* mask of the outputs that penalties are added to, of the first three */
  int adds[3][2];                  /* 1: penalties may be added at this end */
  int pulls[3][2];                 /* 1: layer_ends.pull has a number that is not 0 */
  cpu_columns pull[2], damping[2]; /* of layer_ends along x, by column */
  /* layer_ends.row along x: row[difference][end][j] holds, for each column, the coefficient by which its row
   * multiplies point j from the end. */
  cpu_columns row[DIFFERENCES][2][CLOSURE_WIDTH];
} cpu_ends;

/* Where the lines of a patch's bundles lie. A group of CPU_ROWS rows has only a few lines beside ends of x,
 * too few to be worth a bundle. There, a bundle has the lines of several groups. */
typedef struct cpu_lines {
  int groups;             /* most groups of a bundle */
  int x[STRIP], y[STRIP]; /* column; first row, counted from the bundle's first one */
  ptrdiff_t at[STRIP];    /* offset from column 0 of the bundle's first row */
} cpu_lines;

/* The layers that a bundle lies in. No bundle has points in and outside a layer of y or z (patch_cut). */
typedef struct cpu_layer {
  const cpu_ends *ends;
  const cpu_lines *line;
  int lines;           /* number of the bundle's lines */
  int first[3];        /* along y and z: the first row and plane of the bundle */
  int count[3];        /* along y and z: rows of a group, and planes */
  cpu_scratch *held;   /* results that wait for penalties, for each of the first three outputs */
  int row[3], high[3]; /* along y and z: layer_row's results for the bundle's first row or plane */
  unsigned adds;       /* bit 2 d + high: the penalties of this end are added */
  unsigned holds;      /* mask of the outputs that wait for penalties */
  int within;          /* 1: the bundle's lines are of kind LINES_WITHIN */
} cpu_layer;

/* Number of columns from the first one of a layer of x to column x. */
LINE_INLINE int layer_column(const cpu_ends *ends, int high, int x) {
  return high ? x - ends->inside[1] : x;
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
  const int last = line_column(patch, patch->lines - 1);
  return ends->of.bounded[AXIS_X] && (high ? last + LINE > ends->inside[1] : patch->x0 < ends->inside[0]);
}

/* The closure's row for row i of the bundle (along y), or for plane i (along z). */
LINE_INLINE int layer_row_of(const cpu_layer *layer, int d, int i) {
  return layer->high[d] ? layer->row[d] - i : layer->row[d] + i;
}

/* The first point of a line of a bundle, in the slab. */
typedef struct cpu_point {
  int p[3];
} cpu_point;

LINE_INLINE cpu_point layer_point(const cpu_layer *layer, int k, int r, int b) {
  return (cpu_point){
      {layer->line->x[b], layer->first[AXIS_Y] + layer->line->y[b] + r, layer->first[AXIS_Z] + k}};
}

/* Offset of point p of the slab in the job's arrays. */
LINE_INLINE ptrdiff_t ends_element(const cpu_ends *e, const int p[3]) {
  return KERNELS_HALO * e->of.step[AXIS_Z] + layer_element(&e->of, p);
}

/* Fills `to` for the points of a launch. The caller has set job, operation and the two functions; all other
 * members are zero. */
void CPU_NAME(ends_make_cpu_)(const kernels_launch *launch, const kernels_call *call, cpu_ends *to);

/* The velocity along d on the line at p. o: e->operation, or a constant equal to it if the caller has one,
 * which removes the tests. */
LINE_INLINE cpu_vector ends_velocity(const cpu_ends *e, const operation *o, int d, const int p[3]) {
  const cpu_job *job = &e->job;
  if (o->velocity == VELOCITY_STORED) return line_load(job->in[o->velocity_input + d] + ends_element(e, p));
  if (o->velocity != VELOCITY_TABLES) return job->uniform[d];
  const ptrdiff_t pitch = e->of.step[AXIS_Y] + 2 * KERNELS_TABLE_SIDE;
  const real *y = job->table[AXIS_Y] + (ptrdiff_t)p[1] * KERNELS_TABLE;
  const real *z = job->table[AXIS_Z] + (ptrdiff_t)p[2] * KERNELS_TABLE;
  return table_velocity(line_load(job->table[AXIS_X] + d * pitch + p[0]), line_fill(y[d] * z[d]),
                        line_fill(y[3 + d] + z[3 + d]));
}

/* Adds the penalties to a bundle's lines and stores the lines. The layer is passed by value: if another
 * function had its address, compilers would read its members from memory again after each store. */
void CPU_NAME(penalties_cpu_)(cpu_layer layer, int nontemporal);

#endif
