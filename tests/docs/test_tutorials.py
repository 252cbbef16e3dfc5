"""The commands of the tutorials, word for word: what stands in their ```bash blocks is run, one block after the other,
in a folder that looks like the project's root. A command that fails is a tutorial that lies."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


def commands(tutorial):
    return re.findall(r"^```bash\n(.*?)^```$", tutorial.read_text(), re.MULTILINE | re.DOTALL)


def link(tmp_path):
    """The project's root, but for what a run leaves in it, and this build."""
    for entry in ROOT.iterdir():
        if entry.name not in ("runs", "build", ".git"):
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / "build").symlink_to(pathlib.Path(os.environ["FDAPP"]).parent)


def copy(tmp_path):
    """The sources, for a tutorial that changes and builds them."""
    for entry in ROOT.iterdir():
        if entry.name == ".venv":
            (tmp_path / entry.name).symlink_to(entry)
        elif entry.is_dir() and not entry.name.startswith((".", "build", "runs")):
            shutil.copytree(entry, tmp_path / entry.name)
        elif entry.is_file():
            shutil.copy(entry, tmp_path)


@pytest.mark.parametrize("tutorial", [t for t in TUTORIALS if commands(t)], ids=lambda path: path.stem)
def test_commands_work(tutorial, tmp_path):
    if "fdplot" in tutorial.read_text() and not (ROOT / ".venv" / "bin" / "fdplot").exists():
        pytest.skip("fdplot is not in .venv: run/setup")
    (copy if "cmake --build" in "".join(commands(tutorial)) else link)(tmp_path)
    for block in commands(tutorial):
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", block],
            check=False,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{tutorial.name}:\n{block}\n{done.stdout}\n{done.stderr}"


def test_there_are_tutorials():
    assert any(commands(tutorial) for tutorial in TUTORIALS)
