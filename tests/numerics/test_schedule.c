/* When steps happen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "equations/advection.h"
#include "stepping/schedule.h"

static config case_of(double courant, double dt, double t_end, int64_t steps) {
  config config;
  memset(&config, 0, sizeof config);
  config.courant = courant;
  config.dt = dt;
  config.t_end = t_end;
  config.steps = steps;
  config.order = 8;
  return config;
}

static schedule made(const config *config, double rate) {
  const schedule_rates rates = {.advection = rate};
  schedule schedule;
  assert_int_equal(schedule_make(config, &rates, &schedule), STATUS_OK);
  return schedule;
}

/* Times rise by the steps' sizes from 0 to the end, whatever the step. */
static void check_times(const schedule *schedule, double end) {
  assert_true(schedule_time(schedule, 0) == 0.0);
  assert_true(schedule_time(schedule, schedule->last_step) == end);
  for (int64_t n = 1; n <= schedule->last_step; n++) {
    const double dt = schedule_dt(schedule, n);
    const double difference = schedule_time(schedule, n) - schedule_time(schedule, n - 1);
    assert_true(dt > 0.0 && dt <= schedule->dt * (1.0 + 1e-8));
    assert_true(fabs(difference - dt) < 1e-12 * end);
  }
  assert_true(schedule->last_step == 0 || schedule_dt(schedule, 0) == schedule_dt(schedule, 1));
}

static void test_step_size(void **state) {
  (void)state;
  const config by_courant = case_of(0.8, 0.0, -1.0, 10);
  assert_true(made(&by_courant, 4.0).dt == 0.2);
  const config given = case_of(0.0, 0.125, -1.0, 10);
  assert_true(made(&given, 4.0).dt == 0.125);
  /* Nothing moves but what spreads: courant is of kappa dt sum 1/h^2 = 0.5 (100 + 25 + 6.25). */
  config spreading = by_courant;
  spreading.diffusivity = 0.5;
  const grid grid = {.n = {10, 10, 10}, .l = {1.0, 2.0, 4.0}, .h = {0.1, 0.2, 0.4}, .ranks = 1, .nz = 10};
  schedule_rates rates = {0};
  schedule schedule;
  assert_int_equal(advection_equation.rates(&spreading, &grid, &rates), STATUS_OK);
  assert_true(rates.advection == 0.0);
  assert_int_equal(schedule_make(&spreading, &rates, &schedule), STATUS_OK);
  assert_true(fabs(schedule.dt - 0.8 / 65.625) < 1e-17);
  /* What moves along y alone. */
  spreading.uniform[1] = -2.0;
  assert_int_equal(advection_equation.rates(&spreading, &grid, &rates), STATUS_OK);
  assert_true(fabs(rates.advection - 10.0) < 1e-14 && rates.along[0] == 0.0);
  assert_true(fabs(rates.other - 65.625) < 1e-13);
}

static void test_nothing_moves(void **state) {
  (void)state;
  const config config = case_of(0.8, 0.0, -1.0, 10);
  schedule schedule;
  assert_int_equal(schedule_make(&config, &(const schedule_rates){0}, &schedule), STATUS_USAGE);
  status_clear();
}

static void test_steps_given(void **state) {
  (void)state;
  const config config = case_of(0.0, 0.1, -1.0, 7);
  const schedule schedule = made(&config, 1.0);
  assert_int_equal(schedule.last_step, 7);
  check_times(&schedule, 7 * 0.1);
  for (int64_t n = 0; n <= 7; n++) assert_true(schedule_dt(&schedule, n) == 0.1);
}

