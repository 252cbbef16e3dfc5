"""The tutorials, word for word. What stands in their ```bash blocks is run, one block after the other, in a folder that
looks like the project's root. A command that fails is a tutorial that lies. Tutorials that change and build the sources
do so in one copy, so that most of it is compiled once.

No other block is left out: ```ini blocks are parts of a file in config/, ```c blocks compile, and blocks without a
language, whose commands take too long here, are run with the stand-ins below."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from pages import blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))

# What takes too long, or is not here, and what is asked of its words instead.
STAND_INS = {
    # It would install packages.
    "run/setup": '#!/bin/sh\n[ $# = 0 ] || [ "$*" = --test ]\n',
    # The build of these tests is that of the preset; only its name is looked at.
    "bin/cmake": """#!/usr/bin/env python3
import json, sys
building = sys.argv[1] == "--build"
option, name = sys.argv[1 + building:][:2]
presets = json.load(open("CMakePresets.json"))["buildPresets" if building else "configurePresets"]
sys.exit(option != "--preset" or name not in [preset["name"] for preset in presets])
""",
    # Studies of 512³ points and more: the request is read, and its runs are counted.
    "run/scaling": f"""#!/usr/bin/env python3
import runpy, sys
sys.path.insert(0, {str(ROOT / "run")!r})
scaling = runpy.run_path({str(ROOT / "run" / "scaling")!r})
arguments = scaling["parse_arguments"]()
config = {{("compute", "backend"): "cpu"}} | scaling["read_config"](arguments.config, arguments.override)
sys.exit(not scaling["plan"](arguments, config))
""",
    # There is no Slurm: what is to be run by the job is run.
    "bin/sbatch": '#!/bin/bash\n[[ ${*: -2:1} = --wrap ]] && bash -euc "${*: -1}"\n',
}


def having(*languages):
    """The tutorials with such blocks, one test each."""
    return [pytest.param(path, id=path.stem) for path in TUTORIALS if blocks(path, *languages)]


def builds(tutorial):
    return "cmake --build" in "".join(blocks(tutorial, "bash"))


# Those that change kernels/ before those that change src/, of which less depends.
ORDER = sorted(TUTORIALS, key=lambda tutorial: (builds(tutorial), "b/kernels/" not in tutorial.read_text()))


def link(tmp_path):
    """The project's root, but for what a run leaves in it, and this build."""
    for entry in ROOT.iterdir():
        if entry.name not in ("runs", "build", ".git"):
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / "build").symlink_to(pathlib.Path(os.environ["FDAPP"]).parent)


def run(block, tutorial, folder, **environment):
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | environment,
    )
    assert done.returncode == 0, f"{tutorial.name}:\n{block}\n{done.stdout}\n{done.stderr}"


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
    for block in blocks(tutorial, "bash"):
        run(block, tutorial, tmp_path)
    for block in blocks(tutorial, "c"):
        compiles(block, tutorial, tmp_path)
    if "build/fdbench" in "".join(blocks(tutorial, "")):
        measures(tutorial, tmp_path)


def compiles(block, tutorial, folder):
    """A block of C is valid where the tutorial says that it stands: in the stage of an equation."""
    source = folder / "block.c"
    source.write_text(
        '#include "stepping/stage.h"\n#include "kernels.h"\n#include "operations.h"\n'
        "status block(const stage *stage, const field *f, field *result, kernels_launch launch) {\n"
        f"(void)stage, (void)result;\n{block}return STATUS_OK;\n}}\n"
    )
    warnings = "-std=c17 -Wall -Wextra -Werror -fsyntax-only"
    run(f"mpicc {warnings} -Isrc -Ikernels -Ibuild-debug/include block.c", tutorial, folder)


def measures(tutorial, folder):
    """Commands of fdbench, by the debug build and on a small grid: a release build takes minutes."""
    (folder / "build").mkdir(exist_ok=True)
    stand_in = folder / "build" / "fdbench"
    stand_in.write_text('#!/bin/sh\nexec build-debug/fdbench "$@" --backend cpu --grid 32 --pencils 32 --repeat 1\n')
    stand_in.chmod(0o755)
    run("cmake --build --preset debug --target fdbench", tutorial, folder)
    for block in blocks(tutorial, ""):
        run(block, tutorial, folder)


@pytest.mark.parametrize("tutorial", [param for param in having("") if not builds(param.values[0])])
def test_long_commands_work_with_stand_ins(tutorial, tmp_path):
    if not (ROOT / ".venv" / "bin" / "fdplot").exists():
        pytest.skip("fdplot is not in .venv: run/setup")
    link(tmp_path)
    (tmp_path / "run").unlink()
    (tmp_path / "run").mkdir()
    for entry in (ROOT / "run").iterdir():
        (tmp_path / "run" / entry.name).symlink_to(entry)
    (tmp_path / "bin").mkdir()
    for name, text in STAND_INS.items():
        (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    for block in blocks(tutorial, ""):
        run(block, tutorial, tmp_path, PATH=f"{tmp_path}/bin:{os.environ['PATH']}")


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(";")]


@pytest.mark.parametrize("tutorial", having("ini"))
def test_configurations_are_those_of_config(tutorial):
    """The lines of such a block stand in one file of config/, in the same order."""
    for block in blocks(tutorial, "ini"):
        assert any(in_order(lines(block), lines(path.read_text())) for path in (ROOT / "config").glob("*.ini")), block


def in_order(wanted, there):
    rest = iter(there)
    return all(line in rest for line in wanted)


def test_no_block_is_left_out():
    for tutorial in TUTORIALS:
        assert blocks(tutorial, "bash")
        languages = set(re.findall(r"^```(\w+)$", tutorial.read_text(), re.MULTILINE))
        assert languages <= {"bash", "ini", "c"}
        assert builds(tutorial) or not blocks(tutorial, "c")  # such blocks are compiled beside those that build
        if builds(tutorial):  # these have no stand-ins but fdbench's
            assert all(block.startswith("build/fdbench ") for block in blocks(tutorial, ""))
