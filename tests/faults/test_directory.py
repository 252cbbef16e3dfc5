"""The run's directory: earlier results that are moved away when a run is killed, another run in the directory's place,
files under wrong names, and what is no file at all."""

import collections
import json
import os
import shutil
import signal

import pytest

import harness

SMALL = ("grid.nx=9", "grid.ny=10", "grid.nz=12", "time.steps=8", "output.fields_every=2", "output.checkpoint_every=0")
LIMIT = 30  # seconds within which a run has ended
CALLS = 20  # until all has moved, and some more
# What changes names in a directory.
CHANGES = ("rename", "unlink", "mkdir")


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """Results of another run, of order 8."""
    directory = tmp_path_factory.mktemp("earlier") / "run"
    assert harness.run(directory, *SMALL, ranks=1).code == 0
    return directory


def copy(earlier, base):
    shutil.copytree(earlier, base / "run")
    return base / "run"


def named(directory):
    """What the index that ParaView reads has in it."""
    index = directory / "state.hdf.series"
    return [entry["name"] for entry in json.loads(index.read_text())["files"]] if index.exists() else []


def going_back(directory):
    """Words that take a run back to an earlier state, on another way from there."""
    return "time.courant=0.4", f"restart.from={directory}/state_00000004.hdf"


WAYS = {"anew": lambda directory: ("compute.order=2",), "back": going_back}


@pytest.mark.parametrize("way", WAYS)
def test_kill_while_results_move(tmp_path, earlier, figures, way):
    """Killed at each call that changes the directory: either nothing has moved yet, or the next start, from the latest
    state, sees nothing of what was to move; then it ends as if nobody had been killed."""
    whole = copy(earlier, tmp_path / "whole")
    log = tmp_path / "log"
    done = harness.run(whole, *SMALL, *WAYS[way](whole), ranks=1, environment=harness.fault(0, log=log))
    assert done.code == 0, done.stderr
    moved = {path.name for path in (whole / "previous_1").iterdir()}
    assert len(moved) > 5
    calls, places = collections.Counter(), []
    for place in log.read_text().splitlines():
        calls[place] += 1
        if place.split()[0] == "mkdir":
            places.clear()  # the last one makes the place to move to
        if place.split()[0] in CHANGES:
            places.append((place, calls[place]))
    places = places[:CALLS]

    def kill(case):
        number, (place, call) = case
        directory = copy(earlier, tmp_path / f"{number}")
        words = WAYS[way](directory)
        how = harness.fault(0, site=place, call=call, how="kill")
        assert harness.run(directory, *SMALL, *words, ranks=1, environment=how).code != 0, (place, call)
        assert set(named(directory)) <= {path.name for path in harness.states(directory)}, (place, call)
        begun = (directory / ".moving").exists() or any((directory / "previous_1").glob("state_*"))
        resumed = harness.run(directory, *SMALL, words[0], "restart.from=latest", ranks=2)
        assert resumed.code == 0, (place, call, resumed.stderr)
        if begun:
            assert harness.same_end(directory, whole), (place, call, resumed.stdout)
            assert moved <= {path.name for path in (directory / "previous_1").iterdir()}, (place, call)
        assert named(directory) == [path.name for path in harness.states(directory)], (place, call)
        if not begun:
            assert {path.name for path in harness.states(earlier)} <= {path.name for path in harness.states(directory)}
        assert not (directory / ".moving").exists()
        return begun

    begun = harness.together(kill, enumerate(places))
    assert sum(begun) > 1 and not all(begun), begun
    figures[f"kills at calls while earlier results move, a run that starts {way}"] = len(begun)


def test_by_name_after_a_kill(tmp_path, earlier):
    """A state that was to move is not begun from where it lies; it is where the rest has gone."""
    directory = copy(earlier, tmp_path)
    (directory / "previous_1").mkdir()
    (directory / ".moving").write_text("previous_1 -1\n")
    words = ("time.steps=12", f"restart.from={directory}/state_00000008.hdf")
    run = harness.run(directory, *SMALL, *words, ranks=2)
    assert run.code == 3 and len(run.errors) == 1 and "state_00000008.hdf" in run.errors[0], run.stderr
    assert harness.states(directory) == [] and len(harness.states(directory / "previous_1")) == 5
    run = harness.run(directory, *SMALL, words[0], f"restart.from={directory}/previous_1/state_00000008.hdf", ranks=2)
    assert run.code == 0, run.stderr


