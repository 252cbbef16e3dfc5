"""Problems of one's own, from files: values to the bit, one answer over ranks and restarts, and what is refused."""

import h5py
import numpy as np
import pytest

from own_files import PROBLEM, waves, with_value, write
from program import hash_of, launch, merged, phi, run, same_bits, states, table, write_ini


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
    run(tmp_path / "formula", merged(PROBLEM, by_formula))
    # The same configuration with the file in place of its formulas, which are named as without effect.
    keys = ("velocity.field=file", "velocity.file=own.h5")
    replaced = run(tmp_path / "replaced", merged(PROBLEM, by_formula), *keys)
    assert hash_of(replaced) == hash_of(run(tmp_path / "file", PROBLEM))
    assert "velocity.u, velocity.v, velocity.w" in replaced.stderr
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


PHI, VELOCITY = "initial.file = own.h5: ", "velocity.file = own.h5: "
REFUSED = [
    (
        "phi",
        lambda a: a[1:],
        PHI + "dataset phi has shape (25, 20, 24); accepted: (26, 20, 24), nz, ny, nx; another grid with resample",
    ),
    ("phi", lambda a: a.T, PHI + "dataset phi has shape (24, 20, 26)"),
    ("phi", lambda a: a[0], PHI + "dataset phi has shape (20, 24)"),
    ("phi", lambda a: a > 0, PHI + "dataset phi has another type; accepted: integers, or half, single or double"),
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


@pytest.mark.parametrize("precision", ["double", "single"])
def test_values_too_large_for_single_precision(tmp_path, precision):
    """Said as the file has them: a finite value is not called infinite."""
    for name, key in (("phi", PHI), ("w", VELOCITY)):
        write(tmp_path / "own.h5", {**waves(), name: with_value(waves()[name], -1e264)})
        said = run(tmp_path / "run", PROBLEM, f"compute.precision={precision}", ranks=2, code=2).stderr
        assert f"{key}dataset {name} is -1e+264 at [3, 4, 5] (z, y, x); accepted: a magnitude of at most 1e+30" in said


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"no HDF5", "is no HDF5 file that can be opened; of numpy's arrays fdpost.write_field makes one"),
        (b"", "is empty; accepted: an HDF5 file"),
        ("cut", "is an HDF5 file that cannot be opened: it is damaged, cut off, or being written"),
        ("folder", "is a directory; accepted: an HDF5 file"),
        (None, "cannot be opened: No such file or directory"),
    ],
)
def test_no_such_file(tmp_path, content, says, ranks):
    if content == "folder":
        (tmp_path / "own.h5").mkdir()
    elif content == "cut":
        write(tmp_path / "own.h5", waves())
        with open(tmp_path / "own.h5", "r+b") as file:
            file.truncate(5000)
    elif content is not None:
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


def as_found(file):
    """Written again with the same values."""
    field, step = file["VTKHDF/PointData/phi"], file["fdapp"].attrs
    field[...] = field[...]
    step.modify("step", step["step"])


def with_notes(file):
    """Attributes and datasets of others, many and large enough to grow the file, and VTK's attributes again."""
    for place in ("/", "fdapp", "VTKHDF", "VTKHDF/PointData", "VTKHDF/PointData/phi"):
        file[place].attrs["note"] = "seen on Tuesday " * 50
    file["notes"] = np.arange(1000)
    file["VTKHDF"].attrs["Version"] = np.array([2, 1])
    file["VTKHDF"].attrs["Origin"] = file["VTKHDF"].attrs["Origin"]


def with_attribute(group, name, value):
    return lambda file: file[group].attrs.__setitem__(name, value)


KEPT_WORDS = "changed since it was written"
SAYS_THE_SAME = [
    with_attribute("fdapp", "n", 1),
    with_attribute("VTKHDF", "Version", np.array([2, 1])),
    with_notes,
]
SAYS_ANOTHER = [
    with_attribute("fdapp", "time", 0.5),
    with_attribute("fdapp", "base_step", 1),
    with_attribute("fdapp", "version", "9.9"),
    with_attribute("VTKHDF", "Spacing", np.ones(3)),
    lambda file: file["VTKHDF/PointData/phi"].__setitem__((0, 0, 0), 7.0),
    lambda file: file.move("fdapp/plane_checksums", "fdapp/sums"),
]


