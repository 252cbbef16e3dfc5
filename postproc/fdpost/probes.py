"""Time series of the probes of runs, their spectra, and how modes decay."""

import math
import re
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from . import style
from .errors import DataError, UsageError
from .series import LEAST, evenly

COLUMN = re.compile(r"(?P<field>\w+)\((?P<place>[^)]*)\)$")
PADDED = 16  # times the signal's length, with zeros: a peak is then found far better than lines of a spectrum lie apart
LEAST_PEAK = 0.05  # of the highest
SEGMENTS = 8  # of Welch's method, which overlap by half
CLOSE = 2  # lines that a Hann window's peak reaches to either side: nearer peaks disturb each other
PERIODS = 4  # least number in a window that follows a mode: the window takes then 0.1 % of what is not the mode


@dataclass(frozen=True)
class Spectrum:
    """Amplitudes over frequencies, of lines `resolution` apart, and the peaks: [(frequency, amplitude)]. close says of
    each peak whether another one is within CLOSE lines: its frequency is then known to about a line alone.
    interpolated: whether the samples were, to equal steps."""

    frequency: np.ndarray
    amplitude: np.ndarray
    resolution: float
    peaks: list
    interpolated: bool = False

    @property
    def close(self):
        places = np.array([frequency for frequency, _ in self.peaks])
        return [bool(np.sum(np.abs(places - place) < CLOSE * self.resolution) > 1) for place in places]


@dataclass(frozen=True)
class Decay:
    """A mode whose amplitude falls as exp(-rate t). Each figure in the unit of time of the series."""

    frequency: float
    rate: float

    @property
    def width(self):
        """Of the mode's peak at half of its power, as a frequency."""
        return self.rate / np.pi

    @property
    def reverberation(self):
        """The time in which the mode's energy falls by 60 dB; infinite where it grows."""
        return np.log(1000) / self.rate if self.rate > 0 else np.inf


