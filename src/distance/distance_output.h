#ifndef FDAPP_DISTANCE_DISTANCE_OUTPUT_H
#define FDAPP_DISTANCE_DISTANCE_OUTPUT_H

#include "base/status.h"
#include "distance/distance_options.h"

/* Where the result goes. */

/* Splits its path. [out] directory, and the name in it. STATUS_USAGE. */
status distance_output_split(const char *path, char directory[DISTANCE_PATH], const char **name);

/* Checks that it can be written, and that neither it nor its temporary file is the input. STATUS_FILE,
 * STATUS_USAGE. */
status distance_output_check(const distance_options *options);

#endif
