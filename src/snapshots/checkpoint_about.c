#include "snapshots/checkpoint_about.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "base/version.h"
#include "files/dataset_parts.h"
#include "files/hdf5_write.h"
#include "snapshots/checkpoint_job.h"

#define CHECKPOINT_MEMORY "/fdapp/memory"

/* The attributes that are numbers of a state, and when they are there. Older files have ALWAYS alone.
 * OF_SAMPLES: all or none. */
typedef enum attribute_rule { ALWAYS, NEWER, UNLESS_ZERO, OF_SAMPLES } attribute_rule;
typedef enum attribute_kind { INT, INT64, DOUBLE } attribute_kind;
static const struct attribute {
  const char *name;
  size_t offset; /* in checkpoint_state */
  attribute_kind kind;
  attribute_rule rule;
} attributes[] = {
#define MEMBER(member) #member, offsetof(checkpoint_state, member)
    {MEMBER(step), INT64, ALWAYS},
    {MEMBER(time), DOUBLE, ALWAYS},
    {MEMBER(dt), DOUBLE, ALWAYS},
    {MEMBER(base_step), INT64, ALWAYS},
    {MEMBER(base_time), DOUBLE, ALWAYS},
    {MEMBER(picture), INT, ALWAYS},
    {MEMBER(departed), INT, NEWER},
    {MEMBER(part), INT, UNLESS_ZERO},
    {MEMBER(files), INT64, UNLESS_ZERO},
    {MEMBER(rate), DOUBLE, UNLESS_ZERO},
    {MEMBER(other_rate), DOUBLE, UNLESS_ZERO},
    {"samples", offsetof(checkpoint_state, samples.count), INT64, OF_SAMPLES},
    {"samples_weight", offsetof(checkpoint_state, samples.weight), DOUBLE, OF_SAMPLES},
    {"samples_time", offsetof(checkpoint_state, samples.time), DOUBLE, OF_SAMPLES},
};
enum { ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

static hid_t type_of(attribute_kind kind) {
  return kind == INT ? H5T_NATIVE_INT : kind == INT64 ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
}

/* Values of the attribute `growth`. */
enum { GROWTH = 8 };

/* Writes the order of the fields, "p u v w", because HDF5 lists them alphabetically. */
static status write_order(hid_t group, const char *path, const checkpoint *checkpoint) {
  char text[STATE_FIELDS * CHECKPOINT_NAME] = "";
  for (int f = 0; f < checkpoint->fields; f++) text_add(text, sizeof text, " ", "%s", checkpoint->names[f]);
  return hdf5_write_text(group, path, "fields", text);
}

static status write_units(hid_t group, const char *path, const config *config) {
  const char *length = config_unit_of(config, "length"), *time = config_unit_of(config, "time");
  if (length[0] != '\0') CHECK(hdf5_write_text(group, path, "units_length", length));
  return time[0] != '\0' ? hdf5_write_text(group, path, "units_time", time) : STATUS_OK;
}

static status write_memory(hid_t file, const char *path, const checkpoint *checkpoint) {
  const hsize_t count = (hsize_t)checkpoint->memory.count;
  hid_t dataset = -1;
  if (checkpoint->job.remembered == NULL) return STATUS_OK;
  const uint64_t hash =
      XXH3_64bits(checkpoint->job.remembered, (size_t)count * kernels_element_size(checkpoint->precision));
  CHECK(hdf5_write_array(file, path, CHECKPOINT_MEMORY, hdf5_real(checkpoint->precision), 1, &count,
                         checkpoint->job.remembered));
  CHECK_HDF5(STATUS_FILE, path, dataset = H5Dopen2(file, CHECKPOINT_MEMORY, H5P_DEFAULT));
  CHECK(hdf5_write_attribute(dataset, path, "xxh3", H5T_NATIVE_UINT64, 0, &hash));
  CHECK_HDF5(STATUS_FILE, path, H5Dclose(dataset));
  return STATUS_OK;
}

status checkpoint_about_write(hid_t file, const char *path, const checkpoint *checkpoint, int64_t *offset) {
  const checkpoint_state *state = &checkpoint->job.about;
  /* checksums of one field are one-dimensional, as in files of version 1 */
  const hsize_t planes[2] = {(hsize_t)checkpoint->fields, (hsize_t)checkpoint->grid.n[2]};
  const int one = checkpoint->fields == 1;
  hid_t group = -1;
  CHECK_HDF5(STATUS_FILE, path, group = H5Gcreate2(file, "fdapp", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  for (size_t i = 0; i < ATTRIBUTES; i++) {
    static const int64_t zero = 0;
    const void *value = (const char *)state + attributes[i].offset;
    const hid_t type = type_of(attributes[i].kind);
    if (attributes[i].rule == UNLESS_ZERO && memcmp(value, &zero, H5Tget_size(type)) == 0) continue;
    if (attributes[i].rule == OF_SAMPLES && state->samples.count == 0) continue;
    CHECK(hdf5_write_attribute(group, path, attributes[i].name, type, 0, value));
  }
  if (state->growth.known) {
    const checkpoint_growth *from = &state->growth;
    const double growth[GROWTH] = {from->time,       from->background, from->norm,     from->entered[0],
                                   from->entered[1], from->began[0],   from->began[1], from->jump};
    CHECK(hdf5_write_attribute(group, path, "growth", H5T_NATIVE_DOUBLE, GROWTH, growth));
  }
  CHECK(hdf5_write_text(group, path, "precision", config_precision_name(checkpoint->precision)));
  CHECK(hdf5_write_text(group, path, "version", FDAPP_VERSION));
  CHECK(hdf5_write_text(group, path, "revision", FDAPP_REVISION));
  CHECK(hdf5_write_text(group, path, "config", checkpoint->configuration));
  if (checkpoint->config != NULL) CHECK(write_units(group, path, checkpoint->config));
  if (!one) CHECK(write_order(group, path, checkpoint));
  CHECK_HDF5(STATUS_FILE, path, H5Gclose(group));
  CHECK(write_memory(file, path, checkpoint));
  return hdf5_reserve_dataset(file, path, CHECKPOINT_CHECKSUMS, H5T_NATIVE_UINT64, one ? 1 : 2, planes + one,
                              offset);
}

static status read_attribute(hid_t object, const char *path, const char *name, hid_t type, int count,
                             void *value) {
  hid_t attribute = -1;
  hid_t space = -1;
  CHECK_HDF5(STATUS_DAMAGED, path, attribute = H5Aopen(object, name, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Aget_space(attribute));
  if (H5Sget_simple_extent_npoints(space) != count) {
    return status_fail(STATUS_DAMAGED, "%s: damaged: %s does not hold %d value(s)", path, name, count);
  }
  CHECK_HDF5(STATUS_DAMAGED, path, H5Aread(attribute, type, value));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(space));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Aclose(attribute));
  return STATUS_OK;
}

/* Checks that every field lies where the block says. */
static status check_offsets(hid_t file, const char *path, const checkpoint_block *block) {
  if (block->compressed) return STATUS_OK; /* all bytes are compared */
  for (int f = 0; f < block->fields; f++) {
    char place[CHECKPOINT_FIELD_PLACE];
    hid_t dataset = -1;
    checkpoint_file_place(block->names[f], place);
    CHECK_HDF5(STATUS_DAMAGED, path, dataset = H5Dopen2(file, place, H5P_DEFAULT));
    const haddr_t offset = H5Dget_offset(dataset);
    CHECK_HDF5(STATUS_DAMAGED, path, H5Dclose(dataset));
    if ((int64_t)offset != block->offsets[f]) {
      return status_fail(STATUS_DAMAGED, "%s: damaged: its header and its contents contradict each other",
                         path);
    }
  }
  return STATUS_OK;
}

static status read_growth(hid_t group, const char *path, checkpoint_growth *growth) {
  double values[GROWTH] = {[5] = INFINITY, [6] = -INFINITY, [7] = INFINITY};
  *growth = (checkpoint_growth){0};
  const int count = dataset_numbers(group, "growth", GROWTH, values);
  if (count == 0) return STATUS_OK;
  if (count < 5) return status_fail(STATUS_DAMAGED, "%s: damaged: growth has not its numbers", path);
  *growth = (checkpoint_growth){.known = 1,
                                .time = values[0],
                                .background = values[1],
                                .norm = values[2],
                                .entered = {values[3], values[4]},
                                .began = {values[5], values[6]},
                                .jump = values[7]};
  return STATUS_OK;
}

status checkpoint_about_state(hid_t file, const char *path, const checkpoint_block *block,
                              checkpoint_state *state) {
  hid_t group = -1;
  CHECK_HDF5(STATUS_DAMAGED, path, group = H5Gopen2(file, "fdapp", H5P_DEFAULT));
  for (size_t i = 0; i < ATTRIBUTES; i++) {
    const char *name = attributes[i].name;
    void *value = (char *)state + attributes[i].offset;
    const hid_t type = type_of(attributes[i].kind);
    htri_t says = 1;
    memset(value, 0, H5Tget_size(type));
    if (attributes[i].rule != ALWAYS)
      CHECK_HDF5(STATUS_DAMAGED, path,
                 says = H5Aexists(group, attributes[i].rule == OF_SAMPLES ? "samples" : name));
    if (says > 0) CHECK(read_attribute(group, path, name, type, 1, value));
  }
  CHECK(read_growth(group, path, &state->growth));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Gclose(group));
  CHECK(check_offsets(file, path, block));
  if (state->step != block->step || state->time != block->time) {
    return status_fail(STATUS_DAMAGED, "%s: damaged: its header and its contents contradict each other",
                       path);
  }
  return STATUS_OK;
}

status checkpoint_about_spacing(hid_t file, const char *path, double spacing[3]) {
  hid_t group = -1;
  CHECK_HDF5(STATUS_DAMAGED, path, group = H5Gopen2(file, "VTKHDF", H5P_DEFAULT));
  CHECK(read_attribute(group, path, "Spacing", H5T_NATIVE_DOUBLE, 3, spacing));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Gclose(group));
  return STATUS_OK;
}

