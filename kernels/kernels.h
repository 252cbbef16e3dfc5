#ifndef FDAPP_KERNELS_H
#define FDAPP_KERNELS_H

#include "base/check.h"
#include "closure.h"
#include "launch.h"
#include "operations.h"
#include "stencil.h"

/* The numerics on one rank's slab: a typed table of operations that every backend fills. It is the only
 * interface between src/ and kernels/. Nothing here is collective, uses MPI, or reads beyond the slab and its
 * halo planes. launch.h describes arrays and queues. */

/* A velocity given by a formula instead of stored fields: component d at (x, y, z) is
 *
 *   fma(X_d[x], Y_d[y] Z_d[z], A_d[y] + B_d[z]),
 *
 * a product of three functions of one coordinate each, plus a sum of two. The tables have the field's
 * precision and lie in MEMORY_DEVICE. Unlike a field, they hold H periodic images beyond each end, -H <= x <
 * nx + H and so on, so that kernels read neighbours as they read points; H = KERNELS_HALO, S =
 * KERNELS_TABLE_SIDE. x[0] is aligned as a row is, y[0] and z[0] to 16 bytes at least. */
enum { KERNELS_TABLE = 8, KERNELS_TABLE_SIDE = 32 };
typedef struct kernels_tables {
  const void *x; /* X_d[x] is element d (ldx + 2 S) + x; S unused elements at either end of [0, ldx) may be
                  * read. NULL: no tables */
  const void *y; /* Y_0, Y_1, Y_2, A_0, A_1, A_2 at y begin at element KERNELS_TABLE y; two more are unused */
  const void *z; /* Z_0, Z_1, Z_2, B_0, B_1, B_2 likewise */
} kernels_tables;

/* Sums over the points of one z-plane, in double for fields of either precision.
 *
 * All backends sum in one order. Lane l = x mod 32 of a row adds its points in ascending x to 0; then the 32
 * lanes are added pairwise, lane l += lane l + o for o = 16, 8, 4, 2, 1, which gives the row's sum. Rows are
 * summed in the same way: lane y mod 32, ascending y, then pairwise. Squares enter by fma(v, v, lane).
 * Minimum and maximum ignore NaN (the sum does not) and are +-infinity if there was no number; a zero among
 * them is +0 (0.0 is added at the end). With a reference r, the error is e = |f - r|, computed in double; its
 * maximum follows the same rules. With weights, the weight of x multiplies value and error before they enter
 * a lane (fma(weight v, v, lane) for squares), and the weight of y multiplies the row's sum. */
typedef struct kernels_plane_sums {
  double sum, sum_squares, minimum, maximum;
  double error_sum, error_squares, error_maximum; /* 0 without a reference */
} kernels_plane_sums;

/* Quadrature weights of the points beside the ends along x and y, the outermost first: [axis][end]. All
 * others are 1. */
typedef struct kernels_weights {
  double of[2][2][CLOSURE_ROWS];
} kernels_weights;

/* The weight of point i of n along x or y. */
DESCRIBE double kernels_weight(const kernels_weights *weights, axis along, int i, int n) {
  if (i < CLOSURE_ROWS) return weights->of[along][0][i];
  return n - 1 - i < CLOSURE_ROWS ? weights->of[along][1][n - 1 - i] : 1.0;
}

/* A streaming loop over `elements` elements of `reads` input and `writes` output arrays; each output element
 * is the sum of the input elements. It measures the ceiling for kernels with the same numbers of arrays.
 * Arrays are aligned as rows are. */
enum { KERNELS_STREAM_READS = 5, KERNELS_STREAM_WRITES = OPERATION_OUTPUTS };
typedef struct kernels_stream {
  int reads, writes; /* at least 1 */
  const void *in[KERNELS_STREAM_READS];
  void *out[KERNELS_STREAM_WRITES];
  size_t elements;
  int nontemporal; /* 1: stores bypass the caches, if the backend has such stores */
} kernels_stream;

/* The ends of axes, for operations on a slab of a grid that has some; made by kernels_ends_open. A layer is
 * the set of points beside an end whose differences along that axis are rows of a closure. */
