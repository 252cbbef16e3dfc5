"""Probes, slices and kept snapshots in part hold what the snapshot of their step holds, over ranks and restarts."""

import csv
import io
import json

import h5py
import numpy as np
import pytest

from program import BASE, launch, merged, phi, run, same_bits, write_ini

# Points between grid points, on one, at the far ends (the images of point 0), and one in each rank's slab.
PROBES = ((0.41, 0.33, 0.07), (0.5, 0.35, 0.65), (1.0, 0.7, 1.3), (0.02, 0.0, 1.21))
SIZE = ((1.0, 33), (0.7, 20), (1.3, 37))
OUTPUT = {
    "fields_every": 6,
    "probes": '"' + " ; ".join(" ".join(map(str, point)) for point in PROBES) + '"',
    "probes_every": 3,
    "slices": "z=0.5 x=0.99 y=0.33 z=1.3",
    "slices_every": 4,
}
PLACES = merged(BASE, {"output": OUTPUT})


def nearest(axis, place):
    """The point of a periodic axis nearest to a place, the upper of two."""
    length, n = SIZE[axis]
    distance = np.abs(np.arange(n + 1) * (length / n) - place)
    return int(np.flatnonzero(distance <= distance.min() + 1e-12)[-1]) % n


def own_place(place):
    """The coordinates of the point that is shown."""
    return (f"{nearest(d, place[d]) * SIZE[d][0] / SIZE[d][1]:.9g}" for d in range(3))


def rows(directory):
    """{step: row} of probes.csv, after its header."""
    text = (directory / "probes.csv").read_text()
    header, *lines = list(csv.reader(io.StringIO(text)))
    assert header == ["step", "time"] + [f"phi({' '.join(own_place(place))})" for place in PROBES]
    steps = [int(line[0]) for line in lines]
    assert steps == sorted(set(steps))
    return dict(zip(steps, lines, strict=True))


@pytest.mark.parametrize("precision", ["double", "single"])
def test_probes_hold_what_snapshots_hold(tmp_path, precision):
    said = run(tmp_path / "run", PLACES, f"compute.precision={precision}", ranks=3).stdout
    assert "probes     4 points every 3 steps\n           at the nearest points of the grid: the farthest, " in said
    found = rows(tmp_path / "run")
    assert list(found) == list(range(0, 25, 3))
    times = {
        line.split(",")[0]: line.split(",")[1]
        for line in (tmp_path / "run/diagnostics.csv").read_text().splitlines()[1:]
    }
    for step, row in found.items():
        assert row[1] == times[str(step)]
    for step in range(0, 25, 6):
        values = phi(tmp_path / f"run/state_{step:08d}.hdf")
        expected = [values[tuple(nearest(d, place[d]) for d in (2, 1, 0))] for place in PROBES]
        assert [float(text) for text in found[step][2:]] == [float(value) for value in expected]


def test_probes_are_one_table(tmp_path):
    """Over ranks, and over restarts: of a shorter run, and with rows beyond the snapshot resumed from."""
    run(tmp_path / "whole", PLACES)
    whole = (tmp_path / "whole/probes.csv").read_bytes()
    run(tmp_path / "np2", PLACES, "output.fields_every=0", ranks=2)
    assert (tmp_path / "np2/probes.csv").read_bytes() == whole
    run(tmp_path / "parts", PLACES, "time.steps=14", ranks=3)
    run(tmp_path / "parts", PLACES, "restart.from=latest")
    assert (tmp_path / "parts/probes.csv").read_bytes() == whole
    for step in (18, 24):
        (tmp_path / f"parts/state_{step:08d}.hdf").unlink()
    again = run(tmp_path / "parts", PLACES, "restart.from=latest", ranks=2)
    assert "warning" not in again.stderr
    assert (tmp_path / "parts/probes.csv").read_bytes() == whole
    # A fresh run moves the table away; other points are another table.
    run(tmp_path / "parts", PLACES, "time.steps=6")
    assert (tmp_path / "parts/previous_1/probes.csv").read_bytes() == whole
    run(tmp_path / "parts", PLACES, "time.steps=9", "restart.from=latest", "output.probes=0.5 0.5 0.5")
    assert (tmp_path / "parts/probes.csv").read_text().splitlines()[
        0
    ] == f"step,time,phi({' '.join(own_place((0.5, 0.5, 0.5)))})"
    assert list(rows(tmp_path / "parts/previous_2")) == [0, 3, 6]


