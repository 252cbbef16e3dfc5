"""Files that fdapp reads: initial conditions and velocities from numpy arrays."""

from pathlib import Path

import h5py
import numpy as np

from .errors import UsageError
from .style import whole_file


def write_field(
    path, phi=None, *, lengths=(1.0, 1.0, 1.0), spacing=None, origin=(0.0, 0.0, 0.0), periodic=None, **fields
):
    """Write arrays of shape (nz, ny, nx) to an HDF5 file, for `initial.case = file` or `velocity.field = file`.

        fdpost.write_field("start.hdf", phi)                   a scalar field
        fdpost.write_field("flow.hdf", u=u, v=v, w=w)          a velocity
        fdpost.write_field("gas.hdf", density=rho, u=u, v=v, w=w, pressure=p)    a state of compressible flow

    Each array becomes the dataset VTKHDF/PointData/NAME, with the attributes of a VTKHDF image, so ParaView opens the
    file; the root has the same dataset as NAME. Single and double precision are kept, integers become double. lengths:
    of the periodic domain in x, y, z; spacing, if given, takes their place: lx/(nx - 1) where an axis has ends; origin:
    the place of the first point. fdapp interpolates by these with `resample = yes`. periodic: all axes or x, y, z,
    True or False; by default yes with lengths, no with spacing. `fddistance` reads it. Returns the path. UsageError for
    arrays that are no fields: not three-dimensional, of different shapes, complex, or with values that are not
    finite."""
    fields = ({} if phi is None else {"phi": phi}) | fields
    arrays = {name: as_field(name, array) for name, array in fields.items()}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) != 1:
        raise UsageError(f"fields of one shape are needed, at least one: {sorted(shapes)}")
    size = shapes.pop()[::-1]
    path = Path(path)
    periodic = np.broadcast_to(spacing is None if periodic is None else periodic, 3)
    spacing = [length / n for length, n in zip(lengths, size)] if spacing is None else spacing
    with whole_file(path) as part, h5py.File(part, "w") as file:
        image = file.create_group("VTKHDF")
        image.attrs["Version"] = np.array([1, 0], dtype="i4")
        image.attrs.create("Type", np.bytes_(b"ImageData"), dtype="S9")
        image.attrs["WholeExtent"] = np.array([end for n in size for end in (0, n - 1)], dtype="i4")
        image.attrs["Origin"] = np.array(origin, dtype="f8")
        image.attrs["Spacing"] = np.array(spacing, dtype="f8")
        image.attrs["Direction"] = np.eye(3).ravel()
        image.attrs["Periodic"] = np.array(periodic, dtype="i4")
        points = image.create_group("PointData")
        for name, array in arrays.items():
            points.create_dataset(name, data=array)
            file[name] = points[name]
    return path


def as_field(name, array):
    """The array as fdapp stores it. UsageError if it cannot be a field."""
    array = np.asarray(array)
    if array.dtype.kind in "iub":
        array = array.astype("f8")
    if array.dtype.kind != "f" or array.ndim != 3 or 0 in array.shape:
        raise UsageError(f"{name}: {array.dtype} of shape {array.shape}; a field is real, of shape (nz, ny, nx)")
    array = np.ascontiguousarray(array, dtype="<f4" if array.dtype.itemsize <= 4 else "<f8")
    if wrong := int(np.count_nonzero(~np.isfinite(array))):
        raise UsageError(f"{name}: {wrong} values are not finite")
    return array
