#include "stepping/stepper.h"
#include "stepping/leapfrog.h"

#include <stdio.h>
#include <string.h>

enum { PAIR_DEPTH = 2 * KERNELS_HALO }; /* halo planes that two stages in one sweep read */

/* What is computed at once: a stage, or two in one sweep. */
typedef struct sweep {
  stage stage[2]; /* the result of the last one is stored */
  int count;
  int timed; /* 1: events enclose it, each of which delays a device a little */
} sweep;

static int plane_count(const stepper *stepper) {
  return stepper->slots[0].part[0].shape.nz;
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
                 .time = t + row->c * dt,
                 .index = i};
  for (int k = 0; k < row->extras; k++) {
    stage.extra[k] = &stepper->slots[row->extra[k].slot];
    stage.weight_extra[k] = row->extra[k].weight;
  }
  if (row->extras == 1)
    stage.extra[1] = stage.extra[0]; /* kernels take two extras; the second has weight 0
                                      * and comes from the cache */
  return stage;
}

/* Returns 1 if every step is the same work and needs no host in between. Such a step is recorded once and
 * replayed, so that small grids are not limited by the launch time of kernels. */
static int can_record(const stepper *stepper) {
  return (stepper->rhs.steady || stepper->rhs.repeats) && exchange_hostless(&stepper->exchange) &&
         stepper->backend->graph_begin != NULL;
}

/* Returns why this rank computes no stages in pairs, or NULL: all possible pairs, or none. no_pairs: as
 * of stepper_choose_pairs. */
static const char *pairs_refused(stepper *stepper, unsigned pairs, const char *no_pairs) {
  const stepper_rhs *rhs = &stepper->rhs;
  if (rhs->pairs == STEPPER_PAIRS_NO) return "as compute.pairs says";
  if (rhs->pair.run == NULL || stepper->backend->apply_pair == NULL) return "there is no kernel for two";
  if (!rhs->steady) return "the right-hand side depends on time";
  if (pairs == 0) return "the scheme reads all of them again";
  if (no_pairs != NULL) return no_pairs;
  if (rhs->pairs == STEPPER_PAIRS_AUTO && exchange_beats_pairs(&stepper->exchange))
    return "small slabs: each kernel sends its own edges";
  if (stepper->halo->alone && !stepper->slots[0].part[0].shape.whole) return "z has ends";
  if (!stepper->halo->alone && plane_count(stepper) < PAIR_DEPTH) return "a slab has fewer than 8 planes";
  const char *refused = NULL;
  stage pair[2];
  for (int i = 0; i < stepper->scheme->stages && refused == NULL; i++) {
    if (!(pairs >> i & 1U)) continue;
    for (int k = 0; k < 2; k++) {
      pair[k] = stage_of(stepper, i + k, 0.0, 1.0);
      pair[k].planes[0] = (kernels_planes){0, plane_count(stepper)};
    }
    (void)exchange_before(&stepper->exchange, pair, 2); /* which kernels fit depends on arrivals */
    refused = rhs->pair.refused(rhs->self, &pair[0], &pair[1], rhs->pairs == STEPPER_PAIRS_YES);
  }
  // cppcheck-suppress returnDanglingLifetime // a constant string
  return refused;
}

static status slots_create(stepper *stepper, const field_space *space, int unknowns,
                           const char *const *names) {
  stepper->slot_count = 0;
  for (int i = 0; i < stepper->scheme->slots; i++) {
    stepper->slot_count++;
    CHECK(state_create(space, unknowns, names, &stepper->slots[i]));
  }
  return STATUS_OK;
}

/* Gives all states the halos that a pair reads. */
static status deepen(stepper *stepper, const field_space *space) {
  field_space deep = *space;
  const int unknowns = stepper->slots[0].count;
  const char *const *names = stepper->slots[0].names;
  deep.depth = PAIR_DEPTH;
  for (int i = 0; i < stepper->slot_count; i++) state_destroy(&stepper->slots[i]);
  CHECK(slots_create(stepper, &deep, unknowns, names));
  return halo_deepen(stepper->halo, PAIR_DEPTH);
}

