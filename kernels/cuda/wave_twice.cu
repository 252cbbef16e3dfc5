#include "wave_twice.cuh"

/* Reallocating registers needs compute capability 9.0, so this file is compiled for that alone. */

/* The device has code and room for the kernel. */
static bool has_room(const kernels_launch *launch) {
  using Tile = wave_twice_tile;
  if (Tile::SHARED_BYTES > launch->context->shared_limit) return false;
  if (cudaFuncSetAttribute(wave_twice_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           (int)Tile::SHARED_BYTES) == cudaSuccess)
    return true;
  (void)cudaGetLastError();
  return false;
}

/* Images beyond ends of x and y are copied as they are, and no plane beyond ends is zero. */
static bool has_plain_images(const kernels_wave *call) {
  for (int i = 0; i < 6; i++) {
    const wave_image kind = call->ends[i / 2][i % 2];
    if (kind == WAVE_ZERO || (kind == WAVE_ODD && i < 4)) return false;
  }
  return true;
}

extern "C" bool NAME(wave_twice)(const kernels_launch *launch, const wave_arguments *a, const geometry *d,
                                 status *done) {
  using Tile = wave_twice_tile;
  constexpr size_t LEAST = 32 * Tile::CORE; /* points for each multiprocessor */
  const int multiprocessors = launch->context->multiprocessors;
  if (a->call.plain || !wave_is_large(*d, LEAST * (size_t)multiprocessors) || !has_plain_images(&a->call) ||
      !has_room(launch))
    return false;
  const int tiles = divide_up(d->nx, Tile::WIDTH) * divide_up(d->ny, Tile::HEIGHT);
  const int chunk = wave_chunk(tiles, d->longest(), multiprocessors, 4 * HALO);
  kernel_launch(wave_twice_kernel, (unsigned)(tiles * d->pieces(chunk)), Tile::THREADS, Tile::SHARED_BYTES,
                launch_stream(launch), *a, *d, chunk);
  *done = launch_done(launch, "wave, two Laplacians");
  return true;
}
