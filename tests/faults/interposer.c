/* Preloaded by the tests: makes one call of the program fail, on one rank. The program knows nothing of it.
 *
 * FDAPP_FAULT_RANK: rank on which it happens; -1: all.
 *
 * FDAPP_FAULT_LOG: file that gets a line "function place" for each call that could be made to fail, in order.
 *
 * FDAPP_FAULT_SITE: such a line: where to strike. FDAPP_FAULT_CALL: which of the calls from there, from 1.
 *
 * FDAPP_FAULT_HOW: fail (default): it reports failure and does nothing; kill: the process dies there
 * (SIGKILL); garble: if it writes data, a bit of them is flipped and success reported.
 *
 * FDAPP_FAULT_FSIZE: limit of file sizes in bytes, from MPI_Init on (before it, MPI needs larger files).
 *
 * Counted are calls from the program itself, and writes to files of the run whoever makes them. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <link.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

typedef enum verdict { PASS, FAIL, GARBLE } verdict;

static int armed = 0;
static long wanted = 1;
static const char *wanted_site = NULL;
static long counted = 0;
static int log_file = -1;
static int how_kill = 0;
static int how_garble = 0;
static ElfW(Addr) program_start = 0;
static ElfW(Addr) program_end = 0;
static __thread int inside = 0;

static int number(const char *name, long *value) {
  const char *text = getenv(name);
  if (text != NULL) *value = strtol(text, NULL, 10);
  return text != NULL;
}

/* The first object that the loader lists is the program. */
static int note_program(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  program_start = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Addr) end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && end > program_end) program_end = end;
  }
  return 1;
}

__attribute__((constructor)) static void arm(void) {
  long rank = -1;
  long wanted_rank = 0;
  if (!number("OMPI_COMM_WORLD_RANK", &rank) && !number("PMI_RANK", &rank)) return;
  if (!number("FDAPP_FAULT_RANK", &wanted_rank) || (wanted_rank >= 0 && rank != wanted_rank)) return;
  (void)number("FDAPP_FAULT_CALL", &wanted);
  wanted_site = getenv("FDAPP_FAULT_SITE");
  const char *how = getenv("FDAPP_FAULT_HOW");
  how_kill = how != NULL && strcmp(how, "kill") == 0;
  how_garble = how != NULL && strcmp(how, "garble") == 0;
  const char *log = getenv("FDAPP_FAULT_LOG");
  if (log != NULL) log_file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  (void)dl_iterate_phdr(note_program, NULL);
  armed = 1;
}

static int from_program(const void *site) {
  return (ElfW(Addr))site >= program_start && (ElfW(Addr))site < program_end;
}

/* Whether the descriptor is that of a file a run writes. */
static int of_run(int descriptor) {
  char link[64];
  char path[4096];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return strstr(path, ".partial") != NULL || strstr(path, "diagnostics.csv") != NULL;
}

