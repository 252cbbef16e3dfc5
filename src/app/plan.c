#include "app/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "equations/sound_rates.h"
#include "equations/sources.h"
#include "settings/equations.h"
#include "config/kept.h"
#include "problems/cases.h"
#include "problems/flow_state.h"
#include "problems/medium.h"
#include "problems/points.h"
#include "problems/wavelet.h"
#include "problems/rounded.h"
#include "domain/node.h"

static void print_terms(const config *config) {
  if (config_equation_uses(config, "form")) log_info(", %s form", config_form_name(config->form));
  if (config_equation_uses(config, "difference") && config->difference == CONFIG_DIFFERENCE_UPWIND)
    log_info(", upwind");
  if (config_equation_uses(config, "diffusivity") && config->diffusivity > 0.0)
    log_info(", diffusivity %g", config->diffusivity);
}

static void print_source(const config *config) {
  const equation *equation = equation_of(config);
  int count = 0;
  if (!source_given(config)) return;
  for (int i = 0; i < equation->unknowns; i++) {
    const char *name = sources_name(equation, i);
    if (name == NULL || !source_exists(config, i, name)) continue;
    log_info("%s%s", count++ == 0 ? "source     of " : ", ", name);
  }
  if (source_forced(config))
    log_info("%sforce %g %g %g per mass", count++ == 0 ? "source     " : ", ", config->force[0],
             config->force[1], config->force[2]);
  if (count == 0) return;
  if (strcmp(config->source_factor, "1") != 0) log_info(", times %.100s", config->source_factor);
  log_info("\n");
}

static void print_viscosity(const config *config) {
  if (!equation_is(config, EQUATION_GAS)) return;
  const flow_gas gas = flow_gas_of(config);
  const int varies = gas.law == FLOW_SUTHERLAND;
  if (gas.law == FLOW_INVISCID) return;
  log_info("viscosity  %.6g", gas.viscosity);
  if (varies)
    log_info(" at temperature %.6g, Sutherland's law with S = %.6g", gas.viscosity_temperature,
             gas.sutherland);
  if (cases_at(config->initial)->flow != NULL && config->reynolds > 0.0) {
    log_info(", Reynolds number %.6g", config->reynolds);
    if (varies) log_info(" at the case's temperature, %.6g", problem_flow_temperature(config));
  }
  log_info("\n");
}

/* Says whether the solution is known at times after 0, into a text of CASES_TEXT bytes. */
static const char *known_text(const config *config, char *text) {
  const equation *equation = equation_of(config);
  const problem_flow *flow = cases_at(config->initial)->flow;
  /* an equation whose solution is that of the case in the velocity field can say why it is not known */
  if (equation->known_later == cases_exact_exists) return cases_exact_text(config, text);
  if (!equation_fact(equation->known_later, config)) return "not known";
  if (flow == NULL || !flow->linear || fabs(config->amplitude) <= flow->amplitude) return "known";
  (void)snprintf(text, CASES_TEXT, "known for small amplitudes: errors of the order of amplitude^2 = %.3g",
                 config->amplitude * config->amplitude);
  return text;
}

static void print_problem(const config *config, int host_memory) {
  char exact[CASES_TEXT], idle[CONFIG_NAMES_SIZE];
  const char *initial = cases_at(config->initial)->name, *velocity = velocities_at(config->velocity)->name;
  const equation *equation = equation_of(config);
  const int named = config->equation != EQUATION_advection;
  if (named) log_info("equation   %s", equation->name);
  if (named) print_terms(config);
  log_info("%scase       %s", named ? "\n" : "", initial);
  if (equation_is(config, EQUATION_CARRIED)) log_info(", velocity %s", velocity);
  if (!named) print_terms(config);
  log_info("\n");
  print_source(config);
  print_viscosity(config);
  log_info("exact      %s\n", known_text(config, exact));
  log_info("scheme     %s, order %d in space, %s precision\n", schemes_all(config->scheme)->name,
           config->order, config_precision_name(config->precision));
  if (config_without_effect(config, host_memory, idle)[0] == '\0') return;
  log_warning("without effect, as nothing in this run uses them: %s", idle);
}

static void warn_not_held(const config *config, const grid *grid) {
  char text[CASES_HELD];
  if (cases_not_held(config, grid, text)[0] != '\0')
    log_warning("the grid or the precision does not hold the initial condition: %s", text);
}

