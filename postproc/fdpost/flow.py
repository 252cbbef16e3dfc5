"""What snapshots of a compressible flow tell: spectra of kinetic energy, entropy."""

import numpy as np

from . import style, units
from .errors import DataError
from .spectrum import Curve, draw_quantities, round_off, shell_sums, waves

VELOCITY = ("u", "v", "w")


def velocity_spectra(velocity, lengths):
    """Spectra of the kinetic energy |u|^2/2 of a velocity, three arrays (nz, ny, nx), on a periodic domain of `lengths`
    (x, y, z): (k, solenoidal, dilatational, number of wave vectors).

    The part of a Fourier coefficient along its wave vector is dilatational, the rest solenoidal. Values are energies
    per unit of k: those of the shell round(|k| / dk) = s, with dk = 2 pi / (longest edge), over dk. The sum over both
    parts, all k and dk is the mean of |u|^2/2; the mean velocity stands at k = 0 and counts as solenoidal."""
    shape = velocity[0].shape
    coefficients = [np.fft.rfftn(np.asarray(u, dtype=float)) / u.size for u in velocity]
    (kx, ky, kz), dk = waves(shape, lengths)
    k = kx, ky[:, None], kz[:, None, None]
    square = sum(each**2 for each in k)
    square[0, 0, 0] = 1.0
    along = sum(each * u for each, u in zip(k, coefficients)) / square
    powers = (sum(np.abs(u - each * along) ** 2 for each, u in zip(k, coefficients)), square * np.abs(along) ** 2)
    solenoidal, dilatational = (shell_sums(0.5 * power, shape, lengths) for power in powers)
    return solenoidal[0], solenoidal[1] / dk, dilatational[1] / dk, solenoidal[2]


def kinetic_curves(state):
    """The solenoidal and the dilatational spectrum of a state."""
    velocity = [state.read(name) for name in VELOCITY]
    k, *spectra, count = velocity_spectra(velocity, state.lengths)
    floor = sum(map(round_off, velocity)) * count
    return [Curve(k, values, floor * max(state.lengths) / (2 * np.pi)) for values in spectra]


@style.styled
def draw_kinetic(run, states):
    """Figure of the spectra of the kinetic energy at `states`, solenoidal and dilatational. DataError if there is
    none."""
    pairs = [kinetic_curves(state) for state in states]
    quantities = list(zip(("solenoidal", "dilatational"), zip(*pairs)))
    speed, length = units.shared(map(states[0].unit, VELOCITY)), states[0].unit("length")
    unit = f"{units.squared(speed)} {units.bracketed(length)}" if speed and length else ""
    label = style.with_unit("$E(k)$", unit)
    fig = draw_quantities(run, states, "spectrum of the kinetic energy", quantities, label)
    if fig is None:
        raise DataError(f"{run.directory}: nothing moves, or the velocity is not finite: it has no spectrum")
    return fig


def entropy(state):
    """The entropy of a state at each point, R/(gamma - 1) ln(p / density^gamma), with the numbers of its run. Its mean
    is mean_entropy()."""
    physics = state.config.get("physics", {})
    gamma, gas_constant = (float(physics.get(*each)) for each in (("gamma", 1.4), ("gas_constant", 1.0)))
    density, pressure = (np.asarray(state.read(name), dtype=float) for name in ("density", "pressure"))
    return gas_constant / (gamma - 1) * (np.log(pressure) - gamma * np.log(density))


def mean_entropy(state):
    """The mean over the volume of density times entropy. The equations keep it without viscosity and shocks, and
    friction raises it."""
    return float(np.mean(np.asarray(state.read("density"), dtype=float) * entropy(state)))
