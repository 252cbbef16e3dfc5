#ifndef FDAPP_APP_PROVENANCE_H
#define FDAPP_APP_PROVENANCE_H

#include <jansson.h>

/* What wrote a report: {version, revision, compiler, mpi, hdf5, cuda, host, date (UTC)}. New reference; NULL
 * without memory. Not collective. */
json_t *provenance_json(void);

#endif
