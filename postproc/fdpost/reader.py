"""A run directory of fdapp: its states, diagnostics, configuration and timings. Only numpy and h5py.

Fields are (nz, ny, nx) with x fastest; point i lies at origin + i * spacing. Sizes, spacings and positions are given
in the order x, y, z, as in the configuration.
"""

import configparser
import csv
import functools
import json
import os
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from .errors import DataError, UsageError

AXES = "xyz"
STATE_NAME = re.compile(r"state_(\d{8,})\.(hdf|vtkhdf|h5)$")
POINT_DATA = "VTKHDF/PointData"


@dataclass(frozen=True)
class State:
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

    @property
    def size(self):
        """Points in x, y, z."""
        return self.shape[::-1]

    @property
    def lengths(self):
        """Lengths in x, y, z: of a period, or from the first to the last point of an axis with ends or of a part."""
        ended = (True,) * 3 if self.attributes.get("part") else self.bounded
        return tuple((n - ends) * h for n, h, ends in zip(self.size, self.spacing, ended))

    @cached_property
    def bounded(self):
        """Whether the axes x, y, z have ends."""
        return bounded(parsed(str(self.attributes.get("config", ""))))

    def coordinates(self, axis):
        """Positions of the points along axis 0 (x), 1 (y) or 2 (z)."""
        return self.origin[axis] + self.spacing[axis] * np.arange(self.size[axis])

    @property
    def field(self):
        """The field that is shown by default: phi, or the first in the equation's order."""
        return "phi" if "phi" in self.fields else self.fields[0]

    def read(self, field=None, key=...):
        """Read `field[key]`, by default of the first field; key indexes (z, y, x). UsageError for an unknown field,
        DataError if unreadable."""
        field = field or self.field
        if field not in self.fields:
            raise UsageError(f"{self.path}: no field '{field}'; there are: {', '.join(self.fields)}")
        try:
            with h5py.File(self.path, "r") as file:
                return file[POINT_DATA][field][key]
        except (OSError, KeyError, RuntimeError) as error:
            raise DataError(f"{self.path}: cannot read {field}: {error}") from error

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


def read_state(path):
    """Describe one state file without reading its fields. DataError naming the file and what is wrong."""
    path = Path(path)
    try:
        with h5py.File(path, "r") as file:
            image = file["VTKHDF"]
            fields = {name: item.shape for name, item in image["PointData"].items()}
            extent = np.asarray(image.attrs["WholeExtent"], dtype=int)
            spacing = tuple(float(value) for value in image.attrs["Spacing"])
            origin = tuple(float(value) for value in image.attrs["Origin"])
            attributes = {name: plain_value(value) for name, value in file["fdapp"].attrs.items()}
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except KeyError as error:
        raise DataError(f"{path}: not a state of fdapp: {error.args[0]}") from error
    except (OSError, RuntimeError) as error:
        raise DataError(f"{path}: damaged or not a state: {error}") from error
    shape = tuple(int(n) for n in (extent[1::2] - extent[::2] + 1)[::-1])
    wrong = [name for name, found in fields.items() if found[:3] != shape]
    if not fields or wrong:
        raise DataError(f"{path}: damaged: field {wrong or 'missing'} does not fit WholeExtent {shape[::-1]}")
    try:
        step, time, dt = (attributes[name] for name in ("step", "time", "dt"))
    except KeyError as error:
        raise DataError(f"{path}: not a state of fdapp: attribute {error} is missing in /fdapp") from error
    named = str(attributes.get("fields", "")).split()  # in the equation's order; HDF5 itself lists them by the alphabet
    fields = sorted(fields, key=lambda name: named.index(name) if name in named else len(named))
    return State(path, int(step), float(time), float(dt), shape, spacing, origin, tuple(fields), attributes)


def parsed(text):
    """A configuration's text as {section: {key: text}}. configparser.Error."""
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";", "#"))
    parser.read_string(text)
    return {section: dict(parser[section]) for section in parser.sections()}


def bounded(config):
    """Whether the axes x, y, z have ends, by a configuration as of parsed()."""
    kinds = config.get("boundary", {})
    return tuple(kinds.get(axis, kinds.get(f"{axis}_low", "periodic")) != "periodic" for axis in AXES)


def plain_value(value):
    """An HDF5 attribute as a plain Python value."""
    if isinstance(value, bytes | np.bytes_):
        return value.decode(errors="replace")
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size != 1 else plain_value(value.ravel()[0])
    return value.item() if isinstance(value, np.generic) else value


