/* The limit of a step that an equation names, against runs: noise, which holds all modes, keeps its size for
 * hundreds of steps just within it, and grows beyond. Over equations, ends of axes, orders, schemes,
 * differences, flows, diffusivities and shapes of boxes. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>

#include "settings/equations.h"

enum { STEPS = 300 };
static const double within = 0.999, beyond = 1.25;

static uint64_t seed = LAB_SEED;

/* A number in 0 .. count - 1. */
static int draw(int count) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (int)((seed >> 20) % (uint64_t)count);
}

static double draw_between(double low, double high) {
  return low + (high - low) * draw(10001) / 10000.0;
}

static void store(lab *lab, int unknown, const double *points) {
  field *field = &stepper_state(&lab->solver.stepper)->part[unknown];
  assert_int_equal(field_store(field, 0, lab->grid.nz, points), STATUS_OK);
}

/* The norm of the energy. */
static double norm(lab *lab) {
  const config *config = &lab->config;
  const equation *equation = equation_of(config);
  const int64_t *n = config->n;
  double *points = lab_array(config), weight[STATE_FIELDS], sum = 0.0;
  for (int f = 0; f < STATE_FIELDS; f++) weight[f] = 1.0;
  if (equation->energy != NULL) equation->energy(lab->solver.terms, weight);
  for (int f = 0; f < equation->unknowns; f++) {
    lab_load_field(lab, f, points);
    for (int64_t i = 0; i < lab_points(config); i++) {
      const int p[3] = {(int)(i % n[0]), (int)(i / n[0] % n[1]), (int)(i / n[0] / n[1])};
      sum += weight[f] * lab_weight(&lab->grid, p, -1) * points[i] * points[i];
    }
  }
  free(points);
  return sqrt(sum);
}

static double limit_of(lab *lab) {
  equation_limit limit;
  const config *config = &lab->config;
  assert_int_equal(equation_of(config)->limit(config, &lab->grid, &lab->solver.rates, 1.0, &limit),
                   STATUS_OK);
  return limit.step;
}

/* By what noise grows in STEPS steps, and in the last third of them. */
typedef struct grown {
  double all, last;
} grown;

/* share: of the limit. [in, out] limit: found unless it is above 0, because a trial takes as long as the
 * steps. */
static grown march(const config *config, double share, double *limit) {
  lab lab;
  double *points = lab_array(config);
  lab_open(&lab, config);
  for (int f = 0; f < equation_of(config)->unknowns; f++) {
    lab_randomise(config, &seed, points);
    store(&lab, f, points);
  }
  assert_int_equal(solver_refresh(&lab.solver), STATUS_OK);
  const double start = norm(&lab);
  if (!(*limit > 0.0)) *limit = limit_of(&lab);
  lab_march(&lab, 0.0, share * *limit, STEPS / 3 * 2);
  const double later = norm(&lab);
  lab_march(&lab, 0.0, share * *limit, STEPS / 3);
  const grown grown = {norm(&lab) / start, norm(&lab) / later};
  lab_close(&lab);
  free(points);
  return grown;
}

/* Returns 1 if noise grows beyond the limit. */
static int check(const config *config) {
  double limit = 0.0;
  const grown inside = march(config, within, &limit);
  const int decays = inside.all <= 1.0 && (inside.last <= 1.0 + 1e-9 || inside.all < 1e-12);
  const grown outside = march(config, beyond, &limit);
  const int grows = !(outside.all <= 10.0) || outside.last > 1.01;
  if (decays && grows) return 1;
  (void)printf(
      "  %s %s order %d %s %d x %d x %d (%.3g %.3g %.3g), ends %d%d %d%d %d%d, kappa %.3g, velocity %d "
      "%.3g %.3g %.3g, limit %.6g: by %.4g, %.6g within; %.4g, %.4g beyond\n",
      equation_of(config)->name, schemes_at(config->scheme)->name, config->order,
      config->difference == CONFIG_DIFFERENCE_UPWIND ? "upwind" : "central", (int)config->n[0],
      (int)config->n[1], (int)config->n[2], config->l[0], config->l[1], config->l[2], (int)config->ends[0][0],
      (int)config->ends[0][1], (int)config->ends[1][0], (int)config->ends[1][1], (int)config->ends[2][0],
      (int)config->ends[2][1], config->diffusivity, config->velocity, config->uniform[0], config->uniform[1],
      config->uniform[2], limit, inside.all, inside.last, outside.all, outside.last);
  if (!decays) fail_msg("noise grows within the limit");
  return 0;
}

