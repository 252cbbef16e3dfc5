/* Transports without a device: the CPU backend that says its memory is not the host's, and shares it between
 * processes as a GPU does. What is chosen under an MPI that is not CUDA-aware, and what arrives through
 * staging buffers and by peer copies. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/solver.h"

enum { NX = 33, NY = 20, PLANES = 8 }; /* planes a rank, one more on some */

static int wrong = 0;

#define EXPECT(condition)                                                                                    \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      (void)printf("WRONG: line %d: %s; %s\n", __LINE__, #condition, status_message(STATUS_OK));             \
      wrong++;                                                                                               \
    }                                                                                                        \
  } while (0)

typedef struct stand {
  int rank, ranks;
  grid grid;
  kernels device; /* its memory is not the host's */
  field_space space;
} stand;

static size_t staging = 0; /* bytes allocated so far */
static int full = 0;       /* whether the program's files in memory cannot grow */

static int resize(int file, off_t bytes) {
  return (int)syscall(SYS_ftruncate, file, bytes);
}

/* In the C library's place. */
int ftruncate(int file, off_t bytes) {
  if (!full) return resize(file, bytes);
  errno = ENOSPC;
  return -1;
}

/* An MPI that says it is CUDA-aware, and how it takes device memory. */
static int says_aware = 0;
static enum { TAKES, REFUSES_RECEIVES, REFUSES_SENDS, SENDS_WRONG } manner = TAKES;
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

/* And one that uses UCX, with its CUDA modules but the one named so, if any. */
static int has_ucx = 0;
static const char *lacks = NULL;

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
enum { BLOCKS = 256 };
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
  const int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  EXPECT(file >= 0 && resize(file, (off_t)bytes) == 0);
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
  } else {
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

static void stand_open(stand *stand) {
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
  const int64_t n[3] = {NX, NY, (int64_t)PLANES * stand->ranks + stand->ranks / 2};
  EXPECT(grid_make(n, (const double[]){1.0, 1.0, 1.0}, stand->ranks, stand->rank, &stand->grid) == STATUS_OK);
  EXPECT(stand->device.context_create(&setup, &context) == STATUS_OK);
  EXPECT(field_space_open(&stand->device, context, grid_shape(&stand->grid, PRECISION_DOUBLE, 0),
                          &stand->space) == STATUS_OK);
}

static void stand_close(stand *stand) {
  field_space_close(&stand->space);
  stand->device.context_destroy(stand->space.context);
}

/* Open MPI's layer ob1, which the test asks for, takes no device memory. */
static void choices_check(const stand *stand) {
  transport_choice choice;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_STAGED);
  EXPECT(strstr(choice.reason, "not CUDA-aware (point-to-point layer 'ob1'") != NULL);
  EXPECT(strstr(choice.reason, "device memory was not tried") != NULL);
  EXPECT(choice.warn == (stand->ranks > 1));

  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_STAGED, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_STAGED && choice.warn == 0);
  EXPECT(strcmp(choice.reason, "as configured") == 0);

  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_CUDA_AWARE, &choice) ==
         STATUS_DEVICE);
  EXPECT(strstr(status_message(STATUS_DEVICE), "halo.transport = cuda_aware: this MPI is not CUDA-aware") !=
         NULL);
  EXPECT(status_exit_code(STATUS_DEVICE) == 3);
  status_clear();

  const status peer = transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_PEER, &choice);
  if (stand->ranks > 1) {
    EXPECT(peer == STATUS_OK && choice.transport == TRANSPORT_PEER && choice.warn == 0);
  } else {
    EXPECT(peer == STATUS_OK && choice.transport == TRANSPORT_STAGED && choice.warn == 0);
    EXPECT(strcmp(choice.reason, "alone, nothing is sent") == 0);
  }

  field_space host = stand->space;
  host.backend = kernels_find("cpu");
  EXPECT(transport_choose(MPI_COMM_WORLD, &host, CONFIG_TRANSPORT_CUDA_AWARE, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_HOST && choice.warn == 0);
}

/* An MPI that says it is CUDA-aware is believed when a message was right; one rank's refusal is everyone's
 * answer, and nobody is left waiting. */
static void aware_check(const stand *stand) {
  transport_choice choice;
  says_aware = 1;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_CUDA_AWARE, &choice) == STATUS_OK);
  EXPECT(choice.transport == TRANSPORT_CUDA_AWARE && choice.warn == 0);
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
  EXPECT(choice.transport == (stand->ranks > 1 ? TRANSPORT_PEER : TRANSPORT_CUDA_AWARE));
  for (int how = REFUSES_RECEIVES; how <= SENDS_WRONG; how++) {
    if (stand->rank == stand->ranks - 1) manner = how;
    EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
    EXPECT(choice.transport == TRANSPORT_STAGED && choice.warn == (stand->ranks > 1));
    EXPECT(strstr(choice.reason, "a ring exchange of device memory failed") != NULL);
    EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_CUDA_AWARE, &choice) ==
           STATUS_DEVICE);
    status_clear();
  }
  manner = TAKES;
  says_aware = 0;
}

