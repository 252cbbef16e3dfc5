"""Errors of several runs against the grid spacing, with the observed order.

An order needs one spacing h per run. If all axes are refined alike, h is the largest spacing. Axes that have the same
spacing in all runs do not count; h is then the largest spacing of the refined ones. Runs whose axes are refined by
different factors have no single h and are refused."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from . import style
from .errors import DataError, UsageError
from .frames import AXES

NORMS = {"l1": ("err_l1", "$L_1$"), "l2": ("err_l2", "$L_2$"), "linf": ("err_linf", r"$L_\infty$")}
SAME_SPACING = 1e-6  # relative difference up to which two spacings are equal
SAME_TIME = 1e-9  # relative difference up to which two runs ended at the same time
MARKERS = "osD"
# Keys that must be equal in runs on different grids; None: all keys of the section.
PROBLEM = {"grid": ("lx", "ly", "lz"), "physics": None, "initial": None, "velocity": None}
METHOD = {"time": ("scheme",), "compute": ("order", "precision")}


@dataclass(frozen=True)
class Sample:
    """The errors of one run at its end."""

    name: str
    h: float  # along the axes that are refined
    time: float
    errors: dict  # norm -> value


def refuse_differences(runs, shared, sentence):
    """DataError with the sentence if the configurations differ in keys that must be equal. Numbers are compared by
    value."""

    def value(run, section, key):
        text = run.config.get(section, {}).get(key, "")
        try:
            return float(text)
        except ValueError:
            return text

    runs = [run for run in runs if run.config]
    for section, keys in shared.items():
        for key in keys or sorted({key for run in runs for key in run.config.get(section, {})}):
            for run in runs[1:]:
                one, other = value(runs[0], section, key), value(run, section, key)
                if one != other:
                    raise DataError(f"{sentence}: {section}.{key} is {one} in {runs[0].name}, {other} in {run.name}")


def refined_axes(runs):
    """The axes along which the spacing differs between the runs. DataError if axes are refined by different factors;
    UsageError if no axis is refined."""
    spacings = np.array([run.spacing for run in runs])
    factors = spacings / spacings[0]
    refined = [axis for axis in range(3) if np.abs(factors[:, axis] - 1).max() > SAME_SPACING]
    if not refined:
        raise UsageError("convergence needs runs with at least two grid spacings")
    for run, own in zip(runs, factors[:, refined]):
        if np.ptp(own) > SAME_SPACING * own.max():
            words = ", ".join(f"{AXES[axis]} by {own[i]:.4g}" for i, axis in enumerate(refined))
            raise DataError(
                f"from {runs[0].name} to {run.name} spacings change by different factors ({words}), so that there is no"
                " single spacing for errors to be drawn against: refine these axes alike, or one alone"
            )
    return refined


def collect(runs, norms):
    """Samples from coarse to fine. DataError if runs have no errors, or differ in problem, method or time, or if axes
    are refined by different factors; UsageError for a single spacing."""
    refuse_differences(runs, PROBLEM, "the runs solve different problems, so that their errors cannot be compared")
    refuse_differences(runs, METHOD, "the runs' methods differ, and so do their orders: one picture for each")
    ends = []
    for run in runs:
        table = run.diagnostics
        columns = {norm: NORMS[norm][0] for norm in norms}
        missing = [column for column in columns.values() if column not in table or not table[column][-1] >= 0]
        if "time" not in table:
            raise DataError(f"{run.directory}/diagnostics.csv: no column time")
        if missing:
            raise DataError(
                f"{run.directory}/diagnostics.csv: no error {missing[0]} in the last row: no exact solution?"
            )
        if exact := [column for column in columns.values() if table[column][-1] == 0]:
            raise DataError(f"{run.directory}/diagnostics.csv: {exact[0]} is zero in the last row: nothing to compare")
        errors = {norm: table[column][-1] for norm, column in columns.items()}
        ends.append((table["time"][-1], errors))
    refined = refined_axes(runs)
    samples = [Sample(run.name, max(run.spacing[axis] for axis in refined), *end) for run, end in zip(runs, ends)]
    samples.sort(key=lambda sample: -sample.h)
    times = [sample.time for sample in samples]
    if max(times) - min(times) > SAME_TIME * max(abs(max(times)), 1e-300):
        found = ", ".join(f"{sample.name}: t = {sample.time:g}" for sample in samples)
        raise DataError(f"the runs end at different times, so that their errors cannot be compared: {found}")
    return samples


def fit_order(h, errors):
    """Order and constant of error = constant h^order, by least squares of the logarithms."""
    order, constant = np.polyfit(np.log(h), np.log(errors), 1)
    return order, np.exp(constant)


def table(samples, norms):
    """Lines for the terminal: spacing, errors, and the order between neighbouring spacings."""
    lines = ["  ".join(["run".ljust(20), "h".rjust(10)] + [f"{norm:>11}  order" for norm in norms])]
    for i, sample in enumerate(samples):
        line = [sample.name[:20].ljust(20), f"{sample.h:10.4g}"]
        for norm in norms:
            order = "     "
            if i and samples[i - 1].h > sample.h:
                ratio = samples[i - 1].errors[norm] / sample.errors[norm]
                order = f"{np.log(ratio) / np.log(samples[i - 1].h / sample.h):5.2f}"
            line.append(f"{sample.errors[norm]:11.3e}  {order}")
        lines.append("  ".join(line))
    return "\n".join(lines)


def spacing_ticks(ax, h):
    """Ticks at the spacings used, as 1/n if they are such; crowded ones are left out."""
    chosen = []
    for value in sorted(set(h), reverse=True):
        if not chosen or np.log10(chosen[-1] / value) > 0.12 * np.log10(max(h) / min(h)):
            chosen.append(value)

    def label(value, _):
        n = 1 / value
        return f"1/{round(n)}" if abs(n - round(n)) < 1e-6 * n and n > 1.5 else f"{value:.3g}"

    ax.set_xscale("log")
    ax.set_xticks(chosen)
    ax.xaxis.set_major_formatter(FuncFormatter(label))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())


def spacing_name(refined):
    """The spacing's symbol: h, with the axis' name if only one axis is refined."""
    return f"$h_{AXES[refined[0]]}$" if len(refined) == 1 else "$h$"


def draw_reference(ax, h, errors, orders):
    """Thin lines of the given orders through the smallest spacing's error, labelled at their coarse ends."""
    ends = np.array([h.max(), h.min()])
    low, high = ax.get_ylim()
    for order in orders:
        values = 0.45 * errors.min() * (ends / h.min()) ** order
        ax.plot(ends, values, color=style.SOFT, lw=0.8, ls=(0, (4, 3)), zorder=1)
        ax.annotate(
            f"order {order:g}", (ends[0], values[0]), xytext=(5, 0), textcoords="offset points",
            fontsize=style.points(7.5), color=style.SOFT, va="center", annotation_clip=False)  # fmt: skip
        low, high = min(low, values.min() / 2), max(high, values.max() * 2)
    ax.set_ylim(low, high)


