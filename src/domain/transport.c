#include "domain/transport.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/neighbours.h"
#include "domain/node.h"

#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif

enum { PROOF_BYTES = 1 << 16, PROOF_TAG = 71, PROOF_SECONDS = 10 };

const char *transport_name(transport transport) {
  static const char *const names[] = {[TRANSPORT_HOST] = "host",
                                      [TRANSPORT_CUDA_AWARE] = "cuda_aware",
                                      [TRANSPORT_STAGED] = "staged",
                                      [TRANSPORT_PEER] = "peer"};
  return names[transport];
}

static int library_loaded(const char *name) {
  void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != NULL) (void)dlclose(handle);
  return handle != NULL;
}

/* Returns 1 if the MPI says that it is CUDA-aware: Open MPI, MPICH, or Cray's MPICH by the library that it
 * loads then. Open MPI answers for its own build only, so a yes can be trusted, a no cannot (open-mpi/ompi
 * issue 7963). Either way the ring of messages below decides. */
static int mpi_says_cuda_aware(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int supported = 0;
  return (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS && supported) ||
         library_loaded("libmpi_gtl_cuda.so") || library_loaded("libmpi_gtl_cuda.so.0");
#else
  return 0;
#endif
}

/* Value of the MPI_T control variable `pml`, the point-to-point layer in use; "" if there is none. */
static void point_to_point_layer(char *value, int size) {
  value[0] = '\0';
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
  int index = 0;
  int count = 0;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index("pml", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
    char *text = calloc((size_t)count + 1, 1);
    if (text != NULL && MPI_T_cvar_read(handle, text) == MPI_SUCCESS)
      (void)snprintf(value, (size_t)size, "%s", text);
    free(text);
    (void)MPI_T_cvar_handle_free(&handle);
  }
  (void)MPI_T_finalize();
}

/* Returns 1 if UCX recognises device memory with this value of UCX_TLS, a list of the transports that it may
 * use or, after a ^, may not. It needs cuda_copy, or `cuda` or `all`, which include it. Without it UCX takes
 * device pointers for host memory (openucx/ucx issue 3776). */
static int ucx_knows_devices(const char *list) {
  if (list == NULL) return 1;
  const int excludes = list[0] == '^';
  int named = 0;
  for (const char *name = list + excludes; *name != '\0';) {
    size_t length = strcspn(name, ",");
    const int alone = name[0] == '\\'; /* a single name, not a group of them */
    name += alone;
    length -= (size_t)alone;
    for (int i = 0; i < 3; i++) {
      const char *const wanted = (const char *const[]){"cuda_copy", "cuda", "all"}[i];
      if (length == strlen(wanted) && strncmp(name, wanted, length) == 0) named = 1;
    }
    name += length + (name[length] == ',');
  }
  return named != excludes;
}

/* Returns 1 if it is safe to try a device pointer at all; `why` says why or why not. */
static int device_pointers_plausible(char *why, size_t size) {
  char layer[256];
  point_to_point_layer(layer, (int)sizeof layer);
  const int aware = mpi_says_cuda_aware();
  const int ucx = strcmp(layer, "ucx") == 0 || (aware && layer[0] == '\0' && library_loaded("libucp.so.0"));
  if (!aware && !ucx) {
    (void)snprintf(why, size, "this MPI is not CUDA-aware (point-to-point layer '%s', not ucx)",
                   layer[0] != '\0' ? layer : "unknown");
    return 0;
  }
  const int transport_loaded = library_loaded("libuct_cuda.so.0");
  const int memory_loaded = library_loaded("libucm_cuda.so.0");
  if (ucx && (!transport_loaded || !memory_loaded)) { /* UCX's CUDA modules are a package of their own: MPI's
                                                       * answer does not cover them */
    (void)snprintf(why, size, "this MPI uses UCX without its CUDA modules (%s not loaded)",
                   transport_loaded ? "libucm_cuda" : "libuct_cuda");
    return 0;
  }
  if (ucx && !ucx_knows_devices(getenv("UCX_TLS"))) {
    (void)snprintf(why, size, "UCX_TLS leaves out UCX's module cuda_copy");
    return 0;
  }
  (void)snprintf(why, size, "%s",
                 aware ? "the MPI library says that it is CUDA-aware" : "UCX with its CUDA modules");
  return 1;
}

