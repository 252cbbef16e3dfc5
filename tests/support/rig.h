#ifndef FDAPP_TESTS_RIG_H
#define FDAPP_TESTS_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernels.h"
#include "reference.h"

/* The stand on which the shared kernel tests put a backend. A test program runs its tests on the backend
 * named by its argument, in both precisions; where that backend cannot run on this machine, every test is
 * skipped and the program ends with RIG_SKIPPED. Backends are reached through their table alone. */

enum { RIG_SKIPPED = 77 };

typedef struct rig {
  const kernels *backend;
  kernels_context *context;
  kernels_launch launch; /* shape, whole range of planes, stencil: what most tests pass on */
  stencil stencil;
} rig;

/* A test of one precision; `rig` is open, its shape not yet set. */
typedef void (*rig_function)(rig *rig);
typedef struct rig_test {
  const char *name;
  rig_function function;
  int double_only; /* what it states holds to double's round-off only */
} rig_test;

#define RIG_TEST(function)                                                                                   \
  { #function, function, 0 }
#define RIG_TEST_DOUBLE(function)                                                                            \
  { #function, function, 1 }

/* main() of a test program: PROGRAM [BACKEND [SKIP...]]. Tests whose names, such as `large_shapes [cuda,
 * single]`, match a pattern SKIP (*, ?) are left out. */
int rig_main(int argc, char **argv, const rig_test *tests, size_t count);

/* Sets shape, whole range and an 8th-order stencil on unequal spacings. */
void rig_shape(rig *rig, int nx, int ny, int nz);
/* Another order or spacing for the launches that follow. */
void rig_stencil(rig *rig, int order, double hx, double hy, double hz);
/* Opens the backend again with another number of threads; arrays of the old context are gone. */
void rig_threads(rig *rig, int threads);

/* Uneven shapes: rows and planes that are no multiple of anything, shorter than a vector, longer than a tile.
 */
enum { RIG_SHAPES = 8 };
extern const int rig_shapes[RIG_SHAPES][3];

/* For what backends keep for large launches: beyond 2^20 points and 24 planes, several tiles in each
 * direction, in rows of whole vectors and in others. */
enum { RIG_LARGE = 2 };
extern const int rig_large[RIG_LARGE][3];

/* A field on the backend with its twin in host memory. */
typedef struct twin {
  void *host, *device;
  size_t bytes;
} twin;

/* Points of all planes, halos included, from `value`; padding is NaN. Both twins hold the same. */
typedef double (*twin_value)(const rig *rig, const void *user, int x, int y, int z);
twin twin_make(rig *rig, twin_value value, const void *user);
/* Numbers in (-1, 1), different for each seed. */
twin twin_random(rig *rig, int seed);
/* Zeros of either sign. */
twin twin_zeros(rig *rig, int seed);
/* A number that no operation makes, everywhere: what was not written keeps it. */
twin twin_sentinel(rig *rig);
/* Tables of a velocity, numbers in (-1, 1), NaN where they mean nothing; with images in z if the shape is
 * whole. Not a field, so not to be compared. */
twin twin_tables(rig *rig, int seed);
/* Where the tables lie, on the device or in host memory. */
kernels_tables twin_tables_at(const rig *rig, const twin *twin, int device);
void twin_free(rig *rig, twin *twin);
/* Host to device, and back. */
void twin_upload(rig *rig, const twin *twin);
void twin_download(rig *rig, const twin *twin);
/* Sets the host twin's halo planes (z < 0, z >= nz) to NaN; to be uploaded. */
void twin_break_halos(rig *rig, twin *twin);

/* Fails unless every point of every plane on the device, halos included, has the bits of the host twin. */
void twin_assert_equal(rig *rig, const twin *twin, const char *what);
/* The same for two arrays on the device. */
void twin_assert_same(rig *rig, const twin *a, const twin *b, const char *what);

#define assert_ok(call) rig_assert_ok((call), #call, __FILE__, __LINE__)
void rig_assert_ok(status result, const char *call, const char *file, int line);

#endif
