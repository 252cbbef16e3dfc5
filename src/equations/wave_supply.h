#ifndef FDAPP_EQUATIONS_WAVE_SUPPLY_H
#define FDAPP_EQUATIONS_WAVE_SUPPLY_H

#include "domain/field.h"
#include "problems/medium.h"
#include "problems/source.h"
#include "wave_call.h"

/* The source of [source] of a wave: p_tt += c^2 S(x, y, z) g(t). With K = c^2 dt^2, p_next gets
 *
 *   K S g                                                                   leapfrog
 *   K S (g + (g(t + dt) - 2 g(t) + g(t - dt))/12) + K/12 L(K S) g           leapfrog4
 *
 * Like a wavelet, g is 0 before t = 0, where it may begin with a jump. So that no order is lost, the step
 * from t = 0 takes the integral of (1 - s) g(s dt) over s = 0 .. 1: g/2, and of order 4 g(0)/6 + g(dt/2)/3,
 * with g/2 in the other term. */
typedef struct wave_supply {
  int count;       /* of `array`: 0 without a source, 2 with leapfrog4 */
  field array[2];  /* K S, and K/12 L(K S); on ends, what wave_supply_keep says of them */
  double largest;  /* of c^2 |S| on this slab */
  uint64_t hash;   /* as equation.files */
  formula *factor; /* g */
  double dt;
} wave_supply;

/* Makes the first array; the second one is K S with its halo planes, of which the caller takes L. Errors as
 * of source_open and source_verdict; wave_supply_close even after an error. */
status wave_supply_open(const field_space *space, const medium *medium, const kernels_wave *step, double dt,
                        wave_supply *supply);
/* Sets a field to what ends keep of a step: 0 on free ends, 1/(1 + sqrt(K)/h) on absorbing ones, else 1.
 * Waits for what is enqueued on it. */
status wave_supply_keep(const medium *medium, const kernels_wave *step, double dt, field *field);
void wave_supply_close(wave_supply *supply);

/* Adds the source of the step from t to the launch's planes of `out`. STATUS_DEVICE. */
status wave_supply_add(const wave_supply *supply, const kernels_launch *launch, double t, const field *out);

/* A bound on the pressure that it makes until the end of a run. */
double wave_supply_largest(const wave_supply *supply, const config *config);

#endif
