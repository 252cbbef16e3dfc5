#ifndef FDAPP_KERNELS_H
#define FDAPP_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "closure.h"
#include "operations.h"
#include "stencil.h"

/* The numerics on one rank's slab: a typed table of operations that every backend fills, the only interface
 * between src/ and kernels/. Nothing here is collective, knows MPI, or looks beyond the slab and its halo
 * planes.
 *
 * Arrays. A field holds nz + 2 H planes of ny rows, x fastest, H = KERNELS_HALO. Point (x, y, z), z in
 * [-H, nz + H), is element (z + H) plane + y ldx + x, with the pitches of the shape. What lies between a
 * row's end and the next row, and between a plane's last row and the next plane, is padding: kernels may
 * write anything there and never let it influence a point. x and y are periodic and whole: their images are
 * made inside the kernels. z neighbours outside the slab come from the halo planes, which the caller keeps
 * valid; but where the slab is whole in z, they are images, too, and halo planes are never read.
 *
 * Order. Operations are enqueued on a queue and may return before they are done; one queue runs in order, two
 * queues only as events say. `out` must not overlap an input, except where said. */

enum {
  KERNELS_HALO = STENCIL_RADIUS,
  KERNELS_RANGES = 2,
  KERNELS_ROW_ALIGNMENT = 128, /* bytes */
  KERNELS_ROW_AVOIDED = 2048,  /* bytes; rows of backends in host memory are no multiple of them */
  KERNELS_PLANE_UNIT = 256,    /* bytes; a plane is an odd number of them */
  KERNELS_HANDLE_BYTES = 64,
  KERNELS_LOOP = 256,           /* elements of minplus_loop */
  KERNELS_MOST_POINTS = 1 << 26 /* of nx and ny: indexed by int, up to 16 places a point */
};

typedef enum precision { PRECISION_SINGLE, PRECISION_DOUBLE } precision;
typedef enum advection_form { FORM_ADVECTIVE, FORM_CONSERVATIVE, FORM_SKEW } advection_form;

/* MAIN: what is computed. COPY: halo planes on their way meanwhile. */
typedef enum kernels_queue { QUEUE_MAIN, QUEUE_COPY, QUEUE_COUNT } kernels_queue;

/* DEVICE: where fields live. STAGING: host memory that the device copies to and from at full speed. */
typedef enum kernels_memory { MEMORY_DEVICE, MEMORY_STAGING } kernels_memory;

typedef struct kernels_context kernels_context; /* a backend's device, queues and workspace; opaque */
typedef struct kernels_event kernels_event;     /* a point in a queue; opaque */
typedef struct kernels_graph kernels_graph;     /* recorded work; opaque */

typedef struct kernels_setup {
  int device;  /* node-local rank; a backend with several devices takes device % count */
  int threads; /* CPU threads; 0 = what OpenMP would take */
} kernels_setup;

/* Made by kernels_shape_make; the pitches are those of nx, ny, the precision and the kind of memory. */
typedef struct kernels_shape {
  int nx, ny, nz;  /* owned points; more than 2 KERNELS_HALO in x and in y */
  int ldx;         /* row pitch in elements */
  ptrdiff_t plane; /* plane pitch in elements */
  int whole;       /* the slab is all of a periodic z: "halos valid", asked for below, does not apply */
  enum precision precision;
} kernels_shape;

/* Owned planes z0 <= z < z1; none where z1 <= z0. */
typedef struct kernels_planes {
  int z0, z1;
} kernels_planes;

/* What all numerical operations share. `planes` are those on which an operation writes: up to two ranges
 * without a plane in common, so that both edges of a slab are one launch. Either may be empty, or both. */
typedef struct kernels_launch {
  kernels_context *context;
  kernels_queue queue;
  kernels_shape shape;
  kernels_planes planes[KERNELS_RANGES];
  const struct stencil *stencil;
  kernels_event *edges; /* `stage` alone: NULL, or an event to record when the KERNELS_HALO lowest and highest
                         * planes of planes[0] are written and nothing reads halo planes any more, long before
                         * the rest is done if the backend can: those planes come first */
} kernels_launch;

/* A velocity known by formula, without fields of it: component d at (x, y, z) is
 *
 *   fma(X_d[x], Y_d[y] Z_d[z], A_d[y] + B_d[z]),
 *
 * one product of three functions of one coordinate each, and a sum of two; tables in the precision of the
 * field, in MEMORY_DEVICE. Unlike a field they hold images at all their ends, so that kernels read neighbours
 * as they do points: -H <= x < nx + H, and so on; H = KERNELS_HALO, S = KERNELS_TABLE_SIDE. x[0] is aligned
 * as a row is, y[0] and z[0] to 16 bytes at least. */
