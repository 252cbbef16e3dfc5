#ifndef FDAPP_PROBLEMS_FLOW_STATE_H
#define FDAPP_PROBLEMS_FLOW_STATE_H

#include "flow.h"
#include "problems/cases.h"

/* The case of a configuration as a state of compressible flow: formulas, datasets named as the unknowns, or
 * one of the cases with problem_flow. Pure functions of configuration, grid and index, as in cases.h. */

/* The gas of a configuration. A Reynolds number gives the viscosity at the temperature of the case. */
flow_gas flow_gas_of(const config *config);
/* The viscosity at a temperature over that at viscosity_temperature. */
double flow_gas_law(const flow_gas *gas, double temperature);

/* Names of the unknowns, and of their datasets in the case's file. */
extern const char *const flow_names[FLOW_UNKNOWNS];
const char *flow_dataset(int unknown);

/* 1 if the state is known at all times. */
int flow_state_known(const config *config);

/* The largest rates of the initial state on this slab: sum |u_d|/h_d + c sqrt(sum 1/h_d^2), and viscosity
 * over density times max(1, gamma/Pr) sum 1/h_d^2. STATUS_USAGE where density or pressure is not positive,
 * with the place; else as flow_state_open. */
status flow_state_rates(const config *config, const grid *grid, double *rate, double *diffusive);

/* One unknown at a time at which it is known. */
typedef struct flow_state {
  const config *config;
  const grid *grid;
  double time;
  int unknown;
  double (*table[3])[PROBLEM_FLOW_ENTRIES]; /* of the points of each axis */
  formula_team formula;                     /* if the case is a formula */
  file_planes planes;                       /* if it is a file */
} flow_state;

/* STATUS_MEMORY, and as cases_open; after an error there is nothing to close. config and grid must outlive
 * it. */
status flow_state_open(const config *config, const grid *grid, double time, int unknown, flow_state *state);
void flow_state_close(flow_state *state);
/* A field_row; user: a flow_state. */
void flow_state_row(const void *user, int64_t z, int64_t y, double *row);
/* The same as cases_verdict. */
status flow_state_verdict(const flow_state *state);

#endif
