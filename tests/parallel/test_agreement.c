/* A rank that evaluates the problem differently, in the last bit of one number, is named on all ranks before
 * anything is computed. Run on several ranks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/solver.h"
#include "problems/problem.h"

static config make_config(void) {
  config config;
  memset(&config, 0, sizeof config);
  for (int d = 0; d < 3; d++) {
    config.n[d] = 24;
    config.l[d] = 1.0;
    config.center[d] = 0.5;
    config.wave_number[d] = 1;
    config.abc[d] = 1.0;
  }
  config.initial = cases_find("gaussian");
  config.velocity = velocities_find("deformation");
  config.width = 0.1;
  config.amplitude = 1.0;
  config.period = 1.0;
  config.order = 8;
  config.precision = PRECISION_DOUBLE;
  return config;
}

static status create(const config *config, int ranks, int rank) {
  grid grid;
  solver solver;
  CHECK(grid_make(config->n, config->l, ranks, rank, &grid));
  const status result =
      solver_create(MPI_COMM_WORLD, config, equation_of(config), &grid, kernels_find("cpu"), &solver);
  solver_destroy(&solver);
  return result;
}

/* `name`: what the last rank has otherwise; NULL: nothing. */
static int is_found(const char *name, config config, int ranks, int rank) {
  char expected[64];
  const status found = create(&config, ranks, rank);
  (void)snprintf(expected, sizeof expected, "rank %d computes another", ranks - 1);
  const int right = name == NULL ? found == STATUS_OK
                                 : found == STATUS_DEVICE && strstr(status_message(found), expected) != NULL;
  if (!right)
    (void)fprintf(stderr, "rank %d: %s: %s\n", rank, name != NULL ? name : "none", status_message(found));
  status_clear();
  return right;
}

int main(int argc, char **argv) {
  int rank = 0;
  int ranks = 1;
  (void)MPI_Init(&argc, &argv);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int last = rank == ranks - 1;
  config config = make_config();
  int right = is_found(NULL, config, ranks, rank);
  if (last) config.width = nextafter(config.width, 1.0);
  right = is_found("initial condition", config, ranks, rank) && right;
  config = make_config();
  if (last) config.period = nextafter(config.period, 2.0);
  right = is_found("factor of the velocity", config, ranks, rank) && right;
  config = make_config();
  config.velocity = velocities_find("abc");
  if (last) config.abc[2] = nextafter(config.abc[2], 2.0);
  right = is_found("velocity", config, ranks, rank) && right;
  (void)MPI_Finalize();
  return right ? 0 : 1;
}
