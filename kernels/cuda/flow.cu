#include "pairs_march.cuh"

#include "flow_damping.h"
#include "flow_figures.h"
#include "flow_largest.cuh"

/* Compressible flow on the engine of pairs.cuh: the stage of each form and law of viscosity, the first pass,
 * and figures. */

/* Tiles of the engine that marches: columns, rows, columns of a thread and neighbours in a loop's turn, the
 * fastest that were tried. More rows, or two columns with double precision or with viscosity, cost more in
 * spilled registers. */
template <class System>
using inviscid_tile = march_tile<System, SINGLE ? 64 : 32, 12, SINGLE ? 2 : 1, SINGLE ? HALO : 2>;
template <class System> using viscous_tile = march_tile<System, 32, SINGLE ? 16 : 8, 1>;
template <class System> using first_tile = march_tile<System, SINGLE ? 64 : 32, 16, SINGLE ? 2 : 1>;

template <int FORM, int LAW> struct flow_stage : pairs_system {
  using numbers = flow_numbers;
  static constexpr bool WARM = FORM == FLOW_KEEP || FORM == FLOW_KENNEDY_GRUBER;
  static constexpr int WORKS = LAW != FLOW_INVISCID ? LAW + 1 : WARM;
  static constexpr unsigned READS = (1U << (FLOW_UNKNOWNS + WORKS)) - 1;
  static constexpr int SUMS = LAW == FLOW_INVISCID   ? (int)FLOW_THETA + 1
                              : LAW == FLOW_CONSTANT ? (int)FLOW_DIFF_THETA
                                                     : (int)FLOW_SUMS;
  static constexpr int POINTS = FLOW_UNKNOWNS, OUTPUTS = FLOW_UNKNOWNS;
  static constexpr bool FULL = LAW == FLOW_CONSTANT && !SINGLE; /* registers do not hold all */
  static constexpr unsigned ASIDE = FULL ? 1U << FLOW_READ_RATIO | 1U << FLOW_READ_THETA : 0;
  static constexpr unsigned ASIDE_SUMS = FULL ? 1U << FLOW_G | 3U << (FLOW_G + 6) : 0;
  static constexpr bool COUPLES = true;
  static __device__ __forceinline__ void across(real *sums) {
    flow_across(LAW, sums);
  }
  static __device__ __forceinline__ void pair(const numbers &c, int d, int l, bool up, const real *own,
                                              const real *other, real *sums) {
    flow_pair(&c, FORM, LAW, d, l, up, own, other, sums);
  }
  static __device__ __forceinline__ void couple(const numbers &c, int l, const real *low, const real *high,
                                                real *sums_low, real *sums_high) {
    flow_couple(&c, FORM, LAW, AXIS_Z, l, low, high, sums_low, sums_high);
  }
  static __device__ __forceinline__ void finish(const numbers &c, const real *own, real *sums, const real *at,
                                                int points, real *out) {
    flow_finish(&c, FORM, LAW, own, sums, at, points, out);
  }
};

template <int WORKS> struct flow_first : pairs_system {
  using numbers = flow_numbers;
  static constexpr unsigned READS = WORKS > 1 ? 15 : 0; /* as many as to the velocity's last */
  static constexpr int SUMS = 1, POINTS = 2, OUTPUTS = WORKS;
  static __device__ __forceinline__ void pair(const numbers &c, int d, int l, bool up, const real *own,
                                              const real *other, real *sums) {
    flow_first_pair(&c, d, l, up, own, other, sums);
  }
  static __device__ __forceinline__ void finish(const numbers &c, const real *, const real *sums,
                                                const real *at, int, real *out) {
    flow_first_finish(&c, sums, at, out);
  }
};

template <bool NEAR> struct flow_figures : pairs_system {
  using numbers = flow_numbers;
  static constexpr unsigned READS = NEAR ? (1U << FLOW_UNKNOWNS) - 1 : 0;
  static constexpr int SUMS = FIGURE_SUMS, OUTPUTS = 1;
  static __device__ __forceinline__ void pair(const numbers &c, int d, int l, bool up, const real *own,
                                              const real *other, real *sums) {
    flow_figure_pair(&c, d, l, up, own, other, sums);
  }
  static __device__ __forceinline__ void finish(const numbers &c, const real *own, const real *sums,
                                                const real *at, int, real *out) {
    out[0] = NEAR ? flow_figure_finish(&c, own, sums) : flow_figure_point(&c, at);
  }
};

struct flow_damping : pairs_system {
  using numbers = damp_numbers;
  static constexpr unsigned READS = (1U << FLOW_UNKNOWNS) - 1;
  static constexpr int SUMS = DAMP_SUMS, OUTPUTS = FLOW_UNKNOWNS;
  static __device__ __forceinline__ void pair(const numbers &c, int d, int l, bool up, const real *own,
                                              const real *other, real *sums) {
    damp_pair(&c, d, l, up, own, other, sums);
  }
  static __device__ __forceinline__ void finish(const numbers &c, const real *, const real *sums,
                                                const real *at, int, real *out) {
    damp_finish(&c, sums, at, out);
  }
};

struct flow_supply : pairs_system {
  using numbers = supply_numbers;
  static constexpr unsigned READS = 0;
  static constexpr int SUMS = 1, OUTPUTS = FLOW_UNKNOWNS;
  static __device__ __forceinline__ void pair(const numbers &, int, int, bool, const real *, const real *,
                                              real *) {}
  static __device__ __forceinline__ void finish(const numbers &c, const real *, const real *, const real *at,
                                                int, real *out) {
    supply_finish(&c, at, out);
  }
};

