"""The VTK library's own reader sees what the program computed: dimensions, spacing, values, for both precisions."""

import os
import subprocess

import h5py
import numpy
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader

from program import BASE, merged, phi, run


@pytest.mark.parametrize("precision", ["single", "double"])
def test_image(tmp_path, precision):
    run(tmp_path / "run", merged(BASE, {"compute": {"precision": precision}}), "time.steps=3", ranks=2)
    path = tmp_path / "run" / "state_00000003.hdf"
    reader = vtkHDFReader()
    assert reader.CanReadFile(str(path))
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    assert image.GetDimensions() == (33, 20, 37)
    assert image.GetOrigin() == (0.0, 0.0, 0.0)
    assert image.GetSpacing() == (1.0 / 33, 0.7 / 20, 1.3 / 37)
    values = vtk_to_numpy(image.GetPointData().GetArray("phi"))
    assert values.dtype == numpy.dtype("f4" if precision == "single" else "f8")
    assert values.reshape(37, 20, 33).tobytes() == phi(path).tobytes()
    # The value at a point is where VTK thinks that it is: the Gaussian's top at (0.4, 0.35, 0.65) at the start.
    reader.SetFileName(str(tmp_path / "run" / "state_00000000.hdf"))
    reader.Update()
    start = vtk_to_numpy(reader.GetOutput().GetPointData().GetArray("phi"))
    top = reader.GetOutput().GetPoint(int(start.argmax()))
    assert numpy.allclose(top, (0.4, 0.35, 0.65), atol=0.5 * numpy.max(image.GetSpacing()) + 1e-12)


def test_sound(tmp_path):
    """Four fields, between walls: points on both ends."""
    changes = {
        "grid": {"nx": 19, "ny": 18, "nz": 17, "ly": 0.8, "lz": 1.2},
        "physics": {"equation": "acoustics"},
        "boundary": {"x": "wall", "y": "wall", "z": "wall"},
        "initial": {"case": "cosine"},
        "time": {"courant": 0.5, "steps": 3},
        "compute": {"threads": 1, "backend": "cpu"},
    }
    run(tmp_path / "run", changes, ranks=2)
    path = tmp_path / "run" / "state_00000003.hdf"
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    assert image.GetDimensions() == (19, 18, 17)
    assert numpy.allclose(image.GetSpacing(), (1.0 / 18, 0.8 / 17, 1.2 / 16), rtol=1e-15)
    with h5py.File(path) as file:
        for name in ("p", "u", "v", "w"):
            values = vtk_to_numpy(image.GetPointData().GetArray(name))
            assert values.tobytes() == file["VTKHDF/PointData"][name][...].tobytes()
            assert numpy.abs(values).max() > 0.01


def test_part(tmp_path):
    output = {"fields_every": 3, "fields_stride": 3, "fields_precision": "single", "fields_box": "0.2 0.8 0 0.7 0.5 1"}
    run(tmp_path / "run", merged(BASE, {"output": output | {"derived": "gradient"}}), "time.steps=3", ranks=2)
    reader = vtkHDFReader()
    reader.SetFileName(str(tmp_path / "run/fields/state_00000003.hdf"))
    reader.Update()
    image = reader.GetOutput()
    places = [[i * length / n for i in range(0, n, 3) if low <= i * length / n <= high]
              for length, n, low, high in ((1.0, 33, 0.2, 0.8), (0.7, 20, 0, 0.7), (1.3, 37, 0.5, 1))]  # fmt: skip
    assert image.GetDimensions() == tuple(map(len, places))
    for name in ("phi", "gradient"):
        assert vtk_to_numpy(image.GetPointData().GetArray(name)).dtype == numpy.dtype("f4")
    corners = [image.GetPoint(0), image.GetPoint(image.GetNumberOfPoints() - 1)]
    assert numpy.allclose(corners, [[along[end] for along in places] for end in (0, -1)], atol=1e-14)


def test_distance(tmp_path):
    """What fddistance writes: the same points, negative where the values are from the level on."""
    run(tmp_path / "run", merged(BASE, {"compute": {"precision": "single"}}), "time.steps=1")
    subprocess.run(
        [os.environ["FDDISTANCE"], "run/state_00000000.hdf", "distance.hdf", "level=0.5", "backend=cpu", "threads=1"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    reader = vtkHDFReader()
    reader.SetFileName(str(tmp_path / "distance.hdf"))
    reader.Update()
    image = reader.GetOutput()
    assert image.GetDimensions() == (33, 20, 37)
    values = vtk_to_numpy(image.GetPointData().GetArray("distance"))
    assert values.dtype == numpy.dtype("f4")
    inside = values < 0
    assert numpy.array_equal(inside, phi(tmp_path / "run" / "state_00000000.hdf").ravel() >= 0.5)
    assert 0 < inside.sum() < inside.size


@pytest.mark.parametrize("name, axis", [("x_0.4", 0), ("y_0.3", 1), ("z_0.6", 2)])
def test_slice(tmp_path, name, axis):
    output = {"slices": "x=0.4 y=0.3 z=0.6", "slices_every": 2}
    run(tmp_path / "run", merged(BASE, {"output": output}), "time.steps=2", ranks=2)
    reader = vtkHDFReader()
    reader.SetFileName(str(tmp_path / f"run/slices/{name}_00000002.hdf"))
    reader.Update()
    image = reader.GetOutput()
    index = round((0.4, 0.3, 0.6)[axis] / (1.0 / 33, 0.7 / 20, 1.3 / 37)[axis])
    expected = numpy.take(phi(tmp_path / "run/state_00000002.hdf"), index, axis=2 - axis)
    assert image.GetDimensions() == tuple(1 if d == axis else n for d, n in enumerate((33, 20, 37)))
    assert vtk_to_numpy(image.GetPointData().GetArray("phi")).tobytes() == expected.tobytes()
    place = image.GetPoint(0)[axis]
    assert abs(place - (0.4, 0.3, 0.6)[axis]) <= 0.5 * image.GetSpacing()[axis]
