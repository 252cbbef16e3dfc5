#ifndef FDAPP_DOMAIN_STATE_H
#define FDAPP_DOMAIN_STATE_H

#include "domain/field.h"

/* The unknowns of an equation on one rank's slab: named fields of one shape, advanced, exchanged and stored
 * together. */

enum { STATE_FIELDS = 20 }; /* most fields of a state */

typedef struct state {
  int count;                /* fields in use, 1 .. STATE_FIELDS */
  const char *const *names; /* of each field, as files and tables show it; constant strings */
  field part[STATE_FIELDS];
} state;

/* Allocates `count` fields of `space`. `names` must outlive the state. Not collective. STATUS_MEMORY,
 * STATUS_DEVICE; call state_destroy even after an error. */
status state_create(const field_space *space, int count, const char *const *names, state *state);
void state_destroy(state *state);

/* [out] list: pointers to the state->count fields, as halo_exchange takes them. */
void state_list(const state *state, const field *list[STATE_FIELDS]);

#endif
