"""A long run with all outputs on: memory and open files stay what they were."""

import pathlib

import harness

STEPS = 20000
EARLY, LATE = 4000, 19000  # steps between which nothing may grow
GROWTH = 256  # KiB that a rank may take more: 17 bytes a step; buffers of the libraries settle
LONG = (
    f"time.steps={STEPS}",
    "output.fields_every=1000",
    "output.checkpoint_every=50",
    "output.diagnostics_every=10",
    "grid.nx=9",
    "grid.ny=9",
    "grid.nz=8",
)


def usage(process):
    """Resident KiB and open files of a process."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    resident = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(resident), len(list(pathlib.Path(f"/proc/{process}/fd").iterdir()))


def test_nothing_grows(tmp_path, figures):
    directory = tmp_path / "run"
    run = harness.Run(directory, *LONG, ranks=2)
    seen = {}
    for step in (EARLY, LATE):
        run.wait_for(lambda step=step: (directory / f"state_{step:08}.hdf").exists(), f"step {step}")
        seen[step] = {rank: usage(rank) for rank in run.ranks()}
        assert len(seen[step]) == 2, "the run is over before it was looked at"
    run.finish()
    assert run.code == 0, run.stderr
    assert harness.states(directory)[-1].name == f"state_{STEPS:08}.hdf"
    for rank, (resident, files) in seen[LATE].items():
        assert resident - seen[EARLY][rank][0] <= GROWTH, seen
        # A state may be open at the moment of looking, by one rank once to write and once to verify.
        assert abs(files - seen[EARLY][rank][1]) <= 2, seen
    grown = max(resident - seen[EARLY][rank][0] for rank, (resident, _) in seen[LATE].items())
    figures[f"KiB by which a rank grew from step {EARLY} to {LATE} of {STEPS}, {STEPS // 50} states written"] = grown
