#ifndef FDAPP_WAVE_LAYERS_H
#define FDAPP_WAVE_LAYERS_H

#include "launch.h"
#include "operation.h"

/* Absorbing layers of the wave equation beside ends of axes, inside the box (CPML). A layer has `points`
 * points; depth j = 0 is on the end. Along the layer's axis, with D and D2 the differences of the stencil
 * towards growing j, and p = 0 beyond the end,
 *
 *     psi = b psi + a D p;    zeta = b zeta + a (D2 p + D psi);    term = D psi + zeta,
 *
 * and the term is added to the Laplacian: to the first one, where there are two. psi and zeta are zero
 * outside of the layer, so terms reach STENCIL_RADIUS points further.
 *
 * `memory` holds psi of points and the term of points + STENCIL_RADIUS points, from which zeta is found
 * again: that is less to move than all three. First come the layers of x and y of each plane from -beyond to
 * nz + beyond - 1: for each part (psi, term) x low [depth][ny], x high, y low [depth][nx], y high, of those
 * that are there; then for each end of z both parts [depth][ny][nx]. So neighbours across a layer are
 * neighbours in memory. Their lines are padded to whole vectors of a GPU, with zeros. The layers of an axis
 * do not meet: between their terms lies at least a point, and those of z lie on a slab as a whole,
 * STENCIL_RADIUS planes away from its other end. */
typedef struct wave_layers {
  int points;          /* 0: there are none */
  int there[3][2];     /* [axis][end] 1: beside this end of this slab */
  int beyond;          /* planes whose q the second Laplacian reads; 0 if the slab is all of a periodic z */
  const void *profile; /* b, then a, at each depth: [3][2][points] */
  void *memory;
} wave_layers;

enum { WAVE_PSI, WAVE_TERM, WAVE_PARTS };
enum { WAVE_LINE_VECTOR = 4 /* elements */ };

/* Depths of a part, or of all parts. */
DESCRIBE int wave_layers_depths(const wave_layers *layers, int part) {
  return part == WAVE_PSI    ? layers->points
         : part == WAVE_TERM ? layers->points + STENCIL_RADIUS
                             : 2 * layers->points + STENCIL_RADIUS;
}

/* Elements from a line of points along x, or y, to the next one. */
DESCRIBE int64_t wave_layers_line(const kernels_shape *shape, int d) {
  const int n = d == AXIS_X ? shape->nx : shape->ny;
  return (int64_t)(n + WAVE_LINE_VECTOR - 1) / WAVE_LINE_VECTOR * WAVE_LINE_VECTOR;
}

/* Elements of a part, or of all parts, in each plane, and beside an end of z. */
DESCRIBE int64_t wave_layers_plane(const wave_layers *layers, const kernels_shape *shape, int part) {
  const int along = layers->there[AXIS_X][0] + layers->there[AXIS_X][1];
  const int across = layers->there[AXIS_Y][0] + layers->there[AXIS_Y][1];
  return wave_layers_depths(layers, part) *
         (along * wave_layers_line(shape, AXIS_Y) + across * wave_layers_line(shape, AXIS_X));
}

DESCRIBE int64_t wave_layers_end(const wave_layers *layers, const kernels_shape *shape, int part) {
  return wave_layers_depths(layers, part) * wave_layers_line(shape, AXIS_X) * shape->ny;
}

/* Elements from a point of a layer of this axis to the next one along axis d; along its own towards growing
 * depth. */
DESCRIBE int64_t wave_layers_step(const wave_layers *layers, const kernels_shape *shape, int axis, int d) {
  const int64_t row = wave_layers_line(shape, AXIS_X);
  if (axis == AXIS_Z) return d == AXIS_X ? 1 : d == AXIS_Y ? row : row * shape->ny;
  if (d == AXIS_Z) return wave_layers_plane(layers, shape, WAVE_PARTS);
  return d != axis ? 1 : axis == AXIS_X ? wave_layers_line(shape, AXIS_Y) : row;
}

/* The element at which a part of a layer begins; z counts for layers of x and y. */
DESCRIBE int64_t wave_layers_at(const wave_layers *layers, const kernels_shape *shape, int part, int axis,
                                int end, int z) {
  const int64_t plane = wave_layers_plane(layers, shape, WAVE_PARTS);
  if (axis == AXIS_Z) {
    const int before = end == 1 && layers->there[AXIS_Z][0];
    return (shape->nz + 2 * layers->beyond) * plane + before * wave_layers_end(layers, shape, WAVE_PARTS) +
           (part == WAVE_TERM ? wave_layers_end(layers, shape, WAVE_PSI) : 0);
  }
  int64_t at = (z + layers->beyond) * plane;
  if (part == WAVE_TERM) at += wave_layers_plane(layers, shape, WAVE_PSI);
  for (int i = 0; i < 2 * axis + end; i++) {
    if (layers->there[i / 2][i % 2])
      at += wave_layers_depths(layers, part) * wave_layers_line(shape, i / 2 == AXIS_X ? AXIS_Y : AXIS_X);
  }
  return at;
}

/* Elements of `memory`. */
DESCRIBE int64_t wave_layers_size(const wave_layers *layers, const kernels_shape *shape) {
  const int ends = layers->there[AXIS_Z][0] + layers->there[AXIS_Z][1];
  return (shape->nz + 2 * layers->beyond) * wave_layers_plane(layers, shape, WAVE_PARTS) +
         ends * wave_layers_end(layers, shape, WAVE_PARTS);
}

#endif
