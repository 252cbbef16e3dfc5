#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/dataset_parts.h"

enum { LABELS = 3, LABEL = 64 };

int dataset_numbers(hid_t object, const char *name, int most, double *values) {
  if (H5Aexists(object, name) <= 0) return 0;
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
  const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  const int good = count > 0 && count <= most && H5Aread(attribute, H5T_NATIVE_DOUBLE, values) >= 0;
  if (space >= 0) (void)H5Sclose(space);
  if (attribute >= 0) (void)H5Aclose(attribute);
  return good ? (int)count : -1;
}

/* What an attribute with a number means: a reader multiplies by it or adds it, unless it is the number that
 * changes nothing; or points with it have no value. Names are compared without case, '_' and '.', for each
 * program has its own way of writing them. */
static const struct {
  const char *name;
  int absent;
  double neutral;
} meanings[] = {{"scalefactor", 0, 1.0},   {"addoffset", 0, 0.0},
                {"scalingfactor", 0, 1.0}, {"offset", 0, 0.0},
                {"slope", 0, 1.0},         {"intercept", 0, 0.0},
                {"rescaleslope", 0, 1.0},  {"rescaleintercept", 0, 0.0},
                {"bscale", 0, 1.0},        {"bzero", 0, 0.0},
                {"unitsi", 0, 1.0},        {"gain", 0, 1.0},
                {"multiplier", 0, 1.0},    {"undef", 1, 0.0},
                {"blank", 1, 0.0},         {"badvalue", 1, 0.0},
                {"fillvalue", 1, 0.0},     {"missingvalue", 1, 0.0},
                {"nodata", 1, 0.0},        {"nodatavalue", 1, 0.0},
                {"dodsfillvalue", 1, 0.0}, {"dodsmissingvalue", 1, 0.0}};
enum { MEANINGS = sizeof meanings / sizeof meanings[0] };

/* Returns what the name means, or -1. */
static int meaning_of(const char *name) {
  char plain[LABEL] = "";
  size_t used = 0;
  for (; *name != '\0' && used + 1 < LABEL; name++)
    if (*name != '_' && *name != '.') plain[used++] = (char)tolower((unsigned char)*name);
  for (int i = 0; i < MEANINGS; i++)
    if (strcmp(plain, meanings[i].name) == 0) return i;
  return -1;
}

typedef struct reading {
  const dataset *d;
  dataset_absent *absent;
  status result;
} reading;

static status read_scale(const dataset *d, hid_t dataset, const char *name, double neutral) {
  double value = neutral;
  if (dataset_numbers(dataset, name, 1, &value) == 1 && value == neutral) return STATUS_OK;
  return dataset_fail(d, STATUS_USAGE,
                      "dataset %.200s has the attribute %s, which changes what its numbers mean; accepted: "
                      "the values themselves, with %s = %g or without it",
                      d->name, name, name, neutral);
}

/* Adds a number unless it is there; kind and name: of what says so. STATUS_USAGE if there is no room. */
static status add_absent(const dataset *d, dataset_absent *absent, double value, const char *kind,
                         const char *name) {
  for (int i = 0; i < absent->count; i++)
    if (absent->value[i] == value) return STATUS_OK;
  if (absent->count == DATASET_ABSENT)
    return dataset_fail(
        d, STATUS_USAGE,
        "dataset %.200s has more than %d numbers that stand for no value, by attributes and fill "
        "values",
        d->name, DATASET_ABSENT);
  (void)snprintf(absent->by[absent->count], DATASET_BY, "the %s%s", kind, name);
  absent->value[absent->count++] = value;
  return STATUS_OK;
}

/* The number that HDF5 gives to points never written, if the file's author chose one; 0 is a value, too. */
static status read_fill(const dataset *d, hid_t dataset, dataset_absent *absent) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  double value = 0.0;
  const hid_t list = H5Dget_create_plist(dataset);
  const int chosen = list >= 0 && H5Pfill_value_defined(list, &defined) >= 0 &&
                     defined == H5D_FILL_VALUE_USER_DEFINED &&
                     H5Pget_fill_value(list, H5T_NATIVE_DOUBLE, &value) >= 0 && value != 0.0;
  if (list >= 0) (void)H5Pclose(list);
  return chosen ? add_absent(d, absent, value, "fill value", "") : STATUS_OK;
}

