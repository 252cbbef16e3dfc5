#ifndef FDAPP_APP_PROVENANCE_H
#define FDAPP_APP_PROVENANCE_H

#include <jansson.h>

/* Describes the program that writes a report: {version, revision, compiler, mpi, hdf5, cuda, host, date
 * (UTC)}. Returns a new reference; NULL if there is no memory. Not collective. */
json_t *provenance_json(void);

#endif
