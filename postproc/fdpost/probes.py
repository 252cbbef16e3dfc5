"""Time series of a run's probes, and their spectra."""

import math
import re
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from . import style
from .errors import DataError, UsageError

COLUMN = re.compile(r"(?P<field>\w+)\((?P<place>[^)]*)\)$")
PADDED = 16  # times the signal's length, with zeros: a peak is then found far better than lines of a spectrum lie apart
LEAST_PEAK = 0.05  # of the highest
SEGMENTS = 8  # of Welch's method, which overlap by half
EVEN = 1e-6  # relative difference of steps that count as equal
LEAST = 16  # samples


@dataclass(frozen=True)
class Spectrum:
    """Amplitudes over frequencies, of lines `resolution` apart, and the peaks: [(frequency, amplitude)]."""

    frequency: np.ndarray
    amplitude: np.ndarray
    resolution: float
    peaks: list


def even_part(time, values):
    """The samples up to the first step of another length: a run's last step may be shortened. UsageError if few are
    left."""
    steps = np.diff(time)
    odd = np.flatnonzero(np.abs(steps - steps[:1]) > EVEN * abs(steps[:1]) if steps.size else [])
    count = odd[0] + 1 if odd.size else len(time)
    if count < LEAST:
        raise UsageError(
            f"a spectrum needs at least {LEAST} samples at equal steps; there are {count}: time.adaptive changes steps,"
            " and waves with output.probes_at take the nearest ones; output.probes_every gives equal ones"
        )
    return time[:count], values[:count]


def spectrum(time, values, method="plain"):
    """The amplitude spectrum of a series. plain: all of it in a Hann window; welch: the mean of SEGMENTS parts, each in
    such a window, which overlap by half: less scatter, and lines further apart. A sine of amplitude 1 has a peak of 1.
    UsageError if the steps differ."""
    time, values = even_part(time, np.asarray(values, dtype=float))
    length = len(values) if method == "plain" else max(LEAST // 2, 2 * len(values) // (SEGMENTS + 1))
    starts = range(0, len(values) - length + 1, max(1, length // 2))
    window = np.hanning(length + 1)[:-1]
    padded = PADDED * length
    powers = []
    for start in starts:
        part = values[start : start + length]
        powers.append(np.abs(np.fft.rfft((part - part.mean()) * window, padded) * 2 / window.sum()) ** 2)
    amplitude = np.sqrt(np.mean(powers, axis=0))
    dt = (time[-1] - time[0]) / (len(time) - 1)
    frequency = np.fft.rfftfreq(padded, dt)
    return Spectrum(frequency, amplitude, 1 / (length * dt), peaks_of(frequency, amplitude, 2 * PADDED))


def peaks_of(frequency, amplitude, apart):
    """The peaks of at least LEAST_PEAK of the highest one, refined by a parabola through the logarithms of three lines;
    none is less than `apart` lines from a higher one, where the window's side lobes are."""
    inside = np.arange(1, len(amplitude) - 1)
    tops = inside[(amplitude[inside] >= amplitude[inside - 1]) & (amplitude[inside] > amplitude[inside + 1])]
    tops = [top for top in tops if amplitude[top] >= LEAST_PEAK * amplitude.max()]
    found = []
    for top in tops:
        if amplitude[max(0, top - apart) : top + apart + 1].max() > amplitude[top]:
            continue
        low, middle, high = np.log(amplitude[top - 1 : top + 2])
        shift = 0.5 * (low - high) / (low - 2 * middle + high)
        found.append((frequency[top] + shift * (frequency[1] - frequency[0]), float(amplitude[top])))
    return found


def series_of(run, fields=None):
    """{field: {place: column}} of the run's probes; fields: those wanted, by default all. UsageError, DataError."""
    found = {}
    for name in run.probes:
        if match := COLUMN.match(name):
            found.setdefault(match["field"], {})[match["place"]] = name
    if not found or "time" not in run.probes:
        raise DataError(f"{run.directory}/probes.csv: no column of a probe")
    if unknown := [field for field in fields or () if field not in found]:
        raise UsageError(f"{run.path}: no field '{unknown[0]}' among the probes; there are: {', '.join(found)}")
    return {field: found[field] for field in fields or found}


def frequency_unit(run):
    """Hz for seconds."""
    unit = run.unit("time")
    return "Hz" if unit == "s" else f"1/{unit}" if unit else ""


def report(run, field, place, found):
    """A line about the peaks of a spectrum."""
    unit = f" {frequency_unit(run)}".rstrip()
    digits = max(0, 2 - math.floor(math.log10(found.resolution)))  # to a hundredth of a line's distance
    shown = (f"{frequency:.{digits}f} ({style.number(height, 3)})" for frequency, height in found.peaks)
    peaks = ", ".join(shown) or "none"
    return f"{field}({place}): peaks at{unit and f' (in{unit})'} {peaks}; lines are {found.resolution:.4g} apart"


@style.styled
def draw_probes(run, fields=None, method="plain", most=None):
    """The figure, and a line of text for each series: values over time on the left, spectra on the right. most: the
    highest frequency that is shown."""
    shown, table = series_of(run, fields), run.probes
    size = style.chosen_size(8.2, 0.9 + 2.1 * len(shown))
    fig = Figure(figsize=size)
    place = style.edges(size, 0.8, 0.3, 0.5, 0.85)
    axes = fig.subplots(
        len(shown), 2, squeeze=False, gridspec_kw=place | style.gaps(size, place, 0.8, 0.5, 2, len(shown))
    )
    window = "Hann window" if method == "plain" else f"Welch: {SEGMENTS} parts in Hann windows"
    style.heading(fig, run.name, f"{len(table['time'])} samples to t = {style.number(table['time'][-1])};  {window}")
    lines = []
    for (field, columns), (left, right) in zip(shown.items(), axes):
        for (where, column), colour in zip(columns.items(), style.COLOURS * len(columns)):
            found = spectrum(table["time"], table[column], method)
            left.plot(table["time"], table[column], color=colour, lw=1.0, label=where)
            right.plot(found.frequency, found.amplitude, color=colour, lw=1.0)
            lines.append(report(run, field, where, found))
        left.set_ylabel(style.with_unit(style.field_label(field), run.unit(field)))
        right.set_xlim(0, most or found.frequency[-1])
        right.set_ylabel("amplitude")
        if len(columns) > 1:
            left.legend(loc="best", title="x y z", title_fontsize=style.points(8))
    axes[-1][0].set_xlabel(style.with_unit("$t$", run.unit("time")))
    axes[-1][1].set_xlabel(style.with_unit("frequency", frequency_unit(run)))
    return fig, lines