typedef struct kernels_ends {
  int bounded[3];  /* 1: the axis has two ends, and points on both */
  int fixed[3][2]; /* 1: the second derivative is that of an end with a value (closure.h) */
  int z0, nz;      /* first plane of the slab, and planes of the whole grid */
  int rows, width; /* of the closure */
  void *row;       /* rows divided by h or h^2, from the end inwards, with the signs of that end, in the
                    * field's precision: [axis][end][difference][CLOSURE_ROWS][CLOSURE_WIDTH];
                    * MEMORY_DEVICE */
} kernels_ends;

/* Values at ends, imposed by penalties. At a point on an end of axis d where `sign` times the velocity c
 * points inwards,
 *
 *   out[0] += weight[d] |c| (g - in[0]).
 *
 * At point i from the end, with in[0] on the end, and where pull[d][end][i] is not zero,
 *
 *   out[0] += pull[d][end][i] (g - in[0]).
 *
 * The value g is value[d][end], an array of the slab's points on that end in the field's precision, the
 * first coordinate fastest; if that is NULL, g = `number`. For operations with a velocity. */
typedef struct kernels_inflow {
  double weight[3];
  double pull[3][2][CLOSURE_ROWS];
  double sign; /* 1 or -1 */
  const void *value[3][2];
  double number;
} kernels_inflow;

/* Penalties at ends that couple fields at the point itself: at a point on end e of axis d
 *
 *   out[k] += weight[d][e][0] of[d][0] + weight[d][e][1] of[d][1],
 *
 * computed as two fma in this order. k = d for an operation with an output for each axis, else 0. of[d] are
 * two fields, which no output may overlap. In a medium, two more fields a and b, the first weight is
 * multiplied by a at the point, and the second one by sqrt(a b). */
typedef struct kernels_coupling {
  const void *of[3][2];
  double weight[3][2][2];
  const void *medium[2]; /* NULL: none */
} kernels_coupling;

/* An operation of operations.h on the planes of a launch. `in` and `out` are the arrays of the declaration,
 * in its order, and with SUM_BASE those of the sum (operation.h); entries that it does not use are ignored.
 * All doubles are rounded once to the field's precision. Inputs that are differenced along z need valid halos
 * in z. `out` must not overlap an input that is differenced; it may be an input that is read at the point
 * alone.
 *
 * A call with ends, of an operation with terms, goes through apply_bounded. Points in layers get the
 * differences of the closures, all others those of a periodic grid. Beyond an end of z halo planes need not
 * be valid, but finite. Without an axis that has ends, inflow and coupling are ignored. Penalties are added
 * in one order: first those of the inflow, then those of the coupling; of either, axis after axis, the low
 * end before the high one; at an end of the inflow, what has `weight` before what has `pull`. */
typedef struct kernels_call {
  operation_kind kind;
  unsigned options;
  const void *in[OPERATION_ARRAYS];
  void *out[OPERATION_OUTPUTS];
  double weight[OPERATION_WEIGHTS]; /* of the sum */
  double scalar[OPERATION_SCALARS];
  const void *numbers;              /* NULL, or the scalars in the field's precision in MEMORY_DEVICE, instead
                                     * of `scalar`: recorded launches read them when they run */
  double uniform[3];                /* the velocity, if the operation has VELOCITY_UNIFORM */
  kernels_tables tables;            /* the velocity, if it has VELOCITY_TABLES */
  const kernels_ends *ends;         /* NULL, or those of the grid's axes */
  const kernels_inflow *inflow;     /* NULL, or values at the ends */
  const kernels_coupling *coupling; /* NULL, or penalties at the ends */
} kernels_call;

/* 1 if an axis has ends. */
static inline int kernels_call_bounded(const kernels_call *call) {
  const kernels_ends *ends = call->ends;
  return ends != NULL && (ends->bounded[AXIS_X] || ends->bounded[AXIS_Y] || ends->bounded[AXIS_Z]);
}

/* The first derivative along an axis. */
static inline kernels_call kernels_derivative_call(axis along, const void *f, void *out) {
  const kernels_call call = {
      .kind = OPERATION_derivative, .options = (unsigned)along | DERIVATIVE_FIRST, .in = {f}, .out = {out}};
  return call;
}

/* The ways of operations (OPERATION_WAYS). */
typedef struct kernels_way {
  const char *name;
  operation_kind kind;
  unsigned options; /* without additions */
} kernels_way;

