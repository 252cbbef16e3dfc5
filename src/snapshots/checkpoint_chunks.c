#include "snapshots/checkpoint_chunks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include "base/agree.h"
#include "base/file.h"
#include "files/hdf5_write.h"
#include "snapshots/checkpoint_file.h"

/* Higher levels take several times as long for a few percent. */
enum { LEVEL = 1 };

/* Bytes by which a chunk is recognised. */
enum { PATTERN = 64 };

static size_t plane_bytes(const checkpoint_planes *planes) {
  return (size_t)planes->grid.n[0] * (size_t)planes->grid.n[1] * kernels_element_size(planes->precision);
}

static status allocate(const checkpoint_planes *planes, checkpoint_chunks *chunks) {
  const size_t owned = (size_t)planes->fields * (size_t)planes->grid.nz + 1;
  const size_t all = (size_t)planes->fields * (size_t)planes->grid.n[2];
  const int root = planes->grid.rank == 0;
  chunks->shuffled = malloc(plane_bytes(planes));
  chunks->sizes = calloc(owned, sizeof *chunks->sizes);
  chunks->offsets = calloc(owned, sizeof *chunks->offsets);
  if (root) chunks->all = calloc(all, sizeof *chunks->all);
  if (root) chunks->all_offset = calloc(all, sizeof *chunks->all_offset);
  const int held = chunks->shuffled != NULL && chunks->sizes != NULL && chunks->offsets != NULL &&
                   (!root || (chunks->all != NULL && chunks->all_offset != NULL));
  return held ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for the places of %zu planes", all);
}

status checkpoint_chunks_create(const checkpoint_planes *planes, checkpoint_chunks *chunks) {
  *chunks = (checkpoint_chunks){.bytes = NULL};
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0 || H5Zfilter_avail(H5Z_FILTER_SHUFFLE) <= 0)
    return status_fail(STATUS_USAGE,
                       "output.compress = yes: this HDF5 library has no deflate or no shuffle; accepted: no");
  if (plane_bytes(planes) > UINT32_MAX / 2)
    return status_fail(STATUS_USAGE,
                       "output.compress = yes: a plane of %zu bytes is larger than a chunk may be; accepted: "
                       "no, or fewer points by output.fields_stride or fields_box",
                       plane_bytes(planes));
  return allocate(planes, chunks);
}

void checkpoint_chunks_destroy(checkpoint_chunks *chunks) {
  free(chunks->bytes);
  free(chunks->shuffled);
  free(chunks->sizes);
  free(chunks->offsets);
  free(chunks->all);
  free(chunks->all_offset);
  *chunks = (checkpoint_chunks){.bytes = NULL};
}

/* HDF5's shuffle: the first bytes of all elements, then the second ones, and so on. */
static void shuffle(const unsigned char *from, size_t count, size_t element, unsigned char *to) {
  for (size_t b = 0; b < element; b++)
    for (size_t i = 0; i < count; i++) to[b * count + i] = from[i * element + b];
}

static status add_plane(const void *plane, size_t bytes, size_t element, checkpoint_chunks *chunks,
                        int64_t *size) {
  uLongf length = compressBound((uLong)bytes);
  if (chunks->used + length > chunks->room) {
    const size_t room = chunks->used + chunks->used / 2 + length;
    char *more = realloc(chunks->bytes, room);
    if (more == NULL) return status_fail(STATUS_MEMORY, "no memory for compressed planes");
    chunks->bytes = more;
    chunks->room = room;
  }
  shuffle(plane, bytes / element, element, chunks->shuffled);
  if (compress2((Bytef *)chunks->bytes + chunks->used, &length, chunks->shuffled, (uLong)bytes, LEVEL) !=
      Z_OK)
    return status_fail(STATUS_MEMORY, "no memory to compress a plane");
  chunks->used += length;
  *size = (int64_t)length;
  return STATUS_OK;
}

status checkpoint_chunks_make(checkpoint_planes *planes, checkpoint_chunks *chunks) {
  const size_t bytes = plane_bytes(planes), element = kernels_element_size(planes->precision);
  chunks->used = 0;
  for (int f = 0; f < planes->fields; f++) {
    for (int z = 0; z < planes->grid.nz; z++) {
      const size_t at = (size_t)f * (size_t)planes->grid.nz + (size_t)z;
      checkpoint_planes_pack(planes, f, z, 1);
      checkpoint_block_sum(planes->piece, 1, bytes, &planes->checksums[at]);
      CHECK(add_plane(planes->piece, bytes, element, chunks, &chunks->sizes[at]));
    }
  }
  return STATUS_OK;
}

status checkpoint_chunks_gather(const checkpoint_planes *planes, checkpoint_chunks *chunks) {
  for (int f = 0; f < planes->fields; f++)
    CHECK_MPI(MPI_Gatherv(chunks->sizes + (ptrdiff_t)f * planes->grid.nz, planes->grid.nz, MPI_INT64_T,
                          chunks->all != NULL ? chunks->all + f * planes->grid.n[2] : NULL, planes->counts,
                          planes->starts, MPI_INT64_T, 0, planes->comm));
  return STATUS_OK;
}

