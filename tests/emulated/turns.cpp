#include "turns.h"

#include <cstdio>
#include <memory>
#include <ucontext.h>

/* The threads of a block take turns, each on a stack of its own. A warp's threads come one after another. */

namespace machine {

dim3 thread(0), threads(1);
lane_state *lanes;
state *stands;
int running;

namespace {

constexpr size_t STACK = 256 << 10, SHARED = 256 << 10, MOST_THREADS = 1024, LINE = 64;

std::vector<dim3> indices(MOST_THREADS, dim3(0));
int step, stop; /* the running thread's warp has others, which come in steps up to `stop` */
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

} // namespace

[[gnu::noinline]] void stand(state where) {
  stands[running] = where;
  if (__builtin_setjmp(lanes[running].at.words) == 0) leave();
}

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

unsigned random_below(unsigned end) {
  static unsigned random = 1;
  random = random * 1664525U + 1013904223U;
  return (unsigned)((unsigned long long)random * end >> 32);
}

} // namespace machine
