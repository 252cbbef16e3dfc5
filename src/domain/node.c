#include "domain/node.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>

#include "base/groups.h"

status node_open(MPI_Comm comm, node *node) {
  CHECK_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node->comm));
  CHECK_MPI(MPI_Comm_rank(node->comm, &node->rank));
  CHECK_MPI(MPI_Comm_size(node->comm, &node->ranks));
  return STATUS_OK;
}

status node_close(node *node) {
  CHECK_MPI(MPI_Comm_free(&node->comm));
  return STATUS_OK;
}

/* [out] alike: number of the node's ranks with the same colour; sum: of their values. */
static status sum_alike(const node *node, int colour, int64_t value, int64_t *sum, int *alike) {
  MPI_Comm group;
  CHECK_MPI(MPI_Comm_split(node->comm, colour, node->rank, &group));
  CHECK_MPI(MPI_Comm_size(group, alike));
  CHECK_MPI(MPI_Allreduce(&value, sum, 1, MPI_INT64_T, MPI_SUM, group));
  CHECK_MPI(MPI_Comm_free(&group));
  return STATUS_OK;
}

/* Number of processors that this rank may run on, as OpenMP counts them; [out] the lowest. With
 * OMP_PROC_BIND, OpenMP has already bound this thread to one of them. */
static int processors(int *first) {
  cpu_set_t set;
  *first = 0;
  if (sched_getaffinity(0, sizeof set, &set) == 0) { /* fails beyond CPU_SETSIZE processors */
    while (*first < CPU_SETSIZE - 1 && !CPU_ISSET((size_t)*first, &set)) (*first)++;
  }
  return omp_get_num_procs();
}

/* Returns 1 if OMP_NUM_THREADS is a number. OpenMP ignores other values, and an empty one, and takes all
 * processors. */
static int openmp_is_told(void) {
  const char *text = getenv("OMP_NUM_THREADS");
  return text != NULL && strtol(text, NULL, 10) > 0;
}

int node_share(int processors, int sharing, int quota, int ranks) {
  const int own = processors / sharing;
  const int allowed = quota / ranks;
  const int least = own < allowed ? own : allowed;
  return least > 1 ? least : 1;
}

status node_threads(const node *node, int wanted, int *threads) {
  int first = 0;
  int sharing = 1;
  int64_t unused = 0;
  const int count = processors(&first);
  CHECK(sum_alike(node, first * CPU_SETSIZE + count, 0, &unused, &sharing));
  *threads = node_share(count, sharing, groups_processors(GROUPS_OF_PROCESS, GROUPS_ROOT), node->ranks);
  if (openmp_is_told()) *threads = 0;
  if (wanted > 0) *threads = wanted;
  return STATUS_OK;
}

status node_device_bytes(const node *node, int device, int64_t bytes, int64_t *sum, int *sharing) {
  return sum_alike(node, device, bytes, sum, sharing);
}

status node_is_first(const node *node, int device, int *first) {
  MPI_Comm group;
  int place = 0;
  CHECK_MPI(MPI_Comm_split(node->comm, device, node->rank, &group));
  CHECK_MPI(MPI_Comm_rank(group, &place));
  CHECK_MPI(MPI_Comm_free(&group));
  *first = place == 0;
  return STATUS_OK;
}
