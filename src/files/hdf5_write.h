#ifndef FDAPP_FILES_HDF5_WRITE_H
#define FDAPP_FILES_HDF5_WRITE_H

#include <hdf5.h>

#include "kernels.h"

/* What all writers of HDF5 files share; `path` is for messages. All: STATUS_FILE. */

/* CHECK for HDF5 calls. Handles left open by an early return are closed with their file
 * (H5F_CLOSE_STRONG). */
#define CHECK_HDF5(code, path, call)                                                                         \
  do {                                                                                                       \
    if ((call) < 0) return hdf5_failure(code, path, #call);                                                  \
  } while (0)

/* Records HDF5's message for the call that failed; returns `code`. */
status hdf5_failure(status code, const char *path, const char *call);

hid_t hdf5_real(precision precision);

/* Writes an attribute: a scalar if count is 0. */
status hdf5_write_attribute(hid_t object, const char *path, const char *name, hid_t type, hsize_t count,
                            const void *values);
status hdf5_write_text(hid_t object, const char *path, const char *name, const char *text);

/* Names the unit of the dataset `place` by the attribute `units`; does nothing for "". */
status hdf5_write_unit(hid_t file, const char *path, const char *place, const char *unit);

/* Makes the group VTKHDF of an ImageData file, VTKHDF 1.0, with its attributes. [out] group: the caller
 * closes it. */
status hdf5_write_image(hid_t file, const char *path, const int extent[6], const double origin[3],
                        const double spacing[3], hid_t *group);

/* Writes a dataset of `rank` axes. */
status hdf5_write_array(hid_t file, const char *path, const char *name, hid_t type, int rank,
                        const hsize_t *n, const void *values);

/* Writes a whole file, completely or not at all; `write` makes its contents. Also STATUS_MEMORY. */
typedef status hdf5_writer(hid_t file, const char *path, const void *user);
status hdf5_write_whole(const char *directory, const char *name, hdf5_writer *write, const void *user);

/* Creates a dataset whose place in the file is allocated but not written. [out] offset: of that place. */
status hdf5_reserve_dataset(hid_t file, const char *path, const char *name, hid_t type, int rank,
                            const hsize_t *n, int64_t *offset);

#endif
