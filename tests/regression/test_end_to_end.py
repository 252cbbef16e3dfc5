"""Runs as users make them: ranks, threads, directories, exit codes. Bits, not tolerances."""

import json
import re
import shutil

import numpy as np
import pytest

from program import (
    BASE,
    LAST,
    VARIANTS,
    assert_same_end,
    attribute,
    complaints,
    launch,
    merged,
    phi,
    rows,
    run,
    same_bits,
    series,
    states,
    table,
    tree,
    variant,
    write_ini,
)

STEPS = 24


@pytest.mark.parametrize(("scheme", "precision"), VARIANTS)
def test_rank_counts(tmp_path, scheme, precision):
    configuration = variant(scheme, precision)
    run(tmp_path / "np1", configuration)
    for ranks, threads in ((2, 2), (3, 1), (5, 1)):
        directory = tmp_path / f"np{ranks}"
        run(directory, configuration, f"compute.threads={threads}", ranks=ranks)
        assert states(directory) == states(tmp_path / "np1")
        for name in states(directory):
            assert same_bits(phi(directory / name), phi(tmp_path / "np1" / name))
        assert table(directory) == table(tmp_path / "np1")
    assert not same_bits(phi(tmp_path / "np1" / LAST), phi(tmp_path / "np1" / "state_00000012.hdf"))


def test_threads_of_a_variable_that_is_no_number(tmp_path, monkeypatch):
    """OpenMP would take all processors for each rank; a rank takes its share, as without the variable."""
    threads = {}
    for value in (None, "", "many", "2"):
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        if value is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", value)
        directory = tmp_path / f"threads_{value}"
        run(directory, variant("rk4", "single"), "compute.threads=0", "time.steps=1", ranks=2)
        threads[value] = json.loads((directory / "perf.json").read_text())["threads"]
    assert threads[""] == threads["many"] == threads[None]
    assert threads["2"] == 2


def test_more_threads_than_a_rank_can_have(tmp_path, monkeypatch):
    """OpenMP would end the program itself, or crash."""
    monkeypatch.setenv("OMP_NUM_THREADS", "100000")
    write_ini(tmp_path / "case.ini", variant("rk4", "single", compute={"threads": 0}))
    said = launch(tmp_path, 2, "case.ini", code=2).stderr
    assert "OMP_NUM_THREADS: 100000 threads; accepted: at most 4096" in said
    launch(tmp_path, 1, "--validate", "case.ini", code=2)
    launch(tmp_path, 1, "case.ini", "compute.threads=1", "time.steps=1")


def test_bound_named_for_the_step_size(tmp_path):
    """All its printed digits, as somebody copies it."""
    write_ini(tmp_path / "case.ini", variant("rk4", "double", time={"courant": None, "steps": None, "t_end": 1e30}))
    for t_end in (1e30, 1.0, 0.7):
        said = launch(tmp_path, 1, "--validate", "case.ini", f"time.t_end={t_end}", f"time.dt={1e-9 * t_end}", code=2)
        least = re.search(r"accepted: a number from (\S+)", said.stderr)[1]
        launch(tmp_path, 1, "--validate", "case.ini", f"time.t_end={t_end}", f"time.dt={least}")


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_damaged_state(tmp_path):
    """Refused by name; passed over by latest, once and aloud, for the one before."""
    configuration = variant()
    run(tmp_path / "whole", configuration, ranks=2)
    shutil.copytree(tmp_path / "whole", tmp_path / "run")
    damage(tmp_path / "run" / LAST)
    result = run(tmp_path / "run", configuration, f"restart.from=run/{LAST}", ranks=2, code=3)
    assert LAST in result.stderr
    result = launch(tmp_path, 1, "--verify", f"run/{LAST}", f"whole/{LAST}", code=3)
    assert f"run/{LAST}" in result.stderr
    assert f"whole/{LAST}" in result.stdout
    result = run(tmp_path / "run", configuration, "restart.from=latest", ranks=3)
    assert len([row for row in result.stderr.splitlines() if "warning" in row and LAST in row]) == 1
    assert_same_end(tmp_path / "run", tmp_path / "whole")


