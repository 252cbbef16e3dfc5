#include <math.h>

#include "base/text.h"
#include "config/config_table.h"
#include "problems/problem.h"
#include "settings/equations.h"

/* Defaults and conditions of flow of a gas. */

/* The Courant number if no step is given. */
#define COURANT 0.9

/* S of Sutherland's law over the temperature at which the viscosity is given, and the range of that. */
#define SUTHERLAND        0.4
#define TEMPERATURE_LEAST 1e-8
#define TEMPERATURE_MOST  1e9

static int is_flow(const config *c) {
  return equation_is(c, EQUATION_GAS);
}

/* Sets the temperatures of Sutherland's law. A Reynolds number is that at the temperature of the case, which
 * is then the one at which the viscosity is given. */
static void derive_temperatures(config *c) {
  const int by_number = cases_at(c->initial)->flow != NULL && c->reynolds > 0.0;
  const int given = config_given(c, "physics", "viscosity_temperature");
  const int follows = is_flow(c) && by_number && !given && c->viscosity_law == FLOW_SUTHERLAND;
  double at = 1.0;
  if (follows) at = fmin(fmax(problem_flow_temperature(c), TEMPERATURE_LEAST), TEMPERATURE_MOST);
  if (!given) c->viscosity_temperature = at;
  if (!config_given(c, "physics", "sutherland_temperature")) c->sutherland_temperature = SUTHERLAND * at;
}

void config_flow_derive(config *c) {
  const initial_case *initial = cases_at(c->initial);
  const int flows = is_flow(c);
  if (flows && !(c->courant > 0.0) && !(c->dt > 0.0)) c->courant = COURANT;
  if (!config_given(c, "physics", "form")) c->form = flows ? (int)FORM_KEEP_PE : (int)FORM_ADVECTIVE;
  if (!config_given(c, "time", "adaptive")) c->adaptive = flows && c->courant > 0.0;
  if (!config_given(c, "initial", "amplitude") && initial->flow != NULL)
    c->amplitude = initial->flow->amplitude;
  derive_temperatures(c);
}

static status check_form(const config *c) {
  const int of_flow = c->form >= (int)FORM_KEEP_PE, flows = is_flow(c);
  if (!config_equation_uses(c, "form") || of_flow == flows) return STATUS_OK;
  return config_refuse(c, "physics", "form", "of another equation; accepted: %s",
                       flows ? "keep_pe, keep, kennedy_gruber, divergence" : "advective, conservative, skew");
}

/* Refuses a case of another equation, and two sources of the viscosity. */
static status check_problem(const config *c) {
  const initial_case *initial = cases_at(c->initial);
  const int flows = is_flow(c);
  char accepted[CONFIG_TEXT_SIZE] = "";
  if (initial->from == PROBLEM_FUNCTIONS && (initial->flow != NULL) != flows) {
    for (int i = 0; cases_at(i) != NULL; i++)
      if (cases_at(i)->from != PROBLEM_FUNCTIONS || (cases_at(i)->flow != NULL) == flows)
        text_add(accepted, sizeof accepted, ", ", "%s", cases_at(i)->name);
    return config_refuse(c, "initial", "case", "of another equation; accepted: %s", accepted);
  }
  if (!flows || initial->flow == NULL) return STATUS_OK;
  if (c->reynolds > 0.0 && config_given(c, "physics", "viscosity"))
    return config_refuse(c, "initial", "reynolds",
                         "the viscosity follows from it, and physics.viscosity is given; accepted: one of "
                         "the two");
  if (!(fabs(c->amplitude) < initial->flow->largest))
    return config_refuse(c, "initial", "amplitude", "too large for %s; accepted: a magnitude below %g",
                         initial->name, initial->flow->largest);
  return STATUS_OK;
}

status config_flow_check(const config *c) {
  CHECK(check_form(c));
  return check_problem(c);
}
