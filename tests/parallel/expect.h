#ifndef FDAPP_TESTS_EXPECT_H
#define FDAPP_TESTS_EXPECT_H

#include <stdio.h>

#include "base/status.h"

/* For tests on several ranks, which go on after a failure so that no rank waits for another. */

extern int wrong; /* EXPECTs that failed; defined by the test */

#define EXPECT(condition)                                                                                    \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      (void)printf("WRONG: line %d: %s; %s\n", __LINE__, #condition, status_message(STATUS_OK));             \
      wrong++;                                                                                               \
    }                                                                                                        \
  } while (0)

#endif