def test_environment_faults(tmp_path):
    configuration = variant()
    write_ini(tmp_path / "run.ini", configuration)
    result = launch(tmp_path, 2, "run.ini", "restart.from=nowhere.hdf", code=3)
    assert result.stderr.count("nowhere.hdf") == 1
    run(tmp_path / "other", configuration, "grid.nx=34", "time.steps=0")
    result = launch(tmp_path, 2, "run.ini", "restart.from=other/state_00000000.hdf", code=3)
    assert result.stderr.count("fdapp: error") == 1


def test_growth_by_a_divergence_is_none_beyond_bounds(tmp_path):
    """A flow towards the middle of the box gathers what is conserved: phi = exp(3 t) there."""
    towards = {axis: f"sin(2*pi*{x})/(2*pi)" for axis, x in zip("uvw", "xyz", strict=True)}
    configuration = {
        "grid": {"nx": 48, "ny": 48, "nz": 48},
        "physics": {"form": "conservative"},
        "initial": {"case": "formula", "formula": "1"},
        "velocity": {"field": "formula", **towards},
        "time": {"courant": 1.2, "t_end": 2.4},
        "output": {"fields_every": 0, "diagnostics_every": 1},
    }
    result = run(tmp_path / "run", configuration)
    assert "nothing will be seen to change" not in result.stderr
    last = rows(tmp_path / "run")[-1]
    assert last["mass"] == pytest.approx(1, rel=1e-12)
    assert last["max"] == pytest.approx(np.exp(3 * 2.4), rel=0.25)
    # In the advective form a constant stays.
    still = merged(configuration, {"physics": {"form": "advective"}, "time": {"t_end": None, "steps": 2}})
    assert (
        "the initial state is 1 at every point: nothing will be seen to change" in run(tmp_path / "still", still).stderr
    )


def test_energy_of_sound_does_not_grow(tmp_path):
    configuration = {
        "grid": {"nx": 20, "ny": 20, "nz": 20},
        "boundary": {"x": "wall", "y": "absorbing"},
        "physics": {"equation": "acoustics"},
        "initial": {"case": "gaussian"},
        "time": {"courant": 1.8, "steps": 4000},
        "output": {"fields_every": 0, "diagnostics_every": 1},
    }
    result = run(tmp_path / "run", configuration, code=4)
    assert "its energy per volume is " in result.stderr
    energies = [row["energy"] for row in rows(tmp_path / "run")]
    assert len(energies) > 3
    assert max(energies) <= 1.05**2 * energies[0]


def test_first_and_last_are_kept_unless_told_otherwise(tmp_path):
    configuration = merged(BASE, {"output": {"fields_every": None}})
    result = run(tmp_path / "run", configuration)
    assert states(tmp_path / "run") == ["state_00000000.hdf", LAST]
    assert "2 snapshots to keep" in result.stdout
    result = run(tmp_path / "none", configuration, "output.fields_every=0")
    assert not states(tmp_path / "none")
    assert "no snapshot to keep (output.fields_every = N keeps" in result.stdout
    assert "output.fields_at = T does so by time)" in result.stdout


@pytest.mark.parametrize("ranks", [1, 3])
def test_validate_writes_nothing(tmp_path, ranks):
    write_ini(tmp_path / "run.ini", variant())
    before = tree(tmp_path)
    result = launch(tmp_path, ranks, "--validate", "run.ini")
    assert tree(tmp_path) == before
    assert "33 x 20 x 37" in result.stdout
    assert len(re.findall(r"^time .*steps 0 to 24", result.stdout, re.MULTILINE)) == 1
    assert not complaints(result)


def test_written_configuration_reproduces_the_run(tmp_path):
    configuration = variant("ck45", time={"courant": 1.0 / 3.0, "steps": None, "t_end": 0.07})
    run(tmp_path / "first", configuration, "physics.diffusivity=0.0003", "grid.lx=1.1", ranks=2)
    shutil.copy(tmp_path / "first" / "config.ini", tmp_path / "again.ini")
    launch(tmp_path, 3, "again.ini", "output.directory=second")
    assert states(tmp_path / "second") == states(tmp_path / "first")
    assert_same_end(tmp_path / "second", tmp_path / "first", states(tmp_path / "first")[-1])


