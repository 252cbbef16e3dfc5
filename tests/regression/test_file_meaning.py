"""Files whose numbers are absent in part, or mean something else than they seem: refused wherever a file enters."""

import h5py
import numpy as np
import pytest

from own_files import PROBLEM, SHAPE, waves, with_value
from program import phi, run, same_bits

FIELD = waves()["phi"]


def attribute(name, value):
    def make(file):
        file.create_dataset("phi", data=FIELD).attrs[name] = value

    return make


def marked(name, value, dtype="f8", said=None):
    """One point has the value that stands for none, which the attribute has in the type `said`."""

    def make(file):
        data = file.create_dataset("phi", data=with_value(FIELD.astype(dtype), value))
        data.attrs[name] = np.array(value, said or dtype)

    return make


def labels(file):
    data = file.create_dataset("phi", data=FIELD)
    for axis, name in enumerate("xyz"):
        data.dims[axis].label = name


def scales(*names, x=range(SHAPE[2])):
    """A field whose axes have these names and the coordinates 0, 1, 2 ..., the last one those given."""

    def make(file):
        data = file.create_dataset("phi", data=FIELD)
        for axis, name in enumerate(names):
            scale = file.create_dataset(name, data=x if axis == 2 else np.arange(SHAPE[axis], dtype="f4") / 7)
            scale.make_scale(name)
            data.dims[axis].attach_scale(scale)

    return make


def dimensions(file):
    """netCDF's dimensions without a variable."""
    data = file.create_dataset("phi", data=FIELD)
    for axis, name in enumerate("zyx"):
        scale = file.create_dataset(name, SHAPE[axis : axis + 1], "f4")
        scale.make_scale(f"This is a netCDF dimension but not a netCDF variable.{SHAPE[axis]:10d}")
        data.dims[axis].attach_scale(scale)


def openpmd(file):
    """The labels are those of the group."""
    group = file.create_group("mesh")
    group.attrs["axisLabels"] = np.array([b"x", b"y", b"z"])
    group.create_dataset("phi", data=FIELD)
    return "mesh/phi"


def half_chunked(file):
    data = file.create_dataset("phi", SHAPE, "f8", chunks=(13, 20, 24))
    data[:13] = FIELD[:13]


def half_compressed(file):
    data = file.create_dataset("phi", SHAPE, "f8", chunks=(1, 20, 24), compression="gzip")
    data[:25] = FIELD[:25]


def never_written(file):
    file.create_dataset("phi", SHAPE, "f8")


def fill_value(file):
    """Chunks that are there in part have HDF5's own fill value."""
    data = file.create_dataset("phi", SHAPE, "f8", chunks=SHAPE, fillvalue=-1e20)
    data[:13] = FIELD[:13]


def virtual(*, second=True, part=None, short=False, covered=SHAPE[0], fill=None):
    def make(file):
        folder = file.filename.rsplit("/", 1)[0]
        layout = h5py.VirtualLayout(SHAPE, "f8")
        for name, planes in (("a.h5", slice(0, 13)), ("b.h5", slice(13, covered))):
            count = planes.stop - planes.start
            if name == "a.h5" or second:
                with h5py.File(f"{folder}/{name}", "w") as source:
                    data = source.create_dataset(
                        "v", (count - (short and name == "b.h5"), *SHAPE[1:]), "f8", chunks=part
                    )
                    if part is None or name == "a.h5":
                        data[:] = FIELD[planes][: data.shape[0]]
                    if fill is not None:
                        data[2, 3, 4] = data.attrs["_FillValue"] = fill
            layout[planes] = h5py.VirtualSource(name, "v", (count, *SHAPE[1:]))
        file.create_virtual_dataset("phi", layout)

    return make


def external(bytes_there):
    def make(file):
        path = f"{file.filename.rsplit('/', 1)[0]}/values.bin"
        with open(path, "wb") as values:
            values.write(FIELD.tobytes()[:bytes_there])
        file.create_dataset("phi", SHAPE, "f8", external=[(path, 0, FIELD.nbytes)])

    return make


def dangling(file):
    file["phi"] = h5py.SoftLink("/gone/phi")


def dangling_file(file):
    file["phi"] = h5py.ExternalLink("gone.h5", "/phi")


def image(attrs, name="phi"):
    def make(file):
        group = file.create_group("VTKHDF")
        for key, value in attrs.items():
            group.attrs[key] = value
        file.create_dataset(name, data=FIELD)

    return make


