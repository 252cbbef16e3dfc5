/* Limits of control groups, on trees as the kernel's documentation shows them. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/groups.h"
#include "tree.h"

static char groups[64];

static int open_groups(void **state) {
  if (tree_open(state) != 0) return -1;
  (void)snprintf(groups, sizeof groups, "%s/groups", tree_root);
  return 0;
}

static void test_memory_unified(void **state) {
  (void)state;
  tree_make("job");
  tree_make("job/step");
  tree_put("groups", "0::/job/step\n");
  tree_put("job/memory.max", "1000000\n");
  tree_put("job/memory.current", "300000\n");
  tree_put("job/memory.stat", "anon 200000\ninactive_file 60000\nactive_file 40000\n");
  tree_put("job/step/memory.max", "max\n");
  tree_put("job/step/memory.current", "250000\n");
  assert_int_equal(groups_memory(groups, tree_root), 1000000 - 300000 + 60000); /* the group above decides */
  tree_put("job/step/memory.max", "400000\n");
  assert_int_equal(groups_memory(groups, tree_root), 400000 - 250000);
  tree_put("job/step/memory.max", "200000\n");
  assert_int_equal(groups_memory(groups, tree_root), 0);
}

static void test_memory_controller(void **state) {
  (void)state;
  tree_make("memory");
  tree_make("memory/job");
  tree_put("groups", "5:cpuset:/job\n4:memory:/job\n0::/elsewhere\n");
  tree_put("memory/memory.limit_in_bytes", "9223372036854771712\n");
  tree_put("memory/memory.usage_in_bytes", "5000000\n");
  tree_put("memory/job/memory.limit_in_bytes", "800000\n");
  tree_put("memory/job/memory.usage_in_bytes", "500000\n");
  tree_put("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
  assert_int_equal(groups_memory(groups, tree_root), 800000 - 500000 + 100000);
}

/* Quotas of 1, 2 and 2.5 processors; the least of the groups counts. */
static void test_processors_unified(void **state) {
  (void)state;
  tree_put("groups", "0::/job/step\n");
  tree_put("job/cpu.max", "250000 100000\n");
  tree_put("job/step/cpu.max", "max 100000\n");
  assert_int_equal(groups_processors(groups, tree_root), 2);
  tree_put("job/step/cpu.max", "100000 50000\n");
  assert_int_equal(groups_processors(groups, tree_root), 2);
  tree_put("job/step/cpu.max", "100000 100000\n");
  assert_int_equal(groups_processors(groups, tree_root), 1);
  tree_put("job/step/cpu.max", "20000 100000\n");
  assert_int_equal(groups_processors(groups, tree_root),
                   1); /* a fifth of one: there is a thread all the same */
  tree_put("job/cpu.max", "max 100000\n");
  tree_put("job/step/cpu.max", "max 100000\n");
  assert_int_equal(groups_processors(groups, tree_root), INT_MAX);
}

/* Version 1 mounts cpu and cpuacct together; /sys/fs/cgroup/cpu leads there, too. */
static void test_processors_controller(void **state) {
  (void)state;
  tree_make("cpu");
  tree_make("cpu/job");
  tree_put("groups", "5:cpuset:/job\n4:cpu,cpuacct:/job\n0::/elsewhere\n");
  tree_put("cpu/cpu.cfs_quota_us", "-1\n");
  tree_put("cpu/cpu.cfs_period_us", "100000\n");
  tree_put("cpu/job/cpu.cfs_quota_us", "400000\n");
  tree_put("cpu/job/cpu.cfs_period_us", "100000\n");
  assert_int_equal(groups_processors(groups, tree_root), 4);
  tree_put("cpu/cpu.cfs_quota_us", "300000\n");
  assert_int_equal(groups_processors(groups, tree_root), 3);
  tree_put("groups", "5:cpuset:/job\n3:cpuacct:/job\n");
  assert_int_equal(groups_processors(groups, tree_root), INT_MAX);
}

static void test_none(void **state) {
  (void)state;
  assert_true(groups_memory("/nonexistent", tree_root) == SIZE_MAX);
  tree_put("groups", "0::/nowhere\nnonsense\n");
  assert_true(groups_memory(groups, tree_root) == SIZE_MAX);
  assert_int_equal(groups_processors("/nonexistent", tree_root), INT_MAX);
  assert_int_equal(groups_processors(groups, tree_root), INT_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory_unified), cmocka_unit_test(test_memory_controller),
      cmocka_unit_test(test_processors_unified), cmocka_unit_test(test_processors_controller),
      cmocka_unit_test(test_none)};
  return cmocka_run_group_tests(tests, open_groups, tree_close);
}