template <class System>
static pairs_arguments<System> arguments_of(const kernels_launch *launch, const flow_call *call, int works) {
  pairs_arguments<System> a = {};
  if constexpr (std::is_same_v<typename System::numbers, damp_numbers>)
    a.c = damp_numbers_make(launch->stencil, call);
  else
    a.c = flow_numbers_make(launch->stencil, call);
  for (int i = 0; i < (int)FLOW_UNKNOWNS; i++) a.in[i] = shifted(launch, call->f[i]);
  for (int i = 0; i < works; i++) a.in[(int)FLOW_UNKNOWNS + i] = shifted(launch, call->work[i]);
  return a;
}

template <int FORM, int LAW> static status run_stage(const kernels_launch *launch, const flow_call *call) {
  using System = flow_stage<FORM, LAW>;
  pairs_arguments<System> a = arguments_of<System>(launch, call, System::WORKS);
  const void *const *const from[3] = {call->base, call->extra[0], call->extra[1]};
  const int states = call->extra[0][0] != nullptr ? 3 : 1;
  a.points = states * (int)FLOW_UNKNOWNS;
  for (int k = 0; k < states; k++)
    for (int i = 0; i < (int)FLOW_UNKNOWNS; i++)
      a.at[k * (int)FLOW_UNKNOWNS + i] = shifted(launch, from[k][i]);
  for (int i = 0; i < (int)FLOW_UNKNOWNS; i++) a.out[i] = shifted(launch, call->out[i]);
  /* the form and the laws that runs take are fast; the others read neighbours through the caches */
  if constexpr (FORM == FLOW_KEEP_PE && LAW == FLOW_INVISCID)
    return march_launch<inviscid_tile<System>>(launch, a, "flow");
  if constexpr (FORM == FLOW_KEEP_PE && LAW == FLOW_CONSTANT)
    return march_launch<viscous_tile<System>>(launch, a, "flow");
  return pairs_launch(launch, a, "flow");
}

template <int WORKS> static status run_first(const kernels_launch *launch, const flow_call *call) {
  using System = flow_first<WORKS>;
  pairs_arguments<System> a = arguments_of<System>(launch, call, 0);
  a.points = 2;
  a.at[0] = shifted(launch, call->f[FLOW_DENSITY]);
  a.at[1] = shifted(launch, call->f[FLOW_PRESSURE]);
  for (int i = 0; i < WORKS; i++) a.out[i] = static_cast<real *>(shifted(launch, call->work[i]));
  if constexpr (WORKS == 2) return march_launch<first_tile<System>>(launch, a, "flow, first pass");
  return pairs_launch(launch, a, "flow, first pass");
}

static status run_damping(const kernels_launch *launch, const flow_call *call) {
  pairs_arguments<flow_damping> a = arguments_of<flow_damping>(launch, call, 0);
  a.points = FLOW_UNKNOWNS;
  for (int i = 0; i < a.points; i++) a.at[i] = a.out[i] = shifted(launch, call->out[i]);
  return pairs_launch(launch, a, "flow, dissipation");
}

static status run_supply(const kernels_launch *launch, const flow_call *call) {
  pairs_arguments<flow_supply> a = {supply_numbers_make(call)};
  const void *at[SUPPLY_POINTS];
  supply_arrays(call, at);
  a.points = SUPPLY_POINTS;
  for (int i = 0; i < (int)SUPPLY_POINTS; i++) a.at[i] = shifted(launch, at[i]);
  for (int i = 0; i < (int)FLOW_UNKNOWNS; i++) a.out[i] = shifted(launch, call->out[i]);
  return pairs_launch(launch, a, "flow, sources");
}

template <bool NEAR> static status run_figure(const kernels_launch *launch, const flow_call *call) {
  using System = flow_figures<NEAR>;
  pairs_arguments<System> a = arguments_of<System>(launch, call, 0);
  a.points = NEAR ? 0 : (int)FLOW_UNKNOWNS;
  for (int i = 0; i < a.points; i++) a.at[i] = a.in[i];
  a.out[0] = shifted(launch, call->out[0]);
  return pairs_launch(launch, a, "flow, figure");
}

extern "C" status NAME(flow)(const kernels_launch *launch, const flow_call *call) {
  if (call->pass == FLOW_FIGURE)
    return call->figure >= FLOW_POINTWISE ? run_figure<true>(launch, call) : run_figure<false>(launch, call);
  if (call->pass == FLOW_DAMP) return run_damping(launch, call);
  if (call->pass == FLOW_SUPPLY) return run_supply(launch, call);
  if (call->pass == FLOW_LARGEST)
    return call->gas.law != FLOW_INVISCID ? run_largest<true>(launch, call)
                                          : run_largest<false>(launch, call);
  if (call->pass == FLOW_FIRST)
    return with_constant<1, 2, 3>(
        flow_works(&call->gas), [=](auto works) { return run_first<decltype(works)::value>(launch, call); });
  return with_constant<FLOW_KEEP_PE, FLOW_KEEP, FLOW_KENNEDY_GRUBER, FLOW_DIVERGENCE>(
      call->gas.form, [=](auto form) {
        return with_constant<FLOW_INVISCID, FLOW_CONSTANT, FLOW_SUTHERLAND>(call->gas.law, [=](auto law) {
          return run_stage<decltype(form)::value, decltype(law)::value>(launch, call);
        });
      });
}
