#include <inttypes.h>

#include "base/number.h"
#include "config/config_table.h"
#include "config/kept.h"
#include "config/lists.h"
#include "problems/problem.h"
#include "settings/equations.h"

/* Conditions on what a run writes: places within the domain, data of its equation. */

/* Writes a coordinate with the digits that show that it lies outside. */
static const char *outside_text(const config *c, int axis, double at, char text[NUMBER_TEXT]) {
  return number_apart(at, c->l[axis], text);
}

static status check_probes(const config *c) {
  config_probe probes[CONFIG_MOST_PROBES];
  char text[3][NUMBER_TEXT];
  int count = 0;
  (void)config_probes_read(c->probes, probes, &count);
  for (int i = 0; i < count; i++) {
    const double *at = probes[i].at;
    int outside = 0;
    for (int d = 0; d < 3; d++) outside = outside || problem_outside(c, d, at[d]);
    if (!outside) continue;
    return config_refuse(
        c, "output", "probes",
        "the point %s %s %s is outside the domain; accepted: 0 to %.15g, 0 to %.15g, 0 to %.15g",
        outside_text(c, 0, at[0], text[0]), outside_text(c, 1, at[1], text[1]),
        outside_text(c, 2, at[2], text[2]), c->l[0], c->l[1], c->l[2]);
  }
  return STATUS_OK;
}

static status check_slices(const config *c) {
  config_slice slices[CONFIG_MOST_SLICES];
  char text[NUMBER_TEXT];
  int count = 0;
  (void)config_slices_read(c->slices, slices, &count);
  for (int i = 0; i < count; i++) {
    const int axis = slices[i].axis;
    if (!problem_outside(c, axis, slices[i].at)) continue;
    return config_refuse(c, "output", "slices",
                         "the plane %c=%s is outside the domain; accepted: 0 to %.15g along %c", "xyz"[axis],
                         outside_text(c, axis, slices[i].at, text), c -> l[axis], "xyz"[axis]);
  }
  return STATUS_OK;
}

/* VTK readers need at least two points along each axis of a volume. */
static status check_kept(const config *c) {
  double box[3][2];
  char text[2][NUMBER_TEXT];
  const int boxed = c->fields_box[0] != '\0';
  for (int d = 0; boxed && config_box_read(c->fields_box, box) == NULL && d < 3; d++) {
    if (!problem_outside(c, d, box[d][0]) && !problem_outside(c, d, box[d][1])) continue;
    return config_refuse(
        c, "output", "fields_box", "from %s to %s goes beyond the domain along %c; accepted: 0 to %g",
        outside_text(c, d, box[d][0], text[0]), outside_text(c, d, box[d][1], text[1]), "xyz"[d], c -> l[d]);
  }
  const config_kept kept = config_kept_points(c);
  for (int d = 0; d < 3; d++) {
    if (kept.count[d] >= 2) continue;
    return config_refuse(c, "output", boxed ? "fields_box" : "fields_stride",
                         "leaves %d of the %" PRId64 " points along %c; accepted: two at least",
                         (int)kept.count[d], c->n[d], "xyz"[d]);
  }
  return STATUS_OK;
}

static status check_derived(const config *c) {
  const int own = equation_entries[c->equation].derived, others = c->derived & ~own;
  if (others & CONFIG_DERIVED_FLOW)
    return config_refuse(c, "output", "derived",
                         "has data of physics.equation = flow; accepted: gradient%s, or none",
                         own & CONFIG_DERIVED_INTENSITY ? ", intensity" : "");
  if (!(others & CONFIG_DERIVED_INTENSITY)) return STATUS_OK;
  return config_refuse(
      c, "output", "derived",
      "the intensity is one of sound, of physics.equation = acoustics; accepted: gradient%s, "
      "or none",
      own & CONFIG_DERIVED_FLOW ? ", vorticity, q_criterion, dilatation, mach, temperature, density_gradient"
                                : "");
}

status config_output_check(const config *c) {
  CHECK(check_probes(c));
  CHECK(check_slices(c));
  CHECK(check_kept(c));
  return check_derived(c);
}
