"""Sound in media whose speed and density vary: against dense matrices, its energy, reflection and transmission at an
interface, a mode of two layers, one answer over ranks and restarts, and what is refused. test_acoustics.py has the
rest of sound.

FDAPP: the program. MPIEXEC: the launcher with its options.
"""

import itertools

import h5py
import numpy as np
import pytest
from waves import FIRST, wavelet, weights_of

from dense import bounded, classical, norm
from program import attribute, complaints, hash_of, launch, many_steps, merged, rows, run, states, write_ini
from sound import energy, slope_of, spacings

BASE = {
    "grid": {"nx": 17, "ny": 18, "nz": 33, "ly": 0.8, "lz": 1.9},
    "physics": {"equation": "acoustics", "density": 1.3, "sound_speed": 2.1},
    "initial": {"case": "formula", "formula": "sin(9*x + 1)*cos(7*y) + exp(z)*x - 0.4*sin(40*x*y*z)"},
    "time": {"courant": 0.7, "steps": 8},
    "compute": {"threads": 2, "backend": "cpu"},
    "output": {"diagnostics_every": 1},
}
MIXED = {  # each kind at each order, at either end of some axis
    2: {"x_low": "wall", "x_high": "absorbing", "y": "free", "z_low": "absorbing", "z_high": "free", "absorption": 0.4},
    4: {"x": "wall", "y_low": "free", "y_high": "wall", "z": "absorbing", "absorption": 1, "absorption_x_high": 0.2},
    6: {"x": "absorbing", "y": "wall", "z_low": "free", "z_high": "absorbing", "absorption_y_low": 0.7},
    8: {"x_low": "free", "x_high": "wall", "y_low": "absorbing", "y_high": "wall", "z": "free"},
}
CLOSED = {"x": "wall", "y_low": "free", "y_high": "wall", "z": "free"}
FORMULAS = {"sound_speed": "x + 2*y > 1.1 ? 1.2 + sin(5*z)/4 : 2.3", "density": "z > 0.9 ? 3 - x : 1 + y"}


def fields(path):
    with h5py.File(path) as file:
        return np.array([file[f"VTKHDF/PointData/{name}"][:] for name in "puvw"], dtype=np.float64)


def shape_of(configuration):
    return tuple(configuration["grid"][f"n{axis}"] for axis in "zyx")


def cell_means(configuration, speed, density):
    """Speed and density at the points from means of 1/(density c^2) and of the density over 4 x 4 x 4 midpoints of
    each point's cell, which ends at ends of axes."""
    places = []
    for d in range(3):
        n, h = configuration["grid"][f"n{'xyz'[d]}"], spacings(configuration)[d]
        low, high = np.full(n, -0.5), np.full(n, 0.5)
        if bounded(configuration, d):
            low[0] = high[-1] = 0
        middle = (np.arange(n)[:, None] + low[:, None] + (high - low)[:, None] * (np.arange(4) + 0.5) / 4) * h
        places.append((middle % configuration["grid"].get(f"l{'xyz'[d]}", 1)).ravel())
    z, y, x = np.meshgrid(*places[::-1], indexing="ij")
    mean = lambda of: of.reshape([n for size in shape_of(configuration) for n in (size, 4)]).mean(axis=(1, 3, 5))  # noqa: E731
    rho = density(x, y, z)
    stiffness, rho = 1 / mean(1 / (rho * speed(x, y, z) ** 2)), mean(rho)
    return np.sqrt(stiffness / rho), rho


def fastest(configuration, speed, density):
    """The largest speed, and sqrt(K/density) with one of them a mean of its roots at the neighbours along an axis, as
    the first difference weighs these."""
    stiff, light = np.sqrt(density) * speed, 1 / np.sqrt(density)
    result = np.max(speed)
    taps = np.abs(FIRST[configuration["compute"].get("order", 8)])
    for d in range(3):
        means = [np.zeros_like(density), np.zeros_like(density)]
        for k, tap in itertools.chain(*(((k, tap), (-k, tap)) for k, tap in enumerate(taps, 1))):
            i = np.arange(density.shape[2 - d]) + k
            within = (i >= 0) & (i < len(i)) | (not bounded(configuration, d))
            within = within.reshape([-1 if axis == 2 - d else 1 for axis in range(3)])
            for j, field in enumerate((stiff, light)):
                means[j] += np.where(within, np.roll(field, -k, 2 - d), 0) * tap / (2 * np.sum(taps))
        result = max(result, np.max(stiff * means[1]), np.max(means[0] * light))
    return result


