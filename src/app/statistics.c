#include "app/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/agree.h"
#include "base/log.h"
#include "base/text.h"
#include "config/kept.h"
#include "files/rundir.h"

/* Index of an unknown, or -1. */
static int find(const char *name, int unknowns, const char *const names[]) {
  int i = unknowns - 1;
  while (i >= 0 && strcmp(names[i], name) != 0) i--;
  return i;
}

_Static_assert(STATE_FIELDS >= 2 * FLOW_UNKNOWNS + FLOW_UNKNOWNS * (FLOW_UNKNOWNS - 1) / 2,
               "all statistics of flow");

status statistics_check(const config *config, int unknowns, const char *const names[]) {
  config_names wanted;
  char accepted[512] = "";
  const int count = config_statistics(config, &wanted);
  for (int i = 0; i < unknowns; i++) text_add(accepted, sizeof accepted, ", ", "%s", names[i]);
  for (int i = 0; i < wanted.count; i++) {
    if (find(wanted.name[i], unknowns, names) < 0)
      return config_refuse(config, "statistics", "fields", "%s is no field; accepted: some of %s, or none",
                           wanted.name[i], accepted);
  }
  if (count > STATE_FIELDS)
    return config_refuse(
        config, "statistics", "fields",
        "%d statistics, more than a snapshot holds; accepted: up to %d, with fewer fields or "
        "statistics.products = no",
        count, (int)STATE_FIELDS);
  if (config->statistics_from > config->statistics_to)
    return config_refuse(config, "statistics", "from", "after statistics.to = %g; accepted: an earlier time",
                         config->statistics_to);
  return STATUS_OK;
}

static void name_arrays(statistics *s, const char *const names[]) {
  int n = 0;
  for (int i = 0; i < s->fields; i++)
    (void)snprintf(s->text[n++], sizeof *s->text, CONFIG_MEAN "%s", names[s->chosen[i]]);
  for (int i = 0; i < s->fields; i++)
    (void)snprintf(s->text[n++], sizeof *s->text, CONFIG_VARIANCE "%s", names[s->chosen[i]]);
  for (int i = 0; i < s->fields && s->config->statistics_products; i++)
    for (int k = i + 1; k < s->fields; k++)
      (void)snprintf(s->text[n++], sizeof *s->text, CONFIG_PRODUCT "%s_%s", names[s->chosen[i]],
                     names[s->chosen[k]]);
  for (int i = 0; i < n; i++) s->names[i] = s->text[i];
}

static status allocate(statistics *s, const field_space *space) {
  CHECK(state_create(space, config_statistics(s->config, NULL), s->names, &s->arrays));
  for (int i = 0; i < CONFIG_STATISTICS_WORK; i++) CHECK(field_create(space, &s->work[i]));
  return STATUS_OK;
}

status statistics_create(MPI_Comm comm, const grid *grid, const field_space *space, const config *config,
                         int unknowns, const char *const names[], statistics *s) {
  config_names wanted;
  *s = (statistics){.comm = comm,
                    .config = config,
                    .stencil = stencil_make(config->order, grid->h),
                    .last = -1,
                    .written = -1};
  (void)config_statistics(config, &wanted);
  for (int i = 0; i < wanted.count; i++) s->chosen[s->fields++] = find(wanted.name[i], unknowns, names);
  if (s->fields == 0) return STATUS_OK;
  name_arrays(s, names);
  CHECK(agree(comm, allocate(s, space)));
  return checkpoint_create_beside(comm, grid, config, s->arrays.count, s->names, &s->file);
}

void statistics_destroy(statistics *s) {
  if (s->fields == 0) return;
  state_destroy(&s->arrays);
  for (int i = 0; i < CONFIG_STATISTICS_WORK; i++) field_destroy(&s->work[i]);
  if (s->file != NULL) checkpoint_destroy(s->file);
  s->fields = 0;
}

/* Path of the statistics that belong to a snapshot. */
static void path_beside(const char *snapshot, int64_t step, char path[CONFIG_PATH_SIZE]) {
  char name[64];
  const char *slash = strrchr(snapshot, '/');
  rundir_statistics_name(step, name);
  (void)snprintf(path, CONFIG_PATH_SIZE, "%.*s%s", slash != NULL ? (int)(slash - snapshot) + 1 : 0, snapshot,
                 name);
}

