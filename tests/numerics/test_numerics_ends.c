/* Ends of axes by one evaluation of a right-hand side at random states: the energy changes by what the ends
 * let through and by nothing else, to round-off, and the backend gives the bits of the CPU's. No time step
 * has a part in it. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "settings/equations.h"

/* The CPU has code of its own for bundles of 4 rows and 4 planes, and for vectors of up to 16 points, that
 * lie in no layer. At order 8 layers are 8 points thick. */
enum { NX = 41, NY = 21, NZ = 22, POINTS = NX * NY * NZ, STATES = 8, UNKNOWNS = 4 };
/* Points along each axis of a smaller grid, and states there; with sanitizers the same code runs as well. */
#ifdef __SANITIZE_ADDRESS__
enum { SMALL = 17, MANY = 100 };
#else
enum { SMALL = 17, MANY = 10000 };
#endif

static const kernels *tested;

/* Values of all unknowns, packed. */
typedef struct values {
  double of[UNKNOWNS][POINTS];
} values;

static void expect(status result, const char *what) {
  if (result != STATUS_OK) fail_msg("%s: %s", what, status_message(result));
}

/* The rate of change at a state, in double precision or as it comes. */
static void evaluate(lab_bench *b, const values *at, values *rate) {
  float narrow[POINTS];
  const kernels *backend = b->space.backend;
  const precision precision = b->config->precision;
  for (int i = 0; i < b->f.count; i++) {
    for (int k = 0; k < b->points; k++) narrow[k] = (float)at->of[i][k];
    const void *points = precision == PRECISION_SINGLE ? (const void *)narrow : (const void *)at->of[i];
    expect(field_store(&b->f.part[i], 0, b->grid.nz, points), "field_store");
  }
  const stage stage = {
      .planes = {{0, b->grid.nz}}, .out = &b->rate, .f = &b->f, .base = &b->zero, .weight = 1.0};
  expect(b->equation->stage(b->terms, &stage), "stage");
  expect(backend->queue_wait(b->context, QUEUE_MAIN), "queue_wait");
  for (int i = 0; i < b->f.count; i++) {
    expect(field_load(&b->rate.part[i], 0, b->grid.nz,
                      precision == PRECISION_SINGLE ? (void *)narrow : rate->of[i]),
           "field_load");
    for (int k = 0; k < b->points && precision == PRECISION_SINGLE; k++) rate->of[i][k] = (double)narrow[k];
  }
}

typedef struct balance {
  double rate, ends, terms; /* of the energy; of it by ends and dissipation, as the theory says; sum of
                             * magnitudes */
} balance;

/* A medium that varies, at the points themselves: speed and density. */
static const char *const medium[CONFIG_MEDIA] = {"1.2 + x*y", "2 - x + y*z"};

static int varies(const config *config) {
  return config->medium[CONFIG_MEDIUM_SPEED][0] != '\0';
}

/* [out] of: speed and density at point k. */
static void medium_here(const lab_bench *b, int k, double of[CONFIG_MEDIA]) {
  const int *p = b->place[k];
  const double x = grid_position(&b->grid, 0, p[0]), y = grid_position(&b->grid, 1, p[1]),
               z = grid_position(&b->grid, 2, p[2]);
  of[0] = varies(b->config) ? 1.2 + x * y : b->config->sound_speed;
  of[1] = varies(b->config) ? 2.0 - x + y * z : b->config->density;
}

/* The weight of an unknown in the energy at point k. */
static double weight_at(const lab_bench *b, const double weights[UNKNOWNS], int unknown, int k) {
  double of[CONFIG_MEDIA];
  if (!varies(b->config)) return weights[unknown];
  medium_here(b, k, of);
  return unknown == 0 ? 1.0 / (of[1] * of[0] * of[0]) : of[1];
}

/* What leaves through an end of axis d at point k, s = -1 at the low end and 1 at the high one. */
typedef double leaves(const lab_bench *b, const values *at, int d, int s, int k);

static double sound_leaves(const lab_bench *b, const values *at, int d, int s, int k) {
  double of[CONFIG_MEDIA];
  medium_here(b, k, of);
  const double impedance = of[0] * of[1], p = at->of[0][k], u = at->of[1 + d][k];
  if (b->config->ends[d][s > 0] != CONFIG_END_ABSORBING) return 0.0;
  return 0.5 * (p * p / impedance + impedance * u * u);
}

