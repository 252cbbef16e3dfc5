import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import synthetic
from made_up_program import DRIVER, PROGRAM


def pytest_collection_modifyitems(items):
    """Every test is quick, or full."""
    for item in items:
        if len({"quick", "full"} & {mark.name for mark in item.iter_markers()}) != 1:
            raise pytest.UsageError(f"{item.nodeid}: exactly one of the marks quick and full is needed")


@pytest.fixture
def run_dir(tmp_path):
    return synthetic.write_run(tmp_path / "pulse")


@pytest.fixture
def fdplot(capsys):
    """Call the command line; returns (exit code, standard output, standard error)."""
    from fdpost.cli import main

    def call(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leave:  # argparse
            code = leave.code
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="session")
def quick_driver(tmp_path_factory):
    """The driver beside a stand-in for the package that makes its reports: most of what a study takes here, and most
    tests do not look at it."""
    root = tmp_path_factory.mktemp("quick")
    (root / "run").mkdir()
    for path in DRIVER.parent.glob("scaling*"):
        if path.is_file():
            shutil.copy(path, root / "run")
    package = root / "postproc" / "fdpost"
    package.mkdir(parents=True)
    for name in ("__init__", "commands", "scaling_report"):
        (package / f"{name}.py").touch()
    (package / "__main__.py").write_text('import pathlib, sys\n(pathlib.Path(sys.argv[2]) / "report.md").touch()\n')
    return root / "run" / "scaling"


@pytest.fixture
def study(tmp_path, request, quick_driver):
    """Call the driver; returns the finished process. With the mark "reports" it makes its report and plots."""
    driver = DRIVER if request.node.get_closest_marker("reports") else quick_driver
    program = tmp_path / "fdapp"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    (tmp_path / "log").write_text("")
    (tmp_path / "c.ini").write_text("[grid]\nnx = 20 ; points\nny = 16\nnz = 24\nlz = 0.5\n[time]\nsteps = 10\n")

    begun = []

    def start(mode, *arguments, stdin=None, stderr=subprocess.PIPE, **env):
        words = [driver, mode, tmp_path / "c.ini", "--fdapp", program, *arguments, "--out", tmp_path / "out"]
        words += [] if "--launcher" in arguments else ["--launcher", "env RANKS={ranks}"]
        environment = {"PATH": "/usr/bin:/bin", "LOG": str(tmp_path / "log"), "OMP_NUM_THREADS": "1", **env}
        environment = {name: value for name, value in environment.items() if value is not None}
        process = subprocess.Popen(
            [sys.executable, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        )
        begun.append(process)
        return process

    def call(mode, *arguments, **env):
        process = start(mode, *arguments, **env)
        out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    call.start = start
    call.log = tmp_path / "log"
    call.out = tmp_path / "out"
    yield call
    for process in begun:
        process.kill()
