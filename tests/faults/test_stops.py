"""Ends on request, and of solutions that blow up: exit codes 75 and 4, and what is on the disk then."""

import csv
import json
import math
import os
import signal
import struct

import pytest

import harness

# A run without end: it is stopped at a step nobody knows before, and compared with one that was told that step.
ENDLESS = ("time.steps=99999999", "output.checkpoint_every=0", "output.fields_every=0", "output.diagnostics_every=100")
# After SIGTERM or SIGINT mpirun gives ranks one second unless told otherwise; it always waits that long in full.
PATIENT = ("--mca", "odls_base_sigkill_timeout", "10")


def rows(directory):
    path = directory / "diagnostics.csv"
    return path.read_text().count("\n") - 1 if path.exists() else 0


def stopped_step(directory):
    """The step of the only state there is."""
    (state,) = harness.states(directory)
    assert harness.verify(state) == ""
    return int(harness.header(state)["step"])


def goes_on_as_if_never_stopped(directory, straight, ranks):
    """Goes on for 150 steps; a run that was never stopped gets to the same bits, in the state and every row."""
    last = stopped_step(directory) + 150
    to_there = (*ENDLESS, f"time.steps={last}", f"output.checkpoint_every={last}")
    resumed = harness.run(directory, *to_there, "restart.from=latest", ranks=ranks)
    assert resumed.code == 0, resumed.stderr
    assert harness.run(straight, *to_there, ranks=1).code == 0
    assert harness.same_end(directory, straight)


def test_signals(tmp_path, figures):
    def signalled(case):
        number, target = case
        directory = tmp_path / f"{number.name}-{target}" / "run"
        patience = PATIENT if target == "mpirun" and number != signal.SIGUSR1 else ()
        run = harness.Run(directory, *ENDLESS, ranks=3, mpi=patience)
        run.wait_for(lambda: rows(directory) >= 3, "rows of diagnostics")
        os.kill(run.process.pid if target == "mpirun" else run.ranks()[1], number)
        run.finish()
        if patience:
            assert run.code != 0  # mpirun's own idea of a code after SIGTERM and SIGINT
        else:
            assert run.code == 75, (run.code, run.stderr)
        assert not run.errors, run.stderr
        assert stopped_step(directory) >= 200
        goes_on_as_if_never_stopped(directory, directory.parent / "straight", ranks=2)

    numbers = (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)
    cases = [(number, target) for number in numbers for target in ("mpirun", "rank")]
    harness.together(signalled, cases)
    figures["signals to mpirun or a rank, resumed to the reference's bits"] = len(cases)


def test_wall_limit(tmp_path):
    directory = tmp_path / "run"
    run = harness.run(directory, *ENDLESS, "output.wall_limit=2", ranks=2)
    assert run.code == 75 and not run.errors, (run.code, run.stderr)
    assert "wall-clock limit" in run.stderr
    assert stopped_step(directory) > 0
    goes_on_as_if_never_stopped(directory, tmp_path / "straight", ranks=3)


@pytest.mark.parametrize("every", (99999999, 0), ids=("after the first", "the first"))
def test_wall_limit_leaves_room_for_a_state(tmp_path, figures, every):
    """Where a state takes long to write, the last one is begun so early that it is there in time; also if it is the
    first, and nobody knows how long it will take."""
    limit = 10
    directory = tmp_path / "run"
    slow = harness.fault(-1, fsync=250)  # a state takes more than a second
    wanted = (*ENDLESS, f"output.checkpoint_every={every}", f"output.wall_limit={limit}")
    run = harness.run(directory, *wanted, ranks=2, environment=slow)
    assert run.code == 75 and not run.errors, (run.code, run.stderr)
    newest = harness.states(directory)[-1]
    # The lock is taken at the start.
    took = newest.stat().st_mtime - (directory / ".lock").stat().st_mtime
    assert took <= limit, took
    with open(directory / "perf.json") as file:
        assert json.load(file)["output_share"] > 0.1
    which = "first" if every == 0 else "second"
    figures[f"wall-clock limits kept with a slow disk, by the {which} state: seconds of {limit} used"] = f"{took:.1f}"


def test_blow_up(tmp_path, figures):
    directory = tmp_path / "run"
    unstable = ("time.courant=4", "time.steps=100000", "output.diagnostics_every=7", "output.checkpoint_every=5")
    run = harness.run(directory, *unstable, ranks=3)
    assert run.code == 4 and len(run.errors) == 1, (run.code, run.stderr)
    for word in ("step", "dt", "Courant"):
        assert word in run.errors[0], run.errors
    assert harness.states(directory) and harness.verify(*harness.states(directory)) == ""
    for path in harness.states(directory):
        data = harness.values(path)
        assert all(map(math.isfinite, struct.unpack(f"{len(data) // 8}d", data))), path
    with open(directory / "diagnostics.csv") as file:
        last = list(csv.DictReader(file))[-1]
    newest = int(harness.header(harness.states(directory)[-1])["step"])
    # Noticed at the next row or state: neither lags behind the other by more than a period.
    assert math.isfinite(float(last["mass"])) and abs(int(last["step"]) - newest) <= 7
    # Going on from there meets the same end, and loses nothing either.
    again = harness.run(directory, *unstable, "restart.from=latest", ranks=2)
    assert again.code == 4 and again.errors == run.errors
    assert harness.verify(*harness.states(directory)) == ""
    figures["solutions that blew up, the last good state whole"] = 2
