#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problems/medium.h"
#include "problems/rounded.h"
#include "settings/equations.h"

/* The medium of a point against the means over its cell in plain C, for formulas that vary along some axes
 * and in any order of points, because values that do not change are kept. */

enum { NX = 8, NY = 7, NZ = 9, PARTS = 4 };

static const double pi = 3.14159265358979323846;
static const double length[3] = {2.0, 3.0, 5.0};

static double along_z(double x, double y, double z) {
  (void)x;
  (void)y;
  return 1.0 + 0.25 * rounded_sin(2.0 * pi * z);
}

static double along_x_and_z(double x, double y, double z) {
  (void)y;
  return 1.5 + 0.25 * rounded_sin(x) * rounded_cos(z) + 0.1 * rounded_pow(x, 3.0);
}

static double column(double x, double y, double z) {
  (void)z;
  return x * x + y * y < 1.0 ? 1.0 : 2.0;
}

static double everywhere(double x, double y, double z) {
  return 2.0 + rounded_exp(-(x * x + y * y)) * rounded_cos(y) * rounded_sin(z);
}

static double constant(double x, double y, double z) {
  (void)x;
  (void)y;
  (void)z;
  return 1.25;
}

typedef double (*function)(double x, double y, double z);

static const struct {
  const char *speed, *density; /* "": constant */
  function c, rho;
} media[] = {
    {"1 + 0.25*sin(2*pi*z)", "", along_z, constant},
    {"1.5 + 0.25*sin(x)*cos(z) + 0.1*x^3", "", along_x_and_z, constant},
    {"x^2 + y^2 < 1 ? 1 : 2", "", column, constant},
    {"2 + exp(-(x^2 + y^2))*cos(y)*sin(z)", "", everywhere, constant},
    {"1.25", "2 + exp(-(x^2 + y^2))*cos(y)*sin(z)", constant, everywhere},
    {"1 + 0.25*sin(2*pi*z)", "x^2 + y^2 < 1 ? 1 : 2", along_z, column},
};
enum { MEDIA = sizeof media / sizeof media[0] };

/* The midpoint of part k of point i's cell along axis d. */
static double midpoint(const grid *grid, int d, int64_t i, int k) {
  const double low = grid->bounded[d] && i == 0 ? 0.0 : -0.5;
  const double high = grid->bounded[d] && i == grid->n[d] - 1 ? 0.0 : 0.5;
  const double place = ((double)i + low + (high - low) * (k + 0.5) / PARTS) * grid->h[d];
  if (place < 0.0) return place + length[d];
  return !grid->bounded[d] && place >= length[d] ? place - length[d] : place;
}

static medium_point expected_at(const grid *grid, function c, function rho, const int64_t at[3]) {
  double yields = 0.0, density = 0.0;
  for (int i = 0; i < PARTS * PARTS * PARTS; i++) {
    double place[3];
    for (int d = 0, part = i; d < 3; d++, part /= PARTS) place[d] = midpoint(grid, d, at[d], part % PARTS);
    const double speed = c(place[0], place[1], place[2]), heavy = rho(place[0], place[1], place[2]);
    yields += 1.0 / (heavy * speed * speed);
    density += heavy;
  }
  return (medium_point){64.0 / yields, density / 64.0};
}

static void prepare(int which, int bounded, config *config, grid *grid) {
  const int64_t n[3] = {NX, NY, NZ};
  memset(config, 0, sizeof *config);
  config->equation = EQUATION_acoustics;
  config->density = 1.25;
  memcpy(config->l, length, sizeof length);
  (void)snprintf(config->medium[CONFIG_MEDIUM_SPEED], sizeof config->medium[0], "%s", media[which].speed);
  (void)snprintf(config->medium[CONFIG_MEDIUM_DENSITY], sizeof config->medium[0], "%s", media[which].density);
  assert_int_equal(grid_make(n, length, 1, 0, grid), STATUS_OK);
  for (int d = 0; d < 3 && bounded; d++) assert_int_equal(grid_bound(grid, d, 2), STATUS_OK);
}

/* Visits every point, in an order in which each coordinate changes now alone, now with others. */
static void means_over_cells(void **state) {
  (void)state;
  for (int which = 0; which < 2 * MEDIA; which++) {
    static config config;
    grid grid;
    medium medium;
    prepare(which / 2, which % 2, &config, &grid);
    assert_int_equal(medium_open(&config, &grid, &medium), STATUS_OK);
    for (int64_t i = 0; i < 2 * NX * NY * NZ; i++) {
      const int64_t k = i < NX * NY * NZ ? i : i * 7 % (NX * NY * NZ);
      const int64_t at[3] = {k % NX, k / NX % NY, k / NX / NY};
      const medium_point found = medium_at(&medium, at[2], at[1], at[0]);
      const medium_point expected = expected_at(&grid, media[which / 2].c, media[which / 2].rho, at);
      if (memcmp(&found, &expected, sizeof found) != 0)
        fail_msg("%s, %s at %d, %d, %d: expected %a, %a, found %a, %a", media[which / 2].speed,
                 media[which / 2].density, (int)at[0], (int)at[1], (int)at[2], expected.stiffness,
                 expected.density, found.stiffness, found.density);
    }
    assert_int_equal(medium_verdict(&medium), STATUS_OK);
    medium_close(&medium);
  }
}

/* The lowest place is named, though the formula has one value in all planes. */
static void names_the_lowest_place(void **state) {
  static config config;
  grid grid;
  medium medium;
  (void)state;
  prepare(0, 0, &config, &grid);
  (void)snprintf(config.medium[CONFIG_MEDIUM_SPEED], sizeof config.medium[0], "y > 1 ? exp(1000) : 1");
  assert_int_equal(medium_open(&config, &grid, &medium), STATUS_OK);
  for (int64_t k = NX * NY * NZ - 1; k >= 0; k--) (void)medium_at(&medium, k / NX / NY, k / NX % NY, k % NX);
  assert_int_equal(medium_verdict(&medium), STATUS_USAGE);
  /* Along y the first midpoint above 1 is that of part 3 of point 2, along x and z the first is that of part
   * 2 of point 0. */
  char place[80];
  (void)snprintf(place, sizeof place, "at x = %.9g, y = %.9g, z = %.9g;", 2.0 / NX / 8, 3.0 / NY * 2.375,
                 5.0 / NZ / 8);
  if (strstr(status_message(STATUS_USAGE), place) == NULL)
    fail_msg("%s: %s", place, status_message(STATUS_USAGE));
  status_clear();
  medium_close(&medium);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_over_cells),
      cmocka_unit_test(names_the_lowest_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
