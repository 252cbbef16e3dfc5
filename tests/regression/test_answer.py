"""The answer's hash, figure of merit and verdict: one number, whatever computed it, and anyone can compute it."""

import json
import re

import h5py
import pytest
import xxhash

from program import BASE, launch, merged, run, states

LAST = "state_00000024.hdf"


def hash_of(path):
    """XXH3 of the planes' XXH3, in ascending z."""
    with h5py.File(path) as file:
        field = file["VTKHDF/PointData/phi"]
        planes = [xxhash.xxh3_64_intdigest(field[z].tobytes()) for z in range(field.shape[0])]
    return xxhash.xxh3_64_hexdigest(b"".join(plane.to_bytes(8, "little") for plane in planes))


def told(result):
    """The last three lines of a run."""
    lines = result.stdout.splitlines()[-3:]
    return {line.split()[0]: " ".join(line.split()[1:]) for line in lines}


@pytest.mark.parametrize("precision", ["double", "single"])
def test_one_hash(tmp_path, precision):
    """Over ranks, threads, a restart in the middle, with the last state written or not."""
    configuration = merged(BASE, {"compute": {"precision": precision}})
    first = told(run(tmp_path / "first", configuration))
    expected = hash_of(tmp_path / "first" / LAST)
    assert first["hash"] == expected
    assert first["verified"] == "no reference"
    nothing = ("output.fields_every=0", f"benchmark.reference={expected}")
    for ranks, threads in ((1, 2), (2, 1), (3, 1)):
        found = told(
            run(tmp_path / f"np{ranks}{threads}", configuration, *nothing, f"compute.threads={threads}", ranks=ranks)
        )
        assert found["hash"] == expected
        assert found["verified"] == "passed"
    run(tmp_path / "parts", configuration, "time.steps=13", ranks=2)
    found = told(run(tmp_path / "parts", configuration, "restart.from=latest", f"benchmark.reference={expected}"))
    assert (found["hash"], found["verified"]) == (expected, "passed")
    again = told(run(tmp_path / "parts", configuration, "restart.from=latest", f"benchmark.reference={expected}"))
    assert again == {"hash": expected, "fom": "0 point updates per second", "verified": "passed"}


def test_figure_of_merit(tmp_path):
    """Points times stages times steps in the time of steps: five stages of ck45."""
    result = run(tmp_path / "run", merged(BASE, {"time": {"scheme": "ck45"}}), ranks=2)
    perf = json.loads((tmp_path / "run/perf.json").read_text())
    expected = 33 * 20 * 37 * 24 * 5 / perf["phases"]["steps"]["max"]
    assert perf["figure_of_merit"] == pytest.approx(expected, rel=1e-6)
    number, words = re.fullmatch(r"(\S+) (.*)", told(result)["fom"]).groups()
    assert float(number) == pytest.approx(expected, rel=0.01)
    assert words == "point updates per second"
    assert perf["hash"] == told(result)["hash"]
    assert perf["verified"] is None
    energy = perf["energy"]
    assert set(energy) == {"method", "reason"} or (energy["joules"] > 0 and 1 <= energy["seconds"] < 300)


def test_wrong_reference(tmp_path):
    """Everything is written, and the exit code is 5; on several ranks, too."""
    wrong = "0123456789abcdef"
    for ranks in (1, 2):
        directory = tmp_path / f"np{ranks}"
        result = run(directory, BASE, f"benchmark.reference={wrong}", ranks=ranks, code=5)
        assert f"not benchmark.reference = {wrong}" in result.stderr
        assert states(directory)[-1] == LAST
        perf = json.loads((directory / "perf.json").read_text())
        assert perf["verified"] is False
        if ranks == 1:  # several: mpirun may drop what a rank that leaves with an error printed last
            assert told(result)["verified"] == f"FAILED, reference {wrong}"
        single = (f"benchmark.reference={perf['hash']}", f"benchmark.reference_single={wrong}")
        run(directory.with_name(f"both{ranks}"), BASE, *single, ranks=ranks)
        result = run(directory.with_name(f"single{ranks}"), BASE, *single, "compute.precision=single", code=5)
        assert f"not benchmark.reference = {wrong}" in result.stderr
    other = run(tmp_path / "other", BASE, "time.scheme=ssprk3")
    assert told(other)["hash"] != perf["hash"]


