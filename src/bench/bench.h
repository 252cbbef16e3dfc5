#ifndef FDAPP_BENCH_H
#define FDAPP_BENCH_H

#include <jansson.h>
#include <mpi.h>

#include "config/config.h"
#include "domain/field.h"

/* fdbench: measures the kernels, the halo exchange and the files of this machine, each beside a simple loop
 * or copy of the same bytes in the same run. */

enum { BENCH_GRIDS = 8, BENCH_REPEATS = 1000, BENCH_PATH = 4096 };

/* Ranges of planes on which kernels are measured. */
typedef enum bench_range { RANGE_WHOLE = 1, RANGE_EDGES = 2, RANGE_THIN = 4 } bench_range;

/* What can be measured, in this order. */
struct bench;
typedef struct bench_part {
  const char *name;
  status (*measure)(struct bench *bench);
  int collective; /* 0: rank 0 calls it alone */
} bench_part;
enum { BENCH_PARTS = 9 };
extern const bench_part bench_part_list[BENCH_PARTS];

typedef struct bench_sizes {
  int count; /* 0: the backend's default */
  int64_t at[BENCH_GRIDS];
} bench_sizes;

typedef struct bench_options {
  int help;
  int parts[BENCH_PARTS]; /* 1: measure it */
  char backend[16];       /* "auto" or a name of the registry */
  int64_t grids[BENCH_GRIDS][3];
  int grid_count;                            /* 0: the backend's default */
  bench_sizes cubes;                         /* pencil report: sides */
  bench_sizes lengths, matrices, transforms; /* of min-plus products */
  bench_sizes planes;                        /* sides of the planes exchanged */
  int precision[2];                          /* 1: measure it; indexed by enum precision */
  int ranges;                                /* mask of bench_range, always with RANGE_WHOLE */
  char only[256];                            /* kernels whose name begins with this; "": all */
  int threads;
  int repeat; /* samples; 0: the part's default */
  char output[BENCH_PATH];
  char directory[BENCH_PATH];
} bench_options;

/* [out] options from the command line; every rank parses its own. STATUS_USAGE with what is accepted. */
status bench_options_parse(int argc, char **argv, bench_options *options);

/* Text of --help. */
extern const char bench_options_help[];

typedef struct bench {
  bench_options options;
  MPI_Comm comm;
  int rank, ranks;
  const kernels *backend;
  kernels_context *context;
  kernels_event *start, *end; /* of a sample */
  int threads;                /* of this rank; 0: OpenMP's number */
  int rejected;               /* rounds that were repeated because the processor was taken away */
  json_t *report;             /* becomes bench.json */
} bench;

/* Numbers of samples without --repeat. */
enum { BENCH_SAMPLES_KERNELS = 15, BENCH_SAMPLES_HALO = 50, BENCH_SAMPLES_IO = 5 };
static inline int bench_samples(const bench *bench, int fallback) {
  return bench->options.repeat > 0 ? bench->options.repeat : fallback;
}

/* Median and extremes of the samples of one measurement. */
typedef struct bench_spread {
  double median, minimum, maximum;
} bench_spread;

/* Sorts `samples`. */
bench_spread bench_spread_of(int count, double samples[]);

/* One of several jobs that are timed alternately, so that disturbances of the machine affect all alike. */
typedef struct bench_contestant {
  status (*work)(void *job); /* enqueues one launch on queue MAIN */
  void *job;
  int launches;         /* [out] per sample: as many as take two milliseconds */
  bench_spread seconds; /* [out] of one launch */
} bench_contestant;

/* Times `count` contestants in turn, --repeat samples each, after a warm-up. A sample is the time between two
 * events of the backend. On host backends a round during which the processor was taken away (steal time of
 * /proc/stat) is repeated, at most --repeat times in all. Not collective. */
status bench_measure(bench *bench, int count, bench_contestant contestants[]);

/* A field_row of values that neither compress nor repeat: a hash of the index, in [-1, 1). */
void bench_noise_row(const void *user, int64_t z, int64_t y, double *row); /* user: int, points of a row */

/* The streaming loop with as many reads and writes as a kernel. */
typedef struct bench_stream {
  const kernels *backend;
  kernels_launch launch;
  kernels_stream stream;
  size_t step; /* bytes between the addresses of successive launches, of which there are `steps` */
  int steps, next;
} bench_stream;
status bench_stream_work(void *job);

/* Fields of one grid in one precision: inputs, which hold noise and are never written, then outputs. */
enum { BENCH_FIELDS = 18 };
typedef struct bench_arrays {
  field_space space;
  stencil stencil; /* of order 8 */
  int inputs, count;
  field fields[BENCH_FIELDS];
} bench_arrays;

/* n: points of a unit cube. Even after an error bench_arrays_close must be called; `arrays` is zeroed
 * before. */
status bench_arrays_open(bench *bench, const int64_t n[3], precision precision, int inputs, int outputs,
                         bench_arrays *arrays);
void bench_arrays_close(bench_arrays *arrays);
/* A launch on all planes. */
kernels_launch bench_arrays_launch(const bench_arrays *arrays);
/* The stream with `reads` of the inputs and `writes` of the outputs, on successive slabs of the launch's
 * planes. */
bench_stream bench_arrays_stream(const bench_arrays *arrays, const kernels_launch *launch, int reads,
                                 int writes, int nontemporal);

/* Calls `measure` with arrays of each grid and precision of the options, and an array of the report. */
status bench_arrays_each(bench *bench, const char *name, int inputs, int outputs,
                         status (*measure)(struct bench *, const bench_arrays *, json_t *));

/* The parts. Each adds to bench->report and prints its results. */
status bench_kernels(bench *bench);
/* STATUS_OK if a kernel's name begins with `prefix`; else STATUS_USAGE with the names. */
status bench_kernels_only(const char *prefix);
status bench_pencils(bench *bench);
status bench_operators(bench *bench);
status bench_parts(bench *bench);
status bench_minplus(bench *bench);
status bench_flow(bench *bench);
status bench_wave(bench *bench);
status bench_halo(bench *bench);
status bench_io(bench *bench);

/* bench_report.c. {median, minimum, maximum} of seconds; new reference. */
json_t *bench_report_spread(const bench_spread *spread);
/* Adds `array` to the report under `name`; takes over the reference. */
void bench_report_add(bench *bench, const char *name, json_t *array);
/* [nx, ny, nz]; new reference. */
json_t *bench_report_grid(const kernels_shape *shape);
/* "  512 x  512 x  512 single" */
enum { BENCH_SHAPE = 64 };
const char *bench_report_shape(const kernels_shape *shape, char text[BENCH_SHAPE]);
static inline double bench_points(const kernels_shape *shape) {
  return (double)shape->nx * (double)shape->ny * (double)shape->nz;
}
/* Starts the report: provenance, backend, device, ranks, threads, repeat. Every rank has one; only rank 0's
 * is written. */
status bench_report_open(bench *bench);
/* Writes the report to --output, on rank 0. STATUS_FILE. */
status bench_report_write(bench *bench);

#endif
