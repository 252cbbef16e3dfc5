#ifndef FDAPP_TESTS_FLOW_FIELDS_H
#define FDAPP_TESTS_FLOW_FIELDS_H

#include "flow.h"
#include "rig.h"

/* States of compressible flow on a rig's backend, and stages of them. */

typedef struct flow_fields {
  twin of[FLOW_UNKNOWNS];
} flow_fields;

/* The value of an unknown at a point of the slab. */
typedef double flow_value(const rig *rig, int unknown, int x, int y, int z);

/* The same values everywhere, and noise: three times other one, density and pressure positive. */
flow_value flow_even, flow_rough, flow_rougher, flow_roughest;

/* Halo planes hold periodic images. */
flow_fields flow_fields_make(rig *rig, flow_value *value);
void flow_fields_free(rig *rig, flow_fields *f);

/* A gas without dissipation. */
flow_gas flow_gas_of(flow_form form, flow_law law);

/* One stage on the rig's planes, with its first pass and its damping; halos of the result are valid. extra:
 * NULL, or two states. weights: of f and of the extras. */
void flow_stage(rig *rig, const flow_gas *gas, const flow_fields *f, const flow_fields *base,
                const flow_fields *extra, const double weights[3], double weight, flow_fields *out);

#endif
