"""Problems of one's own, from files: values to the bit, one answer over ranks and restarts, and what is refused."""

import h5py
import numpy as np
import pytest

from program import launch, merged, phi, run, same_bits, table, write_ini

PROBLEM = {
    "grid": {"nx": 24, "ny": 20, "nz": 26, "ly": 0.8, "lz": 1.3},
    "initial": {"case": "file", "file": "own.h5", "dataset": "phi"},
    "velocity": {"field": "file", "file": "own.h5"},
    "time": {"courant": 1.0, "steps": 12},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 6, "diagnostics_every": 3},
}
SHAPE = (26, 20, 24)


def waves(dtype="f8", shape=SHAPE):
    """A field and a velocity free of divergence."""
    z, y, x = (np.arange(n) / n for n in shape)
    x, y, z = x[None, None, :], y[None, :, None], z[:, None, None]
    two_pi = 2 * np.pi
    fields = {
        "phi": 0.3 + np.cos(two_pi * x) * np.sin(two_pi * y) * np.cos(two_pi * z),
        "u": 0.5 * np.sin(two_pi * y) + 0 * (x + z),
        "v": 0.3 * np.cos(two_pi * z) + 0 * (x + y),
        "w": -0.4 * np.cos(two_pi * x) + 0 * (y + z),
    }
    return {name: values.astype(dtype) for name, values in fields.items()}


def write(path, fields, **options):
    with h5py.File(path, "w") as file:
        for name, values in fields.items():
            file.create_dataset(name, data=values, **options)


def hash_of(result):
    return next(line.split()[1] for line in result.stdout.splitlines() if line.startswith("hash"))


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("dtype", ["<f8", "<f4", ">f8"])
def test_values_are_those_of_the_file(tmp_path, precision, dtype):
    write(tmp_path / "own.h5", waves(dtype))
    run(tmp_path / "run", PROBLEM, "time.steps=0", f"compute.precision={precision}", ranks=2)
    expected = waves(dtype)["phi"].astype("f8" if precision == "double" else "f4")
    assert same_bits(phi(tmp_path / "run/state_00000000.hdf"), expected)


@pytest.mark.parametrize("form", ["advective", "skew"])
def test_one_answer(tmp_path, form):
    """Over ranks, over layouts of the file, and after a restart."""
    write(tmp_path / "own.h5", waves())
    configuration = merged(PROBLEM, {"physics": {"form": form}})
    first = run(tmp_path / "first", configuration)
    for ranks in (2, 3, 4):
        assert hash_of(run(tmp_path / f"np{ranks}", configuration, ranks=ranks)) == hash_of(first)
        assert table(tmp_path / f"np{ranks}") == table(tmp_path / "first")
    write(tmp_path / "own.h5", waves(), chunks=(3, 5, 7), compression="gzip")
    assert hash_of(run(tmp_path / "chunked", configuration, ranks=3)) == hash_of(first)
    run(tmp_path / "parts", configuration, "time.steps=5", ranks=2)
    assert hash_of(run(tmp_path / "parts", configuration, "restart.from=latest")) == hash_of(first)


def test_velocity_is_the_same_as_by_formula(tmp_path):
    """The same numbers to round-off of the coordinates, so the same solution to round-off."""
    write(tmp_path / "own.h5", waves())
    by_formula = {
        "velocity": {
            "field": "formula",
            "file": None,
            "u": "0.5*sin(2*pi*y/ly)",
            "v": "0.3*cos(2*pi*z/lz)",
            "w": "-0.4*cos(2*pi*x/lx)",
        }
    }
    run(tmp_path / "file", PROBLEM)
    run(tmp_path / "formula", merged(PROBLEM, by_formula))
    a, b = phi(tmp_path / "file/state_00000012.hdf"), phi(tmp_path / "formula/state_00000012.hdf")
    assert np.abs(a - phi(tmp_path / "file/state_00000000.hdf")).max() > 0.1
    assert np.abs(a - b).max() < 1e-13


def test_snapshot_of_another_precision(tmp_path):
    write(tmp_path / "own.h5", waves())
    run(tmp_path / "single", PROBLEM, "compute.precision=single")
    snapshot = {"initial": {"file": "single/state_00000012.hdf", "dataset": None}}
    run(tmp_path / "double", merged(PROBLEM, snapshot), "time.steps=0", ranks=2)
    single = phi(tmp_path / "single/state_00000012.hdf")
    assert same_bits(phi(tmp_path / "double/state_00000000.hdf"), single.astype("f8"))


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


