"""A scaling study on a made-up machine, as run/scaling and fdbench would have left it."""

import csv
import json

from synthetic import stage_seconds

from fdpost import model, scaling

TRUTH = {"speed": 0.75 * 4e12, "launch": 6e-6, "thin": 0.4, "join": 15e-6, "latency": 25e-6, "link": 90e9}
DEVICE = TRUTH | {"front": 132 * 16384}
MACHINE = model.Machine(
    model.Ceilings(((1, 1e9, 4e12),)), efficiency=0.75, **{name: DEVICE[name] for name in DEVICE if name != "speed"}
)
OLDER = (  # of version 0.1
    *scaling.NEEDED,
    *("repeat", "stage_interior_seconds", "stage_edges_seconds", "stage_halo_seconds"),
)
COLUMNS = (*OLDER, "stages", "last_words")


def write_study(path, slow=1.0, modes=("weak", "strong"), backend="cuda", columns=COLUMNS, counts=(1, 2, 4, 8)):
    """A study on a made-up machine; strong scaling on 8 ranks is `slow` times as slow, in its interior."""
    rows = []
    for mode in modes:
        for n, ranks in ((n, ranks) for n in (256, 512) for ranks in counts):
            nz = n * (ranks if mode == "weak" else 1)
            planes = nz // ranks
            stage = stage_seconds(n, n, planes, ranks, **(TRUTH if backend == "cpu" else DEVICE))
            interior, edges, exchange, shown, _, total = stage
            extra = (slow - 1) * total if (mode, ranks) == ("strong", 8) else 0.0
            timed = ranks > 1 or backend == "cpu"  # one GPU plays a recording, without clocks
            # The program times the last stage, of 3 words a point and not 2.75: all of it but the launch takes longer.
            split = 8 if ranks > 1 and backend == "cpu" else 0
            longer = ((planes - split) * 3 + 8) / ((planes - split) * 2.75 + 8)
            for repeat, wobble in enumerate((1.0, 0.98, 1.02)):
                rows.append({
                    "study": f"{mode}-{n}x{n}x{n}", "mode": mode, "ranks": ranks, "nx": n, "ny": n, "nz": nz,
                    "precision": "double", "backend": backend, "transport": "cuda_aware" if ranks > 1 else "none",
                    "overlap": "yes", "scheme": "rk4", "words": 11, "stages": 4, "last_words": 3,
                    "seconds_per_step": 4 * (total + extra) * wobble,
                    "halo_wait_seconds": 4 * exchange, "ceiling_bytes_per_second": 4e12 * ranks,
                    "share_of_ceiling": 0.5, "repeat": repeat,
                    "stage_interior_seconds": longer * (interior + extra) if timed else 0.0,
                    "stage_edges_seconds": edges * 40 / 38 if timed else 0.0,
                    "stage_halo_seconds": (shown if backend == "cpu" else total) if timed else 0.0,
                })  # fmt: skip
    with open(path / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_exchanges(path, way="cuda_aware"):
    """bench.json as `fdbench halo` leaves it: bytes sent are those of both directions."""
    entries = []
    for n in (64, 256, 1024):
        sent = 4 * n * n * 8
        seconds = TRUTH["latency"] + sent / TRUTH["link"]
        entries.append({"plane": n, "way": way, "bytes_sent": 2.0 * sent, "seconds": {"median": seconds}})
        entries.append({"plane": n, "way": "local copy", "bytes_sent": 2.0 * sent, "seconds": {"median": seconds / 9}})
    (path / "bench.json").write_text(json.dumps({"halo": entries}))


def rewrite(path, change):
    """The study's rows, each as change(row) gives it: a list of rows."""
    rows = [new for row in csv.DictReader((path / "results.csv").read_text().splitlines()) for new in change(row)]
    with open(path / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return scaling.read_curves(path)


def total_of(planes, ranks, truth=DEVICE):
    """Seconds of a stage on so many planes of 256 x 256 points."""
    return stage_seconds(256, 256, planes, ranks, **truth).total
