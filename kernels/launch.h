#ifndef FDAPP_KERNELS_LAUNCH_H
#define FDAPP_KERNELS_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "stencil.h"

/* What operations work on: arrays, queues, launches.
 *
 * Arrays. A field holds nz + 2 H planes of ny rows, x fastest, H = KERNELS_HALO. Point (x, y, z), z in [-H,
 * nz + H), is element (z + H) plane + y ldx + x, with the pitches of the shape. The elements between a row's
 * end and the next row, and between a plane's last row and the next plane, are padding: kernels may write
 * anything there and no point depends on it. x and y are periodic and not divided among ranks:
 * kernels make their periodic images. z neighbours outside the slab are read from the halo planes, which the
 * caller keeps valid. If the slab is all of a periodic z (`whole`), z neighbours are periodic images, too,
 * and halo planes are never read.
 *
 * Order. Operations are enqueued on a queue and may return before they are done. One queue runs in order; two
 * queues are ordered only by events. `out` must not overlap an input, except where said. */

enum {
  KERNELS_HALO = STENCIL_RADIUS,
  KERNELS_RANGES = 2,
  KERNELS_ROW_ALIGNMENT = 128, /* bytes; ... */
  KERNELS_HOST_ALIGNMENT = 64, /* ... in host memory, ... */
  KERNELS_ROW_AVOIDED = 2048,  /* ... where no row pitch is nearer than KERNELS_ROW_ALIGNMENT to a multiple of
                                * this (kernels_shape_make), ... */
  KERNELS_PLANE_AVOIDED = 128 << 10, /* ... and no plane nearer than KERNELS_PLANE_APART to one of this */
  KERNELS_PLANE_APART = 12 << 10,
  KERNELS_PLANE_UNIT = 256, /* bytes; a plane is an odd number of them */
  KERNELS_HANDLE_BYTES = 64,
  KERNELS_MEETING_BYTES = 768,
  KERNELS_LOOP = 256,           /* elements of each array of minplus_loop */
  KERNELS_MOST_POINTS = 1 << 26 /* of nx and ny: int indices reach 16 elements per point */
};

typedef enum precision { PRECISION_SINGLE, PRECISION_DOUBLE } precision;
typedef enum advection_form { FORM_ADVECTIVE, FORM_CONSERVATIVE, FORM_SKEW } advection_form;

/* MAIN: computation. COPY: halo planes that travel meanwhile. */
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
  int whole;       /* the slab is all of a periodic z, so that operations need no valid halos */
  enum precision precision;
} kernels_shape;

/* Owned planes z0 <= z < z1; none where z1 <= z0. */
typedef struct kernels_planes {
  int z0, z1;
} kernels_planes;

/* A strided copy: `count` pieces of `bytes` bytes each, whose beginnings are `to_pitch` and `from_pitch`
 * bytes apart, neither less than `bytes`. */
typedef struct kernels_pieces {
  void *to;
  size_t to_pitch;
  const void *from;
  size_t from_pitch;
  size_t bytes, count;
} kernels_pieces;

/* Neighbouring ranks on one node whose devices wait for one another, without their hosts. Each rank counts
 * its meetings: at each it tells its neighbours the new count, and goes on when both have told it that count
 * or a higher one. */
typedef enum kernels_side { SIDE_BELOW, SIDE_ABOVE, SIDE_COUNT } kernels_side;

typedef struct kernels_meeting {
  void *mine;               /* this rank's counts: KERNELS_MEETING_BYTES of MEMORY_DEVICE, zero at first */
  void *theirs[SIDE_COUNT]; /* the neighbours', imported; NULL: no neighbour. Both may be the same rank's */
  int ranks[SIDE_COUNT];    /* the neighbours, for errors */
  double seconds;           /* a neighbour that has not come after so long is an error */
} kernels_meeting;

/* Halo planes that neighbours' copies bring while a launch is under way. At each side the launch itself waits
 * until `number` exchanges have come (kernels.pass), before it reads them. */