def compare(folder, configuration, speed, density, source=0.0):
    first, last = (fields(folder / name) for name in states(folder))
    dt = attribute(folder / states(folder)[0], "dt")
    rate = fastest(configuration, speed, density) * np.sqrt(sum(h**-2 for h in spacings(configuration)))
    assert dt == pytest.approx(configuration["time"]["courant"] / rate, rel=1e-13)
    own, f, energies = slope_of(configuration, speed, density), first, [energy(configuration, first, speed, density)]

    def slope(t, f):
        result = own(f)
        result[0] += source * wavelet(configuration, t) if np.any(source) else 0
        return result

    for step in range(configuration["time"]["steps"]):
        f = classical(slope, f, step * dt, dt)
        energies.append(energy(configuration, f, speed, density))
    assert np.abs(last - f).max() < 1e-12 * np.abs(f).max()
    assert all(np.abs(last[i] - first[i]).max() > 0.01 for i in range(4)), "a field has not changed"
    assert [row["energy"] for row in rows(folder)] == pytest.approx(energies, rel=1e-12)


@pytest.mark.parametrize("difference", ["central", "upwind"])
@pytest.mark.parametrize(
    ("order", "ranks", "boundary"),
    [(8, 4, {}), (2, 1, MIXED[2]), (4, 3, MIXED[4]), (6, 2, MIXED[6]), (8, 2, MIXED[8])],
)
def test_medium_of_formulas(tmp_path, order, ranks, boundary, difference):
    configuration = merged(BASE, {"compute": {"order": order}, "boundary": boundary, "medium": FORMULAS})
    configuration = merged(configuration, {"physics": {"difference": difference}})
    run(tmp_path / "run", configuration, ranks=ranks)
    speed, density = cell_means(
        configuration,
        lambda x, y, z: np.where(x + 2 * y > 1.1, 1.2 + np.sin(5 * z) / 4, 2.3),
        lambda x, y, z: np.where(z > 0.9, 3 - x, 1 + y),
    )
    compare(tmp_path / "run", configuration, speed, density)


def write_medium(path, shape):
    generator = np.random.default_rng(3)
    speed, density = 1 + generator.random(shape), 0.5 + generator.random(shape)
    with h5py.File(path, "w") as file:
        file["c"], file["rho"] = speed, density
    return speed, density


def test_medium_of_a_file(tmp_path):
    """Both from the file, or one of them from a formula; and values that are none."""
    speed, density = write_medium(tmp_path / "m.h5", shape_of(BASE))
    configuration = merged(BASE, {"boundary": MIXED[4], "medium": {"file": "m.h5"}, "compute": {"order": 6}})
    run(tmp_path / "both", configuration, ranks=2)
    compare(tmp_path / "both", configuration, speed, density)
    given = merged(configuration, {"medium": {"sound_speed": 1.7}})
    run(tmp_path / "speed", given)
    compare(tmp_path / "speed", given, np.full_like(density, 1.7), density)
    given = merged(configuration, {"medium": {"density": 0.9}})
    run(tmp_path / "density", given)
    compare(tmp_path / "density", given, speed, np.full_like(speed, 0.9))
    for name, value in itertools.product(("c", "rho"), (0.0, -1.0, np.nan)):
        with h5py.File(tmp_path / "m.h5", "r+") as file:
            good, file[name][20, 3, 2] = file[name][20, 3, 2], value
        assert "[20, 3, 2]" in run(tmp_path / "refused", configuration, ranks=2, code=2).stderr
        assert not (tmp_path / "refused").exists()
        with h5py.File(tmp_path / "m.h5", "r+") as file:
            file[name][20, 3, 2] = good


