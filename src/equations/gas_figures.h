#ifndef FDAPP_EQUATIONS_GAS_FIGURES_H
#define FDAPP_EQUATIONS_GAS_FIGURES_H

#include "domain/figures.h"

/* The member `figures` of the equation: numbers of `find` are those of kernels/flow.h. */
extern const figures gas_figures;

#endif
