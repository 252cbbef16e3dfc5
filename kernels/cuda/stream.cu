#include "device.cuh"

/* Streaming loops, which give the ceiling of operations. */

constexpr int STREAM_THREADS = 256;

struct stream_arrays {
  const real *in[KERNELS_STREAM_READS];
  real *out[KERNELS_STREAM_WRITES];
};

template <int READS, bool NONTEMPORAL>
__global__ void __launch_bounds__(STREAM_THREADS)
    stream_kernel(const __grid_constant__ stream_arrays s, const int writes, const size_t elements) {
  const size_t i = ((size_t)blockIdx.x * STREAM_THREADS + threadIdx.x) * VECTOR;
  if (i >= elements) return;
  if (i + VECTOR > elements) {
    for (size_t j = i; j < elements; j++) {
      real sum = s.in[0][j];
#pragma unroll
      for (int r = 1; r < READS; r++) sum += s.in[r][j];
      for (int w = 0; w < writes; w++) s.out[w][j] = sum;
    }
    return;
  }
  real in[READS][VECTOR];
#pragma unroll
  for (int r = 0; r < READS; r++) vector_load(s.in[r] + i, in[r]);
#pragma unroll
  for (int r = 1; r < READS; r++) {
#pragma unroll
    for (int v = 0; v < VECTOR; v++) in[0][v] += in[r][v];
  }
  for (int w = 0; w < writes; w++) {
    if constexpr (NONTEMPORAL) {
      __stcs(reinterpret_cast<vector_type *>(s.out[w] + i), *reinterpret_cast<vector_type *>(in[0]));
    } else {
      vector_store(s.out[w] + i, in[0]);
    }
  }
}

template <int READS> static status stream_launch(const kernels_launch *launch, const kernels_stream *what) {
  stream_arrays s = {};
  for (int r = 0; r < what->reads; r++) s.in[r] = static_cast<const real *>(what->in[r]);
  for (int w = 0; w < what->writes; w++) s.out[w] = static_cast<real *>(what->out[w]);
  constexpr size_t BLOCK = (size_t)STREAM_THREADS * VECTOR;
  const auto kernel = what->nontemporal ? stream_kernel<READS, true> : stream_kernel<READS, false>;
  kernel_launch(kernel, (unsigned)((what->elements + BLOCK - 1) / BLOCK), STREAM_THREADS, 0,
                launch_stream(launch), s, what->writes, what->elements);
  return context_launched(launch->context, launch->queue, "kernel stream");
}

extern "C" status NAME(stream)(const kernels_launch *launch, const kernels_stream *what) {
  static_assert(KERNELS_STREAM_READS == 5, "all numbers of arrays");
  return with_constant<1, 2, 3, 4, 5>(
      what->reads, [=](auto reads) { return stream_launch<decltype(reads)::value>(launch, what); });
}

extern "C" cudaError_t NAME(vector_image)(void) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, stream_kernel<1, false>);
}
