"""run/burnin finds one flipped bit of a field in memory, and says where; nothing else makes it complain."""

import collections
import os
import pathlib
import re
import subprocess
import sys

import pytest

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Device memory comes in blocks of 2 MiB: the middle of what is allocated is only near that of the slab.
NEAR = 12 if harness.BACKEND == "cuda" else 1
N, NZ, STEPS = (128 if harness.BACKEND == "cuda" else 32), 112, 12
PROBLEMS = {
    "advection": "[initial]\ncase = gaussian\nwidth = 0.3\n[velocity]\nfield = abc",
    "flow": "[physics]\nequation = flow\n[initial]\ncase = taylor_green_vortex\nmach = 0.3",
}
DECK = f"""
[grid]
nx = {N}
ny = {N}
nz = {NZ}
{PROBLEMS[harness.EQUATION]}
[time]
courant = 0.5
steps = 1
[output]
fields_every = 0
diagnostics_every = 0
"""
# Starts ranks; those of run number STRUCK under the interposer, if there is such a run.
LAUNCHER = """#!/bin/sh
ranks=$1; shift
echo run >>"$COUNT"
if [ "$(wc -l <"$COUNT")" = "${STRUCK:-0}" ]; then export LD_PRELOAD="$INTERPOSER"; fi
exec mpirun -np "$ranks" "$@"
"""


@pytest.fixture
def burnin(tmp_path):
    """Call run/burnin on two ranks, its third run struck as `fault` says; returns the finished process."""
    (tmp_path / "deck.ini").write_text(DECK)
    launcher = tmp_path / "launcher"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)

    def call(*words, struck=0, reference=None, **fault):
        """With a reference the deck publishes it, and has the steps."""
        steps = ["--steps", str(STEPS)]
        if reference:
            published = DECK.replace("steps = 1", f"steps = {STEPS}") + f"[benchmark]\nreference = {reference}\n"
            (tmp_path / "deck.ini").write_text(published)
            steps = []
        count = tmp_path / "count"
        count.write_text("")
        env = {**os.environ, **harness.MPI, "COUNT": str(count), "STRUCK": str(struck)}
        env |= {name: value for name, value in harness.fault(1, **fault).items() if name != "LD_PRELOAD"}
        env |= {"INTERPOSER": harness.INTERPOSER, "PATH": "/usr/bin:/bin:" + os.environ["PATH"]}
        words = ["--every", "1", *words, "--deck", tmp_path / "deck.ini", "--ranks", "2", "--backend", harness.BACKEND]
        words += [*steps, "--fdapp", harness.PROGRAM, "--out", tmp_path / "out"]
        words += ["--launcher", f"{launcher} {{ranks}}"]
        return subprocess.run(
            [sys.executable, ROOT / "run" / "burnin", *words], env=env, capture_output=True, text=True, check=False
        )

    return call


def gathering(log):
    """The place where the hashes of a step are gathered, field by field: of step 0 by the first calls, of the last step
    by the last."""
    calls = collections.Counter(line for line in log.read_text().splitlines() if line.startswith("MPI_Gatherv"))
    return next(place for place, count in calls.items() if count == harness.FIELDS * (STEPS + 1))


@pytest.mark.parametrize("struck", [1, 3])
def test_a_flipped_bit(burnin, tmp_path, struck):
    """In the middle of rank 1's slab, in the middle of the run; in the first run, too, which the others outvote."""
    log = tmp_path / "log"
    done = burnin("--runs", "3", struck=3, log=log)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    done = burnin("--runs", "3", struck=struck, site=gathering(log), call=7 * harness.FIELDS, how="flip")
    assert done.returncode == 5, done.stderr
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"WRONG ANSWER: host {os.uname().nodename}, device ") and ", rank 1: wrong at step " in said
    words = said.rpartition("wrong at step ")[2].split()
    step, first, last = int(words[0].rstrip(",")), int(words[-5]), int(words[-3])
    assert step == 7 and "right at step 6" in said
    middle = NZ // 2 + NZ // 4
    # A step has 4 stages that read 4 planes each way; where the change is below round-off it does not show.
    assert middle - 16 - NEAR <= first <= middle + NEAR and middle - NEAR <= last <= middle + 16 + NEAR


def test_an_answer_that_all_runs_have_is_compared_with_the_published_one(burnin):
    done = burnin("--runs", "2", reference="0123456789abcdef")
    assert (done.returncode, done.stdout) == (5, ""), done.stderr
    said = done.stderr.splitlines()[-1]
    assert said.startswith("WRONG ANSWER: runs agree on the answer ") and said.endswith("the deck publishes")
    done = burnin("--runs", "2", reference=said.split(",")[0].split()[-1])
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_requests(burnin):
    assert burnin("--runs", "1").returncode == 2
    assert "does not divide the 12 steps" in burnin("--every", "5").stderr
    assert "does not divide the 12 steps" in burnin("--every", "24", reference="0123456789abcdef").stderr
    done = burnin("--runs", "2", "--precision", "single")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert re.fullmatch(r"2 runs alike after \d+ min\n", done.stderr)
