#ifndef FDAPP_FILES_HDF5_LIBRARY_H
#define FDAPP_FILES_HDF5_LIBRARY_H

#include "base/check.h"

/* Initialises HDF5 once. HDF5 then prints no errors itself and does nothing at exit, which would be after
 * MPI_Finalize. STATUS_FILE. */
status hdf5_library_start(void);

#endif
