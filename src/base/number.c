#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *number_apart(double value, double from, char text[NUMBER_TEXT]) {
  enum { FEWEST = 6, ALL = 17 };
  if (isnan(value)) return strcpy(text, "nan");
  for (int digits = FEWEST; digits <= ALL; digits++) {
    char other[NUMBER_TEXT];
    (void)snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
    (void)snprintf(other, sizeof other, "%.*g", digits, from);
    if (value == from || strcmp(text, other) != 0) break;
  }
  return text;
}

const char *number_bytes(double bytes, char text[NUMBER_TEXT]) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024.0 && unit + 1 < sizeof units / sizeof units[0]) {
    bytes /= 1024.0;
    unit++;
  }
  (void)snprintf(text, NUMBER_TEXT, "%.3g %s", bytes, units[unit]);
  return text;
}
