"""The program as the tests run it: configurations as nested dictionaries, runs in folders, results read with h5py.

FDAPP: the program. MPIEXEC: the launcher with its options.
"""

import csv
import json
import os
import shlex
import subprocess
from pathlib import Path

import h5py
import pytest

FDAPP = os.environ["FDAPP"]
MPIEXEC = shlex.split(os.environ.get("MPIEXEC", "mpirun --oversubscribe --bind-to none"))

# An uneven grid, and everything that moves; one thread a rank, as several ranks share the test's two cores.
BASE = {
    "grid": {"nx": 33, "ny": 20, "nz": 37, "ly": 0.7, "lz": 1.3},
    "physics": {"form": "skew", "diffusivity": 0.0005},
    "initial": {"case": "gaussian", "center_x": 0.4, "width": 0.12, "background": 0.1},
    "velocity": {"field": "deformation", "period": 1.5},
    "time": {"courant": 0.8, "steps": 24},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 12, "diagnostics_every": 3},
}


# Of a test of figures after hundreds of steps, whose parts other tests run in few. The preset sanitize sets the
# variable: a step takes fifty times as long there, and what sanitizers look for shows in the first ones.
many_steps = pytest.mark.skipif("FDAPP_SANITIZED" in os.environ, reason="hundreds of steps")


def merged(*parts):
    """A configuration from several; a value None takes the key out."""
    result = {}
    for part in parts:
        for section, keys in part.items():
            result.setdefault(section, {}).update(keys)
    return {s: {k: v for k, v in keys.items() if v is not None} for s, keys in result.items()}


def write_ini(path, configuration):
    lines = []
    for section, keys in configuration.items():
        lines.append(f"[{section}]")
        lines += [
            f"{key} = {value!r}" if isinstance(value, float) else f"{key} = {value}" for key, value in keys.items()
        ]
    path.write_text("\n".join(lines) + "\n")


def command(ranks, *arguments):
    """Without the launcher on one rank: the program runs by itself too."""
    launcher = [*MPIEXEC, "-np", str(ranks)] if ranks > 1 else []
    return [*launcher, FDAPP, *map(str, arguments)]


def launch(folder, ranks, *arguments, code=0, environment=None):
    """Runs the program in `folder`, with more variables if given, and insists on the exit code."""
    result = subprocess.run(
        command(ranks, *arguments),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    assert result.returncode == code, f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result


def schemes():
    """Names of the schemes that the program lists."""
    said = subprocess.run([FDAPP, "--list"], capture_output=True, text=True, check=True).stdout
    block = said[said.index("Schemes (time.scheme)") :].split("\n\n")[0]
    return [line.split()[0] for line in block.splitlines()[1:]]


def complaints(result):
    """What a run printed as errors; not what MPI's hwloc thinks of a container without /sys."""
    return [line for line in result.stderr.splitlines() if not line.startswith("[hwloc/")]


def run(directory, configuration, *overrides, ranks=1, code=0):
    """A run into `directory`, from an INI file beside it."""
    ini = directory.with_suffix(".ini")
    write_ini(ini, configuration)
    return launch(directory.parent, ranks, ini.name, f"output.directory={directory.name}", *overrides, code=code)


def phi(path):
    with h5py.File(path) as file:
        return file["VTKHDF/PointData/phi"][:]


def attribute(path, name):
    with h5py.File(path) as file:
        return file["fdapp"].attrs[name]


def states(directory):
    return sorted(path.name for path in Path(directory).glob("state_*.hdf"))


def series(directory):
    """Names and times in the index."""
    files = json.loads((directory / "state.hdf.series").read_text())["files"]
    return {entry["name"]: entry["time"] for entry in files}


def table(directory):
    return (Path(directory) / "diagnostics.csv").read_text()


def rows(directory):
    """The diagnostics as one dictionary of numbers per row."""
    lines = csv.DictReader(table(directory).splitlines())
    return [{name: float(value) for name, value in line.items()} for line in lines]


def hash_of(result):
    """The hash that a run printed at its end."""
    return next(line.split()[1] for line in result.stdout.splitlines() if line.startswith("hash"))


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def tree(folder):
    """All files below a folder with their contents."""
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(Path(folder).rglob("*"))
    }


# Every scheme, and the other precision once: test_one_answer has all combinations.
VARIANTS = [*((scheme, "double") for scheme in schemes()), ("rk4", "single")]
LAST = "state_00000024.hdf"


def variant(scheme="rk4", precision="double", **sections):
    return merged(BASE, {"time": {"scheme": scheme}, "compute": {"precision": precision}}, sections)


def assert_same_end(directory, whole, last=LAST):
    assert same_bits(phi(directory / last), phi(whole / last))
    assert table(directory) == table(whole)