@pytest.mark.parametrize("density_of_formula", [False, True])
def test_medium_of_a_finer_file(tmp_path, density_of_formula):
    """Averages over cells of both datasets, or of one and of a formula."""
    configuration = merged(BASE, {"boundary": CLOSED, "medium": {"file": "m.h5", "resample": "yes"}})
    nx, ny, nz = (configuration["grid"][f"n{d}"] for d in "xyz")
    speed, density = write_medium(tmp_path / "m.h5", (2 * nz - 1, 3 * ny - 2, 4 * nx - 3))
    if density_of_formula:
        configuration = merged(configuration, {"medium": {"density": FORMULAS["density"]}})

    def linear(values, places):
        for d, place in enumerate(places):
            count, axis = values.shape[2 - d], 2 - d
            at = place / configuration["grid"].get(f"l{'xyz'[d]}", 1) * (count - 1)
            below = np.minimum(at.astype(int), count - 2)
            share = (at - below).reshape([-1 if k == axis else 1 for k in range(3)])
            values = (1 - share) * values.take(below, axis) + share * values.take(below + 1, axis)
        return values

    run(tmp_path / "run", configuration, ranks=2)
    means = cell_means(
        configuration,
        lambda x, y, z: linear(speed, (x[0, 0], y[0, :, 0], z[:, 0, 0])),
        lambda x, y, z: (
            np.where(z > 0.9, 3 - x, 1 + y)
            if density_of_formula
            else linear(density, (x[0, 0], y[0, :, 0], z[:, 0, 0]))
        ),
    )
    compare(tmp_path / "run", configuration, *means)


def test_numbers_are_a_uniform_medium(tmp_path):
    """[medium] with the numbers of [physics] gives the same solution, to rounding, with either difference."""
    for difference in ("central", "upwind"):
        configuration = merged(BASE, {"boundary": MIXED[8], "physics": {"difference": difference}})
        run(tmp_path / f"physics {difference}", configuration)
        numbers = {"medium": {"sound_speed": 2.1, "density": 1.3}, "physics": {"density": 7, "sound_speed": 7}}
        run(tmp_path / f"medium {difference}", merged(configuration, numbers))
        a, b = (fields(tmp_path / f"{name} {difference}" / "state_00000008.hdf") for name in ("physics", "medium"))
        assert np.abs(a - b).max() < 1e-13 * np.abs(a).max()


def test_sources_in_a_medium(tmp_path):
    """dp/dt gets K W^T s/H, K at the points."""
    medium = {"sound_speed": "1.4 + x", "density": "2 - y"}
    points = {"points": '"0.31 0.4 1.1"', "frequency": 3.0, "delay": 0.05}
    configuration = merged(BASE, {"medium": medium, "point_sources": points, "boundary": MIXED[8]})
    run(tmp_path / "run", configuration, ranks=3)
    speed, density = cell_means(configuration, lambda x, y, z: 1.4 + x, lambda x, y, z: 2 - y)
    x, y, z = (norm(configuration, d)[0] for d in range(3))
    mass = z[:, None, None] * y[None, :, None] * x[None, None, :]
    weights = weights_of(configuration, [0.31, 0.4, 1.1])
    compare(tmp_path / "run", configuration, speed, density, density * speed**2 * weights / mass)


@pytest.mark.parametrize("boundary", [{}, CLOSED])
@pytest.mark.parametrize(("difference", "order"), [("central", 8), ("central", 4), ("upwind", 6)])
def test_energy(tmp_path, boundary, difference, order):
    """In any medium central differences keep the energy to rounding, with steps whose own loss is smaller; upwind
    differences lower it with each step."""
    write_medium(tmp_path / "m.h5", shape_of(BASE))
    configuration = merged(
        BASE,
        {
            "boundary": boundary,
            "medium": {"file": "m.h5"},
            "physics": {"difference": difference},
            "compute": {"order": order},
            "time": {"courant": 0.005, "steps": 40},
            "output": {"diagnostics_every": 4},
        },
    )
    run(tmp_path / "run", configuration)
    energies = [row["energy"] for row in rows(tmp_path / "run")]
    if difference == "central":
        assert energies == pytest.approx([energies[0]] * len(energies), rel=1e-13)
    else:
        assert (np.diff(energies) < -1e-9 * energies[0]).all()


def along_x(n, **changes):
    return merged(
        {
            "grid": {"nx": n, "ny": 9, "nz": 9, "lx": 2},
            "physics": {"equation": "acoustics"},
            "initial": {"case": "formula"},
            "boundary": {"x": "wall"},
            "compute": {"backend": "cpu", "threads": 1},
        },
        changes,
    )


LEFT, RIGHT = (1.0, 1.0), (2.0, 3.0)  # speed and density


def layered(at):
    keys = zip(("sound_speed", "density"), LEFT, RIGHT, strict=True)
    return {name: f"x < {at!r} ? {left} : {right}" for name, left, right in keys}


