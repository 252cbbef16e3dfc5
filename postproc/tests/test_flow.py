"""Spectra, entropy and turbulent initial states of compressible flow; references are sums over single waves."""

import h5py
import numpy as np
import pytest
import synthetic

import fdpost
from fdpost import Run, UsageError, style
from fdpost.flow import draw_kinetic, entropy, mean_entropy, velocity_spectra

pytestmark = pytest.mark.quick

EDGE = 2 * np.pi


def mesh(shape, lengths):
    """x, y, z of each point."""
    z, y, x = np.meshgrid(*(np.arange(n) * (length / n) for n, length in zip(shape, lengths[::-1])), indexing="ij")
    return x, y, z


def test_a_wave_is_split_into_its_two_parts():
    """Along k = (2, 3, 6) the part (2, 3, 6)/7 is dilatational, (3, -2, 0) at right angles solenoidal; k is 7."""
    x, y, z = mesh((16, 12, 20), (EDGE,) * 3)
    phase = 2 * x + 3 * y + 6 * z
    along, beside = 0.7 * np.cos(phase), 0.5 * np.sin(phase + 1)
    u, v, w = 2 / 7 * along + 3 * beside, 3 / 7 * along - 2 * beside + 0.25, 6 / 7 * along
    k, solenoidal, dilatational, _ = velocity_spectra((u, v, w), (EDGE,) * 3)
    assert solenoidal[k == 7] == pytest.approx(13 * 0.5**2 / 4) and dilatational[k == 7] == pytest.approx(0.7**2 / 4)
    assert solenoidal[0] == pytest.approx(0.25**2 / 2)
    other = (k != 7) & (k != 0)
    assert max(solenoidal[other].max(), dilatational[k != 7].max()) < 1e-28


@pytest.mark.parametrize("shape, lengths", [((8, 10, 12), (1.0, 1.0, 1.0)), ((9, 7, 11), (2.0, 1.0, 0.5))])
def test_spectra_keep_the_energy(shape, lengths):
    velocity = np.random.default_rng(1).standard_normal((3, *shape))
    _, solenoidal, dilatational, count = velocity_spectra(velocity, lengths)
    dk = EDGE / max(lengths)
    assert count.sum() == np.prod(shape)
    assert (solenoidal + dilatational).sum() * dk == pytest.approx(0.5 * (velocity**2).sum(0).mean(), rel=1e-12)


def write_flow(path, **fields):
    """A run with one snapshot of a flow."""
    shape = next(iter(fields.values())).shape
    synthetic.write_run(path, shape=shape, steps=(0,), lengths=(EDGE,) * 3, errors=False)
    config = (path / "config.ini").read_text() + "[physics]\nequation = flow\ngamma = 1.5\ngas_constant = 3\n"
    (path / "config.ini").write_text(config)
    snapshot = path / "state_00000000.hdf"
    with h5py.File(snapshot, "r+") as file:
        del file["VTKHDF/PointData/phi"]
        for name, values in fields.items():
            file[f"VTKHDF/PointData/{name}"] = values
    synthetic.mark(snapshot, config=config, fields=" ".join(fields), picture=1)
    return Run(path)


def test_entropy(tmp_path):
    """With gamma = 1.5 and R = 3, s = 6 ln(p / rho^1.5): p = e rho^1.5 has the entropy 6 wherever rho is."""
    x, y, _ = mesh((9, 9, 9), (EDGE,) * 3)
    density = 1 + 0.5 * np.sin(x) * np.cos(y)
    run = write_flow(tmp_path / "run", density=density, pressure=np.e * density**1.5)
    assert entropy(run.states[0]) == pytest.approx(6 * np.ones((9, 9, 9)))
    assert mean_entropy(run.states[0]) == pytest.approx(6 * density.mean())


def test_the_picture_of_the_kinetic_spectrum(tmp_path, fdplot):
    x, _, _ = mesh((9, 9, 16), (EDGE,) * 3)
    zero = np.zeros_like(x)
    fields = {"u": np.cos(2 * x), "v": np.sin(5 * x), "w": zero}
    run = write_flow(tmp_path / "run", density=1 + zero, **fields)
    lines = draw_kinetic(run, run.states).axes[0].lines
    peaks = {line.get_label(): line.get_xdata()[np.argmax(line.get_ydata())] for line in lines}
    assert peaks["solenoidal, t = 0"] == pytest.approx(5) and peaks["dilatational, t = 0"] == pytest.approx(2)
    synthetic.mark(run.states[0].path, units_length="m", units_u="m/s", units_v="m/s", units_w="m/s")
    with style.look():
        (ax,) = draw_kinetic(run, Run(run.directory).states).axes
        ax.figure.draw_without_rendering()
    assert ax.get_ylabel() == "$E(k)$ / (m/s)^2 m" and "radians per m)" in ax.get_xlabel()
    assert ax.get_legend().get_window_extent().x1 < ax.figure.bbox.x1
    code, out, _ = fdplot("spectrum", run.directory, "--kinetic")
    assert code == 0 and out.strip() == str(run.directory / "spectrum_kinetic.png")
    assert fdplot("spectrum", run.directory, "--kinetic", "--field", "u")[0] == 2
    still = write_flow(tmp_path / "still", u=zero, v=zero, w=zero)
    assert fdplot("spectrum", still.directory, "--kinetic")[0] == 3