static verdict strike(const char *name, const void *site, int counts) {
  if (!armed || inside || !counts) return PASS;
  char line[128];
  inside = 1;
  (void)snprintf(line, sizeof line, "%s %lx", name, (unsigned long)((ElfW(Addr))site - program_start));
  if (log_file >= 0) (void)dprintf(log_file, "%s\n", line);
  inside = 0;
  if (wanted_site == NULL || strcmp(line, wanted_site) != 0 || ++counted != wanted) return PASS;
  if (how_kill) (void)raise(SIGKILL);
  return how_garble ? GARBLE : FAIL;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define SITE       __builtin_return_address(0)

/* A function that fails by `failure`, with errno set. */
#define INTERPOSE(type, name, parameters, arguments, failure, reason)                                        \
  type name parameters;                                                                                      \
  type name parameters {                                                                                     \
    static __typeof__(&name) real = NULL;                                                                    \
    if (real == NULL) real = REAL(name);                                                                     \
    if (strike(#name, SITE, from_program(SITE)) != FAIL) return real arguments;                              \
    errno = reason;                                                                                          \
    return failure;                                                                                          \
  }

/* Memory; a sanitizer keeps these functions to itself. */
#if !FDAPP_SANITIZE
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *malloc(size_t size) {
  return strike("malloc", SITE, from_program(SITE)) == FAIL ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  return strike("calloc", SITE, from_program(SITE)) == FAIL ? NULL : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  return strike("realloc", SITE, from_program(SITE)) == FAIL ? NULL : __libc_realloc(memory, size);
}
INTERPOSE(int, posix_memalign, (void **memory, size_t alignment, size_t size), (memory, alignment, size),
          ENOMEM, ENOMEM)
#endif
INTERPOSE(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL, ENOMEM)

/* Files */
int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  static int (*real)(const char *, int, ...) = NULL;
  if (real == NULL) real = REAL(open);
  if (strike("open", SITE, from_program(SITE)) != FAIL) return real(path, flags, mode);
  errno = EIO;
  return -1;
}
INTERPOSE(int, close, (int file), (file), (real(file), -1), EIO)
INTERPOSE(int, fsync, (int file), (file), -1, EIO)
INTERPOSE(int, ftruncate, (int file, off_t size), (file, size), -1, EIO)
INTERPOSE(int, fallocate, (int file, int mode, off_t start, off_t size), (file, mode, start, size), -1,
          ENOSPC)
INTERPOSE(int, rename, (const char *from, const char *to), (from, to), -1, EIO)
INTERPOSE(int, unlink, (const char *path), (path), -1, EIO)
INTERPOSE(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, EACCES)
INTERPOSE(int, access, (const char *path, int mode), (path, mode), -1, EACCES)
INTERPOSE(int, stat, (const char *path, struct stat *info), (path, info), -1, EIO)
INTERPOSE(int, fstat, (int file, struct stat *info), (file, info), -1, EIO)
INTERPOSE(DIR *, opendir, (const char *path), (path), NULL, EIO)
INTERPOSE(ssize_t, pread, (int file, void *data, size_t size, off_t at), (file, data, size, at), -1, EIO)
INTERPOSE(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EIO)
INTERPOSE(int, fflush, (FILE * file), (file), EOF, ENOSPC)
INTERPOSE(int, fclose, (FILE * file), (file), (real(file), EOF), ENOSPC)
INTERPOSE(size_t, fwrite, (const void *data, size_t size, size_t count, FILE *file),
          (data, size, count, file), 0, ENOSPC)

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  static __typeof__(&pwrite) real = NULL;
  if (real == NULL) real = REAL(pwrite);
  const verdict verdict = strike("pwrite", SITE, armed && !inside && of_run(file));
  if (verdict == PASS || size == 0) return real(file, data, size, at);
  errno = EIO;
  if (verdict == FAIL) return -1;
  char *copy = malloc(size);
  memcpy(copy, data, size);
  copy[size / 2] ^= 1;
  const ssize_t count = real(file, copy, size, at);
  free(copy);
  return count;
}
INTERPOSE(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t at),
          (file, parts, count, at), -1, EIO)
ssize_t write(int file, const void *data, size_t size) {
  static __typeof__(&write) real = NULL;
  if (real == NULL) real = REAL(write);
  if (strike("write", SITE, armed && !inside && of_run(file)) != FAIL) return real(file, data, size);
  errno = EIO;
  return -1;
}

/* MPI */
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  static __typeof__(&MPI_Init_thread) real = NULL;
  long size = 0;
  if (real == NULL) real = REAL(MPI_Init_thread);
  const int result = real(argc, argv, required, provided);
  if (armed && number("FDAPP_FAULT_FSIZE", &size)) {
    const struct rlimit limit = {.rlim_cur = (rlim_t)size, .rlim_max = RLIM_INFINITY};
    (void)setrlimit(RLIMIT_FSIZE, &limit);
  }
  return result;
}
#define INTERPOSE_MPI(name, parameters, arguments)                                                           \
  INTERPOSE(int, name, parameters, arguments, MPI_ERR_OTHER, 0)