/* A velocity by formula: its sign changes along the ends of each axis. */
static const char *const flow[3] = {"0.3*x - y + 0.2", "y*z - x + 0.4", "0.5 - x*z - 0.3*y"};

/* The velocity along d at point k: by these formulas, or uniform. */
static double carried(const lab_bench *b, int d, int k) {
  if (velocities_at(b->config->velocity)->from != PROBLEM_FORMULA) return b->config->uniform[d];
  const double x = grid_position(&b->grid, 0, b->place[k][0]), y = grid_position(&b->grid, 1, b->place[k][1]),
               z = grid_position(&b->grid, 2, b->place[k][2]);
  return (const double[3]){0.3 * x - y + 0.2, y * z - x + 0.4, 0.5 - x * z - 0.3 * y}[d];
}

/* What upwind differences take from the energy: c_k sum (Delta^k |c| f) (Delta^k f) of the weighted unknowns,
 * with k-th differences of the points as they lie, nowhere one-sided. c is the velocity along the axis at
 * each point, or the speed of sound, or 1 in a medium that varies. phi and p have such terms along all axes,
 * a velocity along its own. */
static double damped(const lab_bench *b, const double weights[UNKNOWNS], const values *at) {
  static const double shares[] = {1.0 / 2.0, 1.0 / 12.0, 1.0 / 60.0, 1.0 / 280.0};
  static const int binomial[][5] = {{1, -1}, {1, -2, 1}, {1, -3, 3, -1}, {1, -4, 6, -4, 1}};
  const int64_t *n = b->config->n;
  const int width = b->config->order / 2, step[3] = {1, (int)n[0], (int)(n[0] * n[1])};
  const double speed = varies(b->config) ? 1.0 : b->config->sound_speed;
  double sum = 0.0;
  for (int k = 0; k < b->points; k++) {
    const int *p = b->place[k];
    for (int i = 0; i < (b->f.count == 1 ? 3 : 6); i++) { /* along x, y, z, then of the velocity */
      const int d = i % 3, u = i < 3 ? 0 : 1 + d, around = (int)n[d];
      double difference = 0.0, fast = 0.0;
      if (p[d] + width >= around && b->grid.bounded[d]) continue;
      for (int j = 0; j <= width; j++) {
        const int q = k + ((p[d] + j) % around - p[d]) * step[d];
        const double term = binomial[width - 1][j] * at->of[u][q];
        difference += term;
        fast += term * (b->f.count == 1 ? fabs(carried(b, d, q)) : speed);
      }
      sum += lab_weight(&b->grid, p, d) * weights[u] * difference * fast;
    }
  }
  return shares[width - 1] * sum;
}

/* Of 1/2 sum phi^2: with g entering, 1/2 |c| (g^2 - (phi - g)^2) comes in and 1/2 |c| phi^2 leaves. */
static double carried_leaves(const lab_bench *b, const values *at, int d, int s, int k) {
  const double g = atof(b->config->entering), phi = at->of[0][k], outwards = s * carried(b, d, k);
  const double lost = outwards > 0.0 ? phi * phi : (phi - g) * (phi - g) - g * g;
  return 0.5 * fabs(outwards) * lost;
}

static balance balance_of(const lab_bench *b, const double weights[UNKNOWNS], leaves *leaves,
                          const values *at, const values *rate) {
  balance sum = {0};
  for (int k = 0; k < b->points; k++) {
    for (int i = 0; i < b->f.count; i++) {
      const double term = b->weight[k] * weight_at(b, weights, i, k) * at->of[i][k] * rate->of[i][k];
      sum.rate += term;
      sum.terms += fabs(term);
    }
    for (int d = 0; d < 3; d++) {
      const int *p = b->place[k], s = p[d] == 0 ? -1 : p[d] == b->config->n[d] - 1;
      if (s != 0 && b->grid.bounded[d]) sum.ends -= lab_weight(&b->grid, p, d) * leaves(b, at, d, s, k);
    }
  }
  if (b->config->difference == CONFIG_DIFFERENCE_UPWIND) sum.ends -= damped(b, weights, at);
  return sum;
}

/* Tells the equation of its rates. In a medium that varies upwind differences damp p by 1 over the largest
 * impedance and the velocity by the least one: [out] weights. */
