#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "files/dataset_parts.h"

enum { NAME = 512, LISTED = 600, SOURCES_DEEP = 8 };

int dataset_link_exists(hid_t file, const char *name) {
  char part[4096];
  /* HDF5 can only look up a name in a group that exists, so each group on the path is tested. */
  (void)snprintf(part, sizeof part, "%s", name);
  for (char *c = part + (part[0] == '/'); *c != '\0'; c++) {
    if (*c != '/') continue;
    *c = '\0';
    if (H5Lexists(file, part, H5P_DEFAULT) <= 0) return 0;
    *c = '/';
  }
  return H5Lexists(file, part, H5P_DEFAULT) > 0;
}

/* Adds the name of a dataset with three axes to the text. */
static herr_t list_dataset(hid_t group, const char *name, const H5L_info_t *info, void *user) {
  char *text = user;
  const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
  const hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1;
  const int three = space >= 0 && H5Sget_simple_extent_ndims(space) == 3;
  (void)info;
  if (space >= 0) (void)H5Sclose(space);
  if (dataset >= 0) (void)H5Dclose(dataset);
  if (three && strlen(text) + strlen(name) + 3 < LISTED) text_add(text, LISTED, ", ", "%s", name);
  return 0;
}

/* Returns 1 if a name is a link that leads nowhere. [out] to: where it should. */
static int is_dangling(hid_t file, const char *name, char to[NAME]) {
  H5L_info_t info;
  char value[NAME] = "";
  const char *path = NULL, *object = NULL;
  to[0] = '\0';
  if (H5Oexists_by_name(file, name, H5P_DEFAULT) > 0 || H5Lget_info(file, name, &info, H5P_DEFAULT) < 0 ||
      info.type == H5L_TYPE_HARD || H5Lget_val(file, name, value, sizeof value, H5P_DEFAULT) < 0)
    return 0;
  if (info.type == H5L_TYPE_SOFT) {
    (void)snprintf(to, NAME, "%.200s", value);
  } else if (H5Lunpack_elink_val(value, sizeof value, NULL, &path, &object) >= 0) {
    (void)snprintf(to, NAME, "%.200s in the file %.200s", object, path);
  }
  return 1;
}

status dataset_refuse_name(const dataset *d, hid_t file) {
  char to[NAME], list[LISTED] = "";
  if (dataset_link_exists(file, d->name)) {
    if (is_dangling(file, d->name, to))
      return dataset_fail(d, STATUS_USAGE, "%.200s is a link to %s, which is not there", d->name, to);
    return dataset_fail(d, STATUS_USAGE, "%.200s is no dataset", d->name);
  }
  (void)H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, list_dataset, list);
  if (list[0] == '\0')
    return dataset_fail(d, STATUS_USAGE, "has no dataset %.200s, and none with three axes", d->name);
  return dataset_fail(d, STATUS_USAGE, "has no dataset %.200s; with three axes it has: %s%s%s", d->name, list,
                      d->option != NULL ? "; choose one by " : "", d->option != NULL ? d->option : "");
}

/* Refuses filters that this HDF5 cannot undo. */
static status check_filters(const dataset *d, hid_t list) {
  const int count = H5Pget_nfilters(list);
  for (int i = 0; i < count; i++) {
    char name[64] = "";
    unsigned flags = 0, config = 0;
    size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(list, (unsigned)i, &flags, &values, NULL, sizeof name, name, &config);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    return dataset_fail(d, STATUS_FILE,
                        "dataset %.200s is compressed by the filter %s (number %d), which this HDF5 lacks; "
                        "accepted: no compression, or gzip",
                        d->name, name[0] != '\0' ? name : "without a name", (int)filter);
  }
  return STATUS_OK;
}

static status check_chunks(const dataset *d, hid_t dataset, hid_t list, hid_t space) {
  hsize_t chunk[H5S_MAX_RANK], size[H5S_MAX_RANK], there = 0, all = 1;
  const int rank = H5Sget_simple_extent_dims(space, size, NULL);
  if (H5Pget_chunk(list, H5S_MAX_RANK, chunk) != rank || H5Dget_num_chunks(dataset, space, &there) < 0)
    return dataset_fail(d, STATUS_FILE, "cannot be read");
  for (int i = 0; i < rank; i++) all *= (size[i] + chunk[i] - 1) / chunk[i];
  if (there >= all) return STATUS_OK;
  return dataset_fail(
      d, STATUS_USAGE,
      "dataset %.200s was not written in full: of its %llu chunks %llu are there, and the rest "
      "has no values; accepted: datasets with all values",
      d->name, (unsigned long long)all, (unsigned long long)there);
}

/* Refuses a contiguous dataset that was never written, or whose values lie in other files that are too short.
 */
static status check_contiguous(const dataset *d, hid_t dataset, hid_t list) {
  H5D_space_status_t stored = H5D_SPACE_STATUS_ALLOCATED;
  const int count = H5Pget_external_count(list);
  for (int i = 0; i < count; i++) {
    char name[NAME] = "";
    off_t offset = 0;
    hsize_t bytes = 0;
    struct stat info;
    (void)H5Pget_external(list, (unsigned)i, sizeof name - 1, name, &offset, &bytes);
    const int there = stat(name, &info) == 0;
    if (there && (bytes == H5F_UNLIMITED || (hsize_t)info.st_size >= (hsize_t)offset + bytes)) continue;
    return dataset_fail(d, STATUS_USAGE,
                        "values of dataset %.200s are in the file %.200s, which is %s; accepted: "
                        "datasets with all values",
                        d->name, name, there ? "too short" : "not there");
  }
  if (count > 0 || H5Dget_space_status(dataset, &stored) < 0 || stored != H5D_SPACE_STATUS_NOT_ALLOCATED)
    return STATUS_OK;
  return dataset_fail(
      d, STATUS_USAGE,
      "dataset %.200s was never written, and has no values; accepted: datasets with all values", d->name);
}

