"""The recipes for other people's tools, as far as they can be checked without these tools: a parser reads them, they
find figure of merit, hash and verdict in what the program prints, and they name options and decks that exist."""

import ast
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "run" / "recipes"
# As JUBE 2.7 defines them (jube2/conf.py).
JUBE = {"$jube_pat_fp": r"([+-]?\d*\.?\d+(?:[eE][-+]?\d+)?)", "$jube_pat_wrd": r"(\S+)"}


def words_of(path):
    """All strings in a Python file, those of f-strings in parts."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def patterns_of_jube():
    yaml = pytest.importorskip("yaml")
    texts = [pattern["_"] for pattern in yaml.safe_load((RECIPES / "jube.yaml").read_text())["patternset"]["pattern"]]
    for name, meaning in JUBE.items():
        texts = [text.replace(name, meaning) for text in texts]
    return texts


def patterns_of(tool):
    if tool == "jube":
        return patterns_of_jube()
    name = {"reframe": "reframe_fdapp.py", "ramble": "ramble/applications/fdapp/application.py"}[tool]
    return [text for text in words_of(RECIPES / name) if re.match(r"\^?(fom|hash|verified) \+", text)]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What a run prints whose answer is right, and one whose answer is wrong."""
    folder = tmp_path_factory.mktemp("recipes")
    size = [f"grid.n{axis}=16" for axis in "xyz"]
    deck = [os.environ["FDAPP"], ROOT / "config/benchmark/tiny.ini", *size, "time.steps=2", "output.directory=out"]

    def run(reference, code):
        words = [*deck, f"benchmark.reference={reference}"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout

    wrong = run("0123456789abcdef", 5)
    return run(re.search(r"^hash +(\S+)", wrong, re.MULTILINE)[1], 0), wrong


@pytest.mark.parametrize("tool", ["reframe", "jube", "ramble"])
def test_last_lines_are_found(tool, said):
    right, wrong = said
    last = {line.split()[0]: line.split()[1] for line in right.splitlines()[-3:]}
    patterns = patterns_of(tool)
    assert {"fom", "verified"} <= {re.search("[a-z]+", text)[0] for text in patterns}
    for text in patterns:
        found = re.search(text, right, re.MULTILINE)
        assert found is not None, text
        if found.groups():
            assert found[1] == last[found[0].split()[0]]
        if "passed" in text:
            assert re.search(text, wrong, re.MULTILINE) is None


def test_containers_are_built_by_the_same_commands():
    docker = (RECIPES / "Dockerfile").read_text().replace("$CUDA", "ON").replace("$ARCHITECTURES", "90")
    apptainer = (RECIPES / "fdapp.def").read_text().replace("{{ cuda }}", "ON").replace("{{ architectures }}", "90")
    commands = [re.findall(r"(?:bash -euc|cmake --)[^&\\\n]*[^&\\\s]", text) for text in (docker, apptainer)]
    assert len(commands[0]) == 4 and commands[0] == commands[1]


def test_options_and_decks_exist():
    options = "".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")])
    for path in [path for path in RECIPES.rglob("*") if path.is_file() and path.suffix != ".pyc"]:
        text = path.read_text()
        for name in re.findall(r"FDAPP_[A-Z]+", text):
            assert name in options, (path, name)
        for name in re.findall(r"config/benchmark/(\w+)\.ini", text):
            assert (ROOT / f"config/benchmark/{name}.ini").exists(), (path, name)
    for path in RECIPES.rglob("*.py"):
        words_of(path)
