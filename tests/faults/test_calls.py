"""One call fails on one rank: all leave, with the same exit code, one message and soon; or it did not matter, and the
results are those of an undisturbed run. Every place in the program that calls something that can fail is found by a
run that lists them, then struck in turn, at some of its calls from the first to the last."""

import collections
import os
import shutil
import typing

import pytest

import harness

# Places struck in this session, beside those of CUDA; run/faults takes all of them.
CALLS = int(os.environ.get("FDAPP_FAULTS_CALLS", "10"))
LIMIT = 30  # seconds within which everybody has left
SMALL = ("grid.nx=9", "grid.ny=10", "grid.nz=12", "time.steps=4", "output.fields_every=4", "output.checkpoint_every=1")
RANKS = 2 if harness.BACKEND == "cuda" else 3
# What changes the disk.
WRITERS = ("open", "write", "pwrite", "fsync", "fallocate", "ftruncate", "rename", "unlink", "mkdir", "fflush")


class Kind(typing.NamedTuple):
    """Runs to be struck; {directory} in a word stands for theirs. `again`: functions struck though others have them."""

    what: str
    words: tuple = ()
    ranks: int = RANKS
    again: tuple = ()


KINDS = {
    "latest": Kind("a run resumed from the latest state", ("restart.from=latest",)),
    "fresh": Kind("a fresh run, calls that no such run makes"),
    "part": Kind(
        "a run with kept snapshots in part, calls that none of these makes",
        ("output.fields_stride=2", "output.fields_box=0 1 0 0.6 0 1", "output.fields_every=2"),
    ),
    "file": Kind(
        "a run resumed from a named state, calls that none of these makes",
        ("restart.from={directory}/state_00000002.hdf",),
    ),
}
if harness.BACKEND == "cuda":
    SMALL += ("grid.nz=24",)  # slabs with an interior
    COPIES = ("cudaHostAlloc", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaStreamWaitEvent")
    LARGE = ("grid.nx=128", "grid.ny=128", "grid.nz=160")
    KINDS["staged"] = Kind("a run with halos staged, copies again", ("halo.transport=staged",), again=COPIES)
    # In pairs of stages on such grids each block computes around its tile ("alone").
    LAUNCHES = ("cudaLaunchKernelExC", "cuStreamWriteValue32")
    KINDS["alone"] = Kind("a run of one rank, calls that none of these makes", ("compute.pairs=yes",), ranks=1)
    KINDS["large"] = Kind("a run with the kernels of large grids, calls that none of these makes", LARGE)
    KINDS["pairs"] = Kind("a run with stages in pairs, launches again", harness.PAIRS, again=LAUNCHES)
    KINDS["rims"] = Kind(
        "a run of one rank with stages in pairs, launches again", harness.PAIRS, ranks=1, again=LAUNCHES
    )


def places(log):
    """From each place the first call, the last and some between, in order: [(place, which of its calls), ...]."""
    calls = collections.defaultdict(list)
    for number, place in enumerate(log.read_text().splitlines()):
        calls[place].append(number)
    chosen = set()
    for place, at in calls.items():
        parts = 4 if of_cuda(place) else 2  # all of a backend's copies, say, are made at one place
        chosen |= {(at[which], place, which + 1) for which in ((len(at) - 1) * i // parts for i in range(parts + 1))}
    return [(place, call) for _, place, call in sorted(chosen)]


def of_cuda(place):
    return place.startswith(("cu", "__cuda"))


def sample(found, count):
    """`count` of them, evenly spread."""
    return found if count >= len(found) else [found[i * len(found) // count] for i in range(count)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    assert harness.run(directory, *SMALL, harness.ELSEWHERE, ranks=RANKS).code == 0
    return directory


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """Two steps, for runs to go on from."""
    directory = tmp_path_factory.mktemp("half") / "run"
    assert harness.run(directory, *SMALL, "time.steps=2", ranks=RANKS).code == 0
    return directory


class Strikes:
    """Runs of one kind that are struck on a rank."""

    def __init__(self, base, kind, half, undisturbed, rank, how="fail", environment=None):
        self.base, self.kind, self.rank, self.how = base, kind, rank, how
        self.half, self.undisturbed = half, undisturbed
        self.environment = environment or {}
        self.restarts = any(word.startswith("restart.") for word in kind.words)
        log = base / "list" / "log"
        run = self.start("list", log=log)
        assert run.code == 0, run.stderr
        self.places = places(log)
        if any(word.startswith("grid.") for word in kind.words):
            self.undisturbed = base / "undisturbed" / "run"
            elsewhere = harness.run(self.undisturbed, *SMALL, *kind.words, harness.ELSEWHERE, ranks=RANKS)
            assert elsewhere.code == 0, elsewhere.stderr

    def start(self, name, log, **where):
        """A run in a folder of that name, from its start to its end."""
        directory = self.base / name / "run"
        directory.parent.mkdir()
        words = [word.format(directory=directory) for word in self.kind.words]
        if self.restarts:
            shutil.copytree(self.half, directory)
        environment = {**harness.fault(self.rank, log=log, **where), **self.environment}
        return harness.run(directory, *SMALL, *words, ranks=self.kind.ranks, environment=environment, longest=LIMIT)

    def strike(self, case):
        """(seconds until all had left, "" or what is wrong)."""
        number, (place, call) = case
        log = self.base / f"{number}" / "log"
        directory = self.base / f"{number}" / "run"
        try:
            run = self.start(f"{number}", log, site=place, call=call, how=self.how)
        except harness.Hang as hang:
            return LIMIT, f"{place}, call {call}: hang: {hang}"
        struck = "struck" in log.read_text().splitlines()
        complaint = self.judge(run, directory)
        shutil.rmtree(directory.parent)
        if complaint:
            return run.seconds, f"{place}, call {call}: {complaint}: {run.code} {run.stderr}"
        if struck:
            return run.seconds, ""
        # How often a place calls can depend on the clock, as progress does, and on which rank comes first.
        return self.strike((number, (place, call // 2))) if call > 1 else (0, f"{place} was not struck")

    def all(self, chosen):
        """Strikes these; how many, and the longest time to the end."""
        results = harness.together(self.strike, enumerate(chosen))
        wrong = [complaint for _, complaint in results if complaint]
        assert not wrong, "\n".join(wrong)
        return f"{len(results)} (slowest end after {max(seconds for seconds, _ in results):.1f} s)"

    def judge(self, run, directory):
        """What is wrong with how a struck run ended, or ""."""
        damaged = harness.verify(*harness.states(directory), *harness.states(directory / "fields"))
        if damaged:
            return f"left a damaged file: {damaged}"
        if run.code == 0:
            return "" if harness.same_end(directory, self.undisturbed) else "went on with other results"
        if run.code != 3:
            return "exit code"
        if len(run.errors) != 1:
            return f"{len(run.errors)} messages"
        if not self.restarts:
            return ""
        before = {path.name for path in harness.states(self.half)}
        lost = [name for name in before if not (directory / name).exists()]
        newer = {path.name for path in harness.states(directory)} - before
        # Older states go only when newer ones have come.
        return f"lost {lost}" if len(lost) > len(newer) else ""


@pytest.mark.parametrize("rank", (0, 1))
def test_every_call(tmp_path, undisturbed, half, figures, rank):
    """Each place in a run that goes on from the latest state; what such a run never calls, in others."""
    seen = set()
    counts = collections.Counter()
    for name, kind in KINDS.items():
        if rank >= kind.ranks:
            continue
        (tmp_path / name).mkdir()
        strikes = Strikes(tmp_path / name, kind, half, undisturbed, rank)
        new = [known for known in strikes.places if known[0] not in seen or known[0].split()[0] in kind.again]
        seen |= {place for place, _ in new}
        cuda = [known for known in new if of_cuda(known[0])]
        chosen = cuda + sample([known for known in new if not of_cuda(known[0])], CALLS)
        if chosen:
            figures[f"calls made to fail on rank {rank} of {kind.ranks}: {kind.what}"] = strikes.all(chosen)
        counts.update(place.split()[0] for place, _ in cuda)
    for call, count in sorted(counts.items()):
        name = f"of these, calls of {call}"
        figures[name] = figures.get(name, 0) + count
    assert bool(counts) == (harness.BACKEND == "cuda")


@pytest.mark.skipif(harness.BACKEND == "cpu", reason="on the CPU there is nothing to pass over")
def test_auto_is_the_same_everywhere(tmp_path):
    """A rank whose GPU is gone does not compute on the CPU while the others wait for it on theirs."""
    log = tmp_path / "log"
    auto = (*SMALL, "compute.backend=auto")
    assert harness.run(tmp_path / "list" / "run", *auto, ranks=2, environment=harness.fault(1, log=log)).code == 0
    place = next(line for line in log.read_text().splitlines() if line.startswith("cudaGetDeviceCount"))
    how = harness.fault(1, site=place)
    run = harness.run(tmp_path / "struck" / "run", *auto, ranks=2, environment=how, longest=LIMIT)
    assert run.code == 3 and len(run.errors) == 1 and "auto" in run.errors[0], (run.code, run.stderr)


def test_disk_without_reservation(tmp_path, undisturbed, half, figures):
    """On a file system that cannot reserve room a write can fail at any time."""
    strikes = Strikes(tmp_path, KINDS["latest"], half, undisturbed, 0, environment={"FDAPP_FAULT_NO_FALLOCATE": "1"})
    disk = [known for known in strikes.places if known[0].split()[0] in (*WRITERS, "pread", "fstatvfs")]
    figures["I/O calls made to fail where room cannot be reserved"] = strikes.all(sample(disk, CALLS))


def test_disk_turns_read_only(tmp_path, undisturbed, half, figures):
    """From some call on nothing can be written any more, nor removed."""
    strikes = Strikes(tmp_path, KINDS["latest"], half, undisturbed, 0, how="readonly")
    disk = [known for known in strikes.places if known[0].split()[0] in WRITERS]
    figures["disks turned read-only under rank 0 at a call"] = strikes.all(sample(disk, CALLS))


def test_garbled_write(tmp_path, figures):
    """Data that reach the disk with one bit flipped are noticed at once, by reading back."""
    log = tmp_path / "log"
    harness.run(tmp_path / "list", *SMALL, ranks=RANKS, environment=harness.fault(1, log=log))
    writes = collections.Counter(line for line in log.read_text().splitlines() if line.startswith("pwrite "))
    assert writes

    def garble(case):
        place, call = case
        directory = tmp_path / f"{place}-{call}" / "run"
        how = harness.fault(1, site=place, call=call, how="garble")
        run = harness.run(directory, *SMALL, ranks=RANKS, environment=how)
        assert run.code == 3 and len(run.errors) == 1 and "checksum" in run.errors[0], run.stderr
        assert harness.verify(*harness.states(directory)) == "" and not harness.partials(directory)

    harness.together(garble, [(place, call) for place, count in writes.items() for call in range(1, count + 1)])
    figures["writes garbled on their way to the disk, all noticed"] = sum(writes.values())


def test_hdf5_crashes_on_a_changed_snapshot(tmp_path, half):
    """A snapshot that is longer than it was is read to see what it says. If HDF5 crashes there, the run ends as with a
    damaged file, and names it. Whole snapshots are read without such precautions, so the first reading is this one."""
    log = tmp_path / "log"
    shutil.copytree(half, tmp_path / "run")
    path = harness.states(tmp_path / "run")[-1]
    content = path.read_bytes() + b"\0"
    path.write_bytes(content)
    words = (*SMALL, "time.steps=2", "restart.from=latest")
    run = harness.run(tmp_path / "run", *words, ranks=RANKS, environment=harness.fault(0, log=log))
    assert run.code == 0 and "changed since it was written" in run.stderr, run.stderr
    site = next(line for line in log.read_text().splitlines() if line.startswith("H5Aread "))
    how = harness.fault(0, site=site, call=1, how="crash")
    run = harness.run(tmp_path / "run", *words, ranks=RANKS, environment=how)
    assert run.code == 3 and len(run.errors) == 1 and f"{path}: damaged: the HDF5 library" in run.errors[0], run.stderr
    assert path.read_bytes() == content


def test_kill_at_calls(tmp_path, undisturbed, figures):
    """Killed right at a call, where a random moment may never hit: before the rename, between rename and index, ..."""
    log = tmp_path / "log"
    harness.run(tmp_path / "list", *SMALL, ranks=RANKS, environment=harness.fault(0, log=log))
    chosen = sample([known for known in places(log) if known[0].split()[0] in WRITERS], CALLS)

    def kill(case):
        number, (place, call) = case
        directory = tmp_path / f"{number}" / "run"
        how = harness.fault(0, site=place, call=call, how="kill")
        run = harness.run(directory, *SMALL, ranks=RANKS, environment=how)
        assert run.code != 0, (place, call)
        assert harness.verify(*harness.states(directory)) == "", (place, call)
        resumed = harness.run(directory, *SMALL, "restart.from=latest", ranks=2)
        assert resumed.code == 0, (place, call, resumed.stderr)
        assert harness.same_end(directory, undisturbed), (place, call)
        assert not harness.partials(directory)
        shutil.rmtree(directory.parent)

    harness.together(kill, enumerate(chosen))
    figures["kills right at a call of rank 0 that changes the disk, resumed on 2 ranks to the same bits"] = len(chosen)
