"""Sound: `physics.equation = acoustics` against exact waves and a program of dense matrices that shares no code with
it, its energy, one answer over ranks and restarts, and the warning of a step that is too long.

FDAPP: the program. MPIEXEC: the launcher with its options.
"""

import csv

import h5py
import numpy as np
import pytest

from program import attribute, launch, merged, run, states, table, write_ini

NAMES = "puvw"
DENSITY, SPEED = 1.3, 2.1
BASE = {
    "grid": {"nx": 12, "ny": 10, "nz": 14, "ly": 0.8, "lz": 1.1},
    "physics": {"equation": "acoustics", "density": DENSITY, "sound_speed": SPEED},
    "initial": {"case": "plane_wave", "ky": -1, "background": 0.2},
    "time": {"courant": 0.8, "steps": 8},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"diagnostics_every": 1},
}
PERIODIC = {  # c_k for f(+k) - f(-k), as in textbooks
    2: [1 / 2],
    4: [2 / 3, -1 / 12],
    6: [3 / 4, -3 / 20, 1 / 60],
    8: [4 / 5, -1 / 5, 4 / 105, -1 / 280],
}


def fields(path):
    with h5py.File(path) as file:
        return np.array([file[f"VTKHDF/PointData/{name}"][:] for name in NAMES], dtype=np.float64)


def rows(directory):
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(table(directory).splitlines())]


def spacings(configuration):
    grid = configuration["grid"]
    return [grid.get("l" + a, 1.0) / grid["n" + a] for a in "xyz"]


def matrices(configuration, order):
    """The first differences along x, y, z."""
    result = []
    for a, h in zip("xyz", spacings(configuration), strict=True):
        n = configuration["grid"]["n" + a]
        one = np.eye(n)
        shifts = enumerate(PERIODIC[order], 1)
        result.append(sum(c * (np.roll(one, k, 1) - np.roll(one, -k, 1)) for k, c in shifts) / h)
    return result


def along(operator, f, axis):
    return np.moveaxis(np.tensordot(operator, f, (1, 2 - axis)), 0, 2 - axis)


def slope_of(configuration, order):
    operators = matrices(configuration, order)

    def slope(f):
        p = -DENSITY * SPEED**2 * sum(along(operators[d], f[1 + d], d) for d in range(3))
        return np.array([p, *(-along(operators[d], f[0], d) / DENSITY for d in range(3))])

    return slope


def energy(configuration, f):
    volume = np.prod(spacings(configuration))
    return 0.5 * volume * ((f[0] ** 2).sum() / (DENSITY * SPEED**2) + DENSITY * (f[1:] ** 2).sum())


@pytest.mark.parametrize(
    ("order", "case", "ranks"), [(2, "plane_wave", 1), (4, "cosine", 2), (6, "gaussian", 3), (8, "plane_wave", 2)]
)
def test_step_n_from_step_0(tmp_path, order, case, ranks):
    configuration = merged(BASE, {"compute": {"order": order}, "initial": {"case": case}})
    run(tmp_path / "run", configuration, ranks=ranks)
    first, last = (fields(tmp_path / "run" / name) for name in states(tmp_path / "run"))
    dt = attribute(tmp_path / "run" / states(tmp_path / "run")[0], "dt")
    assert dt == pytest.approx(0.8 / (SPEED * np.sqrt(sum(h**-2 for h in spacings(configuration)))), rel=1e-14)
    slope, f = slope_of(configuration, order), first
    for _ in range(8):
        k1 = slope(f)
        k2 = slope(f + dt / 2 * k1)
        k3 = slope(f + dt / 2 * k2)
        f = f + dt / 6 * (k1 + 2 * k2 + 2 * k3 + slope(f + dt * k3))
    assert np.abs(last - f).max() < 1e-12 * np.abs(f).max()
    assert all(np.abs(last[i] - first[i]).max() > 0.01 for i in range(4)), "a field has not changed"
    lines = rows(tmp_path / "run")
    assert lines[0]["energy"] == pytest.approx(energy(configuration, first), rel=1e-13)
    assert lines[-1]["energy"] == pytest.approx(energy(configuration, f), rel=1e-12)


@pytest.mark.parametrize("case", ["plane_wave", "cosine"])
@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_order_in_space(tmp_path, case, order):
    """Errors of all four fields on two grids; steps so small that the differences in space decide."""
    errors = []
    for n in 12, 20:
        configuration = merged(
            BASE,
            {
                "grid": {"nx": n, "ny": n, "nz": n},
                "compute": {"order": order},
                "initial": {"case": case},
                "time": {"courant": None, "dt": 4e-4, "steps": 40},
                "output": {"diagnostics_every": 40, "fields_every": 0},
            },
        )
        run(tmp_path / f"n{n}", configuration)
        last = rows(tmp_path / f"n{n}")[-1]
        errors.append([last[name] for name in ("err_l2", "err_l2_u", "err_l2_v", "err_l2_w")])
    seen = np.log(np.array(errors[0]) / errors[1]) / np.log(20 / 12)
    assert (seen > order - 0.4).all(), seen
    assert (seen < order + 0.4).all(), seen


