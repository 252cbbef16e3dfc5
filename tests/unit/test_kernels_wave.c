#include "rig.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wave_call.h"

/* The tasks of the wave equation: every backend has the bits of the CPU with one thread, on shapes that fit
 * nothing, with every kind of end. */

enum { DEPTH = 2 * KERNELS_HALO, MORE = DEPTH - KERNELS_HALO };

/* An array with DEPTH halo planes on the backend, and its twin on the CPU's. `at`: what calls take. */
typedef struct array {
  size_t bytes;
  char *memory[2];
  void *at[2];
} array;

enum { HERE, CPU };

typedef struct desk {
  rig *rig;
  const kernels *cpu;
  kernels_context *context; /* of the CPU */
  unsigned seed;
  int walls; /* 1: nothing is negated beyond ends of x and y, and nothing is zero beyond any end */
  array profile, memory; /* of layers */
} desk;

static unsigned next(desk *desk) {
  desk->seed = desk->seed * 1664525U + 1013904223U;
  return desk->seed >> 8;
}

/* In [-1, 1). */
static double noise(desk *desk) {
  return (double)next(desk) / (1 << 23) - 1.0;
}

static desk desk_open(rig *rig, unsigned seed) {
  desk desk = {.rig = rig, .cpu = kernels_find("cpu"), .seed = seed};
  assert_ok(desk.cpu->context_create(&(kernels_setup){.threads = 1}, &desk.context));
  return desk;
}

static void put(const desk *desk, void *to, size_t i, double value) {
  if (desk->rig->launch.shape.precision == PRECISION_SINGLE) {
    ((float *)to)[i] = (float)value;
  } else {
    ((double *)to)[i] = value;
  }
}

static array array_of(const desk *desk, size_t bytes) {
  const rig *rig = desk->rig;
  array made = {.bytes = bytes};
  assert_ok(rig->backend->memory_allocate(rig->context, MEMORY_DEVICE, bytes, (void **)&made.memory[HERE]));
  assert_ok(desk->cpu->memory_allocate(desk->context, MEMORY_DEVICE, bytes, (void **)&made.memory[CPU]));
  for (int i = 0; i < 2; i++) made.at[i] = made.memory[i];
  return made;
}

/* Copies what the CPU's array holds. */
static void upload(const desk *desk, const array *array) {
  const rig *rig = desk->rig;
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, array->memory[HERE], array->memory[CPU],
                                      array->bytes));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_MAIN));
}

static array array_from(const desk *desk, const void *host, size_t bytes) {
  const array made = array_of(desk, bytes);
  memcpy(made.memory[CPU], host, bytes);
  upload(desk, &made);
  return made;
}

static size_t plane_bytes(const desk *desk) {
  const kernels_shape *shape = &desk->rig->launch.shape;
  return (size_t)shape->plane * kernels_element_size(shape->precision);
}

typedef enum contents { NOISE, POSITIVE, ZEROS } contents;

static array field_of(desk *desk, contents contents) {
  const kernels_shape *shape = &desk->rig->launch.shape;
  const size_t bytes = kernels_field_bytes(shape) + 2 * MORE * plane_bytes(desk);
  array made = array_of(desk, bytes);
  for (size_t i = 0; i < bytes / kernels_element_size(shape->precision); i++) {
    const double v = noise(desk);
    put(desk, made.memory[CPU], i, contents == ZEROS ? copysign(0.0, v) : contents == POSITIVE ? 1.2 + v : v);
  }
  for (int i = 0; i < 2; i++) made.at[i] = made.memory[i] + MORE * plane_bytes(desk);
  upload(desk, &made);
  return made;
}

static void array_free(const desk *desk, array *array) {
  desk->rig->backend->memory_free(desk->rig->context, MEMORY_DEVICE, array->memory[HERE]);
  desk->cpu->memory_free(desk->context, MEMORY_DEVICE, array->memory[CPU]);
}

