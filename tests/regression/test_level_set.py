"""Level sets that a run makes a distance again: one answer, nothing moved, and Zalesak's disc keeps its volume."""

import os
import subprocess

import h5py
import numpy as np
import pytest

from program import launch, merged, phi, run, same_bits, states

DISC = {
    "grid": {"nx": 40, "ny": 44, "nz": 9, "ly": 1.1, "lz": 0.4},
    "physics": {"difference": "upwind"},
    "initial": {"case": "slotted_distance", "center_y": 0.75, "width": 0.18},
    "velocity": {"field": "rotation"},
    "level_set": {"redistance_every": 3},
    "time": {"courant": 1.0, "steps": 12},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 12, "checkpoint_every": 5, "diagnostics_every": 6},
}
STILL = {"field": "uniform", "u": 0.0, "v": 0.0, "w": 0.0}


def last(directory):
    return phi(directory / states(directory)[-1])


@pytest.mark.parametrize("precision", ["double", "single"])
def test_one_answer(tmp_path, precision):
    """Over ranks, and after a restart between two redistancings."""
    configuration = merged(DISC, {"compute": {"precision": precision}})
    run(tmp_path / "first", configuration)
    run(tmp_path / "two", configuration, ranks=2)
    assert same_bits(last(tmp_path / "two"), last(tmp_path / "first"))
    run(tmp_path / "resumed", configuration, "time.steps=5")
    launch(tmp_path, 2, "resumed.ini", "output.directory=resumed", "restart.from=latest")
    assert same_bits(last(tmp_path / "resumed"), last(tmp_path / "first"))
    run(tmp_path / "without", configuration, "level_set.redistance_every=0")
    assert not np.array_equal(last(tmp_path / "without"), last(tmp_path / "first"))


def write(path, values):
    with h5py.File(path, "w") as file:
        file["VTKHDF/PointData/phi"] = values


def still(folder, values, steps, name="still"):
    """What `steps` redistancings make of a field that does not move; points are 1 apart."""
    write(folder / "own.h5", values)
    nz, ny, nx = values.shape
    configuration = merged(
        DISC,
        {
            "grid": {"nx": nx, "ny": ny, "nz": nz, "lx": float(nx), "ly": float(ny), "lz": float(nz)},
            "initial": {"case": "file", "file": "own.h5", "center_y": None, "width": None},
            "velocity": STILL,
            "level_set": {"redistance_every": 1},
            "time": {"courant": None, "dt": 0.1, "steps": steps},
        },
    )
    run(folder / name, configuration, ranks=2)
    return last(folder / name)


def rods():
    """Of two cells, along z and along y."""
    values = np.full((10, 14, 16), -0.5)
    values[:, 5:7, 7:9] = 0.5
    values[3:5, :, 2:4] = 0.5
    return values


def test_thin_rods_stay(tmp_path):
    """The second redistancing, and every other, changes no bit."""
    once = still(tmp_path, rods(), 1)
    assert np.array_equal(once >= 0, rods() >= 0)
    assert same_bits(still(tmp_path, rods(), 7, "often"), once)


def test_is_the_distance_of_fddistance(tmp_path):
    """But beside the surface, where the values stay."""
    values = np.random.default_rng(2).standard_normal((10, 14, 16)) - 0.9
    renewed = still(tmp_path, values, 1)
    subprocess.run(
        [os.environ["FDDISTANCE"], "own.h5", "distance.h5", "threads=1", "backend=cpu"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    with h5py.File(tmp_path / "distance.h5") as file:
        distance = file["VTKHDF/PointData/distance"][...]
    inside = values >= 0
    beside = np.zeros(values.shape, bool)
    for axis in range(3):
        for side in (-1, 1):
            beside |= np.roll(inside, side, axis) != inside
    assert 0.05 < beside.mean() < 0.95
    assert np.array_equal(renewed[beside], values[beside])
    assert np.array_equal(renewed[~beside], -distance[~beside])


def volume(values):
    """Share of points inside, by where linear interpolation along x finds the surface."""
    near = np.roll(values, -1, 2)
    crossed = (values < 0) != (near < 0)
    share = np.where(
        crossed, np.abs(np.minimum(values, near)) / np.where(crossed, np.abs(values - near), 1), values < 0
    )
    return share.mean()


def test_zalesak(tmp_path):
    """A turn of the disc, its slot five cells wide: the volume stays, and it is a distance at the end."""
    turn = merged(
        DISC,
        {
            "grid": {"nx": 100, "ny": 100, "nz": 4, "ly": 1.0},
            "initial": {"width": 0.15},
            "level_set": {"redistance_every": 50},
            "time": {"steps": None, "t_end": 1},
            "output": {"checkpoint_every": 0, "fields_every": 99999, "diagnostics_every": 0},
        },
    )
    run(tmp_path / "turn", turn)
    first, final = (phi(tmp_path / "turn" / name) for name in states(tmp_path / "turn"))
    assert abs(volume(final) / volume(first) - 1) < 0.01
    assert ((first < 0) != (final < 0)).mean() / (first < 0).mean() < 0.05
    slope = np.sqrt(sum(((np.roll(final, -1, a) - np.roll(final, 1, a)) * 50) ** 2 for a in (1, 2)))
    assert abs(np.median(slope[np.abs(final) < 0.1]) - 1) < 0.02


def test_no_distance_is_refused(tmp_path):
    said = run(tmp_path / "run", merged(DISC, {"initial": {"case": "gaussian"}}), code=2)
    assert "level_set.redistance_every" in said.stderr
    assert "accepted: 0, or the cases sphere_distance, slotted_distance" in said.stderr
    said = run(tmp_path / "run", merged(DISC, {"initial": {"amplitude": 2}}), code=2)
    assert "initial.amplitude" in said.stderr and "accepted: 1, -1" in said.stderr
