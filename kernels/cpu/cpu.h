#ifndef FDAPP_KERNELS_CPU_H
#define FDAPP_KERNELS_CPU_H

#include "kernels.h"

/* Shared by the files of the CPU backend. Every operation runs at once, in the calling thread's OpenMP team.
 */

struct kernels_context {
  int threads;
  size_t cache_bytes;  /* of the last-level caches that the threads see */
  size_t window_bytes; /* that a tile's window may take */
  unsigned arrays;     /* allocated so far */
  char description[256];
};

/* Kernels work on whole lines, each in one vector register: a cache line with AVX-512, half of one elsewhere.
 * They store whole cache lines around the caches, both halves at once: half-written ones go to memory as they
 * are when a few others have been begun, and take several times as long (docs/explanation/performance.md,
 * "Stores around the caches"). Strips of rows are as long as results that wait in scratch lines have room for
 * in the second cache. */
#ifdef __AVX512F__
enum { CPU_LINE_BYTES = 64 };
#else
enum { CPU_LINE_BYTES = 32 };
#endif
enum { CPU_STORE_BYTES = 64, CPU_STRIP_BYTES = 4096 };

/* Rows and planes that share the lines they load. */
enum { CPU_ROWS = 4, CPU_PLANES = 4 };

/* A piece of a few planes: `lines` lines, whole cache lines together, from column x0 on (so possibly into the
 * padding) of the rows y0 .. y1-1 of planes z .. z+planes-1. */
typedef struct cpu_patch {
  int x0, lines;
  int y0, y1;
  int z, planes;
  int next_x0, next_z; /* of the patch that follows in this tile, for prefetching */
  int nontemporal;     /* store around the caches */
} cpu_patch;

/* Computes one patch; `job` is what the operation passed to tiles_run. Called by several threads at a time.
 */
typedef void (*patch_function)(const void *job, const cpu_patch *patch);

/* What tiles_run has to know about an operation. */
typedef struct tile_plan {
  int window; /* planes of a tile that are read again while it marches: 1, or `block` and 8 for a z stencil */
  int arrays; /* read or written, to decide which kind of stores the launch deserves */
  int block;  /* planes of a patch where that many are left, else 1 */
  int rows;   /* of a tile of many planes; 0: as many as the window allows */
} tile_plan;

/* Calls `function` on patches that cover the launch's planes. Each thread takes whole tiles (a range of rows)
 * and marches through their planes in the launch's order, so that a window of planes stays in its cache. */
status tiles_run(const kernels_launch *launch, tile_plan plan, patch_function function, const void *job);

/* Bytes of last-level cache available to `threads` threads on neighbouring processors: the cache of processor
 * `cpu`, times the number of such caches that hold so many threads. Ranks that share a cache each count all
 * of it; dividing it made no difference (docs/explanation/performance.md, "Stores around the caches"). 0: the
 * system does not tell. root: /sys/devices/system/cpu. sysconf(_SC_LEVEL3_CACHE_SIZE) is not used: with glibc
 * 2.36 on AMD it is the sum over the package (384 MiB where two cores share 32), and results many times the
 * cache would be stored through it. Linux, Documentation/ABI/testing/sysfs-devices-system-cpu. */
size_t last_cache_cpu(const char *root, int cpu, int threads);

/* [out] way: the place in OPERATION_WAYS of a call's way. STATUS_DEVICE if there is none. */
status way_cpu(const kernels_call *call, int *way);

/* memory_cpu.c: slots of the table. */
status memory_allocate_cpu(kernels_context *context, kernels_memory kind, size_t bytes, void **memory);
void memory_free_cpu(kernels_context *context, kernels_memory kind, void *memory);
status memory_available_cpu(kernels_context *context, size_t *bytes);
status memory_copy_cpu(kernels_context *context, kernels_queue queue, void *to, const void *from,
                       size_t bytes);
status memory_copy_pieces_cpu(kernels_context *context, kernels_queue queue, const kernels_pieces *pieces);

/* Plain ways of computing a min-plus product. */
enum { MINPLUS_NO_REUSE, MINPLUS_ROWS, MINPLUS_VARIANTS };

/* The numerical slots, compiled once per precision; meaning: kernels.h. */
#define NUMERICS_CPU(REAL)                                                                                   \
  status apply_cpu_##REAL(const kernels_launch *launch, const kernels_call *call);                           \
  status layers_compute_cpu_##REAL(const kernels_launch *launch, const kernels_call *call,                   \
                                   const kernels_ends *ends, const kernels_inflow *inflow,                   \
                                   const kernels_coupling *coupling);                                        \
  status layers_store_cpu_##REAL(const kernels_launch *launch, const kernels_call *call,                     \
                                 const kernels_ends *ends);                                                  \
  status plane_sums_cpu_##REAL(const kernels_launch *launch, const void *f, const void *reference,           \
                               const kernels_weights *weights, kernels_plane_sums *sums);                    \
  status minplus_cpu_##REAL(const kernels_launch *launch, const kernels_minplus *product);                   \
  status minplus_loop_cpu_##REAL(const kernels_launch *launch, const void *in, void *out, double *pairs);    \
  status minplus_plain_cpu_##REAL(const kernels_launch *launch, int variant,                                 \
                                  const kernels_minplus *product);                                           \
  status stream_cpu_##REAL(const kernels_launch *launch, const kernels_stream *stream);
NUMERICS_CPU(float)
NUMERICS_CPU(double)
#undef NUMERICS_CPU

#endif
