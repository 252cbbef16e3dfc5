"""Sources of [source]: solutions that are known in closed form, and one answer over ranks and restarts."""

import h5py
import numpy as np
import pytest

from program import complaints, hash_of, many_steps, merged, phi, rows, run, states

TWO_PI = 2 * np.pi

# phi = S(x, z) times the integral of g, where nothing moves.
STILL = {
    "grid": {"nx": 24, "ny": 20, "nz": 26, "lz": 1.3},
    "constants": {"A": 0.5},
    "initial": {"case": "formula", "formula": 0},
    "velocity": {"field": "uniform", "u": 0},
    "source": {"formula": "sin(2*pi*x) + A*cos(2*pi*z/lz)"},
    "time": {"dt": 0.05, "steps": 20},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 20, "diagnostics_every": 2},
}
SOUND = merged(
    STILL,
    {"velocity": dict.fromkeys(("field", "u")), "physics": {"equation": "acoustics"}, "time": {"dt": 0.01}},
)


def shape_of_source():
    x, z = np.arange(24) / 24, np.arange(26) * 1.3 / 26
    return np.sin(TWO_PI * x)[None, None, :] + 0.5 * np.cos(TWO_PI * z / 1.3)[:, None, None] + np.zeros((26, 20, 24))


def field(directory, name, step=20):
    with h5py.File(directory / f"state_{step:08}.hdf") as file:
        return file[f"VTKHDF/PointData/{name}"][:]


@many_steps
@pytest.mark.parametrize("scheme", ["rk4", "rk3", "ck45", "kgu35"])
def test_a_polynomial_of_time_is_integrated_exactly(tmp_path, scheme):
    """All these schemes integrate powers below their order exactly, if g is taken at each stage's time."""
    run(tmp_path / "run", STILL, f"time.scheme={scheme}", "source.factor=3*t^2")
    assert np.abs(phi(tmp_path / "run/state_00000020.hdf") - shape_of_source()).max() < 1e-13
    assert not complaints(run(tmp_path / "again", STILL, "source.factor=3*t^2"))


def test_a_source_feeds_what_diffuses(tmp_path):
    """d phi/dt = kappa Laplacian phi + sin(2 pi x) reaches sin(2 pi x) (1 - exp(-k t))/k, k = 4 pi^2 kappa."""
    source = {"source": {"formula": "sin(2*pi*x)"}, "physics": {"diffusivity": 0.05}, "time": {"dt": 0.01}}
    run(tmp_path / "run", merged(STILL, source))
    k = 0.05 * TWO_PI**2
    expected = np.sin(TWO_PI * np.arange(24) / 24) * (1 - np.exp(-k * 0.2)) / k
    assert np.abs(phi(tmp_path / "run/state_00000020.hdf") - expected).max() < 1e-8 * expected.max()


def test_each_unknown_has_its_own(tmp_path):
    """A constant source of each unknown raises it alone: its gradient is zero."""
    sources = {"formula": 1, "formula_u": "-2", "formula_w": "0.5*A", "factor": "1 + 2*t"}
    run(tmp_path / "run", merged(SOUND, {"source": sources}), "time.dt=0.05")
    for name, rate in (("p", 1), ("u", -2), ("v", 0), ("w", 0.25)):
        assert np.abs(field(tmp_path / "run", name) - rate * 2).max() < 1e-13, name


@pytest.mark.parametrize("problem", [STILL, SOUND], ids=["advection", "sound"])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_one_answer(tmp_path, problem, precision):
    """The same bits on one and three ranks, and after a restart."""
    moving = {"source": {"factor": "cos(3*t)"}, "compute": {"precision": precision}}
    if problem is SOUND:
        moving["source"]["formula_v"] = "sin(2*pi*y)*exp(-x)"
    else:
        moving["velocity"] = {"field": "abc", "u": None}
        moving["time"] = {"dt": 0.015}
    problem = merged(problem, moving, {"output": {"checkpoint_every": 10}})
    whole = hash_of(run(tmp_path / "one", problem))
    assert hash_of(run(tmp_path / "three", problem, ranks=3)) == whole
    run(tmp_path / "two", problem, "time.steps=10", ranks=2)
    assert hash_of(run(tmp_path / "two", problem, "restart.from=latest")) == whole
    assert rows(tmp_path / "two")[-1]["step"] == 20 and states(tmp_path / "two")