typedef struct kernels_arrivals {
  kernels_meeting meeting;
  unsigned number;
} kernels_arrivals;

/* What a kernel sends to the neighbours itself: it writes the KERNELS_HALO planes at each end of the slab to
 * its output and to the neighbours' halos. That is a meeting, too: it waits for the neighbours' previous one
 * before it touches halo planes, its own or theirs, and tells them when its own are written. */
typedef struct kernels_sending {
  kernels_meeting meeting;
  void *to[SIDE_COUNT]; /* address of the first halo plane to write; NULL: no neighbour */
} kernels_sending;

/* Arguments that all numerical operations share. `planes` are the planes that an operation writes: up to two
 * disjoint ranges, so that both edges of a slab are one launch. One or both may be empty. */
typedef struct kernels_launch {
  kernels_context *context;
  kernels_queue queue;
  kernels_shape shape;
  kernels_planes planes[KERNELS_RANGES];
  int left_out[2]; /* for operations with terms: so many points beside both ends of x and of y, with the
                    * rest of their vectors of 16 bytes, keep what `out` holds, if the backend has `layers` */
  const struct stencil *stencil;
  kernels_event *edges; /* operations that have `edges`, or NULL: an event to record when the KERNELS_HALO
                         * lowest and highest planes of planes[0] (apply_pair: twice as many) are written, and
                         * no halo planes are read any more. A backend that can do so
                         * computes those planes first and records it long before the launch is done */
  const kernels_sending *sends; /* operations with EDGES_SENT and one output, on all planes of a slab, if the
                                 * backend has `meet`: what to send; NULL: nothing. Not together with edges */
  const kernels_arrivals *arrivals; /* apply_pair: NULL, or halo planes to wait for, together with `edges`.
                                     * Then the planes are computed from the lowest to the highest, or with
                                     * `down` from the highest to the lowest, and `edges` is for the side
                                     * that comes first alone */
  int down;
} kernels_launch;

/* A shape with its pitches. A row is nx rounded up to a multiple of KERNELS_ROW_ALIGNMENT bytes, with
 * host_memory (the backend's) to whole cache lines: one between rows that is never read stops the prefetcher.
 * A plane is its rows rounded up to an odd multiple of KERNELS_PLANE_UNIT bytes: with a power of two, all z
 * neighbours of a point would fall into one set of a CPU's first-level cache, and a smaller unit is too
 * little for GPUs. In host memory y neighbours are kept apart there, too, by rows that end
 * KERNELS_ROW_ALIGNMENT behind a multiple of KERNELS_ROW_AVOIDED, and z neighbours in the second-level cache
 * by such planes. GPUs would lose up to 6 % by longer rows (docs/explanation/performance.md, "Pitches of rows
 * and planes"). */
kernels_shape kernels_shape_make(int nx, int ny, int nz, int whole, precision precision, int host_memory);

/* Number of planes in both ranges, and the i-th of them, first range first. */
int kernels_plane_count(const kernels_launch *launch);
int kernels_plane_at(const kernels_launch *launch, int i);

/* Bytes of one element, and of a whole field with halo planes and padding. */
size_t kernels_element_size(precision precision);
size_t kernels_field_bytes(const kernels_shape *shape);

/* Element i of an array in host memory; kernels_put rounds `value` once. */
static inline double kernels_number(precision precision, const void *array, size_t i) {
  return precision == PRECISION_SINGLE ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static inline void kernels_put(precision precision, void *array, size_t i, double value) {
  if (precision == PRECISION_SINGLE) {
    ((float *)array)[i] = (float)value;
  } else {
    ((double *)array)[i] = value;
  }
}

/* For backends, whose code is compiled once per precision: calls NAME_float or NAME_double with the launch
 * and the arguments. */
#define BY_PRECISION(name, ...)                                                                              \
  (launch->shape.precision == PRECISION_SINGLE ? name##_float(launch, __VA_ARGS__)                           \
                                               : name##_double(launch, __VA_ARGS__))

#endif
