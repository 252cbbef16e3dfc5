"""run/scaling with a stand-in for the program, which knows how long each run takes."""

import csv
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_up_program import PROGRAM

DRIVER = Path(__file__).parents[2] / "run" / "scaling"


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
    for name in ("__init__", "scaling_report"):
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


def rows(study):
    with open(study.out / "results.csv", newline="") as file:
        return list(csv.DictReader(file))


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
    left = {"perf", "results.csv", "provenance.json", "report.md", "weak.png", "model.png"}
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


def test_interrupted_study_goes_on_without_repeating(study):
    options = ("strong", "--ranks", "1,2", "--repeat", "2", "--precision", "single,double")
    failed = study(*options, FAIL_AFTER="3", CODE="3")
    assert failed.returncode == 3 and "no memory" in failed.stderr and len(rows(study)) == 3
    stopped = study(*options, FAIL_AFTER="5", CODE="75")
    assert stopped.returncode == 75 and len(rows(study)) == 4
    assert study(*options).returncode == 0
    keys = {(row["study"], row["ranks"], row["precision"], row["repeat"]) for row in rows(study)}
    assert len(rows(study)) == len(keys) == 8
    assert len(study.log.read_text().splitlines()) == 4 + 2 + 4
    assert len(json.loads((study.out / "provenance.json").read_text())["starts"]) == 3


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


def test_another_program_or_configuration_is_another_study(study):
    assert study("strong", "--ranks", "1", "--repeat", "1").returncode == 0
    other = study("strong", "--ranks", "1", "--repeat", "2", REVISION="b")
    assert other.returncode == 2 and "holds another study: its program is 'fdapp 0.0, revision a'" in other.stderr
    other = study("strong", "--ranks", "1", "--repeat", "2", "--steps", "4")
    assert other.returncode == 2
    assert "its overrides are 'compute.threads=1', this one's are 'time.steps=4 compute.threads=1';" in other.stderr
    config = study.log.parent / "c.ini"
    text = config.read_text()
    config.write_text(text + "dt = 1\n")
    other = study("strong", "--ranks", "1", "--repeat", "2")
    assert other.returncode == 2 and "holds another study: its configuration is another text" in other.stderr
    config.write_text(text)
    facts = json.loads((study.out / "provenance.json").read_text())
    facts["identity"]["machine"] = ["Z80"]
    (study.out / "provenance.json").write_text(json.dumps(facts))
    other = study("strong", "--ranks", "1", "--repeat", "2")
    assert other.returncode == 2 and "its machine is 'Z80', this one's is" in other.stderr
    assert len(rows(study)) == 1


def test_threads_that_nobody_gave_are_said_to_be_the_driver_s(study):
    options = ("strong", "--backend", "cpu", "--ranks", "1", "--repeat", "1")
    assert study(*options, OMP_NUM_THREADS=None, SLURM_NTASKS="1").returncode == 0
    other = study(*options, "--threads", "1")
    assert other.returncode == 2
    assert "are 'compute.backend=cpu compute.threads=1', this one's are 'compute.backend=cpu'" in other.stderr
    assert "(compute.threads is run/scaling's own choice where nobody gives it)" in other.stderr


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


def test_threads_of_the_environment_are_part_of_the_study(study):
    assert study("strong", "--ranks", "1", "--repeat", "1", OMP_NUM_THREADS="1").returncode == 0
    other = study("strong", "--ranks", "1", "--repeat", "2", OMP_NUM_THREADS="2")
    assert other.returncode == 2 and "its overrides are 'compute.threads=1'" in other.stderr
    assert len(rows(study)) == 1


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


@pytest.mark.reports
def test_both_modes_share_a_directory(study):
    for mode in ("weak", "strong"):
        assert study(mode, "--ranks", "1,2", "--repeat", "1").returncode == 0
    assert [row["mode"] for row in rows(study)] == ["weak", "weak", "strong", "strong"]


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


def test_two_studies_never_share_a_directory(study):
    running = study.start("strong", "--ranks", "1", "--repeat", "1", SECONDS="600")
    while study.log.read_text().count("\n") < 1:
        time.sleep(0.02)
    other = study("strong", "--ranks", "1", "--repeat", "1")
    assert other.returncode == 3 and "at work there" in other.stderr
    running.terminate()
    running.communicate()


