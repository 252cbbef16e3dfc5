#ifndef FDAPP_TESTS_CONFIG_FILE_H
#define FDAPP_TESTS_CONFIG_FILE_H

/* A configuration file in a directory of its own, and what comes of reading it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "config/config.h"

#define MINIMAL                                                                                              \
  "[grid]\nnx = 32\nny = 33\nnz = 34\n[initial]\ncase = blob\n[velocity]\nfield = abc\n[time]\ncourant = "   \
  "1.2\nt_end = 2\n"

extern char directory[], path[64];
extern config c; /* what has been read last */

/* For the group of tests: the directory. */
int make_directory(void **state);
int remove_directory(void **state);

void write_bytes(const char *bytes, size_t length);
status load_text(const char *text);
status load_override(const char *override);
void assert_message(const char *piece);

/* The text is refused with a message that begins with path:line and contains each piece. */
void assert_refused(const char *text, int line, const char *piece, const char *other);
void assert_override_refused(const char *override, const char *piece);

#endif
