#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static int printing = 1;

void log_init(int prints) {
  printing = prints;
}

void log_info(const char *format, ...) {
  if (!printing) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vprintf(format, arguments);
  va_end(arguments);
  (void)fflush(stdout);
}

void log_warning(const char *format, ...) {
  if (!printing) return;
  va_list arguments;
  va_start(arguments, format);
  (void)fputs("fdapp: warning: ", stderr);
  (void)vfprintf(stderr, format, arguments);
  (void)fputc('\n', stderr);
  va_end(arguments);
}

void log_error(const char *text) {
  if (printing) (void)fprintf(stderr, "fdapp: error: %s\n", text);
}
