"""A scaling study: reads results.csv as run/scaling writes it, and fits the model.

Columns of results.csv: study (mode and grid of one rank or of the whole), mode (weak, strong), ranks, threads,
nx, ny, nz (of the whole run), precision, backend, transport, overlap, repeat, steps, scheme, words (moved per point and
step), stages (of a step), last_words (moved per point by the last stage; empty if any two stages were one sweep),
seconds_per_step, points_per_second, halo_wait_seconds (of a step, mean over ranks), stage_interior_seconds,
stage_edges_seconds, stage_halo_seconds (of the last stage of a sampled step, mean over ranks; src/stepping/stepper.h),
ceiling_bytes_per_second (same-mix streaming, all ranks), share_of_ceiling. Columns beyond these are ignored; threads
and those of stages may be missing, stages and last_words for schemes of version 0.1. bench.json
beside it, from `fdbench halo`, gives the times of the exchange alone."""

import csv
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from . import model
from .errors import DataError

NEEDED = (
    *("study", "mode", "ranks", "nx", "ny", "nz", "precision", "backend", "transport", "overlap", "scheme", "words"),
    *("seconds_per_step", "halo_wait_seconds", "ceiling_bytes_per_second", "share_of_ceiling"),
)
WHOLE = ("ranks", "nx", "ny", "nz", "words")
TIMED = ("seconds_per_step", "ceiling_bytes_per_second")
# Schemes of version 0.1, which wrote neither stages nor last_words: stages of a step; of each form, words of a step and
# of its last stage. Later schemes have the columns.
OLDER = {"rk4": (4, {13: 5, 11: 3}), "ssprk3": (3, {8: 3}), "ck45": (5, {14: 3})}
FITTED_COUNTS = 2  # the fit uses this many of the smallest rank counts; larger ones are predicted
STRONG_GRIDS = (512, 1024, 2048)
WEAK_RANKS = 4096


@dataclass(frozen=True)
class Point:
    """All repeats of one combination. Times of a step in seconds: (median, smallest, largest)."""

    seconds: tuple
    halo_wait: tuple
    exchange: tuple  # with its waiting, as timed on one stage; NaN where none was
    share: tuple
    measurement: model.Measurement
    repeats: int

    @property
    def ranks(self):
        return self.measurement.problem.ranks

    @property
    def points_per_second(self):
        problem = self.measurement.problem
        return problem.nx * problem.ny * problem.nz / self.seconds[0]


@dataclass(frozen=True)
class Curve:
    """One grid in one precision over the rank counts."""

    study: str
    mode: str
    precision: str
    backend: str
    transport: str  # of ranks that exchange; several with commas if it depends on the rank count
    overlap: str
    threads: str  # "2 threads", or nothing where they differ or are not the CPU's
    points: tuple  # of Point, ascending in ranks
    compared: bool = False  # the same runs were made with another transport

    @property
    def grid(self):
        """Grid of the study: a rank's (weak) or the whole (strong)."""
        first = self.points[0].measurement.problem
        nz = first.nz // first.ranks if self.mode == "weak" else first.nz
        return f"{first.nx}³" if first.nx == first.ny == nz else f"{first.nx} × {first.ny} × {nz}"

    @property
    def kind(self):
        """Grid and threads."""
        return ", ".join(filter(None, (self.grid, self.threads)))

    @property
    def label(self):
        transport = self.transport if self.compared else ""
        return ", ".join(filter(None, (f"{self.grid} {self.precision}", self.threads, transport)))

    def waits(self, point):
        """Seconds per step for halo and waiting, as far as they are measured: on CPUs the host's wait; on devices,
        where the host runs ahead, the exchange, most of which is hidden."""
        return point.halo_wait if self.backend == "cpu" else point.exchange

    def efficiencies(self):
        """[(ranks, efficiency)] against the smallest rank count measured."""
        first = self.points[0]
        result = []
        for point in self.points:
            work = point.ranks / first.ranks if self.mode == "strong" else 1.0
            result.append((point.ranks, first.seconds[0] / (work * point.seconds[0])))
        return result


def spread(values):
    return median(values), min(values), max(values)


