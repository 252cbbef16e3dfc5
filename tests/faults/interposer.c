/* Preloaded by the tests: makes one call of the program fail, on one rank. The program knows nothing of it.
 *
 * FDAPP_FAULT_RANK: rank on which it happens; -1: all.
 *
 * FDAPP_FAULT_LOG: file that gets a line "function place" for each call that could be made to fail, in order,
 * and "struck" when it was.
 *
 * FDAPP_FAULT_SITE: such a line: where to strike. FDAPP_FAULT_CALL: which of the calls from there, from 1.
 *
 * FDAPP_FAULT_HOW: fail (default): it reports failure and does nothing; kill, crash: the process gets SIGKILL
 * or SIGSEGV there; garble: if it writes data, a bit of them is flipped and success reported; readonly: from
 * there on whatever would change the disk fails; flip: the call goes on, and a bit in the middle of the
 * largest array that the program has allocated, the first of several, is another from there on.
 *
 * FDAPP_FAULT_FSIZE: limit of file sizes in bytes, from MPI_Init on (before it, MPI needs larger files).
 *
 * FDAPP_FAULT_NO_FALLOCATE: the file system cannot reserve room. FDAPP_FAULT_FSYNC: milliseconds that each
 * fsync takes.
 *
 * Counted are calls from the program itself, and reads and writes of files of the run whoever makes them
 * (place 0: a library). */
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
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "interposer.h"

static int armed = 0;
static long wanted = 1;
static const char *wanted_site = NULL;
static long counted = 0;
static int log_file = -1;
static int how_signal = 0;
static int how_garble = 0;
static int how_readonly = 0;
static int how_flip = 0;
static char *largest = NULL;
static size_t largest_size = 0;
static void (*largest_flip)(char *byte) = NULL;
static int disk_readonly = 0;
static long fsync_milliseconds = 0;
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
  if (how != NULL && strcmp(how, "kill") == 0) how_signal = SIGKILL;
  if (how != NULL && strcmp(how, "crash") == 0) how_signal = SIGSEGV;
  how_garble = how != NULL && strcmp(how, "garble") == 0;
  how_readonly = how != NULL && strcmp(how, "readonly") == 0;
  how_flip = how != NULL && strcmp(how, "flip") == 0;
  (void)number("FDAPP_FAULT_FSYNC", &fsync_milliseconds);
  const char *log = getenv("FDAPP_FAULT_LOG");
  if (log != NULL) log_file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  (void)dl_iterate_phdr(note_program, NULL);
  armed = 1;
}

int from_program(const void *site) {
  return (ElfW(Addr))site >= program_start && (ElfW(Addr))site < program_end;
}

/* Whether the descriptor is that of a run's file. */
static int of_run(int descriptor) {
  char link[64];
  char path[4096];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return strstr(path, "/state_") != NULL || strstr(path, "diagnostics.csv") != NULL;
}

void note_array(void *memory, size_t size, void (*flip)(char *byte)) {
  if (size <= largest_size + 8192) return; /* arrays of one size begin at different places of a page */
  largest = memory;
  largest_size = size;
  largest_flip = flip;
}

static void flip_host(char *byte) {
  *byte ^= 1;
}

verdict strike(const char *name, const void *site, int counts) {
  if (!armed || inside || !counts) return PASS;
  char line[128];
  inside = 1;
  const unsigned long place = from_program(site) ? (unsigned long)((ElfW(Addr))site - program_start) : 0;
  (void)snprintf(line, sizeof line, "%s %lx", name, place);
  const int hit = wanted_site != NULL && strcmp(line, wanted_site) == 0 && ++counted == wanted;
  if (log_file >= 0) (void)dprintf(log_file, "%s\n%s", line, hit ? "struck\n" : "");
  inside = 0;
  if (!hit) return PASS;
  if (how_signal != 0) (void)raise(how_signal);
  if (how_flip) {
    inside = 1;
    largest_flip(largest + largest_size / 2 / 8 * 8 + 4); /* the middle of a double's mantissa */
    inside = 0;
    return PASS;
  }
  disk_readonly = how_readonly;
  return how_garble ? GARBLE : FAIL;
}

/* For what changes the disk: whether it is to fail, with errno set. */
static int strike_disk(const char *name, const void *site, int counts, int reason) {
  const int failed = strike(name, site, counts) == FAIL;
  errno = disk_readonly ? EROFS : reason;
  return failed || (disk_readonly && counts);
}

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

