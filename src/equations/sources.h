#ifndef FDAPP_EQUATIONS_SOURCES_H
#define FDAPP_EQUATIONS_SOURCES_H

#include "equations/equation.h"
#include "problems/formula.h"

/* The sources of [source] (problems/source.h) of any equation. Each is an array S of one unknown; a stage
 * adds its weight times g(t) S after all that the equation computes. */
typedef struct sources {
  int count;
  int unknown[STATE_FIELDS];    /* of each source */
  field array[STATE_FIELDS];    /* S */
  double largest[STATE_FIELDS]; /* of |S| on this slab */
  formula *factor;              /* g */
  stencil stencil;
} sources;

/* Number of sources, and 1 if none changes with time. Need no device. */
int sources_count(const config *config, const equation *equation);
int sources_steady(const config *config);

/* Evaluates and stores the sources. Not collective. STATUS_MEMORY, STATUS_DEVICE; STATUS_USAGE as
 * source_verdict. Call sources_close even after an error. */
status sources_open(const config *config, const equation *equation, const grid *grid,
                    const field_space *space, sources *sources);
void sources_close(sources *sources);

/* Adds all sources to a stage, enqueued; the edges are complete after them. STATUS_DEVICE. */
status sources_add(const sources *sources, const stage *stage);

/* The rate at which sources raise the root mean square over all unknowns with these weights (equation.h) is
 * at most sources_largest, for this slab, times sources_factor, for the times between the two. */
double sources_largest(const sources *sources, const double weight[STATE_FIELDS]);
double sources_factor(const sources *sources, double from, double to);

#endif
