#include "stepping/stepper.h"

#include <string.h>

static stage stage_of(stepper *stepper, int i, double t, double dt);

static int plane_count(const stepper *stepper) {
  return stepper->slots[0].part[0].shape.nz;
}

/* Returns 1 if every step is the same work and needs no host in between. Such a step is recorded once and
 * replayed, so that small grids are not limited by the launch time of kernels. */
static int can_record(const stepper *stepper) {
  return stepper->rhs.steady && stepper->halo->alone && stepper->backend->graph_begin != NULL;
}

/* Returns why no stages can be pairs with any kernels, or NULL. Sampled stages (stepper_times) are computed
 * one by one, so only steps that are recorded have pairs. */
static const char *pairs_refused(const stepper *stepper, unsigned pairs) {
  if (stepper->rhs.pairs == STEPPER_PAIRS_NO) return "as compute.pairs says";
  if (stepper->rhs.pair.run == NULL || stepper->backend->apply_pair == NULL)
    return "there is no kernel for two";
  if (!stepper->halo->alone) return "there are several ranks";
  if (!can_record(stepper)) return "the right-hand side depends on time";
  return pairs == 0 ? "the scheme reads all of them again" : NULL;
}

/* The two stages of a pair, on all planes. */
static void pair_of(stepper *stepper, int i, double t, double dt, stage pair[2]) {
  for (int k = 0; k < 2; k++) {
    pair[k] = stage_of(stepper, i + k, t, dt);
    pair[k].planes[0] = (kernels_planes){0, plane_count(stepper)};
  }
}

/* Computes all possible pairs in one sweep each, or none if one of them is refused. */
static void choose_pairs(stepper *stepper) {
  int result = stepper->scheme->result;
  const unsigned pairs = scheme_pairs(stepper->scheme, &result);
  const int always = stepper->rhs.pairs == STEPPER_PAIRS_YES;
  stepper->single = pairs_refused(stepper, pairs);
  stage pair[2];
  for (int i = 0; i < stepper->scheme->stages && stepper->single == NULL; i++) {
    if (!(pairs >> i & 1U)) continue;
    pair_of(stepper, i, 0.0, 1.0, pair);
    stepper->single = stepper->rhs.pair.refused(stepper->rhs.self, &pair[0], &pair[1], always);
  }
  if (stepper->single != NULL) return;
  stepper->pairs = pairs;
  stepper->result = result;
}

status stepper_create(const field_space *space, int unknowns, const char *const *names, const scheme *scheme,
                      stepper_rhs rhs, halo *halo, int overlap, stepper *stepper) {
  memset(stepper, 0, sizeof *stepper);
  stepper->scheme = scheme_form(scheme, rhs.linear, rhs.steady);
  stepper->backend = space->backend;
  stepper->context = space->context;
  stepper->rhs = rhs;
  stepper->halo = halo;
  stepper->overlap = overlap && !halo->alone; /* one rank has no exchange to overlap */
  for (int i = 0; i < stepper->scheme->slots; i++) {
    stepper->slot_count++;
    CHECK(state_create(space, unknowns, names, &stepper->slots[i]));
  }
  kernels_event **events[] = {&stepper->edges_start, &stepper->edges_done, &stepper->interior_start,
                              &stepper->interior_done};
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
    CHECK(space->backend->event_create(space->context, events[i]));
  }
  stepper->result = stepper->scheme->result;
  choose_pairs(stepper);
  return STATUS_OK;
}

void stepper_destroy(stepper *stepper) {
  if (stepper->slot_count == 0) return;
  const kernels *backend = stepper->backend;
  for (int i = 0; i < 2; i++) {
    if (stepper->graphs[i] != NULL) backend->graph_destroy(stepper->graphs[i]);
  }
  for (int i = 0; i < stepper->slot_count; i++) state_destroy(&stepper->slots[i]);
  kernels_event *events[] = {stepper->edges_start, stepper->edges_done, stepper->interior_start,
                             stepper->interior_done};
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
    if (events[i] != NULL) backend->event_destroy(events[i]);
  }
  memset(stepper, 0, sizeof *stepper);
}

status stepper_connect(stepper *stepper) {
  for (int i = 0; i < stepper->slot_count; i++) {
    const field *fields[STATE_FIELDS];
    state_list(&stepper->slots[i], fields);
    CHECK(halo_exchange(stepper->halo, stepper->slots[i].count, fields));
  }
  return STATUS_OK;
}

state *stepper_state(stepper *stepper) {
  return &stepper->slots[0];
}

state *stepper_scratch(stepper *stepper) {
  return &stepper->slots[1];
}

/* Evaluates a stage on one or two ranges of planes. */
static status evaluate(stepper *stepper, stage *stage, kernels_planes first, kernels_planes second) {
  stage->planes[0] = first;
  stage->planes[1] = second;
  return stepper->rhs.stage(stepper->rhs.self, stage);
}

/* Evaluates a stage on planes, on queue MAIN. Only a timed stage is enclosed by events, because they delay a
 * device a little. */
static status evaluate_interior(stepper *stepper, stage *stage, kernels_planes planes) {
  const kernels *backend = stepper->backend;
  kernels_context *context = stepper->context;
  const kernels_planes none = {0, 0};
  if (!stepper->timing) return evaluate(stepper, stage, planes, none);
  CHECK(backend->event_record(stepper->interior_start, context, QUEUE_MAIN));
  CHECK(evaluate(stepper, stage, planes, none));
  return backend->event_record(stepper->interior_done, context, QUEUE_MAIN);
}

/* Starts the exchange of a stage's edge planes, which leave once `edges_done` has passed. */
static status begin_exchange(stepper *stepper, const stage *stage) {
  const field *fields[STATE_FIELDS];
  state_list(stage->out, fields);
  return halo_begin(stepper->halo, stage->out->count, fields, stepper->edges_done);
}

