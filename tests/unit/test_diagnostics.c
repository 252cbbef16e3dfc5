/* Integrals of named fields and the table's columns. The expected values are those of linear functions, which
 * the grid's quadrature integrates exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "output/diagnostics.h"

static const int64_t n[3] = {16, 10, 17};
static const double l[3] = {2.0, 0.5, 4.0};

typedef struct bench {
  const kernels *backend;
  kernels_context *context;
  grid grid;
  field_space space;
  state state, exact;
} bench;

/* A field that is `slope` z everywhere. */
typedef struct ramp {
  const grid *grid;
  double slope;
} ramp;

static void ramp_row(const void *user, int64_t z, int64_t y, double *row) {
  const ramp *ramp = user;
  (void)y;
  for (int64_t x = 0; x < n[0]; x++) row[x] = ramp->slope * grid_position(ramp->grid, 2, z);
}

static void fill(const bench *bench, field *field, double slope) {
  const ramp ramp = {.grid = &bench->grid, .slope = slope};
  assert_int_equal(field_fill(field, 0, n[2], 0, ramp_row, &ramp), STATUS_OK);
}

static const char *const names[] = {"p", "u"};

static void open_bench(int bounded, bench *bench) {
  const kernels_setup setup = {.threads = 1};
  memset(bench, 0, sizeof *bench);
  bench->backend = kernels_find("cpu");
  assert_int_equal(grid_make(n, l, 1, 0, &bench->grid), STATUS_OK);
  if (bounded) assert_int_equal(grid_bound(&bench->grid, 2, 2), STATUS_OK);
  assert_int_equal(bench->backend->context_create(&setup, &bench->context), STATUS_OK);
  assert_int_equal(field_space_open(bench->backend, bench->context,
                                    grid_shape(&bench->grid, PRECISION_DOUBLE, 1), &bench->space),
                   STATUS_OK);
  assert_int_equal(state_create(&bench->space, 2, names, &bench->state), STATUS_OK);
  assert_int_equal(state_create(&bench->space, 2, names, &bench->exact), STATUS_OK);
}

static void close_bench(bench *bench) {
  state_destroy(&bench->state);
  state_destroy(&bench->exact);
  field_space_close(&bench->space);
  bench->backend->context_destroy(bench->context);
}

static diagnostics_record measure(bench *bench, const state *exact, diagnostics *diagnostics) {
  const schedule schedule = {.dt = 0.25, .base_dt = 0.25, .last_step = 10};
  diagnostics_record record;
  assert_int_equal(diagnostics_create(MPI_COMM_SELF, &bench->grid, 2, names, 5, exact != NULL, diagnostics),
                   STATUS_OK);
  assert_int_equal(diagnostics_measure(diagnostics, &bench->state, exact, NULL, &schedule, 3, 0.75, &record),
                   STATUS_OK);
  assert_true(record.step == 3 && record.time == 0.75 && record.dt == 0.25 && record.courant == 0.75);
  assert_true(record.finite);
  return record;
}

/* Half weights at the ends of z: the integral of z over the length 4 is 8; periodic, the sum of 17 planes. */
static void integrals_have_weights(void **unused) {
  (void)unused;
  for (int bounded = 0; bounded < 2; bounded++) {
    bench bench;
    diagnostics diagnostics;
    open_bench(bounded, &bench);
    fill(&bench, &bench.state.part[0], 1.0);
    fill(&bench, &bench.state.part[1], -2.0);
    const diagnostics_record record = measure(&bench, NULL, &diagnostics);
    const double h = bounded ? 4.0 / 16.0 : 4.0 / 17.0;
    const double along_z = bounded ? 8.0 : h * h * (16.0 * 17.0 / 2.0);
    assert_true(fabs(record.field[0].mass - along_z) < 1e-13);
    assert_true(fabs(record.field[1].mass + 2.0 * along_z) < 1e-13);
    assert_true(record.field[0].minimum == 0.0 && record.field[0].maximum == 16.0 * h);
    assert_true(record.field[1].minimum == -32.0 * h && record.field[1].maximum == 0.0);
    assert_true(isnan(record.field[0].error_l1) && isnan(record.field[1].error_linf));
    assert_string_equal(diagnostics.table.header,
                        "step,time,dt,mass,l2,min,max,courant,mass_u,l2_u,min_u,max_u\n");
    diagnostics_destroy(&diagnostics);
    close_bench(&bench);
  }
}

/* |e| = z for p and 3 z for u. */
static void errors_of_every_field(void **unused) {
  (void)unused;
  bench bench;
  diagnostics diagnostics;
  open_bench(1, &bench);
  fill(&bench, &bench.state.part[0], 1.0);
  fill(&bench, &bench.state.part[1], -2.0);
  fill(&bench, &bench.exact.part[0], 2.0);
  fill(&bench, &bench.exact.part[1], 1.0);
  const diagnostics_record record = measure(&bench, &bench.exact, &diagnostics);
  assert_true(fabs(record.field[0].error_l1 - 8.0) < 1e-13 && record.field[0].error_linf == 4.0);
  assert_true(fabs(record.field[1].error_l1 - 24.0) < 1e-13 && record.field[1].error_linf == 12.0);
  assert_string_equal(diagnostics.table.header, "step,time,dt,mass,l2,min,max,courant,err_l1,err_l2,err_linf,"
                                                "mass_u,l2_u,min_u,max_u,err_l1_u,err_l2_u,err_linf_u\n");
  assert_int_equal(diagnostics_drop_errors(&diagnostics), STATUS_OK);
  assert_string_equal(diagnostics.table.header,
                      "step,time,dt,mass,l2,min,max,courant,mass_u,l2_u,min_u,max_u\n");
  diagnostics_destroy(&diagnostics);
  close_bench(&bench);
}

/* In the second field alone. */
static void what_is_not_finite_is_found(void **unused) {
  (void)unused;
  const schedule schedule = {.dt = 0.25, .base_dt = 0.25, .last_step = 10};
  bench bench;
  diagnostics diagnostics;
  diagnostics_record record;
  open_bench(0, &bench);
  fill(&bench, &bench.state.part[1], INFINITY);
  assert_int_equal(diagnostics_create(MPI_COMM_SELF, &bench.grid, 2, names, 5, 0, &diagnostics), STATUS_OK);
  assert_int_equal(diagnostics_measure(&diagnostics, &bench.state, NULL, NULL, &schedule, 1, 0.0, &record),
                   STATUS_OK);
  assert_false(record.finite);
  diagnostics_destroy(&diagnostics);
  close_bench(&bench);
}

int main(int argc, char **argv) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(integrals_have_weights),
      cmocka_unit_test(errors_of_every_field),
      cmocka_unit_test(what_is_not_finite_is_found),
  };
  (void)MPI_Init(&argc, &argv);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)MPI_Finalize();
  return failed;
}