static status read_absent_value(const dataset *d, hid_t dataset, const char *name, dataset_absent *absent) {
  double value[DATASET_ABSENT];
  const int found = dataset_numbers(dataset, name, DATASET_ABSENT, value);
  if (found < 0)
    return dataset_fail(d, STATUS_USAGE, "dataset %.200s has an attribute %s that is no number", d->name,
                        name);
  for (int i = 0; i < found; i++) CHECK(add_absent(d, absent, value[i], "attribute ", name));
  return STATUS_OK;
}

/* An H5A_operator2_t; returns 1 to end. */
static herr_t read_attribute(hid_t dataset, const char *name, const H5A_info_t *info, void *user) {
  reading *r = user;
  const int meaning = meaning_of(name);
  (void)info;
  if (meaning < 0) return 0;
  r->result = meanings[meaning].absent ? read_absent_value(r->d, dataset, name, r->absent)
                                       : read_scale(r->d, dataset, name, meanings[meaning].neutral);
  return r->result != STATUS_OK;
}

/* Refuses what changes the numbers. absent: which of them stand for none is added. */
static status read_numbers(const dataset *d, hid_t dataset, dataset_absent *absent) {
  double range[2];
  reading reading = {.d = d, .absent = absent, .result = STATUS_OK};
  CHECK(read_fill(d, dataset, absent));
  if (H5Aiterate2(dataset, H5_INDEX_NAME, H5_ITER_INC, NULL, read_attribute, &reading) < 0)
    return dataset_fail(d, STATUS_FILE, "the attributes of dataset %.200s cannot be read", d->name);
  CHECK(reading.result);
  if (H5Aexists(dataset, "_Unsigned") > 0)
    return dataset_fail(d, STATUS_USAGE,
                        "dataset %.200s has the attribute _Unsigned, which changes what its numbers mean; "
                        "accepted: the values themselves, without it",
                        d->name);
  if (dataset_numbers(dataset, "valid_min", 1, range) == 1)
    absent->low = range[0], absent->low_by = "the attribute valid_min";
  if (dataset_numbers(dataset, "valid_max", 1, range) == 1)
    absent->high = range[0], absent->high_by = "the attribute valid_max";
  if (dataset_numbers(dataset, "valid_range", 2, range) != 2) return STATUS_OK;
  absent->low = range[0], absent->high = range[1];
  absent->low_by = absent->high_by = "the attribute valid_range";
  return STATUS_OK;
}

/* Reads up to three labels from an attribute of texts. Returns how many there are; one text of several words
 * or of the letters x, y and z is split. */
static int split(const char *text, char labels[LABELS][LABEL]) {
  static const char between[] = " \t,;/|()[]{}'\"";
  int count = 0;
  if (strlen(text) == LABELS && text[strspn(text, "xyzXYZ")] == '\0') {
    for (; count < LABELS; count++) (void)snprintf(labels[count], LABEL, "%c", text[count]);
    return count;
  }
  for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
    const size_t length = strcspn(text, between);
    if (count < LABELS) (void)snprintf(labels[count], LABEL, "%.*s", (int)length, text);
    count++;
    text += length;
  }
  return count;
}

static int read_strings(hid_t attribute, hid_t type, hid_t space, char labels[LABELS][LABEL]) {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  char text[LABELS * LABEL] = "";
  if (count != 1 && count != LABELS) return 0;
  if (H5Tis_variable_str(type) > 0) {
    char *texts[LABELS] = {NULL};
    if (H5Aread(attribute, type, texts) < 0) return 0;
    for (hssize_t i = 0; i < count; i++)
      (void)snprintf(count == 1 ? text : labels[i], count == 1 ? sizeof text : LABEL, "%s",
                     texts[i] != NULL ? texts[i] : "");
    (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
  } else {
    const size_t size = H5Tget_size(type);
    char *texts = calloc((size_t)count, size);
    const int read = texts != NULL && H5Aread(attribute, type, texts) >= 0;
    for (hssize_t i = 0; i < count && read; i++)
      (void)snprintf(count == 1 ? text : labels[i], count == 1 ? sizeof text : LABEL, "%.*s", (int)size,
                     texts + (size_t)i * size);
    free(texts);
    if (!read) return 0;
  }
  return count == 1 ? split(text, labels) : LABELS;
}

/* Opens the scales that netCDF and HDF5's dimension scales attach to the axes; -1 for an axis without.
 * Returns how many axes the attribute is of. */
static int open_scales(hid_t dataset, hid_t attribute, hid_t space, hid_t scale[LABELS]) {
  hvl_t scales[LABELS];
  for (int i = 0; i < LABELS; i++) scale[i] = -1;
  if (H5Sget_simple_extent_npoints(space) != LABELS) return 0;
  const hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
  const int read = type >= 0 && H5Aread(attribute, type, scales) >= 0;
  for (int i = 0; i < LABELS && read; i++)
    if (scales[i].len > 0) scale[i] = H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, scales[i].p);
  if (read) (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, scales);
  if (type >= 0) (void)H5Tclose(type);
  return read ? LABELS : 0;
}

