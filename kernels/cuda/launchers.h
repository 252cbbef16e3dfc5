#ifndef FDAPP_CUDA_LAUNCHERS_H
#define FDAPP_CUDA_LAUNCHERS_H

#include "context.h"

/* The numerical slots of the table, once per precision: NAME_float and NAME_double. Each enqueues on the
 * launch's queue and checks its launch. The caller has selected the device, and there are planes to write. */

#define LAUNCHERS(REAL)                                                                                      \
  status pencils_##REAL(const kernels_launch *launch, int variant, kernels_part part, axis along,            \
                        const void *f, void *out);                                                           \
  status parts_##REAL(const kernels_launch *launch, kernels_part part, axis along, const void *f,            \
                      void *out);                                                                            \
  status layers_##REAL(const kernels_launch *launch, const kernels_call *call);                              \
  status flow_##REAL(const kernels_launch *launch, const struct flow_call *call);                            \
  status wave_##REAL(const kernels_launch *launch, const struct kernels_wave *call);                         \
  status plane_sums_##REAL(const kernels_launch *launch, const void *f, const void *reference,               \
                           const kernels_weights *weights, kernels_plane_sums *sums);                        \
  status minplus_##REAL(const kernels_launch *launch, const kernels_minplus *product);                       \
  status minplus_loop_##REAL(const kernels_launch *launch, const void *in, void *out, double *pairs);        \
  status minplus_plain_##REAL(const kernels_launch *launch, int variant, const kernels_minplus *product);    \
  status stream_##REAL(const kernels_launch *launch, const kernels_stream *stream);                          \
  const char *pair_refused_##REAL(const kernels_launch *launch, const kernels_call *first,                   \
                                  const kernels_call *second, int always);                                   \
  status apply_pair_##REAL(const kernels_launch *launch, const kernels_call *first,                          \
                           const kernels_call *second);                                                      \
  status meet_##REAL(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting);         \
  /* cudaSuccess if this build has code for the current device. */                                           \
  cudaError_t vector_image_##REAL(void)

LAUNCHERS(float);
LAUNCHERS(double);
#undef LAUNCHERS

/* One launcher for each way of an operation (OPERATION_WAYS); the call has the options of that way and any of
 * its additions. */
typedef status launcher(const kernels_launch *launch, const kernels_call *call);
#define X(kind, options, way) launcher apply_##way##_float, apply_##way##_double;
OPERATION_WAYS(X)
#undef X

/* Ways of computing a derivative; those before VARIANT_PRODUCTION are pencil tiles. */
enum { VARIANT_SHORT, VARIANT_LONG, VARIANT_TILE, VARIANT_PRODUCTION, VARIANT_COUNT };

/* Simple ways of computing a min-plus product. */
enum { MINPLUS_NO_REUSE, MINPLUS_SHARED, MINPLUS_VARIANTS };

#endif