/* UCX takes device pointers for the host's unless it has its CUDA modules and may use cuda_copy, whatever the
 * MPI library says. The words are those of the rank that cannot. */
static void ucx_check(const stand *stand) {
  static const struct {
    const char *list;
    int knows;
  } lists[] = {{"all", 1},
               {"cuda", 1},
               {"rc,sm,cuda_copy,self", 1},
               {"^cuda_ipc", 1},
               {"^rc", 1},
               {"rc,sm,self", 0},
               {"^cuda", 0},
               {"rc,\\cuda_copy", 1},
               {"^\\cuda_copy", 0},
               {"rc,cuda_ipc,sm", 0},
               {"^rc,cuda_copy", 0}};
  transport_choice choice;
  has_ucx = 1;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    if (stand->rank == stand->ranks - 1) EXPECT(setenv("UCX_TLS", lists[i].list, 1) == 0);
    for (says_aware = 0; says_aware < 2; says_aware++) {
      EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
      EXPECT((choice.transport != TRANSPORT_STAGED) == lists[i].knows);
      EXPECT(lists[i].knows ||
             strcmp(choice.reason, "UCX_TLS leaves out UCX's module cuda_copy; device memory "
                                   "was not tried") == 0);
    }
  }
  EXPECT(unsetenv("UCX_TLS") == 0);
  for (int i = 0; i < 4; i++) { /* built for CUDA, over a UCX whose CUDA modules are a package of their own */
    if (stand->rank == stand->ranks - 1) lacks = i < 2 ? "libuct_cuda" : "libucm_cuda";
    says_aware = i % 2;
    EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_AUTO, &choice) == STATUS_OK);
    EXPECT(choice.transport == TRANSPORT_STAGED);
    EXPECT(strstr(choice.reason, "this MPI uses UCX without its CUDA modules") != NULL);
  }
  lacks = NULL;
  says_aware = 0;
  has_ucx = 0;
}

/* The place of a point in the whole grid, in a field of its own for each `shift`. */
static double point_value(const grid *grid, int64_t z, int64_t y, int64_t x, int shift) {
  const int64_t wrapped = (z + grid->n[2]) % grid->n[2];
  return (double)(((wrapped * NY + y) * NX + x) * HALO_FIELDS + shift);
}

static double *point(const field *field, int z, int y, int x) {
  return (double *)field_plane(field, z) + (ptrdiff_t)y * field->shape.ldx + x;
}

/* Counts points of planes [first, last) that are not what they should be: NaN before the exchange. */
static int points_off(const stand *stand, const field *field, int first, int last, int shift) {
  int off = 0;
  for (int z = first; z < last; z++) {
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++) {
        off += *point(field, z, y, x) != point_value(&stand->grid, stand->grid.z0 + z, y, x, shift);
      }
    }
  }
  return off;
}

/* Padding is NaN. */
static void field_set(const stand *stand, const field *field, int shift) {
  const int nz = field->shape.nz;
  for (int z = -KERNELS_HALO; z < nz + KERNELS_HALO; z++) {
    memset(field_plane(field, z), 0xff, field_plane_bytes(field));
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++) {
        const double value = point_value(&stand->grid, stand->grid.z0 + z, y, x, shift);
        *point(field, z, y, x) = z < 0 || z >= nz ? (double)NAN : value;
      }
    }
  }
}

/* Whether the halo planes on a side are as field_set left them. */
static int untouched(const field *field, int side) {
  const unsigned char *bytes = field_plane(field, side == GRID_LOW ? -KERNELS_HALO : field->shape.nz);
  int other = 0;
  for (int z = 0; z < KERNELS_HALO; z++) {
    for (int y = 0; y < NY; y++) {
      for (int x = 0; x < NX; x++) {
        const size_t at = (size_t)z * field_plane_bytes(field) +
                          ((size_t)y * (size_t)field->shape.ldx + (size_t)x) * sizeof(double);
        double value = 0.0;
        memcpy(&value, bytes + at, sizeof value);
        other += !isnan(value);
      }
    }
  }
  return other == 0;
}

/* Several fields at once and one after another, so that buffers are used again. Alone, nothing is exchanged,
 * and nothing comes from beyond the ends of z, if it has any. */
static void exchanges_check(const stand *stand, transport transport, int ends) {
  halo halo;
  grid grid = stand->grid;
  if (ends) EXPECT(grid_bound(&grid, 2, 2) == STATUS_OK);
  const int below = stand->ranks > 1 && grid_neighbour(&grid, GRID_LOW) >= 0;
  const int above = stand->ranks > 1 && grid_neighbour(&grid, GRID_HIGH) >= 0;
  field fields[HALO_FIELDS];
  const field *list[HALO_FIELDS];
  EXPECT(halo_create(MPI_COMM_WORLD, &grid, &stand->space, transport, HALO_FIELDS, &halo) == STATUS_OK);
  for (int i = 0; i < HALO_FIELDS; i++) {
    EXPECT(field_create(&stand->space, &fields[i]) == STATUS_OK);
    list[i] = &fields[i];
  }
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < HALO_FIELDS; i++) field_set(stand, &fields[i], i + round);
    EXPECT(halo_exchange(&halo, 2, list) == STATUS_OK);
    EXPECT(halo_exchange(&halo, HALO_FIELDS - 2, list + 2) == STATUS_OK);
    for (int i = 0; i < HALO_FIELDS; i++) {
      const int nz = fields[i].shape.nz;
      EXPECT(points_off(stand, &fields[i], below ? -KERNELS_HALO : 0, nz + (above ? KERNELS_HALO : 0),
                        i + round) == 0);
      EXPECT(below || untouched(&fields[i], GRID_LOW));
      EXPECT(above || untouched(&fields[i], GRID_HIGH));
    }
  }
  EXPECT(halo_leave(&halo) == STATUS_OK);
  halo_destroy(&halo);
  for (int i = 0; i < HALO_FIELDS; i++) field_destroy(&fields[i]);
}

