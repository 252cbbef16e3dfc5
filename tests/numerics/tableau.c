#include "tableau.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const tableau tableaux[] = {
    /* W. Kutta, Z. Math. Phys. 46 (1901) 435. */
    {.name = "rk4",
     .order = 4,
     .stages = 4,
     .a = {{0}, {1.0 / 2}, {0, 1.0 / 2}, {0, 0, 1}},
     .b = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
     .divisor = {1, 1, 2, 6, 24},
     .imaginary = 2.8284271247461903, /* 2 sqrt 2 */
     .real = 2.7852935634052816,
     .accuracy = 1e-9,
     .words = 13,
     .slots = 4,
     .linear_words = 11,
     .linear_slots = 3},
    /* C.-W. Shu and S. Osher, J. Comput. Phys. 77 (1988) 439, eq. 2.18. */
    {.name = "ssprk3",
     .order = 3,
     .stages = 3,
     .a = {{0}, {1}, {1.0 / 4, 1.0 / 4}},
     .b = {1.0 / 6, 1.0 / 6, 2.0 / 3},
     .divisor = {1, 1, 2, 6},
     .imaginary = 1.7320508075688772, /* sqrt 3 */
     .real = 2.5127453266183286,
     .accuracy = 1e-9,
     .words = 8,
     .slots = 3,
     .linear_words = 8,
     .linear_slots = 3},
    /* J. H. Williamson, J. Comput. Phys. 35 (1980) 48, case 7. */
    {.name = "rk3",
     .order = 3,
     .stages = 3,
     .A = {0.0, -5.0 / 9, -153.0 / 128},
     .B = {1.0 / 3, 15.0 / 16, 8.0 / 15},
     .c = {0.0, 1.0 / 3, 3.0 / 4},
     .divisor = {1, 1, 2, 6},
     .imaginary = 1.7320508075688772,
     .real = 2.5127453266183286,
     .accuracy = 1e-9,
     .words = 8,
     .slots = 2,
     .linear_words = 8,
     .linear_slots = 2},
    /* M. H. Carpenter and C. A. Kennedy, NASA TM-109112 (1994), solution 3. */
    {.name = "ck45",
     .order = 4,
     .stages = 5,
     .A = {0.0, -567301805773.0 / 1357537059087.0, -2404267990393.0 / 2016746695238.0,
           -3550918686646.0 / 2091501179385.0, -1275806237668.0 / 842570457699.0},
     .B = {1432997174477.0 / 9575080441755.0, 5161836677717.0 / 13612068292357.0,
           1720146321549.0 / 2090206949498.0, 3134564353537.0 / 4481467310338.0,
           2277821191437.0 / 14882151754819.0},
     .c = {0.0, 1432997174477.0 / 9575080441755.0, 2526269341429.0 / 6820363962896.0,
           2006345519317.0 / 3224310063776.0, 2802321613138.0 / 2924317926251.0},
     .divisor = {1, 1, 2, 6, 24, 200},
     .imaginary = 3.3407179,
     .real = 4.6567571,
     .accuracy = 1e-6,
     .words = 14,
     .slots = 2,
     .linear_words = 14,
     .linear_slots = 2},
    /* J. E. Guerra and P. A. Ullrich, Geosci. Model Dev. 9 (2016) 2007: KGU35. */
    {.name = "kgu35",
     .order = 3,
     .stages = 5,
     .a = {{0}, {1.0 / 5}, {0, 1.0 / 5}, {0, 0, 1.0 / 3}, {0, 0, 0, 2.0 / 3}},
     .b = {1.0 / 4, 0, 0, 0, 3.0 / 4},
     .divisor = {1, 1, 2, 6, 30, 150},
     .imaginary = 3.8729833462074170, /* sqrt 15 */
     .real = 3.0485032645462864,
     .accuracy = 1e-9,
     .words = 15,
     .slots = 4,
     .linear_words = 14,
     .linear_slots = 3},
};

const tableau *tableau_of(const char *name) {
  for (size_t i = 0; i < sizeof tableaux / sizeof tableaux[0]; i++) {
    if (strcmp(tableaux[i].name, name) == 0) return &tableaux[i];
  }
  fail_msg("%s has no entry in tableau.c", name);
  return NULL;
}

double complex tableau_growth(const tableau *tableau, double complex z) {
  double complex sum = 0.0, power = 1.0;
  for (int k = 0; k <= tableau->stages; k++) {
    sum += power / tableau->divisor[k];
    power *= z;
  }
  return sum;
}

int tableau_drift_order(const tableau *tableau) {
  return tableau->order | 1;
}