static void settle(lab_bench *b, double weights[UNKNOWNS]) {
  schedule_rates rates = {0};
  double least = INFINITY, most = 0.0;
  expect(b->equation->rates(b->config, &b->grid, &rates), "rates");
  expect(b->equation->settle(b->terms, 0.0, &rates), "settle");
  for (int k = 0; k < b->points; k++) {
    double of[CONFIG_MEDIA];
    medium_here(b, k, of);
    least = fmin(least, of[0] * of[1]);
    most = fmax(most, of[0] * of[1]);
  }
  for (int i = 0; i < UNKNOWNS; i++) weights[i] = i == 0 ? 1.0 / most : least;
}

/* Random states: balance in double precision. The first STATES of them have the CPU's bits, in both. */
static void check(const config *config, double weights[UNKNOWNS], leaves *leaves, int always_zero,
                  int states) {
  static values at, rate, other;
  uint64_t seed = LAB_SEED;
  double worst = 0.0;
  const int damps =
      config->difference == CONFIG_DIFFERENCE_UPWIND; /* many terms of one sign, so more round-off */
  lab_bench here, there;
  lab_bench_open(tested, config, &here);
  lab_bench_open(kernels_find("cpu"), config, &there);
  if (varies(config)) {
    settle(&here, weights);
    settle(&there, weights);
  }
  for (int i = 0; i < states; i++) {
    for (int u = 0; u < here.f.count; u++) lab_randomise(config, &seed, at.of[u]);
    evaluate(&here, &at, &rate);
    if (i < STATES) evaluate(&there, &at, &other);
    for (int u = 0; u < here.f.count && i < STATES; u++)
      assert_memory_equal(rate.of[u], other.of[u], (size_t)here.points * sizeof rate.of[u][0]);
    if (config->precision == PRECISION_SINGLE) continue;
    const balance sum = balance_of(&here, weights, leaves, &at, &rate);
    worst = fmax(worst, fabs(sum.rate - sum.ends) / sum.terms);
    assert_true(isfinite(sum.rate) && (always_zero ? sum.ends == 0.0 : fabs(sum.ends) > 1e-3 * sum.terms));
  }
  if (config->precision == PRECISION_DOUBLE)
    lab_between(worst, 0.0, damps ? 1e-13 : 4e-15, "%s of order %d%s: energy that the ends do not explain",
                here.equation->name, config->order, damps ? ", upwind" : "");
  lab_bench_close(&here);
  lab_bench_close(&there);
}

static config config_of(int equation, int order, int precision) {
  config config = lab_config(NX, NY, NZ);
  config.equation = equation;
  config.order = order;
  config.precision = (enum precision)precision;
  config.density = 1.3;
  config.sound_speed = 2.1;
  config.l[1] = 0.7;
  config.l[2] = 1.2;
  (void)strcpy(config.entering, "0.3");
  return config;
}

static void set_ends(config *config, int d, config_end low, config_end high) {
  config->ends[d][0] = low;
  config->ends[d][1] = high;
}

/* many: on the smaller grid, with MANY states on the CPU. */
static void sound(int order, int precision, const config_end ends[3][2], int many) {
  config config = config_of(EQUATION_acoustics, order, precision);
  double weights[STATE_FIELDS] = {0.0};
  int absorbs = 0;
  for (int d = 0; d < 3; d++) {
    if (many) config.n[d] = SMALL;
    set_ends(&config, d, ends[d][0], ends[d][1]);
    absorbs = absorbs || ends[d][0] == CONFIG_END_ABSORBING || ends[d][1] == CONFIG_END_ABSORBING;
  }
  weights[0] = 1.0 / (config.density * config.sound_speed * config.sound_speed);
  for (int d = 1; d < UNKNOWNS; d++) weights[d] = config.density;
  check(&config, weights, sound_leaves, !absorbs, many && tested->host_memory ? MANY : STATES);
  config.difference = CONFIG_DIFFERENCE_UPWIND;
  check(&config, weights, sound_leaves, 0, STATES);
  if (many) return;
  config.medium_at_points = 1;
  for (int i = 0; i < CONFIG_MEDIA; i++) (void)strcpy(config.medium[i], medium[i]);
  check(&config, weights, sound_leaves, 0, STATES);
  config.difference = CONFIG_DIFFERENCE_CENTRAL;
  check(&config, weights, sound_leaves, !absorbs, STATES);
}

