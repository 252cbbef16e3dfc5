"""The readers and pictures on what the program itself leaves; needs FDAPP (and MPIRUN, by default mpirun)."""

import configparser
import os
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fdpost import Run, convergence, open_run, scaling

PROGRAM = os.environ.get("FDAPP")
pytestmark = [pytest.mark.quick, pytest.mark.skipif(not PROGRAM, reason="FDAPP does not name the program")]
QUIET = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
CASE = """[grid]
nx = {n}
ny = {n}
nz = {n}
[initial]
case = cosine
amplitude = 2
kx = 1
ky = 2
kz = 1
[velocity]
field = uniform
u = 1
v = 0.5
w = -0.25
[time]
scheme = rk4
dt = 0.0025
t_end = 0.1
[compute]
backend = cpu
order = 4
[output]
fields_every = 20
diagnostics_every = 10
"""


def make_run(folder, n, *changes):
    """A cosine carried along by a constant velocity on 2 ranks, to t = 0.1."""
    (folder / f"n{n}.ini").write_text(CASE.format(n=n))
    launcher = shlex.split(os.environ.get("MPIRUN", "mpirun"))
    words = [*launcher, "-np", "2", PROGRAM, folder / f"n{n}.ini", f"output.directory={folder / f'n{n}'}", *changes]
    done = subprocess.run(words, env=os.environ | QUIET, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / f"n{n}"


@pytest.fixture(scope="module")
def run_path(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("real"), 24)


def exact(n, t):
    x = np.arange(n) / n
    waves = [2 * np.pi * k * (x - c * t) for k, c in ((1, 1.0), (2, 0.5), (1, -0.25))]
    return 2 * np.cos(waves[2])[:, None, None] * np.cos(waves[1])[None, :, None] * np.cos(waves[0])[None, None, :]


def test_states_hold_the_wave_where_it_should_be(run_path):
    states = Run(run_path).states
    assert [(state.step, state.size) for state in states] == [(0, (24,) * 3), (20, (24,) * 3), (40, (24,) * 3)]
    assert [state.time for state in states] == pytest.approx([0, 0.05, 0.1])
    assert np.abs(states[0].read() - exact(24, 0.0)).max() < 1e-13
    assert np.abs(states[2].read() - exact(24, 0.1)).max() < 5e-3


def test_diagnostics_agree_with_the_states(run_path):
    run = Run(run_path)
    table, phi = run.diagnostics, run.states[-1].read()
    assert table["step"].tolist() == [0, 10, 20, 30, 40]
    assert table["l2"][-1] == pytest.approx(np.sqrt((phi**2).mean()), rel=1e-12)
    assert table["max"][-1] == phi.max() and table["min"][-1] == phi.min()
    assert table["err_linf"][-1] == pytest.approx(np.abs(phi - exact(24, 0.1)).max(), rel=1e-9)


def test_dataset_carries_the_configuration(run_path):
    pytest.importorskip("xarray")
    dataset = open_run(run_path)
    assert dataset.phi.shape == (3, 24, 24, 24)
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";", "#"))
    parser.read(run_path / "config.ini")
    assert dataset.attrs["compute.order"] == parser["compute"]["order"] == "4"


def test_timings_are_there(run_path):
    perf = Run(run_path).perf
    assert perf["ranks"] == 2 and perf["steps"] == 40 and perf["seconds_per_step"] > 0
    words = ("words_per_point_and_step", "stages_per_step", "words_per_point_and_last_stage")
    assert {"transport", "overlap", *words, "phases", "stage", "ceiling_bytes_per_second"} <= set(perf)


def test_order_of_convergence(run_path):
    runs = [Run(run_path), Run(make_run(run_path.parent, 36))]
    samples = convergence.collect(runs, ["l2"])
    order, _ = convergence.fit_order([s.h for s in samples], [s.errors["l2"] for s in samples])
    assert order == pytest.approx(4, abs=0.15)


def test_a_study_in_one_command(tmp_path):
    driver, config = (Path(__file__).parents[2] / name for name in ("run/scaling", "config/scaling.ini"))
    words = [
        driver,
        "strong",
        "--backend",
        "cpu",
        "--ranks",
        "1,2",
        "--grid",
        "24x20x16",
        "--threads",
        "1",
        "--steps",
        "4",
    ]
    words += ["--repeat", "2", "--fdapp", PROGRAM, "--out", tmp_path / "a study", config, "compute.order=6"]
    words += ["--launcher", os.environ.get("MPIRUN", "mpirun") + " -np {ranks}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (curve,) = scaling.read_curves(tmp_path / "a study")
    assert (curve.label, [point.ranks for point in curve.points]) == ("24 × 20 × 16 double, 1 thread", [1, 2])
    assert set(scaling.read_exchanges(tmp_path / "a study")) >= {"host"}
    assert curve.points[1].measurement.parts.keys() == {"interior", "edges", "halo"}
    report = (tmp_path / "a study" / "report.md").read_text()
    assert "overrides compute.order=6 compute.backend=cpu time.steps=4" in report and "clock source" in report


def test_every_picture_can_be_made(run_path, fdplot):
    for command in ("slices", "history", "movie", "spectrum"):
        code, out, err = fdplot(command, run_path)
        assert code == 0, err
        assert Path(out.strip()).stat().st_size > 5000


def test_derived_data_are_fields_like_others(tmp_path, fdplot):
    run = make_run(tmp_path, 24, "output.derived=gradient", "output.slices=z=0.5", "time.t_end=0.0025")
    state = Run(run / "fields").states[0]
    assert state.fields == ("phi", "gradient") and Run(run / "fields").field == "phi"
    assert state.read("gradient").max() > 10
    (plane, *_) = sorted((run / "slices").glob("*.hdf"))
    for words in (("slices", run), ("slices", run / "fields"), ("slices", plane), ("movie", run), ("watch", run)):
        picture = tmp_path / f"{words[0]}.{'gif' if words[0] == 'movie' else 'png'}"
        code, _, err = fdplot(*words, "--field", "gradient", "-o", picture)
        assert code == 0, err
        assert picture.stat().st_size > 5000
