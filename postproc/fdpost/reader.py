"""A run directory of fdapp: its snapshots, slices, diagnostics, configuration and timings. Only numpy and h5py."""

import configparser
import csv
import json
import os
import re
import sys
from functools import cached_property
from pathlib import Path

import numpy as np

from .errors import DataError, UsageError
from .frames import AXES, Planes, State, bounded, parsed, read_frame, read_planes, read_state, spread

STATE_NAME = re.compile(r"state_(\d{8,})\.(hdf|vtkhdf|h5)$")
FIELDS, SLICES = "fields", "slices"  # folders of a run directory: snapshots kept in part, slices


class Run:
    """A run directory, its folder fields/ or slices/, or a single file of one. Everything is read when first used.

    states          snapshots that the run kept (State), in the order of their steps; states[-1].read("phi")
    whole, planes   all whole snapshots, with checkpoints; the slices of each step
    diagnostics     columns of diagnostics.csv by name, as arrays: diagnostics["mass"]
    probes          columns of probes.csv by name: probes["p(0.5 0.25 0.25)"]
    receivers       traces: receivers.time (m), .positions (n, 3), .p (m, n)
    statistics      the newest means and variances (State): statistics.read("mean_phi")
    config, perf    the resolved configuration, config["grid"]["nx"] (text); perf.json
    unit(name)      of "length", "time" or a field, from [units]"""

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.exists():
            raise DataError(f"{path}: no such run directory")
        self.single = self.path if self.path.is_file() else None
        folder = self.path.parent if self.single else self.path
        inside = folder.name in (FIELDS, SLICES) and (folder.parent / "config.ini").exists()
        self.directory = folder.parent if inside else folder
        self.only = folder.name if inside else None  # the folder whose frames are asked for

    def __repr__(self):
        return f"Run({os.fspath(self.path)!r})"

    def __fspath__(self):
        return os.fspath(self.path)

    def follow(self, directory):
        """Show the files of this directory from now on, into which the run was moved."""
        self.__dict__ = {"path": directory, "directory": directory, "single": None, "only": None}

    @property
    def name(self):
        """Name for titles and legends."""
        return self.single.stem if self.single else self.directory.resolve().name

    @cached_property
    def frame(self):
        """The single file that the run was opened with, or None."""
        return self.single and read_frame(self.single, self.config)

    @cached_property
    def parts(self):
        """The snapshots in fields/, which were kept in part or with derived data, in the order of their steps."""
        return read_states(self._state_paths(FIELDS))

    @cached_property
    def whole(self):
        """The states of all points, kept snapshots and checkpoints, in the order of their steps."""
        return read_states(self._state_paths())

    def _state_paths(self, folder=None, quiet=False):
        """Files of states in `folder`, FIELDS or None for the run directory itself; none if a single file or another
        folder is asked for."""
        if self.single or self.only not in (None, folder):
            return []
        return state_paths(self.directory / (folder or ""), quiet)

    @cached_property
    def kept(self):
        """The kept snapshots, in the order of their steps: those of all points or those in fields/. If the run changed
        from one to the other, those that it wrote last."""
        whole = [state for state in self.whole if state.kept]
        newest = max((states[-1].step for states in (self.parts, whole) if states), default=None)
        return self.parts if self.parts and self.parts[-1].step == newest else whole

    @cached_property
    def states(self):
        """The run's snapshots in the order of their steps: those that it kept, or, where it kept none, its checkpoints.
        DataError if there are neither, or one is damaged or has other points."""
        if self.single:
            return [self.frame if isinstance(self.frame, State) else read_state(self.single)]
        states = self.kept or self.whole
        if not states:
            why = "there are slices alone" if self.planes else "was output.fields_every 0?"
            if found := sorted(self.directory.glob("statistics_*.hdf")):
                why = f"there are statistics, {found[-1]}, to be named as a file"
            raise DataError(f"{self.path}: no states (state_NNNNNNNN.hdf); {why}")
        for state in states:
            if not state.same_points(states[0]):
                raise DataError(f"{state.path}: {state.size} points from {state.origin} on, but {states[0].path.name}"
                                f" has {states[0].size} from {states[0].origin} on")  # fmt: skip
        return states

    @cached_property
    def frames(self):
        """The frames of pictures of planes, in the order of steps: the kept snapshots; without these the slices of each
        step; without these, too, the checkpoints. DataError."""
        if self.single:
            return [self.frame]
        return self.states if self.kept or not self.planes else self.planes

    @cached_property
    def planes(self):
        """The slices of each step that all indices of slices name, in the order of their steps."""
        return [self.planes_of(step) for step in self.slice_steps]

    @cached_property
    def _series(self):
        """{name: {step: path}} of the slices that the indices name; those of the configuration alone if it names some,
        as a run that was resumed with other slices leaves the earlier ones."""
        found = {}
        for index in sorted((self.directory / SLICES).glob("*.hdf.series")):
            paths = [index.parent / name for name in listed(index, "slices")]
            try:
                files = {int(path.stem.rsplit("_", 1)[1]): path for path in paths}
            except (ValueError, IndexError) as error:
                raise DataError(f"{index}: damaged index of slices: {error}") from error
            found[index.name.removesuffix(".hdf.series")] = files
        wanted = {word.replace("=", "_") for word in self.config.get("output", {}).get("slices", "").split()}
        return {name: files for name, files in found.items() if name in wanted} or found

    @property
    def slice_steps(self):
        """Steps of which there is each slice; none if fields/ is asked for."""
        series = self._series if self.only != FIELDS else {}
        return sorted(set.intersection(*map(set, series.values()))) if series else []

    def planes_of(self, step):
        """The slices of one of slice_steps. DataError."""
        return read_planes([files[step] for files in self._series.values()], self.config)

    def newest(self, slices=True):
        """The newest frame, without reading the earlier ones; None if there is none yet. slices: slices go before
        snapshots. DataError if a file cannot be read, such as one that was pruned meanwhile."""
        steps = self.slice_steps
        if steps and slices:
            return self.planes_of(steps[-1])
        parts, whole = (self._state_paths(folder, quiet=True)[::-1] for folder in (FIELDS, None))
        found = [next((state for state in map(read_state, paths) if state.kept), None) for paths in (parts, whole)]
        if kept := max(filter(None, found), key=lambda state: state.step, default=None):
            return kept
        if steps:
            return self.planes_of(steps[-1])
        return read_state(whole[0]) if whole else None

    @property
    def field(self):
        """The field that is shown by default."""
        return self.frames[0].field

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
        return self._table("diagnostics.csv", "output.diagnostics_every 0")

    @cached_property
    def probes(self):
        """Columns of probes.csv by name, as arrays: step, time, and each field at each point, as "p(0.5 0.25 0.25)".
        DataError as of diagnostics."""
        return self._table("probes.csv", "output.probes not set")

    @cached_property
    def receivers(self):
        """Traces of receivers.h5: .positions (n, 3), .time and .step (m), .p (m, n). DataError."""
        from .receivers import read_receivers  # it draws, too: matplotlib comes along

        return read_receivers(self.directory / "receivers.h5")

    @cached_property
    def statistics(self):
        """The newest file of statistics, as a State with the fields mean_NAME, variance_NAME and product_NAME_NAME.
        DataError if there is none."""
        found = sorted(self.directory.glob("statistics_*.hdf"))
        if not found:
            raise DataError(
                f"{self.directory}: no statistics (statistics_NNNNNNNN.hdf); was statistics.fields not set?"
            )
        return read_state(found[-1])

    def unit(self, name):
        """The unit of length, time or a field, from [units]; "" if none is given."""
        return self.config.get("units", {}).get(name, "")

    def _table(self, name, reason):
        path = self.directory / name
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.reader(line for line in file if line.endswith("\n")))  # not one cut by a full disk
            if not rows:
                raise ValueError("it is empty")
            header, body = rows[0], [row for row in rows[1:] if row]
            table = np.array([[float(value) if value else np.nan for value in row] for row in body], ndmin=2)
            if not body:
                raise ValueError(f"it has no rows; was {reason}?")
            if table.shape[1] != len(header):
                raise ValueError("no complete rows")
        except FileNotFoundError as error:
            raise DataError(f"{path}: no such file; was {reason}?") from error
        except (OSError, IndexError, ValueError) as error:
            raise DataError(f"{path}: not a table of {path.stem}: {error}") from error
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

    def every(self, frames):
        """Steps between these frames by the configuration; 0 if unknown or none."""
        key = "slices_every" if isinstance(frames[0], Planes) else "fields_every"
        text = self.config.get("output", {}).get(key, "0")
        return int(text) if text.isdecimal() else 0

    def remark(self, frames):
        """A sentence on frames that are not all that the run kept, or not kept at all; "" if there is no need."""
        if self.single or self.only:
            return ""
        if isinstance(frames[0], Planes):
            return f"note: {self.directory} keeps no snapshots; these are its slices"
        if not self.kept:
            return f"note: {self.directory} keeps no snapshots; these are its checkpoints, the newest of them alone"
        kept = sum(state.kept for state in self.whole)
        if self.parts and kept:
            return f"note: {self.directory} keeps {len(self.parts)} snapshots in {FIELDS}/ and {kept} of all points;" \
                f" these are {'those in ' + FIELDS + '/' if self.kept is self.parts else 'the latter'}"  # fmt: skip
        return ""

    def pick(self, steps, frames):
        """The frames of exactly these steps. Checkpoints with the points of the frames count as well. If a step is
        still missing, the states of all points take the place of the frames, provided that they have every step.
        UsageError for a step that is not there."""
        by_step = {frame.step: frame for frame in frames}
        whole = {state.step: state for state in self.whole}
        if isinstance(frames[0], State):
            by_step = {step: state for step, state in whole.items() if state.same_points(frames[0])} | by_step
        unknown = [step for step in steps if step not in by_step]
        if unknown and set(steps) <= whole.keys():
            return [whole[step] for step in steps]
        if unknown:
            there = ", ".join(str(step) for step in sorted(by_step))
            raise UsageError(f"{self.directory}: no state of step {unknown[0]}; there are: {there}")
        return [by_step[step] for step in steps]

    def select(self, steps=None, count=None):
        """States of the given steps (exact), or `count` of them spread evenly, first and last included, or all."""
        return self.pick(steps, self.states) if steps else spread(self.states, count)


