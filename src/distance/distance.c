#include "distance/distance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static status allocate(MPI_Comm comm, const grid *grid, const field_space *space, int sides, int direct,
                       distance *d) {
  const kernels_shape *shape = &space->shape;
  const size_t plane = (size_t)shape->nx * (size_t)shape->ny * kernels_element_size(shape->precision);
  d->piece_planes = field_piece_planes(plane, shape->nz);
  for (int i = 0; i < 2; i++) {
    d->piece[i] = malloc((size_t)d->piece_planes * plane);
    if (d->piece[i] == NULL) return status_fail(STATUS_MEMORY, "no memory for %d planes", d->piece_planes);
  }
  for (int i = 0; i < sides; i++) CHECK(field_create(space, &d->work[i]));
  return pencils_open(comm, grid, space, direct, &d->pencils);
}

status distance_open(MPI_Comm comm, const grid *grid, const field_space *space, int sides, int direct,
                     distance *distance) {
  *distance = (struct distance){.space = space};
  return agree(comm, allocate(comm, grid, space, sides, direct, distance));
}

void distance_close(distance *distance) {
  pencils_close(&distance->pencils);
  for (int i = 0; i < DISTANCE_SIDES; i++) field_destroy(&distance->work[i]);
  for (int i = 0; i < 2; i++) free(distance->piece[i]);
  memset(distance, 0, sizeof *distance);
}

/* The values put into a field before a transform. */
typedef struct seed {
  const level_set *set;
  int axis;    /* axis of the crossings */
  int outside; /* 1: the points outside the set are the seeds */
} seed;

static void row_of_points(const void *user, int64_t z, int64_t y, double *row) {
  const seed *s = user;
  for (int64_t x = 0; x < s->set->grid->n[0]; x++) {
    const int held = level_set_holds(s->set, x, y, z - s->set->grid->z0);
    row[x] = held != s->outside ? 0.0 : (double)INFINITY;
  }
}

static void row_of_crossings(const void *user, int64_t z, int64_t y, double *row) {
  const seed *s = user;
  for (int64_t x = 0; x < s->set->grid->n[0]; x++)
    row[x] = level_set_crossing(s->set, s->axis, x, y, z - s->set->grid->z0);
}

static void row_of_values(const void *user, int64_t z, int64_t y, double *row) {
  const seed *s = user;
  for (int64_t x = 0; x < s->set->grid->n[0]; x++)
    row[x] = level_set_value(s->set, x, y, z - s->set->grid->z0);
}

static status plant(distance *d, field_row row, const seed *seed) {
  const grid *grid = &d->pencils.grid;
  return agree(d->pencils.comm, field_fill(&d->work[0], grid->z0, grid->n[2], 0, row, seed));
}

/* A new value from one field's value at a point, or from two fields' values a and b. z: of the slab. */
typedef double (*mapping)(const void *user, int64_t x, int64_t y, int64_t z, double a, double b);

static void map_piece(distance *d, int z, int count, int two, mapping map, const void *user) {
  const kernels_shape *shape = &d->space->shape;
  const precision precision = shape->precision;
  const int64_t rows = (int64_t)count * shape->ny;
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; row++) {
    for (int x = 0; x < shape->nx; x++) {
      const size_t i = (size_t)(row * shape->nx + x);
      const double a = kernels_number(precision, d->piece[0], i);
      const double b = two ? kernels_number(precision, d->piece[1], i) : 0.0;
      kernels_put(precision, d->piece[0], i, map(user, x, row % shape->ny, z + row / shape->ny, a, b));
    }
  }
}

/* a = map(a, b) in host memory, rounded once. b: NULL, or another field. */
static status map_field(distance *d, field *a, const field *b, mapping map, const void *user) {
  const int nz = d->space->shape.nz;
  for (int z = 0; z < nz; z += d->piece_planes) {
    const int count = nz - z < d->piece_planes ? nz - z : d->piece_planes;
    CHECK(field_load(a, z, count, d->piece[0]));
    if (b != NULL) CHECK(field_load(b, z, count, d->piece[1]));
    map_piece(d, z, count, b != NULL, map, user);
    CHECK(field_store(a, z, count, d->piece[0]));
  }
  return STATUS_OK;
}

static double square(const void *user, int64_t x, int64_t y, int64_t z, double a, double b) {
  (void)user, (void)x, (void)y, (void)z, (void)b;
  return a * a;
}

static void begin(distance *d, int products) {
  d->done = 0;
  d->products = products;
  d->seconds = 0.0;
}

/* One product, from field to field. The other two fields carry the slabs that travel. */
static status multiply(distance *d, const pencils_product *product) {
  const double start = MPI_Wtime();
  CHECK(pencils_run(&d->pencils, product));
  d->seconds += MPI_Wtime() - start;
  d->done++;
  if (d->progress != NULL) d->progress(d->user, d->done, d->products);
  return STATUS_OK;
}

