#ifndef FDAPP_KERNELS_CPU_H
#define FDAPP_KERNELS_CPU_H

#include "kernels.h"

/* Shared by the files of the CPU backend. Every operation runs at once, by the calling thread's OpenMP
 * team. */

struct kernels_context {
  int threads;
  size_t cache_bytes;  /* of all last-level caches that the threads use */
  size_t window_bytes; /* available for a tile's window */
  unsigned arrays;     /* number of arrays allocated so far */
  char description[256];
};

/* Kernels work on whole lines, each in one vector register: a cache line with AVX-512, otherwise half of one.
 * Non-temporal stores write whole cache lines, both halves at once: a line that is only half written goes to
 * memory as it is when a few others have been begun, and takes several times as long
 * (docs/explanation/performance.md, "Stores around the caches"). Strips of rows are as long as the
 * second-level cache has room for their results in scratch lines. */
#ifdef __AVX512F__
enum { CPU_LINE_BYTES = 64 };
#else
enum { CPU_LINE_BYTES = 32 };
#endif
enum { CPU_STORE_BYTES = 64, CPU_STRIP_BYTES = 4096 };

/* Rows and planes that share the lines they load. */
enum { CPU_ROWS = 4, CPU_PLANES = 4 };

/* Lines beside ends of x are few in a row. This many groups of CPU_ROWS rows are computed at a time: first
 * the other lines, then those beside ends. */
enum { CPU_GROUPS = 8 };

/* The part of a tile that is computed at a time: planes z .. z+planes-1, rows y0 .. y1-1, and along x `lines`
 * lines from column x0 on. The lines are a whole number of cache lines, so they may reach into the padding.
 *
 *     y ^  +--------------------------+
 *       |  |   another tile           |    A tile marches along z: patch after patch
 *    y1 |  +------------+-------------+    of planes z .. z+3, then of z+4 .. z+7.
 *       |  | patch      | next patch  |
 *    y0 |  +------------+-------------+    <- a tile: rows y0 .. y1-1
 *          x0           next_x0        x -> */
typedef struct cpu_patch {
  int x0, lines;
  int before, gap; /* on grids with ends: `gap` columns lie between line `before` and the one before it */
  int y0, y1;
  int z, planes;
  int next_x0, next_y0, next_z; /* of the tile's next patch, for prefetching */
  int nontemporal;              /* 1: store around the caches */
} cpu_patch;

/* Computes one patch. `job` is what the operation passed to tiles_run. Called by several threads at once. */
typedef void patch_function(const void *job, const cpu_patch *patch);

/* Properties of an operation that tiles_run needs. */
typedef struct tile_plan {
  int window; /* planes of a tile that are read again as it marches: 1, or `block` and 8 for a z stencil */
  int arrays; /* arrays read or written; determines the kind of stores */
  int block;  /* most planes of a patch */
  kernels_planes blocks; /* no patch has planes in and outside this range */
  int rows;              /* rows of a tile with many planes; 0: as many as the window allows */
} tile_plan;

/* Calls `function` on patches that cover the launch's planes. Each thread takes whole tiles (ranges of rows)
 * and marches through their planes in the launch's order, so that a window of planes stays in its cache. */
status tiles_run(const kernels_launch *launch, tile_plan plan, patch_function *function, const void *job);

/* Bytes of last-level cache for `threads` threads on neighbouring processors: the cache of processor `cpu`,
 * times the number of such caches that these threads use. Ranks that share a cache each count all of it;
 * dividing it made no difference (docs/explanation/performance.md, "Stores around the caches"). 0: unknown.
 * root: /sys/devices/system/cpu (Linux, Documentation/ABI/testing/sysfs-devices-system-cpu).
 * sysconf(_SC_LEVEL3_CACHE_SIZE) is not used: with glibc 2.36 on AMD it is the sum over the package (384 MiB
 * where two cores share 32), and results much larger than the cache would be stored through it. */
size_t last_cache_cpu(const char *root, int cpu, int threads);

/* memory_cpu.c: slots of the backend's table. */
status memory_allocate_cpu(kernels_context *context, kernels_memory kind, size_t bytes, void **memory);
void memory_free_cpu(kernels_context *context, kernels_memory kind, void *memory);
status memory_available_cpu(kernels_context *context, size_t *bytes);
status memory_copy_cpu(kernels_context *context, kernels_queue queue, void *to, const void *from,
                       size_t bytes);
status memory_copy_pieces_cpu(kernels_context *context, kernels_queue queue, const kernels_pieces *pieces);

/* A function's name in the precision that a file is compiled for. */
#define CPU_CONCAT(a, b) a##b
#define CPU_EXPAND(a, b) CPU_CONCAT(a, b)
#define CPU_NAME(name)   CPU_EXPAND(name, FDAPP_REAL)

/* Everything is inlined into one function per way of an operation, except for debugging and with sanitizers:
 * their checks prevent constant folding, and compiling would take more than ten minutes. Of a function that
 * is always inlined, gcc also optimises a copy of its own. For large functions this doubled the time to
 * compile: those of LINE_PASS are inlined once, into a function with LINE_FLAT. */
#ifdef FDAPP_CPU_CALLS
#define LINE_INLINE static inline
#define LINE_PASS   static inline
#define LINE_FLAT
#else
#define LINE_INLINE static inline __attribute__((always_inline))
#ifdef __clang__ /* inlines what a flat function calls, but not what that calls */
#define LINE_PASS LINE_INLINE
#else
#define LINE_PASS static inline
#endif
#define LINE_FLAT __attribute__((flatten))
#endif

/* Simple ways of computing a min-plus product. */
enum { MINPLUS_NO_REUSE, MINPLUS_ROWS, MINPLUS_VARIANTS };

/* The numerical slots (kernels.h), compiled once per precision. */
#define NUMERICS_CPU(REAL)                                                                                   \
  status apply_cpu_##REAL(const kernels_launch *launch, const kernels_call *call);                           \
  status flow_cpu_##REAL(const kernels_launch *launch, const struct flow_call *call);                        \
  status part_cpu_##REAL(const kernels_launch *launch, kernels_part part, axis along, const void *f,         \
                         void *out);                                                                         \
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
