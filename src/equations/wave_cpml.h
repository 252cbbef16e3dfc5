#ifndef FDAPP_EQUATIONS_WAVE_CPML_H
#define FDAPP_EQUATIONS_WAVE_CPML_H

#include "domain/field.h"
#include "equations/equation.h"
#include "wave_call.h"

/* The absorbing layers of a wave on this rank's slab (kernels/wave_layers.h). At the depth d = 1 on the end
 * to 0 at the inner edge, with R = boundary.layer_reflection and c the largest speed of sound,
 *
 *     s = -3 ln(R) c d^2/(2 n h),   alpha = pi f (1 - d),   b = e^(-(s + alpha) dt),   a = s (b - 1)/(s +
 * alpha),
 *
 * f the frequency of the point sources, or 0.1 c/h without them. */
typedef struct wave_cpml {
  const kernels *backend;
  kernels_context *context;
  kernels_shape shape;
  wave_layers layers; /* points = 0: there are none; addresses in MEMORY_DEVICE */
  wave_image ends[2]; /* of z */
} wave_cpml;

/* What layers remember (equation.h). */
void wave_cpml_memory(const config *config, const grid *grid, equation_memory *memory);

/* `step` has the kinds of ends; fastest: the largest speed of sound of all ranks. STATUS_MEMORY,
 * STATUS_DEVICE; wave_cpml_close even after an error. */
status wave_cpml_open(const config *config, const grid *grid, const field *like, const kernels_wave *step,
                      double fastest, double dt, wave_cpml *cpml);
void wave_cpml_close(wave_cpml *cpml);

/* Copies what is remembered to, or from, host memory (equation.h, `recall`). */
status wave_cpml_recall(wave_cpml *cpml, void *values, int save);

#endif
