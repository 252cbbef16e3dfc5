#include "problems/wavelet.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "problems/problem.h"
#include "problems/rounded.h"

enum { MOST_ROWS = 1 << 20 };

static status refuse(const config *config, int line, const char *what) {
  return status_fail(STATUS_USAGE, "point_sources.wavelet_file = %s: line %d %s", config->wavelet_file, line,
                     what);
}

/* Reads a line, unless it is blank or a comment. */
static status read_row(const char *line, int number, wavelet *wavelet) {
  double row[2];
  char more = 0;
  line += strspn(line, " \t\r\n");
  if (line[0] == '#' || line[0] == '\0') return STATUS_OK;
  if (sscanf(line, "%lf %lf %c", &row[0], &row[1], &more) != 2 || !isfinite(row[0]) || !isfinite(row[1]))
    return refuse(wavelet->config, number, "is not two numbers; accepted: t and s, with blanks between them");
  if (wavelet->rows > 0 && !(row[0] > wavelet->table[2 * wavelet->rows - 2]))
    return refuse(wavelet->config, number, "is no later than the one before; accepted: rows of rising t");
  if (wavelet->rows == MOST_ROWS)
    return refuse(wavelet->config, number, "is one too many; accepted: at most 1048576 rows");
  wavelet->table[2 * wavelet->rows] = row[0];
  wavelet->table[2 * wavelet->rows + 1] = row[1];
  wavelet->rows++;
  return STATUS_OK;
}

static status read_rows(FILE *file, wavelet *wavelet) {
  char *line = NULL;
  size_t size = 0;
  status result = STATUS_OK;
  for (int number = 1; result == STATUS_OK && getline(&line, &size, file) >= 0; number++)
    result = read_row(line, number, wavelet);
  free(line);
  if (ferror(file))
    return status_fail(STATUS_FILE, "point_sources.wavelet_file = %s: cannot be read",
                       wavelet->config->wavelet_file);
  if (result != STATUS_OK || wavelet->rows >= 2) return result;
  return status_fail(STATUS_USAGE, "point_sources.wavelet_file = %s: has %d row%s; accepted: at least two",
                     wavelet->config->wavelet_file, wavelet->rows, wavelet->rows == 1 ? "" : "s");
}

status wavelet_open(const config *config, wavelet *wavelet) {
  *wavelet = (struct wavelet){.config = config};
  if (config->wavelet != CONFIG_WAVELET_FILE) return STATUS_OK;
  wavelet->table = malloc(2 * MOST_ROWS * sizeof *wavelet->table);
  if (wavelet->table == NULL) return status_fail(STATUS_MEMORY, "no memory for a wavelet");
  FILE *file = fopen(config->wavelet_file, "r");
  if (file == NULL)
    return status_fail(STATUS_FILE, "point_sources.wavelet_file = %s: cannot be opened: %s",
                       config->wavelet_file, strerror(errno));
  const status result = read_rows(file, wavelet);
  (void)fclose(file);
  wavelet->hash = XXH3_64bits(wavelet->table, 2 * (size_t)wavelet->rows * sizeof *wavelet->table);
  return result;
}

void wavelet_close(wavelet *wavelet) {
  free(wavelet->table);
  wavelet->table = NULL;
}

/* Linear between rows, 0 outside. */
static double from_table(const wavelet *wavelet, double t) {
  const double *table = wavelet->table;
  int low = 0, high = wavelet->rows - 1;
  if (t < table[0] || t > table[2 * high]) return 0.0;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    *(table[2 * middle] <= t ? &low : &high) = middle;
  }
  const double *a = &table[2 * low], *b = &table[2 * high];
  return a[1] + (b[1] - a[1]) * ((t - a[0]) / (b[0] - a[0]));
}

/* sin(2 pi f t) for 0 <= t <= cycles/f, with a Hann window. */
static double burst(const config *config, double t) {
  const double turns = config->frequency * t;
  if (turns < 0.0 || turns > config->cycles) return 0.0;
  const double window = 0.5 * (1.0 - rounded_cos(2.0 * PROBLEM_PI * turns / config->cycles));
  return window * rounded_sin(2.0 * PROBLEM_PI * turns);
}

static double formula_of(const wavelet *wavelet, double t) {
  const config *config = wavelet->config;
  const double root = PROBLEM_PI * config->frequency * t, a = root * root;
  if (config->wavelet == CONFIG_WAVELET_FILE) return from_table(wavelet, t);
  if (config->wavelet == CONFIG_WAVELET_SINE) return burst(config, t);
  const double bell = a > 700.0 ? 0.0 : rounded_exp(-a);
  return config->wavelet == CONFIG_WAVELET_RICKER ? (1.0 - 2.0 * a) * bell : bell;
}

double wavelet_at(const wavelet *wavelet, double t, double delay) {
  return t <= 0.0 ? 0.0 : formula_of(wavelet, t - delay);
}

static double peak_of(const wavelet *wavelet) {
  double peak = wavelet->rows > 0 ? 0.0 : 1.0;
  for (int i = 0; i < wavelet->rows; i++) peak = fmax(peak, fabs(wavelet->table[2 * i + 1]));
  return peak;
}

double wavelet_jump(const wavelet *wavelet, double delay) {
  const double peak = peak_of(wavelet);
  return peak > 0.0 ? fabs(formula_of(wavelet, -delay)) / peak : 0.0;
}

double wavelet_reached(const wavelet *wavelet, double delay, double t) {
  const config *config = wavelet->config;
  if (config->wavelet == CONFIG_WAVELET_SINE) return t > delay ? 1.0 : 0.0;
  if (config->wavelet != CONFIG_WAVELET_FILE) {
    const double least = sqrt(1.5) / (PROBLEM_PI * config->frequency); /* of a ricker, before its peak */
    return t > delay - least ? 1.0 : fabs(formula_of(wavelet, t - delay));
  }
  double largest = fabs(wavelet_at(wavelet, t, delay));
  largest = fmax(largest, fabs(wavelet_at(wavelet, fmin(t, DBL_MIN), delay))); /* if it begins with a jump */
  for (int i = 0; i < wavelet->rows; i++)
    if (wavelet->table[2 * i] + delay <= t)
      largest = fmax(largest, fabs(wavelet_at(wavelet, wavelet->table[2 * i] + delay, delay)));
  const double peak = peak_of(wavelet);
  return peak > 0.0 ? largest / peak : 0.0;
}

double wavelet_kept(const wavelet *wavelet, double delay, double dt, double end, double largest[2]) {
  double kept = 0.0;
  largest[1] = 0.0;
  for (int i = 0; i < wavelet->rows; i++) {
    const double t = wavelet->table[2 * i] + delay, value = wavelet->table[2 * i + 1], steps = t / dt;
    if (t <= 0.0 || t > end) continue;
    if (fabs(value) > fabs(largest[1])) memcpy(largest, (double[]){t, value}, 2 * sizeof *largest);
    /* linear between rows: the largest value at a step is beside a row */
    kept = fmax(kept, fabs(wavelet_at(wavelet, floor(steps) * dt, delay)));
    kept = fmax(kept, fabs(wavelet_at(wavelet, ceil(steps) * dt, delay)));
  }
  return largest[1] != 0.0 ? kept / fabs(largest[1]) : 1.0;
}
