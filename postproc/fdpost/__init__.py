"""Readers, pictures and a scaling model for runs of fdapp."""

from .errors import DataError, PostError, UsageError
from .frames import State
from .reader import Run

__all__ = ["DataError", "PostError", "Run", "State", "UsageError", "open_run", "write_field"]
__version__ = "0.2.0"


def open_run(path, **options):
    """Open a run directory as an xarray Dataset (time, z, y, x), lazily; see fdpost.dataset.open_run."""
    from .dataset import open_run as opener  # xarray is optional: only those who ask for it need it

    return opener(path, **options)


def write_field(path, phi=None, **options):
    """Write numpy arrays to a file that fdapp reads as initial condition or velocity; see fdpost.writer.write_field."""
    from .writer import write_field as writer  # matplotlib comes along

    return writer(path, phi, **options)
