#include "problems/formula_team.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "problems/problem.h"

typedef struct formula_fault {
  int found;
  double value, at[3];
} formula_fault;

status formula_team_open(const config *config, const char *key, const char *text, formula_team *team) {
  const int count = omp_get_max_threads();
  *team = (formula_team){.config = config, .key = key, .text = text};
  team->member = calloc((size_t)count, sizeof(formula *));
  team->fault = calloc(1, sizeof *team->fault);
  status result = team->member != NULL && team->fault != NULL
                      ? STATUS_OK
                      : status_fail(STATUS_MEMORY, "no memory for a formula");
  while (team->count < count && result == STATUS_OK) {
    result = formula_open(config, text, "xyz", &team->member[team->count]);
    team->count++;
  }
  if (result != STATUS_OK) formula_team_close(team);
  return result;
}

void formula_team_close(formula_team *team) {
  for (int i = 0; i < team->count; i++) formula_close(team->member[i]);
  free(team->member);
  free(team->fault);
  *team = (formula_team){0};
}

static int is_lower(const double a[3], const double b[3]) {
  for (int d = 2; d >= 0; d--) {
    if (a[d] != b[d]) return a[d] < b[d];
  }
  return 0;
}

static void remember(formula_fault *fault, double value, const double x[3]) {
#pragma omp critical(formula_team_fault)
  if (!fault->found || is_lower(x, fault->at)) {
    fault->found = 1;
    fault->value = value;
    memcpy(fault->at, x, sizeof fault->at);
  }
}

double formula_team_at(const formula_team *team, const double x[3]) {
  const double values[FORMULA_VARIABLES] = {x[0], x[1], x[2]};
  const double value = formula_at(team->member[omp_get_thread_num()], values);
  if (!(fabs(value) <= PROBLEM_LARGEST)) remember(team->fault, value, x);
  return value;
}

status formula_team_verdict(const formula_team *team) {
  const formula_fault *fault = team->fault;
  if (team->count == 0 || !fault->found) return STATUS_OK;
  char text[NUMBER_TEXT];
  return status_fail(
      STATUS_USAGE, "%s = %.160s: is %s at x = %.9g, y = %.9g, z = %.9g; accepted: a magnitude of at most %g",
      team->key, team->text, number_apart(fault->value, copysign(PROBLEM_LARGEST, fault->value), text),
      fault->at[0], fault->at[1], fault->at[2], PROBLEM_LARGEST);
}
