/* Devices of neighbouring ranks that wait for one another without their hosts: in a row and in a ring, and a
 * neighbour that stays away. `test_meeting BACKEND`; skipped on backends without `meet`, and where ranks
 * share a device. */
#include <stdio.h>
#include <string.h>

#include "domain/neighbours.h"
#include "domain/node.h"
#include "expect.h"

enum { ROUNDS = 50, SKIPPED = 77 };

int wrong = 0;

typedef struct rig {
  const kernels *backend;
  kernels_context *context;
  int rank, ranks;
} rig;

static void ranks_around(const rig *rig, int ring, int ranks[SIDE_COUNT]) {
  const int below = rig->rank - 1;
  const int above = rig->rank + 1;
  ranks[SIDE_BELOW] = below >= 0 ? below : ring ? rig->ranks - 1 : MPI_PROC_NULL;
  ranks[SIDE_ABOVE] = above < rig->ranks ? above : ring ? 0 : MPI_PROC_NULL;
}

/* Each rank copies its number of the round to its neighbours, round after round, without waiting for any:
 * what arrives is the number that was sent between the two meetings around it. */
static void rounds_check(const rig *rig, int ring) {
  neighbours n;
  int ranks[SIDE_COUNT];
  void *mine = NULL;
  void *theirs[SIDE_COUNT];
  int *host = NULL;
  const kernels *b = rig->backend;
  ranks_around(rig, ring, ranks);
  EXPECT(neighbours_open(MPI_COMM_WORLD, b, rig->context, ranks, &n) == STATUS_OK);
  EXPECT(b->memory_allocate(rig->context, MEMORY_DEVICE, 3 * sizeof(int), &mine) == STATUS_OK);
  EXPECT(b->memory_allocate(rig->context, MEMORY_STAGING, (SIDE_COUNT + 1) * ROUNDS * sizeof(int),
                            (void **)&host) == STATUS_OK);
  EXPECT(neighbours_import(&n, mine, theirs) == STATUS_OK);
  for (int i = 0; i < ROUNDS; i++) {
    int *sent = host + 3 * (ptrdiff_t)i;
    sent[SIDE_COUNT] = 1000 * rig->rank + i;
    for (int side = 0; side < SIDE_COUNT; side++) {
      if (theirs[side] == NULL) continue;
      EXPECT(b->memory_copy(rig->context, QUEUE_COPY, (int *)theirs[side] + (SIDE_COUNT - 1 - side),
                            &sent[SIDE_COUNT], sizeof(int)) == STATUS_OK);
    }
    EXPECT(b->meet(rig->context, QUEUE_COPY, &n.meeting) == STATUS_OK);
    EXPECT(b->memory_copy(rig->context, QUEUE_COPY, sent, mine, SIDE_COUNT * sizeof(int)) == STATUS_OK);
    EXPECT(b->meet(rig->context, QUEUE_COPY, &n.meeting) == STATUS_OK);
  }
  EXPECT(b->queue_wait(rig->context, QUEUE_COPY) == STATUS_OK);
  for (int i = 0; i < ROUNDS; i++) {
    for (int side = 0; side < SIDE_COUNT; side++)
      EXPECT(theirs[side] == NULL || host[3 * i + side] == 1000 * ranks[side] + i);
  }
  neighbours_release(&n, theirs);
  neighbours_leave(&n);
  MPI_Barrier(MPI_COMM_WORLD);
  neighbours_close(&n);
  b->memory_free(rig->context, MEMORY_DEVICE, mine);
  b->memory_free(rig->context, MEMORY_STAGING, host);
}

static status meet_and_wait(const rig *rig, const kernels_meeting *meeting) {
  CHECK(rig->backend->meet(rig->context, QUEUE_MAIN, meeting));
  return rig->backend->queue_wait(rig->context, QUEUE_MAIN);
}

/* The last rank stays away: all others name it, also those that only wait for others that wait, and do not
 * wait again. Work after these meetings is none the worse. */
static void late_check(const rig *rig) {
  neighbours n;
  int ranks[SIDE_COUNT];
  ranks_around(rig, 0, ranks);
  EXPECT(neighbours_open(MPI_COMM_WORLD, rig->backend, rig->context, ranks, &n) == STATUS_OK);
  n.meeting.seconds = 1.0;
  const int comes = rig->rank < rig->ranks - 1;
  if (comes) {
    char message[64];
    status met = STATUS_OK;
    (void)snprintf(message, sizeof message, "rank %d sent no halo planes for 1 seconds", rig->ranks - 1);
    for (int i = 0; i < rig->ranks && met == STATUS_OK; i++) met = meet_and_wait(rig, &n.meeting);
    EXPECT(met == STATUS_LATE && strstr(status_message(met), message) != NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* who meets once more tells others, which then no longer wait */
  n.meeting.seconds = 1e9;
  if (comes) EXPECT(meet_and_wait(rig, &n.meeting) == STATUS_LATE);
  status_clear();
  EXPECT(rig->backend->queue_wait(rig->context, QUEUE_MAIN) == STATUS_OK);
  neighbours_leave(&n);
  MPI_Barrier(MPI_COMM_WORLD);
  neighbours_close(&n);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  rig rig = {.backend = kernels_find(argc > 1 ? argv[1] : "cuda")};
  MPI_Comm_rank(MPI_COMM_WORLD, &rig.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rig.ranks);
  node node;
  int64_t unused = 0;
  int device = 0;
  int devices = 0;
  int sharing = 1;
  int all = 0;
  EXPECT(node_open(MPI_COMM_WORLD, &node) == STATUS_OK);
  const kernels_setup setup = {.device = node.rank, .threads = 1};
  int usable = rig.backend != NULL && rig.backend->meet != NULL && rig.backend->probe() == STATUS_OK;
  if (usable) {
    EXPECT(rig.backend->context_create(&setup, &rig.context) == STATUS_OK);
    rig.backend->device_identity(rig.context, &device, &devices);
    EXPECT(node_device_bytes(&node, device, 0, &unused, &sharing) == STATUS_OK);
    MPI_Allreduce(MPI_IN_PLACE, &sharing, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    usable = sharing == 1;
  }
  for (int ring = 0; usable && ring < 2; ring++) rounds_check(&rig, ring);
  if (usable) late_check(&rig);
  if (rig.context != NULL) rig.backend->context_destroy(rig.context);
  (void)node_close(&node);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all > 0 ? 1 : usable ? 0 : SKIPPED;
}
