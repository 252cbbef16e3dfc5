/* State files on any number of ranks: what one number of ranks writes another reads, bit for bit; the newest
 * that verifies is found; what is kept and what goes. Run on several ranks; smaller numbers are made by
 * splitting. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "states.h"

static const int64_t uneven[3] = {13, 10, 23};

/* Ranks 0 .. ranks-1 of the world do the work, the others watch. MPI_COMM_NULL for those. */
static MPI_Comm first_ranks(int ranks) {
  int rank = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) (void)MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

static void leave(MPI_Comm *comm) {
  if (*comm != MPI_COMM_NULL) (void)MPI_Comm_free(comm);
  (void)MPI_Barrier(MPI_COMM_WORLD);
}

static void write_on(int ranks, const char *directory, precision precision, int fields) {
  MPI_Comm comm = first_ranks(ranks);
  if (comm != MPI_COMM_NULL) {
    states states;
    states_open(comm, directory, uneven, precision, fields, 2, &states);
    REQUIRE(states_write(&states, 5, 0) == STATUS_OK);
    states_close(&states);
  }
  leave(&comm);
}

static void read_on(int ranks, const char *directory, precision precision, int fields) {
  MPI_Comm comm = first_ranks(ranks);
  if (comm != MPI_COMM_NULL) {
    states states;
    char path[512];
    checkpoint_state about;
    const checkpoint_state expected = states_state(5, 0);
    memset(&about, 0, sizeof about);
    states_open(comm, directory, uneven, precision, fields, 2, &states);
    states_fill(&states, 77);
    REQUIRE(states_differences(&states, 5) > 0);
    states_path(directory, 5, path);
    REQUIRE(checkpoint_read(states.checkpoint, path, &about, &states.state) == STATUS_OK);
    REQUIRE(states_differences(&states, 5) == 0);
    REQUIRE(about.step == expected.step && about.time == expected.time && about.dt == expected.dt);
    REQUIRE(about.base_step == expected.base_step && about.base_time == expected.base_time && !about.picture);
    states_close(&states);
  }
  leave(&comm);
}

/* The files themselves do not depend on the number of ranks either. */
static char *slurp(const char *directory, size_t *size) {
  char path[512];
  states_path(directory, 5, path);
  FILE *file = fopen(path, "rb");
  REQUIRE(file != NULL);
  (void)fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  char *bytes = malloc(*size);
  rewind(file);
  REQUIRE(bytes != NULL && fread(bytes, 1, *size, file) == *size);
  (void)fclose(file);
  return bytes;
}

static void test_any_ranks(int ranks, precision precision, int fields) {
  static const int counts[] = {1, 2, 3, 5};
  char directory[256];
  char *first = NULL;
  size_t first_size = 0;
  states_directory(MPI_COMM_WORLD, directory);
  for (size_t w = 0; w < sizeof counts / sizeof counts[0] && counts[w] <= ranks; w++) {
    size_t size = 0;
    write_on(counts[w], directory, precision, fields);
    char *bytes = slurp(directory, &size);
    if (first == NULL) {
      first = bytes;
      first_size = size;
    } else {
      REQUIRE(size == first_size && memcmp(bytes, first, size) == 0);
      free(bytes);
    }
    for (size_t r = 0; r < sizeof counts / sizeof counts[0] && counts[r] <= ranks; r++) {
      read_on(counts[r], directory, precision, fields);
    }
  }
  free(first);
  states_remove(MPI_COMM_WORLD, directory);
}

/* Everybody in MPI_COMM_WORLD from here on. */

/* Flips a bit `offset` bytes behind the start of the file, or before its end if negative. */
static void spoil(const states *states, int64_t step, off_t offset) {
  char path[512];
  char byte = 0;
  states_path(states->config.directory, step, path);
  (void)MPI_Barrier(states->comm);
  if (states->rank == 0) {
    const int descriptor = open(path, O_RDWR);
    const off_t place = offset < 0 ? lseek(descriptor, 0, SEEK_END) + offset : offset;
    REQUIRE(pread(descriptor, &byte, 1, place) == 1);
    byte ^= 0x10;
    REQUIRE(pwrite(descriptor, &byte, 1, place) == 1);
    (void)close(descriptor);
  }
  (void)MPI_Barrier(states->comm);
}

/* Where the block says that phi's data begin. */
static off_t data_offset(const char *path) {
  char text[2049] = "";
  long offset = 0;
  FILE *file = fopen(path, "rb");
  REQUIRE(file != NULL && fread(text, 1, 2048, file) == 2048);
  (void)fclose(file);
  REQUIRE(sscanf(strstr(text, "data_offset"), "data_offset %ld", &offset) == 1);
  return (off_t)offset;
}

