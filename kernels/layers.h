#ifndef FDAPP_KERNELS_LAYERS_H
#define FDAPP_KERNELS_LAYERS_H

#include "kernels.h"

/* The layers of a launch as boxes of points, numbered one after another, x fastest in a box:
 *
 *   planes of a layer in z: whole planes; of the others
 *     rows of a layer in y: whole rows; of the others
 *       points of a layer in x.
 */

enum { LAYERS_OF_RANGE = 6, LAYERS_MOST = LAYERS_OF_RANGE * KERNELS_RANGES };

typedef struct layers_box {
  int origin[3], extent[3]; /* points of the slab */
  ptrdiff_t first;          /* number of its first point */
} layers_box;

typedef struct layers {
  int count;
  ptrdiff_t points;
  layers_box box[LAYERS_MOST];
} layers;

/* The boxes for the planes of a launch. */
layers layers_make(const kernels_launch *launch, const kernels_ends *ends);

/* Points of the layers of a whole slab. */
ptrdiff_t layers_points(const kernels_shape *shape, const kernels_ends *ends);

#endif
