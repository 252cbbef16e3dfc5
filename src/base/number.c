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
