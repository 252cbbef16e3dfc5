#include "barrier.cuh"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Blocks that wait for one another, on the emulated device. An argument: the waits that never end must end
 * the program. */

namespace {

constexpr unsigned BLOCKS = 9, THREADS = 96, ROUNDS = 20, SLOT = 4; /* doubles of a block in each round */

struct job {
  double *values;     /* [ROUNDS][BLOCKS][SLOT] */
  unsigned *counters; /* of each round */
  unsigned *wrong;
  unsigned expected; /* tells in a round */
};

double value_of(unsigned round, unsigned block) {
  return 100.0 * round + block;
}

double *slot(const job &j, unsigned round, unsigned block) {
  return &j.values[(round * BLOCKS + block) * SLOT];
}

/* The last warp copies the neighbour's values, the others wait for the copies at a barrier. */
void copies(job j) {
  unsigned char *memory = block_memory();
  double *copied = reinterpret_cast<double *>(memory + 128);
  barrier *filled = reinterpret_cast<barrier *>(memory), *emptied = filled + 1;
  const unsigned own = blockIdx.x, next = (own + 1) % BLOCKS;
  if (threadIdx.x == 0) {
    barrier_make(filled, 2);
    barrier_make(emptied, (int)THREADS - 32);
    barriers_made();
    if (!std::isnan(copied[0])) ++*j.wrong;
  }
  __syncthreads();
  for (unsigned r = 0; r < ROUNDS; r++) {
    if (threadIdx.x < THREADS - 32) {
      if (threadIdx.x == 0) {
        for (unsigned i = 0; i < SLOT; i++) slot(j, r, own)[i] = value_of(r, own) + i;
        counter_tell(&j.counters[r]);
      }
      barrier_wait(filled, (int)r & 1);
      for (unsigned i = 0; i < SLOT; i++) *j.wrong += copied[i] != value_of(r, next) + i;
      barrier_arrive(emptied);
    } else if (threadIdx.x < THREADS - 30) {
      const unsigned i = 2 * (threadIdx.x & 31);
      barrier_wait(emptied, (int)(r + 1) & 1);
      while (counter_read_acquire(&j.counters[r]) < j.expected) {
      }
      copy_vector(&copied[i], &slot(j, r, next)[i]);
      barrier_arrive_copies(filled);
    }
  }
}

/* As above, with waits of whole blocks; the values go round from block to block. */
void waits(job j) {
  double *received = reinterpret_cast<double *>(block_memory());
  const unsigned own = blockIdx.x, next = (own + 1) % BLOCKS;
  for (unsigned r = 0; r < ROUNDS; r++) {
    if (threadIdx.x < SLOT) slot(j, r, own)[threadIdx.x] = r == 0 ? own : received[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      counter_tell(&j.counters[r]);
      while (counter_read_acquire(&j.counters[r]) < j.expected) {
      }
    }
    *j.wrong += __syncthreads_or(threadIdx.x == own) != 1;
    *j.wrong += __syncthreads_or(0) != 0;
    if (threadIdx.x < SLOT) received[threadIdx.x] = slot(j, r, next)[threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.x < SLOT) *j.wrong += received[threadIdx.x] != (own + ROUNDS) % BLOCKS;
}

unsigned run(void (*kernel)(job), unsigned expected, bool recorded) {
  std::vector<double> values(ROUNDS * BLOCKS * SLOT, -1);
  std::vector<unsigned> counters(ROUNDS);
  unsigned wrong = 0;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStream_t stream = nullptr;
  const job j = {values.data(), counters.data(), &wrong, expected};
  if (recorded) (void)cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  (void)kernel_launch_together(kernel, dim3(BLOCKS), dim3(THREADS), 256, stream, j);
  if (!recorded) return wrong;
  if (counters[0] != 0) wrong++;
  (void)cudaStreamEndCapture(stream, &graph);
  (void)cudaGraphInstantiateWithFlags(&executable, graph, 0);
  (void)cudaGraphLaunch(executable, stream);
  (void)cudaGraphExecDestroy(executable);
  (void)cudaGraphDestroy(graph);
  return wrong + (counters[0] != BLOCKS);
}

} // namespace

int main(int argc, char **) {
  if (argc > 1) {
    (void)std::signal(SIGABRT, [](int) { std::_Exit(1); }); /* ctest fails any test that a signal ends */
    return (int)run(copies, BLOCKS + 1, false);
  }
  unsigned wrong = 0;
  for (const bool recorded : {false, true}) {
    for (int k = 0; k < 10; k++) wrong += run(copies, BLOCKS, recorded) + run(waits, BLOCKS, recorded);
  }
  (void)printf("%u wrong\n", wrong);
  return wrong != 0;
}
