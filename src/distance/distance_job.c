#include "distance/distance_job.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "distance/distance.h"
#include "distance/distance_ends.h"
#include "distance/distance_output.h"
#include "domain/backend.h"
#include "domain/node.h"
#include "domain/transport.h"
#include "problems/file_planes.h"
#include "snapshots/checkpoint.h"
#include "files/dataset.h"

/* Seconds between lines of progress. */
static const double progress_period = 10.0;

/* The least spacing and the largest extent, by precision: lengths from a ten-thousandth of the former to the
 * latter have squares that are normal numbers. */
static const double least_spacing[] = {[PRECISION_SINGLE] = 1e-14, [PRECISION_DOUBLE] = 1e-149};
static const double largest_extent[] = {[PRECISION_SINGLE] = 1e18, [PRECISION_DOUBLE] = 1e153};

typedef struct job {
  MPI_Comm comm;
  const distance_options *options;
  dataset_about about;
  int bounded[3], by_file[3]; /* see distance_ends */
  grid grid;
  config config; /* other folders read the precision, the backend and the threads from it */
  const kernels *backend;
  kernels_context *context;
  field_space space;
  transport_choice transport;
  state result; /* has one field */
  distance distance;
  file_planes planes;
  double start, told;
} job;

static int hopf_lax(const job *job) {
  return job->options->time > 0.0;
}

static const char *const *names_of(const job *job) {
  static const char *const names[] = {"distance", "u"};
  return &names[hopf_lax(job)];
}

/* Number of fields besides the result. */
static int sides_of(const job *job) {
  const distance_options *options = job->options;
  return options->binary && options->is_signed && !hopf_lax(job) ? DISTANCE_SIDES : DISTANCE_WORK;
}

static status look(job *job) {
  const dataset dataset = {
      .key = "input", .path = job->options->input, .name = job->options->dataset, .option = "dataset=NAME"};
  CHECK(dataset_describe(&dataset, &job->about));
  CHECK(distance_ends(&dataset, &job->about, job->options, job->bounded, job->by_file));
  return checkpoint_verify_source(job->options->input);
}

static const char *end_name(const job *job, int axis) {
  return job->bounded[axis] ? "open" : "periodic";
}

static status make_grid(job *job) {
  int rank = 0, ranks = 1;
  double h[3];
  CHECK_MPI(MPI_Comm_rank(job->comm, &rank));
  CHECK_MPI(MPI_Comm_size(job->comm, &ranks));
  for (int d = 0; d < 3; d++)
    h[d] = job->options->spacing[d] > 0.0 ? job->options->spacing[d] : job->about.place.spacing[d];
  return agree(job->comm, grid_cut(job->about.n, h, job->bounded, ranks, rank, &job->grid));
}

/* Refuses spacings whose squares leave the range of the precision. */
static status check_spacing(const job *job) {
  const grid *grid = &job->grid;
  const precision precision = job->about.precision;
  const double least = least_spacing[precision], largest = largest_extent[precision];
  for (int d = 0; d < 3; d++) {
    if (grid->h[d] >= least && (double)grid->n[d] * grid->h[d] <= largest) continue;
    return status_fail(STATUS_USAGE,
                       "%lld points along %c, %g apart: squares of distances leave the range of %s "
                       "precision; accepted: spacings from %g and extents to %g (other units, by spacing.x, "
                       "spacing.y, spacing.z)%s",
                       (long long)grid->n[d], 'x' + d, grid->h[d], config_precision_name(precision), least,
                       largest, precision == PRECISION_SINGLE ? ", or values in double precision" : "");
  }
  return STATUS_OK;
}

/* Refuses one period and a point where an axis is periodic and the file does not say where its points lie. */
static status check_period(const job *job) {
  dataset_place place;
  int elsewhere = 0;
  return file_planes_check(&job->grid, "input", job->options->input, job->options->dataset, 0, &place,
                           &elsewhere);
}

/* Memory that this rank needs, on the device and on the host. */
static void needs_of(const job *job, double *device, double *host) {
  const kernels_shape shape = grid_shape(&job->grid, job->about.precision, job->backend->host_memory);
  const double size = (double)kernels_element_size(job->about.precision);
  const double packed = (double)shape.nx * (double)shape.ny * size;
  const double planes =
      (double)(shape.nz + 2 * KERNELS_HALO) + 3.0 * field_piece_planes((size_t)packed, shape.nz);
  *device = (double)(sides_of(job) + 1) * (double)kernels_field_bytes(&shape);
  *host = planes * packed + (job->backend->host_memory ? *device : 0.0);
}

