#include "problems/flow_state.h"

double flow_gas_law(const flow_gas *gas, double temperature) {
  const double t = temperature, t0 = gas->viscosity_temperature, s = gas->sutherland;
  return gas->law == FLOW_SUTHERLAND ? t / t0 * sqrt(t / t0) * (t0 + s) / (t + s) : 1.0;
}

flow_gas flow_gas_of(const config *config) {
  const int by_number = cases_at(config->initial)->flow != NULL && config->reynolds > 0.0;
  const double length = config->l[0] / (2.0 * PROBLEM_PI);
  const double viscosity = by_number ? length / config->reynolds : config->viscosity;
  flow_gas gas = {.form = (flow_form)(config->form - (int)FORM_KEEP_PE),
                  .law = viscosity > 0.0 ? (flow_law)config->viscosity_law : FLOW_INVISCID,
                  .gamma = config->gamma,
                  .gas_constant = config->gas_constant,
                  .prandtl = config->prandtl,
                  .viscosity = viscosity,
                  .viscosity_temperature = config->viscosity_temperature,
                  .sutherland = config->sutherland_temperature,
                  .dissipation = config->dissipation};
  if (by_number) gas.viscosity /= flow_gas_law(&gas, problem_flow_temperature(config));
  return gas;
}