def read_rows(directory):
    """Rows of results.csv without an incomplete last line, whose run is repeated. DataError if it is missing or empty,
    lacks a column, or has impossible values."""
    path = Path(directory) / "results.csv"
    try:
        with open(path, newline="") as file:
            text = file.read()
        reader = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
        rows = list(reader)
        missing = [name for name in NEEDED if name not in (reader.fieldnames or ())]
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: {error}") from error
    if missing:
        raise DataError(f"{path}: no column {', '.join(missing)}")
    if not rows:
        raise DataError(f"{path}: no runs in it yet")
    whole = [*WHOLE, *({"stages"} & set(rows[0]))]
    for line, row in enumerate(rows, 2):
        wrong = [name for name in whole if not (row[name] or "").isdecimal() or int(row[name]) < 1]
        wrong += [name for name in TIMED if not 0.0 < number(row, name) < math.inf]
        wrong += ["mode"] * (row["mode"] not in ("weak", "strong"))
        last = row.get("last_words") or "1"
        wrong += ["last_words"] * (not last.isdecimal() or int(last) < 1)
        if wrong:
            raise DataError(f"{path}: line {line}: {wrong[0]} = '{row[wrong[0]]}' cannot be")
    return rows


def number(row, name):
    """A number of a row; NaN where there is none."""
    try:
        return float(row.get(name) or "nan")
    except ValueError as error:
        raise DataError(f"results.csv: {name} = '{row[name]}' is not a number") from error