def test_what_a_killed_study_started_keeps_others_out(study):
    running = study.start("strong", "--ranks", "1", "--repeat", "1", SECONDS="600")
    number = study.log.parent / "pid"
    while not (number.exists() and number.read_text()):
        time.sleep(0.02)
    running.kill()
    running.wait()
    other = study("strong", "--ranks", "1", "--repeat", "1")
    os.kill(int(number.read_text()), signal.SIGKILL)
    assert other.returncode == 3 and "of one that was killed" in other.stderr
    while (done := study("strong", "--ranks", "1", "--repeat", "1")).returncode == 3:
        time.sleep(0.2)
    assert done.returncode == 0 and len(rows(study)) == 1


@pytest.mark.reports
def test_a_study_that_measured_nothing_is_none(study):
    assert study("strong", "--ranks", "1", "--repeat", "1", "time.dt=1", FAIL_AFTER="0", CODE="3").returncode == 3
    assert study("strong", "--ranks", "1", "--repeat", "1").returncode == 0
    (study.out / "results.csv").write_text("")
    assert study("strong", "--ranks", "1", "--repeat", "1", "time.dt=2").returncode == 0
    other = study("strong", "--ranks", "1", "--repeat", "1")
    assert other.returncode == 2 and "its overrides are 'time.dt=2 compute.threads=1'" in other.stderr


def test_what_others_have_there_is_left_alone(study):
    for folder in ("scratch", "perf"):
        (study.out / folder).mkdir(parents=True)
        (study.out / folder / "mine").write_text("precious")
    refused = study("strong", "--ranks", "1", "--repeat", "1")
    assert refused.returncode == 2 and "holds other things (perf, for one); choose another --out" in refused.stderr
    assert {path.name for path in study.out.rglob("*")} == {"scratch", "perf", "mine"}


def test_nothing_of_another_study_stays(study):
    """What was measured beside rows that are gone is not this study's."""
    assert study("strong", "--ranks", "2", "--repeat", "1").returncode == 0
    (study.out / "bench.json").write_text('{"halo": [], "of": "another machine"}')
    (study.out / "perf" / "other.json").write_text("{}")
    (study.out / "results.csv").write_text("")
    assert study("strong", "--ranks", "2", "--repeat", "1").returncode == 0
    bench = study.out / "bench.json"
    assert not (bench.exists() and "another machine" in bench.read_text())
    assert not (study.out / "perf" / "other.json").exists()


@pytest.mark.parametrize(
    "message, old, new",
    [
        ("other columns than this run/scaling writes", "study,mode", "study,mood"),
        ("line 2: one of ranks, nx", ",0.5,", ",nan,"),
        ("line 2: one of ranks, nx", "strong,2,", "strong,two,"),
        ("line 3: the run of an earlier line", "", ""),
    ],
)
def test_a_damaged_table_is_said(study, message, old, new):
    assert study("strong", "--ranks", "2", "--repeat", "1").returncode == 0
    table = study.out / "results.csv"
    text = table.read_text()
    table.write_text(text.replace(old, new) if old else text + text.splitlines()[1] + "\n")
    done = study("strong", "--ranks", "2", "--repeat", "1")
    assert done.returncode == 3 and message in done.stderr and "Traceback" not in done.stderr


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


def test_a_torn_line_is_measured_again(study):
    assert study("strong", "--ranks", "1,2", "--repeat", "1").returncode == 0
    table = study.out / "results.csv"
    table.write_text(table.read_text()[:-7])
    assert study("strong", "--ranks", "1,2", "--repeat", "1").returncode == 0
    assert [row["ranks"] for row in rows(study)] == ["1", "2"] and len(study.log.read_text().splitlines()) == 3
    table.write_text(table.read_text() + "strong\n")
    done = study("strong", "--ranks", "1,2", "--repeat", "1")
    assert done.returncode == 3 and "too few or too many columns" in done.stderr


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


def test_what_cannot_be_written_is_said(study):
    study.out.write_text("a file")
    done = study("strong", "--ranks", "1")
    assert done.returncode == 3 and str(study.out) in done.stderr and "Traceback" not in done.stderr


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
