"""Commands on pages whose runs take too long here: what the program is asked to run is valid, what fdplot is asked
to draw is understood. Words in capitals and shell variables stand for what the reader puts there: not looked at."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "gallery.md", ROOT / "postproc" / "README.md"]
PAGES += sorted((ROOT / "docs" / "howto").glob("*.md"))
sys.path.insert(0, str(ROOT / "postproc"))


def commands(program):
    """Arguments of each command of the program in the blocks of all pages; continued lines are joined."""
    found = []
    for page in PAGES:
        blocks = re.findall(r"^```\w*\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
            command = re.search(rf"(?:^|[ /]){program} (.*?)(?: & .*| > .*|;.*)?$", line)
            if command and not re.search(r"\b[A-Z]{3,}\b|\$n|\.\.\.", command[1]):
                found.append(pytest.param(shlex.split(command[1], comments=True), id=f"{page.stem}-{len(found)}"))
    return found


@pytest.mark.parametrize("arguments", commands("build/fdapp"))
def test_program_takes(arguments):
    arguments = [word for word in arguments if not word.startswith("restart.")]  # the run before may not be there
    if not arguments[0].startswith("-"):
        arguments.insert(0, "--validate")
    done = subprocess.run(
        [os.environ["FDAPP"], *arguments],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", commands("fdplot"))
def test_fdplot_understands(arguments):
    from fdpost.cli import make_parser

    make_parser().parse_args(arguments)


def test_there_are_commands():
    assert len(commands("build/fdapp")) > 15 and len(commands("fdplot")) > 10