def stages_of(row):
    """Stages of a step, and words that the last one moves per point: 0 if they are unknown."""
    if "stages" in row:
        return int(row["stages"]), int(row.get("last_words") or 0)
    if row["scheme"] not in OLDER:
        raise DataError(f"results.csv: no column stages, which a study of {row['scheme']} needs: repeat it")
    stages, forms = OLDER[row["scheme"]]
    # Each stage has the same number of further words (sources), so the form is the one whose words are left over.
    more = {last: int(row["words"]) - words for words, last in forms.items()}
    return stages, next((last + left // stages for last, left in more.items() if left >= 0 and left % stages == 0), 0)


def make_point(rows):
    """One combination from its repeats."""
    row = rows[0]
    if row["precision"] not in model.SIZES:
        raise DataError(f"results.csv: unknown precision: {row['precision']}")
    stages, _ = stages_of(row)
    problem = model.Problem(
        *(int(row[name]) for name in ("nx", "ny", "nz", "ranks")),
        size=model.SIZES[row["precision"]],
        words=int(row["words"]),
        stages=stages,
        overlap=row["overlap"] == "yes",
    )
    seconds = spread([number(each, "seconds_per_step") for each in rows])
    return Point(
        seconds,
        spread([number(each, "halo_wait_seconds") for each in rows]),
        spread([stages * (number(each, "stage_halo_seconds") or math.nan) for each in rows]),
        spread([number(each, "share_of_ceiling") for each in rows]),
        model.Measurement(
            problem,
            seconds[0],
            median(number(each, "ceiling_bytes_per_second") for each in rows),
            step_parts(problem, rows),
        ),
        len(rows),
    )


def step_parts(problem, rows):
    """Seconds of a step's parts, from the last stage's: times of the ranges scaled by the words that they move.

    On a device edges are a part of interior, the kernel on all planes, and the halo's time is left out: it holds the
    waiting for neighbours that are behind. Nothing is known where no stage was timed, as on one GPU, where a step is a
    recording, or where two stages were one sweep, whose parts have no model."""
    part = {
        name: problem.stages * median(number(each, f"stage_{name}_seconds") for each in rows)
        for name in ("interior", "edges", "halo")
    }
    _, last = stages_of(rows[0])
    if not part["interior"] > 0 or last == 0:
        return {}
    split = min(problem.planes, 2 * model.HALO) if part["edges"] > 0 else 0
    rest = problem.planes - (split if rows[0]["backend"] == "cpu" else 0)
    for name, planes, read in (("interior", rest, 8), ("edges", split, 16)):
        if part[name] > 0:
            part[name] *= (planes * problem.words / problem.stages + read) / (planes * last + read)
    if split == 0:
        del part["edges"]
    if rows[0]["backend"] != "cpu":
        del part["halo"]
    return part


def read_curves(directory):
    """Curves of a study's directory, in the order of results.csv."""
    groups = {}
    for row in read_rows(directory):
        key = tuple(row[name] for name in ("study", "mode", "precision", "backend", "overlap"))
        ways = groups.setdefault(key, {})
        ways.setdefault(row["transport"], {}).setdefault(int(row["ranks"]), []).append(row)
    curves = []
    for (*named, overlap), ways in groups.items():
        apart = by_transport(ways)
        for transport, found in apart.items():
            points = tuple(make_point(found[n]) for n in sorted(found))
            curves.append(Curve(*named, transport, overlap, threads_of(found), points, len(apart) > 1))
    return curves


def by_transport(ways):
    """{transport: {ranks: rows}} of one study as its curves have them.

    The chosen transport can depend on the rank count (one rank, one node, several nodes); such runs are one curve.
    Transports are compared, as two curves, only if some rank count was run with both. One rank exchanges nothing and
    belongs to both."""

    counts = [count for found in ways.values() for count in found if count > 1]
    if len(counts) == len(set(counts)):
        pairs = sorted((min(found), transport) for transport, found in ways.items() if set(found) != {1})
        merged = {}
        for found in ways.values():
            for count, rows in found.items():
                merged.setdefault(count, []).extend(rows)
        return {", ".join(transport for _, transport in pairs) or next(iter(ways)): merged}
    alone = next((found[1] for found in ways.values() if 1 in found), None)
    several = {transport: found for transport, found in ways.items() if set(found) != {1}}
    return {way: found if 1 in found or not alone else {1: alone, **found} for way, found in several.items()}


def threads_of(found):
    """Curve.threads of {ranks: rows}."""
    counts = {row.get("threads") if row["backend"] == "cpu" else None for rows in found.values() for row in rows}
    (only, *others) = counts
    return "" if others or not only else f"{only} thread{'s' * (only != '1')}"


def machine_key(curve):
    """Curves with the same key are explained by one machine."""
    transport = curve.transport if curve.points[-1].ranks > 1 else ""
    return curve.backend, curve.precision, transport, curve.overlap, curve.threads


def fitted_ranks(curves):
    """{key: rank counts used in the fit}: the smallest two of all curves of one machine."""
    found = {}
    for curve in curves:
        found.setdefault(machine_key(curve), set()).update(point.ranks for point in curve.points)
    return {key: sorted(counts)[:FITTED_COUNTS] for key, counts in found.items()}


def tested_machines(curves, machines):
    """The machines whose model was not fitted to all of their points, so that the others test it."""
    fitted = fitted_ranks(curves)
    keys = {machine_key(curve) for curve in curves for p in curve.points if p.ranks not in fitted[machine_key(curve)]}
    return {key: machine for key, machine in machines.items() if key in keys}


def fit_machines(curves, exchanges=None):
    """{key: machine}, fitted on the points of fitted_ranks() and exchanges, as read_exchanges() gives them. On CPUs the
    ceilings beside all points are used."""
    seen, streams, seen_ranks = {}, {}, fitted_ranks(curves)
    for curve in curves:
        key = machine_key(curve)
        few = [point.measurement for point in curve.points if point.ranks in seen_ranks[key]]
        seen.setdefault(key, []).extend(few)
        if curve.backend == "cpu":
            streams.setdefault(key, []).extend(point.measurement for point in curve.points)
    exchanges = exchanges or {}
    known = {key: next((exchanges[way] for way in key[2].split(", ") if way in exchanges), ()) for key in seen}
    return {key: model.fit(few, key[0], known[key], streams.get(key, ())) for key, few in seen.items()}


def read_exchanges(directory):
    """{transport: [(bytes sent each way, seconds)]} from bench.json of `fdbench halo`; empty if there is none."""
    path = Path(directory) / "bench.json"
    found = {}
    if not path.exists():
        return found
    try:
        for entry in json.loads(path.read_text())["halo"]:
            sent, seconds = entry["bytes_sent"] / 2, entry["seconds"]["median"]  # up and down
            if not (sent > 0 and seconds > 0):
                raise ValueError(f"{sent:g} bytes in {seconds:g} s")
            found.setdefault(entry["way"], []).append((float(sent), float(seconds)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not a report of fdbench halo: {error!r}") from error
    return found


def beyond(curves, machines):
    """The machines from which larger ones can be extrapolated: [(precision, problem, machine)], with a `problem` that
    was measured, as a model for others. Ranks that share one host's memory, and single ranks, allow no
    extrapolation."""
    known = {machine_key(curve): curve.points[-1].measurement.problem for curve in curves}
    return [(key[1], known[key], machine) for key, machine in machines.items() if key[0] != "cpu" and key[2]]


def cube(like, n):
    """n^3 points on one rank, computed as those of `like`."""
    return replace(like, nx=n, ny=n, nz=n, ranks=1)


def at_ranks(problem, mode, ranks):
    """The problem of a curve at another rank count; `problem` is the curve's on any count."""
    if mode == "weak":
        return replace(problem, nz=problem.nz // problem.ranks * ranks, ranks=ranks)
    return replace(problem, ranks=ranks)
