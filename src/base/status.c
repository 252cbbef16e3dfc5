#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char message[STATUS_MESSAGE_SIZE];

status status_fail(status code, const char *format, ...) {
  if (message[0] == '\0') {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
  }
  return code;
}

const char *status_message(status code) {
  static const char *const texts[] = {
#define X(name, exit_code, text) [STATUS_##name] = text,
      STATUS_LIST(X)
#undef X
  };
  return message[0] != '\0' ? message : texts[code];
}

void status_set_message(const char *text) {
  (void)snprintf(message, sizeof message, "%s", text);
}

void status_clear(void) {
  message[0] = '\0';
}

int status_exit_code(status code) {
  static const int codes[] = {
#define X(name, exit_code, text) [STATUS_##name] = exit_code,
      STATUS_LIST(X)
#undef X
  };
  return codes[code];
}
