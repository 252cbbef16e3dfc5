#include "stepping/stepper.h"

#include <complex.h>
#include <string.h>

/* A stage: indices of slots (-1 = none), weights of the differences to base, b and c. */
typedef struct stage_row {
  int out, f, base, extra[2];
  double weight_f, weight_extra[2];
  double b, c;
} stage_row;

struct stepper_scheme {
  int stages, slots;
  int result; /* slot that holds phi after the last stage */
  double imaginary_limit, real_limit;
  stage_row rows[STEPPER_STAGES];
};

/* Rows read: {out, f, base, {extras}, weight_f, {weight_extra}, b, c}. */
static const stepper_scheme ssprk3 = {3,
                                      3,
                                      0,
                                      1.7320508075688772,
                                      2.5127453266183286,
                                      {{1, 0, -1, {-1, -1}, 0.0, {0.0, 0.0}, 1.0, 0.0},
                                       {2, 1, 0, {-1, -1}, 0.25, {0.0, 0.0}, 0.25, 1.0},
                                       {0, 2, 0, {-1, -1}, 2.0 / 3.0, {0.0, 0.0}, 2.0 / 3.0, 0.5}}};

static const stepper_scheme rk4 = {4,
                                   4,
                                   0,
                                   2.8284271247461903,
                                   2.7852935634052816,
                                   {{1, 0, -1, {-1, -1}, 0.0, {0.0, 0.0}, 0.5, 0.0},
                                    {2, 1, 0, {-1, -1}, 0.0, {0.0, 0.0}, 0.5, 0.5},
                                    {3, 2, 0, {-1, -1}, 0.0, {0.0, 0.0}, 1.0, 0.5},
                                    {0, 3, 0, {1, 2}, 1.0 / 3.0, {1.0 / 3.0, 2.0 / 3.0}, 1.0 / 6.0, 1.0}}};

static const stepper_scheme rk4_horner = {4,
                                          3,
                                          0,
                                          2.8284271247461903,
                                          2.7852935634052816,
                                          {{1, 0, -1, {-1, -1}, 0.0, {0.0, 0.0}, 1.0 / 4.0, 0.0},
                                           {2, 1, 0, {-1, -1}, 0.0, {0.0, 0.0}, 1.0 / 3.0, 0.0},
                                           {1, 2, 0, {-1, -1}, 0.0, {0.0, 0.0}, 1.0 / 2.0, 0.0},
                                           {0, 1, 0, {-1, -1}, 0.0, {0.0, 0.0}, 1.0, 0.0}}};

#define A2 (-567301805773.0 / 1357537059087.0)
#define A3 (-2404267990393.0 / 2016746695238.0)
#define A4 (-3550918686646.0 / 2091501179385.0)
#define A5 (-1275806237668.0 / 842570457699.0)
#define B1 (1432997174477.0 / 9575080441755.0)
#define B2 (5161836677717.0 / 13612068292357.0)
#define B3 (1720146321549.0 / 2090206949498.0)
#define B4 (3134564353537.0 / 4481467310338.0)
#define B5 (2277821191437.0 / 14882151754819.0)

static const stepper_scheme ck45 = {
    5,
    2,
    1,
    3.3411,
    4.6572,
    {{1, 0, -1, {-1, -1}, 0.0, {0.0, 0.0}, B1, 0.0},
     {0, 1, 0, {-1, -1}, 1.0 + B2 *A2 / B1, {0.0, 0.0}, B2, 1432997174477.0 / 9575080441755.0},
     {1, 0, 1, {-1, -1}, 1.0 + B3 *A3 / B2, {0.0, 0.0}, B3, 2526269341429.0 / 6820363962896.0},
     {0, 1, 0, {-1, -1}, 1.0 + B4 *A4 / B3, {0.0, 0.0}, B4, 2006345519317.0 / 3224310063776.0},
     {1, 0, 1, {-1, -1}, 1.0 + B5 *A5 / B4, {0.0, 0.0}, B5, 2802321613138.0 / 2924317926251.0}}};

static const stepper_scheme *scheme_find(config_scheme scheme, int steady) {
  switch (scheme) {
  case CONFIG_SCHEME_SSPRK3:
    return &ssprk3;
  case CONFIG_SCHEME_CK45:
    return &ck45;
  default:
    return steady ? &rk4_horner : &rk4;
  }
}

status stepper_create(const field_space *space, config_scheme scheme, stepper_rhs rhs, halo *halo,
                      int overlap, stepper *stepper) {
  memset(stepper, 0, sizeof *stepper);
  stepper->scheme = scheme_find(scheme, rhs.steady);
  stepper->rhs = rhs;
  stepper->halo = halo;
  stepper->overlap = overlap && !halo->alone; /* alone, there is nobody to hide from */
  for (int i = 0; i < stepper->scheme->slots; i++) {
    CHECK(field_create(space, &stepper->slots[i]));
    stepper->slot_count++;
  }
  kernels_event **events[] = {&stepper->edges_start, &stepper->edges_done, &stepper->interior_start,
                              &stepper->interior_done};
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
    CHECK(space->backend->event_create(space->context, events[i]));
  }
  return STATUS_OK;
}

