"""run/scaling with a stand-in for the program, which knows how long each run takes: what is run, and what is said."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from made_up_program import DRIVER, rows

pytestmark = pytest.mark.full


@pytest.mark.reports
def test_weak_grows_along_z_and_keeps_the_spacing(study):
    done = study("weak", "--ranks", "1,3", "--repeat", "2")
    assert done.returncode == 0, done.stderr
    lines = study.log.read_text().splitlines()
    assert [("grid.nz=72" in line, "grid.lz=1.5" in line) for line in lines] == [(False, False), (True, True)] * 2
    assert [(row["ranks"], row["nz"], row["repeat"]) for row in rows(study)] == [
        ("1", "24", "1"), ("3", "72", "1"), ("1", "24", "2"), ("3", "72", "2")]  # fmt: skip
    assert all(f"output.{name}_every=0" in line for line in lines for name in ("fields", "checkpoint", "diagnostics"))
    row = rows(study)[0]
    assert (row["study"], row["transport"], row["stage_interior_seconds"]) == ("weak-20x16x24", "wire", "1.0")
    assert float(row["halo_wait_seconds"]) == 0.1
    assert (study.out / "perf" / "weak-20x16x24-double-3-2.json").exists()
    left = {"perf", "results.csv", "provenance.json", "report.md", "weak.png"}  # two numbers of ranks: no model
    assert {path.name for path in study.out.iterdir()} == left


def test_runs_take_no_input_of_a_loop_around_the_study(study):
    reading, writing = os.pipe()
    os.write(writing, b"next\n")
    os.close(writing)
    done = study("strong", "--ranks", "1", "--repeat", "1", stdin=reading, READS="yes")
    assert done.returncode == 0, done.stderr
    assert os.read(reading, 9) == b"next\n"
    os.close(reading)


def test_configurations_are_read_by_the_program_s_grammar(study):
    (study.out.parent / "c.ini").write_bytes(
        b"\xef\xbb\xbf; a\xc2\x85nx = 7\n[grid]\nnx = 20\n  ny: 16 ; # rows\n[time]\nsteps = 10\n[grid]\n\tnz = 24\n"
    )
    done = study("weak", "--ranks", "1", "--repeat", "1")
    assert done.returncode == 0, done.stderr
    assert [(row["nx"], row["ny"], row["nz"]) for row in rows(study)] == [("20", "16", "24")]


@pytest.mark.reports
def test_exchange_is_measured_once_on_the_fewest_ranks_that_have_one(study):
    assert "guesses at the halo" in study("strong", "--ranks", "1,2", "--repeat", "1").stderr
    bench = study.log.parent / "fdbench"
    bench.write_text(f"""#!{sys.executable}
