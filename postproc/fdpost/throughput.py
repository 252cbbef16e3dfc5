"""The figure of merit against the grid's size, from the benchmark.json that `run/benchmark --throughput` leaves."""

import json
import math
from pathlib import Path

from matplotlib.figure import Figure

from . import style
from .errors import DataError

MARKERS = {"double": "o", "single": "s"}


def read_results(path):
    """The results of a benchmark.json. DataError if it is none, or has none of a throughput curve."""
    path = Path(path)
    path = path / "benchmark.json" if path.is_dir() else path
    try:
        results = json.loads(path.read_text())["results"]
        curve = [result for result in results if result["deck"] == "throughput"]
        for result in curve:
            math.prod(result["grid"]), min(result["figures_of_merit"]), result["precision"], result["figure_of_merit"]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not written by run/benchmark: {error!r}") from error
    if not curve:
        raise DataError(f"{path}: no throughput curve; run/benchmark --throughput measures one")
    return curve


@style.styled
def draw_throughput(results):
    """Figure of the medians over the number of points, with bars from the smallest to the largest of the repeats."""
    size = style.chosen_size(5.6, 4.0)
    fig = Figure(figsize=size)
    ax = fig.subplots(gridspec_kw=style.edges(size, 0.85, 0.25, 0.57, 0.70))
    first = results[0]
    ranks = f"{first['ranks']} rank{'s' * (first['ranks'] > 1)}"
    style.heading(fig, "Throughput", f"{first['device']}, {ranks}", left=0.2)
    for precision, colour in zip(dict.fromkeys(result["precision"] for result in results), style.COLOURS):
        own = sorted((r for r in results if r["precision"] == precision), key=lambda r: math.prod(r["grid"]))
        points = [math.prod(result["grid"]) for result in own]
        middle = [result["figure_of_merit"] for result in own]
        below = [result["figure_of_merit"] - min(result["figures_of_merit"]) for result in own]
        above = [max(result["figures_of_merit"]) - result["figure_of_merit"] for result in own]
        ax.errorbar(points, middle, [below, above], fmt=MARKERS[precision] + "-", color=colour, lw=1.2, capsize=2.5,
                    label=precision)  # fmt: skip
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("points of the grid")
    ax.set_ylabel("point updates per second")
    ax.legend(loc="lower right")
    return fig