/* One stage if kernels run on the host: the edges are a launch of their own, because the host also has to
 * send them before it computes the interior. */
static status stage_split(stepper *stepper, stage *stage) {
  const int nz = plane_count(stepper);
  const int thin = nz < 2 * KERNELS_HALO; /* all planes are edges: one range */
  const kernels_planes below = {0, thin ? nz : KERNELS_HALO};
  const kernels_planes above = {thin ? nz : nz - KERNELS_HALO, nz};
  const kernels *backend = stepper->backend;
  CHECK(backend->event_record(stepper->edges_start, stepper->context, QUEUE_MAIN));
  CHECK(evaluate(stepper, stage, below, above));
  CHECK(backend->event_record(stepper->edges_done, stepper->context, QUEUE_MAIN));
  CHECK(begin_exchange(stepper, stage));
  CHECK(evaluate_interior(stepper, stage, (kernels_planes){below.z1, above.z0}));
  return halo_end(stepper->halo);
}

/* One stage with overlap. The edge planes, for which neighbours wait, are computed first and travel while the
 * interior is computed. A device works asynchronously: one launch computes all planes and signals when the
 * edges are done, and the next stage may be enqueued before this one is finished. */
static status stage_overlapped(stepper *stepper, stage *stage) {
  if (stepper->backend->host_memory) return stage_split(stepper, stage);
  stage->edges = stepper->edges_done;
  CHECK(evaluate_interior(stepper, stage, (kernels_planes){0, plane_count(stepper)}));
  CHECK(begin_exchange(stepper, stage));
  return halo_end(stepper->halo);
}

static status stage_plain(stepper *stepper, stage *stage) {
  const field *fields[STATE_FIELDS];
  state_list(stage->out, fields);
  CHECK(evaluate_interior(stepper, stage, (kernels_planes){0, plane_count(stepper)}));
  return halo_exchange(stepper->halo, stage->out->count, fields);
}

status stepper_sample(stepper *stepper) {
  if (can_record(stepper)) return STATUS_OK;
  const kernels *backend = stepper->backend;
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

/* Stage i of a step of size dt from time t. */
static stage stage_of(stepper *stepper, int i, double t, double dt) {
  const scheme_stage *row = &stepper->scheme->stage[i];
  const int last = i + 1 == stepper->scheme->stages;
  stage stage = {.out = &stepper->slots[last ? stepper->result : row->out],
                 .f = &stepper->slots[row->f],
                 .base = row->base == row->f ? NULL : &stepper->slots[row->base],
                 .weight_f = row->weight,
                 .weight = dt * row->b,
                 .time = t + row->c * dt};
  for (int k = 0; k < row->extras; k++) {
    stage.extra[k] = &stepper->slots[row->extra[k].slot];
    stage.weight_extra[k] = row->extra[k].weight;
  }
  if (row->extras == 1)
    stage.extra[1] = stage.extra[0]; /* kernels take two extras; the second has weight 0
                                      * and comes from the cache */
  return stage;
}

static status run_stages(stepper *stepper, double t, double dt, int timed) {
  const int stages = stepper->scheme->stages;
  for (int i = 0; i < stages; i++) {
    if (stepper->pairs >> i & 1U) {
      stage pair[2];
      pair_of(stepper, i++, t, dt, pair);
      CHECK(stepper->rhs.pair.run(stepper->rhs.self, &pair[0], &pair[1]));
      continue;
    }
    stage stage = stage_of(stepper, i, t, dt);
    stepper->timing = timed && i + 1 == stages;
    CHECK(stepper->overlap ? stage_overlapped(stepper, &stage) : stage_plain(stepper, &stage));
  }
  return STATUS_OK;
}

/* Records the stages of one step, all of them on MAIN: one rank has neither edges nor halo copies. */
static status record_stages(stepper *stepper, double dt, kernels_graph **graph) {
  const kernels *backend = stepper->backend;
  kernels_context *context = stepper->context;
  CHECK(backend->graph_begin(context));
  CHECK(run_stages(stepper, 0.0, dt, 0));
  return backend->graph_end(context, graph);
}

/* Replays the step if dt is the recorded one. A shorter last step is not recorded: it happens once. */
static status replay(stepper *stepper, double t, double dt) {
  kernels_graph **graph = &stepper->graphs[stepper->place];
  if (stepper->graphs[0] == NULL && stepper->graphs[1] == NULL) stepper->recorded_dt = dt;
  if (stepper->recorded_dt != dt) return run_stages(stepper, t, dt, 0);
  if (*graph == NULL) CHECK(record_stages(stepper, dt, graph));
  return stepper->backend->graph_launch(stepper->context, *graph);
}

int stepper_words(const stepper *stepper) {
  const scheme *scheme = stepper->scheme;
  int words = scheme_words(scheme);
  for (int i = 0; i < scheme->stages; i++) {
    if (!(stepper->pairs >> i & 1U)) continue;
    const scheme_stage *first = &scheme->stage[i], *second = &scheme->stage[i + 1];
    words -= 2;                                                           /* the first stage's result */
    if (second->base == first->f || second->base == first->base) words--; /* read once for both stages */
  }
  return words;
}

status stepper_step(stepper *stepper, double t, double dt, int timed) {
  CHECK(can_record(stepper) ? replay(stepper, t, dt) : run_stages(stepper, t, dt, timed));
  const int result = stepper->result;
  if (result != 0) {
    const state new = stepper->slots[result];
    stepper->slots[result] = stepper->slots[0];
    stepper->slots[0] = new;
    stepper->place = !stepper->place;
  }
  return STATUS_OK;
}
