#include "ends.h"

/* Penalties at ends (kernels_inflow, kernels_coupling), end after end, on the lines of a bundle that wait for
 * them. */

/* A bundle's lines of an output that wait. */
typedef struct held_lines {
  const cpu_layer *layer;
  const cpu_patch *patch;
  int y, rows;
  cpu_vector (*lines)[CPU_PLANES][CPU_ROWS];
} held_lines;

LINE_INLINE cpu_vector *held_line(const held_lines *held, cpu_place p) {
  return &held->lines[p.b][p.k][p.r];
}

/* The values g on an end of y or z (kernels_inflow). */
static cpu_vector values_given(const layer_ends *e, int d, int high, const int p[3]) {
  const real *value = e->value[d][high];
  cpu_vector line = {0};
  if (value == NULL) return line_fill(e->number);
  value += p[0] + (ptrdiff_t)e->n[AXIS_X] * p[AXIS_Y + AXIS_Z - d];
  for (int i = 0; i < LINE && p[0] + i < e->n[AXIS_X]; i++) line[i] = value[i];
  return line;
}

/* The part of the velocity that points inwards. */
LINE_INLINE cpu_vector speed_inwards(const cpu_ends *ends, int d, int high, const int p[3]) {
  const cpu_vector speed = ends->of.sign * ends_velocity(ends, ends->velocity, d, p);
  return high ? -speed : speed;
}

/* An end of x. */
typedef struct end_columns {
  int high, x;          /* x: its column */
  int b;                /* the line that has it, or -1 */
  cpu_lane_integers on; /* its lane there */
} end_columns;

LINE_INLINE end_columns end_make(const cpu_ends *ends, const cpu_patch *patch, int high) {
  const int x = high ? ends->of.last[AXIS_X] : 0;
  end_columns end = {.high = high, .x = x, .b = -1};
  for (int b = 0; b < patch->lines; b++) {
    const int lane = x - line_column(patch, b);
    if (lane < 0 || lane >= LINE) continue;
    end.b = b;
    end.on = lanes_make() == (cpu_lane_integers){0} + (lane_integer)lane;
  }
  return end;
}

/* Draws all points of the layer of x to a value, in the row of `place`. */
static void pull_columns(const held_lines *held, int high, cpu_place place, real lacks) {
  const cpu_ends *ends = held->layer->ends;
  for (place.b = 0; place.b < held->patch->lines; place.b++) {
    const int column = layer_column(ends, high, line_column(held->patch, place.b));
    if (!layer_has(ends, column)) continue;
    const cpu_vector pull = columns_load(&ends->pull[high], column);
    cpu_vector *line = held_line(held, place);
    *line = line_choose(pull != 0, line_fma(pull, line_fill(lacks), *line), *line);
  }
}

/* In plane k of the bundle. Nothing is stored before all is read, because stores could change anything. */
LINE_INLINE void inflow_columns(const held_lines *held, const end_columns *end, int k) {
  const cpu_ends *ends = held->layer->ends;
  const layer_ends *e = &ends->of;
  const int high = end->high, rows = held->rows;
  const real *value = e->value[AXIS_X][high];
  real lacks[CPU_ROWS], speed[CPU_ROWS];
  for (int r = 0; r < rows; r++) {
    const int p[3] = {end->x, held->y + r, held->patch->z + k};
    const real given = value == NULL ? e->number : value[p[1] + (ptrdiff_t)e->n[AXIS_Y] * p[2]];
    lacks[r] = given - ends->in[layer_element(e, p)];
    speed[r] = speed_inwards(ends, AXIS_X, high, p)[0];
  }
  const real weight = e->weight[AXIS_X];
  cpu_place place = {.k = k, .b = end->b};
  for (place.r = 0; place.r < rows && end->b >= 0; place.r++) {
    if (!(speed[place.r] > 0)) continue;
    cpu_vector *line = held_line(held, place);
    const cpu_vector factor = line_fill(weight * speed[place.r]);
    *line = line_choose(end->on, line_fma(factor, line_fill(lacks[place.r]), *line), *line);
  }
  for (place.r = 0; place.r < rows && ends->pulls[AXIS_X][high]; place.r++)
    pull_columns(held, high, place, lacks[place.r]);
}

/* row: of the closure along d. */
static void inflow_line(const held_lines *held, int d, int high, int row, const int p[3], cpu_vector *line) {
  const cpu_ends *ends = held->layer->ends;
  const layer_ends *e = &ends->of;
  const real pull = e->pull[d][high][row];
  const cpu_vector found = line_load(ends->in + layer_element(e, p) + (high ? row : -row) * e->step[d]);
  const cpu_vector lacks = values_given(e, d, high, p) - found;
  if (row == 0) {
    const cpu_vector speed = speed_inwards(ends, d, high, p);
    *line = line_choose(speed > 0, line_fma(e->weight[d] * speed, lacks, *line), *line);
  }
  if (pull != 0) *line = line_fma(line_fill(pull), lacks, *line);
}

