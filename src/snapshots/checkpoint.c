#include "snapshots/checkpoint.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"
#include "base/log.h"
#include "snapshots/checkpoint_about.h"
#include "snapshots/checkpoint_config.h"
#include "snapshots/checkpoint_job.h"
#include "snapshots/checkpoint_verify.h"
#include "files/hdf5_library.h"
#include "files/rundir.h"

/* The part of creation without communication. config: NULL for a file outside of a run, which stores
 * `text`. */
static status create_local(checkpoint *checkpoint, const config_kept *kept, const config *config,
                           const char *text) {
  const grid whole = checkpoint->grid;
  CHECK(hdf5_library_start());
  CHECK(checkpoint_planes_create(checkpoint->comm, &whole, kept, checkpoint->precision, checkpoint->fields,
                                 &checkpoint->planes));
  checkpoint->grid = checkpoint->planes.grid;
  if (checkpoint->compress) CHECK(checkpoint_chunks_create(&checkpoint->planes, &checkpoint->chunks));
  if (checkpoint->grid.rank != 0) return STATUS_OK;
  if (config != NULL) return config_text(config, &checkpoint->configuration);
  checkpoint->configuration = strdup(text);
  return checkpoint->configuration != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for a text");
}

/* Makes a checkpoint on the heap from the members of `like`. Collective. */
static status create(const checkpoint *like, const config_kept *kept, const config *config, const char *text,
                     checkpoint **checkpoint) {
  struct checkpoint *made = malloc(sizeof *made);
  status result = STATUS_OK;
  if (made != NULL) {
    *made = *like;
    made->summed_step = -1;
    made->config = config;
    result = create_local(made, kept, config, text);
  } else {
    result = status_fail(STATUS_MEMORY, "no memory for %zu bytes", sizeof *made);
  }
  result = agree(like->comm, result);
  if (result != STATUS_OK) {
    checkpoint_destroy(made);
    made = NULL;
  }
  *checkpoint = made;
  return result;
}

status checkpoint_create(MPI_Comm comm, const grid *grid, const config *config, int fields,
                         const char *const names[], checkpoint **checkpoint) {
  struct checkpoint like = {.comm = comm,
                            .grid = *grid,
                            .precision = config->precision,
                            .keep = config->checkpoint_keep,
                            .fields = fields,
                            .names = names};
  (void)snprintf(like.directory, sizeof like.directory, "%s", config->directory);
  return create(&like, NULL, config, NULL, checkpoint);
}

status checkpoint_create_part(MPI_Comm comm, const grid *grid, const config *config, int fields,
                              const char *const names[], checkpoint **checkpoint) {
  const config_kept kept = config_kept_points(config);
  struct checkpoint like = {.comm = comm,
                            .grid = *grid,
                            .precision = config->fields_single ? PRECISION_SINGLE : config->precision,
                            .compress = config->compress,
                            .keep = config->checkpoint_keep,
                            .fields = fields,
                            .names = names};
  (void)snprintf(like.directory, sizeof like.directory, "%.*s/" RUNDIR_FIELDS, CONFIG_PATH_LIMIT,
                 config->directory);
  return create(&like, &kept, config, NULL, checkpoint);
}

status checkpoint_create_alone(MPI_Comm comm, const grid *grid, const double origin[3], precision precision,
                               const char *directory, const char *text, int fields, const char *const names[],
                               checkpoint **checkpoint) {
  struct checkpoint like = {
      .comm = comm, .grid = *grid, .precision = precision, .fields = fields, .names = names};
  (void)snprintf(like.directory, sizeof like.directory, "%s", directory);
  CHECK(create(&like, NULL, NULL, text, checkpoint));
  memcpy((*checkpoint)->planes.origin, origin, sizeof like.planes.origin);
  return STATUS_OK;
}

status checkpoint_create_beside(MPI_Comm comm, const grid *grid, const config *config, int fields,
                                const char *const names[], checkpoint **checkpoint) {
  CHECK(checkpoint_create(comm, grid, config, fields, names, checkpoint));
  (*checkpoint)->beside = 1;
  return STATUS_OK;
}

void checkpoint_destroy(checkpoint *checkpoint) {
  if (checkpoint == NULL) return;
  checkpoint_job_abandon(checkpoint);
  checkpoint_index_close(&checkpoint->index);
  free(checkpoint->configuration);
  checkpoint_chunks_destroy(&checkpoint->chunks);
  checkpoint_planes_destroy(&checkpoint->planes);
  free(checkpoint);
}