status stepper_choose_pairs(stepper *stepper, const field_space *space, const char *no_pairs) {
  MPI_Comm comm = stepper->halo->comm;
  int result = stepper->scheme->result;
  const unsigned pairs = scheme_pairs(stepper->scheme, &result);
  const char *refused = pairs_refused(stepper, pairs, no_pairs);
  const status all = agree(comm, refused == NULL ? STATUS_OK : status_fail(STATUS_USAGE, "%s", refused));
  if (all == STATUS_MPI) return all;
  if (all != STATUS_OK) {
    (void)snprintf(stepper->single, sizeof stepper->single, "%s", status_message(all));
    status_clear();
    return STATUS_OK;
  }
  if (!stepper->halo->alone) CHECK(agree(comm, deepen(stepper, space)));
  exchange_deepen(&stepper->exchange);
  stepper->single[0] = '\0';
  stepper->pairs = pairs;
  stepper->result = result;
  return STATUS_OK;
}

/* Allocates the states, with the halo planes that a step reads. */
static status make_states(stepper *stepper, const field_space *space, int unknowns,
                          const char *const *names) {
  field_space deep = *space;
  deep.depth = leapfrog_depth(stepper->scheme, &space->shape);
  CHECK(slots_create(stepper, &deep, unknowns, names));
  return deep.depth > space->depth ? halo_deepen(stepper->halo, deep.depth) : STATUS_OK;
}

status stepper_create(const field_space *space, int unknowns, const char *const *names, const scheme *scheme,
                      stepper_rhs rhs, halo *halo, int overlap, stepper *stepper) {
  memset(stepper, 0, sizeof *stepper);
  stepper->scheme = scheme_form(scheme, rhs.linear, rhs.steady);
  stepper->backend = space->backend;
  stepper->context = space->context;
  stepper->rhs = rhs;
  stepper->halo = halo;
  CHECK(make_states(stepper, space, unknowns, names));
  CHECK(exchange_open(halo, overlap && scheme->leap == 0, rhs.sends, &stepper->exchange));
  CHECK(space->backend->event_create(space->context, &stepper->start));
  CHECK(space->backend->event_create(space->context, &stepper->done));
  stepper->result = stepper->scheme->result;
  (void)snprintf(stepper->single, sizeof stepper->single, "not asked for");
  return STATUS_OK;
}

void stepper_destroy(stepper *stepper) {
  if (stepper->slot_count == 0) return;
  const kernels *backend = stepper->backend;
  for (int i = 0; i < 2; i++) {
    if (stepper->graphs[i] != NULL) backend->graph_destroy(stepper->graphs[i]);
  }
  for (int i = 0; i < stepper->slot_count; i++) state_destroy(&stepper->slots[i]);
  exchange_close(&stepper->exchange);
  if (stepper->start != NULL) backend->event_destroy(stepper->start);
  if (stepper->done != NULL) backend->event_destroy(stepper->done);
  memset(stepper, 0, sizeof *stepper);
}

