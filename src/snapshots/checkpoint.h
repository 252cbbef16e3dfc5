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
 *   /fdapp                  what a restart needs (the members of checkpoint_state; part and samples unless 0) and
 *                           provenance (revision, resolved configuration); of several fields the attribute fields, their names in order
 *   /fdapp/memory           what the equation remembers beside the fields (checkpoint_memory), in the run's precision,
 *                           if there is such; its attribute xxh3 is XXH3, 64 bits, seed 0, of its bytes
 *   /fdapp/plane_checksums  XXH3, 64 bits, seed 0, over each z-plane's packed points in file order: nz values, of
 *                           several fields (fields, nz)
 *
 * The user block is text, one "key value" a line, zero-padded: fdapp_state (version of the format), nx, ny,
 * nz, file_bytes, data_offset (of the first field's values), checksums_offset, step, precision, picture (0 or 1),
 * time, [fields (their number), field NAME OFFSET for each,] metadata_xxh3 (of all bytes that are not values of a
 * field, this value itself taken as zeros). So a damaged file is found out before the HDF5 library parses a byte of
 * it, and the planes are checked in parallel, whatever the number of ranks. Version 1 holds the field phi alone and
 * lacks the lines in brackets; it is written whenever phi is the only field. Version 3 has compressed fields: chunked,
 * a plane per chunk, shuffled and deflated; then metadata_xxh3 is of all bytes, and an offset is the first chunk's.
 *
 * The answer's hash is XXH3, 64 bits, seed 0, of /fdapp/plane_checksums as it lies in the file (little-endian):
 * every plane in ascending z, first field first. So it depends on the values alone. */
/* clang-format on */

/* The state from which a run's growth is counted, so that a resumed run judges a blow-up as if it had never
 * stopped. */
typedef struct checkpoint_growth {
  int known;         /* 0: a snapshot of version 0.1.0 has none */
  double time;       /* of that state */
  double background; /* the deviation from which is measured */
  double norm;       /* root mean square of that deviation */
  double entered[2]; /* minimum and maximum of what entered through ends since; empty: INFINITY, -INFINITY */
  double began[2];   /* minimum and maximum of its first field; not known: INFINITY, -INFINITY */
  double jump; /* the highest jump of that field, or of what entered since, as far as diffusion has left it;
                * not known: INFINITY */
} checkpoint_growth;

/* What a file of statistics says of their samples. */
typedef struct checkpoint_samples {
  int64_t count; /* 0: not of statistics */
  double weight; /* sum of their weights; 0 of the first alone */
  double time;   /* of the newest */
} checkpoint_samples;

/* The data of a snapshot besides its fields. */
typedef struct checkpoint_state {
  int64_t step;
  double time;
  double dt;         /* step size of the run; of the latest step, if adaptive */
  int64_t base_step; /* time of step n = base_time + (n - base_step) dt */
  double base_time;
  double rate, other_rate; /* of the state at t = 0, if a step follows from it (schedule_rates.initial); 0:
                              not known */
  int picture;             /* 1: stays on disk; 0: pruned to the newest `keep` */
  int part;      /* 1: holds the fields in part (checkpoint_create_part), so nothing resumes from it */
  int departed;  /* 1: the problem was changed on the way, so phi is not the solution of the configured
                  * problem */
  int64_t files; /* stands for the values of the files of the velocity; 0: there are none, or not known */
  checkpoint_samples samples;
  checkpoint_growth growth;
} checkpoint_state;

typedef struct checkpoint checkpoint; /* opaque */

/* Prepares for the snapshots of a run with `fields` fields of these names (letters, digits, '_'; at most 31
 * bytes), which must outlive the checkpoint. `config` gives directory, keep, precision and the text stored as
 * provenance. Allocates buffers for writing and reading (a few planes); the directory is not used yet.
 * Collective over comm. STATUS_MEMORY, STATUS_FILE, STATUS_MPI, the same on every rank; then *checkpoint is
 * NULL. [out] checkpoint: to be freed by checkpoint_destroy. */
status checkpoint_create(MPI_Comm comm, const grid *grid, const config *config, int fields,
                         const char *const names[], checkpoint **checkpoint);
void checkpoint_destroy(checkpoint *checkpoint);

/* The same for kept snapshots that hold the fields in part (config/kept.h), in the directory RUNDIR_FIELDS
 * below the run's, with their own index. Call checkpoint_hold before checkpoint_begin. These files are never
 * read. */
status checkpoint_create_part(MPI_Comm comm, const grid *grid, const config *config, int fields,
                              const char *const names[], checkpoint **checkpoint);

/* The same for files that belong to no run: in `directory`, with `text` in place of a run's configuration.
 * origin: place of the first point. For checkpoint_write_alone only. */
status checkpoint_create_alone(MPI_Comm comm, const grid *grid, const double origin[3], precision precision,
                               const char *directory, const char *text, int fields, const char *const names[],
                               checkpoint **checkpoint);
/* The same for files beside the snapshots of a run: of other fields, read and written by their names, which
 * no index lists. Reading them compares nothing of the configurations but the window of [statistics], as the
 * snapshot's reading did the rest: STATUS_FOREIGN for samples that are not this run's. */
status checkpoint_create_beside(MPI_Comm comm, const grid *grid, const config *config, int fields,
                                const char *const names[], checkpoint **checkpoint);
/* Writes the fields as the file `name`, completely or not at all, as checkpoint_write does. */
status checkpoint_write_alone(checkpoint *checkpoint, const char *name, const checkpoint_state *about,
                              const state *state);

/* Numbers that the equation remembers from step to step beside the fields. They are a part of snapshots, but
 * not of the answer's hash. gather fills `values` on rank 0, scatter takes them from there; NULL on other
 * ranks. Both collective. */
typedef struct checkpoint_memory {
  void *self;
  int64_t count; /* of all ranks; 0: nothing */
  status (*gather)(void *self, void *values);
  status (*scatter)(void *self, const void *values);
} checkpoint_memory;
/* Lets snapshots hold them, from then on. checkpoint_read sets them to zero if a file holds none, or another
 * number of them. */
void checkpoint_remember(checkpoint *checkpoint, const checkpoint_memory *memory);

/* Allocates a copy of the owned planes in host memory, so that checkpoint_begin returns while planes are
 * written. `space` is that of the fields and must outlive the checkpoint. Collective. [out] held: the same on
 * every rank; 0 if a rank lacks memory, and then checkpoint_begin writes before it returns. STATUS_MPI. */
status checkpoint_hold(checkpoint *checkpoint, const field_space *space, int *held);

/* Write the owned planes of all fields as state_NNNNNNNN.hdf. checkpoint_write begins and ends a snapshot; a
 * snapshot must be ended before the next begins. Collective.
 *
 * checkpoint_begin checks and reserves room on the disk and creates the file under a temporary name; rank 0
 * makes the structure, all ranks write their planes independently, read them back from the disk and compare
 * them with their checksums. If there is a copy (checkpoint_hold), writing and comparing continue after the
 * return, and the state may change. checkpoint_end waits for that, then writes the checksums, fsync, rename,
 * fsync of the directory, the index state.hdf.series, and pruning; without a begun snapshot it does nothing.
 *
 * An error on any rank is the same error on all and leaves the older files as they are. Before the rename
 * nothing has the final name, after it the snapshot is complete. No collective call follows a local failure.
 * STATUS_FILE; STATUS_DAMAGED if the planes read back differ; STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. Halos
 * are neither used nor changed. */
status checkpoint_write(checkpoint *checkpoint, const checkpoint_state *about, const state *state);
status checkpoint_begin(checkpoint *checkpoint, const checkpoint_state *about, const state *state);
status checkpoint_end(checkpoint *checkpoint);

/* checkpoint_pending returns 1 on every rank if a snapshot was begun and not ended. checkpoint_written is
 * collective; [out] written: 1 if checkpoint_end would not wait for planes. STATUS_MPI. */
int checkpoint_pending(const checkpoint *checkpoint);
status checkpoint_written(const checkpoint *checkpoint, int *written);

/* Seconds that the slowest snapshot so far took on this rank, without the time during which its end waited; 0
 * before the first has ended. */
double checkpoint_longest(const checkpoint *checkpoint);

/* The hash (above) of the answer that `state` holds at `step`. Collective; [out] hash on every rank. Costs
 * one copy of the fields to the host, or nothing if the snapshot of this step was just written or read. Ends
 * a snapshot that was begun. STATUS_DEVICE, STATUS_MPI. */
status checkpoint_hash(checkpoint *checkpoint, int64_t step, const state *state, uint64_t *hash);

/* On rank 0 the plane hashes (fields times nz) that checkpoint_hash combined last; NULL on other ranks. */
const uint64_t *checkpoint_plane_hashes(const checkpoint *checkpoint, size_t *count);

/* Reads a snapshot into the owned planes of all fields (halos invalid afterwards) and [out] about, after
 * verifying all of it. If state is NULL it only verifies. Collective. STATUS_DAMAGED for anything but a
 * complete snapshot; STATUS_FOREIGN for another grid, domain, precision or other fields; STATUS_FILE if it
 * cannot be read. STATUS_MEMORY, STATUS_DEVICE, STATUS_MPI. The message names the file and the fault. A
 * snapshot written with other keys of physics, initial or velocity is `departed`, and a warning names these
 * keys. */
status checkpoint_read(checkpoint *checkpoint, const char *path, checkpoint_state *about, state *state);

/* Like checkpoint_read, for the newest snapshot of the directory that verifies; warnings name the damaged
 * ones that are skipped. [out] path of the snapshot read (CONFIG_PATH_SIZE bytes), "" with STATUS_OK if the
 * directory holds none at all. STATUS_DAMAGED if there are some and none verifies. */
status checkpoint_read_latest(checkpoint *checkpoint, checkpoint_state *about, state *state, char *path);

/* Call it after resuming from `step`. States of later steps will be computed again: they move, with an index
 * of them and copies of the run's other files, into the first free previous_N below the directory, and out of
 * the index. Rank 0 logs that. [out] moved: 1 on rank 0 if there were any. Collective. STATUS_FILE,
 * STATUS_MEMORY, STATUS_MPI. */
status checkpoint_rewind(checkpoint *checkpoint, int64_t step, int *moved);

/* Bytes of one snapshot, to within a few KiB of provenance, for the plan. */
int64_t checkpoint_file_bytes(const grid *grid, precision precision, int fields);

/* Verifies one file without MPI and without a configuration. [out] line: a description; hash: of its answer.
 * STATUS_DAMAGED, STATUS_FILE, STATUS_MEMORY. */
status checkpoint_verify(const char *path, char *line, size_t size, uint64_t *hash);
/* The same for a file that may be any: STATUS_OK if it is no snapshot. */
status checkpoint_verify_source(const char *path);

#endif
