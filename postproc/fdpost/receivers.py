"""Traces of a run's receivers (receivers.h5): reading, pictures, and SEG-Y files."""

import math
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from matplotlib.figure import Figure

from . import style
from .errors import DataError, UsageError
from .series import EVEN, interpolated, usable

MOST_TRACES = 6  # of a picture, if none are chosen
LEAST_SECTION = 8  # receivers that make a section
CLIPPED = 95  # percent of a section's magnitudes that lie within its colours
POWERS = (-2, 4)  # of ten, beyond which they stand apart from the numbers of an axis
LONGEST = 32767  # of an interval, a delay and a trace, in SEG-Y's numbers of two bytes


@dataclass(frozen=True)
class Receivers:
    """positions: (n, 3); time, step: (m); p: (m, n), the pressure at each receiver."""

    positions: np.ndarray
    time: np.ndarray
    step: np.ndarray
    p: np.ndarray

    @property
    def axis(self):
        """The axis along which the receivers stand in a line, or None."""
        varying = np.flatnonzero(np.ptp(self.positions, axis=0) > 0)
        return int(varying[0]) if len(varying) == 1 else None

    @property
    def even(self):
        """(an index of the samples that `at` interpolates on, their usual interval). Where intervals are equal but for
        the last one, the last sample is left out: the step to t_end may be shortened. UsageError for gaps of more than
        two usual intervals."""
        try:
            return usable(self.time)
        except UsageError as error:
            raise UsageError(f"receivers: {error}; has the run been resumed with another receivers.every?") from error

    def at(self, times):
        """The traces at other times, interpolated on the eight samples around each. UsageError for times before the
        first sample or after the last one, and as of `even`."""
        kept, usual = self.even
        time, times, slack = self.time[kept], np.asarray(times, dtype=float), EVEN * usual
        if len(times) and not time[0] - slack <= np.min(times) <= np.max(times) <= time[-1] + slack:
            raise UsageError(f"traces at t = {np.min(times):.6g} to {np.max(times):.6g} are wanted; the samples reach "
                             f"from {time[0]:.6g} to {time[-1]:.6g}")  # fmt: skip
        return interpolated(time, self.p[kept], np.clip(times, time[0], time[-1]))

    def evenly(self, interval):
        """The traces at t = time[0], time[0] + interval, ... up to the last sample, as by `at`."""
        return self.at(times_from(self.time[0], interval, self.time[self.even[0]][-1]))


def times_from(start, interval, end):
    """start, start + interval, ... up to end."""
    return np.minimum(start + interval * np.arange(int((end - start) / interval + EVEN) + 1), end)


def read_receivers(path):
    """The traces in a file. DataError."""
    try:
        with h5py.File(path) as file:
            found = Receivers(*(file[name][()] for name in ("positions", "time", "step", "p")))
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; has the run [receivers]?") from error
    except (OSError, KeyError) as error:
        raise DataError(f"{path}: not a file of receivers: {error}") from error
    shape = (len(found.time), len(found.positions))
    if found.p.shape != shape or found.step.shape != shape[:1] or 0 in shape:
        raise DataError(f"{path}: p has the shape {found.p.shape}; {shape[0]} times and {shape[1]} receivers are there")
    return found


def chosen(receivers, numbers):
    """Numbers of the traces to draw: as asked for, or spread evenly. UsageError."""
    count = receivers.p.shape[1]
    if unknown := [number for number in numbers or () if not 0 <= number < count]:
        raise UsageError(f"no receiver {unknown[0]}; there are 0 to {count - 1}")
    return numbers or sorted(set(np.linspace(0, count - 1, min(count, MOST_TRACES)).round().astype(int)))


def draw_samples(ax, across, time, p, **colours):
    """A cell for each sample, which reaches halfway to its neighbours. Equal steps make an image, and others (a run
    that was resumed, or shortened its steps) a mesh."""
    beside, steps = (across[1] - across[0]) / 2, np.diff(time)
    before, after = (steps[0] / 2, steps[-1] / 2) if len(steps) else (0, 0)
    if np.all(np.abs(steps - steps[:1]) <= EVEN * steps[:1]):
        place = (across[0] - beside, across[-1] + beside, time[-1] + after, time[0] - before)
        return ax.imshow(p, extent=place, aspect="auto", interpolation="nearest", **colours)
    edges = [time[0] - before, *(time[1:] + time[:-1]) / 2, time[-1] + after]
    mesh = ax.pcolormesh([*(across - beside), across[-1] + beside], edges, p, rasterized=True, **colours)
    ax.invert_yaxis()
    return mesh