/* [out] plausible: 1 if all ranks find device pointers plausible; otherwise `why` is that of the first rank
 * that does not. Collective. */
static status all_plausible(MPI_Comm comm, char *why, size_t size, int *plausible) {
  int rank = 0;
  int ranks = 1;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  const int claim = device_pointers_plausible(why, size) ? ranks : rank;
  int first = ranks;
  CHECK_MPI(MPI_Allreduce(&claim, &first, 1, MPI_INT, MPI_MIN, comm));
  *plausible = first == ranks;
  if (!*plausible) CHECK_MPI(MPI_Bcast(why, (int)size, MPI_CHAR, first, comm));
  return STATUS_OK;
}

/* Buffers of a ring exchange. `device` and `host`: the first half is sent, the second half received. */
typedef struct ring {
  MPI_Comm comm;
  const field_space *space;
  int rank, above, below;
  char *host, *device;
} ring;

/* Byte i of the message that rank `rank` sends. */
static char ring_byte(int rank, int i) {
  return (char)(i * 7 + rank * 31 + (i >> 8));
}

static status ring_fill(const ring *ring) {
  for (int i = 0; i < PROOF_BYTES; i++) {
    ring->host[i] = ring_byte(ring->rank, i);
    ring->host[PROOF_BYTES + i] = 0;
  }
  const field_space *space = ring->space;
  CHECK(space->backend->memory_copy(space->context, QUEUE_COPY, ring->device, ring->host, 2 * PROOF_BYTES));
  return space->backend->queue_wait(space->context, QUEUE_COPY);
}

static status ring_check(const ring *ring, int *right) {
  const field_space *space = ring->space;
  CHECK(space->backend->memory_copy(space->context, QUEUE_COPY, ring->host, ring->device, 2 * PROOF_BYTES));
  CHECK(space->backend->queue_wait(space->context, QUEUE_COPY));
  *right = 1;
  for (int i = 0; i < PROOF_BYTES; i++) {
    if (ring->host[PROOF_BYTES + i] != ring_byte(ring->below, i)) *right = 0;
  }
  return STATUS_OK;
}

/* Returns STATUS_OK only if the call succeeded. A refusal of device memory is an answer, not an error to
 * report. */
static status taken(int code) {
  return code == MPI_SUCCESS ? STATUS_OK : status_fail(STATUS_DEVICE, "MPI refuses device memory");
}

/* The ring exchange by messages. Ranks send only after all have posted their receives, and none waits for a
 * message that its neighbour could not send. */
static status ring_by_messages(const ring *ring) {
  MPI_Request request = MPI_REQUEST_NULL;
  status result = taken(MPI_Irecv(ring->device + PROOF_BYTES, PROOF_BYTES, MPI_BYTE, ring->below, PROOF_TAG,
                                  ring->comm, &request));
  const int receives = result == STATUS_OK;
  result = agree(ring->comm, result);
  if (result == STATUS_OK) {
    result = taken(MPI_Send(ring->device, PROOF_BYTES, MPI_BYTE, ring->above, PROOF_TAG, ring->comm));
    result = agree(ring->comm, result);
  }
  if (!receives) return result;
  if (result != STATUS_OK) CHECK_MPI(MPI_Cancel(&request));
  const status received = taken(MPI_Wait(&request, MPI_STATUS_IGNORE));
  return result != STATUS_OK ? result : received;
}

