#include "files/series.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/file.h"

/* {"file-series-version": "1.0", "files": [{"name": ..., "time": ...}, ...]} */
struct series {
  json_t *files;
};

series *series_create(void) {
  series *made = calloc(1, sizeof *made);
  if (made != NULL) made->files = json_array();
  if (made != NULL && made->files != NULL) return made;
  free(made);
  return NULL;
}

void series_destroy(series *series) {
  if (series == NULL) return;
  json_decref(series->files);
  free(series);
}

status series_read(series *series, const char *directory, const char *name,
                   int (*keeps)(const char *file, const void *user), const void *user) {
  char path[4096];
  CHECK(file_path(directory, name, path, sizeof path));
  json_t *document = json_load_file(path, 0, NULL);
  const json_t *files = json_object_get(document, "files");
  status result = STATUS_OK;
  for (size_t i = 0; i < json_array_size(files) && result == STATUS_OK; i++) {
    const json_t *entry = json_array_get(files, i);
    const char *file = json_string_value(json_object_get(entry, "name"));
    const json_t *time = json_object_get(entry, "time");
    if (file != NULL && json_is_number(time) && keeps(file, user))
      result = series_add(series, file, json_number_value(time));
  }
  json_decref(document);
  return result;
}

status series_add(series *series, const char *file, double time) {
  json_t *entry = json_pack("{s:s, s:f}", "name", file, "time", time);
  return json_array_append_new(series->files, entry) == 0
             ? STATUS_OK
             : status_fail(STATUS_MEMORY, "no memory for an index with %s", file);
}

const char *series_last(const series *series) {
  const size_t count = json_array_size(series->files);
  return count > 0 ? json_string_value(json_object_get(json_array_get(series->files, count - 1), "name"))
                   : NULL;
}

status series_write(const series *series, const char *directory, const char *name) {
  json_t *document = json_pack("{s:s, s:O}", "file-series-version", "1.0", "files", series->files);
  char *text = document != NULL ? json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
  const status result = text != NULL ? file_write_whole(directory, name, text)
                                     : status_fail(STATUS_MEMORY, "no memory for %s", name);
  free(text);
  json_decref(document);
  return result;
}
