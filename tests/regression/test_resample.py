"""Problems of one's own from files of another grid: values met with order 8 at the places that a file says, one answer,
and what is refused."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from own_files import PROBLEM, waves, with_value, write
from program import hash_of, launch, merged, phi, run, same_bits, write_ini

RESAMPLE = {"initial": {"resample": "yes"}, "velocity": {"resample": "yes"}}


def test_another_grid_is_met_with_order_8(tmp_path):
    """The same waves on grids of 11 to 28 points: the error falls by 2**8 with half the spacing."""
    errors = []
    for factor in (1, 2):
        shape = (11 * factor, 13 * factor, 14 * factor)
        write(tmp_path / "own.h5", waves(shape=shape))
        run(tmp_path / f"run{factor}", merged(PROBLEM, RESAMPLE), "time.steps=0", ranks=factor)
        errors.append(np.abs(phi(tmp_path / f"run{factor}/state_00000000.hdf") - waves()["phi"]).max())
    assert 7.5 < np.log2(errors[0] / errors[1]) < 8.5


@pytest.mark.parametrize("precision", ["double", "single"])
def test_points_of_both_grids_keep_their_values(tmp_path, precision):
    rng = np.random.default_rng(1)
    own = {name: rng.uniform(-1, 1, (52, 20, 72)) for name in ("phi", "u", "v", "w")}
    write(tmp_path / "own.h5", own)
    run(tmp_path / "run", merged(PROBLEM, RESAMPLE), "time.steps=0", f"compute.precision={precision}", ranks=3)
    expected = own["phi"][::2, :, ::3].astype("f8" if precision == "double" else "f4")
    assert same_bits(phi(tmp_path / "run/state_00000000.hdf"), expected)


def test_one_answer_from_another_grid(tmp_path):
    """Over ranks; near the solution of the data on the run's own grid; the same grid to the bit."""
    write(tmp_path / "own.h5", waves(shape=(19, 44, 31)))
    configuration = merged(PROBLEM, RESAMPLE, {"physics": {"form": "skew"}})
    first = run(tmp_path / "first", configuration)
    for ranks in (2, 4):
        assert hash_of(run(tmp_path / f"np{ranks}", configuration, "compute.threads=2", ranks=ranks)) == hash_of(first)
    write(tmp_path / "own.h5", waves())
    same = run(tmp_path / "same", configuration)
    own = run(tmp_path / "own", configuration, "initial.resample=no", "velocity.resample=no")
    assert hash_of(same) == hash_of(own) != hash_of(first)
    last = "state_00000012.hdf"
    assert np.abs(phi(tmp_path / "first" / last) - phi(tmp_path / "own" / last)).max() < 1e-4


def write_placed(path, fields, origin, spacing, extent=(0, 0, 0)):
    """A VTK image: point i of an axis lies at origin + (extent + i) spacing."""
    write(path, {f"VTKHDF/PointData/{name}": values for name, values in fields.items()})
    with h5py.File(path, "r+") as file:
        image = file["VTKHDF"].attrs
        image["Origin"], image["Spacing"] = np.array(origin, "f8"), np.array(spacing, "f8")
        size = next(iter(fields.values())).shape[::-1]
        image["WholeExtent"] = np.array([end for e, n in zip(extent, size) for end in (e, e + n - 1)], "i4")


def points_of(origin, spacing, n):
    """x, y, z of an image's points, as arrays that spread over (nz, ny, nx)."""
    x, y, z = (o + h * np.arange(m) for o, h, m in zip(origin, spacing, n))
    return x[None, None, :], y[None, :, None], z[:, None, None]


def cubic(x, y, z):
    """Polynomials through 8 points are exact for it, so interpolated values are right to round-off."""
    return 1 + x**3 - 2 * x * y**2 + 3 * z**2 * y - z


OWN_PHI = {
    "initial": {"file": "own.h5", "dataset": None, "resample": "yes"},
    "velocity": {"field": "uniform", "file": None},
}
ENDS = {"boundary": {"x": "open", "y": "open", "z": "open"}}
SIZE, LENGTHS = (24, 20, 26), (1.0, 0.8, 1.3)


