/* Limits of control groups, on trees as the kernel's documentation shows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu.h"
#include "tree.h"

static char groups[64];

static int open_groups(void **state) {
  if (tree_open(state) != 0) return -1;
  (void)snprintf(groups, sizeof groups, "%s/groups", tree_root);
  return 0;
}

static void test_unified(void **state) {
  (void)state;
  tree_make("job");
  tree_make("job/step");
  tree_put("groups", "0::/job/step\n");
  tree_put("job/memory.max", "1000000\n");
  tree_put("job/memory.current", "300000\n");
  tree_put("job/memory.stat", "anon 200000\ninactive_file 60000\nactive_file 40000\n");
  tree_put("job/step/memory.max", "max\n");
  tree_put("job/step/memory.current", "250000\n");
  assert_int_equal(memory_limit_cpu(groups, tree_root),
                   1000000 - 300000 + 60000); /* the group above decides */
  tree_put("job/step/memory.max", "400000\n");
  assert_int_equal(memory_limit_cpu(groups, tree_root), 400000 - 250000);
  tree_put("job/step/memory.max", "200000\n");
  assert_int_equal(memory_limit_cpu(groups, tree_root), 0);
}

static void test_controller(void **state) {
  (void)state;
  tree_make("memory");
  tree_make("memory/job");
  tree_put("groups", "5:cpuset:/job\n4:memory:/job\n0::/elsewhere\n");
  tree_put("memory/memory.limit_in_bytes", "9223372036854771712\n");
  tree_put("memory/memory.usage_in_bytes", "5000000\n");
  tree_put("memory/job/memory.limit_in_bytes", "800000\n");
  tree_put("memory/job/memory.usage_in_bytes", "500000\n");
  tree_put("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
  assert_int_equal(memory_limit_cpu(groups, tree_root), 800000 - 500000 + 100000);
}

static void test_none(void **state) {
  (void)state;
  assert_true(memory_limit_cpu("/nonexistent", tree_root) == SIZE_MAX);
  tree_put("groups", "0::/nowhere\nnonsense\n");
  assert_true(memory_limit_cpu(groups, tree_root) == SIZE_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_unified), cmocka_unit_test(test_controller),
                                     cmocka_unit_test(test_none)};
  return cmocka_run_group_tests(tests, open_groups, tree_close);
}