static pencils_product product_of(distance *d, int axis, const field *in, field *out) {
  return (pencils_product){.axis = axis,
                           .cost = PENCILS_SQUARE,
                           .scale = 1.0,
                           .in = in,
                           .out = out,
                           .travel = {&d->work[1], &d->work[2]}};
}

/* Products of squares along x, y and z of work[0] into `out`; `least` is a lower bound of the values. */
static status transform(distance *d, double scale, double least, field *out) {
  const field *in[3] = {&d->work[0], &d->work[1], &d->work[0]};
  field *to[3] = {&d->work[1], &d->work[0], out};
  for (int axis = 0; axis < 3; axis++) {
    pencils_product product = product_of(d, axis, in[axis], to[axis]);
    product.scale = scale;
    product.least = least;
    CHECK(multiply(d, &product));
  }
  return STATUS_OK;
}

static double root(const void *user, int64_t x, int64_t y, int64_t z, double a, double b) {
  (void)user, (void)x, (void)y, (void)z;
  return sqrt(a) - sqrt(b);
}

status distance_to_points(distance *d, const level_set *set, int is_signed, field *out) {
  field *const other = is_signed ? &d->work[DISTANCE_SIDES - 1] : NULL;
  begin(d, is_signed ? 6 : 3);
  for (int outside = 0; outside <= is_signed; outside++) {
    const seed seed = {.set = set, .outside = outside};
    CHECK(plant(d, row_of_points, &seed));
    CHECK(transform(d, 1.0, 0.0, outside ? other : out));
  }
  /* one of the two is 0 at each point */
  return agree(d->pencils.comm, map_field(d, out, other, root, NULL));
}

status distance_hopf_lax(distance *d, const level_set *values, double time, field *out) {
  const seed seed = {.set = values};
  const grid *grid = values->grid;
  double least = (double)INFINITY;
#pragma omp parallel for schedule(static) reduction(min : least)
  for (int64_t row = 0; row < grid->nz * grid->n[1]; row++) {
    for (int64_t x = 0; x < grid->n[0]; x++)
      least = fmin(least, level_set_value(values, x, row % grid->n[1], row / grid->n[1]));
  }
  CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, d->pencils.comm));
  begin(d, 3);
  CHECK(plant(d, row_of_values, &seed));
  return transform(d, 0.5 / time, least, out);
}

/* Squares of distances to the crossings of lines along `axis`: first lengths along it, then squares along the
 * two other axes. Crossings along z must come first: only then may `out` hold intermediate values. */
static status transform_crossings(distance *d, const level_set *set, int axis, field *out) {
  const seed seed = {.set = set, .axis = axis};
  field *const middle = axis == 2 ? out : &d->work[1];
  const int second = axis == 0 ? 1 : 0, third = axis == 2 ? 1 : 2;
  pencils_product lengths = product_of(d, axis, &d->work[0], middle);
  pencils_product across = product_of(d, second, middle, &d->work[0]);
  pencils_product last = product_of(d, third, &d->work[0], out);
  lengths.cost = PENCILS_LENGTH;
  last.accumulate = axis != 2;
  CHECK(plant(d, row_of_crossings, &seed));
  CHECK(multiply(d, &lengths));
  CHECK(agree(d->pencils.comm, map_field(d, middle, NULL, square, NULL)));
  CHECK(multiply(d, &across));
  return multiply(d, &last);
}

typedef struct finish {
  const level_set *set;
  int is_signed;
} finish;

static double finish_point(const void *user, int64_t x, int64_t y, int64_t z, double a, double b) {
  const finish *f = user;
  const int held = level_set_holds(f->set, x, y, z);
  const double length = fmin(sqrt(a), level_set_beside(f->set, x, y, z));
  (void)b;
  if (!held) return length;
  return f->is_signed ? 0.0 - length : 0.0;
}

static double renew_point(const void *user, int64_t x, int64_t y, int64_t z, double a, double b) {
  const level_set *set = user;
  (void)b;
  if (isfinite(level_set_beside(set, x, y, z))) return level_set_value(set, x, y, z);
  return level_set_holds(set, x, y, z) ? sqrt(a) : 0.0 - sqrt(a);
}

/* Squares of distances to all crossings. */
static status transform_surface(distance *d, const level_set *set, field *out) {
  static const int order[3] = {2, 0, 1};
  begin(d, 9);
  for (int i = 0; i < 3; i++) CHECK(transform_crossings(d, set, order[i], out));
  return STATUS_OK;
}

status distance_to_surface(distance *d, const level_set *set, int is_signed, field *out) {
  const finish finish = {.set = set, .is_signed = is_signed};
  CHECK(transform_surface(d, set, out));
  return agree(d->pencils.comm, map_field(d, out, NULL, finish_point, &finish));
}

status distance_renew(distance *d, const level_set *set, field *out) {
  CHECK(transform_surface(d, set, out));
  return agree(d->pencils.comm, map_field(d, out, NULL, renew_point, set));
}
