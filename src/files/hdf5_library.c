#include "files/hdf5_library.h"

#include <hdf5.h>

status hdf5_library_start(void) {
  static int started = 0;
  if (started) return STATUS_OK;
  if (H5dont_atexit() < 0 || H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0)
    return status_fail(STATUS_FILE, "the HDF5 library cannot be started");
  started = 1;
  return STATUS_OK;
}
