#include <math.h>

#include "base/text.h"
#include "problems/cases.h"
#include "settings/equations.h"

static void check_waves(const config *config, const grid *grid, char text[CASES_HELD]) {
  static const char *const names[3] = {"kx", "ky", "kz"};
  for (int d = 0; d < 3; d++) {
    const int waves = config->wave_number[d] < 0 ? -config->wave_number[d] : config->wave_number[d];
    if (waves == 0 || !problem_uses(config, "initial", names[d])) continue;
    const double points = grid->l[d] / grid->h[d] / waves;
    if (points < CASES_LEAST_POINTS)
      text_add(text, CASES_HELD, "; ", "initial.%s = %d leaves %.3g points per wave (fewer than %g)",
               names[d], config->wave_number[d], points, CASES_LEAST_POINTS);
  }
}

double cases_needed_width(const config *config, double narrowest) {
  /* waves cross the box many times, each at its own speed: a pulse of two spacings had an error of 46 % at
   * the far wall of a room */
  return narrowest * (equation_is(config, EQUATION_MEDIUM) ? 1.5 : 1.0);
}

static void check_width(const config *config, const grid *grid, char text[CASES_HELD]) {
  const initial_case *initial = cases_at(config->initial);
  const int flat = !problem_uses(config, "initial", "center_z"); /* nothing varies along z */
  const double h = fmax(grid->h[0], fmax(grid->h[1], flat ? 0.0 : grid->h[2]));
  const double needed = cases_needed_width(config, initial->narrowest);
  if (!problem_uses(config, "initial", "width") || config->width >= needed * h) return;
  text_add(text, CASES_HELD, "; ", "initial.width = %.4g is %.3g spacings (%s needs %g)", config->width,
           config->width / h, initial->name, needed);
}

/* A jump has waves of all lengths, of which waves leave the short ones behind and central differences make
 * ripples. Upwind differences damp them in advection. */
static void check_jumps(const config *config, char text[CASES_HELD]) {
  const initial_case *initial = cases_at(config->initial);
  const int carried = equation_is(config, EQUATION_CARRIED);
  if (!initial->jumps || (carried && config->difference == CONFIG_DIFFERENCE_UPWIND)) return;
  text_add(text, CASES_HELD, "; ",
           "initial.case = %s jumps at its edge, which leaves ripples (gaussian and blob are smooth%s)",
           initial->name, carried ? "; physics.difference = upwind damps them" : "");
}

/* A body outside a box with ends is not there: the state is constant. */
static void check_center(const config *config, char text[CASES_HELD]) {
  static const char *const names[3] = {"center_x", "center_y", "center_z"};
  for (int d = 0; d < 3; d++) {
    const double reach = problem_uses(config, "initial", "width") ? config->width : 0.0;
    const int outside = config->center[d] < -reach || config->center[d] > config->l[d] + reach;
    if (!outside || !problem_bounded(config, d) || !problem_uses(config, "initial", names[d])) continue;
    text_add(text, CASES_HELD, "; ", "initial.%s = %.4g is outside the box, 0 to %.4g", names[d],
             config->center[d], config->l[d]);
  }
}

static void check_precision(const config *config, char text[CASES_HELD]) {
  const double step = fabs(config->background) * problem_rounding(config->precision);
  const double steps = fabs(config->amplitude) / step;
  if (!problem_uses(config, "initial", "amplitude") || step == 0.0 || steps >= CASES_LEAST_STEPS) return;
  text_add(text, CASES_HELD, "; ",
           "initial.amplitude = %.4g on a background of %.4g is %.2g steps of %s precision (fewer than %g)",
           config->amplitude, config->background, steps,
           config->precision == PRECISION_SINGLE ? "single" : "double", CASES_LEAST_STEPS);
}

const char *cases_not_held(const config *config, const grid *grid, char text[CASES_HELD]) {
  text[0] = '\0';
  check_waves(config, grid, text);
  check_width(config, grid, text);
  check_jumps(config, text);
  check_center(config, text);
  check_precision(config, text);
  return text;
}