/* [out] count: of the numbers that the file has; values: those, NULL for none. The caller frees them,
 * whatever the status. */
static status read_memory(hid_t file, const char *path, const checkpoint_block *block, int64_t *count,
                          void **values) {
  const size_t size = kernels_element_size(block->precision);
  hid_t dataset = -1, space = -1;
  hssize_t points = 0;
  htri_t there = 0;
  uint64_t hash = 0;
  CHECK_HDF5(STATUS_DAMAGED, path, there = H5Lexists(file, CHECKPOINT_MEMORY, H5P_DEFAULT));
  if (there == 0) return STATUS_OK;
  CHECK_HDF5(STATUS_DAMAGED, path, dataset = H5Dopen2(file, CHECKPOINT_MEMORY, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Dget_space(dataset));
  CHECK_HDF5(STATUS_DAMAGED, path, points = H5Sget_simple_extent_npoints(space));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(space));
  if (points == 0 || (uint64_t)points > (uint64_t)block->file_bytes / size)
    return status_fail(STATUS_DAMAGED, "%s: damaged: " CHECKPOINT_MEMORY " is not of its length", path);
  *values = malloc((size_t)points * size);
  if (*values == NULL) return status_fail(STATUS_MEMORY, "%s: no memory for " CHECKPOINT_MEMORY, path);
  *count = points;
  CHECK(read_attribute(dataset, path, "xxh3", H5T_NATIVE_UINT64, 1, &hash));
  CHECK_HDF5(STATUS_DAMAGED, path,
             H5Dread(dataset, hdf5_real(block->precision), H5S_ALL, H5S_ALL, H5P_DEFAULT, *values));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Dclose(dataset));
  if (XXH3_64bits(*values, (size_t)points * size) == hash) return STATUS_OK;
  return status_fail(STATUS_DAMAGED, "%s: damaged: " CHECKPOINT_MEMORY " does not match its checksum", path);
}

