#include "stencil.h"

#include <math.h>
#include <string.h>

static const double first_coefficients[STENCIL_ORDERS][STENCIL_RADIUS] = {
    {1.0 / 2.0, 0.0, 0.0, 0.0},
    {2.0 / 3.0, -1.0 / 12.0, 0.0, 0.0},
    {3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0, 0.0},
    {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0},
};

static const double second_coefficients[STENCIL_ORDERS][STENCIL_RADIUS + 1] = {
    {-2.0, 1.0, 0.0, 0.0, 0.0},
    {-5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0, 0.0, 0.0},
    {-49.0 / 18.0, 3.0 / 2.0, -3.0 / 20.0, 1.0 / 90.0, 0.0},
    {-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0},
};

static const double dissipation_coefficients[STENCIL_ORDERS][STENCIL_RADIUS] = {
    {1.0 / 2.0, 0.0, 0.0, 0.0},
    {4.0 / 12.0, -1.0 / 12.0, 0.0, 0.0},
    {15.0 / 60.0, -6.0 / 60.0, 1.0 / 60.0, 0.0},
    {56.0 / 280.0, -28.0 / 280.0, 8.0 / 280.0, -1.0 / 280.0},
};

static const double damping_taps[STENCIL_ORDERS][STENCIL_TAPS] = {
    {0.0, -1.0, 1.0, 0.0, 0.0},
    {0.0, 1.0, -2.0, 1.0, 0.0},
    {-1.0, 3.0, -3.0, 1.0, 0.0},
    {1.0, -4.0, 6.0, -4.0, 1.0},
};

stencil stencil_make(int order, const double spacing[3]) {
  stencil result;
  memset(&result, 0, sizeof result);
  result.order = order;
  const int row = order / 2 - 1;
  memcpy(result.taps, damping_taps[row], sizeof result.taps);
  result.share[1] = row % 2 == 0 ? 0.5 : 0.0;
  result.share[0] = 1.0 - result.share[1];
  for (int d = 0; d < 3; d++) {
    const double h = spacing[d];
    result.spacing[d] = h;
    result.damping[d] = -fabs(dissipation_coefficients[row][row]) / h;
    for (int k = 0; k < STENCIL_RADIUS; k++) {
      result.first[d][k] = first_coefficients[row][k] / h;
      result.dissipation[d][k] = dissipation_coefficients[row][k] / h;
    }
    for (int k = 0; k <= STENCIL_RADIUS; k++) result.second[d][k] = second_coefficients[row][k] / (h * h);
  }
  return result;
}

double stencil_first_symbol(int order, double theta) {
  const double *c = first_coefficients[order / 2 - 1];
  double symbol = 0.0;
  for (int k = STENCIL_RADIUS; k >= 1; k--) symbol += 2.0 * c[k - 1] * sin(k * theta);
  return symbol;
}

double stencil_second_symbol(int order, double theta) {
  const double *c = second_coefficients[order / 2 - 1];
  double symbol = c[0];
  for (int k = STENCIL_RADIUS; k >= 1; k--) symbol += 2.0 * c[k] * cos(k * theta);
  return -symbol;
}

double stencil_dissipation_symbol(int order, double theta) {
  const double *c = dissipation_coefficients[order / 2 - 1];
  double symbol = 0.0;
  for (int k = STENCIL_RADIUS; k >= 1; k--) symbol += 2.0 * c[k - 1] * (1.0 - cos(k * theta));
  return symbol;
}

/* The symbol has one maximum on (0, pi): golden-section search, down to the resolution of double. */
double stencil_first_maximum(int order) {
  const double golden = 0.5 * (sqrt(5.0) - 1.0);
  double low = 0.0;
  double high = acos(-1.0);
  for (int i = 0; i < 100; i++) {
    const double a = high - golden * (high - low);
    const double b = low + golden * (high - low);
    if (stencil_first_symbol(order, a) < stencil_first_symbol(order, b)) {
      low = a;
    } else {
      high = b;
    }
  }
  return stencil_first_symbol(order, 0.5 * (low + high));
}