def test_probes_at_one_point(tmp_path):
    """Have one column, and the plan says so: of two nearby, and of the ends of a period."""
    probes = "output.probes=0.5 0.35 0.65; 0.25 0 0; 0.51 0.35 0.65; 0.25 0 1.3"
    said = run(tmp_path / "run", PLACES, probes, "time.steps=3").stderr
    assert "0.51 0.35 0.65 has the point of the grid that 0.5 0.35 0.65 has; probes.csv has one column" in said
    assert "0.25 0 1.3 has the point of the grid that 0.25 0 0 has" in said and said.count("one column") == 2
    header, *lines = (tmp_path / "run/probes.csv").read_text().splitlines()
    assert header.split(",")[2:] == [f"phi({' '.join(own_place(at))})" for at in ((0.5, 0.35, 0.65), (0.25, 0, 0))]
    values = phi(tmp_path / "run/state_00000000.hdf")
    expected = [values[nearest(2, 0.65), nearest(1, 0.35), nearest(0, 0.5)], values[0, 0, nearest(0, 0.25)]]
    assert [float(cell) for cell in lines[0].split(",")[2:]] == expected


def test_probes_of_waves_show_the_pressure_alone(tmp_path):
    """Not that of the step before, which a snapshot needs. A resumed run continues the table."""
    wave = {
        "grid": {"nx": 16, "ny": 16, "nz": 16},
        "physics": {"equation": "wave"},
        "initial": {"case": "gaussian"},
        "output": {"probes": "0.5 0.5 0.5; 0.25 0.5 0", "checkpoint_every": 4},
        "time": {"steps": 8},
    }
    run(tmp_path / "whole", wave)
    whole = (tmp_path / "whole/probes.csv").read_text()
    assert whole.splitlines()[0] == "step,time,p(0.5 0.5 0.5),p(0.25 0.5 0)"
    with h5py.File(tmp_path / "whole/state_00000008.hdf") as file:
        p = file["VTKHDF/PointData/p"][:]
    assert [float(cell) for cell in whole.splitlines()[-1].split(",")[2:]] == [p[8, 8, 8], p[0, 8, 4]]
    run(tmp_path / "parts", wave, "time.steps=6", ranks=2)
    again = run(tmp_path / "parts", wave, "restart.from=latest")
    assert "other columns" not in again.stdout and (tmp_path / "parts/probes.csv").read_text() == whole


# Names of slices, their axis, and the place.
SLICES = {"z_0.5": (2, 0.5), "x_0.99": (0, 0.99), "y_0.33": (1, 0.33), "z_1.3": (2, 1.3)}


def contents(directory):
    """Bytes of all files in slices/."""
    return {path.name: path.read_bytes() for path in (directory / "slices").iterdir()}


@pytest.mark.parametrize("precision, ranks", [("double", 1), ("single", 3)])
def test_slices_hold_what_snapshots_hold(tmp_path, precision, ranks):
    said = run(tmp_path / "run", PLACES, f"compute.precision={precision}", ranks=ranks).stdout
    assert "slices     4 planes every 4 steps\n" in said
    spacing = [length / n for length, n in SIZE]
    for name, (axis, place) in SLICES.items():
        series = json.loads((tmp_path / f"run/slices/{name}.hdf.series").read_text())
        names = [entry["name"] for entry in series["files"]]
        assert names == [f"{name}_{step:08d}.hdf" for step in range(0, 25, 4)]
        index = nearest(axis, place)
        for step, entry in zip(range(0, 25, 4), series["files"], strict=True):
            with h5py.File(tmp_path / "run/slices" / entry["name"]) as file:
                image, about = file["VTKHDF"], file["fdapp"].attrs
                values = image["PointData/phi"][:]
                assert (about["step"], about["axis"], about["index"]) == (step, axis, index)
                assert about["time"] == entry["time"]
                extent = [[0, n - 1] if d != axis else [0, 0] for d, (_, n) in enumerate(SIZE)]
                assert image.attrs["WholeExtent"].reshape(3, 2).tolist() == extent
                assert image.attrs["Origin"].tolist() == [index * spacing[d] if d == axis else 0 for d in range(3)]
                assert image.attrs["Spacing"].tolist() == spacing
            if step % 12 == 0:
                whole = phi(tmp_path / f"run/state_{step:08d}.hdf")
                assert same_bits(values, np.ascontiguousarray(np.take(whole, index, axis=2 - axis)))