def test_the_plan_and_warnings_know_it(tmp_path):
    """With a source the solution is not known, and a key that no unknown has is named."""
    result = run(tmp_path / "run", STILL, "source.formula_u=x", "time.steps=0")
    assert "not known: there is a source" in result.stdout
    assert "without effect, as nothing in this run uses them: source.formula_u" in result.stderr
    result = run(tmp_path / "none", STILL, "source.formula=none", "source.factor=t", "time.steps=0")
    assert "source.factor, constants.A" in result.stderr


def test_what_grows_by_more_than_its_source_has_blown_up(tmp_path):
    """From zero, a solution may grow as fast as its source feeds it. A step far too long makes more of it."""
    run(tmp_path / "right", STILL, "source.factor=1e6")
    unstable = {"velocity": {"field": "uniform", "u": 1}, "time": {"dt": 0.5, "steps": 400}}
    result = run(tmp_path / "wrong", merged(STILL, unstable), code=4)
    assert any("blew up" in line or "grown" in line or "root mean square" in line for line in complaints(result))


# Waves that nothing moves but S: a uniform pressure c^2 S times the second integral of g.
WAVES = {
    "grid": {"nx": 16, "ny": 12, "nz": 18, "lz": 1.1},
    "physics": {"equation": "wave", "sound_speed": 1.5},
    "initial": {"case": "formula", "formula": 0},
    "source": {"formula": 2},
    "time": {"dt": 0.02, "steps": 20},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 20},
}
FLOW = {
    "grid": {"nx": 12, "ny": 10, "nz": 14},
    "physics": {"equation": "flow", "viscosity": 0.01},
    "initial": {"case": "formula", "density": 1.5, "u": 0.4, "v": -0.2, "pressure": 2},
    "source": {"formula": 0.7, "formula_u": "-0.3", "formula_v": 0.1, "formula_w": 0.6, "formula_energy": 1.9},
    "time": {"dt": 0.005, "steps": 20},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 20},
}


@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
def test_waves_are_accelerated_exactly(tmp_path, scheme):
    """p = c^2 S t^2/2 from rest, although the source begins with a jump."""
    for ends in ({}, {"boundary": {"x": "wall", "z": "wall"}}):
        run(tmp_path / f"run{len(ends)}", merged(WAVES, ends), f"time.scheme={scheme}")
        expected = 1.5**2 * 2 * 0.4**2 / 2
        assert np.abs(field(tmp_path / f"run{len(ends)}", "p") - expected).max() < 1e-13


@many_steps
@pytest.mark.parametrize(("scheme", "order"), [("leapfrog", 2), ("leapfrog4", 4)])
@pytest.mark.parametrize("factor", ["cos(3*t)", "sin(3*t)"])
def test_waves_keep_their_order(tmp_path, scheme, order, factor):
    """S = cos(kx x) cos(kz z): p = S c^2 a(t), a'' + w^2 a = g with w the discrete operator's frequency."""
    shape = {"source": {"formula": "cos(2*pi*x)*cos(2*pi*z/lz)", "factor": factor}}
    taps = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])
    square, c, w = 0.0, 1.5, 3.0
    for n, length in ((16, 1.0), (18, 1.1)):
        phase, h = TWO_PI / n, length / n
        square -= c**2 / h**2 * (-205 / 72 + 2 * (taps * np.cos(phase * np.arange(1, 5))).sum())
    omega, t = np.sqrt(square), 0.4
    if factor.startswith("cos"):
        exact = (np.cos(w * t) - np.cos(omega * t)) / (square - w**2)
    else:
        exact = (np.sin(w * t) - w / omega * np.sin(omega * t)) / (square - w**2)
    errors = []
    for steps in (20, 40):
        name = tmp_path / f"{steps}"
        keys = {"dt": 0.4 / steps, "steps": steps, "scheme": scheme}
        run(name, merged(WAVES, shape, {"time": keys, "output": {"fields_every": steps}}))
        errors.append(abs(field(name, "p", steps)[0, 0, 0] - c**2 * exact))
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.1
    assert errors[1] < 1e-3


