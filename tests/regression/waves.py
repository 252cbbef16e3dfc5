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
FIRST = {2: [1 / 2], 4: [2 / 3, -1 / 12], 6: [3 / 4, -3 / 20, 1 / 60], 8: [4 / 5, -1 / 5, 4 / 105, -1 / 280]}
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


def first(configuration, f, d):
    c = FIRST[configuration.get("compute", {}).get("order", 8)]
    wide = np.moveaxis(beyond(f, ends(configuration, d), d), 2 - d, 0)
    n = len(wide) - 8
    result = sum(c[k - 1] * (wide[4 + k : 4 + k + n] - wide[4 - k : 4 - k + n]) for k in range(1, len(c) + 1))
    return np.moveaxis(result, 0, 2 - d) / spacing(configuration, d)


def profile(configuration, d, fastest, dt):
    """a and b of the layers of axis d at its points: 0 and 1 outside."""
    n, h, kinds = configuration["grid"][f"n{AXES[d]}"], spacing(configuration, d), ends(configuration, d)
    points = configuration["boundary"].get("layer_points", 10)
    reflection = configuration["boundary"].get("layer_reflection", 1e-3)
    frequency = configuration.get("point_sources", {}).get("frequency", 0.1 * fastest / h)
    a, b = np.zeros(n), np.ones(n)
    for end, kind in enumerate(kinds):
        for i in range(points if kind == "layer" else 0):
            depth = 1 - i / points
            s = -3 * math.log(reflection) * fastest * depth**2 / (2 * points * h)
            alpha = math.pi * frequency * (1 - depth)
            place = i if end == 0 else n - 1 - i
            b[place] = math.exp(-(s + alpha) * dt)
            a[place] = s / (s + alpha) * (b[place] - 1)
    shape = [-1 if axis == 2 - d else 1 for axis in range(3)]
    return a.reshape(shape), b.reshape(shape)


class Layers:
    """What layers add to the Laplacian, and remember."""

    def __init__(self, configuration, fastest, dt, shape):
        self.configuration = configuration
        self.axes = [d for d in range(3) if "layer" in ends(configuration, d)]
        self.profiles = {d: profile(configuration, d, fastest, dt) for d in self.axes}
        self.psi, self.zeta = ({d: np.zeros(shape) for d in self.axes} for _ in range(2))

    def advance(self, p):
        result = 0.0
        for d in self.axes:
            a, b = self.profiles[d]
            self.psi[d] = b * self.psi[d] + a * first(self.configuration, p, d)
            stretched = first(self.configuration, self.psi[d], d)
            self.zeta[d] = b * self.zeta[d] + a * (second(self.configuration, p, d) + stretched)
            result = result + stretched + self.zeta[d]
        return result


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


def absorbs(configuration, d, end):
    keys = configuration.get("boundary", {})
    absorption = keys.get(f"absorption_{AXES[d]}_{('low', 'high')[end]}", keys.get("absorption", 0))
    wall = ends(configuration, d)[end] == "wall" and configuration["physics"]["equation"] == "acoustics"
    return ends(configuration, d)[end] in ("absorbing", "layer") or (wall and absorption > 0)


def interpolation(configuration, d, x):
    """Lagrange's weights on eight points, folded at rigid walls and free ends, as a dense vector."""
    n, h, kinds = configuration["grid"][f"n{AXES[d]}"], spacing(configuration, d), ends(configuration, d)
    first = math.floor(x / h) - 3
    if absorbs(configuration, d, 0):
        first = max(first, 0)
    if absorbs(configuration, d, 1):
        first = min(first, n - 8)
    result = np.zeros(n)
    for k in range(8):
        weight = np.prod([(x / h - first - i) / (k - i) for i in range(8) if i != k])
        i = first + k
        if kinds[0] == "periodic":
            i %= n
        elif i < 0 or i >= n:
            weight *= -1 if kinds[i >= n] == "free" else 1
            i = -i if i < 0 else 2 * (n - 1) - i
        result[i] += weight
    for end, place in ((0, 0), (1, -1)):
        if kinds[end] == "free":
            result[place] = 0
    return result


def norm(configuration):
    """H: the spacings, halves at ends."""
    weights = 1.0
    for d in range(3):
        weight = np.full(configuration["grid"][f"n{AXES[d]}"], spacing(configuration, d))
        if ends(configuration, d)[0] != "periodic":
            weight[0] /= 2
            weight[-1] /= 2
        weights = weights * weight.reshape([-1 if axis == 2 - d else 1 for axis in range(3)])
    return weights


def weights_of(configuration, at):
    x, y, z = (interpolation(configuration, d, at[d]) for d in range(3))
    return z[:, None, None] * y[None, :, None] * x[None, None, :]


def wavelet(configuration, t):
    keys = configuration["point_sources"]
    f, kind = keys["frequency"], keys.get("wavelet", "ricker")
    if t <= 0:
        return 0.0
    turns = f * (t - keys.get("delay", 1.2 / f))
    a = (math.pi * turns) ** 2
    if kind == "sine":
        cycles = keys.get("cycles", 3)
        inside = 0 <= turns <= cycles
        return math.sin(2 * math.pi * turns) * (1 - math.cos(2 * math.pi * turns / cycles)) / 2 if inside else 0.0
    return (1 - 2 * a) * math.exp(-a) if kind == "ricker" else math.exp(-a)


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
        self.t, self.sources = 0.0, []
        self.layers = Layers(configuration, float(np.max(c)), self.dt, p.shape)

    def add_source(self, at, amplitude, signal):
        w = weights_of(self.configuration, at) / norm(self.configuration)
        self.sources.append((amplitude * self.c2 * w, signal))

    def receive(self, at):
        return float(np.sum(weights_of(self.configuration, at) * self.p))

    def sourced(self):
        """What sources add to p_next."""
        result, t, dt = 0.0, self.t, self.dt
        for w, s in self.sources:
            result = result + dt**2 * w * s(t)
            if self.fourth:
                result = result + dt**4 / 12 * self.q(w) * s(t)
                result = result + dt**2 / 12 * w * (s(t + dt) - 2 * s(t) + s(t - dt))
        return result

    def q(self, f):
        return self.c2 * laplacian(self.configuration, f)

    def operator(self, f, first=1, second=1 / 12):
        q = self.q(f)
        return self.dt**2 * first * q + (self.dt**4 * second * self.q(q) if self.fourth else 0)

    def step(self):
        q = self.q(self.p) + self.c2 * self.layers.advance(self.p)
        after = 2 * self.p - self.before + self.dt**2 * q + self.sourced()
        after += self.dt**4 / 12 * self.q(q) if self.fourth else 0
        after = (after + self.rate * self.before) / (1 + self.rate)
        after[self.fixed] = 0
        self.before, self.p = self.p, after
        self.t += self.dt

    def energy(self):
        change = self.p - self.before
        density = (change**2 - self.before * self.operator(self.p)) / (self.c2 * self.dt**2)
        return 0.5 * float(np.sum(norm(self.configuration) * density))
