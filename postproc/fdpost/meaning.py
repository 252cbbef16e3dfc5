"""What a file says of its numbers beside them. Files that fdapp refuses to begin with are not read here either: those
of other programs may keep numbers that must be multiplied first, or that stand for no value."""

from pathlib import Path

import h5py
import numpy as np

from .errors import DataError

# Names without case, '_' and '.': src/files/dataset_meaning.c has the same, and a test compares them.
NEUTRAL = {"scalefactor": 1, "addoffset": 0, "scalingfactor": 1, "offset": 0, "slope": 1, "intercept": 0,
           "rescaleslope": 1, "rescaleintercept": 0, "bscale": 1, "bzero": 0, "unitsi": 1,
           "gain": 1, "multiplier": 1}  # fmt: skip
ABSENT = {"fillvalue", "missingvalue", "nodata", "nodatavalue", "dodsfillvalue", "dodsmissingvalue", "undef", "blank",
          "badvalue"}  # fmt: skip


def plain(name):
    return name.lower().replace("_", "").replace(".", "")


def check_image(path, image):
    """DataError if the group /VTKHDF or a field says that its numbers are others, or its axes not z, y, x."""
    if not np.array_equal(np.ravel(image.attrs.get("Direction", np.eye(3))), np.eye(3).ravel()):
        raise DataError(f"{path}: attribute Direction of /VTKHDF turns or mirrors the axes")
    for name, field in image["PointData"].items():
        for part in parts(path, field):
            check_written(path, name, part)
            check_numbers(path, name, part)


def parts(path, field, depth=8):
    """The dataset and, if it is virtual, its sources, which are in the folder of its file or in the current one."""
    yield field
    for source in field.virtual_sources() if depth > 0 and getattr(field, "is_virtual", False) else ():
        near = Path(path).parent / source.file_name
        place = path if source.file_name == "." else near if near.exists() else source.file_name
        if not Path(place).exists():
            raise DataError(f"{path}: {field.name} is put together of others, of which {place} is not there")
        with h5py.File(place, "r") as file:
            yield from parts(place, file[source.dset_name], depth - 1)


def check_numbers(path, name, field):
    """DataError if attributes say that the numbers are others, or the axes not z, y, x."""
    for key, value in field.attrs.items():
        changes = plain(key) in NEUTRAL and not np.array_equal(np.ravel(value), [NEUTRAL[plain(key)]])
        if changes or key == "_Unsigned":
            raise DataError(f"{path}: {name} has the attribute {key}, which changes what its numbers mean")
    labels = [axis.label.lower() for axis in field.dims]
    if set(labels) == {"x", "y", "z"} and labels != ["z", "y", "x"]:
        raise DataError(f"{path}: {name} has the axes ({', '.join(labels)}); a field has (z, y, x)")
    for axis in field.dims:
        x = np.asarray(axis[0][()], float) if len(axis) else np.empty(0)
        step = (x[-1] - x[0]) / (x.size - 1) if x.ndim == 1 and x.size > 1 else 0
        if step < 0 or np.any(np.abs(np.diff(x) - step) > 0.01 * abs(step)):
            raise DataError(f"{path}: {name} has coordinates {axis[0].name} that do not ascend in equal steps")


def check_written(path, name, field):
    """DataError if a part of the field was never written, or lies in a file that is not there."""
    if field.chunks:
        chunks = int(np.prod([-(-n // size) for n, size in zip(field.shape, field.chunks)]))
        if field.id.get_num_chunks() < chunks:
            raise DataError(f"{path}: {name} was not written in full: of its {chunks} chunks"
                            f" {field.id.get_num_chunks()} are there")  # fmt: skip
    points = sum(source.vspace.get_select_npoints() for source in field.virtual_sources()) if field.is_virtual else None
    if points is not None and points < field.size:
        raise DataError(f"{path}: {name} is put together of others, which have {points} of its {field.size} values")


def numbers(field, key, count=None):
    """Those of an attribute; none if it has other things or, with `count`, not so many."""
    found = np.ravel(field.attrs.get(key, ()))
    return found if found.dtype.kind in "iuf" and found.size == (count or found.size) else found[:0]


def is_absent(values, number):
    """Where the values are the number; either may have been rounded to single precision."""
    number, rounded = float(number), float(np.float32(number))
    same = (values == number) | (values == rounded)
    return same | (np.float32(values) == rounded) if number == rounded != 0 else same


def absent(field, values):
    """(what says so, which of the values stand for none) by everything that a dataset says."""
    for key in field.attrs:
        for number in numbers(field, key) if plain(key) in ABSENT else ():
            yield f"the attribute {key}", is_absent(values, number)
    if field.fillvalue:
        yield "the fill value", is_absent(values, field.fillvalue)
    low = [*numbers(field, "valid_range", 2)[:1], *numbers(field, "valid_min", 1), -np.inf]
    high = [*numbers(field, "valid_range", 2)[1:], *numbers(field, "valid_max", 1), np.inf]
    if low[0] < high[0]:
        yield "its valid range", (values < low[0]) | (values > high[0])


def check_values(path, name, field, values):
    """DataError if some of the field's values stand for none."""
    values = np.asarray(values)
    for part in parts(path, field) if isinstance(field, h5py.Dataset) else ():
        for says, none in absent(part, values):
            if np.any(none):
                raise DataError(f"{path}: {name} is {values[none].flat[0]:g} at a point: by {says} this is none")
