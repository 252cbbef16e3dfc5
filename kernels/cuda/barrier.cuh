#ifndef FDAPP_CUDA_BARRIER_CUH
#define FDAPP_CUDA_BARRIER_CUH

#include <machine.cuh>

/* Barriers in shared memory and reallocation of registers between warps, for blocks whose warps have
 * different roles; both need compute capability 9.0. tests/emulated has a file of the same name. */

/* A barrier whose phase ends when the number of arrivals that it was made for is reached. The phases
 * alternate between the parities 0 and 1; the first one has parity 0. */
struct alignas(8) barrier {
  unsigned long long word;
};

__device__ __forceinline__ unsigned barrier_address(barrier *b) {
  return (unsigned)__cvta_generic_to_shared(b);
}

/* Called by one thread, which then calls barriers_made, before a __syncthreads of all threads that use the
 * barriers. */
__device__ __forceinline__ void barrier_make(barrier *b, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier_address(b)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barriers_made() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrives. This thread's earlier reads and writes come before anything that others do after their wait. */
__device__ __forceinline__ void barrier_arrive(barrier *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier_address(b)) : "memory");
}

/* Arrives once all copies that this thread has started so far are in shared memory. */
__device__ __forceinline__ void barrier_arrive_copies(barrier *b) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier_address(b)) : "memory");
}

/* Waits until the phase of this parity is over; at the beginning, parity 1 counts as over. */
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

/* Called by all warps of a group of four: from here on each thread has COUNT registers. */
template <int COUNT> __device__ __forceinline__ void registers_give() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <int COUNT> __device__ __forceinline__ void registers_take() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

#endif