def test_a_wave_s_source_reaches_its_second_laplacian(tmp_path):
    """Walls, a free and an absorbing end, and two speeds: an independent step of order 4 with dense matrices."""
    ends = {"boundary": {"x_low": "wall", "x_high": "free", "z_low": "absorbing", "z_high": "wall"}}
    source = {"source": {"formula": "exp(-9*((x-0.4)^2+(z-0.3)^2))*(2+cos(2*pi*y))", "factor": "1+t"}}
    medium = {"medium": {"sound_speed": "1+0.3*x*z", "average": "point"}, "time": {"dt": 0.01, "steps": 3}}
    run(tmp_path / "run", merged(WAVES, ends, source, medium, {"output": {"fields_every": 3}}))
    n, h = (18, 12, 16), (1.1 / 17, 1 / 12, 1 / 15)
    z, y, x = np.meshgrid(*(np.arange(m) * d for m, d in zip(n, h)), indexing="ij")
    second = np.array([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])

    def matrix(m, d, signs):
        """Second derivative; signs of the images at both ends, or None for a periodic axis."""
        a = np.zeros((m, m))
        for i in range(m):
            for k in range(-4, 5):
                j, sign = i + k, 1.0
                if signs is None:
                    j %= m
                elif j < 0:
                    j, sign = -j, signs[0]
                elif j >= m:
                    j, sign = 2 * (m - 1) - j, signs[1]
                a[i, j] += sign * second[abs(k)] / d**2
        return a

    axes = [matrix(n[0], h[0], (1, 1)), matrix(n[1], h[1], None), matrix(n[2], h[2], (1, -1))]

    def laplacian(f):
        return sum(np.moveaxis(np.tensordot(a, f, (1, d)), 0, d) for d, a in enumerate(axes))

    dt, speed = 0.01, 1 + 0.3 * x * z
    k, s = speed**2 * dt**2, np.exp(-9 * ((x - 0.4) ** 2 + (z - 0.3) ** 2)) * (2 + np.cos(TWO_PI * y))
    r = np.zeros(n)
    r[0] = np.sqrt(k[0]) / h[0]
    inside = np.ones(n)
    inside[:, :, -1] = 0
    pushed = k * s * inside
    p, before = np.zeros(n), np.zeros(n)
    for step in range(3):
        t = step * dt
        now, mean = 1 + t, 1 + t
        if step == 0:
            now, mean = 0.5, 1 / 6 + (1 + dt / 2) / 3
        q = k * laplacian(p)
        q[:, :, -1] = 0
        new = 2 * p - before + q + k * laplacian(q) / 12 + mean * pushed + now * k * laplacian(pushed) / 12
        p, before = inside * (new + r * before) / (1 + r), p
    assert np.abs(field(tmp_path / "run", "p", 3) - p).max() < 1e-12 * np.abs(p).max()


def test_flow_is_fed_exactly(tmp_path):
    """Constant rates of density, momentum and energy on a uniform state: those grow linearly, and p follows."""
    run(tmp_path / "run", FLOW)
    t, rates = 0.1, (0.7, -0.3, 0.1, 0.6, 1.9)
    start = np.array([1.5, 1.5 * 0.4, -1.5 * 0.2, 0, 2 / 0.4 + 0.75 * (0.16 + 0.04)])
    density, *momentum, energy = start + t * np.array(rates)
    expected = {name: m / density for name, m in zip("uvw", momentum)}
    expected["density"] = density
    expected["pressure"] = 0.4 * (energy - sum(m * m for m in momentum) / density / 2)
    for name, value in expected.items():
        assert np.abs(field(tmp_path / "run", name) - value).max() < 2e-14, name


