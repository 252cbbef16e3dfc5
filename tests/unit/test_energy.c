/* Counters of energy: RAPL on trees as the kernel shows them (Documentation/power/powercap), NVML by a
 * stand-in. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "app/energy.h"
#include "tree.h"

static energy meter;

static int empty(void **state) {
  char command[128];
  (void)state;
  (void)snprintf(command, sizeof command, "rm -rf %s/*", tree_root);
  return system(command);
}

static void put_package(const char *zone, const char *name, const char *microjoules) {
  char path[64];
  tree_make(zone);
  (void)snprintf(path, sizeof path, "%s/name", zone);
  tree_put(path, name);
  (void)snprintf(path, sizeof path, "%s/max_energy_range_uj", zone);
  tree_put(path, "262143328850\n");
  (void)snprintf(path, sizeof path, "%s/energy_uj", zone);
  tree_put(path, microjoules);
}

/* Two packages of 3 J and 4 J; what is inside a package, and the platform, are not counted besides. */
static void test_packages(void **state) {
  (void)state;
  put_package("intel-rapl:0", "package-0\n", "1000000\n");
  put_package("intel-rapl:1", "package-1\n", "2000000\n");
  put_package("intel-rapl:0:0", "core\n", "1000000\n");
  put_package("intel-rapl:2", "psys\n", "1000000\n");
  energy_open(&meter, NULL, NULL, tree_root);
  assert_string_equal(meter.reason, "");
  assert_int_equal(meter.meters, 2);
  tree_put("intel-rapl:0/energy_uj", "4000000\n");
  tree_put("intel-rapl:1/energy_uj", "6000000\n");
  tree_put("intel-rapl:0:0/energy_uj", "9000000\n");
  energy_read(&meter);
  assert_true(meter.joules == 7.0);
  energy_close(&meter);
}

/* A counter that starts again, twice, has been read in between. */
static void test_counter_starts_again(void **state) {
  (void)state;
  put_package("intel-rapl:0", "package-0\n", "262143000000\n");
  energy_open(&meter, NULL, NULL, tree_root);
  tree_put("intel-rapl:0/energy_uj", "671150\n");
  energy_read(&meter);
  assert_true(fabs(meter.joules - (1.0)) < 1e-9);
  tree_put("intel-rapl:0/energy_uj", "262143328850\n");
  energy_read(&meter);
  tree_put("intel-rapl:0/energy_uj", "0\n");
  energy_read(&meter);
  assert_true(fabs(meter.joules - (1.0 + 262142.6577)) < 1e-6);
  energy_close(&meter);
}

static void test_without_packages(void **state) {
  (void)state;
  energy_open(&meter, NULL, NULL, tree_root);
  assert_string_equal(meter.reason, "the kernel shows no RAPL counters here");
  energy_read(&meter);
  assert_true(meter.meters == 0 && meter.joules == 0.0);
  tree_make("intel-rapl:0");
  tree_put("intel-rapl:0/name", "package-0\n"); /* no counter beside it: as for a user who may not read it */
  energy_open(&meter, NULL, NULL, tree_root);
  assert_string_equal(meter.reason, "RAPL's counters may not be read by this user");
}

/* Between the beginning and the end a counter is read once a second. */
static void test_watched(void **state) {
  (void)state;
  put_package("intel-rapl:0", "package-0\n", "1000000\n");
  energy_open(&meter, NULL, NULL, tree_root);
  meter.started += 1000.0; /* no time of this test can become a second */
  tree_put("intel-rapl:0/energy_uj", "3000000\n");
  energy_watch(&meter);
  assert_true(meter.joules == 0.0);
  meter.started -= 1001.0;
  energy_watch(&meter);
  assert_true(meter.joules == 2.0);
  energy_close(&meter);
}

/* A counter that is gone in the middle leaves no figure, not a smaller one. */
static void test_packages_that_vanish(void **state) {
  (void)state;
  put_package("intel-rapl:0", "package-0\n", "1000000\n");
  energy_open(&meter, NULL, NULL, tree_root);
  tree_put("intel-rapl:0/energy_uj", "none\n");
  energy_read(&meter);
  assert_string_equal(meter.reason, "RAPL's counters could not be read to the end");
  assert_int_equal(meter.meters, 0);
}

