#include "domain/halo.h"

#include <limits.h>

enum { TAG = 11 }; /* one tag per direction: with two ranks both neighbours are the same */

/* What an exchange sends to and receives from each side, in a field or in the staging buffer. */
typedef struct halo_places {
  char *send[SIDE_COUNT], *receive[SIDE_COUNT];
} halo_places;

static halo_places places_in_field(const halo *halo, int i) {
  const field *field = halo->fields[i];
  const int nz = field->shape.nz;
  return (halo_places){.send = {field_plane(field, 0), field_plane(field, nz - halo->planes)},
                       .receive = {field_plane(field, -halo->planes), field_plane(field, nz)}};
}

/* Bytes that an exchange sends of each field to a side. */
static size_t bytes_of(const halo *halo) {
  return (size_t)halo->planes * halo->plane;
}

static halo_places places_in_staging(const halo *halo, int i) {
  char *start = halo->staging + (size_t)i * bytes_of(halo);
  const size_t part = (size_t)halo->most * bytes_of(halo);
  return (halo_places){.send = {start, start + part}, .receive = {start + 2 * part, start + 3 * part}};
}

/* Number of messages each way. Staged planes of all fields are consecutive and are one message; otherwise
 * each field's planes are sent from the field. */
static int message_count(const halo *halo) {
  return halo->transport == TRANSPORT_STAGED ? 1 : halo->count;
}

static int message_units(const halo *halo) {
  const int units = halo->planes * halo->units;
  return halo->transport == TRANSPORT_STAGED ? halo->count * units : units;
}

static halo_places places_for_mpi(const halo *halo, int i) {
  return halo->transport == TRANSPORT_STAGED ? places_in_staging(halo, i) : places_in_field(halo, i);
}

/* Rank of the neighbour; messages beyond an end go to MPI_PROC_NULL. */
static int neighbour(const grid *grid, int side) {
  const int rank = grid_neighbour(grid, side);
  return rank < 0 ? MPI_PROC_NULL : rank;
}

status halo_create(MPI_Comm comm, const grid *grid, const field_space *space, transport transport, int fields,
                   halo *halo) {
  const kernels_shape *shape = &space->shape;
  *halo = (struct halo){.comm = comm,
                        .neighbour = {neighbour(grid, GRID_LOW), neighbour(grid, GRID_HIGH)},
                        .alone = grid->ranks == 1,
                        .backend = space->backend,
                        .context = space->context,
                        .transport = transport,
                        .most = fields,
                        .unit = MPI_DATATYPE_NULL};
  halo->plane = (size_t)shape->plane * kernels_element_size(shape->precision);
  halo->slab = halo->plane * (size_t)((grid->n[2] + grid->ranks - 1) / grid->ranks);
  CHECK_MPI(MPI_Type_contiguous(KERNELS_PLANE_UNIT, MPI_BYTE, &halo->unit));
  CHECK_MPI(MPI_Type_commit(&halo->unit));
  CHECK(space->backend->event_create(space->context, &halo->computed));
  CHECK(space->backend->event_create(space->context, &halo->begun));
  CHECK(space->backend->event_create(space->context, &halo->halos_ready));
  return halo_deepen(halo, space->depth);
}

static void staging_free(halo *halo) {
  if (halo->staging != NULL) halo->backend->memory_free(halo->context, MEMORY_STAGING, halo->staging);
  halo->staging = NULL;
}

status halo_deepen(halo *halo, int depth) {
  const size_t units = halo->plane / KERNELS_PLANE_UNIT;
  const size_t planes = (size_t)depth * (size_t)halo->most;
  if (planes * units > INT_MAX)
    return status_fail(
        STATUS_USAGE,
        "halos: planes of %zu bytes: %d of each field (fields: %d) are more than a message carries",
        halo->plane, depth, halo->most);
  halo->units = (int)units;
  halo->depth = depth;
  if (halo->transport != TRANSPORT_STAGED || halo->alone) return STATUS_OK;
  staging_free(halo);
  return halo->backend->memory_allocate(halo->context, MEMORY_STAGING, 4 * planes * halo->plane,
                                        (void **)&halo->staging);
}

status halo_leave(halo *halo) {
  if (halo->transport != TRANSPORT_PEER || halo->alone) return STATUS_OK;
  halo_peer_leave(&halo->peer);
  CHECK_MPI(MPI_Barrier(halo->comm));
  halo_peer_close(&halo->peer);
  halo->behind = 0;
  return STATUS_OK;
}