def test_slices_are_one_series(tmp_path):
    """The same files over ranks, and over restarts, one of which has to write later slices again."""
    run(tmp_path / "whole", PLACES)
    whole = contents(tmp_path / "whole")
    assert len(whole) == 4 * (7 + 1)
    run(tmp_path / "np2", PLACES, "output.fields_every=0", "output.probes=none", ranks=2)
    assert contents(tmp_path / "np2") == whole
    run(tmp_path / "parts", PLACES, "time.steps=14", ranks=3)
    run(tmp_path / "parts", PLACES, "restart.from=latest")
    assert contents(tmp_path / "parts") == whole
    for step in (18, 24):
        (tmp_path / f"parts/state_{step:08d}.hdf").unlink()
    (tmp_path / "parts/slices/z_0.5_00000020.hdf").write_bytes(b"torn")
    (tmp_path / "parts/slices/z_0.5_00000024.hdf.partial").write_bytes(b"torn")
    run(tmp_path / "parts", PLACES, "restart.from=latest", ranks=2)
    assert contents(tmp_path / "parts") == whole
    # A branch of another course moves later slices away with the snapshots; a fresh run moves all.
    run(tmp_path / "parts", PLACES, "restart.from=parts/state_00000012.hdf", "time.steps=13")
    branch = contents(tmp_path / "parts/previous_1")
    assert branch == {name: data for name, data in whole.items() if name[-12:-4] > "00000012" and name.endswith("hdf")}
    assert contents(tmp_path / "parts").keys() == whole.keys() - branch.keys()
    run(tmp_path / "parts", PLACES, "time.steps=0")
    assert len(contents(tmp_path / "parts")) == 4 * 2
    assert len(contents(tmp_path / "parts/previous_2")) == 4 * 5


def test_the_far_end_of_an_axis_with_ends(tmp_path):
    """The last point lies there, and is no image of the first."""
    output = {"output": {"slices": "z=1.3 z=0.65", "slices_every": 2, "probes": "0.5 0.35 1.3", "probes_every": 2}}
    run(tmp_path / "run", merged(PLACES, output, {"boundary": {"z": "open"}}), "time.steps=2", ranks=2)
    whole = phi(tmp_path / "run/state_00000002.hdf")
    for name, index in (("z_1.3", 36), ("z_0.65", 18)):
        with h5py.File(tmp_path / f"run/slices/{name}_00000002.hdf") as file:
            assert same_bits(file["VTKHDF/PointData/phi"][:], whole[index])
            assert file["VTKHDF"].attrs["Origin"][2] == index * (1.3 / 36)
    row = (tmp_path / "run/probes.csv").read_text().splitlines()[-1].split(",")
    assert float(row[2]) == whole[36, 10, 17]


def test_slices_of_a_longer_list(tmp_path):
    """A plane that is asked for later begins where the run resumes."""
    run(tmp_path / "run", PLACES, "time.steps=12", "output.slices=z=0.5")
    run(tmp_path / "run", PLACES, "time.steps=16", "output.slices=z=0.5 x=0.5", "restart.from=latest")
    names = sorted(path.name for path in (tmp_path / "run/slices").glob("x*"))
    assert names == ["x_0.5.hdf.series", "x_0.5_00000012.hdf", "x_0.5_00000016.hdf"]


def test_resolved_configuration_keeps_lists(tmp_path):
    run(tmp_path / "run", PLACES, "time.steps=0")
    resolved = (tmp_path / "run/config.ini").read_text()
    assert "probes = " + "; ".join(" ".join(map(str, point)) for point in PROBES) + "\n" in resolved
    launch(tmp_path, 1, "--validate", "run/config.ini")


def test_without_probes(tmp_path):
    write_ini(tmp_path / "run.ini", merged(BASE, {"output": {"probes_every": 5}}))
    said = launch(tmp_path, 1, "--validate", "run.ini")
    assert "output.probes_every" in said.stderr
    assert "probes  " not in said.stdout


