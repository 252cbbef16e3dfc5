#include <inttypes.h>
#include <math.h>

#include "config/config_table.h"
#include "problems/cases.h"
#include "problems/medium.h"
#include "settings/equations.h"
#include "settings/scheme.h"

/* Defaults and conditions of equations with a medium, and of those of second order in time. */

/* Share of the limit that is the default step. */
#define SHARE 0.7

int config_sourced(const config *config) {
  return equation_is(config, EQUATION_MEDIUM) &&
         (config->source_points[0] != '\0' || config->source_file[0] != '\0');
}

int config_received(const config *config) {
  return equation_is(config, EQUATION_MEDIUM) &&
         (config->receiver_points[0] != '\0' || config->receiver_file[0] != '\0');
}

int config_layered(const config *config) {
  int layers = 0;
  for (int i = 0; i < 6; i++) layers += config->ends[i / 2][i % 2] == CONFIG_END_LAYER;
  return layers > 0;
}

/* Refuses layers between which an axis has fewer points than a difference reads. */
static status check_layers(const config *config) {
  static const char *const points[3] = {"nx", "ny", "nz"};
  for (int d = 0; d < 3; d++) {
    const int layers = (config->ends[d][0] == CONFIG_END_LAYER) + (config->ends[d][1] == CONFIG_END_LAYER);
    const int64_t least = (int64_t)layers * config->layer_points + 2 * STENCIL_RADIUS + 1;
    if (layers == 0 || config->n[d] >= least) continue;
    return config_refuse(
        config, "grid", points[d],
        "boundary.layer_points = %d beside %d end%s leave too few points between them; accepted: "
        "at least %" PRId64,
        config->layer_points, layers, layers == 1 ? "" : "s", least);
  }
  return STATUS_OK;
}

double config_wave_limit(const config *config) {
  const double stiffest = stencil_second_symbol(config->order, PROBLEM_PI);
  return scheme_leap_limit(schemes_all(config->scheme)) / sqrt(stiffest);
}

/* The medium of waves is a formula or a file: a key on the command line replaces the other one of the file. A
 * medium of sound may have both, of c and rho, so none replaces the other there. */
static void replace_medium(config *config) {
  const int speed = config_key_find("medium", "sound_speed"), file = config_key_find("medium", "file");
  if (config->medium[CONFIG_MEDIUM_SPEED][0] == '\0' || config->medium_file[0] == '\0') return;
  const int replaced = config->line[file] == CONFIG_LINE_OVERRIDE ? speed : file;
  const int other = replaced == file ? speed : file;
  if (config->line[other] != CONFIG_LINE_OVERRIDE || config->line[replaced] <= 0) return;
  (void)config_value_read(&config_keys[replaced], config_keys[replaced].fallback, config);
  config->line[replaced] = CONFIG_LINE_NONE;
}

void config_wave_derive(config *config) {
  if (!config_given(config, "point_sources", "delay"))
    config->delay = config->wavelet == CONFIG_WAVELET_FILE ? 0.0 : 1.2 / config->frequency;
  if (!equation_is(config, EQUATION_LEAPS)) return;
  replace_medium(config);
  if (!config_given(config, "time", "scheme")) config->scheme = schemes_find("leapfrog4");
  const int leaps = schemes_all(config->scheme)->leap > 0;
  if (leaps && !config_given(config, "time", "courant") && !config_given(config, "time", "dt"))
    config->courant = SHARE * config_wave_limit(config);
}

static status check_points(const config *config) {
  if (config->source_points[0] != '\0' && config->source_file[0] != '\0')
    return config_refuse(config, "point_sources", "file",
                         "point_sources.points is given, too; accepted: one of the two");
  if (config->receiver_points[0] != '\0' && config->receiver_file[0] != '\0')
    return config_refuse(config, "receivers", "file",
                         "receivers.points is given, too; accepted: one of the two");
  if (config_sourced(config) && (config->wavelet == CONFIG_WAVELET_FILE) == (config->wavelet_file[0] == '\0'))
    return config_refuse(config, "point_sources", "wavelet_file",
                         "and point_sources.wavelet = file belong together; accepted: both or none");
  return STATUS_OK;
}

static status check_medium(const config *config) {
  int formulas = 0;
  for (int i = 0; i < medium_count(config); i++) formulas += config->medium[i][0] != '\0';
  if (config->medium_file[0] != '\0' && formulas == medium_count(config))
    return config_refuse(config, "medium", "file", "medium.sound_speed%s given, too; accepted: %s",
                         equation_is(config, EQUATION_LEAPS) ? " is" : " and medium.density are",
                         equation_is(config, EQUATION_LEAPS) ? "one of the two"
                                                             : "at most one of them beside a file");
  if (!equation_is(config, EQUATION_LEAPS) && medium_varies(config) &&
      cases_at(config->initial)->sound == SOUND_TRAVELS)
    return config_refuse(config, "initial", "case",
                         "is a wave in a uniform medium; accepted: other cases, or no [medium]");
  return STATUS_OK;
}

status config_wave_check(const config *config) {
  const int leaps = schemes_all(config->scheme)->leap > 0;
  if (leaps && !equation_is(config, EQUATION_LEAPS))
    return config_refuse(config, "time", "scheme",
                         "is for physics.equation = wave alone; accepted: a Runge-Kutta scheme (--list)");
  if (equation_is(config, EQUATION_MEDIUM)) {
    CHECK(check_points(config));
    CHECK(check_medium(config));
  }
  if (!equation_is(config, EQUATION_LEAPS)) return STATUS_OK;
  if (!leaps)
    return config_refuse(config, "time", "scheme",
                         "is no scheme of second order in time, as physics.equation = wave is; accepted: "
                         "leapfrog, leapfrog4");
  if (config->adaptive)
    return config_refuse(config, "time", "adaptive", "waves have one step size; accepted: no");
  return check_layers(config);
}
