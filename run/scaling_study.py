"""For run/scaling: a study's directory, and the runs that fill it."""

import csv
import datetime
import fcntl
import json
import math
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

from scaling_host import Failure, started

STOPPED = 75
COLUMNS = [
    *("study", "mode", "ranks", "threads", "nx", "ny", "nz", "precision", "backend", "transport", "overlap", "repeat"),
    *("steps", "scheme", "words", "seconds_per_step", "points_per_second", "halo_wait_seconds"),
    *("stage_interior_seconds", "stage_edges_seconds", "stage_halo_seconds"),
    *("ceiling_bytes_per_second", "share_of_ceiling"),
]


@contextmanager
def lock_study(out):
    """Makes the directory, and keeps others out of it meanwhile."""
    out.mkdir(parents=True, exist_ok=True)
    directory = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise Failure(3, f"{out}: another run/scaling is at work there") from error
    finally:
        os.close(directory)


def open_study(out, facts):
    """Make provenance.json and results.csv, or check that the study there is this one. Returns the rows there."""
    (out / "perf").mkdir(exist_ok=True)
    path, table = out / "provenance.json", out / "results.csv"
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    begun = {"date": now, "host": socket.gethostname(), "load": os.getloadavg()[0]}
    rows = []
    if table.exists():
        try:
            kept = json.loads(path.read_text()) if path.exists() else {}
        except ValueError as error:
            raise Failure(3, f"{path}: {error}") from error
        for name, value in facts["identity"].items():
            if kept.get("identity", {}).get(name) != value:
                raise Failure(2, f"{out} holds a study with another {name}; choose another --out")
        facts = kept | {"starts": [*kept.get("starts", []), begun]}
        rows = read_rows(table)
    else:
        facts = facts | {"starts": [begun]}
    write_whole(path, json.dumps(facts, indent=1) + "\n")
    if not table.exists():
        write_whole(table, ",".join(COLUMNS) + "\n")
    return rows


def write_whole(path, text):
    """The file as it was, or all of it."""
    part = path.with_name(f".part-{path.name}")
    part.write_text(text)
    os.replace(part, path)


def read_rows(table):
    """Rows of results.csv. A last line without its end, of a machine that went down, is taken out: that run is due."""
    text = table.read_text()
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        write_whole(table, text)
    rows = list(csv.DictReader(text.splitlines()))
    if any(None in row or None in row.values() for row in rows):
        raise Failure(3, f"{table}: a line with too few or too many columns")
    return rows


def row_of(case, perf):
    """A row of results.csv from a run's perf.json. Means over ranks; of a step, or of a stage."""
    nx, ny, nz = case.grid
    known = {
        "study": case.study,
        "mode": case.mode,
        "ranks": case.ranks,
        "nx": nx,
        "ny": ny,
        "nz": nz,
        "precision": case.precision,
        "repeat": case.repeat,
        "transport": perf["transport"]["name"],
        "overlap": "yes" if perf["overlap"] else "no",
        "words": perf["words_per_point_and_step"],
        "halo_wait_seconds": perf["phases"]["halo_wait"]["mean"] / max(perf["steps"], 1),
    }
    known |= {f"stage_{part}_seconds": times["mean"] for part, times in perf["stage"].items()}
    return {name: known.get(name, perf.get(name, "")) for name in COLUMNS}


class Stop:
    """Ends the run under way when a signal asks for it, and remembers it. Nothing of that run is wanted: mpirun gets
    SIGTERM, which it acts upon sooner than upon others."""

    def __init__(self):
        self.asked, self.child = False, None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            signal.signal(number, self.handle)

    def handle(self, *_):
        self.asked = True
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)


def run_words(words, log_path, env, stop, tick=None):
    """Run a command to its end, its words in a log; returns (exit code, what it said). Calls tick() now and then."""
    with open(log_path, "w+") as log:
        try:
            stop.child = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=env, start_new_session=True)
        except OSError as error:
            raise Failure(2, f"{words[0]}: {error.strerror}") from error
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


def measure_exchange(program, launcher, cases, backend, out, env, stop):
    """Let fdbench time the halo exchange alone, once for a study, for the model in its report."""
    counts = [case.ranks for case in cases if case.ranks > 1]
    bench, part = program.parent / "fdbench", out / ".part-bench.json"
    if not counts or (out / "bench.json").exists():
        return
    if not bench.exists():
        print(f"warning: {bench}: no such program; the report guesses at the halo exchange", file=sys.stderr)
        return
    words = [*started(launcher, min(counts)), str(bench), "halo", "--backend", backend, "--planes", "64,256,512"]
    code, said = run_words([*words, "--repeat", "7", "--output", str(part)], out / "last.log", env, stop)
    if code == 0:
        os.replace(part, out / "bench.json")
    elif not stop.asked:
        print(f"warning: fdbench halo: exit code {code}\n  {last_lines(said)}", file=sys.stderr)
    part.unlink(missing_ok=True)


