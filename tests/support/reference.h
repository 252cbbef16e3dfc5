#ifndef FDAPP_TESTS_REFERENCE_H
#define FDAPP_TESTS_REFERENCE_H

#include "advection_stage.h"

/* What every backend has to compute, bit for bit: plain triple loops over host arrays with fma() where
 * kernels.h and arithmetic.h say so, written without the backends' headers. Signatures as in the table. */

/* Any operation: of the list in operations.h, each has a function of a point in reference_real.c. */
void reference_apply(const kernels_launch *launch, const kernels_call *call);
void reference_derivative(const kernels_launch *launch, axis direction, const void *f, void *out);
void reference_gradient(const kernels_launch *launch, const void *f, void *const out[3]);
void reference_divergence(const kernels_launch *launch, const void *const v[3], void *out);
void reference_laplacian(const kernels_launch *launch, const void *f, void *out);
void reference_stage(const kernels_launch *launch, const advection_stage *stage);
void reference_axpy(const kernels_launch *launch, double a, const void *x, void *y);
void reference_plane_sums(const kernels_launch *launch, const void *f, const void *reference,
                          kernels_plane_sums *sums);

/* Value of a point, x and y wrapped. */
double reference_value(const kernels_shape *shape, const void *f, int x, int y, int z);
/* Component d of the velocity that tables in host memory stand for, at a point or image. */
double reference_formula(const kernels_shape *shape, const kernels_tables *tables, int d, int x, int y,
                         int z);
void reference_set(const kernels_shape *shape, void *f, int x, int y, int z, double value);

#endif