extern const kernels_way kernels_ways[OPERATION_WAY_COUNT];

/* [out] way: the number of a call's way. STATUS_DEVICE if it has none. */
status kernels_way_find(const kernels_call *call, int *way);

/* The min-plus product along one axis, for every pencil of the slab:
 *
 *   out[i] = min over k of in[k] + cost(i, k),   k = 0 .. count - 1,
 *
 * where i runs over all points of the slab along the axis. `out` has the launch's shape; `in` has the same
 * pitches and `count` points along the axis: nx along x, ny along y, any number of planes along z. Both are
 * addresses of plane 0 (field_plane), because halo planes are not used. If `pitch` is 0, cost(i, k) is an
 * entry of a table, cost[|i + offset - k|]; otherwise of a matrix, cost[i pitch + k]. Costs have the field's
 * precision and lie in MEMORY_DEVICE.
 *
 * All backends give the same bits: sums have two terms, and a minimum does not depend on the order; a zero of
 * `out` is +0. No value may be NaN or -infinity; callers refuse them.
 *
 * With a table, a block of k is skipped if it cannot win: if `least` plus the least cost of the block is not
 * below the values found so far. */
typedef struct kernels_minplus {
  void *out;
  const void *in;
  axis along;
  int count;
  int accumulate; /* 1: out is the minimum of its old value and the product */
  const void *cost;
  ptrdiff_t pitch;           /* row pitch of the matrix in elements, a multiple of KERNELS_ROW_ALIGNMENT; 0: a
                              * table */
  ptrdiff_t offset;          /* of a table */
  double least;              /* lower bound of the values of `in`; -infinity skips nothing */
  unsigned long long *pairs; /* NULL, or a counter in MEMORY_DEVICE to which the number of pairs (i, k)
                              * computed is added, padding included */
} kernels_minplus;

struct flow_call;
struct kernels_wave;

/* How much of a derivative's kernel runs: it loads and stores its points, out = f; it also loads the halos of
 * its tiles, out = f four points before plus f four points after; or all of it. */
typedef enum kernels_part { PART_LOAD, PART_HALOS, PART_WHOLE } kernels_part;

/* Every slot is required unless marked optional (NULL allowed). Where nothing else is said, errors are
 * STATUS_DEVICE, or STATUS_MEMORY if the backend lacks memory. */