static const char *set_text(const job *job, char text[192]) {
  const distance_options *options = job->options;
  if (hopf_lax(job)) {
    (void)snprintf(text, 192, "u          of u_t + |grad u|^2 / 2 = 0 at t = %g", options->time);
  } else {
    (void)snprintf(text, 192, "distance   to the %s %g%s",
                   options->binary ? "points with a value from" : "surface at", options->level,
                   options->is_signed ? ", negative inside" : ", 0 inside");
  }
  return text;
}

/* Lists the axes that are 1, as "x, z". */
static const char *list_axes(const int axes[3], char names[16]) {
  names[0] = '\0';
  for (int d = 0; d < 3; d++)
    if (axes[d]) text_add(names, 16, ", ", "%c", "xyz"[d]);
  return names;
}

/* Says which axes have the ends that the file says. */
static const char *by_file(const job *job, char text[48]) {
  const int count = job->by_file[0] + job->by_file[1] + job->by_file[2];
  char names[16];
  if (count == 0 || count == 3) return count == 0 ? "" : ", as the file says";
  (void)snprintf(text, 48, "; %s as the file says", list_axes(job->by_file, names));
  return text;
}

/* Warns of axes without a spacing, and with another one than the file's. */
static void warn_of_spacing(const job *job) {
  static const double close = 1e-9;
  const double *own = job->options->spacing, *its = job->about.place.spacing;
  int lacks[3];
  char names[16];
  for (int d = 0; d < 3; d++) {
    if (job->about.place.known[d] && own[d] > 0.0 && fabs(own[d] - its[d]) > close * its[d])
      log_warning("%s has its points %.9g apart along %c; spacing.%c = %.9g is taken instead",
                  job->options->input, its[d], "xyz"[d], "xyz"[d], own[d]);
  }
  for (int d = 0; d < 3; d++) lacks[d] = !job->about.place.known[d] && !(job->options->spacing[d] > 0.0);
  if (list_axes(lacks, names)[0] == '\0') return;
  log_warning("%s has neither Spacing in /VTKHDF nor coordinates along %s: points are taken to be 1 apart "
              "there; spacing.x, y, z say otherwise",
              job->options->input, names);
}

static void print_plan(const job *job) {
  const distance_options *options = job->options;
  const grid *grid = &job->grid;
  double device = 0.0, host = 0.0;
  char text[192], axes[48], of_host[NUMBER_TEXT], of_device[NUMBER_TEXT];
  needs_of(job, &device, &host);
  log_info("input      %s, %s, %s precision\n", options->input, options->dataset,
           config_precision_name(job->about.precision));
  log_info("grid       %" PRId64 " x %" PRId64 " x %" PRId64 ", %g, %g, %g apart\n", grid->n[0], grid->n[1],
           grid->n[2], grid->h[0], grid->h[1], grid->h[2]);
  log_info("boundary   x %s, y %s, z %s%s\n", end_name(job, 0), end_name(job, 1), end_name(job, 2),
           by_file(job, axes));
  log_info("slabs      %d rank%s, %" PRId64 "%s planes each\n", grid->ranks, grid->ranks == 1 ? "" : "s",
           grid->n[2] / grid->ranks, grid->n[2] % grid->ranks != 0 ? " or one more" : "");
  log_info("memory     per rank %s on the host, %s on a device (%d fields)\n", number_bytes(host, of_host),
           number_bytes(job->backend->host_memory ? 0.0 : device, of_device), sides_of(job) + 1);
  log_info("%s\noutput     %s, VTKHDF/PointData/%s\n", set_text(job, text), options->output, *names_of(job));
  if (options->idle[0] != '\0') log_warning("without effect with --hopf-lax: %s", options->idle);
  warn_of_spacing(job);
}

static status check_memory(job *job, const node *node) {
  double device = 0.0, host = 0.0;
  size_t available = 0;
  int index = 0, devices = 0, sharing = 0;
  int64_t needed = 0;
  needs_of(job, &device, &host);
  job->backend->device_identity(job->context, &index, &devices);
  CHECK(node_device_bytes(node, index, (int64_t)(job->backend->host_memory ? host : device), &needed,
                          &sharing));
  CHECK(job->backend->memory_available(job->context, &available));
  if ((uint64_t)needed <= available) return STATUS_OK;
  char wanted[NUMBER_TEXT], room[NUMBER_TEXT];
  return status_fail(STATUS_MEMORY,
                     "memory: %s needed by this node's ranks on %s, %s free: use more devices or nodes",
                     number_bytes((double)needed, wanted), job->backend->describe(job->context),
                     number_bytes((double)available, room));
}