FULL = "accepted: datasets with all values"
REFUSED = {
    "scale factor": (attribute("scale_factor", 0.5), "has the attribute scale_factor", "with scale_factor = 1"),
    "offset": (attribute("add_offset", 273.15), "has the attribute add_offset", "with add_offset = 0"),
    "unit": (attribute("unitSI", 1e-3), "has the attribute unitSI"),
    "a text as factor": (attribute("scale_factor", "two"), "has the attribute scale_factor"),
    "a slope of DICOM": (attribute("RescaleSlope", 2.0), "has the attribute RescaleSlope"),
    "a factor in capitals": (attribute("SCALE_FACTOR", 2.0), "has the attribute SCALE_FACTOR"),
    "no data": (marked("NoDataValue", -9999.0), "is -9999 at [3, 4, 5]"),
    "no data in capitals": (marked("NODATA_value", -9999.0), "is -9999 at [3, 4, 5]"),
    "many values for none": (
        lambda f: f.create_dataset("phi", data=FIELD).attrs.update(
            {"missing_value": -np.arange(90.0, 95), "_FillValue": -np.arange(80.0, 85)}
        ),
        "more than 8 numbers that stand for no value",
    ),
    "fill value of a source": (virtual(fill=-9999.0), "is -9999 at [2, 3, 4]"),
    "unsigned": (attribute("_Unsigned", "true"), "has the attribute _Unsigned"),
    "fill value": (
        marked("_FillValue", -9999.0),
        "is -9999 at [3, 4, 5] (z, y, x)",
        "by the attribute _FillValue this is none",
    ),
    "fill value of a float": (marked("_FillValue", np.float32(-999.9), "f4"), "at [3, 4, 5] (z, y, x)"),
    "fill value of a float, of doubles": (marked("_FillValue", -999.9, "f8", "f4"), "at [3, 4, 5] (z, y, x)"),
    "fill value of a double, of floats": (marked("_FillValue", -999.9, "f4", "f8"), "at [3, 4, 5] (z, y, x)"),
    "fill value of integers": (marked("_FillValue", -32768, "i2"), "is -32768 at [3, 4, 5]"),
    "missing value": (marked("missing_value", 1e20), "is 1e+20 at [3, 4, 5]"),
    "out of the valid range": (
        attribute("valid_range", np.array([-0.5, 5.0])),
        "by the attribute valid_range this is none",
    ),
    "below the valid minimum": (attribute("valid_min", 0.0), "values alone: by the attribute valid_min this is none"),
    "the fill value of HDF5": (fill_value, "is -1e+20 at [13, 0, 0]", "by the fill value this is none"),
    "labels": (labels, "has the axes (x, y, z) by its attribute DIMENSION_LABELS", "accepted: (z, y, x)"),
    "labels as one text": (attribute("axes", "x, y, z"), "has the axes (x, y, z)"),
    "labels of xarray": (attribute("_ARRAY_DIMENSIONS", ["z", "x", "y"]), "has the axes (z, x, y)"),
    "a time axis": (attribute("dims", ["time", "y", "x"]), "has the axes (time, y, x)"),
    "scales": (scales("longitude", "y", "z"), "has the axes (longitude, y, z)"),
    "descending coordinates": (
        scales("z", "y", "x", x=np.arange(24.0)[::-1]),
        "coordinates x that go from 23 to 0 and do not ascend in equal steps (22 follows 23)",
    ),
    "stretched coordinates": (scales("z", "y", "x", x=np.arange(24.0) ** 1.1), "do not ascend in equal steps"),
    "coordinates that are missing": (scales("z", "y", "x", x=np.full(24, np.nan)), "do not ascend in equal steps"),
    "one value for all points": (scales("lev", "lat", "lon", x=np.zeros(24, "i4")), "coordinates lon that go from 0"),
    "labels of the group": (openpmd, "has the axes (x, y, z) by its attribute axisLabels"),
    "Fortran's order": (attribute("dataOrder", "F"), "Fortran's order"),
    "turned axes": (image({"Direction": np.array([0.0, 1, 0, 1, 0, 0, 0, 0, 1])}), "Direction of /VTKHDF turns"),
    "half written": (half_chunked, "of its 2 chunks 1 are there", FULL),
    "half written, compressed": (half_compressed, "of its 26 chunks 25 are there", FULL),
    "never written": (never_written, "was never written", FULL),
    "a source that is gone": (virtual(second=False), "v in the file b.h5 is not there in full", FULL),
    "a source half written": (virtual(part=(1, 20, 24)), "was not written in full", FULL),
    "a source too short": (virtual(short=True), "v in the file b.h5 is not there in full", FULL),
    "a part without a source": (virtual(covered=20), "for 9600 of its 12480 points", FULL),
    "values of another file that is short": (external(FIELD.nbytes // 2), "is too short", FULL),
    "a dangling link": (dangling, "phi is a link to /gone/phi, which is not there"),
    "a dangling link to a file": (dangling_file, "phi is a link to /phi in the file gone.h5, which is not there"),
    "another name": (
        lambda f: f.create_dataset("flow/rho", data=FIELD),
        "with three axes it has: flow/rho",
        "initial.dataset",
    ),
    "no field at all": (
        lambda f: f.create_dataset("phi2", data=FIELD[0]),
        "has no dataset phi, and none with three axes",
    ),
}


@pytest.mark.parametrize("resample", ["no", "yes"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name, resample):
    make, *says = REFUSED[name]
    with h5py.File(tmp_path / "own.h5", "w") as file:
        name = make(file)
    keys = (f"initial.dataset={name if isinstance(name, str) else 'phi'}", f"initial.resample={resample}")
    said = run(tmp_path / "run", {**PROBLEM, "velocity": {"field": "uniform"}}, "time.steps=0", *keys, code=2).stderr
    messages = [line for line in said.splitlines() if "fdapp: error: " in line]
    assert len(messages) == 1
    for text in ("initial.file = own.h5: ", *says):
        assert text in messages[0]
    assert not (tmp_path / "run").exists()


ACCEPTED = {
    "neutral attributes": lambda f: f.create_dataset("phi", data=FIELD).attrs.update(
        {"scale_factor": 1.0, "add_offset": 0, "_FillValue": np.nan, "missing_value": -9999.0, "units": "K"}
    ),
    "labels": attribute("DIMENSION_LABELS", ["z", "y", "x"]),
    "labels with units": attribute("axes", ["z [m]", "y [m]", "x [m]"]),
    "labels with numbers": attribute("dims", ["x3", "x2", "x1"]),
    "labels of places": attribute("_ARRAY_DIMENSIONS", ["level", "lat", "lon"]),
    "coordinates": scales("z", "y", "x", x=(0.1 + np.arange(24) / 24).astype("f4")),
    "dimensions of netCDF": dimensions,
    "labels that say nothing": attribute("axes", ["phony_dim_0", "phony_dim_1", "phony_dim_2"]),
    "a wide valid range": attribute("valid_range", np.array([-5.0, 5.0])),
    "zeros and HDF5's zero": lambda f: f.create_dataset("phi", data=FIELD, fillvalue=0.0, chunks=True),
    "virtual": virtual(),
    "another file": external(FIELD.nbytes),
    "an image": image({"Direction": np.eye(3).ravel(), "Spacing": [1 / 24, 0.04, 0.05], "Origin": [0.0] * 3}),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(tmp_path, name):
    with h5py.File(tmp_path / "own.h5", "w") as file:
        ACCEPTED[name](file)
    run(tmp_path / "run", {**PROBLEM, "velocity": {"field": "uniform"}}, "time.steps=0", ranks=2)
    assert same_bits(phi(tmp_path / "run/state_00000000.hdf"), FIELD)


def test_velocities_too(tmp_path):
    with h5py.File(tmp_path / "own.h5", "w") as file:
        for name, values in waves().items():
            file.create_dataset(name, data=values)
        file["v"].attrs["scale_factor"] = 2.0
    said = run(tmp_path / "run", PROBLEM, "time.steps=0", code=2, ranks=2).stderr
    assert "velocity.file = own.h5: dataset v has the attribute scale_factor" in said


@pytest.mark.parametrize(
    ("attributes", "options", "says"),
    [
        ({"scale_factor": 0.5}, {}, "dataset points has the attribute scale_factor"),
        ({"_FillValue": 0.75}, {}, "dataset points has a value that is none, by the attribute _FillValue"),
        (
            {},
            {"maxshape": (4, 3), "chunks": (1, 3)},
            "dataset points was not written in full: of its 4 chunks 2 are there",
        ),
    ],
)
def test_places_too(tmp_path, attributes, options, says):
    """Of sources and receivers; --validate says so, too."""
    with h5py.File(tmp_path / "own.h5", "w") as file:
        data = file.create_dataset("points", (4 if options else 2, 3), "f8", **options)
        data[:2] = [[0.5, 0.5, 0.5], [0.25, 0.5, 0.75]]
        data.attrs.update(attributes)
    problem = {"grid": PROBLEM["grid"], "physics": {"equation": "wave"}, "time": {"steps": 1}}
    for section, more in (("receivers", {}), ("point_sources", {"frequency": 1.0})):
        keys = {"initial": {"case": "gaussian", "width": 0.2}, section: {"file": "own.h5"} | more}
        for option in ((), ("--validate",)):
            said = run(tmp_path / "run", problem | keys, *option, code=2).stderr
            assert f"{section}.file = own.h5: {says}" in said
            assert not (tmp_path / "run").exists()