static void test_refused(void) {
  static const int64_t other[3] = {13, 10, 24};
  char directory[256];
  char path[512];
  states states;
  checkpoint_state about;
  states_directory(MPI_COMM_WORLD, directory);
  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_DOUBLE, 1, 2, &states);
  REQUIRE(states_write(&states, 5, 0) == STATUS_OK);
  states_close(&states);
  states_path(directory, 5, path);

  states_open(MPI_COMM_WORLD, directory, other, PRECISION_DOUBLE, 1, 2, &states);
  REQUIRE(checkpoint_read(states.checkpoint, path, &about, &states.state) == STATUS_FOREIGN);
  REQUIRE(strstr(status_message(STATUS_FOREIGN), "13 x 10 x 23 points") != NULL);
  REQUIRE(strstr(status_message(STATUS_FOREIGN), path) != NULL);
  status_clear();
  states_close(&states);

  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_SINGLE, 1, 2, &states);
  REQUIRE(checkpoint_read(states.checkpoint, path, &about, &states.state) == STATUS_FOREIGN);
  REQUIRE(strstr(status_message(STATUS_FOREIGN), "double precision") != NULL);
  status_clear();
  states_close(&states);

  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_DOUBLE, 3, 2, &states);
  REQUIRE(checkpoint_read(states.checkpoint, path, &about, &states.state) == STATUS_FOREIGN);
  REQUIRE(strstr(status_message(STATUS_FOREIGN), "the fields phi; this run's are p, u, v") != NULL);
  status_clear();
  states_close(&states);

  /* The last plane belongs to the last rank: only that one sees the fault, all report it. */
  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_DOUBLE, 1, 2, &states);
  REQUIRE(checkpoint_read(states.checkpoint, path, &about, &states.state) == STATUS_OK);
  spoil(&states, 5, data_offset(path) + 22 * 130 * 8 + 1000);
  REQUIRE(checkpoint_read(states.checkpoint, path, &about, &states.state) == STATUS_DAMAGED);
  REQUIRE(strstr(status_message(STATUS_DAMAGED), "plane z = 22") != NULL);
  status_clear();
  REQUIRE(checkpoint_read(states.checkpoint, "/nowhere/state.hdf", &about, &states.state) == STATUS_FILE);
  status_clear();
  REQUIRE(checkpoint_read(states.checkpoint, directory, &about, &states.state) == STATUS_DAMAGED);
  status_clear();
  states_close(&states);
  states_remove(MPI_COMM_WORLD, directory);
}

static void require_latest(states *states, int64_t step) {
  checkpoint_state about;
  char path[CONFIG_PATH_SIZE];
  states_fill(states, 777);
  REQUIRE(checkpoint_read_latest(states->checkpoint, &about, &states->state, path) == STATUS_OK);
  REQUIRE(path[0] != '\0' && about.step == step && states_differences(states, step) == 0);
}

static void test_latest(void) {
  char directory[256];
  char path[CONFIG_PATH_SIZE] = "x";
  states states;
  checkpoint_state about;
  states_directory(MPI_COMM_WORLD, directory);
  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_DOUBLE, 1, 5, &states);
  REQUIRE(checkpoint_read_latest(states.checkpoint, &about, &states.state, path) == STATUS_OK &&
          path[0] == '\0');
  for (int64_t step = 10; step <= 40; step += 10) REQUIRE(states_write(&states, step, 0) == STATUS_OK);
  require_latest(&states, 40);
  spoil(&states, 40, 100);
  require_latest(&states, 30);
  states_close(&states);
  /* A header spoilt, as found by a new process; and an empty file with a newer name. */
  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_DOUBLE, 1, 5, &states);
  char empty[512];
  states_path(directory, 50, empty);
  if (states.rank == 0) (void)close(open(empty, O_CREAT | O_WRONLY, 0666));
  (void)MPI_Barrier(states.comm);
  require_latest(&states, 30);
  spoil(&states, 30, -9000);
  spoil(&states, 20, -9000);
  require_latest(&states, 10);
  spoil(&states, 10, -9000);
  REQUIRE(checkpoint_read_latest(states.checkpoint, &about, &states.state, path) == STATUS_DAMAGED);
  REQUIRE(strstr(status_message(STATUS_DAMAGED), "none of its 5 states") != NULL);
  status_clear();
  states_close(&states);
  states_remove(MPI_COMM_WORLD, directory);
}

/* The index's text. */
static void read_index(const char *directory, char text[4096]) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/state.hdf.series", directory);
  FILE *file = fopen(path, "r");
  REQUIRE(file != NULL);
  text[fread(text, 1, 4095, file)] = '\0';
  (void)fclose(file);
}

static int lists(const char *directory, const char *name) {
  char text[4096];
  read_index(directory, text);
  return strstr(text, name) != NULL;
}

