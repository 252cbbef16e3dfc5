"""For run/burnin: tables of hashes, and the first difference between two of them."""

import csv
from dataclasses import dataclass

from scaling_host import Failure


@dataclass(frozen=True)
class Table:
    """hashes.csv of a run, and the places of its ranks."""

    columns: tuple  # NAME_Z of each plane
    rows: dict  # step -> hashes of the planes
    places: list  # of each rank: host, device, uuid
    answer: str  # hash of the last step, None if the run did not reach it
    published: bool  # True if it is the deck's, False if not, None if the deck has none


def read(path, perf):
    """Read the table of a run that left `perf`. Failure 3 if it is incomplete."""
    try:
        with open(path, newline="") as file:
            lines = list(csv.reader(file))
    except OSError as error:
        raise Failure(3, f"{path}: {error.strerror}") from error
    if len(lines) < 2 or lines[0][:2] != ["step", "hash"] or any(len(line) != len(lines[0]) for line in lines):
        raise Failure(3, f"{path}: not a table of hashes")
    rows = {int(line[0]): line[2:] for line in lines[1:]}
    return Table(tuple(lines[0][2:]), rows, perf["places"], perf["hash"], perf["verified"])


def differs(right, table):
    """True if the tables differ, also if a run ended early because its solution blew up."""
    return table.rows != right.rows


def agreed(tables):
    """A table that two runs agree on, or None."""
    for i, table in enumerate(tables):
        if any(not differs(table, other) for other in tables[i + 1 :]):
            return table
    return None


def slab_starts(planes, ranks):
    """First plane of each rank, and the number of planes: slabs differ by at most one plane, larger ones first."""
    return [rank * (planes // ranks) + min(rank, planes % ranks) for rank in range(ranks + 1)]


def extent(planes, count):
    """(first, length) of the shortest range on a periodic axis of `count` planes that contains all `planes`."""
    planes = sorted(planes)
    gaps = [(planes[(i + 1) % len(planes)] - plane) % count or count for i, plane in enumerate(planes)]
    widest = max(range(len(planes)), key=lambda i: gaps[i])
    return planes[(widest + 1) % len(planes)], count - gaps[widest] + 1


def describe(right, wrong):
    """Describe the first difference: step, planes, and the rank whose slab contains their middle, because an error
    spreads equally to both sides."""
    step = next((step for step in right.rows if wrong.rows.get(step) != right.rows[step]), None)
    if step is None or step not in wrong.rows:
        return f"a run ended after step {max(wrong.rows)} that should have gone on: its solution blew up"
    names = [name for name, a, b in zip(right.columns, right.rows[step], wrong.rows[step], strict=True) if a != b]
    field, planes = names[0].rpartition("_")[0], [int(name.rpartition("_")[2]) for name in names]
    planes = [plane for plane, name in zip(planes, names) if name.rpartition("_")[0] == field]
    count = 1 + max(int(name.rpartition("_")[2]) for name in right.columns)
    first, length = extent(planes, count)
    ranks = len(wrong.places)
    starts = slab_starts(count, ranks)
    middle = (first + (length - 1) // 2) % count
    rank = max(rank for rank in range(ranks) if starts[rank] <= middle)
    place = wrong.places[rank]
    before = max((earlier for earlier in right.rows if earlier < step), default=None)
    since = "" if before is None else f", right at step {before}"
    spread = "; the difference is in all planes, so its rank is unknown" if length == count else ""
    return (
        f"host {place['host']}, device {place['device']}{' ' + place['uuid'] if 'uuid' in place else ''}, rank {rank}: "
        f"wrong at step {step}{since}, {field} in planes {first} to {(first + length - 1) % count} of {count}{spread}"
    )
