#ifndef FDAPP_TESTS_REFERENCE_REAL_H
#define FDAPP_TESTS_REFERENCE_REAL_H

#include "advection_stage.h"

/* Points and rows in one precision; out-of-range x and y are wrapped. apply and stage: what is stored in row
 * y of plane z. */
typedef struct reference_points {
  double (*value)(const kernels_shape *shape, const void *f, int x, int y, int z);
  void (*set)(const kernels_shape *shape, void *f, int x, int y, int z, double value);
  void (*apply)(const kernels_launch *launch, const kernels_call *call, int y, int z);
  void (*stage)(const kernels_launch *launch, const advection_stage *stage, int y, int z);
  double (*formula)(const kernels_shape *shape, const kernels_tables *tables, int d, int x, int y, int z);
} reference_points;

extern const reference_points reference_points_float;
extern const reference_points reference_points_double;

#endif
