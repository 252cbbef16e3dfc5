#include "snapshots/checkpoint_index.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "snapshots/checkpoint_block.h"
#include "files/rundir.h"
#include "files/series.h"

static const char index_name[] = RUNDIR_INDEX;

/* Reads the file's header; if it is not valid, the entry stays unknown. */
static checkpoint_entry examine(const char *directory, int64_t step) {
  checkpoint_entry entry = {.step = step};
  checkpoint_block block;
  char name[64];
  char path[PATH_MAX];
  int descriptor = -1;
  rundir_state_name(step, name);
  status result = file_path(directory, name, path, sizeof path);
  if (result == STATUS_OK) result = checkpoint_block_open(path, &descriptor);
  if (result == STATUS_OK) {
    result = checkpoint_block_read(descriptor, path, &block);
    (void)close(descriptor);
  }
  if (result == STATUS_OK && block.step == step) {
    entry.time = block.time;
    entry.picture = block.picture;
    entry.known = 1;
  }
  status_clear();
  return entry;
}

/* Inserts an entry in order of steps; it replaces one of the same step. */
static status insert(checkpoint_index *index, checkpoint_entry entry) {
  size_t place = index->count;
  while (place > 0 && index->entries[place - 1].step >= entry.step) place--;
  if (place < index->count && index->entries[place].step == entry.step) {
    index->entries[place] = entry;
    return STATUS_OK;
  }
  if (index->count == index->room) {
    const size_t room = index->room == 0 ? 64 : 2 * index->room;
    checkpoint_entry *entries = realloc(index->entries, room * sizeof *entries);
    if (entries == NULL) return status_fail(STATUS_MEMORY, "no memory for a list of %zu states", room);
    index->entries = entries;
    index->room = room;
  }
  memmove(&index->entries[place + 1], &index->entries[place], (index->count - place) * sizeof entry);
  index->entries[place] = entry;
  index->count++;
  return STATUS_OK;
}

static void take_out(checkpoint_index *index, size_t place) {
  index->count--;
  memmove(&index->entries[place], &index->entries[place + 1],
          (index->count - place) * sizeof *index->entries);
}

status checkpoint_index_open(const char *directory, checkpoint_index *index) {
  *index = (checkpoint_index){.directory = directory};
  DIR *listing = opendir(directory);
  if (listing == NULL && errno == ENOENT) return STATUS_OK;
  if (listing == NULL)
    return status_fail(STATUS_FILE, "%s: cannot be listed: %s", directory, strerror(errno));
  status result = STATUS_OK;
  const char *name = NULL;
  while ((result = file_next_name(listing, directory, &name)) == STATUS_OK && name != NULL) {
    long long step = 0;
    if (rundir_is_state(name, &step)) result = insert(index, examine(directory, step));
    if (result != STATUS_OK) break;
  }
  (void)closedir(listing);
  if (result != STATUS_OK) checkpoint_index_close(index);
  return result;
}

void checkpoint_index_close(checkpoint_index *index) {
  free(index->entries);
  index->entries = NULL;
  index->count = 0;
  index->room = 0;
}

static status write_index(const checkpoint_index *index) {
  series *files = series_create();
  status result = files != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for %s", index_name);
  for (size_t i = 0; i < index->count && result == STATUS_OK; i++) {
    char name[64];
    rundir_state_name(index->entries[i].step, name);
    if (index->entries[i].known) result = series_add(files, name, index->entries[i].time);
  }
  if (result == STATUS_OK) result = series_write(files, index->directory, index_name);
  series_destroy(files);
  return result;
}

/* Takes the checkpoints beyond the newest `keep` out of the list. [out] steps: of these, with room for the
 * whole list. */
static size_t choose_old(checkpoint_index *index, int keep, int64_t *steps) {
  size_t chosen = 0;
  int kept = 0;
  for (size_t i = index->count; i-- > 0;) {
    if (!index->entries[i].known || index->entries[i].picture) continue;
    if (kept++ < keep) continue;
    steps[chosen++] = index->entries[i].step;
    take_out(index, i);
  }
  return chosen;
}

status checkpoint_index_add(checkpoint_index *index, const checkpoint_state *state, int keep) {
  const checkpoint_entry entry = {
      .step = state->step, .time = state->time, .picture = state->picture, .known = 1};
  CHECK(insert(index, entry));
  int64_t *old = malloc(index->count * sizeof *old);
  if (old == NULL) return status_fail(STATUS_MEMORY, "no memory for a list of %zu states", index->count);
  const size_t count = choose_old(index, keep, old);
  const status result = write_index(index);
  for (size_t i = 0; i < count && result == STATUS_OK; i++) {
    char name[64];
    char path[PATH_MAX];
    rundir_state_name(old[i], name);
    status removed = file_path(index->directory, name, path, sizeof path);
    if (removed == STATUS_OK) removed = file_remove(path);
    /* not an error: a state too many only takes room */
    if (removed != STATUS_OK) log_warning("%s", status_message(removed));
    status_clear();
  }
  free(old);
  return result;
}

status checkpoint_index_rewind(checkpoint_index *index, int64_t step, int *moved) {
  char previous[64];
  char path[PATH_MAX];
  size_t kept = index->count;
  *moved = 0;
  /* a run that resumes with kept snapshots in part, and had none before, has no folder for them yet */
  if (index->count == 0 && access(index->directory, F_OK) != 0) return STATUS_OK;
  while (kept > 0 && index->entries[kept - 1].step > step) kept--;
  if (kept == index->count) return write_index(index); /* a run that was killed may have left another one */
  CHECK(rundir_previous(index->directory, previous));
  CHECK(rundir_copy_results(index->directory, previous));
  CHECK(file_path(index->directory, previous, path, sizeof path));
  const checkpoint_index branch = {
      .directory = path, .entries = index->entries + kept, .count = index->count - kept};
  CHECK(write_index(&branch));
  index->count = kept;
  CHECK(write_index(index)); /* before states are removed, so that the index never names one that is gone */
  CHECK(rundir_move(index->directory, previous, step));
  *moved = 1;
  log_info("output     states after step %" PRId64 " moved to %s/%s\n", step, index->directory, previous);
  return STATUS_OK;
}
