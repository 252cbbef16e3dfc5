#ifndef FDAPP_OUTPUT_DIAGNOSTICS_H
#define FDAPP_OUTPUT_DIAGNOSTICS_H

#include <mpi.h>

#include "domain/figures.h"
#include "output/table.h"
#include "stepping/schedule.h"

/* Integrals, extrema and errors of the fields, the same bits on any number of ranks: sums per z-plane in the
 * backend's fixed order (kernels.h), then over planes in global order on rank 0, all in double. With W the
 * quadrature weights of the grid and dV = hx hy hz:
 *
 * mass = sum W f dV, l2 = sqrt(sum W f^2 dV), err_l1 = sum W |e| dV, err_l2 = sqrt(sum W e^2 dV),
 * err_linf = max |e|, e = f - exact. */
typedef struct diagnostics_field {
  double mass, l2, minimum, maximum;
  double error_l1, error_l2, error_linf; /* NaN if no exact solution is known at this time */
} diagnostics_field;

typedef struct diagnostics_record {
  int64_t step;
  double energy;            /* 1/2 sum of weight l2^2 over the fields, if the equation has an energy */
  double time, dt, courant; /* courant: dt times the rate */
  diagnostics_field field[STATE_FIELDS];
  double figure[FIGURES_MOST];
  int finite; /* 0: a field has a value that is not finite */
} diagnostics_record;

typedef struct diagnostics {
  MPI_Comm comm;
  grid grid;
  int fields;
  const char *const *names;
  int with_errors; /* 1: the table has columns of errors */
  int with_energy; /* 1: it has a column of energy, with these weights */
  double weight[STATE_FIELDS];
  figures figures;            /* count 0: none. They take the place of mass, l2, min and max in the table */
  const config *config;       /* for them */
  kernels_plane_sums *planes; /* this rank's planes of one field */
  kernels_plane_sums *all;    /* rank 0: all planes of one field in global order */
  int *counts, *offsets;      /* rank 0: bytes from each rank */
  table table;                /* diagnostics.csv; of rank 0 */
} diagnostics;

/* Makes diagnostics for states of `fields` fields of these names, which must outlive it. every: steps between
 * rows. with_errors: 1 if there is an exact solution at any time. The columns are step, time, dt, then mass,
 * l2, min, max, courant and, with errors, err_l1, err_l2, err_linf of the first field; then for each further
 * field NAME the same without courant, as mass_NAME ... Collective. STATUS_MEMORY, STATUS_MPI. */
status diagnostics_create(MPI_Comm comm, const grid *grid, int fields, const char *const names[],
                          int64_t every, int with_errors, diagnostics *diagnostics);
void diagnostics_destroy(diagnostics *diagnostics);

/* Adds a column of energy, 1/2 sum weight[i] l2_i^2, after dt. Call it before the table is opened. Not
 * collective. STATUS_MEMORY. */
status diagnostics_add_energy(diagnostics *diagnostics, const double weight[STATE_FIELDS]);

/* Replaces the energy in `record` by half the integral of `density`. Collective. STATUS_DEVICE, STATUS_MPI.
 */
status diagnostics_energy(diagnostics *diagnostics, const field *density, diagnostics_record *record);
/* Writes these figures instead of mass, l2, min and max. Call it before the table is opened; config must
 * outlive the diagnostics. Not collective. STATUS_MEMORY. */
status diagnostics_add_figures(diagnostics *diagnostics, const config *config, const figures *figures);

/* Removes the errors, for fields that are not a solution of the configured problem. Call it before the table
 * is opened. Not collective. STATUS_MEMORY. */
status diagnostics_drop_errors(diagnostics *diagnostics);

/* Measures `fields` at the end of a step. exact: NULL, or the exact solution then. rate: largest sum
 * |c_i|/h_i at that time. [out] record on every rank. work: for figures, which need valid halos; overwritten,
 * and may be part of `exact`. Collective. STATUS_DEVICE, STATUS_MPI. */
status diagnostics_measure(diagnostics *diagnostics, const state *fields, const state *exact, field *work,
                           const schedule *schedule, int64_t step, double courant,
                           diagnostics_record *record);

/* Rank 0: appends a row (%.17g) to the open table and flushes it. STATUS_FILE. */
status diagnostics_append(diagnostics *diagnostics, const diagnostics_record *record);

#endif
