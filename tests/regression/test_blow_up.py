"""Solutions that blow up: exit code 4, and what is on the disk then; and those that only look like it."""

import json
import re

import numpy as np
import pytest

from program import attribute, launch, phi, rows, run, states, variant

PRECISIONS = ("double", "single")


def test_not_finite(tmp_path):
    """Beyond the limit; warned of once, and what is on disk at the end is good."""
    configuration = variant(time={"courant": 8.0, "steps": 4000}, output={"fields_every": 20, "diagnostics_every": 0})
    result = run(tmp_path / "run", configuration, ranks=3, code=4)
    assert len(re.findall(r"warning: .*beyond the limit 1\.634", result.stderr)) == 1
    assert result.stderr.count("the solution blew up") == 1
    good = states(tmp_path / "run")
    assert good
    assert f"the last good snapshot is that of step {int(good[-1][6:14])}" in result.stderr
    launch(tmp_path, 1, "--verify", *[f"run/{name}" for name in good])


def test_blow_up_without_output(tmp_path):
    nothing = {"fields_every": 0, "diagnostics_every": 0}
    configuration = variant(time={"courant": None, "dt": 50, "steps": 300}, output=nothing)
    result = run(tmp_path / "run", configuration, ranks=2, code=4)
    assert "at step 300, t = 15000, it is not finite" in result.stderr and "; no snapshot is kept: " in result.stderr
    assert "\nsolution   phi not finite at step 300\n" in result.stdout
    assert json.loads((tmp_path / "run" / "perf.json").read_text())["steps"] > 0


def test_the_snapshot_under_way_is_ended(tmp_path):
    """A snapshot that is being written when the solution blows up is good: it is completed, and named as the last."""
    output = {"fields_every": 0, "checkpoint_every": 1, "diagnostics_every": 0}
    fine = {"nx": 64, "ny": 64, "nz": 64}
    configuration = variant(grid=fine, time={"courant": None, "dt": 50, "steps": 300}, output=output)
    said = run(tmp_path / "run", configuration, ranks=2, code=4).stderr
    newest = attribute(tmp_path / "run" / states(tmp_path / "run")[-1], "step")
    assert f"the last good snapshot is that of step {newest}" in said


GROWN = r"its root mean square deviation from (\S+) is (\S+), from \S+ at t = 0; it can be (\S+)"


def deviation(path, background):
    return float(np.sqrt(np.mean((phi(path).astype(float) - background) ** 2)))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("height", (1.0, 1e-3), ids=("", "small on a background"))
def test_grown_beyond_bounds(tmp_path, precision, height):
    """Finite still, but more than advection can make of it: no success, and neither kept nor resumed from. What counts
    is the deviation: a background hides nothing."""
    output = {"fields_every": 4, "checkpoint_every": 1, "diagnostics_every": 0}
    initial = {"amplitude": height, "background": 0.1 if height == 1.0 else 10.0}
    configuration = variant("rk4", precision, time={"courant": 5.0, "steps": 400}, output=output, initial=initial)
    result = run(tmp_path / "run", configuration, ranks=2, code=4)
    background, grown, most = map(float, re.search(GROWN, result.stderr).groups())
    assert most < grown < 1e6 * height
    good = states(tmp_path / "run")
    assert len(good) >= 2
    start = deviation(tmp_path / "run" / good[0], background)
    assert all(deviation(tmp_path / "run" / name, background) <= 1.1 * start for name in good)
    # A run that goes on judges by the same beginning, and ends at the same step.
    again = run(tmp_path / "run", configuration, "restart.from=latest", code=4)
    assert re.search(GROWN, again.stderr)[0] == re.search(GROWN, result.stderr)[0]


FINE = (
    ({"case": "cosine", "kx": 1, "ky": 1, "kz": 0}, 1.2),
    ({"case": "blob", "width": 0.1}, 0.2),
    ({"case": "blob", "width": 0.1}, 1.6),
)


@pytest.mark.parametrize(("initial", "courant"), FINE, ids=("a wave", "a blob of 1.6 spacings", "with long steps"))
def test_a_field_too_fine_for_the_grid_is_no_blow_up(tmp_path, initial, courant):
    """Differences in space let noise of the grid grow in the advective form, by no more than their commutator with the
    velocity: 2.66 for each unit of strain and time here (docs/explanation/equations.md). That is no step too long."""
    configuration = {
        "grid": {"nx": 16, "ny": 16, "nz": 16},
        "initial": initial,
        "velocity": {"field": "taylor_green", "a": 1 / (2 * np.pi)},
        "time": {"courant": courant, "t_end": 8},
        "output": {"fields_every": 0, "diagnostics_every": 1},
    }
    run(tmp_path / "run", configuration)
    norms = [row["l2"] for row in rows(tmp_path / "run")]
    assert 2 < max(norms) / norms[0] < 1000


def test_no_good_snapshot_makes_room_for_a_bad_one(tmp_path):
    """A step little beyond the limit, where the solution grows slowly: |phi| is never above 1 in this equation, and
    waves of the grid reach some 10 % of it before they are noticed."""
    configuration = variant(
        grid={"nx": 24, "ny": 24, "nz": 24, "ly": 1, "lz": 1},
        physics={"form": "conservative", "diffusivity": None},
        initial={"case": "blob", "center_x": 0.35, "center_y": 0.35, "center_z": 0.35, "width": 0.25, "background": 0},
        time={"courant": 2.6, "steps": 40},
        output={"fields_every": 0, "checkpoint_every": 1, "diagnostics_every": 0},
    )
    run(tmp_path / "run", configuration, code=4)
    assert len(states(tmp_path / "run")) == 2
    assert all(abs(phi(tmp_path / "run" / name)).max() < 2 for name in states(tmp_path / "run"))
