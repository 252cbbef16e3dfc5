#include "distance/pencils.h"

#include <stdlib.h>
#include <string.h>

/* On the processor a product is computed in this many pieces, and MPI is called between them, because
 * messages only advance in MPI calls. A device computes while the host waits for messages, so it needs no
 * pieces; each would read and write all of `out`, and with four a ring of two H100s was 88 % efficient. */
enum { PENCILS_PIECES = 4 };

static int64_t longest_axis(const grid *grid) {
  int64_t longest = grid->n[0];
  for (int d = 1; d < 3; d++) longest = grid->n[d] > longest ? grid->n[d] : longest;
  return longest;
}

/* Number of planes in the largest slab. */
static int64_t most_planes(const grid *grid) {
  return grid_slab_start(grid->n[2], grid->ranks, 1);
}

static status allocate(pencils *p) {
  const field_space *space = p->space;
  const kernels *backend = space->backend;
  const size_t size = kernels_element_size(space->shape.precision);
  const size_t bytes = (size_t)longest_axis(&p->grid) * size;
  p->table = malloc(bytes);
  if (p->table == NULL) return status_fail(STATUS_MEMORY, "no memory for a table of %zu bytes", bytes);
  CHECK(backend->memory_allocate(space->context, MEMORY_DEVICE, bytes, &p->costs));
  CHECK(backend->memory_allocate(space->context, MEMORY_DEVICE, sizeof(unsigned long long), &p->pairs));
  if (p->direct || p->grid.ranks == 1) return STATUS_OK;
  const size_t slab = (size_t)most_planes(&p->grid) * (size_t)space->shape.plane * size;
  for (int i = 0; i < 2; i++)
    CHECK(backend->memory_allocate(space->context, MEMORY_STAGING, slab, &p->staging[i]));
  return STATUS_OK;
}

status pencils_open(MPI_Comm comm, const grid *grid, const field_space *space, int direct, pencils *pencils) {
  *pencils = (struct pencils){
      .comm = comm, .grid = *grid, .space = space, .direct = direct, .block = MPI_DATATYPE_NULL};
  CHECK_MPI(MPI_Type_contiguous(KERNELS_PLANE_UNIT, MPI_BYTE, &pencils->block));
  CHECK_MPI(MPI_Type_commit(&pencils->block));
  return allocate(pencils);
}

void pencils_close(pencils *pencils) {
  if (pencils->space == NULL) return;
  const kernels *backend = pencils->space->backend;
  kernels_context *context = pencils->space->context;
  for (int i = 0; i < 2; i++) backend->memory_free(context, MEMORY_STAGING, pencils->staging[i]);
  backend->memory_free(context, MEMORY_DEVICE, pencils->pairs);
  backend->memory_free(context, MEMORY_DEVICE, pencils->costs);
  if (pencils->block != MPI_DATATYPE_NULL) (void)MPI_Type_free(&pencils->block);
  free(pencils->table);
  memset(pencils, 0, sizeof *pencils);
}

status pencils_pairs(pencils *pencils, double *pairs) {
  const field_space *space = pencils->space;
  unsigned long long count = 0;
  CHECK(space->backend->memory_copy(space->context, QUEUE_MAIN, &count, pencils->pairs, sizeof count));
  CHECK(space->backend->queue_wait(space->context, QUEUE_MAIN));
  *pairs = (double)count;
  return STATUS_OK;
}

/* Computes the costs of all distances along the axis, rounded once to the fields' precision. */
static status fill_costs(pencils *p, const pencils_product *product) {
  const field_space *space = p->space;
  const int64_t n = p->grid.n[product->axis];
  const int periodic = !p->grid.bounded[product->axis];
  for (int64_t d = 0; d < n; d++) {
    const double length = (double)(periodic && n - d < d ? n - d : d) * p->grid.h[product->axis];
    const double cost = product->cost == PENCILS_LENGTH ? length : length * length * product->scale;
    kernels_put(space->shape.precision, p->table, (size_t)d, cost);
  }
  return space->backend->memory_copy(space->context, QUEUE_MAIN, p->costs, p->table,
                                     (size_t)n * kernels_element_size(space->shape.precision));
}

static kernels_launch launch_of(const pencils *p) {
  return (kernels_launch){.context = p->space->context,
                          .queue = QUEUE_MAIN,
                          .shape = p->space->shape,
                          .planes = {{.z0 = 0, .z1 = p->space->shape.nz}}};
}

static kernels_minplus kernel_of(const pencils *p, const pencils_product *product) {
  const grid *grid = &p->grid;
  return (kernels_minplus){.out = field_plane(product->out, 0),
                           .in = field_plane(product->in, 0),
                           .along = (axis)product->axis,
                           .count = product->axis == 2 ? grid->nz : (int)grid->n[product->axis],
                           .accumulate = product->accumulate,
                           .cost = p->costs,
                           .least = product->least,
                           .pairs = p->pairs};
}

/* A slab on this rank: its place in memory, and in messages. */
typedef struct slab {
  int64_t z0;
  int planes;
  void *memory, *message;
} slab;

