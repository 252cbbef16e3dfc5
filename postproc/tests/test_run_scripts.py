"""Scripts of run/, as far as they go without building anything: called from anywhere, with whatever is exported."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
USE_COMMON = ("bundle", "faults", "gpu-env", "lint", "quickstart", "release", "setup", "test")


def call(*words, **options):
    return subprocess.run(words, text=True, capture_output=True, check=False, **options)


@pytest.mark.parametrize("name", USE_COMMON)
def test_a_cdpath_leads_no_script_elsewhere(tmp_path, name):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).write_text("#!\n# of another project\n\n")
    done = call("bash", f"run/{name}", "--help", cwd=ROOT, env=os.environ | {"CDPATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == call(ROOT / "run" / name, "--help").stdout
    assert name in done.stdout and "another project" not in done.stdout


@pytest.mark.parametrize("shell, path", [("bash", "fdapp/env.sh"), ("bash", "./fdapp/env.sh"), ("sh", "./env.sh")])
def test_a_bundle_finds_itself_whatever_the_cdpath(tmp_path, shell, path):
    script = (ROOT / "run" / "bundle").read_text()
    text = script.partition("env.sh <<'END'\n")[2].partition("\nEND\n")[0]
    assert "fdapp_dir" in text
    for bundle in (tmp_path / "here" / "fdapp", tmp_path / "else" / "fdapp"):
        bundle.mkdir(parents=True)
        (bundle / "env.sh").write_text(text)
    here = tmp_path / "here" / "fdapp"
    where = here if path == "./env.sh" else here.parent
    for elsewhere in (tmp_path / "else", where):
        env = {"PATH": "/usr/bin:/bin", "CDPATH": str(elsewhere)}
        done = call(shell, "-c", f'. {path}; echo "$PATH"', cwd=where, env=env)
        assert (done.stdout, done.stderr) == (f"{here}/bin:/usr/bin:/bin\n", "")


def test_gpu_check_takes_the_folders_that_it_is_given(tmp_path):
    for side in ("here", "else"):
        (tmp_path / side / "bundle").mkdir(parents=True)
        (tmp_path / side / "out").mkdir()
        (tmp_path / side / "bundle" / "env.sh").write_text('echo "$bundle and $out"\n')
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")  # no GPU, whatever this machine has
    (tmp_path / "nvidia-smi").chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "CDPATH": str(tmp_path / "else")}
    words = ("bash", ROOT / "run" / "gpu-check", "bundle", "out", "halo")
    done = call(*words, cwd=tmp_path / "here", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == f"{tmp_path}/here/bundle and {tmp_path}/here/out"


@pytest.mark.parametrize("option", ["--grid", "--rounds", "--threads"])
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many"])
def test_compare_refuses_what_is_no_count_before_any_work(tmp_path, option, value):
    shutil.copytree(ROOT / "run", tmp_path / "run", ignore=shutil.ignore_patterns("results", "__pycache__"))
    nothing = tmp_path / "no" / "fdbench"
    done = call(sys.executable, tmp_path / "run" / "compare", "cpu", f"{option}={value}", "--fdbench", nothing)
    assert done.returncode == 2 and f"argument {option}: '{value}': accepted: 1 or more" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


READERS = (
    "nvidia-smi",
    "dpkg-query",
    "apt-get",
    "sudo",
    "cmake",
    "git",
    "ompi_info",
    "mpirun",
    "squeue",
    "qstat",
    "srun",
)
JOB = {
    "SLURM_JOB_ID": "1", "SLURM_SUBMIT_DIR": "/", "PBS_JOBID": "1", "PBS_O_WORKDIR": "/", "PBS_NODEFILE": "/dev/null",
    "CONFIG": "c.ini",
}  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [("bundle",), ("docs",), ("faults",), ("gpu-check", "BUNDLE", "OUT", "halo"), ("gpu-env",), ("lint", "layering"),
     ("pbs.sh",), ("quickstart",), ("setup",), ("slurm.sbatch", "c.ini"), ("test",)],
    ids=lambda words: words[0],
)  # fmt: skip
def test_no_script_takes_the_input_of_a_loop_around_it(tmp_path, words):
    """Every tool that a script may start first reads all that it is given, and fails."""
    shutil.copytree(ROOT / "run", tmp_path / "run", ignore=shutil.ignore_patterns("results", "__pycache__"))
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "env.sh").write_text("")
    (tmp_path / "tools").mkdir()
    for name in READERS:
        (tmp_path / "tools" / name).write_text(f"#!/bin/sh\ncat >/dev/null\necho {name} >>{tmp_path}/read\nexit 1\n")
        (tmp_path / "tools" / name).chmod(0o755)
    places = {"BUNDLE": tmp_path / "bundle", "OUT": tmp_path / "out"}
    command = [tmp_path / "run" / words[0], *(places.get(word, word) for word in words[1:])]
    loop = 'while read -r line; do echo "line $line"; bash "$@" >/dev/null 2>&1; done'
    env = {"PATH": f"{tmp_path}/tools:/usr/bin:/bin", **JOB}
    done = call("bash", "-c", loop, "_", *command, input="one\ntwo\n", env=env, cwd=tmp_path)
    assert done.stdout == "line one\nline two\n"
    assert (tmp_path / "read").exists()


def test_what_python_scripts_start_is_given_no_input():
    scripts = [path for path in (ROOT / "run").iterdir() if path.suffix == ".py" or path.name in ("compare", "scaling")]
    for path in scripts:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("subprocess.run", "subprocess.Popen"):
                given = [keyword.arg for keyword in node.keywords]
                assert "stdin" in given or None in given, f"{path.name}:{node.lineno}"


@pytest.fixture
def released(tmp_path):
    """A repository that says 1.2.3 in all places; returns run/release there."""
    (tmp_path / "run").mkdir()
    (tmp_path / "postproc" / "fdpost").mkdir(parents=True)
    for name in ("common.sh", "release", "docs_check.py", "records.py"):
        shutil.copy(ROOT / "run" / name, tmp_path / "run")
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    (tmp_path / "run" / "test").write_text("#!/bin/sh\nexit ${TEST_FAILS:-0}\n")
    (tmp_path / "run" / "test").chmod(0o755)
    (tmp_path / "CMakeLists.txt").write_text("project(fdapp VERSION 1.2.3 LANGUAGES C)\n")
    (tmp_path / "CITATION.cff").write_text("version: 1.2.3\n")
    (tmp_path / "postproc/fdpost/__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("## 1.2.3, 2026-11-25\n\n- News.\n\n## 1.2.2, 2026-10-01\n\n- Old.\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    names = {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "all"]):
        assert call("git", *words, cwd=tmp_path).returncode == 0
    return lambda *words, **env: call(tmp_path / "run/release", *words, cwd=tmp_path, env=os.environ | names | env)


def test_a_release_is_tagged_with_what_is_new(released, tmp_path):
    assert released("1.2.3", "--dry-run").returncode == 0
    assert call("git", "tag", cwd=tmp_path).stdout == ""
    assert released("1.2.3", TEST_FAILS="1").returncode != 0
    assert call("git", "tag", cwd=tmp_path).stdout == ""
    done = released("1.2.3")
    assert done.returncode == 0, done.stderr
    shown = call("git", "tag", "-n9", cwd=tmp_path).stdout
    assert shown.startswith("v1.2.3") and "News." in shown and "Old." not in shown
    again = released("1.2.3")
    assert again.returncode == 3 and "the tag v1.2.3 is there already" in again.stderr


@pytest.mark.parametrize("path", ["CMakeLists.txt", "CITATION.cff", "postproc/fdpost/__init__.py", "CHANGELOG.md"])
def test_another_version_anywhere_is_no_release(released, tmp_path, path):
    (tmp_path / path).write_text((tmp_path / path).read_text().replace("1.2.3", "1x2.3"))
    done = released("1.2.3", "--dry-run")
    assert done.returncode == 3 and f"{path}: no version 1.2.3" in done.stderr
    assert "changes that are not committed" in done.stderr
    assert released("1.2").returncode == released().returncode == 2
