#ifndef FDAPP_KERNELS_LAYERS_H
#define FDAPP_KERNELS_LAYERS_H

#include "kernels.h"

/* The planes of a range between the layers in z; none where z1 <= z0. */
kernels_planes layers_between(const kernels_planes *range, const kernels_ends *ends);

#endif
