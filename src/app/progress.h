#ifndef FDAPP_APP_PROGRESS_H
#define FDAPP_APP_PROGRESS_H

#include <stdint.h>

/* The progress line: rate and time left; updating on a terminal, sparse otherwise. Rank 0 prints. */
typedef struct progress {
  int terminal;
  int64_t first_step, last_step;
  double points;     /* of the grid */
  double start;      /* seconds, when stepping began */
  double last_print; /* seconds */
} progress;

/* now: seconds on any steady clock, the same for all calls. */
void progress_start(progress *progress, int64_t step, int64_t last_step, double points, double now);
/* range: of the solution, in words. */
void progress_show(progress *progress, int64_t step, double time, const char *range, double now);
/* Ends the updating line, so that whatever is printed next starts on a line of its own. */
void progress_end(progress *progress);

#endif
