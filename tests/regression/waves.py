"""The wave equation with numpy: leapfrog schemes with ends, from the formulas of the documentation. It shares no code
with the program."""

import math

import numpy as np

SECOND = {
    2: [-2, 1],
    4: [-5 / 2, 4 / 3, -1 / 12],
    6: [-49 / 18, 3 / 2, -3 / 20, 1 / 90],
    8: [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560],
}
AXES = "xyz"


def ends(configuration, d):
    boundary, axis = configuration.get("boundary", {}), AXES[d]
    whole = boundary.get(axis, "periodic")
    return tuple(boundary.get(f"{axis}_{end}", whole) for end in ("low", "high"))


def spacing(configuration, d):
    grid = configuration["grid"]
    n = grid[f"n{AXES[d]}"]
    return grid.get(f"l{AXES[d]}", 1) / (n if ends(configuration, d)[0] == "periodic" else n - 1)


def beyond(f, kinds, d, reach=4):
    """f continued by `reach` points beyond both ends of axis d: periodic, mirrored, or zero beyond layers."""
    f = np.moveaxis(f, 2 - d, 0)
    n = len(f)
    sign = {"wall": 1, "absorbing": 1, "free": -1, "layer": 0}
    if kinds[0] == "periodic":
        parts = [f[n - reach :], f, f[:reach]]
    else:
        parts = [sign[kinds[0]] * f[reach:0:-1], f, sign[kinds[1]] * f[n - 2 : n - 2 - reach : -1]]
    return np.moveaxis(np.concatenate(parts), 0, 2 - d)


def second(configuration, f, d):
    c = SECOND[configuration.get("compute", {}).get("order", 8)]
    wide = np.moveaxis(beyond(f, ends(configuration, d), d), 2 - d, 0)
    n = len(wide) - 8
    result = c[0] * wide[4 : 4 + n]
    for k in range(1, len(c)):
        result = result + c[k] * (wide[4 + k : 4 + k + n] + wide[4 - k : 4 - k + n])
    return np.moveaxis(result, 0, 2 - d) / spacing(configuration, d) ** 2


def laplacian(configuration, f):
    return sum(second(configuration, f, d) for d in range(3))


def limit(configuration):
    order = configuration.get("compute", {}).get("order", 8)
    c = SECOND[order]
    stiffest = -(c[0] + 2 * sum(a * (-1) ** k for k, a in enumerate(c) if k))
    fourth = configuration["time"].get("scheme", "leapfrog4") == "leapfrog4"
    return math.sqrt((12 if fourth else 4) / stiffest)


def step_size(configuration, fastest):
    time = configuration["time"]
    rate = fastest * math.sqrt(sum(spacing(configuration, d) ** -2 for d in range(3)))
    dt = time.get("dt") or time.get("courant", 0.7 * limit(configuration)) / rate
    return time["t_end"] / math.ceil(time["t_end"] / dt - 1e-9) if "t_end" in time else dt


def on_ends(configuration, shape, kind):
    """Of each axis the mask of points on ends of a kind."""
    result = []
    for d in range(3):
        mask = np.zeros(shape, dtype=bool)
        for end, place in zip(ends(configuration, d), (0, -1), strict=True):
            if end == kind:
                np.moveaxis(mask, 2 - d, 0)[place] = True
        result.append(mask)
    return result


class Waves:
    """Steps from p at t = 0, at rest, in a medium of speed c (a number or an array)."""

    def __init__(self, configuration, p, c):
        self.configuration, self.c2 = configuration, np.asarray(c, dtype=float) ** 2
        self.dt = step_size(configuration, float(np.max(c)))
        self.fourth = configuration["time"].get("scheme", "leapfrog4") == "leapfrog4"
        absorbing = on_ends(configuration, p.shape, "absorbing")
        self.rate = sum(mask / spacing(configuration, d) for d, mask in enumerate(absorbing))
        self.rate = self.rate * np.sqrt(self.c2) * self.dt
        self.fixed = np.any(on_ends(configuration, p.shape, "free"), axis=0)
        self.p = np.where(self.fixed, 0, p)
        self.before = self.p + self.operator(self.p, 1 / 2, 1 / 24)
        self.before[self.fixed] = 0

    def q(self, f):
        return self.c2 * laplacian(self.configuration, f)

    def operator(self, f, first=1, second=1 / 12):
        q = self.q(f)
        return self.dt**2 * first * q + (self.dt**4 * second * self.q(q) if self.fourth else 0)

    def step(self):
        after = 2 * self.p - self.before + self.operator(self.p)
        after = (after + self.rate * self.before) / (1 + self.rate)
        after[self.fixed] = 0
        self.before, self.p = self.p, after

    def energy(self):
        weights, volume = 1.0, 1.0
        for d in range(3):
            h = spacing(self.configuration, d)
            weight = np.ones(self.p.shape[2 - d])
            if ends(self.configuration, d)[0] != "periodic":
                weight[0] = weight[-1] = 0.5
            weights = weights * weight.reshape([-1 if axis == 2 - d else 1 for axis in range(3)])
            volume *= h
        change = self.p - self.before
        density = (change**2 - self.before * self.operator(self.p)) / (self.c2 * self.dt**2)
        return 0.5 * volume * float(np.sum(weights * density))
