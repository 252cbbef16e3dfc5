#include "distance/distance_ends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/ini.h"

/* What a configuration says of an axis: 1 if it is periodic, 0 if not, -1 if nothing; its length, or 0. */
typedef struct told {
  int periodic;
  double length;
} told;

static void read_line(const ini_reader *ini, told axes[3]) {
  for (int d = 0; d < 3; d++) {
    const char axis = "xyz"[d], length[] = {'l', axis, '\0'};
    const char *name = strcmp(ini->section, "boundary") == 0 ? ini->name : "";
    if (strcmp(ini->section, "distance") == 0 && strncmp(ini->name, "boundary_", 9) == 0)
      name = ini->name + 9;
    if (name[0] == axis && (name[1] == '\0' || name[1] == '_')) /* x, x_low, x_high */
      axes[d].periodic = strcmp(ini->value, "periodic") == 0;
    if (strcmp(ini->section, "grid") == 0 && strcmp(ini->name, length) == 0)
      axes[d].length = strtod(ini->value, NULL);
  }
}

static status read_axes(const char *text, told axes[3]) {
  ini_reader ini;
  if (text == NULL) return STATUS_OK;
  CHECK(ini_open(text, &ini));
  for (ini_kind kind = ini_next(&ini); kind != INI_END && kind != INI_FAULT; kind = ini_next(&ini)) {
    if (kind == INI_PAIR) read_line(&ini, axes);
  }
  ini_close(&ini);
  return STATUS_OK;
}

/* 1 if the points lie evenly over a whole period. */
static int divides(const dataset_about *about, int d, double length) {
  const double h = about->place.spacing[d];
  return !about->place.known[d] || length <= 0.0 || fabs((double)about->n[d] * h - length) <= 1e-3 * h;
}

status distance_ends(const dataset *dataset, const dataset_about *about, const distance_options *options,
                     int bounded[3], int by_file[3]) {
  told axes[3] = {{-1, 0.0}, {-1, 0.0}, {-1, 0.0}};
  int periodic[3];
  char *text = NULL;
  CHECK(dataset_origin(dataset, periodic, &text));
  const status result = read_axes(text, axes);
  free(text);
  for (int d = 0; d < 3; d++) {
    const int says =
        axes[d].periodic >= 0 ? axes[d].periodic && divides(about, d, axes[d].length) : periodic[d];
    by_file[d] = options->bounded[d] < 0 && says >= 0;
    bounded[d] = options->bounded[d] >= 0 ? options->bounded[d] : says == 0;
  }
  return result;
}