@style.styled
def draw_convergence(runs, norms=("l1", "l2", "linf"), orders=None):
    """Figure of errors against spacing with fitted orders. Returns the figure and the table for the terminal."""
    samples, refined = collect(runs, norms), refined_axes(runs)
    h = np.array([sample.h for sample in samples])
    size = style.chosen_size(5.4, 4.4)
    fig = Figure(figsize=size)
    ax = fig.subplots(gridspec_kw=style.edges(size, 0.81, 0.70, 0.57, 0.70))
    style.heading(fig, "Convergence", f"{len(samples)} runs at t = {style.number(samples[0].time)}", left=0.2)
    fits, finest = [], []
    for norm, colour, marker in zip(norms, style.COLOURS, MARKERS):
        errors = np.array([sample.errors[norm] for sample in samples])
        order, constant = fit_order(h, errors)
        ends = np.array([h.max(), h.min()])
        ax.plot(ends, constant * ends**order, color=colour, lw=1.1, alpha=0.7, zorder=2)
        label = f"{NORMS[norm][1]}  order {order:.2f}"
        ax.plot(h, errors, marker, color=colour, ms=6, mec="white", mew=0.8, zorder=3, label=label)
        fits.append(order)
        finest.append(errors.min())
    spacing_ticks(ax, h)
    ax.set_yscale("log")
    ax.margins(x=0.06, y=0.08)
    draw_reference(ax, h, np.array(finest), orders or [float(round(np.mean(fits)))])
    ax.set_xlabel("grid spacing " + spacing_name(refined))
    ax.set_ylabel("error at the end")
    ax.legend(loc="upper left", handletextpad=0.3, borderaxespad=0.2)
    text = table(samples, norms)
    if len(refined) < 3:
        own = " and ".join(AXES[axis] for axis in refined)
        same = " and ".join(name for axis, name in enumerate(AXES) if axis not in refined)
        text += f"\nh is the spacing along {own}; along {same} all runs have the same spacing"
    return fig, text
