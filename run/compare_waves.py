"""Wave part of run/compare: a step of waves in a medium (order 8 in space) by Devito, with one Laplacian and with two,
beside fdapp's."""

import functools
import json
import os
import re
import statistics
import subprocess

SCHEMES = ("leapfrog", "leapfrog4")
SECOND = (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560)  # of the second difference, from the middle
STEPS = 8
# Devito 4.8.23 keeps the loop over time outermost also where tiles are skewed: it has no tiles of time.
SETUPS = {"tiles": {}, "skewed tiles": {"skewing": True, "blocklevels": 1}}


class Devito:
    """A scheme in several set-ups, each with the sizes of tiles that Devito's autotuner finds."""

    def __init__(self, scheme, n, dtype):
        import devito as dv
        import numpy as np

        self.scheme, self.n = scheme, n
        grid = dv.Grid(shape=(n, n, n), extent=(1.0,) * 3, dtype=dtype)
        self.p = dv.TimeFunction(name="p", grid=grid, space_order=8, time_order=2)
        self.k = dv.Function(name="k", grid=grid, space_order=0)  # c^2 dt^2
        first = dv.Function(name="first", grid=grid, space_order=8)
        self.set_values(np.random.default_rng(1))
        plain = 2 * self.p - self.p.backward
        if scheme == "leapfrog":
            equations = [dv.Eq(self.p.forward, plain + self.k * self.p.laplace)]
        else:
            equations = [
                dv.Eq(first, self.k * self.p.laplace),
                dv.Eq(self.p.forward, plain + first + self.k / 12 * first.laplace),
            ]
        self.programs = {}
        for name, options in SETUPS.items():
            operator = dv.Operator(equations, opt=("advanced", options), name=f"{scheme}_{len(options)}")
            self.check(operator)
            operator.apply(time_m=1, time_M=STEPS, autotune="aggressive")
            tuned = operator._state["autotuning"][-1]["tuned"]
            sizes = {str(size): value for size, value in tuned.items() if "blk" in str(size)}
            words = "x".join(str(value) for value in sizes.values())
            self.programs[f"Devito, {name} {words}"] = functools.partial(self.seconds, operator, sizes)

    def set_values(self, generator):
        shape = (self.n,) * 3
        self.k.data[:] = (0.15 + 0.1 * generator.random(shape)) / (self.n - 1) ** 2
        for i in range(3):
            self.p.data[i] = generator.random(shape) - 0.5

    def seconds(self, operator, sizes):
        summary = operator.apply(time_m=1, time_M=STEPS, **sizes)
        return sum(section.time for section in summary.values()) / STEPS

    def check(self, operator):
        """One step against numpy, away from the ends; and that the loop over time is the outermost."""
        import numpy as np

        loops = re.findall(r"for \(int (\w+)", str(operator))
        if not loops or loops[0] != "time":
            raise SystemExit(f"{operator.name}: the first loop is over {loops[:1]}")
        cut, inner = (slice(0, 32),) * 3, (slice(8, 24),) * 3
        k = np.array(self.k.data[cut], dtype=np.float64)
        before, p = (np.array(self.p.data[i][cut], dtype=np.float64) for i in (0, 1))
        operator.apply(time_m=1, time_M=1)

        def part(f):
            sums = [
                sum(c * (np.roll(f, m, d) + np.roll(f, -m, d)) for m, c in enumerate(SECOND) if m) for d in range(3)
            ]
            return k * (sum(sums) + 3 * SECOND[0] * f) * (self.n - 1) ** 2

        expected = 2 * p - before + part(p)
        if self.scheme == "leapfrog4":
            expected += part(part(p)) / 12
        found = np.array(self.p.data[2][cut], dtype=np.float64)
        error = np.abs(found[inner] - expected[inner]).max()
        if not error < 1e-5:
            raise SystemExit(f"Devito's {self.scheme} differs from numpy by {error:.1e}")
        self.set_values(np.random.default_rng(1))


def fdapp(options, precision, work, processors):
    """{scheme: (seconds, fastest, share of the stream of its words)} of fdapp, on these processors: OpenMP binds this
    thread to one of them."""
    output = work / "bench.json"
    words = [options.fdbench, "wave", "--backend", "cpu", "--grid", str(options.grid), "--precision", precision,
             "--threads", str(options.threads), "--repeat", "5", "--output", output]  # fmt: skip
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    subprocess.run(words, check=True, preexec_fn=lambda: os.sched_setaffinity(0, processors), **quiet)
    rows = json.loads(output.read_text())["wave"]
    return {row["wave"]: (row["seconds"]["median"], row["seconds"]["minimum"], row["share"]) for row in rows}


def compare(options, precision, work, processors):
    """Rows of the record: scheme, precision, program, points per second, share of the stream, and by how much fdapp is
    faster, of medians and of fastest runs."""
    import numpy as np

    dtype = {"single": np.float32, "double": np.float64}[precision]
    rows = []
    for scheme in SCHEMES:
        programs = Devito(scheme, options.grid, dtype).programs
        samples, fastest, shares = {name: [] for name in ("fdapp", *programs)}, [], []
        for _ in range(options.rounds):
            seconds, least, share = fdapp(options, precision, work, processors)[scheme]
            samples["fdapp"].append(seconds)
            fastest.append(least)
            shares.append(share)
            for name, program in programs.items():
                samples[name] += [program() for _ in range(3)]
        rates = {name: options.grid**3 / statistics.median(found) for name, found in samples.items()}
        floor = rates["fdapp"] / statistics.median(shares)
        for name, rate in rates.items():
            least = min(fastest if name == "fdapp" else samples[name])
            rows.append([scheme, precision, name, f"{rate:.3e}", f"{100 * rate / floor:.0f} %",
                         f"{rates['fdapp'] / rate:.2f}", f"{least / min(fastest):.2f}"])  # fmt: skip
            print(*rows[-1], sep="  ", flush=True)
    return rows
