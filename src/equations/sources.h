#ifndef FDAPP_EQUATIONS_SOURCES_H
#define FDAPP_EQUATIONS_SOURCES_H

#include "equations/equation.h"
#include "problems/cases.h"
#include "problems/source.h"
#include "settings/scheme.h"

/* The sources of [source] (problems/source.h) of any equation of first order in time. Each is an array S of
 * one unknown; a stage adds its weight times g(t) S after all that the equation computes. */
enum { SOURCES_STEPS = 64 };
typedef struct sources {
  const equation *equation;
  const field_space *space;
  int any; /* 1: there is a source or a force */
  int count;
  int unknown[STATE_FIELDS];    /* of each source */
  field array[STATE_FIELDS];    /* S */
  double largest[STATE_FIELDS]; /* of |S| on this slab */
  double force[3];              /* on a flow, per mass */
  uint64_t hash;                /* as equation.files */
  formula *factor;              /* g */
  stencil stencil;
  /* The numbers weight g of all stages of a step, in the field's precision. Recorded stages read them, so
   * each step copies its own to MEMORY_DEVICE, if they are others than the last step's. Copies of
   * SOURCES_STEPS steps in MEMORY_STAGING let the host run ahead of a device. */
  char *staged, *numbers;
  double latest[SCHEME_STAGES];
  int copies; /* since the host waited for the device */
} sources;

/* The name of an unknown in [source]. */
const char *sources_name(const equation *equation, int unknown);

/* Number of sources, and 1 if none changes with time. Need no device. */
int sources_count(const config *config, const equation *equation);
int sources_steady(const config *config);
/* Checks source.file; [out] text as of cases_files_check. STATUS_FILE, STATUS_USAGE. */
status sources_check(const config *config, const equation *equation, const grid *grid, char text[CASES_HELD]);

/* Evaluates the sources on this slab without storing them. STATUS_MEMORY; errors as of sources_open. */
status sources_try(const config *config, const equation *equation, const grid *grid);

/* Evaluates and stores the sources. Not collective. STATUS_MEMORY, STATUS_DEVICE; errors as of source_open
 * and source_verdict. Call sources_close even after an error. */
status sources_open(const config *config, const equation *equation, const grid *grid,
                    const field_space *space, sources *sources);
void sources_close(sources *sources);

/* Sets the numbers of a step's stages (stepper_rhs.begin). STATUS_DEVICE. */
status sources_begin(sources *sources, const stage *stages, int count);
/* Adds all sources to a stage of the equation `terms`, enqueued; the edges are complete after them.
 * STATUS_DEVICE. */
status sources_add(const sources *sources, void *terms, const stage *stage);

/* The rate at which sources raise the root mean square over all unknowns with these weights (equation.h) is
 * at most sources_largest, for this slab, times the factor. */
double sources_largest(const sources *sources, const double weight[STATE_FIELDS]);

#endif