typedef struct kernels {
  const char *name;
  int host_memory; /* 1: MEMORY_DEVICE can be read and written by the host */

  /* STATUS_OK if the backend can run on this machine, else STATUS_DEVICE with the reason as the message. */
  status (*probe)(void);
  /* Opens a device. [out] *context, to be released by context_destroy. STATUS_DEVICE, STATUS_MEMORY. */
  status (*context_create)(const kernels_setup *setup, kernels_context **context);
  void (*context_destroy)(kernels_context *context);
  /* One line that describes the device: its name and number, or processor and threads. Valid as long as the
   * context. */
  const char *(*describe)(kernels_context *context);
  /* identity: a number >= 0 that differs between the devices of a node; processes that share a device get the
   * same number even if each sees another subset of devices. count: devices of this kind that the process
   * sees. */
  void (*device_identity)(kernels_context *context, int *identity, int *count);
  /* Optional: the device's unique name in its management library ("GPU-..."). */
  const char *(*device_uuid)(kernels_context *context);

  /* Allocates `bytes` bytes, zeroed, aligned to at least 256 bytes, first touched by the threads that will
   * use them. In host memory, successive arrays begin at different offsets within a page, because loops that
   * stream through several arrays are slow if all begin at the same offset. STATUS_MEMORY, STATUS_DEVICE. */
  status (*memory_allocate)(kernels_context *context, kernels_memory kind, size_t bytes, void **memory);
  void (*memory_free)(kernels_context *context, kernels_memory kind, void *memory); /* NULL: nothing */
  /* Bytes available for fields: free memory, on a device less what the backend itself needs. */
  status (*memory_available)(kernels_context *context, size_t *bytes);
  /* Copies between any two of device, staging and plain host memory. Enqueued. */
  status (*memory_copy)(kernels_context *context, kernels_queue queue, void *to, const void *from,
                        size_t bytes);
  /* The same for pieces; memory between them is not changed. */
  status (*memory_copy_pieces)(kernels_context *context, kernels_queue queue, const kernels_pieces *pieces);

  /* Blocks the host until everything enqueued on the queue so far is done. Reports faults of earlier
   * operations. */
  status (*queue_wait)(kernels_context *context, kernels_queue queue);

  status (*event_create)(kernels_context *context, kernels_event **event);
  void (*event_destroy)(kernels_event *event);
  /* Marks the end of what has been enqueued on `queue` so far. */
  status (*event_record)(kernels_event *event, kernels_context *context, kernels_queue queue);
  /* Work enqueued on `queue` from now on starts after the event. */
  status (*event_follow)(kernels_context *context, kernels_queue queue, kernels_event *event);
  /* Blocks the host until the event. Faults of earlier operations: STATUS_DEVICE. */
  status (*event_wait)(kernels_event *event);
  /* Seconds between two events that the host has waited for. If `end` is the `edges` event of a stage, it
   * counts from the stage's beginning at the earliest, on axes with ends from the end of their layers. */
  status (*event_seconds)(const kernels_event *start, const kernels_event *end, double *seconds);

  /* ---- Numerics: launch errors are checked; STATUS_DEVICE ---- */
  /* Any operation of operations.h. Typed calls of those in use are below: apply_gradient and others. For a
   * call with ends, a backend without `layers` computes the layers, too; one with `layers` ignores ends. */
  status (*apply)(const kernels_launch *launch, const kernels_call *call);
  /* Optional, for a backend whose `apply` computes no layers: the operation on the launch's planes that lie
   * in layers in z, and on the others at the points that `apply` leaves out. */
  status (*layers)(const kernels_launch *launch, const kernels_call *call);
  /* Optional, both or none: two operations in one sweep, where the second operation's input 0 is the first
   * one's output. The bits are those of one after the other. The array between them is not touched: neither
   * the first one's `out` nor the second one's in[0] is used. The second one's `out` overlaps no input.
   * Unless the shape is `whole`, 2 KERNELS_HALO halo planes of the first one's input 0 are read: more lie
   * before and after the array. Neither call has ends. pair_refused returns why a backend does not compute
   * this pair on all planes of the shape, or NULL; unless `always`, also if two calls of `apply` are faster.
   * Constant strings. It is called before apply_pair, for it takes the device memory that the pair needs. */
  const char *(*pair_refused)(const kernels_launch *launch, const kernels_call *first,
                              const kernels_call *second, int always);
  status (*apply_pair)(const kernels_launch *launch, const kernels_call *first, const kernels_call *second);
  /* A pass of compressible flow (flow.h). */
  status (*flow)(const kernels_launch *launch, const struct flow_call *call);
  /* A task of the wave equation (wave_call.h). */
  status (*wave)(const kernels_launch *launch, const struct kernels_wave *call);
  /* Writes sums[i] of the launch's i-th plane (kernels_plane_at) to host memory and returns when that is
   * done. reference: NULL or a field. weights: NULL or those of x and y. */
  status (*plane_sums)(const kernels_launch *launch, const void *f, const void *reference,
                       const kernels_weights *weights, kernels_plane_sums *sums);
  /* launch: only context, queue and shape are used. STATUS_MEMORY if there is no room for the backend's
   * tables. */
  status (*minplus)(const kernels_launch *launch, const kernels_minplus *product);
  /* launch: only context, queue and shape.precision are used. */
  status (*stream)(const kernels_launch *launch, const kernels_stream *stream);
  /* The loop that measures the ceiling of min-plus products: an addition and a minimum, repeated, of numbers
   * in registers, on all cores. in, out: KERNELS_LOOP elements of MEMORY_DEVICE; the contents of `out` have
   * no meaning. [out] pairs: number of additions with a minimum. launch: as for stream. */
  status (*minplus_loop)(const kernels_launch *launch, const void *in, void *out, double *pairs);

  /* Optional, all or none: records enqueued work instead of running it, so that one launch repeats all of it.
   * Between begin and end nothing may wait, and every queue that takes part must follow MAIN and be followed
   * by it. Addresses and numbers are those of the recording. A launch is enqueued on MAIN. */
  status (*graph_begin)(kernels_context *context);
  status (*graph_end)(kernels_context *context, kernels_graph **graph);
  status (*graph_launch)(kernels_context *context, kernels_graph *graph);
  void (*graph_destroy)(kernels_graph *graph);

  /* Optional, all or none: access to device memory of another process on the node. export describes a block
   * from memory_allocate; import makes it addressable here (once per block and process, never in the process
   * that exported it) until release, which must come before the owner frees the block. */
  status (*memory_export)(kernels_context *context, void *memory, unsigned char handle[KERNELS_HANDLE_BYTES]);
  status (*memory_import)(kernels_context *context, const unsigned char handle[KERNELS_HANDLE_BYTES],
                          void **memory);
  void (*memory_release)(kernels_context *context, void *memory);
  /* Enqueued: a meeting. After it this queue sees what the neighbours' queues wrote before theirs, and may
   * write to their memory. All ranks make the same meetings in the same order. A neighbour that stays away is
   * STATUS_LATE of a queue_wait, or of launches after the time is over; what was computed since is wrong.
   * Optional, with memory_export. */
  status (*meet)(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting);
  /* Enqueued: tells the neighbour at this side that exchange `number`, the one after the last that it was
   * told of, has arrived: all that this queue has written so far. No kernel does this, so a kernel that waits
   * for it (kernels_arrivals) and fills the device does not keep the neighbour waiting. With `meet`. */
  status (*pass)(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting,
                 kernels_side side, unsigned number);

  /* Optional: named, nested ranges for the device's profiler. */
  void (*range_push)(const char *name);
  void (*range_pop)(void);

  /* Optional: ways of computing the first derivative that fdbench compares (tile shapes, long and short
   * pencils), and parts of them. One is called "production" and is the way of `apply`. */
  int variant_count;
  const char *const *variant_names;
  status (*derivative_variant)(const kernels_launch *launch, int variant, kernels_part part, axis axis,
                               const void *f, void *out);
  /* Optional: simpler ways of computing a product with a matrix along y, without `accumulate`, for fdbench to
   * compare. */
  int minplus_variant_count;
  const char *const *minplus_variant_names;
  status (*minplus_variant)(const kernels_launch *launch, int variant, const kernels_minplus *product);
} kernels;

