"""Disks that are full, limited, read-only or gone: exit code 3 everywhere, soon, with one message; older states stay
whole, and nothing half-written bears a final name."""

import os
import shlex
import signal
import subprocess

import pytest

import harness

# Steps enough for a disk to fill; each state has about 37 kB.
ENDLESS = ("time.steps=400", "output.fields_every=1", "output.checkpoint_every=0")


def assert_left(run, directory, *words):
    """The marks of an orderly end."""
    assert run.code == 3, (run.code, run.stderr)
    assert len(run.errors) == 1, run.stderr
    assert any(word in run.errors[0] for word in words), run.errors
    assert harness.verify(*harness.states(directory)) == ""
    assert not harness.partials(directory)


# Below: the structure alone, rank 0's part; in the middle of the data; all but the end.
@pytest.mark.parametrize("limit", (0, 1000, 6000, 20000, 30000))
@pytest.mark.parametrize("rank", (0, 1, 2))
def test_file_size_limit_on_one_rank(tmp_path, figures, rank, limit):
    directory = tmp_path / "run"
    # Two steps without a limit leave a state that must survive.
    assert harness.run(directory, "time.steps=2", ranks=3).code == 0
    before = {path.name: path.read_bytes() for path in harness.states(directory)}
    run = harness.run(directory, "restart.from=latest", *ENDLESS, ranks=3, environment=harness.fault(rank, fsize=limit))
    if run.code == 0:
        # Ranks whose planes lie below the limit never meet it.
        assert rank == 1 and limit >= 30000
    else:
        assert_left(run, directory, "too large", "File too large", "write", "HDF5", "H5", "no room", "cannot")
        assert {path.name: path.read_bytes() for path in harness.states(directory)}.items() >= before.items()
    figures["file-size limits on one rank"] = figures.get("file-size limits on one rank", 0) + 1


def test_file_size_limit_on_all(tmp_path):
    directory = tmp_path / "run"
    environment = {**harness.fault(0, fsize=20000), "FDAPP_FAULT_RANK": "-1"}
    run = harness.run(directory, *ENDLESS, ranks=3, environment=environment)
    assert_left(run, directory, "File too large")
    assert not harness.states(directory)


