#ifndef FDAPP_CUDA_MACHINE_CUH
#define FDAPP_CUDA_MACHINE_CUH

#include <cuda_runtime.h>

/* The code that only a GPU and nvcc understand, including all inline PTX: launches, a block's shared memory,
 * asynchronous copies into it, and counters by which blocks wait for one another. tests/emulated has a file
 * of the same name, with which the kernels run on a CPU. */

template <class... Parameters, class... Arguments>
void kernel_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                   const Arguments &...arguments) {
  kernel<<<grid, block, shared, stream>>>(arguments...);
}

/* A launch whose blocks all run at the same time, because they wait for one another. Fails if the device
 * cannot hold them all. */
template <class... Parameters, class... Arguments>
cudaError_t kernel_launch_together(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
                                   cudaStream_t stream, const Arguments &...arguments) {
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = grid;
  launch.blockDim = block;
  launch.dynamicSmemBytes = shared;
  launch.stream = stream;
  launch.attrs = &together;
  launch.numAttrs = 1;
  return cudaLaunchKernelEx(&launch, kernel, arguments...);
}

/* The block's dynamic shared memory, of the size that the launch asked for. */
__device__ __forceinline__ unsigned char *block_memory() {
  extern __shared__ __align__(128) unsigned char memory[];
  return memory;
}

/* Returns its argument, which the compiler can no longer trace. Otherwise the compiler replaces plane number
 * times plane size by a running sum for each array, and small launches spill registers because of these sums
 * (docs/explanation/performance.md, "Registers of small launches"). */
__device__ __forceinline__ ptrdiff_t hidden(ptrdiff_t number) {
  asm("" : "+l"(number));
  return number;
}

/* For a thread's number, which the compiler otherwise reads from its slow register again and again where
 * others are few. */
__device__ __forceinline__ int hidden(int number) {
  asm("" : "+r"(number));
  return number;
}

/* For a value of which the compiler otherwise keeps multiples and sums in registers, too. */
__device__ __forceinline__ float hidden(float value) {
  asm("" : "+f"(value));
  return value;
}
__device__ __forceinline__ double hidden(double value) {
  asm("" : "+d"(value));
  return value;
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

/* Reads what no kernel writes while this one runs. The compiler may do it earlier than stores that stand
 * before it. */
template <class T> __device__ __forceinline__ T constant_read(const T *from) {
  return __ldg(from);
}

/* Fetches a line of memory into the L2 cache. */
template <class T> __device__ __forceinline__ void cache_fetch(const T *from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

/* Predicated copies, stores and loads: only threads with `wanted` make them, without a branch. Loads leave
 * what is not wanted as it was. */
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

__device__ __forceinline__ void load_vector_where(bool wanted, const float *from, float (&to)[4]) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %5, 0; @p ld.global.v4.f32 {%0, %1, %2, %3}, [%4]; }"
               : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
               : "l"(from), "r"((int)wanted));
}

__device__ __forceinline__ void load_vector_where(bool wanted, const double *from, double (&to)[2]) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; @p ld.global.v2.f64 {%0, %1}, [%2]; }"
               : "+d"(to[0]), "+d"(to[1])
               : "l"(from), "r"((int)wanted));
}

/* Makes one group of the copies that this thread has started since its last commit. */
__device__ __forceinline__ void copy_commit() {
  asm volatile("cp.async.commit_group;" ::);
}

/* Waits until at most PENDING groups of this thread's copies are under way. */
template <int PENDING> __device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* Reads a counter that other blocks add to. Relaxed: it orders no other access. */
__device__ __forceinline__ unsigned counter_read(const unsigned *counter) {
  unsigned seen;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter));
  return seen;
}

/* Adds by a reduction, because atomicAdd returns a value that the next read would wait for. */
__device__ __forceinline__ void counter_add(unsigned *counter, unsigned steps) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(steps) : "memory");
}

/* Reads a counter that other blocks add to by counter_tell. After this read, a block's writes can be read
 * that it made before it told. */
__device__ __forceinline__ unsigned counter_read_acquire(const unsigned *counter) {
  unsigned seen;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  return seen;
}

/* Adds 1, after all writes of this thread, and of threads that it has waited for at a barrier. */
__device__ __forceinline__ void counter_tell(unsigned *counter) {
  asm volatile("fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

/* Reads and writes a number of which another device writes, or reads, the only other copy. They order no
 * other access; fence_system does, for the whole block if a barrier is between. */
__device__ __forceinline__ unsigned number_read(const unsigned *number) {
  unsigned seen;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(number) : "memory");
  return seen;
}

__device__ __forceinline__ void number_write(unsigned *number, unsigned value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(number), "r"(value) : "memory");
}

__device__ __forceinline__ void fence_system() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* A double as two registers. Compilers keep one in two neighbouring registers and replace it as a whole. */
struct double_halves {
  unsigned low, high;

  __device__ __forceinline__ void set(double value) {
    low = (unsigned)__double2loint(value);
    high = (unsigned)__double2hiint(value);
  }
  __device__ __forceinline__ double get() const {
    return __hiloint2double((int)high, (int)low);
  }
  /* Becomes `value` if that is less. `one` is 1, which the compiler must not know: then it multiplies under a
   * predicate, and reads two registers where a selection between two doubles reads four. */
  __device__ __forceinline__ void lower(double value, unsigned one) {
    asm("{ .reg .pred less; .reg .b32 l, h; .reg .f64 old; mov.b64 old, {%0, %1}; mov.b64 {l, h}, %2;"
        " setp.lt.f64 less, %2, old; @less mad.lo.u32 %0, l, %3, 0; @less mad.lo.u32 %1, h, %3, 0; }"
        : "+r"(low), "+r"(high)
        : "d"(value), "r"(one));
  }
};

/* In builds for stress tests (-DCMAKE_CUDA_FLAGS=-DFDAPP_STRESS) one call in 256 takes some microseconds
 * longer, so that blocks which wait for one another meet early and late. */
__device__ __forceinline__ void stress_rest() {
#ifdef FDAPP_STRESS
  const unsigned random = (unsigned)clock64() * 2654435769U;
  if (random >> 24 == 0) __nanosleep(random >> 10 & 16383);
#endif
}

/* The device's clock, in nanoseconds. */
__device__ __forceinline__ unsigned long long clock_read() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

#endif