/* The ring exchange by copies into the memory of the rank above, between meetings. */
static status ring_by_copies(const ring *ring) {
  const field_space *space = ring->space;
  const kernels *backend = space->backend;
  neighbours neighbours;
  void *theirs[SIDE_COUNT] = {NULL, NULL};
  status result = neighbours_open(ring->comm, backend, space->context,
                                  (const int[SIDE_COUNT]){ring->below, ring->above}, &neighbours);
  neighbours.meeting.seconds = PROOF_SECONDS;
  if (result == STATUS_OK) result = neighbours_import(&neighbours, ring->device, theirs);
  if (result == STATUS_OK) {
    result = backend->memory_copy(space->context, QUEUE_COPY, (char *)theirs[SIDE_ABOVE] + PROOF_BYTES,
                                  ring->device, PROOF_BYTES);
    if (result == STATUS_OK)
      result = backend->pass(space->context, QUEUE_COPY, &neighbours.meeting, SIDE_ABOVE, 1);
    result = agree(ring->comm, result); /* otherwise others would wait for this rank */
  }
  if (result == STATUS_OK) result = backend->meet(space->context, QUEUE_COPY, &neighbours.meeting);
  if (result == STATUS_OK) result = backend->queue_wait(space->context, QUEUE_COPY);
  neighbours_release(&neighbours, theirs);
  neighbours_leave(&neighbours);
  /* Agreed on: a neighbour that could not launch the meeting comes all the same. */
  if (result == STATUS_LATE) result = STATUS_DEVICE;
  if (result != STATUS_MPI) result = agree(ring->comm, result); /* no rank has another's memory open */
  neighbours_close(&neighbours);
  return result;
}

/* Sends a pattern in device memory around the ring of ranks. Collective. [out] proved: 1 on every rank if the
 * pattern was right on every rank. */
static status prove(MPI_Comm comm, const field_space *space, status (*exchange)(const ring *), int *proved) {
  ring ring = {.comm = comm, .space = space};
  const kernels *backend = space->backend;
  int ranks = 1;
  int right = 0;
  void *memory[2] = {NULL, NULL};
  CHECK_MPI(MPI_Comm_rank(comm, &ring.rank));
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  ring.above = (ring.rank + 1) % ranks;
  ring.below = (ring.rank + ranks - 1) % ranks;
  status mine = backend->memory_allocate(space->context, MEMORY_STAGING, 2 * PROOF_BYTES, &memory[0]);
  if (mine == STATUS_OK)
    mine = backend->memory_allocate(space->context, MEMORY_DEVICE, 2 * PROOF_BYTES, &memory[1]);
  ring.host = memory[0];
  ring.device = memory[1];
  if (mine == STATUS_OK) mine = ring_fill(&ring);
  mine = agree(comm, mine);
  if (mine == STATUS_OK) {
    status proof = exchange(&ring);
    if (proof == STATUS_OK) proof = ring_check(&ring, &right);
    if (proof == STATUS_MPI) {
      mine = proof; /* other ranks would wait for this one: main ends them */
    } else if (proof != STATUS_OK) {
      status_clear();
      right = 0;
    }
  }
  backend->memory_free(space->context, MEMORY_STAGING, memory[0]);
  backend->memory_free(space->context, MEMORY_DEVICE, memory[1]);
  CHECK(mine);
  CHECK_MPI(MPI_Allreduce(&right, proved, 1, MPI_INT, MPI_MIN, comm));
  return STATUS_OK;
}

/* [out] most: the largest number of ranks that share a device; here: ranks on this node. Collective. */
static status count_sharing(MPI_Comm comm, const field_space *space, int *most, int *here) {
  node node;
  int device = 0;
  int devices = 0;
  int64_t unused = 0;
  CHECK(node_open(comm, &node));
  *here = node.ranks;
  space->backend->device_identity(space->context, &device, &devices);
  CHECK(node_device_bytes(&node, device, 0, &unused, most));
  CHECK(node_close(&node));
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 1, MPI_INT, MPI_MAX, comm));
  return STATUS_OK;
}

