#ifndef FDAPP_PROBLEMS_MEDIUM_H
#define FDAPP_PROBLEMS_MEDIUM_H

#include "problems/file_planes.h"
#include "problems/formula_team.h"

/* The speed of sound of [medium], or physics.sound_speed. A point stands for its cell, which reaches half a
 * spacing to each side and ends at an end of an axis: the speed there is c = 1/sqrt(mean of 1/c^2), the mean
 * over 4 x 4 x 4 midpoints of the cell's parts. A file gives the speed at the points. */
typedef struct medium {
  const config *config;
  const grid *grid;
  formula_team formula; /* if [medium] has a formula */
  file_planes planes;   /* if it has a file */
  struct medium_fault *fault;
} medium;

/* The name of the dataset of a file. */
#define MEDIUM_DATASET "c"

/* 1 if the speed is a formula or a file. */
int medium_varies(const config *config);

/* STATUS_FILE, STATUS_USAGE as file_planes_open, STATUS_MEMORY; after an error there is nothing to close. Not
 * collective. config and grid must outlive it. */
status medium_open(const config *config, const grid *grid, medium *medium);
void medium_close(medium *medium);

/* c^2 at a global point of this rank's planes, halo planes included; called from several threads at once. */
double medium_squared(const medium *medium, int64_t z, int64_t y, int64_t x);

/* STATUS_USAGE if a speed was not above 0, or as formula_team_verdict. */
status medium_verdict(const medium *medium);

/* [out] range: the least and the largest c of this slab. Errors as of all of the above. */
status medium_range(const config *config, const grid *grid, double range[2]);

#endif
