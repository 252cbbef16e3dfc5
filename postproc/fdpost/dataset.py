"""fdread: a run directory as an xarray Dataset, read lazily through h5py."""

import argparse
from dataclasses import replace

from . import units
from .errors import DataError, run_command
from .frames import AXES
from .reader import Run


def open_run(path, diagnostics=True):
    """Open a run directory, a Run, or one state as an xarray Dataset.

    Fields have the dimensions (time, z, y, x) with coordinates; `step` is a coordinate of time. A field is read only
    when a part of it is used, and only that part: ds.phi.isel(time=-1, z=16).plot(). With `diagnostics`, the columns
    of diagnostics.csv, if there is one, are variables over `time_diagnostics`, as ds.diagnostics_mass. Attributes: the
    resolved configuration as "section.key", and those of the restart group of the first state. DataError without
    xarray."""
    try:
        import xarray

        from .lazy import field_variable
    except ImportError as error:
        raise DataError(
            f"{path}: a Dataset needs the package xarray: pip install xarray, or Debian's python3-xarray"
        ) from error
    run = Run(path)
    states = [replace(state, path=state.path.absolute()) for state in run.states]  # read later, perhaps elsewhere
    coordinates = {"time": [state.time for state in states], "step": ("time", [state.step for state in states])}
    length = run.unit("length") or "domain units"
    for axis, name in enumerate(AXES):
        coordinates[name] = (name, states[0].coordinates(axis), {"long_name": name, "units": length})
    shared = [name for name in states[0].fields if all(name in state.fields for state in states)]
    fields = {name: field_variable(states, name) for name in shared}
    if diagnostics and run.diagnosed:
        table = run.diagnostics
        if "time" not in table:
            raise DataError(f"{run.directory}/diagnostics.csv: no column time")
        coordinates["time_diagnostics"] = table["time"]
        for name, values in table.items():
            if name != "time":
                unit = column_unit(run, name, states[0])
                fields[f"diagnostics_{name}"] = ("time_diagnostics", values, {"units": unit} if unit else {})
    dataset = xarray.Dataset(fields, coordinates, attributes(run))
    for name in ("time", "time_diagnostics"):
        if name in dataset.coords:
            dataset[name].attrs |= {"long_name": name.replace("_", " of "), "units": run.unit("time") or "time units"}
    return dataset


def column_unit(run, name, state):
    """The unit of a column of diagnostics.csv, if it is that of the time or of a field: of dt, and of extrema and the
    largest errors, whose names end in that of the field, but for the first field; for flow of other columns, too."""
    if "kinetic" in run.diagnostics and name in (flow := units.of_flow(run)):
        return flow[name]
    for kind in ("min", "max", "err_linf"):
        if name.removeprefix(kind) in ("", *(f"_{field}" for field in state.fields)):
            return run.unit(name.removeprefix(kind).removeprefix("_") or state.field)
    return run.unit("time") if name == "dt" else ""


def attributes(run):
    """Plain attributes of the dataset."""
    plain = {name: value for name, value in run.states[0].attributes.items() if name not in ("step", "time", "config")}
    plain |= {f"{section}.{key}": text(value) for section, keys in run.config.items() for key, value in keys.items()}
    return {"run": text(str(run.directory.absolute()))} | plain


def text(words):
    """Text that can be printed and stored: bytes of names that are not valid text become \\xff."""
    return words.encode(errors="surrogateescape").decode(errors="backslashreplace")


def main(arguments=None):
    """Entry point of the command fdread, which describes a run. Returns the exit code."""
    parser = argparse.ArgumentParser(
        "fdread",
        description="Shows what a run holds. In Python: fdpost.open_run(RUN_DIR) gives it as an xarray Dataset.",
    )
    parser.add_argument("run", metavar="RUN_DIR", help="a run's output directory, or one of its states")
    args = parser.parse_args(arguments)
    return run_command(lambda: print(open_run(args.run)))