PART = {"fields_every": 6, "fields_stride": 2, "fields_precision": "single", "fields_box": "0.2 0.8 0 0.35 0.35 1.3"}


def part_files(directory):
    return {path.name: path.read_bytes() for path in (directory / "fields").iterdir()}


def test_kept_snapshots_in_part(tmp_path):
    """Points i = 0 mod 2 within the box, rounded to single precision: those of the whole snapshots of the same steps,
    over ranks some of which hold none of them; the index names them; no run resumes from one."""
    run(tmp_path / "whole", BASE, "output.fields_every=6")
    said = run(tmp_path / "part", merged(BASE, {"output": PART}), "output.checkpoint_every=6", ranks=3).stdout
    places = [np.arange(0, n, 2) * length / n for length, n in SIZE]
    chosen = [np.flatnonzero((at >= low) & (at <= high)) * 2
              for at, low, high in zip(places, (0.2, 0, 0.35), (0.8, 0.35, 1.3))]  # fmt: skip
    assert f"kept       in fields/: {' x '.join(str(len(along)) for along in chosen)} points, single precision" in said
    names = [f"state_{step:08d}.hdf" for step in range(0, 25, 6)]
    assert [entry["name"] for entry in json.loads(part_files(tmp_path / "part")["state.hdf.series"])["files"]] == names
    assert sorted(part_files(tmp_path / "part")) == sorted([*names, "state.hdf.series"])
    assert [path.name for path in sorted((tmp_path / "part").glob("state_*.hdf"))] == names[-2:]
    for name in names:
        whole = phi(tmp_path / "whole" / name)[np.ix_(*chosen[::-1])].astype(np.float32)
        with h5py.File(tmp_path / "part/fields" / name) as file:
            assert same_bits(file["VTKHDF/PointData/phi"][:], np.ascontiguousarray(whole))
            image = file["VTKHDF"].attrs
            assert image["Spacing"].tolist() == [2 * (length / n) for length, n in SIZE]
            assert image["Origin"].tolist() == [along[0] * (length / n) for along, (length, n) in zip(chosen, SIZE)]
    assert "in part" in launch(tmp_path, 1, "--verify", f"part/fields/{names[1]}").stdout
    write_ini(tmp_path / "run.ini", BASE)
    refused = launch(tmp_path, 2, "run.ini", f"restart.from=part/fields/{names[1]}", code=3).stderr
    assert "holds the fields in part" in refused and "output.checkpoint_every" in refused


def test_kept_snapshots_in_part_are_one_series(tmp_path):
    """The same files over ranks and restarts; a branch moves later ones away, a fresh run all."""
    part = merged(BASE, {"output": PART | {"checkpoint_every": 4, "checkpoint_keep": 9}})
    run(tmp_path / "whole", part)
    whole = part_files(tmp_path / "whole")
    run(tmp_path / "waits", part, "output.overlap=no", ranks=2)
    assert whole.keys() == part_files(tmp_path / "waits").keys()
    run(tmp_path / "parts", part, "time.steps=14", ranks=3)
    run(tmp_path / "parts", part, "restart.from=latest", ranks=2)
    assert part_files(tmp_path / "parts").keys() == whole.keys() | {"state_00000014.hdf"}
    run(tmp_path / "parts", part, "restart.from=parts/state_00000008.hdf", "output.fields_every=0", "time.steps=9")
    index = json.loads(part_files(tmp_path / "parts")["state.hdf.series"])["files"]
    assert [entry["name"] for entry in index] == ["state_00000000.hdf", "state_00000006.hdf"]
    assert len(list((tmp_path / "parts/previous_1/fields").glob("state_*.hdf"))) == 4
    run(tmp_path / "parts", part, "time.steps=0")
    assert sorted(part_files(tmp_path / "parts")) == ["state.hdf.series", "state_00000000.hdf"]
    assert len(list((tmp_path / "parts/previous_2/fields").glob("state_*.hdf"))) == 2


