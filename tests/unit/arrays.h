#ifndef FDAPP_TESTS_ARRAYS_H
#define FDAPP_TESTS_ARRAYS_H

#include "rig.h"

/* Arrays for several operations at once, and a stage that reads all of the inputs. */

enum { INPUTS = 7, OUTPUTS = 7 }; /* gradient's three, divergence, Laplacian, two stages */

typedef struct arrays {
  twin in[INPUTS], out[OUTPUTS], tables;
} arrays;

static arrays arrays_make(rig *rig) {
  arrays arrays;
  for (int i = 0; i < INPUTS; i++) arrays.in[i] = twin_random(rig, i + 1);
  for (int i = 0; i < OUTPUTS; i++) arrays.out[i] = twin_sentinel(rig);
  arrays.tables = twin_tables(rig, INPUTS + 1);
  return arrays;
}

static void arrays_free(rig *rig, arrays *arrays) {
  for (int i = 0; i < INPUTS; i++) twin_free(rig, &arrays->in[i]);
  for (int i = 0; i < OUTPUTS; i++) twin_free(rig, &arrays->out[i]);
  twin_free(rig, &arrays->tables);
}

static advection_stage stage_of(const arrays *a, int device) {
  const void *in[INPUTS];
  for (int i = 0; i < INPUTS; i++) in[i] = device ? a->in[i].device : a->in[i].host;
  return (advection_stage){
      .out = device ? a->out[5].device : a->out[5].host,
      .f = in[0],
      .base = in[1],
      .weight_f = 0.25,
      .extra = {in[2], in[3]},
      .weight_extra = {0.5, 0.125},
      .form = FORM_SKEW,
      .advection = -0.003,
      .velocity = {in[4], in[5], in[6]},
      .diffusion = 0.0001,
  };
}

#endif
