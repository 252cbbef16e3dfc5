#ifndef FDAPP_CUDA_LAUNCHERS_H
#define FDAPP_CUDA_LAUNCHERS_H

#include "context.h"

/* The table's numerical operations, once per precision: NAME_float and NAME_double. Each enqueues on the
 * launch's queue and checks its launch; the device is already chosen and there are planes to write. */

#define LAUNCHERS(REAL)                                                                                      \
  status derivative_##REAL(const kernels_launch *launch, axis along, const void *f, void *out);              \
  status derivative_variant_##REAL(const kernels_launch *launch, int variant, axis along, const void *f,     \
                                   void *out);                                                               \
  status gradient_##REAL(const kernels_launch *launch, const void *f, void *const out[3]);                   \
  status divergence_##REAL(const kernels_launch *launch, const void *const v[3], void *out);                 \
  status laplacian_##REAL(const kernels_launch *launch, const void *f, void *out);                           \
  status stage_##REAL(const kernels_launch *launch, const kernels_stage *stage);                             \
  status axpy_##REAL(const kernels_launch *launch, double a, const void *x, void *y);                        \
  status plane_sums_##REAL(const kernels_launch *launch, const void *f, const void *reference,               \
                           kernels_plane_sums *sums);                                                        \
  status minplus_##REAL(const kernels_launch *launch, const kernels_minplus *product);                       \
  status stream_##REAL(const kernels_launch *launch, const kernels_stream *stream);                          \
  /* Whether this build has code for the current device. */                                                  \
  cudaError_t vector_image_##REAL(void)

LAUNCHERS(float);
LAUNCHERS(double);
#undef LAUNCHERS

/* derivative_variant: 0 .. VARIANT_PRODUCTION - 1 are the pencil tiles, VARIANT_PRODUCTION is `derivative`.
 */
enum { VARIANT_SHORT, VARIANT_LONG, VARIANT_TILE, VARIANT_PRODUCTION, VARIANT_COUNT };

#endif
