#ifndef FDAPP_SNAPSHOTS_CHECKPOINT_H
#define FDAPP_SNAPSHOTS_CHECKPOINT_H

#include <mpi.h>

#include "config/config.h"
#include "domain/state.h"

/* clang-format off */
/* Snapshots: VTKHDF 1.0 ImageData that ParaView opens, and from which a run resumes bit by bit.
 *
 * Layout. A user block of 2048 bytes, then an HDF5 file:
 *   /VTKHDF                 attributes Version, Type, WholeExtent, Origin, Spacing, Direction
 *   /VTKHDF/PointData/NAME  one dataset per field: (nz, ny, nx) in the run's precision, contiguous, unfiltered
 *   /fdapp                  what a restart needs (the members of checkpoint_state; part only if it is 1) and
 *                           provenance (revision, resolved configuration); of several fields the attribute fields, their names in order
 *   /fdapp/plane_checksums  XXH3, 64 bits, seed 0, over each z-plane's packed points in file order: nz values, of
 *                           several fields (fields, nz)
 *
 * The user block is text, one "key value" a line, zero-padded: fdapp_state (version of the format), nx, ny,
 * nz, file_bytes, data_offset (of the first field's values), checksums_offset, step, precision, picture (0 or 1),
 * time, [fields (their number), field NAME OFFSET for each,] metadata_xxh3 (of all bytes that are not values of a
 * field, this value itself taken as zeros). So a damaged file is found out before the HDF5 library parses a byte of
 * it, and the planes are checked in parallel, whatever the number of ranks. Version 1 holds the field phi alone and
 * lacks the lines in brackets; it is written whenever phi is the only field.
 *
 * The answer's hash is XXH3, 64 bits, seed 0, of /fdapp/plane_checksums as it lies in the file (little-endian):
 * every plane in ascending z, first field first. So it depends on the values alone. */
/* clang-format on */

/* What belongs to a snapshot besides its fields. */
typedef struct checkpoint_state {
  int64_t step;
  double time;
  double dt;         /* step size of the run; of the step that led here, where it is adaptive */
  int64_t base_step; /* time of step n = base_time + (n - base_step) dt */
  double base_time;
  int picture;  /* stays on disk; otherwise pruned to the newest `keep` */
  int part;     /* holds the fields in part (checkpoint_create_part): nothing resumes from it */
  int departed; /* the problem was changed on the way, so that phi is no solution of the one in the file */
} checkpoint_state;

typedef struct checkpoint checkpoint; /* opaque */

/* Prepares for the snapshots of a run with `fields` fields of these names (letters, digits, '_'; at most 31;
 * they must outlive the checkpoint). Collective over comm. Allocates what writing and reading need (a piece
 * of a few planes); the directory is neither needed nor touched yet. `config` gives directory, keep,
 * precision and the text stored as provenance. STATUS_MEMORY, STATUS_FILE, STATUS_MPI; the same on every
 * rank, and then *checkpoint is NULL. [out] checkpoint: the caller's, ended by checkpoint_destroy. */
status checkpoint_create(MPI_Comm comm, const grid *grid, const config *config, int fields,
                         const char *const names[], checkpoint **checkpoint);
void checkpoint_destroy(checkpoint *checkpoint);

/* The same for kept snapshots that hold the fields in part (config/kept.h): in the directory RUNDIR_FIELDS
 * below the run's, with an index of their own. checkpoint_hold is due before checkpoint_begin; none is ever
 * read. */
status checkpoint_create_part(MPI_Comm comm, const grid *grid, const config *config, int fields,
                              const char *const names[], checkpoint **checkpoint);

/* Prepares for files that belong to no run: in `directory`, with `text` where a run's configuration would be.
 * Otherwise as checkpoint_create; for checkpoint_write_alone only. */
status checkpoint_create_alone(MPI_Comm comm, const grid *grid, precision precision, const char *directory,
                               const char *text, int fields, const char *const names[],
                               checkpoint **checkpoint);
/* Writes the fields as the file `name`, of step and time 0, as checkpoint_write does: whole or not at all. */
status checkpoint_write_alone(checkpoint *checkpoint, const char *name, const state *state);

/* Lets checkpoint_begin return while planes are written: allocates a copy of the owned planes in host memory.
 * `space`, where the fields are made, must outlive the checkpoint. Collective; [out] held: the same on every
 * rank, 0 where one has no memory: then checkpoint_begin writes at once. STATUS_MPI. */