void halo_destroy(halo *halo) {
  halo_peer_close(&halo->peer);
  staging_free(halo);
  if (halo->computed != NULL) halo->backend->event_destroy(halo->computed);
  if (halo->begun != NULL) halo->backend->event_destroy(halo->begun);
  if (halo->halos_ready != NULL) halo->backend->event_destroy(halo->halos_ready);
  if (halo->unit != MPI_DATATYPE_NULL) (void)MPI_Type_free(&halo->unit);
  *halo = (struct halo){0};
}

static kernels_side opposite(kernels_side side) {
  return side == SIDE_BELOW ? SIDE_ABOVE : SIDE_BELOW;
}

/* Posts the messages of one direction, to a side and from the other one. */
static status post(halo *halo, kernels_side to) {
  const kernels_side from = opposite(to);
  const int units = message_units(halo), tag = TAG + (int)to;
  for (int i = 0; i < message_count(halo); i++) {
    const halo_places at = places_for_mpi(halo, i);
    MPI_Request *pair = &halo->requests[to][2 * i];
    CHECK_MPI(
        MPI_Irecv(at.receive[from], units, halo->unit, halo->neighbour[from], tag, halo->comm, &pair[0]));
    CHECK_MPI(MPI_Isend(at.send[to], units, halo->unit, halo->neighbour[to], tag, halo->comm, &pair[1]));
  }
  return STATUS_OK;
}

static status wait_for(halo *halo, kernels_side to) {
  MPI_Status statuses[2 * HALO_FIELDS]; /* gcc takes MPI_STATUSES_IGNORE of MPICH for an array without room */
  CHECK_MPI(MPI_Waitall(2 * message_count(halo), halo->requests[to], statuses));
  return STATUS_OK;
}

static status copy(halo *halo, void *to, const void *from) {
  return halo->backend->memory_copy(halo->context, QUEUE_COPY, to, from, bytes_of(halo));
}

/* Copies the planes to send to the staging buffer, or those received from it, on sides with a neighbour. */
static status stage(halo *halo, int out) {
  for (int i = 0; i < halo->count; i++) {
    const halo_places device = places_in_field(halo, i), host = places_in_staging(halo, i);
    for (int side = 0; side < SIDE_COUNT; side++) {
      if (halo->neighbour[side] == MPI_PROC_NULL) continue;
      CHECK(out ? copy(halo, host.send[side], device.send[side])
                : copy(halo, device.receive[side], host.receive[side]));
    }
  }
  return STATUS_OK;
}

/* Orders work enqueued from now on, on the queues that compute, after all copies on the COPY queue so far. */
static status publish_copies(halo *halo) {
  CHECK(halo->backend->event_record(halo->halos_ready, halo->context, QUEUE_COPY));
  return halo->backend->event_follow(halo->context, QUEUE_MAIN, halo->halos_ready);
}

status halo_begin(halo *halo, int count, const field *const fields[], kernels_event *edges) {
  if (count > halo->most)
    return status_fail(STATUS_USAGE, "halos: %d fields at once, made for %d", count, halo->most);
  if (halo->alone) return STATUS_OK;
  halo->count = count;
  halo->planes = fields[0]->depth;
  halo->edges = edges;
  for (int i = 0; i < count; i++) {
    halo->fields[i] = fields[i];
    if (fields[i]->depth < halo->planes) halo->planes = fields[i]->depth;
  }
  if (halo->planes > halo->depth)
    return status_fail(STATUS_USAGE, "halos: %d planes at once, made for %d", halo->planes, halo->depth);
  if (halo->transport != TRANSPORT_HOST) return STATUS_OK;
  CHECK(post(halo, SIDE_ABOVE));
  return post(halo, SIDE_BELOW);
}

/* Sends device pointers, one direction after the other. UCX reads the neighbours' memory in the order in
 * which messages are announced; with both directions at once, two ranks may read from one GPU while others
 * idle, which takes twice as long. With two ranks each has one neighbour, and none idles. */
static status move_by_device(halo *halo) {
  const int pair = halo->neighbour[SIDE_BELOW] == halo->neighbour[SIDE_ABOVE];
  CHECK(post(halo, SIDE_ABOVE));
  if (!pair) CHECK(wait_for(halo, SIDE_ABOVE));
  CHECK(post(halo, SIDE_BELOW));
  CHECK(wait_for(halo, SIDE_ABOVE));
  return wait_for(halo, SIDE_BELOW);
}

