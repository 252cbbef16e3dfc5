#ifndef FDAPP_EQUATIONS_INFLOW_H
#define FDAPP_EQUATIONS_INFLOW_H

#include "config/config.h"
#include "domain/field.h"
#include "problems/cases.h"

/* The ends of a grid, for one field that a velocity advects: the closures, and the values (boundary.value)
 * that enter where the velocity points inwards, and that ends of the kind dirichlet have. The values are
 * evaluated on the host at this slab's points on each end.
 *
 * The penalty at a point where the value enters is |c|/(h w) (g - phi), with w the first weight of the
 * closure. It is the smallest with which the energy of the semi-discrete system falls by (g - phi)^2:
 * strength 1 in M. H. Carpenter, D. Gottlieb and S. Abarbanel, J. Comput. Phys. 111 (1994) 220.
 *
 * At point i from an end of the kind dirichlet it is kappa/h^2 pull[i] (g - phi on the end), with `pull` and
 * the second derivative that belongs to it from closure.h, beside the penalty above. */
typedef struct inflow {
  const config *config;
  const grid *grid;
  const kernels *backend;
  kernels_context *context;
  precision precision;
  kernels_ends ends;
  kernels_inflow call;
  double strength[3];    /* 1/(h w) */
  double stiffness[3];   /* kappa/h^2 */
  formula *formula;      /* NULL: the exact solution, or a number */
  size_t points[3];      /* number of this slab's points on an end of each axis */
  void *face[3][2];      /* values on the device; NULL: no points on this slab, or a number */
  double *values;        /* values of one face in double */
  void *staging;         /* all faces of this rank, one after another */
  kernels_event *copied; /* recorded when the copy from `staging` is done */
  int filled;            /* 1: the values are those of `time`; 0: nothing has been copied yet */
  double time;
  double range[2]; /* minimum and maximum of all values so far; empty: INFINITY, -INFINITY */
  double jump;     /* largest change at a point between evaluations, since it was asked for */
} inflow;

/* Returns 1 if the inflow changes with time. Needs no device. */
int inflow_varies(const config *config);

/* `stencil`: of the operations. `config` and `grid` must outlive the inflow. STATUS_MEMORY, STATUS_DEVICE;
 * call inflow_close even after an error, also for a zeroed inflow. */
status inflow_open(const config *config, const grid *grid, const field_space *space, const stencil *stencil,
                   inflow *inflow);
void inflow_close(inflow *inflow);

/* Sets inflow->call for a stage at `time` whose right-hand side has `weight` and the velocity's time factor
 * `factor`. Values are evaluated if `time` has changed; those that are not finite are part of `range`. */
status inflow_prepare(inflow *inflow, double time, double weight, double factor);

#endif