def test_a_run_may_resume_with_other_kept_snapshots(tmp_path):
    """From whole ones to those in part, and back: each kind has the steps that were due while it was configured."""
    run(tmp_path / "run", BASE, "output.fields_every=6", "time.steps=12")
    run(tmp_path / "run", merged(BASE, {"output": PART}), "restart.from=latest", "time.steps=18", ranks=2)
    assert sorted(part_files(tmp_path / "run")) == ["state.hdf.series", "state_00000018.hdf"]
    run(tmp_path / "whole", BASE, "output.fields_every=6", "time.steps=12")
    run(tmp_path / "whole", merged(BASE, {"output": PART}), "output.checkpoint_every=6", "restart.from=latest",
        "time.steps=18")  # fmt: skip
    run(tmp_path / "whole", BASE, "output.fields_every=6", "restart.from=latest")
    kept = [path.name for path in sorted((tmp_path / "whole").glob("state_*.hdf"))]
    assert [name for name in kept if "18" not in name] == [f"state_{step:08d}.hdf" for step in (0, 6, 12, 24)]
    assert "state_00000018.hdf" in part_files(tmp_path / "whole")


def test_a_branch_without_slices_renews_their_indices(tmp_path):
    """No index names a slice that a branch has moved away, though the branch itself has no slices."""
    run(tmp_path / "run", PLACES)
    run(tmp_path / "run", PLACES, "output.slices=none", "restart.from=run/state_00000012.hdf", "time.steps=13")
    for index in (tmp_path / "run/slices").glob("*.hdf.series"):
        names = [entry["name"] for entry in json.loads(index.read_text())["files"]]
        assert [int(name[-12:-4]) for name in names] == [0, 4, 8, 12]
        assert all((tmp_path / "run/slices" / name).exists() for name in names)


COEFFICIENTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # of f(+k) - f(-k), as in textbooks


def gradient(f):
    """Length of the gradient, by the textbook's differences of order 8 on the periodic grid."""
    squares = 0
    for axis, (length, n) in enumerate(SIZE):
        pairs = (np.roll(f, -k, 2 - axis) - np.roll(f, k, 2 - axis) for k in range(1, 5))
        squares = squares + sum(c * pair for c, pair in zip(COEFFICIENTS, pairs)) ** 2 / (length / n) ** 2
    return np.sqrt(squares)


def datasets(path):
    with h5py.File(path) as file:
        return {name: data[:] for name, data in file["VTKHDF/PointData"].items()}


def test_derived_gradient(tmp_path):
    """In kept snapshots, whole and in part, and in slices; the same bits over ranks; neither in the hash nor in
    checkpoints."""
    output = {"derived": "gradient", "fields_every": 12, "slices": "x=0.5 y=0.33 z=0.65", "slices_every": 12}
    derived = merged(BASE, {"output": output | {"checkpoint_every": 12}})
    plain = run(tmp_path / "plain", BASE).stdout
    said = run(tmp_path / "run", derived).stdout
    assert "kept       in fields/: 33 x 20 x 37 points, double precision" in said
    assert "derived    gradient, with the fields\n" in said
    hashes = [next(line for line in text.splitlines() if line.startswith("hash")) for text in (plain, said)]
    assert hashes[0] == hashes[1]
    for step in (0, 12, 24):
        name = f"state_{step:08d}.hdf"
        found = datasets(tmp_path / "run/fields" / name)
        assert found.keys() == {"phi", "gradient"} and found["gradient"].dtype == np.float64
        assert same_bits(found["phi"], phi(tmp_path / "plain" / name))
        expected = gradient(found["phi"])
        assert np.abs(found["gradient"] - expected).max() < 1e-13 * expected.max()
        for axis, place in ((0, 0.5), (1, 0.33), (2, 0.65)):
            cut = datasets(tmp_path / f"run/slices/{'xyz'[axis]}_{place:g}_{step:08d}.hdf")
            for field, values in found.items():
                assert same_bits(cut[field], np.ascontiguousarray(np.take(values, nearest(axis, place), 2 - axis)))
    assert datasets(tmp_path / "run/state_00000024.hdf").keys() == {"phi"}
    run(tmp_path / "part", derived, "output.fields_stride=2", "output.fields_precision=single", ranks=3)
    part = datasets(tmp_path / "part/fields/state_00000024.hdf")
    assert same_bits(part["gradient"], np.ascontiguousarray(found["gradient"][::2, ::2, ::2].astype(np.float32)))
    run(tmp_path / "waits", derived, "output.overlap=no", "time.steps=18", ranks=2)
    run(tmp_path / "waits", derived, "restart.from=latest")
    assert same_bits(datasets(tmp_path / "waits/fields/state_00000024.hdf")["gradient"], found["gradient"])
    refused = launch(tmp_path, 1, "run.ini", "restart.from=run/fields/state_00000024.hdf", code=3).stderr
    assert "derived" in refused