/* [out] proved: 1 if all ranks can copy planes from GPU to GPU; otherwise `why` says why not. Collective. */
static status peers_prove(MPI_Comm comm, const field_space *space, char *why, size_t size, int *proved) {
  int ranks = 0;
  int here = 0;
  int sharing = 0;
  *proved = 0;
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  CHECK(count_sharing(comm, space, &sharing, &here));
  (void)snprintf(why, size, "the ranks are on several nodes");
  if (here < ranks) return STATUS_OK;
  (void)snprintf(why, size, "no rank has a neighbour");
  if (ranks == 1) return STATUS_OK;
  (void)snprintf(why, size, "the backend shares no memory");
  if (space->backend->meet == NULL) return STATUS_OK;
  /* a kernel that waits for another rank's would keep it from running */
  (void)snprintf(why, size, "%d ranks share a device", sharing);
  if (sharing > 1) return STATUS_OK;
  (void)snprintf(why, size, "a ring of peer copies failed");
  return prove(comm, space, ring_by_copies, proved);
}

/* [out] proved: 1 if MPI takes device memory; `why` says why, or why not. Collective. */
static status messages_prove(MPI_Comm comm, const field_space *space, char *why, size_t size, int *proved) {
  char claim[256];
  int plausible = 0;
  *proved = 0;
  CHECK(all_plausible(comm, claim, sizeof claim, &plausible));
  if (plausible) CHECK(prove(comm, space, ring_by_messages, proved));
  const char *found = *proved     ? "a ring exchange of device memory was right"
                      : plausible ? "a ring exchange of device memory failed"
                                  : "device memory was not tried";
  (void)snprintf(why, size, "%s; %s", claim, found);
  return STATUS_OK;
}

static status unavailable(const char *name, const char *why, const char *advice) {
  return status_fail(STATUS_DEVICE, "halo.transport = %s: %s. Use halo.transport = auto or staged, or %s",
                     name, why, advice);
}

static status choose(transport_choice *choice, transport transport, const char *reason) {
  choice->transport = transport;
  (void)snprintf(choice->reason, sizeof choice->reason, "%s", reason);
  return STATUS_OK;
}

status transport_choose(MPI_Comm comm, const field_space *space, config_transport wanted,
                        transport_choice *choice) {
  char no_peers[128] = "";
  char why[384] = "";
  int peers = 0;
  int ranks = 1;
  *choice = (transport_choice){.transport = TRANSPORT_HOST, .messages = space->backend->host_memory};
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  if (space->backend->host_memory) return choose(choice, TRANSPORT_HOST, "fields are in host memory");
  if (wanted == CONFIG_TRANSPORT_STAGED) return choose(choice, TRANSPORT_STAGED, "as configured");
  /* For instance the first run of a study that compares transports. */
  if (wanted == CONFIG_TRANSPORT_PEER && ranks == 1)
    return choose(choice, TRANSPORT_STAGED, "alone, nothing is sent");
  if (wanted != CONFIG_TRANSPORT_CUDA_AWARE)
    CHECK(peers_prove(comm, space, no_peers, sizeof no_peers, &peers));
  if (wanted == CONFIG_TRANSPORT_PEER) {
    if (peers) return choose(choice, TRANSPORT_PEER, "as configured; a ring of peer copies was right");
    return unavailable("peer", no_peers, "one node with a GPU for each rank that reaches the others' memory");
  }
  CHECK(messages_prove(comm, space, why, sizeof why, &choice->messages));
  if (peers) return choose(choice, TRANSPORT_PEER, "all ranks on this node; a ring of peer copies was right");
  if (choice->messages) return choose(choice, TRANSPORT_CUDA_AWARE, why);
  if (wanted == CONFIG_TRANSPORT_CUDA_AWARE)
    return unavailable("cuda_aware", why, "a CUDA-aware MPI (docs/howto/gpus.md: run/gpu-env)");
  choice->warn = ranks > 1; /* one rank sends nothing */
  (void)snprintf(choice->reason, sizeof choice->reason, "%s, and %s", no_peers, why);
  choice->transport = TRANSPORT_STAGED;
  return STATUS_OK;
}
