#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "bench.h"
#include "app/provenance.h"

json_t *bench_report_spread(const bench_spread *spread) {
  return json_pack("{s:f, s:f, s:f}", "median", spread->median, "minimum", spread->minimum, "maximum",
                   spread->maximum);
}

json_t *bench_report_grid(const kernels_shape *shape) {
  return json_pack("[i, i, i]", shape->nx, shape->ny, shape->nz);
}

const char *bench_report_shape(const kernels_shape *shape, char text[BENCH_SHAPE]) {
  (void)snprintf(text, BENCH_SHAPE, "%5d x %4d x %4d %s", shape->nx, shape->ny, shape->nz,
                 config_precision_name(shape->precision));
  return text;
}

void bench_report_add(bench *bench, const char *name, json_t *array) {
  (void)json_object_set_new(bench->report, name, array);
}

/* Splits --output into a directory and a name, which is returned. */
static const char *output_place(const char *output, char directory[BENCH_PATH]) {
  const char *slash = strrchr(output, '/');
  if (slash == NULL) {
    (void)snprintf(directory, BENCH_PATH, ".");
    return output;
  }
  (void)snprintf(directory, BENCH_PATH, "%.*s", slash == output ? 1 : (int)(slash - output), output);
  return slash + 1;
}

/* Checks the output file before anything is measured. A device or a link there is refused, because the report
 * would replace it. */
static status check_output(const char *output) {
  char directory[BENCH_PATH];
  struct stat there;
  const char *name = output_place(output, directory);
  if (name[0] == '\0' || (lstat(output, &there) == 0 && !S_ISREG(there.st_mode)))
    return status_fail(STATUS_FILE, "%s: not a regular file; accepted: the name of one, there or not",
                       output);
  return access(directory, W_OK) == 0
             ? STATUS_OK
             : status_fail(STATUS_FILE, "%s: its directory: %s", output, strerror(errno));
}

status bench_report_open(bench *bench) {
  if (bench->rank == 0) CHECK(check_output(bench->options.output));
  bench->report = json_pack(
      "{s:o, s:s, s:s, s:i, s:i, s:{s:i, s:i, s:i}}", "provenance", provenance_json(), "backend",
      bench->backend->name, "device", bench->backend->describe(bench->context), "ranks", bench->ranks,
      "threads", bench->threads, "repeat", "kernels", bench_samples(bench, BENCH_SAMPLES_KERNELS), "halo",
      bench_samples(bench, BENCH_SAMPLES_HALO), "io", bench_samples(bench, BENCH_SAMPLES_IO));
  return bench->report != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for the report");
}

status bench_report_write(bench *bench) {
  char directory[BENCH_PATH];
  const char *output = bench->options.output;
  const char *name = output_place(output, directory);
  (void)json_object_set_new(bench->report, "rounds_rejected", json_integer(bench->rejected));
  char *text = json_dumps(bench->report, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  if (text == NULL) return status_fail(STATUS_MEMORY, "no memory for %s", output);
  const status result = file_write_whole(directory, name, text);
  free(text);
  return result;
}
