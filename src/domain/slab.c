#include "domain/slab.h"

#include <string.h>

#include "domain/node.h"

static status find_backend(const char *name, const kernels **backend) {
  *backend = kernels_find(name);
  if (*backend == NULL) return status_fail(STATUS_DEVICE, "backend %s: not built in", name);
  return (*backend)->probe();
}

static status open_device(slab *slab) {
  node node;
  kernels_setup setup;
  CHECK(node_open(slab->comm, &node));
  setup.device = node.rank;
  CHECK(node_threads(&node, 0, &setup.threads));
  CHECK(agree(slab->comm, slab->backend->context_create(&setup, &slab->context)));
  return node_close(&node);
}

status slab_open(MPI_Comm comm, const slab_request *request, slab *slab) {
  int rank = 0;
  int ranks = 1;
  memset(slab, 0, sizeof *slab);
  slab->comm = comm;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  CHECK(agree(comm, grid_make(request->n, request->l, ranks, rank, &slab->grid)));
  slab->stencil = stencil_make(request->order, slab->grid.h);
  CHECK(agree(comm, find_backend(request->backend, &slab->backend)));
  CHECK(open_device(slab));
  const kernels_shape shape = grid_shape(&slab->grid, request->precision, slab->backend->host_memory);
  CHECK(agree(comm, field_space_open(slab->backend, slab->context, shape, &slab->space)));
  CHECK(agree(comm, transport_choose(comm, &slab->space, CONFIG_TRANSPORT_AUTO, &slab->transport)));
  return agree(comm, halo_create(comm, &slab->grid, &slab->space, slab->transport.transport, request->fields,
                                 &slab->halo));
}

void slab_close(slab *slab) {
  if (slab->context == NULL) return;
  if (slab->halo.backend != NULL) halo_destroy(&slab->halo);
  if (slab->space.backend != NULL) field_space_close(&slab->space);
  slab->backend->context_destroy(slab->context);
  slab->context = NULL;
}
