#include "app/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* Seconds between lines: on a terminal one line is rewritten, in a file lines stay. */
static const double terminal_period = 0.5;
static const double file_period = 10.0;

/* Returns 1 if the output is a terminal. Open MPI's mpirun gives ranks on its own node a terminal even if its
 * output goes elsewhere, so mpirun's own standard output must be one, too. Without mpirun the parent is not
 * asked: under `ssh -t` it is a daemon. */
static int on_terminal(void) {
  char link[64];
  char target[64] = "";
  if (!isatty(STDOUT_FILENO)) return 0;
  if (getenv("OMPI_COMM_WORLD_SIZE") == NULL) return 1;
  (void)snprintf(link, sizeof link, "/proc/%ld/fd/%d", (long)getppid(), STDOUT_FILENO);
  if (readlink(link, target, sizeof target - 1) < 0) return 0;
  return strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0;
}

void progress_start(progress *progress, int64_t step, int64_t last_step, double points, double now) {
  *progress = (struct progress){.terminal = on_terminal(),
                                .first_step = step,
                                .last_step = last_step,
                                .points = points,
                                .start = now,
                                .last_print = now};
}

static void format_duration(double seconds, char *text, size_t size) {
  const long long s = (long long)(seconds + 0.5);
  if (s < 60) {
    (void)snprintf(text, size, "%.3g s", seconds);
  } else if (s < 3600) {
    (void)snprintf(text, size, "%lld min %02lld s", s / 60, s % 60);
  } else {
    (void)snprintf(text, size, "%lld h %02lld min", s / 3600, s % 3600 / 60);
  }
}

/* On a terminal the line stays open, to be rewritten. */
static void end_line(const progress *progress) {
  if (!progress->terminal) log_info("\n");
  if (progress->terminal) (void)fflush(stdout);
}

void progress_show(progress *progress, int64_t step, double time, const char *range, double now) {
  if (now - progress->last_print < (progress->terminal ? terminal_period : file_period)) return;
  progress->last_print = now;
  const double done = (double)(step - progress->first_step);
  const double each = (now - progress->start) / done;
  char left[64];
  format_duration(each * (double)(progress->last_step - step), left, sizeof left);
  log_info("%sstep %" PRId64 " of %" PRId64 " (%.0f %%), t = %.6g, %s, %.4g points/s, %s left",
           progress->terminal ? "\r\033[K" : "", step, progress->last_step,
           100.0 * (double)step / (double)progress->last_step, time, range, progress->points / each, left);
  end_line(progress);
}

void progress_end(progress *progress) {
  if (progress->terminal) log_info("\r\033[K");
  if (progress->terminal) (void)fflush(stdout);
}
