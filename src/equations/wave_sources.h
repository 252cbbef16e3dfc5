#ifndef FDAPP_EQUATIONS_WAVE_SOURCES_H
#define FDAPP_EQUATIONS_WAVE_SOURCES_H

#include "domain/field.h"
#include "problems/medium.h"
#include "problems/points.h"
#include "problems/wavelet.h"
#include "wave_call.h"

enum { WAVE_SIGNALS = 64 };

/* The point sources of a wave, or of sound: what they add on this rank's slab, to p_next of a wave. With the
 * interpolation W (points.h) and H = hx hy hz, halves at ends, source i adds c^2 H^-1 W^T s_i(t) to p_tt, so
 * that reciprocity holds to rounding. Of order 4 in time, with q = c^2 w s, p_next gets
 *
 *   dt^2 q + dt^4/12 c^2 Laplacian q + dt^2/12 c^2 w (s(t + dt) - 2 s(t) + s(t - dt)). */
typedef struct wave_sources {
  const config *config;
  const kernels *backend;
  kernels_context *context;
  precision precision;
  points points;
  wavelet wavelet;
  wave_injection injection; /* addresses in MEMORY_DEVICE */
  /* Two numbers of each source, for WAVE_SIGNALS steps: in MEMORY_STAGING, and their copies. So the host
   * waits for a device once in so many steps, before it writes over what may not have been copied. */
  char *staged, *signals;
  int steps; /* whose signals have been written since */
  double dt;
  int fourth;
  int *starts; /* of each plane of the slab, and of the end: its first point in `injection` */
} wave_sources;

/* What sources act on. Of waves: c^2 from `medium`, and the kinds of ends in `step`. Of sound: dp/dt gets
 * stiffness H^-1 W^T s, H the norm of the closures; `step` is zeroed and dt 1. */
typedef struct wave_sourced {
  const medium *medium;
  const kernels_wave *step;
  const stencil *stencil;
  double dt;
} wave_sourced;

/* Errors as of points_sources and wavelet_open, STATUS_DEVICE; wave_sources_close even after an error.
 * Without sources injection.points is 0. */
status wave_sources_open(const config *config, const grid *grid, const field_space *space,
                         const wave_sourced *of, wave_sources *sources);
void wave_sources_close(wave_sources *sources);

/* Stands for the values of their files: added up over all slabs the same for any number of them. */
uint64_t wave_sources_hash(const wave_sources *sources, const grid *grid);

/* A bound on the pressure beside sources: the sum of |amplitude| over the least spacing. A pulse has 1/(4 pi
 * r) of its amplitude at the distance r. */
double wave_sources_largest(const wave_sources *sources, const grid *grid);

/* Adds the sources, times `scale`, of the step or stage at time t to the launch's planes of `out`.
 * STATUS_DEVICE. */
status wave_sources_add(wave_sources *sources, const kernels_launch *launch, double t, double scale,
                        const field *out);

/* Refuses sources of a frequency whose waves have fewer than two points, at the least speed of this slab.
 * STATUS_USAGE.
 */
status wave_sources_check(const config *config, const grid *grid, double slowest);

#endif
