#include "barrier.cuh"

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

std::vector<lane_state> lanes(MOST_THREADS);
std::vector<dim3> indices(MOST_THREADS, dim3(0));
state stands[MOST_THREADS];
int running, step, stop; /* the running thread; its warp's others come in steps up to `stop` */
std::vector<late_copies> late;
std::vector<std::unique_ptr<unsigned char[]>> stacks;
std::vector<place *> idle; /* stacks without a thread */
place scheduler;
const std::function<void()> *job;
alignas(128) unsigned char shared_memory[SHARED];

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
  std::fill_n(stands, count, state::FRESH);
  for (int waiting = count; waiting > 0;) {
    turns_run(count, backwards);
    waiting = 0;
    for (int i = 0; i < count; i++) {
      if (stands[i] != state::AT_BLOCK) continue;
      stands[i] = state::READY;
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
  for (unsigned i = 0; i < count; i++) {
    indices[i] = dim3(i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y);
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
  return shared_memory;
}

void copy_start(void *to, const void *from, size_t bytes) {
  lanes[running].copies.push_back({to, from, bytes});
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
  lane_state &f = lanes[running];
  const auto open = f.copies.begin() + (f.groups.empty() ? 0 : (ptrdiff_t)f.groups.back());
  random = random * 1664525U + 1013904223U;
  late.push_back({{open, f.copies.end()}, b, 1 + (int)(random >> 30)});
  f.copies.erase(open, f.copies.end());
}

void poll() {
  stand(state::POLLING);
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
