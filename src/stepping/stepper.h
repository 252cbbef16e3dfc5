#ifndef FDAPP_STEPPING_STEPPER_H
#define FDAPP_STEPPING_STEPPER_H

#include "config/config.h"
#include "domain/halo.h"

// clang-format off
/* Explicit Runge-Kutta steps of d phi / dt = L(phi, t). The stepper knows stages, fields and halos; what L is, only
 * the right-hand side knows.
 *
 * Every scheme is written as stages
 *     out = base + weight_f (f - base) + sum_i weight_extra[i] (extra[i] - base) + dt b L(f, t + c dt),
 * the least traffic for one stencil load per stage. Words moved per point and step:
 *
 *   SSPRK3  2 + 3 + 3     =  8  convex combinations written with differences
 *   RK4     2 + 3 + 3 + 3 = 11  L constant in time: Horner's form of the stability polynomial,
 *                               phi + dt L(phi + dt/2 L(phi + dt/3 L(phi + dt/4 L phi)))
 *   RK4     2 + 3 + 3 + 5 = 13  otherwise, from its stage fields:
 *                               phi + ((phi1 - phi) + 2 (phi2 - phi) + (phi3 - phi))/3 + dt/6 L phi3
 *   CK45    2 + 4 x 3     = 14  two registers, without the increment K of the 2N form: K_j = (phi_j - phi_j-1)/B_j-1, so
 *                               phi_j+1 = phi_j + B_j A_j/B_j-1 (phi_j - phi_j-1) + dt B_j L phi_j
 *
 * A velocity adds none, for no field of it is stored (advection.h); the manufactured solution's sources add 2 a stage.
 * Sources: C.-W. Shu and S. Osher, J. Comput. Phys. 77 (1988) 439; M. H. Carpenter and C. A. Kennedy, NASA TM-109112
 * (1994), solution 3. */
// clang-format on

enum { STEPPER_STAGES = 5, STEPPER_SLOTS = 4 };
enum { STEPPER_HALO_FIELDS = 1 }; /* whose halos are exchanged at once */

/* One stage on one or two ranges of planes, as the right-hand side gets it. weight: dt b; time: t + c dt. */
typedef struct stepper_stage {
  kernels_planes planes[KERNELS_RANGES];
  kernels_event *edges; /* NULL, or to be recorded when the slab's edges are computed (kernels_launch) */
  field *out;
  const field *f;        /* halos valid */
  const field *base;     /* NULL: f */
  const field *extra[2]; /* NULL: none */
  double weight_f, weight_extra[2];
  double weight;
  double time;
} stepper_stage;

typedef struct stepper_rhs {
  void *self;
  int steady; /* L does not depend on time */
  status (*stage)(void *self, const stepper_stage *stage);
} stepper_rhs;

/* Where a stage's time goes, summed over the stages that were sampled: what overlaps is seen by comparing
 * edges + halo with interior. */
typedef struct stepper_times {
  double edges;    /* until the edge planes were computed; 0 without overlap */
  double interior; /* kernels on the interior planes; where edges come first in the same kernel, or without
                    * overlap, on the whole slab */
  double halo;     /* from then until the halos are there */
  int64_t samples;
} stepper_times;

typedef struct stepper_scheme stepper_scheme; /* a table of stages; stepper.c */

typedef struct stepper {
  const stepper_scheme *scheme;
  stepper_rhs rhs;
  halo *halo;
  field slots[STEPPER_SLOTS]; /* slots[0] is phi between steps; the others are scratch then */
  int slot_count;
  int overlap;
  kernels_event *edges_start, *edges_done, *interior_start, *interior_done;
  stepper_times times;
  int timing;               /* whether the stage under way is timed */
  kernels_graph *graphs[2]; /* a step recorded, for each of the two places that phi can be in */
  int place;                /* which one phi is in */
  double recorded_dt;
} stepper;

/* Allocates the fields. `halo` (of STEPPER_HALO_FIELDS) and what `rhs` points to must outlive the stepper.
 * Not collective. STATUS_MEMORY, STATUS_DEVICE; stepper_destroy is due all the same. */
status stepper_create(const field_space *space, config_scheme scheme, stepper_rhs rhs, halo *halo,
                      int overlap, stepper *stepper);
void stepper_destroy(stepper *stepper);

/* Exchanges the halos of all fields once: what transports open for a field is open when time counts.
 * Collective. STATUS_MPI, STATUS_DEVICE. */
status stepper_connect(stepper *stepper);

/* phi; the address of the field stays, its memory may change from step to step. */
field *stepper_phi(stepper *stepper);

/* A field that may be written between steps and is overwritten by the next one. */
field *stepper_scratch(stepper *stepper);

/* One step of size dt from time t. phi: halos valid before and after. Collective between neighbours. Returns
 * when everything is enqueued. timed: the last stage lies between events, for stepper_sample; they hold a
 * device up, some 3 us each. STATUS_MPI, STATUS_DEVICE, STATUS_MEMORY. */
status stepper_step(stepper *stepper, double t, double dt, int timed);

/* Adds the last stage of the latest step, which was timed, to `times`. Call it when everything enqueued is
 * done. Not collective. STATUS_DEVICE. */
status stepper_sample(stepper *stepper);

/* Fields that the scheme needs, phi included, and words moved per point and step with `stage_words` further
 * words per stage (advection_field_count). */
int stepper_field_count(config_scheme scheme, int steady);
int stepper_words(config_scheme scheme, int steady, int stage_words);

/* Stability limits: of sum |c| dt / h for pure advection with first derivatives of `order`, and of
 * kappa dt sum of (-symbol)/h^2 for pure diffusion (the scheme's intervals on the imaginary and the negative
 * real axis). */
double stepper_advection_limit(config_scheme scheme, int order);
double stepper_diffusion_limit(config_scheme scheme);

/* |R(z)|: what one step does to a mode whose rate of change is z/dt times itself, z = real + i imaginary. */
double stepper_growth(config_scheme scheme, double real, double imaginary);

#endif
