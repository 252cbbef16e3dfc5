"""Shell-averaged power spectrum of a field on the periodic domain."""

import itertools
from dataclasses import dataclass

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from . import style, units
from .errors import DataError, UsageError
from .frames import AXES

LEGEND = 12  # lines that the legend names at most
BESIDE = 1.08  # inches, of a legend of times
LARGEST = 1e300  # power that can still be drawn


def power_spectrum(phi, lengths):
    """Wavenumbers and power of phi (nz, ny, nx) on a periodic domain of `lengths` (x, y, z).

    With the Fourier coefficients f_k of phi = sum f_k exp(i k x), the power of shell s is the mean of |f_k|^2 over the
    wave vectors with round(|k| / dk) = s, dk = 2 pi / (longest edge); returns (k = s dk, mean, number of vectors).
    The sum of mean * number over all shells is the mean of phi^2 (Parseval). The rfft's half is counted twice. Computed
    in double precision whatever phi's is, and without phi's mean, which would add its round-off to all waves."""
    phi = np.asarray(phi, dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):  # a run that blows up gives infinite power
        constant = phi.mean()
        power = np.abs(np.fft.rfftn(phi - constant) / phi.size) ** 2
        power[0, 0, 0] = constant**2
    k, total, count = shell_sums(power, phi.shape, lengths)
    return k, total / count, count


