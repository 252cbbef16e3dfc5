#include "halo.h"

#include <stdlib.h>

enum { TAG_UP = 11, TAG_DOWN = 12 }; /* direction of travel: with two ranks both neighbours are the same */

/* The four places of an exchange in a field or in the staging buffer. */
typedef struct halo_places {
  char *send_below, *send_above, *receive_below, *receive_above;
} halo_places;

static halo_places places_in_field(const field *field) {
  const int nz = field->shape.nz;
  return (halo_places){.send_below = field_plane(field, 0),
                       .send_above = field_plane(field, nz - KERNELS_HALO),
                       .receive_below = field_plane(field, -KERNELS_HALO),
                       .receive_above = field_plane(field, nz)};
}

static halo_places places_in_staging(const halo *halo, int i) {
  char *start = halo->staging + (size_t)i * 4 * halo->bytes;
  return (halo_places){.send_below = start,
                       .send_above = start + halo->bytes,
                       .receive_below = start + 2 * halo->bytes,
                       .receive_above = start + 3 * halo->bytes};
}

static halo_places places_for_mpi(const halo *halo, int i) {
  return halo->transport == TRANSPORT_STAGED ? places_in_staging(halo, i) : places_in_field(halo->fields[i]);
}

status halo_create(MPI_Comm comm, const grid *grid, const field_space *space, transport transport,
                   halo *halo) {
  const kernels_shape *shape = &space->shape;
  *halo = (struct halo){.comm = comm,
                        .below = (grid->rank + grid->ranks - 1) % grid->ranks,
                        .above = (grid->rank + 1) % grid->ranks,
                        .alone = shape->whole,
                        .backend = space->backend,
                        .context = space->context,
                        .transport = transport,
                        .row = MPI_DATATYPE_NULL};
  halo->bytes =
      (size_t)KERNELS_HALO * (size_t)shape->ny * (size_t)shape->ldx * kernels_element_size(shape->precision);
  halo->rows = KERNELS_HALO * shape->ny;
  CHECK_MPI(MPI_Type_contiguous((int)(halo->bytes / (size_t)halo->rows), MPI_BYTE, &halo->row));
  CHECK_MPI(MPI_Type_commit(&halo->row));
  CHECK(space->backend->event_create(space->context, &halo->edges_ready));
  CHECK(space->backend->event_create(space->context, &halo->halos_ready));
  if (transport != TRANSPORT_STAGED || halo->alone) return STATUS_OK;
  return space->backend->memory_allocate(space->context, MEMORY_STAGING, 4 * HALO_FIELDS * halo->bytes,
                                         (void **)&halo->staging);
}

void halo_destroy(halo *halo) {
  if (halo->staging != NULL) halo->backend->memory_free(halo->context, MEMORY_STAGING, halo->staging);
  if (halo->edges_ready != NULL) halo->backend->event_destroy(halo->edges_ready);
  if (halo->halos_ready != NULL) halo->backend->event_destroy(halo->halos_ready);
  if (halo->row != MPI_DATATYPE_NULL) (void)MPI_Type_free(&halo->row);
  *halo = (struct halo){0};
}

static status post_receives(halo *halo) {
  for (int i = 0; i < halo->count; i++) {
    const halo_places at = places_for_mpi(halo, i);
    MPI_Request *requests = &halo->requests[4 * i];
    CHECK_MPI(
        MPI_Irecv(at.receive_below, halo->rows, halo->row, halo->below, TAG_UP, halo->comm, &requests[0]));
    CHECK_MPI(
        MPI_Irecv(at.receive_above, halo->rows, halo->row, halo->above, TAG_DOWN, halo->comm, &requests[1]));
  }
  return STATUS_OK;
}

static status post_sends(halo *halo) {
  for (int i = 0; i < halo->count; i++) {
    const halo_places at = places_for_mpi(halo, i);
    MPI_Request *requests = &halo->requests[4 * i];
    CHECK_MPI(MPI_Isend(at.send_above, halo->rows, halo->row, halo->above, TAG_UP, halo->comm, &requests[2]));
    CHECK_MPI(
        MPI_Isend(at.send_below, halo->rows, halo->row, halo->below, TAG_DOWN, halo->comm, &requests[3]));
  }
  return STATUS_OK;
}

static status copy(halo *halo, void *to, const void *from) {
  return halo->backend->memory_copy(halo->context, QUEUE_COPY, to, from, halo->bytes);
}

/* Copies between the fields and their staging buffers. */
static status stage_out(halo *halo) {
  for (int i = 0; i < halo->count; i++) {
    const halo_places device = places_in_field(halo->fields[i]);
    const halo_places host = places_in_staging(halo, i);
    CHECK(copy(halo, host.send_below, device.send_below));
    CHECK(copy(halo, host.send_above, device.send_above));
  }
  return STATUS_OK;
}

static status stage_in(halo *halo) {
  for (int i = 0; i < halo->count; i++) {
    const halo_places device = places_in_field(halo->fields[i]);
    const halo_places host = places_in_staging(halo, i);
    CHECK(copy(halo, device.receive_below, host.receive_below));
    CHECK(copy(halo, device.receive_above, host.receive_above));
  }
  return STATUS_OK;
}

/* What the COPY queue has done so far comes before anything enqueued later on the queues that compute. */
static status publish_copies(halo *halo) {
  CHECK(halo->backend->event_record(halo->halos_ready, halo->context, QUEUE_COPY));
  CHECK(halo->backend->event_follow(halo->context, QUEUE_MAIN, halo->halos_ready));
  return halo->backend->event_follow(halo->context, QUEUE_EDGE, halo->halos_ready);
}

status halo_begin(halo *halo, int count, const field *const fields[], kernels_queue queue) {
  if (halo->alone) return STATUS_OK;
  halo->count = count;
  for (int i = 0; i < count; i++) halo->fields[i] = fields[i];
  CHECK(halo->backend->event_record(halo->edges_ready, halo->context, queue));
  if (halo->transport == TRANSPORT_STAGED) {
    CHECK(halo->backend->event_follow(halo->context, QUEUE_COPY, halo->edges_ready));
    CHECK(stage_out(halo));
  }
  if (halo->transport == TRANSPORT_HOST) {
    CHECK(post_receives(halo));
    return post_sends(halo);
  }
  return STATUS_OK;
}

/* The asynchronous transports' messages: the device has been given its interior work by now, so the host may
 * wait for the edge planes (staged: for their copies too) and then send. Receives come after that wait as
 * well: only then is it sure that nobody still reads what they overwrite. */
static status send_from_device(halo *halo) {
  CHECK(halo->transport == TRANSPORT_STAGED ? halo->backend->queue_wait(halo->context, QUEUE_COPY)
                                            : halo->backend->event_wait(halo->edges_ready));
  CHECK(post_receives(halo));
  return post_sends(halo);
}

status halo_end(halo *halo) {
  if (halo->alone) return STATUS_OK;
  const double start = MPI_Wtime();
  if (halo->transport != TRANSPORT_HOST) CHECK(send_from_device(halo));
  CHECK_MPI(MPI_Waitall(4 * halo->count, halo->requests, MPI_STATUSES_IGNORE));
  if (halo->transport == TRANSPORT_STAGED) {
    CHECK(stage_in(halo));
    CHECK(publish_copies(halo));
  }
  halo->count = 0;
  halo->last_seconds = MPI_Wtime() - start;
  halo->wait_seconds += halo->last_seconds;
  return STATUS_OK;
}

status halo_exchange(halo *halo, int count, const field *const fields[]) {
  CHECK(halo_begin(halo, count, fields, QUEUE_MAIN));
  return halo_end(halo);
}
