"""The content of a picture at one time: a state (a snapshot, whole or in part) or the slices of one step.

Fields are (nz, ny, nx) with x fastest; point i lies at origin + i * spacing. Sizes, spacings and positions are given
in the order x, y, z, as in the configuration.
"""

import configparser
import functools
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from .errors import DataError, UsageError
from .meaning import check_image, check_values

AXES = "xyz"
POINT_DATA = "VTKHDF/PointData"
PERIODIC = "Periodic"  # of /VTKHDF, in files of write_field
COVERS = 1e-9  # relative difference up to which the points kept fill a period


class Frame:
    """The base of State and Planes. Both have path, step and time (None in files that say neither), size (points in x,
    y, z), spacing, origin, fields, and periodic: for x, y, z whether the first point follows the last."""

    @property
    def lengths(self):
        """Lengths in x, y, z: of a period, or from the first to the last point of an axis with ends or of a part."""
        return tuple((n if periodic else n - 1) * h for n, h, periodic in zip(self.size, self.spacing, self.periodic))

    @property
    def field(self):
        """The field that is shown by default: phi, or the first in the equation's order."""
        return "phi" if "phi" in self.fields else self.fields[0]

    def unit(self, name):
        """The unit of length, time or a field that the file names; "" if none."""
        return str(self.attributes.get(f"units_{name}", ""))

    def known(self, field):
        """The field's name, or that of the default for None. UsageError if there is no such field."""
        field = field or self.field
        if field not in self.fields:
            raise UsageError(f"{self.path}: no field '{field}'; there are: {', '.join(self.fields)}")
        return field

    def same_points(self, other):
        """True if the points of the other frame lie where those of this one do."""
        return self.size == other.size and np.allclose([*self.origin, *self.spacing], [*other.origin, *other.spacing])


@dataclass(frozen=True, repr=False)
class State(Frame):
    """One state file; opened for each access, so that thousands of states need no open files."""

    path: Path
    step: int
    time: float
    dt: float
    shape: tuple  # (nz, ny, nx)
    spacing: tuple  # x, y, z
    origin: tuple  # x, y, z
    fields: tuple
    attributes: dict  # of the group /fdapp

    def __repr__(self):
        return f"State({self.path.name}: step {self.step}, t = {self.time:g}, {' '.join(self.fields)})"

    @property
    def size(self):
        """Points in x, y, z."""
        return self.shape[::-1]

    @property
    def kept(self):
        """True for a snapshot that was kept, False for a checkpoint."""
        return bool(self.attributes.get("picture", True))

    @property
    def part(self):
        """True for a snapshot that was kept in part."""
        return bool(self.attributes.get("part", False))

    @cached_property
    def config(self):
        """The run's configuration as of parsed()."""
        return parsed(str(self.attributes.get("config", "")))

    @cached_property
    def bounded(self):
        """For x, y, z: True if the axis has ends: as the file's configuration says, or its attribute Periodic."""
        periodic = self.attributes.get(PERIODIC)
        return bounded(self.config) if periodic is None or self.config else tuple(not each for each in periodic)

    @property
    def periodic(self):
        """For x, y, z: whether the first point follows the last. A part does so where its points fill the period."""
        lengths = [float(self.config.get("grid", {}).get(f"l{axis}", "nan")) for axis in AXES]
        filled = [abs(n * h - length) < COVERS * length for n, h, length in zip(self.size, self.spacing, lengths)]
        return tuple(not ends and (full or not self.part) for ends, full in zip(self.bounded, filled))

    @property
    def grid(self):
        """Points of the whole grid in x, y, z; () if the file does not say."""
        grid = self.config.get("grid", {})
        return tuple(int(grid[f"n{axis}"]) for axis in AXES) if {"nx", "ny", "nz"} <= grid.keys() else ()

    @property
    def thinned(self):
        """Stride of the kept points along each axis (output.fields_stride); 1 for a snapshot of all points."""
        return int(self.config.get("output", {}).get("fields_stride", 1)) if self.part else 1

    def coordinates(self, axis):
        """Positions of the points along axis 0 (x), 1 (y) or 2 (z)."""
        return self.origin[axis] + self.spacing[axis] * np.arange(self.size[axis])

    def read(self, field=None, key=...):
        """Read `field[key]`, by default of the first field; key indexes (z, y, x). UsageError for an unknown field,
        DataError if unreadable."""
        return read_values(self.path, self.known(field), key)

    def plane(self, axis, index, field=None):
        """The plane normal to `axis` at `index`, rows along the higher remaining axis: (y, x), (z, x) or (z, y)."""
        key = [slice(None)] * 3
        key[2 - axis] = index
        return self.read(field, tuple(key))

    def projection(self, axis, field=None):
        """At each point of the plane normal to `axis` the value of largest magnitude along the axis (as plane())."""
        planes = (self.plane(2, k, field) for k in range(self.size[2]))  # one at a time: a field may not fit in memory
        if axis == 2:
            return functools.reduce(lambda best, plane: np.where(np.abs(plane) > np.abs(best), plane, best), planes)
        along = 1 - axis
        rows = (np.take_along_axis(plane, np.abs(plane).argmax(along, keepdims=True), along) for plane in planes)
        return np.array([row.ravel() for row in rows])


