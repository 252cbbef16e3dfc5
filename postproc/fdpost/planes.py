"""Slices of one step that a run wrote (output.slices), used like a snapshot."""

import json
from dataclasses import dataclass

import h5py

from .errors import DataError, UsageError
from .reader import AXES, POINT_DATA, Run, bounded


@dataclass(frozen=True)
class Planes:
    """The slices of one step. It has the interface of State that drawing planes needs, but only these planes."""

    step: int
    time: float
    size: tuple  # points of the grid in x, y, z
    spacing: tuple
    origin: tuple  # of the grid
    fields: tuple
    paths: dict  # of the slice files by (axis, index)
    bounded: tuple = (False,) * 3  # whether x, y, z have ends

    @property
    def lengths(self):
        """As State.lengths."""
        return tuple((n - ends) * h for n, h, ends in zip(self.size, self.spacing, self.bounded))

    @property
    def cuts(self):
        """(axis, index) of each plane, in the order of the run's indices."""
        return list(self.paths)

    @property
    def field(self):
        """The field that is shown by default."""
        return "phi" if "phi" in self.fields else self.fields[0]

    def plane(self, axis, index, field=None):
        """The plane as State.plane() gives it. UsageError for an unknown field, DataError if unreadable."""
        path, field = self.paths[axis, index], field or self.field
        if field not in self.fields:
            raise UsageError(f"{path}: no field '{field}'; there are: {', '.join(self.fields)}")
        try:
            with h5py.File(path, "r") as file:
                return file[POINT_DATA][field][:]
        except (OSError, KeyError, RuntimeError) as error:
            raise DataError(f"{path}: cannot read {field}: {error}") from error


def listed(directory):
    """{name: {step: path}} of the slices that the indices name."""
    found = {}
    for index in sorted(directory.glob("*.hdf.series")):
        try:
            names = [str(entry["name"]) for entry in json.loads(index.read_text("utf-8"))["files"]]
            files = {int(name.removesuffix(".hdf").rsplit("_", 1)[1]): directory / name for name in names}
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise DataError(f"{index}: damaged index of slices: {error}") from error
        found[index.name.removesuffix(".hdf.series")] = files
    return found


def newest_planes(path):
    """The run and its slices of the newest step that all indices name, or None while there are none."""
    run = Run(path)
    series = listed(run.directory / "slices")
    steps = set.intersection(*(set(files) for files in series.values())) if series else set()
    if not steps:
        return None
    step = max(steps)
    paths = {}
    try:
        for files in series.values():
            with h5py.File(files[step], "r") as file:
                about, image = file["fdapp"].attrs, file["VTKHDF"]
                axis, index = int(about["axis"]), int(about["index"])
                time, fields = float(about["time"]), tuple(bytes(about["fields"]).decode().split())
                spacing = tuple(float(h) for h in image.attrs["Spacing"])
                origin = [float(start) for start in image.attrs["Origin"]]
            paths[axis, index] = files[step]
            origin[axis] -= index * spacing[axis]
    except (OSError, KeyError, RuntimeError) as error:
        raise DataError(f"{run.directory}/slices: {error}") from error
    size = tuple(int(run.number("grid", f"n{axis}", 1)) for axis in AXES)
    return run, Planes(step, time, size, spacing, tuple(origin), fields, paths, bounded(run.config))
