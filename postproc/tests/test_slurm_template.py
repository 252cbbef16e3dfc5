"""run/slurm.sbatch with stand-ins for Slurm's commands, the launcher and the program."""

import subprocess
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).parents[2] / "run" / "slurm.sbatch"
TOOLS = {
    "squeue": 'echo "$LEFT"',
    "scontrol": 'printf "%s\\n" "$@" >"$LOG/scontrol"',
    "srun": 'printf "%s\\n" "$@" >"$LOG/srun"; exit "$CODE"',
}


@pytest.fixture
def job(tmp_path):
    """Call the script; returns its exit code and what srun was given."""
    for name, body in TOOLS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "log"
    log.mkdir()
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(log), "SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "17",
        "SLURM_CPUS_PER_TASK": "8",
    }  # fmt: skip

    def call(**changes):
        words = ["bash", TEMPLATE, "case.ini", "time.steps=7"]
        done = subprocess.run(words, env=environment | changes, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, (log / "srun").read_text().splitlines()

    call.log = log
    return call


@pytest.mark.parametrize(
    "left, limit",
    [("1-02:03:04", 93784 - 90), ("02:03:04", 7384 - 90), ("10:00", 510), ("2:00", None), ("UNLIMITED", None),
     ("NOT_SET", None), ("INVALID", None), ("", None)],
)  # fmt: skip
def test_the_time_left_is_the_runs_limit(job, left, limit):
    code, words = job(LEFT=left, CODE="0")
    run = ["--cpu-bind=cores", "--cpus-per-task=8", "build/fdapp", "case.ini", "time.steps=7", "restart.from=latest"]
    assert code == 0 and words == run + ([f"output.wall_limit={limit}"] if limit else [])
    assert not (job.log / "scontrol").exists()


@pytest.mark.parametrize("code, again", [("75", True), ("2", False), ("3", False)])
def test_only_a_stopped_run_is_put_back_into_the_queue(job, code, again):
    assert job(LEFT="10:00", CODE=code)[0] == int(code)
    assert (job.log / "scontrol").exists() == again
