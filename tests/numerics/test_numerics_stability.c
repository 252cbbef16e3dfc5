/* One step multiplies a Fourier mode by the scheme's stability polynomial at the symbol of the differences;
 * below the published limits nothing grows, just above them the worst mode does. */
#include "lab.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "tableau.h"

static const double pi = 3.14159265358979323846;

/* h k* of the first difference and -h^2 times the symbol of the second, written out. */
static double first_symbol(int order, double theta) {
  switch (order) {
  case 2:
    return sin(theta);
  case 4:
    return 4.0 / 3 * sin(theta) - 1.0 / 6 * sin(2 * theta);
  case 6:
    return 3.0 / 2 * sin(theta) - 3.0 / 10 * sin(2 * theta) + 1.0 / 30 * sin(3 * theta);
  default:
    return 8.0 / 5 * sin(theta) - 2.0 / 5 * sin(2 * theta) + 8.0 / 105 * sin(3 * theta) -
           1.0 / 140 * sin(4 * theta);
  }
}

static double second_symbol(int order, double theta) {
  const double s = pow(sin(0.5 * theta), 2); /* 4 s (1 + s/3 + 8 s^2/45 + 4 s^3/35), cut off */
  const double terms[4] = {1.0, s / 3.0, 8.0 / 45.0 * s * s, 4.0 / 35.0 * s * s * s};
  double sum = 0.0;
  for (int i = 0; i < order / 2; i++) sum += terms[i];
  return 4.0 * s * sum;
}

/* -h times the symbol of the dissipation: a power of delta, 2 sin(theta/2), over 2, 12, 60, 280. */
static double dissipation_symbol(int order, double theta) {
  static const double over[4] = {2.0, 12.0, 60.0, 280.0};
  return pow(2.0 * sin(0.5 * theta), order) / over[order / 2 - 1];
}

static double complex polynomial(int scheme, double complex z) {
  return tableau_growth(tableau_of(schemes_at(scheme)->name), z);
}

/* Phase of wave m along axis d. */
static double phase_step(const config *config, int d) {
  return 2.0 * pi * config->wave_number[d] / (double)config->n[d];
}

static double complex symbol(const config *config) {
  double complex z = 0.0;
  for (int d = 0; d < 3; d++) {
    const double h = config->l[d] / (double)config->n[d];
    z -= I * config->uniform[d] * first_symbol(config->order, phase_step(config, d)) / h;
    if (config->difference == CONFIG_DIFFERENCE_UPWIND)
      z -= fabs(config->uniform[d]) * dissipation_symbol(config->order, phase_step(config, d)) / h;
    z -= config->diffusivity * second_symbol(config->order, phase_step(config, d)) / (h * h);
  }
  return z;
}

/* Re(factor e^{i k x}), x in points. */
static void fill_mode(const config *config, double complex factor, double *points) {
  int64_t i = 0;
  for (int z = 0; z < config->n[2]; z++) {
    for (int y = 0; y < config->n[1]; y++) {
      for (int x = 0; x < config->n[0]; x++) {
        const double phase =
            x * phase_step(config, 0) + y * phase_step(config, 1) + z * phase_step(config, 2);
        points[i++] = creal(factor * cexp(I * phase));
      }
    }
  }
}

/* Largest difference between one step of a mode and the mode times the polynomial. */
static double mode_error(const config *config, double dt) {
  lab lab;
  double *expected = lab_array(config);
  double *phi = lab_array(config);
  lab_open(&lab, config);
  fill_mode(config, 1.0, phi);
  lab_store(&lab, phi);
  lab_march(&lab, 0.0, dt, 1);
  lab_load(&lab, phi);
  lab_close(&lab);
  fill_mode(config, polynomial(config->scheme, dt * symbol(config)), expected);
  const double error = lab_difference(config, phi, expected);
  free(expected);
  free(phi);
  return error;
}

static void test_amplification_of_every_mode(void **state) {
  (void)state;
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    for (int order = 2; order <= 8; order += 2) {
      config config = lab_config(10, 9, 12);
      config.scheme = scheme;
      config.order = order;
      config.form = (advection_form)(order / 2 % 3);
      config.difference = (config_difference)((scheme + order / 2) % 2);
      config.diffusivity = 0.002;
      double worst = 0.0;
      for (int mode = 0; mode < 6 * 5 * 7; mode++) {
        config.wave_number[0] = mode % 6;
        config.wave_number[1] = mode / 6 % 5;
        config.wave_number[2] = mode / 30;
        worst = fmax(worst, mode_error(&config, 0.04));
      }
      lab_between(worst, 0.0, 2e-14, "one step of every mode, %s, order %d", schemes_at(config.scheme)->name,
                  order);
    }
  }
}