status checkpoint_list(checkpoint *checkpoint) {
  if (checkpoint->listed) return STATUS_OK;
  CHECK(checkpoint_index_open(checkpoint->directory, &checkpoint->index));
  checkpoint->listed = 1;
  return STATUS_OK;
}

status checkpoint_write_alone(checkpoint *checkpoint, const char *name, const checkpoint_state *about,
                              const state *state) {
  CHECK(checkpoint_begin_named(checkpoint, name, 0, about, state));
  return checkpoint_end(checkpoint);
}

const uint64_t *checkpoint_plane_hashes(const checkpoint *checkpoint, size_t *count) {
  *count = (size_t)checkpoint->fields * (size_t)checkpoint->grid.n[2];
  return checkpoint->planes.all;
}

status checkpoint_hash(checkpoint *checkpoint, int64_t step, const state *state, uint64_t *hash) {
  checkpoint_planes *planes = &checkpoint->planes;
  *hash = 0;
  CHECK(checkpoint_end(checkpoint));
  if (checkpoint->summed_step != step) {
    CHECK(agree(checkpoint->comm, checkpoint_planes_sum(planes, state)));
    CHECK(checkpoint_planes_gather(planes));
    checkpoint->summed_step = step;
  }
  if (planes->all != NULL) {
    size_t count = 0;
    const uint64_t *hashes = checkpoint_plane_hashes(checkpoint, &count);
    *hash = checkpoint_block_answer(hashes, count);
  }
  CHECK_MPI(MPI_Bcast(hash, 1, MPI_UINT64_T, 0, checkpoint->comm));
  return STATUS_OK;
}

/* Refuses a file whose fields are not this run's, in their order. */
static status check_fields(const checkpoint *checkpoint, const char *path, const checkpoint_block *block) {
  checkpoint_block ours = {.fields = checkpoint->fields};
  char wanted[STATE_FIELDS * CHECKPOINT_NAME];
  char found[STATE_FIELDS * CHECKPOINT_NAME];
  for (int f = 0; f < ours.fields; f++) {
    (void)snprintf(ours.names[f], CHECKPOINT_NAME, "%s", checkpoint->names[f]);
  }
  checkpoint_block_names(&ours, wanted, sizeof wanted);
  checkpoint_block_names(block, found, sizeof found);
  if (strcmp(wanted, found) == 0) return STATUS_OK;
  return status_fail(STATUS_FOREIGN, "%s: holds the fields %s; this run's are %s", path, found, wanted);
}

/* Refuses a file of another run's grid, precision or fields. */
static status check_match(const checkpoint *checkpoint, const char *path, const checkpoint_block *block) {
  const int64_t *n = checkpoint->grid.n;
  if (memcmp(block->n, n, sizeof block->n) != 0) {
    return status_fail(STATUS_FOREIGN,
                       "%s: holds %" PRId64 " x %" PRId64 " x %" PRId64 " points; this run has %" PRId64
                       " x %" PRId64 " x %" PRId64,
                       path, block->n[0], block->n[1], block->n[2], n[0], n[1], n[2]);
  }
  if (block->precision != checkpoint->precision) {
    return status_fail(STATUS_FOREIGN, "%s: holds %s precision; this run has %s", path,
                       config_precision_name(block->precision), config_precision_name(checkpoint->precision));
  }
  return check_fields(checkpoint, path, block);
}

/* Refuses a file with another domain: the same points on other lengths are another problem. */
static status check_spacing(const checkpoint *checkpoint, hid_t file, const char *path) {
  const double *h = checkpoint->grid.h;
  double spacing[3];
  CHECK(checkpoint_about_spacing(file, path, spacing));
  if (spacing[0] == h[0] && spacing[1] == h[1] && spacing[2] == h[2]) return STATUS_OK;
  return status_fail(STATUS_FOREIGN, "%s: holds points %g, %g, %g apart; this run's are %g, %g, %g apart",
                     path, spacing[0], spacing[1], spacing[2], h[0], h[1], h[2]);
}

