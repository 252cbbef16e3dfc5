"""run/slurm.sbatch with stand-ins for Slurm's commands, the launcher and the program."""

import os
import signal
import subprocess
import time
from itertools import takewhile
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

TEMPLATE = Path(__file__).parents[2] / "run" / "slurm.sbatch"
TOOLS = {
    "squeue": 'echo "$LEFT"',
    "scontrol": 'printf "%s\\n" "$@" >"$LOG/scontrol"; exit "${SCONTROL_CODE:-0}"',
    "srun": 'printf "%s\\n" "$@" >"$LOG/srun"; trap "echo >>$LOG/asked; [ \\$((++n)) -lt 2 ] || exit 75" USR1\n'
    'for i in $(seq ${PATIENCE:-0}); do sleep 0.05; touch "$LOG/begun"; done; exit "$CODE"',
}


@pytest.fixture
def job(tmp_path):
    """Call the script; returns its exit code and what srun was given. job.start(**env) begins it only."""
    for name, body in TOOLS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "log"
    log.mkdir()
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(log), "SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "17",
        "SLURM_CPUS_PER_TASK": "8",
    }  # fmt: skip

    def start(**changes):
        words = ["bash", TEMPLATE, "case.ini", "time.steps=7"]
        return subprocess.Popen(
            words, env=environment | changes, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def call(**changes):
        running = start(**changes)
        assert running.communicate()[1] == ""
        return running.returncode, (log / "srun").read_text().splitlines()

    call.start = start
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


def test_who_cannot_be_put_back_is_told(job):
    done = job.start(LEFT="10:00", CODE="75", SCONTROL_CODE="1")
    assert done.wait() == 75 and "could not be put back" in done.stderr.read()


@pytest.mark.parametrize("code, again", [("75", True), ("2", False), ("3", False)])
def test_only_a_stopped_run_is_put_back_into_the_queue(job, code, again):
    assert job(LEFT="10:00", CODE=code)[0] == int(code)
    assert (job.log / "scontrol").exists() == again


def test_the_script_hands_signals_on_and_waits_for_the_run(job):
    """The run leaves at the second one: a script that has stopped waiting would not see how."""
    running = job.start(LEFT="10:00", CODE="0", PATIENCE="600")
    for count in (1, 2):
        while not (job.log / "begun").exists() or asked(job) < count - 1:
            assert running.poll() is None
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGUSR1)
    assert running.communicate()[1] == "" and running.returncode == 75
    assert asked(job) == 2 and (job.log / "scontrol").exists()


def asked(job):
    """How many signals reached the run."""
    path = job.log / "asked"
    return path.read_text().count("\n") if path.exists() else 0


def test_slurm_is_asked_for_the_signal_and_may_put_the_job_back():
    """In directives above the first command: Slurm reads no further."""
    head = takewhile(lambda line: line.startswith("#"), TEMPLATE.read_text().splitlines())
    options = dict(line.removeprefix("#SBATCH --").partition("=")[::2] for line in head if line.startswith("#SBATCH"))
    assert (options["signal"], options["open-mode"]) == ("B:USR1@120", "append") and "requeue" in options
    assert {"nodes", "ntasks-per-node", "cpus-per-task", "gpus-per-node", "time"} <= set(options)
    assert "gpus-per-task" not in options  # would hide GPUs from one another
