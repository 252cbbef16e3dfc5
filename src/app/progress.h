#ifndef FDAPP_APP_PROGRESS_H
#define FDAPP_APP_PROGRESS_H

#include <stdint.h>

/* The progress line, with rate and time left: updated in place on a terminal, printed now and then otherwise.
 * Rank 0 prints. */
typedef struct progress {
  int terminal;
  int64_t first_step, last_step;
  double points;     /* of the grid */
  double start;      /* seconds, when stepping began */
  double last_print; /* seconds */
} progress;

/* now: seconds of any steady clock, the same one in all calls. */
void progress_start(progress *progress, int64_t step, int64_t last_step, double points, double now);
/* range: the solution's range as text. */
void progress_show(progress *progress, int64_t step, double time, const char *range, double now);
/* Ends the updated line, so that later output starts on a line of its own. */
void progress_end(progress *progress);

#endif