status plan_warn_divergence(MPI_Comm comm, const config *config, const grid *grid,
                            const schedule_rates *rates) {
  static const double small = 1e-3, ulps = 16.0;
  double mine[2] = {0.0, 0.0}, all[2];
  const int formed = equation_is(config, EQUATION_CARRIED) && config_equation_uses(config, "form");
  if (!formed || config->form != FORM_ADVECTIVE) return STATUS_OK;
  CHECK(agree(comm, cases_velocity_divergence(config, grid, &mine[0], &mine[1])));
  CHECK_MPI(MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, comm));
  /* The terms may all be round-off, as of a shear flow that is resampled: its divergence was 1.4 units in the
   * last place of max |c|/h. */
  const double noise = ulps * problem_rounding(config->precision) * rates->advection;
  if (all[0] > fmax(small * all[1], noise)) {
    log_warning(
        "the velocity's divergence is up to %.3g, %.2g of its terms: the advective form does not keep the "
        "mass; physics.form = conservative does",
        all[0], all[0] / all[1]);
  }
  return STATUS_OK;
}

static void print_layers(const config *config, const grid *grid) {
  equation_memory memory = {0};
  char text[32], ends[64] = "";
  if (!config_layered(config)) return;
  for (int i = 0; i < 6; i++)
    if (config->ends[i / 2][i % 2] == CONFIG_END_LAYER)
      text_add(ends, sizeof ends, "", " %c_%s", "xyz"[i / 2], i % 2 == 0 ? "low" : "high");
  equation_of(config)->memory(config, grid, &memory);
  log_info("layers     %d points beside%s: %s per rank\n", config->layer_points, ends,
           number_bytes((double)memory.bytes, text));
}

void plan_problem(const config *config, const grid *grid, int host_memory) {
  solver_needs needs;
  solver_estimate(config, equation_of(config), grid, host_memory, &needs);
  const double points = (double)grid->n[0] * (double)grid->n[1] * (double)grid->n[2];
  log_info("grid       %" PRId64 " x %" PRId64 " x %" PRId64 " = %.4g points\n", grid->n[0], grid->n[1],
           grid->n[2], points);
  const int64_t least = grid->n[2] / grid->ranks;
  const int uneven = grid->n[2] % grid->ranks != 0;
  log_info("slabs      %d rank%s, %" PRId64 "%s planes each\n", grid->ranks, grid->ranks == 1 ? "" : "s",
           least, uneven ? " or one more" : "");
  char host[32];
  char device[32];
  log_info("memory     per rank %s on the host, %s on a device (%d fields)",
           number_bytes((double)(needs.host_bytes + needs.copy_bytes), host),
           number_bytes(host_memory ? 0.0 : (double)needs.device_bytes, device), needs.fields);
  if (needs.pair_bytes > 0)
    log_info(", %s more for stages in pairs", number_bytes((double)needs.pair_bytes, device));
  log_info("\n");
  print_problem(config, host_memory);
  print_layers(config, grid);
  warn_not_held(config, grid);
}

void plan_rate(const config *config, const grid *grid) {
  const double points = (double)grid->n[0] * (double)grid->n[1] * (double)grid->nz;
  if (cases_velocity_uniform(config) || points < 1e9) return; /* it takes seconds at most */
  log_info("velocity   looking for the largest at %.3g points\n", points);
}

/* Free memory for a backend that has no context yet. */
static status free_memory(const kernels *backend, size_t *bytes) {
  const kernels_setup setup = {.threads = 1};
  kernels_context *context = NULL;
  CHECK(backend->context_create(&setup, &context));
  const status result = backend->memory_available(context, bytes);
  backend->context_destroy(context);
  return result;
}

status plan_memory(MPI_Comm comm, const config *config, const grid *grid, const kernels *backend) {
  solver_needs needs;
  node node;
  int64_t needed = 0, copy = 0;
  size_t available = 0;
  int ranks = 0;
  char need[32];
  char room[32];
  solver_estimate(config, equation_of(config), grid, backend->host_memory, &needs);
  CHECK(node_open(comm, &node));
  CHECK(node_device_bytes(&node, 0, (int64_t)needs.host_bytes, &needed, &ranks));
  CHECK(node_device_bytes(&node, 0, (int64_t)needs.copy_bytes, &copy, &ranks));
  CHECK(node_close(&node));
  CHECK(agree(comm, free_memory(backend, &available)));
  const int lacks[2] = {(uint64_t)needed > available, (uint64_t)(needed + copy) > available};
  int any[2] = {0, 0};
  CHECK_MPI(MPI_Allreduce(lacks, any, 2, MPI_INT, MPI_MAX, comm));
  log_info("memory     %s needed by this node's ranks, %s free on this node\n",
           number_bytes((double)(needed + copy), need), number_bytes((double)available, room));
  if (any[0]) {
    log_warning("the run needs more memory than is free on %s node", lacks[0] ? "this" : "another");
  } else if (any[1]) {
    log_info("snapshots  steps wait for them: no memory for a copy of %s on %s node\n",
             number_bytes((double)copy, need), lacks[1] ? "this" : "another");
  }
  return STATUS_OK;
}

