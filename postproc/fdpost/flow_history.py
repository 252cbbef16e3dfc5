"""Picture of the diagnostics of a compressible flow: kinetic energy, its loss, enstrophy, total energy."""

import numpy as np

from . import style, units
from .panels import change_title, draw_conservation, draw_lines, end_labels, four_panels, largest, over_time

COLUMNS = ("step", "time", "energy", "kinetic", "enstrophy", "dissipation", "dissipation_solenoidal", "mach_max",
           "courant")  # fmt: skip


def is_flow(table):
    return "kinetic" in table


def loss(table):
    """The loss of kinetic energy per time, by central differences between rows; nan at the ends."""
    time, kinetic = table["time"], table["kinetic"]
    found = np.full(len(time), np.nan)
    if len(time) > 2:
        found[1:-1] = -(kinetic[2:] - kinetic[:-2]) / (time[2:] - time[:-2])
    return found


def draw_reference(ax, reference, values):
    """The reference's values, behind the run's."""
    if reference:
        ax.plot(reference.time, values, color="#b4bac2", lw=4, label="reference, incompressible", zorder=1)


def draw_flow(run, reference):
    """Figure of a flow's budget, beside that of a reference, if one is given."""
    table = run.diagnostics
    fig, axes = four_panels(run, COLUMNS, lambda: f"at most Mach {style.number(largest(table['mach_max']), 3)},"
                            f"  Courant {style.number(largest(table['courant']), 3)} of 1")  # fmt: skip
    time, unit = table["time"], units.of_flow(run)
    axes[0, 0].set_title("Kinetic energy")
    axes[0, 0].set_ylabel(style.with_unit(r"$\langle \rho u^2/2 \rangle$", unit["kinetic"]))
    draw_reference(axes[0, 0], reference, reference and reference.kinetic)
    draw_lines(axes[0, 0], time, [(table["kinetic"], "", style.COLOURS[0])])
    axes[0, 0].set_ylim(bottom=0)
    if reference:
        axes[0, 0].legend(loc="lower left", handlelength=1.3)
    series = [
        (loss(table), "loss", style.COLOURS[1]),
        (table["dissipation"], r"$\varepsilon$", style.COLOURS[0]),
        (table["dissipation_solenoidal"], r"$\mu\omega^2$", style.COLOURS[2]),
    ]
    axes[0, 1].set_title(r"Loss of kinetic energy, friction $\varepsilon$")
    axes[0, 1].set_ylabel(unit["dissipation"] or "per time")
    draw_reference(axes[0, 1], reference, reference and reference.loss)
    draw_lines(axes[0, 1], time, series)
    end_labels(axes[0, 1], time, series)
    label = r"$|E - E_0|\,/\,E_0$"
    title = change_title(run, table["energy"][0], "total energy")
    draw_conservation(axes[1, 0], time, table["energy"], None, title, label, style.COLOURS[0])
    axes[1, 1].set_title("Enstrophy")
    axes[1, 1].set_ylabel(style.with_unit(r"$\langle \omega^2/2 \rangle$", unit["enstrophy"]))
    draw_lines(axes[1, 1], time, [(table["enstrophy"], "", style.COLOURS[2])])
    axes[1, 1].set_ylim(bottom=0)
    over_time(axes, time, run.unit("time"))
    return fig
