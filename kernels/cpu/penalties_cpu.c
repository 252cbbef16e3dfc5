#include "ends.h"

/* Penalties at ends (kernels_inflow, kernels_coupling), line by line. */

/* The points of a line on and beside an end, and what lies there. */
typedef struct beside {
  cpu_lane_integers on; /* lanes of the points on the end */
  cpu_vector pull, value;
} beside;

/* All lanes, or none. */
static cpu_lane_integers lanes_all(int condition) {
  return (cpu_lane_integers){0} - (lane_integer)(condition != 0);
}

/* One lane, or none if it lies outside the line. */
static cpu_lane_integers lanes_one(int lane) {
  return lanes_make() == (cpu_lane_integers){0} + (lane_integer)lane;
}

/* The values g at the end (kernels_inflow). */
static cpu_vector value_given(const layer_ends *e, int d, int high, const int p[3]) {
  const real *value = e->value[d][high];
  cpu_vector line = {0};
  if (value == NULL) return line_fill(e->number);
  if (d == AXIS_X) return line_fill(value[p[1] + (ptrdiff_t)e->n[AXIS_Y] * p[2]]);
  value += p[0] + (ptrdiff_t)e->n[AXIS_X] * p[AXIS_Y + AXIS_Z - d];
  for (int i = 0; i < LINE && p[0] + i < e->n[AXIS_X]; i++) line[i] = value[i];
  return line;
}

/* Input 0 on the end. */
static cpu_vector value_found(const cpu_layer *layer, int d, int high, const int p[3]) {
  const layer_ends *e = &layer->ends->of;
  const real *in = layer->ends->in + layer_element(e, p);
  if (d == AXIS_X) return line_fill(in[(high ? e->last[d] : 0) - p[0]]);
  return line_load(in + (high ? layer->row[d] : -layer->row[d]) * e->step[d]);
}

/* Returns 1 if a line has points in the layer of an end. [out] on: those on the end. */
static int meets(const cpu_layer *layer, int d, int high, const int p[3], cpu_lane_integers *on) {
  const layer_ends *e = &layer->ends->of;
  if (d == AXIS_X) {
    *on = lanes_one((high ? e->last[d] : 0) - p[0]);
    return layer_has(layer->ends, layer_column(layer->ends, high, p[0]));
  }
  *on = lanes_all(layer->row[d] == 0);
  return layer->row[d] >= 0 && layer->high[d] == high;
}

/* In the order of kernels_inflow: axis after axis, what enters before what is drawn. */
static cpu_vector inflow_add(const cpu_layer *layer, const int p[3], cpu_vector result) {
  const layer_ends *e = &layer->ends->of;
  for (int end = 0; end < 6; end++) {
    const int d = end / 2, high = end % 2;
    cpu_lane_integers on;
    if (!meets(layer, d, high, p, &on)) continue;
    const cpu_vector inwards = e->sign * ends_velocity(layer->ends, layer->ends->velocity, d, p);
    const cpu_vector speed = line_choose(on, high ? -inwards : inwards, (cpu_vector){0});
    const cpu_vector lacks = value_given(e, d, high, p) - value_found(layer, d, high, p);
    result = line_choose(speed > 0, line_fma(e->weight[d] * speed, lacks, result), result);
    if (!layer->ends->pulls[d][high]) continue;
    const cpu_vector pull =
        d == AXIS_X ? columns_load(&layer->ends->pull[high], layer_column(layer->ends, high, p[0]))
                    : line_fill(e->pull[d][high][layer->row[d]]);
    result = line_choose(pull != 0, line_fma(pull, lacks, result), result);
  }
  return result;
}

static cpu_vector coupling_add(const cpu_layer *layer, int k, const int p[3], cpu_vector result) {
  const layer_ends *e = &layer->ends->of;
  const ptrdiff_t at = layer_element(e, p);
  for (int end = 0; end < 6; end++) {
    const int d = end / 2, high = end % 2;
    cpu_lane_integers on;
    if (k != (layer->ends->outputs == 7 ? d : 0) || !meets(layer, d, high, p, &on)) continue;
    cpu_vector sum = result;
    for (int i = 0; i < 2; i++)
      sum = line_fma(line_fill(e->coupling[d][high][i]), line_load(e->coupled[d][i] + at), sum);
    result = line_choose(on, sum, result);
  }
  return result;
}

void CPU_NAME(penalties_cpu_)(const cpu_layer *layer, int k, const int p[3], cpu_vector *line) {
  if (k == 0 && layer->ends->of.enters) *line = inflow_add(layer, p, *line);
  if (layer->ends->of.couples) *line = coupling_add(layer, k, p, *line);
}