status statistics_resume(statistics *s, const restart *restart) {
  char path[CONFIG_PATH_SIZE], why[STATUS_MESSAGE_SIZE];
  checkpoint_state about = {0};
  if (s->fields == 0 || !restart->resumed) return STATUS_OK;
  path_beside(restart->path, restart->from.step, path);
  const status result = checkpoint_read(s->file, path, &about, &s->arrays);
  if (result == STATUS_OK) {
    s->samples = about.samples;
    s->last = about.step;
    s->written = restart->goes_on ? about.step : -1;
    return STATUS_OK;
  }
  if (result != STATUS_FOREIGN && result != STATUS_FILE && result != STATUS_DAMAGED) return result;
  (void)snprintf(why, sizeof why, "%s", status_message(result));
  status_clear();
  CHECK(agree(s->comm, STATUS_OK)); /* later errors are new ones */
  if (result == STATUS_DAMAGED)
    return agree(s->comm, status_fail(result,
                                      "%s; remove this file, and statistics begin anew; or resume from an "
                                      "earlier snapshot",
                                      why));
  if (result == STATUS_FOREIGN || restart->from.time > s->config->statistics_from)
    log_warning("statistics begin anew, because those of step %" PRId64 " cannot be continued: %s",
                restart->from.step, why);
  return STATUS_OK;
}

static void swap(field *a, field *b) {
  const field held = *a;
  *a = *b;
  *b = held;
}

/* Renews mean and variance of a field by a sample that has this share of all weights. */
static status renew(statistics *s, double share, const field *x, field *mean, field *variance) {
  const kernels_launch launch = field_launch(x, &s->stencil);
  const kernels_call call = {
      .kind = OPERATION_moments,
      .in = {[MOMENTS_X] = x->data, [MOMENTS_MEAN] = mean->data, [MOMENTS_VARIANCE] = variance->data},
      .out = {s->work[0].data, s->work[1].data},
      .scalar = {[MOMENTS_SHARE] = share, [MOMENTS_SPREAD] = share * (1.0 - share)}};
  CHECK(x->backend->apply(&launch, &call));
  swap(mean, &s->work[0]);
  swap(variance, &s->work[1]);
  return STATUS_OK;
}

static status renew_product(statistics *s, double share, const field *x, const field *y, field *product) {
  const kernels_launch launch = field_launch(x, &s->stencil);
  const kernels_call call = {
      .kind = OPERATION_mean_product,
      .in = {[MEAN_PRODUCT_X] = x->data, [MEAN_PRODUCT_Y] = y->data, [MEAN_PRODUCT_MEAN] = product->data},
      .out = {product->data},
      .scalar = {[MOMENTS_SHARE] = share}};
  return x->backend->apply(&launch, &call);
}

/* Times that only rounding moves out of the window belong to it. */
static int is_due(const statistics *s, int64_t step, double time) {
  const config *config = s->config;
  const double slack = 1e-12 * fabs(time);
  return s->fields > 0 && step > s->last && step % config->statistics_every == 0 &&
         time >= config->statistics_from - slack && time <= config->statistics_to + slack;
}

/* Counts a sample at this time. Returns its share of all weights. */
static double count(checkpoint_samples *samples, double time) {
  const double weight = time - samples->time;
  samples->time = time;
  if (++samples->count == 1) return 1.0;
  if (samples->count == 2) samples->weight = weight;
  samples->weight += weight;
  return weight / samples->weight;
}

status statistics_sample(statistics *s, const state *state, int64_t step, double time) {
  if (!is_due(s, step, time)) return STATUS_OK;
  const double share = count(&s->samples, time);
  field *array = s->arrays.part, *product = array + 2 * (ptrdiff_t)s->fields;
  s->last = step;
  for (int i = 0; i < s->fields; i++)
    CHECK(renew(s, share, &state->part[s->chosen[i]], &array[i], &array[s->fields + i]));
  for (int i = 0; i < s->fields && s->config->statistics_products; i++)
    for (int k = i + 1; k < s->fields; k++)
      CHECK(renew_product(s, share, &state->part[s->chosen[i]], &state->part[s->chosen[k]], product++));
  return STATUS_OK;
}

status statistics_write(statistics *s, int64_t step, double time) {
  char name[64];
  int rank = 0;
  const checkpoint_state about = {.step = step, .time = time, .picture = 1, .samples = s->samples};
  if (s->samples.count == 0) return STATUS_OK;
  rundir_statistics_name(step, name);
  if (s->written != step) CHECK(checkpoint_write_alone(s->file, name, &about, &s->arrays));
  s->written = step;
  CHECK_MPI(MPI_Comm_rank(s->comm, &rank));
  return agree(s->comm, rank == 0 ? rundir_prune_statistics(s->config->directory, step) : STATUS_OK);
}

void statistics_warn(const statistics *s) {
  const config *config = s->config;
  if (s->fields == 0 || s->samples.count > 0) return;
  log_warning("no state was a sample of statistics, so there is no file of them (statistics.from = %g, "
              "to = %g, every = %" PRId64 ")",
              config->statistics_from, config->statistics_to, config->statistics_every);
}