/* A product of linear functions, constant along periodic axes, and its gradient. */
static void line_at(const config *config, const double of[3][2], const int p[3], double value[4]) {
  double f[3];
  double slope[3];
  for (int d = 0; d < 3; d++) {
    slope[d] = problem_bounded(config, d) ? of[d][1] : 0.0;
    f[d] = of[d][0] + slope[d] * p[d] / (double)(config->n[d] - 1);
  }
  value[0] = f[0] * f[1] * f[2];
  for (int d = 0; d < 3; d++) value[1 + d] = slope[d] / config->l[d] * f[(d + 1) % 3] * f[(d + 2) % 3];
}

/* The rate of 1/2 sum phi^2 by diffusion at such a state, for which second derivatives, slopes and the
 * integral of the gradient are exact: -kappa (|grad phi|^2 over the box and phi^2/h over ends with the value
 * 0). With the other sign of the penalty's second term, 2 phi dphi/dn would be added. */
static balance diffused(const lab_bench *b, const double of[3][2], const values *at, const values *rate) {
  const config *config = b->config;
  balance sum = {0};
  for (int k = 0; k < b->points; k++) {
    const int *p = b->place[k];
    double value[4];
    line_at(config, of, p, value);
    const double weight = b->weight[k];
    const double term = weight * at->of[0][k] * rate->of[0][k];
    sum.rate += term;
    sum.terms += fabs(term);
    for (int d = 0; d < 3; d++) {
      const int high = p[d] > 0;
      sum.ends -= config->diffusivity * weight * value[1 + d] * value[1 + d];
      if ((p[d] == 0 || p[d] == config->n[d] - 1) && config->ends[d][high] == CONFIG_END_DIRICHLET)
        sum.ends -= config->diffusivity * lab_weight(&b->grid, p, d) / b->grid.h[d] * value[0] * value[0];
    }
  }
  return sum;
}

/* Products of lines: the balance. Random states: the energy falls. Both: the CPU's bits. */
static void diffusion(int order, int precision, const config_end ends[3][2]) {
  static values at, rate, other;
  config config = config_of(EQUATION_advection, order, precision);
  uint64_t seed = LAB_SEED;
  double worst = 0.0;
  lab_bench here, there;
  for (int d = 0; d < 3; d++) {
    set_ends(&config, d, ends[d][0], ends[d][1]);
    config.uniform[d] = 0.0;
  }
  config.diffusivity = 0.4;
  (void)strcpy(config.entering, "0");
  lab_bench_open(tested, &config, &here);
  lab_bench_open(kernels_find("cpu"), &config, &there);
  for (int i = 0; i < STATES; i++) {
    double of[3][2];
    lab_randomise(&config, &seed, at.of[0]);
    for (int k = 0; k < 6; k++) of[k / 2][k % 2] = at.of[0][k];
    for (int k = 0; k < here.points && i % 2 == 0; k++) {
      double value[4];
      line_at(&config, of, here.place[k], value);
      at.of[0][k] = value[0];
    }
    evaluate(&here, &at, &rate);
    evaluate(&there, &at, &other);
    assert_memory_equal(rate.of[0], other.of[0], sizeof rate.of[0]);
    const balance sum = diffused(&here, of, &at, &rate);
    assert_true(sum.rate < 0.0);
    if (i % 2 == 0) worst = fmax(worst, fabs(sum.rate - sum.ends) / sum.terms);
  }
  if (precision == PRECISION_DOUBLE)
    lab_between(worst, 0.0, 1e-13, "diffusion of order %d: energy that nothing explains", order);
  lab_bench_close(&here);
  lab_bench_close(&there);
}

#define W CONFIG_END_WALL
#define F CONFIG_END_FREE
#define A CONFIG_END_ABSORBING
#define D CONFIG_END_DIRICHLET
#define O CONFIG_END_OPEN
#define P CONFIG_END_PERIODIC

static void sound_stays_between_walls_and_free_ends(void **state) {
  (void)state;
  static const config_end mixes[][3][2] = {
      {{W, W}, {W, F}, {F, W}}, {{F, F}, {P, P}, {W, W}}, {{P, P}, {W, W}, {P, P}}, {{F, W}, {F, F}, {W, F}}};
  for (int order = 2; order <= 8; order += 2)
    for (int i = 0; i < 4; i++)
      sound(order, order == 4 && i == 2 ? PRECISION_SINGLE : PRECISION_DOUBLE, mixes[i], 0);
  sound(8, PRECISION_DOUBLE, mixes[0], 1);
}