void stepper_destroy(stepper *stepper) {
  if (stepper->slot_count == 0) return;
  const kernels *backend = stepper->slots[0].backend;
  for (int i = 0; i < 2; i++) {
    if (stepper->graphs[i] != NULL) backend->graph_destroy(stepper->graphs[i]);
  }
  for (int i = 0; i < stepper->slot_count; i++) field_destroy(&stepper->slots[i]);
  kernels_event *events[] = {stepper->edges_start, stepper->edges_done, stepper->interior_start,
                             stepper->interior_done};
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
    if (events[i] != NULL) backend->event_destroy(events[i]);
  }
  memset(stepper, 0, sizeof *stepper);
}

status stepper_connect(stepper *stepper) {
  for (int i = 0; i < stepper->slot_count; i++) {
    const field *slot = &stepper->slots[i];
    CHECK(halo_exchange(stepper->halo, 1, &slot));
  }
  return STATUS_OK;
}

field *stepper_phi(stepper *stepper) {
  return &stepper->slots[0];
}

field *stepper_scratch(stepper *stepper) {
  return &stepper->slots[1];
}

static const field *slot_or_null(const stepper *stepper, int slot) {
  return slot < 0 ? NULL : &stepper->slots[slot];
}

/* Planes of one or two ranges. */
static status evaluate(stepper *stepper, stepper_stage *stage, kernels_planes first, kernels_planes second) {
  stage->planes[0] = first;
  stage->planes[1] = second;
  return stepper->rhs.stage(stepper->rhs.self, stage);
}

/* Whether a step is the same work every time and needs no host in between: then it is recorded once, and
 * small grids are not bound by the time to launch kernels. */
static int can_record(const stepper *stepper) {
  return stepper->rhs.steady && stepper->halo->alone && stepper->slots[0].backend->graph_begin != NULL;
}

/* Planes on queue MAIN; between events, if the stage is timed, which hold a device up a little. */
static status evaluate_interior(stepper *stepper, stepper_stage *stage, kernels_planes planes) {
  const kernels *backend = stage->out->backend;
  kernels_context *context = stage->out->context;
  const kernels_planes none = {0, 0};
  if (!stepper->timing) return evaluate(stepper, stage, planes, none);
  CHECK(backend->event_record(stepper->interior_start, context, QUEUE_MAIN));
  CHECK(evaluate(stepper, stage, planes, none));
  return backend->event_record(stepper->interior_done, context, QUEUE_MAIN);
}

/* Where kernels run on the host, edges are an operation of their own: sending is the host's work, too. */
static status stage_split(stepper *stepper, stepper_stage *stage) {
  const int nz = stage->out->shape.nz;
  const int thin = nz < 2 * KERNELS_HALO; /* all edge, in one range */
  const kernels_planes below = {0, thin ? nz : KERNELS_HALO};
  const kernels_planes above = {thin ? nz : nz - KERNELS_HALO, nz};
  const kernels *backend = stage->out->backend;
  const field *fields[] = {stage->out};
  CHECK(backend->event_record(stepper->edges_start, stage->out->context, QUEUE_MAIN));
  CHECK(evaluate(stepper, stage, below, above));
  CHECK(backend->event_record(stepper->edges_done, stage->out->context, QUEUE_MAIN));
  CHECK(halo_begin(stepper->halo, 1, fields, stepper->edges_done));
  CHECK(evaluate_interior(stepper, stage, (kernels_planes){below.z1, above.z0}));
  return halo_end(stepper->halo);
}

/* The planes that neighbours wait for come first; they travel while the interior is computed. A device has
 * its own time: one launch computes all, says when the edges are there, and the next stage may be enqueued
 * behind it before it is done. */
static status stage_overlapped(stepper *stepper, stepper_stage *stage) {
  if (stage->out->backend->host_memory) return stage_split(stepper, stage);
  const field *fields[] = {stage->out};
  stage->edges = stepper->edges_done;
  CHECK(evaluate_interior(stepper, stage, (kernels_planes){0, stage->out->shape.nz}));
  CHECK(halo_begin(stepper->halo, 1, fields, stepper->edges_done));
  return halo_end(stepper->halo);
}

static status stage_plain(stepper *stepper, stepper_stage *stage) {
  const field *fields[] = {stage->out};
  CHECK(evaluate_interior(stepper, stage, (kernels_planes){0, stage->out->shape.nz}));
  return halo_exchange(stepper->halo, 1, fields);
}

