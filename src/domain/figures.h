#ifndef FDAPP_DOMAIN_FIGURES_H
#define FDAPP_DOMAIN_FIGURES_H

#include "domain/state.h"
#include "settings/settings.h"

/* What an equation measures of its state: for each column of a table the mean, the least or the largest value
 * of an unknown (`unknown` >= 0) or of an array that `find` computes. */
enum { FIGURES_MOST = 16 };
typedef enum figures_fold { FIGURES_MEAN, FIGURES_LEAST, FIGURES_LARGEST } figures_fold;
typedef struct figures_column {
  const char *name;
  int unknown, figure; /* figure: for `find` */
  figures_fold fold;
} figures_column;
typedef struct figures {
  int count; /* at most FIGURES_MOST */
  const figures_column *column;
  /* Computes a figure of a state with valid halos at all points of `out`, with the differences of the run;
   * enqueued on MAIN. Not collective. STATUS_DEVICE. */
  status (*find)(const config *config, const grid *grid, const state *state, int figure, field *out);
} figures;

#endif
