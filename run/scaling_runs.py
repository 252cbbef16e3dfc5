"""For run/scaling: makes the runs of a study."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scaling_host import Failure, started
from scaling_progress import Progress, clock, say
from scaling_study import KEY, append_row, row_of

STOPPED = 75
TOO_LARGE = "error: memory: "  # fdapp's message that a grid does not fit


class Stop:
    """Ends the current run when a signal asks for it, and remembers that. The run's results are not needed, so mpirun
    gets SIGTERM, to which it reacts fastest."""

    def __init__(self):
        self.asked, self.child = False, None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP):
            signal.signal(number, self.handle)

    def handle(self, *_):
        self.asked = True
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)


@dataclass(frozen=True)
class Runs:
    """The settings that all runs of a study share."""

    program: Path  # fdapp
    config: Path
    overrides: list
    launcher: list
    env: dict
    backend: str
    out: Path  # the study's directory
    stop: Stop
    lock: int | None = None  # descriptor of the locked study's directory
    warned: set = field(default_factory=set)  # warnings that have been printed, once each

    @property
    def scratch(self):
        return self.out / ".run"

    def words(self, case, ranks):
        """The command of a case, on that many ranks."""
        overrides = [*self.overrides, *case.overrides(self.scratch)]
        return [*started(self.launcher, ranks), str(self.program), str(self.config), *overrides]

    def execute(self, words, tick=None):
        """Run a command to its end with its output in a log; returns (exit code, output). Calls tick() now and then."""
        stop = self.stop
        with open(self.out / "last.log", "w+") as log:
            apart = {"stdin": subprocess.DEVNULL, "start_new_session": True, "pass_fds": (self.lock,)}
            try:
                stop.child = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=self.env, **apart)
            except OSError as error:
                raise Failure(2, f"{words[0]}: {error.strerror}") from error
            if stop.asked:  # a signal since the start
                stop.handle()
            while True:
                try:
                    code = stop.child.wait(timeout=1.0)
                    break
                except subprocess.TimeoutExpired:
                    if tick:
                        tick()
            log.seek(0)
            return code, log.read()


def last_lines(said):
    return "\n  ".join(said.strip().splitlines()[-12:])


def outcome(code, words, said):
    """Describe the end of a command for a message."""
    return f"exit code {code} of: {shlex.join(words)}\n  {last_lines(said)}".rstrip()


def tell_warnings(runs, case, said, progress):
    """Prints the program's warnings, such as ranks that share a device, once each."""
    for line in said.splitlines():
        if line.startswith("fdapp: warning: ") and line not in runs.warned:
            runs.warned.add(line)
            progress.clear()
            print(f"{case.name}: {line}", file=sys.stderr)


def measure_exchange(runs, cases):
    """Time the halo exchange alone with fdbench, once per study, for the model in its report."""
    counts = [case.ranks for case in cases if case.ranks > 1]
    bench, part = runs.program.parent / "fdbench", runs.out / ".part-bench.json"
    if not counts or (runs.out / "bench.json").exists():
        return
    if not bench.exists():
        print(f"warning: {bench}: no such program; the report guesses at the halo exchange", file=sys.stderr)
        return
    words = [*started(runs.launcher, min(counts)), str(bench), "halo", "--backend", runs.backend]
    code, said = runs.execute([*words, "--planes", "64,256,512", "--output", str(part)])
    if code == 0:
        os.replace(part, runs.out / "bench.json")
    elif not runs.stop.asked:
        print(f"warning: fdbench halo: exit code {code}\n  {last_lines(said)}", file=sys.stderr)
    part.unlink(missing_ok=True)


@contextmanager
def scratch_of(runs):
    """The runs' directory, empty at first and gone afterwards."""
    shutil.rmtree(runs.scratch, ignore_errors=True)
    try:
        yield runs.scratch
    finally:
        shutil.rmtree(runs.scratch, ignore_errors=True)


def read_perf(runs, case, code, words, said):
    """perf.json of a finished run. Failure 2 or 3 if there is none, or if the run took no step."""
    perf = runs.scratch / "perf.json"
    if not perf.exists():
        raise Failure(3, f"{case.name}: left no perf.json: is it fdapp? {outcome(code, words, said)}")
    figures = json.loads(perf.read_text())
    if not figures["steps"]:
        raise Failure(2, f"{case.name}: took no step: there is nothing to measure in {shlex.join(words)}")
    return figures


def run_case(runs, case, progress):
    """Run once; returns the row, or None if it was stopped. Failure 2 or 3 with the run's message if it failed."""
    words = runs.words(case, case.ranks)
    with scratch_of(runs):
        code, said = runs.execute(words, progress.tick)
        if runs.stop.asked or code == STOPPED:
            return None
        if code != 0:
            raise Failure(2 if code == 2 else 3, f"{case.name}: {outcome(code, words, said)}")
        row = row_of(case, read_perf(runs, case, code, words, said))
        shutil.copyfile(runs.scratch / "perf.json", runs.out / "perf" / f"{case.name}.json")
        tell_warnings(runs, case, said, progress)
        return row


def time_for(case, progress, deadline):
    """True if the time suffices for a run; otherwise prints so. Failure 3 if it would not suffice next time, either."""
    expected, left = 1.2 * progress.expected(case.key), deadline - time.monotonic()
    if expected <= left:
        return True
    if progress.number == progress.total - len(progress.done) and expected > left > 0.0:
        raise Failure(3, f"{case.name} takes some {clock(expected)}, and the limit leaves {clock(left)}")
    run = f"another run, of some {clock(expected)}" if expected else "another run"
    print(f"no time for {run}: run again to resume", file=sys.stderr)
    return False


def measure(runs, cases, rows, deadline):
    """Make the missing runs, except combinations that do not fit into memory. Returns the exit code."""
    done = {tuple(row[name] for name in KEY) for row in rows}
    todo = [case for case in cases if case.key not in done]
    if len(todo) < len(cases):
        say(f"{len(cases) - len(todo)} of {len(cases)} runs are in {runs.out / 'results.csv'} already")
    progress, large = Progress(cases, todo, rows), set()  # large: grids that do not fit
    for case in todo:
        if (case.study, case.ranks, case.precision) in large:
            progress.skip(case)
            continue
        if not runs.stop.asked and not time_for(case, progress, deadline):
            return STOPPED
        if not runs.stop.asked:
            progress.begin(case)
            try:
                row = run_case(runs, case, progress)
            except Failure as failure:
                progress.clear()
                if TOO_LARGE not in str(failure):
                    raise
                print(f"left out: {failure}", file=sys.stderr)
                progress.skip(case)
                large.add((case.study, case.ranks, case.precision))
                continue
        if runs.stop.asked or row is None:
            progress.clear()
            print("stopped: run again to resume", file=sys.stderr)
            return STOPPED
        append_row(runs.out, row)
        progress.end(row)
    (runs.out / "last.log").unlink(missing_ok=True)  # only needed after a failure
    if large and not any(progress.done.values()) and not rows:
        raise Failure(3, "nothing fits into memory: nothing is measured")
    return 3 if large else 0
