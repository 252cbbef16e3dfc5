"""For run/scaling: progress of a study, and estimates of the time that runs take."""

import math
import os
import shutil
import sys
import time


def say(text):
    """Prints a line. A closed pipe does not end the study."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def clock(seconds):
    """Format a time."""
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


class Progress:
    """Progress of the study: a line for each run, and on a terminal a bar with the work done and the current run."""

    def __init__(self, cases, todo, rows):
        self.total, self.number = len(cases), len(cases) - len(todo)
        self.done = {case.key: False for case in todo}
        self.weights = {case.key: math.prod(case.grid) / case.ranks for case in todo}
        self.case, self.live, self.start_up, self.slowest = None, sys.stderr.isatty(), 0.0, 0.0
        for row in rows:
            self.learn(row)

    def learn(self, row, seconds=None):
        """Record the time of the steps, and of what precedes and follows them. seconds: of the whole run."""
        stepping = float(row["steps"]) * float(row["seconds_per_step"])
        weight = float(row["nx"]) * float(row["ny"]) * float(row["nz"]) / float(row["ranks"])
        self.slowest = max(self.slowest, stepping / weight)
        self.start_up = max(self.start_up, (seconds or stepping) - stepping)

    def expected(self, key):
        """Estimated seconds of a case's run, from earlier runs; 0 if nothing is known."""
        return self.start_up + self.slowest * self.weights[key]

    def begin(self, case):
        self.case, self.number, self.started = case, self.number + 1, time.monotonic()
        self.tick()

    def skip(self, case):
        """Remove a run from the work left, whether it was begun or not."""
        self.number += case is not self.case
        self.done.pop(case.key)
        self.weights.pop(case.key)

    def where(self):
        case, width = self.case, len(str(self.total))
        ranks = f"{case.ranks} rank{'s' * (case.ranks > 1)},"
        return f"[{self.number:{width}}/{self.total}] {case.study} {case.precision} {ranks:9} repeat {case.repeat}"

    def left(self, running=0.0):
        """'3 min left'; empty if nothing is known or everything is done."""
        rest = sum(self.expected(key) for key, done in self.done.items() if not done)
        return f"{clock(max(rest - running, 0.0))} left" if self.slowest and rest else ""

    def tick(self):
        """Redraw the line of the current run."""
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
            f"{1e3 * row['seconds_per_step']:9.3f} ms per step, {100 * row['share_of_ceiling']:.1f} % of the ceiling"
        )
        say(", ".join(filter(None, (f"{where}: {figures}", self.left()))))
