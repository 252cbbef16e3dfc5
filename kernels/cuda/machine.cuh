#ifndef FDAPP_CUDA_MACHINE_CUH
#define FDAPP_CUDA_MACHINE_CUH

#include <cuda_runtime.h>

/* What only a GPU and its compiler understand, besides the language's own words: launches, the memory that a
 * block's threads share, asynchronous copies into it, counters by which blocks wait for one another. Tests
 * have another file of this name, with which kernels run on the CPU (tests/emulated). */

template <class... Parameters, class... Arguments>
void kernel_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                   const Arguments &...arguments) {
  kernel<<<grid, block, shared, stream>>>(arguments...);
}

/* Of the block, as many bytes as the launch has asked for. */
__device__ __forceinline__ unsigned char *block_memory() {
  extern __shared__ __align__(128) unsigned char memory[];
  return memory;
}

/* The same number, out of the compiler's sight: that of a plane's elements, counted up from plane to plane
 * instead of multiplied, took registers that small launches then spilled (docs/explanation/performance.md,
 * "Registers of small launches"). */
__device__ __forceinline__ ptrdiff_t hidden(ptrdiff_t number) {
  asm("" : "+l"(number));
  return number;
}

/* Starts copying 16 bytes from global to shared memory. */
template <class T> __device__ __forceinline__ void copy_vector(T *to, const T *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from));
}

template <class T> __device__ __forceinline__ void copy_element(T *to, const T *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "n"((int)sizeof(T)));
}

/* The same, and a store, by those threads alone that want it; without a branch. */
template <class T> __device__ __forceinline__ void copy_vector_where(bool wanted, T *to, const T *from) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(
                   (unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "r"((int)wanted));
}

template <class T> __device__ __forceinline__ void copy_element_where(bool wanted, T *to, const T *from) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; @p cp.async.ca.shared.global [%0], [%1], %2; }" ::"r"(
                   (unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "n"((int)sizeof(T)), "r"((int)wanted));
}

__device__ __forceinline__ void store_vector_where(bool wanted, float *to, const float (&from)[4]) {
  asm volatile(
      "{ .reg .pred p; setp.ne.s32 p, %5, 0; @p st.global.v4.f32 [%0], {%1, %2, %3, %4}; }" ::"l"(to),
      "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]), "r"((int)wanted)
      : "memory");
}

__device__ __forceinline__ void store_vector_where(bool wanted, double *to, const double (&from)[2]) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; @p st.global.v2.f64 [%0], {%1, %2}; }" ::"l"(to),
               "d"(from[0]), "d"(from[1]), "r"((int)wanted)
               : "memory");
}

/* The copies that this thread has started since the last commit become a group. */
__device__ __forceinline__ void copy_commit() {
  asm volatile("cp.async.commit_group;" ::);
}

/* Waits until at most PENDING groups of this thread's copies are under way. */
template <int PENDING> __device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* What other blocks have made of a word of global memory. */
__device__ __forceinline__ unsigned counter_read(const unsigned *counter) {
  unsigned seen;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter));
  return seen;
}

/* A reduction: the compiler makes an operation of atomicAdd whose answer the next read would wait for. */
__device__ __forceinline__ void counter_add(unsigned *counter, unsigned steps) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(steps) : "memory");
}

/* The device's clock, in nanoseconds. */
__device__ __forceinline__ unsigned long long clock_read() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

#endif
