#include "problems/flow_state.h"

flow_gas flow_gas_of(const config *config) {
  const int by_number = cases_at(config->initial)->flow != NULL && config->reynolds > 0.0;
  const double length = config->l[0] / (2.0 * PROBLEM_PI);
  const double viscosity = by_number ? length / config->reynolds : config->viscosity;
  return (flow_gas){.form = (flow_form)(config->form - (int)FORM_KEEP_PE),
                    .law = viscosity > 0.0 ? (flow_law)config->viscosity_law : FLOW_INVISCID,
                    .gamma = config->gamma,
                    .gas_constant = config->gas_constant,
                    .prandtl = config->prandtl,
                    .viscosity = viscosity,
                    .viscosity_temperature = config->viscosity_temperature,
                    .sutherland = config->sutherland_temperature,
                    .dissipation = config->dissipation};
}
