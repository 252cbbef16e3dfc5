/* What the two outputs are written in: mpirun forwards each write as it comes, so that parts of lines mix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

/* The place of both outputs during a test. Each write is a message of its own, which one read takes. */
static int seen, before[2];

static int open_outputs(void **state) {
  int ends[2];
  (void)state;
  (void)fflush(stdout);
  for (int i = 0; i < 2; i++) before[i] = dup(STDOUT_FILENO + i);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return -1;
  seen = ends[0];
  for (int i = 0; i < 2; i++) (void)dup2(ends[1], STDOUT_FILENO + i);
  (void)close(ends[1]);
  log_init(1);
  return fcntl(seen, F_SETFL, O_NONBLOCK);
}

static int close_outputs(void **state) {
  (void)state;
  (void)fflush(stdout);
  for (int i = 0; i < 2; i++) (void)dup2(before[i], STDOUT_FILENO + i);
  for (int i = 0; i < 2; i++) (void)close(before[i]);
  return close(seen);
}

static void expect(const char *text) {
  char got[8192] = "";
  const ssize_t length = read(seen, got, sizeof got - 1);
  assert_int_equal(length, text == NULL ? -1 : (ssize_t)strlen(text));
  if (text != NULL) assert_string_equal(got, text);
}

static void test_a_warning_is_one_write(void **state) {
  (void)state;
  log_warning("%d of %s", 3, "five");
  expect("fdapp: warning: 3 of five\n");
  log_error("no such file");
  expect("fdapp: error: no such file\n");
  expect(NULL);
}

static void test_a_line_is_one_write(void **state) {
  (void)state;
  log_info("grid %d", 4);
  log_info(" x %d", 5);
  expect(NULL);
  log_info("\n");
  expect("grid 4 x 5\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_warning_is_one_write, open_outputs, close_outputs),
      cmocka_unit_test_setup_teardown(test_a_line_is_one_write, open_outputs, close_outputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