/* A box of its own shape, order, scheme and ends: of these kinds, on each axis or on none. */
static config draw_box(const config_end *kinds, int count) {
  config config = lab_config(9, 9, 9);
  int bounded = 0;
  config.order = 2 + 2 * draw(4);
  config.scheme = draw(5);
  config.difference = (config_difference)draw(2);
  for (int d = 0; d < 3; d++) {
    const int least = d == 2 ? 8 : 9, closed = config.order == 8 ? 16 : 12;
    const int ends = draw(2) == 1 || (d == 2 && !bounded);
    config.n[d] = (ends && closed > least ? closed : least) + draw(6);
    config.l[d] = draw(3) == 0 ? draw_between(0.2, 2.0) : 0.1 * (double)config.n[d];
    bounded |= ends;
    for (int end = 0; end < GRID_ENDS && ends; end++) config.ends[d][end] = kinds[draw(count)];
  }
  return config;
}

/* Most limits are not too cautious. */
static void count(const char *what, int grow, int all) {
  lab_between((double)grow / all, 0.9, 1.0, "%s: share of %d that grows at %.2f of the limit", what, all,
              beyond);
}

static void test_sound(void **state) {
  (void)state;
  static const config_end kinds[] = {CONFIG_END_WALL, CONFIG_END_FREE, CONFIG_END_ABSORBING};
  enum { TRIED = 60 };
  int grow = 0;
  for (int i = 0; i < TRIED; i++) {
    config config = draw_box(kinds, 3);
    config.equation = EQUATION_acoustics;
    config.density = draw_between(0.5, 3.0);
    config.sound_speed = draw_between(0.5, 3.0);
    grow += check(&config);
  }
  count("sound", grow, TRIED);
}

/* Diffusion from none to much more than advection. */
static config draw_flow(void) {
  static const config_end kinds[] = {CONFIG_END_OPEN, CONFIG_END_DIRICHLET};
  static const double numbers[] = {0.0, 0.03, 0.1, 0.3, 1.0, 10.0};
  const int dissipates = draw(6);
  config config = draw_box(kinds, dissipates == 0 ? 1 : 2);
  config.entering[0] = '0';
  config.diffusivity = numbers[dissipates] * 0.1;
  return config;
}

static void test_uniform_flow(void **state) {
  (void)state;
  enum { TRIED = 100 };
  int grow = 0;
  for (int i = 0; i < TRIED; i++) {
    config config = draw_flow();
    for (int d = 0; d < 3; d++) config.uniform[d] = draw(3) == 0 ? 0.0 : draw_between(-1.0, 1.0);
    if (config.diffusivity == 0.0) config.uniform[0] = 1.0;
    grow += check(&config);
  }
  count("uniform flow", grow, TRIED);
}

/* The skew form, which has no growth of its own. */
static void test_other_flows(void **state) {
  (void)state;
  enum { TRIED = 60 };
  int grow = 0;
  for (int i = 0; i < TRIED; i++) {
    config config = draw_flow();
    config.velocity = velocities_find(draw(2) == 0 ? "taylor_green" : "abc");
    config.form = FORM_SKEW;
    grow += check(&config);
  }
  (void)printf("    %d of %d grow\n", grow, TRIED);
}

/* What was named once, and blew up. */
static void test_known(void **state) {
  (void)state;
  config config = lab_config(32, 16, 16);
  config.order = 4;
  config.diffusivity = 0.01;
  config.uniform[1] = config.uniform[2] = 0.0;
  config.entering[0] = '0';
  config.ends[0][0] = config.ends[0][1] = CONFIG_END_DIRICHLET;
  assert_int_equal(check(&config), 1);
  config = lab_config(11, 11, 9);
  config.order = 4;
  config.scheme = schemes_find("ck45");
  config.equation = EQUATION_acoustics;
  config.density = config.sound_speed = 1.0;
  config.difference = CONFIG_DIFFERENCE_UPWIND;
  config.l[2] = 0.3;
  config.ends[0][0] = CONFIG_END_WALL;
  config.ends[2][0] = CONFIG_END_FREE;
  config.ends[0][1] = config.ends[2][1] = CONFIG_END_ABSORBING;
  assert_int_equal(check(&config), 1);
  /* waves along periodic axes of more points than the trial's box has */
  config = lab_config(24, 17, 24);
  config.order = 6;
  config.scheme = schemes_find("ck45");
  config.equation = EQUATION_acoustics;
  config.density = config.sound_speed = 1.0;
  config.difference = CONFIG_DIFFERENCE_UPWIND;
  config.l[0] = config.l[1] = 0.3;
  config.ends[1][0] = CONFIG_END_ABSORBING;
  config.ends[1][1] = CONFIG_END_FREE;
  assert_int_equal(check(&config), 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known),
      cmocka_unit_test(test_sound),
      cmocka_unit_test(test_uniform_flow),
      cmocka_unit_test(test_other_flows),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
