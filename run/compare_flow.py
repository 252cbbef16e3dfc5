"""Flow part of run/compare: a stage of compressible flow (form keep_pe, order 8, with viscosity and without) as plain
OpenMP loops in C, and with rolled arrays in CuPy and JAX, beside fdapp's."""

import ctypes
import json
import os
import statistics
import subprocess
import time

GAMMA, PRANDTL, VISCOSITY, STEP = 1.4, 0.71, 1e-3, 1e-3
FIRST = [4 / 5, -1 / 5, 4 / 105, -1 / 280]
SECOND = [8 / 5, -1 / 5, 8 / 315, -1 / 560]
STAGES = {"Euler": False, "Navier-Stokes": True}
LAUNCHES = 5

PLAIN = r"""
#define LOOP                                                                                                           \
  const long row = n + 8, plane = row * row;                                                                           \
  _Pragma("omp parallel for collapse(2) schedule(static)") for (long z = 4; z < n + 4; z++) for (long y = 4;           \
                                                                                                 y < n + 4; y++)       \
      _Pragma("omp simd") for (long x = 4; x < n + 4; x++)
#define SLOPE(f, s) (c[0] * (f[i + s] - f[i - s]) + c[1] * (f[i + 2 * s] - f[i - 2 * s]) +                             \
                     c[2] * (f[i + 3 * s] - f[i - 3 * s]) + c[3] * (f[i + 4 * s] - f[i - 4 * s]))
/* The divergence of the velocity. */
void dilatation(long n, const real *c, const real *u, const real *v, const real *w, real *theta) {
  LOOP {
    const long i = z * plane + y * row + x;
    theta[i] = SLOPE(u, 1) + SLOPE(v, row) + SLOPE(w, plane);
  }
}
/* What the point at a distance s along the axis of N adds; a: of the first difference, b: of the second. */
#define PAIR(N, RATE, s, a, b)                                                                                         \
  {                                                                                                                    \
    const real r1 = r[i + s], u1 = u[i + s], v1 = v[i + s], w1 = w[i + s], p1 = p[i + s];                              \
    const real mass = (real)0.25 * (r0 + r1) * (N##0 + N##1), push = (real)0.5 * (p0 + p1);                            \
    dr -= 2 * a * mass;                                                                                                \
    du -= a * mass * (u0 + u1);                                                                                        \
    dv -= a * mass * (v0 + v1);                                                                                        \
    dw -= a * mass * (w0 + w1);                                                                                        \
    RATE -= 2 * a * push;                                                                                              \
    de -= a * (mass * (u0 * u1 + v0 * v1 + w0 * w1) + push * (N##0 + N##1) / (GAMMA - 1) + N##0 * p1 + N##1 * p0);     \
    if (viscous) {                                                                                                     \
      lu += b * (u1 - u0);                                                                                             \
      lv += b * (v1 - v0);                                                                                             \
      lw += b * (w1 - w0);                                                                                             \
      heat += b * ((real)0.5 * (u1 * u1 + v1 * v1 + w1 * w1 - square) +                                                \
                   GAMMA / ((GAMMA - 1) * PRANDTL) * (p1 / r1 - ratio));                                               \
    }                                                                                                                  \
  }
#define PAIRS(N, RATE, s, l) PAIR(N, RATE, l * s, c[l - 1], c2[l - 1]) PAIR(N, RATE, -l * s, -c[l - 1], c2[l - 1])
#define AXIS(N, RATE, s) PAIRS(N, RATE, s, 1) PAIRS(N, RATE, s, 2) PAIRS(N, RATE, s, 3) PAIRS(N, RATE, s, 4)
/* out = base + dt times the right-hand side of f, in conserved variables; states are density, u, v, w, pressure. */
#define STAGE(name, law)                                                                                               \
  void name(long n, const real *c, const real *c2, const real *r, const real *u, const real *v, const real *w,         \
            const real *p, const real *theta, const real *rb, const real *ub, const real *vb, const real *wb,          \
            const real *pb, real *ro, real *uo, real *vo, real *wo, real *po, real dt) {                               \
    enum { viscous = law };                                                                                            \
    LOOP {                                                                                                             \
      const long i = z * plane + y * row + x;                                                                          \
      const real r0 = r[i], u0 = u[i], v0 = v[i], w0 = w[i], p0 = p[i];                                                \
      const real square = u0 * u0 + v0 * v0 + w0 * w0, ratio = p0 / r0;                                                \
      real dr = 0, du = 0, dv = 0, dw = 0, de = 0, lu = 0, lv = 0, lw = 0, heat = 0;                                   \
      AXIS(u, du, 1) AXIS(v, dv, row) AXIS(w, dw, plane)                                                               \
      if (viscous) {                                                                                                   \
        const real ux = SLOPE(u, 1), uy = SLOPE(u, row), uz = SLOPE(u, plane), vx = SLOPE(v, 1), vy = SLOPE(v, row);   \
        const real vz = SLOPE(v, plane), wx = SLOPE(w, 1), wy = SLOPE(w, row), wz = SLOPE(w, plane), t = theta[i];     \
        const real qx = SLOPE(theta, 1) / 3, qy = SLOPE(theta, row) / 3, qz = SLOPE(theta, plane) / 3;                 \
        const real turning = ux * ux + vy * vy + wz * wz + 2 * (uy * vx + uz * wx + vz * wy);                          \
        du += MU * (lu + qx);                                                                                          \
        dv += MU * (lv + qy);                                                                                          \
        dw += MU * (lw + qz);                                                                                          \
        de += MU * (heat + u0 * qx + v0 * qy + w0 * qz + turning - (real)(2.0 / 3.0) * t * t);                         \
      }                                                                                                                \
      const real b = rb[i], k = (real)0.5 * b * (ub[i] * ub[i] + vb[i] * vb[i] + wb[i] * wb[i]);                       \
      const real density = b + dt * dr, un = (b * ub[i] + dt * du) / density, vn = (b * vb[i] + dt * dv) / density;    \
      const real wn = (b * wb[i] + dt * dw) / density, energy = pb[i] / (GAMMA - 1) + k + dt * de;                     \
      ro[i] = density, uo[i] = un, vo[i] = vn, wo[i] = wn;                                                             \
      po[i] = (GAMMA - 1) * (energy - (real)0.5 * density * (un * un + vn * vn + wn * wn));                            \
    }                                                                                                                  \
  }
STAGE(euler, 0)
STAGE(navier_stokes, 1)
"""


