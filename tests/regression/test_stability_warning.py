"""The warning of a step too large for advection and diffusion together, against the stability polynomial of every
Fourier mode of the grid; of sound between absorbing ends, against that of all eigenvalues of dense matrices; and runs
on either side of the step size that it names.

FDAPP: the program.
"""

import re

import numpy as np
import pytest

from dense import ends, matrix, norm
from program import launch, merged, rows, run, schemes, write_ini

POINTS = 16
# Limits on the imaginary and the negative real axis, divisors of the powers of the stability polynomial.
KNOWN = {
    "rk4": (2.8284, 2.7852, (1, 1, 2, 6, 24)),
    "ssprk3": (1.7320, 2.5127, (1, 1, 2, 6)),
    "rk3": (1.7320, 2.5127, (1, 1, 2, 6)),
    "ck45": (3.3407, 4.6567, (1, 1, 2, 6, 24, 200)),
    "kgu35": (3.8730, 3.0485, (1, 1, 2, 6, 30, 150)),
}
FIRST = {8: (4 / 5, -1 / 5, 4 / 105, -1 / 280), 4: (2 / 3, -1 / 12)}
SECOND = {8: (8 / 5, -1 / 5, 8 / 315, -1 / 560), 4: (4 / 3, -1 / 12)}

CONFIGURATION = {
    "grid": {"nx": POINTS, "ny": POINTS, "nz": POINTS},
    "initial": {"case": "sphere", "width": 0.2},
    "velocity": {"field": "uniform"},
    "time": {"steps": 400},
    "output": {"diagnostics_every": 200},
}


def symbols(order):
    """h k* of the first difference and -h^2 times the symbol of the second, of every phase in (-pi, pi]."""
    phase = np.pi * np.arange(-POINTS + 1, POINTS + 1) / POINTS
    first = 2 * sum(c * np.sin(k * phase) for k, c in enumerate(FIRST[order], 1))
    return first, 2 * sum(c * (1 - np.cos(k * phase)) for k, c in enumerate(SECOND[order], 1))


def growth(scheme, order, courants, diffusion, upwind=False):
    """Largest factor of a mode in one step; diffusion: kappa dt/h^2, the same along each axis."""
    first, second = symbols(order)
    z = 0
    for axis, courant in enumerate(courants):
        rate = -1j * courant * first - diffusion * second
        if upwind:
            phase = np.pi * np.arange(-POINTS + 1, POINTS + 1) / POINTS
            rate = rate - abs(courant) * (2 * np.sin(phase / 2)) ** order / {8: 280, 4: 12}[order]
        z = z + np.expand_dims(rate, [d for d in range(3) if d != axis])
    return np.abs(sum(z**power / divisor for power, divisor in enumerate(KNOWN[scheme][2]))).max()


@pytest.mark.parametrize("scheme", KNOWN)
def test_limits_follow_from_the_polynomial(scheme):
    """To the four digits given: the last mode on either axis that does not grow."""
    for direction, limit in zip((1j, -1), KNOWN[scheme][:2], strict=True):
        for beyond, grows in ((-1e-4, False), (1e-4, True)):
            z = direction * (limit + beyond)
            assert (abs(sum(z**power / divisor for power, divisor in enumerate(KNOWN[scheme][2]))) > 1 + 1e-9) == grows


def share(scheme, order, advection, diffusion, velocity):
    """A configuration at these shares of the scheme's two limits, with what `growth` wants to know of it."""
    fine = np.linspace(0, np.pi, 10001)
    top = float(max(2 * sum(c * np.sin(k * fine) for k, c in enumerate(FIRST[order], 1))))
    courant = advection * KNOWN[scheme][0] / top
    dt = courant / (sum(map(abs, velocity)) * POINTS)
    each = diffusion * KNOWN[scheme][1] / (3 * float(symbols(order)[1].max()))
    configuration = merged(
        CONFIGURATION,
        {
            "physics": {"diffusivity": each / dt / POINTS**2},
            "velocity": dict(zip("uvw", velocity, strict=True)),
            "time": {"scheme": scheme, "dt": dt},
            "compute": {"order": order},
        },
    )
    return configuration, [c * dt * POINTS for c in velocity], each


