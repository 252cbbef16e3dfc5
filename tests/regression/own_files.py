"""A problem of one's own from a file: its configuration, the fields, and how they are written."""

import h5py
import numpy as np

PROBLEM = {
    "grid": {"nx": 24, "ny": 20, "nz": 26, "ly": 0.8, "lz": 1.3},
    "initial": {"case": "file", "file": "own.h5", "dataset": "phi"},
    "velocity": {"field": "file", "file": "own.h5"},
    "time": {"courant": 1.0, "steps": 12},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 6, "diagnostics_every": 3},
}
SHAPE = (26, 20, 24)


def waves(dtype="f8", shape=SHAPE):
    """A field and a velocity free of divergence."""
    z, y, x = (np.arange(n) / n for n in shape)
    x, y, z = x[None, None, :], y[None, :, None], z[:, None, None]
    two_pi = 2 * np.pi
    fields = {
        "phi": 0.3 + np.cos(two_pi * x) * np.sin(two_pi * y) * np.cos(two_pi * z),
        "u": 0.5 * np.sin(two_pi * y) + 0 * (x + z),
        "v": 0.3 * np.cos(two_pi * z) + 0 * (x + y),
        "w": -0.4 * np.cos(two_pi * x) + 0 * (y + z),
    }
    return {name: values.astype(dtype) for name, values in fields.items()}


def write(path, fields, **options):
    with h5py.File(path, "w") as file:
        for name, values in fields.items():
            file.create_dataset(name, data=values, **options)


def with_value(values, value):
    values = values.copy()
    values[3, 4, 5] = value
    return values
