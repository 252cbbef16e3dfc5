"""run/pbs.sh with stand-ins for PBS's commands, the launcher and the program."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

TEMPLATE = Path(__file__).parents[2] / "run" / "pbs.sh"
# As OpenPBS prints it: attributes indented, long lines folded with a tab.
QSTAT = """Job Id: 17.server
    Job_Name = fdapp
    Resource_List.max_walltime = 99:00:00
    Resource_List.ncpus = 64
    Resource_List.place = scatter:excl
    Resource_List.select = 2:ncpus=32:mpiprocs=2:ompthreads=8:ngpus=2:model=of_a_
\tlong_name
    Resource_List.walltime = 26:05:30
    resources_used.walltime = 00:00:07
    Account_Name = fluids
"""
TOOLS = {
    "qstat": 'cat "$LOG/qstat"',
    "qsub": 'printf "%s\\n" "$@" >"$LOG/qsub"; env >"$LOG/qsub.env"; exit "${QSUB_CODE:-0}"',
    "mpirun": 'printf "%s\\n" "$@" >"$LOG/mpirun"; trap "echo asked >$LOG/asked; exit 75" USR1\n'
    'touch "$LOG/begun"; for i in $(seq ${PATIENCE:-0}); do sleep 0.05; done; exit "$CODE"',
}


@pytest.fixture
def job(tmp_path):
    """A job's directory and environment; job.start(**env) begins the script."""
    for name, body in TOOLS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "qstat").write_text(QSTAT)
    (tmp_path / "nodes").write_text("a\na\nb\nb\n")
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(tmp_path / "log"), "PBS_O_WORKDIR": str(tmp_path),
        "PBS_JOBID": "17.server", "PBS_NODEFILE": str(tmp_path / "nodes"), "PBS_O_QUEUE": "gpus",
        "OMP_NUM_THREADS": "8", "CONFIG": "case.ini", "OVERRIDES": "time.steps=7 output.directory=runs/a,b",
    }  # fmt: skip

    class Job:
        log = tmp_path / "log"

        @staticmethod
        def start(**changes):
            return subprocess.Popen(
                ["bash", TEMPLATE],
                env=environment | changes,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )

        @staticmethod
        def words(name):
            return (tmp_path / "log" / name).read_text().splitlines()

    return Job


def test_a_rank_for_each_place_bound_to_its_cores_within_the_wall_limit(job):
    assert job.start(CODE="0").wait() == 0
    bound = ["-np", "4", "--hostfile", str(job.log.parent / "nodes"), "--map-by", "slot:PE=8", "--bind-to", "core"]
    run = ["build/fdapp", "case.ini", "time.steps=7", "output.directory=runs/a,b", "restart.from=latest"]
    assert job.words("mpirun") == [*bound, *run, f"output.wall_limit={26 * 3600 + 5 * 60 + 30 - 180}"]
    assert not (job.log / "qsub").exists()


def test_a_stopped_run_is_submitted_again_as_it_was(job):
    done = job.start(CODE="75")
    assert done.wait() == 75 and "submitted again" in done.stdout.read()
    select = "select=2:ncpus=32:mpiprocs=2:ompthreads=8:ngpus=2:model=of_a_long_name"
    resources = ["-l", select, "-l", "place=scatter:excl", "-l", "walltime=26:05:30", "-A", "fluids"]
    assert job.words("qsub") == ["-v", "CONFIG,OVERRIDES,FDAPP,LAUNCHER", "-q", "gpus", *resources, "run/pbs.sh"]
    handed_on = {"CONFIG=case.ini", "OVERRIDES=time.steps=7 output.directory=runs/a,b", "FDAPP=", "LAUNCHER="}
    assert handed_on <= set(job.words("qsub.env"))


@pytest.mark.parametrize("code", [2, 3, 4])
def test_other_exit_codes_end_it(job, code):
    assert job.start(CODE=str(code)).wait() == code
    assert not (job.log / "qsub").exists()


def test_who_cannot_submit_is_told(job):
    done = job.start(CODE="75", QSUB_CODE="1")
    assert done.wait() == 75 and "could not be submitted again" in done.stdout.read()


def test_without_a_configuration_it_says_so(job):
    done = job.start(CONFIG="")
    assert done.wait() == 2 and "no configuration: qsub -v CONFIG=" in done.stdout.read()


@pytest.mark.parametrize(
    "number, walltime, again",
    [(signal.SIGUSR1, "26:05:30", True), (signal.SIGTERM, "26:05:30", False), (signal.SIGTERM, "00:04:00", True)],
    ids=["asked", "deleted", "at the limit"],
)
def test_a_signal_to_the_script_asks_for_a_checkpoint(job, number, walltime, again):
    (job.log / "qstat").write_text(QSTAT.replace("26:05:30", walltime))
    running = job.start(CODE="0", PATIENCE="600")
    while not (job.log / "begun").exists():
        time.sleep(0.02)
    os.kill(running.pid, number)
    assert running.wait() == 75
    assert (job.log / "asked").exists() and (job.log / "qsub").exists() == again
