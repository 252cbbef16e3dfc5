"""What a file says of its numbers beside them. Files that fdapp refuses to begin with are not read here either: those
of other programs may keep numbers that must be multiplied first, or that stand for no value."""

from pathlib import Path

import h5py
import numpy as np

from .errors import DataError

# Names without case, '_' and '.': src/files/dataset_meaning.c has the same.
NEUTRAL = {"scalefactor": 1, "addoffset": 0, "scalingfactor": 1, "offset": 0, "slope": 1, "intercept": 0,
           "rescaleslope": 1, "rescaleintercept": 0, "bscale": 1, "bzero": 0, "unitsi": 1}  # fmt: skip
ABSENT = {"fillvalue", "missingvalue", "nodata", "nodatavalue", "dodsfillvalue", "dodsmissingvalue"}


def plain(name):
    return name.lower().replace("_", "").replace(".", "")


def check_image(path, image):
    """DataError if the group /VTKHDF or a field says that its numbers are others, or its axes not z, y, x."""
    if not np.array_equal(np.ravel(image.attrs.get("Direction", np.eye(3))), np.eye(3).ravel()):
        raise DataError(f"{path}: attribute Direction of /VTKHDF turns or mirrors the axes")
    for name, field in image["PointData"].items():
        for key, value in field.attrs.items():
            if plain(key) in NEUTRAL and not np.array_equal(np.ravel(value), [NEUTRAL[plain(key)]]):
                raise DataError(f"{path}: {name} has the attribute {key}, which changes what its numbers mean")
        labels = [axis.label.lower() for axis in field.dims]
        if set(labels) == {"x", "y", "z"} and labels != ["z", "y", "x"]:
            raise DataError(f"{path}: {name} has the axes ({', '.join(labels)}); a field has (z, y, x)")
        check_written(path, name, field)


def check_written(path, name, field):
    """DataError if a part of the field was never written, or lies in a file that is not there."""
    if field.chunks:
        chunks = int(np.prod([-(-n // size) for n, size in zip(field.shape, field.chunks)]))
        if field.id.get_num_chunks() < chunks:
            raise DataError(f"{path}: {name} was not written in full: of its {chunks} chunks"
                            f" {field.id.get_num_chunks()} are there")  # fmt: skip
    for source in field.virtual_sources() if field.is_virtual else ():
        if source.file_name != "." and not (Path(path).parent / source.file_name).exists():
            raise DataError(f"{path}: {name} is put together of others, of which {source.file_name} is not there")


def check_values(path, name, field, values):
    """DataError if some of the field's values stand for none."""
    absent = [number for key, value in field.attrs.items() if plain(key) in ABSENT for number in np.ravel(value)]
    absent += [field.fillvalue] if isinstance(field, h5py.Dataset) and field.fillvalue else []
    for number in absent:
        if np.any(np.asarray(values) == np.asarray(number).astype(field.dtype)):
            raise DataError(f"{path}: {name} is {number:g} at a point: by an attribute or the fill value this is none")
