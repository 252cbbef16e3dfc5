#ifndef FDAPP_DISTANCE_DISTANCE_ENDS_H
#define FDAPP_DISTANCE_DISTANCE_ENDS_H

#include "distance/distance_options.h"
#include "files/dataset.h"

/* Decides which axes have ends: those that the command line says; else what the file says of itself, by the
 * configuration of the run that wrote it or by the attribute Periodic of /VTKHDF; else none. A part of a
 * periodic axis, and points that do not divide it evenly, have ends. [out] bounded: 1 where an axis has ends;
 * by_file: 1 where the file said so. */
status distance_ends(const dataset *dataset, const dataset_about *about, const distance_options *options,
                     int bounded[3], int by_file[3]);

#endif
