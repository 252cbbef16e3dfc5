#include "snapshots/checkpoint_job.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/thread.h"
#include "files/rundir.h"
#include "snapshots/checkpoint_about.h"
#include "snapshots/checkpoint_file.h"

/* Rank 0: writes the checksums of all planes, and the header, which makes the file valid, then renames it. */
static status finish(const checkpoint *checkpoint) {
  const checkpoint_job *job = &checkpoint->job;
  const checkpoint_state *state = &job->about;
  const char *path = job->path;
  checkpoint_block again;
  checkpoint_state found;
  hid_t file = -1;
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return status_fail(STATUS_FILE, "%s: cannot open: %s", path, strerror(errno));
  status result = file_write_at(descriptor, path, checkpoint->planes.all,
                                (size_t)checkpoint_checksums_bytes(&job->block), job->block.checksums_offset);
  if (result == STATUS_OK) result = checkpoint_block_write(descriptor, path, &job->block);
  if (result == STATUS_OK) result = file_sync(descriptor, path);
  if (result == STATUS_OK) result = checkpoint_block_read(descriptor, path, &again);
  if (close(descriptor) != 0 && result == STATUS_OK) {
    result = status_fail(STATUS_FILE, "%s: cannot close: %s", path, strerror(errno));
  }
  if (result == STATUS_OK) result = checkpoint_file_open(path, &file);
  if (result == STATUS_OK)
    result = checkpoint_file_close(file, path, checkpoint_about_state(file, path, &job->block, &found));
  if (result == STATUS_OK && (found.dt != state->dt || found.base_step != state->base_step ||
                              found.base_time != state->base_time || found.picture != state->picture)) {
    result = status_fail(STATUS_FILE, "%s: does not read back as it was written", path);
  }
  return result == STATUS_OK ? file_rename(checkpoint->directory, job->partial, job->name) : result;
}

/* The job: writes and checks this rank's planes. Messages are recorded per thread, so a failure copies its
 * message to the job. */
static void work(checkpoint *checkpoint) {
  checkpoint_job *job = &checkpoint->job;
  const double start = MPI_Wtime();
  job->result = checkpoint->compress
                    ? checkpoint_chunks_make(&checkpoint->planes, &checkpoint->chunks)
                    : checkpoint_planes_write(&checkpoint->planes, job->path, &job->block, job->state);
  if (job->result == STATUS_OK && !checkpoint->compress)
    job->result = checkpoint_planes_check(&checkpoint->planes, job->path, &job->block, NULL);
  if (job->result != STATUS_OK)
    (void)snprintf(job->message, sizeof job->message, "%s", status_message(job->result));
  job->seconds += MPI_Wtime() - start;
  atomic_store(&job->done, 1);
}

static void *work_alone(void *user) {
  omp_set_num_threads(1); /* the time steps use the other threads */
  work(user);
  return NULL;
}

/* Starts the job in a thread. If no thread can be created, the job runs at once. */
static void start(checkpoint *checkpoint) {
  checkpoint_job *job = &checkpoint->job;
  atomic_store(&job->done, 0);
  job->threaded = job->state == NULL && thread_start(&job->thread, work_alone, checkpoint);
  if (!job->threaded) work(checkpoint);
}

static void join(checkpoint_job *job) {
  if (job->threaded) (void)pthread_join(job->thread, NULL);
  job->threaded = 0;
}