/* Refuses a file in part, which lacks points or digits. */
static status check_whole(const char *path, const checkpoint_state *state) {
  if (!state->part) return STATUS_OK;
  return status_fail(
      STATUS_FOREIGN,
      "%s: holds the fields in part or derived data (output.fields_precision, fields_stride, fields_box, "
      "compress, derived), so that no run can resume from it; resume from a checkpoint "
      "(output.checkpoint_every), or "
      "start afresh from it with initial.case = file",
      path);
}

/* Refuses a file whose name gives another step than its contents. */
static status check_step(const char *path, const checkpoint_block *block, int64_t named) {
  if (named < 0 || block->step == named) return STATUS_OK;
  return status_fail(STATUS_DAMAGED, "%s: holds the state of step %" PRId64 ", not of that in its name", path,
                     block->step);
}

/* Compares the configuration in a file with this run's. [out] differences. */
static status check_configuration(const checkpoint *checkpoint, hid_t file, const char *path,
                                  checkpoint_state *state, checkpoint_differences *differences) {
  char *theirs = NULL;
  status result = checkpoint_about_configuration(file, path, &theirs);
  if (result == STATUS_OK)
    checkpoint_config_compare(checkpoint->config, theirs, checkpoint->configuration, differences);
  if (result == STATUS_OK && checkpoint->beside)
    result = checkpoint_config_window(path, theirs, checkpoint->configuration, state);
  if (differences->problem[0] != '\0') state->departed = 1;
  free(theirs);
  return result;
}

static status read_about(const checkpoint *checkpoint, hid_t file, const char *path,
                         const checkpoint_block *block, checkpoint_state *state,
                         checkpoint_differences *differences) {
  CHECK(checkpoint_about_state(file, path, block, state));
  CHECK(check_whole(path, state));
  CHECK(check_match(checkpoint, path, block));
  CHECK(check_spacing(checkpoint, file, path));
  return check_configuration(checkpoint, file, path, state, differences);
}

/* Rank 0: reads and checks all of a file but the planes. named: the step in its name, -1 to accept any. [out]
 * differences: from this run's configuration; changed: as above. */
static status read_header(checkpoint *checkpoint, const char *path, int64_t named, checkpoint_block *block,
                          checkpoint_state *state, checkpoint_differences *differences, int *changed) {
  int descriptor = -1;
  hid_t file = -1;
  CHECK(checkpoint_block_open(path, &descriptor));
  status result = checkpoint_block_read(descriptor, path, block);
  if (result == STATUS_OK) result = check_step(path, block, named);
  if (result == STATUS_OK) result = checkpoint_verify_surroundings(descriptor, path, block, changed);
  if (result == STATUS_OK) result = checkpoint_file_open(path, &file);
  if (result == STATUS_OK)
    result = checkpoint_file_close(file, path, read_about(checkpoint, file, path, block, state, differences));
  if (result == STATUS_OK)
    result = file_read_at(descriptor, path, checkpoint->planes.all, (size_t)checkpoint_checksums_bytes(block),
                          block->checksums_offset);
  (void)close(descriptor);
  return result;
}

void checkpoint_remember(checkpoint *checkpoint, const checkpoint_memory *memory) {
  checkpoint->memory = *memory;
}

/* Rank 0: reads what the equation remembers. [out] values: the caller frees them, whatever the status. */
static status read_memory(const checkpoint *checkpoint, const char *path, const checkpoint_block *block,
                          void **values) {
  const int64_t count = checkpoint->memory.count;
  const size_t bytes = (size_t)count * kernels_element_size(checkpoint->precision);
  hid_t file = -1;
  *values = malloc(bytes);
  if (*values == NULL) return status_fail(STATUS_MEMORY, "no memory for %zu bytes of a snapshot", bytes);
  CHECK(checkpoint_file_open(path, &file));
  return checkpoint_file_close(file, path, checkpoint_about_memory(file, path, block, count, *values));
}

static status recall(checkpoint *checkpoint, const char *path, const checkpoint_block *block) {
  const checkpoint_memory *memory = &checkpoint->memory;
  void *values = NULL;
  status result = STATUS_OK;
  if (memory->count == 0) return STATUS_OK;
  if (checkpoint->grid.rank == 0) result = read_memory(checkpoint, path, block, &values);
  result = agree(checkpoint->comm, result);
  if (result == STATUS_OK) result = memory->scatter(memory->self, values);
  free(values);
  return result;
}