INTERPOSE_MPI(MPI_Allreduce,
              (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              (from, to, count, type, op, comm))
INTERPOSE_MPI(MPI_Reduce,
              (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
              (from, to, count, type, op, root, comm))
INTERPOSE_MPI(MPI_Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
              (data, count, type, root, comm))
INTERPOSE_MPI(MPI_Barrier, (MPI_Comm comm), (comm))
INTERPOSE_MPI(MPI_Gatherv,
              (const void *from, int count, MPI_Datatype type, void *to, const int counts[],
               const int starts[], MPI_Datatype to_type, int root, MPI_Comm comm),
              (from, count, type, to, counts, starts, to_type, root, comm))
INTERPOSE_MPI(MPI_Scatterv,
              (const void *from, const int counts[], const int starts[], MPI_Datatype type, void *to,
               int count, MPI_Datatype to_type, int root, MPI_Comm comm),
              (from, counts, starts, type, to, count, to_type, root, comm))
INTERPOSE_MPI(MPI_Isend,
              (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request),
              (data, count, type, to, tag, comm, request))
INTERPOSE_MPI(MPI_Irecv,
              (void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
               MPI_Request *request),
              (data, count, type, from, tag, comm, request))
INTERPOSE_MPI(MPI_Waitall, (int count, MPI_Request requests[], MPI_Status states[]),
              (count, requests, states))
INTERPOSE_MPI(MPI_Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
INTERPOSE_MPI(MPI_Comm_size, (MPI_Comm comm, int *size), (comm, size))
INTERPOSE_MPI(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
INTERPOSE_MPI(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
              (comm, type, key, info, made))

/* HDF5 */
#define INTERPOSE_HDF5(type, name, parameters, arguments) INTERPOSE(type, name, parameters, arguments, -1, 0)
INTERPOSE_HDF5(hid_t, H5Fcreate, (const char *name, unsigned flags, hid_t creation, hid_t access),
               (name, flags, creation, access))
INTERPOSE_HDF5(hid_t, H5Fopen, (const char *name, unsigned flags, hid_t access), (name, flags, access))
INTERPOSE_HDF5(herr_t, H5Fflush, (hid_t object, H5F_scope_t scope), (object, scope))
INTERPOSE_HDF5(herr_t, H5Fget_filesize, (hid_t file, hsize_t *size), (file, size))
INTERPOSE_HDF5(herr_t, H5Fclose, (hid_t file), (file))
INTERPOSE_HDF5(herr_t, H5Pset_fapl_mpio, (hid_t list, MPI_Comm comm, MPI_Info info), (list, comm, info))
INTERPOSE_HDF5(hid_t, H5Pcreate, (hid_t class), (class))
INTERPOSE_HDF5(hid_t, H5Gcreate2, (hid_t place, const char *name, hid_t link, hid_t creation, hid_t access),
               (place, name, link, creation, access))
INTERPOSE_HDF5(hid_t, H5Gopen2, (hid_t place, const char *name, hid_t access), (place, name, access))
INTERPOSE_HDF5(herr_t, H5Gclose, (hid_t group), (group))
INTERPOSE_HDF5(hid_t, H5Acreate2,
               (hid_t place, const char *name, hid_t type, hid_t space, hid_t creation, hid_t access),
               (place, name, type, space, creation, access))
INTERPOSE_HDF5(herr_t, H5Awrite, (hid_t attribute, hid_t type, const void *value), (attribute, type, value))
INTERPOSE_HDF5(hid_t, H5Aopen, (hid_t place, const char *name, hid_t access), (place, name, access))
INTERPOSE_HDF5(herr_t, H5Aread, (hid_t attribute, hid_t type, void *value), (attribute, type, value))
INTERPOSE_HDF5(herr_t, H5Aclose, (hid_t attribute), (attribute))
INTERPOSE_HDF5(hid_t, H5Dcreate2,
               (hid_t place, const char *name, hid_t type, hid_t space, hid_t link, hid_t creation,
                hid_t access),
               (place, name, type, space, link, creation, access))
INTERPOSE_HDF5(hid_t, H5Dopen2, (hid_t place, const char *name, hid_t access), (place, name, access))
INTERPOSE_HDF5(herr_t, H5Dwrite,
               (hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t transfer, const void *values),
               (dataset, type, memory, file, transfer, values))
INTERPOSE_HDF5(herr_t, H5Dclose, (hid_t dataset), (dataset))
INTERPOSE_HDF5(hid_t, H5Screate_simple, (int rank, const hsize_t *size, const hsize_t *most),
               (rank, size, most))
INTERPOSE_HDF5(herr_t, H5Sselect_hyperslab,
               (hid_t space, H5S_seloper_t op, const hsize_t *start, const hsize_t *stride,
                const hsize_t *count, const hsize_t *block),
               (space, op, start, stride, count, block))