/* The last step lands on t_end: exactly, and shorter than the others if it must. */
static void test_end_given(void **state) {
  (void)state;
  static const struct {
    double dt, end;
    int64_t steps;
  } cases[] = {
      {0.1, 0.35, 4},  /* the last one half as long */
      {0.1, 0.3, 3},   /* 0.3/0.1 is 2.9999999999999996 in double */
      {0.1, 0.7, 7},   /* 0.7/0.1 is 6.999999999999999 */
      {0.1, 1.1, 11},  /* 1.1/0.1 is 11.000000000000002 */
      {0.1, 0.05, 1},  /* one step, shorter than dt */
      {0.1, 1e-12, 1}, /* a remainder is round-off only beside whole steps */
      {0.25, 1.0, 4},    {0.3, 1.0, 4}, {0.1, 0.30001, 4}, /* a small step of its own */
      {1e-3, 3.0, 3000}, {0.1, 0.0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const config config = case_of(0.0, cases[i].dt, cases[i].end, -1);
    const schedule schedule = made(&config, 1.0);
    assert_int_equal(schedule.last_step, cases[i].steps);
    check_times(&schedule, cases[i].end);
  }
}

/* A remainder of a billionth of a step joins the last step instead of becoming one. */
static void test_tiny_remainder(void **state) {
  (void)state;
  const config joined = case_of(0.0, 0.1, 0.5 + 1e-11, -1);
  assert_int_equal(made(&joined, 1.0).last_step, 5);
  const schedule schedule = made(&joined, 1.0);
  assert_true(schedule_time(&schedule, 5) == 0.5 + 1e-11);
  const config apart = case_of(0.0, 0.1, 0.5 + 1e-8, -1);
  assert_int_equal(made(&apart, 1.0).last_step, 6);
}

/* Beyond 8.4e6 steps a billionth of one is below the spacing of doubles: round-off is measured in that. */
static void test_many_steps(void **state) {
  (void)state;
  static const struct {
    double dt, end;
    int64_t steps;
  } cases[] = {{1e-8, 0.28, 28000000}, {1.8e-8, 0.9, 50000000}, {1e-8, 0.280000005, 28000001}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const config config = case_of(0.0, cases[i].dt, cases[i].end, -1);
    const schedule schedule = made(&config, 1.0);
    assert_int_equal(schedule.last_step, cases[i].steps);
    assert_true(schedule_dt(&schedule, schedule.last_step) > 0.4 * cases[i].dt);
  }
}

static void test_too_many_steps(void **state) {
  (void)state;
  const config config = case_of(0.8, 0.0, 1e20, -1);
  schedule schedule;
  assert_int_equal(schedule_make(&config, &(const schedule_rates){.advection = 1.0}, &schedule),
                   STATUS_USAGE);
  status_clear();
}

/* From any step, with the dt and the basis of the state: the same bits of time and step as without a stop. */
static void test_resume_keeps_bits(void **state) {
  (void)state;
  const config config = case_of(0.73, 0.0, 1.7, -1);
  const schedule whole = made(&config, 7.0);
  for (int64_t stop = 0; stop <= whole.last_step; stop++) {
    schedule resumed = made(&config, 7.0);
    schedule_resume(&resumed, &config, stop, schedule_time(&whole, stop), whole.dt, whole.base_step,
                    whole.base_time);
    assert_int_equal(resumed.last_step, whole.last_step);
    for (int64_t n = stop; n <= whole.last_step; n++) {
      assert_true(schedule_time(&resumed, n) == schedule_time(&whole, n));
      if (n > stop) assert_true(schedule_dt(&resumed, n) == schedule_dt(&whole, n));
    }
  }
}

/* Another dt: a new basis at the state, nothing before it moved; a stop after that keeps that basis. */
static void test_resume_with_another_step(void **state) {
  (void)state;
  const config config = case_of(0.0, 0.05, 1.0, -1);
  schedule second = made(&config, 1.0);
  schedule_resume(&second, &config, 3, 0.3 * 1.0, 0.1, 0, 0.0);
  assert_int_equal(second.base_step, 3);
  assert_true(schedule_time(&second, 3) == 0.3);
  assert_true(schedule_time(&second, 4) == 0.3 + 0.05);
  assert_int_equal(second.last_step, 17);
  assert_true(schedule_time(&second, 17) == 1.0);

  schedule third = made(&config, 1.0);
  schedule_resume(&third, &config, 9, schedule_time(&second, 9), second.dt, second.base_step,
                  second.base_time);
  assert_int_equal(third.base_step, 3);
  for (int64_t n = 9; n <= 17; n++) assert_true(schedule_time(&third, n) == schedule_time(&second, n));
}

/* A run that landed on its t_end with a short step goes on to a later one: from there, not from a multiple.
 */
static void test_resume_beyond_a_landing(void **state) {
  (void)state;
  const config first = case_of(0.0, 0.1, 0.35, -1);
  const schedule landed = made(&first, 1.0);
  const config later = case_of(0.0, 0.1, 0.75, -1);
  schedule resumed = made(&later, 1.0);
  schedule_resume(&resumed, &later, 4, schedule_time(&landed, 4), landed.dt, landed.base_step,
                  landed.base_time);
  assert_int_equal(resumed.base_step, 4);
  assert_true(schedule_time(&resumed, 4) == 0.35);
  assert_true(schedule_time(&resumed, 5) == 0.35 + 0.1);
  assert_int_equal(resumed.last_step, 8);
  assert_true(schedule_time(&resumed, 8) == 0.75);
}

/* The size of the step that ended at a state is what its run says, whatever the state's new run does. */
static void test_resume_keeps_the_step_that_led_there(void **state) {
  (void)state;
  static const double ends[] = {0.35, 0.3,
                                0.05}; /* a shorter last step, whole ones, one shorter step alone */
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    const config first = case_of(0.0, 0.1, ends[i], -1);
    const schedule whole = made(&first, 1.0);
    const int64_t last = whole.last_step;
    schedule resumed = made(&first, 1.0);
    schedule_resume(&resumed, &first, last, schedule_time(&whole, last), whole.dt, 0, 0.0);
    assert_int_equal(resumed.last_step, last);
    assert_true(schedule_dt(&resumed, last) == schedule_dt(&whole, last));
  }
  /* With another dt from here on, and further; the row of the first step says what led to it. */
  const config other = case_of(0.0, 0.07, 0.9, -1);
  schedule resumed = made(&other, 1.0);
  schedule_resume(&resumed, &other, 2, 0.2, 0.1, 0, 0.0);
  assert_true(schedule_dt(&resumed, 2) == 0.1);
  assert_true(schedule_dt(&resumed, 3) == 0.07);
  schedule_resume(&resumed, &other, 4, 0.35, 0.1, 0, 0.0);
  assert_true(schedule_dt(&resumed, 4) == 0.35 - 3 * 0.1);
}

