#include "flow_fields.h"

#include <string.h>

typedef struct source {
  flow_value *value;
  int unknown;
} source;

static double from_source(const rig *rig, const void *user, int x, int y, int z) {
  const source *s = user;
  const int nz = rig->launch.shape.nz;
  return s->value(rig, s->unknown, x, y, (z + nz) % nz);
}

flow_fields flow_fields_make(rig *rig, flow_value *value) {
  flow_fields made;
  for (int i = 0; i < FLOW_UNKNOWNS; i++)
    made.of[i] = twin_make(rig, from_source, &(source){.value = value, .unknown = i});
  return made;
}

void flow_fields_free(rig *rig, flow_fields *f) {
  for (int i = 0; i < FLOW_UNKNOWNS; i++) twin_free(rig, &f->of[i]);
}

/* Sets halo planes to periodic images. */
static void wrap(rig *rig, twin *t) {
  const kernels_shape *shape = &rig->launch.shape;
  const size_t plane = (size_t)shape->plane * kernels_element_size(shape->precision);
  twin_download(rig, t);
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    const int from = (z + KERNELS_HALO * shape->nz) % shape->nz;
    if (from != z)
      memcpy((char *)t->host + (size_t)(z + KERNELS_HALO) * plane,
             (char *)t->host + (size_t)(from + KERNELS_HALO) * plane, plane);
  }
  twin_upload(rig, t);
}

void flow_stage(rig *rig, const flow_gas *gas, const flow_fields *f, const flow_fields *base,
                const flow_fields *extra, const double weights[3], double weight, flow_fields *out) {
  flow_fields work;
  flow_call call = {.gas = *gas, .weight_f = weights[0], .weight = weight};
  for (int i = 0; i < FLOW_WORKS; i++) work.of[i] = twin_sentinel(rig);
  for (int i = 0; i < FLOW_UNKNOWNS; i++) {
    call.f[i] = f->of[i].device;
    call.base[i] = base->of[i].device;
    for (int k = 0; k < 2 && extra != NULL; k++) call.extra[k][i] = extra[k].of[i].device;
    call.out[i] = out->of[i].device;
  }
  for (int k = 0; k < 2; k++) call.weight_extra[k] = weights[1 + k];
  for (int i = 0; i < FLOW_WORKS; i++) call.work[i] = work.of[i].device;
  call.pass = FLOW_FIRST;
  if (flow_works(gas) > 0) assert_ok(rig->backend->flow(&rig->launch, &call));
  for (int i = 0; i < flow_works(gas); i++) wrap(rig, &work.of[i]);
  call.pass = FLOW_STAGE;
  assert_ok(rig->backend->flow(&rig->launch, &call));
  call.pass = FLOW_DAMP;
  if (gas->dissipation > 0.0) assert_ok(rig->backend->flow(&rig->launch, &call));
  for (int i = 0; i < FLOW_UNKNOWNS; i++) wrap(rig, &out->of[i]);
  for (int i = 0; i < FLOW_WORKS; i++) twin_free(rig, &work.of[i]);
}

flow_gas flow_gas_of(flow_form form, flow_law law) {
  return (flow_gas){.form = form,
                    .law = law,
                    .gamma = 1.4,
                    .gas_constant = 1.0,
                    .prandtl = 0.71,
                    .viscosity = law == FLOW_INVISCID ? 0.0 : 0.01,
                    .viscosity_temperature = 1.5,
                    .sutherland = 0.6};
}

static double hashed(int unknown, int x, int y, int z) {
  const unsigned h = (unsigned)x * 73856093U ^ (unsigned)y * 19349663U ^ (unsigned)z * 83492791U ^
                     (unsigned)unknown * 2654435U;
  return (double)(h * 2654435761U >> 8) / (1 << 23) - 1.0;
}

double flow_rough(const rig *rig, int unknown, int x, int y, int z) {
  (void)rig;
  const double noise = hashed(unknown, x, y, z);
  return unknown == FLOW_DENSITY ? 1.0 + 0.4 * noise : unknown == FLOW_PRESSURE ? 2.0 + 0.5 * noise : noise;
}

double flow_rougher(const rig *rig, int unknown, int x, int y, int z) {
  return flow_rough(rig, unknown, x + 1000, y, z);
}

double flow_roughest(const rig *rig, int unknown, int x, int y, int z) {
  return flow_rough(rig, unknown, x, y + 1000, z);
}

double flow_even(const rig *rig, int unknown, int x, int y, int z) {
  static const double of[5] = {1.1, 0.3, -0.7, 0.9, 2.3};
  (void)rig;
  (void)x;
  (void)y;
  (void)z;
  return of[unknown];
}