static status move_by_staging(halo *halo) {
  CHECK(stage(halo, 1));
  CHECK(halo->backend->queue_wait(halo->context, QUEUE_COPY));
  CHECK(post(halo, SIDE_ABOVE));
  CHECK(post(halo, SIDE_BELOW));
  CHECK(wait_for(halo, SIDE_ABOVE));
  CHECK(wait_for(halo, SIDE_BELOW));
  CHECK(stage(halo, 0));
  return publish_copies(halo);
}

static status open_peers(halo *halo, const field *like) {
  if (halo->peer.neighbours.backend != NULL) return STATUS_OK;
  return halo_peer_open(halo->comm, like, halo->neighbour, &halo->peer);
}

/* Enqueues copies behind the edges. The host waits for nothing. */
static status move_by_peers(halo *halo) {
  CHECK(open_peers(halo, halo->fields[0]));
  CHECK(halo->backend->event_follow(halo->context, QUEUE_COPY, halo->edges));
  CHECK(halo->backend->event_record(halo->begun, halo->context, QUEUE_COPY));
  CHECK(halo_peer_exchange(&halo->peer, halo->count, halo->fields, halo->planes));
  return publish_copies(halo);
}

/* Moves the planes once the host has waited for the edges; a device has its interior work by now. With device
 * memory receives are posted only here: before, this rank may still read the halo planes that they overwrite.
 */
static status move_planes(halo *halo) {
  switch (halo->transport) {
  case TRANSPORT_PEER:
    return move_by_peers(halo);
  case TRANSPORT_CUDA_AWARE:
    return move_by_device(halo);
  case TRANSPORT_STAGED:
    return move_by_staging(halo);
  default:
    CHECK(wait_for(halo, SIDE_ABOVE));
    return wait_for(halo, SIDE_BELOW);
  }
}

status halo_end(halo *halo) {
  if (halo->alone) return STATUS_OK;
  const double start = MPI_Wtime();
  const int waits = halo->transport != TRANSPORT_HOST && halo->transport != TRANSPORT_PEER;
  if (waits) CHECK(halo->backend->event_wait(halo->edges));
  const double computed = MPI_Wtime();
  CHECK(move_planes(halo));
  halo->count = 0;
  const double end = MPI_Wtime();
  halo->last_seconds = end - computed;
  halo->wait_seconds += end - start;
  return STATUS_OK;
}

status halo_seconds(const halo *halo, double *seconds) {
  *seconds = halo->last_seconds;
  if (halo->alone || halo->transport != TRANSPORT_PEER) return STATUS_OK;
  return halo->backend->event_seconds(halo->begun, halo->halos_ready, seconds);
}

int halo_sends(const halo *halo) {
  return !halo->alone && halo->transport == TRANSPORT_PEER;
}

double halo_patience(const halo *halo) {
  return halo_sends(halo) ? neighbours_patience : 0.0;
}

status halo_sending(halo *halo, const field *field, kernels_sending *sending) {
  CHECK(open_peers(halo, field));
  return halo_peer_sending(&halo->peer, field, sending);
}

status halo_meet(halo *halo, const field *like) {
  if (!halo_sends(halo)) return STATUS_OK;
  CHECK(open_peers(halo, like));
  if (halo->behind) CHECK(publish_copies(halo));
  halo->behind = 0;
  return halo_peer_meet(&halo->peer);
}

status halo_pass(halo *halo, int count, const field *const fields[], kernels_side side, kernels_event *first,
                 kernels_arrivals *arrivals) {
  const kernels *backend = halo->backend;
  CHECK(open_peers(halo, fields[0]));
  CHECK(backend->event_record(halo->computed, halo->context, QUEUE_MAIN));
  CHECK(backend->event_follow(halo->context, QUEUE_COPY, first));
  CHECK(halo_peer_pass(&halo->peer, count, fields, halo->depth, side, 1));
  CHECK(backend->event_follow(halo->context, QUEUE_COPY, halo->computed));
  CHECK(backend->event_record(halo->begun, halo->context, QUEUE_COPY));
  CHECK(halo_peer_pass(&halo->peer, count, fields, halo->depth, opposite(side), 0));
  halo->behind = 1;
  *arrivals = (kernels_arrivals){halo->peer.neighbours.meeting, halo->peer.passed};
  return STATUS_OK;
}

status halo_exchange(halo *halo, int count, const field *const fields[]) {
  if (halo->alone) return STATUS_OK;
  CHECK(halo_meet(halo, fields[0]));
  CHECK(halo->backend->event_record(halo->computed, halo->context, QUEUE_MAIN));
  CHECK(halo_begin(halo, count, fields, halo->computed));
  return halo_end(halo);
}
