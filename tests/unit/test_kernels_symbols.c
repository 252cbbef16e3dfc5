#include "rig.h"

#include <math.h>

/* What the operators do to Fourier modes, and the identities that follow: mathematics, not another
 * implementation. */

static const double pi = 3.14159265358979323846;

/* Round-off of the precision, against which a relative error is measured. */
static double tolerance(const rig *rig) {
  return rig->launch.shape.precision == PRECISION_DOUBLE ? 1e-14 : 5e-6;
}

/* cos or sin of 2 pi m i / n with the argument reduced exactly. */
static double wave(int m, int i, int n, int sine) {
  const int k = (((m * i) % n) + n) % n;
  return sine ? sin(2.0 * pi * k / n) : cos(2.0 * pi * k / n);
}

/* Each line along `direction` carries its own mode, so that one launch sees them all. */
typedef struct modes {
  int direction, sine;
} modes;

static int mode_of(const modes *modes, int n, const int at[3]) {
  const int a = at[(modes->direction + 1) % 3], b = at[(modes->direction + 2) % 3];
  return (a + 7 * b) % (n / 2 + 1);
}

static double modes_value(const rig *rig, const void *user, int x, int y, int z) {
  const modes *m = user;
  const kernels_shape *shape = &rig->launch.shape;
  const int n = (const int[3]){shape->nx, shape->ny, shape->nz}[m->direction];
  const int at[3] = {x, y, (z + shape->nz) % shape->nz};
  return wave(mode_of(m, n, at), at[m->direction], n, m->sine);
}

/* d/dx cos(k x) = -k* sin(k x), d/dx sin(k x) = k* cos(k x) on every point and for every mode of the grid. */
static void first_symbol_check(rig *rig, const modes *m, int order) {
  const kernels_shape *shape = &rig->launch.shape;
  const int n = (const int[3]){shape->nx, shape->ny, shape->nz}[m->direction];
  const double h = rig->stencil.spacing[m->direction];
  twin f = twin_make(rig, modes_value, m);
  twin out = twin_sentinel(rig);
  assert_ok(apply_derivative(rig->backend, &rig->launch, (axis)m->direction, f.device, out.device));
  twin_download(rig, &out);
  const double largest = stencil_first_maximum(order) / h;
  double worst = 0.0;
  for (int z = 0; z < shape->nz; z++) {
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) {
        const int at[3] = {x, y, z};
        const int mode = mode_of(m, n, at);
        const double symbol = stencil_first_symbol(order, 2.0 * pi * mode / n) / h;
        const double exact = (m->sine ? symbol : -symbol) * wave(mode, at[m->direction], n, !m->sine);
        worst = fmax(worst, fabs(reference_value(shape, out.host, x, y, z) - exact) / largest);
      }
    }
  }
  if (!(worst < tolerance(rig))) fail_msg("axis %d, order %d: error %.3g", m->direction, order, worst);
  twin_free(rig, &f);
  twin_free(rig, &out);
}

static void every_mode_has_its_symbol(rig *rig) {
  for (int order = 2; order <= 8; order += 2) {
    for (int d = 0; d < 3; d++) {
      rig_shape(rig, 33, 20, 37);
      rig_stencil(rig, order, 0.4, 0.7, 1.3);
      for (int sine = 0; sine < 2; sine++) first_symbol_check(rig, &(modes){d, sine}, order);
    }
  }
}

/* Product of one mode in each direction. */
static double product_value(const rig *rig, const void *user, int x, int y, int z) {
  const int *m = user;
  const kernels_shape *shape = &rig->launch.shape;
  return wave(m[0], x, shape->nx, 0) * wave(m[1], y, shape->ny, 1) * wave(m[2], z + shape->nz, shape->nz, 0);
}

static void laplacian_check(rig *rig, const int m[3], int order) {
  const kernels_shape *shape = &rig->launch.shape;
  const int n[3] = {shape->nx, shape->ny, shape->nz};
  double symbol = 0.0, largest = 0.0;
  for (int d = 0; d < 3; d++) {
    const double h = rig->stencil.spacing[d];
    symbol -= stencil_second_symbol(order, 2.0 * pi * m[d] / n[d]) / (h * h);
    largest += stencil_second_symbol(order, pi) / (h * h);
  }
  twin f = twin_make(rig, product_value, m);
  twin out = twin_sentinel(rig);
  assert_ok(apply_laplacian(rig->backend, &rig->launch, f.device, out.device));
  twin_download(rig, &out);
  double worst = 0.0;
  for (int z = 0; z < n[2]; z++) {
    for (int y = 0; y < n[1]; y++) {
      for (int x = 0; x < n[0]; x++) {
        const double exact = symbol * product_value(rig, m, x, y, z);
        worst = fmax(worst, fabs(reference_value(shape, out.host, x, y, z) - exact) / largest);
      }
    }
  }
  if (!(worst < tolerance(rig))) fail_msg("modes %d %d %d: error %.3g", m[0], m[1], m[2], worst);
  twin_free(rig, &f);
  twin_free(rig, &out);
}