static void sound_leaves_by_absorbing_ends(void **state) {
  (void)state;
  static const config_end mixes[][3][2] = {
      {{A, A}, {A, A}, {A, A}}, {{W, A}, {A, F}, {P, P}}, {{P, P}, {F, F}, {A, W}}};
  for (int order = 2; order <= 8; order += 2) {
    for (int i = 0; i < 3; i++) sound(order, PRECISION_DOUBLE, mixes[i], 0);
    sound(order, PRECISION_SINGLE, mixes[1], 0);
  }
}

static void what_is_carried_enters_and_leaves(void **state) {
  (void)state;
  double weights[UNKNOWNS] = {1.0};
  for (int order = 2; order <= 8; order += 2) {
    for (int axes = 1; axes < 8; axes += 2) {
      config config = config_of(EQUATION_advection, order, axes == 5 ? PRECISION_SINGLE : PRECISION_DOUBLE);
      for (int d = 0; d < 3; d++)
        if (axes >> d & 1) set_ends(&config, d, CONFIG_END_OPEN, CONFIG_END_OPEN);
      if (axes == 3) (void)strcpy(config.entering, "0");
      check(&config, weights, carried_leaves, 0, STATES);
      if (axes < 5) continue;
      config.form = FORM_SKEW;
      config.velocity = velocities_find("formula");
      (void)strcpy(config.factor, "1");
      for (int d = 0; d < 3; d++) (void)strcpy(config.component[d], flow[d]);
      check(&config, weights, carried_leaves, 0, STATES);
      config.difference = CONFIG_DIFFERENCE_UPWIND;
      check(&config, weights, carried_leaves, 0, STATES);
    }
  }
}

static void what_diffuses_is_lost_to_fixed_values(void **state) {
  (void)state;
  static const config_end mixes[][3][2] = {
      {{D, D}, {D, D}, {D, D}}, {{D, O}, {P, P}, {O, D}}, {{P, P}, {D, D}, {P, P}}};
  for (int order = 2; order <= 8; order += 2) {
    for (int i = 0; i < 3; i++) diffusion(order, PRECISION_DOUBLE, mixes[i]);
    diffusion(order, PRECISION_SINGLE, mixes[1]);
  }
}

static size_t allocated;

static status allocate(kernels_context *context, kernels_memory kind, size_t bytes, void **memory) {
  allocated += kind == MEMORY_DEVICE ? bytes : 0;
  return tested->memory_allocate(context, kind, bytes, memory);
}

/* [out] fields: those of the plan. Returns the bytes that an equation and its bench allocate. */
static size_t count(const config *config, int *fields) {
  kernels counting = *tested;
  solver_needs needs;
  lab_bench b;
  counting.memory_allocate = allocate;
  allocated = 0;
  lab_bench_open(&counting, config, &b);
  const size_t taken = allocated;
  solver_estimate(config, b.equation, &b.grid, counting.host_memory, &needs);
  *fields = needs.fields;
  lab_bench_close(&b);
  return taken;
}

static void ends_store_only_tables_of_rows(void **state) {
  (void)state;
  static const size_t rows = 1 << 14;
  static const struct {
    int equation;
    config_end kind;
  } cases[] = {{EQUATION_acoustics, CONFIG_END_WALL}, {EQUATION_advection, CONFIG_END_OPEN}};
  for (int i = 0; i < 2; i++) {
    config config = config_of(cases[i].equation, 8, PRECISION_DOUBLE);
    int before, after;
    const size_t periodic = count(&config, &before);
    for (int d = 0; d < 3; d++) set_ends(&config, d, cases[i].kind, cases[i].kind);
    const size_t ended = count(&config, &after);
    assert_int_equal(after, before);
    assert_true(ended <= periodic + rows);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sound_stays_between_walls_and_free_ends),
      cmocka_unit_test(sound_leaves_by_absorbing_ends),
      cmocka_unit_test(what_is_carried_enters_and_leaves),
      cmocka_unit_test(what_diffuses_is_lost_to_fixed_values),
      cmocka_unit_test(ends_store_only_tables_of_rows),
  };
  tested = kernels_find(argc > 1 ? argv[1] : "cpu");
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
