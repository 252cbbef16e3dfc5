"""Isotropic turbulence to start from: a solenoidal velocity with a given spectrum, from a seed."""

import numbers
import operator

import numpy as np

from .errors import UsageError
from .spectrum import shell_sums, waves
from .writer import write_field

EDGE = 2 * np.pi


def peaked(peak):
    """The spectrum k^4 exp(-2 (k/peak)^2), which is largest at `peak`, for a mean of |u|^2 of 1."""
    scale = 16 * np.sqrt(2 / np.pi) / 3 / peak**5  # over all k the energy is 1/2
    return lambda k: scale * k**4 * np.exp(-2 * (k / peak) ** 2)


def isotropic_turbulence(n, spectrum, seed, mach, path="turbulence.hdf", gamma=1.4):
    """Write a state of `equation = flow` with n x n x n points in a periodic box with the edge 2 pi, which
    `initial.case = file` reads. Returns the path.

        fdpost.isotropic_turbulence(64, 4, seed=1, mach=0.3, path="runs/turbulence.hdf")

    spectrum: the kinetic energy |u|^2/2 per unit of k of the waves with round(|k|) = k, as a function of an array of k
    = 1, 2, ... below n/2; longer waves than k = 1 and those from n/2 on have none. A number instead is the k at which
    k^4 exp(-2 (k/peak)^2) is largest, for which the mean of |u|^2 is nearly 1. The velocity has no divergence: each
    Fourier coefficient is at right angles to its wave vector. Directions and phases follow from the seed: the same one
    gives the same bits with one version of numpy on one kind of processor. The density is 1 and the pressure uniform,
    so that the root of the mean of |u|^2 is `mach` times the speed of sound. UsageError for values that make no such
    state: a spectrum that is negative, or zero everywhere, for example."""
    n, seed = whole("n", n, 9), whole("seed", seed, 0)
    check_range("mach", mach, 1e-6, 100)  # as initial.mach
    check_range("gamma", gamma, 1.000001, 100)  # as physics.gamma
    if np.isscalar(spectrum) and not spectrum > 0:
        raise UsageError(f"spectrum = {spectrum}: a wavenumber above zero, or a function of wavenumbers, is needed")
    velocity = solenoidal_noise(n, seed)
    k = np.arange(1, (n + 1) // 2)
    energy = np.zeros(n)
    with np.errstate(all="ignore"):  # what is not finite is refused
        wanted = peaked(spectrum) if np.isscalar(spectrum) else spectrum
        energy[k] = wanted(k.astype(float))
    if not (np.isfinite(energy).all() and (energy >= 0).all() and energy.any()):
        raise UsageError("the spectrum must be finite, nowhere negative, and above zero somewhere")
    along_x, along_y, along_z = waves((n, n, n), (EDGE,) * 3)[0]
    shell = np.rint(np.sqrt(along_x**2 + along_y[:, None] ** 2 + along_z[:, None, None] ** 2)).astype(int)
    found, total, _ = shell_sums(0.5 * sum(np.abs(u) ** 2 for u in velocity), (n, n, n), (EDGE,) * 3)
    factor = np.zeros(shell.max() + 1)
    factor[k] = np.sqrt(energy[k] / total[np.searchsorted(found, k)])
    u, v, w = (np.fft.irfftn(u * factor[shell] * n**3, (n, n, n), (0, 1, 2)) for u in velocity)
    pressure = np.full((n, n, n), 2 * energy.sum() / (gamma * mach**2))
    return write_field(path, density=np.ones((n, n, n)), u=u, v=v, w=w, pressure=pressure, lengths=(EDGE,) * 3)


def whole(name, value, least):
    """The value as an int. UsageError if it is no whole number, or below `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise UsageError(f"{name} = {value}: a whole number from {least} on is needed")
    return number


def check_range(name, value, least, most):
    """UsageError for anything but a number in this range."""
    if not isinstance(value, numbers.Real) or not least <= value <= most:
        raise UsageError(f"{name} = {value}: a number from {least} to {most} is needed")


def solenoidal_noise(n, seed):
    """Fourier coefficients, as of rfftn, of white noise less its part along each wave vector."""
    raw = np.random.PCG64(seed).random_raw(3 * n**3)
    noise = ((raw >> np.uint64(11)) * 2.0**-53 - 0.5).reshape(3, n, n, n)
    kx, ky, kz = waves((n, n, n), (EDGE,) * 3)[0]
    k = kx, ky[:, None], kz[:, None, None]
    square = sum(each**2 for each in k)
    square[0, 0, 0] = 1.0
    coefficients = [np.fft.rfftn(each) for each in noise]
    along = sum(each * u for each, u in zip(k, coefficients)) / square
    return [u - each * along for each, u in zip(k, coefficients)]
