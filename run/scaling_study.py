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
KEY = ("study", "ranks", "precision", "repeat")
POSITIVE = ("ranks", "nx", "ny", "nz", "steps", "seconds_per_step", "points_per_second", "ceiling_bytes_per_second")


@contextmanager
def lock_study(out):
    """Makes the directory, and keeps others out of it meanwhile. Gives the descriptor that holds the lock: what is
    started with it keeps the lock, too, if this process is killed."""
    out.mkdir(parents=True, exist_ok=True)
    directory = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield directory
    except BlockingIOError as error:
        raise Failure(3, f"{out}: another run/scaling, or a run of one that was killed, is at work there") from error
    finally:
        os.close(directory)


def open_study(out, facts):
    """Make provenance.json and results.csv, or check that the study there is this one; one without rows is none.
    Returns the rows there."""
    (out / "perf").mkdir(exist_ok=True)
    path, table = out / "provenance.json", out / "results.csv"
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    begun = {"date": now, "host": socket.gethostname(), "load": os.getloadavg()[0]}
    rows = read_rows(table) if table.exists() else []
    if rows:
        kept = read_provenance(path)
        for name, value in facts["identity"].items():
            if kept["identity"].get(name) != value:
                there = kept["identity"].get(name)
                raise Failure(2, f"{out} holds a study with another {name}: {shown(there)} there, {shown(value)} now;"
                              " choose another --out")  # fmt: skip
        facts = kept | {"starts": [*kept.get("starts", []), begun]}
    else:
        facts = facts | {"starts": [begun]}
        write_whole(table, ",".join(COLUMNS) + "\n")
    write_whole(path, json.dumps(facts, indent=1) + "\n")
    return rows


def read_provenance(path):
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Failure(3, f"{path}: {error}; without it nobody knows what the rows beside it are of") from error
    if not isinstance(kept, dict) or not isinstance(kept.get("identity"), dict):
        raise Failure(3, f"{path}: not written by run/scaling")
    return kept


def shown(value):
    """A part of an identity, for a message; a whole configuration is too long for one."""
    words = value if isinstance(value, str) else " ".join(value or [])
    return "a text of its own" if "\n" in words else f"'{words}'"


def write_whole(path, text):
    """The file as it was, or all of it."""
    part = path.with_name(f".part-{path.name}")
    with open(part, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def read_rows(table):
    """Rows of results.csv. A last line without its end, of a machine that went down, is taken out: that run is due."""
    try:
        text = table.read_text()
    except UnicodeDecodeError as error:
        raise Failure(3, f"{table}: {error}") from error
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        write_whole(table, text)
    if not text:
        return []
    reader = csv.DictReader(text.splitlines())
    if reader.fieldnames != COLUMNS:
        raise Failure(3, f"{table}: its first line is not {','.join(COLUMNS[:3])},...: not written by run/scaling")
    rows = list(reader)
    seen = set()
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise Failure(3, f"{table}: line {number}: too few or too many columns")
        if not all(positive(row[name]) for name in POSITIVE):
            raise Failure(3, f"{table}: line {number}: one of {', '.join(POSITIVE)} is no positive number")
        key = tuple(row[name] for name in KEY)
        if key in seen:
            raise Failure(3, f"{table}: line {number}: the run of an earlier line")
        seen.add(key)
    return rows


def positive(text):
    try:
        return 0.0 < float(text) < math.inf
    except ValueError:
        return False


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
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP):
            signal.signal(number, self.handle)

    def handle(self, *_):
        self.asked = True
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)


def run_words(words, log_path, env, stop, lock, tick=None):
    """Run a command to its end, its words in a log; returns (exit code, what it said). Calls tick() now and then."""
    with open(log_path, "w+") as log:
        apart = {"start_new_session": True, "pass_fds": (lock,)}
        try:
            stop.child = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=env, **apart)
        except OSError as error:
            raise Failure(2, f"{words[0]}: {error.strerror}") from error
        if stop.asked:  # between the start and here
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