def test_hash_of_files(tmp_path):
    run(tmp_path / "run", BASE)
    names = [f"run/{name}" for name in states(tmp_path / "run")]
    said = launch(tmp_path, 1, "--hash", *names).stdout.splitlines()
    assert said == [f"{hash_of(tmp_path / name)}  {name}" for name in names]
    assert len(set(said)) == len(names)


def test_a_flipped_bit_has_another_hash(tmp_path):
    """Of a value, in a file that is made whole again: and a run that goes on from it ends elsewhere."""
    run(tmp_path / "run", BASE)
    path = tmp_path / "run/state_00000012.hdf"
    before = hash_of(path)
    content = bytearray(path.read_bytes())
    with h5py.File(path) as file:
        place = file["VTKHDF/PointData/phi"].id.get_offset()
    content[place + 8 * 5000] ^= 1
    path.write_bytes(content)
    assert hash_of(path) != before
    launch(tmp_path, 1, "--hash", "run/state_00000012.hdf", code=3)


def test_hashes_on_the_way(tmp_path):
    """hashes.csv: at every due step the hash of the snapshot of that step, and of each of its planes."""
    every = ("output.fields_every=6", "benchmark.hash_every=6")
    run(tmp_path / "run", BASE, *every, ranks=2)
    lines = [line.split(",") for line in (tmp_path / "run/hashes.csv").read_text().splitlines()]
    assert lines[0] == ["step", "hash", *(f"phi_{z}" for z in range(37))]
    assert [line[0] for line in lines[1:]] == ["0", "6", "12", "18", "24"]
    for line, name in zip(lines[1:], states(tmp_path / "run"), strict=True):
        assert line[1] == hash_of(tmp_path / "run" / name)
        with h5py.File(tmp_path / "run" / name) as file:
            field = file["VTKHDF/PointData/phi"][:]
        assert line[2:] == [xxhash.xxh3_64_hexdigest(plane.tobytes()) for plane in field]
    run(tmp_path / "alone", BASE, "output.fields_every=0", "benchmark.hash_every=6")
    assert (tmp_path / "alone/hashes.csv").read_bytes() == (tmp_path / "run/hashes.csv").read_bytes()
    places = json.loads((tmp_path / "run/perf.json").read_text())["places"]
    assert len(places) == 2 and all(place["host"] and place["device"] for place in places)


def test_hashes_of_a_resumed_run(tmp_path):
    """The table is that of the run that never stopped; what a killed run had written beyond its last snapshot is
    written again."""
    every = ("output.fields_every=8", "output.diagnostics_every=0", "benchmark.hash_every=3")
    run(tmp_path / "whole", BASE, *every)
    whole = (tmp_path / "whole/hashes.csv").read_bytes()
    path = tmp_path / "parts/hashes.csv"
    run(tmp_path / "parts", BASE, *every, "time.steps=16")
    assert [line.split(",")[0] for line in path.read_text().splitlines()] == ["step", "0", "3", "6", "9", "12", "15"]
    with open(path, "a") as file:
        file.write("18," + ",".join(["0123456789abcdef"] * 38) + "\n21,0123")
    run(tmp_path / "parts", BASE, *every, "restart.from=latest", ranks=2)
    assert path.read_bytes() == whole
    run(tmp_path / "parts", BASE, *every, "restart.from=parts/state_00000008.hdf", "time.steps=8")
    assert [line.split(",")[0] for line in path.read_text().splitlines()] == ["step", "0", "3", "6"]
    fresh = run(tmp_path / "parts", BASE, *every)
    assert path.read_bytes() == whole and (tmp_path / "parts/previous_1/hashes.csv").exists(), fresh.stdout
