#include "domain/halo_peer.h"

enum { TAG_PLANES = 31, TAG_BLOCK };

/* Sends `mine` to both neighbours and receives theirs. */
static status swap(const halo_peer *peer, const void *mine, void *below, void *above, int bytes, int tag) {
  CHECK_MPI(MPI_Sendrecv(mine, bytes, MPI_BYTE, peer->ranks[SIDE_ABOVE], tag, below, bytes, MPI_BYTE,
                         peer->ranks[SIDE_BELOW], tag, peer->comm, MPI_STATUS_IGNORE));
  CHECK_MPI(MPI_Sendrecv(mine, bytes, MPI_BYTE, peer->ranks[SIDE_BELOW], tag, above, bytes, MPI_BYTE,
                         peer->ranks[SIDE_ABOVE], tag, peer->comm, MPI_STATUS_IGNORE));
  return STATUS_OK;
}

status halo_peer_open(MPI_Comm comm, const field *like, int below, int above, halo_peer *peer) {
  *peer = (halo_peer){.comm = comm,
                      .backend = like->backend,
                      .context = like->context,
                      .ranks = {below, above},
                      .sides = below == above ? 1 : SIDE_COUNT};
  const int mine = like->shape.nz;
  CHECK(halo_flags_open(comm, peer->ranks, &peer->flags));
  return swap(peer, &mine, &peer->planes[SIDE_BELOW], &peer->planes[SIDE_ABOVE], sizeof mine, TAG_PLANES);
}

void halo_peer_close(halo_peer *peer) {
  for (int b = 0; b < peer->block_count; b++) {
    for (int i = 0; i < peer->sides; i++)
      if (peer->blocks[b].theirs[i] != NULL)
        peer->backend->memory_release(peer->context, peer->blocks[b].theirs[i]);
  }
  halo_flags_close(&peer->flags);
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
  unsigned char mine[KERNELS_HANDLE_BYTES];
  unsigned char theirs[SIDE_COUNT][KERNELS_HANDLE_BYTES];
  halo_peer_block *block = &peer->blocks[peer->block_count];
  CHECK(peer->backend->memory_export(peer->context, field_plane(field, -field->depth), mine));
  CHECK(swap(peer, mine, theirs[SIDE_BELOW], theirs[SIDE_ABOVE], sizeof mine, TAG_BLOCK));
  *block = (halo_peer_block){0};
  for (int i = 0; i < peer->sides; i++) {
    if (peer->ranks[i] == MPI_PROC_NULL) continue;
    CHECK(peer->backend->memory_import(peer->context, theirs[i], (void **)&block->theirs[i]));
  }
  if (peer->sides == 1) block->theirs[SIDE_ABOVE] = block->theirs[SIDE_BELOW];
  block->mine = field->data;
  block->number = field->number;
  peer->block_count++;
  *found = block;
  return STATUS_OK;
}

/* Copies `planes` planes for one neighbour: the lowest ones become the upper halo of the rank below, the
 * highest ones the lower halo of the rank above, whose field has the same depth. */
static status copy_planes(const halo_peer *peer, const halo_peer_block *block, const field *field, int planes,
                          halo_side side) {
  const size_t plane = field_plane_bytes(field);
  const int from = side == SIDE_BELOW ? 0 : field->shape.nz - planes;
  const int to = field->depth + (side == SIDE_BELOW ? peer->planes[SIDE_BELOW] : -planes);
  return peer->backend->memory_copy(peer->context, QUEUE_COPY, block->theirs[side] + (size_t)to * plane,
                                    field_plane(field, from), (size_t)planes * plane);
}

status halo_peer_exchange(halo_peer *peer, int count, const field *const fields[], int planes) {
  const halo_peer_block *blocks[HALO_PEER_BLOCKS];
  for (int i = 0; i < count; i++) CHECK(block_find(peer, fields[i], &blocks[i]));
  const unsigned number = ++peer->exchanges;
  halo_flags_set(&peer->flags, FLAG_READY, number);
  for (int side = 0; side < SIDE_COUNT; side++) {
    if (peer->ranks[side] == MPI_PROC_NULL) continue;
    halo_flags_wait(&peer->flags, (halo_side)side, FLAG_READY, number);
    for (int i = 0; i < count; i++) CHECK(copy_planes(peer, blocks[i], fields[i], planes, (halo_side)side));
  }
  CHECK(peer->backend->queue_wait(peer->context, QUEUE_COPY));
  halo_flags_set(&peer->flags, FLAG_DONE, number);
  for (int side = 0; side < SIDE_COUNT; side++) {
    if (peer->ranks[side] != MPI_PROC_NULL) halo_flags_wait(&peer->flags, (halo_side)side, FLAG_DONE, number);
  }
  return STATUS_OK;
}
