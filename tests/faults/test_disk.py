"""Disks that are full, limited, read-only or gone: exit code 3 everywhere, soon, with one message; older states stay
whole, and nothing half-written bears a final name."""

import os
import shlex
import signal
import subprocess
import sys

import pytest

import harness

# Steps enough for any disk to fill; each state has about 37 kB.
ENDLESS = ("time.steps=100000", "output.fields_every=1", "output.checkpoint_every=0")


def assert_left(run, directory, *words):
    """The marks of an orderly end."""
    assert run.code == 3, (run.code, run.stderr)
    assert len(run.errors) == 1, run.stderr
    assert any(word in run.errors[0] for word in words), run.errors
    assert harness.verify(*harness.states(directory)) == ""
    assert not harness.partials(directory)


def test_file_size_limit_on_one_rank(tmp_path, figures):
    # Below: the structure alone, rank 0's part; in the middle of the data; all but the end.
    limits = (0, 1000, 6000, 20000, 30000)

    def limited(case):
        rank, limit = case
        directory = tmp_path / f"{rank}-{limit}" / "run"
        # Two steps without a limit leave a state that must survive.
        assert harness.run(directory, "time.steps=2", ranks=3).code == 0
        before = {path.name: path.read_bytes() for path in harness.states(directory)}
        # Few steps: a limit is met by the first state or never.
        wanted = (*ENDLESS, "time.steps=20", "restart.from=latest")
        run = harness.run(directory, *wanted, ranks=3, environment=harness.fault(rank, fsize=limit))
        if run.code == 0:
            # Ranks whose planes lie below the limit never meet it.
            assert rank == 1 and limit >= 30000
        else:
            assert_left(run, directory, "too large", "File too large", "write", "no room", "cannot")
            assert {path.name: path.read_bytes() for path in harness.states(directory)}.items() >= before.items()

    cases = [(rank, limit) for rank in range(3) for limit in limits]
    harness.together(limited, cases)
    figures["file-size limits on one rank"] = len(cases)


def test_file_size_limit_on_all(tmp_path, figures):
    def limited(limit):
        directory = tmp_path / f"{limit}" / "run"
        environment = {**harness.fault(0, fsize=limit), "FDAPP_FAULT_RANK": "-1"}
        run = harness.run(directory, *ENDLESS, ranks=3, environment=environment)
        assert_left(run, directory, "File too large")
        assert not harness.states(directory)

    limits = (0, 1000, 6000, 20000, 30000)
    harness.together(limited, limits)
    figures["file-size limits on all ranks"] = len(limits)


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


def assert_disk_left(done, copy, *words):
    """The marks of an orderly end on a disk of which `copy` was made afterwards."""
    errors = [line for line in done.stderr.splitlines() if "fdapp: error:" in line]
    assert done.returncode == 3 and len(errors) == 1, (done.returncode, done.stderr)
    assert any(word in errors[0] for word in words), errors
    assert len(harness.states(copy)) >= 3 and harness.verify(*harness.states(copy)) == ""


def on_disk(tmp_path, mount, disturb="", recover="", kilobytes=8192, preload=None):
    """A run on a disk of its own, mounted at `disk`, that is disturbed once there are states; then a copy of it."""
    disk, image, copy = tmp_path / "disk", tmp_path / "image", tmp_path / "copy"
    disk.mkdir()
    with open(image, "wb") as file:
        file.truncate(kilobytes * 1024)
    run = command(tmp_path / "run", *ENDLESS).replace(f"={tmp_path}/run", f"={disk}/run")
    for name, value in (preload or {}).items():
        run = run.replace("mpirun ", f"mpirun -x {name}={shlex.quote(value)} ", 1)
    wait = f"while [ ! -e {disk}/run/state_00000003.hdf ] && kill -0 $run; do sleep 0.01; done"
    script = f"""{mount.format(disk=disk, image=image)} || exit 77
{run} & run=$!
{wait}
{disturb.format(disk=disk)}
wait $run; code=$?
{recover.format(disk=disk, image=image)}
cp -r {disk}/run {copy}
exit $code"""
    done = in_namespace(script)
    if done.returncode == 77:
        pytest.skip(f"no such disk here: {done.stderr}")
    return done, copy