status stepper_connect(stepper *stepper) {
  stepper->marching = 0;
  stepper->exchange.arrivals = (kernels_arrivals){0};
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

/* Evaluates a sweep on one or two ranges of planes; two stages on all planes alone. */
static status evaluate(stepper *stepper, sweep *sweep, kernels_planes first, kernels_planes second) {
  const stepper_rhs *rhs = &stepper->rhs;
  for (int k = 0; k < sweep->count; k++) {
    sweep->stage[k].planes[0] = first;
    sweep->stage[k].planes[1] = second;
  }
  return sweep->count == 1 ? rhs->stage(rhs->self, &sweep->stage[0])
                           : rhs->pair.run(rhs->self, &sweep->stage[0], &sweep->stage[1]);
}

/* Computes the edge planes of a sweep on the host, and starts their exchange. [out] inner: the other planes.
 */
static status run_edges(stepper *stepper, sweep *sweep, kernels_planes *inner) {
  const int nz = plane_count(stepper);
  const int thin = nz < 2 * KERNELS_HALO; /* all planes are edges: one range */
  const kernels_planes below = {0, thin ? nz : KERNELS_HALO};
  const kernels_planes above = {thin ? nz : nz - KERNELS_HALO, nz};
  CHECK(evaluate(stepper, sweep, below, above));
  *inner = (kernels_planes){below.z1, above.z0};
  return exchange_edges(&stepper->exchange, sweep->stage[0].out);
}

/* Makes what a stage differences beside f, and its halos. */
static status prepare(stepper *stepper, const sweep *sweep) {
  const field *fields[STATE_FIELDS];
  int count = 0;
  if (stepper->rhs.prepare == NULL) return STATUS_OK;
  stage stage = sweep->stage[0];
  stage.planes[0] = (kernels_planes){0, plane_count(stepper)};
  CHECK(stepper->rhs.prepare(stepper->rhs.self, &stage, fields, &count));
  return count > 0 ? halo_exchange(stepper->halo, count, fields) : STATUS_OK;
}

/* A sweep and its exchange. On a device all of it is enqueued, and the next sweep may be before this one is
 * done. */
static status run_sweep(stepper *stepper, sweep *sweep) {
  const kernels *backend = stepper->backend;
  exchange *exchange = &stepper->exchange;
  const kernels_planes none = {0, 0};
  kernels_planes inner = {0, plane_count(stepper)};
  CHECK(prepare(stepper, sweep));
  CHECK(exchange_before(exchange, sweep->stage, sweep->count));
  if (exchange->now == EXCHANGE_SPLIT) CHECK(run_edges(stepper, sweep, &inner));
  if (sweep->timed) CHECK(backend->event_record(stepper->start, stepper->context, QUEUE_MAIN));
  CHECK(evaluate(stepper, sweep, inner, none));
  if (sweep->timed) CHECK(backend->event_record(stepper->done, stepper->context, QUEUE_MAIN));
  return exchange_after(exchange, sweep->stage[sweep->count - 1].out);
}

status stepper_sample(stepper *stepper) {
  double interior = 0.0, edges = 0.0, halo = 0.0;
  if (can_record(stepper)) return STATUS_OK;
  CHECK(stepper->backend->event_seconds(stepper->start, stepper->done, &interior));
  CHECK(exchange_seconds(&stepper->exchange, stepper->start, &edges, &halo));
  stepper->times.interior += interior;
  stepper->times.edges += edges;
  stepper->times.halo += halo;
  stepper->times.samples++;
  return STATUS_OK;
}

static status run_stages(stepper *stepper, double t, double dt, int timed) {
  const int stages = stepper->scheme->stages;
  int done = 0;
  while (done < stages) {
    sweep sweep = {.count = stepper->pairs >> done & 1U ? 2 : 1};
    for (int k = 0; k < sweep.count; k++) sweep.stage[k] = stage_of(stepper, done + k, t, dt);
    done += sweep.count;
    sweep.timed = timed && done == stages;
    CHECK(run_sweep(stepper, &sweep));
  }
  return STATUS_OK;
}

/* Records the stages of one step, all of them on MAIN: there are no halo copies. */
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

/* Tells the right-hand side which stages come. */
static status begin(stepper *stepper, double t, double dt) {
  stage stages[SCHEME_STAGES];
  if (stepper->rhs.begin == NULL) return STATUS_OK;
  for (int i = 0; i < stepper->scheme->stages; i++) stages[i] = stage_of(stepper, i, t, dt);
  return stepper->rhs.begin(stepper->rhs.self, stages, stepper->scheme->stages);
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

int stepper_last_words(const stepper *stepper) {
  const scheme *scheme = stepper->scheme;
  return stepper->pairs != 0 ? 0 : scheme_stage_words(&scheme->stage[scheme->stages - 1]);
}

status stepper_step(stepper *stepper, double t, double dt, int timed) {
  const field *phi = &stepper->slots[0].part[0];
  if (stepper->scheme->leap > 0) return leapfrog_step(stepper, t, dt, timed);
  if (!stepper->marching) CHECK(halo_meet(stepper->halo, phi));
  CHECK(begin(stepper, t, dt));
  CHECK(can_record(stepper) ? replay(stepper, t, dt) : run_stages(stepper, t, dt, timed));
  if (timed) CHECK(exchange_settle(&stepper->exchange, phi));
  stepper->marching = !timed;
  const int result = stepper->result;
  if (result != 0) {
    const state new = stepper->slots[result];
    stepper->slots[result] = stepper->slots[0];
    stepper->slots[0] = new;
    stepper->place = !stepper->place;
  }
  return STATUS_OK;
}
