#ifndef FDAPP_PROBLEMS_MEDIUM_H
#define FDAPP_PROBLEMS_MEDIUM_H

#include "problems/cases.h"
#include "problems/file_planes.h"
#include "problems/formula_team.h"

/* The medium of waves and of sound: formulas and the file of [medium], and the constants of [physics] for
 * what these do not give. Waves have the density 1. A point stands for its cell, which reaches half a spacing
 * to each side and ends at an end of an axis. With formulas the point has the cell's mean density and the
 * stiffness K = 1/(mean of 1/(density c^2)), means over 4 x 4 x 4 midpoints of the cell's parts. With a file
 * of another grid it has the same means (resample.h); a file of the grid's own points gives the values there.
 */
typedef struct medium {
  const config *config;
  const grid *grid;
  formula_team formula[CONFIG_MEDIA];
  file_planes planes[CONFIG_MEDIA];
  struct medium_means *means; /* with a file of another grid: of this rank's planes; else NULL */
  struct medium_fault *fault;
  int varies[3];             /* along x, y, z */
  struct medium_kept **kept; /* of each thread, as many as OpenMP would have started in medium_open */
} medium;

typedef struct medium_point {
  double stiffness, density; /* of waves: c^2 and 1 */
} medium_point;

/* Of a slab: the least speed; that of the fastest wave that the grid holds; the least and the largest
 * impedance. A difference lets the pressure on the stiff side of a jump move the light side, so beside jumps
 * of stiffness and density together waves are faster than sound on either side. With S the diagonal matrix of
 * square roots of the stiffness, V of 1/density and D the difference, `fastest` is the larger of the largest
 * speed and of the largest sum of a row or a column of S |D| V along an axis, that of |D| being 1. The norm
 * of S D V is at most 1.2 times that of D times this speed (I. Schur), which happens only where the medium
 * alternates from cell to cell; beside an interface it is at most 1.01 times. */
typedef struct medium_range {
  double slowest, fastest, impedance[2];
} medium_range;

/* The keys of what an equation's medium has, and their number; 0: it has no medium. */
extern const char *const medium_names[CONFIG_MEDIA];
/* The least and the greatest value of each, as of physics.sound_speed and physics.density. */
extern const double medium_accepted[2];
/* Their datasets in a file. */
extern const char *const medium_datasets[CONFIG_MEDIA];
int medium_count(const config *config);
/* Where one of them comes from. */
typedef enum medium_from { MEDIUM_CONSTANT, MEDIUM_FORMULA, MEDIUM_FILE } medium_from;
medium_from medium_of(const config *config, int which);
/* 1 if one of them is no constant. */
int medium_varies(const config *config);

/* Checks the medium's file as cases_files_check does. */
status medium_check(const config *config, const grid *grid, char text[CASES_HELD]);

/* STATUS_FILE, STATUS_USAGE as file_planes_open, STATUS_MEMORY; after an error there is nothing to close. Not
 * collective. config and grid must outlive it. */
status medium_open(const config *config, const grid *grid, medium *medium);
void medium_close(medium *medium);

/* At a global point of this rank's planes, halo planes included; called from several threads at once. */
medium_point medium_at(const medium *medium, int64_t z, int64_t y, int64_t x);

/* Stands for the values of its files on this rank, as file_planes_hash does. */
uint64_t medium_hash(const medium *medium);

/* STATUS_USAGE if a value was out of range, or as formula_team_verdict. */
status medium_verdict(const medium *medium);

/* [out] range: of this slab. Errors as of all of the above. */
status medium_find_range(const config *config, const grid *grid, medium_range *range);

#endif
