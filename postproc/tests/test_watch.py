"""fdplot watch: each new snapshot once, until the run's lock is free; and fdpost.write_field, read back by h5py."""

import fcntl
import subprocess
import sys

import h5py
import numpy as np
import pytest
import synthetic

import fdpost
from fdpost import watch

pytestmark = pytest.mark.quick

HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)  # a POSIX lock on the whole file, as the program takes it
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def holder(run_dir):
    """Another process that holds the run directory's lock."""
    words = [sys.executable, "-c", HOLDER, run_dir / ".lock"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_lock_is_seen_and_not_taken(run_dir, holder):
    assert watch.is_running(run_dir)
    holder.communicate("\n")
    assert not watch.is_running(run_dir)
    with open(run_dir / ".lock", "r+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # free
    (run_dir / ".lock").unlink()
    assert not watch.is_running(run_dir)


def test_each_new_snapshot_is_drawn_once(run_dir, holder):
    """A run that writes step 50 while it is watched, nothing for a while, and then 60 as its last deed."""
    shown = []

    def life(_):
        number = len(life.calls)
        life.calls.append(number)
        if number in (1, 3):
            step = 50 + 10 * (number == 3)
            synthetic.write_state(run_dir / f"state_{step:08d}.hdf", np.ones((4, 4, 4)), step / 100, step)
            names = sorted(path.name for path in run_dir.glob("state_*.hdf"))
            entries = ", ".join(f'{{"name": "{name}", "time": 0}}' for name in names)
            (run_dir / "state.hdf.series").write_text(f'{{"files": [{entries}]}}')
        if number == 3:
            holder.communicate("\n")

    life.calls = []
    (run_dir / "state.hdf.series").unlink()
    for path in run_dir.glob("state_*.hdf"):
        path.unlink()
    last = watch.watch(run_dir, lambda found: True, shown.append, sleep=life)
    assert (shown, last) == ([50, 60], 60)


def test_a_run_that_is_about_to_begin_is_waited_for(run_dir, holder):
    """It makes its directory when its initial state is set."""
    later, said = run_dir.parent / "later", []
    slept = []

    def start(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            later.symlink_to(run_dir)

    watch.wait_for(later, said.append, 2.0, start)
    assert slept == [2.0] * 3 and len(said) == 1 and str(later) in said[0]
    watch.wait_for(run_dir, said.append, 2.0, start)
    watch.wait_for(run_dir / "never", lambda sentence: None, 2.0, start)
    assert watch.PATIENCE <= 2.0 * (len(slept) - 3) <= watch.PATIENCE + 4


def test_a_run_that_began_and_ended_between_two_looks_is_waited_for_no_longer(run_dir):
    slept = []
    watch.wait_for(run_dir.parent / "later", lambda sentence: None, 2.0,
                   lambda seconds: slept.append(seconds) or (run_dir.parent / "later").symlink_to(run_dir))  # fmt: skip
    assert slept == [2.0]


def test_slices_of_a_run_that_is_about_to_begin_are_waited_for(run_dir, holder):
    """The lock lies in the run's directory, not in slices/."""
    slept = []
    watch.wait_for(run_dir / "slices", lambda sentence: None, 2.0,
                   lambda seconds: slept.append(seconds) or (run_dir / "slices").mkdir())  # fmt: skip
    assert slept == [2.0]


def test_watch_of_a_run_that_has_ended(run_dir, fdplot):
    code, out, _ = fdplot("watch", run_dir, "--axis", "z")
    assert (code, out) == (0, f"{run_dir / 'watch.png'}: step 40\n")
    assert (run_dir / "watch.png").stat().st_size > 5000


def test_slices_are_watched_where_there_are_some(run_dir, fdplot, monkeypatch):
    """The newest step that all planes have, without any snapshot; a plane that is asked for is a snapshot's."""
    plane = np.arange(16.0 * 24).reshape(16, 24)
    for step in (50, 60):
        synthetic.write_slice(run_dir, 2, 7, step, phi=plane + step)
    synthetic.write_slice(run_dir, 0, 3, 50, phi=plane[:, :20].T.copy())
    code, out, _ = fdplot("watch", run_dir, "--axis", "z")
    assert (code, out) == (0, f"{run_dir / 'watch.png'}: step 40\n")
    for path in run_dir.glob("state*"):
        path.unlink()
    drawn = []
    monkeypatch.setattr(watch.slices, "draw_slices", lambda *words: drawn.append(words))
    monkeypatch.setattr(watch.style, "save", lambda figure, target: target)
    code, out, _ = fdplot("watch", run_dir)
    assert (code, out) == (0, f"{run_dir / 'watch.png'}: step 50\n")
    (_, (state,), cuts, shown, *_) = drawn[0]
    assert cuts == [(0, 3), (2, 7)] and (state.size, state.time) == ((24, 16, 20), 0.5)
    assert state.origin == pytest.approx((0, 0, 0))
    assert np.array_equal(shown["phi"][1][0], plane + 50)


def test_watch_draws_slices(run_dir, fdplot):
    synthetic.write_slice(run_dir, 2, 7, 50, phi=np.ones((16, 24)))
    code, out, _ = fdplot("watch", run_dir)
    assert (code, out) == (0, f"{run_dir / 'watch.png'}: step 50\n")
    assert (run_dir / "watch.png").stat().st_size > 5000


def test_watch_without_anything(tmp_path, fdplot):
    code, _, said = fdplot("watch", tmp_path)
    assert code == 3 and "no snapshots and no slices, and no run at work there" in said


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_write_field(tmp_path, dtype):
    phi = np.arange(2 * 3 * 4).reshape(2, 3, 4).astype(dtype)
    path = fdpost.write_field(tmp_path / "start.hdf", phi.transpose(0, 1, 2)[:, :, ::-1], lengths=(1.0, 3.0, 1.0))
    with h5py.File(path) as file:
        written = file["VTKHDF/PointData/phi"]
        assert written.dtype == np.dtype("<f8" if dtype == "i4" else "<" + dtype) and written.chunks is None
        assert np.array_equal(written[:], phi[:, :, ::-1])
        assert file["phi"] == written
        image = file["VTKHDF"].attrs
        assert image["WholeExtent"].tolist() == [0, 3, 0, 2, 0, 1]
        assert image["Spacing"].tolist() == [0.25, 1.0, 0.5]
        assert (image["Type"], image["Origin"].tolist()) == (b"ImageData", [0, 0, 0])
    placed = fdpost.write_field(tmp_path / "ends.hdf", phi, spacing=(0.1, 0.2, 0.3), origin=np.array([1, 2, 3]))
    with h5py.File(placed) as file:
        assert [file["VTKHDF"].attrs[name].tolist() for name in ("Origin", "Spacing")] == [[1, 2, 3], [0.1, 0.2, 0.3]]


def test_write_velocity(tmp_path):
    u = np.random.default_rng(1).normal(size=(4, 3, 2))
    with h5py.File(fdpost.write_field(tmp_path / "flow.hdf", u=u, v=-u, w=2 * u)) as file:
        assert sorted(file["VTKHDF/PointData"]) == ["u", "v", "w"]
        assert np.array_equal(file["w"][:], 2 * u)


@pytest.mark.parametrize("fields, message", [
    ({"phi": np.ones((2, 2))}, r"phi: float64 of shape \(2, 2\)"),
    ({"phi": np.ones((2, 2, 2), complex)}, "complex128"),
    ({"u": np.ones((2, 2, 2)), "v": np.ones((2, 2, 3))}, "of one shape"),
    ({"phi": np.array([[[1.0, np.nan]]])}, "1 values are not finite"),
    ({}, "at least one"),
])  # fmt: skip
def test_write_refuses(tmp_path, fields, message):
    with pytest.raises(fdpost.UsageError, match=message):
        fdpost.write_field(tmp_path / "x.hdf", **fields)
    assert not list(tmp_path.iterdir())
