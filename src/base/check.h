#ifndef FDAPP_BASE_CHECK_H
#define FDAPP_BASE_CHECK_H

#include "base/status.h"

/* The CHECK family: evaluates a call once and, if it failed, returns its status from the calling function.
 * Never compiled out. CHECK is for our own functions; CHECK_MPI is in base/agree.h and CHECK_CUDA in
 * kernels/cuda, so that this header includes neither MPI nor CUDA. */
#define CHECK(call)                                                                                          \
  do {                                                                                                       \
    const status check_status_ = (call);                                                                     \
    if (check_status_ != STATUS_OK) return check_status_;                                                    \
  } while (0)

#endif