/* The frequency at which a wavelet's spectrum has fallen to 1 % of its peak, as a multiple of its own; 0: not
 * known. */
static double widest(const config *config) {
  switch (config->wavelet) {
  case CONFIG_WAVELET_RICKER:
    return 2.76;
  case CONFIG_WAVELET_GAUSSIAN:
    return 2.15;
  case CONFIG_WAVELET_SINE:
    return 1.0 + 2.0 / config->cycles; /* end of the main lobe */
  default:
    return 0.0;
  }
}

static void print_box(const char *what, const points *points) {
  log_info("%-10s %" PRId64 " point%s", what, points->count, points->count == 1 ? "" : "s");
  for (int d = 0; d < 3; d++) {
    double low = points->at[d], high = low;
    for (int64_t i = 1; i < points->count; i++) {
      low = fmin(low, points->at[3 * i + d]);
      high = fmax(high, points->at[3 * i + d]);
    }
    log_info(", %c = %.6g", "xyz"[d], low);
    if (high > low) log_info(" to %.6g", high);
  }
}

/* Warns of points on free ends, where the pressure is 0: sources there feed nothing. */
static void warn_of_free_ends(const config *config, const char *what, const points *points) {
  int64_t idle = 0;
  for (int64_t i = 0; i < points->count; i++) {
    int on = 0;
    for (int d = 0; d < 3; d++) {
      const double x = points->at[3 * i + d];
      on = on || (config->ends[d][GRID_LOW] == CONFIG_END_FREE && x == 0.0) ||
           (config->ends[d][GRID_HIGH] == CONFIG_END_FREE && x == config->l[d]);
    }
    idle += on;
  }
  if (idle == 0) return;
  log_warning("%" PRId64 " of %" PRId64 " %s: on a free end, where p is 0", idle, points->count, what);
}

/* Warns of a table whose largest value lies between two steps, which take much less. A sine of six steps per
 * period keeps 0.87. */
static void warn_of_missed_peaks(const config *config, const points *points, const wavelet *wavelet,
                                 double dt, double end) {
  static const double small = 0.75;
  double kept = 1.0, largest[2] = {0.0};
  for (int64_t i = 0; i < points->count && kept >= small; i++)
    if (i == 0 || points->delay[i] != points->delay[i - 1])
      kept = wavelet_kept(wavelet, points->delay[i], dt, end, largest);
  if (kept < small)
    log_warning(
        "point_sources.wavelet_file = %s: its largest value until the run ends, %.6g at t = %.6g, lies "
        "between two steps (dt = %.6g), which take at most %.2g of it; a shorter step takes more, or a "
        "wavelet of lower frequencies",
        config->wavelet_file, largest[1], largest[0], dt, kept);
}

static void warn_of_late_signals(const config *config, const points *points, double dt, double end) {
  static const double small = 1e-3;
  double reached = 0.0, least = INFINITY;
  wavelet wavelet = {.table = NULL};
  const status opened = wavelet_open(config, &wavelet);
  for (int64_t i = 0; i < points->count && reached <= small && opened == STATUS_OK; i++) {
    if (i == 0 || points->delay[i] != points->delay[i - 1])
      reached = fmax(reached, wavelet_reached(&wavelet, points->delay[i], end));
    least = fmin(least, points->delay[i]);
  }
  if (opened == STATUS_OK) warn_of_missed_peaks(config, points, &wavelet, dt, end);
  wavelet_close(&wavelet);
  if (opened == STATUS_OK && end > 0.0 && reached <= small)
    log_warning("point_sources: until the run ends at t = %.6g no signal exceeds %.2g of its peak; the "
                "shortest delay is %.6g",
                end, reached, least);
}

/* Describes point sources and receivers. Their files were read before, so that they have no faults. end: the
 * time when the run ends, by steps of dt. */
