"""Time series at equal steps, which a spectrum and SEG-Y need."""

from dataclasses import dataclass

import numpy as np

from .errors import UsageError

EVEN = 1e-6  # relative difference of steps that count as equal
LEAST = 16  # samples
NEAR = 8  # samples of an interpolation: a wave of eight samples a period then keeps its values to 0.03 %
CLOSEST, WIDEST = 0.5, 2.0  # gaps between the samples of an interpolation, of the usual one


@dataclass(frozen=True)
class Series:
    """Samples at equal steps. interpolated: whether they are others than those of the run."""

    values: np.ndarray
    dt: float
    interpolated: bool


def equal(time):
    """Whether the steps are, but for the last one: a run's last step may be shortened."""
    steps = np.diff(time)[:-1]
    return bool(np.all(np.abs(steps - steps[:1]) <= EVEN * np.abs(steps[:1])))


def evenly(time, values):
    """The Series of samples. Equal steps stay as they are, and a last one of another length is left out. Else the
    values are interpolated to steps of the usual length, from the first to the last sample. UsageError for fewer than
    LEAST samples, and where gaps of more than WIDEST usual ones would have to be filled."""
    time, values = np.asarray(time, dtype=float), np.asarray(values, dtype=float)
    if len(time) < LEAST:
        raise UsageError(f"a spectrum needs at least {LEAST} samples; there are {len(time)}")
    try:
        kept, usual = usable(time)
    except UsageError as error:
        advice = "output.probes_at gives samples at equal times, for waves output.probes_every"
        raise UsageError(f"no spectrum: {error}; {advice}") from error
    if equal(time):
        return Series(values[kept], usual, False)
    count = max(LEAST, int(np.ceil((time[-1] - time[0]) / usual * (1 - EVEN))) + 1)
    wanted, dt = np.linspace(time[0], time[-1], count, retstep=True)
    return Series(interpolated(time[kept], values[kept], wanted), float(dt), True)


def usable(time):
    """(an index of the samples to interpolate on, the usual step). At equal steps it chooses all samples but a last one
    of another length, else all that are not too near to each other. UsageError for gaps of more than WIDEST usual
    steps."""
    if equal(time):
        steps = np.diff(time)
        count = len(time) - bool(len(steps) and abs(steps[-1] - steps[0]) > EVEN * abs(steps[0]))
        return slice(count), (time[count - 1] - time[0]) / max(count - 1, 1)
    usual = usual_step(time)
    kept = apart(time, CLOSEST * usual)
    widest = float(np.diff(time[kept]).max())
    if widest > WIDEST * usual * (1 + EVEN):
        raise UsageError(f"the samples' distances differ, {usual:.4g} as a rule and up to {widest:.4g}")
    return kept, usual


def usual_step(time):
    """The step of which half of the time consists of shorter ones: a shortened step counts little, however many there
    are."""
    steps = np.sort(np.diff(time))
    return float(steps[np.searchsorted(np.cumsum(steps), (time[-1] - time[0]) / 2)])


def apart(time, least):
    """Indices of samples that lie at least so far apart: between nearer ones an interpolation would enlarge what they
    were rounded by. The first and the last sample are always among them."""
    found = [0]
    for i in range(1, len(time)):
        if time[i] - time[found[-1]] >= least:
            found.append(i)
    if found[-1] != len(time) - 1:
        found[-1] = len(time) - 1
    return np.array(found)


def interpolated(time, values, wanted):
    """Values (m) or (m, n) at other times, by Lagrange's polynomial through the NEAR samples around each (as many as
    there are, if fewer)."""
    near = min(NEAR, len(time))
    first = np.clip(np.searchsorted(time, wanted, "right") - (near + 1) // 2, 0, len(time) - near)
    nodes = [time[first + k] for k in range(near)]
    result = np.zeros((len(wanted), *values.shape[1:]))
    for k in range(near):
        weight = np.ones(len(wanted))
        for i in range(near):
            if i != k:
                weight *= (wanted - nodes[i]) / (nodes[k] - nodes[i])
        result += weight.reshape(-1, *[1] * (values.ndim - 1)) * values[first + k]
    return result
