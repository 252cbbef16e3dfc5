"""Steps that follow the velocity's factor of time: their times against the rule in Python, the solution against that of
steps of one size, and one answer over ranks and resumes."""

import math

import numpy as np
import pytest

from program import BASE, attribute, hash_of, launch, merged, phi, rows, run, same_bits, states, table

COURANT = 0.9
PERIOD = 0.9
SWING = merged(
    BASE,
    {
        "grid": {"nx": 20, "ny": 18, "nz": 24, "ly": 1.0, "lz": 1.0},
        "physics": {"form": "advective", "diffusivity": None},
        "initial": {"width": 0.2, "center_x": None},
        "velocity": {"field": "formula", "u": "0.7", "v": "sin(2*pi*x)", "w": "0.2", "period": None},
        "time": {"courant": COURANT, "steps": None, "t_end": 1.1, "adaptive": "yes"},
        "output": {"fields_every": 5, "diagnostics_every": 1},
    },
)
SWING["velocity"]["factor"] = f"cos(pi*t/{PERIOD})"


X = np.arange(20) / 20
RATE = 0.7 * 20 + np.abs(np.sin(2 * np.pi * X)).max() * 18 + 0.2 * 24


def times(end, courant=COURANT, period=PERIOD):
    """The rule as the documentation states it."""
    full = courant / RATE

    def factor(t):
        return abs(math.cos(math.pi * t / period))

    result = [0.0]
    while result[-1] < end:
        t = result[-1]
        reach = full / max(factor(t), 0.1)
        dt = full / max(0.1, *(factor(t + reach * i / 4) for i in range(5)))
        result.append(min(end, t + dt))
    return result


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adaptive")
    return folder, run(folder / "whole", SWING)


def test_times_are_those_of_the_rule(whole):
    folder, said = whole
    expected = times(1.1)
    found = rows(folder / "whole")
    assert len(found) == len(expected) and found[-1]["time"] == 1.1
    assert np.abs(np.array([row["time"] for row in found]) - expected).max() < 1e-12
    assert f"adaptive, steps 0 to {len(expected) - 1}, t = 0 to 1.1" in said.stdout
    assert len(expected) < 0.9 * 1.1 / (expected[1] - expected[0])  # fewer than of one size


def test_the_solution_is_that_of_equal_steps(whole):
    """Of an eighth of the size; rk4's error falls with the fourth power of the step."""
    folder, _ = whole
    reference = run(folder / "equal", SWING, "time.adaptive=no", f"time.courant={COURANT / 8}")
    fine = run(folder / "fine", SWING, f"time.courant={COURANT / 2}")
    assert reference.returncode == fine.returncode == 0

    def difference(name):
        last = [states(folder / d)[-1] for d in (name, "equal")]
        return np.abs(phi(folder / name / last[0]) - phi(folder / "equal" / last[1])).max()

    assert difference("whole") < 2e-3
    assert difference("whole") / difference("fine") > 12


@pytest.mark.parametrize("ranks", [2, 4])
def test_one_answer_over_ranks_and_resumes(whole, ranks):
    folder, said = whole
    name = f"ranks{ranks}"
    assert hash_of(run(folder / name, SWING, "compute.threads=2", ranks=ranks)) == hash_of(said)
    assert table(folder / name) == table(folder / "whole")
    state = f"restart.from={name}/state_00000010.hdf"
    assert hash_of(run(folder / name, SWING, state, ranks=1)) == hash_of(said)
    assert table(folder / name) == table(folder / "whole")
    for file in states(folder / "whole"):
        assert same_bits(phi(folder / name / file), phi(folder / "whole" / file))
        assert attribute(folder / name / file, "dt") == attribute(folder / "whole" / file, "dt")


def test_steps_in_place_of_an_end(whole):
    folder, _ = whole
    run(folder / "steps", SWING, "time.steps=12", "time.adaptive=yes", ranks=2)
    run(folder / "steps", SWING, "time.steps=17", "restart.from=latest")
    assert rows(folder / "steps") == rows(folder / "whole")[:18]


def test_the_plan_warns_of_the_longest_step(tmp_path):
    """Diffusion that a step of the largest velocity holds and the longest one does not: rk4's limit is 2.785, the
    symbol of the second difference of order 8 at most 6.502."""
    full = times(0.05)[1]
    limit = 2.785 / (6.502 * (20**2 + 18**2 + 24**2) * full)
    change = {"physics": {"diffusivity": float(0.6 * limit)}}
    adaptive = run(tmp_path / "run", merged(SWING, change), "--validate")
    fixed = run(tmp_path / "run", merged(SWING, change), "--validate", "time.adaptive=no")
    assert "for diffusion" in adaptive.stderr and "for diffusion" not in fixed.stderr


def test_the_plan_warns_of_a_factor_that_changes_within_a_step(tmp_path):
    """A step that begins where the factor is small; rk4's limit with order 8 is 2.8284/1.7306."""
    limit, courant = 2.8284 / 1.7306, 1.6

    def largest(period):
        t = np.array(times(1.1, courant, period))
        dense = t[:-1, None] + np.diff(t)[:, None] * np.linspace(0, 1, 1001)
        return (np.abs(np.cos(np.pi * dense / period)).max(axis=1) * np.diff(t)).max() * RATE

    for period in (0.07, PERIOD):
        change = {"time": {"courant": courant}, "velocity": {"factor": f"cos(pi*t/{period})"}}
        said = run(tmp_path / "run", merged(SWING, change), "--validate").stderr
        assert ("Courant number" in said) == (largest(period) > limit) == (period != PERIOD)
        if period != PERIOD:
            told = float(said.split("gives a Courant number of ")[1].split(",")[0])
            assert abs(told / largest(period) - 1) < 0.01


def test_without_effect_and_refused(tmp_path):
    steady = {"velocity": {"factor": "1"}}
    said = run(tmp_path / "steady", merged(SWING, steady), "--validate")
    assert "without effect" in said.stderr and "time.adaptive" in said.stderr
    assert "adaptive" not in said.stdout
    given = launch(tmp_path, 1, "steady.ini", "time.dt=0.01", "--validate", code=2)
    assert "time.adaptive = yes: " in given.stderr and "time.courant in its place" in given.stderr