/* Reads the name, and closes the scale. */
static void read_name(hid_t scale, char label[LABEL]) {
  char path[LABEL * 4] = "";
  if (scale < 0) return;
  if (H5Iget_name(scale, path, sizeof path) > 0 && strrchr(path, '/') != NULL)
    (void)snprintf(label, LABEL, "%.*s", LABEL - 1, strrchr(path, '/') + 1);
  (void)H5Oclose(scale);
}

static int read_scales(hid_t dataset, hid_t attribute, hid_t space, char labels[LABELS][LABEL]) {
  hid_t scale[LABELS];
  const int count = open_scales(dataset, attribute, space, scale);
  for (int i = 0; i < LABELS; i++) read_name(scale[i], labels[i]);
  return count;
}

static int read_labels(hid_t dataset, hid_t object, const char *name, char labels[LABELS][LABEL]) {
  memset(labels, 0, LABELS * sizeof *labels);
  if (H5Aexists(object, name) <= 0) return 0;
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
  const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
  int count = 0;
  if (space >= 0 && type >= 0 && H5Tget_class(type) == H5T_STRING)
    count = read_strings(attribute, type, space, labels);
  if (space >= 0 && type >= 0 && H5Tget_class(type) == H5T_VLEN)
    count = read_scales(dataset, attribute, space, labels);
  if (space >= 0) (void)H5Sclose(space);
  if (type >= 0) (void)H5Tclose(type);
  if (attribute >= 0) (void)H5Aclose(attribute);
  return count;
}

/* The axis that a label names: 0, 1, 2 for x, y, z, 3 for time, -1 if it names none that is known. A letter
 * stands alone in "x", "x (m)", "axis_x", "nx", and in x1, x2, x3 its number counts. */
static int axis_of(const char *label) {
  static const char *const words[][4] = {{"lon", "longitude", "easting", "width"},
                                         {"lat", "latitude", "northing", "height_y"},
                                         {"lev", "level", "depth", "altitude"},
                                         {"t", "time", "times", "step"}};
  char word[LABEL] = "";
  for (int i = 0; i < LABEL - 1 && label[i] != '\0'; i++) word[i] = (char)tolower((unsigned char)label[i]);
  for (int axis = 0; axis < 4; axis++)
    for (int i = 0; i < 4; i++)
      if (strcmp(word, words[axis][i]) == 0) return axis;
  for (const char *c = word; *c != '\0'; c++) {
    const int begins = c == word || !isalnum((unsigned char)c[-1]) ||
                       (c[-1] == 'n' && (c == word + 1 || !isalnum((unsigned char)c[-2])));
    if (*c < 'x' || *c > 'z' || !begins || isalpha((unsigned char)c[1])) continue;
    return *c == 'x' && c[1] >= '1' && c[1] <= '3' ? c[1] - '1' : *c - 'x';
  }
  return -1;
}

static status check_labels(const dataset *d, hid_t dataset, hid_t object) {
  static const char *const names[] = {
      "DIMENSION_LABELS", "DIMENSION_LIST", "_ARRAY_DIMENSIONS", "axisLabels", "axis_labels", "axes", "dims",
      "dimensions",       "dim_labels"};
  char labels[LABELS][LABEL];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (read_labels(dataset, object, names[i], labels) != LABELS) continue;
    for (int k = 0; k < LABELS; k++) {
      const int axis = axis_of(labels[k]);
      if (axis < 0 || axis == LABELS - 1 - k) continue;
      return dataset_fail(
          d, STATUS_USAGE,
          "dataset %.200s has the axes (%s, %s, %s) by its attribute %s; accepted: (z, y, x), x "
          "fastest: transpose the array before writing it",
          d->name, labels[0], labels[1], labels[2], names[i]);
    }
  }
  return STATUS_OK;
}

/* Reads the coordinates that a scale has for an axis; NULL if it has none, as netCDF's dimensions without a
 * variable. The caller frees them. */
static double *read_coordinates(hid_t scale, hsize_t points) {
  H5D_space_status_t stored = H5D_SPACE_STATUS_NOT_ALLOCATED;
  const hid_t space = scale >= 0 && H5Iget_type(scale) == H5I_DATASET ? H5Dget_space(scale) : -1;
  const int there = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)points && points > 1 &&
                    H5Dget_space_status(scale, &stored) >= 0 && stored == H5D_SPACE_STATUS_ALLOCATED;
  double *values = there ? malloc(points * sizeof *values) : NULL;
  if (values != NULL && H5Dread(scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    free(values);
    values = NULL;
  }
  if (space >= 0) (void)H5Sclose(space);
  return values;
}

