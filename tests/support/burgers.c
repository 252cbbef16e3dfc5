#include "burgers.h"

#include "pairs.h"

#include "burgers_pairs.h"

LINE_INLINE void pair(const void *numbers, int d, int l, int up, const number *own, const number *other,
                      number *sums) {
  burgers_pair(numbers, d, l, up, own, other, sums);
}

LINE_INLINE void finish(const void *numbers, const number *own, number *sums, const number *at, int points,
                        number *out) {
  (void)own;
  (void)points;
  burgers_finish(numbers, sums, at, out);
}

static void patch_of(const void *job, const cpu_patch *patch) {
  pairs_patch((pairs_system){.reads = 1, .sums = 1, .outputs = 1, .pair = pair, .finish = finish}, job,
              patch);
}

status CPU_NAME(burgers_cpu_)(const kernels_launch *launch, const void *f, const void *base, double weight,
                              void *out) {
  const burgers_numbers numbers = burgers_numbers_make(launch->stencil, weight);
  pairs_job job = {
      .frame = frame_make(launch), .numbers = &numbers, .in = {f}, .at = {base}, .points = 1, .out = {out}};
  return tiles_run(launch, pairs_plan(1, 1, 1), patch_of, &job);
}
