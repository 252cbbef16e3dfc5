#ifndef FDAPP_SETTINGS_EQUATIONS_H
#define FDAPP_SETTINGS_EQUATIONS_H

/* The values of physics.equation, in the order of --list:
 *
 *     X(NAME, CARRIED, ENDS, "keys of [physics]", "description, for --list")
 *
 * NAME_equation is an object (equation.h) in the file equations/NAME.c. CARRIED is 1 if it uses the velocity
 * field of [velocity]. ENDS is the mask of the kinds of [boundary] that its axes may have besides periodic;
 * 0: none. The keys of [physics] are named that it uses, and formula_NAME of [source] for each unknown but
 * the first; all others have no effect.
 *
 * src/config, which is below the equations, reads the names from here. */
#define EQUATION_END(kind) (1U << CONFIG_END_##kind)
#define EQUATIONS(X)                                                                                         \
  X(advection, 1, EQUATION_END(OPEN) | EQUATION_END(DIRICHLET), "form difference diffusivity",               \
    "advection by a velocity field, and diffusion, of phi")                                                  \
  X(acoustics, 0, EQUATION_END(WALL) | EQUATION_END(FREE) | EQUATION_END(ABSORBING),                         \
    "difference density sound_speed formula_u formula_v formula_w",                                          \
    "sound: pressure p and velocity u, v, w of a medium at rest")                                            \
  X(wave, 0, EQUATION_END(WALL) | EQUATION_END(FREE) | EQUATION_END(ABSORBING) | EQUATION_END(LAYER),        \
    "sound_speed", "waves: pressure p of a medium at rest, of second order in time")                         \
  X(flow, 0, 0,                                                                                              \
    "form gamma gas_constant prandtl viscosity viscosity_law viscosity_temperature sutherland_temperature "  \
    "dissipation formula_u formula_v formula_w formula_energy",                                              \
    "compressible flow of an ideal gas: density, u, v, w and pressure")

/* Indices in the list. */
enum {
#define X(name, carried, ends, keys, help) EQUATION_##name,
  EQUATIONS(X)
#undef X
};

#endif
