#ifndef FDAPP_DOMAIN_FIELD_H
#define FDAPP_DOMAIN_FIELD_H

#include "domain/grid.h"

/* Most bytes of a staging buffer for fields or their states, unless one plane is larger: enough for copies at
 * full speed, and small compared with the fields. */
enum { FIELD_PIECE_BYTES = 32 << 20 };
/* Number of the `planes` that a staging buffer holds; at least one. */
int field_piece_planes(size_t plane_bytes, int64_t planes);

/* One array with halo planes in a backend's memory. Index formula and padding: kernels.h. `depth` is the
 * number of halo planes on each side: KERNELS_HALO, or more for two stages in one sweep. Planes beyond
 * KERNELS_HALO lie before `data` and after the planes of the formula, so kernels that need none are not told
 * of them. */
typedef struct field {
  const kernels *backend;
  kernels_context *context;
  kernels_shape shape;
  void *data; /* MEMORY_DEVICE; owned; begins with plane -KERNELS_HALO */
  int depth;
  void *staging;   /* MEMORY_STAGING, `chunk` planes; shared between fields, not owned */
  int chunk;       /* planes that `staging` holds */
  void *gather;    /* the space's gather buffer; not owned */
  unsigned number; /* unique in this process, because a later field may lie at the same address */
} field;

/* Allocates fields: a backend's device, the slab's shape, and one staging buffer for all fields. */
typedef struct field_space {
  const kernels *backend;
  kernels_context *context;
  kernels_shape shape;
  int depth; /* of the fields; field_space_open sets KERNELS_HALO */
  void *staging;
  int chunk;
  void *gather; /* MEMORY_DEVICE, field_gather_bytes: strided values are gathered here before they are copied
                 * to the host; NULL if the host reads fields directly */
} field_space;

/* Bytes of `gather`: one value per row, for as many planes as `staging` then takes. */
size_t field_gather_bytes(const kernels_shape *shape);

/* Opens a space: allocates the staging buffer (a few planes) and `gather`. Not collective. STATUS_MEMORY,
 * STATUS_DEVICE; call field_space_close even after an error. */
status field_space_open(const kernels *backend, kernels_context *context, kernels_shape shape,
                        field_space *space);
void field_space_close(field_space *space);

/* Allocates a field, zeroed, halos included. The caller destroys it. STATUS_MEMORY, STATUS_DEVICE. */
status field_create(const field_space *space, field *field);
void field_destroy(field *field);

/* ---- For all functions below: not collective; STATUS_DEVICE, field_fill also STATUS_MEMORY ---- */

/* Computes one row in double: row[x] for x = 0 .. nx-1 at global row y and global plane z. Called from
 * several threads at once. */
typedef void (*field_row)(const void *user, int64_t z, int64_t y, double *row);

/* Sets owned planes from a function of the global index, rounded to the field's precision. z0: global index
 * of the first owned plane. Without `halos` the halo planes are invalid afterwards; with `halos` the
 * KERNELS_HALO planes on each side are set from the periodic images (nz_global planes in all) and valid, and
 * deeper ones are not. Waits until done. */
status field_fill(field *field, int64_t z0, int64_t nz_global, int halos, field_row function,
                  const void *user);

/* Copies planes z .. z+count-1 (local, halo planes too) to or from host memory shaped [count][ny][nx], packed
 * without padding. field_store sets the field's padding to zero. Any count; uses the staging buffer in
 * pieces, on queue MAIN; waits. */
status field_load(const field *field, int z, int count, void *host);
status field_store(field *field, int z, int count, const void *host);

/* [out] value: the value of the owned point (x, y, z), z local; copies nothing else. On queue MAIN; waits. */
status field_value(const field *field, int x, int y, int z, double *value);

/* Copies the owned points of the plane normal to `along` at index `at` (local in z) to host memory, packed:
 * [nz][ny], [nz][nx] or [ny][nx]. Nothing else is copied from a device. On queue MAIN; waits. */
status field_load_cut(const field *field, axis along, int at, void *host);

/* Copies points of local plane z to host memory, packed and in `precision`: along x (0) and y (1) first +
 * k stride, 0 <= k < count. From a device these rows alone are copied, from the first of the points to the
 * last. On queue MAIN; waits. */
status field_load_points(const field *field, int z, const int64_t first[2], const int64_t count[2],
                         int64_t stride, precision precision, void *host);

/* The same of all points of a plane in double. It may be a halo plane or, where kernels wrap around, a
 * periodic image. */
status field_load_plane(const field *field, int z, double *host);

/* Copies the owned planes with their padding to nz * field_plane_bytes of staging memory. On queue MAIN;
 * waits. */
status field_copy(const field *field, void *staging);
/* Packs `count` planes from plane z of such a copy, as field_load does. Uses no device. */
void field_pack(const kernels_shape *shape, const void *copy, int z, int count, void *host);

/* A launch on MAIN over all owned planes, with these differences, which must outlive it. */
kernels_launch field_launch(const field *field, const stencil *stencil);

/* Sums over each owned plane of a field (plane_sums in kernels.h), with the weights of its grid. reference:
 * NULL, or the array of another field. [out] sums: one per plane. On queue MAIN; waits. */
status field_sums(const field *field, const grid *grid, const void *reference, kernels_plane_sums *sums);

/* [out] largest: magnitude of the field's owned points. As field_sums. */
status field_largest(const field *field, const grid *grid, double *largest);

/* Bytes of a field of `depth`, halo planes and padding included. */
size_t field_total_bytes(const kernels_shape *shape, int depth);

/* Address of plane z (local, -depth .. nz + depth - 1), and bytes of a plane with padding. The field's memory
 * begins with plane -depth. */
void *field_plane(const field *field, int z);
size_t field_plane_bytes(const field *field);

#endif