def flux(d, a, b):
    """The fluxes along axis d between two points, of arrays (density, u, v, w, pressure)."""
    c = 0.25 * (a[0] + b[0]) * (a[1 + d] + b[1 + d])
    p = 0.5 * (a[4] + b[4])
    energy = 0.5 * c * (a[1] * b[1] + a[2] * b[2] + a[3] * b[3])
    energy = energy + 0.5 * p * (a[1 + d] + b[1 + d]) / (GAMMA - 1) + 0.5 * (a[1 + d] * b[4] + b[1 + d] * a[4])
    return [c, *(0.5 * c * (a[1 + j] + b[1 + j]) + (p if j == d else 0) for j in range(3)), energy]


def operation(np, n, viscous):
    """The stage with rolled arrays, axes z, y, x; the same source for CuPy, JAX and numpy. The box has the edge 1."""

    def rolled(f, by, d):
        return np.roll(f, -by, 2 - d)

    def slope(f, d):
        return sum(c * n * (rolled(f, k, d) - rolled(f, -k, d)) for k, c in enumerate(FIRST, 1))

    def laplacian(f):
        return sum(
            c * n * n * (rolled(f, k, d) - 2 * f + rolled(f, -k, d)) for d in range(3) for k, c in enumerate(SECOND, 1)
        )

    def friction(f, rate):
        u = f[1:4]
        theta = sum(slope(u[d], d) for d in range(3))
        g = [[slope(u[j], d) for d in range(3)] for j in range(3)]
        second = [laplacian(each) for each in u]
        force = [second[j] + slope(theta, j) / 3 for j in range(3)]
        heat = laplacian(0.5 * sum(each * each for each in u)) - 2 / 3 * theta * theta
        heat = heat + sum(u[j] * (force[j] - second[j]) for j in range(3))
        heat = heat + sum(g[i][j] * g[j][i] for i in range(3) for j in range(3))
        heat = heat + GAMMA / ((GAMMA - 1) * PRANDTL) * laplacian(f[4] / f[0])
        change = [0, *(VISCOSITY * each for each in force), VISCOSITY * heat]
        return [r + c for r, c in zip(rate, change)]

    def stage(f, base):
        rate = [0] * 5
        for d in range(3):
            for k, c in enumerate(FIRST, 1):
                between = flux(d, f, [rolled(each, k, d) for each in f])
                rate = [r - 2 * c * n * (each - rolled(each, -k, d)) for r, each in zip(rate, between)]
        if viscous:
            rate = friction(f, rate)
        density = base[0] + STEP * rate[0]
        u = [(base[0] * base[j] + STEP * rate[j]) / density for j in (1, 2, 3)]
        energy = base[4] / (GAMMA - 1) + 0.5 * base[0] * sum(base[j] ** 2 for j in (1, 2, 3)) + STEP * rate[4]
        return [density, *u, (GAMMA - 1) * (energy - 0.5 * density * sum(each**2 for each in u))]

    return stage


