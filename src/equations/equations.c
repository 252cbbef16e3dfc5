#include "equations/equation.h"
#include "settings/equations.h"

#define X(name, ...) extern const equation name##_equation;
EQUATIONS(X)
#undef X

static const equation *const equations[] = {
#define X(name, ...) &name##_equation,
    EQUATIONS(X)
#undef X
};

const equation *equation_of(const config *config) {
  return equations[config->equation];
}
