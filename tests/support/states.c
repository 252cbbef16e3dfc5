#include "states.h"

#include <dirent.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void states_require(int holds, const char *condition, const char *file, int line) {
  if (holds) return;
  int rank = 0;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)fprintf(stderr, "%s:%d: rank %d: not so: %s (status message: %s)\n", file, line, rank, condition,
                status_message(STATUS_OK));
  (void)MPI_Abort(MPI_COMM_WORLD, 1);
}

static config make_config(const char *directory, const int64_t n[3], precision precision, int keep) {
  config config;
  char path[512];
  (void)snprintf(path, sizeof path, "/tmp/states_%ld.ini", (long)getpid());
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL);
  (void)fprintf(file,
                "[grid]\nnx = %" PRId64 "\nny = %" PRId64 "\nnz = %" PRId64
                "\nlx = 1.5\nly = 0.7\nlz = 2.25\n"
                "[initial]\ncase = gaussian\n[velocity]\nfield = uniform\n[time]\ndt = 1e-3\nsteps = 10\n"
                "[compute]\nbackend = cpu\nprecision = %s\n[output]\ndirectory = %s\ncheckpoint_keep = %d\n",
                n[0], n[1], n[2], precision == PRECISION_SINGLE ? "single" : "double", directory, keep);
  (void)fclose(file);
  REQUIRE(config_load(path, 0, NULL, &config) == STATUS_OK);
  (void)unlink(path);
  return config;
}

void states_open(MPI_Comm comm, const char *directory, const int64_t n[3], precision precision, int fields,
                 int keep, states *states) {
  static const char *const one[] = {"phi"};
  static const char *const several[] = {"p", "u", "v", "w"};
  const char *const *names = fields == 1 ? one : several;
  memset(states, 0, sizeof *states);
  states->comm = comm;
  (void)MPI_Comm_rank(comm, &states->rank);
  (void)MPI_Comm_size(comm, &states->ranks);
  states->config = make_config(directory, n, precision, keep);
  const kernels *backend = kernels_find("cpu");
  const kernels_setup setup = {.device = 0, .threads = 1};
  REQUIRE(grid_make(n, states->config.l, states->ranks, states->rank, &states->grid) == STATUS_OK);
  REQUIRE(backend->context_create(&setup, &states->context) == STATUS_OK);
  REQUIRE(field_space_open(backend, states->context,
                           grid_shape(&states->grid, precision, backend->host_memory),
                           &states->space) == STATUS_OK);
  REQUIRE(state_create(&states->space, fields, names, &states->state) == STATUS_OK);
  REQUIRE(checkpoint_create(comm, &states->grid, &states->config, fields, names, &states->checkpoint) ==
          STATUS_OK);
}

void states_close(states *states) {
  checkpoint_destroy(states->checkpoint);
  state_destroy(&states->state);
  field_space_close(&states->space);
  states->space.backend->context_destroy(states->context);
}

checkpoint_state states_state(int64_t step, int picture) {
  return (checkpoint_state){.step = step,
                            .time = (double)step / 7.0,
                            .dt = 1.0 / 7.0,
                            .base_step = step / 2 + 1,
                            .base_time = (double)step / 11.0,
                            .picture = picture};
}

double states_value(int64_t step, int field, int64_t x, int64_t y, int64_t z) {
  if (x == 1 && y == 0) return -0.0;
  if (x == 2 && y == 0) return 1e-40;
  if (x == 3 && y == 0) return nan("");
  return (double)step + (double)x / 3.0 + (double)y * 17.0 + (double)z * 1023.0 + field * 0.0625;
}

typedef struct wanted {
  int64_t step, nx;
  int field;
} wanted;

static void value_row(const void *user, int64_t z, int64_t y, double *row) {
  const wanted *wanted = user;
  for (int64_t x = 0; x < wanted->nx; x++) row[x] = states_value(wanted->step, wanted->field, x, y, z);
}

void states_fill(states *states, int64_t step) {
  for (int f = 0; f < states->state.count; f++) {
    const wanted wanted = {.step = step, .nx = states->grid.n[0], .field = f};
    REQUIRE(field_fill(&states->state.part[f], states->grid.z0, states->grid.n[2], 0, value_row, &wanted) ==
            STATUS_OK);
  }
}

static int64_t field_differences(const states *states, int64_t step, int field) {
  const grid *grid = &states->grid;
  const size_t size = kernels_element_size(states->space.shape.precision);
  char *values = malloc((size_t)grid->nz * (size_t)grid->n[1] * (size_t)grid->n[0] * size);
  REQUIRE(values != NULL);
  REQUIRE(field_load(&states->state.part[field], 0, grid->nz, values) == STATUS_OK);
  int64_t differences = 0;
  const char *value = values;
  for (int64_t z = grid->z0; z < grid->z0 + grid->nz; z++) {
    for (int64_t y = 0; y < grid->n[1]; y++) {
      for (int64_t x = 0; x < grid->n[0]; x++, value += size) {
        const double wide = states_value(step, field, x, y, z);
        const float narrow = (float)wide;
        differences +=
            memcmp(value, size == sizeof wide ? (const void *)&wide : (const void *)&narrow, size) != 0;
      }
    }
  }
  free(values);
  return differences;
}

int64_t states_differences(const states *states, int64_t step) {
  int64_t differences = 0;
  for (int f = 0; f < states->state.count; f++) differences += field_differences(states, step, f);
  return differences;
}

status states_write(states *states, int64_t step, int picture) {
  const checkpoint_state about = states_state(step, picture);
  states_fill(states, step);
  return checkpoint_write(states->checkpoint, &about, &states->state);
}

void states_directory(MPI_Comm comm, char path[256]) {
  int rank = 0;
  (void)MPI_Comm_rank(comm, &rank);
  const char *place = getenv("FDAPP_TEST_DIRECTORY");
  (void)snprintf(path, 256, "%s/fdapp_states_XXXXXX", place != NULL ? place : "/tmp");
  if (rank == 0) REQUIRE(mkdtemp(path) != NULL);
  (void)MPI_Bcast(path, 256, MPI_CHAR, 0, comm);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
  (void)info;
  (void)kind;
  (void)place;
  return remove(path);
}

void states_remove(MPI_Comm comm, const char *path) {
  int rank = 0;
  (void)MPI_Comm_rank(comm, &rank);
  (void)MPI_Barrier(comm);
  if (rank == 0) (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  (void)MPI_Barrier(comm);
}

void states_path(const char *directory, int64_t step, char path[512]) {
  (void)snprintf(path, 512, "%s/state_%08" PRId64 ".hdf", directory, step);
}

int states_exists(const char *directory, const char *name) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  return access(path, F_OK) == 0;
}

int states_entries(const char *directory) {
  int count = -2;
  DIR *listing = opendir(directory);
  REQUIRE(listing != NULL);
  while (readdir(listing) != NULL) count++;
  (void)closedir(listing);
  return count;
}