/* Refuses coordinates that do not ascend in equal steps, as those of the grid do. A hundredth of a step is
 * left to rounding. */
static status check_steps(const dataset *d, const char *label, const double *x, hsize_t points) {
  const double step = (x[points - 1] - x[0]) / (double)(points - 1);
  for (hsize_t i = 1; i < points; i++) {
    if (step > 0.0 && fabs(x[i] - x[i - 1] - step) <= 0.01 * step) continue;
    return dataset_fail(
        d, STATUS_USAGE,
        "dataset %.200s has coordinates %s that go from %.9g to %.9g and do not ascend in equal "
        "steps (%.9g follows %.9g); accepted: points in ascending order, at equal distances",
        d->name, label, x[0], x[points - 1], x[i], x[i - 1]);
  }
  return STATUS_OK;
}

/* Checks the coordinates of each axis that has some, and closes the scales. [out] place: unchanged along the
 * others. */
static status read_scale_places(const dataset *d, hid_t dataset, const hid_t scale[LABELS],
                                dataset_place *place) {
  hsize_t size[H5S_MAX_RANK] = {0};
  const hid_t space = H5Dget_space(dataset);
  const int axes = space >= 0 ? H5Sget_simple_extent_dims(space, size, NULL) : 0;
  status result = STATUS_OK;
  for (int i = 0; i < LABELS; i++) {
    char label[LABEL] = "";
    double *x = axes == LABELS && result == STATUS_OK ? read_coordinates(scale[i], size[i]) : NULL;
    read_name(scale[i], label);
    if (x != NULL) {
      result = check_steps(d, label, x, size[i]);
      const int axis = LABELS - 1 - i;
      place->known[axis] = 1;
      place->origin[axis] = x[0];
      place->spacing[axis] = (x[size[i] - 1] - x[0]) / (double)(size[i] - 1);
    }
    free(x);
  }
  if (space >= 0) (void)H5Sclose(space);
  return result;
}

static status read_places(const dataset *d, hid_t dataset, dataset_place *place) {
  *place = (dataset_place){.spacing = {1.0, 1.0, 1.0}};
  hid_t scale[LABELS];
  if (H5Aexists(dataset, "DIMENSION_LIST") <= 0) return STATUS_OK;
  const hid_t attribute = H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT);
  const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
  status result = STATUS_OK;
  if (space >= 0 && open_scales(dataset, attribute, space, scale) == LABELS)
    result = read_scale_places(d, dataset, scale, place);
  if (space >= 0) (void)H5Sclose(space);
  if (attribute >= 0) (void)H5Aclose(attribute);
  return result;
}

/* An order of storage that is not C's, as openPMD says it. */
static status check_order(const dataset *d, hid_t dataset, hid_t object) {
  static const char *const names[] = {"dataOrder", "order"};
  char labels[LABELS][LABEL];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (read_labels(dataset, object, names[i], labels) != 1) continue;
    if (labels[0][0] != 'F' && labels[0][0] != 'f') continue;
    return dataset_fail(
        d, STATUS_USAGE,
        "dataset %.200s has its axes in Fortran's order (%s = %s); accepted: (z, y, x), x fastest", d->name,
        names[i], labels[0]);
  }
  return STATUS_OK;
}

status dataset_meaning(const dataset *d, hid_t dataset, dataset_absent *absent, dataset_place *place) {
  char path[4096] = "";
  status result = read_numbers(d, dataset, absent);
  if (result == STATUS_OK) result = check_labels(d, dataset, dataset);
  if (result == STATUS_OK) result = read_places(d, dataset, place);
  if (result == STATUS_OK) result = check_order(d, dataset, dataset);
  if (result != STATUS_OK || H5Iget_name(dataset, path, sizeof path) <= 0) return result;
  char *slash = strrchr(path, '/'); /* attributes of its group are of all datasets in it */
  if (slash == NULL) return STATUS_OK;
  slash[slash == path] = '\0';
  const hid_t group = H5Oopen(dataset, path, H5P_DEFAULT);
  if (group < 0) return STATUS_OK;
  result = check_labels(d, dataset, group);
  if (result == STATUS_OK) result = check_order(d, dataset, group);
  (void)H5Oclose(group);
  return result;
}
