#ifndef FDAPP_EQUATIONS_INFLOW_H
#define FDAPP_EQUATIONS_INFLOW_H

#include "config/config.h"
#include "domain/field.h"
#include "problems/cases.h"

/* The ends of a grid for one field that a velocity carries: the closures, and what enters where the velocity
 * points inwards (boundary.value), evaluated on the host at the points of this slab on each end.
 *
 * The penalty at such a point is |c|/(h w) (g - phi), w the first weight of the closure: the least that makes
 * the energy of the semi-discrete system fall by (g - phi)^2, its strength in M. H. Carpenter, D. Gottlieb
 * and S. Abarbanel, J. Comput. Phys. 111 (1994) 220 being 1. */
typedef struct inflow {
  const config *config;
  const grid *grid;
  const kernels *backend;
  kernels_context *context;
  precision precision;
  kernels_ends ends;
  kernels_inflow call;
  double strength[3];    /* 1/(h w) */
  formula *formula;      /* NULL: the exact solution, or a number */
  size_t points[3];      /* of this slab on an end of each axis */
  void *face[3][2];      /* values on the device; NULL: none on this slab, or a number */
  double *values;        /* of one face, before they are rounded */
  void *staging;         /* of one rank's faces, one after another */
  kernels_event *copied; /* from there */
  int filled;            /* at `time`; and before that nothing is on its way */
  double time, largest;  /* magnitude of any value so far */
} inflow;

/* Whether what enters changes with time. Needs no device. */
int inflow_varies(const config *config);

/* `stencil`: of the operations; `config` and `grid` outlive it. STATUS_MEMORY, STATUS_DEVICE; inflow_close is
 * due all the same, of a zeroed inflow, too. */
status inflow_open(const config *config, const grid *grid, const field_space *space, const stencil *stencil,
                   inflow *inflow);
void inflow_close(inflow *inflow);

/* Makes inflow->call that of a stage at `time`, whose advection term has `weight` and the velocity's time
 * factor `factor`; values are evaluated if the time is another than before. STATUS_USAGE: a value is not
 * finite or too large. */
status inflow_prepare(inflow *inflow, double time, double weight, double factor);

#endif