@dataclass(frozen=True)
class Planes(Frame):
    """The slices of one step (output.slices): like a state, but with these planes alone."""

    path: Path  # of the first plane
    step: int
    time: float
    size: tuple  # points of the grid in x, y, z; 1 normal to a plane whose grid is unknown
    spacing: tuple
    origin: tuple  # of the grid
    fields: tuple
    periodic: tuple
    paths: dict  # of the slice files by (axis, index)
    attributes: dict  # of /fdapp, of one of the planes

    @property
    def cuts(self):
        """(axis, index) of each plane, in the order of the run's indices."""
        return list(self.paths)

    def plane(self, axis, index, field=None):
        """The plane as State.plane() gives it. UsageError for an unknown field, DataError if unreadable."""
        return read_values(self.paths[axis, index], self.known(field))


@contextmanager
def damage_named(path):
    """Faults of a file's structure as DataError that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except KeyError as error:
        raise DataError(f"{path}: not a state of fdapp: {error.args[0]}") from error
    except (OSError, RuntimeError) as error:
        raise DataError(f"{path}: damaged or not a state: {error}") from error


def read_values(path, field, key=...):
    """`field[key]` of a file. DataError if unreadable."""
    try:
        with h5py.File(path, "r") as file:
            data = file[POINT_DATA][field]
            values = data[key]
            check_values(path, field, data, values)
            return values
    except (OSError, KeyError, RuntimeError) as error:
        raise DataError(f"{path}: cannot read {field}: {error}") from error


def describe(path):
    """The description of a file of fdapp, without its fields: shape (nz, ny, nx), spacing, origin, fields in the
    equation's order, attributes of /fdapp and Periodic. A slice has one plane. DataError naming the file and the
    fault."""
    with damage_named(path), h5py.File(path, "r") as file:
        image = file["VTKHDF"]
        check_image(path, image)
        shapes = {name: item.shape for name, item in image["PointData"].items()}
        extent = np.asarray(image.attrs["WholeExtent"], dtype=int)
        spacing = tuple(float(value) for value in image.attrs["Spacing"])
        origin = tuple(float(value) for value in image.attrs["Origin"])
        about = file["fdapp"].attrs.items() if "fdapp" in file else ()
        attributes = {name: plain_value(value) for name, value in about}
        if attributes:
            named = {name: item.attrs["units"] for name, item in image["PointData"].items() if "units" in item.attrs}
            attributes |= {f"units_{name}": plain_value(value) for name, value in named.items()}
        if PERIODIC in image.attrs:
            attributes[PERIODIC] = plain_value(image.attrs[PERIODIC])
    shape = tuple(int(n) for n in (extent[1::2] - extent[::2] + 1)[::-1])
    stored = shape if "axis" not in attributes else tuple(np.delete(shape, 2 - int(attributes["axis"])).tolist())
    wrong = [name for name, found in shapes.items() if found != stored]
    if not shapes or wrong:
        names = ", ".join(wrong)
        fault = f"field {names} does not fit WholeExtent {shape[::-1]}" if wrong else "it has no field"
        raise DataError(f"{path}: damaged: {fault}")
    named = str(attributes.get("fields", "")).split()  # HDF5 itself lists them by the alphabet
    fields = tuple(sorted(shapes, key=lambda name: named.index(name) if name in named else len(named)))
    return shape, spacing, origin, fields, attributes


def as_state(path, shape, spacing, origin, fields, attributes):
    """A State from what describe() found. DataError if the file does not say its step."""
    if missing := [name for name in ("step", "time", "dt") if name not in attributes]:
        raise DataError(f"{path}: not a state of fdapp: attribute '{missing[0]}' is missing in /fdapp")
    step, time, dt = (attributes[name] for name in ("step", "time", "dt"))
    return State(path, int(step), float(time), float(dt), shape, spacing, origin, fields, attributes)


def read_state(path):
    """Describe one state file without reading its fields. DataError naming the file and what is wrong."""
    path = Path(path)
    found = describe(path)
    if "axis" in found[-1]:
        raise DataError(f"{path}: a slice; this needs all points of a snapshot")
    return as_state(path, *found)


def read_planes(paths, config):
    """The slices of one step as Planes; config: the run's, as of parsed(), empty if unknown. DataError."""
    found = {}
    for path in paths:
        shape, spacing, origin, fields, about = describe(path)
        with damage_named(path):
            axis, index, step, time = (about[name] for name in ("axis", "index", "step", "time"))
        found[axis, index] = path
        size, periodic = list(shape[::-1]), [False] * 3
        if "grid" in config:
            size = [int(config["grid"].get(f"n{name}", n)) for name, n in zip(AXES, size)]
            periodic = [not ends for ends in bounded(config)]
            origin = tuple(start - (place == axis) * index * h for place, (start, h) in enumerate(zip(origin, spacing)))
        else:
            found = {(axis, 0): path}
    return Planes(paths[0], int(step), float(time), tuple(size), spacing, origin, fields, tuple(periodic), found, about)


