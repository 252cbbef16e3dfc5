"""Scripts of run/, as far as they go without building anything: called from anywhere, with whatever is exported."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USE_COMMON = ("bundle", "faults", "gpu-env", "lint", "quickstart", "setup", "test")


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