/* A state at the end, or past it: nothing to do, and no step backwards. */
static void test_resume_at_the_end(void **state) {
  (void)state;
  const config config = case_of(0.0, 0.1, 0.3, -1);
  const schedule whole = made(&config, 1.0);
  schedule resumed = made(&config, 1.0);
  schedule_resume(&resumed, &config, 3, schedule_time(&whole, 3), whole.dt, 0, 0.0);
  assert_int_equal(resumed.last_step, 3);
  schedule beyond = made(&config, 1.0);
  schedule_resume(&beyond, &config, 5, 0.5, 0.1, 0, 0.0);
  assert_true(beyond.last_step <= 5);
}

static double swing(const config *config, double time) {
  return cos(acos(-1.0) * time / config->period);
}

static schedule adapted(const config *config) {
  const schedule_rates rates = {.advection = 7.0, .factor = swing};
  schedule schedule;
  assert_int_equal(schedule_make(config, &rates, &schedule), STATUS_OK);
  return schedule;
}

/* Takes the step after the basis; [out] its start and size. */
static void take_step(schedule *schedule, double *time, double *dt) {
  *time = schedule_time(schedule, schedule->base_step);
  *dt = schedule_dt(schedule, schedule->base_step + 1);
  const double end = schedule_time(schedule, schedule->base_step + 1);
  schedule_advance(schedule);
  assert_true(schedule_time(schedule, schedule->base_step) == end);
  assert_true(schedule_dt(schedule, schedule->base_step) == *dt);
}

/* The Courant number of the velocity within each step is at most the one asked for, at any time of it, and
 * near it where the velocity is not small; the last step meets the end. */
