"""Published solutions that the budget of a compressible flow is compared with."""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from . import style
from .errors import UsageError

REYNOLDS = {"taylor-green": 1600.0}  # of each reference, which is the file data/NAME.txt
CASES = {"taylor-green": "taylor_green_vortex"}
MACH = 0.1  # up to here a run may stand for an incompressible flow, from which it differs as Mach^2


@dataclass(frozen=True)
class Reference:
    """A reference in a run's units: time, mean kinetic energy and its loss per time."""

    name: str
    time: np.ndarray
    kinetic: np.ndarray
    loss: np.ndarray


def read_reference(name, run):
    """The reference of this name for the run, whose velocity and density are 1, and whose length is lx/(2 pi).
    UsageError if the run is of another case, Reynolds number, box or law of viscosity, has a source or dissipation."""
    text = files(__package__).joinpath(f"data/{name}.txt").read_text("utf-8")
    time, kinetic, loss, _ = np.loadtxt(text.splitlines(), unpack=True)
    initial = run.config.get("initial", {})
    if initial.get("case") != CASES[name] or float(initial.get("reynolds", 0)) != REYNOLDS[name]:
        raise UsageError(
            f"--reference {name}: it is of initial.case = {CASES[name]} with initial.reynolds = {REYNOLDS[name]:g}; "
            f"{run.directory} has {initial.get('case', 'no case')} with {initial.get('reynolds', 'no number')}"
        )
    if not np.allclose(run.lengths, run.lengths[0], rtol=1e-6, atol=0):
        edges = ", ".join(style.number(length, 7) for length in run.lengths)
        raise UsageError(f"--reference {name}: it is of a cube; {run.directory} has the edges {edges}")
    physics, source = run.config.get("physics", {}), run.config.get("source", {})
    if float(physics.get("dissipation", 0)) != 0:
        raise UsageError(f"--reference {name}: it is of physics.dissipation = 0; {run.directory} has some")
    if any(value != "none" for key, value in source.items() if key == "file" or key.startswith("formula")):
        raise UsageError(f"--reference {name}: it is of a flow without sources; {run.directory} has some")
    law = physics.get("viscosity_law", "constant")
    if law != "constant":
        raise UsageError(f"--reference {name}: it is of physics.viscosity_law = constant; {run.directory} has {law}")
    length = run.lengths[0] / (2 * np.pi)
    return Reference(name, length * time, kinetic, loss / length)


def compressible(name, run):
    """A sentence on the run's Mach number, if it is above that at which the reference is compared; "" if not."""
    mach = float(run.config["initial"].get("mach", MACH))
    if mach <= MACH:
        return ""
    return f"note: --reference {name} is incompressible, and {run.directory} has initial.mach = {style.number(mach)}"


def compare(table, loss, reference):
    """Sentences on how far the run's kinetic energy and its loss lie from the reference, at the times of both."""
    shared = table["time"] <= reference.time[-1] * (1 + 1e-12)
    time, found = table["time"][shared], loss[shared]
    kinetic = np.interp(time, reference.time, reference.kinetic)
    off = np.abs(table["kinetic"][shared] - kinetic) / kinetic
    when = style.number(time[off.argmax()])
    lines = [f"kinetic energy: at most {percent(off.max())} from the reference (t = {when})"]
    known = np.isfinite(found)
    if not known.any():
        return [*lines, "loss of kinetic energy: unknown, there are fewer than three rows"]
    time, found = time[known], found[known]
    peak = int(reference.loss.argmax())
    off = np.abs(found - np.interp(time, reference.time, reference.loss)) / reference.loss[peak]
    return [
        *lines,
        f"loss of kinetic energy: at most {percent(off.max())} of the reference's peak from the reference"
        f" (t = {style.number(time[off.argmax()])})",
        f"its peak: {style.number(found.max())} at t = {style.number(time[found.argmax()])};"
        f" the reference's {style.number(reference.loss[peak])} at t = {style.number(reference.time[peak])}",
    ]


def percent(share):
    return f"{style.number(100 * share, 3)} %"