def test_perf_json(tmp_path):
    run(tmp_path / "run", variant(), ranks=2)
    perf = json.loads((tmp_path / "run" / "perf.json").read_text())
    for phase in ("setup", "steps", "diagnostics", "output"):
        figures = perf["phases"][phase]
        assert 0 < figures["min"] <= figures["mean"] <= figures["max"]
    assert perf["ranks"] == 2
    assert perf["grid"] == [33, 20, 37]
    assert perf["steps"] == STEPS
    assert perf["backend"] == "cpu"
    assert perf["transport"]["name"]
    # rk4 of a flow that depends on time: 13 words of 8 bytes, and none for the velocity.
    assert perf["words_per_point_and_step"] == 13
    # The last of four stages reads its field, the step's start and two results of stages.
    assert (perf["stages_per_step"], perf["words_per_point_and_last_stage"]) == (4, 5)
    assert perf["points_per_second"] == pytest.approx(33 * 20 * 37 * STEPS / perf["phases"]["steps"]["max"], rel=1e-6)
    assert perf["bytes_per_second"] == pytest.approx(perf["points_per_second"] * 13 * 8, rel=1e-6)
    assert perf["share_of_ceiling"] == pytest.approx(perf["bytes_per_second"] / perf["ceiling_bytes_per_second"])
    for key in ("version", "revision", "compiler", "mpi", "hdf5", "host", "date"):
        assert perf["provenance"][key]


def test_states_and_series(tmp_path):
    """Pictures stay, checkpoints are pruned to the newest two, and the index lists what is there."""
    output = {"fields_every": 10, "checkpoint_every": 3, "checkpoint_keep": 2}
    run(tmp_path / "run", variant(time={"steps": 26}, output=output), ranks=2)
    assert states(tmp_path / "run") == [f"state_{step:08d}.hdf" for step in (0, 10, 20, 21, 24, 26)]
    index = series(tmp_path / "run")
    assert list(index) == states(tmp_path / "run")
    for name, moment in index.items():
        assert moment == attribute(tmp_path / "run" / name, "time")


def test_second_start_sets_the_first_aside(tmp_path):
    configuration = variant()
    run(tmp_path / "run", configuration, ranks=2)
    first = tree(tmp_path / "run")
    result = run(tmp_path / "run", configuration, "time.steps=5", ranks=2)
    assert "previous_1" in result.stdout
    moved = tree(tmp_path / "run" / "previous_1")
    assert moved == {name: content for name, content in first.items() if name != ".lock"}
    assert states(tmp_path / "run") == ["state_00000000.hdf", "state_00000005.hdf"]
    run(tmp_path / "run", configuration, "time.steps=3", ranks=2)
    assert states(tmp_path / "run" / "previous_2") == ["state_00000000.hdf", "state_00000005.hdf"]
    assert tree(tmp_path / "run" / "previous_1") == moved


def test_a_factor_too_large_later_loses_no_snapshot(tmp_path):
    """The formula is sampled before the run; a peak between the samples shows when the run is there."""
    peak = {"field": "formula", "period": None, "u": 1, "v": 0, "w": 0, "factor": "0.5 + exp(-1e9*(t - 0.1)^2)"}
    keys = {"time": {"courant": None, "dt": 0.01, "steps": 30}, "output": {"fields_every": 0, "checkpoint_every": 1}}
    result = run(tmp_path / "run", merged(BASE, {"velocity": peak}, keys), ranks=2, code=4)
    newest = int(states(tmp_path / "run")[-1][6:14])
    assert "velocity.factor is 1.5 at t = 0.1; accepted: at most 1 in magnitude" in result.stderr
    assert f"the last good snapshot is that of step {newest}" in result.stderr and newest == 9