def draw_section(run, receivers, ax, clip):
    """All traces side by side as colours, time downwards; over the place of receivers that stand evenly in a line."""
    axis, p, time = receivers.axis, receivers.p, receivers.time
    across = receivers.positions[:, axis] if axis is not None else np.arange(p.shape[1])
    steps = np.diff(across)
    if steps[0] <= 0 or np.max(np.abs(steps - steps[0])) > EVEN * steps[0]:
        across, axis = np.arange(p.shape[1]), None
    reach = clip or float(np.percentile(np.abs(p), CLIPPED)) or float(np.max(np.abs(p))) or 1.0
    image = draw_samples(ax, across, time, p, cmap="RdBu_r", vmin=-reach, vmax=reach)
    ax.grid(False)
    ax.set_xlabel("receiver" if axis is None else style.with_unit(f"${'xyz'[axis]}$", run.unit("length")))
    ax.set_ylabel(style.with_unit("$t$", run.unit("time")))
    bar = ax.figure.colorbar(image, ax=ax, extend="both", pad=0.02)
    bar.set_label(style.with_unit("$p$", run.unit("p")))
    bar.formatter.set_powerlimits(POWERS)


@style.styled
def draw_receivers(run, numbers=None, clip=None):
    """The figure: the section of all traces, if they are LEAST_SECTION or more, and some traces. numbers: of these
    traces. clip: the magnitude at which colours end."""
    receivers = run.receivers
    shown, wide = chosen(receivers, numbers), receivers.p.shape[1] >= LEAST_SECTION
    size = style.chosen_size(8.6 if wide else 6.0, 4.4)
    fig = Figure(figsize=size)
    place = style.edges(size, 0.75, 0.25, 0.5, 0.85)
    columns = 1 + wide
    panels = fig.subplots(1, columns, squeeze=False, gridspec_kw=place | style.gaps(size, place, 1.5, 0.5, columns, 1))
    count, end = receivers.p.shape[1], f"{style.number(receivers.time[-1])} {run.unit('time')}".rstrip()
    style.heading(fig, run.name, f"{count} receiver{'s' * (count != 1)}, {len(receivers.time)} samples to t = {end}")
    if wide:
        draw_section(run, receivers, panels[0][0], clip)
    ax = panels[0][-1]
    for number, colour in zip(shown, style.COLOURS * len(shown)):
        where = " ".join(style.number(x) for x in receivers.positions[number])
        ax.plot(receivers.time, receivers.p[:, number], color=colour, lw=1.0, label=f"{number}: {where}")
    ax.set_xlabel(style.with_unit("$t$", run.unit("time")))
    ax.set_ylabel(style.with_unit("$p$", run.unit("p")))
    ax.ticklabel_format(axis="y", scilimits=POWERS)
    ax.legend(loc="best", title="receiver: x y z", title_fontsize=style.points(8))
    return fig


def interval_of(receivers, interval, seconds):
    """(interval in the run's unit of time, the same in whole microseconds): the next whole one below the run's, or that
    which is asked for in microseconds. UsageError."""
    own = receivers.even[1] * seconds * 1e6
    whole = int(own * (1 + 1e-9)) if interval is None else interval
    if not 1 <= whole <= LONGEST or whole != int(whole):
        raise UsageError(f"an interval of {whole} microseconds; SEG-Y takes whole ones, 1 to {LONGEST}: the run's is "
                         f"{own:.6g}; `interval` chooses another, `seconds` is the run's unit of time")  # fmt: skip
    return whole * 1e-6 / seconds, int(whole)


def traces_from(receivers, interval, seconds):
    """(traces (n, m), the time of their first samples in whole milliseconds). SEG-Y counts that time in milliseconds:
    traces begin at the last whole one that is not after the first sample, and are zero before that sample. UsageError
    for a time that SEG-Y cannot hold."""
    kept, usual = receivers.even
    time = receivers.time[kept]
    delay = math.floor(time[0] * seconds * 1e3 * (1 + 1e-9))
    if not 0 <= delay <= LONGEST:
        raise UsageError(f"the first sample is at {delay} ms; SEG-Y takes 0 to {LONGEST}: `seconds` is the run's unit "
                         "of time")  # fmt: skip
    wanted = times_from(delay * 1e-3 / seconds, interval, time[-1])
    known = wanted >= time[0] - EVEN * usual
    traces = np.zeros((receivers.p.shape[1], len(wanted)), dtype=np.float32)
    traces[:, known] = receivers.at(wanted[known]).T
    return traces, delay


def scale_of(positions):
    """The power of ten, at most 10,000, by which coordinates become whole numbers of four bytes. UsageError."""
    largest = float(np.max(np.abs(positions))) or 1.0
    for scale in (10000, 1000, 100, 10, 1):
        if largest * scale < 2**31:
            return scale
    raise UsageError(f"a coordinate of {largest:.6g} m; SEG-Y takes less than {2**31}: `metres` is the run's unit of "
                     "length")  # fmt: skip


