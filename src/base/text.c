#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_add(char *text, size_t size, const char *separator, const char *format, ...) {
  if (text[0] != '\0') (void)snprintf(text + strlen(text), size - strlen(text), "%s", separator);
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}
