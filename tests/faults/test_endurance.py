"""A long run with all outputs on: memory, a GPU's too, and open files stay what they were."""

import os
import pathlib
import signal
import time

import pytest

import harness

STEPS = 20000
EARLY, LATE = 4000, 16000  # steps between which nothing may grow
LOOKS = 5
FILES = 4  # that a rank may have open more, with 240 states and 12 kept ones written between
GROWTH = 256  # KiB that a rank may take more: 22 bytes a step; buffers of the libraries settle
DEVICE_GROWTH = 2  # MiB that a GPU may have less, what it gives out at a time: less than 3 fields in 240 states
RANKS = (2,)
LONGEST = 300  # seconds
LONG = (
    f"time.steps={STEPS}",
    "output.fields_every=1000",
    "output.checkpoint_every=50",
    "output.diagnostics_every=10",
    "grid.nx=9",
    "grid.ny=9",
    "grid.nz=8",
)
if harness.BACKEND == "cuda":  # alone, recorded steps; with a neighbour, thick enough for an interior
    RANKS = (1, 2)
    LONG += ("grid.nx=48", "grid.ny=48", "grid.nz=48")


def usage(process):
    """Resident KiB, without memory shared with others, and open files of a process. Shared memory is what MPI moves
    messages through: a few MiB taken at the start, of which ever more pages come to be touched."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    resident = sum(int(fields[name].split()[0]) for name in ("RssAnon", "RssFile"))
    return resident, len(list(pathlib.Path(f"/proc/{process}/fd").iterdir()))


def stand_still(run):
    """Usage of each rank and device memory, while the ranks stand still."""
    ranks = run.ranks()
    for rank in ranks:
        os.kill(rank, signal.SIGSTOP)
    seen = {rank: usage(rank) for rank in ranks}, harness.device_memory()
    for rank in ranks:
        os.kill(rank, signal.SIGCONT)
    return seen


def look(run):
    """Usage of each rank and device memory. Of open files the fewest in several looks: a state, its index and the
    directory are open while they are written or verified, what is never closed is open in every look."""
    looks = []
    for _ in range(LOOKS):
        looks.append(stand_still(run))
        time.sleep(0.004)
    usages, device = looks[0]
    return {rank: (usages[rank][0], min(seen[rank][1] for seen, _ in looks)) for rank in usages}, device


@pytest.mark.parametrize("ranks", RANKS)
def test_nothing_grows(tmp_path, figures, ranks):
    directory = tmp_path / "run"
    run = harness.Run(directory, *LONG, ranks=ranks)
    seen = {}
    for step in (EARLY, LATE):
        run.wait_for(lambda step=step: (directory / f"state_{step:08}.hdf").exists(), f"step {step}", LONGEST)
        seen[step] = look(run)
        assert len(seen[step][0]) == ranks, "the run is over before it was looked at"
    run.finish(LONGEST)
    assert run.code == 0, run.stderr
    assert harness.states(directory)[-1].name == f"state_{STEPS:08}.hdf"
    early, late = seen[EARLY][0], seen[LATE][0]
    of = f"from step {EARLY} to {LATE} of {STEPS}, {STEPS // 50} states written, {harness.BACKEND}, {ranks} rank(s)"
    grown = max(late[rank][0] - early[rank][0] for rank in late)
    figures[f"KiB by which a rank grew {of}"] = grown
    if harness.BACKEND == "cuda":
        taken = [after - before for before, after in zip(seen[EARLY][1], seen[LATE][1])]
        figures[f"MiB of device memory that a GPU had less {of}"] = max(taken)
        assert max(taken) <= DEVICE_GROWTH, seen
    assert grown <= GROWTH, seen
    assert all(late[rank][1] - early[rank][1] <= FILES for rank in late), seen