static status open_device(job *job) {
  node node;
  kernels_setup setup;
  CHECK(node_open(job->comm, &node));
  setup.device = node.rank;
  CHECK(node_threads(&node, job->options->threads, &setup.threads));
  if (setup.threads > 0) omp_set_num_threads(setup.threads);
  CHECK(agree(job->comm, job->backend->context_create(&setup, &job->context)));
  CHECK(agree(job->comm, check_memory(job, &node)));
  log_info("backend    %s: %s\n", job->backend->name, job->backend->describe(job->context));
  return node_close(&node);
}

static status open_fields(job *job) {
  const kernels_shape shape = grid_shape(&job->grid, job->about.precision, job->backend->host_memory);
  CHECK(agree(job->comm, field_space_open(job->backend, job->context, shape, &job->space)));
  CHECK(agree(job->comm, transport_choose(job->comm, &job->space, CONFIG_TRANSPORT_AUTO, &job->transport)));
  CHECK(agree(job->comm, state_create(&job->space, 1, names_of(job), &job->result)));
  return distance_open(job->comm, &job->grid, &job->space, sides_of(job), job->transport.messages,
                       &job->distance);
}

/* The slab's planes and one beyond each side; file_planes holds KERNELS_HALO there. */
static level_set set_of(const job *job) {
  const size_t plane =
      (size_t)job->grid.n[0] * (size_t)job->grid.n[1] * kernels_element_size(job->about.precision);
  return (level_set){.grid = &job->grid,
                     .precision = job->about.precision,
                     .values = (const char *)job->planes.data + (KERNELS_HALO - 1) * plane,
                     .level = hopf_lax(job) ? 0.0 : job->options->level};
}

/* Refuses a level without a surface, and names one with a surface: the middle of the values, 0.5 of a mask of
 * zeros and ones. Collective. */
static status refuse_level(const job *job, const char *share) {
  const distance_options *options = job->options;
  const grid *grid = &job->grid;
  double range[2] = {INFINITY, INFINITY}; /* minimum, and maximum with the other sign */
  for (int64_t row = 0; row < grid->nz * grid->n[1]; row++) {
    for (int64_t x = 0; x < grid->n[0]; x++) {
      const double value = file_planes_at(&job->planes, grid->z0 + row / grid->n[1], row % grid->n[1], x);
      range[0] = fmin(range[0], value);
      range[1] = fmin(range[1], -value);
    }
  }
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_DOUBLE, MPI_MIN, job->comm));
  if (range[0] == -range[1])
    return status_fail(STATUS_USAGE, "%s: all values of %s are %.9g: there is no surface", options->input,
                       options->dataset, range[0]);
  return status_fail(
      STATUS_USAGE,
      "%s: %s of its points has a value >= level = %.9g: there is no surface; accepted: a level "
      "between the values of %s, which are from %.9g to %.9g, such as level=%.9g",
      options->input, share, options->level, options->dataset, range[0], -range[1],
      0.5 * (range[0] - range[1]));
}

/* Refuses a set without a surface or, for distances to points, without points. Collective. */
static status check_set(const job *job, const level_set *set) {
  const distance_options *options = job->options;
  int64_t all[LEVEL_SET_COUNTS];
  const double points = (double)job->grid.n[0] * (double)job->grid.n[1] * (double)job->grid.n[2];
  level_set_count(set, all);
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, all, LEVEL_SET_COUNTS, MPI_INT64_T, MPI_SUM, job->comm));
  const int64_t inside = all[LEVEL_SET_INSIDE];
  const int none = inside == 0, whole = (double)inside >= points;
  log_info("set        %" PRId64 " of %.4g points\n", inside, points);
  if (options->binary ? none || (whole && options->is_signed) : all[LEVEL_SET_CROSSED] == 0)
    return refuse_level(job, none ? "none" : "each");
  return STATUS_OK;
}

static void tell_progress(void *user, int done, int products) {
  job *job = user;
  const double now = MPI_Wtime(), taken = now - job->start;
  if (now - job->told < progress_period || done == products) return;
  job->told = now;
  log_info("product %d of %d, %.3g s, %.3g s left\n", done, products, taken,
           taken / done * (products - done));
}

static status compute(job *job) {
  const distance_options *options = job->options;
  const level_set set = set_of(job);
  field *const out = &job->result.part[0];
  if (!hopf_lax(job)) CHECK(agree(job->comm, check_set(job, &set)));
  job->distance.progress = tell_progress;
  job->distance.user = job;
  job->start = job->told = MPI_Wtime();
  if (hopf_lax(job)) return distance_hopf_lax(&job->distance, &set, options->time, out);
  if (options->binary) return distance_to_points(&job->distance, &set, options->is_signed, out);
  return distance_to_surface(&job->distance, &set, options->is_signed, out);
}

