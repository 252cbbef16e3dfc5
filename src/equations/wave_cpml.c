#include "equations/wave_cpml.h"

#include <stdlib.h>

#include "problems/problem.h"
#include "problems/rounded.h"
#include "settings/scheme.h"

/* The layers of this slab, without addresses. */
static wave_layers layers_of(const config *config, const grid *grid, const kernels_shape *shape) {
  const int twice = schemes_all(config->scheme)->leap == 4;
  wave_layers layers = {.beyond = twice && !shape->whole ? KERNELS_HALO : 0};
  for (int i = 0; i < 6; i++) {
    const int d = i / 2, end = i % 2;
    if (config->ends[d][end] != CONFIG_END_LAYER) continue;
    layers.points = config->layer_points;
    layers.there[d][end] = d != AXIS_Z || grid_neighbour(grid, end) < 0;
  }
  return layers;
}

/* Bytes of what the layers remember. */
static size_t memory_bytes(const wave_layers *layers, const kernels_shape *shape) {
  return (size_t)wave_layers_size(layers, shape) * kernels_element_size(shape->precision);
}

void wave_cpml_memory(const config *config, const grid *grid, equation_memory *memory) {
  const kernels_shape shape = grid_shape(grid, config->precision, 1);
  const wave_layers layers = layers_of(config, grid, &shape);
  *memory = (equation_memory){.beyond = layers.beyond};
  if (layers.points == 0) return;
  memory->plane = wave_layers_plane(&layers, &shape, WAVE_PARTS);
  for (int end = 0; end < GRID_ENDS; end++) {
    if (config->ends[AXIS_Z][end] == CONFIG_END_LAYER)
      memory->ends[end] = wave_layers_end(&layers, &shape, WAVE_PARTS);
  }
  memory->bytes = memory_bytes(&layers, &shape);
}

/* b and a of each axis and depth. */
static void fill_profile(const wave_cpml *cpml, const config *config, const grid *grid, double fastest,
                         double dt, void *profile) {
  const int n = cpml->layers.points;
  const precision precision = cpml->shape.precision;
  const int known = config_sourced(config) && config->wavelet != CONFIG_WAVELET_FILE;
  for (int d = 0; d < 3; d++) {
    const double frequency = known ? config->frequency : 0.1 * fastest / grid->h[d];
    const double most = -1.5 * rounded_log(config->layer_reflection) * fastest / (n * grid->h[d]);
    for (int j = 0; j < n; j++) {
      const double depth = (double)(n - j) / n, s = most * depth * depth;
      const double rate = s + PROBLEM_PI * frequency * (1.0 - depth), b = rounded_exp(-rate * dt);
      const size_t at = 2 * (size_t)d * (size_t)n + (size_t)j;
      kernels_put(precision, profile, at, b);
      kernels_put(precision, profile, at + (size_t)n, s / rate * (b - 1.0));
    }
  }
}

status wave_cpml_open(const config *config, const grid *grid, const field *like, const kernels_wave *step,
                      double fastest, double dt, wave_cpml *cpml) {
  *cpml = (wave_cpml){.backend = like->backend, .context = like->context, .shape = like->shape};
  cpml->layers = layers_of(config, grid, &cpml->shape);
  for (int end = 0; end < GRID_ENDS; end++) cpml->ends[end] = step->ends[AXIS_Z][end];
  wave_layers *layers = &cpml->layers;
  if (layers->points == 0) return STATUS_OK;
  const size_t bytes = 6 * (size_t)layers->points * kernels_element_size(cpml->shape.precision);
  void *profile = malloc(bytes);
  if (profile == NULL) return status_fail(STATUS_MEMORY, "no memory for absorbing layers");
  fill_profile(cpml, config, grid, fastest, dt, profile);
  const status result =
      kernels_upload(cpml->backend, cpml->context, profile, bytes, (void **)&layers->profile);
  free(profile);
  CHECK(result);
  return cpml->backend->memory_allocate(cpml->context, MEMORY_DEVICE, memory_bytes(layers, &cpml->shape),
                                        &layers->memory);
}

void wave_cpml_close(wave_cpml *cpml) {
  if (cpml->backend == NULL) return;
  cpml->backend->memory_free(cpml->context, MEMORY_DEVICE, (void *)cpml->layers.profile);
  cpml->backend->memory_free(cpml->context, MEMORY_DEVICE, cpml->layers.memory);
  *cpml = (wave_cpml){.backend = NULL};
}

/* Sets what planes beyond an end of z remember: the images of planes in the slab. */
static void set_images(const wave_cpml *cpml, void *values) {
  const wave_layers *layers = &cpml->layers;
  const int64_t plane = wave_layers_plane(layers, &cpml->shape, WAVE_PARTS);
  for (int i = 0; i < 2 * layers->beyond; i++) {
    const int end = i % 2, k = 1 + i / 2, last = cpml->shape.nz - 1;
    const wave_image kind = cpml->ends[end];
    const double sign = kind == WAVE_EVEN ? 1.0 : kind == WAVE_ODD ? -1.0 : 0.0;
    if (kind == WAVE_PERIODIC) continue;
    const int64_t from = (layers->beyond + (end == 0 ? k : last - k)) * plane;
    const int64_t to = (layers->beyond + (end == 0 ? -k : last + k)) * plane;
    for (int64_t x = 0; x < plane; x++) {
      const double value = kernels_number(cpml->shape.precision, values, (size_t)(from + x));
      kernels_put(cpml->shape.precision, values, (size_t)(to + x), sign * value);
    }
  }
}

status wave_cpml_recall(wave_cpml *cpml, void *values, int save) {
  const wave_layers *layers = &cpml->layers;
  if (layers->points == 0) return STATUS_OK;
  if (!save) set_images(cpml, values);
  CHECK(cpml->backend->memory_copy(cpml->context, QUEUE_MAIN, save ? values : layers->memory,
                                   save ? layers->memory : values, memory_bytes(layers, &cpml->shape)));
  return cpml->backend->queue_wait(cpml->context, QUEUE_MAIN);
}
