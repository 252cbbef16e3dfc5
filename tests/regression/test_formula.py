"""Problems of one's own, by formulas: their values against numpy, and one answer over ranks, threads, restarts and
processors."""

import h5py
import numpy as np
import pytest
from test_processors import OLDER

from program import complaints, hash_of, launch, merged, phi, rows, run, same_bits, states, table, write_ini

TWO_PI = 2 * np.pi

PROBLEM = {
    "grid": {"nx": 24, "ny": 20, "nz": 26, "ly": 0.8, "lz": 1.3},
    "constants": {"A": 0.3, "width": 0.15},
    "initial": {
        "case": "formula",
        "formula": "A + exp(-((x - 0.5*lx)^2 + (y - 0.5*ly)^2)/width^2)*(z < 0.5*lz ? 1 : cos(2*pi*z/lz))",
    },
    "velocity": {
        "field": "formula",
        "u": "A*sin(2*pi*y/ly) + 0.1*cos(2*pi*z/lz)",
        "v": "A*cos(2*pi*x/lx)",
        "w": "0.2*sin(2*pi*x/lx)^3",
        "factor": "cos(3*t)",
    },
    "time": {"courant": 1.0, "steps": 12},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 6, "diagnostics_every": 3},
}


def coordinates(configuration):
    grid = configuration["grid"]
    x, y, z = (grid.get("l" + a, 1.0) / grid["n" + a] * np.arange(grid["n" + a]) for a in "xyz")
    return x[None, None, :], y[None, :, None], z[:, None, None]


def test_initial_values_are_those_of_numpy(tmp_path):
    run(tmp_path / "run", PROBLEM, "time.steps=0")
    x, y, z = coordinates(PROBLEM)
    expected = 0.3 + np.exp(-((x - 0.5) ** 2 + (y - 0.4) ** 2) / 0.15**2) * np.where(
        z < 0.65, 1.0, np.cos(TWO_PI * z / 1.3)
    )
    assert np.abs(phi(tmp_path / "run/state_00000000.hdf") - expected).max() < 1e-15 * 8


@pytest.mark.parametrize("form", ["advective", "conservative", "skew"])
def test_velocity_is_the_same_as_by_name(tmp_path, form):
    """The deformation flow written as formulas: the same solution as that of the field that the program knows."""
    known = merged(
        PROBLEM,
        {"velocity": dict.fromkeys(("u", "v", "w", "factor")), "physics": {"form": form}},
        {"grid": {"ly": 1.0, "lz": 1.0}, "velocity": {"field": "deformation", "period": 0.9}},
    )
    own = merged(
        known,
        {
            "velocity": {
                "field": "formula",
                "u": "2*sin(pi*x)^2*sin(2*pi*y)*sin(2*pi*z)",
                "v": "-sin(2*pi*x)*sin(pi*y)^2*sin(2*pi*z)",
                "w": "-sin(2*pi*x)*sin(2*pi*y)*sin(pi*z)^2",
                "factor": "cos(pi*t/0.9)",
                "period": None,
            }
        },
    )
    run(tmp_path / "known", known)
    run(tmp_path / "own", own, ranks=2)
    a, b = phi(tmp_path / "known/state_00000012.hdf"), phi(tmp_path / "own/state_00000012.hdf")
    assert np.abs(a - phi(tmp_path / "known/state_00000000.hdf")).max() > 0.01
    assert np.abs(a - b).max() < 1e-13


@pytest.mark.parametrize("precision", ["double", "single"])
def test_one_answer(tmp_path, precision):
    configuration = merged(PROBLEM, {"compute": {"precision": precision}, "physics": {"form": "skew"}})
    first = run(tmp_path / "first", configuration)
    for ranks, threads in ((1, 2), (2, 1), (3, 2), (4, 1)):
        directory = tmp_path / f"np{ranks}{threads}"
        other = run(directory, configuration, f"compute.threads={threads}", ranks=ranks)
        assert hash_of(other) == hash_of(first)
        assert table(directory) == table(tmp_path / "first")
    run(tmp_path / "parts", configuration, "time.steps=5", ranks=2)
    again = run(tmp_path / "parts", configuration, "restart.from=latest", ranks=3)
    assert hash_of(again) == hash_of(first)
    assert same_bits(phi(tmp_path / "parts/state_00000012.hdf"), phi(tmp_path / "first/state_00000012.hdf"))


