#include "domain/state.h"

#include <string.h>

status state_create(const field_space *space, int count, const char *const *names, state *state) {
  memset(state, 0, sizeof *state);
  state->names = names;
  for (int i = 0; i < count; i++) {
    CHECK(field_create(space, &state->part[i]));
    state->count++;
  }
  return STATUS_OK;
}

void state_destroy(state *state) {
  for (int i = 0; i < state->count; i++) field_destroy(&state->part[i]);
  state->count = 0;
}

void state_list(const state *state, const field *list[STATE_FIELDS]) {
  for (int i = 0; i < state->count; i++) list[i] = &state->part[i];
}