static void *download(const desk *desk, const array *array) {
  const rig *rig = desk->rig;
  void *found = malloc(array->bytes);
  assert_non_null(found);
  assert_ok(rig->backend->memory_copy(rig->context, QUEUE_MAIN, found, array->memory[HERE], array->bytes));
  assert_ok(rig->backend->queue_wait(rig->context, QUEUE_MAIN));
  return found;
}

/* All elements of arrays of layers. */
static void expect_same_bytes(const desk *desk, const array *array, const char *what, int c) {
  char *found = download(desk, array);
  for (size_t i = 0; i < array->bytes; i++) {
    if (found[i] != array->memory[CPU][i])
      fail_msg("%s, case %d: byte %zu of %zu differs", what, c, i, array->bytes);
  }
  free(found);
}

/* All points, those of halo planes included. */
static void expect_same(const desk *desk, const array *array, const char *what, int c) {
  const kernels_shape *shape = &desk->rig->launch.shape;
  const size_t element = kernels_element_size(shape->precision), row = (size_t)shape->nx * element;
  char *found = download(desk, array);
  for (int z = 0; z < shape->nz + 2 * DEPTH; z++) {
    for (int y = 0; y < shape->ny; y++) {
      const size_t at = (size_t)z * plane_bytes(desk) + (size_t)y * (size_t)shape->ldx * element;
      for (size_t x = 0; x < row; x += element) {
        if (memcmp(found + at + x, array->memory[CPU] + at + x, element) == 0) continue;
        fail_msg("%s, case %d, %d x %d x %d: (%d, %d, %d) differs", what, c, shape->nx, shape->ny, shape->nz,
                 (int)(x / element), y, z - DEPTH);
      }
    }
  }
  free(found);
}

/* A call on both backends; the arrays of `call` are the backend's and then the CPU's. */
static void run(const desk *desk, kernels_wave call, const array *p, const array *before, const array *factor,
                const array *operated, const array *out) {
  for (int i = 0; i < 2; i++) {
    kernels_launch launch = desk->rig->launch;
    if (i == CPU) launch.context = desk->context;
    if (p != NULL) call.p = p->at[i];
    if (before != NULL) call.before = before->at[i];
    if (factor != NULL) call.factor = factor->at[i];
    if (operated != NULL) call.operated = operated->at[i];
    if (out != NULL) call.out = out->at[i];
    call.layers.profile = desk->profile.at[i];
    call.layers.memory = desk->memory.at[i];
    if ((i == CPU ? desk->cpu : desk->rig->backend)->wave(&launch, &call) != STATUS_OK)
      fail_msg("task %d, %d x %d x %d: %s", (int)call.task, launch.shape.nx, launch.shape.ny, launch.shape.nz,
               status_message(STATUS_DEVICE));
  }
}

/* ---- Steps ---- */

/* Ends of any kinds; along z PERIODIC is a neighbour, or both ends are if the shape is whole. */
static void choose_ends(desk *desk, kernels_wave *call) {
  static const wave_image images[] = {WAVE_EVEN, WAVE_ODD, WAVE_ZERO, WAVE_EVEN};
  for (int d = 0; d < 3; d++) {
    const int periodic = next(desk) % 3 == 0;
    for (int end = 0; end < 2; end++) {
      const unsigned kind = next(desk) % 4;
      const int is = d == AXIS_Z ? desk->rig->launch.shape.whole || next(desk) % 3 == 0 : periodic;
      call->ends[d][end] = is ? WAVE_PERIODIC : images[kind];
      call->absorbs[d][end] = !is && kind == 3;
      const int other = images[kind] == WAVE_ZERO || (images[kind] == WAVE_ODD && d < AXIS_Z);
      if (!is && desk->walls && other) call->ends[d][end] = WAVE_EVEN;
    }
  }
}