def check_apart(positions, scale):
    """UsageError if receivers at different places get the same coordinates."""
    places, numbers = np.unique(np.rint(positions * scale), axis=0, return_inverse=True)
    if len(places) < len(positions):
        order = np.argsort(numbers.ravel(), kind="stable")
        first = np.flatnonzero(np.diff(numbers.ravel()[order]) == 0)[0]
        raise UsageError(f"receivers {order[first]} and {order[first + 1]} have the same coordinates in whole "
                         f"{1 / scale:g} m, as SEG-Y takes them; `metres` is the run's unit of length: 1000 times "
                         "that writes millimetres as metres")  # fmt: skip


def sources_of(run):
    """Coordinates of the run's point source, if there is one alone and the configuration names it."""
    text = run.config.get("point_sources", {}).get("points", "").strip('"')
    try:
        places = [[float(word) for word in place.split()] for place in text.split(";") if place.strip()]
    except ValueError:
        return None
    return np.array(places[0]) if len(places) == 1 and len(places[0]) == 3 else None


def headers(number, position, source, scale):
    """{name of a field of segyio.TraceField: value} of a trace, as far as traces differ. Places are in metres."""
    x, y, z = (round(value * scale) for value in position)
    found = {"TRACE_SEQUENCE_LINE": number + 1, "TRACE_SEQUENCE_FILE": number + 1, "TraceNumber": number + 1,
             "FieldRecord": 1, "TraceIdentificationCode": 1, "SourceGroupScalar": -scale, "ElevationScalar": -scale,
             "GroupX": x, "GroupY": y, "ReceiverGroupElevation": -z, "CoordinateUnits": 1}  # fmt: skip
    if source is not None:
        at = [round(value * scale) for value in source]
        distance = np.linalg.norm(position[:2] - source[:2])
        found |= {"SourceX": at[0], "SourceY": at[1], "SourceDepth": at[2], "offset": round(distance)}
    return found


def write_segy(run, path, interval=None, seconds=1.0, metres=1.0):
    """Write a run's traces to a SEG-Y file of IEEE numbers in single precision; needs segyio. Returns the path.

    SEG-Y counts time in whole microseconds: traces are interpolated to an `interval` of so many, by default the next
    whole number below the run's own. seconds: those in the run's unit of time, such as 1e-3 if it counts milliseconds.
    Traces begin at a whole millisecond, their DelayRecordingTime, with zeros up to the run's first sample. metres:
    those in the run's unit of length, such as 1e3 if it counts kilometres. z counts downwards: a receiver's elevation
    is -z, the depth of a source z. Coordinates are scaled as their headers say; the offset is in whole metres, for
    which SEG-Y has no scale. UsageError for an interval, a delay or a length that SEG-Y cannot hold, and for
    receivers whose places it cannot tell apart."""
    import segyio  # optional

    receivers, path = run.receivers, Path(path)
    step, microseconds = interval_of(receivers, interval, seconds)
    traces, delay = traces_from(receivers, step, seconds)
    count, samples = traces.shape
    if samples > LONGEST:
        raise UsageError(f"{samples} samples in a trace; SEG-Y takes {LONGEST}: `interval` chooses a longer one")
    positions, source = receivers.positions * metres, sources_of(run)
    source = None if source is None else source * metres
    scale = scale_of(positions if source is None else np.vstack([positions, source]))
    check_apart(positions, scale)
    spec = segyio.spec()
    spec.format, spec.sorting = 5, 2
    spec.samples, spec.tracecount = delay + np.arange(samples) * microseconds * 1e-3, count
    same = {"TRACE_SAMPLE_COUNT": samples, "TRACE_SAMPLE_INTERVAL": microseconds, "DelayRecordingTime": delay}
    with style.whole_file(path) as part, segyio.create(str(part), spec) as file:
        words = {1: f"fdapp run {run.name}", 2: "p at receivers of a wave", 4: f"coordinates times {scale}",
                 3: f"interval {microseconds} us; 1 unit of time is {seconds:g} s, of length {metres:g} m",
                 5: f"zeros before the first sample at {receivers.time[0] * seconds:.9g} s"}  # fmt: skip
        file.text[0] = segyio.tools.create_text_header(words)
        file.bin.update(hdt=microseconds, hns=samples, format=5, ntrpr=count if count <= LONGEST else 0, mfeet=1)
        for number in range(count):
            fields = headers(number, positions[number], source, scale) | same
            file.header[number] = {getattr(segyio.TraceField, name): value for name, value in fields.items()}
            file.trace[number] = traces[number]
    return path