static status read_state(checkpoint *checkpoint, const char *path, int64_t named, checkpoint_state *about,
                         state *state) {
  struct {
    checkpoint_block block;
    checkpoint_state state;
  } header;
  status result = STATUS_OK;
  checkpoint->summed_step = -1;
  checkpoint_differences differences = {0};
  int changed = 0; /* on rank 0, which prints */
  memset(&header, 0, sizeof header);
  if (checkpoint->grid.rank == 0)
    result = read_header(checkpoint, path, named, &header.block, &header.state, &differences, &changed);
  CHECK(agree(checkpoint->comm, result));
  CHECK_MPI(MPI_Bcast(&header, (int)sizeof header, MPI_BYTE, 0, checkpoint->comm));
  CHECK(checkpoint_planes_scatter(&checkpoint->planes));
  CHECK(agree(checkpoint->comm, checkpoint_planes_check(&checkpoint->planes, path, &header.block, state)));
  if (state != NULL) CHECK(recall(checkpoint, path, &header.block));
  *about = header.state;
  checkpoint->summed_step = about->step;
  if (checkpoint->beside) return STATUS_OK;
  if (changed) log_warning("%s: " CHECKPOINT_CHANGED, path);
  if (differences.problem[0] != '\0') {
    log_warning(
        "%s was written with another problem: %s differ; the errors against the exact solution are left "
        "out from here on",
        path, differences.problem);
  }
  if (differences.method[0] != '\0')
    log_warning("%s was computed by another method: %s; from here on it is this run's", path,
                differences.method);
  return STATUS_OK;
}

status checkpoint_read(checkpoint *checkpoint, const char *path, checkpoint_state *about, state *state) {
  return read_state(checkpoint, path, -1, about, state);
}

/* Path of the newest state before `step`, "" if there is none; rank 0 broadcasts it. [out] step: of that
 * state. */
static status next_older(checkpoint *checkpoint, int64_t *step, char path[CONFIG_PATH_SIZE]) {
  int64_t found = -1;
  status result = checkpoint->grid.rank == 0 ? checkpoint_list(checkpoint) : STATUS_OK;
  for (size_t i = 0; i < checkpoint->index.count && checkpoint->index.entries[i].step < *step; i++) {
    found = checkpoint->index.entries[i].step;
  }
  path[0] = '\0';
  if (found >= 0) {
    char name[64];
    rundir_state_name(found, name);
    result = file_path(checkpoint->directory, name, path, CONFIG_PATH_SIZE);
  }
  CHECK(agree(checkpoint->comm, result));
  CHECK_MPI(MPI_Bcast(path, CONFIG_PATH_SIZE, MPI_CHAR, 0, checkpoint->comm));
  *step = found;
  return STATUS_OK;
}

status checkpoint_read_latest(checkpoint *checkpoint, checkpoint_state *about, state *state, char *path) {
  int64_t step = INT64_MAX;
  int passed_over = 0;
  for (;;) {
    CHECK(next_older(checkpoint, &step, path));
    if (path[0] == '\0') break;
    const status result = read_state(checkpoint, path, step, about, state);
    /* An older snapshot is tried only if this file is damaged or unreadable. If it is of another problem, so
     * are the older ones. */
    if (result != STATUS_DAMAGED && result != STATUS_FILE) return result;
    if (checkpoint->grid.rank == 0) log_warning("passed over: %s", status_message(result));
    status_clear();
    passed_over++;
  }
  if (passed_over == 0) return STATUS_OK;
  return agree(checkpoint->comm,
               status_fail(STATUS_DAMAGED, "%s: none of its %d states can be used; the warnings say why",
                           checkpoint->directory, passed_over));
}

status checkpoint_rewind(checkpoint *checkpoint, int64_t step, int *moved) {
  *moved = 0;
  status result = STATUS_OK;
  if (checkpoint->grid.rank == 0) {
    result = checkpoint_list(checkpoint);
    if (result == STATUS_OK) result = checkpoint_index_rewind(&checkpoint->index, step, moved);
  }
  return agree(checkpoint->comm, result);
}

int64_t checkpoint_file_bytes(const grid *grid, precision precision, int fields) {
  const int64_t provenance = 8192; /* attributes and the configuration's text */
  const int64_t points = grid->n[0] * grid->n[1] * grid->n[2];
  return CHECKPOINT_BLOCK_BYTES + provenance +
         fields *
             (grid->n[2] * (int64_t)sizeof(uint64_t) + points * (int64_t)kernels_element_size(precision));
}
