/* Sizes of caches, on trees as the kernel's documentation shows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

#include "cpu.h"
#include "tree.h"

static void put_fact(const char *directory, const char *name, const char *text) {
  char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  tree_put(path, text);
}

static void put_cache(const char *directory, const char *level, const char *size, const char *map) {
  tree_make(directory);
  put_fact(directory, "level", level);
  put_fact(directory, "size", size);
  put_fact(directory, "shared_cpu_map", map);
}

/* Eight cores that share 32 MiB, of a processor with more such caches; another with four in a second map
 * word. */
static void test_shared(void **state) {
  (void)state;
  tree_make("cpu9");
  tree_make("cpu9/cache");
  put_cache("cpu9/cache/index0", "1\n", "48K\n", "00000200\n");
  put_cache("cpu9/cache/index1", "1\n", "32K\n", "00000200\n");
  put_cache("cpu9/cache/index2", "2\n", "1024K\n", "00000200\n");
  put_cache("cpu9/cache/index3", "3\n", "32768K\n", "0000ff00\n");
  const size_t one = (size_t)32768 * 1024;
  assert_int_equal(last_cache_cpu(tree_root, 9, 1), one);
  assert_int_equal(last_cache_cpu(tree_root, 9, 8), one);
  assert_int_equal(last_cache_cpu(tree_root, 9, 9), 2 * one);
  assert_int_equal(last_cache_cpu(tree_root, 9, 64), 8 * one);
  tree_put("cpu9/cache/index3/shared_cpu_map", "0000000f,00000000\n");
  assert_int_equal(last_cache_cpu(tree_root, 9, 4), one);
  assert_int_equal(last_cache_cpu(tree_root, 9, 5), 2 * one);
}

/* The last one need not be the third level, nor the last in the list. */
static void test_levels(void **state) {
  (void)state;
  tree_make("cpu2");
  tree_make("cpu2/cache");
  put_cache("cpu2/cache/index0", "2\n", "2048K\n", "4\n");
  put_cache("cpu2/cache/index1", "1\n", "32K\n", "4\n");
  assert_int_equal(last_cache_cpu(tree_root, 2, 1), (size_t)2048 * 1024);
}

static void test_untold(void **state) {
  (void)state;
  assert_int_equal(last_cache_cpu(tree_root, 77, 4), 0);
  tree_make("cpu3");
  tree_make("cpu3/cache");
  put_cache("cpu3/cache/index0", "3\n", "unknown\n", "1\n");
  assert_int_equal(last_cache_cpu(tree_root, 3, 4), 0);
  put_cache("cpu3/cache/index1", "4\n", "4096K\n", "\n");
  assert_int_equal(last_cache_cpu(tree_root, 3, 4), 0);
}

/* The backend goes by it. */
static void test_used(void **state) {
  (void)state;
  const kernels *backend = kernels_find("cpu");
  const kernels_setup setup = {.threads = 2};
  kernels_context *context = NULL;
  assert_int_equal(backend->context_create(&setup, &context), STATUS_OK);
  const size_t told = last_cache_cpu("/sys/devices/system/cpu", sched_getcpu(), 2);
  const size_t used = context->cache_bytes;
  backend->context_destroy(context);
  if (told == 0) skip();
  assert_int_equal(used, told);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared), cmocka_unit_test(test_levels),
                                     cmocka_unit_test(test_untold), cmocka_unit_test(test_used)};
  return cmocka_run_group_tests(tests, tree_open, tree_close);
}
