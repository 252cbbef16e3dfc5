"""Difference operators as dense matrices, with and without ends: derivatives from the exact fractions of
kernels/closures.json, the dissipation from its definition; a step in time; coordinates and velocity fields from their
formulas."""

import json
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np

FAMILIES = {
    family["order"]: family
    for family in json.loads((Path(__file__).resolve().parents[2] / "kernels" / "closures.json").read_text())
}


def ends(configuration, axis):
    """Kinds of the low and the high end, None for periodic."""
    name, keys = "xyz"[axis], configuration.get("boundary", {})
    kinds = [keys.get(f"{name}_{end}", keys.get(name, "periodic")) for end in ("low", "high")]
    return [None if kind == "periodic" else kind for kind in kinds]


def bounded(configuration, axis):
    """Whether it has ends."""
    return any(ends(configuration, axis))


def norm(configuration, axis):
    """Weights times spacing, and the spacing."""
    n = configuration["grid"]["n" + "xyz"[axis]]
    length = configuration["grid"].get("l" + "xyz"[axis], 1.0)
    h = length / (n - 1 if bounded(configuration, axis) else n)
    weights = np.ones(n)
    if bounded(configuration, axis):
        closed = [float(Fraction(w)) for w in FAMILIES[configuration["compute"].get("order", 8)]["norm"]]
        weights[: len(closed)] = closed
        weights[n - len(closed) :] = closed[::-1]
    return weights * h, h


def matrix(configuration, name, axis, power):
    """A dense operator along an axis. `second` lets nothing through open ends; `dissipation` is
    -H^-1 (D^m)^T D^m/(m C(2m, m))."""
    family = FAMILIES[configuration["compute"].get("order", 8)]
    weights, h = norm(configuration, axis)
    n, m, one = len(weights), family["order"] // 2, np.eye(len(weights))
    if name == "dissipation":
        difference, wrapped = one, 0 if bounded(configuration, axis) else 1
        for _ in range(m):
            difference = np.diff(difference, axis=0, append=difference[:wrapped])
        return -difference.T @ difference / (m * comb(2 * m, m)) / weights[:, None]
    sign = -1 if name == "first" else 1
    half = [float(Fraction(family["norm"][-1]) * Fraction(v)) for v in family[name + "_rows"][-1][-m:]]
    whole = sum(v * (np.roll(one, k, 1) + sign * np.roll(one, -k, 1) - (1 + sign) * one) for k, v in enumerate(half, 1))
    if bounded(configuration, axis):
        for i, row in enumerate(family[name + "_rows"]):
            for at, step, factor in ((i, 1, 1), (n - 1 - i, -1, sign)):
                whole[at] = 0
                for j, value in enumerate(row):
                    whole[at, (0 if step == 1 else n - 1) + step * j] = factor * float(Fraction(value))
        if name == "second":
            low, high = (kind != "dirichlet" for kind in ends(configuration, axis))
            for j, value in enumerate(family["slope"]):
                share = float(Fraction(value) / Fraction(family["norm"][0]))
                whole[0, j] += share * low
                whole[n - 1, n - 1 - j] += share * high
    return whole / h**power


def fixing(configuration, axis):
    """P of the penalty P (g - f) of dirichlet ends, H^-1 (|B|/h + (B S)^T) at those ends."""
    family = FAMILIES[configuration["compute"].get("order", 8)]
    weights, h = norm(configuration, axis)
    n = len(weights)
    whole = np.zeros((n, n))
    for end, kind in zip((0, n - 1), ends(configuration, axis), strict=True):
        if kind == "dirichlet":
            whole[end, end] += 1 / h
            for j, value in enumerate(family["slope"]):
                whole[abs(end - j), end] -= float(Fraction(value)) / h
    return whole / weights[:, None]


def damped(configuration, axis, speed, f):
    """-H^-1 D^T |speed| D f / (m binomial(2m, m)): D takes those m-th differences, m = order/2, that lie in the grid,
    and |speed| is that in the middle of their points, or the mean of the two there."""
    m = configuration["compute"].get("order", 8) // 2
    weights, _ = norm(configuration, axis)
    n = len(weights)
    count = n - m if bounded(configuration, axis) else n
    difference, middle = np.zeros((count, n)), np.zeros((count, n))
    for i in range(count):
        for j in range(m + 1):
            difference[i, (i + j) % n] = (-1) ** j * comb(m, j)
        for j in (m // 2, (m + 1) // 2):
            middle[i, (i + j) % n] += 0.5
    flux = along(middle, np.abs(speed), axis) * along(difference, f, axis)
    return -along(difference.T / weights[:, None], flux, axis) / (m * comb(2 * m, m))


def along(operator, f, axis):
    return np.moveaxis(np.tensordot(operator, np.moveaxis(f, 2 - axis, 0), 1), 0, 2 - axis)


def classical(slope, f, t, dt):
    """The state after a step of Runge and Kutta's classical scheme, from its four slopes; slope: of t and f."""
    k1 = slope(t, f)
    k2 = slope(t + dt / 2, f + dt / 2 * k1)
    k3 = slope(t + dt / 2, f + dt / 2 * k2)
    k4 = slope(t + dt, f + dt * k3)
    return f + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def points(configuration):
    coordinates = []
    for axis in range(3):
        weights, h = norm(configuration, axis)
        shape = [1, 1, 1]
        shape[2 - axis] = -1
        coordinates.append((h * np.arange(len(weights))).reshape(shape))
    return coordinates


def velocity(configuration):
    """u, v, w at full strength, and the factor of time. A formula is that of test_ends."""
    keys = configuration["velocity"]
    x, y, z = points(configuration)
    lx, ly, lz = (configuration["grid"].get("l" + a, 1.0) for a in "xyz")
    ax, ay, az = 2 * np.pi * x / lx, 2 * np.pi * y / ly, 2 * np.pi * z / lz
    shape = np.broadcast_shapes(x.shape, y.shape, z.shape)
    factor = lambda t: 1.0  # noqa: E731
    if keys["field"] == "uniform":
        parts = keys["u"], keys["v"], keys["w"]
    elif keys["field"] == "rotation":
        omega = 2 * np.pi / keys["period"]
        parts = -omega * (y - ly / 2), omega * (x - lx / 2), 0.0
    elif keys["field"] == "deformation":
        parts = (
            2 * lx * np.sin(ax / 2) ** 2 * np.sin(ay) * np.sin(az),
            -ly * np.sin(ax) * np.sin(ay / 2) ** 2 * np.sin(az),
            -lz * np.sin(ax) * np.sin(ay) * np.sin(az / 2) ** 2,
        )
        factor = lambda t: np.cos(np.pi * t / keys["period"])  # noqa: E731
    elif keys["field"] == "taylor_green":
        a = keys["a"]
        parts = (
            a * np.sin(ax) * np.cos(ay) * np.cos(az),
            -a * ly / lx * np.cos(ax) * np.sin(ay) * np.cos(az),
            0.0,
        )
    elif keys["field"] == "abc":
        a, b, c = keys["a"], keys["b"], keys["c"]
        parts = (
            a * np.sin(az) + c * np.cos(ay),
            b * np.sin(ax) + a * np.cos(az),
            c * np.sin(ay) + b * np.cos(ax),
        )
    else:
        parts = x - 0.4, 0.5 * y - x * z, 0.3 - z
        factor = lambda t: np.cos(3 * t)  # noqa: E731
    return [np.broadcast_to(part, shape) for part in parts], factor