static void set_images(const desk *desk, const kernels_wave *step, const array *field, int depth) {
  kernels_wave call = {.task = WAVE_IMAGES, .depth = depth};
  for (int end = 0; end < 2; end++) call.ends[AXIS_Z][end] = step->ends[AXIS_Z][end];
  run(desk, call, NULL, NULL, NULL, NULL, field);
}

static array noise_of(desk *desk, size_t count, double least, double most) {
  const size_t element = kernels_element_size(desk->rig->launch.shape.precision);
  array made = array_of(desk, (count + 1) * element);
  for (size_t i = 0; i <= count; i++)
    put(desk, made.memory[CPU], i, least + (most - least) * 0.5 * (1.0 + noise(desk)));
  upload(desk, &made);
  return made;
}

/* Makes layers of so many points beside all ends that have room for them, or some. */
static void choose_layers(desk *desk, int points, int all, kernels_wave *call) {
  const kernels_shape *shape = &desk->rig->launch.shape;
  const int n[3] = {shape->nx, shape->ny, shape->nz}, whole = shape->whole;
  wave_layers *layers = &call->layers;
  *layers = (wave_layers){.points = points, .beyond = call->twice && !whole ? KERNELS_HALO : 0};
  for (int i = 0; i < 6; i++) {
    const int d = i / 2, end = i % 2, others = end == 1 && layers->there[d][0];
    const int chosen = next(desk) % 3 != 0 || all;
    if ((d == AXIS_Z && whole) || n[d] < (1 + others) * points + DEPTH + 1 || !chosen) continue;
    layers->there[d][end] = 1;
    call->ends[d][end] = WAVE_ZERO;
    call->absorbs[d][end] = 0;
    if (call->ends[d][1 - end] == WAVE_PERIODIC && d != AXIS_Z) call->ends[d][1 - end] = WAVE_EVEN;
  }
  desk->profile = noise_of(desk, 6 * (size_t)points, 0.1, 0.9);
  desk->memory = noise_of(desk, (size_t)wave_layers_size(layers, shape), -1.0, 1.0);
}

/* A step with images before it and the energy behind it, on one shape; with layers, if they have points. */
static void expect_step(desk *desk, int c, contents contents, int points) {
  kernels_wave call = {
      .task = WAVE_STEP, .twice = c % 2, .plain = c % 5 == 4, .scale = {0.02, 0.01 / (double)(1 + c % 3)}};
  kernels_wave measure = {.task = WAVE_ENERGY};
  array p = field_of(desk, contents), before = field_of(desk, contents), factor = field_of(desk, POSITIVE);
  array elsewhere = field_of(desk, contents), *out = c % 3 == 0 ? &elsewhere : &before;
  choose_ends(desk, &call);
  if (points > 0) choose_layers(desk, points, c % 3 != 0, &call);
  set_images(desk, &call, &p, call.twice ? DEPTH : KERNELS_HALO);
  set_images(desk, &call, &factor, KERNELS_HALO);
  expect_same(desk, &p, "images", c);
  run(desk, call, &p, &before, &factor, NULL, out);
  if (points > 0) expect_same_bytes(desk, &desk->memory, "what layers remember", c);
  expect_same(desk, out, call.twice ? "step with two Laplacians" : "step", c);
  run(desk, measure, &p, &before, &factor, out, out);
  expect_same(desk, out, "energy", c);
  array_free(desk, &p);
  array_free(desk, &before);
  array_free(desk, &factor);
  array_free(desk, &elsewhere);
  if (points == 0) return;
  array_free(desk, &desk->profile);
  array_free(desk, &desk->memory);
}

static void choose_shape(rig *rig, const int n[3], int c) {
  rig_shape(rig, n[0], n[1], n[2]);
  rig_stencil(rig, 8 - 2 * (c / 2 % 4), 0.3, 0.4, 0.5);
  rig->launch.shape.whole = c % 4 >= 2;
}

