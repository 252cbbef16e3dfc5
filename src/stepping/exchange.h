#ifndef FDAPP_STEPPING_EXCHANGE_H
#define FDAPP_STEPPING_EXCHANGE_H

#include "domain/halo.h"
#include "stepping/stage.h"

/* How the halos of a sweep's result travel to the neighbours. The stepper calls exchange_before, enqueues the
 * edge planes and calls exchange_edges if these are a launch of their own (EXCHANGE_SPLIT), enqueues all
 * other planes, and calls exchange_after. */

/* WHOLE: after the sweep, without overlap; a single rank exchanges nothing.
 * SPLIT: kernels run on the host, which computes and sends the edges before it computes the other planes.
 * SIGNALLED: one launch computes all planes and signals when the edges are done; they travel meanwhile.
 * SENT: the kernel writes its edge planes into the neighbours' memory itself.
 * BEHIND: the next sweep hides the exchange. Sweeps go up and down in turn, so that the edge that was
 * computed last is needed last. */
typedef enum exchange_way {
  EXCHANGE_WHOLE,
  EXCHANGE_SPLIT,
  EXCHANGE_SIGNALLED,
  EXCHANGE_SENT,
  EXCHANGE_BEHIND
} exchange_way;

typedef struct exchange {
  halo *halo;
  const kernels *backend;
  kernels_context *context;
  exchange_way single, pair; /* the ways of one stage, and of two in one sweep: chosen once */
  exchange_way now;          /* that of the latest sweep */
  kernels_event *edges_start, *edges_done;
  kernels_sending sending;   /* SENT: of the latest sweep */
  int down;                  /* BEHIND: 1: the next sweep goes downwards */
  kernels_arrivals arrivals; /* for which it waits */
} exchange;

/* Chooses the ways for the slabs of `halo`, the same on all ranks. sends: a stage is one launch, which may
 * send its edges itself. STATUS_DEVICE; exchange_close even after an error. */
status exchange_open(halo *halo, int overlap, int sends, exchange *exchange);
void exchange_close(exchange *exchange);

/* Returns 1 if slabs are so small that kernels that send their edges are faster than stages in pairs. */
int exchange_beats_pairs(const exchange *exchange);

/* From now on sweeps of two stages come between single ones, and fields have the halos of two stages: more
 * planes than a single stage signals or sends. */
void exchange_deepen(exchange *exchange);

/* Returns 1 if single stages need no host between them, so that a step can be recorded. */
int exchange_hostless(const exchange *exchange);

/* ---- Called in the same order on all ranks. STATUS_MPI, STATUS_DEVICE ---- */

/* Sets what a sweep of `count` stages on all planes signals, sends and waits for. */
status exchange_before(exchange *exchange, stage *stages, int count);

/* SPLIT: the edge planes of `out` are computed. */
status exchange_edges(exchange *exchange, const state *out);

/* All planes of `out` are enqueued. From now on its halos are valid for the next sweep, and for anything else
 * after exchange_settle. */
status exchange_after(exchange *exchange, const state *out);

/* Makes halos valid for anything. like: as of halo_meet. */
status exchange_settle(const exchange *exchange, const field *like);

/* [out] seconds of the latest sweep, once everything enqueued is done. edges: from `start`, recorded before
 * its launch, until its edges were computed, 0 if nothing overlaps; halo: from then until halos were
 * valid. */
status exchange_seconds(const exchange *exchange, const kernels_event *start, double *edges, double *halo);

#endif