@pytest.mark.parametrize("ends", [{}, ENDS], ids=["periodic", "open"])
@pytest.mark.parametrize(
    ("origin", "spacing", "n", "extent"),
    [
        ((0, 0, 0), (1 / 30, 0.8 / 9, 0.1), (31, 10, 14), (0, 0, 0)),
        ((-0.1, -0.03, 0), (0.05, 0.045, 0.07), (24, 20, 26), (0, 0, 0)),
        ((-0.3, 0.47, -1.0), (0.05, 0.05, 0.1), (24, 30, 40), (3, -10, 7)),
    ],
    ids=["from end to end", "around the domain", "from another index on"],
)
def test_values_are_met_where_the_file_says_they_are(tmp_path, ends, origin, spacing, n, extent):
    first = [o + e * h for o, e, h in zip(origin, extent, spacing)]
    write_placed(tmp_path / "own.h5", {"phi": cubic(*points_of(first, spacing, n))}, origin, spacing, extent)
    run(tmp_path / "run", merged(PROBLEM, OWN_PHI, ends), "time.steps=0", ranks=2)
    h = [length / (m - bool(ends)) for length, m in zip(LENGTHS, SIZE)]
    expected = cubic(*points_of((0, 0, 0), h, SIZE))
    assert np.abs(phi(tmp_path / "run/state_00000000.hdf") - expected).max() < 1e-11


def test_a_period_from_another_origin_on(tmp_path):
    """With order 8 there, too; also a file of this grid's shape, which is not taken point by point then."""
    origin, errors = (0.37, -0.21, 5.1), []
    expected = waves()["phi"]
    for n in ((12, 10, 13), (24, 20, 26)):
        spacing = [length / m for length, m in zip(LENGTHS, n)]
        x, y, z = (2 * np.pi * p / length for p, length in zip(points_of(origin, spacing, n), LENGTHS))
        own = {"phi": 0.3 + np.cos(x) * np.sin(y) * np.cos(z)}
        write_placed(tmp_path / "own.h5", own, origin, spacing)
        run(tmp_path / f"run{n[0]}", merged(PROBLEM, OWN_PHI), "time.steps=0", ranks=2)
        errors.append(np.abs(phi(tmp_path / f"run{n[0]}/state_00000000.hdf") - expected).max())
    assert 7.5 < np.log2(errors[0] / errors[1]) < 9.0


KEPT = [
    ({}, ("output.fields_stride=2",), None),
    ({}, ("output.fields_stride=3",), None),
    ({}, ("output.fields_box=0.25 0.75 0 0.8 0 1.3",), "along x its points lie from 0.25 to 0.75, 0.0416666667 apart"),
    ({"grid": {"ly": 0.4}}, (), "along y its points lie from 0 to 0.38, 0.02 apart"),
    (ENDS, (), None),
]


@pytest.mark.parametrize(("changes", "kept", "says"), KEPT, ids=[str((*c, *k)) for c, k, _ in KEPT])
def test_snapshots_of_other_points(tmp_path, changes, kept, says):
    """In part, of another domain, or from axes with ends: at their places, or refused with both places."""
    double = {"grid": {"nx": 48, "ny": 40, "nz": 52}} if "stride" in str(kept) else {}
    source = {"initial": {"case": "cosine", "file": None, "dataset": None, "kx": 1, "ky": 1, "kz": 1}, **double}
    uniform = {"velocity": {"field": "uniform", "file": None}}
    run(tmp_path / "kept", merged(PROBLEM, uniform, changes, source), "time.steps=0", *kept)
    folder = "kept/fields" if kept else "kept"
    own = merged(PROBLEM, OWN_PHI, {"initial": {"file": f"{folder}/state_00000000.hdf"}})
    result = run(tmp_path / "run", own, "time.steps=0", code=2 if says else 0)
    if says:
        assert says in result.stderr
        assert "accepted: points that cover these, or one period of that length" in result.stderr
        return
    exact = merged(PROBLEM, uniform, source, {"grid": PROBLEM["grid"]})
    run(tmp_path / "exact", exact, "time.steps=0")
    error = phi(tmp_path / "run/state_00000000.hdf") - phi(tmp_path / "exact/state_00000000.hdf")
    assert np.abs(error).max() < (1e-15 if "stride=2" in str(kept) else 1e-3)