/* The same, of what changes the disk. */
#define INTERPOSE_DISK(type, name, parameters, arguments, failure, reason)                                   \
  type name parameters;                                                                                      \
  type name parameters {                                                                                     \
    static __typeof__(&name) real = NULL;                                                                    \
    if (real == NULL) real = REAL(name);                                                                     \
    return strike_disk(#name, SITE, from_program(SITE), reason) ? (failure) : real arguments;                \
  }

/* Memory; a sanitizer keeps these functions but the last to itself. */
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
#endif
int posix_memalign(void **memory, size_t alignment, size_t size) {
  static __typeof__(&posix_memalign) real = NULL;
  if (real == NULL) real = REAL(posix_memalign);
  if (strike("posix_memalign", SITE, from_program(SITE)) == FAIL) return ENOMEM;
  const int result = real(memory, alignment, size);
  if (result == 0 && armed && from_program(SITE)) note_array(*memory, size, flip_host);
  return result;
}
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
  const int writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes && strike_disk("open", SITE, from_program(SITE), EIO)) return -1;
  if (writes || strike("open", SITE, from_program(SITE)) != FAIL) return real(path, flags, mode);
  errno = EIO;
  return -1;
}
INTERPOSE(int, close, (int file), (file), (real(file), -1), EIO)
int fsync(int file) {
  static __typeof__(&fsync) real = NULL;
  if (real == NULL) real = REAL(fsync);
  if (armed && from_program(SITE)) (void)usleep(1000 * (useconds_t)fsync_milliseconds);
  return strike_disk("fsync", SITE, from_program(SITE), EIO) ? -1 : real(file);
}
int fallocate(int file, int mode, off_t start, off_t size) {
  static __typeof__(&fallocate) real = NULL;
  if (real == NULL) real = REAL(fallocate);
  if (strike_disk("fallocate", SITE, from_program(SITE), ENOSPC)) return -1;
  errno = EOPNOTSUPP;
  return getenv("FDAPP_FAULT_NO_FALLOCATE") != NULL ? -1 : real(file, mode, start, size);
}
INTERPOSE_DISK(int, ftruncate, (int file, off_t size), (file, size), -1, EIO)
INTERPOSE_DISK(int, rename, (const char *from, const char *to), (from, to), -1, EIO)
INTERPOSE_DISK(int, unlink, (const char *path), (path), -1, EIO)
INTERPOSE_DISK(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, EACCES)
INTERPOSE_DISK(int, fflush, (FILE * file), (file), EOF, ENOSPC)
INTERPOSE(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, ENOMEM)
INTERPOSE(int, access, (const char *path, int mode), (path, mode), -1, EACCES)
INTERPOSE(int, stat, (const char *path, struct stat *info), (path, info), -1, EIO)
INTERPOSE(int, fstat, (int file, struct stat *info), (file, info), -1, EIO)
INTERPOSE(int, fstatvfs, (int file, struct statvfs *info), (file, info), -1, EIO)
INTERPOSE(DIR *, opendir, (const char *path), (path), NULL, EIO)
INTERPOSE(struct dirent *, readdir, (DIR * listing), (listing), NULL, EIO)
INTERPOSE(char *, realpath, (const char *path, char *whole), (path, whole), NULL, EIO)
INTERPOSE(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EIO)
INTERPOSE(int, fclose, (FILE * file), (file), (real(file), EOF), ENOSPC)
INTERPOSE(int, fputc, (int letter, FILE *file), (letter, file), EOF, ENOSPC)
INTERPOSE(int, fputs, (const char *text, FILE *file), (text, file), EOF, ENOSPC)

ssize_t pread(int file, void *data, size_t size, off_t at) {
  static __typeof__(&pread) real = NULL;
  if (real == NULL) real = REAL(pread);
  const int counts = from_program(SITE) || (armed && !inside && of_run(file));
  if (strike("pread", SITE, counts) != FAIL) return real(file, data, size, at);
  errno = EIO;
  return -1;
}
ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  static __typeof__(&pwrite) real = NULL;
  if (real == NULL) real = REAL(pwrite);
  const int counts = armed && !inside && of_run(file);
  const verdict verdict = strike("pwrite", SITE, counts);
  errno = disk_readonly ? EROFS : EIO;
  if (disk_readonly && counts) return -1;
  if (verdict == PASS || size == 0) return real(file, data, size, at);
  if (verdict == FAIL) return -1;
  char *copy = malloc(size);
  memcpy(copy, data, size);
  copy[size / 2] ^= 1;
  const ssize_t count = real(file, copy, size, at);
  free(copy);
  return count;
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
INTERPOSE_MPI(MPI_Sendrecv,
              (const void *data, int count, MPI_Datatype type, int to, int tag, void *got, int most,
               MPI_Datatype got_type, int from, int got_tag, MPI_Comm comm, MPI_Status *state),
              (data, count, type, to, tag, got, most, got_type, from, got_tag, comm, state))
