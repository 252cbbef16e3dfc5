#include "equations/equation.h"
#include "settings/equations.h"

#define X(name, carried, ends, keys, help) extern const equation name##_equation;
EQUATIONS(X)
#undef X

static const equation *const equations[] = {
#define X(name, carried, ends, keys, help) &name##_equation,
    EQUATIONS(X)
#undef X
};

const equation *equation_of(const config *config) {
  return equations[config->equation];
}
