"""The directory of a study by run/scaling: who may write there, what is kept, and when it is another study's."""

import json
import os
import signal
import time

import pytest
from made_up_program import rows

pytestmark = pytest.mark.full


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


def test_threads_of_the_environment_are_part_of_the_study(study):
    assert study("strong", "--ranks", "1", "--repeat", "1", OMP_NUM_THREADS="1").returncode == 0
    other = study("strong", "--ranks", "1", "--repeat", "2", OMP_NUM_THREADS="2")
    assert other.returncode == 2 and "its overrides are 'compute.threads=1'" in other.stderr
    assert len(rows(study)) == 1


@pytest.mark.reports
def test_both_modes_share_a_directory(study):
    for mode in ("weak", "strong"):
        assert study(mode, "--ranks", "1,2", "--repeat", "1").returncode == 0
    assert [row["mode"] for row in rows(study)] == ["weak", "weak", "strong", "strong"]


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


def test_a_torn_line_is_measured_again(study):
    assert study("strong", "--ranks", "1,2", "--repeat", "1").returncode == 0
    table = study.out / "results.csv"
    table.write_text(table.read_text()[:-7])
    assert study("strong", "--ranks", "1,2", "--repeat", "1").returncode == 0
    assert [row["ranks"] for row in rows(study)] == ["1", "2"] and len(study.log.read_text().splitlines()) == 3
    table.write_text(table.read_text() + "strong\n")
    done = study("strong", "--ranks", "1,2", "--repeat", "1")
    assert done.returncode == 3 and "too few or too many columns" in done.stderr


def test_what_cannot_be_written_is_said(study):
    study.out.write_text("a file")
    done = study("strong", "--ranks", "1")
    assert done.returncode == 3 and str(study.out) in done.stderr and "Traceback" not in done.stderr
