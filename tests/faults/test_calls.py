"""One call fails on one rank: all leave, with the same exit code, one message and soon; or it did not matter, and the
results are those of an undisturbed run. Every place in the program that calls something that can fail is found by a
run that lists them, then struck in turn."""

import collections
import os

import pytest

import harness

# Places struck in this session; run/faults takes all of them.
CALLS = int(os.environ.get("FDAPP_FAULTS_CALLS", "10"))
LIMIT = 30  # seconds within which everybody has left
SMALL = ("grid.nx=9", "grid.ny=10", "grid.nz=12", "time.steps=4", "output.fields_every=4", "output.checkpoint_every=1")
RANKS = 3


def places(log):
    """The first and the last call from each place, in order: [(place, which of its calls), ...]."""
    lines = log.read_text().splitlines()
    counts = collections.Counter(lines)
    found = {(lines.index(place), place, 1) for place in counts}
    found |= {(len(lines) - 1 - lines[::-1].index(place), place, count) for place, count in counts.items()}
    return sorted({(place, call) for _, place, call in sorted(found)}, key=lambda known: lines.index(known[0]))


def sample(found, count):
    """`count` of them, evenly spread."""
    return found if count >= len(found) else [found[i * len(found) // count] for i in range(count)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    assert harness.run(directory, *SMALL, ranks=RANKS).code == 0
    return directory


@pytest.mark.parametrize("resuming", (False, True), ids=("fresh", "resuming"))
@pytest.mark.parametrize("rank", (0, 1))
def test_every_call(tmp_path, undisturbed, figures, rank, resuming):
    def begin(directory):
        """A run's directory, with two steps behind it if the run is to go on from there."""
        if resuming:
            assert harness.run(directory, *SMALL, "time.steps=2", ranks=RANKS).code == 0
        return directory

    overrides = (*SMALL, *(("restart.from=latest",) if resuming else ()))
    log = tmp_path / "log"
    listing = harness.run(begin(tmp_path / "list"), *overrides, ranks=RANKS, environment=harness.fault(rank, log=log))
    assert listing.code == 0
    wrong = []
    slowest = 0.0
    chosen = sample(places(log), CALLS)
    for place, call in chosen:
        directory = begin(harness.fresh(tmp_path / "run"))
        before = {path.name: path.read_bytes() for path in harness.states(directory)}
        try:
            run = harness.run(
                directory,
                *overrides,
                ranks=RANKS,
                environment=harness.fault(rank, site=place, call=call),
                longest=LIMIT,
            )
        except harness.Hang as hang:
            wrong.append((place, call, "hang", str(hang)))
            continue
        slowest = max(slowest, run.seconds)
        complaint = judge(run, directory, undisturbed, before)
        if complaint:
            wrong.append((place, call, complaint, run.code, run.stderr))
    assert not wrong, "\n".join(map(str, wrong))
    name = f"calls made to fail on rank {rank} of {RANKS}, {'a resumed' if resuming else 'a fresh'} run"
    figures[name] = f"{len(chosen)} (slowest end after {slowest:.1f} s)"


def judge(run, directory, undisturbed, before):
    """What is wrong with how a struck run ended, or ""."""
    damaged = harness.verify(*harness.states(directory))
    if damaged:
        return f"left a damaged file: {damaged}"
    if run.code == 0:
        return "" if harness.same_end(directory, undisturbed) else "went on with other results"
    if run.code != 3:
        return "exit code"
    if len(run.errors) != 1:
        return f"{len(run.errors)} messages"
    lost = [name for name, data in before.items() if not (directory / name).exists()]
    newer = {path.name for path in harness.states(directory)} - set(before)
    # Older states go only when newer ones have come.
    return f"lost {lost}" if len(lost) > len(newer) else ""


def test_garbled_write(tmp_path, figures):
    """Data that reach the disk with one bit flipped are noticed at once, by reading back."""
    log = tmp_path / "log"
    harness.run(tmp_path / "list", *SMALL, ranks=RANKS, environment=harness.fault(1, log=log))
    writes = collections.Counter(line for line in log.read_text().splitlines() if line.startswith("pwrite "))
    assert writes
    for place, call in [(place, call) for place, count in writes.items() for call in range(1, count + 1)]:
        directory = harness.fresh(tmp_path / "run")
        how = harness.fault(1, site=place, call=call, how="garble")
        run = harness.run(directory, *SMALL, ranks=RANKS, environment=how)
        assert run.code == 3 and len(run.errors) == 1 and "checksum" in run.errors[0], run.stderr
        assert harness.verify(*harness.states(directory)) == "" and not harness.partials(directory)
    figures["writes garbled on their way to the disk, all noticed"] = sum(writes.values())


def test_kill_at_calls(tmp_path, undisturbed, figures):
    """Killed right at a call, where a random moment may never hit: before the rename, between rename and index, ..."""
    log = tmp_path / "log"
    harness.run(tmp_path / "list", *SMALL, ranks=RANKS, environment=harness.fault(0, log=log))
    chosen = sample([known for known in places(log) if not known[0].startswith("MPI_Comm")], CALLS)
    for place, call in chosen:
        directory = harness.fresh(tmp_path / "run")
        how = harness.fault(0, site=place, call=call, how="kill")
        run = harness.run(directory, *SMALL, ranks=RANKS, environment=how)
        assert run.code != 0, (place, call)
        assert harness.verify(*harness.states(directory)) == "", (place, call)
        assert harness.run(directory, *SMALL, "restart.from=latest", ranks=2).code == 0, (place, call)
        assert harness.same_end(directory, undisturbed), (place, call)
        assert not harness.partials(directory)
    figures["kills right at a call of rank 0"] = len(chosen)