def test_a_snapshot_that_others_opened(tmp_path):
    """What others add or write again is no damage if the snapshot says what it said: it verifies, and runs resume from
    it, with a warning. A change of what it says is damage; its values can begin a run of their own."""
    write(tmp_path / "own.h5", waves())
    straight = run(tmp_path / "run", PROBLEM, "time.steps=6")
    run(tmp_path / "run", PROBLEM, "time.steps=3")
    path = tmp_path / "run/state_00000003.hdf"
    content = path.read_bytes()
    written = launch(tmp_path, 1, "--hash", path).stdout

    def changed(change):
        path.write_bytes(content)
        with h5py.File(path, "r+") as file:
            change(file)

    changed(as_found)
    assert KEPT_WORDS not in launch(tmp_path, 1, "--verify", path).stdout
    for change in SAYS_ANOTHER:
        changed(change)
        assert "damaged" in launch(tmp_path, 1, "--verify", path, code=3).stderr
    assert "initial.case = file" in launch(tmp_path, 1, "--verify", path, code=3).stderr
    assert "passed over: " in run(tmp_path / "run", PROBLEM, "time.steps=3", "restart.from=latest", ranks=2).stderr
    snapshot = {"initial": {"file": path, "dataset": None}}
    run(tmp_path / "again", merged(PROBLEM, snapshot), "time.steps=0")
    for change in SAYS_THE_SAME:
        changed(change)
        assert KEPT_WORDS in launch(tmp_path, 1, "--verify", path).stdout
        assert launch(tmp_path, 1, "--hash", path).stdout == written
    result = run(tmp_path / "run", PROBLEM, "time.steps=6", "restart.from=latest", ranks=2)
    assert KEPT_WORDS in result.stderr
    assert hash_of(result) == hash_of(straight)


def test_a_result_of_the_run_itself_is_no_source(tmp_path):
    """The run would move it away; a file that it leaves alone may lie there."""
    write(tmp_path / "own.h5", waves())
    run(tmp_path / "run", PROBLEM)
    (tmp_path / "link.h5").symlink_to("run/state_00000006.hdf")
    (tmp_path / "run" / "state_00000003.hdf").symlink_to("../own.h5")
    before = states(tmp_path / "run")
    for name in ("run/state_00000012.hdf", "link.h5", "run/../run/state_00000006.hdf", "run/state_00000003.hdf"):
        for key in ("initial", "velocity"):
            write_ini(tmp_path / "again.ini", merged(PROBLEM, {"initial": {"dataset": None}}, {key: {"file": name}}))
            place = f"again.ini:{9 if key == 'initial' else 12}: {key}.file = {name}: "
            for words in (["--validate", "again.ini"], ["again.ini"]):
                said = launch(tmp_path, 1, *words, "output.directory=run", code=2).stderr
                assert f"{place}a result in output.directory, which a run moves into previous_N" in said, said
    assert states(tmp_path / "run") == before and not (tmp_path / "run/previous_1").exists()
    write(tmp_path / "run/mine.h5", waves())
    run(tmp_path / "run", merged(PROBLEM, {"initial": {"file": "run/mine.h5"}}), "time.steps=1")


def test_resuming_needs_no_initial_file(tmp_path):
    """The snapshot holds phi. Without one the file is needed, and nothing moves if it is not there."""
    write(tmp_path / "own.h5", waves())
    write(tmp_path / "start.h5", waves())
    configuration = merged(PROBLEM, {"initial": {"file": "start.h5"}})
    whole = hash_of(run(tmp_path / "whole", configuration))
    run(tmp_path / "run", configuration, "time.steps=6")
    (tmp_path / "start.h5").unlink()
    launch(tmp_path, 1, "--validate", "run.ini", "output.directory=run", "restart.from=latest")
    assert hash_of(run(tmp_path / "run", configuration, "restart.from=latest", ranks=2)) == whole
    run(tmp_path / "other", configuration, "restart.from=run/state_00000006.hdf")
    for name in states(tmp_path / "run"):
        (tmp_path / "run" / name).unlink()
    assert "start.h5" in run(tmp_path / "run", configuration, "restart.from=latest", code=3).stderr
    assert not (tmp_path / "run/previous_1").exists()


def test_another_velocity_of_the_same_name_is_told(tmp_path):
    write(tmp_path / "own.h5", waves())
    run(tmp_path / "run", PROBLEM, "time.steps=6", ranks=3)
    said = "velocity.file = own.h5 holds other values than those with which the snapshot was computed"
    keys = ("restart.from=run/state_00000006.hdf", "output.directory=next")
    assert said not in run(tmp_path / "run", PROBLEM, *keys[:1]).stderr
    fields = waves()
    fields["u"] = fields["u"] + np.eye(26, 24)[:, None, :] * 1e-3
    write(tmp_path / "own.h5", fields)
    assert said in launch(tmp_path, 2, "run.ini", *keys).stderr
