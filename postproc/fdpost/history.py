"""Picture of the diagnostics over time: conservation, extrema, errors."""

import numpy as np

from . import style, units
from .errors import DataError, UsageError
from .flow_history import draw_flow, is_flow
from .panels import (
    above_floor,
    change_title,
    draw_conservation,
    draw_courant,
    draw_lines,
    end_labels,
    four_panels,
    largest,
    log_axis,
    over_time,
    relative_drift,
)

ERRORS = {"err_l1": "$L_1$", "err_l2": "$L_2$", "err_linf": r"$L_\infty$"}
COURANT = {"advection": r"$\Sigma\,|c|\,\Delta t / h$", "acoustics": r"$c\,\Delta t\,\sqrt{\Sigma\,1/h^2}$"}
LOST = 0.01  # a larger drift of the energy is seen on a linear scale
NO_MASS = 1e-10  # a smaller mean, relative to the L2 norm, is round-off; drift is then relative to the L2 norm


def conserved(table):
    """Name of the column of the conserved integral: energy if there is one, as for sound; else mass, or None."""
    return next((name for name in ("energy", "mass") if name in table), None)


def shown_field(run):
    """The field of the norms and extrema: the run's first one, without snapshots that of the equation."""
    try:
        return run.field
    except DataError:
        return "p" if run.config.get("physics", {}).get("equation") in ("acoustics", "wave") else "phi"


def symbol(field):
    """A field's symbol within a formula."""
    return r"\varphi" if field == "phi" else field


def mass_scale(run, table, field="phi"):
    """The scale of the mass's drift, and its name. A run that starts from zero has no scale: 1, so that the mass itself
    is shown."""
    bound = table["l2"][0] * np.sqrt(np.prod(run.lengths))  # |mass| <= l2 sqrt(V), by Cauchy and Schwarz
    if bound == 0:
        return 1.0, style.with_unit(r"$|m|$", units.over_volume(run.unit(field), run.unit("length")))
    if abs(table["mass"][0]) > NO_MASS * bound:
        return table["mass"][0], r"$|m - m_0|\,/\,|m_0|$"
    return bound, rf"$|m - m_0|\,/\,\|{symbol(field)}_0\|\sqrt{{V}}$"


def norm_label(run, table, field):
    """The label of the drift of the L2 norm: relative to the norm at the start, where that is not zero."""
    norm, start = rf"\|{symbol(field)}\|", rf"\|{symbol(field)}_0\|"
    if table["l2"][0]:
        return rf"$|\,{norm} - {start}\,|\,/\,{start}$"
    return style.with_unit(f"${norm}$", units.over_volume(run.unit(field), run.unit("length"), "(3/2)"))


def energy_unit(run):
    """Of sound: p^2/(rho c^2), which is a pressure, over the volume. Of a wave p may be anything."""
    of_sound = run.config.get("physics", {}).get("equation") == "acoustics"
    return units.over_volume(run.unit("p"), run.unit("length")) if of_sound else ""


def draw_energy(ax, run, time, energy):
    """Drift of the energy or, where ends or the operator take more than LOST, what is left of the energy."""
    if not (energy[0] and LOST < largest(relative_drift(energy)) <= 1):  # grown beyond twice: fed, or it blows up
        title = change_title(run, energy[0], "energy")
        label = r"$|E - E_0|\,/\,E_0$" if energy[0] else style.with_unit("$E$", energy_unit(run))
        draw_conservation(ax, time, energy, None, title, label, style.COLOURS[0])
        return
    draw_relative(ax, time, energy, "Energy", r"$E\,/\,E_0$", style.COLOURS[0])


def draw_relative(ax, time, values, name, label, colour):
    ax.set_title(f"{name}, relative to the start")
    ax.set_ylabel(label)
    draw_lines(ax, time, [(values / (values[0] or 1.0), "", colour)])
    ax.set_ylim(bottom=0)


def draw_extrema(ax, time, table, label):
    low, high = table["min"], table["max"]
    ax.set_title("Extrema; shaded: start")
    ax.set_ylabel(label)
    ax.axhspan(low[0], high[0], color=style.COLOURS[4], alpha=0.13, lw=0)
    series = [(high, "max", style.COLOURS[1]), (low, "min", style.COLOURS[0])]
    draw_lines(ax, time, series)
    ax.margins(y=0.12)
    end_labels(ax, time, series)


def draw_errors(ax, run, time, table, field):
    ax.set_title("Error against exact solution")
    unit = units.over_volume(run.unit(field), run.unit("length"), "(3/q)")
    ax.set_ylabel(style.with_unit("error in $L_q$", unit) if unit else "error")
    names = [name for name in ERRORS if name in table]
    log_axis(ax, "none: exactly zero", *(table[name] for name in names))
    if not any((table[name] > 0).any() for name in names):
        return
    series = [(above_floor(ax, table[name]), ERRORS[name], colour) for name, colour in zip(names, style.COLOURS)]
    draw_lines(ax, time, series)
    end_labels(ax, time, series)


@style.styled
def draw_history(run, reference=None):
    """Figure of the diagnostics: mass or energy, L2 norm, extrema, and errors where an exact solution exists; of a flow
    its budget, beside that of a reference (flow_reference.py). UsageError for a reference of anything but a flow."""
    table = run.diagnostics
    if is_flow(table):
        return draw_flow(run, reference)
    if reference:
        raise UsageError(f"--reference {reference.name}: {run.directory} is no compressible flow")
    kept, field = conserved(table), shown_field(run)
    columns = ("step", "time", kept or "mass", "l2", "min", "max", "courant")
    dt = f"{style.number(table['dt'][0])} {run.unit('time')}".rstrip() if "dt" in table else "?"
    fig, axes = four_panels(
        run, columns, lambda: f"Δt = {dt},  Courant number {style.number(largest(table['courant']), 3)}"
    )
    time = table["time"]
    norm = rf"\|{symbol(field)}\|", rf"\|{symbol(field)}_0\|"
    if kept == "energy":
        draw_energy(axes[0, 0], run, time, table["energy"])
    else:
        scale, label = mass_scale(run, table, field)
        title = change_title(run, table["l2"][0], "mass")
        draw_conservation(axes[0, 0], time, table["mass"], scale, title, label, style.COLOURS[0])
    # fields exchange energy, so none keeps its norm
    if kept == "energy" and table["l2"][0] and largest(relative_drift(table["l2"])) <= 1:
        draw_relative(axes[0, 1], time, table["l2"], "$L_2$ norm", r"${}\,/\,{}$".format(*norm), style.COLOURS[2])
    else:
        title, label = change_title(run, table["l2"][0], "the $L_2$ norm"), norm_label(run, table, field)
        draw_conservation(axes[0, 1], time, table["l2"], None, title, label, style.COLOURS[2])
    draw_extrema(axes[1, 0], time, table, style.with_unit(f"${symbol(field)}$", run.unit(field)))
    if "err_l2" in table and np.isfinite(table["err_l2"][1:]).any():  # always zero at the start
        draw_errors(axes[1, 1], run, time, table, field)
    else:
        equation = run.config.get("physics", {}).get("equation", "advection")
        draw_courant(axes[1, 1], run, "Courant number", COURANT.get(equation, ""))
    over_time(axes, time, run.unit("time"))
    return fig
