"""What CMake says where something is missing: the package, or the option, to go on with; and where what it leaves looks
for libraries.

CMAKE: the program. SOURCE: the project's folder.
"""

import os
import re
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


def configure(folder, *options, environment=None):
    command = [os.environ["CMAKE"], "-S", os.environ["SOURCE"], "-B", str(folder / "build")]
    return subprocess.run(
        [*command, *options], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def complaint(folder, *options):
    """Configures; the message without line ends."""
    places = [place for place in os.environ["PATH"].split(":") if not Path(place, "nvcc").exists()]
    environment = {name: text for name, text in os.environ.items() if name != "CUDACXX"} | {"PATH": ":".join(places)}
    if not shutil.which("cc", path=environment["PATH"]):
        pytest.skip("nvcc lies where the C compiler is")
    result = configure(folder, *options, environment=environment)
    assert result.returncode != 0, result.stdout
    return " ".join(result.stderr.split())


def run_paths(folder, *options):
    """Configures; where the loader looks for the libraries of fdapp as built, and as installed."""
    result = configure(folder, *options)
    assert result.returncode == 0, result.stderr
    link = folder / "build/src/CMakeFiles/fdapp.dir"
    built = "".join(path.read_text() for path in (link / "link.txt", *link.glob("link*.rsp")))
    installed = (folder / "build/src/cmake_install.cmake").read_text()
    return [
        re.search(pattern, text).group(1).split(":") if re.search(pattern, text) else []
        for pattern, text in ((r"-rpath,([^ \n]*)", built), (r'NEW_RPATH "([^"]*)"', installed))
    ]


def test_tests_are_built_once_they_are_asked_for(tmp_path):
    """Without a preset and by `default` there are none; a folder that has them by `dev` keeps them."""
    found = []
    for preset in ([], ["--preset", "default"], ["--preset", "dev"], ["--preset", "default"]):
        result = configure(tmp_path, *preset, "-DFDAPP_CUDA=OFF")
        assert result.returncode == 0, result.stderr
        found.append((tmp_path / "build" / "tests").exists())
    assert found == [False, False, True, True]


@pytest.mark.parametrize("preset", ["default", "dev"])
def test_presets_build_on_all_processors(tmp_path, preset):
    """Of a project that prints how many jobs make has, without SHELL as in a container."""
    shutil.copy(Path(os.environ["SOURCE"], "CMakePresets.json"), tmp_path)
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(jobs NONE)"]
    lines += ["add_custom_target(jobs ALL COMMAND echo $(MAKEFLAGS))"]
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
    without = ("MAKEFLAGS", "OMP_NUM_THREADS", "SHELL")
    environment = {name: text for name, text in os.environ.items() if name not in without}
    for words in (["-G", "Unix Makefiles", "--preset", preset], ["--build", "--preset", preset]):
        result = subprocess.run(
            [os.environ["CMAKE"], *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
    assert re.search(rf"-j *{len(os.sched_getaffinity(0))}\b", result.stdout)


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


def test_a_library_in_an_unusual_place_is_found_once_installed(tmp_path):
    cache = (Path(os.environ["FDAPP"]).parent / "CMakeCache.txt").read_text()
    library = Path(re.search(r"^FDAPP_muparser_LIBRARY:FILEPATH=(.*)$", cache, re.MULTILINE).group(1))
    (tmp_path / "unusual").mkdir()
    (tmp_path / "unusual" / library.name).symlink_to(library)
    given = ["-DFDAPP_CUDA=OFF", f"-DFDAPP_muparser_LIBRARY={tmp_path}/unusual/{library.name}"]
    for paths in run_paths(tmp_path, *given):
        assert f"{tmp_path}/unusual" in paths
    assert run_paths(tmp_path, *given, "-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib")[1] == [r"\$ORIGIN/../lib"]


def test_libcudart_is_found_once_installed(tmp_path):
    nvcc = shutil.which(os.environ.get("CUDACXX", "nvcc"), path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if nvcc is None:
        pytest.skip("no nvcc here")
    for paths in run_paths(tmp_path, "-DFDAPP_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={nvcc}"):
        usual = "/usr/lib/x86_64-linux-gnu"
        assert any(Path(path, "libcudart.so").exists() for path in [*paths, usual]), paths


def test_folders_with_blanks(tmp_path):
    """As of "PhD work": HDF5 is found, one object is compiled, and every script finds the project's folder."""
    folder = tmp_path / "PhD work"
    folder.mkdir()
    result = configure(folder, "-DFDAPP_CUDA=OFF")
    assert result.returncode == 0, result.stderr
    build = [os.environ["CMAKE"], "--build", str(folder / "build"), "--target", "fdapp_base"]
    assert subprocess.run(build, capture_output=True, check=False).returncode == 0
    shutil.copytree(Path(os.environ["SOURCE"]) / "run", folder / "run", ignore=shutil.ignore_patterns("results"))
    for script in sorted(path for path in (folder / "run").iterdir() if path.is_file() and os.access(path, os.X_OK)):
        if not script.read_bytes().startswith(b"#!/usr/bin/env bash"):
            continue
        said = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=60, check=False)
        assert said.returncode == 0 and f"run/{script.name}" in said.stdout, (script.name, said.stdout, said.stderr)
