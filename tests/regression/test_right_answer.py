"""An independent program, numpy alone, reads step 0 of a run and computes step N: classical Runge-Kutta from its four
slopes, 8th-order central differences by rolling arrays, velocities from their formulas. In double precision it must
agree to 1e-12 of the largest value.
"""

import numpy as np
import pytest

from dense import classical, norm, points, velocity
from program import BASE, attribute, merged, phi, run, states

STEPS = 10
WAVES = {"kx": 2, "ky": 1, "kz": 3}
VELOCITIES = {
    "uniform": {"field": "uniform", "u": 0.9, "v": -0.7, "w": 0.4},
    "rotation": {"field": "rotation", "period": 1.5},
    "deformation": {"field": "deformation", "period": 1.5},
    "abc": {"field": "abc", "a": 1.0, "b": 0.7, "c": 0.4},
    "taylor_green": {"field": "taylor_green", "a": 0.8},
}


def first(f, axis, h):
    """Axis 0, 1, 2 of x, y, z lies along dimension 2, 1, 0."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    d = 2 - axis
    return sum(w * (np.roll(f, -k, d) - np.roll(f, k, d)) for k, w in enumerate(weights, 1)) / h


def second(f, axis, h):
    weights = (8 / 5, -1 / 5, 8 / 315, -1 / 560)
    d = 2 - axis
    pairs = sum(w * (np.roll(f, -k, d) + np.roll(f, k, d)) for k, w in enumerate(weights, 1))
    return (pairs - 205 / 72 * f) / h**2


def slope_of(configuration):
    """d phi / dt as a function of t and phi."""
    spacing = [norm(configuration, axis)[1] for axis in range(3)]
    c, factor = velocity(configuration)
    form = configuration["physics"]["form"]
    kappa = configuration["physics"]["diffusivity"]

    def slope(t, f):
        advective = sum(c[d] * first(f, d, spacing[d]) for d in range(3))
        conservative = sum(first(c[d] * f, d, spacing[d]) for d in range(3))
        transport = {"advective": advective, "conservative": conservative, "skew": (advective + conservative) / 2}[form]
        return -factor(t) * transport + kappa * sum(second(f, d, spacing[d]) for d in range(3))

    return slope


@pytest.mark.parametrize("form", ["advective", "conservative", "skew"])
@pytest.mark.parametrize("field", VELOCITIES)
@pytest.mark.parametrize("kappa", [0.0, 0.001])
def test_step_n_from_step_0(tmp_path, field, form, kappa):
    configuration = merged(
        BASE,
        {
            "velocity": VELOCITIES[field],
            "physics": {"form": form, "diffusivity": kappa},
            "time": {"steps": STEPS},
            "output": {"fields_every": STEPS, "diagnostics_every": 0},
        },
    )
    run(tmp_path / "run", configuration, ranks=2 if kappa > 0 else 1)
    first_state, last_state = states(tmp_path / "run")
    f = phi(tmp_path / "run" / first_state)
    assert f.dtype == np.float64
    dt = attribute(tmp_path / "run" / first_state, "dt")
    slope = slope_of(configuration)
    for step in range(STEPS):
        f = classical(slope, f, step * dt, dt)
    result = phi(tmp_path / "run" / last_state)
    assert np.abs(result - f).max() < 1e-12 * np.abs(f).max()
    assert np.abs(result - phi(tmp_path / "run" / first_state)).max() > 0.01, "nothing has moved"


def images(offset, length):
    return offset - length * np.round(offset / length)


def zalesak(x, y, radius):
    """Distance to the slotted disc's boundary as the least to 20000 points of it, negative inside."""
    wall, top = radius / 6, 2 * radius / 3
    angle = np.linspace(0, 2 * np.pi, 14000)
    arc = radius * np.stack([np.cos(angle), np.sin(angle)])
    arc = arc[:, (arc[1] > 0) | (np.abs(arc[0]) > wall)]
    height = np.linspace(-np.sqrt(radius**2 - wall**2), top, 2500)
    walls = [np.stack([np.full(2500, side), height]) for side in (-wall, wall)]
    roof = np.stack([np.linspace(-wall, wall, 1000), np.full(1000, top)])
    boundary = np.concatenate([arc, *walls, roof], 1)
    distance = np.array([np.hypot(x - px, y - py) for px, py in boundary.T]).min(0)
    inside = (np.hypot(x, y) < radius) & ~((np.abs(x) < wall) & (y < top))
    return np.where(inside, -distance, distance)


@pytest.mark.parametrize(
    "case", ["cosine", "gaussian", "sphere", "blob", "shear_layer", "sphere_distance", "slotted_distance"]
)
def test_step_0(tmp_path, case):
    """The initial values are those that the documentation names."""
    initial = {
        "case": case,
        "width": 0.2,
        "center_x": 0.9,
        "center_y": 0.33,
        "amplitude": 1.5,
        **(WAVES if case == "cosine" else {}),
    }
    configuration = merged(BASE, {"initial": initial, "time": {"steps": 0}})
    run(tmp_path / "run", configuration, ranks=3)
    at = points(configuration)
    lengths = [configuration["grid"].get(f"l{axis}", 1.0) for axis in "xyz"]
    center = [0.9, 0.33, lengths[2] / 2]
    if case == "cosine":
        shape = 1.0
        for p, length, k in zip(at, lengths, WAVES.values(), strict=True):
            shape = shape * np.cos(2 * np.pi * k * p / length)
    elif case == "gaussian":
        shape = 1.0
        for p, length, c in zip(at, lengths, center, strict=True):
            shape = shape * sum(np.exp(-(((p - c + m * length) / 0.2) ** 2) / 2) for m in range(-4, 5))
    elif case == "shear_layer":
        y, length = at[1] - center[1], lengths[1]
        shape = sum(
            np.tanh((y + (m + 0.25) * length) / 0.2) - np.tanh((y + (m - 0.25) * length) / 0.2) for m in range(-9, 10)
        )
        shape = shape - 1.0 + 0.0 * (at[0] + at[2])
    elif case == "slotted_distance":
        x, y = (images(p - c, length) for p, c, length in zip(at[:2], center, lengths, strict=False))
        shape = zalesak(x, y, 0.2) + 0.0 * at[2]
    else:
        r = np.sqrt(sum(images(p - c, length) ** 2 for p, c, length in zip(at, center, lengths, strict=True)))
        shape = np.where(r <= 0.2, 1.0 if case == "sphere" else np.cos(np.pi * r / 0.4) ** 8, 0.0)
        if case == "sphere_distance":
            shape = r - 0.2
    tolerance = 1e-4 if case == "slotted_distance" else 1e-13
    assert np.abs(phi(tmp_path / "run" / "state_00000000.hdf") - (0.1 + 1.5 * shape)).max() < tolerance


def test_last_step_lands_on_the_end(tmp_path):
    """A shorter last step, in a flow whose strength depends on time."""
    configuration = merged(BASE, {"time": {"steps": None, "courant": None, "dt": 0.02, "t_end": 0.13}})
    run(tmp_path / "run", configuration, ranks=2)
    first_state, last_state = states(tmp_path / "run")
    assert last_state == "state_00000007.hdf"
    assert attribute(tmp_path / "run" / last_state, "time") == 0.13
    f = phi(tmp_path / "run" / first_state)
    slope = slope_of(configuration)
    for step in range(6):
        f = classical(slope, f, step * 0.02, 0.02)
    f = classical(slope, f, 0.12, 0.01)
    assert np.abs(phi(tmp_path / "run" / last_state) - f).max() < 1e-12 * np.abs(f).max()