def test_points_elsewhere_are_warned_of(tmp_path):
    """Without resample values are taken point by point; files that place their points elsewhere are named."""
    spacing = [length / m for length, m in zip(LENGTHS, SIZE)]
    fields = waves()
    plain = merged(PROBLEM, OWN_PHI, {"initial": {"resample": "no"}})
    for origin, factor, says in (((0, 0, 0), 1.0, False), ((0.25, 0, 0), 1.0, True), ((0, 0, 0), 2.0, True)):
        write_placed(tmp_path / "own.h5", fields, origin, [factor * h for h in spacing])
        said = run(tmp_path / "run", plain, "time.steps=0", ranks=2).stderr
        assert ("points of files lie elsewhere than this grid's" in said) == says
        assert (f"initial.file = own.h5: from {origin[0]:g}, 0, 0 on" in said) == says
        assert same_bits(phi(tmp_path / "run/state_00000000.hdf"), fields["phi"])


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("Spacing", (0.1, 0.1)), ("Spacing", (0.1, 0.0, 0.1)), ("Origin", (0, np.nan, 0)), ("Origin", b"here")],
)
def test_a_place_that_is_none(tmp_path, attribute, value):
    write_placed(tmp_path / "own.h5", waves(), (0, 0, 0), (1, 1, 1))
    with h5py.File(tmp_path / "own.h5", "r+") as file:
        file["VTKHDF"].attrs[attribute] = value
    said = run(tmp_path / "run", merged(PROBLEM, OWN_PHI), code=2).stderr
    assert f"initial.file = own.h5: attribute {attribute} of /VTKHDF; accepted: " in said


@pytest.mark.parametrize("ranks", [1, 3])
def test_refused_of_another_grid(tmp_path, ranks):
    own = waves(shape=(26, 40, 48))
    for change, says in (
        (own["phi"][:, :7], "has shape (26, 7, 48); accepted: three axes of 8 points and more"),
        (own["phi"][0], "has shape (40, 48); accepted: three axes"),
        (with_value(own["phi"], np.inf), "dataset phi is inf at [3, 4, 5] (z, y, x)"),
    ):
        write(tmp_path / "own.h5", {**own, "phi": change})
        said = run(tmp_path / "run", merged(PROBLEM, RESAMPLE), ranks=ranks, code=2).stderr
        assert says in said and said.count("fdapp: error: ") == 1


def samples(counts, ends):
    """A smooth periodic field, with the last point of a period as well along the axes in `ends`."""
    x, y, z = (np.arange(n) / (n - (axis in ends)) for axis, n in zip("xyz", counts, strict=True))
    x, y, z = x[None, None, :], y[None, :, None], z[:, None, None]
    return np.cos(2 * np.pi * x) + np.sin(2 * np.pi * y + 1) * np.cos(2 * np.pi * z) + 0.3


@pytest.mark.parametrize("resample", ["yes", "no"])
@pytest.mark.parametrize(("ends", "dtype"), [("x", "f8"), ("y", "f8"), ("z", "f4"), ("xyz", "f8")])
def test_one_period_and_a_point(tmp_path, ends, dtype, resample):
    """linspace(0, 1, n) with its end: the last point is the first one's image."""
    counts = (24, 20, 26) if resample == "no" else (33, 33, 33)
    write(tmp_path / "own.h5", {"phi": samples(counts, ends).astype(dtype)})
    problem = merged(PROBLEM, {"velocity": {"field": "uniform", "file": None}, "initial": {"resample": resample}})
    said = run(tmp_path / "run", problem, "time.steps=0", code=2).stderr
    assert f"holds one period and a point: along {ends[0]} the first and the last" in said
    assert "accepted: one period without its last point, or Spacing" in said


def test_one_period_and_a_point_on_a_background(tmp_path):
    """A small wave on a large value."""
    problem = merged(PROBLEM, {"velocity": {"field": "uniform", "file": None}, "initial": {"resample": "yes"}})
    for background, height in ((1e5, 1e-3), (1e6, 1)):
        write(tmp_path / "own.h5", {"phi": background + height * samples((33, 33, 33), "x")})
        assert "one period and a point: along x" in run(tmp_path / "run", problem, "time.steps=0", code=2).stderr
    write(tmp_path / "own.h5", {"phi": 1e6 + samples((33, 33, 33), "")})
    run(tmp_path / "period", problem, "time.steps=0")


