#include "base/thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*function)(void *), void *user) {
  sigset_t all, before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const int started = pthread_create(thread, NULL, function, user) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}