class Plain:
    """Plain loops on arrays with four more points on every side."""

    def __init__(self, n, dtype, work, flags):
        import numpy as np

        self.n, self.dtype = n, dtype
        name = np.dtype(dtype).name
        source, library = work / f"flow_{name}.c", work / f"flow_{name}.so"
        numbers = {"GAMMA": GAMMA, "PRANDTL": PRANDTL, "MU": VISCOSITY}
        lines = [f"#define real {'float' if name == 'float32' else 'double'}"]
        lines += [f"#define {word} ((real){value!r})" for word, value in numbers.items()]
        source.write_text("\n".join(lines) + PLAIN)
        compiler = [os.environ.get("CC", "gcc"), *flags, "-o", library, source]
        subprocess.run(compiler, stdin=subprocess.DEVNULL, check=True)
        self.library = ctypes.CDLL(str(library))
        generator = np.random.default_rng(1)
        values = [(1.0, 0.2), (0.0, 0.5), (0.0, 0.5), (0.0, 0.5), (2.0, 0.3)] * 2
        points = [mean + reach * (generator.random((n, n, n)) - 0.5) for mean, reach in values]
        self.state, self.base = (
            [np.pad(each, 4, mode="wrap").astype(dtype) for each in points[i : i + 5]] for i in (0, 5)
        )
        self.out = [np.zeros_like(each) for each in self.state]
        self.theta = np.zeros_like(self.state[0])
        self.first = np.array([c * n for c in FIRST], dtype=dtype)
        self.second = np.array([c * n * n for c in SECOND], dtype=dtype)

    def seconds(self, viscous, wrap=False):
        """Of a stage. wrap: with periodic images of the dilatation, as a check needs them."""
        import numpy as np

        address = [ctypes.c_void_p(each.ctypes.data) for each in (*self.state, self.theta, *self.base, *self.out)]
        first, second = (ctypes.c_void_p(each.ctypes.data) for each in (self.first, self.second))
        real = ctypes.c_float if np.dtype(self.dtype).itemsize == 4 else ctypes.c_double
        n, theta = ctypes.c_long(self.n), address[5]
        start = time.perf_counter()
        if viscous:
            self.library.dilatation(n, first, *address[1:4], theta)
        if wrap:
            self.theta[:] = np.pad(self.theta[4:-4, 4:-4, 4:-4].copy(), 4, mode="wrap")
        call = self.library.navier_stokes if viscous else self.library.euler
        call(n, first, second, *address, real(STEP))
        return time.perf_counter() - start

    def check(self, viscous):
        """Compares the loops with numpy's rolled arrays."""
        import numpy as np

        self.seconds(viscous, wrap=True)
        inner = (slice(4, -4),) * 3
        state, base = ([each[inner].astype(float) for each in arrays] for arrays in (self.state, self.base))
        for found, expected in zip(self.out, operation(np, self.n, viscous)(state, base)):
            error = np.abs(found[inner] - expected).max()
            if not error < (1e-12 if self.dtype == np.float64 else 1e-4):
                raise SystemExit(f"the plain loops differ from numpy by {error:.1e}")