def test_waves_are_those_of_textbooks(tmp_path):
    """The initial states, and the standing wave after a time, from the formulas."""
    run(tmp_path / "travels", merged(BASE, {"time": {"steps": 0}}))
    x, y, z = (h * np.arange(n) for h, n in zip(spacings(BASE), (12, 10, 14), strict=True))
    z, y, x = np.meshgrid(z, y, x, indexing="ij")
    k = 2 * np.pi * np.array([1, -1 / 0.8, 1 / 1.1])
    length = np.sqrt((k**2).sum())
    wave = np.cos(k[0] * (x - 0.5) + k[1] * (y - 0.4) + k[2] * (z - 0.55))
    expected = [0.2 + wave, *(wave * k[d] / length / (DENSITY * SPEED) for d in range(3))]
    assert np.abs(fields(tmp_path / "travels" / "state_00000000.hdf") - expected).max() < 1e-14
    run(
        tmp_path / "stands",
        merged(BASE, {"initial": {"case": "cosine"}, "time": {"courant": None, "dt": 1e-3, "steps": 50}}),
    )
    t, (sx, cx), (sy, cy), (sz, cz) = 0.05, *((np.sin(q), np.cos(q)) for q in (k[0] * x, k[1] * y, k[2] * z))
    swing = np.sin(SPEED * length * t) / (DENSITY * SPEED * length)
    expected = [
        0.2 + np.cos(SPEED * length * t) * cx * cy * cz,
        swing * k[0] * sx * cy * cz,
        swing * k[1] * cx * sy * cz,
        swing * k[2] * cx * cy * sz,
    ]
    reached = fields(tmp_path / "stands" / "state_00000050.hdf")
    assert np.abs(reached - expected).max() < 3e-3  # the differences' error on ten points per wave
    lines = rows(tmp_path / "stands")[-1]
    for i, name in enumerate(("err_linf", "err_linf_u", "err_linf_v", "err_linf_w")):
        assert lines[name] == pytest.approx(np.abs(reached[i] - expected[i]).max(), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("scheme", ["rk4", "ssprk3", "ck45"])
def test_one_answer(tmp_path, scheme):
    """Any number of ranks and threads, and a run that goes on from its middle."""
    configuration = merged(
        BASE, {"time": {"scheme": scheme}, "initial": {"case": "gaussian"}, "output": {"fields_every": 4}}
    )
    run(tmp_path / "whole", configuration)
    run(tmp_path / "ranks", configuration, "compute.threads=2", ranks=3)
    run(tmp_path / "parts", configuration, "time.steps=4", ranks=2)
    write_ini(tmp_path / "parts.ini", configuration)
    launch(tmp_path, 1, "parts.ini", "output.directory=parts", "restart.from=latest")
    for name in "ranks", "parts":
        assert table(tmp_path / name) == table(tmp_path / "whole")
        assert states(tmp_path / name) == states(tmp_path / "whole")
        last = states(tmp_path / name)[-1]
        assert fields(tmp_path / name / last).tobytes() == fields(tmp_path / "whole" / last).tobytes()


def test_energy_changes_by_the_time_step_alone(tmp_path):
    """A tenth of the step: the loss of RK4, of order 5 in the step per unit of time, falls by 1e5."""
    losses = []
    for dt, steps in (8e-3, 10), (8e-4, 100):
        configuration = merged(
            BASE, {"initial": {"case": "gaussian"}, "time": {"courant": None, "dt": dt, "steps": steps}}
        )
        run(tmp_path / f"steps{steps}", configuration)
        lines = rows(tmp_path / f"steps{steps}")
        losses.append(1 - lines[-1]["energy"] / lines[0]["energy"])
    assert 0 < losses[0] < 1e-3
    assert abs(losses[1]) < 2e-5 * losses[0]


@pytest.mark.parametrize(("courant", "grows"), [(1.60, False), (1.67, True)])
def test_limit_of_the_step(tmp_path, courant, grows):
    """RK4 with order 8: 2.828/1.7306 = 1.634 with the Courant number c dt sqrt(sum 1/h^2), of which a run is warned."""
    configuration = merged(
        BASE, {"initial": {"case": "gaussian", "width": 0.05}, "time": {"courant": courant, "steps": 500}}
    )
    configuration["grid"] = {"nx": 16, "ny": 16, "nz": 16}
    configuration["output"] = {"diagnostics_every": 500, "fields_every": 0}
    said = run(tmp_path / "run", configuration, code=4 if grows else 0)
    assert ("beyond the limit 1.634" in said.stderr) == grows
