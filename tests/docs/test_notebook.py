"""The tutorial that is a notebook, executed as a reader would; its figures are those that the text states. And what
fdpost.run does in a notebook's kernel when the input is bad, or the cell is stopped."""

import os
import pathlib
import re
import signal

import nbclient
import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from fdpost import Run

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "tutorials" / "notebook.ipynb"
pytestmark = pytest.mark.xdist_group("notebook")  # executed once, by one worker


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell with code printed and returned, run in a folder that looks like the project's root."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "config").symlink_to(ROOT / "config")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    where = {"metadata": {"path": folder}}
    nbclient.NotebookClient(notebook, timeout=300, startup_timeout=300, resources=where).execute()
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def result(output):
    """The numbers of a cell's value that are no integers."""
    words = next(piece["data"]["text/plain"] for piece in output if piece.output_type == "execute_result")
    return [float(number) for number in re.findall(r"\d+\.\d*(?:e[+-]\d+)?", words)]


def test_a_run_shows_its_progress_and_its_field(outputs):
    printed = "".join(piece.get("text", "") for piece in outputs[0])
    assert "#" * 30 in printed and 0 < result(outputs[0])[0] < 0.01
    assert any("image/png" in piece.get("data", {}) for piece in outputs[1])


def test_a_sweep_shows_the_orders(outputs):
    fourth, eighth = result(outputs[2])
    assert 8 < fourth < 20 and eighth > 5 * fourth


def test_a_rooms_modes_are_those_of_the_text(outputs):
    modes = sorted(result(outputs[3])[:2])
    assert modes == pytest.approx([42.9, 57.2], rel=1e-3)


@pytest.fixture
def kernel():
    """(process ID, client) of a notebook's kernel."""
    manager, client = start_new_kernel(startup_timeout=300)
    yield manager.provisioner.pid, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def cell(keys):
    words = {"grid.nx": 32, "grid.ny": 32, "grid.nz": 32, "output.fields_every": 0, "output.diagnostics_every": 0}
    return f"import fdpost; fdpost.run({str(ROOT / 'config/gaussian.ini')!r}, **{words | keys!r})"


def test_bad_input_is_an_exception_with_the_programs_words(kernel):
    reply = kernel[1].execute_interactive(cell({"time.steps": -3}), timeout=300, output_hook=lambda _: None)["content"]
    assert reply["ename"] == "UsageError" and "time.steps = -3: out of range; accepted:" in reply["evalue"]


def test_a_stopped_cell_leaves_a_checkpoint(kernel, tmp_path):
    """Stopped when its bar shows that steps are made, by the signal that a notebook's stop sends."""
    process, client = kernel
    stopped = []

    def hook(message):
        if "[" in message["content"].get("text", "") and not stopped:
            os.kill(process, signal.SIGINT)
            stopped.append(True)

    keys = {"time.t_end": 1e4, "output.directory": str(tmp_path / "run")}
    reply = client.execute_interactive(cell(keys), timeout=300, output_hook=hook)["content"]
    assert reply["ename"] == "KeyboardInterrupt"
    assert Run(tmp_path / "run").whole[-1].step > 0
