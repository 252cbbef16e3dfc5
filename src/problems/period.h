#ifndef FDAPP_PROBLEMS_PERIOD_H
#define FDAPP_PROBLEMS_PERIOD_H

#include "domain/grid.h"
#include "files/dataset.h"

/* Refuses a dataset that does not say where its points lie, and along a periodic axis holds one period and a
 * point: the first and the last value agree, and without the last one the values go on smoothly. Warns where
 * they agree and rough values decide nothing. Reads nine planes. STATUS_USAGE, STATUS_FILE, STATUS_MEMORY. */
status period_check(const dataset *dataset, const grid *grid);

#endif
