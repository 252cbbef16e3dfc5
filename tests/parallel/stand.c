#include "stand.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int wrong = 0;
size_t staging = 0;
int full = 0;
int one_device = 0;
status met = STATUS_OK;

int says_aware = 0;
enum manner manner = TAKES;
static const struct block *block_around(const void *memory);

int MPIX_Query_cuda_support(void); /* mpi-ext.h of Open MPI */

int MPIX_Query_cuda_support(void) {
  return says_aware;
}

int MPI_Irecv(void *memory, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
  if (manner == REFUSES_RECEIVES && block_around(memory) != NULL) return MPI_ERR_BUFFER;
  return PMPI_Irecv(memory, count, type, from, tag, comm, request);
}

int MPI_Send(const void *memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const int device = block_around(memory) != NULL;
  if (manner == REFUSES_SENDS && device) return MPI_ERR_BUFFER;
  static const char wrong_bytes[1 << 17];
  return PMPI_Send(manner == SENDS_WRONG && device ? wrong_bytes : memory, count, type, to, tag, comm);
}

int has_ucx = 0;
const char *lacks = NULL;

int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *text) {
  const int result = PMPI_T_cvar_read(handle, text);
  if (has_ucx) memcpy(text, "ucx", sizeof "ucx"); /* in place of ob1 */
  return result;
}

void *dlopen(const char *name, int how) {
  static void *(*real)(const char *, int) = NULL;
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
  if (has_ucx && lacks != NULL && name != NULL && strstr(name, lacks) != NULL) return NULL;
  return real(has_ucx && name != NULL && strstr(name, "_cuda.so") != NULL ? NULL : name, how);
}

/* Device memory: a file in shared memory each, mapped here. Imported: another process's. */
enum { BLOCKS = 1024 };
static struct block {
  char name[KERNELS_HANDLE_BYTES];
  void *memory;
  size_t bytes;
} blocks[BLOCKS];

static status map_block(int file, const char *name, size_t bytes, void **memory) {
  static int next = 0;
  *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  EXPECT(*memory != MAP_FAILED && next < BLOCKS);
  (void)close(file);
  blocks[next] = (struct block){.memory = *memory, .bytes = bytes};
  (void)snprintf(blocks[next++].name, KERNELS_HANDLE_BYTES, "%s", name);
  return STATUS_OK;
}

static status device_allocate(kernels_context *context, kernels_memory kind, size_t bytes, void **memory) {
  static int count = 0;
  char name[KERNELS_HANDLE_BYTES];
  if (kind == MEMORY_STAGING) {
    staging += bytes;
    return kernels_find("cpu")->memory_allocate(context, kind, bytes, memory);
  }
  (void)snprintf(name, sizeof name, "/fdapp-transport-%ld-%d", (long)getpid(), count++);
  if (full) return status_fail(STATUS_MEMORY, "the device is full");
  const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  EXPECT(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
  return map_block(file, name, bytes, memory);
}

static struct block *block_of(const void *memory) {
  for (int i = 0; i < BLOCKS; i++) {
    if (blocks[i].memory == memory) return &blocks[i];
  }
  return NULL;
}

static const struct block *block_around(const void *memory) {
  for (int i = 0; i < BLOCKS; i++) {
    const char *first = blocks[i].memory;
    if (first != NULL && (const char *)memory >= first && (const char *)memory < first + blocks[i].bytes)
      return &blocks[i];
  }
  return NULL;
}

static void device_release(kernels_context *context, void *memory) {
  (void)context;
  struct block *block = block_of(memory);
  EXPECT(block != NULL && munmap(block->memory, block->bytes) == 0);
  block->memory = NULL;
}

static void device_free(kernels_context *context, kernels_memory kind, void *memory) {
  if (kind == MEMORY_STAGING) {
    kernels_find("cpu")->memory_free(context, kind, memory);
  } else if (memory != NULL) {
    EXPECT(shm_unlink(block_of(memory)->name) == 0);
    device_release(context, memory);
  }
}

static status device_export(kernels_context *context, void *memory,
                            unsigned char handle[KERNELS_HANDLE_BYTES]) {
  (void)context;
  memcpy(handle, block_of(memory)->name, KERNELS_HANDLE_BYTES);
  return STATUS_OK;
}

static status device_import(kernels_context *context, const unsigned char handle[KERNELS_HANDLE_BYTES],
                            void **memory) {
  (void)context;
  struct stat state;
  const int file = shm_open((const char *)handle, O_RDWR, 0);
  EXPECT(file >= 0 && fstat(file, &state) == 0);
  return map_block(file, "imported", (size_t)state.st_size, memory);
}

static void device_identity(kernels_context *context, int *identity, int *count) {
  (void)context;
  MPI_Comm_rank(MPI_COMM_WORLD, identity);
  MPI_Comm_size(MPI_COMM_WORLD, count);
  if (one_device) *identity = 0;
}

/* Of a block: the number of meetings, and what both neighbours have told. */
static status device_meet(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting) {
  (void)context;
  (void)queue;
  if (met != STATUS_OK) return status_fail(met, "no meeting");
  _Atomic unsigned *mine = meeting->mine;
  const unsigned number = ++mine[SIDE_COUNT];
  for (int side = 0; side < SIDE_COUNT; side++) {
    _Atomic unsigned *theirs = meeting->theirs[side];
    if (theirs != NULL) atomic_store(&theirs[SIDE_COUNT - 1 - side], number);
  }
  for (int side = 0; side < SIDE_COUNT; side++) {
    while (meeting->theirs[side] != NULL && (int)(atomic_load(&mine[side]) - number) < 0) (void)sched_yield();
  }
  return STATUS_OK;
}

/* Told at the next meeting. */
static status device_pass(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting,
                          kernels_side side, unsigned number) {
  (void)context;
  (void)queue;
  (void)side;
  (void)number;
  return meeting->mine == NULL ? status_fail(STATUS_DEVICE, "no meeting") : STATUS_OK;
}

void stand_open(stand *stand) {
  const kernels_setup setup = {.threads = 1};
  kernels_context *context = NULL;
  memset(stand, 0, sizeof *stand);
  MPI_Comm_rank(MPI_COMM_WORLD, &stand->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &stand->ranks);
  stand->device = *kernels_find("cpu");
  stand->device.host_memory = 0;
  stand->device.memory_allocate = device_allocate;
  stand->device.memory_free = device_free;
  stand->device.memory_export = device_export;
  stand->device.memory_import = device_import;
  stand->device.memory_release = device_release;
  stand->device.device_identity = device_identity;
  stand->device.meet = device_meet;
  stand->device.pass = device_pass;
  const int64_t n[3] = {NX, NY, (int64_t)PLANES * stand->ranks + stand->ranks / 2};
  EXPECT(grid_make(n, (const double[]){1.0, 1.0, 1.0}, stand->ranks, stand->rank, &stand->grid) == STATUS_OK);
  EXPECT(stand->device.context_create(&setup, &context) == STATUS_OK);
  EXPECT(field_space_open(&stand->device, context, grid_shape(&stand->grid, PRECISION_DOUBLE, 0),
                          &stand->space) == STATUS_OK);
}

void stand_close(stand *stand) {
  field_space_close(&stand->space);
  stand->device.context_destroy(stand->space.context);
}