@many_steps
@pytest.mark.parametrize(("difference", "least"), [("central", 0.85), ("upwind", 1.2)])
@pytest.mark.parametrize("offset", [0, 0.3, 0.5])
def test_interface(tmp_path, offset, difference, least):
    """Of a pulse from a medium of the impedance 1 into one of 6 the share R = 5/7 comes back, and 1 + R goes on, with
    order 1 to 2 wherever the interface lies."""
    errors, t, share = [], 0.6, (6 - 1) / (6 + 1)
    for n in (201, 401):
        h = 2 / (n - 1)
        x, at = h * np.arange(n), 1 + offset * h
        configuration = along_x(
            n, medium=layered(at), initial={"formula": "exp(-((x - 0.5)/0.1)^2)"}, time={"courant": 0.4, "t_end": t}
        )
        run(tmp_path / f"{n}", merged(configuration, {"physics": {"difference": difference}}))
        found = fields(tmp_path / f"{n}" / states(tmp_path / f"{n}")[-1])[0, 4, 4]
        pulse = lambda place: np.exp(-(((place - 0.5) / 0.1) ** 2)) / 2  # noqa: E731
        left = pulse(x - t) + pulse(x + t) + pulse(t - x) + share * pulse(2 * at - x - t)
        exact = np.where(x < at, left, (1 + share) * pulse(at + (x - at) / 2 - t))
        errors.append(np.sqrt(np.mean((found - exact) ** 2)))
    assert errors[1] < 6e-3
    assert np.log2(errors[0] / errors[1]) > least, errors


@many_steps
def test_mode_of_two_layers(tmp_path):
    """Between walls, tan(k1 L1)/Z1 + tan(k2 L2)/Z2 = 0, with the pressure cos(k1 x) and A cos(k2 (2 - x))."""
    (c1, r1), (c2, r2), at = LEFT, RIGHT, 1.1

    def defect(w):
        a, b = w * at / c1, w * (2 - at) / c2
        return np.sin(a) * np.cos(b) / (r1 * c1) + np.cos(a) * np.sin(b) / (r2 * c2)

    low, high = 3.0, 4.6
    assert defect(low) * defect(high) < 0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if defect(middle) * defect(low) > 0 else (low, middle)
    amplitude = np.cos(low * at / c1) / np.cos(low * (2 - at) / c2)
    formula = f"x < {at} ? cos({low / c1:.16g}*x) : {amplitude:.16g}*cos({low / c2:.16g}*(2 - x))"
    errors, turns = [], 1.2
    for n in (101, 201):
        time = {"courant": 0.4, "t_end": float(turns * 2 * np.pi / low)}
        run(tmp_path / f"{n}", along_x(n, medium=layered(at), initial={"formula": formula}, time=time))
        first, last = (fields(tmp_path / f"{n}" / name)[0, 4, 4] for name in states(tmp_path / f"{n}"))
        errors.append(np.sqrt(np.mean((last - first * np.cos(turns * 2 * np.pi)) ** 2)))
    assert errors[1] < 2e-3
    assert np.log2(errors[0] / errors[1]) > 1.8, errors


@pytest.mark.parametrize(
    ("boundary", "difference", "precision"),
    [({}, "central", "double"), (MIXED[8], "central", "single"), (MIXED[4], "upwind", "double")],
)
def test_one_answer(tmp_path, boundary, precision, difference):
    changes = {"boundary": boundary, "medium": FORMULAS, "physics": {"difference": difference}}
    configuration = merged(BASE, changes, {"compute": {"precision": precision}})
    hashes = {hash_of(run(tmp_path / f"on{ranks}", configuration, ranks=ranks)) for ranks in (1, 2, 3, 4)}
    run(tmp_path / "parts", merged(configuration, {"time": {"steps": 4}}), ranks=3)
    resumed = merged(configuration, {"restart": {"from": "latest"}})
    hashes.add(hash_of(run(tmp_path / "parts", resumed, ranks=2)))
    assert len(hashes) == 1
    tables = {tuple(tuple(row.items()) for row in rows(tmp_path / folder)) for folder in ("on1", "on4", "parts")}
    assert len(tables) == 1