enum { KERNELS_TABLE = 8, KERNELS_TABLE_SIDE = 32 };
typedef struct kernels_tables {
  const void *x; /* X_d[x] is element d (ldx + 2 S) + x; S more, of no meaning, can be read at either end of
                  * [0, ldx). NULL: no tables */
  const void *y; /* Y_0, Y_1, Y_2, A_0, A_1, A_2 at y begin at element KERNELS_TABLE y; two of no meaning */
  const void *z; /* Z_0 ... B_2 likewise */
} kernels_tables;

/* One Runge-Kutta stage on the planes of the launch, fused:
 *
 *   b   = base ? base : f
 *   out = b + weight_f (f - b) + sum_i weight_extra[i] (extra[i] - b) + advection * A(f)
 *         + dissipation * S(f) + diffusion * Lap(f)
 *
 * where A is u.grad f, div(u f) or their mean (form), S is |u| Dx f + |v| Dy f + |w| Dz f with the even
 * differences of stencil.h, and the caller puts -dt, the stage's weight and the velocity's time factor into
 * `advection`, their size into `dissipation`. All doubles are rounded once to the field's precision. The
 * order of operations is that of the line above, with arithmetic.h. Weights do not matter where base is NULL;
 * the terms of extras are left out where these are NULL, those of dissipation and diffusion where their
 * factor, rounded, is zero.
 *
 * f: halos valid in z. velocity: either all three, or all NULL for that of the tables, or without tables for
 * the uniform one, for which the three forms are the same and the advective one is used; velocity[2] needs
 * valid halos unless the form is advective. out may be the same array as base or
 * as an extra, never f or a velocity. Either both extras are given, and a base, or none. */
typedef struct kernels_stage {
  void *out;
  const void *f;
  const void *base;
  double weight_f;
  const void *extra[2];
  double weight_extra[2];
  advection_form form;
  double advection;
  const void *velocity[3];
  kernels_tables tables;
  double uniform[3];
  double dissipation;
  double diffusion;
} kernels_stage;

/* Sums over the points of one z-plane, in double whatever the field's precision.
 *
 * One order on all backends: lane l = x mod 32 of a row adds its points in ascending x to 0; the 32 lanes are
 * added pairwise, lane l += lane l + o for o = 16, 8, 4, 2, 1; that is the row's sum. Rows are summed in the
 * same way: lane y mod 32, ascending y, then pairwise. Squares enter by fma(v, v, lane). Minimum and maximum
 * ignore NaN (the sum does not), are +-infinity where there was no number, and a zero among them is +0 (0.0
 * is added at the end). With a reference r: e = |f - r| computed in double; its maximum follows the same
 * rules. With weights, those of x multiply value and error before they enter a lane (by fma(weight v, v,
 * lane) for squares), those of y the sums of a row. */
typedef struct kernels_plane_sums {
  double sum, sum_squares, minimum, maximum;
  double error_sum, error_squares, error_maximum; /* 0 without a reference */
} kernels_plane_sums;

/* Quadrature weights of the points beside the ends along x and y, the outermost first: [axis][end]. All
 * others are 1. */
typedef struct kernels_weights {
  double of[2][2][CLOSURE_ROWS];
} kernels_weights;

/* That of point i of n along x or y. */
DESCRIBE double kernels_weight(const kernels_weights *weights, axis along, int i, int n) {
  if (i < CLOSURE_ROWS) return weights->of[along][0][i];
  return n - 1 - i < CLOSURE_ROWS ? weights->of[along][1][n - 1 - i] : 1.0;
}

/* A streaming loop of `reads` input arrays and `writes` output arrays, over `elements` elements of the
 * precision, each output element the sum of the input elements: the ceiling that a kernel of the same mix is
 * judged by. Arrays are aligned as rows are. */
typedef struct kernels_stream {
  int reads, writes; /* 1..5, 1..3 */
  const void *in[5];
  void *out[3];
  size_t elements;
  int nontemporal; /* stores around the caches, where the backend has them */
} kernels_stream;

/* An operation of operations.h on the planes of a launch. The arrays of `in` and `out` are those of the
 * declaration, its order; what it does not read may be anything. All doubles are rounded once to the field's
 * precision. Inputs that are differenced along z need valid halos in z. `out` must not overlap an input that
 * is differenced; it may be an input that is read at the point alone. */