static void test_gpu(void **state) {
  (void)state;
  assert_int_equal(setenv("MILLIJOULES", "123456789", 1), 0);
  energy_open(&meter, "GPU-right", NVML_STAND_IN, tree_root);
  assert_string_equal(meter.reason, "");
  assert_int_equal(meter.meters, 1);
  assert_true(meter.power_limit == 700.0);
  assert_int_equal(setenv("MILLIJOULES", "123458289", 1), 0);
  energy_read(&meter);
  assert_true(meter.joules == 1.5 && meter.clock == 1980.0);
  assert_int_equal(unsetenv("MILLIJOULES"), 0);
  energy_read(&meter);
  assert_string_equal(meter.reason, "the device's counter could not be read to the end");
  energy_close(&meter);
  energy_open(&meter, "GPU-right", NVML_STAND_IN, tree_root);
  assert_string_equal(meter.reason, "the device has neither a counter of energy nor one of power");
  energy_close(&meter);
  energy_open(&meter, "GPU-other", NVML_STAND_IN, tree_root);
  assert_string_equal(meter.reason, "NVML does not give access to the device");
  energy_close(&meter);
  energy_open(&meter, "GPU-right", "libnowhere.so.1", tree_root);
  assert_string_equal(meter.reason, "NVML, a part of the driver, is not found");
  energy_read(&meter);
  assert_int_equal(meter.meters, 0);
  energy_close(&meter);
}

/* Without a counter of energy, power is integrated: 100 W that rise to 300 W are 200 W on average. A power
 * that cannot be read in the middle leaves no figure. */
static void test_gpu_power(void **state) {
  (void)state;
  assert_int_equal(setenv("MILLIWATTS", "100000", 1), 0);
  energy_open(&meter, "GPU-right", NVML_STAND_IN, tree_root);
  assert_string_equal(meter.reason, "");
  assert_string_equal(meter.method, "nvmlDeviceGetPowerUsage, integrated over time");
  assert_true(meter.meters == 1 && meter.power_limit == 700.0);
  meter.started -= 2.0;
  meter.read -= 2.0;
  assert_int_equal(setenv("MILLIWATTS", "300000", 1), 0);
  energy_read(&meter);
  assert_true(fabs(meter.joules / (200.0 * meter.seconds) - 1.0) < 1e-3);
  assert_int_equal(setenv("MILLIWATTS", "500000", 1), 0);
  energy_watch(&meter); /* however short ago the last reading was */
  assert_true(meter.watts == 500.0);
  assert_int_equal(setenv("MILLIWATTS", "300000", 1), 0);
  energy_watch(&meter);
  const double before = meter.joules, seconds = meter.seconds;
  meter.started -= 1.0;
  meter.read -= 1.0;
  energy_read(&meter);
  assert_true(fabs((meter.joules - before) / (300.0 * (meter.seconds - seconds)) - 1.0) < 1e-3);
  assert_int_equal(unsetenv("MILLIWATTS"), 0);
  energy_read(&meter);
  assert_string_equal(meter.reason, "the device's counter could not be read to the end");
  assert_int_equal(meter.meters, 0);
  energy_close(&meter);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_packages, empty, NULL),
      cmocka_unit_test_setup_teardown(test_counter_starts_again, empty, NULL),
      cmocka_unit_test_setup_teardown(test_watched, empty, NULL),
      cmocka_unit_test_setup_teardown(test_without_packages, empty, NULL),
      cmocka_unit_test_setup_teardown(test_packages_that_vanish, empty, NULL),
      cmocka_unit_test_setup_teardown(test_gpu, empty, NULL),
      cmocka_unit_test_setup_teardown(test_gpu_power, empty, NULL),
  };
  return cmocka_run_group_tests(tests, tree_open, tree_close);
}