static void print_points(const config *config, double dt, double end) {
#define X(name, text, help) text,
  static const char *const wavelets[] = {CONFIG_WAVELET_LIST(X)};
#undef X
  points points = {.count = 0};
  if (config_sourced(config) && points_sources(config, &points) == STATUS_OK) {
    print_box("sources", &points);
    log_info(", %s", wavelets[config->wavelet]);
    if (config->wavelet != CONFIG_WAVELET_FILE) log_info(" of frequency %g", config->frequency);
    log_info("\n");
    warn_of_free_ends(config, "sources", &points);
    warn_of_late_signals(config, &points, dt, end);
  }
  points_close(&points);
  if (config_received(config) && points_receivers(config, &points) == STATUS_OK) {
    print_box("receivers", &points);
    log_info(config->receivers_every == 1 ? ", every step\n" : ", every %" PRId64 " steps\n",
             config->receivers_every);
    warn_of_free_ends(config, "receivers", &points);
  }
  points_close(&points);
}

static void print_medium(const config *config, const grid *grid, const schedule_rates *rates) {
  double squares = 0.0;
  for (int d = 0; d < 3; d++) squares += 1.0 / (grid->h[d] * grid->h[d]);
  if (medium_varies(config))
    log_info("medium     the least speed is %.4g, and the fastest wave that the grid holds has %.4g\n",
             1.0 / rates->own[SOUND_SLOWNESS], rates->advection / sqrt(squares));
}

/* Warns of layers of few points in a medium that varies: in random ones noise grew with one and with two
 * points, and in a smooth one what a source had left with one. And of layers that absorb so much in a step
 * that the solution may grow with leapfrog4, whose second Laplacian has no terms of layers: in boxes of 31
 * points noise grew where a wave's amplitude was to fall by exp(-3.1) and more, and not at exp(-2.6). */
static void warn_of_thin_layers(const config *config, const grid *grid, const schedule_rates *rates,
                                double dt) {
  static const double most = 2.5;
  static const int few = 5;
  double squares = 0.0, thinnest = INFINITY;
  if (!config_layered(config)) return;
  for (int d = 0; d < 3; d++) {
    squares += 1.0 / (grid->h[d] * grid->h[d]);
    if (config->ends[d][GRID_LOW] == CONFIG_END_LAYER || config->ends[d][GRID_HIGH] == CONFIG_END_LAYER)
      thinnest = fmin(thinnest, grid->h[d]);
  }
  const double slowest = 1.0 / rates->own[SOUND_SLOWNESS], fastest = rates->advection / sqrt(squares);
  if (config->layer_points < few && slowest < fastest * (1.0 - 1e-9))
    log_warning(
        "boundary.layer_points = %d: where the medium varies the solution may grow slowly in layers of "
        "so few points; with %d it did not in trials",
        config->layer_points, few);
  if (schemes_all(config->scheme)->leap != 4) return;
  const double step = 1.5 * rates->advection / sqrt(squares) * dt / thinnest;
  const double absorbed = -step * rounded_log(config->layer_reflection) / config->layer_points;
  if (absorbed <= most) return;
  log_warning("the layers take a wave's amplitude to e^-%.3g in a step; beyond %g the solution may grow with "
              "leapfrog4: boundary.layer_points = %.0f, or boundary.layer_reflection = %.2g, does not",
              absorbed, most, ceil(config->layer_points * absorbed / most),
              rounded_exp(-most / step * config->layer_points) * 1.06);
}

void plan_waves(const config *config, const grid *grid, const schedule *schedule, const schedule_rates *rates,
                double dt) {
  static const double few = 4.0;
  print_points(config, schedule->dt, schedule_time(schedule, schedule->last_step));
  warn_of_thin_layers(config, grid, rates, dt);
  const double highest = config_sourced(config) ? widest(config) * config->frequency : 0.0;
  print_medium(config, grid, rates);
  if (highest == 0.0) return;
  if (!equation_is(config, EQUATION_LEAPS) && config->difference == CONFIG_DIFFERENCE_CENTRAL)
    log_warning("point sources of sound feed waves of two points, which central differences let stay; "
                "physics.difference = upwind damps them, physics.equation = wave has none");
  const double h = fmax(grid->h[0], fmax(grid->h[1], grid->h[2]));
  const double points = 1.0 / (rates->own[SOUND_SLOWNESS] * highest * h);
  log_info("waves      %.3g points per wavelength at the sources' highest frequency, %.4g, and the least "
           "speed, %.4g\n",
           points, highest, 1.0 / rates->own[SOUND_SLOWNESS]);
  if (points < few)
    log_warning("waves of the sources' highest frequency, %.4g, have %.3g points per wavelength: below %g "
                "they are late "
                "and leave a trail; point_sources.frequency <= %.4g has as many",
                highest, points, few, config->frequency * points / few);
}
