#include "barrier.cuh"
extern "C" {
#include "launched.h"
emulated_launches emulated_launched;
}

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

constexpr size_t STACK = 256 << 10, SHARED = 256 << 10, MOST_THREADS = 1024, EXCHANGED = 64, LINE = 64;
constexpr int WARP = 32;
constexpr long MOST_TURNS = 1000000;
constexpr unsigned MOST_LATE = 256; /* rounds after which a block begins whose launch others have begun */
constexpr int MOST_STILL = 20000; /* rounds without progress; copies are late by a few, blocks by MOST_LATE */

/* FRESH: has not begun. */
enum class state : unsigned char { FRESH, READY, POLLING, AT_WARP, AT_BLOCK, DONE };

struct copy_of {
  void *to;
  const void *from;
  size_t bytes;
};

/* Holds where a thread goes on, for __builtin_setjmp, which keeps three registers and no mask of signals.
 * Threads take turns some hundred million times in a test. */
struct place {
  void *words[5];
};

/* A thread of the block. */
struct lane_state {
  place at;
  int turn;
  unsigned char given[2][EXCHANGED]; /* the last two values: a lane may be one exchange ahead */
  std::vector<copy_of> copies;       /* that it started and has not waited for, in their order */
  std::vector<size_t> groups;        /* where each group of them ends that is closed */
};

/* Copies that are on their way to a barrier, for so many turns of the block. */
struct late_copies {
  std::vector<copy_of> copies;
  barrier *to;
  int turns;
};

struct alignas(128) line {
  unsigned char bytes[128];
};

/* A block in flight. Blocks launched together exist at the same time. */
struct block_state {
  std::vector<lane_state> lanes;
  std::vector<state> stands; /* of each thread */
  std::vector<late_copies> late;
  std::vector<line> memory;
  dim3 index{0};
  bool backwards = false;
  int votes = 0;
  unsigned resting = 0; /* rounds until its next turn */
};

block_state alone;                 /* runs every block of an ordinary launch */
std::vector<block_state> together; /* as many as any launch together had blocks */
block_state *here;                 /* the block whose turn it is */
lane_state *lanes;                 /* of this block, as `stands` is: threads use them at each turn */
state *stands;
long moves; /* counts arrivals, told counters and turns in which no thread polled: signs of progress */
std::vector<dim3> indices(MOST_THREADS, dim3(0));
int running, step, stop; /* the running thread; its warp's others come in steps up to `stop` */
std::vector<std::unique_ptr<unsigned char[]>> stacks;
std::vector<place *> idle; /* stacks without a thread */
place scheduler;
const std::function<void()> *job;

/* In a function of its own: GCC does not see that a jump may lead back into the same function. */
[[gnu::noipa, noreturn]] void go(place &to) {
  __builtin_longjmp(to.words, 1);
}

void take(int index) {
  running = index;
  thread = indices[index];
  if (stands[index] != state::FRESH) return;
  lanes[index].turn = 0;
  lanes[index].copies.clear();
  lanes[index].groups.clear();
}

void stack_main();

/* Stacks begin in different lines of the cache, or their ends would drive one another out. */
[[noreturn]] void stack_begin() {
  ucontext_t begin;
  stacks.emplace_back(new unsigned char[STACK]);
  getcontext(&begin);
  begin.uc_stack.ss_sp = stacks.back().get();
  begin.uc_stack.ss_size = STACK - stacks.size() * 9 % 64 * LINE;
  begin.uc_link = nullptr;
  makecontext(&begin, stack_main, 0);
  setcontext(&begin);
  abort();
}

[[noreturn]] void enter(int index) {
  take(index);
  if (stands[index] != state::FRESH) go(lanes[index].at);
  if (idle.empty()) stack_begin();
  place &to = *idle.back();
  idle.pop_back();
  go(to);
}

/* The warp's next thread, or the scheduler if that one has to wait. */
[[gnu::noipa, noreturn]] void leave() {
  const int next = running + step;
  if (next != stop && stands[next] <= state::READY) enter(next);
  go(scheduler);
}

[[gnu::noinline]] void stand(state where) {
  stands[running] = where;
  if (__builtin_setjmp(lanes[running].at.words) == 0) leave();
}

[[gnu::noinline]] void rest() {
  place here;
  idle.push_back(&here);
  if (__builtin_setjmp(here.words) == 0) leave();
}

/* One thread after the other, as long as they need not wait. */
void stack_main() {
  while (true) {
    (*job)();
    stands[running] = state::DONE;
    const int next = running + step;
    if (next != stop && stands[next] == state::FRESH) {
      take(next);
    } else {
      rest();
    }
  }
}

[[gnu::noinline]] void resume(int index) {
  if (__builtin_setjmp(scheduler.words) == 0) enter(index);
}

