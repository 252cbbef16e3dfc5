"""Compressed kept snapshots: the same values and hash as plain ones, over ranks and resumes, beside plain checkpoints;
read by h5py, by the program itself and by fdpost's reader; damage is found."""

import h5py
import numpy as np
import pytest

from program import BASE, hash_of, launch, merged, run, states, write_ini

COMPRESSED = merged(BASE, {"output": {"compress": "yes", "checkpoint_every": 8, "fields_every": 6}})
KEPT = [f"state_{step:08d}.hdf" for step in range(0, 25, 6)]


def fields(path):
    with h5py.File(path) as file:
        return {name: data[:] for name, data in file["VTKHDF/PointData"].items()}


def same(a, b):
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    return folder / "run", run(folder / "run", merged(COMPRESSED, {"output": {"compress": "no"}}))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_values_are_those_of_plain_snapshots(plain, tmp_path, ranks):
    directory, whole = plain
    said = run(tmp_path / "run", COMPRESSED, ranks=ranks)
    assert hash_of(said) == hash_of(whole)
    assert "compressed by each rank" in said.stdout
    assert states(tmp_path / "run/fields") == KEPT
    assert states(tmp_path / "run") == ["state_00000016.hdf", "state_00000024.hdf"]  # plain checkpoints, the newest
    for name in KEPT:
        assert same(fields(tmp_path / "run/fields" / name), fields(directory / name))
    with h5py.File(tmp_path / "run/fields" / KEPT[1]) as file:
        phi = file["VTKHDF/PointData/phi"]
        assert (phi.chunks, phi.compression, phi.shuffle) == ((1, 20, 33), "gzip", True)
    with h5py.File(tmp_path / "run/state_00000024.hdf") as file:
        assert file["VTKHDF/PointData/phi"].chunks is None
    verified = launch(tmp_path, 1, "--verify", *[f"run/fields/{name}" for name in KEPT])
    assert verified.stdout.count("fields phi, compressed\n") == len(KEPT)
    hashes = [launch(folder, 1, "--hash", name).stdout.split()[0] for folder in (tmp_path / "run/fields", directory)
              for name in KEPT[1:2]]  # fmt: skip
    assert hashes[0] == hashes[1]


def test_a_smooth_field_takes_less_room(tmp_path):
    smooth = merged(
        COMPRESSED, {"grid": {"nx": 64, "ny": 64, "nz": 32}, "initial": {"width": 0.05}, "time": {"steps": 1}}
    )
    run(tmp_path / "run", smooth, "output.fields_precision=single", ranks=2)
    size = (tmp_path / "run/fields/state_00000000.hdf").stat().st_size
    assert size < 0.6 * 64 * 64 * 32 * 4


def test_with_everything_that_is_kept_in_part(tmp_path):
    how = ("output.derived=gradient", "output.fields_stride=2", "output.fields_precision=single")
    run(tmp_path / "run", COMPRESSED, *how, ranks=3)
    run(tmp_path / "plain", COMPRESSED, *how, "output.compress=no")
    for name in KEPT:
        found = fields(tmp_path / "run/fields" / name)
        assert same(found, fields(tmp_path / "plain/fields" / name))
        assert found.keys() == {"phi", "gradient"} and found["phi"].dtype == np.float32
    launch(tmp_path, 1, "--verify", f"run/fields/{KEPT[2]}")


def test_a_run_resumes_from_its_checkpoints(plain, tmp_path):
    directory, whole = plain
    run(tmp_path / "run", COMPRESSED, "time.steps=17", ranks=2)
    resumed = run(tmp_path / "run", COMPRESSED, "restart.from=latest", ranks=3)
    assert "step 17," in resumed.stdout and hash_of(resumed) == hash_of(whole)
    for name in KEPT:
        assert same(fields(tmp_path / "run/fields" / name), fields(directory / name))
    write_ini(tmp_path / "run.ini", COMPRESSED)
    refused = launch(tmp_path, 2, "run.ini", f"restart.from=run/fields/{KEPT[1]}", code=3)
    assert "so that no run can resume from it" in refused.stderr


def test_a_compressed_snapshot_begins_a_run(plain, tmp_path):
    directory, _ = plain
    run(tmp_path / "run", COMPRESSED)
    begins = {
        "initial": {"case": "file", "center_x": None, "width": None, "background": None},
        "output": {"compress": "no"},
    }
    source = tmp_path / "run/fields" / KEPT[2]
    run(tmp_path / "one", merged(COMPRESSED, begins, {"initial": {"file": source}}), "time.steps=2", ranks=2)
    run(tmp_path / "two", merged(COMPRESSED, begins, {"initial": {"file": directory / KEPT[2]}}), "time.steps=2")
    assert same(fields(tmp_path / "one/state_00000002.hdf"), fields(tmp_path / "two/state_00000002.hdf"))


def test_damage_is_found(tmp_path):
    run(tmp_path / "run", COMPRESSED, "time.steps=6")
    path = tmp_path / "run/fields" / KEPT[1]
    whole = path.read_bytes()
    with h5py.File(path) as file:
        chunk = file["VTKHDF/PointData/phi"].id.get_chunk_info(20)
    for place in (len(whole) // 2, chunk.byte_offset + chunk.size // 2, 1900, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        said = launch(tmp_path, 1, "--verify", f"run/fields/{KEPT[1]}", code=3)
        assert "damaged" in said.stderr
    path.write_bytes(whole[:-9])
    assert "damaged" in launch(tmp_path, 1, "--verify", f"run/fields/{KEPT[1]}", code=3).stderr
    path.write_bytes(whole)
    launch(tmp_path, 1, "--verify", f"run/fields/{KEPT[1]}")


def test_sound_has_all_its_fields(tmp_path):
    sound = {
        "grid": {"nx": 20, "ny": 18, "nz": 24},
        "physics": {"equation": "acoustics"},
        "initial": {"case": "gaussian"},
        "time": {"courant": 0.8, "steps": 3},
        "output": {"compress": "yes"},
    }
    run(tmp_path / "run", sound, ranks=2)
    run(tmp_path / "plain", sound, "output.compress=no")
    assert same(fields(tmp_path / "run/fields/state_00000003.hdf"), fields(tmp_path / "plain/state_00000003.hdf"))
    launch(tmp_path, 1, "--verify", "run/fields/state_00000003.hdf")
