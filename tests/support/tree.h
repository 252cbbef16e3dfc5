#ifndef FDAPP_TESTS_SUPPORT_TREE_H
#define FDAPP_TESTS_SUPPORT_TREE_H

/* A made-up tree of files in a folder of its own. A test program has one at a time: tree_open and tree_close
 * are set-up and tear-down of its group or of each test. Include cmocka.h first. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TREE_TEMPLATE "/tmp/fdapp_tree_XXXXXX"
static char tree_root[] = TREE_TEMPLATE;

/* Writes a file; its folder is there. */
static void tree_put(const char *name, const char *text) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", tree_root, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* Makes a folder in one that is there. */
static inline void tree_make(const char *name) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", tree_root, name);
  assert_int_equal(mkdir(path, 0777), 0);
}

static int tree_open(void **state) {
  (void)state;
  (void)strcpy(tree_root, TREE_TEMPLATE);
  return mkdtemp(tree_root) == NULL ? -1 : 0;
}

static int tree_close(void **state) {
  (void)state;
  char command[128];
  (void)snprintf(command, sizeof command, "rm -r %s", tree_root);
  return system(command);
}

#endif
