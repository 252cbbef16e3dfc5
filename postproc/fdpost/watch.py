"""Pictures that follow a run: one file, drawn again for each new snapshot, or each new step of its slices."""

import fcntl
import struct
import time

from . import slices, style
from .errors import DataError
from .reader import Run

PATIENCE = 120.0  # seconds that a run may take until it makes its directory
ENDS_ALONE = 99999999  # output.fields_every that keeps the first and the last snapshot alone


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


def wait_for(path, say, every=2.0, sleep=time.sleep):
    """Waits for a run that makes its directory `path` later, because it was started just now, for PATIENCE seconds. It
    may be over at the first look."""
    if path.exists():
        return
    say(f"waiting: no {path} yet; for at most {PATIENCE:.0f} s")
    for _ in range(int(PATIENCE / every) + 1):
        sleep(every)
        if path.exists() and (is_running(Run(path).directory) or newest(path, slices=True)):
            return


def newest(path, slices):
    """The run and its newest slices, if wanted and present, else its newest snapshot; None while there are neither, or
    if the snapshot was pruned meanwhile."""
    try:
        run = Run(path)
        frame = run.newest(slices)
        return frame and (run, frame)
    except DataError:
        return None


def draw_newest(run, frame, cuts, fields, target, colours):
    """One picture of the frame. Returns the path, or None if the snapshot was pruned meanwhile."""
    try:
        shown = {field: slices.read_cuts([frame], cuts, field) for field in fields}
    except DataError:
        return None
    return style.save(slices.draw_slices(run, [frame], cuts, shown, *colours), target)


def awaited(config, slices):
    """A sentence on the files that a run of this configuration draws a picture for. slices: slices go first."""
    output = config.get("output", {})
    planes = output.get("slices_every", "0") if output.get("slices", "none") != "none" else "0"
    wanted = [("kept snapshots", output.get("fields_every", "0")), ("checkpoints", output.get("checkpoint_every", "0"))]
    wanted.insert(0 if slices else 1, ("slices", planes))
    for what, every in wanted:
        if every.isdecimal() and int(every) >= ENDS_ALONE:
            return f"{what} are written at the start and at the end alone (output.fields_every, output.slices)"
        if every.isdecimal() and int(every) > 0:
            return f"{what} are written every {every} steps"
    return "nothing is written to draw: output.slices and output.fields_every are not set"


def watch(path, draw, tell, say=lambda sentence: None, every=2.0, sleep=time.sleep, slices=True):
    """Calls draw(run and newest frame) for each new snapshot, until the run in `path` has ended and its last one is
    drawn; with `slices` for each step of its slices instead, if it has some. tell(step): after each picture. say: takes
    sentences on what is awaited. DataError if there is nothing at the end. Returns the last step."""
    last, said = None, False
    while True:
        running = is_running(Run(path).directory)  # asked first: the last files of a run that has ended are found
        found = newest(path, slices)
        if found and found[1].step != last and draw(found):
            last = found[1].step
            tell(last)
        if not running:
            if last is None:
                raise DataError(f"{path}: no snapshots and no slices, and no run at work there")
            return last
        if not said and (config := Run(path).config):
            said = True
            say(f"waiting: {awaited(config, slices)}")
        sleep(every)