typedef struct kernels_call {
  operation_kind kind;
  unsigned options;
  const void *in[OPERATION_INPUTS];
  void *out[OPERATION_OUTPUTS];
  double scalar[OPERATION_SCALARS];
  double uniform[3];     /* the velocity, where it is VELOCITY_UNIFORM */
  kernels_tables tables; /* where it is VELOCITY_TABLES */
} kernels_call;

/* The ends of axes, for operations of operations.h on a slab of a grid that has some; made by
 * kernels_ends_open. A layer is the points beside an end whose differences along that axis are rows of a
 * closure. */
typedef struct kernels_ends {
  int bounded[3];  /* 1: the axis has two ends, and points on both */
  int z0, nz;      /* first plane of the slab, and planes of the whole grid */
  int rows, width; /* of the closure */
  void *row; /* rows over h or h^2, in the field's precision: [axis][difference][CLOSURE_ROWS][CLOSURE_WIDTH];
              * MEMORY_DEVICE */
  void *layer; /* results of all layers of the slab, for each output; MEMORY_DEVICE */
} kernels_ends;

/* What enters through ends, by penalty: at the point on an end of axis d, where the velocity c times `sign`
 * points inwards,
 *
 *   out[0] += weight[d] |c| (g - in[0]).
 *
 * g: value[d][end], an array of the slab's points on that end in the field's precision, the first coordinate
 * fastest; or, where that is NULL, `number`. For operations with a velocity. */
typedef struct kernels_inflow {
  double weight[3];
  double sign; /* 1 or -1 */
  const void *value[3][2];
  double number;
} kernels_inflow;

/* The min-plus product along one axis, for every pencil of the slab:
 *
 *   out[i] = min over k of in[k] + cost(i, k),   k = 0 .. count - 1,
 *
 * and i over all points of the slab along the axis. `out` has the launch's shape, `in` the same pitches and
 * `count` points along the axis: nx along x, ny along y, any number of planes along z. Both are addresses of
 * plane 0 (field_plane), for no halo plane is touched. cost(i, k) is either an entry of a table,
 * cost[|i + offset - k|], or, with a pitch, of a matrix, cost[i pitch + k]; in the precision of the field and
 * in MEMORY_DEVICE.
 *
 * One answer: sums have two terms and a minimum does not depend on the order; a zero of `out` is +0. No value
 * may be a NaN or -infinity: the caller refuses them.
 *
 * With a table, blocks of k that cannot win are skipped: those for which `least` plus the least cost of the
 * block is no less than the values found so far. */
typedef struct kernels_minplus {
  void *out;
  const void *in;
  axis along;
  int count;
  int accumulate; /* out keeps its value where that is less */
  const void *cost;
  ptrdiff_t pitch;           /* of a matrix, in elements, whole KERNELS_ROW_ALIGNMENTs; 0: a table */
  ptrdiff_t offset;          /* of a table */
  double least;              /* no value of `in` is below it; -infinity skips nothing */
  unsigned long long *pairs; /* NULL, or a number in MEMORY_DEVICE to which the pairs (i, k) that were
                              * computed are added, those of padding included */
} kernels_minplus;

/* Every slot is required unless marked optional (NULL allowed). Where nothing else is said a status is
 * STATUS_DEVICE, or STATUS_MEMORY if the backend lacks memory. */