status stepper_sample(stepper *stepper) {
  if (can_record(stepper)) return STATUS_OK;
  const kernels *backend = stepper->slots[0].backend;
  double interior = 0.0;
  double edges = 0.0;
  CHECK(backend->event_seconds(stepper->interior_start, stepper->interior_done, &interior));
  const kernels_event *start = backend->host_memory ? stepper->edges_start : stepper->interior_start;
  if (stepper->overlap) CHECK(backend->event_seconds(start, stepper->edges_done, &edges));
  stepper->times.interior += interior;
  stepper->times.edges += edges;
  stepper->times.halo += stepper->halo->last_seconds;
  stepper->times.samples++;
  return STATUS_OK;
}

static status run_stages(stepper *stepper, double t, double dt, int timed) {
  const stepper_scheme *scheme = stepper->scheme;
  for (int i = 0; i < scheme->stages; i++) {
    const stage_row *row = &scheme->rows[i];
    stepper_stage stage = {
        .out = &stepper->slots[row->out],
        .f = &stepper->slots[row->f],
        .base = slot_or_null(stepper, row->base),
        .extra = {slot_or_null(stepper, row->extra[0]), slot_or_null(stepper, row->extra[1])},
        .weight_f = row->weight_f,
        .weight_extra = {row->weight_extra[0], row->weight_extra[1]},
        .weight = dt * row->b,
        .time = t + row->c * dt};
    stepper->timing = timed && i + 1 == scheme->stages;
    CHECK(stepper->overlap ? stage_overlapped(stepper, &stage) : stage_plain(stepper, &stage));
  }
  return STATUS_OK;
}

/* Records the stages of one step, all of them on MAIN: alone, there are neither edges nor halo copies. */
static status record_stages(stepper *stepper, double dt, kernels_graph **graph) {
  const kernels *backend = stepper->slots[0].backend;
  kernels_context *context = stepper->slots[0].context;
  CHECK(backend->graph_begin(context));
  CHECK(run_stages(stepper, 0.0, dt, 0));
  return backend->graph_end(context, graph);
}

/* A recording is of one dt: the last step, if it is shorter, is not worth a recording of its own. */
static status replay(stepper *stepper, double t, double dt) {
  kernels_graph **graph = &stepper->graphs[stepper->place];
  if (stepper->graphs[0] == NULL && stepper->graphs[1] == NULL) stepper->recorded_dt = dt;
  if (stepper->recorded_dt != dt) return run_stages(stepper, t, dt, 0);
  if (*graph == NULL) CHECK(record_stages(stepper, dt, graph));
  return stepper->slots[0].backend->graph_launch(stepper->slots[0].context, *graph);
}

status stepper_step(stepper *stepper, double t, double dt, int timed) {
  CHECK(can_record(stepper) ? replay(stepper, t, dt) : run_stages(stepper, t, dt, timed));
  const int result = stepper->scheme->result;
  if (result != 0) {
    const field phi = stepper->slots[result];
    stepper->slots[result] = stepper->slots[0];
    stepper->slots[0] = phi;
    stepper->place = !stepper->place;
  }
  return STATUS_OK;
}

int stepper_field_count(config_scheme scheme, int steady) {
  return scheme_find(scheme, steady)->slots;
}

int stepper_words(config_scheme scheme, int steady, int stage_words) {
  const stepper_scheme *table = scheme_find(scheme, steady);
  int words = 0;
  for (int i = 0; i < table->stages; i++) {
    const stage_row *row = &table->rows[i];
    words += 2 + (row->base >= 0) + (row->extra[0] >= 0) + (row->extra[1] >= 0) + stage_words;
  }
  return words;
}

double stepper_advection_limit(config_scheme scheme, int order) {
  return scheme_find(scheme, 1)->imaginary_limit / stencil_first_maximum(order);
}

double stepper_diffusion_limit(config_scheme scheme) {
  return scheme_find(scheme, 1)->real_limit;
}

double stepper_growth(config_scheme scheme, double real, double imaginary) {
  const stepper_scheme *table = scheme_find(scheme, 1);
  double complex slots[STEPPER_SLOTS] = {1.0};
  for (int i = 0; i < table->stages; i++) {
    const stage_row *row = &table->rows[i];
    const double complex f = slots[row->f];
    const double complex base = row->base >= 0 ? slots[row->base] : f;
    double complex out = base + row->weight_f * (f - base) + row->b * (real + I * imaginary) * f;
    for (int k = 0; k < 2; k++) {
      if (row->extra[k] >= 0) out += row->weight_extra[k] * (slots[row->extra[k]] - base);
    }
    slots[row->out] = out;
  }
  return cabs(slots[table->result]);
}