def in_namespace(script, timeout=harness.LONGEST):
    """Runs a shell script where it may mount file systems that nobody else sees; skips where that is not allowed."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    try:
        allowed = (
            subprocess.run(
                [*unshare, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
            ).returncode
            == 0
        )
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("mounting is not allowed here")
    environment = {**os.environ, **harness.MPI}
    words = [*unshare, "sh", "-c", script]
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise harness.Hang(script) from None
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def command(directory, *overrides, ranks=3):
    """A run as a line for the shell."""
    config = directory.parent / "faults.ini"
    config.write_text(harness.CONFIG)
    words = ["mpirun", "-np", str(ranks), harness.PROGRAM, config, f"output.directory={directory}", *overrides]
    return shlex.join(map(str, words))


def test_full_disk(tmp_path, figures):
    """A file system of 300 kB fills after some states."""
    disk, copy = tmp_path / "disk", tmp_path / "copy"
    disk.mkdir()
    run = command(disk / "run", *ENDLESS)
    # The configuration lies outside.
    run = run.replace(str(disk / "faults.ini"), str(tmp_path / "faults.ini"))
    (tmp_path / "faults.ini").write_text(harness.CONFIG)
    done = in_namespace(
        f"mount -t tmpfs -o size=300k none {disk} && {run}; code=$?; cp -r {disk}/run {copy}; exit $code"
    )
    errors = [line for line in done.stderr.splitlines() if "fdapp: error:" in line]
    assert done.returncode == 3 and len(errors) == 1, (done.returncode, done.stderr)
    assert "No space left on device" in errors[0]
    assert 3 <= len(harness.states(copy)) <= 8 and harness.verify(*harness.states(copy)) == ""
    assert not harness.partials(copy)
    figures["file systems filled"] = 1


def test_read_only_from_the_start(tmp_path):
    directory = tmp_path / "place" / "run"
    directory.parent.mkdir()
    run = command(directory).replace(str(directory.parent / "faults.ini"), str(tmp_path / "faults.ini"))
    (tmp_path / "faults.ini").write_text(harness.CONFIG)
    place = directory.parent
    done = in_namespace(f"mount --bind {place} {place} && mount -o remount,ro,bind {place} && {run}")
    assert done.returncode == 3 and done.stderr.count("fdapp: error:") == 1, done.stderr
    assert "Read-only file system" in done.stderr


def test_directory_vanishes(tmp_path):
    directory, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    run = harness.Run(directory, *ENDLESS, "time.steps=100000", ranks=3)
    run.wait_for((directory / "state_00000002.hdf").exists, "a state")
    directory.rename(elsewhere)
    run.finish()
    assert run.code == 3 and len(run.errors) == 1, run.stderr
    assert harness.verify(*harness.states(elsewhere)) == ""


def test_second_run_is_refused(tmp_path):
    directory = tmp_path / "run"
    first = harness.Run(directory, *ENDLESS, "time.steps=100000", ranks=2)
    first.wait_for((directory / "state_00000001.hdf").exists, "a state")
    second = harness.run(directory, ranks=1)
    assert second.code == 3 and len(second.errors) == 1 and "in use by process" in second.errors[0], second.stderr
    assert first.process.poll() is None
    first.kill()
    first.finish()
    assert harness.run(directory, "time.steps=2", ranks=1).code == 0


def test_restart_from_what_is_no_state(tmp_path, figures):
    """Whole program, not only the reader: the file is named, nothing is written."""
    made = tmp_path / "made"
    assert harness.run(made, ranks=1).code == 0
    whole = harness.states(made)[-1].read_bytes()
    offset = int(harness.header(harness.states(made)[-1])["data_offset"])
    flipped = bytearray(whole)
    flipped[offset + 20000] ^= 4
    zeroed = bytearray(whole)
    zeroed[offset + 8192 : offset + 16384] = bytes(8192)
    files = {
        "empty": b"",
        "text": b"x = 1\n" * 1000,
        "truncated": whole[:-1],
        "flipped": bytes(flipped),
        "zeroed": bytes(zeroed),
        "old": whole.replace(b"fdapp_state 1\n", b"fdapp_state 9\n", 1),
    }
    for name, data in files.items():
        path = tmp_path / f"{name}.hdf"
        path.write_bytes(data)
        run = harness.run(tmp_path / f"run_{name}", f"restart.from={path}", ranks=3)
        assert run.code == 3 and len(run.errors) == 1 and str(path) in run.errors[0], (name, run.stderr)
        assert not harness.states(tmp_path / f"run_{name}")
    last = harness.states(made)[-1]
    for name, overrides in {"grid": ("grid.nz=24",), "precision": ("compute.precision=single",)}.items():
        run = harness.run(tmp_path / f"run_{name}", f"restart.from={last}", *overrides, ranks=3)
        assert run.code == 3 and len(run.errors) == 1 and str(last) in run.errors[0], (name, run.stderr)
    run = harness.run(tmp_path / "run_directory", f"restart.from={made}", ranks=2)
    assert run.code == 3 and "directory" in run.errors[0]
    figures["restarts from files that are no states of the run, all refused"] = len(files) + 3


def test_latest_falls_back(tmp_path, reference):
    directory = tmp_path / "run"
    assert harness.run(directory, ranks=2).code == 0
    newest = harness.states(directory)[-1]
    data = bytearray(newest.read_bytes())
    data[int(harness.header(newest)["data_offset"]) + 77] ^= 1
    newest.write_bytes(data)
    run = harness.run(directory, "restart.from=latest", ranks=3)
    assert run.code == 0 and harness.same_end(directory, reference)
    assert len(run.warnings) == 1 and str(newest) in run.warnings[0] and "plane z = 0" in run.warnings[0]
