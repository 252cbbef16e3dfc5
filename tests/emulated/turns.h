#ifndef FDAPP_EMULATED_TURNS_H
#define FDAPP_EMULATED_TURNS_H

#include "barrier.cuh"

#include <vector>

/* Threads and blocks on the emulated device, for the three files of the emulation. machine.cpp launches
 * kernels and decides which block has a turn. turns.cpp runs the threads of that block, each on a stack of
 * its own. calls.cpp is what a kernel calls, and where a thread gives up its turn. */

namespace machine {

constexpr size_t EXCHANGED = 64;
constexpr int WARP = 32;

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

extern block_state alone; /* runs every block of an ordinary launch */
extern block_state *here; /* the block whose turn it is */
extern lane_state *lanes; /* of this block, as `stands` is: threads use them at each turn */
extern state *stands;
extern int running; /* the running thread */
extern long moves; /* counts arrivals, told counters and turns in which no thread polled: signs of progress */

/* Prepares a launch. Returns how many threads a block has. */
int threads_set(dim3 threads, size_t shared, const std::function<void()> &body);

/* Runs threads of this block until all from `first` on have left, wait for the block or poll. Returns true if
 * any polls. */
bool warp_run(int first, int count, bool backwards);

/* Ends the running thread's turn, for the reason given. Returns at its next turn. */
void stand(state where);

/* Returns a number below `end`. */
unsigned random_below(unsigned end);

} // namespace machine

#endif