/* The slab that this rank has at `step` of the ring; step 0: its own. */
static slab slab_at(const pencils *p, const pencils_product *product, int step) {
  const grid *grid = &p->grid;
  const int owner = (grid->rank + step) % grid->ranks;
  slab s = {.z0 = grid_slab_start(grid->n[2], grid->ranks, owner)};
  s.planes = (int)(grid_slab_start(grid->n[2], grid->ranks, owner + 1) - s.z0);
  s.memory = step == 0 ? field_plane(product->in, 0) : product->travel[step % 2]->data;
  s.message = p->direct ? s.memory : p->staging[step % 2];
  return s;
}

static int blocks_of(const pencils *p, const slab *slab) {
  const size_t bytes = (size_t)p->space->shape.plane * kernels_element_size(p->space->shape.precision);
  return (int)((size_t)slab->planes * (bytes / KERNELS_PLANE_UNIT));
}

static size_t bytes_of(const pencils *p, const slab *slab) {
  return (size_t)blocks_of(p, slab) * KERNELS_PLANE_UNIT;
}

/* Computes the product with the present slab, in pieces between which messages advance. */
static status multiply(pencils *p, const pencils_product *product, const slab *here, int accumulate,
                       MPI_Request requests[2]) {
  const kernels_launch launch = launch_of(p);
  const size_t plane = field_plane_bytes(product->in);
  const int pieces = p->space->backend->host_memory ? PENCILS_PIECES : 1;
  kernels_minplus kernel = kernel_of(p, product);
  kernel.accumulate = accumulate;
  for (int piece = 0; piece < pieces; piece++) {
    const int z = here->planes * piece / pieces;
    const int end = here->planes * (piece + 1) / pieces;
    int done = 0;
    MPI_Status statuses[2];
    if (z == end) continue;
    kernel.in = (const char *)here->memory + (size_t)z * plane;
    kernel.count = end - z;
    kernel.offset = (ptrdiff_t)(p->grid.z0 - (here->z0 + z));
    CHECK(p->space->backend->minplus(&launch, &kernel));
    kernel.accumulate = 1;
    CHECK_MPI(MPI_Testall(2, requests, &done, statuses));
  }
  return STATUS_OK;
}

/* Copies the received slab to the device, if it is not there yet, while the product runs; then waits for
 * both. */
static status finish_step(pencils *p, const slab *next) {
  const field_space *space = p->space;
  const kernels *backend = space->backend;
  if (next != NULL && next->message != next->memory)
    CHECK(backend->memory_copy(space->context, QUEUE_COPY, next->memory, next->message, bytes_of(p, next)));
  CHECK(backend->queue_wait(space->context, QUEUE_COPY));
  return backend->queue_wait(space->context, QUEUE_MAIN);
}

/* Computes the products with all slabs, the rank's own first. An error, `result` or a product's, is agreed on
 * at the end: until then the rank continues to exchange slabs, because the others wait for them. */
static status run_ring(pencils *p, const pencils_product *product, status result) {
  const field_space *space = p->space;
  const int ranks = p->grid.ranks, rank = p->grid.rank;
  slab here = slab_at(p, product, 0);
  if (result == STATUS_OK && here.message != here.memory) {
    result = space->backend->memory_copy(space->context, QUEUE_MAIN, here.message, here.memory,
                                         bytes_of(p, &here));
    if (result == STATUS_OK) result = space->backend->queue_wait(space->context, QUEUE_MAIN);
  }
  for (int step = 0; step < ranks; step++) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    slab next = here;
    MPI_Status statuses[2];
    const int more = step + 1 < ranks;
    if (more) {
      next = slab_at(p, product, step + 1);
      CHECK_MPI(MPI_Irecv(next.message, blocks_of(p, &next), p->block, (rank + 1) % ranks, step, p->comm,
                          &requests[0]));
      CHECK_MPI(MPI_Isend(here.message, blocks_of(p, &here), p->block, (rank + ranks - 1) % ranks, step,
                          p->comm, &requests[1]));
    }
    if (result == STATUS_OK) result = multiply(p, product, &here, product->accumulate || step > 0, requests);
    if (result == STATUS_MPI) return result;
    CHECK_MPI(MPI_Waitall(2, requests, statuses));
    if (result == STATUS_OK) result = finish_step(p, more ? &next : NULL);
    here = next;
  }
  return agree(p->comm, result);
}

status pencils_run(pencils *pencils, const pencils_product *product) {
  const field_space *space = pencils->space;
  const kernels_launch launch = launch_of(pencils);
  status result = fill_costs(pencils, product);
  if (product->axis == 2 && pencils->grid.ranks > 1) return run_ring(pencils, product, result);
  const kernels_minplus kernel = kernel_of(pencils, product);
  if (result == STATUS_OK) result = space->backend->minplus(&launch, &kernel);
  if (result == STATUS_OK) result = space->backend->queue_wait(space->context, QUEUE_MAIN);
  return agree(pencils->comm, result);
}
