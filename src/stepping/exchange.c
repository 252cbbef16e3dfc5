#include "stepping/exchange.h"

/* The largest slabs whose kernels send their edge planes themselves: rather than computing stages in pairs,
 * of fewer than 4 KERNELS_HALO planes, and any others. In larger slabs copies beside the kernel are faster:
 * what a kernel stores in another device's memory holds it up. */
enum { SENDS_BEFORE_PAIRS = 18 << 20, SENDS_THIN = 10 << 20, SENDS_MOST = 100 << 20 };

static exchange_way choose_single(const halo *halo, int sends) {
  const size_t most = halo->slab < 4 * KERNELS_HALO * halo->plane ? SENDS_THIN : SENDS_MOST;
  if (sends && halo_sends(halo) && halo->slab <= most) return EXCHANGE_SENT;
  return halo->backend->host_memory ? EXCHANGE_SPLIT : EXCHANGE_SIGNALLED;
}

status exchange_open(halo *halo, int overlap, int sends, exchange *exchange) {
  *exchange = (struct exchange){.halo = halo, .backend = halo->backend, .context = halo->context};
  if (overlap && !halo->alone) {
    exchange->single = choose_single(halo, sends);
    exchange->pair = halo_sends(halo) ? EXCHANGE_BEHIND : EXCHANGE_SIGNALLED;
  }
  CHECK(exchange->backend->event_create(exchange->context, &exchange->edges_start));
  return exchange->backend->event_create(exchange->context, &exchange->edges_done);
}

void exchange_close(exchange *exchange) {
  if (exchange->edges_start != NULL) exchange->backend->event_destroy(exchange->edges_start);
  if (exchange->edges_done != NULL) exchange->backend->event_destroy(exchange->edges_done);
}

int exchange_beats_pairs(const exchange *exchange) {
  return exchange->single == EXCHANGE_SENT && exchange->halo->slab <= SENDS_BEFORE_PAIRS;
}

void exchange_deepen(exchange *exchange) {
  exchange->single = EXCHANGE_WHOLE;
}

int exchange_hostless(const exchange *exchange) {
  return exchange->halo->alone || exchange->single == EXCHANGE_SENT;
}

status exchange_before(exchange *exchange, stage *stages, int count) {
  stage *first = &stages[0], *last = &stages[count - 1];
  const field *like = &last->out->part[0];
  exchange->now = count == 1 ? exchange->single : exchange->pair;
  switch (exchange->now) {
  case EXCHANGE_WHOLE:
    return exchange->halo->behind ? halo_meet(exchange->halo, like) : STATUS_OK;
  case EXCHANGE_SPLIT:
    return exchange->backend->event_record(exchange->edges_start, exchange->context, QUEUE_MAIN);
  case EXCHANGE_SENT:
    first->sends = &exchange->sending;
    return halo_sending(exchange->halo, like, &exchange->sending);
  case EXCHANGE_BEHIND:
    first->arrivals = &exchange->arrivals;
    first->down = exchange->down;
    last->edges = exchange->edges_done;
    return STATUS_OK;
  default:
    last->edges = exchange->edges_done;
    return STATUS_OK;
  }
}

status exchange_edges(exchange *exchange, const state *out) {
  const field *fields[STATE_FIELDS];
  state_list(out, fields);
  CHECK(exchange->backend->event_record(exchange->edges_done, exchange->context, QUEUE_MAIN));
  return halo_begin(exchange->halo, out->count, fields, exchange->edges_done);
}

status exchange_after(exchange *exchange, const state *out) {
  const kernels_side side = exchange->down ? SIDE_ABOVE : SIDE_BELOW;
  const field *fields[STATE_FIELDS];
  state_list(out, fields);
  switch (exchange->now) {
  case EXCHANGE_WHOLE:
    return halo_exchange(exchange->halo, out->count, fields);
  case EXCHANGE_SIGNALLED:
    CHECK(halo_begin(exchange->halo, out->count, fields, exchange->edges_done));
    return halo_end(exchange->halo);
  case EXCHANGE_SPLIT:
    return halo_end(exchange->halo);
  case EXCHANGE_BEHIND:
    exchange->down = !exchange->down;
    return halo_pass(exchange->halo, out->count, fields, side, exchange->edges_done, &exchange->arrivals);
  default:
    return STATUS_OK;
  }
}

status exchange_settle(const exchange *exchange, const field *like) {
  const int open = exchange->single == EXCHANGE_SENT || exchange->halo->behind;
  return open ? halo_meet(exchange->halo, like) : STATUS_OK;
}

status exchange_seconds(const exchange *exchange, const kernels_event *start, double *edges, double *halo) {
  *edges = *halo = 0.0;
  if (exchange->now == EXCHANGE_SENT) return STATUS_OK;
  if (exchange->now != EXCHANGE_WHOLE) {
    const kernels_event *from = exchange->now == EXCHANGE_SPLIT ? exchange->edges_start : start;
    CHECK(exchange->backend->event_seconds(from, exchange->edges_done, edges));
  }
  return halo_seconds(exchange->halo, halo);
}