def test_planes_of_derived_fields(tmp_path, fdplot):
    """A component of the vorticity and the Q criterion beside the unknowns; `vorticity` stands for three fields."""
    x, y, _ = mesh((9, 9, 16), (EDGE,) * 3)
    derived = {f"vorticity_{axis}": np.sin(x) for axis in "xyz"} | {"q_criterion": np.cos(y)}
    run = write_flow(tmp_path / "run", density=1 + 0 * x, **derived).directory
    assert fdplot("slices", run, "--field", "vorticity", "q_criterion")[0] == 0
    assert (run / "slices_vorticity_q_criterion.png").exists()


SPECTRUM = np.array([0, 0.1, 0.3, 0.2, 0.1, 0.05, 0, 0])  # of k = 0 ... 7 on 16 points


@pytest.mark.parametrize("n", [16, 15])
def test_turbulence_has_the_spectrum(tmp_path, n):
    path = fdpost.isotropic_turbulence(n, lambda k: SPECTRUM[k.astype(int)], 5, 0.25, path=tmp_path / "t.hdf")
    state = Run(path).frame
    u, v, w, density, pressure = (state.read(name) for name in ("u", "v", "w", "density", "pressure"))
    assert state.lengths == pytest.approx((EDGE,) * 3)
    _, solenoidal, dilatational, _ = velocity_spectra((u, v, w), state.lengths)
    assert solenoidal[:8] == pytest.approx(SPECTRUM, rel=1e-12, abs=1e-28) and solenoidal[8:].max() < 1e-28
    assert dilatational.max() < 1e-28
    speed = np.sqrt((u**2 + v**2 + w**2).mean())
    assert (density == 1).all() and speed / np.sqrt(1.4 * pressure) == pytest.approx(0.25 * np.ones((n,) * 3))
    parts = [(each**2).mean() for each in (u, v, w)]
    assert min(parts) > 0.6 * max(parts)  # no direction is preferred


def test_turbulence_from_a_peak_and_a_seed(tmp_path):
    first, again, other = (
        fdpost.isotropic_turbulence(np.int64(24), 4, seed, 0.3, tmp_path / f"{i}.hdf")
        for i, seed in enumerate((1, 1, 2))
    )
    u, v, w = ([Run(path).frame.read(name) for name in "uvw"] for path in (first, again, other))
    assert all((a == b).all() for a, b in zip(u, v)) and not any((a == b).any() for a, b in zip(u, w))
    k, energy, *_ = velocity_spectra(u, (EDGE,) * 3)
    shape = k[1:12] ** 4 * np.exp(-2 * (k[1:12] / 4) ** 2)
    assert energy[1:12] / energy[4] == pytest.approx(shape / shape[3]) and energy.argmax() == 4
    assert sum((each**2).mean() for each in u) == pytest.approx(1, rel=5e-3)  # waves from k = 12 on are left out


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        *(({"n": n}, f"n = {n}: a whole number from 9 on") for n in (8, 32.5, "32")),
        *(({"seed": seed}, f"seed = {seed}: a whole number from 0 on") for seed in (-1, 1.5, None)),
        *(({"mach": mach}, f"mach = {mach}: a number from 1e-06 to 100") for mach in (0, np.inf, np.nan, 1e-200, "1")),
        *(({"gamma": gamma}, f"gamma = {gamma}: a number from 1.000001 to 100") for gamma in (1, np.inf)),
        *(({"spectrum": peak}, f"spectrum = {peak}: a wavenumber above zero") for peak in (0, -4, np.nan)),
        *(({"spectrum": spectrum}, "finite, nowhere negative") for spectrum in (1e-200, lambda k: -k, lambda k: 0 * k)),
    ],
)
def test_turbulence_refuses(tmp_path, change, said):
    arguments = {"n": 16, "spectrum": 4, "seed": 1, "mach": 0.3, "path": tmp_path / "t.hdf"} | change
    with pytest.raises(UsageError, match=said):
        fdpost.isotropic_turbulence(**arguments)
    assert not list(tmp_path.iterdir())
