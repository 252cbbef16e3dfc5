"""Pictures that follow a run: one file, drawn again for each new snapshot, or each new step of its slices."""

import fcntl
import struct
import time

from . import slices, style
from .errors import DataError
from .planes import newest_planes
from .reader import Run


def is_running(directory):
    """True while a process holds the lock of the run directory. It queries the lock without taking it, which could make
    a run fail that starts at that moment. If the query fails, the lock counts as held."""
    try:
        with open(directory / ".lock", "rb") as file:
            question = struct.pack("hhlli", fcntl.F_WRLCK, 0, 0, 0, 0)  # struct flock
            answer = fcntl.fcntl(file, fcntl.F_GETLK, question)
            return struct.unpack("hhlli", answer)[0] != fcntl.F_UNLCK
    except FileNotFoundError:
        return False
    except OSError:
        return True


def newest_state(path):
    """The newest snapshot, or None if there is none, or if it was pruned meanwhile."""
    try:
        run = Run(path)
        return run, run.states[-1]
    except DataError:
        return None


def newest(path, slices):
    """The newest slices, if wanted and present, else the newest snapshot; None if there are neither."""
    try:
        return (newest_planes(path) if slices else None) or newest_state(path)
    except DataError:
        return None


def draw_newest(found, choose, fields, target, colours):
    """One picture of the newest snapshot or slices. Returns the path, or None if the snapshot was pruned meanwhile."""
    run, state = found
    try:
        cuts = choose(state)
        shown = {field: slices.read_cuts([state], cuts, field) for field in fields(run, state)}
    except DataError:
        return None
    return style.save(slices.draw_slices(run, [state], cuts, shown, *colours), target)


def watch(path, draw, tell, every=2.0, sleep=time.sleep, slices=True):
    """Calls draw(run and newest state) for each new snapshot, until the run in `path` has ended and its last one is
    drawn; with `slices` for each step of its slices instead, if it has some. tell(step): after each picture. DataError
    if there is nothing at the end. Returns the last step."""
    last = None
    while True:
        running = is_running(path)  # asked first, so that the last files of a run that has ended are found
        found = newest(path, slices)
        if found and found[1].step != last and draw(found):
            last = found[1].step
            tell(last)
        if not running:
            if last is None:
                raise DataError(f"{path}: no snapshots, and no run at work there")
            return last
        sleep(every)