def with_value(values, value):
    values = values.copy()
    values[3, 4, 5] = value
    return values


PHI, VELOCITY = "initial.file = own.h5: ", "velocity.file = own.h5: "
REFUSED = [
    (
        "phi",
        lambda a: a[1:],
        PHI + "dataset phi has shape (25, 20, 24); accepted: (26, 20, 24), nz, ny, nx; another grid with resample",
    ),
    ("phi", lambda a: a.T, PHI + "dataset phi has shape (24, 20, 26)"),
    ("phi", lambda a: a[0], PHI + "dataset phi has shape (20, 24)"),
    ("phi", lambda a: a.astype("i4"), PHI + "dataset phi has another type; accepted: single or double"),
    ("phi", lambda a: with_value(a, np.nan), PHI + "dataset phi is nan at [3, 4, 5] (z, y, x)"),
    ("v", lambda a: with_value(a, -np.inf), VELOCITY + "dataset v is -inf at [3, 4, 5] (z, y, x)"),
    ("w", lambda a: a[:, 1:], VELOCITY + "dataset w has shape (26, 19, 24)"),
    ("phi", None, PHI + "has no dataset phi"),
    ("u", None, VELOCITY + "has no dataset u"),
]


def assert_refused(folder, ranks, code, says):
    result = run(folder / "run", PROBLEM, ranks=ranks, code=code)
    messages = [line for line in result.stderr.splitlines() if "fdapp: error: " in line]
    assert len(messages) == 1
    assert says in messages[0]
    assert not (folder / "run").exists()


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(("name", "change", "says"), REFUSED, ids=[says[-30:] for _, _, says in REFUSED])
def test_refused(tmp_path, name, change, says, ranks):
    fields = waves()
    fields[name] = change(fields[name]) if change else None
    write(tmp_path / "own.h5", {key: values for key, values in fields.items() if values is not None})
    assert_refused(tmp_path, ranks, 2, says)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    ("content", "says"), [(b"no HDF5", "is no HDF5 file"), (None, "cannot be opened: No such file or directory")]
)
def test_no_such_file(tmp_path, content, says, ranks):
    if content is not None:
        (tmp_path / "own.h5").write_bytes(content)
    assert_refused(tmp_path, ranks, 3, "own.h5: " + says)


@pytest.mark.parametrize("section", ["initial", "velocity"])
def test_no_file_named(tmp_path, section):
    result = run(tmp_path / "run", merged(PROBLEM, {section: {"file": None}}), code=2)
    assert f"{section}.file = none: missing" in result.stderr


def test_validate_looks_at_the_files(tmp_path):
    fields = waves()
    write(tmp_path / "own.h5", {**fields, "phi": fields["phi"][1:]})
    write_ini(tmp_path / "run.ini", PROBLEM)
    assert "has shape (25, 20, 24)" in launch(tmp_path, 1, "--validate", "run.ini", code=2).stderr


def test_a_snapshot_that_others_opened(tmp_path):
    """Opened for writing and left as it was, it is whole; with something added it is not, and the message says what
    can be done with it, which works."""
    write(tmp_path / "own.h5", waves())
    run(tmp_path / "run", PROBLEM, "time.steps=0")
    path = tmp_path / "run/state_00000000.hdf"
    with h5py.File(path, "r+") as file:
        field = file["VTKHDF/PointData/phi"]
        field[...] = field[...]
        file["fdapp"].attrs.modify("step", file["fdapp"].attrs["step"])
    launch(tmp_path, 1, "--verify", path)
    with h5py.File(path, "r+") as file:
        file["notes"] = np.arange(1000)
    said = launch(tmp_path, 1, "--verify", path, code=3).stderr
    assert "something was added to it" in said and "initial.case = file" in said
    snapshot = {"initial": {"file": "run/state_00000000.hdf", "dataset": None}}
    run(tmp_path / "again", merged(PROBLEM, snapshot), "time.steps=0")
    assert same_bits(phi(tmp_path / "again/state_00000000.hdf"), waves()["phi"])
