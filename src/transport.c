#include "transport.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif

enum { PROOF_BYTES = 1 << 16, PROOF_TAG = 71 };

const char *transport_name(transport transport) {
  static const char *const names[] = {"host", "cuda_aware", "staged"};
  return names[transport];
}

/* Open MPI answers for its own build only; a yes can be trusted, a no cannot (open-mpi/ompi issue 7963). */
static int mpi_says_cuda_aware(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return 0;
#endif
}

/* Value of the MPI_T control variable `pml`, the point-to-point layer selected; "" if there is none. */
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

static int library_loaded(const char *name) {
  void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != NULL) (void)dlclose(handle);
  return handle != NULL;
}

/* Whether it is safe to try a device pointer at all; `why` either way. */
static int device_pointers_plausible(char *why, size_t size) {
  if (mpi_says_cuda_aware()) {
    (void)snprintf(why, size, "the MPI library says that it is CUDA-aware");
    return 1;
  }
  char layer[256];
  point_to_point_layer(layer, (int)sizeof layer);
  if (strcmp(layer, "ucx") != 0) {
    (void)snprintf(why, size, "this MPI is not CUDA-aware (point-to-point layer '%s', not ucx)", layer);
    return 0;
  }
  const int transport_loaded = library_loaded("libuct_cuda.so.0");
  const int memory_loaded = library_loaded("libucm_cuda.so.0");
  if (!transport_loaded || !memory_loaded) {
    (void)snprintf(why, size, "this MPI uses UCX without its CUDA modules (%s not loaded)",
                   transport_loaded ? "libucm_cuda" : "libuct_cuda");
    return 0;
  }
  (void)snprintf(why, size, "UCX with its CUDA modules");
  return 1;
}

/* Sends a pattern in device memory around the ring of ranks; [out] right: every byte arrived here. `host`
 * holds 2 PROOF_BYTES, `device` too: first half sent, second half received. */
static status ring_exchange(MPI_Comm comm, const field_space *space, char *host, char *device, int *right) {
  int rank = 0;
  int ranks = 1;
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  const int above = (rank + 1) % ranks;
  const int below = (rank + ranks - 1) % ranks;
  for (int i = 0; i < PROOF_BYTES; i++) {
    host[i] = (char)(i * 7 + rank * 31 + (i >> 8));
    host[PROOF_BYTES + i] = 0;
  }
  status uploaded = space->backend->memory_copy(space->context, QUEUE_COPY, device, host, 2 * PROOF_BYTES);
  if (uploaded == STATUS_OK) uploaded = space->backend->queue_wait(space->context, QUEUE_COPY);
  CHECK(agree(comm, uploaded));
  CHECK_MPI(MPI_Sendrecv(device, PROOF_BYTES, MPI_BYTE, above, PROOF_TAG, device + PROOF_BYTES, PROOF_BYTES,
                         MPI_BYTE, below, PROOF_TAG, comm, MPI_STATUS_IGNORE));
  CHECK(space->backend->memory_copy(space->context, QUEUE_COPY, host, device, 2 * PROOF_BYTES));
  CHECK(space->backend->queue_wait(space->context, QUEUE_COPY));
  *right = 1;
  for (int i = 0; i < PROOF_BYTES; i++) {
    if (host[PROOF_BYTES + i] != (char)(i * 7 + below * 31 + (i >> 8))) *right = 0;
  }
  return STATUS_OK;
}

/* Collective: 1 on every rank if the ring exchange was right on every rank. */
static status prove(MPI_Comm comm, const field_space *space, int *proved) {
  void *host = NULL;
  void *device = NULL;
  int right = 0;
  status mine = space->backend->memory_allocate(space->context, MEMORY_STAGING, 2 * PROOF_BYTES, &host);
  if (mine == STATUS_OK)
    mine = space->backend->memory_allocate(space->context, MEMORY_DEVICE, 2 * PROOF_BYTES, &device);
  mine = agree(comm, mine);
  if (mine == STATUS_OK && ring_exchange(comm, space, host, device, &right) != STATUS_OK) {
    status_clear();
    right = 0;
  }
  if (host != NULL) space->backend->memory_free(space->context, MEMORY_STAGING, host);
  if (device != NULL) space->backend->memory_free(space->context, MEMORY_DEVICE, device);
  CHECK(mine);
  CHECK_MPI(MPI_Allreduce(&right, proved, 1, MPI_INT, MPI_MIN, comm));
  return STATUS_OK;
}

status transport_choose(MPI_Comm comm, const field_space *space, config_transport wanted,
                        transport_choice *choice) {
  *choice = (transport_choice){.transport = TRANSPORT_HOST};
  if (space->backend->host_memory) {
    (void)snprintf(choice->reason, sizeof choice->reason, "fields are in host memory");
    return STATUS_OK;
  }
  choice->transport = TRANSPORT_STAGED;
  if (wanted == CONFIG_TRANSPORT_STAGED) {
    (void)snprintf(choice->reason, sizeof choice->reason, "as configured");
    return STATUS_OK;
  }
  char why[256];
  const int mine = device_pointers_plausible(why, sizeof why);
  int plausible = 0;
  CHECK_MPI(MPI_Allreduce(&mine, &plausible, 1, MPI_INT, MPI_MIN, comm));
  int proved = 0;
  if (plausible) CHECK(prove(comm, space, &proved));
  if (proved) {
    choice->transport = TRANSPORT_CUDA_AWARE;
    (void)snprintf(choice->reason, sizeof choice->reason, "%s; a ring exchange of device memory was right",
                   why);
    return STATUS_OK;
  }
  const char *fault = plausible ? "a ring exchange of device memory failed" : "device memory was not tried";
  if (wanted == CONFIG_TRANSPORT_CUDA_AWARE) {
    return status_fail(
        STATUS_DEVICE,
        "halo.transport = cuda_aware: %s; %s. Use halo.transport = auto or staged, or a CUDA-aware "
        "MPI (README, section On GPUs: run/gpu-env)",
        why, fault);
  }
  (void)snprintf(choice->reason, sizeof choice->reason, "%s; %s", why, fault);
  int ranks = 1;
  CHECK_MPI(MPI_Comm_size(comm, &ranks));
  choice->warn = ranks > 1; /* alone, nothing is sent */
  return STATUS_OK;
}
