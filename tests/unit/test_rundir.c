/* Run directories: checked without a trace, made, locked against a second run but not by a dead one, cleared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/rundir.h"
#include "tree.h"

static char *at(const char *name) {
  static char paths[4][512];
  static int turn = 0;
  turn = (turn + 1) % 4;
  (void)snprintf(paths[turn], sizeof paths[turn], "%s/%s", tree_root, name);
  return paths[turn];
}

static int there(const char *path) {
  return access(path, F_OK) == 0;
}

static int set_up(void **unused) {
  status_clear();
  return tree_open(unused);
}

static void check_leaves_no_trace(void **unused) {
  (void)unused;
  assert_int_equal(rundir_check(at("a/b/c")), STATUS_OK);
  assert_false(there(at("a")));
  assert_int_equal(rundir_check(tree_root), STATUS_OK);
  assert_int_equal(rundir_check("relative/new"), STATUS_OK);
  tree_put("file", "x");
  assert_int_equal(rundir_check(at("file")), STATUS_FILE);
  assert_non_null(strstr(status_message(STATUS_FILE), "file: is not a directory"));
  status_clear();
  assert_int_equal(rundir_check(at("file/below")), STATUS_FILE);
  assert_non_null(strstr(status_message(STATUS_FILE), "file: is not a directory"));
  status_clear();
  assert_int_equal(rundir_check(""), STATUS_FILE);
}

static void open_makes_and_clears(void **unused) {
  (void)unused;
  rundir rundir;
  assert_int_equal(rundir_open(at("a/b"), &rundir), STATUS_OK);
  rundir_close(&rundir);
  tree_put("a/b/state_00000007.hdf.partial", "half");
  tree_put("a/b/config.ini.partial", "half");
  tree_put("a/b/thesis.partial", "not ours");
  tree_put("a/b/state_00000007.hdf", "whole");
  assert_int_equal(rundir_open(at("a/b"), &rundir), STATUS_OK);
  rundir_close(&rundir);
  assert_false(there(at("a/b/state_00000007.hdf.partial")));
  assert_false(there(at("a/b/config.ini.partial")));
  assert_true(there(at("a/b/thesis.partial")));
  assert_true(there(at("a/b/state_00000007.hdf")));
}

/* A child that opens the directory, says so, and waits to be killed; the exit code says what came of it. */
static pid_t child_open(int *ready) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    rundir rundir;
    const status result = rundir_open(tree_root, &rundir);
    char answer = (char)result;
    if (write(ends[1], &answer, 1) != 1 || result != STATUS_OK)
      _exit(strstr(status_message(result), "in use by process") != NULL ? 3 : 4);
    for (;;) (void)pause();
  }
  char answer = 0;
  assert_int_equal(read(ends[0], &answer, 1), 1);
  (void)close(ends[0]);
  (void)close(ends[1]);
  *ready = answer == (char)STATUS_OK;
  return child;
}

static int finish(pid_t child, int signal_number) {
  int how = 0;
  if (signal_number != 0) assert_int_equal(kill(child, signal_number), 0);
  assert_int_equal(waitpid(child, &how, 0), child);
  return how;
}

static void second_run_is_refused(void **unused) {
  (void)unused;
  int ready = 0;
  const pid_t first = child_open(&ready);
  assert_true(ready);
  tree_put("state_00000001.hdf.partial", "being written");
  const pid_t second = child_open(&ready);
  assert_false(ready);
  assert_int_equal(WEXITSTATUS(finish(second, 0)), 3);
  /* The one that was refused has touched nothing. */
  assert_true(there(at("state_00000001.hdf.partial")));
  char owner[64];
  rundir rundir;
  assert_int_equal(rundir_open(tree_root, &rundir), STATUS_FILE);
  (void)snprintf(owner, sizeof owner, "in use by process %ld on ", (long)first);
  assert_non_null(strstr(status_message(STATUS_FILE), owner));
  status_clear();
  /* Killed without a chance to clean up: the lock is gone. */
  assert_true(WIFSIGNALED(finish(first, SIGKILL)));
  assert_int_equal(rundir_open(tree_root, &rundir), STATUS_OK);
  rundir_close(&rundir);
}

static void set_aside_loses_nothing(void **unused) {
  (void)unused;
  static const char *const ours[] = {"state_00000001.hdf",
                                     "state_123456789.hdf",
                                     "state.hdf.series",
                                     "diagnostics.csv",
                                     "config.ini",
                                     "perf.json",
                                     "hashes.csv",
                                     "probes.csv",
                                     "slices.png",
                                     "movie.gif",
                                     "history.pdf",
                                     "paraview.png",
                                     "slices_gradient.png",
                                     "movie_intensity_x.gif",
                                     "state_00000001_slices.png"};
  static const char *const others[] = {
      "state_1.hdf",     "state_00000001.hdf.txt", "notes.txt",          "figure.png",      "slices.txt",
      "previous_1/keep", "my_slices.png",          "state_1_slices.png", "history_2025.pdf"};
  rundir rundir;
  char moved[64];
  assert_int_equal(rundir_open(tree_root, &rundir), STATUS_OK);
  assert_int_equal(rundir_set_aside(&rundir, moved), STATUS_OK);
  assert_string_equal(moved, "");
  assert_false(there(at("previous_1")));
  assert_int_equal(mkdir(at("previous_1"), 0777), 0);
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) tree_put(ours[i], ours[i]);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) tree_put(others[i], "x");
  assert_int_equal(rundir_set_aside(&rundir, moved), STATUS_OK);
  assert_string_equal(moved, "previous_2");
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
    char below[128];
    (void)snprintf(below, sizeof below, "previous_2/%s", ours[i]);
    assert_true(there(at(below)));
    assert_false(there(at(ours[i])));
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) assert_true(there(at(others[i])));
  rundir_close(&rundir);
}

static void write_is_whole_or_nothing(void **unused) {
  (void)unused;
  rundir rundir;
  char text[32] = "";
  assert_int_equal(rundir_open(tree_root, &rundir), STATUS_OK);
  assert_int_equal(rundir_write(&rundir, "perf.json", "first"), STATUS_OK);
  assert_int_equal(rundir_write(&rundir, "perf.json", "second"), STATUS_OK);
  FILE *file = fopen(at("perf.json"), "r");
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  (void)fclose(file);
  assert_string_equal(text, "second");
  /* A directory in the way: refused, nothing left over, the directory as it was. */
  assert_int_equal(mkdir(at("config.ini"), 0777), 0);
  assert_int_equal(rundir_write(&rundir, "config.ini", "x"), STATUS_FILE);
  assert_false(there(at("config.ini.partial")));
  rundir_close(&rundir);
}

static void names_of_states(void **unused) {
  (void)unused;
  long long step = -1;
  assert_true(rundir_is_state("state_00000100.hdf", &step));
  assert_int_equal(step, 100);
  assert_true(rundir_is_state("state_123456789012.hdf", &step));
  assert_false(rundir_is_state("state_0000100.hdf", NULL));
  assert_false(rundir_is_state("state_-0000100.hdf", NULL));
  assert_false(rundir_is_state("state_ 0000100.hdf", NULL));
  assert_false(rundir_is_state("state_000000100.hdf", NULL));
  assert_false(rundir_is_state("state_00000100.hdf.partial", NULL));
  assert_false(rundir_is_state("state.hdf.series", NULL));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tree_close)
  static const struct CMUnitTest tests[] = {
      TEST(check_leaves_no_trace),   TEST(open_makes_and_clears),     TEST(second_run_is_refused),
      TEST(set_aside_loses_nothing), TEST(write_is_whole_or_nothing), TEST(names_of_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