/* Gathers what the equation remembers, on rank 0. */
static status remember(checkpoint *checkpoint) {
  const checkpoint_memory *memory = &checkpoint->memory;
  void **values = &checkpoint->job.remembered;
  if (memory->count == 0) return STATUS_OK;
  const size_t bytes = (size_t)memory->count * kernels_element_size(checkpoint->precision);
  if (checkpoint->grid.rank == 0) *values = malloc(bytes);
  const int held = checkpoint->grid.rank != 0 || *values != NULL;
  CHECK(agree(checkpoint->comm,
              held ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for %zu bytes of a snapshot", bytes)));
  return memory->gather(memory->self, *values);
}

/* Creates the file's structure, on rank 0, and tells the ranks. Collective. */
static status create_file(checkpoint *checkpoint) {
  checkpoint_job *job = &checkpoint->job;
  status result = remember(checkpoint);
  if (result == STATUS_OK && checkpoint->grid.rank == 0)
    result = checkpoint_file_create(checkpoint, &job->block);
  free(job->remembered);
  job->remembered = NULL;
  CHECK(agree(checkpoint->comm, result));
  CHECK_MPI(MPI_Bcast(&job->block, (int)sizeof job->block, MPI_BYTE, 0, checkpoint->comm));
  return STATUS_OK;
}

/* Creates the file, unless its size is known only later, and copies the fields for the job; the ranks agree
 * on the status. */
static status prepare(checkpoint *checkpoint, const state *state) {
  checkpoint_job *job = &checkpoint->job;
  if (!checkpoint->compress) CHECK(create_file(checkpoint));
  job->state = checkpoint->planes.copy == NULL ? state : NULL;
  if (job->state != NULL) return STATUS_OK;
  return agree(checkpoint->comm, checkpoint_planes_copy(&checkpoint->planes, state));
}

status checkpoint_begin_named(checkpoint *checkpoint, const char *name, int listed,
                              const checkpoint_state *about, const state *state) {
  checkpoint_job *job = &checkpoint->job;
  CHECK(checkpoint_end(checkpoint));
  const double started = MPI_Wtime();
  checkpoint->summed_step = -1;
  job->about = *about;
  job->about.part = checkpoint->planes.part;
  job->message[0] = '\0';
  job->listed = listed;
  (void)snprintf(job->name, sizeof job->name, "%s", name);
  (void)snprintf(job->partial, sizeof job->partial, "%s" FILE_PARTIAL, job->name);
  CHECK(agree(checkpoint->comm, file_path(checkpoint->directory, job->partial, job->path, sizeof job->path)));
  const status result = prepare(checkpoint, state);
  if (result != STATUS_OK) {
    /* the failure is agreed on, or main ends the other ranks: no further agreement */
    if (checkpoint->grid.rank == 0) (void)unlink(job->path);
    return result;
  }
  job->pending = 1;
  job->seconds = MPI_Wtime() - started;
  start(checkpoint);
  return STATUS_OK;
}

status checkpoint_written(const checkpoint *checkpoint, int *written) {
  const checkpoint_job *job = &checkpoint->job;
  *written = 0;
  if (!job->pending) return STATUS_OK;
  const int mine = atomic_load(&job->done);
  CHECK_MPI(MPI_Allreduce(&mine, written, 1, MPI_INT, MPI_MIN, checkpoint->comm));
  return STATUS_OK;
}

int checkpoint_pending(const checkpoint *checkpoint) {
  return checkpoint->job.pending;
}

double checkpoint_longest(const checkpoint *checkpoint) {
  return checkpoint->job.longest;
}

/* Rank 0: everything that remains once the planes of all ranks are in the file. */
static status complete(checkpoint *checkpoint) {
  const checkpoint_job *job = &checkpoint->job;
  CHECK(finish(checkpoint));
  if (!job->listed) return STATUS_OK;
  CHECK(checkpoint_list(checkpoint));
  return checkpoint_index_add(&checkpoint->index, &job->about, checkpoint->keep);
}

/* Writes the compressed planes of all ranks, now that their sizes are known. Collective. */
static status write_chunks(checkpoint *checkpoint) {
  checkpoint_chunks *chunks = &checkpoint->chunks;
  if (!checkpoint->compress) return STATUS_OK;
  CHECK(checkpoint_chunks_gather(&checkpoint->planes, chunks));
  CHECK(create_file(checkpoint));
  CHECK(checkpoint_chunks_scatter(&checkpoint->planes, chunks));
  return agree(checkpoint->comm, checkpoint_chunks_write(&checkpoint->planes, chunks, checkpoint->job.path));
}

status checkpoint_end(checkpoint *checkpoint) {
  checkpoint_job *job = &checkpoint->job;
  if (!job->pending) return STATUS_OK;
  join(job);
  const double started = MPI_Wtime();
  job->pending = 0;
  if (job->result != STATUS_OK) status_set_message(job->message);
  status result = agree(checkpoint->comm, job->result);
  if (result == STATUS_OK) result = checkpoint_planes_gather(&checkpoint->planes);
  if (result == STATUS_OK) result = write_chunks(checkpoint);
  if (result != STATUS_OK) {
    if (checkpoint->grid.rank == 0) (void)unlink(job->path);
    return result;
  }
  if (checkpoint->grid.rank == 0) result = complete(checkpoint);
  if (result != STATUS_OK) (void)unlink(job->path);
  CHECK(agree(checkpoint->comm, result));
  job->seconds += MPI_Wtime() - started;
  if (job->seconds > job->longest) job->longest = job->seconds;
  checkpoint->summed_step = job->about.step;
  return STATUS_OK;
}

status checkpoint_begin(checkpoint *checkpoint, const checkpoint_state *about, const state *state) {
  char name[64];
  rundir_state_name(about->step, name);
  return checkpoint_begin_named(checkpoint, name, 1, about, state);
}

status checkpoint_write(checkpoint *checkpoint, const checkpoint_state *about, const state *state) {
  CHECK(checkpoint_begin(checkpoint, about, state));
  return checkpoint_end(checkpoint);
}

void checkpoint_job_abandon(checkpoint *checkpoint) {
  checkpoint_job *job = &checkpoint->job;
  if (!job->pending) return;
  join(job);
  job->pending = 0;
  if (checkpoint->grid.rank == 0) (void)unlink(job->path);
}

status checkpoint_hold(checkpoint *checkpoint, const field_space *space, int *held) {
  const int mine = checkpoint_planes_hold(&checkpoint->planes, space) == STATUS_OK;
  status_clear();
  CHECK_MPI(MPI_Allreduce(&mine, held, 1, MPI_INT, MPI_MIN, checkpoint->comm));
  if (!*held) checkpoint_planes_release(&checkpoint->planes);
  return STATUS_OK;
}