def waves(shape, lengths):
    """Wavenumbers along x, y and z of the transform rfftn of a field (nz, ny, nx), in units of dk = 2 pi / (longest
    edge); and dk."""
    nz, ny, nx = shape
    dk = 2 * np.pi / max(lengths)
    numbers = np.arange(nx // 2 + 1), np.fft.fftfreq(ny, 1 / ny), np.fft.fftfreq(nz, 1 / nz)
    return [number * (2 * np.pi / length / dk) for number, length in zip(numbers, lengths)], dk


def shell_sums(power, shape, lengths):
    """Sums over shells of wave vectors of `power`, given for those of rfftn: (k, sums, numbers of vectors)."""
    nz, ny, nx = shape
    weight = np.full(power.shape[2], 2.0)
    weight[0] = 1.0
    if nx % 2 == 0:
        weight[-1] = 1.0
    (kx, ky, along_z), dk = waves(shape, lengths)
    shells = kx.size + max(nz, ny, nx) * 2  # an upper bound for a cube; longer if the domain is not one
    count, total = np.zeros(shells), np.zeros(shells)
    for plane, kz in zip(power, along_z):  # plane by plane, so that no second array of the field's size is made
        shell = np.rint(np.sqrt(kx**2 + ky[:, None] ** 2 + kz**2)).astype(int)
        if shell.max() >= count.size:
            grown = shell.max() + 1 - count.size
            count, total = np.pad(count, (0, grown)), np.pad(total, (0, grown))
        weights = np.broadcast_to(weight, plane.shape).ravel()
        count += np.bincount(shell.ravel(), weights, count.size)
        total += np.bincount(shell.ravel(), weights * plane.ravel(), count.size)
    filled = count > 0
    return dk * np.flatnonzero(filled), total[filled], count[filled]


def round_off(phi):
    """Power of a wave vector below which there is only round-off: that of values stored in phi's precision, spread over
    all wave vectors, with a factor of 10 for the transform's own."""
    with np.errstate(over="ignore"):
        return 10 * np.finfo(phi.dtype).eps ** 2 * np.square(phi, dtype=float).mean() / phi.size


def refuse_ends(run, states):
    """UsageError if the states do not fill a period along each axis: a transform would take the jump from the last
    point to the first for waves."""
    state = next((state for state in states if not all(state.periodic)), None)
    if not state:
        return
    names = ", ".join(name for name, periodic in zip(AXES, state.periodic) if not periodic)
    why = "the domain has ends there" if any(state.bounded) else "it was kept in part, and does not fill a period there"
    whole = next((other for other in reversed(run.whole) if all(other.periodic)), None)
    hint = f"; all points are in {whole.path}" if whole else ""
    raise UsageError(f"{state.path}: no spectrum along {names}: {why}, so a transform would take the jump from the last"
                     f" point to the first for waves{hint}")  # fmt: skip


def folded(states):
    """A sentence on waves that states kept with a stride show at other wavenumbers; "" if there is no stride."""
    thinned = max(state.thinned for state in states)
    if thinned == 1:
        return ""
    return (f"note: one of {thinned} points of each axis was kept: waves beyond these points' Nyquist number count"
            " as longer ones")  # fmt: skip


def draw_nyquist(ax, states, scale):
    """A line at each axis' Nyquist wavenumber, one for axes with the same, none beyond the end of the plot. Beyond the
    smallest one a shell holds waves along some directions alone."""
    places = {}
    for name, h in zip(AXES, states[0].spacing):
        places.setdefault(round(np.pi / h / scale, 9), []).append(name)
    places = {place: names for place, names in places.items() if place <= ax.get_xlim()[1]}
    for number, (place, names) in enumerate(places.items()):
        label = "Nyquist" if len(names) == 3 else f"Nyquist {', '.join(names)}"
        ax.axvline(place, color=style.SOFT, lw=0.8, ls=(0, (4, 3)), zorder=1)
        ax.annotate(label, (place, 0.98 - 0.2 * number), xycoords=ax.get_xaxis_transform(), xytext=(-4, 0), rotation=90,
                    textcoords="offset points", fontsize=style.points(7.5), color=style.SOFT, ha="right",
                    va="top")  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """The spectrum of a quantity at one state; what stands below `floor` is round-off."""

    k: np.ndarray
    values: np.ndarray
    floor: float | np.ndarray


def draw_curves(ax, states, named, colour, curves, scale):
    """The spectra of one quantity at the states, from light to dark in time. named: what the legend calls it, "" for
    the times alone. Returns the k and the values that are shown."""
    shares = np.linspace(0.35, 1, len(states)) if len(states) > 1 else [1.0]
    labelled = set(np.linspace(0, len(states) - 1, min(len(states), LEGEND)).round())
    found = []
    for i, (share, state, curve) in enumerate(zip(shares, states, curves)):
        k, values = curve.k / scale, curve.values
        shown = (k > 0) & (values > curve.floor) & (values < LARGEST)
        shade = tuple(1 - share * (1 - np.array(to_rgb(colour))))
        marker = "o" if shown.sum() < 20 else None
        width = 4.4 - 3 * share  # later lines are thinner, so that equal spectra remain visible
        time = "" if state.time is None else f"t = {style.number(state.time)} {state.unit('time')}".rstrip()
        label = ", ".join(filter(None, (named, time)))
        if not shown.any():
            label += ": constant" if (values < LARGEST).all() else ": blown up"  # nan is not less
        label = label if i in labelled or not shown.any() else None
        ax.plot(k[shown], values[shown], color=shade, lw=width, marker=marker, ms=3.5, label=label)
        found += zip(k[shown], values[shown])
    return found


def wavenumber_label(states, across):
    """The label of the axis; across: whether it counts waves across the domain."""
    if across:
        return r"$|k|\,L\,/\,2\pi$  (waves across the domain)"
    return f"$|k|$  (radians per {states[0].unit('length') or 'unit of length'})"


def draw_quantities(run, states, title, quantities, ylabel):
    """Figure of spectra at `states`, with the Nyquist wavenumbers of the axes. quantities: [(name, curves)], a colour
    for each. All wavenumbers with more than round-off are shown, the corners of the wave vectors' box included."""
    size = style.chosen_size(6.2, 4.4)
    fig = Figure(figsize=size)
    ax = fig.subplots(gridspec_kw=style.edges(size, 0.78, BESIDE, 0.57, 0.70))
    style.heading(fig, run.name, title, left=0.2)
    unit = all(abs(length - 1) < 1e-12 for length in states[0].lengths)
    scale = 2 * np.pi if unit else 1.0
    found = []
    for (name, curves), colour in zip(quantities, itertools.cycle(style.COLOURS)):
        found += draw_curves(ax, states, name, colour, curves, scale)
    if not found:
        return None
    (least, bottom), (most, top) = np.min(found, axis=0), np.max(found, axis=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(bottom / 4, top * 6)
    most = max(most, min(np.pi / h for h in states[0].spacing) / scale)
    ax.set_xlim(least / 1.12, most * 1.12)
    draw_nyquist(ax, states, scale)
    style.plain_log_axis(ax, "x")
    ax.yaxis.set_major_locator(LogLocator(numticks=7))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel(wavenumber_label(states, unit))
    ax.set_ylabel(ylabel)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), handlelength=1.3)
    widest = max(style.text_inches(label, 8) for label in ax.get_legend_handles_labels()[1])
    place = style.edges(size, 0.78, max(BESIDE, 0.5 + widest), 0.57, 0.70)
    ax.set_position(Bbox([[place["left"], place["bottom"]], [place["right"], place["top"]]]))
    return fig


@style.styled
def draw_spectrum(run, states, fields=("phi",)):
    """Figure of the spectra of the fields at `states`, from light to dark in time. DataError if there is none."""

    def curve(state, field):
        phi = state.read(field)
        k, mean, _ = power_spectrum(phi, states[0].lengths)
        return Curve(k, mean, round_off(phi))

    timed = all(state.time is not None for state in states)
    quantities = [
        (style.field_label(field) if len(fields) > 1 or not timed else "", (curve(state, field) for state in states))
        for field in fields
    ]
    transformed = r"\varphi" if fields[0] == "phi" else fields[0] if len(fields[0]) == 1 else "f"
    ylabel = rf"mean of $|\hat{{{transformed if len(fields) == 1 else 'f'}}}_k|^2$ in a shell"
    ylabel = style.with_unit(ylabel, units.squared(units.shared(map(states[0].unit, fields))))
    title = f"shell-averaged power spectrum of {', '.join(map(style.field_label, fields))}"
    fig = draw_quantities(run, states, title, quantities, ylabel)
    if fig is None:
        found = ", ".join(fields)
        raise DataError(f"{run.directory}: {found} is the same everywhere, or not finite, and has no spectrum")
    return fig
