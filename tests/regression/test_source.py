"""Sources of [source]: solutions that are known in closed form, and one answer over ranks and restarts."""

import h5py
import numpy as np
import pytest

from program import complaints, hash_of, merged, phi, rows, run, states

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
