#ifndef FDAPP_PROBLEMS_MEDIUM_MEANS_H
#define FDAPP_PROBLEMS_MEDIUM_MEANS_H

#include "problems/medium.h"

/* The means over cells of a medium of which a file has another grid (medium.h), for this rank's planes and
 * the images that halos need. They are found plane by plane, because a file may be much finer. */
typedef struct medium_means medium_means;

/* [out] fine: 1 if one of CONFIG_MEDIA comes from a file of another grid that is resampled, and not at
 * points. Errors as of file_planes_find. */
status medium_means_needed(const config *config, const grid *grid, int which, int *fine);

/* The medium has its formulas, and files of the grid's own points. STATUS_FILE, STATUS_USAGE, STATUS_MEMORY;
 * then there is nothing to close. */
status medium_means_open(const medium *medium, medium_means **means);
void medium_means_close(medium_means *means); /* NULL: nothing happens */

medium_point medium_means_at(const medium_means *means, int64_t z, int64_t y, int64_t x);
/* As file_planes_hash, of the means. */
uint64_t medium_means_hash(const medium_means *means);

/* The speed or the density at a point of the grid, of a formula at place x of its cell; file: what a file of
 * another grid has there, or NULL. [in, out] accepted: becomes 0 if it is refused (medium_points.c). */
double medium_value(const medium *medium, int which, const int64_t at[3], const double x[3],
                    const double *file, int *accepted);

#endif