status checkpoint_chunks_scatter(const checkpoint_planes *planes, checkpoint_chunks *chunks) {
  for (int f = 0; f < planes->fields; f++)
    CHECK_MPI(MPI_Scatterv(chunks->all_offset != NULL ? chunks->all_offset + f * planes->grid.n[2] : NULL,
                           planes->counts, planes->starts, MPI_INT64_T,
                           chunks->offsets + (ptrdiff_t)f * planes->grid.nz, planes->grid.nz, MPI_INT64_T, 0,
                           planes->comm));
  return STATUS_OK;
}

/* Makes the dataset. [out] dataset: the caller closes it. */
static status create_dataset(hid_t file, const char *path, const char *place, hid_t type, const hsize_t n[3],
                             hid_t *dataset) {
  const hsize_t chunk[3] = {1, n[1], n[2]};
  hid_t plist = -1, space = -1;
  CHECK_HDF5(STATUS_FILE, path, plist = H5Pcreate(H5P_DATASET_CREATE));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_chunk(plist, 3, chunk));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_shuffle(plist));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_deflate(plist, LEVEL));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER));
  CHECK_HDF5(STATUS_FILE, path, H5Pset_obj_track_times(plist, 0));
  CHECK_HDF5(STATUS_FILE, path, space = H5Screate_simple(3, n, NULL));
  CHECK_HDF5(STATUS_FILE, path,
             *dataset = H5Dcreate2(file, place, type, space, H5P_DEFAULT, plist, H5P_DEFAULT));
  CHECK_HDF5(STATUS_FILE, path, H5Sclose(space));
  CHECK_HDF5(STATUS_FILE, path, H5Pclose(plist));
  return STATUS_OK;
}

/* Gives the memory of chunks [from, to) back, whose bytes HDF5 has written to the file in memory. */
static status empty(hid_t file, const char *path, int memory, const int64_t *sizes, const int64_t *offsets,
                    hsize_t from, hsize_t to) {
  CHECK_HDF5(STATUS_FILE, path, H5Fflush(file, H5F_SCOPE_LOCAL));
  for (hsize_t z = from; z < to; z++) /* if it fails, the memory stays in use */
    (void)fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offsets[z], sizes[z]);
  return STATUS_OK;
}

/* Finds where the file has the bytes of a chunk whose address is `address`: there, or behind the user block,
 * which some versions of HDF5 leave out of addresses. [out] shift: to be added to addresses. */
static status find_shift(hid_t file, const char *path, int memory, const char *pattern, size_t size,
                         int64_t address, int64_t *shift) {
  static const int64_t shifts[] = {CHECKPOINT_BLOCK_BYTES, 0};
  char found[PATTERN];
  const size_t bytes = size < sizeof found ? size : sizeof found;
  CHECK_HDF5(STATUS_FILE, path, H5Fflush(file, H5F_SCOPE_LOCAL));
  for (int i = 0; i < 2; i++) {
    *shift = shifts[i];
    CHECK(file_read_at(memory, path, found, bytes, address + *shift));
    if (memcmp(found, pattern, bytes) == 0) return STATUS_OK;
  }
  return status_fail(STATUS_FILE, "%s: HDF5 does not say where it places chunks", path);
}

static status reserve(hid_t dataset, hid_t file, const char *path, const hsize_t n[3], int memory,
                      const int64_t *sizes, const char *pattern, int64_t *offsets) {
  enum { MOST = 64 << 20 };
  hsize_t begun = 0;
  int64_t held = 0, shift = 0;
  for (hsize_t z = 0; z < n[0]; z++) {
    const hsize_t place[3] = {z, 0, 0};
    unsigned mask = 0;
    hsize_t size = 0;
    haddr_t address = HADDR_UNDEF;
    CHECK_HDF5(STATUS_FILE, path, H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, place, (size_t)sizes[z], pattern));
    CHECK_HDF5(STATUS_FILE, path, H5Dget_chunk_info_by_coord(dataset, place, &mask, &address, &size));
    if (address == HADDR_UNDEF || (int64_t)size != sizes[z])
      return status_fail(STATUS_FILE, "%s: HDF5 has no place for a chunk", path);
    if (z == 0) CHECK(find_shift(file, path, memory, pattern, (size_t)sizes[0], (int64_t)address, &shift));
    offsets[z] = (int64_t)address + shift;
    held += sizes[z];
    if (held < MOST && z + 1 < n[0]) continue;
    CHECK(empty(file, path, memory, sizes, offsets, begun, z + 1));
    begun = z + 1;
    held = 0;
  }
  return STATUS_OK;
}