# A force per mass on a flow that varies.
PULLED = merged(
    FLOW,
    {
        "physics": {"dissipation": 0.1},
        "initial": {"density": "1.5+0.5*sin(2*pi*(x+2*y))", "u": "0.4*cos(2*pi*y)", "pressure": "2+0.1*cos(2*pi*z)"},
        "source": {"formula": None, "formula_energy": None, **{f"formula_{name}": None for name in "uvw"}},
    },
)
FORCE = np.array([0.6, -0.4, 0.9])
FORCES = {f"force_{axis}": value for axis, value in zip("xyz", map(float, FORCE), strict=True)}


def test_a_force_pulls_on_the_mass_and_does_its_work(tmp_path):
    """The momentum is M t F, of the mass M, and the energy grows by the integral of F times the momentum."""
    problem = merged(PULLED, {"source": FORCES, "output": {"diagnostics_every": 1}, "time": {"dt": 0.01}})
    said = run(tmp_path / "run", problem, ranks=2)
    assert "source     force 0.6 -0.4 0.9 per mass\n" in said.stdout
    found = rows(tmp_path / "run")
    first = np.array([found[0][f"momentum_{axis}"] for axis in "xyz"])
    for row in found:
        t, mass = row["time"], row["mass"]
        momentum = [row[f"momentum_{axis}"] for axis in "xyz"]
        assert abs(mass - found[0]["mass"]) < 1e-14 and np.abs(momentum - first - mass * t * FORCE).max() < 1e-14
        work = t * FORCE @ first + mass * t**2 / 2 * FORCE @ FORCE
        assert abs(row["energy"] - found[0]["energy"] - work) < 1e-13


@pytest.mark.parametrize("scheme", ["rk4", "rk3"])
def test_a_force_keeps_a_scheme_s_order(tmp_path, scheme):
    """Whatever the density: it is that of the state of which a stage makes the rates."""
    problem = merged(PULLED, {"source": {**FORCES, "factor": "2*cos(9*t)"}, "time": {"scheme": scheme}})
    ends = []
    for steps in (8, 16, 32):
        folder = tmp_path / f"{steps}"
        run(folder, problem, f"time.dt={0.16 / steps}", f"time.steps={steps}", f"output.fields_every={steps}")
        ends.append(np.array([field(folder, name, steps) for name in ("density", "u", "w", "pressure")]))
    order = np.log2(np.abs(ends[1] - ends[0]).max() / np.abs(ends[2] - ends[1]).max())
    assert order > {"rk4": 3.8, "rk3": 2.8}[scheme]


def test_a_force_on_a_uniform_gas_moves_it(tmp_path):
    """Beside sources of u and of heat; p stays but for their work. Of another equation it has no effect."""
    problem = merged(FLOW, {"source": {**FORCES, "formula": None, "formula_u": "0.3", "formula_energy": "0.5"}})
    run(tmp_path / "run", problem)
    t, density, start = 0.1, 1.5, np.array([0.4, -0.2, 0])
    rates = [0.3, 0.1, 0.6]
    velocity = start + t * (FORCE + np.array(rates) / density)
    energy = 2 / 0.4 + density * start @ start / 2 + 0.5 * t
    energy += density * FORCE @ (t * start + t**2 / 2 * (FORCE + np.array(rates) / density))
    pressure = 0.4 * (energy - density * velocity @ velocity / 2)
    for name, value in zip(("u", "v", "w", "density", "pressure"), (*velocity, density, pressure), strict=True):
        assert np.abs(field(tmp_path / "run", name) - value).max() < 2e-14, name
    said = run(tmp_path / "still", STILL, "source.force_z=1", "time.steps=0").stderr
    assert "without effect, as nothing in this run uses them: source.force_z" in said