/* Opens the file of a source, which HDF5 looks for in the folder of `path` and in the current one. */
static hid_t open_source(const char *path, const char *name) {
  char near[PATH_MAX];
  const char *slash = strrchr(path, '/');
  hid_t file = -1;
  if (name[0] != '/' && slash != NULL) {
    (void)snprintf(near, sizeof near, "%.*s/%s", (int)(slash - path), path, name);
    file = H5Fopen(near, H5F_ACC_RDONLY, H5P_DEFAULT);
  }
  return file >= 0 ? file : H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
}

static status complete(const dataset *d, const char *path, hid_t dataset, int depth, dataset_absent *absent);

/* Returns 1 if a source has all the points that entry i of the list reads of it. */
static int covers(hid_t list, size_t i, hid_t space) {
  hsize_t low[H5S_MAX_RANK], high[H5S_MAX_RANK], size[H5S_MAX_RANK];
  const hid_t part = H5Pget_virtual_srcspace(list, i), target = H5Pget_virtual_vspace(list, i);
  const int rank = H5Sget_simple_extent_dims(space, size, NULL);
  int there = part >= 0 && target >= 0;
  if (there && H5Sget_select_type(part) == H5S_SEL_ALL) {
    there = H5Sget_simple_extent_npoints(space) == H5Sget_select_npoints(target);
  } else if (there && H5Sget_select_bounds(part, low, high) >= 0) {
    for (int k = 0; k < rank; k++) there = there && high[k] < size[k];
  }
  if (target >= 0) (void)H5Sclose(target);
  if (part >= 0) (void)H5Sclose(part);
  return there;
}

/* Checks a source of a virtual dataset: it is there, as large as the part that is read of it, and complete.
 */
static status check_source(const dataset *d, const char *path, hid_t list, size_t i, int depth,
                           dataset_absent *absent) {
  char file_name[NAME] = "", name[NAME] = "";
  (void)H5Pget_virtual_filename(list, i, file_name, sizeof file_name);
  (void)H5Pget_virtual_dsetname(list, i, name, sizeof name);
  const hid_t file = open_source(path, strcmp(file_name, ".") == 0 ? path : file_name);
  const hid_t source =
      file >= 0 && dataset_link_exists(file, name) ? H5Dopen2(file, name, H5P_DEFAULT) : (hid_t)-1;
  const hid_t space = source >= 0 ? H5Dget_space(source) : -1;
  const int there = space >= 0 && covers(list, i, space);
  status result = there
                      ? complete(d, strcmp(file_name, ".") == 0 ? path : file_name, source, depth + 1, absent)
                      : dataset_fail(d, STATUS_USAGE,
                                     "dataset %.200s is put together of others, of which %.200s in the file "
                                     "%.200s is not there in full; accepted: datasets with all values",
                                     d->name, name, file_name);
  if (result == STATUS_OK) result = dataset_meaning(d, source, absent, &(dataset_place){.known = {0}});
  if (space >= 0) (void)H5Sclose(space);
  if (source >= 0) (void)H5Dclose(source);
  if (file >= 0) (void)H5Fclose(file);
  return result;
}

/* Checks that the sources of a virtual dataset are complete, and that together they are as large as it is. */
static status check_virtual(const dataset *d, const char *path, hid_t list, hid_t space, int depth,
                            dataset_absent *absent) {
  size_t count = 0;
  hssize_t covered = 0;
  if (depth > SOURCES_DEEP || H5Pget_virtual_count(list, &count) < 0)
    return dataset_fail(d, STATUS_USAGE, "dataset %.200s is put together of others, which cannot be followed",
                        d->name);
  for (size_t i = 0; i < count; i++) {
    const hid_t part = H5Pget_virtual_vspace(list, i);
    if (part >= 0) covered += H5Sget_select_npoints(part);
    if (part >= 0) (void)H5Sclose(part);
    CHECK(check_source(d, path, list, i, depth, absent));
  }
  if (covered >= H5Sget_simple_extent_npoints(space)) return STATUS_OK;
  return dataset_fail(
      d, STATUS_USAGE,
      "dataset %.200s is put together of others, which have values for %lld of its %lld points; "
      "accepted: datasets with all values",
      d->name, (long long)covered, (long long)H5Sget_simple_extent_npoints(space));
}

static status complete(const dataset *d, const char *path, hid_t dataset, int depth, dataset_absent *absent) {
  const hid_t list = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
  const H5D_layout_t layout = list >= 0 ? H5Pget_layout(list) : H5D_LAYOUT_ERROR;
  status result = list >= 0 && space >= 0 ? STATUS_OK : dataset_fail(d, STATUS_FILE, "cannot be read");
  if (result == STATUS_OK) result = check_filters(d, list);
  if (result == STATUS_OK && layout == H5D_CHUNKED) result = check_chunks(d, dataset, list, space);
  if (result == STATUS_OK && layout == H5D_CONTIGUOUS) result = check_contiguous(d, dataset, list);
  if (result == STATUS_OK && layout == H5D_VIRTUAL)
    result = check_virtual(d, path, list, space, depth, absent);
  if (space >= 0) (void)H5Sclose(space);
  if (list >= 0) (void)H5Pclose(list);
  return result;
}

status dataset_complete(const dataset *d, hid_t dataset, dataset_absent *absent) {
  return complete(d, d->path, dataset, 0, absent);
}