status checkpoint_hold(checkpoint *checkpoint, const field_space *space, int *held);

/* Writes the owned planes of all fields as state_NNNNNNNN.hdf: begins, and ends it; whatever is begun is
 * ended before another one begins. Collective. To begin: temporary name, room on the disk checked and
 * reserved, structure made by rank 0, planes by all ranks independently, read back from the disk and compared
 * with their checksums, the latter two from a copy while the caller goes on, if there is one
 * (checkpoint_hold); the state may change then. To end: waits for that, checksums, fsync, rename, fsync of
 * the directory, then the index state.hdf.series and pruning. A fault on any rank is the same fault on all
 * and leaves none of the older files touched; before the rename nothing is left under the final name, after
 * it the snapshot is there and whole. No collective call follows a local failure. STATUS_FILE;
 * STATUS_DAMAGED if what was read back is something else; STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. Halos
 * neither needed nor changed. checkpoint_end without a beginning does nothing. */
status checkpoint_write(checkpoint *checkpoint, const checkpoint_state *about, const state *state);
status checkpoint_begin(checkpoint *checkpoint, const checkpoint_state *about, const state *state);
status checkpoint_end(checkpoint *checkpoint);

/* Whether a snapshot was begun and not ended, the same on every rank; and, collective, whether ending it
 * would not wait for planes. STATUS_MPI. */
int checkpoint_pending(const checkpoint *checkpoint);
status checkpoint_written(const checkpoint *checkpoint, int *written);

/* Seconds that the slowest snapshot so far took on this rank, without the time that its end was waited with;
 * 0 before the first is ended. */
double checkpoint_longest(const checkpoint *checkpoint);

/* The hash of the answer that `state` holds at `step` (above). Collective; [out] hash on every rank. Costs
 * one copy of the fields to the host, or nothing where the snapshot of this step was just written or read.
 * Ends a snapshot that was begun.
 * STATUS_DEVICE, STATUS_MPI. */
status checkpoint_hash(checkpoint *checkpoint, int64_t step, const state *state, uint64_t *hash);

/* On rank 0 the hashes of the planes that checkpoint_hash has just combined, fields times nz; NULL elsewhere.
 */
const uint64_t *checkpoint_plane_hashes(const checkpoint *checkpoint, size_t *count);

/* Reads a snapshot into the owned planes of all fields (halos invalid afterwards) and [out] about, after
 * verifying all of it; only verifies if state is NULL. Collective. STATUS_DAMAGED for anything that is not a
 * whole snapshot; STATUS_FOREIGN for one of another grid, domain, precision or of other fields; STATUS_FILE
 * if it cannot be read. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. The message names the file and what is
 * wrong. A snapshot written with another physics, initial or velocity is departed, and a warning names the
 * keys. */
status checkpoint_read(checkpoint *checkpoint, const char *path, checkpoint_state *about, state *state);

/* Like checkpoint_read for the newest whole snapshot of the directory; damaged ones passed over are named in
 * warnings with the reason. [out] path of the snapshot read (CONFIG_PATH_SIZE bytes), "" with STATUS_OK if
 * the directory holds none at all. STATUS_DAMAGED if there are some and none verifies. */
status checkpoint_read_latest(checkpoint *checkpoint, checkpoint_state *about, state *state, char *path);

/* After a restart from `step`: states of later steps belong to a future that is being computed again; they
 * move into the first free previous_N below the directory, and out of the index; an index of them and copies
 * of the run's other files go with them. Rank 0 says so; [out] moved: there, whether there were any.
 * Collective. STATUS_FILE, STATUS_MEMORY, STATUS_MPI. */
status checkpoint_rewind(checkpoint *checkpoint, int64_t step, int *moved);

/* Bytes of one snapshot, for the plan; to within the few KiB of provenance. */
int64_t checkpoint_file_bytes(const grid *grid, precision precision, int fields);

/* Verifies one file on its own, without MPI and without a configuration. [out] line: for people; hash: of the
 * answer it holds. STATUS_DAMAGED, STATUS_FILE, STATUS_MEMORY. */
status checkpoint_verify(const char *path, char *line, size_t size, uint64_t *hash);

#endif