def spectrum(time, values, method="plain"):
    """The amplitude spectrum of a series. plain: all of it in a Hann window; welch: the mean of SEGMENTS parts, each in
    such a window, which overlap by half: less scatter, and lines further apart. A sine of amplitude 1 has a peak of 1.
    Where steps differ, values are interpolated to equal ones: amplitudes are right up to a quarter of the sampling
    frequency. UsageError for few samples or long gaps."""
    series = evenly(time, values)
    values, dt = series.values, series.dt
    length = len(values) if method == "plain" else max(LEAST // 2, 2 * len(values) // (SEGMENTS + 1))
    starts = range(0, len(values) - length + 1, max(1, length // 2))
    window = np.hanning(length + 1)[:-1]
    padded = PADDED * length
    powers = []
    for start in starts:
        part = values[start : start + length]
        powers.append(np.abs(np.fft.rfft((part - part.mean()) * window, padded) * 2 / window.sum()) ** 2)
    amplitude = np.sqrt(np.mean(powers, axis=0))
    frequency = np.fft.rfftfreq(padded, dt)
    return Spectrum(frequency, amplitude, 1 / (length * dt), peaks_of(frequency, amplitude), series.interpolated)


def peaks_of(frequency, amplitude):
    """The peaks of at least LEAST_PEAK of the highest one, which the side lobes of a Hann window do not reach, refined
    by a parabola through the logarithms of three lines."""
    inside = np.arange(1, len(amplitude) - 1)
    tops = inside[(amplitude[inside] >= amplitude[inside - 1]) & (amplitude[inside] > amplitude[inside + 1])]
    found = []
    for top in tops[amplitude[tops] >= LEAST_PEAK * amplitude.max()]:
        low, middle, high = np.log(amplitude[top - 1 : top + 2])
        shift = 0.5 * (low - high) / (low - 2 * middle + high)
        found.append((float(frequency[top] + shift * (frequency[1] - frequency[0])), float(amplitude[top])))
    return found


def decay(time, values, frequency, window=None):
    """The Decay of the mode near `frequency`. A Hann window of the length `window`, by default half of the series,
    slides along: of exp(-rate t) cos(2 pi f t) it sees the same part everywhere, but for a factor exp(-rate t) and the
    phase. Both are fitted by straight lines, with weights that follow the power. Other modes should be 2 / window away,
    where the window sees nothing of them. UsageError for a window of fewer than PERIODS periods, and as of spectrum."""
    series = evenly(time, values)
    values, dt = series.values, series.dt
    length = len(values) // 2 if window is None else round(window / dt)
    if length * dt * frequency < PERIODS or length >= len(values):
        raise UsageError(
            f"a window of {length * dt:.4g} within {len(values) * dt:.4g} for a mode at {frequency:.4g}; accepted: at"
            f" least {PERIODS} periods, {PERIODS / frequency:.4g}, and less than the series"
        )
    wave = (values - values.mean()) * np.exp(-2j * np.pi * frequency * dt * np.arange(len(values)))
    seen = np.convolve(wave, np.hanning(length + 1)[:-1], "valid")
    when, phase = dt * np.arange(len(seen)), np.unwrap(np.angle(seen))
    falls, turns = (np.polyfit(when, line, 1, w=np.abs(seen))[0] for line in (np.log(np.abs(seen)), phase))
    return Decay(float(frequency + turns / (2 * np.pi)), float(-falls))


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


def peaks_to(found, most):
    """[(frequency, amplitude, close)] of the peaks up to a frequency; None: all."""
    return [(*peak, close) for peak, close in zip(found.peaks, found.close) if peak[0] <= (most or np.inf)]


def report(run, name, found, most=None):
    """A line about the peaks of a spectrum: frequencies to a hundredth of a line's distance, to a tenth with a mark
    where another peak is close. Modes that make one peak together cannot be told from one mode, so the line says how
    near these may be."""
    unit = f" {frequency_unit(run)}".rstrip()
    digits = 2 - math.floor(math.log10(found.resolution))
    shown = [
        f"{frequency:.{max(0, digits - close)}f}{'*' * close} ({style.number(height, 3)})"
        for frequency, height, close in peaks_to(found, most)
    ]
    peaks = ", ".join(shown) or "none"
    merged = f"; modes nearer than {CLOSE * found.resolution:.4g} may appear as one peak, up to about a line off"
    note = "; *: within two lines of another peak" if any("*" in peak for peak in shown) else ""
    note += merged if shown else ""
    note += "; samples interpolated to equal steps" if found.interpolated else ""
    return f"{name}: peaks at{unit and f' (in{unit})'} {peaks}; lines are {found.resolution:.4g} apart{note}"


def report_decays(run, name, time, values, found, most=None):
    """A line about the decay of the modes at the peaks that no other one disturbs."""
    window = (time[-1] - time[0]) / 2
    shown = []
    for frequency, _, _ in peaks_to(found, most):
        near = [other for other, _ in found.peaks if 0 < abs(other - frequency) < 2 * CLOSE * found.resolution]
        if not near and frequency * window > PERIODS + 1:
            rate = decay(time, values, frequency).rate
            shown.append(f"{style.number(rate)} at {style.number(frequency)}")
    unit = f" (in 1/{run.unit('time')})" if run.unit("time") else ""
    return f"{name}: modes fall at the rates{unit} {', '.join(shown) or 'unknown: no peak stands alone'}"


def shortened(places):
    """Places with four digits for each coordinate, where that tells them apart."""
    short = [" ".join(f"{float(at):.4g}" for at in place.split()) for place in places]
    return short if len(set(short)) == len(short) else list(places)


def named_series(runs, fields=None):
    """{field: [(run, label, name, column)]} of the probes of runs. label: of a line in the picture, name: in a list.
    UsageError, DataError."""
    found = {}
    for run in runs:
        for field, columns in series_of(run, fields).items():
            for (place, column), short in zip(columns.items(), shortened(columns)):
                several = len(columns) > 1 or len(runs) == 1
                label = " ".join(filter(None, (run.name if len(runs) > 1 else "", short if several else "")))
                name = f"{field}({place})" + (f" of {run.name}" if len(runs) > 1 else "")
                found.setdefault(field, []).append((run, label, name, column))
    return found


def probes_heading(fig, runs, method, drawn):
    """The title, and what the spectra are: drawn."""
    words = ["Hann window" if method == "plain" else f"Welch: {SEGMENTS} parts in Hann windows"] if drawn else []
    words += ["hollow: peaks within two lines of another"] if any(close for _, close in drawn) else []
    interpolated = "interpolated to equal steps" if any(found.interpolated for found, _ in drawn) else ""
    if len(runs) == 1:
        time = runs[0].probes["time"]
        end = f"{style.number(time[-1])} {runs[0].unit('time')}".rstrip()
        words.insert(0, f"{len(time)} samples to t = {end}{interpolated and ', ' + interpolated}")
    elif interpolated:
        words.append(f"samples {interpolated}")
    style.heading(fig, runs[0].name if len(runs) == 1 else f"{len(runs)} runs", ";  ".join(words))


def draw_peaks(ax, found, most, colour):
    """A dot at each peak, hollow where another one is close."""
    for frequency, height, close in peaks_to(found, most):
        ax.plot([frequency], [height], "o", ms=3.5, mew=0.9, color=colour, mfc="white" if close else colour, zorder=4)


def draw_series(ax, run, column, method, most, colour):
    """The spectrum of a series; None and the reason if there is none."""
    try:
        found = spectrum(run.probes["time"], run.probes[column], method)
    except UsageError as error:
        return None, f"{run.name}: {error}"
    ax.plot(found.frequency, found.amplitude, color=colour, lw=1.0)
    draw_peaks(ax, found, most, colour)
    return found, ""


def label_panels(left, right, run, field, most):
    """The axes of a field's values and spectra."""
    unit = run.unit(field)
    left.set_ylabel(style.with_unit(style.field_label(field), unit))
    right.set_ylabel(style.with_unit("amplitude", unit))
    if right.lines:
        right.set_xlim(0, most or max(line.get_xdata()[-1] for line in right.lines))
    else:
        right.set(xticks=[], yticks=[])
        right.text(0.5, 0.5, "no spectrum", ha="center", va="center", transform=right.transAxes)


@style.styled
def draw_probes(runs, fields=None, method="plain", most=None, decays=False):
    """The figure, and lines of text for each series: values over time on the left, spectra on the right, or why there
    is none. runs: a run, or several to compare. most: the highest frequency that is shown. decays: whether the rates of
    modes are told."""
    runs = runs if isinstance(runs, list | tuple) else [runs]
    shown = named_series(runs, fields)
    size = style.chosen_size(8.2, 0.9 + 2.1 * len(shown))
    fig = Figure(figsize=size)
    place = style.edges(size, 0.8, 0.3, 0.5, 0.85)
    axes = fig.subplots(
        len(shown), 2, squeeze=False, gridspec_kw=place | style.gaps(size, place, 0.8, 0.5, 2, len(shown))
    )
    lines, drawn = [], []
    for (field, series), (left, right) in zip(shown.items(), axes):
        for (run, label, name, column), colour in zip(series, style.COLOURS * len(series)):
            time, values = run.probes["time"], run.probes[column]
            left.plot(time, values, color=colour, lw=1.0, label=label)
            found, refused = draw_series(right, run, column, method, most, colour)
            lines.append(refused or report(run, name, found, most))
            if found:
                drawn.append((found, any(peak[-1] for peak in peaks_to(found, most))))
                lines += [report_decays(run, name, time, values, found, most)] if decays else []
        label_panels(left, right, runs[0], field, most)
        if len(series) > 1:
            left.legend(loc="best", title="x y z" if len(runs) == 1 else None, title_fontsize=style.points(8))
    axes[-1][0].set_xlabel(style.with_unit("$t$", runs[0].unit("time")))
    axes[-1][1].set_xlabel(style.with_unit("frequency", frequency_unit(runs[0])))
    probes_heading(fig, runs, method, drawn)
    return fig, list(dict.fromkeys(lines))