status checkpoint_chunks_reserve(hid_t file, const char *path, const char *place, hid_t type,
                                 const hsize_t n[3], int memory, const int64_t *sizes, int64_t *offsets) {
  int64_t largest = 1;
  hid_t dataset = -1;
  for (hsize_t z = 0; z < n[0]; z++) largest = sizes[z] > largest ? sizes[z] : largest;
  char *pattern = malloc((size_t)largest);
  if (pattern == NULL)
    return status_fail(STATUS_MEMORY, "no memory for a chunk of %" PRId64 " bytes", largest);
  for (int64_t i = 0; i < largest; i++) pattern[i] = (char)(i * i + 41 * i + 7);
  status result = create_dataset(file, path, place, type, n, &dataset);
  if (result == STATUS_OK) result = reserve(dataset, file, path, n, memory, sizes, pattern, offsets);
  free(pattern);
  CHECK(result);
  CHECK_HDF5(STATUS_FILE, path, H5Dclose(dataset));
  return STATUS_OK;
}

/* Writes the chunks, or compares them with what the file has. */
static status pass(const checkpoint_planes *planes, const checkpoint_chunks *chunks, int descriptor,
                   const char *path, char *again) {
  const char *bytes = chunks->bytes;
  for (ptrdiff_t i = 0; i < (ptrdiff_t)planes->fields * planes->grid.nz; i++) {
    const size_t size = (size_t)chunks->sizes[i];
    if (again == NULL) {
      CHECK(file_write_at(descriptor, path, bytes, size, chunks->offsets[i]));
    } else {
      CHECK(file_read_at(descriptor, path, again, size, chunks->offsets[i]));
      if (memcmp(again, bytes, size) != 0)
        return status_fail(STATUS_DAMAGED, "%s: damaged: a compressed plane does not read back", path);
    }
    bytes += size;
  }
  return STATUS_OK;
}

status checkpoint_chunks_write(const checkpoint_planes *planes, const checkpoint_chunks *chunks,
                               const char *path) {
  char *again = malloc(compressBound((uLong)plane_bytes(planes)));
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);
  status result = again != NULL && descriptor >= 0 ? STATUS_OK
                  : again == NULL                  ? status_fail(STATUS_MEMORY, "no memory for a plane")
                                                   : status_fail(STATUS_FILE, "%s: cannot open", path);
  if (result == STATUS_OK) result = pass(planes, chunks, descriptor, path, NULL);
  if (result == STATUS_OK) result = file_sync(descriptor, path);
  if (result == STATUS_OK) (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  if (result == STATUS_OK) result = pass(planes, chunks, descriptor, path, again);
  if (descriptor >= 0) (void)close(descriptor);
  free(again);
  return result;
}

static status verify(hid_t dataset, const char *path, const checkpoint_block *block, int field,
                     const uint64_t *checksums, void *plane) {
  const hsize_t count[3] = {1, (hsize_t)block->n[1], (hsize_t)block->n[0]};
  hid_t space = -1, memory = -1;
  CHECK_HDF5(STATUS_DAMAGED, path, space = H5Dget_space(dataset));
  CHECK_HDF5(STATUS_DAMAGED, path, memory = H5Screate_simple(3, count, NULL));
  for (int64_t z = 0; z < block->n[2]; z++) {
    const hsize_t start[3] = {(hsize_t)z, 0, 0};
    CHECK_HDF5(STATUS_DAMAGED, path, H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    CHECK_HDF5(STATUS_DAMAGED, path,
               H5Dread(dataset, hdf5_real(block->precision), memory, space, H5P_DEFAULT, plane));
    if (XXH3_64bits(plane, (size_t)checkpoint_plane_bytes(block)) != checksums[z])
      return status_fail(STATUS_DAMAGED,
                         "%s: damaged: the values of %s in plane z = %" PRId64 " do not match their checksum",
                         path, block->names[field], z);
  }
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(memory));
  CHECK_HDF5(STATUS_DAMAGED, path, H5Sclose(space));
  return STATUS_OK;
}

status checkpoint_chunks_verify(const char *path, const checkpoint_block *block, int field,
                                const uint64_t *checksums) {
  char place[CHECKPOINT_FIELD_PLACE];
  hid_t file = -1, dataset = -1;
  void *plane = malloc((size_t)checkpoint_plane_bytes(block));
  if (plane == NULL) return status_fail(STATUS_MEMORY, "no memory for a plane");
  checkpoint_file_place(block->names[field], place);
  status result = checkpoint_file_open(path, &file);
  if (result == STATUS_OK) {
    dataset = H5Dopen2(file, place, H5P_DEFAULT);
    result = dataset >= 0 ? verify(dataset, path, block, field, checksums, plane)
                          : hdf5_failure(STATUS_DAMAGED, path, "H5Dopen2");
    result = checkpoint_file_close(file, path, result);
  }
  free(plane);
  return result;
}