def run_case(case, command, overrides, out, env, stop, tick):
    """Run once; returns the row, or None if it was stopped. Failure 3 with the run's own words if it failed."""
    scratch = out / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    words = [*started(command, case.ranks), *overrides, *case.overrides(scratch)]
    try:
        code, said = run_words(words, out / "last.log", env, stop, tick)
        if stop.asked or code == STOPPED:
            return None
        if code != 0:
            failed = f"{case.name}: exit code {code} of: {shlex.join(words)}\n  {last_lines(said)}"
            raise Failure(2 if code == 2 else 3, failed)
        perf = scratch / "perf.json"
        row = row_of(case, json.loads(perf.read_text()))
        shutil.copyfile(perf, out / "perf" / f"{case.name}.json")
        return row
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def append_row(out, row):
    """Add a row, on disk before this returns."""
    with open(out / "results.csv", "a", newline="") as file:
        csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)
        file.flush()
        os.fsync(file.fileno())


def clock(seconds):
    """A time left, for people."""
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


class Progress:
    """The study as a whole: a line for each run, and on a terminal a bar of the work done and what runs now."""

    def __init__(self, cases, todo):
        self.begun, self.total, self.number = time.monotonic(), len(cases), len(cases) - len(todo)
        self.done = {case.key: False for case in todo}
        self.weights = {case.key: math.prod(case.grid) / case.ranks for case in todo}
        self.live, self.longest = sys.stderr.isatty(), 0.0

    def begin(self, case):
        self.case, self.number, self.started = case, self.number + 1, time.monotonic()
        self.tick()

    def where(self):
        case, width = self.case, len(str(self.total))
        ranks = f"{case.ranks} rank{'s' * (case.ranks > 1)},"
        return f"[{self.number:{width}}/{self.total}] {case.study} {case.precision} {ranks:9} repeat {case.repeat}"

    def left(self, running=0.0):
        """'3 min left', or nothing before anything is known or when all is done."""
        spent = sum(weight for key, weight in self.weights.items() if self.done[key])
        rest = sum(self.weights.values()) - spent
        if not spent or not rest:
            return ""
        return f"{clock(max((self.started - self.begun) * rest / spent - running, 0.0))} left"

    def tick(self):
        """The line of what runs now, redrawn."""
        if not self.live:
            return
        share = sum(weight for key, weight in self.weights.items() if self.done[key]) / sum(self.weights.values())
        running = time.monotonic() - self.started
        bar = "#" * round(12 * share) + "." * (12 - round(12 * share))
        line = f"{bar} {self.left(running)}  {self.where()}, for {clock(running)}"
        room = max(shutil.get_terminal_size().columns - 1, 20)
        print(f"\r\033[K{line[:room]}", end="", file=sys.stderr, flush=True)

    def clear(self):
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def end(self, row):
        self.clear()
        self.done[self.case.key] = True
        now = time.monotonic()
        self.longest = max(self.longest, now - self.started)
        where, self.started = self.where(), now
        figures = (
            f"{1e3 * row['seconds_per_step']:9.3f} ms a step, {100 * row['share_of_ceiling']:.1f} % of the ceiling"
        )
        print(", ".join(filter(None, (f"{where}: {figures}", self.left()))), flush=True)


def measure(cases, done, command, overrides, out, env, limit, stop):
    """Run what is missing. Returns the exit code."""
    start = time.monotonic()
    todo = [case for case in cases if case.key not in done]
    if len(todo) < len(cases):
        print(f"{len(cases) - len(todo)} of {len(cases)} runs are in {out / 'results.csv'} already", flush=True)
    progress = Progress(cases, todo)
    for case in todo:
        if not stop.asked and time.monotonic() - start + 1.2 * progress.longest > limit:
            print("no time for another run: run again to go on", file=sys.stderr)
            return STOPPED
        if not stop.asked:
            progress.begin(case)
            try:
                row = run_case(case, command, overrides, out, env, stop, progress.tick)
            except Failure:
                progress.clear()
                raise
        if stop.asked or row is None:
            progress.clear()
            print("stopped: run again to go on", file=sys.stderr)
            return STOPPED
        append_row(out, row)
        progress.end(row)
    (out / "last.log").unlink(missing_ok=True)  # of use where something went wrong
    return 0