static void laplacian_has_its_symbol(rig *rig) {
  for (int order = 2; order <= 8; order += 2) {
    rig_shape(rig, 17, 10, 12);
    rig_stencil(rig, order, 0.4, 0.7, 1.3);
    for (int i = 0; i <= 8; i++) laplacian_check(rig, (const int[3]){i, 1 + i % 5, (5 * i) % 7}, order);
  }
}

/* Largest error of the derivative of one wave on n points. */
static double derivative_error(rig *rig, int direction, int order, int n) {
  int size[3] = {9, 9, 4};
  size[direction] = n;
  rig_shape(rig, size[0], size[1], size[2]);
  rig_stencil(rig, order, 1.0 / size[0], 1.0 / size[1], 1.0 / size[2]);
  int m[3] = {0, 0, 0};
  m[direction] = 1;
  if (direction != 1) m[1] = 2; /* the y factor is a sine: not zero */
  twin f = twin_make(rig, product_value, m);
  twin out = twin_sentinel(rig);
  assert_ok(apply_derivative(rig->backend, &rig->launch, (axis)direction, f.device, out.device));
  twin_download(rig, &out);
  double worst = 0.0;
  for (int i = 0; i < n; i++) {
    int at[3] = {0, 1, 0};
    at[direction] = i;
    const double factor = direction == 1 ? 1.0 : -wave(2, 1, size[1], 1);
    const double exact = 2.0 * pi * factor * wave(1, i, n, direction != 1);
    worst = fmax(worst, fabs(reference_value(&rig->launch.shape, out.host, at[0], at[1], at[2]) - exact));
  }
  twin_free(rig, &f);
  twin_free(rig, &out);
  return worst;
}

static void observed_orders(rig *rig) {
  for (int order = 2; order <= 8; order += 2) {
    for (int d = 0; d < 3; d++) {
      const double observed =
          log(derivative_error(rig, d, order, 24) / derivative_error(rig, d, order, 48)) / log(2.0);
      if (!(fabs(observed - order) < 0.1)) fail_msg("axis %d: order %d, observed %.4f", d, order, observed);
    }
  }
}

/* Random points whose halo planes are the periodic images. */
static double periodic_value(const rig *rig, const void *user, int x, int y, int z) {
  const kernels_shape *shape = &rig->launch.shape;
  const int seed = *(const int *)user;
  const int k = (z + shape->nz) % shape->nz;
  return sin(1.0 + seed + 12.9898 * x + 78.233 * y + 37.719 * k + 0.37 * x * y + 0.11 * k * y);
}

static double sum_of(rig *rig, const twin *out, const twin *weight) {
  const kernels_shape *shape = &rig->launch.shape;
  twin_download(rig, out);
  double sum = 0.0;
  for (int z = 0; z < shape->nz; z++) {
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) {
        const double w = weight == NULL ? 1.0 : reference_value(shape, weight->host, x, y, z);
        sum += w * reference_value(shape, out->host, x, y, z);
      }
    }
  }
  return sum;
}

/* Telescoping: the sum of a derivative or Laplacian over the periodic grid is round-off. */
static void derivatives_sum_to_nothing(rig *rig) {
  rig_shape(rig, 33, 20, 37);
  rig_stencil(rig, 8, 1.0, 1.0, 1.0);
  const double allowed = 33 * 20 * 37 * tolerance(rig) * 0.1;
  twin f = twin_make(rig, periodic_value, &(int){1});
  for (int d = 0; d < 4; d++) {
    twin out = twin_sentinel(rig);
    if (d < 3) assert_ok(apply_derivative(rig->backend, &rig->launch, (axis)d, f.device, out.device));
    if (d == 3) assert_ok(apply_laplacian(rig->backend, &rig->launch, f.device, out.device));
    const double sum = sum_of(rig, &out, NULL);
    if (!(fabs(sum) < allowed)) fail_msg("operator %d: sum %.3g, allowed %.3g", d, sum, allowed);
    twin_free(rig, &out);
  }
  twin_free(rig, &f);
}

