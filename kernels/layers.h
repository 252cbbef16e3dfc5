#ifndef FDAPP_KERNELS_LAYERS_H
#define FDAPP_KERNELS_LAYERS_H

#include "kernels.h"

/* The points of a launch's layers as boxes. Points are numbered box after box, x fastest within a box. No
 * point is in two boxes:
 *
 *   the layers in z are whole planes;
 *     on the other planes, the layers in y are whole rows;
 *       on the other rows, the layers in x are what remains.
 */

enum { LAYERS_OF_RANGE = 6, LAYERS_MOST = LAYERS_OF_RANGE * KERNELS_RANGES };

typedef struct layers_box {
  int origin[3], extent[3]; /* in points of the slab */
  ptrdiff_t first;          /* number of its first point */
} layers_box;

typedef struct layers {
  int count;
  ptrdiff_t points;
  layers_box box[LAYERS_MOST];
} layers;

/* The planes of a range between the layers in z; none where z1 <= z0. */
kernels_planes layers_between(const kernels_planes *range, const kernels_ends *ends);

/* The boxes of a launch's planes. */
layers layers_make(const kernels_launch *launch, const kernels_ends *ends);

/* Number of elements in the whole 16-byte vectors of a field that hold points of a slab's layers; 0 without
 * layers in x or y, whose results alone may have to wait (apply_bounded). */
ptrdiff_t layers_elements(const kernels_shape *shape, const kernels_ends *ends);

#endif
