"""For run/scaling: the directory of a study, with its lock, provenance and table."""

import csv
import datetime
import fcntl
import json
import math
import os
import shutil
import socket
from contextlib import contextmanager

from scaling_host import Failure

COLUMNS = [
    *("study", "mode", "ranks", "threads", "nx", "ny", "nz", "precision", "backend", "transport", "overlap", "repeat"),
    *("steps", "scheme", "words", "stages", "last_words", "seconds_per_step", "points_per_second", "halo_wait_seconds"),
    *("stage_interior_seconds", "stage_edges_seconds", "stage_halo_seconds"),
    *("ceiling_bytes_per_second", "share_of_ceiling"),
]
KEY = ("study", "ranks", "precision", "repeat")
POSITIVE = ("ranks", "nx", "ny", "nz", "steps", "seconds_per_step", "points_per_second", "ceiling_bytes_per_second")


@contextmanager
def lock_study(out):
    """Makes and locks the directory. Gives the lock's descriptor; child processes that inherit it keep the lock if this
    process is killed."""
    out.mkdir(parents=True, exist_ok=True)
    directory = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield directory
    except BlockingIOError as error:
        raise Failure(3, f"{out}: another run/scaling, or a run of one that was killed, is at work there") from error
    finally:
        os.close(directory)


def open_study(out, facts, shared):
    """Make provenance.json and results.csv, or check that the study in the directory is this one. A study without rows
    is replaced: its files are removed, and no others. shared: note on ranks that share cores. Returns the rows
    there."""
    path, table = out / "provenance.json", out / "results.csv"
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    begun = {
        "date": now,
        "host": socket.gethostname(),
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
        "shared": shared,
    }
    rows = read_rows(table) if table.exists() else []
    if rows:
        kept = read_provenance(path)
        for name, value in facts["identity"].items():
            if kept["identity"].get(name) != value:
                difference = differing(name, kept["identity"].get(name), value)
                raise Failure(2, f"{out} holds another study: its {difference}; choose another --out")
        facts = kept | {"starts": [*kept.get("starts", []), begun]}
    else:
        refuse_others(out, path)
        facts = facts | {"starts": [begun]}
        (out / "bench.json").unlink(missing_ok=True)
        shutil.rmtree(out / "perf", ignore_errors=True)
        write_whole(table, ",".join(COLUMNS) + "\n")
    write_whole(path, json.dumps(facts, indent=1) + "\n")  # first, because it marks perf/ as a study's
    (out / "perf").mkdir(exist_ok=True)
    return rows


def refuse_others(out, provenance):
    """Failure 2 if `out` contains files that are not a study's."""
    if provenance.exists():
        read_provenance(provenance)
        return
    ours = ("results.csv", "last.log")
    others = [entry.name for entry in out.iterdir() if entry.name not in ours and not entry.name.startswith(".part-")]
    if others:
        raise Failure(2, f"{out} holds other things ({sorted(others)[0]}, for one); choose another --out")


def read_provenance(path):
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Failure(3, f"{path}: {error}; without it nobody knows what the rows beside it are of") from error
    if not isinstance(kept, dict) or not isinstance(kept.get("identity"), dict):
        raise Failure(3, f"{path}: not written by run/scaling")
    return kept


def differing(name, there, here):
    """Describe how a part of two identities differs; a whole configuration is too long for a message."""
    if name == "configuration":
        return "configuration is another text"
    there, here = (words if isinstance(words, str) else " ".join(words or []) for words in (there, here))
    verb = "are" if name == "overrides" else "is"
    text = f"{name} {verb} {shown(there)}, this one's {verb} {shown(here)}"
    if ("compute.threads=" in there) != ("compute.threads=" in here):
        text += " (compute.threads is run/scaling's own choice where nobody gives it)"
    return text


def shown(words):
    return f"'{words}'" if words else "none"


def write_whole(path, text):
    """Write a file completely, or leave it as it was."""
    part = path.with_name(f".part-{path.name}")
    with open(part, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def read_rows(table):
    """Rows of results.csv. An incomplete last line, left by a crash, is removed, so that its run is repeated."""
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
        raise Failure(
            3, f"{table}: other columns than this run/scaling writes: choose another --out; fdplot scaling reads it"
        )
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
    """A row of results.csv from a run's perf.json: means over ranks, per step or per stage."""
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
        "stages": perf["stages_per_step"],
        "last_words": perf["words_per_point_and_last_stage"],
        "halo_wait_seconds": perf["phases"]["halo_wait"]["mean"] / max(perf["steps"], 1),
    }
    known |= {f"stage_{part}_seconds": times["mean"] for part, times in perf["stage"].items()}
    return {name: known.get(name, perf.get(name, "")) for name in COLUMNS}


def append_row(out, row):
    """Add a row; it is on the disk when this returns."""
    with open(out / "results.csv", "a", newline="") as file:
        csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)
        file.flush()
        os.fsync(file.fileno())
