"""Units of [units]: in the attributes of every file, in the resolved configuration, refused for names that the run has
not, and without any effect on the numbers."""

import pathlib

import h5py
import pytest

from program import BASE, hash_of, launch, merged, run, write_ini

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = {"length": "m", "time": "s", "phi": "kg/m³", "gradient": "kg/m⁴"}
OUTPUT = {"slices": "z=0.5", "derived": "gradient", "checkpoint_every": 12}
NAMED = merged(BASE, {"units": UNITS, "output": OUTPUT, "statistics": {"fields": "phi"}})


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def named(path):
    """The units that a snapshot or a slice names."""
    with h5py.File(path) as file:
        found = {name.removeprefix("units_"): text(v) for name, v in file["fdapp"].attrs.items() if "units_" in name}
        data = file["VTKHDF/PointData"]
        return found | {name: text(item.attrs["units"]) for name, item in data.items() if "units" in item.attrs}


def test_files_name_units(tmp_path):
    plain = run(tmp_path / "plain", BASE)
    said = run(tmp_path / "run", NAMED, ranks=2)
    assert hash_of(said) == hash_of(plain)
    assert named(tmp_path / "run/fields/state_00000012.hdf") == UNITS
    assert named(tmp_path / "run/slices/z_0.5_00000010.hdf") == UNITS
    whole = {name: unit for name, unit in UNITS.items() if name != "gradient"}
    assert named(tmp_path / "run/state_00000024.hdf") == whole
    assert named(tmp_path / "plain/state_00000024.hdf") == {}
    of_statistics = {"mean_phi": "kg/m³", "variance_phi": "(kg/m³)^2"}
    assert named(tmp_path / "run/statistics_00000024.hdf") == {"length": "m", "time": "s"} | of_statistics
    assert (
        "\n[units]\nlength = m\ntime = s\nphi = kg/m³\ngradient = kg/m⁴\n" in (tmp_path / "run/config.ini").read_text()
    )
    launch(tmp_path, 1, "--verify", "run/state_00000024.hdf", "run/fields/state_00000012.hdf")
    again = launch(tmp_path, 1, "run/config.ini", "restart.from=latest", "time.steps=25")
    assert "warning" not in again.stderr and "units" not in again.stdout


def test_products_have_the_units_of_both_fields(tmp_path):
    """A square where both are the same; nothing where one of them is not known."""
    sound = {
        "grid": {"nx": 16, "ny": 16, "nz": 16},
        "physics": {"equation": "acoustics"},
        "initial": {"case": "gaussian"},
        "time": {"steps": 1, "courant": 0.5},
        "statistics": {"fields": "p u v w", "products": "yes"},
        "units": {"p": "Pa", "u": "m/s", "v": "m/s"},
    }
    run(tmp_path / "run", sound)
    means = {"mean_p": "Pa", "mean_u": "m/s", "mean_v": "m/s"}
    variances = {"variance_p": "Pa^2", "variance_u": "(m/s)^2", "variance_v": "(m/s)^2"}
    products = {"product_p_u": "Pa (m/s)", "product_p_v": "Pa (m/s)", "product_u_v": "(m/s)^2"}
    assert named(tmp_path / "run/statistics_00000001.hdf") == means | variances | products


def test_derived_fields_of_the_ready_case_of_jets_have_units(tmp_path):
    """But the Mach number, which has none."""
    words = ("grid.nx=12", "grid.ny=12", "time.t_end=1e-6", "output.fields_at=1e-6", "output.directory=run")
    launch(tmp_path, 1, ROOT / "config/jets.ini", *words)
    units = named(tmp_path / "run/fields/state_00000000.hdf")
    assert {name: unit for name, unit in units.items() if name[:9] == "vorticity"} == {
        f"vorticity_{axis}": "1/s" for axis in "xyz"
    }


def test_receivers_name_units(tmp_path):
    wave = {
        "grid": {"nx": 16, "ny": 16, "nz": 16},
        "physics": {"equation": "wave"},
        "initial": {"case": "gaussian"},
        "receivers": {"points": "0.3 0.3 0.3"},
        "time": {"steps": 4},
        "units": {"length": "m", "time": "s", "p": "Pa"},
    }
    said = run(tmp_path / "run", wave)
    assert "\nreceivers  1 point, x = 0.3, y = 0.3, z = 0.3, every step\n" in said.stdout
    with h5py.File(tmp_path / "run/receivers.h5") as file:
        assert [text(file[n].attrs["units"]) for n in ("positions", "time", "p")] == ["m", "s", "Pa"]


@pytest.mark.parametrize("derived", ["none", "mach", "vorticity"])
def test_units_of_what_the_equation_could_derive_are_no_fault(tmp_path, derived):
    """So a case with a [units] section is run with other derived data, too."""
    launch(tmp_path, 1, ROOT / "config/jets.ini", "--validate", f"output.derived={derived}")


@pytest.mark.parametrize(
    "name, unit, says",
    [
        ("p", "Pa", "nothing of this run has that name; accepted: length, time, phi, gradient"),
        ("mass", "kg", "nothing of this run has that name"),
        ("phi", "", "not a unit; accepted: up to 32 lines"),
        ("phi", "k" * 32, "a word of at most 31 bytes"),
        ("time", "s\tm", "not a unit"),
        ("n" * 40, "m", "not a unit"),
    ],
)
def test_refused(tmp_path, name, unit, says):
    write_ini(tmp_path / "run.ini", NAMED)
    said = launch(tmp_path, 1, "run.ini", f"units.{name}={unit}", code=2)
    assert says in said.stderr and f"units.{name}" in said.stderr
    assert not (tmp_path / "runs").exists()


def test_repeated(tmp_path):
    write_ini(tmp_path / "run.ini", NAMED)
    with open(tmp_path / "run.ini", "a") as file:
        file.write("[units]\ntime = h\n")
    assert "units.time = h: repeated; accepted: each unit once" in launch(tmp_path, 1, "run.ini", code=2).stderr
