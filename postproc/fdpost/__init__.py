"""Readers, pictures and a scaling model for runs of fdapp."""

import importlib

from .errors import DataError, PostError, UsageError

__all__ = [
    "DataError",
    "PostError",
    "Run",
    "State",
    "UsageError",
    "isotropic_turbulence",
    "open_run",
    "receivers",
    "run",
    "write_field",
]
__version__ = "0.2.0"


def __getattr__(name):
    """Run, State and receivers are imported when they are first used: fdplot can then say that numpy or h5py is
    missing."""
    if name == "Run":
        from .reader import Run as found
    elif name == "State":
        from .frames import State as found
    elif name == "receivers":
        found = importlib.import_module(".receivers", __name__)  # `from . import` would come back here
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def open_run(path, **options):
    """Open a run directory or a Run as an xarray Dataset (time, z, y, x), lazily; see fdpost.dataset.open_run."""
    from .dataset import open_run as opener  # xarray is optional: only those who ask for it need it

    return opener(path, **options)


def run(config, ranks=1, **options):
    """Run the program and return its Run: run("config.ini", ranks=2, **{"grid.nx": 64}). Other options are
    progress, fdapp and launcher; help(fdpost.launch.run) explains them."""
    from .launch import run as launch

    return launch(config, ranks, **options)


def write_field(path, phi=None, **options):
    """Write numpy arrays (nz, ny, nx) to a file that fdapp reads: write_field("start.hdf", phi), or by names (u=...).
    Other options are lengths, spacing, origin and periodic; help(fdpost.writer.write_field) explains them."""
    from .writer import write_field as writer  # matplotlib comes along

    return writer(path, phi, **options)


def isotropic_turbulence(n, spectrum, seed, mach, path="turbulence.hdf", gamma=1.4):
    """Write a turbulent state to start a flow from; see fdpost.turbulence.isotropic_turbulence."""
    from .turbulence import isotropic_turbulence as writer

    return writer(n, spectrum, seed, mach, path, gamma)
