#ifndef FDAPP_OUTPUT_FIGURES_H
#define FDAPP_OUTPUT_FIGURES_H

#include "flow.h"
#include "output/diagnostics.h"

/* What compressible flow measures: figures of kernels/flow.h. */

/* The columns of diagnostics.csv. */
diagnostics_figures flow_figures_of(const config *config);

/* Computes a figure at all points of a state with valid halos, with the differences of the run. Not
 * collective; enqueued on MAIN. STATUS_DEVICE. */
status flow_figure_find(const config *config, const grid *grid, const state *state, int figure, field *out);

#endif
