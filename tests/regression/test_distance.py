"""fddistance: the bits of brute force on every number of ranks, SciPy, closed forms, and what is refused."""

import os
import subprocess

import h5py
import numpy as np
import pytest

from program import BASE, FDAPP, MPIEXEC, run

FDDISTANCE = os.environ["FDDISTANCE"]
SPACING = (0.3, 0.21, 0.17)  # z, y, x
SHAPE = (13, 7, 10)
SMALLEST = 1e-300


def write(path, values, spacing=SPACING, dataset="VTKHDF/PointData/phi"):
    with h5py.File(path, "w") as file:
        file[dataset] = values
        if spacing is not None:
            file.require_group("VTKHDF").attrs["Spacing"] = np.array(spacing[::-1], "f8")


def distance(folder, *arguments, ranks=1, code=0, source="in.hdf", target="out.hdf"):
    launcher = [*MPIEXEC, "-np", str(ranks)] if ranks > 1 else []
    result = subprocess.run(
        [*launcher, FDDISTANCE, source, target, *map(str, arguments), "threads=1", "backend=cpu"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == code, f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result


def read(path, name="distance"):
    with h5py.File(path) as file:
        return file["VTKHDF/PointData"][name][...]


def test_one_period_and_a_point_are_refused(tmp_path):
    x = np.linspace(0, 1, 17)
    write(tmp_path / "in.hdf", np.sin(2 * np.pi * (x[:, None, None] + x[:, None] + x)), spacing=None)
    refused = distance(tmp_path, "level=0", code=2).stderr
    assert "input = in.hdf: dataset VTKHDF/PointData/phi holds one period and a point: along x" in refused
    distance(tmp_path, "level=0", "boundary.x=open", "boundary.y=open", "boundary.z=open")


def bits(values):
    return values.view("u4" if values.dtype == np.float32 else "u8")


def noise(dtype, shape=SHAPE, seed=3):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def costs(n, h, periodic, dtype, power=2, scale=1.0):
    """[i, k]: of the distance between points i and k, or the nearest image."""
    d = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    length = (np.minimum(d, n - d) if periodic else d) * h
    return (length if power == 1 else length * length * scale).astype(dtype)


def to_all(sites, periodic, dtype, order=(2, 1, 0), spacing=SPACING):
    """The least sum over all sites (index, value at it after the first axis of `order`, for every point along it).

    A site is (index, column): `column` holds what the first axis of `order` has come to at each of its points.
    """
    shape = SHAPE
    least = np.full(shape, np.inf, dtype)
    table = [costs(shape[d], spacing[d], periodic[d], dtype) for d in range(3)]
    for index, column in sites:
        total = column.reshape([-1 if d == order[0] else 1 for d in range(3)])
        for d in order[1:]:
            total = total + table[d][index[d]].reshape([-1 if e == d else 1 for e in range(3)])
        least = np.minimum(least, total)
    assert least.dtype == dtype
    return least


def to_points(members, periodic, dtype):
    column = costs(SHAPE[2], SPACING[2], periodic[2], dtype)
    return np.sqrt(to_all([(p, column[p[2]]) for p in np.argwhere(members)], periodic, dtype))


def neighbours(values, axis, side, periodic):
    """Values of the neighbours, the point's own beyond an end."""
    other = np.roll(values, -side, axis)
    if not periodic[axis]:
        last = [slice(None)] * 3
        last[axis] = -1 if side > 0 else 0
        other[tuple(last)] = values[tuple(last)]
    return other


def steps(axis, periodic):
    """Spacings between the two neighbours of a point: one at an end."""
    count = np.full(SHAPE[axis], 2.0)
    if not periodic[axis]:
        count[0] = count[-1] = 1
    return count.reshape([-1 if axis == d else 1 for d in range(3)])


def beside_surface(f, periodic):
    """|f| / |grad f| at points of which a neighbour is on the other side, else infinity."""
    squares, beside = np.zeros(SHAPE), np.zeros(SHAPE, bool)
    for axis in (2, 1, 0):
        low, high = neighbours(f, axis, -1, periodic), neighbours(f, axis, 1, periodic)
        drop = np.zeros(SHAPE)
        for other in (low, high):
            drop = np.maximum(drop, np.where((f >= 0) != (other >= 0), np.abs(f - other), 0))
        central = (high - low) / (steps(axis, periodic) * SPACING[axis])
        slope = np.where(drop > 0, drop / SPACING[axis], central)
        squares, beside = squares + slope * slope, beside | (drop > 0)
    return np.where(beside, np.abs(f) / np.sqrt(np.where(beside, squares, 1)), np.inf)


def to_surface(values, level, periodic):
    dtype, f = values.dtype, values.astype("f8") - level
    least = np.full(SHAPE, np.inf, dtype)
    for axis, order in ((2, (2, 1, 0)), (1, (1, 2, 0)), (0, (0, 2, 1))):
        lengths = costs(SHAPE[axis], SPACING[axis], periodic[axis], dtype, power=1)
        sites = []
        for side in (-1, 1):
            other = neighbours(f, axis, side, periodic)
            for p in np.argwhere((f >= 0) != (other >= 0)):
                at = tuple(p)
                away = dtype.type(abs(f[at]) / abs(f[at] - other[at]) * SPACING[axis])
                column = lengths[p[axis]] + away
                sites.append((p, column * column))
        least = np.minimum(least, to_all(sites, periodic, dtype, order))
    length = np.minimum(np.sqrt(least.astype("f8")), beside_surface(f, periodic))
    return np.where(f >= 0, 0.0 - length, length).astype(dtype)


BOUNDARIES = [(True, True, True), (False, False, False), (True, False, True), (False, True, False)]


def boundary(periodic):
    return [f"boundary.{a}={'periodic' if p else 'open'}" for a, p in zip("zyx", periodic, strict=True)]


@pytest.mark.parametrize(
    ("ranks", "dtype"), [(1, "f4"), (1, "f8"), (2, "f8"), (3, "f4"), (4, "f8"), (5, "f4"), (6, "f4"), (6, "f8")]
)
def test_bits_of_brute_force(tmp_path, dtype, ranks):
    """To points and to the surface, with every number of ranks another mix of ends; 13 planes are uneven."""
    values, level = noise(dtype, seed=ranks), 0.6
    periodic = BOUNDARIES[ranks % 4]
    write(tmp_path / "in.hdf", values)
    members = values.astype("f8") >= level
    distance(tmp_path, "binary=yes", f"level={level}", *boundary(periodic), ranks=ranks)
    expected = to_points(members, periodic, dtype) - to_points(~members, periodic, dtype)
    assert np.array_equal(bits(read(tmp_path / "out.hdf")), bits(expected))
    distance(tmp_path, f"level={level}", *boundary(periodic), ranks=ranks)
    assert np.array_equal(bits(read(tmp_path / "out.hdf")), bits(to_surface(values, level, periodic)))


def test_unsigned(tmp_path):
    values = noise("f8")
    write(tmp_path / "in.hdf", values)
    both = {}
    for binary in ("yes", "no"):
        distance(tmp_path, f"binary={binary}", "signed=yes")
        signed = read(tmp_path / "out.hdf")
        distance(tmp_path, f"binary={binary}", "signed=no")
        both[binary] = read(tmp_path / "out.hdf")
        assert np.array_equal(both[binary], np.where(values >= 0, 0, signed))
    assert np.array_equal(both["yes"] == 0, values >= 0)


@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 1e-6), ("f8", 1e-14)])
def test_scipy(tmp_path, dtype, tolerance):
    ndimage = pytest.importorskip("scipy.ndimage")
    members = np.random.default_rng(5).random((47, 40, 53)) < 0.002
    write(tmp_path / "in.hdf", np.where(members, 1, -1).astype(dtype))
    distance(tmp_path, "binary=yes", "signed=no", *boundary((False,) * 3), ranks=2)
    expected = ndimage.distance_transform_edt(~members, sampling=SPACING)
    assert np.max(np.abs(read(tmp_path / "out.hdf") - expected) / np.maximum(expected, SMALLEST)) <= tolerance


