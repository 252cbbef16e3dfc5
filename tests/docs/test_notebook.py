"""The tutorial that is a notebook, executed as a reader would; its figures are those that the text states."""

import pathlib
import re

import nbclient
import nbformat
import pytest

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
    """The numbers of a cell's value."""
    words = next(piece["data"]["text/plain"] for piece in output if piece.output_type == "execute_result")
    return [float(number) for number in re.findall(r"float64\(([^)]*)\)", words)]


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
