"""Shell-averaged power spectrum of a field on the periodic domain."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from . import style
from .errors import DataError

LEGEND = 12  # lines that the legend names at most
LARGEST = 1e300  # power that can still be drawn
FLOOR = 1e-34  # share of the largest power below which there is only round-off (double precision squared)


def power_spectrum(phi, lengths):
    """Wavenumbers and power of phi (nz, ny, nx) on a periodic domain of `lengths` (x, y, z).

    With the Fourier coefficients f_k of phi = sum f_k exp(i k x), the power of shell s is the mean of |f_k|^2 over the
    wave vectors with round(|k| / dk) = s, dk = 2 pi / (longest edge); returns (k = s dk, mean, number of vectors).
    The sum of mean * number over all shells is the mean of phi^2 (Parseval). The rfft's half is counted twice."""
    nz, ny, nx = phi.shape
    with np.errstate(over="ignore"):  # a run that blows up: infinite
        power = np.abs(np.fft.rfftn(phi) / phi.size) ** 2
    weight = np.full(power.shape[2], 2.0)
    weight[0] = 1.0
    if nx % 2 == 0:
        weight[-1] = 1.0
    dk = 2 * np.pi / max(lengths)
    waves = [np.fft.fftfreq(n, 1 / n) * (2 * np.pi / length / dk) for n, length in zip((nz, ny), lengths[:0:-1])]
    kx = np.arange(power.shape[2]) * (2 * np.pi / lengths[0] / dk)
    shells = kx.size + max(nz, ny, nx) * 2  # an upper bound for a cube; longer if the domain is not one
    count, total = np.zeros(shells), np.zeros(shells)
    for plane, kz in zip(power, waves[0]):  # plane by plane, so that no second array of the field's size is made
        shell = np.rint(np.sqrt(kx**2 + waves[1][:, None] ** 2 + kz**2)).astype(int)
        if shell.max() >= count.size:
            grown = shell.max() + 1 - count.size
            count, total = np.pad(count, (0, grown)), np.pad(total, (0, grown))
        weights = np.broadcast_to(weight, plane.shape).ravel()
        count += np.bincount(shell.ravel(), weights, count.size)
        total += np.bincount(shell.ravel(), weights * plane.ravel(), count.size)
    filled = count > 0
    return dk * np.flatnonzero(filled), total[filled] / count[filled], count[filled]


@style.styled
def draw_spectrum(run, states, field="phi"):
    """Figure of the spectra of `states`, from light to dark in time, with the grid's Nyquist wavenumber."""
    fig = Figure(figsize=(6.2, 4.4))
    ax = fig.add_axes((0.125, 0.13, 0.70, 0.71))
    style.heading(fig, run.name, f"shell-averaged power spectrum of {style.field_label(field)}", left=0.2)
    lengths = states[0].lengths
    unit = all(abs(length - 1) < 1e-12 for length in lengths)
    scale = 2 * np.pi if unit else 1.0
    nyquist = min(np.pi / h for h in states[0].spacing) / scale
    top, bottom = 0.0, np.inf
    shares = np.linspace(0.35, 1, len(states)) if len(states) > 1 else [1.0]
    named = set(np.linspace(0, len(states) - 1, min(len(states), LEGEND)).round())
    for i, (share, state) in enumerate(zip(shares, states)):
        k, mean, _ = power_spectrum(state.read(field), lengths)
        shown = (k > 0) & (mean > FLOOR * mean.max()) & (k / scale <= nyquist * 1.0001) & (mean < LARGEST)
        colour = tuple(1 - share * (1 - np.array([0.0, 0.30, 0.53])))
        marker = "o" if shown.sum() < 20 else None
        width = 4.4 - 3 * share  # later lines are thinner, so that equal spectra are seen to be several
        label = f"t = {style.number(state.time)}" if i in named else None
        ax.plot(k[shown] / scale, mean[shown], color=colour, lw=width, marker=marker, ms=3.5, label=label)
        if shown.any():
            top, bottom = max(top, mean[shown].max()), min(bottom, mean[shown].min())
    if top <= 0:
        raise DataError(f"{run.directory}: {field} is the same everywhere, or not finite, and has no spectrum")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(bottom / 4, top * 6)
    ax.set_xlim(None, nyquist * 1.12)
    ax.axvline(nyquist, color=style.SOFT, lw=0.8, ls=(0, (4, 3)))
    ax.annotate("Nyquist", (nyquist, 0.98), xycoords=ax.get_xaxis_transform(), xytext=(-4, 0), rotation=90,
                textcoords="offset points", fontsize=7.5, color=style.SOFT, ha="right", va="top")  # fmt: skip
    style.plain_log_axis(ax, "x")
    ax.yaxis.set_major_locator(LogLocator(numticks=7))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel(r"$|k|\,L\,/\,2\pi$  (waves across the domain)" if unit else "$|k|$  (radians to a unit of length)")
    ax.set_ylabel(r"mean of $|\hat\varphi_k|^2$ in a shell")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), handlelength=1.3)
    return fig
