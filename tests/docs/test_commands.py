"""Commands on pages whose runs take too long here: what the program is asked to run is valid, what fdplot is asked
to draw is understood. Words in capitals and shell variables stand for what the reader puts there: not looked at.
Blocks of Python on these pages, and on those of explanation and reference, are run on the files of one short run, and
blocks of a configuration are validated."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest
from pages import blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "gallery.md", ROOT / "postproc" / "README.md"]
PAGES += sorted((ROOT / "docs" / "howto").glob("*.md"))
sys.path.insert(0, str(ROOT / "postproc"))


def commands(program):
    """Arguments of each command of the program in the blocks of all pages; continued lines are joined."""
    found = []
    for page in PAGES:
        for line in "\n".join(blocks(page)).replace("\\\n", " ").splitlines():
            command = re.search(rf"(?:^|[ /]){program} (.*?)(?: & .*| > .*|;.*)?$", line)
            if command and not re.search(r"\b[A-Z]{3,}\b|\$n|\.\.\.", command[1]):
                found.append(pytest.param(shlex.split(command[1], comments=True), id=f"{page.stem}-{len(found)}"))
    return found


@pytest.mark.parametrize("arguments", commands("build/fdapp"))
def test_program_takes(arguments):
    made_before = ("restart.", "initial.case=file", "initial.file=")  # by the run or the block before: not there
    arguments = [word for word in arguments if not word.startswith(made_before)]
    arguments = [re.sub(r"^runs/turned/config\.ini$", "config/rotation.ini", word) for word in arguments]
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


def written_in(language):
    """The blocks of a language on the pages above, and on those of explanation and reference."""
    return [
        pytest.param(block, id=f"{page.stem}-{i}")
        for page in [*PAGES, *sorted((ROOT / "docs").glob("[er]*/*.md"))]
        for i, block in enumerate(blocks(page, language))
    ]


@pytest.mark.parametrize("block", written_in("ini"))
def test_configuration_is_valid(block):
    """A piece of a configuration fits a run of advection, or of sound."""
    section, overrides = "", []
    for line in block.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line:
            key, _, value = re.sub(r"\s;.*", "", line).partition("=")
            overrides.append(f"{section}.{key.strip()}={value.strip()}")
    codes = {
        subprocess.run(
            [os.environ["FDAPP"], "--validate", f"config/{case}.ini", *overrides],
            check=False,
            cwd=ROOT,
            capture_output=True,
        ).returncode
        for case in ("quickstart", "sound")
    }
    assert 0 in codes, overrides


@pytest.fixture(scope="module")
def short_run(tmp_path_factory):
    """A folder with runs/quickstart, which has the other names of these pages, too."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "runs").mkdir()
    (folder / "config").symlink_to(ROOT / "config")
    size = [f"grid.n{axis}=16" for axis in "xyz"]
    output = ["output.directory=runs/quickstart", "output.probes=0.5 0.5 0.5; 0.25 0.5 0.5", "output.probes_every=1"]
    command = [os.environ["FDAPP"], ROOT / "config" / "quickstart.ini", *size, "time.steps=4", *output]
    subprocess.run(command, check=True, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
    for name in ("NAME", "deformation", "zalesak"):
        (folder / "runs" / name).symlink_to("quickstart")
    return folder


def run_python(block, folder):
    pytest.importorskip("xarray")
    pytest.importorskip("xxhash")
    snapshot = sorted((folder / "runs" / "quickstart").glob("state_*.hdf"))[-1]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "postproc"), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-c", block, snapshot],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{block}\n{done.stderr}"
    return snapshot, done.stdout


@pytest.mark.parametrize("block", written_in("python"))
def test_python_runs(block, short_run):
    snapshot, printed = run_python(block, short_run)
    if "xxhash" in block:  # the page says that it computes what the program prints
        said = subprocess.run([os.environ["FDAPP"], "--hash", snapshot], check=True, capture_output=True, text=True)
        assert printed.split()[0] == said.stdout.split()[0]


def test_there_are_commands():
    assert len(written_in("python")) > 6 and len(written_in("ini")) > 2
    assert len(commands("build/fdapp")) > 15 and len(commands("fdplot")) > 10