static void steps_have_the_bits_of_the_cpu(rig *rig) {
  static const int shapes[][3] = {{33, 20, 37}, {9, 9, 9},    {64, 17, 12}, {130, 11, 9},
                                  {17, 40, 21}, {34, 12, 19}, {96, 33, 11}};
  desk desk = desk_open(rig, 1);
  for (int c = 0; c < 56; c++) {
    choose_shape(rig, shapes[c % 7], c);
    expect_step(&desk, c, c % 8 == 7 ? ZEROS : NOISE, 0);
  }
  desk.cpu->context_destroy(desk.context);
}

/* Enough points for what engines keep for large slabs. */
static void large_steps_have_the_bits_of_the_cpu(rig *rig) {
  static const int shapes[][3] = {{256, 67, 40}, {132, 130, 33}, {131, 64, 40}, {512, 40, 25},
                                  {64, 64, 60},  {72, 44, 80},   {40, 44, 72}};
  desk desk = desk_open(rig, 2);
  for (int c = 0; c < 28; c++) {
    choose_shape(rig, shapes[c / 4], c);
    desk.walls = c % 3 == 0;
    expect_step(&desk, c, c == 21 ? ZEROS : NOISE, 0);
  }
  desk.cpu->context_destroy(desk.context);
}

/* From one point to as many as there is room for; a block of a GPU has no room for rows of thick ones. */
static void layers_have_the_bits_of_the_cpu(rig *rig) {
  static const int shapes[][3] = {{33, 20, 37}, {10, 12, 11}, {64, 17, 12}, {131, 11, 14},
                                  {17, 40, 21}, {34, 12, 19}, {333, 20, 9}, {64, 64, 60},
                                  {72, 44, 80}, {64, 96, 41}, {75, 99, 40}};
  static const int points[] = {5, 1, 3, 2, 20, 10, 300, 10, 17, 12, 15};
  desk desk = desk_open(rig, 6);
  for (int c = 0; c < 66; c++) {
    choose_shape(rig, shapes[c % 11], c);
    expect_step(&desk, c, NOISE, points[c % 11]);
  }
  desk.cpu->context_destroy(desk.context);
}

/* Parts of the planes give the bits of the whole, and write nothing else. */
static void parts_are_the_whole(rig *rig) {
  static const kernels_planes ranges[2][2] = {{{0, 4}, {13, 17}}, {{4, 13}, {0, 0}}};
  desk desk = desk_open(rig, 3);
  rig_shape(rig, 33, 20, 17);
  for (int twice = 0; twice < 2; twice++) {
    const kernels_wave call = {.task = WAVE_STEP, .twice = twice, .scale = {0.02, 0.01}};
    array p = field_of(&desk, NOISE), before = field_of(&desk, NOISE), factor = field_of(&desk, POSITIVE);
    for (int i = 0; i < 2; i++) {
      memcpy(rig->launch.planes, ranges[i], sizeof ranges[i]);
      run(&desk, call, &p, &before, &factor, NULL, &before);
      expect_same(&desk, &before, "part", i);
    }
    array_free(&desk, &p);
    array_free(&desk, &before);
    array_free(&desk, &factor);
  }
  desk.cpu->context_destroy(desk.context);
}

/* ---- Sources and receivers ---- */

