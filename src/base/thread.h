#ifndef FDAPP_BASE_THREAD_H
#define FDAPP_BASE_THREAD_H

#include <pthread.h>

/* Starts `function` in a thread in which signals are blocked, because the main thread handles them. Returns 0
 * if there is none to be had. */
int thread_start(pthread_t *thread, void *(*function)(void *), void *user);

#endif
