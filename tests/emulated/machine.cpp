#include "turns.h"
extern "C" {
#include "launched.h"
emulated_launches emulated_launched;
}

#include <cstdio>

/* Blocks, launches, and graphs, which are launches that were recorded. */

struct cudaGraph : std::vector<std::function<void()>> {};
struct cudaGraphExec : cudaGraph {};

namespace machine {

dim3 block(0);
block_state alone, *here;
long moves;

namespace {

constexpr long MOST_TURNS = 1000000;
constexpr unsigned MOST_LATE = 256; /* rounds after which a block begins whose launch others have begun */
constexpr int MOST_STILL = 20000; /* rounds without progress; copies are late by a few, blocks by MOST_LATE */

std::vector<block_state> together; /* as many as any launch together had blocks */

/* Each group of copies of this block when its time has come; the youngest first. */
void copies_land() {
  std::vector<late_copies> &late = here->late;
  for (size_t i = late.size(); i-- > 0;) {
    if (--late[i].turns > 0) continue;
    for (const copy_of &c : late[i].copies) std::memcpy(c.to, c.from, c.bytes);
    machine::barrier_arrive(late[i].to);
    late.erase(late.begin() + (ptrdiff_t)i);
  }
}

void block_take(block_state &to) {
  here = &to;
  lanes = to.lanes.data();
  stands = to.stands.data();
  block = to.index;
}

/* Every second block backwards: what comes out right only if the first threads come first, shows. */
void block_begin(block_state &b, dim3 index, int count, size_t shared) {
  static bool backwards;
  backwards = !backwards;
  b.backwards = backwards;
  b.index = index;
  b.late.clear();
  b.resting = 0;
  if (b.lanes.size() < (size_t)count) b.lanes.resize(count);
  if (b.stands.size() < (size_t)count) b.stands.resize(count);
  std::fill_n(b.stands.begin(), count, state::FRESH);
  if (b.memory.size() * sizeof(line) < shared) b.memory.resize((shared + sizeof(line) - 1) / sizeof(line));
  if (shared > 0) std::memset(b.memory.data()->bytes, 0xff, shared); /* NaN */
}

/* Runs each warp of this block once. Returns true if a thread polls. */
bool turn_run(int count) {
  const int warps = (count + WARP - 1) / WARP;
  const bool backwards = here->backwards;
  bool polling = false;
  for (int w = 0; w < warps; w++) {
    const int first = (backwards ? warps - 1 - w : w) * WARP;
    if (warp_run(first, std::min(WARP, count - first), backwards)) polling = true;
  }
  copies_land();
  return polling;
}

/* Once no thread polls: ends the wait of all threads that wait for the block. Returns false if the block is
 * done. */
bool block_resume(int count) {
  bool any = false;
  for (int i = 0; i < count; i++) {
    if (stands[i] != state::AT_BLOCK) continue;
    stands[i] = state::READY;
    any = true;
  }
  return any;
}

/* One block alone: turns until all threads wait for the block or are done, and so on. */
void block_run(int count) {
  do {
    long idle = 0;
    while (turn_run(count)) {
      if (++idle < MOST_TURNS) continue;
      (void)fprintf(stderr, "a block waits for its barriers for ever\n");
      abort();
    }
  } while (block_resume(count));
}

/* Blocks launched together. In each round every block that is not done has one turn, in a random order. Now
 * and then a block rests for some rounds: in lockstep, a wait for too few of the others would not show. */
void blocks_run(std::vector<block_state *> blocks, int count) {
  long before = moves;
  for (int still = 0; !blocks.empty(); still++) {
    for (size_t i = blocks.size(); i > 1; i--) std::swap(blocks[i - 1], blocks[random_below((unsigned)i)]);
    for (block_state *&b : blocks) {
      if (b->resting > 0) {
        b->resting--;
        continue;
      }
      if (random_below(8) == 0) b->resting = random_below(8);
      block_take(*b);
      if (turn_run(count)) continue;
      moves++;
      if (!block_resume(count)) b = nullptr;
    }
    blocks.erase(std::remove(blocks.begin(), blocks.end(), nullptr), blocks.end());
    if (moves != before) still = 0;
    before = moves;
    if (still < MOST_STILL) continue;
    (void)fprintf(stderr, "blocks wait for one another for ever\n");
    abort();
  }
}

/* All blocks of a grid, x fastest. */
template <class Each> void blocks_each(dim3 grid, const Each &each) {
  for (unsigned z = 0; z < grid.z; z++) {
    for (unsigned y = 0; y < grid.y; y++) {
      for (unsigned x = 0; x < grid.x; x++) each(dim3(x, y, z));
    }
  }
}

void run(dim3 grid, dim3 threads_, size_t shared, const std::function<void()> &body) {
  const int count = threads_set(threads_, shared, body);
  blocks_each(grid, [&](dim3 index) {
    block_begin(alone, index, count, shared);
    block_take(alone);
    block_run(count);
  });
}

void run_together(dim3 grid, dim3 threads_, size_t shared, const std::function<void()> &body) {
  const int count = threads_set(threads_, shared, body);
  const size_t most = (size_t)grid.x * grid.y * grid.z;
  std::vector<block_state *> blocks;
  if (together.size() < most) together.resize(most);
  emulated_launched.together++;
  emulated_launched.most_blocks = std::max(emulated_launched.most_blocks, (int)most);
  blocks_each(grid, [&](dim3 index) {
    blocks.push_back(&together[blocks.size()]);
    block_begin(*blocks.back(), index, count, shared);
  });
  /* now and then the last one begins late: it may have work of its own, for which others wait only at their
   * end */
  if (random_below(4) == 0) blocks.back()->resting = random_below(MOST_LATE);
  if (getenv("FDAPP_EMULATED_LOST_BLOCK") != nullptr) blocks.erase(blocks.begin());
  blocks_run(std::move(blocks), count);
}

cudaGraph *recording;

} // namespace

void launch(dim3 grid, dim3 threads_, size_t shared, const std::function<void()> &body) {
  if (recording == nullptr) {
    run(grid, threads_, shared, body);
  } else {
    recording->push_back([=] { run(grid, threads_, shared, body); });
  }
}

void launch_together(dim3 grid, dim3 threads_, size_t shared, const std::function<void()> &body) {
  if (recording == nullptr) {
    run_together(grid, threads_, shared, body);
  } else {
    recording->push_back([=] { run_together(grid, threads_, shared, body); });
  }
}
} // namespace machine

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
  *status = machine::recording == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  machine::recording = new cudaGraph;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  *graph = machine::recording;
  machine::recording = nullptr;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                          unsigned long long) {
  *executable = new cudaGraphExec{*graph};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (const auto &kernel : *executable) kernel();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