def measure_exchange(program, launcher, cases, backend, out, env, stop, lock):
    """Let fdbench time the halo exchange alone, once for a study, for the model in its report."""
    counts = [case.ranks for case in cases if case.ranks > 1]
    bench, part = program.parent / "fdbench", out / ".part-bench.json"
    if not counts or (out / "bench.json").exists():
        return
    if not bench.exists():
        print(f"warning: {bench}: no such program; the report guesses at the halo exchange", file=sys.stderr)
        return
    words = [*started(launcher, min(counts)), str(bench), "halo", "--backend", backend, "--planes", "64,256,512"]
    code, said = run_words([*words, "--repeat", "7", "--output", str(part)], out / "last.log", env, stop, lock)
    if code == 0:
        os.replace(part, out / "bench.json")
    elif not stop.asked:
        print(f"warning: fdbench halo: exit code {code}\n  {last_lines(said)}", file=sys.stderr)
    part.unlink(missing_ok=True)


def run_case(case, command, overrides, out, env, stop, lock, tick):
    """Run once; returns the row, or None if it was stopped. Failure 3 with the run's own words if it failed."""
    scratch = out / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    words = [*started(command, case.ranks), *overrides, *case.overrides(scratch)]
    try:
        code, said = run_words(words, out / "last.log", env, stop, lock, tick)
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


def say(text):
    """A line for whoever reads; the study goes on when nobody does any more."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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

    def __init__(self, cases, todo, rows):
        self.begun, self.total, self.number = time.monotonic(), len(cases), len(cases) - len(todo)
        self.done = {case.key: False for case in todo}
        self.weights = {case.key: math.prod(case.grid) / case.ranks for case in todo}
        self.live, self.start_up, self.slowest = sys.stderr.isatty(), 0.0, 0.0
        for row in rows:
            self.learn(row)

    def learn(self, row, seconds=None):
        """Remember how long steps, and what comes before and after them, can take. seconds: of the whole run."""
        stepping = float(row["steps"]) * float(row["seconds_per_step"])
        weight = float(row["nx"]) * float(row["ny"]) * float(row["nz"]) / float(row["ranks"])
        self.slowest = max(self.slowest, stepping / weight)
        self.start_up = max(self.start_up, (seconds or stepping) - stepping)

    def expected(self, case):
        """Seconds that a run takes, going by those before; 0 before anything is known."""
        return self.start_up + self.slowest * self.weights[case.key]

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
        self.learn(row, now - self.started)
        where, self.started = self.where(), now
        figures = (
            f"{1e3 * row['seconds_per_step']:9.3f} ms a step, {100 * row['share_of_ceiling']:.1f} % of the ceiling"
        )
        say(", ".join(filter(None, (f"{where}: {figures}", self.left()))))


def time_for(case, progress, deadline):
    """Whether a run may begin; says so if not. Failure 3 if the next call would not come further, either."""
    expected, left = 1.2 * progress.expected(case), deadline - time.monotonic()
    if expected <= left:
        return True
    if progress.number == progress.total - len(progress.done) and expected > left > 0.0:
        raise Failure(3, f"{case.name} takes some {clock(expected)}, and the limit leaves {clock(left)}")
    print(f"no time for another run, of some {clock(expected)}: run again to go on", file=sys.stderr)
    return False


def measure(cases, rows, command, overrides, out, env, deadline, stop, lock):
    """Run what is missing. Returns the exit code."""
    done = {tuple(row[name] for name in KEY) for row in rows}
    todo = [case for case in cases if case.key not in done]
    if len(todo) < len(cases):
        say(f"{len(cases) - len(todo)} of {len(cases)} runs are in {out / 'results.csv'} already")
    progress = Progress(cases, todo, rows)
    for case in todo:
        if not stop.asked and not time_for(case, progress, deadline):
            return STOPPED
        if not stop.asked:
            progress.begin(case)
            try:
                row = run_case(case, command, overrides, out, env, stop, lock, progress.tick)
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
