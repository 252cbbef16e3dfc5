"""Fields of states as lazy variables of xarray, which are read when a part of them is used."""

import numpy as np
from xarray import Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from .frames import AXES


def field_variable(states, name):
    """A lazy variable (time, z, y, x) over the state files."""
    about = {"long_name": name, "units": states[0].unit(name) or "1"}
    return Variable(("time", *AXES[::-1]), indexing.LazilyIndexedArray(StateArray(states, name)), about)


class SnapshotBackend(BackendEntrypoint):
    """What xarray.open_dataset(PATH, engine="fdapp") calls (pyproject.toml names it): PATH is a snapshot, a file of
    statistics, or a run directory. Files are chosen by the engine's name alone: netCDF's engines take .hdf, too."""

    description = "Snapshots of fdapp, over time, z, y, x"

    def open_dataset(self, filename_or_obj, *, drop_variables=None):
        from .dataset import open_run

        dropped = [drop_variables] if isinstance(drop_variables, str) else drop_variables or []
        return open_run(filename_or_obj, diagnostics=False).drop_vars(dropped, errors="ignore")


class StateArray(BackendArray):
    """Reads the requested part of each requested state. It has no open file, so that it can be pickled and sent to
    other processes, as dask does."""

    def __init__(self, states, name):
        self.states, self.name = states, name
        self.shape = (len(states), *states[0].shape)
        self.dtype = states[0].read(name, np.s_[:1, :1, :1]).dtype

    def __getitem__(self, key):
        if isinstance(key, indexing.BasicIndexer):  # avoids the adapter, wrong in older releases
            return self.read(key.tuple)
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self.read)

    def read(self, key):
        times, *space = key
        if isinstance(times, slice):
            space_shape = np.broadcast_to(0, self.shape[1:])[tuple(space)].shape
            parts = [read_part(state, self.name, space) for state in self.states[times]]
            return np.stack(parts) if parts else np.empty((0, *space_shape), self.dtype)
        return read_part(self.states[times], self.name, space)


def read_part(state, name, key):
    """field[key] for integers and slices. h5py has no negative steps, so such slices are reversed after reading."""
    forward, turn = [], []
    for part, n in zip(key, state.shape):
        if isinstance(part, slice):
            picks = range(n)[part]
            backwards = picks.step < 0
            picks = picks[::-1] if backwards else picks
            forward.append(slice(picks.start, picks.stop, picks.step) if len(picks) else slice(0, 0))
            turn.append(slice(None, None, -1 if backwards else 1))
        else:
            forward.append(range(n)[part])
    return np.asarray(state.read(name, tuple(forward)))[tuple(turn)]
