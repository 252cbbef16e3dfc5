#ifndef FDAPP_EMULATED_BARRIER_CUH
#define FDAPP_EMULATED_BARRIER_CUH

#include <machine.cuh>

/* kernels/cuda/barrier.cuh for a CPU. Copies that arrive at a barrier land some turns after they were
 * started, not in the order of their start. A block whose threads all wait for barriers for ever ends the
 * program. */

struct alignas(8) barrier {
  short arrivals, missing;
  int phase;
};

namespace machine {

void barrier_arrive(barrier *b);
void barrier_arrive_copies(barrier *b);
void warp_wait();

} // namespace machine

inline void barrier_make(barrier *b, int arrivals) {
  *b = {(short)arrivals, (short)arrivals, 0};
}
inline void barriers_made() {}
inline void barrier_arrive(barrier *b) {
  machine::barrier_arrive(b);
}
inline void barrier_arrive_copies(barrier *b) {
  machine::barrier_arrive_copies(b);
}
inline void barrier_wait(const barrier *b, int parity) {
  while ((b->phase & 1) == parity) machine::poll();
}
inline void warp_wait() {
  machine::warp_wait();
}
template <int COUNT> void registers_give() {}
template <int COUNT> void registers_take() {}

#endif
