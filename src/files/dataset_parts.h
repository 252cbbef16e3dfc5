#ifndef FDAPP_FILES_DATASET_PARTS_H
#define FDAPP_FILES_DATASET_PARTS_H

#include <hdf5.h>

#include "files/dataset.h"

/* The parts of dataset.c: what a file says of its numbers beside them. */

/* Records "KEY = PATH: ..." and returns `code`. */
__attribute__((format(printf, 3, 4))) status dataset_fail(const dataset *d, status code, const char *format,
                                                          ...);

/* Opens the file for reading; what is open in it is closed with it. STATUS_FILE says why it cannot be. */
status dataset_open(const dataset *d, hid_t *file);
/* 1 if the link exists, whatever it leads to. */
int dataset_link_exists(hid_t file, const char *name);
/* Refuses a name that leads to no dataset; the message names where a link leads, or what else there is. */
status dataset_refuse_name(const dataset *d, hid_t file);

/* Refuses a dataset of which a part has no values: never written, in a source that is not there, behind a
 * filter that HDF5 lacks. absent: what stands for none in its sources is added. */
status dataset_complete(const dataset *d, hid_t dataset, dataset_absent *absent);

/* Refuses attributes that change what the numbers mean: factors, offsets, the order of the axes, and
 * coordinates of axes, as HDF5's dimension scales give them, that do not ascend in equal steps. absent: which
 * numbers stand for none is added; [out] place: of the points, along the axes that have coordinates. */
status dataset_meaning(const dataset *d, hid_t dataset, dataset_absent *absent, dataset_place *place);
/* What says that a value, rounded to the precision as it is, stands for none; NULL if nothing does. */
const char *dataset_absent_by(const dataset_absent *absent, double value);

/* Reads up to `most` numbers of an attribute. Returns how many there are, 0 without the attribute, -1 if they
 * are no numbers or more. */
int dataset_numbers(hid_t object, const char *name, int most, double *values);

#endif