INTERPOSE_MPI(MPI_Type_contiguous, (int count, MPI_Datatype of, MPI_Datatype *made), (count, of, made))
INTERPOSE_MPI(MPI_Type_commit, (MPI_Datatype * type), (type))
INTERPOSE_MPI(MPI_Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
INTERPOSE_MPI(MPI_Comm_size, (MPI_Comm comm, int *size), (comm, size))
INTERPOSE_MPI(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
INTERPOSE_MPI(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
              (comm, type, key, info, made))

/* HDF5 */
#define INTERPOSE_HDF5(type, name, parameters, arguments) INTERPOSE(type, name, parameters, arguments, -1, 0)
INTERPOSE_HDF5(herr_t, H5open, (void), ())
INTERPOSE_HDF5(herr_t, H5dont_atexit, (void), ())
INTERPOSE_HDF5(hid_t, H5Fcreate, (const char *name, unsigned flags, hid_t creation, hid_t access),
               (name, flags, creation, access))
INTERPOSE_HDF5(hid_t, H5Fopen, (const char *name, unsigned flags, hid_t access), (name, flags, access))
INTERPOSE_HDF5(herr_t, H5Fclose, (hid_t file), (file))
INTERPOSE_HDF5(hid_t, H5Pcreate, (hid_t class), (class))
INTERPOSE_HDF5(herr_t, H5Pclose, (hid_t list), (list))
INTERPOSE_HDF5(herr_t, H5Pset_fapl_stdio, (hid_t list), (list))
INTERPOSE_HDF5(herr_t, H5Pset_fclose_degree, (hid_t list, H5F_close_degree_t degree), (list, degree))
INTERPOSE_HDF5(herr_t, H5Pset_file_locking, (hid_t list, hbool_t use, hbool_t ignore), (list, use, ignore))
INTERPOSE_HDF5(herr_t, H5Pset_userblock, (hid_t list, hsize_t size), (list, size))
INTERPOSE_HDF5(herr_t, H5Pset_layout, (hid_t list, H5D_layout_t layout), (list, layout))
INTERPOSE_HDF5(herr_t, H5Pset_alloc_time, (hid_t list, H5D_alloc_time_t when), (list, when))
INTERPOSE_HDF5(herr_t, H5Pset_fill_time, (hid_t list, H5D_fill_time_t when), (list, when))
INTERPOSE_HDF5(herr_t, H5Pset_obj_track_times, (hid_t list, hbool_t track), (list, track))
INTERPOSE_HDF5(hid_t, H5Gcreate2, (hid_t place, const char *name, hid_t link, hid_t creation, hid_t access),
               (place, name, link, creation, access))
INTERPOSE_HDF5(hid_t, H5Gopen2, (hid_t place, const char *name, hid_t access), (place, name, access))
INTERPOSE_HDF5(herr_t, H5Gclose, (hid_t group), (group))
INTERPOSE_HDF5(hid_t, H5Acreate2,
               (hid_t place, const char *name, hid_t type, hid_t space, hid_t creation, hid_t access),
               (place, name, type, space, creation, access))
INTERPOSE_HDF5(herr_t, H5Awrite, (hid_t attribute, hid_t type, const void *value), (attribute, type, value))
INTERPOSE_HDF5(htri_t, H5Aexists, (hid_t object, const char *name), (object, name))
INTERPOSE_HDF5(hid_t, H5Aopen, (hid_t place, const char *name, hid_t access), (place, name, access))
INTERPOSE_HDF5(hid_t, H5Aopen_by_name,
               (hid_t place, const char *object, const char *name, hid_t access, hid_t link),
               (place, object, name, access, link))
INTERPOSE_HDF5(hid_t, H5Aget_space, (hid_t attribute), (attribute))
INTERPOSE_HDF5(hid_t, H5Aget_type, (hid_t attribute), (attribute))
INTERPOSE_HDF5(herr_t, H5Aread, (hid_t attribute, hid_t type, void *value), (attribute, type, value))
INTERPOSE_HDF5(herr_t, H5Aclose, (hid_t attribute), (attribute))
INTERPOSE_HDF5(hid_t, H5Dcreate2,
               (hid_t place, const char *name, hid_t type, hid_t space, hid_t link, hid_t creation,
                hid_t access),
               (place, name, type, space, link, creation, access))
INTERPOSE_HDF5(hid_t, H5Dopen2, (hid_t place, const char *name, hid_t access), (place, name, access))
INTERPOSE(haddr_t, H5Dget_offset, (hid_t dataset), (dataset), HADDR_UNDEF, 0)
INTERPOSE_HDF5(herr_t, H5Dclose, (hid_t dataset), (dataset))
INTERPOSE_HDF5(hid_t, H5Screate, (H5S_class_t type), (type))
INTERPOSE_HDF5(hid_t, H5Screate_simple, (int rank, const hsize_t *size, const hsize_t *most),
               (rank, size, most))
INTERPOSE_HDF5(hssize_t, H5Sget_simple_extent_npoints, (hid_t space), (space))
INTERPOSE_HDF5(herr_t, H5Sclose, (hid_t space), (space))
INTERPOSE_HDF5(hid_t, H5Tcopy, (hid_t type), (type))
INTERPOSE(size_t, H5Tget_size, (hid_t type), (type), 0, 0)
INTERPOSE_HDF5(herr_t, H5Tset_size, (hid_t type, size_t size), (type, size))
INTERPOSE_HDF5(herr_t, H5Tset_strpad, (hid_t type, H5T_str_t padding), (type, padding))
INTERPOSE_HDF5(herr_t, H5Tclose, (hid_t type), (type))
