#ifndef FDAPP_DOMAIN_OPERATORS_H
#define FDAPP_DOMAIN_OPERATORS_H

#include "domain/halo.h"

/* Differential operators on whole fields: halo exchange and kernels. For programs that are built on fields;
 * fdapp's own equation has its stages fused. Collective between neighbours; inputs' halos need not be valid
 * before and are valid after; outputs' halos are not. Return when everything is enqueued on MAIN. Inputs live
 * until halo_leave. A divergence needs a halo of 3 fields. Errors are those of halo_begin and halo_end,
 * STATUS_MPI and STATUS_DEVICE. */

status operators_derivative(halo *halo, const stencil *stencil, axis axis, const field *f, field *out);
status operators_gradient(halo *halo, const stencil *stencil, const field *f, field *const out[3]);
status operators_divergence(halo *halo, const stencil *stencil, const field *const v[3], field *out);
status operators_laplacian(halo *halo, const stencil *stencil, const field *f, field *out);

#endif
