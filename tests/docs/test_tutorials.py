"""The commands of the tutorials, word for word: what stands in their ```bash blocks is run, one block after the other,
in a folder that looks like the project's root. A command that fails is a tutorial that lies. Tutorials that change and
build the sources do so in one copy, so that most of it is compiled once."""

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


def builds(tutorial):
    return "cmake --build" in "".join(commands(tutorial))


# Those that change kernels/ before those that change src/, of which less depends.
ORDER = sorted(
    filter(commands, TUTORIALS), key=lambda tutorial: (builds(tutorial), "b/kernels/" not in tutorial.read_text())
)


def link(tmp_path):
    """The project's root, but for what a run leaves in it, and this build."""
    for entry in ROOT.iterdir():
        if entry.name not in ("runs", "build", ".git"):
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / "build").symlink_to(pathlib.Path(os.environ["FDAPP"]).parent)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of the sources."""
    path = tmp_path_factory.mktemp("sources")
    for entry in ROOT.iterdir():
        if entry.name == ".venv":
            (path / entry.name).symlink_to(entry)
        elif entry.is_dir() and not entry.name.startswith((".", "build", "runs")):
            shutil.copytree(entry, path / entry.name)
        elif entry.is_file():
            shutil.copy(entry, path)
    return path


@pytest.mark.parametrize(
    "tutorial",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.xdist_group("sources") if builds(path) else ())
        for path in ORDER
    ],
)
def test_commands_work(tutorial, tmp_path, request):
    if "fdplot" in tutorial.read_text() and not (ROOT / ".venv" / "bin" / "fdplot").exists():
        pytest.skip("fdplot is not in .venv: run/setup")
    if builds(tutorial):
        tmp_path = request.getfixturevalue("sources")
    else:
        link(tmp_path)
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
    assert all(commands(tutorial) for tutorial in TUTORIALS)