static void sources_are_added_in_order(rig *rig) {
  enum { POINTS = 300, SOURCES = 7 };
  int64_t place[POINTS];
  int first[POINTS + 1] = {0}, source[4 * POINTS];
  double numbers[8 * POINTS], signals[2 * SOURCES];
  desk desk = desk_open(rig, 4);
  rig_shape(rig, 33, 20, 17);
  const kernels_shape *shape = &rig->launch.shape;
  const size_t element = kernels_element_size(shape->precision);
  for (int i = 0; i < POINTS; i++) {
    place[i] = (int64_t)KERNELS_HALO * shape->plane + (int64_t)(i * 13) / 33 * shape->ldx + i * 13 % 33;
    first[i + 1] = first[i] + 1 + (int)(next(&desk) % 4);
    for (int e = first[i]; e < first[i + 1]; e++) source[e] = (int)(next(&desk) % SOURCES);
  }
  for (int i = 0; i < 2 * first[POINTS]; i++) put(&desk, numbers, (size_t)i, noise(&desk));
  for (int i = 0; i < 2 * SOURCES; i++) put(&desk, signals, (size_t)i, noise(&desk));
  array out = field_of(&desk, NOISE);
  array parts[] = {array_from(&desk, place, sizeof place), array_from(&desk, first, sizeof first),
                   array_from(&desk, source, sizeof source),
                   array_from(&desk, numbers, 2 * (size_t)first[POINTS] * element),
                   array_from(&desk, signals, 2 * SOURCES * element)};
  for (int i = 0; i < 2; i++) {
    const kernels_wave call = {.task = WAVE_INJECT,
                               .out = out.at[i],
                               .injection = {.points = POINTS,
                                             .place = parts[0].at[i],
                                             .first = parts[1].at[i],
                                             .source = parts[2].at[i],
                                             .weight = parts[3].at[i],
                                             .signal = parts[4].at[i]}};
    kernels_launch launch = {.context = i == CPU ? desk.context : rig->context, .shape = *shape};
    assert_ok((i == CPU ? desk.cpu : rig->backend)->wave(&launch, &call));
  }
  expect_same(&desk, &out, "sources", 0);
  for (int i = 0; i < 5; i++) array_free(&desk, &parts[i]);
  array_free(&desk, &out);
  desk.cpu->context_destroy(desk.context);
}

static void receivers_have_the_bits_of_the_cpu(rig *rig) {
  enum { RECEIVERS = 70, ENTRIES = 3 * WAVE_NEAR * RECEIVERS };
  int index[ENTRIES];
  double weight[ENTRIES];
  desk desk = desk_open(rig, 5);
  rig_shape(rig, 33, 20, 17);
  const kernels_shape *shape = &rig->launch.shape;
  const size_t element = kernels_element_size(shape->precision);
  for (int i = 0; i < ENTRIES; i++) {
    static const int n[3] = {33, 20, 17 + 2 * KERNELS_HALO};
    const int d = i / WAVE_NEAR % 3;
    index[i] = (int)(next(&desk) % (unsigned)n[d]) - (d == AXIS_Z ? KERNELS_HALO : 0);
    put(&desk, weight, (size_t)i, noise(&desk));
  }
  array p = field_of(&desk, NOISE), trace = array_of(&desk, RECEIVERS * element);
  array parts[] = {array_from(&desk, index, sizeof index), array_from(&desk, weight, ENTRIES * element)};
  for (int i = 0; i < 2; i++) {
    const kernels_wave call = {
        .task = WAVE_RECEIVE,
        .p = p.at[i],
        .reception = {
            .receivers = RECEIVERS, .index = parts[0].at[i], .weight = parts[1].at[i], .trace = trace.at[i]}};
    kernels_launch launch = {.context = i == CPU ? desk.context : rig->context, .shape = *shape};
    assert_ok((i == CPU ? desk.cpu : rig->backend)->wave(&launch, &call));
  }
  void *found = download(&desk, &trace);
  assert_memory_equal(found, trace.memory[CPU], trace.bytes);
  free(found);
  for (int i = 0; i < 2; i++) array_free(&desk, &parts[i]);
  array_free(&desk, &p);
  array_free(&desk, &trace);
  desk.cpu->context_destroy(desk.context);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(steps_have_the_bits_of_the_cpu),  RIG_TEST(large_steps_have_the_bits_of_the_cpu),
      RIG_TEST(layers_have_the_bits_of_the_cpu), RIG_TEST(parts_are_the_whole),
      RIG_TEST(sources_are_added_in_order),      RIG_TEST(receivers_have_the_bits_of_the_cpu),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
