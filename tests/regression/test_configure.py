"""What CMake says where something is missing: the package, or the option, to go on with.

CMAKE: the program. SOURCE: the project's folder.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def serial_hdf5(tmp_path):
    """What CMake looks at of an HDF5 that was built without MPI."""
    for name, text in {
        "include/hdf5.h": '#include "H5pubconf.h"',
        "include/H5pubconf.h": '#define H5_VERSION "1.10.8"',
        "lib/libhdf5.so": "",
    }.items():
        path = tmp_path / "serial" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return tmp_path / "serial"


def complaint(folder, *options):
    """Configures; the message without line ends."""
    places = [place for place in os.environ["PATH"].split(":") if not Path(place, "nvcc").exists()]
    environment = {name: text for name, text in os.environ.items() if name != "CUDACXX"} | {"PATH": ":".join(places)}
    if not shutil.which("cc", path=environment["PATH"]):
        pytest.skip("nvcc lies where the C compiler is")
    command = [os.environ["CMAKE"], "-S", os.environ["SOURCE"], "-B", str(folder / "build"), "-DFDAPP_TESTS=OFF"]
    result = subprocess.run(
        [*command, *options], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode != 0, result.stdout
    return " ".join(result.stderr.split())


def test_serial_hdf5(tmp_path, serial_hdf5):
    said = complaint(tmp_path, "-DFDAPP_CUDA=OFF", f"-DHDF5_ROOT={serial_hdf5}")
    assert f"({serial_hdf5}/include) is serial" in said
    assert "Install the package libhdf5-openmpi-dev" in said


@pytest.mark.parametrize(("name", "package"), [("HDF5", "libhdf5-openmpi-dev"), ("MPI", "libopenmpi-dev")])
def test_missing(tmp_path, name, package):
    said = complaint(tmp_path, "-DFDAPP_CUDA=OFF", f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON")
    assert f"No {name} was found" in said
    assert package in said


def test_cuda_without_nvcc(tmp_path):
    assert "FDAPP_CUDA=ON, but no CUDA compiler (nvcc) was found" in complaint(tmp_path, "-DFDAPP_CUDA=ON")


def test_cuda_unknown(tmp_path):
    assert "accepted: ON, OFF, AUTO" in complaint(tmp_path, "-DFDAPP_CUDA=yes")
