#include "domain/halo_flags.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = FLAG_COUNT * sizeof(_Atomic unsigned), TAG_UP = 41, TAG_DOWN };

/* The address at which a rank's flags can be opened. */
typedef struct flags_address {
  int process, file;
} flags_address;

static status unshared(const char *call) {
  return status_fail(STATUS_DEVICE, "halos by peer copies: memory shared by ranks: %s: %s", call,
                     strerror(errno));
}

static status map(int file, int protection, _Atomic unsigned **numbers) {
  void *memory = mmap(NULL, BYTES, protection, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return unshared("mmap");
  *numbers = memory;
  return STATUS_OK;
}

/* Creates shared memory without a name, so that a killed run leaves nothing behind. [out] file: -1 after a
 * failure, because a process that reads a mapped file beyond its end is killed by a signal. */
static status create(halo_flags *flags, int rank, int *file) {
  *file = memfd_create("fdapp-halo", MFD_CLOEXEC);
  if (*file < 0) return unshared("memfd_create");
  const status result =
      ftruncate(*file, BYTES) == 0 ? map(*file, PROT_READ | PROT_WRITE, &flags->mine) : unshared("ftruncate");
  if (result != STATUS_OK) {
    (void)close(*file);
    *file = -1;
    return result;
  }
  atomic_store(&flags->mine[FLAG_OWNER], (unsigned)rank + 1);
  return STATUS_OK;
}

static status open_theirs(halo_flags *flags, halo_side side, flags_address address) {
  char path[64];
  (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", address.process, address.file);
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe */
  if (file < 0) return unshared(path);
  struct stat state;
  if (fstat(file, &state) != 0 || !S_ISREG(state.st_mode) || state.st_size < BYTES) {
    (void)close(file);
    return status_fail(STATUS_DEVICE, "halos by peer copies: memory shared by ranks: %s is not it", path);
  }
  const status result = map(file, PROT_READ, &flags->theirs[side]);
  (void)close(file);
  return result;
}

/* Checks that the mapped flags are the neighbour's: with separate process numbers (containers), the same path
 * can lead to another file. */
static status check_owner(const halo_flags *flags, halo_side side, int rank) {
  if (atomic_load(&flags->theirs[side][FLAG_OWNER]) == (unsigned)rank + 1) return STATUS_OK;
  return status_fail(STATUS_DEVICE, "halos by peer copies: the memory found is not that of rank %d", rank);
}

status halo_flags_open(MPI_Comm comm, const int ranks[SIDE_COUNT], halo_flags *flags) {
  flags_address mine = {.process = (int)getpid(), .file = -1};
  flags_address theirs[SIDE_COUNT] = {{.file = -1}, {.file = -1}};
  const int below = ranks[SIDE_BELOW];
  const int above = ranks[SIDE_ABOVE];
  int rank = 0;
  *flags = (halo_flags){0};
  CHECK_MPI(MPI_Comm_rank(comm, &rank));
  status result = create(flags, rank, &mine.file);
  CHECK_MPI(MPI_Sendrecv(&mine, 2, MPI_INT, above, TAG_UP, &theirs[SIDE_BELOW], 2, MPI_INT, below, TAG_UP,
                         comm, MPI_STATUS_IGNORE));
  CHECK_MPI(MPI_Sendrecv(&mine, 2, MPI_INT, below, TAG_DOWN, &theirs[SIDE_ABOVE], 2, MPI_INT, above, TAG_DOWN,
                         comm, MPI_STATUS_IGNORE));
  for (int side = 0; side < SIDE_COUNT && result == STATUS_OK; side++) {
    if (theirs[side].file < 0) continue; /* none, or the neighbour reports the error */
    result = open_theirs(flags, (halo_side)side, theirs[side]);
    if (result == STATUS_OK) result = check_owner(flags, (halo_side)side, ranks[side]);
  }
  result = agree(comm, result); /* the neighbours have opened the file, too */
  if (mine.file >= 0) (void)close(mine.file);
  if (result != STATUS_OK) halo_flags_close(flags);
  return result;
}

void halo_flags_close(halo_flags *flags) {
  if (flags->mine != NULL) (void)munmap(flags->mine, BYTES);
  for (int side = 0; side < SIDE_COUNT; side++) {
    if (flags->theirs[side] != NULL) (void)munmap(flags->theirs[side], BYTES);
  }
  *flags = (halo_flags){0};
}

void halo_flags_set(halo_flags *flags, halo_flag flag, unsigned number) {
  atomic_store_explicit(&flags->mine[flag], number, memory_order_release);
}

void halo_flags_wait(const halo_flags *flags, halo_side side, halo_flag flag, unsigned number) {
  enum { POLLS = 4096 }; /* polls before this thread yields its core to others */
  const _Atomic unsigned *told = &flags->theirs[side][flag];
  for (int polls = 0; (int)(atomic_load_explicit(told, memory_order_acquire) - number) < 0; polls++) {
    if (polls < POLLS) continue;
    (void)sched_yield();
    polls = 0;
  }
}
