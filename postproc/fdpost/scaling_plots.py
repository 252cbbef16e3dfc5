"""Plots of a scaling study."""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator, PercentFormatter

from . import model, style
from .scaling import STRONG_GRIDS, WEAK_RANKS, at_ranks, beyond, cube, fitted_ranks, machine_key

MARKERS = {"double": "o", "single": "s"}
MODE_MARKERS = {("strong", "double"): "o", ("strong", "single"): "s", ("weak", "double"): "D", ("weak", "single"): "^"}
LINES = {"double": "-", "single": (0, (4, 2))}


def rank_axis(ax, counts):
    """A log axis with the rank counts themselves as ticks, thinned where there are many."""
    counts = sorted(set(counts))
    ax.set_xscale("log")
    ax.set_xticks(counts[:: -(-len(counts) // 8)])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(counts[0] / 1.25, counts[-1] * 1.25)


def colours_of(curves):
    """One colour for each grid and number of threads, so that precisions of one grid belong together."""
    kinds = dict.fromkeys(curve.kind for curve in curves)
    return dict(zip(kinds, style.COLOURS * (1 + len(kinds) // len(style.COLOURS))))


def milliseconds(values):
    return [1e3 * value for value in values]


def draw_points(ax, curve, colour, values, label=None):
    """Medians with bars from the smallest to the largest. values: [(median, low, high)], of the last points."""
    ranks = [point.ranks for point in curve.points[-len(values) :]]
    middle, low, high = (np.array(part) for part in zip(*values))
    ax.errorbar(
        ranks, middle, [middle - low, high - middle], fmt=MARKERS[curve.precision], color=colour, ms=5, capsize=2.5,
        elinewidth=0.9, mfc=colour if curve.precision == "double" else "white", label=label, zorder=3)  # fmt: skip


def modelled(curve, machine):
    """(rank counts, the model's problems there) between a curve's ends, for a smooth line."""
    first, last = curve.points[0], curve.points[-1]
    counts = np.unique(np.round(np.geomspace(first.ranks, last.ranks, 24)).astype(int))
    return counts, [at_ranks(first.measurement.problem, curve.mode, int(n)) for n in counts]


def draw_times(ax, curves, machines, colours):
    """With the ideal of each curve: the time on its fewest ranks, divided (strong) or kept (weak)."""
    ax.set_title("Time of a step, ms")
    for curve in curves:
        ranks, first = [point.ranks for point in curve.points], 1e3 * curve.points[0].seconds[0]
        if len(ranks) > 1:
            ideal = [first * (ranks[0] / count if curve.mode == "strong" else 1.0) for count in ranks]
            ax.plot(ranks, ideal, color=style.SOFT, lw=0.8, ls=":", zorder=1)
        colour, machine = colours[curve.kind], machines.get(machine_key(curve))
        draw_points(ax, curve, colour, [milliseconds(point.seconds) for point in curve.points], curve.label)
        if machine is None:
            continue
        counts, problems = modelled(curve, machine)
        times = [1e3 * model.step_time(machine, problem) for problem in problems]
        ax.plot(counts, times, color=colour, ls=LINES[curve.precision], lw=1.1, zorder=2)
    style.plain_log_axis(ax, "y")


def draw_efficiencies(ax, curves, machines, colours):
    ax.set_title("Efficiency")
    for curve in curves:
        colour, machine = colours[curve.kind], machines.get(machine_key(curve))
        draw_points(ax, curve, colour, efficiency_spread(curve))
        if machine is None:
            continue
        counts, problems = modelled(curve, machine)
        times = np.array([model.step_time(machine, problem) for problem in problems])
        work = counts / counts[0] if curve.mode == "strong" else np.ones(len(counts))
        ax.plot(counts, times[0] / (work * times), color=colour, ls=LINES[curve.precision], lw=1.1, zorder=2)
    percent_axis(ax)


def percent_axis(ax):
    """An axis from 0 to a bit above 100 % with a line at 100 %; from 75 % if all values are above 80 %."""
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    bottom, top = (0.75, 1.02) if 0.8 < ax.dataLim.y0 < np.inf else (0.0, 1.08)  # infinite: nothing is drawn
    ax.set_ylim(bottom, max(top, 1.08 * ax.get_ylim()[1] / 1.05))
    ax.axhline(1, color=style.SOFT, lw=0.8, ls=(0, (4, 3)))


def draw_shares(ax, curves, colours):
    ax.set_title("Share of the streaming ceiling")
    for curve in curves:
        values, colour = [point.share for point in curve.points], colours[curve.kind]
        draw_points(ax, curve, colour, values)
        ax.plot([p.ranks for p in curve.points], [v[0] for v in values], color=colour, lw=0.9, alpha=0.6)
    percent_axis(ax)


def draw_halo(ax, curves, machines, colours):
    """Halo and waiting as measured, and the exchange alone by the model; one rank has none."""
    ax.set_title("Halo and waiting, ms of a step")
    told = False
    for curve in curves:
        points = [point for point in curve.points if point.ranks > 1]
        if not points:
            continue
        colour, machine, told = colours[curve.kind], machines.get(machine_key(curve)), True
        draw_points(ax, curve, colour, [milliseconds(curve.waits(point)) for point in points])
        if machine is None:
            continue
        counts, problems = modelled(replace(curve, points=tuple(points)), machine)
        halo = [1e3 * model.step_terms(machine, problem).halo for problem in problems]
        mark = "_" if len(counts) == 1 else None  # a single point needs a marker
        ax.plot(counts, halo, color=colour, ls=LINES[curve.precision], lw=1.1, marker=mark, ms=14, zorder=2)
    if told:
        style.plain_log_axis(ax, "y")
    else:
        ax.text(0.5, 0.5, "one rank has none", transform=ax.transAxes, ha="center", va="center", color=style.SOFT)
        ax.set_yticks([])


def fit_note(curves):
    """'fitted on 1 and 2 ranks', with the rank counts of the fit."""
    counts = sorted({count for few in fitted_ranks(curves).values() for count in few})
    return f"fitted on {' and '.join(map(str, counts))} rank{'s' * (counts != [1])}"


def legend_inches(labels):
    """Room for a legend with a mark before each label."""
    return 0.45 + 0.068 * max(len(label) for label in labels)


@style.styled
def draw_study(curves, machines, mode, note):
    """Time per step and efficiency, share of the ceiling, halo wait, over the rank counts. machines: those whose model
    is drawn, as tested_machines() gives them."""
    width = 6.7 + legend_inches(curve.label for curve in curves)
    fig = Figure(figsize=(width, 6.2))
    axes = fig.subplots(2, 2, gridspec_kw={"left": 0.6 / width, "right": 6.6 / width, "bottom": 0.08, "top": 0.83,
                                           "wspace": 0.24, "hspace": 0.32})  # fmt: skip
    colours = colours_of(curves)
    name = {"weak": "Weak scaling", "strong": "Strong scaling"}.get(mode, mode)
    style.heading(
        fig,
        name,
        "points: medians;  bars: smallest to largest of the repeats;  dotted: ideal\n"
        f"lines: the model, {note}; of the halo: the exchange alone, without waiting"
        if machines
        else "points: medians;  bars: smallest to largest of the repeats;  dotted: ideal\n"
        "halo: waiting for neighbours included",
    )
    draw_times(axes[0, 0], curves, machines, colours)
    draw_efficiencies(axes[0, 1], curves, machines, colours)
    draw_shares(axes[1, 0], curves, colours)
    draw_halo(axes[1, 1], curves, machines, colours)
    for ax in axes.flat:
        rank_axis(ax, [point.ranks for curve in curves for point in curve.points])
    for ax in axes[1]:
        ax.set_xlabel("ranks")
    fig.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="upper left",
        bbox_to_anchor=(6.65 / width, 0.84),
        handletextpad=0.3,
    )
    return fig


def efficiency_spread(curve):
    """Efficiency with the spread of the point's own repeats."""
    middle = dict(curve.efficiencies())
    return [
        (e, e * p.seconds[0] / p.seconds[2], e * p.seconds[0] / p.seconds[1])
        for p, e in zip(curve.points, middle.values())
    ]


@style.styled
def draw_agreement(curves, machines, note):
    """Measured over modelled time of every point; filled: predicted, open: fitted."""
    width = 4.9 + legend_inches(f"{curve.mode} {curve.label}" for curve in curves)
    fig = Figure(figsize=(width, max(3.6, 1.3 + 0.17 * len(curves))))
    ax = fig.add_axes((0.65 / width, 0.14, 4.1 / width, 0.64))
    style.heading(fig, "Model and measurement", f"open: {note};  filled: predicted;  band: 10 %")
    ax.axhspan(0.9, 1.1, color=style.COLOURS[4], alpha=0.15, lw=0)
    ax.axhline(1, color=style.SOFT, lw=0.8)
    colours, counts, fitted = colours_of(curves), set(), fitted_ranks(curves)
    apart = min(1.045, 1.3 ** (1 / len(curves)))  # side by side, not on top of each other, nor of the next rank count
    curves = [curve for curve in curves if machine_key(curve) in machines]
    for i, curve in enumerate(curves):
        machine, marker = machines[machine_key(curve)], MODE_MARKERS[curve.mode, curve.precision]
        for point in curve.points:
            ratio = point.seconds[0] / model.step_time(machine, point.measurement.problem)
            place = point.ranks * apart ** (i - (len(curves) - 1) / 2)
            seen = point.ranks in fitted[machine_key(curve)]
            ax.plot(
                place, ratio, marker, color=colours[curve.kind], ms=5.5, mfc="white" if seen else colours[curve.kind]
            )
            counts.add(point.ranks)
        ax.plot([], [], marker, color=colours[curve.kind], label=f"{curve.mode} {curve.label}")
    rank_axis(ax, counts)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0.8), max(high, 1.2))
    ax.set_xlabel("ranks")
    ax.set_ylabel("measured / model")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), handletextpad=0.2)
    return fig


@style.styled
def draw_extrapolation(curves, machines):
    """Efficiency beyond the machine; strong scaling ends where slabs have four planes."""
    fig = Figure(figsize=(7.4, 3.8))
    axes = fig.subplots(
        1, 2, sharey=True, gridspec_kw={"left": 0.085, "right": 0.84, "bottom": 0.135, "top": 0.76, "wspace": 0.1}
    )
    style.heading(
        fig, "Beyond the machine", "efficiency by the model with slabs; solid double, dashed single precision"
    )
    for precision, like, machine in beyond(curves, machines):
        for n, colour in zip(STRONG_GRIDS, style.COLOURS):
            problem = cube(like, n)
            curve = model.strong(machine, problem, model.powers(n // model.HALO))
            draw_efficiency(axes[0], curve, color=colour, label=f"{n}³", ls=LINES[precision], lw=1.5)
        for n, colour in zip((256, 512), style.COLOURS[3:]):
            problem = cube(like, n)
            curve = model.weak(machine, problem, model.powers(WEAK_RANKS))
            draw_efficiency(axes[1], curve, color=colour, label=f"{n}³ per rank", ls=LINES[precision], lw=1.5)
    for ax, title, most in zip(axes, ("Strong scaling", "Weak scaling"), (max(STRONG_GRIDS) // model.HALO, WEAK_RANKS)):
        ax.set_title(title)
        rank_axis(ax, model.powers(most))
        ax.set_xlabel("ranks")
        ax.set_ylim(0, 1.05)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    named = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels())}
    fig.legend(named.values(), named, loc="upper left", bbox_to_anchor=(0.85, 0.79), handlelength=1.4)
    return fig


def draw_efficiency(ax, curve, **options):
    ax.plot([ranks for ranks, _, _ in curve], [efficiency for _, _, efficiency in curve], **options)
