#include "app/remember.h"

#include <stdlib.h>
#include <string.h>

#include "base/agree.h"

enum { TAG_PLANES = 71, TAG_END = 72 };

/* The slabs of all ranks, and this rank's copy of what it remembers. */
typedef struct remembered {
  const solver *solver;
  equation_memory memory;
  size_t element, plane; /* bytes of a number, and of a plane's numbers */
  char *mine;            /* `beyond` planes, those of the slab, `beyond` planes, and its ends of z */
  MPI_Datatype number;   /* what is sent of the ends, of which there may be more bytes than an int counts */
  MPI_Datatype type;     /* of a plane's numbers */
} remembered;

static equation_memory memory_of(const config *config, const grid *grid) {
  const equation *equation = equation_of(config);
  equation_memory memory = {0};
  if (equation->memory != NULL) equation->memory(config, grid, &memory);
  return memory;
}

int64_t remember_count(const config *config, const grid *grid) {
  const equation_memory memory = memory_of(config, grid);
  return memory.plane * grid->n[2] + memory.ends[GRID_LOW] + memory.ends[GRID_HIGH];
}

static int planes_of(const remembered *r, int rank) {
  const grid *grid = &r->solver->grid;
  return (int)(grid_slab_start(grid->n[2], grid->ranks, rank + 1) -
               grid_slab_start(grid->n[2], grid->ranks, rank));
}

/* Bytes beside an end of z that this rank has: the first one has the low end, the last one the high end. */
static size_t end_bytes(const remembered *r, int end) {
  const grid *grid = &r->solver->grid;
  return grid->rank == (end == GRID_LOW ? 0 : grid->ranks - 1) ? (size_t)r->memory.ends[end] * r->element : 0;
}

/* Collective. */
static status open_memory(const solver *solver, remembered *r) {
  const grid *grid = &solver->grid;
  *r = (remembered){.solver = solver, .memory = memory_of(solver->config, grid), .type = MPI_DATATYPE_NULL};
  r->element = kernels_element_size(solver->config->precision);
  r->number = solver->config->precision == PRECISION_SINGLE ? MPI_FLOAT : MPI_DOUBLE;
  r->plane = (size_t)r->memory.plane * r->element;
  const size_t bytes = (size_t)(grid->nz + 2 * r->memory.beyond) * r->plane + 1 + end_bytes(r, GRID_LOW) +
                       end_bytes(r, GRID_HIGH);
  r->mine = calloc(1, bytes);
  CHECK(agree(solver->comm,
              r->mine != NULL ? STATUS_OK
                              : status_fail(STATUS_MEMORY, "no memory for %zu bytes of a snapshot", bytes)));
  CHECK_MPI(MPI_Type_contiguous((int)r->plane, MPI_BYTE, &r->type));
  CHECK_MPI(MPI_Type_commit(&r->type));
  return STATUS_OK;
}

static status close_memory(remembered *r, status result) {
  free(r->mine);
  if (r->type != MPI_DATATYPE_NULL) (void)MPI_Type_free(&r->type);
  return result;
}

/* Moves the numbers beside the ends of z to rank 0 (`up`), or from it. all: on rank 0 all numbers. */
static status move_ends(const remembered *r, char *all, int up) {
  const grid *grid = &r->solver->grid;
  const int last = grid->ranks - 1, count = (int)r->memory.ends[GRID_HIGH];
  char *mine = r->mine + (size_t)(grid->nz + 2 * r->memory.beyond) * r->plane;
  char *whole = all != NULL ? all + (size_t)grid->n[2] * r->plane : NULL;
  if (grid->rank == 0)
    memcpy(up ? whole : mine, up ? mine : whole, end_bytes(r, GRID_LOW) + end_bytes(r, GRID_HIGH));
  if (last == 0 || count == 0 || (grid->rank != 0 && grid->rank != last)) return STATUS_OK;
  char *high = grid->rank == 0 ? whole + end_bytes(r, GRID_LOW) : mine;
  const int other = grid->rank == 0 ? last : 0;
  if (up == (grid->rank == last)) {
    CHECK_MPI(MPI_Send(high, count, r->number, other, TAG_END, r->solver->comm));
  } else {
    CHECK_MPI(MPI_Recv(high, count, r->number, other, TAG_END, r->solver->comm, MPI_STATUS_IGNORE));
  }
  return STATUS_OK;
}

static status gather_all(const remembered *r, char *all) {
  const solver *solver = r->solver;
  const grid *grid = &solver->grid;
  const char *own = r->mine + (size_t)r->memory.beyond * r->plane;
  CHECK(agree(solver->comm, solver->equation->recall(solver->terms, r->mine, 1)));
  if (grid->rank != 0) {
    CHECK_MPI(MPI_Send(own, grid->nz, r->type, 0, TAG_PLANES, solver->comm));
    return move_ends(r, all, 1);
  }
  memcpy(all, own, (size_t)grid->nz * r->plane);
  for (int rank = 1; rank < grid->ranks; rank++) {
    char *to = all + (size_t)grid_slab_start(grid->n[2], grid->ranks, rank) * r->plane;
    CHECK_MPI(MPI_Recv(to, planes_of(r, rank), r->type, rank, TAG_PLANES, solver->comm, MPI_STATUS_IGNORE));
  }
  return move_ends(r, all, 1);
}

/* Copies the planes of a rank and those beyond, z around the period. */
static void collect_planes(const remembered *r, int rank, const char *all, char *planes) {
  const int64_t nz = r->solver->grid.n[2], z0 = grid_slab_start(nz, r->solver->grid.ranks, rank);
  for (int64_t z = -r->memory.beyond; z < planes_of(r, rank) + r->memory.beyond; z++)
    memcpy(planes + (size_t)(z + r->memory.beyond) * r->plane, all + (size_t)((z0 + z + nz) % nz) * r->plane,
           r->plane);
}

static status scatter_all(const remembered *r, const char *all, char *room) {
  const solver *solver = r->solver;
  const grid *grid = &solver->grid;
  const int more = 2 * r->memory.beyond;
  if (grid->rank != 0) {
    CHECK_MPI(MPI_Recv(r->mine, grid->nz + more, r->type, 0, TAG_PLANES, solver->comm, MPI_STATUS_IGNORE));
  } else {
    collect_planes(r, 0, all, r->mine);
    for (int rank = 1; rank < grid->ranks; rank++) {
      collect_planes(r, rank, all, room);
      CHECK_MPI(MPI_Send(room, planes_of(r, rank) + more, r->type, rank, TAG_PLANES, solver->comm));
    }
  }
  CHECK(move_ends(r, (char *)all, 0));
  return agree(solver->comm, solver->equation->recall(solver->terms, r->mine, 0));
}

static status gather(void *self, void *values) {
  remembered r;
  status result = open_memory(self, &r);
  if (result == STATUS_OK) result = gather_all(&r, values);
  return close_memory(&r, result);
}

static status scatter(void *self, const void *values) {
  remembered r;
  status result = open_memory(self, &r);
  /* the first slab is one of the largest */
  char *room = malloc((size_t)(planes_of(&r, 0) + 2 * r.memory.beyond) * r.plane + 1);
  if (result == STATUS_OK)
    result = agree(r.solver->comm,
                   room != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a snapshot"));
  if (result == STATUS_OK) result = scatter_all(&r, values, room);
  free(room);
  return close_memory(&r, result);
}

checkpoint_memory remember_of(solver *solver) {
  const int64_t count = remember_count(solver->config, &solver->grid);
  return (checkpoint_memory){.self = solver, .count = count, .gather = gather, .scatter = scatter};
}