@pytest.mark.parametrize("velocity", [(1.0, 0.0, 0.0), (1.0, -1.0, 1.0), (1.0, 1e-6, 0.1)])
@pytest.mark.parametrize("order", [8, 4])
@pytest.mark.parametrize("scheme", schemes())
def test_warns_where_a_mode_grows(tmp_path, scheme, order, velocity):
    seen = set()
    for advection, diffusion in ((0.5, 0.3), (0.6, 0.95), (0.9, 0.1), (0.9, 0.9), (0.98, 0.98)):
        configuration, courants, each = share(scheme, order, advection, diffusion, velocity)
        write_ini(tmp_path / "run.ini", configuration)
        said = launch(tmp_path, 1, "--validate", "run.ini").stderr
        grows = growth(scheme, order, courants, each)
        assert abs(grows - 1) < 1e-9 or abs(grows - 1) > 0.01, "too close to tell"
        assert ("both together not" in said) == (grows > 1.01), (advection, diffusion, grows, said)
        seen.add(grows > 1.01)
        if grows > 1.01:
            fraction = float(re.search(r"dt <= (\S+) is stable", said)[1]) / configuration["time"]["dt"]
            assert growth(scheme, order, [fraction * c for c in courants], fraction * each) < 1 + 1e-3
            assert growth(scheme, order, [1.03 * fraction * c for c in courants], 1.03 * fraction * each) > 1.001
    assert seen == {True, False}


@pytest.mark.parametrize("order", [8, 4])
@pytest.mark.parametrize("scheme", schemes())
def test_upwind_has_limits_of_its_own(tmp_path, scheme, order):
    """A Courant number that is warned of grows, and the one named as stable does not."""
    configuration = merged(CONFIGURATION, {"time": {"scheme": scheme, "dt": 1.0}, "compute": {"order": order}})
    write_ini(tmp_path / "run.ini", configuration)
    said = launch(tmp_path, 1, "--validate", "run.ini", "physics.difference=upwind").stderr
    courant = POINTS * float(re.search(r"dt <= (\S+) is stable", said)[1])
    assert courant * 0.999 < float(re.search(r"beyond the limit (\S+) of", said)[1]) < courant * 1.001
    assert growth(scheme, order, [courant], 0.0, upwind=True) < 1 + 1e-3
    assert growth(scheme, order, [1.03 * courant], 0.0, upwind=True) > 1.001


def sound_growth(scheme, order, courants):
    """Largest factor of a mode of sound with upwind differences in one step: p and u, v, w of every phase."""
    phase = np.pi * np.arange(POINTS + 1) / POINTS
    first = 2 * sum(c * np.sin(k * phase) for k, c in enumerate(FIRST[order], 1))
    damping = (2 * np.sin(phase / 2)) ** order / {8: 280, 4: 12}[order]
    shape = (POINTS + 1,) * 3
    rates = np.zeros((*shape, 4, 4), complex)
    for axis, courant in enumerate(courants):
        s, e = (courant * np.expand_dims(v, [d for d in range(3) if d != axis]) for v in (first, damping))
        rates[..., 0, 1 + axis] = rates[..., 1 + axis, 0] = -1j * s
        rates[..., 0, 0] -= e
        rates[..., 1 + axis, 1 + axis] = -np.broadcast_to(e, shape)
    z = np.linalg.eigvals(rates)
    return np.abs(sum(z**power / divisor for power, divisor in enumerate(KNOWN[scheme][2]))).max()


@pytest.mark.parametrize("order", [8, 4])
@pytest.mark.parametrize("scheme", schemes())
def test_upwind_sound_has_limits_of_its_own(tmp_path, scheme, order):
    """Of p and the velocities together, on boxes of all shapes; half a percent beyond is warned of."""
    for lengths in ((1.0, 1.0, 1.0), (1.0, 0.5, 3.0)):
        grid = dict(zip(("lx", "ly", "lz"), lengths, strict=True))
        physics = {"equation": "acoustics", "sound_speed": 2.0, "difference": "upwind"}
        configuration = merged(
            CONFIGURATION,
            {
                "grid": grid,
                "physics": physics,
                "velocity": {"field": None},
                "time": {"scheme": scheme, "dt": 1.0},
                "compute": {"order": order},
            },
        )
        write_ini(tmp_path / "run.ini", configuration)
        dt = float(re.search(r"dt <= (\S+) is stable", launch(tmp_path, 1, "--validate", "run.ini").stderr)[1])
        courants = [2.0 * dt * POINTS / length for length in lengths]
        assert sound_growth(scheme, order, courants) < 1 + 1e-6
        assert sound_growth(scheme, order, [1.02 * c for c in courants]) > 1.001
        for factor, warns in ((1.0, False), (1.005, True)):
            said = launch(tmp_path, 1, "--validate", "run.ini", f"time.dt={factor * dt!r}").stderr
            assert ("grow without bound" in said) == warns