/* Halo planes of a field that was made on the device: its own periodic images. */
static void wrap_halos(rig *rig, const twin *f) {
  const kernels_shape *shape = &rig->launch.shape;
  twin_download(rig, f);
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    const int from = (z + shape->nz) % shape->nz;
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) {
        reference_set(shape, f->host, x, y, z, reference_value(shape, f->host, x, y, from));
      }
    }
  }
  twin_upload(rig, f);
}

/* Differences commute: div (D_y p, -D_x p, 0) = 0 to round-off. */
static void divergence_of_a_curl_vanishes(rig *rig) {
  rig_shape(rig, 33, 20, 37);
  rig_stencil(rig, 8, 1.0, 1.0, 1.0);
  const kernels_shape *shape = &rig->launch.shape;
  twin p = twin_make(rig, periodic_value, &(int){2});
  twin v[3] = {twin_sentinel(rig), twin_sentinel(rig), twin_sentinel(rig)};
  twin out = twin_sentinel(rig);
  assert_ok(apply_derivative(rig->backend, &rig->launch, AXIS_Y, p.device, v[0].device));
  assert_ok(apply_derivative(rig->backend, &rig->launch, AXIS_X, p.device, v[1].device));
  for (int d = 0; d < 2; d++) wrap_halos(rig, &v[d]);
  for (int z = -KERNELS_HALO; z < shape->nz + KERNELS_HALO; z++) {
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) {
        reference_set(shape, v[1].host, x, y, z, -reference_value(shape, v[1].host, x, y, z));
        reference_set(shape, v[2].host, x, y, z, 0.0);
      }
    }
  }
  for (int d = 1; d < 3; d++) twin_upload(rig, &v[d]);
  const void *const device[3] = {v[0].device, v[1].device, v[2].device};
  assert_ok(apply_divergence(rig->backend, &rig->launch, device, out.device));
  twin_download(rig, &out);
  for (int z = 0; z < shape->nz; z++) {
    for (int y = 0; y < shape->ny; y++) {
      for (int x = 0; x < shape->nx; x++) {
        assert_true(fabs(reference_value(shape, out.host, x, y, z)) < tolerance(rig));
      }
    }
  }
  for (int d = 0; d < 3; d++) twin_free(rig, &v[d]);
  twin_free(rig, &out);
  twin_free(rig, &p);
}

/* A(f) of a form, for a velocity that varies in space. */
static twin advection_of(rig *rig, const twin *f, const twin v[3], advection_form form) {
  twin out = twin_sentinel(rig);
  twin zero = twin_make(rig, product_value, (const int[3]){0, 0, 0}); /* sin 0 = 0 */
  const advection_stage stage = {
      .out = out.device,
      .f = f->device,
      .base = zero.device,
      .form = form,
      .advection = 1.0,
      .velocity = {v[0].device, v[1].device, v[2].device},
  };
  assert_ok(advection_apply(rig->backend, &rig->launch, &stage));
  twin_free(rig, &zero);
  return out;
}

/* The conservative form keeps the mass, the skew-symmetric one the energy; the advective one neither. */
static void forms_conserve(rig *rig) {
  rig_shape(rig, 33, 20, 37);
  rig_stencil(rig, 8, 1.0, 1.0, 1.0);
  const double allowed = 33 * 20 * 37 * tolerance(rig) * 0.3;
  twin f = twin_make(rig, periodic_value, &(int){3});
  twin v[3];
  for (int d = 0; d < 3; d++) v[d] = twin_make(rig, periodic_value, &(int){4 + d});
  twin parts[3];
  for (int form = 0; form < 3; form++) parts[form] = advection_of(rig, &f, v, (advection_form)form);
  assert_true(fabs(sum_of(rig, &parts[FORM_CONSERVATIVE], NULL)) < allowed);
  assert_true(fabs(sum_of(rig, &parts[FORM_SKEW], &f)) < allowed);
  assert_true(fabs(sum_of(rig, &parts[FORM_ADVECTIVE], NULL)) > 1000.0 * allowed ||
              fabs(sum_of(rig, &parts[FORM_ADVECTIVE], &f)) > 1000.0 * allowed);
  for (int i = 0; i < 3; i++) {
    twin_free(rig, &parts[i]);
    twin_free(rig, &v[i]);
  }
  twin_free(rig, &f);
}

int main(int argc, char **argv) {
  static const rig_test tests[] = {
      RIG_TEST(every_mode_has_its_symbol),     RIG_TEST(laplacian_has_its_symbol),
      RIG_TEST_DOUBLE(observed_orders),        RIG_TEST(derivatives_sum_to_nothing),
      RIG_TEST(divergence_of_a_curl_vanishes), RIG_TEST(forms_conserve),
  };
  return rig_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
