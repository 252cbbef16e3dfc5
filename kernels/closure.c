#include "closure.h"

#include "closure_tables.h"

const closure *closure_of(int order) {
  return &closures[order / 2 - 1];
}

int closure_least_planes(const closure *closure, int halo) {
  const int within = closure->width - halo;
  const int least = closure->rows > within ? closure->rows : within;
  return least > halo ? least : halo;
}