/* Until all lanes from `first` on have left, wait for the block or poll. Whether any polls. */
bool warp_run(int first, int count, bool backwards) {
  step = backwards ? -1 : 1;
  stop = backwards ? first - 1 : first + count;
  while (true) {
    int exchanging = 0, elsewhere = 0, polling = 0;
    for (int k = 0; k < count; k++) {
      const int i = first + (backwards ? count - 1 - k : k);
      if (stands[i] <= state::READY) resume(i);
      exchanging += stands[i] == state::AT_WARP;
      elsewhere += stands[i] == state::AT_BLOCK;
      if (stands[i] != state::POLLING) continue;
      stands[i] = state::READY;
      polling++;
    }
    if (polling > 0 || exchanging == 0) return polling > 0;
    if (elsewhere != 0) {
      (void)fprintf(stderr, "some lanes of a warp exchange values, others wait for the block\n");
      abort();
    }
    for (int i = first; i < first + count; i++) {
      if (stands[i] == state::AT_WARP) stands[i] = state::READY;
    }
  }
}

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

/* Returns a number below `end`. */
unsigned random_below(unsigned end) {
  static unsigned random = 1;
  random = random * 1664525U + 1013904223U;
  return (unsigned)((unsigned long long)random * end >> 32);
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

/* Prepares a launch. Returns how many threads a block has. */
int threads_set(dim3 threads_, size_t shared, const std::function<void()> &body) {
  job = &body;
  threads = threads_;
  const size_t count = (size_t)threads.x * threads.y * threads.z;
  if (count > MOST_THREADS || shared > SHARED) {
    (void)fprintf(stderr, "%zu threads with %zu bytes do not fit\n", count, shared);
    abort();
  }
  for (unsigned i = 0; i < count; i++) {
    indices[i] = dim3(i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y);
  }
  return (int)count;
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

void block_wait() {
  stand(state::AT_BLOCK);
}

int &block_votes() {
  return here->votes;
}

void counter_tell(unsigned *counter) {
  ++*counter;
  moves++;
}

int lane() {
  return running % WARP;
}

/* Returns which of the last two values it is. */
static int give(const void *value, size_t bytes) {
  const int turn = lanes[running].turn;
  std::memcpy(lanes[running].given[turn], value, bytes);
  lanes[running].turn = 1 - turn;
  stand(state::AT_WARP);
  return turn;
}

const void *warp_exchange(const void *value, size_t bytes, int lane) {
  const int turn = give(value, bytes);
  return lanes[running - running % WARP + lane].given[turn];
}

unsigned warp_votes(bool vote) {
  const int turn = give(&vote, sizeof vote);
  const int first = running - running % WARP;
  unsigned votes = 0;
  for (int lane = 0; lane < WARP; lane++)
    votes |= (unsigned)(lanes[first + lane].given[turn][0] != 0) << lane;
  return votes;
}

unsigned char *memory() {
  return here->memory.data()->bytes;
}

void copy_start(void *to, const void *from, size_t bytes) {
  lanes[running].copies.push_back({to, from, bytes});
}

void barrier_arrive(barrier *b) {
  if (b->missing <= 0) {
    (void)fprintf(stderr, "more arrivals than a barrier was made for\n");
    abort();
  }
  moves++;
  if (--b->missing > 0) return;
  b->missing = b->arrivals;
  b->phase++;
}

void barrier_arrive_copies(barrier *b) {
  lane_state &f = lanes[running];
  const auto open = f.copies.begin() + (f.groups.empty() ? 0 : (ptrdiff_t)f.groups.back());
  here->late.push_back({{open, f.copies.end()}, b, 1 + (int)random_below(4)});
  f.copies.erase(open, f.copies.end());
}

void poll() {
  stand(state::POLLING);
}

/* Blocks launched together go on meanwhile. This is no sign that nothing moves. */
void wait_for_others() {
  (void)sched_yield();
  if (here == &alone) return;
  moves++;
  poll();
}

void warp_wait() {
  stand(state::AT_WARP);
}

void copy_commit() {
  lanes[running].groups.push_back(lanes[running].copies.size());
}

void copy_wait(int pending) {
  lane_state &f = lanes[running];
  const int done = (int)f.groups.size() - pending;
  if (done <= 0) return;
  const size_t landed = f.groups[done - 1];
  for (size_t i = 0; i < landed; i++) std::memcpy(f.copies[i].to, f.copies[i].from, f.copies[i].bytes);
  f.copies.erase(f.copies.begin(), f.copies.begin() + (ptrdiff_t)landed);
  f.groups.erase(f.groups.begin(), f.groups.begin() + done);
  for (size_t &end : f.groups) end -= landed;
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