def fdapp(options, precision, work):
    """{stage: (seconds, share of the copy of its words)} of fdapp."""
    output = work / "bench.json"
    words = [options.fdbench, "flow", "--backend", "cuda" if options.where == "flow-gpu" else "cpu", "--grid",
             str(options.grid), "--precision", precision, "--threads", str(options.threads), "--repeat", "5",
             "--output", output]  # fmt: skip
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    rows = json.loads(output.read_text())["flow"]
    return {row["flow"]: (row["seconds"]["median"], row["share"]) for row in rows}


def cupy_programs(n, dtype, viscous):
    import cupy as cp

    def array(seed, mean, reach):
        return mean + reach * (cp.random.default_rng(seed).random((n, n, n), dtype=dtype) - dtype(0.5))

    state, base = ([array(5 * k + i, 1.0 + (i == 4), 0.2) for i in range(5)] for k in range(2))
    stage = operation(cp, n, viscous)

    def timed():
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        for _ in range(LAUNCHES):
            stage(state, base)
        end.record()
        end.synchronize()
        return 1e-3 * cp.cuda.get_elapsed_time(start, end) / LAUNCHES

    return {"CuPy, roll": timed}


def jax_programs(n, dtype, viscous):
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    def array(seed, mean):
        return jax.random.uniform(jax.random.PRNGKey(seed), (n, n, n), dtype=dtype, minval=mean, maxval=mean + 0.2)

    state, base = ([array(5 * k + i, 1.0 + (i == 4)) for i in range(5)] for k in range(2))
    program = jax.jit(operation(jnp, n, viscous))
    jax.block_until_ready(program(state, base))

    def timed():
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            result = program(state, base)
        jax.block_until_ready(result)
        return (time.perf_counter() - start) / LAUNCHES

    return {"JAX, jit of roll": timed}


def programs_of(options, dtype, viscous, work, flags):
    """{name: function that returns seconds} of what fdapp is compared with."""
    if options.where == "flow-gpu":
        return {**cupy_programs(options.grid, dtype, viscous), **jax_programs(options.grid, dtype, viscous)}
    Plain(24, dtype, work, flags).check(viscous)
    plain = Plain(options.grid, dtype, work, flags)
    return {"plain OpenMP loops": lambda: plain.seconds(viscous)}


def compare(options, precision, work, flags):
    """Rows of the record: stage, precision, program, points per second, share of a copy, fdapp is faster by."""
    import numpy as np

    dtype = {"single": np.float32, "double": np.float64}[precision]
    rows = []
    for stage, viscous in STAGES.items():
        programs = programs_of(options, dtype, viscous, work, flags)
        samples, shares = {name: [] for name in ("fdapp", *programs)}, []
        for program in programs.values():
            program()
        for _ in range(options.rounds):
            seconds, share = fdapp(options, precision, work)[stage]
            samples["fdapp"].append(seconds)
            shares.append(share)
            for name, program in programs.items():
                samples[name].append(program())
        rates = {name: options.grid**3 / statistics.median(found) for name, found in samples.items()}
        floor = rates["fdapp"] / statistics.median(shares)
        for name, rate in rates.items():
            rows.append([stage, precision, name, f"{rate:.3e}", f"{100 * rate / floor:.0f} %",
                         f"{rates['fdapp'] / rate:.2f}"])  # fmt: skip
            print(*rows[-1], sep="  ", flush=True)
    return rows
