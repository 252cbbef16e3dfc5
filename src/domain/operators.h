#ifndef FDAPP_DOMAIN_OPERATORS_H
#define FDAPP_DOMAIN_OPERATORS_H

#include "domain/halo.h"

/* Differential operators on whole fields: halo exchange and kernels, for programs built on the library
 * (fdapp's own equations use fused stages). The inputs' halos need not be valid before and are valid after;
 * the outputs' halos are not. They return when everything is enqueued on MAIN. Inputs must exist until
 * halo_leave. A divergence needs a halo for 3 fields. Collective between neighbours. Errors are those of
 * halo_begin and halo_end, STATUS_MPI and STATUS_DEVICE. */

/* Along an axis, from one load of f: out[0] the first derivative, out[1] the second one, out[2] the
 * dissipation that turns central into upwind differences (stencil.h). Those that are NULL are left out; one
 * is not. */
status operators_differences(halo *halo, const stencil *stencil, axis axis, const field *f,
                             field *const out[3]);
status operators_derivative(halo *halo, const stencil *stencil, axis axis, const field *f, field *out);
status operators_gradient(halo *halo, const stencil *stencil, const field *f, field *const out[3]);
status operators_divergence(halo *halo, const stencil *stencil, const field *const v[3], field *out);
status operators_laplacian(halo *halo, const stencil *stencil, const field *f, field *out);

#endif
