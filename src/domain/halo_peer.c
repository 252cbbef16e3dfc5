#include "domain/halo_peer.h"

status halo_peer_open(MPI_Comm comm, const field *like, const int ranks[SIDE_COUNT], halo_peer *peer) {
  const int mine = like->shape.nz;
  peer->block_count = 0;
  CHECK(neighbours_open(comm, like->backend, like->context, ranks, &peer->neighbours));
  return neighbours_swap(&peer->neighbours, &mine, &peer->planes[SIDE_BELOW], &peer->planes[SIDE_ABOVE],
                         sizeof mine);
}

void halo_peer_leave(halo_peer *peer) {
  neighbours *neighbours = &peer->neighbours;
  if (neighbours->backend == NULL) return;
  for (int queue = 0; queue < QUEUE_COUNT; queue++) /* an error is that of the work, and reported elsewhere */
    (void)neighbours->backend->queue_wait(neighbours->context, (kernels_queue)queue);
  for (int b = 0; b < peer->block_count; b++) neighbours_release(neighbours, peer->blocks[b].theirs);
  peer->block_count = 0;
  neighbours_leave(neighbours);
}

void halo_peer_close(halo_peer *peer) {
  halo_peer_leave(peer);
  neighbours_close(&peer->neighbours);
  *peer = (halo_peer){0};
}

/* Finds the addresses of a field in the neighbours' memory; opens them when the field is new. */
static status block_find(halo_peer *peer, const field *field, const halo_peer_block **found) {
  for (int b = 0; b < peer->block_count; b++) {
    *found = &peer->blocks[b];
    if ((*found)->number == field->number) return STATUS_OK;
    if ((*found)->mine == field->data)
      return status_fail(STATUS_DEVICE,
                         "halos by peer copies: a field was freed while neighbours had it open, and "
                         "another lies in its place (halo_leave comes before field_destroy)");
  }
  if (peer->block_count == HALO_PEER_BLOCKS)
    return status_fail(STATUS_DEVICE, "halos by peer copies: more than %d fields", HALO_PEER_BLOCKS);
  halo_peer_block *block = &peer->blocks[peer->block_count++];
  *block = (halo_peer_block){.mine = field->data, .number = field->number};
  *found = block;
  return neighbours_import(&peer->neighbours, field_plane(field, -field->depth), block->theirs);
}

/* The address in a neighbour's field, which has the same depth, of the first of `planes` halo planes: the
 * upper ones of the rank below, the lower ones of the rank above. */
static char *halo_of(const halo_peer *peer, const halo_peer_block *block, const field *field, int planes,
                     kernels_side side) {
  const int to = field->depth + (side == SIDE_BELOW ? peer->planes[SIDE_BELOW] : -planes);
  return (char *)block->theirs[side] + (size_t)to * field_plane_bytes(field);
}

static status copy_planes(const halo_peer *peer, const halo_peer_block *block, const field *field, int planes,
                          kernels_side side) {
  const int from = side == SIDE_BELOW ? 0 : field->shape.nz - planes;
  if (block->theirs[side] == NULL) return STATUS_OK;
  return field->backend->memory_copy(field->context, QUEUE_COPY, halo_of(peer, block, field, planes, side),
                                     field_plane(field, from), (size_t)planes * field_plane_bytes(field));
}

status halo_peer_exchange(halo_peer *peer, int count, const field *const fields[], int planes) {
  const neighbours *neighbours = &peer->neighbours;
  const halo_peer_block *blocks[HALO_PEER_BLOCKS];
  for (int i = 0; i < count; i++) CHECK(block_find(peer, fields[i], &blocks[i]));
  for (int i = 0; i < count; i++) {
    for (int side = 0; side < SIDE_COUNT; side++)
      CHECK(copy_planes(peer, blocks[i], fields[i], planes, (kernels_side)side));
  }
  return neighbours->backend->meet(neighbours->context, QUEUE_COPY, &neighbours->meeting);
}

status halo_peer_pass(halo_peer *peer, int count, const field *const fields[], int planes, kernels_side side,
                      int is_first) {
  const neighbours *neighbours = &peer->neighbours;
  if (is_first) peer->passed++;
  for (int i = 0; i < count; i++) {
    const halo_peer_block *block = NULL;
    CHECK(block_find(peer, fields[i], &block));
    CHECK(copy_planes(peer, block, fields[i], planes, side));
  }
  return neighbours->backend->pass(neighbours->context, QUEUE_COPY, &neighbours->meeting, side, peer->passed);
}

status halo_peer_sending(halo_peer *peer, const field *field, kernels_sending *sending) {
  const halo_peer_block *block = NULL;
  CHECK(block_find(peer, field, &block));
  *sending = (kernels_sending){.meeting = peer->neighbours.meeting};
  for (int side = 0; side < SIDE_COUNT; side++) {
    if (block->theirs[side] != NULL)
      sending->to[side] = halo_of(peer, block, field, KERNELS_HALO, (kernels_side)side);
  }
  return STATUS_OK;
}

status halo_peer_meet(const halo_peer *peer) {
  const neighbours *neighbours = &peer->neighbours;
  return neighbours->backend->meet(neighbours->context, QUEUE_MAIN, &neighbours->meeting);
}
