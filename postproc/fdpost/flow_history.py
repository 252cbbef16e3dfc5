"""Picture of the diagnostics of a compressible flow: kinetic energy, dissipation, what is conserved, the step."""

import numpy as np
from matplotlib.figure import Figure

from . import style
from .errors import DataError

COLUMNS = ("step", "time", "mass", "energy", "kinetic", "dissipation", "dissipation_solenoidal", "mach_max", "courant")


def is_flow(table):
    return "kinetic" in table


def loss(table):
    """The loss of kinetic energy per time, by central differences between rows; nan at the ends."""
    time, kinetic = table["time"], table["kinetic"]
    found = np.full(len(time), np.nan)
    if len(time) > 2:
        found[1:-1] = -(kinetic[2:] - kinetic[:-2]) / (time[2:] - time[:-2])
    return found


def draw_flow(run, draw_lines, end_labels, draw_conservation, time_ticks):
    """Figure of a flow's budget. The functions draw panels as those of other equations are drawn (history.py)."""
    table = run.diagnostics
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise DataError(f"{run.directory}/diagnostics.csv: no column {', '.join(missing)}")
    time = table["time"]
    size = style.chosen_size(7.6, 5.2)
    fig = Figure(figsize=size)
    place = style.edges(size, 0.8, 0.42, 0.47, 0.94)
    axes = fig.subplots(2, 2, sharex=True, gridspec_kw=place | style.gaps(size, place, 1.05, 0.52))
    style.heading(
        fig,
        run.name,
        f"{len(time)} rows to step {int(table['step'][-1])},  t = {style.number(time[-1])},"
        f"  largest Mach number {style.number(float(np.max(table['mach_max'])), 3)}",
    )
    axes[0, 0].set_title("Kinetic energy")
    axes[0, 0].set_ylabel(r"$\langle \rho u^2/2 \rangle$")
    draw_lines(axes[0, 0], time, [(table["kinetic"], "", style.COLOURS[0])])
    axes[0, 0].set_ylim(bottom=0)
    series = [
        (loss(table), "loss", style.COLOURS[1]),
        (table["dissipation"], r"$\varepsilon$", style.COLOURS[0]),
        (table["dissipation_solenoidal"], r"$\mu\omega^2$", style.COLOURS[2]),
    ]
    axes[0, 1].set_title(r"Loss of kinetic energy, friction $\varepsilon$")
    axes[0, 1].set_ylabel("per time")
    draw_lines(axes[0, 1], time, series)
    end_labels(axes[0, 1], time, series)
    label = r"$|E - E_0|\,/\,E_0$"
    draw_conservation(axes[1, 0], time, table["energy"], None, "Drift of total energy", label, style.COLOURS[0])
    axes[1, 1].set_title("Courant number, of the limit 1")
    axes[1, 1].plot(time, table["courant"], color=style.COLOURS[2])
    axes[1, 1].set_ylim(0, 1.15 * max(1.0, float(np.nanmax(table["courant"]))))
    for ax in axes[1]:
        ax.set_xlabel("$t$")
        ax.set_xlim(time[0], time[-1] if time[-1] > time[0] else time[0] + 1)
        time_ticks(ax)
    return fig