def closed_sound(configuration):
    """Eigenvalues of sound with c = 1 between absorbing ends on a plane of x and y: of p, u and v."""
    whole = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
    for axis in range(2):
        first, (weights, _) = matrix(configuration, "first", axis, 1), norm(configuration, axis)
        taken = np.zeros_like(first)
        if "absorbing" in ends(configuration, axis):
            taken[0, 0] = taken[-1, -1] = 0.5 / weights[0]
        drawn = taken.copy()
        drawn[0, 0] *= -1
        if configuration["physics"]["difference"] == "upwind":
            taken -= matrix(configuration, "dissipation", axis, 1)
        others = np.eye(len(norm(configuration, 1 - axis)[0]))
        place = lambda part: np.kron(others, part) if axis == 0 else np.kron(part, others)  # noqa: B023, E731
        whole[0][0] -= place(taken)
        whole[1 + axis][1 + axis] -= place(taken)
        whole[0][1 + axis] = whole[1 + axis][0] = place(drawn - first)
    whole[1][2] = whole[2][1] = np.zeros_like(whole[0][0])
    return np.linalg.eigvals(np.block(whole))


@pytest.mark.parametrize(
    ("difference", "most", "scheme", "order", "axes", "ly"),
    [
        *[("central", 1.06, "kgu35", 8, "x", ly) for ly in (0.5, 1.0)],
        *[("central", 1.06, "kgu35", 2, axes, ly) for axes, ly in (("x", 0.4), ("xy", 0.5))],
        *[("central", 1.06, "kgu35", 8, "xy", 1.0), ("central", 1.06, "ck45", 2, "xy", 1.0)],
        *[("central", 1.06, "rk4", order, "xy", 1.0) for order in (4, 6, 8)],
        ("central", 1.06, "rk4", 8, "x", 0.5),
        *[("upwind", 1.33, scheme, 8, axes, 0.5) for scheme, axes in (("kgu35", "x"), ("rk4", "xy"))],
        *[("upwind", 1.33, "ck45", order, "xy", 1.0) for order in (2, 4, 6)],
    ],
)
def test_absorbing_ends_limit_sound(tmp_path, difference, most, scheme, order, axes, ly):
    """At most one part in a thousand too large, and too small by no more than the factor `most`."""
    points = POINTS if order == 8 else 12
    configuration = merged(
        CONFIGURATION,
        {
            "grid": {"nx": points, "ny": points, "ly": ly, "lz": 1e3},
            "boundary": dict.fromkeys(axes, "absorbing"),
            "physics": {"equation": "acoustics", "difference": difference},
            "initial": {"case": "gaussian"},
            "velocity": {"field": None},
            "time": {"scheme": scheme, "dt": 1.0},
            "compute": {"order": order},
        },
    )
    write_ini(tmp_path / "run.ini", configuration)
    dt = float(re.search(r"dt <= (\S+) is stable", launch(tmp_path, 1, "--validate", "run.ini").stderr)[1])
    rates = closed_sound(configuration)

    def largest(step):
        return np.abs(sum((step * rates) ** k / divisor for k, divisor in enumerate(KNOWN[scheme][2]))).max()

    assert largest(0.999 * dt) < 1 + 1e-9
    assert largest(most * dt) > 1 + 1e-4


def test_corners_of_absorbing_ends(tmp_path):
    """Three of them take from one point. With rk4 at order 8 the limit of a periodic cube is 1.634."""
    configuration = merged(
        CONFIGURATION,
        {
            "boundary": dict.fromkeys("xyz", "absorbing"),
            "physics": {"equation": "acoustics"},
            "initial": {"case": "sphere", "center_x": 0.0, "center_y": 0.0, "center_z": 0.0},
            "velocity": {"field": None},
            "time": {"courant": 1.2},
        },
    )
    said = run(tmp_path / "grows", configuration, code=4).stderr
    limit = float(re.search(r"beyond the limit ([0-9.]+)", said)[1])
    assert 1.05 < limit < 1.2
    run(tmp_path / "stays", configuration, f"time.courant={0.98 * limit}")
    energies = [row["energy"] for row in rows(tmp_path / "stays")]
    assert energies[-1] < energies[0]