import os, pathlib, sys
pathlib.Path(sys.argv[-1]).write_text('{{"halo": []}}')
words = ["bench", os.environ["RANKS"], *sys.argv[1:-1]]
log = pathlib.Path(os.environ["LOG"]); log.write_text(log.read_text() + " ".join(words) + "\\n")
""")
    failed = study("strong", "--ranks", "1,2", "--repeat", "1")
    assert failed.returncode == 0 and "fdbench halo: exit code 126" in failed.stderr
    bench.chmod(0o755)
    alone = study("strong", "--ranks", "1", "--repeat", "1")
    assert "guesses" not in alone.stderr and not (study.out / "bench.json").exists()
    for repeat in ("2", "3"):
        assert study("strong", "--ranks", "1,2,3", "--repeat", repeat).returncode == 0
    assert [line for line in study.log.read_text().splitlines() if line.startswith("bench")] == [
        "bench 2 halo --backend auto --planes 64,256,512 --output"]  # fmt: skip
    assert (study.out / "bench.json").exists()


@pytest.mark.reports
def test_threads_are_part_of_the_study_and_never_more_than_the_cores(study):
    done = study("strong", "--ranks", "1,2,4", "--threads", "1,2,4", "--repeat", "1", SLURM_NTASKS="2",
                 SLURM_CPUS_PER_TASK="2")  # fmt: skip
    assert done.returncode == 0, done.stderr
    pairs = [(row["ranks"], row["threads"]) for row in rows(study)]
    assert pairs == [("1", "1"), ("2", "1"), ("4", "1"), ("1", "2"), ("2", "2"), ("1", "4")]
    assert {row["study"] for row in rows(study)} == {f"strong-20x16x24-t{n}" for n in (1, 2, 4)}
    assert study("strong", "--ranks", "1", "--threads", "2", "--repeat", "2").returncode == 0
    assert [(row["threads"], row["repeat"]) for row in rows(study)[6:]] == [("2", "2")]
    report = (study.out / "report.md").read_text()
    assert "## Ranks and threads" in report and "| 2 × 2 |" in report


def test_ranks_have_as_many_threads_whatever_their_number(study):
    """One rank with all cores beside two with half of them each says nothing about scaling."""
    done = study("weak", "--backend", "cpu", "--ranks", "1,2", "--repeat", "1", OMP_NUM_THREADS=None)
    assert done.returncode == 0 and "compute.threads=1, the same for every number of ranks" in done.stdout
    assert study.log.read_text().count("compute.threads=1") == 2


def test_a_program_without_cuda_is_on_the_cpu_beside_gpus_too(study):
    """Threads would not be held, and ranks would be as many as GPUs."""
    tool = study.log.parent / "nvidia-smi"
    tool.write_text('#!/bin/sh\necho "GPU 0: one"\n')
    tool.chmod(0o755)
    beside = {"PATH": f"{study.log.parent}:/usr/bin:/bin", "OMP_NUM_THREADS": None}
    done = study("strong", "--ranks", "1,2", "--repeat", "1", **beside)
    assert done.returncode == 0 and "compute.threads=1, the same for every number of ranks" in done.stdout
    other = study("strong", "--ranks", "1,2", "--repeat", "1", BACKENDS="cuda", **beside)
    assert other.returncode == 2 and "its overrides are" in other.stderr  # without threads: they are a GPU's study


def test_ranks_that_share_cores_are_told_of(study):
    batch = {"SLURM_NTASKS": "2", "SLURM_CPUS_PER_TASK": "2", "OMP_NUM_THREADS": None}
    done = study("strong", "--backend", "cpu", "--ranks", "2,4", "--threads", "2", "--repeat", "1", **batch)
    assert done.returncode == 0 and "4 ranks x 2 threads are more than the 4 cores" in done.stdout
    assert done.stdout.count("are more than") == 1
    told = json.loads((study.out / "provenance.json").read_text())["starts"][0]["shared"]
    assert told == ["4 ranks x 2 threads are more than the 4 cores: they share them"]
    fits = study("strong", "--backend", "cpu", "--ranks", "2", "--repeat", "2", "compute.threads=2", **batch)
    assert "are more than" not in fits.stdout


def test_ranks_of_a_batch_job_have_their_task_s_cores(study):
    batch = {"SLURM_NTASKS": "2", "SLURM_CPUS_PER_TASK": "3", "OMP_NUM_THREADS": None}
    done = study("strong", "--backend", "cpu", "--ranks", "1", "--repeat", "1", **batch)
    assert done.returncode == 0 and "compute.threads=3" in done.stdout


@pytest.mark.reports
def test_what_does_not_fit_is_left_out(study):
    """Of the runs on 1 rank the second and later ones fail for want of memory: one is tried, and no more."""
    options = ("--ranks", "1,2", "--grid", "8,16", "--repeat", "2")
    done = study("strong", *options, TOO_LARGE="grid.nx=16 1")
    assert done.returncode == 3 and done.stderr.count("left out: strong-16x16x16-double-1-1: ") == 1
    known = [(row["study"], row["ranks"], row["repeat"]) for row in rows(study)]
    small, large = "strong-8x8x8", "strong-16x16x16"
    expected = {(small, "1"), (small, "2"), (large, "2")}
    assert sorted(known) == sorted((*one, repeat) for one in expected for repeat in ("1", "2"))
    assert (study.out / "report.md").exists()
    assert study.log.read_text().count("grid.nx=16") == 3
    assert study("strong", *options).returncode == 0 and len(rows(study)) == 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP])
def test_a_signal_ends_the_run_at_once(study, number):
    assert study("strong", "--ranks", "1", "--repeat", "1").returncode == 0
    running = study.start("strong", "--ranks", "1,2", "--repeat", "2", SECONDS="600")
    while study.log.read_text().count("\n") < 2:
        time.sleep(0.02)
    os.kill(running.pid, number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 75 and "run again to resume" in said
    assert len(rows(study)) == 1 and not (study.out / "scratch").exists()


@pytest.mark.reports
def test_a_report_that_cannot_be_made_is_a_failure(study):
    assert study("strong", "--ranks", "1", "--repeat", "1").returncode == 0
    (study.out / "bench.json").write_text("{")
    done = study("strong", "--ranks", "1", "--repeat", "1")
    assert done.returncode == 3 and "everything is measured" in done.stderr


@pytest.mark.reports
@pytest.mark.parametrize("library", ["h5py", "matplotlib"])
def test_without_the_libraries_of_a_report_nothing_is_begun(study, tmp_path, library):
    (tmp_path / f"{library}.py").write_text(f"raise ModuleNotFoundError(\"No module named '{library}'\")\n")
    done = study("strong", "--ranks", "1", "--repeat", "1", PYTHONPATH=str(tmp_path))
    assert done.returncode == 3 and f"No module named '{library}'" in done.stderr and "run/setup" in done.stderr
    assert "Traceback" not in done.stderr and not study.out.exists()


def test_what_the_program_warns_of_is_said_once(study):
    done = study("strong", "--ranks", "1,2", "--repeat", "2", WARN="2")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("fdapp: warning: two share one") == 1
    assert "strong-20x16x24-double-2-1: fdapp: warning" in done.stderr


def test_a_run_that_would_not_end_in_time_is_not_begun(study):
    done = study("strong", "--ranks", "1", "--grid", "16,64", "--repeat", "1", "--wall-limit", "60")
    assert done.returncode == 75 and "no time for another run" in done.stderr and len(rows(study)) == 1
    again = study("strong", "--ranks", "1", "--grid", "16,64", "--repeat", "1", "--wall-limit", "60")
    assert again.returncode == 3 and "the limit leaves" in again.stderr


@pytest.mark.parametrize("lines", ["[output]\nwall_limit = 1\n", "[restart]\nfrom = latest\n"])
def test_runs_neither_stop_by_themselves_nor_go_on_from_a_file(study, lines):
    with open(study.log.parent / "c.ini", "a") as config:
        config.write(lines)
    done = study("strong", "--ranks", "1", "--repeat", "1")
    assert done.returncode == 0, done.stderr
    assert [row["steps"] for row in rows(study)] == ["10"]


def test_a_run_without_steps_is_no_row(study):
    done = study("strong", "--ranks", "1", "--repeat", "1", "time.steps=0")
    assert done.returncode == 2 and "strong-20x16x24-double-1-1: took no step" in done.stderr
    assert rows(study) == []


def test_another_program_than_fdapp_is_said(study):
    done = study("strong", "--ranks", "1", "--repeat", "1", "--fdapp", "/bin/true")
    assert done.returncode == 3 and rows(study) == []
    assert "double-1-1: left no perf.json: is it fdapp? exit code 0 of: env RANKS=1 /" in done.stderr


def test_a_launcher_that_fails_is_not_the_program_refusing(study):
    done = study("strong", "--ranks", "1", "--launcher", "env --bogus RANKS={ranks}")
    assert done.returncode == 3 and "refuses" not in done.stderr
    assert "exit code 125 of: env --bogus RANKS=1 /" in done.stderr
    assert "\n  env: unrecognized option '--bogus'\n" in done.stderr


def test_overrides_are_not_required():
    done = subprocess.run([sys.executable, DRIVER, "weak"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.endswith("required: CONFIG\n")


def test_progress_of_the_whole_on_a_terminal(study):
    try:
        terminal, other_end = pty.openpty()
    except OSError as error:
        pytest.skip(f"no pseudo-terminal here: {error}")
    options = ("--ranks", "1,2", "--repeat", "1")
    running = study.start("strong", *options, stderr=other_end, SECONDS="1.5", COLUMNS="66")
    out, _ = running.communicate()
    os.close(other_end)
    shown = os.read(terminal, 100000).decode()
    assert running.returncode == 0
    lines = [line.removeprefix("\x1b[K") for line in shown.replace("\r\n", "\n").split("\r")]
    assert "............   [1/2] strong-20x16x24 double 1 rank,   repeat 1, f" in lines
    second = r"########\.\.\.\. \d+ (s|min) left  \[2/2\] strong-20x16x24 double 2 ran.*"
    assert any(re.fullmatch(second, line) for line in lines)
    assert max(map(len, lines[1:])) == 65 and lines[-1] == ""
    assert out.splitlines()[1].startswith("[2/2] strong-20x16x24 double 2 ranks,  repeat 1: ")
    assert out.splitlines()[0].endswith(" left") and "\r" not in out


@pytest.mark.parametrize("left, code", [("0:59", 75), ("9:59", 0), ("2:00:00", 0), ("1-00:00:00", 0), ("UNLIMITED", 0)])
def test_the_time_that_slurm_leaves_is_kept(study, left, code):
    squeue = study.log.parent / "squeue"
    squeue.write_text(f'#!/bin/sh\n[ "$*" = "--noheader --format=%L --job 17" ] && echo " {left}"\n')
    squeue.chmod(0o755)
    path = f"{squeue.parent}:/usr/bin:/bin"
    done = study("strong", "--ranks", "1", "--repeat", "1", PATH=path, SLURM_JOB_ID="17")
    assert done.returncode == code, done.stderr
    assert len(rows(study)) == (0 if code else 1)


@pytest.mark.parametrize(
    "message, arguments",
    [
        ("too few for 7 ranks", ["strong", "--ranks", "1,7"]),
        ("invalid numbers", ["weak", "--ranks", "0"]),
        ("invalid grids", ["weak", "--grid", "16x16"]),
        ("precision 'half'", ["weak", "--precision", "half"]),
        ("not of the form", ["weak", "--ranks", "1", "nonsense"]),
        ("refuses the configuration:\n  fdapp: error: unknown key", ["weak", "--ranks", "1", "grid.nonsense=1"]),
        ("grid.nx is given twice, or is the study's", ["weak", "--ranks", "1", "grid.nx=8"]),
        ("output.wall_limit is given twice, or is the study's", ["weak", "--ranks", "1", "output.wall_limit=60"]),
        ("restart.from is given twice, or is the study's", ["weak", "--ranks", "1", "restart.from=latest"]),
        ("compute.backend is given twice", ["weak", "--backend", "cpu", "compute.backend=cpu"]),
        ("invalid number", ["weak", "--repeat", "0"]),
        ("invalid number", ["weak", "--steps", "-1"]),
        ("has no {ranks} in it", ["weak", "--launcher", "env"]),
        ("No closing quotation", ["weak", "--launcher", "env ' {ranks}"]),
        ("nowhere: No such file", ["weak", "--launcher", "nowhere {ranks}"]),
        ("more threads than the 3 cores", ["weak", "--ranks", "2", "--threads", "2,3"]),
    ],
)
def test_wrong_requests_measure_nothing(study, message, arguments):
    wrong = study(*arguments, SLURM_NTASKS="3")
    assert wrong.returncode == 2 and message in wrong.stderr
    assert not study.out.exists() and not study.log.read_text()