LINE_INLINE void coupling_columns(const held_lines *held, const end_columns *end, int k) {
  const layer_ends *e = &held->layer->ends->of;
  cpu_place place = {.k = k, .b = end->b};
  for (; place.r < held->rows && end->b >= 0; place.r++) {
    const int p[3] = {end->x, held->y + place.r, held->patch->z + k};
    const ptrdiff_t at = layer_element(e, p);
    cpu_vector *line = held_line(held, place), sum = *line;
    for (int i = 0; i < 2; i++)
      sum = line_fma(line_fill(e->coupling[AXIS_X][end->high][i]), line_fill(e->coupled[AXIS_X][i][at]), sum);
    *line = line_choose(end->on, sum, *line);
  }
}

static void coupling_line(const held_lines *held, int d, int high, const int p[3], cpu_vector *line) {
  const layer_ends *e = &held->layer->ends->of;
  const ptrdiff_t at = layer_element(e, p);
  for (int i = 0; i < 2; i++)
    *line = line_fma(line_fill(e->coupling[d][high][i]), line_load(e->coupled[d][i] + at), *line);
}

/* Adds the penalties of one end of x. coupling: 1, or 0 for inflow. */
static void columns_add(const held_lines *held, int planes, int coupling, int high) {
  const cpu_ends *ends = held->layer->ends;
  if (!strip_meets(ends, held->patch, high)) return;
  const end_columns end = end_make(ends, held->patch, high);
  for (int k = 0; k < planes; k++) {
    if (coupling) {
      coupling_columns(held, &end, k);
    } else {
      inflow_columns(held, &end, k);
    }
  }
}

/* The same of an end of y or z. */
static void lines_add(const held_lines *held, int planes, int coupling, int d, int high) {
  const cpu_layer *layer = held->layer;
  if (layer->row[d] < 0 || layer->high[d] != high) return;
  for (int k = 0; k < planes; k++) {
    for (int r = 0; r < held->rows; r++) {
      const int row = layer_row_of(layer, d, d == AXIS_Y ? r : k);
      if (row != 0 && (coupling || layer->ends->of.pull[d][high][row] == 0)) continue;
      for (int b = 0; b < held->patch->lines; b++) {
        const int p[3] = {line_column(held->patch, b), held->y + r, held->patch->z + k};
        cpu_vector *line = held_line(held, (cpu_place){.k = k, .r = r, .b = b});
        if (coupling) {
          coupling_line(held, d, high, p, line);
        } else {
          inflow_line(held, d, high, row, p, line);
        }
      }
    }
  }
}

static void end_add(const held_lines *held, int planes, int coupling, int d, int high) {
  if (!held->layer->ends->adds[d][high]) return;
  if (d == AXIS_X) {
    columns_add(held, planes, coupling, high);
  } else {
    lines_add(held, planes, coupling, d, high);
  }
}

/* Whole cache lines at a time. The numbers are local, because the stores could change any others. */
static void lines_store(const held_lines *held, int planes, real *to) {
  const int p[3] = {0, held->y, held->patch->z};
  const layer_ends *e = &held->layer->ends->of;
  const ptrdiff_t first = layer_element(e, p), step_row = e->step[AXIS_Y], step_plane = e->step[AXIS_Z];
  const int rows = held->rows, lines = held->patch->lines, nontemporal = held->patch->nontemporal;
  for (int b = 0; b < lines; b += STORE_LINES) {
    for (int k = 0; k < planes; k++) {
      for (int r = 0; r < rows; r++) {
        real *at = to + first + k * step_plane + r * step_row + line_column(held->patch, b);
        for (int i = 0; i < STORE_LINES; i++)
          line_copy(at + i * LINE, held_line(held, (cpu_place){.k = k, .r = r, .b = b + i}), nontemporal);
      }
    }
  }
}

/* In the order of kernels_inflow: axis after axis, what enters before what is drawn. */
static void group_add(const held_lines *held, int k, int planes) {
  const cpu_ends *ends = held->layer->ends;
  for (int end = 0; end < 6 && k == 0 && ends->of.enters; end++) end_add(held, planes, 0, end / 2, end % 2);
  for (int end = 0; end < 6 && ends->of.couples; end++) {
    if (k == (ends->outputs == 7 ? end / 2 : 0)) end_add(held, planes, 1, end / 2, end % 2);
  }
  lines_store(held, planes, ends->out[k]);
}

void CPU_NAME(penalties_cpu_)(cpu_layer layer, cpu_patch patch, int y, int rows, int planes, int groups) {
  for (int i = 0; i < groups; i++) {
    for (int k = 0; k < OPERATION_OUTPUTS; k++) {
      if (!(layer.holds >> k & 1U)) continue;
      const held_lines held = {&layer, &patch, y + i * CPU_ROWS, rows, layer.held[k].line + i * patch.lines};
      group_add(&held, k, planes);
    }
  }
}