/* The growth of the square norm in one step, after `steps` steps from `start`; lab_randomise if NULL. */
typedef struct growth {
  double total, last; /* over all steps; over the last one */
} growth;

static growth measure_growth(const config *config, const double *start, double dt, int64_t steps) {
  lab lab;
  double *phi = lab_array(config);
  uint64_t seed = LAB_SEED;
  lab_open(&lab, config);
  if (start == NULL) {
    lab_randomise(config, &seed, phi);
  } else {
    for (int64_t i = 0; i < lab_points(config); i++) phi[i] = start[i];
  }
  lab_store(&lab, phi);
  const long double first = lab_squares(config, phi);
  lab_march(&lab, 0.0, dt, steps - 1);
  lab_load(&lab, phi);
  const long double before = lab_squares(config, phi);
  lab_march(&lab, 0.0, dt, 1);
  lab_load(&lab, phi);
  lab_close(&lab);
  const long double end = lab_squares(config, phi);
  free(phi);
  return (growth){(double)sqrtl(end / first), (double)sqrtl(end / before)};
}

/* Points and wave number whose phase comes closest to the largest symbol. */
static void choose_worst(int order, int *points, int *wave) {
  double best = 0.0;
  for (int n = 10; n <= 36; n++) {
    for (int m = 1; m <= n / 2; m++) {
      const double value = first_symbol(order, 2.0 * pi * m / n);
      if (value < best + 1e-9) continue;
      best = value;
      *points = n;
      *wave = m;
    }
  }
}

/* limit: of sum |c| dt/h. Random numbers hold every mode: none may grow below it. Above it the worst mode,
 * the same in all directions, grows as |R| says. */
static void check_advection_limit(int scheme, int order, double limit) {
  int n = 0, m = 0;
  choose_worst(order, &n, &m);
  config config = lab_config(n, n, n);
  config.scheme = scheme;
  config.order = order;
  double rate = 0.0;
  for (int d = 0; d < 3; d++) {
    config.uniform[d] = d == 0 ? 1.0 : 0.4;
    config.wave_number[d] = m;
    rate += config.uniform[d] * n;
  }
  const char *name = schemes_at(config.scheme)->name;
  lab_between(scheme_imaginary_limit(schemes_at(config.scheme)) / stencil_first_maximum(order),
              limit * 0.9995, limit * 1.0005, "advection limit of %s, order %d", name, order);
  const double dt = limit / rate;
  lab_between(measure_growth(&config, NULL, 0.99 * dt, 60).total, 0.0, 1.0, "0.99 x that, random numbers");
  double *mode = lab_array(&config);
  fill_mode(&config, 1.0, mode);
  const growth above = measure_growth(&config, mode, 1.01 * dt, 60);
  lab_between(measure_growth(&config, mode, 0.99 * dt, 60).last, 0.0, 0.9999,
              "0.99 x that, worst mode, each step");
  lab_between(above.last, 1.002, 2.0, "1.01 x that, worst mode, each step");
  lab_between(above.last / cabs(polynomial(scheme, 1.01 * dt * symbol(&config))), 1.0 - 1e-9, 1.0 + 1e-9,
              "1.01 x that, over |R|");
  free(mode);
}

/* The known limit over the largest symbol of order 8, and of one lower order for each scheme. */
static void test_advection_limits(void **state) {
  (void)state;
  static const double largest[] = {1.0, 1.3722, 1.5860, 1.730598}; /* of orders 2, 4, 6, 8 */
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    const double limit = tableau_of(schemes_at(scheme)->name)->imaginary;
    const int lower = 2 + 2 * (scheme % 3);
    check_advection_limit(scheme, 8, limit / largest[3]);
    check_advection_limit(scheme, lower, limit / largest[lower / 2 - 1]);
  }
}

/* The largest Courant number with which no wave along the diagonal grows by rk4 and upwind differences, and
 * the phase of the one that grows first. */
