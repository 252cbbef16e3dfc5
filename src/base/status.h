#ifndef FDAPP_BASE_STATUS_H
#define FDAPP_BASE_STATUS_H

/* Status codes. Every fallible function returns one. status_fail() records the message where the fault is
 * found, and main prints it once. No MPI here, because kernels/ uses this header, too. */

/* X(name, exit code of the program, general meaning) */
#define STATUS_LIST(X)                                                                                       \
  X(OK, 0, "success")                                                                                        \
  X(USAGE, 2, "bad command line or configuration")                                                           \
  X(MEMORY, 3, "not enough memory")                                                                          \
  X(DEVICE, 3, "the compute device cannot be used")                                                          \
  X(FILE, 3, "a file or directory cannot be used")                                                           \
  X(DAMAGED, 3, "a file is damaged")                                                                         \
  X(FOREIGN, 3, "a file belongs to another problem")                                                         \
  X(MPI, 3, "a message-passing call failed")                                                                 \
  X(LATE, 3, "another rank does not come")                                                                   \
  X(BLOWN_UP, 4, "the solution blew up")                                                                     \
  X(OTHER_ANSWER, 5, "the answer's hash is not the reference")                                               \
  X(STOPPED, 75, "stopped early on request, after a checkpoint")

typedef enum status {
#define X(name, code, text) STATUS_##name,
  STATUS_LIST(X)
#undef X
} status;

/* Longest message, with its terminating zero. */
enum { STATUS_MESSAGE_SIZE = 2048 };

/* Records a message (printf style: what, where, what would be accepted) and returns `code`, so that one can
 * write `return status_fail(STATUS_FILE, "%s: %s", path, strerror(errno));`. The first message is kept,
 * because the place that finds the fault knows most; status_clear() removes it. Not collective. */
__attribute__((format(printf, 2, 3))) status status_fail(status code, const char *format, ...);

/* The message recorded in this thread, or the general meaning of `code` if there is none. */
const char *status_message(status code);

/* Replaces the recorded message by `text`, received from another rank. */
void status_set_message(const char *text);

/* Removes the recorded message, for callers that handle the error. */
void status_clear(void);

/* Exit code of the program for `code`: 0, 2, 3, 4, 5 or 75. */
int status_exit_code(status code);

#endif
