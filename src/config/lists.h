#ifndef FDAPP_CONFIG_LISTS_H
#define FDAPP_CONFIG_LISTS_H

/* Reads lists from texts: of places (slices, probes, a box) and of names. Pure functions of the text. */

enum { CONFIG_MOST_SLICES = 16, CONFIG_MOST_PROBES = 64, CONFIG_SLICE_NAME = 32 };

/* A plane normal to an axis. */
typedef struct config_slice {
  int axis; /* 0: x, 1: y, 2: z */
  double at;
  char name[CONFIG_SLICE_NAME]; /* "z_0.5"; part of its files' names */
} config_slice;

typedef struct config_probe {
  double at[3];
} config_probe;

/* Reads "z=0.5 x=0.25". [out] list: NULL, or room for CONFIG_MOST_SLICES; count: its length. Returns NULL, or
 * the fault. */
const char *config_slices_read(const char *text, config_slice *list, int *count);

/* The same for "x y z; x y z" and CONFIG_MOST_PROBES. */
const char *config_probes_read(const char *text, config_probe *list, int *count);

/* Reads "x0 x1 y0 y1 z0 z1". [out] box: low and high of each axis, low < high; may be NULL. Returns NULL, or
 * the fault. */
const char *config_box_read(const char *text, double box[3][2]);

/* Reads names between blanks: letters, digits and '_', each at most once. [out] names: may be NULL. Returns
 * NULL, or the fault. */
enum { CONFIG_MOST_NAMES = 16 };
typedef struct config_names {
  int count;
  char name[CONFIG_MOST_NAMES][32];
} config_names;
const char *config_names_read(const char *text, config_names *names);

#endif
