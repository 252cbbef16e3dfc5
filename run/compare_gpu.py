"""GPU part of run/compare: the operations as a Python user writes them, in CuPy and JAX, beside fdapp's."""

import json
import os
import statistics
import subprocess
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

C = [4 / 5, -1 / 5, 4 / 105, -1 / 280]
VELOCITY = (1.0, 0.5, 0.25)
KERNELS = {"gradient": 4, "uniform": 3, "stored": 6}  # least words per point
LAUNCHES = 10

RAW = r"""
#define D(i, n, s) (c3 * (AT(i, 4, n, s) - AT(i, -4, n, s)) + c2 * (AT(i, 3, n, s) - AT(i, -3, n, s)) + \
                    c1 * (AT(i, 2, n, s) - AT(i, -2, n, s)) + c0 * (AT(i, 1, n, s) - AT(i, -1, n, s)))
#define AT(i, k, n, s) f[p + ((i + k + n) % n - i) * (long long)(s)]
extern "C" __global__ void stencil(const real *f, const real *b, const real *u, const real *v, const real *w, real *o,
                                   real *oy, real *oz, int n, real c0, real c1, real c2, real c3, real dt, int kind) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x >= n || y >= n) return;
  const long long p = ((long long)z * n + y) * n + x;
  const real dx = D(x, n, 1), dy = D(y, n, n), dz = D(z, n, n * (long long)n);
  if (kind == 0) { o[p] = dx; oy[p] = dy; oz[p] = dz; }
  else if (kind == 1) o[p] = b[p] - dt * ((real)1.0 * dx + (real)0.5 * dy + (real)0.25 * dz);
  else o[p] = b[p] - dt * (u[p] * dx + v[p] * dy + w[p] * dz);
}
"""


def operation(np, kernel, n):
    """The operation with rolled arrays; the same source for CuPy and JAX. Axes: z, y, x."""

    def derivative(f, axis):
        return sum(c * n * (np.roll(f, -k, axis) - np.roll(f, k, axis)) for k, c in enumerate(C, 1))

    def advection(f, velocity):
        return sum(u * derivative(f, axis) for u, axis in zip(velocity, (2, 1, 0)))

    if kernel == "gradient":
        return lambda f, b, u, v, w: tuple(derivative(f, axis) for axis in (2, 1, 0))
    if kernel == "uniform":
        return lambda f, b, u, v, w: b - 0.05 / n * advection(f, VELOCITY)
    return lambda f, b, u, v, w: b - 0.05 / n * advection(f, (u, v, w))


def cupy_programs(n, dtype, kernel):
    import cupy as cp

    arrays = [cp.random.default_rng(i).random((n, n, n), dtype=dtype) - dtype(0.5) for i in range(5)]
    outputs = [cp.empty((n, n, n), dtype=dtype) for _ in range(3)]
    real = "float" if dtype().itemsize == 4 else "double"
    raw = cp.RawKernel(f"typedef {real} real;\n" + RAW, "stencil")
    kind = list(KERNELS).index(kernel)
    constants = [dtype(c * n) for c in C]

    def by_kernel():
        raw(
            (-(-n // 32), -(-n // 8), n),
            (32, 8, 1),
            (*arrays, *outputs, cp.int32(n), *constants, dtype(0.05 / n), cp.int32(kind)),
        )
        return outputs if kernel == "gradient" else outputs[0]

    by_arrays = operation(cp, kernel, n)
    found, expected = by_kernel(), by_arrays(*arrays)
    if kernel != "gradient":
        found, expected = [found], [expected]
    for a, b in zip(found, expected):
        assert float(cp.abs(a - b).max()) < 1e-5 * float(cp.abs(b).max()), f"the raw {kernel} kernel is wrong"
    del found, expected

    def timed(call):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        for _ in range(LAUNCHES):
            call()
        end.record()
        end.synchronize()
        return 1e-3 * cp.cuda.get_elapsed_time(start, end) / LAUNCHES

    return {"CuPy, roll": lambda: timed(lambda: by_arrays(*arrays)), "CuPy, RawKernel": lambda: timed(by_kernel)}


def jax_programs(n, dtype, kernel):
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    arrays = [
        jax.random.uniform(jax.random.PRNGKey(i), (n, n, n), dtype=dtype, minval=-0.5, maxval=0.5) for i in range(5)
    ]
    program = jax.jit(operation(jnp, kernel, n))
    jax.block_until_ready(program(*arrays))

    def timed():
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            result = program(*arrays)
        jax.block_until_ready(result)
        return (time.perf_counter() - start) / LAUNCHES

    return {"JAX, jit of roll": timed}


def compare(options, precision, fdbench):
    import cupy as cp
    import numpy as np

    dtype = {"single": np.float32, "double": np.float64}[precision]
    rows = []
    for kernel in KERNELS:
        programs = {**cupy_programs(options.grid, dtype, kernel), **jax_programs(options.grid, dtype, kernel)}
        samples, shares = {}, []
        for program in programs.values():
            program()
        for _ in range(options.rounds):
            seconds, share = fdbench(options, precision, kernel)
            samples.setdefault("fdapp", []).append(seconds)
            shares.append(share)
            for name, program in programs.items():
                samples.setdefault(name, []).append(program())
        rates = {name: options.grid**3 / statistics.median(found) for name, found in samples.items()}
        rows.append((kernel, precision, rates, statistics.median(shares)))
        print(kernel, precision, {name: f"{rate:.3e}" for name, rate in rates.items()}, flush=True)
        programs = program = None
        cp.get_default_memory_pool().free_all_blocks()
    return rows


def run(options, precisions, fdbench, work):
    """Runs the comparison. Returns device and versions, a description, and the rows."""
    import cupy
    import jax

    rows = [row for precision in precisions for row in compare(options, precision, fdbench)]
    bench = json.loads((work / "bench.json").read_text())
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\n")[0]
    device = f"{bench['device']}, driver {driver}; CuPy {cupy.__version__}, JAX {jax.__version__}"
    notes = [
        "Roll: periodic differences of rolled arrays, one line of Python per derivative, the same source for CuPy and "
        "(compiled by XLA) JAX. RawKernel: a CUDA kernel of one point per thread, as the first version of such a code "
        "has it."
    ]
    return device, notes, rows
