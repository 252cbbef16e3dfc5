#include "halo_peer.h"

enum { BELOW, ABOVE };
enum { TAG_PLANES = 31, TAG_BLOCK, TAG_READY, TAG_DONE };

/* Gives `mine` to both neighbours and gets theirs. */
static status swap(const halo_peer *peer, const void *mine, void *below, void *above, int bytes, int tag) {
  CHECK_MPI(MPI_Sendrecv(mine, bytes, MPI_BYTE, peer->ranks[ABOVE], tag, below, bytes, MPI_BYTE,
                         peer->ranks[BELOW], tag, peer->comm, MPI_STATUS_IGNORE));
  CHECK_MPI(MPI_Sendrecv(mine, bytes, MPI_BYTE, peer->ranks[BELOW], tag, above, bytes, MPI_BYTE,
                         peer->ranks[ABOVE], tag, peer->comm, MPI_STATUS_IGNORE));
  return STATUS_OK;
}

status peer_open(MPI_Comm comm, const field *like, int below, int above, halo_peer *peer) {
  *peer = (halo_peer){.comm = comm,
                      .backend = like->backend,
                      .context = like->context,
                      .ranks = {below, above},
                      .sides = below == above ? 1 : PEER_SIDES};
  const int mine = like->shape.nz;
  return swap(peer, &mine, &peer->planes[BELOW], &peer->planes[ABOVE], sizeof mine, TAG_PLANES);
}

void peer_close(halo_peer *peer) {
  for (int b = 0; b < peer->block_count; b++) {
    for (int i = 0; i < peer->sides; i++)
      peer->backend->memory_release(peer->context, peer->blocks[b].theirs[i]);
  }
  *peer = (halo_peer){0};
}

/* The neighbours' places of a field; opened when it comes for the first time. */
static status block_find(halo_peer *peer, const field *field, const peer_block **found) {
  for (int b = 0; b < peer->block_count; b++) {
    *found = &peer->blocks[b];
    if ((*found)->mine == field->data) return STATUS_OK;
  }
  if (peer->block_count == PEER_BLOCKS)
    return status_fail(STATUS_DEVICE, "halos by peer copies: more than %d fields", PEER_BLOCKS);
  unsigned char mine[KERNELS_HANDLE_BYTES];
  unsigned char theirs[PEER_SIDES][KERNELS_HANDLE_BYTES];
  peer_block *block = &peer->blocks[peer->block_count];
  CHECK(peer->backend->memory_export(peer->context, field->data, mine));
  CHECK(swap(peer, mine, theirs[BELOW], theirs[ABOVE], sizeof mine, TAG_BLOCK));
  for (int i = 0; i < peer->sides; i++) {
    CHECK(peer->backend->memory_import(peer->context, theirs[i], (void **)&block->theirs[i]));
  }
  if (peer->sides == 1) block->theirs[ABOVE] = block->theirs[BELOW];
  block->mine = field->data;
  peer->block_count++;
  *found = block;
  return STATUS_OK;
}

/* Empty messages to and from both neighbours. */
static status tell(halo_peer *peer, int tag) {
  for (int i = 0; i < PEER_SIDES; i++) {
    MPI_Request *pair = &peer->tokens[2 * i];
    CHECK_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, peer->ranks[i], tag, peer->comm, &pair[0]));
    CHECK_MPI(MPI_Isend(NULL, 0, MPI_BYTE, peer->ranks[i], tag, peer->comm, &pair[1]));
  }
  CHECK_MPI(MPI_Waitall(PEER_TOKENS, peer->tokens, MPI_STATUSES_IGNORE));
  return STATUS_OK;
}

/* The lowest planes become the upper halo of the rank below, the highest the lower halo of the rank above. */
static status copy_planes(const halo_peer *peer, const peer_block *block, const field *field) {
  const size_t plane = field_plane_bytes(field);
  const size_t bytes = KERNELS_HALO * plane;
  char *below = block->theirs[BELOW] + (size_t)(KERNELS_HALO + peer->planes[BELOW]) * plane;
  CHECK(peer->backend->memory_copy(peer->context, QUEUE_COPY, below, field_plane(field, 0), bytes));
  return peer->backend->memory_copy(peer->context, QUEUE_COPY, block->theirs[ABOVE],
                                    field_plane(field, field->shape.nz - KERNELS_HALO), bytes);
}

status peer_exchange(halo_peer *peer, int count, const field *const fields[]) {
  CHECK(tell(peer, TAG_READY));
  for (int i = 0; i < count; i++) {
    const peer_block *block = NULL;
    CHECK(block_find(peer, fields[i], &block));
    CHECK(copy_planes(peer, block, fields[i]));
  }
  CHECK(peer->backend->queue_wait(peer->context, QUEUE_COPY));
  return tell(peer, TAG_DONE);
}
