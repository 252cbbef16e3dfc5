#ifndef FDAPP_SETTINGS_EQUATIONS_H
#define FDAPP_SETTINGS_EQUATIONS_H

#include "settings/settings.h"

/* What folders below src/equations ask of an equation. */
typedef struct equation_entry {
  const char *name;
  const char *help; /* for --list */
  unsigned is;      /* mask of what is below */
  unsigned ends;    /* mask of the kinds of [boundary] that its axes may have besides periodic */
  int closure;      /* order of the closures beside ends of axes; 0: compute.order */
  int derived;      /* mask of CONFIG_DERIVED: what output.derived has of it besides the gradient */
  /* The keys that it uses of [physics], formula_NAME of [source] for each unknown but the first,
   * boundary.absorption, and time.adaptive if steps follow its state; of these all others have no effect.
   * NULL: none. */
  const char *keys;
} equation_entry;

enum {
  EQUATION_CARRIED = 1, /* what it solves is carried by the velocity field of [velocity] */
  EQUATION_MEDIUM = 2,  /* waves cross the medium of [medium], from [point_sources] to [receivers] */
  EQUATION_DENSITY = 4, /* the medium has a density beside its speed */
  EQUATION_LEAPS = 8,   /* of second order in time: it has schemes that leap, and one size of all steps */
  EQUATION_GAS = 16 /* the state is that of a gas (problems/flow_state.h): cases, forms and steps of flow */
};

/* The values of physics.equation, in the order of --list: X(NAME, members of the entry but its name). What
 * is not said is 0. NAME_equation is an object (equation.h) in the file src/equations/NAME.c. */
#define EQUATION_END(kind)  (1U << CONFIG_END_##kind)
#define EQUATION_SOUND_ENDS (EQUATION_END(WALL) | EQUATION_END(FREE) | EQUATION_END(ABSORBING))
#define EQUATIONS(X)                                                                                         \
  X(advection, .help = "advection by a velocity field, and diffusion, of phi", .is = EQUATION_CARRIED,       \
    .ends = EQUATION_END(OPEN) | EQUATION_END(DIRICHLET), .keys = "form difference diffusivity")             \
  X(acoustics, .help = "sound: pressure p and velocity u, v, w of a medium at rest",                         \
    .is = EQUATION_MEDIUM | EQUATION_DENSITY, .ends = EQUATION_SOUND_ENDS,                                   \
    .derived = CONFIG_DERIVED_INTENSITY,                                                                     \
    .keys = "difference density sound_speed absorption formula_u formula_v formula_w")                       \
  X(wave, .help = "waves: pressure p of a medium at rest, of second order in time",                          \
    .is = EQUATION_MEDIUM | EQUATION_LEAPS, .ends = EQUATION_SOUND_ENDS | EQUATION_END(LAYER), .closure = 2, \
    .keys = "sound_speed")                                                                                   \
  X(flow, .help = "compressible flow of an ideal gas: density, u, v, w and pressure", .is = EQUATION_GAS,    \
    .derived = CONFIG_DERIVED_FLOW,                                                                          \
    .keys = "form gamma gas_constant prandtl viscosity viscosity_law viscosity_temperature "                 \
            "sutherland_temperature dissipation adaptive formula_u formula_v formula_w formula_energy")

/* Indices in the list. */
enum {
#define X(name, ...) EQUATION_##name,
  EQUATIONS(X)
#undef X
      EQUATION_COUNT
};

extern const equation_entry equation_entries[EQUATION_COUNT];

/* Returns 1 if the run's equation is one of these. */
static inline int equation_is(const config *config, unsigned mask) {
  return (equation_entries[config->equation].is & mask) != 0;
}

#endif
