"""Traces of a run's receivers (receivers.h5): reading, pictures, and SEG-Y files."""

from dataclasses import dataclass

import h5py
import numpy as np
from matplotlib.figure import Figure

from . import style
from .errors import DataError, UsageError
from .series import EVEN

MOST_TRACES = 6  # of a picture, if none are chosen
LEAST_SECTION = 8  # receivers that make a section
CLIPPED = 95  # percent of a section's magnitudes that lie within its colours
POWERS = (-2, 4)  # of ten, beyond which they stand apart from the numbers of an axis
NEAR = 8  # samples of an interpolation in time
LONGEST = 32767  # of an interval and of a trace, in SEG-Y's numbers of two bytes


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

    def evenly(self, interval):
        """The traces at multiples of `interval`, interpolated on eight samples."""
        count = int(self.time[-1] / interval * (1 + 1e-12)) + 1
        return resampled(self.time, self.p, interval * np.arange(count))


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


def resampled(time, values, wanted):
    """Values (m, n) at other times, by Lagrange's polynomial through the eight samples around each (as many as there
    are, if fewer). UsageError if the samples do not lie evenly."""
    steps, near = np.diff(time), min(NEAR, len(time))
    if len(time) > 1 and np.max(np.abs(steps - steps[0])) > EVEN * steps[0]:
        raise UsageError("the samples of the receivers do not lie evenly in time")
    place = (wanted - time[0]) / (steps[0] if len(time) > 1 else 1.0)
    first = np.clip(np.floor(place).astype(int) - (near - 1) // 2, 0, len(time) - near)
    result = np.zeros((len(wanted), values.shape[1]))
    for k in range(near):
        others = [i for i in range(near) if i != k]
        weight = np.prod([(place - first - i) / (k - i) for i in others], axis=0)
        result += weight[:, None] * values[first + k]
    return result


def chosen(receivers, numbers):
    """Numbers of the traces to draw: as asked for, or spread evenly. UsageError."""
    count = receivers.p.shape[1]
    if unknown := [number for number in numbers or () if not 0 <= number < count]:
        raise UsageError(f"no receiver {unknown[0]}; there are 0 to {count - 1}")
    return numbers or sorted(set(np.linspace(0, count - 1, min(count, MOST_TRACES)).round().astype(int)))


def draw_section(run, receivers, ax, clip):
    """All traces side by side as colours, time downwards; over the place of receivers that stand evenly in a line."""
    axis, p, time = receivers.axis, receivers.p, receivers.time
    across = receivers.positions[:, axis] if axis is not None else np.arange(p.shape[1])
    steps = np.diff(across)
    if steps[0] <= 0 or np.max(np.abs(steps - steps[0])) > EVEN * steps[0]:
        across, axis = np.arange(p.shape[1]), None
    beside, after = (across[1] - across[0]) / 2, (time[-1] - time[0]) / max(len(time) - 1, 1) / 2
    place = (across[0] - beside, across[-1] + beside, time[-1] + after, time[0] - after)
    reach = clip or float(np.percentile(np.abs(p), CLIPPED)) or float(np.max(np.abs(p))) or 1.0
    image = ax.imshow(p, cmap="RdBu_r", vmin=-reach, vmax=reach, extent=place, aspect="auto", interpolation="nearest")
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
    own = (receivers.time[-1] - receivers.time[0]) / max(len(receivers.time) - 1, 1) * seconds * 1e6
    whole = int(own * (1 + 1e-9)) if interval is None else interval
    if not 1 <= whole <= LONGEST or whole != int(whole):
        raise UsageError(f"an interval of {whole} microseconds; SEG-Y takes whole ones, 1 to {LONGEST}: the run's is "
                         f"{own:.6g}; `interval` chooses another, `seconds` is the run's unit of time")  # fmt: skip
    return whole * 1e-6 / seconds, int(whole)


def scale_of(positions):
    """The power of ten, at most 10,000, by which coordinates become whole numbers of four bytes."""
    largest = float(np.max(np.abs(positions))) or 1.0
    return next((scale for scale in (10000, 1000, 100, 10) if largest * scale < 2**31), 1)


def sources_of(run):
    """Coordinates of the run's point source, if there is one alone and the configuration names it."""
    text = run.config.get("point_sources", {}).get("points", "").strip('"')
    try:
        places = [[float(word) for word in place.split()] for place in text.split(";") if place.strip()]
    except ValueError:
        return None
    return np.array(places[0]) if len(places) == 1 and len(places[0]) == 3 else None


def headers(receivers, number, source, scale, microseconds, samples):
    """{name of a field of segyio.TraceField: value} of a trace."""
    x, y, z = (round(value * scale) for value in receivers.positions[number])
    found = {"TRACE_SEQUENCE_LINE": number + 1, "TRACE_SEQUENCE_FILE": number + 1, "TraceNumber": number + 1,
             "FieldRecord": 1, "TraceIdentificationCode": 1, "SourceGroupScalar": -scale, "ElevationScalar": -scale,
             "GroupX": x, "GroupY": y, "ReceiverGroupElevation": -z, "CoordinateUnits": 1,
             "TRACE_SAMPLE_COUNT": samples, "TRACE_SAMPLE_INTERVAL": microseconds}  # fmt: skip
    if source is not None:
        at = [round(value * scale) for value in source]
        distance = np.linalg.norm(receivers.positions[number][:2] - source[:2])
        found |= {"SourceX": at[0], "SourceY": at[1], "SourceDepth": at[2], "offset": round(distance)}
    return found


def write_segy(run, path, interval=None, seconds=1.0):
    """Write a run's traces to a SEG-Y file of IEEE numbers in single precision; needs segyio. Returns the path.

    SEG-Y counts time in whole microseconds: traces are interpolated to an `interval` of so many, by default the next
    whole number below the run's own. seconds: those in the run's unit of time, such as 1e-3 if it counts milliseconds.
    z counts downwards: a receiver's elevation is -z, the depth of a source z. Coordinates are scaled as their headers
    say; the offset is in whole units of length, for which SEG-Y has no scale. UsageError for an interval or a length
    that SEG-Y cannot hold."""
    import segyio  # optional

    receivers = run.receivers
    step, microseconds = interval_of(receivers, interval, seconds)
    traces = np.ascontiguousarray(receivers.evenly(step).T, dtype=np.float32)
    count, samples = traces.shape
    if samples > LONGEST:
        raise UsageError(f"{samples} samples in a trace; SEG-Y takes {LONGEST}: `interval` chooses a longer one")
    source = sources_of(run)
    scale = scale_of(receivers.positions if source is None else np.vstack([receivers.positions, source]))
    spec = segyio.spec()
    spec.format, spec.sorting = 5, 2
    spec.samples, spec.tracecount = np.arange(samples) * microseconds * 1e-3, count
    with style.whole_file(path) as part, segyio.create(str(part), spec) as file:
        words = {1: f"fdapp run {run.name}", 2: "p at receivers of a wave", 4: f"coordinates times {scale}",
                 3: f"interval {microseconds} us; 1 unit of time is {seconds:g} s"}  # fmt: skip
        file.text[0] = segyio.tools.create_text_header(words)
        file.bin.update(hdt=microseconds, hns=samples, format=5, ntrpr=count if count <= LONGEST else 0)
        for number in range(count):
            fields = headers(receivers, number, source, scale, microseconds, samples)
            file.header[number] = {getattr(segyio.TraceField, name): value for name, value in fields.items()}
            file.trace[number] = traces[number]
    return path