def test_one_period_alone(tmp_path):
    """Accepted, also where the first and the last value agree: cells' middles, a field that is nothing at the ends."""
    problem = merged(PROBLEM, {"velocity": {"field": "uniform", "file": None}, "initial": {"resample": "yes"}})
    middles = np.cos(2 * np.pi * (np.arange(32) + 0.5) / 32)
    blob = np.maximum(0, 0.2 - np.abs(np.arange(32) / 32 - 0.5)) ** 2
    for name, line in (("middles", middles), ("blob", blob)):
        write(tmp_path / "own.h5", {"phi": np.broadcast_to(line, (32, 32, 32)) + 0.1 * line[:, None, None]})
        said = run(tmp_path / name, problem, "time.steps=0").stderr
        assert "the last" not in said
    # short waves, symmetric about the middle of the box: the last value is the first one's mirror image
    short = np.cos(2 * np.pi * 5 * (np.arange(32) + 0.5) / 32)
    write(tmp_path / "own.h5", {"phi": np.broadcast_to(short, (32, 32, 32)) + 0.1 * short[:, None, None]})
    assert "the last" not in run(tmp_path / "short", problem, "time.steps=0").stderr
    rough = np.random.default_rng(3).standard_normal((32, 32, 32))
    rough[:, :, -1] = rough[:, :, 0]
    write(tmp_path / "own.h5", {"phi": rough})
    assert "along x the first and the last of the 32 points" in run(tmp_path / "rough", problem, "time.steps=0").stderr
    write(tmp_path / "own.h5", {"phi": samples((32, 32, 32), "")})
    run(tmp_path / "smooth", problem, "time.steps=0")


def write_scaled(path, values, origin, spacing, axes="xyz"):
    """Dimension scales, as netCDF and xarray write them."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset("phi", data=values)
        for axis, name in enumerate("zyx"):
            if name not in axes:
                continue
            first, h = origin["xyz".index(name)], spacing["xyz".index(name)]
            file[name] = first + h * np.arange(values.shape[axis])
            file[name].make_scale(name)
            data.dims[axis].attach_scale(file[name])


def test_coordinates_say_where_points_are(tmp_path):
    """As Origin and Spacing do: a warning that names the places; refused, or met where they lie."""
    h = np.array(LENGTHS) / SIZE
    own = merged(PROBLEM, OWN_PHI, {"initial": {"dataset": "phi"}})
    for origin, factor, outside in ((0, 1, False), (0.25, 0.5, True), (0, 1e-3, True), (10, 1, False), (0.5, 1, False)):
        first = np.array([origin * step if origin == 0.5 else origin for step in h])
        write_scaled(tmp_path / "own.h5", waves()["phi"], first, factor * h)
        said = run(tmp_path / "run", own, "initial.resample=no", "time.steps=0").stderr
        assert ("points of files lie elsewhere than this grid's" in said) == (origin != 0 or factor != 1)
        said = run(tmp_path / "run", own, "time.steps=0", code=2 if outside else 0).stderr
        assert (f"along x its points lie from {first[0]:.9g} to" in said) == outside
    n = (25, 21, 27)  # from end to end: linspace with its end
    write_scaled(tmp_path / "own.h5", cubic(*points_of((0, 0, 0), h, n)), (0, 0, 0), h)
    run(tmp_path / "run", own, "time.steps=0", ranks=2)
    expected = cubic(*points_of((0, 0, 0), h, SIZE))
    assert np.abs(phi(tmp_path / "run/state_00000000.hdf") - expected).max() < 1e-11


def test_coordinates_of_one_axis(tmp_path):
    """They hold for this axis; the others are taken as the grid's."""
    h = np.array(LENGTHS) / SIZE
    own = merged(PROBLEM, OWN_PHI, {"initial": {"dataset": "phi"}})
    write_scaled(tmp_path / "own.h5", waves()["phi"], (0, 0, 0.25), 0.5 * h, axes="z")
    said = run(tmp_path / "run", own, "initial.resample=no", "time.steps=0").stderr
    places = f"from 0, 0, 0.25 on, {h[0]:.7g}, {h[1]:.7g}, {0.5 * h[2]:.7g} apart"
    assert "points of files lie elsewhere than this grid's" in said and places in said
    assert "along z its points lie from 0.25 to" in run(tmp_path / "run", own, "time.steps=0", code=2).stderr


@pytest.mark.skipif(Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "1", reason="memory has no limit")
def test_validate_without_memory_is_a_warning(tmp_path):
    """For an initial condition from a file as for others: the run may be one of another machine."""
    with h5py.File(tmp_path / "start.h5", "w") as file:
        file["phi"] = np.random.default_rng(1).random((16, 16, 16))
    problem = {
        "grid": {"nx": 20000, "ny": 20000, "nz": 2000},
        "initial": {"case": "file", "file": "start.h5", "dataset": "phi", "resample": "yes"},
        "velocity": {"field": "uniform"},
        "time": {"courant": 0.5, "steps": 1},
    }
    write_ini(tmp_path / "run.ini", problem)
    said = launch(tmp_path, 1, "--validate", "run.ini").stderr
    assert "not everything could be looked at here: initial.file = start.h5: no memory for" in said
