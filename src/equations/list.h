#ifndef FDAPP_EQUATIONS_LIST_H
#define FDAPP_EQUATIONS_LIST_H

/* The equations that physics.equation chooses from, in the order of --list:
 *
 *     X(NAME, CARRIED, "kinds of ends", "what it is, for --list")
 *
 * NAME_equation is an object (equation.h) in the file equations/NAME.c. CARRIED is 1 if a velocity field
 * carries its unknowns; an equation without takes neither a velocity field nor the other keys of physics. The
 * kinds are those of [boundary] that its axes may have beside periodic, as ", KIND" each; "": none.
 *
 * Config/, which lies below the equations, takes the names from here, so this header includes nothing. */
#define EQUATIONS(X)                                                                                         \
  X(advection, 1, ", open", "advection by a velocity field, and diffusion, of phi")                          \
  X(acoustics, 0, ", wall, free, absorbing", "sound: pressure p and velocity u, v, w of a medium at rest")

/* Places in the list. */
enum {
#define X(name, carried, ends, help) EQUATION_##name,
  EQUATIONS(X)
#undef X
};

#endif