static double upwind_limit(int order, double *phase) {
  double limit = 10.0;
  for (int i = 1; i <= 1000; i++) {
    const double theta = pi * i / 1000.0;
    const double complex z = -dissipation_symbol(order, theta) - I * first_symbol(order, theta);
    double low = 0.0;
    double high = limit;
    if (cabs(polynomial(schemes_find("rk4"), high * z)) <= 1.0 + 1e-12) continue;
    for (int k = 0; k < 40; k++) {
      const double middle = 0.5 * (low + high);
      *(cabs(polynomial(schemes_find("rk4"), middle * z)) <= 1.0 + 1e-12 ? &low : &high) = middle;
    }
    limit = low;
    *phase = theta;
  }
  return limit;
}

/* Published limits of rk4 with the upwind-biased differences of order 3, 5 and 7, and that random numbers
 * keep to them. The velocity's signs differ: upwind is where it comes from. */
static void test_upwind_limits(void **state) {
  (void)state;
  static const double known[] = {1.75, 1.73, 1.69};
  for (int order = 4; order <= 8; order += 2) {
    double phase = 0.0;
    const double limit = upwind_limit(order, &phase);
    lab_between(limit, known[order / 2 - 2] - 0.006, known[order / 2 - 2] + 0.006, "limit of order %d",
                order - 1);
    config config = lab_config(24, 24, 24);
    config.scheme = schemes_find("rk4");
    config.order = order;
    config.difference = CONFIG_DIFFERENCE_UPWIND;
    double rate = 0.0;
    for (int d = 0; d < 3; d++) {
      config.uniform[d] = d == 1 ? -1.0 : 0.7;
      config.wave_number[d] = (d == 1 ? -1 : 1) * (int)lround(24 * phase / (2.0 * pi));
      rate += fabs(config.uniform[d]) * 24;
    }
    double *mode = lab_array(&config);
    fill_mode(&config, 1.0, mode);
    lab_between(measure_growth(&config, NULL, 0.99 * limit / rate, 60).total, 0.0, 1.0,
                "0.99 x that, random numbers");
    lab_between(measure_growth(&config, mode, 1.05 * limit / rate, 60).last, 1.002, 2.0,
                "1.05 x that, the mode that grows first");
    free(mode);
  }
}

/* The finest wave in every direction; nothing moves. */
static void check_diffusion_limit(int scheme, int order, double limit) {
  config config = lab_config(12, 10, 14);
  config.scheme = scheme;
  config.order = order;
  config.diffusivity = 0.7;
  double rate = 0.0;
  for (int d = 0; d < 3; d++) {
    config.uniform[d] = 0.0;
    config.wave_number[d] = (int)(config.n[d] / 2);
    rate += config.diffusivity * second_symbol(order, pi) * (double)(config.n[d] * config.n[d]);
  }
  const char *name = schemes_at(config.scheme)->name;
  lab_between(scheme_real_limit(schemes_at(config.scheme)), limit * 0.9995, limit * 1.0005,
              "diffusion limit of %s", name);
  const double dt = limit / rate;
  double *mode = lab_array(&config);
  fill_mode(&config, 1.0, mode);
  lab_between(measure_growth(&config, NULL, 0.99 * dt, 60).total, 0.0, 1.0, "0.99 x that, random numbers");
  lab_between(measure_growth(&config, mode, 0.99 * dt, 60).last, 0.0, 0.999,
              "0.99 x that, finest wave, each step");
  lab_between(measure_growth(&config, mode, 1.01 * dt, 60).last, 1.001, 2.0,
              "1.01 x that, finest wave, each step");
  free(mode);
}

static void test_diffusion_limits(void **state) {
  (void)state;
  lab_between(second_symbol(8, pi), 6.501587 - 1e-6, 6.501587 + 1e-6,
              "largest symbol of the second difference");
  for (int scheme = 0; schemes_at(scheme) != NULL; scheme++) {
    const double limit = tableau_of(schemes_at(scheme)->name)->real;
    check_diffusion_limit(scheme, 8, limit);
    check_diffusion_limit(scheme, 2 + 2 * (scheme % 3), limit);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_amplification_of_every_mode),
      cmocka_unit_test(test_advection_limits),
      cmocka_unit_test(test_upwind_limits),
      cmocka_unit_test(test_diffusion_limits),
  };
  return lab_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
