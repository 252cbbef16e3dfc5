#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"

/* A call transfers less than 2 GiB: some systems and libraries truncate longer ones. */
static const size_t largest_call = (size_t)1 << 30;

static status failure(const char *path, const char *what) {
  return status_fail(STATUS_FILE, "%s: %s: %s", path, what, strerror(errno));
}

status file_open_regular(const char *path, int *descriptor) {
  struct stat info;
  *descriptor = -1;
  const int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) return errno == ENOENT ? STATUS_OK : failure(path, "cannot be opened");
  status result = fstat(opened, &info) == 0 ? STATUS_OK : failure(path, "cannot be read");
  if (result == STATUS_OK && !S_ISREG(info.st_mode))
    result = status_fail(STATUS_FILE, "%s: is not a regular file", path);
  if (result == STATUS_OK) {
    *descriptor = opened;
  } else {
    (void)close(opened);
  }
  return result;
}

status file_read_at(int descriptor, const char *path, void *data, size_t size, int64_t offset) {
  for (size_t done = 0; done < size;) {
    const size_t piece = size - done < largest_call ? size - done : largest_call;
    const ssize_t count = pread(descriptor, (char *)data + done, piece, (off_t)(offset + (int64_t)done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(path, "cannot read");
    if (count == 0) return status_fail(STATUS_FILE, "%s: ends too early", path);
    done += (size_t)count;
  }
  return STATUS_OK;
}

status file_write_at(int descriptor, const char *path, const void *data, size_t size, int64_t offset) {
  for (size_t done = 0; done < size;) {
    const size_t piece = size - done < largest_call ? size - done : largest_call;
    const ssize_t count =
        pwrite(descriptor, (const char *)data + done, piece, (off_t)(offset + (int64_t)done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(path, "cannot write");
    done += (size_t)count;
  }
  return STATUS_OK;
}

/* fsync, repeated if a signal interrupts it: signals that ask the run to stop must not cost the file. */
static int sync_patiently(int descriptor) {
  int result;
  do result = fsync(descriptor);
  while (result != 0 && errno == EINTR);
  return result;
}

status file_sync(int descriptor, const char *path) {
  return sync_patiently(descriptor) == 0 ? STATUS_OK : failure(path, "cannot bring to the disk");
}

status file_sync_directory(const char *directory) {
  const int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failure(directory, "cannot open");
  const int fault = sync_patiently(descriptor) == 0 ? 0 : errno;
  (void)close(descriptor);
  errno = fault;
  /* EINVAL: the file system has nothing to synchronise */
  return fault == 0 || fault == EINVAL ? STATUS_OK : failure(directory, "cannot bring to the disk");
}

status file_next_name(DIR *entries, const char *directory, const char **name) {
  errno = 0; /* readdir returns NULL at the end and after an error; only errno tells which */
  const struct dirent *entry = readdir(entries);
  *name = entry != NULL ? entry->d_name : NULL;
  return entry != NULL || errno == 0 ? STATUS_OK : failure(directory, "cannot be listed");
}

status file_path(const char *directory, const char *name, char *path, size_t size) {
  const int length = snprintf(path, size, "%s/%s", directory, name);
  if (length >= 0 && (size_t)length < size) return STATUS_OK;
  return status_fail(STATUS_FILE, "%s/%s: the path is longer than %zu bytes", directory, name, size - 1);
}

status file_rename(const char *directory, const char *from, const char *to) {
  char old_path[PATH_MAX];
  char new_path[PATH_MAX];
  CHECK(file_path(directory, from, old_path, sizeof old_path));
  CHECK(file_path(directory, to, new_path, sizeof new_path));
  if (rename(old_path, new_path) != 0) return failure(new_path, "cannot put in place");
  return file_sync_directory(directory);
}

status file_write_bytes(const char *directory, const char *name, const void *data, size_t size) {
  char partial[NAME_MAX + 1];
  char path[PATH_MAX];
  (void)snprintf(partial, sizeof partial, "%s" FILE_PARTIAL, name);
  CHECK(file_path(directory, partial, path, sizeof path));
  const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return failure(path, "cannot make");
  status result = file_write_at(descriptor, path, data, size, 0);
  if (result == STATUS_OK) result = file_sync(descriptor, path);
  if (close(descriptor) != 0 && result == STATUS_OK) result = failure(path, "cannot close");
  if (result == STATUS_OK) result = file_rename(directory, partial, name);
  if (result != STATUS_OK) (void)unlink(path);
  return result;
}

static void *close_alone(void *descriptor) {
  (void)close((int)(intptr_t)descriptor);
  return NULL;
}

status file_remove(const char *path) {
  const int descriptor =
      open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* the blocks stay until it is closed */
  const status result = unlink(path) == 0 ? STATUS_OK : failure(path, "cannot be removed");
  pthread_t thread;
  if (descriptor < 0) return result;
  if (thread_start(&thread, close_alone, (void *)(intptr_t)descriptor)) {
    (void)pthread_detach(thread);
  } else {
    (void)close(descriptor);
  }
  return result;
}

status file_write_whole(const char *directory, const char *name, const char *text) {
  return file_write_bytes(directory, name, text, strlen(text));
}