static void test_adaptive_keeps_the_courant_number(void **state) {
  (void)state;
  config config = case_of(0.2, 0.0, 3.1, -1);
  config.period = 2.0;
  schedule schedule = adapted(&config);
  const int64_t last = schedule.last_step;
  const double end = schedule_time(&schedule, last);
  assert_true(end == 3.1);
  while (schedule.base_step < last) {
    double time, dt, largest = 0.0;
    take_step(&schedule, &time, &dt);
    for (int i = 0; i <= 100; i++)
      largest = fmax(largest, 7.0 * dt * fabs(swing(&config, time + 0.01 * i * dt)));
    assert_true(largest <= 0.2 * (1.0 + 1e-3));
    assert_true(dt <= 10.0 * (1.0 + 1e-12) * 0.2 / 7.0);
    if (schedule.base_step < last && fabs(swing(&config, time)) > 0.5) assert_true(largest > 0.19);
  }
  assert_true(schedule_time(&schedule, last) == end);
  /* A step of one size takes 109 of them. */
  assert_in_range(last, 50, 85);
}

/* Of a velocity that turns round within a step, or hardly changes in it, the schedule knows the largest
 * Courant number. */
static void test_adaptive_tells_the_courant_number(void **state) {
  (void)state;
  static const double periods[] = {0.05, 0.1, 2.0};
  double most = 0.0;
  for (int k = 0; k < 3; k++) {
    config config = case_of(0.3, 0.0, 3.1, -1);
    config.period = periods[k];
    schedule schedule = adapted(&config);
    const double told = schedule.reached;
    double largest = 0.0;
    while (schedule.base_step < schedule.last_step) {
      double time, dt;
      take_step(&schedule, &time, &dt);
      for (int i = 0; i <= 1000; i++)
        largest = fmax(largest, 7.0 * dt * fabs(swing(&config, time + 0.001 * i * dt)));
    }
    assert_true(fabs(told - largest / 0.3) <= 0.01 * told);
    most = fmax(most, told);
  }
  assert_true(most > 1.2);
}

/* From any state, with what it stores: the same times and sizes, and the same end, as without a stop. */
static void test_adaptive_resume_keeps_bits(void **state) {
  (void)state;
  for (int lands = 0; lands < 2; lands++) {
    config config = case_of(0.9, 0.0, lands ? 1.7 : -1.0, lands ? -1 : 9);
    config.period = 0.8;
    schedule whole = adapted(&config);
    while (whole.base_step < whole.last_step) {
      schedule resumed = adapted(&config);
      const int64_t at = whole.base_step;
      schedule_resume(&resumed, &config, at, schedule_time(&whole, at), schedule_stored_dt(&whole, at),
                      whole.base_step, whole.base_time);
      assert_int_equal(resumed.last_step, whole.last_step);
      assert_true(schedule_time(&resumed, resumed.last_step) == schedule_time(&whole, whole.last_step));
      assert_true(schedule_dt(&resumed, at) == schedule_dt(&whole, at));
      assert_true(schedule_dt(&resumed, at + 1) == schedule_dt(&whole, at + 1));
      assert_true(schedule_time(&resumed, at + 1) == schedule_time(&whole, at + 1));
      schedule_advance(&whole);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_step_size),
      cmocka_unit_test(test_adaptive_keeps_the_courant_number),
      cmocka_unit_test(test_adaptive_tells_the_courant_number),
      cmocka_unit_test(test_adaptive_resume_keeps_bits),
      cmocka_unit_test(test_nothing_moves),
      cmocka_unit_test(test_steps_given),
      cmocka_unit_test(test_end_given),
      cmocka_unit_test(test_tiny_remainder),
      cmocka_unit_test(test_many_steps),
      cmocka_unit_test(test_too_many_steps),
      cmocka_unit_test(test_resume_keeps_bits),
      cmocka_unit_test(test_resume_with_another_step),
      cmocka_unit_test(test_resume_beyond_a_landing),
      cmocka_unit_test(test_resume_keeps_the_step_that_led_there),
      cmocka_unit_test(test_resume_at_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