typedef struct kernels {
  const char *name;
  int host_memory; /* 1: MEMORY_DEVICE can be read and written by the host */

  /* Whether the backend can run on this machine; if not, STATUS_DEVICE and the reason as the message. */
  status (*probe)(void);
  /* Opens a device. [out] *context, to be released by context_destroy. STATUS_DEVICE, STATUS_MEMORY. */
  status (*context_create)(const kernels_setup *setup, kernels_context **context);
  void (*context_destroy)(kernels_context *context);
  /* One line for people: device name and its number, or processor and threads. Valid as long as the context.
   */
  const char *(*describe)(kernels_context *context);
  /* A number >= 0 that tells the device opened from the node's others (processes that share one get the same,
   * whatever each of them sees), and how many of this kind this process sees. */
  void (*device_identity)(kernels_context *context, int *identity, int *count);
  /* Optional: the device's name that no other has, as its management library knows it ("GPU-..."). */
  const char *(*device_uuid)(kernels_context *context);

  /* `bytes` bytes aligned to at least 256, zeroed, first touched by the threads that will use them; in host
   * memory arrays in turn begin at different places of a page, which what streams through several of them
   * needs. STATUS_MEMORY, STATUS_DEVICE. */
  status (*memory_allocate)(kernels_context *context, kernels_memory kind, size_t bytes, void **memory);
  void (*memory_free)(kernels_context *context, kernels_memory kind, void *memory);
  /* Bytes that fields may take: of a device what is free, less what else it needs. */
  status (*memory_available)(kernels_context *context, size_t *bytes);
  /* Copies between any two of device, staging and plain host memory; enqueued. */
  status (*memory_copy)(kernels_context *context, kernels_queue queue, void *to, const void *from,
                        size_t bytes);

  /* Waits on the host until everything enqueued on the queue so far is done; reports faults of earlier
   * operations. */
  status (*queue_wait)(kernels_context *context, kernels_queue queue);

  status (*event_create)(kernels_context *context, kernels_event **event);
  void (*event_destroy)(kernels_event *event);
  /* Marks the end of what has been enqueued on `queue` so far. */
  status (*event_record)(kernels_event *event, kernels_context *context, kernels_queue queue);
  /* What is enqueued on `queue` from now on starts after the event. */
  status (*event_follow)(kernels_context *context, kernels_queue queue, kernels_event *event);
  /* Waits on the host for the event. Faults of earlier operations: STATUS_DEVICE. */
  status (*event_wait)(kernels_event *event);
  /* Seconds between two events that have been waited for; to the `edges` of a stage: from its beginning at
   * the earliest. */
  status (*event_seconds)(const kernels_event *start, const kernels_event *end, double *seconds);

  /* Numerics. Launch errors are checked; STATUS_DEVICE. */
  /* Any operation of operations.h. Typed calls of those in use are below: apply_gradient and others. */
  status (*apply)(const kernels_launch *launch, const kernels_call *call);
  /* Optional, both or none: two operations in one sweep, the second of what the first one makes, with the
   * bits of both one after the other. The first one's `out` and the second one's input that stands for it
   * (input 0) are not touched, and the second one's `out` overlaps no input. pair_refused says why a backend
   * does not compute these two on all planes of the launch's shape, or returns NULL; unless `always`, it also
   * refuses where two calls of `apply` are faster. Constant strings. */
  const char *(*pair_refused)(const kernels_launch *launch, const kernels_call *first,
                              const kernels_call *second, int always);
  status (*apply_pair)(const kernels_launch *launch, const kernels_call *first, const kernels_call *second);
  /* The two parts of apply_bounded: the operation at the points of layers in the launch's planes, into
   * ends->layer; and from there to where they belong. inflow: NULL or what enters. */
  status (*layers_compute)(const kernels_launch *launch, const kernels_call *call, const kernels_ends *ends,
                           const kernels_inflow *inflow);
  status (*layers_store)(const kernels_launch *launch, const kernels_call *call, const kernels_ends *ends);
  /* sums[i] for the i-th plane of the launch (kernels_plane_at), into host memory; returns when they are
   * there. reference: NULL or a field. weights: NULL or those of x and y. */
  status (*plane_sums)(const kernels_launch *launch, const void *f, const void *reference,
                       const kernels_weights *weights, kernels_plane_sums *sums);
  /* launch: only context, queue and shape are used. STATUS_MEMORY if there is no room for its tables. */
  status (*minplus)(const kernels_launch *launch, const kernels_minplus *product);
  /* launch: only context, queue and shape.precision are used. */
  status (*stream)(const kernels_launch *launch, const kernels_stream *stream);
  /* The loop that a min-plus product is judged by: an addition and a minimum, again and again, of numbers
   * that stay in registers, on all that computes. in, out: KERNELS_LOOP elements of MEMORY_DEVICE, of which
   * `out` has no meaning. [out] pairs: additions with a minimum. launch: as above. */
  status (*minplus_loop)(const kernels_launch *launch, const void *in, void *out, double *pairs);

  /* Optional, all or none: records what is enqueued instead of running it, to be run again and again by one
   * launch. Between begin and end nothing may wait, and every queue that takes part must follow MAIN and be
   * followed by it. Addresses and numbers are those of the recording. A launch is enqueued on MAIN. */
  status (*graph_begin)(kernels_context *context);
  status (*graph_end)(kernels_context *context, kernels_graph **graph);
  status (*graph_launch)(kernels_context *context, kernels_graph *graph);
  void (*graph_destroy)(kernels_graph *graph);

  /* Optional, all or none: device memory of another process on the node. export describes a block that
   * memory_allocate gave; import makes it addressable here (once per block and process, never in the process
   * that exported it) until release, which comes before the owner frees it. */
  status (*memory_export)(kernels_context *context, void *memory, unsigned char handle[KERNELS_HANDLE_BYTES]);
  status (*memory_import)(kernels_context *context, const unsigned char handle[KERNELS_HANDLE_BYTES],
                          void **memory);
  void (*memory_release)(kernels_context *context, void *memory);

  /* Optional: named, nested ranges for the device's profiler. */
  void (*range_push)(const char *name);
  void (*range_pop)(void);

  /* Optional: ways of computing `derivative` that fdbench compares (tile shapes, long and short pencils). */
  int variant_count;
  const char *const *variant_names;
  status (*derivative_variant)(const kernels_launch *launch, int variant, axis axis, const void *f,
                               void *out);
  /* Optional: plainer ways of computing a product with a matrix along y, which does not accumulate. */
  int minplus_variant_count;
  const char *const *minplus_variant_names;
  status (*minplus_variant)(const kernels_launch *launch, int variant, const kernels_minplus *product);
} kernels;