@pytest.mark.parametrize("problem", [STILL, SOUND, WAVES, FLOW], ids=["advection", "sound", "wave", "flow"])
def test_a_file_is_the_formula(tmp_path, problem):
    """Datasets with a formula's values give its bits; a file without any of the names is refused."""
    n = [problem["grid"][f"n{axis}"] for axis in "zyx"]
    names = {"advection": ["phi"], "acoustics": ["p", "w"], "wave": ["p"], "flow": ["density", "u", "energy"]}
    names = names[problem.get("physics", {}).get("equation", "advection")]
    keys = ["formula", *(f"formula_{name}" for name in names[1:])]
    empty = {"formula": None, **{f"formula_{name}": None for name in ("u", "v", "w", "energy")}}
    base = merged(problem, {"source": empty | {"factor": "cos(t)"}, "output": {"fields_every": 20}})
    by_formula = merged(base, {"source": {key: f"{i + 1}*(1+x)" for i, key in enumerate(keys)}})
    lengths = n[2]
    with h5py.File(tmp_path / "source.h5", "w") as file:
        for i, name in enumerate(names):
            file[name] = np.zeros(n) + (i + 1) * (1 + np.arange(lengths) * (1 / lengths))
    expected = hash_of(run(tmp_path / "formula", by_formula))
    by_file = merged(base, {"source": {"file": tmp_path / "source.h5"}})
    assert hash_of(run(tmp_path / "file", by_file, ranks=2)) == expected
    run(tmp_path / "part", by_file, "time.steps=10")
    with h5py.File(tmp_path / "source.h5", "r+") as file:
        file[names[0]][0] *= 2
    result = run(tmp_path / "part", by_file, "restart.from=latest")
    assert "source.h5 holds other values than those with which the snapshot was computed" in result.stderr
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["other"] = np.zeros(n)
    result = run(tmp_path / "other", by_file, f"source.file={tmp_path / 'other.h5'}", code=2)
    assert f"no dataset {names[0]}" in result.stderr
    result = run(tmp_path / "both", merged(by_file, {"source": {"formula": 1}}), code=2)
    assert "source.formula is given, too; accepted: one of the two" in result.stderr
    formulas = [f"source.{key}={formula}" for key, formula in by_formula["source"].items() if key in keys]
    assert hash_of(run(tmp_path / "instead", by_file, *formulas)) == expected  # on the command line they replace it


def test_a_source_of_pressure_is_refused(tmp_path):
    """A flow has one of energy: the dataset would be passed over."""
    n = [FLOW["grid"][f"n{axis}"] for axis in "zyx"]
    for others in ((), ("u",), ("u", "energy")):
        with h5py.File(tmp_path / "source.h5", "w") as file:
            for name in (*others, "pressure"):
                file[name] = np.zeros(n)
        empty = dict.fromkeys(FLOW["source"])
        problem = merged(FLOW, {"source": empty | {"file": tmp_path / "source.h5"}})
        said = run(tmp_path / "run", problem, "--validate", code=0 if "energy" in others else 2)
        refused = "no source of pressure; accepted: datasets density, u, v, w, energy" in said.stderr
        assert refused == ("energy" not in others)


@pytest.mark.parametrize("problem", [WAVES, FLOW], ids=["wave", "flow"])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_one_answer_of_waves_and_flow(tmp_path, problem, precision):
    """The same bits on one and two ranks, and after a restart."""
    moving = {"source": {"formula": "1+0.5*sin(2*pi*x)*cos(2*pi*z/lz)", "factor": "1+cos(9*t)"}}
    moving |= {"compute": {"precision": precision}, "output": {"checkpoint_every": 10}}
    if problem is FLOW:
        moving["source"] |= FORCES
    problem = merged(problem, moving)
    whole = hash_of(run(tmp_path / "one", problem))
    assert hash_of(run(tmp_path / "two", problem, ranks=2)) == whole
    run(tmp_path / "part", problem, "time.steps=10", ranks=2)
    assert hash_of(run(tmp_path / "part", problem, "restart.from=latest")) == whole
