#ifndef FDAPP_SNAPSHOTS_HDF5_LIBRARY_H
#define FDAPP_SNAPSHOTS_HDF5_LIBRARY_H

#include "base/check.h"

/* Starts HDF5 once: it prints nothing itself, and tries no handle again at exit, which would be after
 * MPI_Finalize. STATUS_FILE. */
status hdf5_library_start(void);

#endif