def test_directory_of_another_run(tmp_path):
    """A run whose directory has been replaced by another run's writes nothing into it."""
    directory = tmp_path / "run"
    endless = ("time.steps=99999999", "output.fields_every=0", "output.checkpoint_every=0")
    first = harness.Run(directory, *endless, "compute.order=2", ranks=1)
    table = directory / "diagnostics.csv"
    first.wait_for(lambda: table.exists() and table.read_text().count("\n") > 2, "rows: its files are open")
    directory.rename(tmp_path / "gone")
    assert harness.run(directory, "time.steps=4", ranks=1).code == 0
    there = {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}
    for rank in first.ranks():
        os.kill(rank, signal.SIGUSR1)  # a state is wanted
    first.finish(LIMIT)
    assert first.code == 3 and len(first.errors) == 1, first.stderr
    assert str(directory) in first.errors[0] and "another run" in first.errors[0]
    assert there == {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def test_state_under_another_name(tmp_path, earlier):
    directory = copy(earlier, tmp_path)
    last = directory / "state_00000008.hdf"
    shutil.copy(directory / "state_00000002.hdf", last)
    run = harness.run(directory, *SMALL, "restart.from=latest", ranks=2)
    assert run.code == 0 and harness.same_end(directory, earlier), run.stderr
    assert len(run.warnings) == 1 and str(last) in run.warnings[0] and "step 2" in run.warnings[0]


@pytest.mark.parametrize("name", ("config.ini", "diagnostics.csv", "perf.json"))
def test_named_pipes_do_not_hold_a_run_up(tmp_path, earlier, name):
    directory = copy(earlier, tmp_path)
    (directory / name).unlink()
    os.mkfifo(directory / name)
    back = harness.run(directory, *SMALL, *going_back(directory), ranks=2, longest=LIMIT)
    on = harness.run(directory, *SMALL, "time.steps=12", "restart.from=latest", ranks=2, longest=LIMIT)
    for run in on, back:
        assert run.code in (0, 3)
        assert run.code == 0 or (len(run.errors) == 1 and str(directory / name) in run.errors[0]), run.stderr


def test_lock_that_is_a_link(tmp_path, earlier):
    directory = copy(earlier, tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("words")
    (directory / ".lock").unlink()
    (directory / ".lock").symlink_to(victim)
    run = harness.run(directory, *SMALL, "restart.from=latest", ranks=1)
    assert run.code == 3 and ".lock" in run.errors[0] and victim.read_text() == "words"


@pytest.mark.parametrize("end, code", ((("output.wall_limit=0.000001",), 75), (("time.courant=100",), 4)))
def test_measurements_that_cannot_be_written(tmp_path, earlier, end, code):
    """The run has ended as it has, whatever becomes of perf.json."""
    directory = copy(earlier, tmp_path)
    (directory / "perf.json").unlink()
    (directory / "perf.json").mkdir()
    run = harness.run(directory, *SMALL, "time.steps=99999", *end, "restart.from=latest", ranks=2, longest=LIMIT)
    assert run.code == code and len(run.errors) == (code == 4), run.stderr
    assert any("perf.json" in line for line in run.warnings), run.stderr


def test_more_bytes_than_points_account_for(tmp_path, earlier):
    """A forged size must not keep anybody busy with a terabyte of zeros."""
    path = tmp_path / "state_00000008.hdf"
    shutil.copy(earlier / path.name, path)
    size = path.stat().st_size
    data = bytearray(path.read_bytes()[:2048])
    text = data.replace(b"file_bytes %d\n" % size, b"file_bytes %d\n" % (1 << 40))[:2048]
    with open(path, "r+b") as file:
        file.write(text)
        file.truncate(1 << 40)
    assert "larger than its points account for" in harness.verify(path)
