#include "equations/sound_rates.h"

#include <math.h>

#include "equations/wave_sources.h"
#include "problems/medium.h"

status sound_rates(const config *config, const grid *grid, schedule_rates *rates) {
  double squares = 0.0;
  medium_range range;
  CHECK(medium_find_range(config, grid, &range));
  for (int d = 0; d < 3; d++) squares += 1.0 / (grid->h[d] * grid->h[d]);
  CHECK(wave_sources_check(config, grid, range.slowest));
  rates->advection = range.fastest * sqrt(squares);
  rates->own[SOUND_SLOWNESS] = 1.0 / range.slowest;
  rates->own[SOUND_IMPEDANCE] = range.impedance[1];
  rates->own[SOUND_ADMITTANCE] = 1.0 / range.impedance[0];
  return STATUS_OK;
}
