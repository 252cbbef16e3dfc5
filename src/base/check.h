#ifndef FDAPP_BASE_CHECK_H
#define FDAPP_BASE_CHECK_H

#include "base/status.h"

/* The CHECK family: evaluate a call once, leave the function with its status if it failed. Never compiled
 * out. CHECK is for our own functions; CHECK_MPI is in base/agree.h and CHECK_CUDA in kernels/cuda, so that
 * this header needs neither. */
#define CHECK(call)                                                                                          \
  do {                                                                                                       \
    const status check_status_ = (call);                                                                     \
    if (check_status_ != STATUS_OK) return check_status_;                                                    \
  } while (0)

#endif
