#ifndef FDAPP_PROBLEMS_PERIOD_H
#define FDAPP_PROBLEMS_PERIOD_H

#include "domain/grid.h"
#include "files/dataset.h"

/* Refuses a dataset that along a periodic axis does not say where its points lie, and holds one period and a
 * point: the first and the last value agree, and without the last one the values go on smoothly. Warns where
 * they agree and rough values decide nothing, unless those beside them agree, too, as in a field that is
 * symmetric about the middle of the box. Reads nine planes. STATUS_USAGE, STATUS_FILE, STATUS_MEMORY. */
status period_check(const dataset *dataset, const dataset_place *place, const grid *grid);

#endif