def test_derived_gradient_beside_ends(tmp_path):
    """Closures are exact for a linear field: the same length of the gradient at every point."""
    linear = {"initial": {"case": "formula", "formula": "2*x - y + 3*z", "center_x": None, "width": None,
                          "background": None},
              "velocity": {"field": "uniform", "period": None}}  # fmt: skip
    ends = {"boundary": dict.fromkeys("xyz", "open") | {"value": "0"}, "output": {"derived": "gradient"}}
    run(tmp_path / "run", merged(BASE, linear, ends), "time.steps=0", ranks=2)
    found = datasets(tmp_path / "run/fields/state_00000000.hdf")["gradient"]
    assert np.abs(found - np.sqrt(14)).max() < 1e-11


def test_intensity_of_sound(tmp_path):
    sound = {"physics": {"equation": "acoustics", "form": None, "diffusivity": None},
             "initial": {"case": "plane_wave", "ky": 1, "center_x": None, "width": None, "background": None},
             "velocity": {"field": None, "period": None},
             "output": {"derived": "gradient intensity", "slices": "z=0.5", "slices_every": 6}}  # fmt: skip
    said = run(tmp_path / "run", merged(BASE, sound), "time.steps=6", "compute.precision=single", ranks=2).stdout
    assert "derived    gradient intensity_x intensity_y intensity_z, with the fields\n" in said
    found = datasets(tmp_path / "run/fields/state_00000006.hdf")
    assert list(found) == sorted(("p", "u", "v", "w", "gradient", "intensity_x", "intensity_y", "intensity_z"))
    for axis, velocity in zip("xyz", "uvw"):
        assert same_bits(found["intensity_" + axis], found["p"] * found[velocity])
        assert np.abs(found[velocity]).max() > 0.1 or axis == "z"
    expected = gradient(found["p"].astype(np.float64))
    assert np.abs(found["gradient"] - expected).max() < 1e-4 * expected.max()
    assert len(datasets(tmp_path / "run/slices/z_0.5_00000006.hdf")) == 8


def test_coordinates_on_an_end_but_for_rounding(tmp_path):
    """0.1 + 0.2 is 0.30000000000000004, and on the end of a box of 0.3."""
    box = {"grid": {"nx": 33, "ny": 20, "nz": 37, "lx": 0.3, "ly": 0.7, "lz": 1.3}, "boundary": {"x": "open"}}
    keys = ("output.probes=0.30000000000000004 0 0", "output.slices=x=0.30000000000000004")
    problem = merged(PLACES, box, {"initial": {"width": 0.03, "center_x": 0.15}, "velocity": {"field": "uniform"}})
    run(tmp_path / "run", problem, "time.steps=0", *keys, "output.fields_box=-1e-17 0.30000000000000004 0 0.7 0 1.3")
    header, row = (tmp_path / "run/probes.csv").read_text().splitlines()
    assert header == "step,time,phi(0.3 0 0)"
    with h5py.File(next((tmp_path / "run/fields").glob("*_00000000.hdf"))) as file:
        values = file["VTKHDF/PointData/phi"][...]
    assert values.shape == (37, 20, 33)
    assert float(row.split(",")[2]) == values[0, 0, 32]


def test_the_plan_says_how_far_probes_are(tmp_path):
    write_ini(tmp_path / "case.ini", PLACES)
    said = launch(tmp_path, 1, "--validate", "case.ini", "output.probes=0.5 0.35 0.65; 0 0.0175 0").stdout
    assert f"the farthest, {np.hypot(0.5 / 33, 1.3 / 74):.3g} away, is for 0.5 0.35 0.65\n" in said
    said = launch(tmp_path, 1, "--validate", "case.ini", "output.probes=0 0.35 1.3").stdout
    assert "at the nearest points" not in said
