/* Limits of control groups, on trees as the kernel's documentation shows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cpu.h"

static char root[] = "/tmp/fdapp_groups_XXXXXX";
static char groups[64];

static void put(const char *name, const char *text) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", root, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void make(const char *name) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", root, name);
  assert_int_equal(mkdir(path, 0777), 0);
}

static int open_root(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return -1;
  (void)snprintf(groups, sizeof groups, "%s/groups", root);
  return 0;
}

static int close_root(void **state) {
  (void)state;
  char command[128];
  (void)snprintf(command, sizeof command, "rm -r %s", root);
  return system(command);
}

static void test_unified(void **state) {
  (void)state;
  make("job");
  make("job/step");
  put("groups", "0::/job/step\n");
  put("job/memory.max", "1000000\n");
  put("job/memory.current", "300000\n");
  put("job/memory.stat", "anon 200000\ninactive_file 60000\nactive_file 40000\n");
  put("job/step/memory.max", "max\n");
  put("job/step/memory.current", "250000\n");
  assert_int_equal(memory_limit_cpu(groups, root), 1000000 - 300000 + 60000); /* the group above decides */
  put("job/step/memory.max", "400000\n");
  assert_int_equal(memory_limit_cpu(groups, root), 400000 - 250000);
  put("job/step/memory.max", "200000\n");
  assert_int_equal(memory_limit_cpu(groups, root), 0);
}

static void test_controller(void **state) {
  (void)state;
  make("memory");
  make("memory/job");
  put("groups", "5:cpuset:/job\n4:memory:/job\n0::/elsewhere\n");
  put("memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("memory/memory.usage_in_bytes", "5000000\n");
  put("memory/job/memory.limit_in_bytes", "800000\n");
  put("memory/job/memory.usage_in_bytes", "500000\n");
  put("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
  assert_int_equal(memory_limit_cpu(groups, root), 800000 - 500000 + 100000);
}

static void test_none(void **state) {
  (void)state;
  assert_true(memory_limit_cpu("/nonexistent", root) == SIZE_MAX);
  put("groups", "0::/nowhere\nnonsense\n");
  assert_true(memory_limit_cpu(groups, root) == SIZE_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_unified), cmocka_unit_test(test_controller),
                                     cmocka_unit_test(test_none)};
  return cmocka_run_group_tests(tests, open_root, close_root);
}
