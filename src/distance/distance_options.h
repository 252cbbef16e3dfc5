#ifndef FDAPP_DISTANCE_DISTANCE_OPTIONS_H
#define FDAPP_DISTANCE_DISTANCE_OPTIONS_H

#include "base/check.h"

/* The command line of fddistance. */

enum { DISTANCE_PATH = 4096 };

typedef enum distance_action {
  DISTANCE_RUN,
  DISTANCE_VALIDATE,
  DISTANCE_VERSION,
  DISTANCE_HELP
} distance_action;

typedef struct distance_options {
  distance_action action;
  char input[DISTANCE_PATH], output[DISTANCE_PATH];
  char dataset[DISTANCE_PATH]; /* default VTKHDF/PointData/phi */
  double level;                /* default 0 */
  int binary;                  /* 1: to points of the set; 0, default: to its surface between points */
  int is_signed;               /* default yes */
  int bounded[3];              /* boundary.x, y, z: 1 open, 0 periodic, -1 not given (default) */
  double spacing[3];           /* > 0, or 0: the file's (default) */
  char backend[16];            /* "auto" (default) or a name of the registry */
  int threads;                 /* 0: OMP_NUM_THREADS, else this rank's share (default) */
  double time;                 /* of --hopf-lax; 0: compute a distance */
  char idle[256];              /* keys without effect, "binary, signed"; "" if there are none */
} distance_options;

/* Every rank parses its own command line. STATUS_USAGE with what is accepted. */
status distance_options_parse(int argc, char **argv, distance_options *options);

/* Text of --help. */
extern const char distance_options_help[];

#endif