def test_skipping_is_reported(tmp_path):
    write(tmp_path / "in.hdf", np.where(np.random.default_rng(5).random((64, 64, 64)) < 0.01, 1.0, -1.0))
    said = distance(tmp_path, "binary=yes", "signed=no").stdout
    share = float(said[said.index("pairs, ") :].split()[1])
    assert 0 < share < 100


def planes(n, h):
    """Coordinates of the points of a cube, its middle at 0."""
    x = (np.arange(n) - n // 2) * h
    return x[:, None, None], x[None, :, None], x[None, None, :]


def test_hopf_lax_of_closed_forms(tmp_path):
    """|x|, x^2 and two cones: times at which the nearest y is a point of the grid, bounded by open ends."""
    n, h = 24, 0.125
    z, y, x = planes(n, h)
    ends, time = boundary((False,) * 3), 4 * h

    def solution(values, *arguments):
        write(tmp_path / "in.hdf", np.broadcast_to(values, (n, n, n)), (h, h, h))
        distance(tmp_path, "--hopf-lax", *arguments, *ends, ranks=2)
        return read(tmp_path / "out.hdf", "u")

    def cone(r):
        return np.where(r < time, r * r / (2 * time), r - time / 2)

    for line in (x, y, z):
        assert np.allclose(
            solution(np.abs(line) + 0 * (x + y + z), time), cone(np.abs(line)) + 0 * (x + y + z), 1e-14, 1e-16
        )
    squares = solution(x * x + y * y + z * z, 0.5)
    even = (slice(0, n, 2),) * 3  # y = x / 2
    assert np.allclose(squares[even], ((x * x + y * y + z * z) / 2)[even], 1e-14, 1e-16)
    left, right = np.abs(x + 5 * h), np.abs(x - 6 * h) + 0.1
    expected = np.minimum(cone(left), cone(right - 0.1) + 0.1) + 0 * (y + z)
    assert np.allclose(solution(np.minimum(left, right) + 0 * (y + z), time), expected, 1e-14, 1e-16)


def test_plane_half_way(tmp_path):
    values = np.broadcast_to(np.where(np.arange(12) < 6, -1.0, 1.0), (5, 6, 12))
    write(tmp_path / "in.hdf", values, (1, 1, 1))
    distance(tmp_path, *boundary((False,) * 3), ranks=2)
    assert np.array_equal(read(tmp_path / "out.hdf"), np.broadcast_to(5.5 - np.arange(12), (5, 6, 12)))


def sphere_errors(folder, n):
    z, y, x = planes(n, 1 / n)
    r = np.sqrt(x * x + y * y + z * z)
    write(folder / "in.hdf", 1 - (r / 0.31) ** 2, (1 / n,) * 3)  # no distance itself
    distance(folder, *boundary((False,) * 3))
    error = np.abs(read(folder / "out.hdf") - (r - 0.31))
    return error[np.abs(r - 0.31) < 0.5 / n].max(), error[r > 0.05].mean()


def test_order_of_the_interface(tmp_path):
    """Second order beside the surface, and in the mean; of crossings alone the former would be first order."""
    coarse, fine = sphere_errors(tmp_path, 24), sphere_errors(tmp_path, 48)
    assert np.log2(coarse[0] / fine[0]) > 1.7
    assert np.log2(coarse[1] / fine[1]) > 1.7


def test_thin_rods_stay(tmp_path):
    """Rods of two cells through any number of distances of distances; each turns the sign around."""
    values = np.full((9, 12, 16), -0.5)
    values[:, 5:7, 7:9] = 0.5
    values[3:5, :, 2:4] = 0.5
    write(tmp_path / "in.hdf", values)
    for _ in range(4):
        distance(tmp_path)
        with h5py.File(tmp_path / "out.hdf") as file:
            write(tmp_path / "in.hdf", file["VTKHDF/PointData/distance"][...])
    assert np.array_equal(read(tmp_path / "in.hdf", "phi") >= 0, values >= 0)


def test_file_is_whole_and_for_paraview(tmp_path):
    """A snapshot of fdapp in, a file that fdapp verifies out; a name in another folder; nothing else is left."""
    write(tmp_path / "in.hdf", noise("f4"))
    (tmp_path / "there").mkdir()
    distance(tmp_path, target="there/a.hdf", ranks=3)
    distance(tmp_path, target="there/a.hdf")  # replaces it
    assert [p.name for p in (tmp_path / "there").iterdir()] == ["a.hdf"]
    said = subprocess.run(
        [FDAPP, "--verify", "there/a.hdf"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert "10 x 7 x 13 points, single, fields distance" in said
    with h5py.File(tmp_path / "there/a.hdf") as file:
        attributes = file["VTKHDF"].attrs
        assert attributes["Type"] in (b"ImageData", "ImageData")
        assert list(attributes["WholeExtent"]) == [0, 9, 0, 6, 0, 12]
        assert list(attributes["Spacing"]) == list(SPACING[::-1])


def test_coordinates_of_axes(tmp_path):
    """Each axis has the spacing of its own coordinates."""
    write(tmp_path / "in.hdf", GOOD, None, "phi")
    with h5py.File(tmp_path / "in.hdf", "a") as file:
        for axis, name, h in ((2, "x", 0.25), (0, "z", 0.5)):
            file[name] = 3 + h * np.arange(GOOD.shape[axis])
            file[name].make_scale(name)
            file["phi"].dims[axis].attach_scale(file[name])
    said = distance(tmp_path, "dataset=phi", "--validate")
    assert "13, 0.25, 1, 0.5 apart" in said.stdout
    assert "has neither Spacing in /VTKHDF nor coordinates along y: points are taken to be 1 apart" in said.stderr
    assert "spacing" not in distance(tmp_path, "dataset=phi", "--validate", "spacing.y=2", "spacing.x=0.25").stderr
    said = distance(tmp_path, "dataset=phi", "--validate", "spacing.z=5").stderr
    assert "has its points 0.5 apart along z; spacing.z = 5 is taken instead" in said


def test_one_plane(tmp_path):
    """A picture is a grid of one plane."""
    write(tmp_path / "in.hdf", noise("f8", (1, 7, 10)), None, "a/b")
    said = distance(tmp_path, "dataset=a/b", "spacing.x=2", "spacing.y=0.5", ranks=1)
    assert "has neither Spacing in /VTKHDF nor coordinates along z: points are taken to be 1 apart" in said.stderr
    distance(tmp_path, "dataset=a/b", ranks=2, code=2)


GOOD = noise("f8")
BAD_DATA = {
    "no file": (None, (), 3, "cannot be opened"),
    "a text file": ("hello", (), 3, "no HDF5 file"),
    "no such dataset": (GOOD, ("dataset=VTKHDF/PointData/psi",), 2, "has no dataset"),
    "a group": (GOOD, ("dataset=VTKHDF",), 2, "is no dataset"),
    "two dimensions": (GOOD[0], (), 2, "three, nz, ny, nx"),
    "truth values": (GOOD > 0, (), 2, "another type"),
    "a NaN": (np.where(np.arange(10) == 3, np.nan, GOOD), (), 2, "is nan at"),
    "an infinity": (np.where(np.arange(10) == 3, np.inf, GOOD), ("--hopf-lax", "1"), 2, "is inf at"),
    "nothing inside": (GOOD, ("level=100",), 2, "none of its points has a value >= level = 100:"),
    "nothing outside": (GOOD, ("level=-100", "binary=yes"), 2, "each of its points has a value >= level = -100:"),
    "a mask": ((GOOD > 0).astype("f4"), (), 2, "VTKHDF/PointData/phi, which are from 0 to 1, such as level=0.5"),
    "a constant": (np.full_like(GOOD, 3), (), 2, "all values of VTKHDF/PointData/phi are 3: there is no surface"),
    "its own input": (GOOD, ("itself",), 2, "is the input"),
    "a link to its input": (GOOD, ("link",), 2, "is the input"),
    "its own input, half written": (GOOD, ("half",), 2, "is the input"),
    "a key before the paths": (GOOD, ("key",), 2, "come before the keys"),
    "too wide for single precision": (GOOD.astype("f4"), ("spacing.x=1e19",), 2, "range of single precision"),
    "too narrow for single precision": (GOOD.astype("f4"), ("spacing.z=1e-20",), 2, "range of single precision"),
    "no folder": (GOOD, ("nowhere",), 3, "cannot be written"),
    "a folder": (GOOD, ("folder",), 2, "no file"),
    "an unknown key": (GOOD, ("levl=1",), 2, "unknown key 'levl'; accepted: level"),
    "a key twice": (GOOD, ("level=1", "level=2"), 2, "given twice"),
    "a bad number": (GOOD, ("level=nan",), 2, "level = nan"),
    "a bad word": (GOOD, ("binary=maybe",), 2, "accepted: yes, no"),
    "a bad end": (GOOD, ("boundary.z=shut",), 2, "accepted: periodic, open"),
    "a bad spacing": (GOOD, ("spacing.x=0",), 2, "spacing.x = 0"),
    "a bad backend": (GOOD, ("backend=tpu",), 2, "backend = tpu"),
    "no time": (GOOD, ("--hopf-lax", "0"), 2, "accepted: a time"),
    "an unknown option": (GOOD, ("--hopf",), 2, "unknown option"),
    "a third file": (GOOD, ("more",), 2, "unexpected argument 'more'"),
}
TARGETS = {
    "itself": "./in.hdf",
    "link": "link.hdf",
    "half": "half",  # in.hdf is also half.partial
    "key": "level=0.5",
    "nowhere": "nowhere/out.hdf",
    "folder": "folder",
}


@pytest.mark.parametrize("spacing", [(1e-155, 1, 1), (1, 1e-160, 1), (1e-152,) * 3])
def test_a_file_whose_spacings_leave_the_range_of_double_precision(tmp_path, spacing):
    write(tmp_path / "in.hdf", GOOD, spacing)
    said = distance(tmp_path, code=2)
    assert "squares of distances leave the range of double precision; accepted: spacings from 1e-149" in said.stderr
    assert not (tmp_path / "out.hdf").exists()


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_input(tmp_path, name):
    """A clear error and an exit code; the folder is as it was."""
    data, arguments, code, words = BAD_DATA[name]
    target = "out.hdf"
    if arguments and arguments[0] in TARGETS:
        target, arguments = TARGETS[arguments[0]], ()
    if isinstance(data, str):
        (tmp_path / "in.hdf").write_text(data)
    elif data is not None:
        write(tmp_path / "in.hdf", data)
        os.link(tmp_path / "in.hdf", tmp_path / "link.hdf")
        os.link(tmp_path / "in.hdf", tmp_path / "half.partial")
        (tmp_path / "folder").mkdir()
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    if "backend=tpu" in arguments:
        result = subprocess.run(
            [FDDISTANCE, "in.hdf", "out.hdf", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert result.returncode == code
    else:
        result = distance(tmp_path, *arguments, code=code, target=target)
    assert words in result.stderr
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()} == before


def test_damaged_snapshot(tmp_path):
    """A flipped bit of a snapshot of fdapp is found, as fdapp --verify finds it."""
    run(tmp_path / "run", BASE)
    (tmp_path / "run" / "state_00000012.hdf").rename(tmp_path / "in.hdf")
    distance(tmp_path, "level=0.5")
    data = bytearray((tmp_path / "in.hdf").read_bytes())
    data[len(data) // 2] ^= 4
    (tmp_path / "in.hdf").write_bytes(data)
    (tmp_path / "out.hdf").unlink()
    assert "damaged" in distance(tmp_path, "level=0.5", code=3, ranks=2).stderr
    assert not (tmp_path / "out.hdf").exists()


@pytest.mark.parametrize(("dtype", "same"), [("u1", "f4"), ("i2", "f4"), ("f2", "f4"), ("i4", "f8"), ("i8", "f8")])
def test_other_numbers(tmp_path, dtype, same):
    """Integers and half precision are taken as the least precision that has all their values."""
    values = np.random.default_rng(5).integers(0, 9, SHAPE)
    found = []
    for kind in (dtype, same):
        write(tmp_path / "in.hdf", values.astype(kind))
        distance(tmp_path, "level=6.5", ranks=2)
        found.append(read(tmp_path / "out.hdf"))
    assert found[0].dtype == found[1].dtype == np.dtype(same)
    assert (bits(found[0]) == bits(found[1])).all()


def test_origin_is_kept(tmp_path):
    write(tmp_path / "in.hdf", GOOD)
    with h5py.File(tmp_path / "in.hdf", "r+") as file:
        file["VTKHDF"].attrs["Origin"] = np.array([10.0, -20.0, 0.5])
    distance(tmp_path, ranks=2)
    with h5py.File(tmp_path / "out.hdf") as file:
        assert list(file["VTKHDF"].attrs["Origin"]) == [10.0, -20.0, 0.5]


def open_run(folder, *keys):
    """A snapshot of a run with x open and the other axes periodic."""
    problem = {
        "grid": {"nx": 33, "ny": 16, "nz": 16},
        "initial": {"case": "formula", "formula": "0.3 - x"},
        "velocity": {"field": "uniform"},
        "time": {"dt": 1e-3, "steps": 0},
        "compute": {"threads": 1, "backend": "cpu"},
        "boundary": {"x": "open"},
    }
    run(folder / "run", problem, *keys)


def test_ends_are_those_of_the_snapshot(tmp_path):
    """Between open ends the point x = 1 is 0.7 from the surface, and in a periodic box it is 0.3 from its image."""
    open_run(tmp_path)
    said = distance(tmp_path, source="run/state_00000000.hdf")
    assert "boundary   x open, y periodic, z periodic, as the file says" in said.stdout
    assert np.abs(read(tmp_path / "out.hdf")[3, 3] - (np.arange(33) / 32 - 0.3)).max() < 1e-12
    again = ("dataset=VTKHDF/PointData/distance",)
    distance(tmp_path, *again, source="out.hdf", target="again.hdf")  # a distance says it, too
    assert np.abs(read(tmp_path / "again.hdf")[3, 3] + (np.arange(33) / 32 - 0.3)).max() < 1e-12
    said = distance(tmp_path, "boundary.x=periodic", source="run/state_00000000.hdf")
    assert "boundary   x periodic, y periodic, z periodic; y, z as the file says" in said.stdout
    assert read(tmp_path / "out.hdf")[3, 3, 32] < 0.3


@pytest.mark.parametrize(
    ("keys", "x"),
    [
        (("output.fields_box=0 0.5 0 1 0 1",), "open"),  # a part of a period is none
        (("output.fields_stride=2", "grid.nx=33"), "open"),  # 17 points, the last of them one spacing from the first
        (("output.fields_stride=3", "grid.nx=33"), "periodic"),
        (("output.fields_precision=single", "grid.nx=33"), "periodic"),
    ],
)
def test_a_part_of_a_period_has_ends(tmp_path, keys, x):
    open_run(tmp_path, "boundary.x=periodic", "output.fields_every=1", *keys)
    said = distance(tmp_path, "--validate", source=str(next((tmp_path / "run/fields").glob("*_00000000.hdf"))))
    assert f"boundary   x {x}, " in said.stdout


@pytest.mark.parametrize(("says", "ends"), [((0, 1, 0), "x open, y periodic, z open"), (None, "x periodic")])
def test_ends_are_those_that_an_attribute_says(tmp_path, says, ends):
    write(tmp_path / "in.hdf", GOOD)
    with h5py.File(tmp_path / "in.hdf", "a") as file:
        if says:
            file["VTKHDF"].attrs["Periodic"] = np.array(says, "i4")
    assert f"boundary   {ends}" in distance(tmp_path, "--validate").stdout


def test_another_dataset_is_named(tmp_path):
    write(tmp_path / "in.hdf", GOOD, dataset="flow/rho")
    said = distance(tmp_path, code=2).stderr
    assert "has no dataset VTKHDF/PointData/phi; with three axes it has: flow/rho; choose one by dataset=NAME" in said


def test_not_enough_memory(tmp_path):
    """Values in another file, with nothing but a length: 4 TiB are refused before anything is read or written."""
    with open(tmp_path / "values", "wb") as values:
        values.truncate(8 << 39)
    with h5py.File(tmp_path / "in.hdf", "w") as file:
        file.create_dataset("VTKHDF/PointData/phi", (8192, 8192, 8192), "f8", external=[("values", 0, 8 << 39)])
    before = (tmp_path / "in.hdf").read_bytes()
    said = distance(tmp_path, code=3, ranks=2)
    assert "iB needed by this node's ranks on" in said.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.hdf", "values"]
    assert (tmp_path / "in.hdf").read_bytes() == before


def test_plan_alone(tmp_path):
    write(tmp_path / "in.hdf", GOOD)
    said = distance(tmp_path, "--validate", "--hopf-lax", "2", "binary=yes", ranks=2)
    assert "10 x 7 x 13" in said.stdout
    assert "in.hdf, VTKHDF/PointData/phi, double precision" in said.stdout
    assert "without effect with --hopf-lax: binary" in said.stderr
    assert not (tmp_path / "out.hdf").exists()
