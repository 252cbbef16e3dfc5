#ifndef FDAPP_EQUATIONS_LIST_H
#define FDAPP_EQUATIONS_LIST_H

/* The values of physics.equation, in the order of --list:
 *
 *     X(NAME, CARRIED, "kinds of ends", "description, for --list")
 *
 * NAME_equation is an object (equation.h) in the file equations/NAME.c. CARRIED is 1 if a velocity field
 * advects its unknowns; an equation without one uses neither [velocity] nor the other keys of [physics]. The
 * kinds are those of [boundary] besides periodic that its axes may have, as ", KIND" each; "": none.
 *
 * src/config, which is below the equations, reads the names from here, so this header includes nothing. */
#define EQUATIONS(X)                                                                                         \
  X(advection, 1, ", open", "advection by a velocity field, and diffusion, of phi")                          \
  X(acoustics, 0, ", wall, free, absorbing", "sound: pressure p and velocity u, v, w of a medium at rest")

/* Indices in the list. */
enum {
#define X(name, carried, ends, help) EQUATION_##name,
  EQUATIONS(X)
#undef X
};

#endif
