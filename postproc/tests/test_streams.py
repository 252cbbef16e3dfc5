"""The commands as programs of their own, with the streams and the names of files that a shell may give them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import synthetic

pytestmark = pytest.mark.full

PACKAGE = Path(__file__).parents[1]
NO_TEXT = os.fsdecode(b"r\xff")
FULL = "/dev/full"
needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason=f"no {FULL} here")


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def program(request):
    """program(WORD...): fdplot, finished."""

    def call(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **env):
        env = os.environ | {"PYTHONPATH": str(PACKAGE), "PYTHONUNBUFFERED": request.param} | env
        words = [sys.executable, "-m", "fdpost", *words]
        return subprocess.run(words, env=env, stdout=stdout, stderr=stderr, check=False)

    return call


@needs_full
def test_output_that_takes_no_more_is_told_and_no_success(program, run_dir):
    with open(FULL, "wb") as full:
        done = program("history", run_dir, stdout=full)
        assert (done.returncode, done.stderr) == (3, b"error: standard output: No space left on device\n")
        assert program("history", run_dir, stdout=full, stderr=full).returncode == 3


@needs_full
def test_what_was_wrong_before_keeps_its_code(program, run_dir):
    with open(FULL, "wb") as full:
        assert program("history", run_dir, "-o", "x.nonsense", stderr=full).returncode == 2
        assert program("history", run_dir / "nowhere", stdout=full, stderr=full).returncode == 3


def test_a_reader_that_has_left_is_no_fault(program, run_dir):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        done = program("history", run_dir, stdout=pipe)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["history", "slices"])
def test_a_name_that_is_no_text(program, tmp_path, command):
    run = synthetic.write_run(tmp_path / NO_TEXT, steps=(0, 1))
    with open(run / "config.ini", "ab") as file:
        file.write(b"[output]\ndirectory = a/r\xff\n")
    done = program(command, run, PYTHONIOENCODING="utf-8:strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == os.fsencode(run / f"{command}.png") + b"\n"
    done = program(command, run / "nowhere", PYTHONIOENCODING="utf-8:strict")
    assert done.returncode == 3 and b"no such run directory" in done.stderr


@pytest.mark.parametrize("missing", ["numpy", "h5py", "matplotlib"])
def test_a_missing_package_is_named(tmp_path, run_dir, missing):
    """Python finds no module whose entry in sys.modules is None. Help needs no package."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{missing!r}] = None\n")
    env = os.environ | {"PYTHONPATH": f"{tmp_path}:{PACKAGE}"}

    def call(*words):
        words = [sys.executable, "-m", "fdpost", *words]
        return subprocess.run(words, env=env, capture_output=True, text=True, check=False)

    done = call("history", run_dir)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert f"{missing} is not installed" in line and "pip install numpy h5py matplotlib" in line
    assert call("--help").returncode == 0 and "--axis" in call("slices", "--help").stdout
