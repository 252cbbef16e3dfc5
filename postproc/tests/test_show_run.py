"""paraview/show_run.py where ParaView is not installed: which index it opens, and what it refuses before it draws.
test_paraview.py has its pictures, where pvpython is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

SCRIPT = Path(__file__).parents[1] / "paraview" / "show_run.py"
# Every name can be imported; to open a file prints it and ends the script.
STAND_IN = """import os

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return opened

def opened(path):
    print(path, flush=True)
    os._exit(0)
"""
KEPT, PART, SLICES = "state.hdf.series", "fields/state.hdf.series", "slices/z_0.5.hdf.series"


def show_run(folder, *arguments):
    (folder / "paraview").mkdir()
    (folder / "paraview" / "__init__.py").write_text("")
    (folder / "paraview" / "simple.py").write_text(STAND_IN)
    words = [sys.executable, SCRIPT, *arguments]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("there", "opened"),
    [((KEPT,), KEPT), ((KEPT, PART), PART), ((PART, SLICES), PART), ((KEPT, SLICES), KEPT)],
    ids=("whole", "parts before checkpoints", "parts", "snapshots before slices"),
)
def test_the_index_that_is_opened(tmp_path, there, opened):
    for name in there:
        (tmp_path / "run" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "run" / name).write_text("")
    assert show_run(tmp_path, tmp_path / "run").stdout == f"{tmp_path}/run/{opened}\n"


@pytest.mark.parametrize(
    ("there", "words"),
    [((SLICES,), "has slices alone"), ((), "state.hdf.series: no such file")],
    ids=("slices", "none"),
)
def test_what_holds_no_snapshots_is_refused(tmp_path, there, words):
    for name in there:
        (tmp_path / "run" / name).parent.mkdir(parents=True)
        (tmp_path / "run" / name).write_text("")
    done = show_run(tmp_path, tmp_path / "run")
    assert done.returncode == 3 and words in done.stderr and done.stderr.count("\n") == 1
