#include "settings/equations.h"

const equation_entry equation_entries[EQUATION_COUNT] = {
#define X(entry, ...) {.name = #entry, __VA_ARGS__},
    EQUATIONS(X)
#undef X
};