static void test_kept(void) {
  char directory[256];
  states states;
  states_directory(MPI_COMM_WORLD, directory);
  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_SINGLE, 1, 2, &states);
  /* Steps 3 and 6 are pictures: they stay; of the others the newest two. */
  for (int64_t step = 1; step <= 6; step++) REQUIRE(states_write(&states, step, step % 3 == 0) == STATUS_OK);
  for (int64_t step = 1; step <= 6; step++) {
    char name[64];
    (void)snprintf(name, sizeof name, "state_%08d.hdf", (int)step);
    REQUIRE(states_exists(directory, name) == (step >= 3));
    REQUIRE(lists(directory, name) == (step >= 3));
  }
  REQUIRE(states_entries(directory) == 5);
  (void)MPI_Barrier(states.comm); /* all have looked before any goes on and changes what there is */
  /* A process that comes later knows as much; a step written again replaces itself. */
  states_close(&states);
  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_SINGLE, 1, 2, &states);
  REQUIRE(states_write(&states, 6, 1) == STATUS_OK);
  REQUIRE(states_write(&states, 7, 0) == STATUS_OK);
  REQUIRE(!states_exists(directory, "state_00000004.hdf") && states_exists(directory, "state_00000003.hdf"));
  REQUIRE(states_entries(directory) == 5);
  (void)MPI_Barrier(states.comm);
  int moved = 0;
  /* Back to step 5: what came later is no longer the newest, nor in the index, nor lost. */
  REQUIRE(checkpoint_rewind(states.checkpoint, 5, &moved) == STATUS_OK && moved == (states.rank == 0));
  require_latest(&states, 5);
  REQUIRE(!lists(directory, "state_00000006.hdf") && !states_exists(directory, "state_00000007.hdf"));
  REQUIRE(states_exists(directory, "previous_1/state_00000006.hdf"));
  REQUIRE(states_exists(directory, "previous_1/state_00000007.hdf"));
  REQUIRE(checkpoint_rewind(states.checkpoint, 5, &moved) == STATUS_OK && moved == 0 &&
          !states_exists(directory, "previous_2"));
  (void)MPI_Barrier(states.comm);
  states_close(&states);
  states_remove(MPI_COMM_WORLD, directory);
}

static int has_name(const char *directory, int64_t step) {
  char name[64];
  (void)snprintf(name, sizeof name, "state_%08d.hdf", (int)step);
  return states_exists(directory, name);
}

/* A snapshot that is begun and, later, ended: it holds the values that there were at its beginning, and has
 * no name before its end. Another beginning, the hash and the end of the checkpoint end it or forget it. */
static void test_begun_and_ended(void) {
  char directory[256], path[512];
  states states;
  checkpoint_state about = states_state(5, 1);
  uint64_t written = 0, again = 0;
  int held = 0, done = 0;
  states_directory(MPI_COMM_WORLD, directory);
  states_open(MPI_COMM_WORLD, directory, uneven, PRECISION_DOUBLE, 4, 2, &states);
  REQUIRE(checkpoint_hold(states.checkpoint, &states.space, &held) == STATUS_OK && held);
  states_fill(&states, 5);
  REQUIRE(checkpoint_begin(states.checkpoint, &about, &states.state) == STATUS_OK);
  states_fill(&states, 77);
  REQUIRE(checkpoint_pending(states.checkpoint) && !has_name(directory, 5));
  while (!done) REQUIRE(checkpoint_written(states.checkpoint, &done) == STATUS_OK);
  REQUIRE(!has_name(directory, 5) || states.rank != 0);
  REQUIRE(checkpoint_end(states.checkpoint) == STATUS_OK && !checkpoint_pending(states.checkpoint));
  REQUIRE(has_name(directory, 5) && checkpoint_longest(states.checkpoint) > 0.0);
  REQUIRE(checkpoint_end(states.checkpoint) == STATUS_OK);
  states_path(directory, 5, path);
  REQUIRE(checkpoint_read(states.checkpoint, path, &about, &states.state) == STATUS_OK);
  REQUIRE(states_differences(&states, 5) == 0);

  about = states_state(6, 1);
  states_fill(&states, 6);
  REQUIRE(checkpoint_begin(states.checkpoint, &about, &states.state) == STATUS_OK);
  about = states_state(7, 1);
  states_fill(&states, 7);
  REQUIRE(checkpoint_begin(states.checkpoint, &about, &states.state) == STATUS_OK);
  REQUIRE(has_name(directory, 6) && !has_name(directory, 7));
  REQUIRE(checkpoint_hash(states.checkpoint, 7, &states.state, &written) == STATUS_OK);
  REQUIRE(has_name(directory, 7) && !checkpoint_pending(states.checkpoint));
  REQUIRE(checkpoint_hash(states.checkpoint, 8, &states.state, &again) == STATUS_OK && again == written);

  about = states_state(8, 1);
  REQUIRE(checkpoint_begin(states.checkpoint, &about, &states.state) == STATUS_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  states_close(&states);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  REQUIRE(states_entries(directory) == 4); /* three snapshots and the index */
  (void)MPI_Barrier(MPI_COMM_WORLD);
  states_remove(MPI_COMM_WORLD, directory);
}

int main(int argc, char **argv) {
  int rank = 0;
  int ranks = 1;
  (void)MPI_Init(&argc, &argv);
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  log_init(rank == 0);
  for (int fields = 1; fields <= 4; fields += 3) {
    test_any_ranks(ranks, PRECISION_DOUBLE, fields);
    test_any_ranks(ranks, PRECISION_SINGLE, fields);
  }
  test_refused();
  test_latest();
  test_kept();
  test_begun_and_ended();
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
