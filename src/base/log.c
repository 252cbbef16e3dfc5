#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 4096 };

static int printing = 1;
static const char *program = "fdapp";

void log_program(const char *name) {
  program = name;
}

void log_init(int prints) {
  printing = prints;
  (void)setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* whole lines, between which mpirun puts those of stdout */
}

/* What was printed is written when a line ends, so that the parts of a line reach mpirun together: it
 * forwards both outputs as they come. */
void log_info(const char *format, ...) {
  const size_t length = strlen(format);
  if (!printing) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vprintf(format, arguments);
  va_end(arguments);
  if (length > 0 && format[length - 1] == '\n') (void)fflush(stdout);
}

/* Prints a line on standard error by one call, so that nothing of standard output comes between its parts. */
static void print_line(const char *kind, const char *text) {
  (void)fflush(stdout);
  (void)fprintf(stderr, "%s: %s: %s\n", program, kind, text);
}

void log_warning(const char *format, ...) {
  char text[LONGEST];
  if (!printing) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  print_line("warning", text);
}

void log_error(const char *text) {
  if (printing) print_line("error", text);
}
