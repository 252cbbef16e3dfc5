#ifndef FDAPP_PROBLEMS_WAVELET_H
#define FDAPP_PROBLEMS_WAVELET_H

#include "base/check.h"
#include "settings/settings.h"

/* The signal of point sources. It is 0 for t <= 0, so that the state before t = 0 needs no sources. */
typedef struct wavelet {
  const config *config;
  int rows;
  double *table; /* of a file: t, s of each row */
  uint64_t hash; /* stands for the table; 0: none */
} wavelet;

/* Reads the file, if there is one. STATUS_FILE, STATUS_USAGE, STATUS_MEMORY; wavelet_close even after an
 * error. */
status wavelet_open(const config *config, wavelet *wavelet);
void wavelet_close(wavelet *wavelet);

/* The signal at time t of a source with this delay, for amplitude 1. */
double wavelet_at(const wavelet *wavelet, double t, double delay);
/* Its formula, or the file's table, at t = 0 over its peak: a jump there if it is not small. */
double wavelet_jump(const wavelet *wavelet, double delay);
/* The magnitude over the peak that the signal reaches until time t: 0 if it has not begun. It is 1 from the
 * beginning of a sine on, and within 0.39/frequency of the peak of a ricker or a gaussian. */
double wavelet_reached(const wavelet *wavelet, double delay, double t);
/* Of a file: the share of its largest row with 0 < t <= end that the signal has at times that are multiples
 * of dt; 1 if there is no such row, and for a formula. [out] largest: that row's time and value. */
double wavelet_kept(const wavelet *wavelet, double delay, double dt, double end, double largest[2]);

#endif
