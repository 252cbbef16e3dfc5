#include "barrier.cuh"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <ucontext.h>
#include <vector>

struct cudaGraph : std::vector<std::function<void()>> {};
struct cudaGraphExec : cudaGraph {};

namespace machine {

dim3 thread(0), block(0), threads(1);

namespace {

constexpr size_t STACK = 256 << 10, SHARED = 256 << 10, MOST_THREADS = 1024, EXCHANGED = 64;
constexpr int WARP = 32;
constexpr long MOST_TURNS = 1000000;

enum class state { READY, POLLING, AT_WARP, AT_BLOCK, DONE };

struct copy_of {
  void *to;
  const void *from;
  size_t bytes;
};

/* A thread of the block: its own stack, and where it stands. Takes one block's work after the other. */
struct fiber {
  std::unique_ptr<unsigned char[]> stack;
  ucontext_t begin;
  sigjmp_buf at;
  state stands = state::DONE;
  dim3 index{0};
  unsigned char given[2][EXCHANGED]; /* the last two values: a lane may be one exchange ahead */
  int turn = 0;
  std::vector<std::vector<copy_of>> groups; /* the last one is open */
};

/* Copies that are on their way to a barrier, for so many turns of the block. */
struct late_copies {
  std::vector<copy_of> copies;
  barrier *to;
  int turns;
};

std::vector<fiber> fibers(MOST_THREADS);
std::vector<late_copies> late;
int running;
sigjmp_buf scheduler;
const std::function<void()> *job;
alignas(128) unsigned char shared_memory[SHARED];

void stand(state where) {
  fiber &f = fibers[running];
  f.stands = where;
  if (sigsetjmp(f.at, 0) == 0) siglongjmp(scheduler, 1);
}

void fiber_main() {
  while (true) {
    (*job)();
    stand(state::DONE);
  }
}

void fiber_begin(fiber &f) {
  f.stack.reset(new unsigned char[STACK]);
  getcontext(&f.begin);
  f.begin.uc_stack.ss_sp = f.stack.get();
  f.begin.uc_stack.ss_size = STACK;
  f.begin.uc_link = nullptr;
  makecontext(&f.begin, fiber_main, 0);
  setcontext(&f.begin);
}

void resume(int index) {
  fiber &f = fibers[index];
  running = index;
  thread = f.index;
  if (sigsetjmp(scheduler, 0) != 0) return;
  if (f.stack == nullptr) fiber_begin(f);
  siglongjmp(f.at, 1);
}

void open(int index) {
  fiber &f = fibers[index];
  const unsigned i = (unsigned)index;
  f.index = dim3(i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y);
  f.stands = state::READY;
  f.turn = 0;
  f.groups.resize(1);
  f.groups[0].clear();
}

/* Until all lanes from `first` on have left, wait for the block or poll. Whether any polls. */
bool warp_run(int first, int count, bool backwards) {
  while (true) {
    int exchanging = 0, elsewhere = 0, polling = 0;
    for (int k = 0; k < count; k++) {
      const int i = first + (backwards ? count - 1 - k : k);
      if (fibers[i].stands == state::READY) resume(i);
      exchanging += fibers[i].stands == state::AT_WARP;
      elsewhere += fibers[i].stands == state::AT_BLOCK;
      if (fibers[i].stands != state::POLLING) continue;
      fibers[i].stands = state::READY;
      polling++;
    }
    if (polling > 0 || exchanging == 0) return polling > 0;
    if (elsewhere != 0) {
      (void)fprintf(stderr, "some lanes of a warp exchange values, others wait for the block\n");
      abort();
    }
    for (int i = first; i < first + count; i++) {
      if (fibers[i].stands == state::AT_WARP) fibers[i].stands = state::READY;
    }
  }
}

/* Each group of copies when its time has come; the youngest first. */
void copies_land() {
  for (size_t i = late.size(); i-- > 0;) {
    if (--late[i].turns > 0) continue;
    for (const copy_of &c : late[i].copies) std::memcpy(c.to, c.from, c.bytes);
    machine::barrier_arrive(late[i].to);
    late.erase(late.begin() + (ptrdiff_t)i);
  }
}

/* All warps in turn, again and again as long as any polls. */
void turns_run(int count, bool backwards) {
  const int warps = (count + WARP - 1) / WARP;
  long idle = 0;
  for (bool polling = true; polling; copies_land()) {
    polling = false;
    for (int w = 0; w < warps; w++) {
      const int first = (backwards ? warps - 1 - w : w) * WARP;
      if (warp_run(first, std::min(WARP, count - first), backwards)) polling = true;
    }
    if (++idle < MOST_TURNS) continue;
    (void)fprintf(stderr, "a block waits for its barriers for ever\n");
    abort();
  }
}

/* Every second block backwards: what comes out right only if the first threads come first, shows. */
void block_run(int count) {
  static bool backwards;
  backwards = !backwards;
  for (int i = 0; i < count; i++) open(i);
  for (int waiting = count; waiting > 0;) {
    turns_run(count, backwards);
    waiting = 0;
    for (int i = 0; i < count; i++) {
      if (fibers[i].stands != state::AT_BLOCK) continue;
      fibers[i].stands = state::READY;
      waiting++;
    }
  }
}

void run(dim3 grid, dim3 threads_, size_t shared, const std::function<void()> &body) {
  job = &body;
  threads = threads_;
  const size_t count = (size_t)threads.x * threads.y * threads.z;
  if (count > MOST_THREADS || shared > SHARED) {
    (void)fprintf(stderr, "%zu threads with %zu bytes do not fit\n", count, shared);
    abort();
  }
  for (block.z = 0; block.z < grid.z; block.z++) {
    for (block.y = 0; block.y < grid.y; block.y++) {
      for (block.x = 0; block.x < grid.x; block.x++) {
        std::memset(shared_memory, 0xff, shared); /* NaN */
        block_run((int)count);
      }
    }
  }
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

void block_wait() {
  stand(state::AT_BLOCK);
}

int lane() {
  return running % WARP;
}

const void *warp_exchange(const void *value, size_t bytes, int lane) {
  const int turn = fibers[running].turn;
  const int first = running - running % WARP;
  std::memcpy(fibers[running].given[turn], value, bytes);
  fibers[running].turn = 1 - turn;
  stand(state::AT_WARP);
  return fibers[first + lane].given[turn];
}

unsigned char *memory() {
  return shared_memory;
}

void copy_start(void *to, const void *from, size_t bytes) {
  std::memset(to, 0xff, bytes); /* NaN */
  fibers[running].groups.back().push_back({to, from, bytes});
}

void barrier_arrive(barrier *b) {
  if (b->missing <= 0) {
    (void)fprintf(stderr, "more arrivals than a barrier was made for\n");
    abort();
  }
  if (--b->missing > 0) return;
  b->missing = b->arrivals;
  b->phase++;
}

void barrier_arrive_copies(barrier *b) {
  static unsigned random = 1;
  auto &open = fibers[running].groups.back();
  random = random * 1664525U + 1013904223U;
  late.push_back({open, b, 1 + (int)(random >> 30)});
  open.clear();
}

void poll() {
  stand(state::POLLING);
}

void warp_wait() {
  stand(state::AT_WARP);
}

void copy_commit() {
  fibers[running].groups.emplace_back();
}

void copy_wait(int pending) {
  auto &groups = fibers[running].groups;
  const int done = (int)groups.size() - 1 - pending;
  for (int g = 0; g < done; g++) {
    for (const copy_of &c : groups[g]) std::memcpy(c.to, c.from, c.bytes);
  }
  if (done > 0) groups.erase(groups.begin(), groups.begin() + done);
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
