"""Picture of the diagnostics over time: conservation, extrema, errors."""

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from . import style
from .errors import DataError
from .flow_history import draw_flow, is_flow
from .frames import bounded

ERRORS = {"err_l1": "$L_1$", "err_l2": "$L_2$", "err_linf": r"$L_\infty$"}
COURANT = {"advection": r"$\Sigma\,|c|\,\Delta t / h$", "acoustics": r"$c\,\Delta t\,\sqrt{\Sigma\,1/h^2}$"}
LOST = 0.01  # a larger drift of the energy is seen on a linear scale
NO_MASS = 1e-10  # a smaller mean, relative to the L2 norm, is round-off; drift is then relative to the L2 norm


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


def conserved(table):
    """Name of the column of the conserved integral: energy if there is one, as for sound; else mass, or None."""
    return next((name for name in ("energy", "mass") if name in table), None)


def shown_field(run):
    """The field of the norms and extrema: the run's first one; phi without snapshots."""
    try:
        return run.field
    except DataError:
        return "phi"


def symbol(field):
    """A field's symbol within a formula."""
    return r"\varphi" if field == "phi" else field


def mass_scale(run, table, field="phi"):
    """The scale of the mass's drift, and its name. A run that starts from zero has no scale: 1, so that the mass itself
    is shown."""
    bound = table["l2"][0] * np.sqrt(np.prod(run.lengths))  # |mass| <= l2 sqrt(V), by Cauchy and Schwarz
    if bound == 0:
        return 1.0, r"$|m|$"
    if abs(table["mass"][0]) > NO_MASS * bound:
        return table["mass"][0], r"$|m - m_0|\,/\,|m_0|$"
    return bound, rf"$|m - m_0|\,/\,\|{symbol(field)}_0\|\sqrt{{V}}$"


def change_title(run, table, name):
    """The title of the panel that shows how `name` departs from its start. Only in a periodic box is it kept, so that
    a departure is a drift."""
    if table["l2"][0] == 0:
        return f"{name[0].upper()}{name[1:]}; zero at the start"
    return f"{'Change' if any(bounded(run.config)) else 'Drift'} of {name}"


def norm_label(table, field):
    """The label of the drift of the L2 norm: relative to the norm at the start, where that is not zero."""
    norm, start = rf"\|{symbol(field)}\|", rf"\|{symbol(field)}_0\|"
    return rf"$|\,{norm} - {start}\,|\,/\,{start}$" if table["l2"][0] else f"${norm}$"


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


def draw_conservation(ax, time, values, scale, title, label, colour):
    drift = relative_drift(values, scale)
    ax.set_title(title)
    ax.set_ylabel(label)
    log_axis(ax, "none: exactly constant" if len(drift) > 1 else "one row only", drift)
    if (drift > 0).any():
        draw_lines(ax, time, [(above_floor(ax, drift), "", colour)])


def draw_energy(ax, time, energy):
    """Drift of the energy or, where ends or the operator take more than LOST, what is left of the energy."""
    if not LOST < largest(relative_drift(energy)) <= 1:  # grown beyond twice: it blows up
        draw_conservation(ax, time, energy, None, "Drift of energy", r"$|E - E_0|\,/\,E_0$", style.COLOURS[0])
        return
    draw_relative(ax, time, energy, "Energy", r"$E\,/\,E_0$", style.COLOURS[0])


def draw_relative(ax, time, values, name, label, colour):
    ax.set_title(f"{name}, relative to the start")
    ax.set_ylabel(label)
    draw_lines(ax, time, [(values / (values[0] or 1.0), "", colour)])
    ax.set_ylim(bottom=0)


def draw_extrema(ax, time, table, field):
    low, high = table["min"], table["max"]
    ax.set_title("Extrema; shaded: start")
    ax.set_ylabel(f"${symbol(field)}$")
    ax.axhspan(low[0], high[0], color=style.COLOURS[4], alpha=0.13, lw=0)
    series = [(high, "max", style.COLOURS[1]), (low, "min", style.COLOURS[0])]
    draw_lines(ax, time, series)
    ax.margins(y=0.12)
    end_labels(ax, time, series)


def draw_errors(ax, time, table):
    ax.set_title("Error against exact solution")
    ax.set_ylabel("error")
    names = [name for name in ERRORS if name in table]
    log_axis(ax, "none: exactly zero", *(table[name] for name in names))
    if not any((table[name] > 0).any() for name in names):
        return
    series = [(above_floor(ax, table[name]), ERRORS[name], colour) for name, colour in zip(names, style.COLOURS)]
    draw_lines(ax, time, series)
    end_labels(ax, time, series)


def draw_courant(ax, time, table, equation):
    ax.set_title("Courant number")
    ax.set_ylabel(COURANT.get(equation, ""))
    ax.plot(time, table["courant"], color=style.COLOURS[2])
    ax.set_ylim(0, 1.15 * (largest(table["courant"]) or 1.0))


@style.styled
def draw_history(run):
    """Figure of the diagnostics: mass or energy, L2 norm, extrema, and errors where an exact solution exists."""
    table = run.diagnostics
    if is_flow(table):
        return draw_flow(run, draw_lines, end_labels, draw_conservation, time_ticks)
    kept, field = conserved(table), shown_field(run)
    missing = [name for name in ("step", "time", kept or "mass", "l2", "min", "max", "courant") if name not in table]
    if missing:
        raise DataError(f"{run.directory}/diagnostics.csv: no column {', '.join(missing)}")
    time = table["time"]
    size = style.chosen_size(7.6, 5.2)
    fig = Figure(figsize=size)
    place = style.edges(size, 0.8, 0.42, 0.47, 0.94)
    between = style.gaps(size, place, 1.05, 0.52)  # across: end labels, then labels of the axis
    axes = fig.subplots(2, 2, sharex=True, gridspec_kw=place | between)
    dt = style.number(table["dt"][0]) if "dt" in table else "?"
    style.heading(
        fig,
        run.name,
        f"{len(time)} rows to step {int(table['step'][-1])},  t = {style.number(time[-1])},"
        f"  Δt = {dt},  Courant number {style.number(largest(table['courant']), 3)}",
    )
    norm = rf"\|{symbol(field)}\|", rf"\|{symbol(field)}_0\|"
    if kept == "energy":
        draw_energy(axes[0, 0], time, table["energy"])
    else:
        scale, label = mass_scale(run, table, field)
        title = change_title(run, table, "mass")
        draw_conservation(axes[0, 0], time, table["mass"], scale, title, label, style.COLOURS[0])
    if kept == "energy" and largest(relative_drift(table["l2"])) <= 1:  # fields exchange energy, so none keeps its norm
        draw_relative(axes[0, 1], time, table["l2"], "$L_2$ norm", r"${}\,/\,{}$".format(*norm), style.COLOURS[2])
    else:
        title, label = change_title(run, table, "the $L_2$ norm"), norm_label(table, field)
        draw_conservation(axes[0, 1], time, table["l2"], None, title, label, style.COLOURS[2])
    draw_extrema(axes[1, 0], time, table, field)
    if "err_l2" in table and np.isfinite(table["err_l2"][1:]).any():  # always zero at the start
        draw_errors(axes[1, 1], time, table)
    else:
        draw_courant(axes[1, 1], time, table, run.config.get("physics", {}).get("equation", "advection"))
    for ax in axes[1]:
        ax.set_xlabel("$t$")
        ax.set_xlim(time[0], time[-1] if time[-1] > time[0] else time[0] + 1)
        time_ticks(ax)
    return fig