class Run:
    """A run directory, or a single state file. Everything is read when first used."""

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.exists():
            raise DataError(f"{path}: no such run directory")
        self.single = self.path if self.path.is_file() else None
        self.directory = self.path.parent if self.single else self.path

    @property
    def name(self):
        """Name for titles and legends."""
        return self.single.stem if self.single else self.directory.resolve().name

    @cached_property
    def states(self):
        """All states in the order of their steps. DataError if there is none or one is damaged."""
        if self.single:
            return [read_state(self.single)]
        paths = self._state_paths()
        if not paths:
            parts = self.directory / "fields"
            why = f"those kept in part are in {parts}" if parts.is_dir() else "was output.fields_every 0?"
            raise DataError(f"{self.directory}: no states (state_NNNNNNNN.hdf); {why}")
        states = sorted((read_state(path) for path in paths), key=lambda state: state.step)
        for state in states:
            if state.shape != states[0].shape:
                raise DataError(f"{state.path}: {state.size} points, but {states[0].path.name} has {states[0].size}")
        return states

    @property
    def field(self):
        """The field that is shown by default."""
        return self.states[0].field

    def _state_paths(self):
        """Files named by the index: after a restart from an earlier step, later files are no longer part of the run."""
        index = self.directory / "state.hdf.series"
        found = [path for path in self.directory.iterdir() if STATE_NAME.fullmatch(path.name)]
        if not index.exists():
            return found
        try:
            names = [os.fspath(entry["name"]) for entry in json.loads(index.read_text("utf-8"))["files"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{index}: damaged index of states: {error}") from error
        if unknown := sorted({path.name for path in found} - set(names)):
            print(f"warning: {index}: {', '.join(unknown)} not listed, left out", file=sys.stderr)
        missing = [name for name in names if not (self.directory / name).exists()]
        if missing:
            print(f"warning: {index}: {', '.join(missing)} listed but not there, left out", file=sys.stderr)
        return [self.directory / name for name in names if name not in missing]

    @property
    def diagnosed(self):
        """True if diagnostics.csv exists with more than its header, which needs output.diagnostics_every > 0."""
        try:
            with open(self.directory / "diagnostics.csv", encoding="utf-8") as file:
                next(file, None)
                return any(line.strip() for line in file)
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            raise DataError(f"{self.directory}/diagnostics.csv: {error}") from error

    @cached_property
    def diagnostics(self):
        """Columns of diagnostics.csv by name, as arrays. DataError if it is missing, empty or damaged."""
        path = self.directory / "diagnostics.csv"
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.reader(line for line in file if line.endswith("\n")))  # not one cut by a full disk
            if not rows:
                raise ValueError("it is empty")
            header, body = rows[0], [row for row in rows[1:] if row]
            table = np.array([[float(value) if value else np.nan for value in row] for row in body], ndmin=2)
            if not body:
                raise ValueError("it has no rows; was output.diagnostics_every 0?")
            if table.shape[1] != len(header):
                raise ValueError("no complete rows")
        except FileNotFoundError as error:
            raise DataError(f"{path}: no such file; was output.diagnostics_every 0?") from error
        except (OSError, IndexError, ValueError) as error:
            raise DataError(f"{path}: not a table of diagnostics: {error}") from error
        return {name.strip(): table[:, i] for i, name in enumerate(header)}

    @cached_property
    def config(self):
        """The resolved configuration as {section: {key: text}}; empty if there is no config.ini. Bytes that are not
        valid text, as in some names of directories, become surrogates, as in Python's file names."""
        path = self.directory / "config.ini"
        try:
            return parsed(path.read_text("utf-8", errors="surrogateescape")) if path.exists() else {}
        except (OSError, configparser.Error) as error:
            raise DataError(f"{path}: {error}") from error

    @cached_property
    def perf(self):
        """perf.json; empty if there is none."""
        path = self.directory / "perf.json"
        try:
            return json.loads(path.read_text("utf-8")) if path.exists() else {}
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: {error}") from error

    @cached_property
    def spacing(self):
        """Grid spacings in x, y, z, from the configuration or else from the states."""
        if all(f"n{axis}" in self.config.get("grid", {}) for axis in AXES):
            points = (self.number("grid", f"n{axis}", 1) for axis in AXES)
            return tuple(length / (n - ends) for n, length, ends in zip(points, self.lengths, bounded(self.config)))
        return self.states[0].spacing

    @property
    def lengths(self):
        """Of the domain, from the configuration."""
        return tuple(self.number("grid", f"l{axis}", 1) for axis in AXES)

    def number(self, section, key, default):
        """A number of the configuration. DataError if it is none above zero."""
        text = self.config.get(section, {}).get(key, default)
        try:
            if (value := float(text)) > 0:
                return value
        except ValueError:
            pass
        raise DataError(f"{self.directory}/config.ini: {section}.{key} = {text}: not a number above zero")

    @property
    def stride(self):
        """Steps between kept snapshots by the configuration, output.fields_every; 0 if unknown or none."""
        text = self.config.get("output", {}).get("fields_every", "0")
        return int(text) if text.isdecimal() else 0

    def pick(self, steps):
        """The states of exactly these steps. UsageError for one that is not there."""
        by_step = {state.step: state for state in self.states}
        unknown = [step for step in steps if step not in by_step]
        if unknown:
            there = ", ".join(str(step) for step in by_step)
            raise UsageError(f"{self.directory}: no state of step {unknown[0]}; there are: {there}")
        return [by_step[step] for step in steps]

    def select(self, steps=None, count=None):
        """States of the given steps (exact), or `count` of them spread evenly, first and last included, or all."""
        return self.pick(steps) if steps else spread(self.states, count)


def spread(states, count):
    """`count` of the states, evenly spread in time, first and last included; the last one for one; None: all."""
    if count is None or count >= len(states):
        return states
    if count == 1:
        return states[-1:]
    times = np.array([state.time for state in states])
    wanted = np.linspace(times[0], times[-1], count)
    picks = sorted({int(np.abs(times - time).argmin()) for time in wanted})
    return [states[pick] for pick in picks]


def plane_index(state, axis, index=None, position=None):
    """Index of a plane normal to `axis`: as given, or nearest to a position, or the middle. UsageError if outside."""
    n, name = state.size[axis], AXES[axis]
    if index is None and position is None:
        return n // 2
    if index is None:
        low, high = state.origin[axis], state.origin[axis] + n * state.spacing[axis]
        if not low <= position <= high:  # beyond the last point it is the first point's image
            raise UsageError(f"{name} = {position:g} lies outside the grid: {low:g} to {high:g}")
        index = round((position - low) / state.spacing[axis])
    elif not -n <= index < n:
        raise UsageError(f"index {index} along {name} lies outside the grid: 0 to {n - 1}")
    return index % n
