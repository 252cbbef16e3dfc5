/* Threads of a rank. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "domain/node.h"

static void test_shares(void **state) {
  (void)state;
  assert_int_equal(node_share(16, 4, INT_MAX, 4), 4);
  assert_int_equal(node_share(3, 2, INT_MAX, 2), 1);
  assert_int_equal(node_share(2, 5, INT_MAX, 5), 1); /* more ranks than processors */
  assert_int_equal(node_share(64, 1, 8, 1), 8);      /* a container's quota */
  assert_int_equal(node_share(64, 2, 8, 2), 4);
  assert_int_equal(node_share(8, 1, 8, 4),
                   2); /* four ranks bound to 8 processors each, the quota is of all */
  assert_int_equal(node_share(4, 1, 8, 1), 4); /* a quota above the processors */
  assert_int_equal(node_share(64, 1, 1, 3), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
