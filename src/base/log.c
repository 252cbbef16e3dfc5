#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int printing = 1;
static const char *program = "fdapp";

void log_program(const char *name) {
  program = name;
}

void log_init(int prints) {
  printing = prints;
  (void)setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* whole lines, between which mpirun puts those of stdout */
}

/* Writes what was printed when a line ends: parts of a line then reach mpirun together. */
void log_info(const char *format, ...) {
  const size_t length = strlen(format);
  if (!printing) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vprintf(format, arguments);
  va_end(arguments);
  if (length > 0 && format[length - 1] == '\n') (void)fflush(stdout);
}

void log_warning(const char *format, ...) {
  if (!printing) return;
  va_list arguments;
  va_start(arguments, format);
  (void)fprintf(stderr, "%s: warning: ", program);
  (void)vfprintf(stderr, format, arguments);
  (void)fputc('\n', stderr);
  va_end(arguments);
}

void log_error(const char *text) {
  if (printing) (void)fprintf(stderr, "%s: error: %s\n", program, text);
}