def read_frame(path, config):
    """Describe any file that fdapp writes or takes: a State, or Planes of one slice. Step and time are None in files of
    initial conditions. config: of the run, for a slice."""
    path = Path(path)
    found = describe(path)
    if "axis" in found[-1]:
        return read_planes([path], config)
    return as_state(path, *found) if found[-1].keys() - {PERIODIC} else State(path, None, None, None, *found)


def parsed(text):
    """A configuration's text as {section: {key: text}}; names of constants may differ in case alone.
    configparser.Error."""
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";", "#"))
    parser.optionxform = str
    parser.read_string(text)
    return {section: dict(parser[section]) for section in parser.sections()}


def bounded(config):
    """For x, y, z: True if the axis has ends, by a configuration as of parsed(), of fdapp or of fddistance."""
    of_distance = config.get("distance", {}).items()
    kinds = config.get("boundary", {name.removeprefix("boundary_"): kind for name, kind in of_distance})
    return tuple(kinds.get(axis, kinds.get(f"{axis}_low", "periodic")) != "periodic" for axis in AXES)


def plain_value(value):
    """An HDF5 attribute as a plain Python value."""
    if isinstance(value, bytes | np.bytes_):
        return value.decode(errors="replace")
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size != 1 else plain_value(value.ravel()[0])
    return value.item() if isinstance(value, np.generic) else value


def spread(frames, count):
    """`count` of the frames, evenly spread in time, first and last included; the last one for one; None: all."""
    if count is None or count >= len(frames):
        return frames
    if count == 1:
        return frames[-1:]
    times = np.array([frame.time for frame in frames])
    wanted = np.linspace(times[0], times[-1], count)
    picks = sorted({int(np.abs(times - time).argmin()) for time in wanted})
    return [frames[pick] for pick in picks]


def plane_index(state, axis, index=None, position=None):
    """Index of a plane normal to `axis`: as given, or nearest to a position, or the middle. UsageError if outside."""
    n, name = state.size[axis], AXES[axis]
    if index is None and position is None:
        return n // 2
    if index is None:
        low, h = state.origin[axis], state.spacing[axis]
        high = low + (n if state.periodic[axis] else n - 1) * h
        if not low - COVERS * h <= position <= high + COVERS * h:  # a period ends at the first point's image
            raise UsageError(f"{name} = {position:g} lies outside the grid: {low:g} to {high:g}")
        index = round((position - low) / h)
    elif not -n <= index < n:
        raise UsageError(f"index {index} along {name} lies outside the grid: 0 to {n - 1}")
    return index % n