TMPFS = "mount -t tmpfs -o size={kilobytes}k none {{disk}}"
EXT4 = "mkfs.ext4 -q {image} && mount -o loop {image} {disk}"
# What the kernel offers to test programs: from here on every access fails with an I/O error (EXT4_IOC_SHUTDOWN).
SHUTDOWN = f"""{sys.executable} -c '
import fcntl, os, struct
fcntl.ioctl(os.open("{{disk}}", os.O_RDONLY), 0x8004587D, struct.pack("I", 2))'"""


@pytest.mark.parametrize("reserving", (True, False), ids=("reserving", "not reserving"))
def test_full_disk(tmp_path, figures, reserving):
    """File systems that fill after some states; a state that has its room reserved is refused before it is written."""
    preload = None if reserving else {**harness.fault(-1), "FDAPP_FAULT_NO_FALLOCATE": "1"}
    tmpfs, ext4 = 300 * harness.FIELDS, 1024 * harness.FIELDS
    for number, (mount, kilobytes) in enumerate(((TMPFS.format(kilobytes=tmpfs), tmpfs), (EXT4, ext4))):
        place = tmp_path / f"{number}"
        place.mkdir()
        done, copy = on_disk(place, mount, kilobytes=kilobytes, preload=preload)
        assert_disk_left(done, copy, "No space left on device")
        assert not harness.partials(copy)
        figures["file systems filled"] = figures.get("file systems filled", 0) + 1


def test_read_only_under_a_run(tmp_path, figures):
    """What ext4 does after an error; what is under way at that moment fails with an I/O error."""
    done, copy = on_disk(tmp_path, EXT4, "mount -o remount,abort {disk}")
    assert_disk_left(done, copy, "Read-only file system", "Input/output error")
    figures["file systems turned read-only under a run"] = 1


def test_disk_dies_under_a_run(tmp_path, figures):
    """Every access fails; what had its name before is there when the disk comes back."""
    done, copy = on_disk(tmp_path, EXT4, SHUTDOWN, "umount {disk}; mount -o loop {image} {disk}")
    assert_disk_left(done, copy, "Input/output error", "Read-only file system")
    figures["file systems shut down under a run (I/O error), mounted again"] = 1


def test_file_system_vanishes(tmp_path, figures):
    """Unmounted under a run; another path still shows what is there."""
    keep = tmp_path / "keep"
    keep.mkdir()
    mount = TMPFS.format(kilobytes=65536) + f" && mount --bind {{disk}} {keep}"
    done, copy = on_disk(tmp_path, mount, "umount -l {disk}", f"mount --bind {keep} {{disk}}")
    assert_disk_left(done, copy, "No such file or directory")
    figures["file systems unmounted under a run"] = 1


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
    run = harness.Run(directory, *ENDLESS, ranks=3)
    run.wait_for((directory / "state_00000002.hdf").exists, "a state")
    directory.rename(elsewhere)
    run.finish()
    assert run.code == 3 and len(run.errors) == 1, run.stderr
    assert harness.verify(*harness.states(elsewhere)) == ""


def test_second_run_is_refused(tmp_path):
    directory = tmp_path / "run"
    first = harness.Run(directory, *ENDLESS, ranks=2)
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
    old = bytearray(whole)
    old[len("fdapp_state ")] = ord("9")  # the version
    files = {
        "empty": b"",
        "text": b"x = 1\n" * 1000,
        "truncated": whole[:-1],
        "flipped": bytes(flipped),
        "zeroed": bytes(zeroed),
        "old": bytes(old),
    }
    last = harness.states(made)[-1]
    cases = {name: (tmp_path / f"{name}.hdf",) for name in files}
    for name, data in files.items():
        cases[name][0].write_bytes(data)
    cases |= {"grid": (last, "grid.nz=24"), "precision": (last, "compute.precision=single"), "directory": (made,)}

    def refused(name):
        path, *overrides = cases[name]
        directory = tmp_path / f"run_{name}" / "run"
        run = harness.run(directory, f"restart.from={path}", *overrides, ranks=3)
        assert run.code == 3 and len(run.errors) == 1 and str(path) in run.errors[0], (name, run.stderr)
        assert name != "directory" or "directory" in run.errors[0]
        assert not directory.exists()

    harness.together(refused, cases)
    figures["restarts from files that are no states of the run, all refused"] = len(cases)


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