def test_a_medium_may_have_any_units(tmp_path):
    """Water below air: the bound on the solution's growth takes the energy of the medium."""
    medium = {"sound_speed": "z < 0.9 ? 1500 : 340", "density": "z < 0.9 ? 1000 : 1.2"}
    configuration = merged(BASE, {"medium": medium, "boundary": CLOSED, "physics": {"density": None}})
    configuration = merged(configuration, {"time": {"steps": 100}, "physics": {"sound_speed": None}})
    run(tmp_path / "run", configuration)
    energies = [row["energy"] for row in rows(tmp_path / "run")]
    assert (np.diff(energies) <= 0).all()
    too_long = merged(configuration, {"time": {"courant": 9, "steps": 400}})
    said = run(tmp_path / "long", too_long, code=4).stderr
    assert "its energy per volume is" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"medium": {"density": "x - 0.5"}}, "medium.density = x - 0.5: the density is"),
        ({"medium": {"sound_speed": "0.5 - x"}}, "the speed is"),
        ({"medium": {"density": "1/x"}}, "medium.density"),
        ({"medium": {"density": "1 +"}}, "medium.density"),
        ({"medium": {"density": "2e9"}}, "accepted: above 0, 1e-09 to 1e+09"),
        ({"medium": {"density": "-1"}}, "the density is -1"),
        ({"medium": {"density": "1", "sound_speed": "1", "file": "c.h5"}}, "at most one of them beside a file"),
        ({"medium": {"density": "1"}, "initial": {"case": "plane_wave", "formula": None}}, "in a uniform medium"),
        ({"point_sources": {"points": "0.5 0.5 1", "frequency": 9.0}, "medium": FORMULAS}, "frequency of the grid"),
    ],
)
def test_refused(tmp_path, change, said):
    write_ini(tmp_path / "run.ini", merged(BASE, change))
    result = launch(tmp_path, 1, "run.ini", code=2)
    assert said in "\n".join(complaints(result))
    assert [path.name for path in tmp_path.iterdir()] == ["run.ini"]


def test_files_that_do_not_fit(tmp_path):
    configuration = merged(BASE, {"medium": {"file": "m.h5"}})
    run(tmp_path / "run", configuration, code=3)
    write_medium(tmp_path / "m.h5", (33, 18, 18))
    assert "33, 18, 18" in run(tmp_path / "run", configuration, code=2).stderr
    write_medium(tmp_path / "m.h5", shape_of(BASE))
    with h5py.File(tmp_path / "m.h5", "r+") as file:
        del file["rho"]
    assert "no dataset rho" in run(tmp_path / "run", configuration, code=2).stderr
    assert not (tmp_path / "run").exists()
    run(tmp_path / "run", merged(configuration, {"medium": {"density": 1.3}}))


def test_keys_without_effect(tmp_path):
    """Waves have no density, and advection has no medium."""
    said = run(tmp_path / "wave", merged(BASE, {"physics": {"equation": "wave", "density": None}, "medium": FORMULAS}))
    assert "medium.density" in said.stderr
    assert "medium.sound_speed" not in said.stderr
    physics = {"equation": "advection", "density": None, "sound_speed": None}
    said = run(
        tmp_path / "advection", merged(BASE, {"physics": physics, "medium": FORMULAS, "velocity": {"field": "uniform"}})
    )
    assert "medium.density" in said.stderr
    assert "medium.sound_speed" in said.stderr


def test_constants_that_a_medium_replaces(tmp_path):
    """The medium counts, whatever [physics] says beside it."""
    write_medium(tmp_path / "m.h5", shape_of(BASE))
    sine = "2 + sin(2*pi*x)"
    for medium, without in (
        ({"density": sine}, ": physics.density"),
        ({"file": "m.h5"}, ": physics.density, physics.sound_speed"),
    ):
        configuration = merged(BASE, {"medium": medium, "time": {"steps": 2}})
        other = {name: 7.0 for name in ("density", "sound_speed") if f"physics.{name}" in without}
        said = [run(tmp_path / "run", merged(configuration, {"physics": change})) for change in ({}, other)]
        assert all(f"uses them{without}\n" in one.stderr for one in said)
        assert hash_of(said[0]) == hash_of(said[1])
    written = launch(tmp_path, 1, "--validate", "run/config.ini", "output.directory=next")
    assert "without effect" not in written.stderr


def test_resuming_tells_of_another_medium(tmp_path):
    write_medium(tmp_path / "m.h5", shape_of(BASE))
    configuration = merged(BASE, {"medium": {"file": "m.h5"}})
    run(tmp_path / "run", merged(configuration, {"time": {"steps": 4}}))
    resumed = merged(configuration, {"restart": {"from": "latest"}})
    with h5py.File(tmp_path / "m.h5", "r+") as file:
        file["rho"][20, 3, 2] *= 1.5
    said = run(tmp_path / "run", resumed).stderr
    assert "warning: medium.file = m.h5 holds other values than those with which the snapshot was computed" in said