def listed(index, what):
    """Names of files by an index of a series. DataError."""
    try:
        return [os.fspath(entry["name"]) for entry in json.loads(index.read_text("utf-8"))["files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{index}: damaged index of {what}: {error}") from error


def state_paths(folder, quiet=False):
    """Files of states in the order of their steps; none if there is no such folder. If there is an index, those that it
    names: after a restart from an earlier step, later files are no longer part of the run. quiet: without a warning
    where index and folder differ."""
    if not folder.is_dir():
        return []
    index = folder / "state.hdf.series"
    found = [path for path in folder.iterdir() if STATE_NAME.fullmatch(path.name)]
    if index.exists():
        names = listed(index, "states")
        if not quiet and (unknown := sorted({path.name for path in found} - set(names))):
            print(f"warning: {index}: {', '.join(unknown)} not listed, left out", file=sys.stderr)
        missing = [name for name in names if not (folder / name).exists()]
        if missing and not quiet:
            print(f"warning: {index}: {', '.join(missing)} listed but not there, left out", file=sys.stderr)
        found = [folder / name for name in names if name not in missing]
    return sorted(found, key=lambda path: int(re.sub(r"\D", "", path.stem) or 0))


def read_states(paths):
    """The states in these files, in the order of their steps. DataError."""
    return sorted(map(read_state, paths), key=lambda state: state.step)
