#ifndef FDAPP_EMULATED_MACHINE_CUH
#define FDAPP_EMULATED_MACHINE_CUH

#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <sched.h>
#include <type_traits>

/* kernels/cuda/machine.cuh for a CPU, so that the CUDA backend's own source gives its answers without a GPU,
 * slowly. Blocks run one after another, or, if they were launched together, take turns in a random order. A
 * block's threads take turns, each until it has to wait for others. The target of an asynchronous copy holds
 * NaN from the copy's start until its thread has waited for it: what is read too early, or overwritten too
 * early, shows. So does what nobody has written of the shared memory that a launch asks for.
 *
 * Not shown: what happens if threads of a block take turns in other orders than upwards and downwards; a
 * missing fence or acquire between blocks, because a write is seen by all at once; what the host sees while a
 * kernel runs; what the GPU's compiler makes of the source, and how fast it is. */

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

/* A launch whose blocks wait for one another. All of them take turns until all are done. The kernel must not
 * have __shared__ variables, which all blocks would share here; it uses block_memory. If nothing moves for a
 * long time, the program ends. */
void launch_together(dim3 grid, dim3 threads, size_t shared, const std::function<void()> &body);

/* By the running thread. poll: waits until the thread's next turn, and lets other threads and blocks have
 * theirs. wait_for_others: for another process, which may need this processor. warp_exchange: what lane
 * `lane` of the warp has given as its value. warp_votes: a bit for each lane. block_votes: a number that the
 * block's threads share. */
void poll();
void wait_for_others();
void block_wait();
int &block_votes();
void counter_tell(unsigned *counter);
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
using std::sqrt;

inline void __syncthreads() {
  machine::block_wait();
}
inline int __syncthreads_or(int vote) {
  int &votes = machine::block_votes();
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
  *blocks = std::getenv("FDAPP_EMULATED_NO_ROOM") == nullptr ? 1 : 0;
  return cudaSuccess;
}

template <class... Parameters, class... Arguments>
void kernel_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                   const Arguments &...arguments) {
  (void)cudaStreamSynchronize(stream);
  machine::launch(grid, block, shared, [=] { kernel(arguments...); });
}
template <class... Parameters, class... Arguments>
cudaError_t kernel_launch_together(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
                                   cudaStream_t stream, const Arguments &...arguments) {
  (void)cudaStreamSynchronize(stream);
  machine::launch_together(grid, block, shared, [=] { kernel(arguments...); });
  return cudaSuccess;
}

inline unsigned char *block_memory() {
  return machine::memory();
}
template <class T> T hidden(T number) {
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
template <class T> T constant_read(const T *from) {
  return *from;
}
template <class T> void cache_fetch(const T *) {}
template <class T> void copy_vector_where(bool wanted, T *to, const T *from) {
  if (wanted) copy_vector(to, from);
}
template <class T> void copy_element_where(bool wanted, T *to, const T *from) {
  if (wanted) copy_element(to, from);
}
template <class T, int N> void load_vector_where(bool wanted, const T *from, T (&to)[N]) {
  if (wanted) memcpy(to, from, sizeof to);
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
inline unsigned counter_read_acquire(const unsigned *counter) {
  machine::poll();
  return *counter;
}
inline void counter_tell(unsigned *counter) {
  machine::counter_tell(counter);
}
inline unsigned number_read(const unsigned *number) {
  const unsigned seen = __atomic_load_n(number, __ATOMIC_ACQUIRE);
  machine::wait_for_others();
  return seen;
}
inline void number_write(unsigned *number, unsigned value) {
  __atomic_store_n(number, value, __ATOMIC_RELEASE);
}
inline void fence_system() {}
inline void stress_rest() {} /* blocks rest anyway (machine.cpp) */
/* A thousand times as fast where a block is lost, so that the others need not wait for long. */
inline unsigned long long clock_read() {
  timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  const unsigned long long read =
      (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec;
  return std::getenv("FDAPP_EMULATED_LOST_BLOCK") == nullptr ? read : 1000 * read;
}

#endif
