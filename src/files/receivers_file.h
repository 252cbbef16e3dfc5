#ifndef FDAPP_FILES_RECEIVERS_FILE_H
#define FDAPP_FILES_RECEIVERS_FILE_H

#include "kernels.h"

/* The file of receivers (output/receivers.h). */
typedef struct receivers_file {
  precision precision; /* of p */
  int64_t receivers, rows;
  const double *positions, *time;
  const int64_t *step;
  const void *p;
  const char *weights;                     /* receivers.weights */
  const char *length, *time_unit, *p_unit; /* "": none */
} receivers_file;

/* Writes `directory`/`name`, completely or not at all. STATUS_FILE, STATUS_MEMORY. */
status receivers_file_write(const char *directory, const char *name, const receivers_file *file);

enum { RECEIVERS_WEIGHTS = 32 };

/* Reads `weights` of a file. [out] weights: "" if the file does not say it. STATUS_FILE. */
status receivers_file_weights(const char *path, char weights[RECEIVERS_WEIGHTS]);

#endif
