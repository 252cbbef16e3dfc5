"""What is installed is used from a folder of its own: headers, library, fdplot and run/scaling. Bounds of errors are
those of differences of order 8 on the grids of the examples."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

pytestmark = pytest.mark.xdist_group("installed")
ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("CMAKE", "cmake")


def call(*command, **options):
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation of this build."""
    prefix = tmp_path_factory.mktemp("installed")
    call(CMAKE, "--install", pathlib.Path(os.environ["FDAPP"]).parent, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    build = tmp_path_factory.mktemp("examples")
    call(CMAKE, "-S", ROOT / "examples", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    call(CMAKE, "--build", build)
    return build


def run(program, ranks):
    return call(*shlex.split(os.environ["MPIEXEC"]), "-n", str(ranks), program)


def test_headers_compile_alone(prefix, tmp_path):
    include = prefix / "include" / "fdapp"
    headers = sorted(path.relative_to(include) for path in include.rglob("*.h"))
    assert {"kernels.h", "domain/slab.h", "stepping/stepper.h"} <= set(map(str, headers))
    flags = ["-std=c17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only"]
    for i, header in enumerate(headers):
        source = tmp_path / f"alone_{i}.c"
        source.write_text(f'#include "{header}"\n#include "{header}"\nint alone;\n')
        call("mpicc", *flags, f"-I{include}", source)


@pytest.mark.parametrize(("name", "bound"), [("gradient", 2e-6), ("heat", 1e-9), ("curl", 1e-7)])
def test_example_is_right_and_one_answer(examples, name, bound):
    said = run(examples / name, 1)
    errors = [float(error) for error in re.findall(r"off by (\S+)", said)]
    assert errors and 0 < max(errors) < bound
    assert run(examples / name, 3) == said


def test_the_heat_equation_takes_60_lines():
    assert len((ROOT / "examples" / "heat.c").read_text().splitlines()) <= 60


def test_installed_scaling_and_fdplot(prefix, tmp_path):
    share = prefix / "share" / "fdapp"
    request = shlex.split("weak --backend cpu --ranks 1 --grid 16 --repeat 1")
    configuration = [share / "config" / "scaling.ini", "time.steps=2"]
    call(sys.executable, share / "run" / "scaling", *request, *configuration, cwd=tmp_path)
    study = tmp_path / "runs" / "scaling" / "weak"
    assert (study / "report.md").exists()
    assert "slices" in call(sys.executable, prefix / "bin" / "fdplot", "--help")
