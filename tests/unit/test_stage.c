#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stepping/stage.h"

/* Output k of an operation is unknown + k, also if the operation has no output before it. */
static void test_outputs_with_a_gap(void **state) {
  char memory[5][STATE_FIELDS];
  struct state states[5];
  (void)state;
  for (int s = 0; s < 5; s++)
    for (int i = 0; i < STATE_FIELDS; i++) states[s].part[i].data = &memory[s][i];
  const stage stage = {.out = &states[0],
                       .f = &states[1],
                       .base = &states[2],
                       .extra = {&states[3], &states[4]},
                       .weight = 1.0};
  kernels_call call = {.kind = OPERATION_derivative,
                       .options = (unsigned)AXIS_X | DERIVATIVE_FIRST | DERIVATIVE_DISSIPATION};
  stage_sum(&stage, 4, &call);
  assert_int_equal(call.options & SUM_OPTIONS, SUM_OPTIONS);
  for (int k = 0; k < SUM_OUTPUTS; k++) {
    const void *const arrays[5] = {call.out[k], call.in[SUM_IN_OWN + k], call.in[SUM_IN_BASE + k],
                                   call.in[SUM_IN_EXTRA + k], call.in[SUM_IN_EXTRA + SUM_OUTPUTS + k]};
    for (int s = 0; s < 5; s++) assert_ptr_equal(arrays[s], k == 1 ? NULL : &memory[s][4 + k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_outputs_with_a_gap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
