"""What pictures of diagnostics over time share: a figure of four panels, and what is drawn in them."""

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from . import style
from .errors import DataError


def four_panels(run, columns, note):
    """A figure of two by two panels over the time of the run's diagnostics, with its heading. Returns figure and axes.
    DataError if one of the columns is missing; note: the end of the subtitle."""
    table = run.diagnostics
    if missing := [name for name in columns if name not in table]:
        raise DataError(f"{run.directory}/diagnostics.csv: no column {', '.join(missing)}")
    size = style.chosen_size(7.6, 5.2)
    fig = Figure(figsize=size)
    place = style.edges(size, 0.8, 0.42, 0.47, 0.94)
    between = style.gaps(size, place, 1.05, 0.52)  # across: end labels, then labels of the axis
    axes = fig.subplots(2, 2, sharex=True, gridspec_kw=place | between)
    rows, last = len(table["time"]), int(table["step"][-1])
    time = f"{style.number(table['time'][-1])} {run.unit('time')}".rstrip()
    style.heading(fig, run.name, f"{rows} rows to step {last},  t = {time},  {note()}")
    return fig, axes


def over_time(axes, time, unit):
    """The axis of time below the panels."""
    for ax in axes[1]:
        ax.set_xlabel(style.with_unit("$t$", unit))
        ax.set_xlim(time[0], time[-1] if time[-1] > time[0] else time[0] + 1)
        time_ticks(ax)


def relative_drift(values, scale=None):
    """|v - v0| / |scale|, with scale = v0 by default."""
    reference = abs(values[0]) if scale is None else abs(scale)
    return np.abs(values - values[0]) / (reference or 1.0)


def largest(values):
    """The largest finite value; 0 if there is none."""
    return float(values[np.isfinite(values)].max(initial=0.0))


def above_floor(ax, values):
    """Values for a log axis. Zeros are drawn at its lower end; the first row, which has no drift or error, is left
    out."""
    shown = np.where(values == 0, ax.get_ylim()[0], values)
    shown[:1] = np.where(values[:1] > 0, values[:1], np.nan)
    return shown


def log_axis(ax, nothing, *series):
    """A log axis with margins and labels at up to five decades. Without a value above zero it shows the word
    `nothing`."""
    values = np.concatenate([np.asarray(values, dtype=float) for values in series])
    values = values[np.isfinite(values) & (values > 0)]
    if not values.size:
        ax.text(0.5, 0.5, nothing, transform=ax.transAxes, ha="center", va="center", color=style.SOFT)
        ax.set_yticks([])
        return
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    if high - low < 2:
        low, high = low - (high == low), low - (high == low) + 2
    ax.set_yscale("log")
    ax.set_ylim(10.0**low, 10.0**high)
    every = max(1, int(np.ceil((high - low) / 5)))
    ax.yaxis.set_major_locator(LogLocator(base=10.0**every, numticks=12))
    ax.yaxis.set_minor_locator(LogLocator(base=10.0, subs=(1.0,) if every > 1 else "auto", numticks=99))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(axis="y", which="minor", length=1.5, color=style.RULE)


def time_ticks(ax):
    """Ticks of the time, at most seven, and so few that their labels keep apart."""
    low, high = ax.get_xlim()
    width = ax.get_position(original=True).width * ax.figure.get_figwidth()
    for most in range(6, 0, -1):
        ax.xaxis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
        ticks = ax.xaxis.get_majorticklocs()
        labels = ax.xaxis.get_major_formatter().format_ticks(ticks)
        widest = max(style.text_inches(label, style.points(8)) for label in labels)
        if widest + style.points(0.08) < width * (ticks[1] - ticks[0]) / (high - low):
            return


def end_labels(ax, time, series):
    """Label the ends of lines, without overlaps, instead of a legend. series: [(values, name, colour)]."""
    ax.autoscale_view()
    ends = []
    for values, name, colour in series:
        good = np.flatnonzero(np.isfinite(values))
        if good.size:
            y = ax.transAxes.inverted().transform(ax.transData.transform((time[good[-1]], values[good[-1]])))[1]
            ends.append([float(np.clip(y, 0.04, 0.96)), name, colour])
    ends.sort(key=lambda end: end[0])
    for below, above in pairwise(ends):
        above[0] = max(above[0], below[0] + 0.10)
    overflow = max(0.0, ends[-1][0] - 0.98) if ends else 0.0
    for y, name, colour in ends:
        ax.annotate(
            name,
            (1, y - overflow),
            xycoords="axes fraction",
            xytext=(5, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            fontsize=style.points(8.5),
            annotation_clip=False,
        )


def draw_lines(ax, time, series):
    """Draw lines that remain distinct where they coincide. Isolated values get markers, such as errors known only at
    the end of a period."""
    for (values, _, colour), line in zip(series, ("-", (0, (4, 2)), (0, (1.5, 1.5)))):
        good = np.isfinite(values)
        alone = good & ~np.append(good[1:], False) & ~np.append(False, good[:-1])
        ax.plot(
            time,
            values,
            color=colour,
            ls=line,
            marker="o",
            markevery=np.flatnonzero(alone).tolist(),
            clip_on=False,
            zorder=3,
        )


def is_fed(config):
    """Whether ends or sources of a configuration add to what an equation conserves, or take from it."""
    boundary = config.get("boundary", {})
    kinds = {boundary.get(axis + end, "periodic") for axis in "xyz" for end in ("", "_low", "_high")}
    absorbs = any(float(share) for key, share in boundary.items() if key.startswith("absorption"))
    places = ("source", ("formula", "file")), ("point_sources", ("points", "file"))
    given = {
        value for section, keys in places for key, value in config.get(section, {}).items() if key.startswith(keys)
    }
    return bool(kinds - {"periodic", "wall", "free"} or absorbs or given - {"none", "0"})


def change_title(run, start, name):
    """The title of the panel that shows how `name` departs from its value at the start. It is a drift only where
    nothing is added and nothing leaves."""
    if start == 0:
        return f"{name[0].upper()}{name[1:]}; zero at the start"
    return f"{'Change' if is_fed(run.config) else 'Drift'} of {name}"


def draw_conservation(ax, time, values, scale, title, label, colour):
    drift = relative_drift(values, scale)
    ax.set_title(title)
    ax.set_ylabel(label)
    log_axis(ax, "none: exactly constant" if len(drift) > 1 else "one row only", drift)
    if (drift > 0).any():
        draw_lines(ax, time, [(above_floor(ax, drift), "", colour)])


def draw_courant(ax, run, title, label):
    """The Courant number. Where rows are due by time, each is that of a step which may have been shortened to meet
    it."""
    time, courant = run.diagnostics["time"], run.diagnostics["courant"]
    output, equation = run.config.get("output", {}), run.config.get("physics", {}).get("equation")
    if "diagnostics_at" in output and equation != "wave":
        title += "\n(steps shortened to meet the rows)"
    ax.set_title(title)
    ax.set_ylabel(label)
    ax.plot(time, courant, color=style.COLOURS[2])
    ax.set_ylim(0, 1.15 * (largest(courant) or 1.0))