/* Typed calls of `apply`; work is enqueued when they return. Inputs that are differenced along z have valid
 * halos there. */

/* out = d f / d along. */
status apply_derivative(const kernels *backend, const kernels_launch *launch, axis along, const void *f,
                        void *out);
/* out[0..2] = grad f; f is read once. */
status apply_gradient(const kernels *backend, const kernels_launch *launch, const void *f,
                      void *const out[3]);
/* out = d v[0]/dx + d v[1]/dy + d v[2]/dz. */
status apply_divergence(const kernels *backend, const kernels_launch *launch, const void *const v[3],
                        void *out);
status apply_laplacian(const kernels *backend, const kernels_launch *launch, const void *f, void *out);
/* y = fma(a, x, y) point by point. */
status apply_axpy(const kernels *backend, const kernels_launch *launch, double a, const void *x, void *y);

/* Allocates MEMORY_DEVICE with a copy of `bytes` bytes from the host; any number of them, also none. Waits.
 * [out] memory: to be freed even after an error, unless NULL. STATUS_MEMORY, STATUS_DEVICE. */
status kernels_upload(const kernels *backend, kernels_context *context, const void *host, size_t bytes,
                      void **memory);

/* A call with ends or without. If the backend has `layers`, these are computed first, then all other points.
 */
status apply_bounded(const kernels *backend, const kernels_launch *launch, const kernels_call *call);

/* Fills `ends`. The caller has set bounded, fixed, z0 and nz; the closure's order is the stencil's.
 * STATUS_MEMORY, STATUS_DEVICE; even after an error kernels_ends_close must be called. */
status kernels_ends_open(const kernels *backend, kernels_context *context, precision precision,
                         const stencil *stencil, kernels_ends *ends);
void kernels_ends_close(const kernels *backend, kernels_context *context, kernels_ends *ends);

/* The backend called `name`, or NULL. */
const kernels *kernels_find(const char *name);

/* Number of backends built in, and the i-th of them in the order in which `auto` tries them. */
int kernels_count(void);
const kernels *kernels_at(int index);

/* The planes of a range between the layers in z; none where z1 <= z0. */
kernels_planes layers_between(const kernels_planes *range, const kernels_ends *ends);

#endif
