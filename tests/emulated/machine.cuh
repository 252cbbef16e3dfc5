#ifndef FDAPP_EMULATED_MACHINE_CUH
#define FDAPP_EMULATED_MACHINE_CUH

#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>
#include <sched.h>
#include <type_traits>

/* kernels/cuda/machine.cuh for a CPU, so that the CUDA backend's own source gives its answers without a GPU,
 * slowly. Blocks run one after another; a block's threads take turns, each until it has to wait for others.
 * The target of an asynchronous copy holds NaN from the copy's start until its thread has waited for it: what
 * is read too early, or overwritten too early, shows. So does what nobody has written of the shared memory
 * that a launch asks for.
 *
 * Not shown: what happens if threads take turns in other orders than upwards and downwards, what blocks and
 * the host see of one another while a kernel runs, what the GPU's compiler makes of the source, and how fast
 * it is. */

struct uint2 {
  unsigned x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}

namespace machine {

extern dim3 thread, block, threads; /* threadIdx, blockIdx, blockDim */

/* A launch, run or, in a recording, kept: `body` by every thread of every block, with `shared` bytes for each
 * block. */
void launch(dim3 grid, dim3 threads, size_t shared, const std::function<void()> &body);

/* By the running thread. warp_exchange: what lane `lane` of the warp has given as its value. warp_votes: a
 * bit for each lane. */
void block_wait();
const void *warp_exchange(const void *value, size_t bytes, int lane);
unsigned warp_votes(bool vote);
int lane();
unsigned char *memory();
void copy_start(void *to, const void *from, size_t bytes);
void copy_commit();
void copy_wait(int pending);

template <class T> T exchanged(T value, int lane) {
  T other;
  std::memcpy(&other, warp_exchange(&value, sizeof value, lane), sizeof other);
  return other;
}

} // namespace machine

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx machine::thread
#define blockIdx  machine::block
#define blockDim  machine::threads
using std::fma;
using std::max;
using std::min;

inline void __syncthreads() {
  machine::block_wait();
}
inline int __syncthreads_or(int vote) {
  static int votes;
  votes |= vote;
  machine::block_wait();
  const int result = votes;
  machine::block_wait();
  votes = 0;
  machine::block_wait();
  return result;
}
inline void __threadfence() {}
inline void __threadfence_system() {}
template <class T> T atomicAdd(T *word, T value) {
  const T before = *word;
  *word += value;
  return before;
}
template <class T> T __shfl_sync(unsigned, T value, int lane) {
  return machine::exchanged(value, lane & 31);
}
template <class T> T __shfl_down_sync(unsigned, T value, int delta) {
  const int lane = machine::lane() + delta;
  return machine::exchanged(value, lane < 32 ? lane : machine::lane());
}
inline unsigned __ballot_sync(unsigned, int vote) {
  return machine::warp_votes(vote != 0);
}
inline int __popc(unsigned word) {
  return __builtin_popcount(word);
}
inline int __ffs(int word) {
  return __builtin_ffs(word);
}
inline double __longlong_as_double(long long bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
/* kernels/cuda/machine.cuh has two registers here. */
struct double_halves {
  double value;

  void set(double number) {
    value = number;
  }
  double get() const {
    return value;
  }
  void lower(double number, unsigned one) {
    if (number < value) value = number * one;
  }
};
template <class T> void __stcs(T *to, T value) {
  *to = value;
}

template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel *, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <class Kernel> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, Kernel *) {
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int, size_t) {
  *blocks = 1;
  return cudaSuccess;
}

template <class... Parameters, class... Arguments>
void kernel_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t,
                   const Arguments &...arguments) {
  machine::launch(grid, block, shared, [=] { kernel(arguments...); });
}

inline unsigned char *block_memory() {
  return machine::memory();
}
inline ptrdiff_t hidden(ptrdiff_t number) {
  return number;
}
template <class T> void copy_vector(T *to, const T *from) {
  std::memset(to, 0xff, 16); /* NaN */
  machine::copy_start(to, from, 16);
}
template <class T> void copy_element(T *to, const T *from) {
  std::memset(to, 0xff, sizeof(T));
  machine::copy_start(to, from, sizeof(T));
}
template <class T> void copy_vector_where(bool wanted, T *to, const T *from) {
  if (wanted) copy_vector(to, from);
}
template <class T> void copy_element_where(bool wanted, T *to, const T *from) {
  if (wanted) copy_element(to, from);
}
template <class T, int N> void store_vector_where(bool wanted, T *to, const T (&from)[N]) {
  if (wanted) std::memcpy(to, from, sizeof from);
}
inline void copy_commit() {
  machine::copy_commit();
}
template <int PENDING> void copy_wait() {
  machine::copy_wait(PENDING);
}
inline unsigned counter_read(const unsigned *counter) {
  return *counter;
}
inline void counter_add(unsigned *counter, unsigned steps) {
  *counter += steps;
}
/* Of another process, which may need this processor. */
inline unsigned number_read(const unsigned *number) {
  const unsigned seen = __atomic_load_n(number, __ATOMIC_ACQUIRE);
  (void)sched_yield();
  return seen;
}
inline void number_write(unsigned *number, unsigned value) {
  __atomic_store_n(number, value, __ATOMIC_RELEASE);
}
inline void fence_system() {}
inline unsigned long long clock_read() {
  timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec;
}

#endif
