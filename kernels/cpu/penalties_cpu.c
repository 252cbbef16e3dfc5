#include "ends.h"

/* Penalties at ends (kernels_inflow, kernels_coupling), end after end, on the lines of a bundle that wait for
 * them. */

/* The closure's row at the point of the line at column x that is nearest to an end of x, or -1 if the line
 * has no point of the layer there. */
LINE_INLINE int column_row(const layer_ends *e, int high, int x) {
  const int last = x + LINE <= e->last[AXIS_X] ? x + LINE - 1 : e->last[AXIS_X];
  int end;
  const int row = layer_row(e, AXIS_X, high ? last : x, &end);
  return end == high ? row : -1;
}

/* Index in the slab of the points on an end. */
LINE_INLINE int end_index(const layer_ends *e, int d, int high) {
  return (high ? e->last[d] : 0) - e->start[d];
}

/* The lanes of line p that are on an end: one along x, all along y and z. */
LINE_INLINE cpu_lane_integers lanes_on(const layer_ends *e, int d, int high, const int p[3]) {
  const cpu_lane_integers none = {0};
  if (d != AXIS_X) return ~none;
  return lanes_make() == none + (lane_integer)(end_index(e, d, high) - p[d]);
}

/* The values g on an end (kernels_inflow) for line p. */
LINE_INLINE cpu_vector values_given(const layer_ends *e, int d, int high, const int p[3]) {
  const real *value = e->value[d][high];
  if (value == NULL) return line_fill(e->number);
  if (d == AXIS_X) return line_fill(value[p[AXIS_Y] + (ptrdiff_t)e->n[AXIS_Y] * p[AXIS_Z]]);
  cpu_vector line = {0};
  value += p[AXIS_X] + (ptrdiff_t)e->n[AXIS_X] * p[AXIS_Y + AXIS_Z - d];
  if (p[AXIS_X] + LINE <= e->n[AXIS_X]) return line_load(value);
  for (int i = 0; i < LINE && p[AXIS_X] + i < e->n[AXIS_X]; i++) line[i] = value[i];
  return line;
}

/* Adds to line p what enters, then what draws it to g. */
LINE_INLINE cpu_vector inflow_line(const cpu_ends *ends, int d, int high, int row, const int p[3],
                                   cpu_vector line) {
  const layer_ends *e = &ends->of;
  int end[3] = {p[0], p[1], p[2]};
  end[d] = end_index(e, d, high);
  const real *in = ends->job.in[0] + ends_element(ends, end);
  const cpu_vector lacks = values_given(e, d, high, p) - (d == AXIS_X ? line_fill(*in) : line_load(in));
  if (row == 0) {
    const cpu_vector speed = (high ? -e->sign : e->sign) * ends_velocity(ends, ends->operation, d, p);
    const cpu_lane_integers enters = lanes_on(e, d, high, p) & (speed > 0);
    line = line_choose(enters, line_fma(e->weight[d] * speed, lacks, line), line);
  }
  if (!ends->pulls[d][high]) return line;
  const cpu_vector pull = d == AXIS_X ? columns_load(&ends->pull[high], layer_column(ends, high, p[d]))
                                      : line_fill(e->pull[d][high][row]);
  return line_choose(pull != 0, line_fma(pull, lacks, line), line);
}

LINE_INLINE cpu_vector coupling_line(const layer_ends *e, int d, int high, const int p[3], cpu_vector line) {
  const ptrdiff_t at = layer_element(e, p);
  cpu_vector sum = line;
  for (int i = 0; i < 2; i++) {
    cpu_vector weight = line_fill(e->coupling[d][high][i]);
    if (e->medium[0] != NULL)
      weight = coupling_weight(i, weight, line_load(e->medium[0] + at), line_load(e->medium[1] + at));
    sum = line_fma(weight, line_load(e->coupled[d][i] + at), sum);
  }
  return line_choose(lanes_on(e, d, high, p), sum, line);
}

/* Adds the penalties of one end to an output. coupling: 1, or 0 for inflow. */
LINE_INLINE void lines_add(const cpu_layer *layer, cpu_scratch *held, int coupling, int d, int high) {
  const cpu_ends *ends = layer->ends;
  const int most = coupling || !ends->pulls[d][high] ? 0 : ends->of.rows - 1; /* last row with a penalty */
  for (int b = 0; b < layer->lines; b++) {
    int row = d == AXIS_X ? column_row(&ends->of, high, layer->line->x[b]) : 0;
    if (row < 0 || row > most) continue;
    for (int k = 0; k < layer->count[AXIS_Z]; k++) {
      for (int r = 0; r < layer->count[AXIS_Y]; r++) {
        if (d != AXIS_X) row = layer_row_of(layer, d, d == AXIS_Y ? r : k);
        if (row > most) continue;
        const cpu_point at = layer_point(layer, k, r, b);
        cpu_vector *line = scratch_line(held, (cpu_place){.k = k, .r = r, .b = b});
        *line = coupling ? coupling_line(&ends->of, d, high, at.p, *line)
                         : inflow_line(ends, d, high, row, at.p, *line);
      }
    }
  }
}

/* Calls lines_add with the axis as a constant. */
static void end_add(const cpu_layer *layer, cpu_scratch *held, int coupling, int d, int high) {
  if (d == AXIS_X) lines_add(layer, held, coupling, AXIS_X, high);
  if (d == AXIS_Y) lines_add(layer, held, coupling, AXIS_Y, high);
  if (d == AXIS_Z) lines_add(layer, held, coupling, AXIS_Z, high);
}

/* Whole cache lines at a time. */
static void lines_store(const cpu_layer *layer, cpu_scratch *held, real *to, int nontemporal) {
  const layer_ends *e = &layer->ends->of;
  const int rows = layer->count[AXIS_Y], planes = layer->count[AXIS_Z];
  const ptrdiff_t step_row = e->step[AXIS_Y], step_plane = e->step[AXIS_Z];
  to += ends_element(layer->ends, layer->first);
  for (int b = 0; b < layer->lines; b += STORE_LINES) {
    real *column = to + layer->line->at[b];
    for (int k = 0; k < planes; k++) {
      for (int r = 0; r < rows; r++) {
        for (int i = 0; i < STORE_LINES; i++)
          line_copy(column + k * step_plane + r * step_row + i * LINE,
                    scratch_line(held, (cpu_place){.k = k, .r = r, .b = b + i}), nontemporal);
      }
    }
  }
}

/* In the order of kernels_call. */
void CPU_NAME(penalties_cpu_)(cpu_layer layer, int nontemporal) {
  const cpu_ends *ends = layer.ends;
  for (int k = 0; k < LEAN_OUTPUTS; k++) {
    if (!(layer.holds >> k & 1U)) continue;
    cpu_scratch *held = &layer.held[k];
    for (int coupling = 0; coupling < 2; coupling++) {
      for (int end = 0; end < 6; end++) {
        const int d = end / 2, high = end % 2, output = coupling && ends->operation->outputs == 7 ? d : 0;
        const int adds = coupling ? ends->of.couples : ends->of.enters;
        if (adds && k == output && (layer.adds >> end & 1U)) end_add(&layer, held, coupling, d, high);
      }
    }
    lines_store(&layer, held, ends->job.out[k], nontemporal);
  }
}