/* More than a message's count can say: refused before anything is allocated. */
static void large_planes_check(const stand *stand) {
  halo halo;
  field_space space = stand->space;
  const size_t taken = staging;
  space.shape = kernels_shape_make(1 << 17, 1 << 17, stand->grid.nz, 0, PRECISION_DOUBLE, 0);
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &space, TRANSPORT_STAGED, 1, &halo) == STATUS_USAGE);
  EXPECT(strstr(status_message(STATUS_USAGE), "more than a message carries") != NULL);
  EXPECT(staging == taken);
  status_clear();
  halo_destroy(&halo);
}

/* Neighbours have a field open until halo_leave. One that lies where another lay would get its halos into the
 * memory that was freed: that is said. */
static void freed_field_check(const stand *stand) {
  halo halo;
  field field;
  const struct field *list[1] = {&field};
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &stand->space, TRANSPORT_PEER, 1, &halo) == STATUS_OK);
  EXPECT(field_create(&stand->space, &field) == STATUS_OK);
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_OK);
  const void *place = field.data;
  field_destroy(&field);
  EXPECT(field_create(&stand->space, &field) == STATUS_OK);
  EXPECT(field.data == place);
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_DEVICE);
  EXPECT(strstr(status_message(STATUS_DEVICE), "a field was freed while neighbours had it open") != NULL);
  status_clear();
  EXPECT(halo_leave(&halo) == STATUS_OK);
  field_set(stand, &field, 1);
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_OK);
  EXPECT(points_off(stand, &field, -KERNELS_HALO, field.shape.nz + KERNELS_HALO, 1) == 0);
  EXPECT(halo_leave(&halo) == STATUS_OK);
  halo_destroy(&halo);
  field_destroy(&field);
}

/* Shared memory that one rank cannot have: all are told, and nobody reads what is not there. */
static void no_memory_check(const stand *stand) {
  transport_choice choice;
  halo halo;
  field field;
  const struct field *list[1] = {&field};
  full = stand->rank == 0;
  EXPECT(transport_choose(MPI_COMM_WORLD, &stand->space, CONFIG_TRANSPORT_PEER, &choice) == STATUS_DEVICE);
  status_clear();
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &stand->space, TRANSPORT_PEER, 1, &halo) == STATUS_OK);
  full = 0;
  EXPECT(field_create(&stand->space, &field) == STATUS_OK);
  full = stand->rank == 0;
  EXPECT(halo_exchange(&halo, 1, list) == STATUS_DEVICE);
  EXPECT(strstr(status_message(STATUS_DEVICE), "memory shared by ranks: ftruncate: ") != NULL);
  status_clear();
  full = 0;
  halo_destroy(&halo);
  field_destroy(&field);
}

/* The plan promises as much memory as staging takes; to be called when nothing else has. */
static void needs_check(const stand *stand) {
  halo halo;
  const field *const many[2] = {NULL};
  EXPECT(halo_create(MPI_COMM_WORLD, &stand->grid, &stand->space, TRANSPORT_STAGED, 1, &halo) == STATUS_OK);
  EXPECT(halo_begin(&halo, 2, many, NULL) == STATUS_USAGE);
  status_clear();
  halo_destroy(&halo);
  const config config = {.n = {stand->grid.n[0], stand->grid.n[1], stand->grid.n[2]},
                         .precision = PRECISION_DOUBLE};
  solver_needs needs;
  solver_estimate(&config, equation_of(&config), &stand->grid, 0, &needs);
  EXPECT(staging > 0 && staging <= needs.host_bytes);
}

int main(int argc, char **argv) {
  stand stand;
  int all = 0;
  MPI_Init(&argc, &argv);
  EXPECT(unsetenv("UCX_TLS") == 0);
  stand_open(&stand);
  needs_check(&stand);
  choices_check(&stand);
  aware_check(&stand);
  ucx_check(&stand);
  large_planes_check(&stand);
  exchanges_check(&stand, TRANSPORT_STAGED, 0);
  if (stand.ranks > 1) {
    exchanges_check(&stand, TRANSPORT_STAGED, 1);
    exchanges_check(&stand, TRANSPORT_PEER, 0);
    exchanges_check(&stand, TRANSPORT_PEER, 1);
    freed_field_check(&stand);
  }
  if (stand.ranks > 1) no_memory_check(&stand);
  stand_close(&stand);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
