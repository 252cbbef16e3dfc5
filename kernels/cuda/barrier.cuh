#ifndef FDAPP_CUDA_BARRIER_CUH
#define FDAPP_CUDA_BARRIER_CUH

#include <machine.cuh>

/* What the warps of a block with different roles need of a GPU of compute capability 9.0: barriers in shared
 * memory and registers that change hands. tests/emulated has a file of the same name. */

/* A barrier that opens each time it has counted as many arrivals as it was made for. Its phases alternate
 * between the parities 0 and 1, and the first one has parity 0. */
struct alignas(8) barrier {
  unsigned long long word;
};

__device__ __forceinline__ unsigned barrier_address(barrier *b) {
  return (unsigned)__cvta_generic_to_shared(b);
}

/* By one thread, which then calls barriers_made, before a __syncthreads of all that use them. */
__device__ __forceinline__ void barrier_make(barrier *b, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier_address(b)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barriers_made() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* What this thread has read and written comes before what others do after their wait. */
__device__ __forceinline__ void barrier_arrive(barrier *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier_address(b)) : "memory");
}

/* Arrives when all copies that this thread has started so far are in shared memory. */
__device__ __forceinline__ void barrier_arrive_copies(barrier *b) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier_address(b)) : "memory");
}

/* Waits until the phase of this parity is over; parity 1 is over at the beginning. */
__device__ __forceinline__ void barrier_wait(barrier *b, int parity) {
  asm volatile("{\n"
               ".reg .pred over;\n"
               "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
               "@over bra ON;\n"
               "bra AGAIN;\n"
               "ON:\n"
               "}" ::"r"(barrier_address(b)),
               "r"(parity)
               : "memory");
}

__device__ __forceinline__ void warp_wait() {
  __syncwarp();
}

/* By all warps of a group of four: each thread has COUNT registers from here on. */
template <int COUNT> __device__ __forceinline__ void registers_give() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <int COUNT> __device__ __forceinline__ void registers_take() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

#endif