def test_older_processor_gives_the_same_bits(tmp_path):
    functions = "sin(x) + cos(y) + tan(z) + exp(x) + log(y + 1) + x^2.5 + tanh(z) + atan2(y, x + 1) + sinh(x)"
    configuration = merged(PROBLEM, {"initial": {"formula": functions}})
    for folder in ("this", "older"):
        (tmp_path / folder).mkdir()
        write_ini(tmp_path / folder / "run.ini", configuration)
    this = launch(tmp_path / "this", 1, "run.ini")
    older = launch(tmp_path / "older", 1, "run.ini", environment={"GLIBC_TUNABLES": OLDER})
    assert hash_of(this) == hash_of(older)
    assert table(tmp_path / "this/runs/run") == table(tmp_path / "older/runs/run")


def test_exact_solution_after_a_shift(tmp_path):
    """A formula in a uniform flow is known: the formula where each point came from."""
    shift = {
        "initial": {"formula": "sin(2*pi*x)*cos(4*pi*y/ly) + sin(2*pi*z/lz)"},
        "velocity": {"field": "uniform", "u": 1.0, "v": 0.5, "w": -0.7, "factor": None},
        "output": {"diagnostics_every": 12},
    }
    run(tmp_path / "run", merged(PROBLEM, shift))
    assert rows(tmp_path / "run")[-1]["err_linf"] < 2e-4


def test_the_resolved_configuration_reproduces_the_run(tmp_path):
    first = run(tmp_path / "first", PROBLEM)
    again = launch(tmp_path, 1, "first/config.ini", "output.directory=again")
    assert hash_of(again) == hash_of(first)
    assert states(tmp_path / "again") == states(tmp_path / "first")


def test_constants_are_part_of_the_problem(tmp_path):
    """Another value of a constant is another problem: a run that resumes says so."""
    run(tmp_path / "run", PROBLEM, "time.steps=6")
    result = run(tmp_path / "run", PROBLEM, "restart.from=latest", "constants.A=0.31")
    assert "constants.A" in result.stdout + result.stderr


def test_long_formula_with_a_long_comment(tmp_path):
    terms = " + ".join(f"0.01*sin({k}*2*pi*x)" for k in range(1, 12)) + " ; " + 500 * "comment "
    assert len(terms) > 4000
    run(tmp_path / "run", merged(PROBLEM, {"initial": {"formula": terms}}), "time.steps=0")
    x, _, _ = coordinates(PROBLEM)
    expected = sum(0.01 * np.sin(k * TWO_PI * x) for k in range(1, 12))
    assert np.abs(phi(tmp_path / "run/state_00000000.hdf") - expected).max() < 1e-14


def test_constants_without_a_formula_are_named(tmp_path):
    result = run(
        tmp_path / "run",
        merged(
            PROBLEM,
            {"initial": {"case": "blob", "formula": None}, "velocity": {"field": "abc", "u": 1, "v": None, "w": None}},
        ),
        "time.steps=0",
    )
    said = " ".join(complaints(result))
    for key in ("velocity.u", "velocity.factor", "constants.A", "constants.width"):
        assert key in said


def test_snapshot_holds_the_formulas(tmp_path):
    run(tmp_path / "run", PROBLEM, "time.steps=0")
    with h5py.File(tmp_path / "run/state_00000000.hdf") as file:
        text = file["fdapp"].attrs["config"]
    assert PROBLEM["initial"]["formula"] in (text.decode() if isinstance(text, bytes) else text)
