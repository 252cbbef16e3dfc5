#include "edges.cuh"

/* A meeting of neighbouring ranks (kernels_meeting): one thread tells the neighbours and waits for them. */
__global__ void meet_kernel(const __grid_constant__ meeting m) {
  const unsigned number = m.count() + 1;
  fence_system();
  m.tell(number);
  m.wait(number);
}

extern "C" status NAME(meet)(kernels_context *context, kernels_queue queue, const kernels_meeting *meeting) {
  kernel_launch(meet_kernel, 1, 1, 0, context->stream[queue], meeting_of(context, meeting));
  return context_launched(context, queue, "kernel meeting");
}