def shear(scheme):
    flow = {"field": "formula", "u": "sin(2*pi*y/2)", "v": "0", "w": "0.5"}
    box = {"nx": 20, "ny": 20, "nz": 18, "lx": 2, "ly": 2, "lz": 0.5}
    changes = {"grid": box, "velocity": flow, "time": {"scheme": scheme}, "physics": {"diffusivity": 0.01}}
    return merged(CONFIGURATION, changes)


def test_runs_on_either_side(tmp_path):
    configuration, _, _ = share("rk4", 8, 0.95, 0.9, (1.0, 1.0, 1.0))
    said = run(tmp_path / "grows", configuration, code=4).stderr  # it blew up
    stable = re.search(r"dt <= (\S+) is stable", said)[1]
    run(tmp_path / "stays", configuration, f"time.dt={0.99 * float(stable)!r}")
    norms = [row["l2"] for row in rows(tmp_path / "stays")]
    assert norms[-1] < norms[0]


@pytest.mark.parametrize("scheme", ["ssprk3", "ck45"])
def test_a_shear_beside_another_spacing(tmp_path, scheme):
    """Diffusion acts along another axis than the flow: modes have another phase along each axis."""
    write_ini(tmp_path / "run.ini", shear(scheme))
    said = launch(tmp_path, 1, "--validate", "run.ini", "time.dt=1").stderr
    stable = re.search(r"dt <= (\S+) is stable", said)[1]
    run(tmp_path / "stays", shear(scheme), f"time.dt={stable}")
    norms = [row["l2"] for row in rows(tmp_path / "stays")]
    assert norms[-1] < norms[0]


def test_growth_is_certain_where_the_limit_is_sharp(tmp_path):
    """Where the medium or the velocity varies, a step beyond the named one may be stable: the run says "may"."""
    sound = {"equation": "acoustics", "density": 1.2}
    varying = {"sound_speed": "1 + 2*(x > 0.5)", "density": "1 + 9*(y < 0.4)"}
    swirl = {"field": "formula", "u": "sin(2*pi*y)", "v": "0", "w": "0"}
    for changes, word, code in (
        ({}, "will", 4),
        ({"velocity": swirl}, "may", None),
        ({"velocity": {"field": None}, "physics": sound}, "will", 4),
        ({"velocity": {"field": None}, "physics": {"equation": "acoustics"}, "medium": varying}, "may", 0),
    ):
        write_ini(tmp_path / "run.ini", merged(CONFIGURATION, changes))
        dt = re.search(r"dt <= (\S+) is stable", launch(tmp_path, 1, "--validate", "run.ini", "time.dt=1").stderr)[1]
        longer = ("run.ini", f"time.dt={1.4 * float(dt)}")
        assert f"the solution {word} grow without bound" in launch(tmp_path, 1, "--validate", *longer).stderr
        if code is not None:
            launch(tmp_path, 1, *longer, code=code)
    energies = [row["energy"] for row in rows(tmp_path / "runs/run")]
    assert energies[-1] < energies[0]


@pytest.mark.parametrize("scheme", schemes())
@pytest.mark.parametrize("points", [16, 17, 20, 23, 29])
def test_the_step_size_named_is_not_warned_of(tmp_path, scheme, points):
    """All its printed digits, as somebody copies it."""
    configuration = merged(
        CONFIGURATION, {"grid": {"nx": points}, "time": {"scheme": scheme, "dt": 1.0}, "physics": {"diffusivity": 1e-4}}
    )
    write_ini(tmp_path / "case.ini", configuration)
    said = launch(tmp_path, 1, "--validate", "case.ini").stderr
    stable = min(re.findall(r"dt <= (\S+) is stable", said), key=float)
    assert "grow without bound" not in launch(tmp_path, 1, "--validate", "case.ini", f"time.dt={stable}").stderr