status checkpoint_about_memory(hid_t file, const char *path, const checkpoint_block *block, int64_t count,
                               void *values) {
  const size_t bytes = (size_t)count * kernels_element_size(block->precision);
  void *found = NULL;
  int64_t has = 0;
  const status result = read_memory(file, path, block, &has, &found);
  if (values != NULL) memset(values, 0, bytes);
  if (values != NULL && has == count && result == STATUS_OK) memcpy(values, found, bytes);
  free(found);
  return result;
}

status checkpoint_about_configuration(hid_t file, const char *path, char **text) {
  hid_t attribute = -1;
  hid_t type = -1;
  *text = NULL;
  CHECK_HDF5(STATUS_DAMAGED, path,
             attribute = H5Aopen_by_name(file, "fdapp", "config", H5P_DEFAULT, H5P_DEFAULT));
  CHECK_HDF5(STATUS_DAMAGED, path, type = H5Aget_type(attribute));
  const size_t size = H5Tget_size(type);
  if (size == 0) return hdf5_failure(STATUS_DAMAGED, path, "H5Tget_size");
  *text = calloc(size + 1, 1);
  if (*text == NULL) return status_fail(STATUS_MEMORY, "no memory for the configuration in %s", path);
  CHECK_HDF5(STATUS_DAMAGED, path, H5Aread(attribute, type, *text));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Tclose(type));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Aclose(attribute));
  return STATUS_OK;
}