/* Calls of `apply`, enqueued when they return. Inputs that are differenced along z have valid halos there. */

/* out = d f / d along. */
status apply_derivative(const kernels *backend, const kernels_launch *launch, axis along, const void *f,
                        void *out);
/* out[0..2] = grad f, from one load of f. */
status apply_gradient(const kernels *backend, const kernels_launch *launch, const void *f,
                      void *const out[3]);
/* out = d v[0]/dx + d v[1]/dy + d v[2]/dz. */
status apply_divergence(const kernels *backend, const kernels_launch *launch, const void *const v[3],
                        void *out);
status apply_laplacian(const kernels *backend, const kernels_launch *launch, const void *f, void *out);
/* y = fma(a, x, y) point by point. */
status apply_axpy(const kernels *backend, const kernels_launch *launch, double a, const void *x, void *y);
status apply_stage(const kernels *backend, const kernels_launch *launch, const kernels_stage *stage);

/* An operation on a grid with ends: `apply` everywhere, and instead of its values in the layers those of the
 * closures, which are computed first, as `out` may be an input. Halo planes beyond an end of z hold anything
 * finite. ends: NULL or without an axis that has ends: `apply` alone. */
status apply_bounded(const kernels *backend, const kernels_launch *launch, const kernels_call *call,
                     const kernels_ends *ends, const kernels_inflow *inflow);

/* Makes ends for operations with at most `outputs` outputs on slabs of this shape. `ends` comes with its
 * integers; the order is the stencil's. STATUS_MEMORY, STATUS_DEVICE; kernels_ends_close is due all the same.
 */
status kernels_ends_open(const kernels *backend, kernels_context *context, const kernels_shape *shape,
                         const stencil *stencil, int outputs, kernels_ends *ends);
void kernels_ends_close(const kernels *backend, kernels_context *context, kernels_ends *ends);

/* The call that apply_stage makes. */
kernels_call kernels_stage_call(const kernels_stage *stage, precision precision);

/* The backend called `name`, or NULL. */
const kernels *kernels_find(const char *name);

/* Number of backends built in, and the i-th of them: the order in which `auto` tries them. */
int kernels_count(void);
const kernels *kernels_at(int index);

/* A shape with its pitches. A row is nx rounded up to a multiple of KERNELS_ROW_ALIGNMENT bytes, a plane its
 * rows rounded up to an odd multiple of KERNELS_PLANE_UNIT bytes: neighbours in z that are a power of two
 * apart all meet in one set of a CPU's first cache, and a smaller unit is too little for GPUs. Neighbours in
 * y do so, too: with host_memory (the backend's) a row that would be a multiple of KERNELS_ROW_AVOIDED bytes
 * is KERNELS_ROW_ALIGNMENT longer. GPUs would lose up to 6 % by it (docs/explanation/performance.md, "Pitches
 * of rows and planes"). */
kernels_shape kernels_shape_make(int nx, int ny, int nz, int whole, precision precision, int host_memory);

/* Planes of both ranges, and the i-th of them: those of the first range, then those of the second. */
int kernels_plane_count(const kernels_launch *launch);
int kernels_plane_at(const kernels_launch *launch, int i);

/* Size of an element, and bytes of a whole field, halo planes and padding included. */
size_t kernels_element_size(precision precision);
size_t kernels_field_bytes(const kernels_shape *shape);

#endif