/* Prints the time, and the share of a full search that skipping saved. */
static status summarise(job *job) {
  const grid *grid = &job->grid;
  const double seconds = MPI_Wtime() - job->start;
  const double points = (double)grid->n[0] * (double)grid->n[1] * (double)grid->n[2];
  const double lengths = (double)grid->n[0] + (double)grid->n[1] + (double)grid->n[2];
  const double search = points * lengths * job->distance.products / 3.0;
  double mine = 0.0, pairs = 0.0; /* with padding, so that short axes have more than a full search */
  CHECK(agree(job->comm, pencils_pairs(&job->distance.pencils, &mine)));
  CHECK_MPI(MPI_Allreduce(&mine, &pairs, 1, MPI_DOUBLE, MPI_SUM, job->comm));
  log_info("done       %.4g s, of which products %.4g s: %.4g pairs, %.3g %% of a full search\n", seconds,
           job->distance.seconds, pairs, fmin(100.0, 100.0 * pairs / search));
  return STATUS_OK;
}

/* The options as text, stored in place of a run's configuration. */
static const char *provenance(const job *job, char *text, size_t size) {
  const distance_options *o = job->options;
  (void)snprintf(text, size,
                 "[distance]\ninput = %.1024s\ndataset = %.1024s\nlevel = %.17g\nbinary = %s\nsigned = %s\n"
                 "boundary_x = %s\nboundary_y = %s\nboundary_z = %s\nhopf_lax = %.17g\n",
                 o->input, o->dataset, o->level, o->binary ? "yes" : "no", o->is_signed ? "yes" : "no",
                 end_name(job, 0), end_name(job, 1), end_name(job, 2), o->time);
  return text;
}

static status write_output(job *job) {
  char directory[DISTANCE_PATH], text[4096];
  const char *name = NULL;
  checkpoint *checkpoint = NULL;
  CHECK(distance_output_split(job->options->output, directory, &name));
  CHECK(checkpoint_create_alone(job->comm, &job->grid, job->about.place.origin, job->about.precision,
                                directory, provenance(job, text, sizeof text), 1, names_of(job),
                                &checkpoint));
  const checkpoint_state about = {.picture = 1};
  const status result = checkpoint_write_alone(checkpoint, name, &about, &job->result);
  checkpoint_destroy(checkpoint);
  return result;
}

static status run(job *job) {
  const distance_options *options = job->options;
  char note[STATUS_MESSAGE_SIZE];
  CHECK(agree(job->comm, job->grid.rank == 0 ? look(job) : STATUS_OK));
  CHECK_MPI(MPI_Bcast(&job->about, (int)sizeof job->about, MPI_BYTE, 0, job->comm));
  CHECK_MPI(MPI_Bcast(job->bounded, 3, MPI_INT, 0, job->comm));
  CHECK_MPI(MPI_Bcast(job->by_file, 3, MPI_INT, 0, job->comm));
  CHECK(make_grid(job));
  CHECK(agree(job->comm, check_spacing(job)));
  CHECK(agree(job->comm, job->grid.rank == 0 ? check_period(job) : STATUS_OK));
  CHECK(agree(job->comm, job->grid.rank == 0 ? distance_output_check(job->options) : STATUS_OK));
  job->config.precision = job->about.precision;
  CHECK(backend_choose(job->comm, options->backend, &job->backend, note, sizeof note));
  print_plan(job);
  CHECK(open_device(job));
  if (options->action == DISTANCE_VALIDATE) return STATUS_OK;
  CHECK(open_fields(job));
  CHECK(agree(job->comm, file_planes_open(&job->config, &job->grid, "input", options->input, options->dataset,
                                          0, &job->planes)));
  CHECK(compute(job));
  CHECK(summarise(job));
  return write_output(job);
}

status distance_job(MPI_Comm comm, const distance_options *options) {
  job *job = calloc(1, sizeof *job);
  status result = agree(comm, job != NULL ? STATUS_OK : status_fail(STATUS_MEMORY, "no memory for the job"));
  if (result == STATUS_OK) {
    job->comm = comm;
    job->options = options;
    (void)MPI_Comm_rank(comm, &job->grid.rank);
    result = run(job);
    file_planes_close(&job->planes);
    distance_close(&job->distance);
    state_destroy(&job->result);
    field_space_close(&job->space);
    if (job->context != NULL) job->backend->context_destroy(job->context);
  }
  free(job);
  return result;
}
