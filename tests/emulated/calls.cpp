#include "turns.h"

#include <cstdio>

/* The calls of a kernel on the emulated device: waits, exchanges within a warp, copies. */

namespace machine {

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

/* Blocks launched together go on meanwhile, so this wait does not count as standing still. */
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
