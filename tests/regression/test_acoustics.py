"""Sound: `physics.equation = acoustics` against exact waves and a program of dense matrices that shares no code with
it, its energy, one answer over ranks and restarts, and the warning of a step that is too long.

FDAPP: the program. MPIEXEC: the launcher with its options.
"""

import itertools
import re

import h5py
import numpy as np
import pytest

from dense import classical
from program import attribute, hash_of, launch, merged, rows, run, states, table, write_ini
from sound import DENSITY, SPEED, energy, slope_of, spacings

NAMES = "puvw"
BASE = {
    "grid": {"nx": 12, "ny": 10, "nz": 14, "ly": 0.8, "lz": 1.1},
    "physics": {"equation": "acoustics", "density": DENSITY, "sound_speed": SPEED},
    "initial": {"case": "plane_wave", "ky": -1, "background": 0.2},
    "time": {"courant": 0.8, "steps": 8},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"diagnostics_every": 1},
}
ENDS = {"nx": 17, "ny": 18, "nz": 19}
ROUGH = {"case": "formula", "formula": "sin(9*x + 1)*cos(7*y) + exp(z)*x - 0.4*sin(40*x*y*z)", "ky": None}
ROUGH |= {"background": None}
MIXED = {  # each kind at each order, at either end of some axis
    2: {"x_low": "wall", "x_high": "absorbing", "y": "free", "z_low": "absorbing", "z_high": "free", "absorption": 0.4},
    4: {"x": "wall", "y_low": "free", "y_high": "wall", "z": "absorbing", "absorption": 1, "absorption_x_high": 0.2},
    6: {"x": "absorbing", "y": "wall", "z_low": "free", "z_high": "absorbing", "absorption_y_low": 0.7},
    8: {"x_low": "free", "x_high": "wall", "y_low": "absorbing", "y_high": "wall", "z": "free"},
}


def fields(path):
    with h5py.File(path) as file:
        return np.array([file[f"VTKHDF/PointData/{name}"][:] for name in NAMES], dtype=np.float64)


@pytest.mark.parametrize("difference", ["central", "upwind"])
@pytest.mark.parametrize(
    ("order", "case", "ranks", "ended"),
    [
        *[(2, "plane_wave", 1, False), (4, "cosine", 2, False), (6, "gaussian", 3, False), (8, "plane_wave", 2, False)],
        *[(2, "rough", 4, True), (4, "rough", 3, True), (6, "rough", 2, True), (8, "rough", 2, True)],
        (4, "ends of x alone", 1, True),
    ],
)
def test_step_n_from_step_0(tmp_path, order, case, ranks, ended, difference):
    configuration = merged(BASE, {"compute": {"order": order}, "physics": {"difference": difference}})
    if ended:
        boundary = MIXED[order] if case == "rough" else {"x_low": "wall", "x_high": "absorbing"}
        configuration = merged(configuration, {"grid": ENDS, "boundary": boundary, "initial": ROUGH})
    else:
        configuration = merged(configuration, {"initial": {"case": case}})
    run(tmp_path / "run", configuration, ranks=ranks)
    first, last = (fields(tmp_path / "run" / name) for name in states(tmp_path / "run"))
    dt = attribute(tmp_path / "run" / states(tmp_path / "run")[0], "dt")
    assert dt == pytest.approx(0.8 / (SPEED * np.sqrt(sum(h**-2 for h in spacings(configuration)))), rel=1e-14)
    slope, f = slope_of(configuration), first
    for _ in range(8):
        f = classical(lambda _, at: slope(at), f, 0.0, dt)
    assert np.abs(last - f).max() < 1e-12 * np.abs(f).max()
    assert all(np.abs(last[i] - first[i]).max() > 0.01 for i in range(4)), "a field has not changed"
    lines = rows(tmp_path / "run")
    assert lines[0]["energy"] == pytest.approx(energy(configuration, first), rel=1e-13)
    assert lines[-1]["energy"] == pytest.approx(energy(configuration, f), rel=1e-12)


@pytest.mark.parametrize("difference", ["central", "upwind"])
@pytest.mark.parametrize("case", ["plane_wave", "cosine"])
@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_order_in_space(tmp_path, case, order, difference):
    """Errors of all four fields on two grids; steps so small that the differences in space decide. Upwind differences
    have one order less."""
    errors = []
    for n in 12, 20:
        configuration = merged(
            BASE,
            {
                "grid": {"nx": n, "ny": n, "nz": n},
                "compute": {"order": order},
                "physics": {"difference": difference},
                "initial": {"case": case},
                "time": {"courant": None, "dt": 4e-4, "steps": 40},
                "output": {"diagnostics_every": 40, "fields_every": 0},
            },
        )
        run(tmp_path / f"n{n}", configuration)
        last = rows(tmp_path / f"n{n}")[-1]
        errors.append([last[name] for name in ("err_l2", "err_l2_u", "err_l2_v", "err_l2_w")])
    seen = np.log(np.array(errors[0]) / errors[1]) / np.log(20 / 12)
    expected = order - (difference == "upwind")
    assert (seen > expected - 0.4).all(), seen
    assert (seen < expected + 0.4).all(), seen


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


@pytest.mark.parametrize("difference", ["central", "upwind"])
@pytest.mark.parametrize("scheme", ["rk4", "ssprk3", "ck45", "kgu35"])
def test_one_answer(tmp_path, scheme, difference):
    """Any number of ranks and threads, and a run that goes on from its middle."""
    configuration = merged(
        BASE,
        {
            "time": {"scheme": scheme},
            "physics": {"difference": difference},
            "initial": {"case": "gaussian"},
            "output": {"fields_every": 4},
        },
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


@pytest.mark.parametrize(
    ("difference", "limit", "courant", "grows"),
    [
        *[("central", "1.634", 1.60, False), ("central", "1.634", 1.67, True)],
        *[("upwind", "1.67", 1.60, False), ("upwind", "1.67", 1.74, True)],
    ],
)
def test_limit_of_the_step(tmp_path, difference, limit, courant, grows):
    """RK4 with order 8: 2.828/1.7306 = 1.634 with the Courant number c dt sqrt(sum 1/h^2), of which a run is warned."""
    configuration = merged(
        BASE, {"initial": {"case": "gaussian", "width": 0.05}, "time": {"courant": courant, "steps": 500}}
    )
    configuration["grid"] = {"nx": 16, "ny": 16, "nz": 16}
    configuration["output"] = {"diagnostics_every": 500, "fields_every": 0}
    said = run(tmp_path / "run", configuration, f"physics.difference={difference}", code=4 if grows else 0)
    assert (f"beyond the limit {limit}" in said.stderr) == grows


def order_between_ends(directory, sizes, changes):
    """Of the energy of the errors, added up over a period: at one time alone they may be small by chance."""
    errors = []
    for n in sizes:
        output = {"diagnostics_every": 6, "fields_every": 0}
        grid = {axis: n for axis, points in changes["grid"].items() if points is None}
        run(directory.with_name(f"{directory.name}{n}"), merged(BASE, changes, {"grid": grid, "output": output}))
        lines = rows(directory.with_name(f"{directory.name}{n}"))
        errors.append(sum(line["err_l2"] ** 2 + (DENSITY * SPEED * line["err_l2_u"]) ** 2 for line in lines))
    return np.log(errors[0] / errors[1]) / np.log((sizes[1] - 1) / (sizes[0] - 1)) / 2


@pytest.mark.parametrize(
    ("difference", "order", "least", "least_in_space"),
    [
        *[("central", 2, 1.9, 1.9), ("central", 4, 2.9, 2.9), ("central", 6, 3.9, 3.9), ("central", 8, 4.9, 4.9)],
        *[("upwind", 4, 2.9, 2.8), ("upwind", 6, 3.9, 3.9), ("upwind", 8, 4.9, 4.9)],
    ],
)
def test_order_of_a_standing_wave_between_ends(tmp_path, difference, order, least, least_in_space):
    """Along one axis, and between ends of all axes."""
    scheme = {"compute": {"order": order}, "physics": {"difference": difference}}
    wave = {"case": "cosine", "kx": 2, "ky": 0, "kz": 0, "background": None}
    line = {"grid": {"nx": None, "ny": 9, "nz": 4}, "initial": wave}
    line["time"] = {"courant": None, "dt": 2e-3, "steps": 240}
    for name, boundary in (
        ("walls", {"x": "wall"}),
        ("free", {"x": "free"}),
        ("both", {"x_low": "free", "x_high": "wall"}),
    ):
        changes = {**scheme, **line, "boundary": boundary}
        assert order_between_ends(tmp_path / name, (31, 61), changes) > least, name
    box = {"grid": {"nx": None, "ny": None, "nz": None, "ly": 1.0, "lz": 1.0}}
    box |= {"initial": wave | {"kx": 1, "ky": 1, "kz": 1}, "time": {"courant": None, "dt": 4e-3, "steps": 90}}
    for kind in ("wall", "free"):
        changes = {**scheme, **box, "boundary": dict.fromkeys("xyz", kind)}
        assert order_between_ends(tmp_path / f"all {kind}", (31, 41), changes) > least_in_space, kind


def test_standing_waves_fit_their_ends(tmp_path):
    """The initial pressure, and the velocity after a quarter of a period, from the formulas."""
    configuration = merged(
        BASE,
        {
            "grid": {"nx": 33, "ny": 33, "nz": 33, "ly": 1.0, "lz": 1.0},
            "boundary": {"x": "free", "y_low": "wall", "y_high": "free", "z_low": "free", "z_high": "wall"},
            "initial": {"case": "cosine", "kx": 1, "ky": 1, "kz": 0, "background": None},
        },
    )
    q = np.arange(33) / 32
    kx, ky, kz = 2 * np.pi * np.array([1, 3 / 4, -1 / 4])
    k = np.sqrt(kx**2 + ky**2 + kz**2)
    sx, cx, sy, cy, sz, cz = (f(v * q) for v in (kx, ky, kz) for f in (np.sin, np.cos))
    product = lambda x, y, z: z[:, None, None] * y[:, None] * x  # noqa: E731
    time = float(np.pi / (2 * SPEED * k))
    run(tmp_path / "run", configuration, f"time.t_end={time!r}", "time.courant=0.2")
    first, last = (fields(tmp_path / "run" / name) for name in states(tmp_path / "run"))
    assert np.abs(first - [product(sx, cy, sz), *np.zeros((3, 33, 33, 33))]).max() < 1e-14
    velocities = [-kx * product(cx, cy, sz), ky * product(sx, sy, sz), -kz * product(sx, cy, cz)]
    exact = np.array([0 * product(sx, cy, sz), *(v / (DENSITY * SPEED * k) for v in velocities)])
    assert np.abs(last - exact).max() < 3e-4
    lines = rows(tmp_path / "run")[-1]
    assert lines["err_linf"] == pytest.approx(np.abs(last - exact)[0].max(), rel=1e-6)


def test_a_pulse_leaves_and_one_returns(tmp_path):
    """Half of a pulse goes to each end: the absorbing one lets it go, the other one sends it back, upright from a wall
    and upside down from a free end. A wall's absorption is the share of the energy that does not come back."""
    ends = [("wall", 0, 1), ("free", 0, -1), ("absorbing", 0, 0), *(("wall", a, np.sqrt(1 - a)) for a in (0.1, 0.5, 1))]
    for kind, absorption, sign in ends:
        configuration = merged(
            BASE,
            {
                "grid": {"nx": 81, "ny": 9, "nz": 4},
                "physics": {"density": 1.0, "sound_speed": 1.0},
                "boundary": {"x_low": kind, "x_high": "absorbing", "absorption_x_low": absorption or None},
                "initial": {**ROUGH, "formula": "exp(-((x - 0.5)/0.1)^2)"},
                "time": {"courant": None, "dt": 0.005, "steps": 150},
                "output": {"diagnostics_every": 10},
            },
        )
        folder = tmp_path / f"{kind}{absorption}"
        run(folder, configuration)
        last = fields(folder / states(folder)[-1])
        x = np.arange(81) / 80
        pulse = sign * 0.5 * np.exp(-(((x + 0.5 - 0.75) / 0.1) ** 2))
        assert np.abs(last[0] - pulse).max() < 2e-3
        assert np.abs(last[1] - pulse).max() < 2e-3
        energies = [line["energy"] for line in rows(folder)]
        assert all(b <= a for a, b in itertools.pairwise(energies))
        assert energies[-1] == pytest.approx(sign**2 * energies[0] / 2, rel=1e-4, abs=1e-5 * energies[0])


@pytest.mark.parametrize(("absorption", "end"), [(0.1, 0.2), (0.3, 0.08)])
def test_a_room_decays_as_sabine_says(tmp_path, absorption, end):
    """T60 = 55.3 V/(c S a), a by Paris from the impedance of walls that react locally, is good for small a; Eyring's
    -ln(1 - a) in the place of a is too short for large ones."""
    configuration = {
        "grid": {"nx": 41, "ny": 28, "nz": 21, "lx": 6, "ly": 4.05, "lz": 3},
        "boundary": {"x": "wall", "y": "wall", "z": "wall", "absorption": absorption},
        "physics": {"equation": "acoustics", "difference": "upwind", "density": 1.2, "sound_speed": 343},
        "initial": {"case": "gaussian", "width": 0.35, "center_x": 1.55, "center_y": 1.35, "center_z": 1.2},
        "time": {"courant": 0.7, "t_end": end},
        "compute": {"precision": "single", "backend": "cpu"},
        "output": {"diagnostics_every": 10},
    }
    run(tmp_path / "run", configuration, ranks=2)
    lines = rows(tmp_path / "run")
    time, energy = (np.array([line[name] for line in lines]) for name in ("time", "energy"))
    level = 10 * np.log10(energy / energy[0])
    early = (level < -5) & (level > -15)
    found = -60 / np.polyfit(time[early], level[early], 1)[0]
    impedance = (1 + np.sqrt(1 - absorption)) / (1 - np.sqrt(1 - absorption))
    diffuse = 8 / impedance * (1 + 1 / (1 + impedance) - 2 / impedance * np.log(1 + impedance))
    volume, surface = 6 * 4.05 * 3, 2 * (6 * 4.05 + 4.05 * 3 + 6 * 3)
    sabine, eyring = (55.3 * volume / 343 / surface / a for a in (diffuse, -np.log(1 - diffuse)))
    assert eyring < found < 1.1 * sabine
    assert absorption > 0.1 or found == pytest.approx(sabine, rel=0.08)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_ends_give_one_answer(tmp_path, precision):
    """Ranks, threads and a resumed run do not show."""
    configuration = merged(
        BASE,
        {"grid": {**ENDS, "nz": 32}, "boundary": MIXED[8], "initial": ROUGH, "compute": {"precision": precision}},
        {"boundary": {"z": None, "z_low": "absorbing", "z_high": "wall"}},
    )
    hashes = set()
    for ranks, threads in ((1, 1), (2, 2), (4, 1)):
        hashes.add(hash_of(run(tmp_path / f"run{ranks}", configuration, f"compute.threads={threads}", ranks=ranks)))
    run(tmp_path / "part", configuration, "time.steps=3", "output.fields_every=1", ranks=3)
    hashes.add(hash_of(run(tmp_path / "part", configuration, "restart.from=latest")))
    assert len(hashes) == 1


LIMITS = [  # largest c dt/h of rk4 and ssprk3 along one axis, from the literature's operators by another program
    *[("wall", 2, "rk4", 2.00), ("wall", 4, "rk4", 1.46), ("free", 6, "rk4", 1.34), ("wall", 8, "rk4", 1.27)],
    *[("free", 4, "ssprk3", 0.89), ("wall", 8, "ssprk3", 0.78)],
    *[("absorbing", 4, "rk4", 2.06), ("absorbing", 8, "ssprk3", 1.00)],
]
DAMPED = [
    ("wall", 4, "rk4", 1.556),
    ("free", 6, "ssprk3", 0.890),
    ("wall", 8, "rk4", 1.27),
    ("free", 8, "ssprk3", 0.79),
]


@pytest.mark.parametrize(
    ("difference", "kind", "order", "scheme", "limit"),
    [("central", *limit) for limit in LIMITS] + [("upwind", *limit) for limit in DAMPED],
)
def test_limit_of_the_step_between_ends(tmp_path, difference, kind, order, scheme, limit):
    for share, grows in ((0.95, False), (1.05, True)):
        configuration = merged(
            BASE,
            {
                "grid": {"nx": 41, "ny": 9, "nz": 4, "ly": 1e3, "lz": 1e3},
                "boundary": {"x": kind},
                "physics": {"difference": difference},
                "initial": {**ROUGH, "formula": "sin(900*x*x)"},
                "time": {"scheme": scheme, "courant": share * limit, "steps": 400},
                "compute": {"order": order},
                "output": {"diagnostics_every": 400, "fields_every": 0},
            },
        )
        said = run(tmp_path / f"run{share}", configuration, code=4 if grows else 0)
        assert (f"of {scheme} with order {order}: the solution " in said.stderr) == grows
        if not grows:
            first, last = rows(tmp_path / f"run{share}")
            assert last["energy"] < 1.001 * first["energy"]


@pytest.mark.parametrize(("flat", "grows"), [(1.0, 1.6), (4.0, 1.75)])
def test_absorbing_ends_lower_the_limit_of_upwind_sound(tmp_path, flat, grows):
    """They damp beside the dissipation along the other axes. In a periodic box of cubes the limit is 1.675."""
    configuration = merged(
        BASE,
        {
            "grid": {"nx": 24, "ny": 24, "nz": 24, "lx": 1.0, "ly": 24 / 23 / flat, "lz": 24 / 23},
            "boundary": {"x": "absorbing"},
            "physics": {"difference": "upwind"},
            "initial": ROUGH,
            "time": {"courant": grows, "steps": 200},
            "output": {"diagnostics_every": 200, "fields_every": 0},
        },
    )
    said = run(tmp_path / "long", configuration, code=4)
    limit = float(re.search(r"beyond the limit ([0-9.]+)", said.stderr)[1])
    assert limit > 0.8 * grows
    said = run(tmp_path / "stable", configuration, f"time.courant={0.97 * limit}")
    assert "beyond the limit" not in said.stderr
    first, last = rows(tmp_path / "stable")
    assert last["energy"] < first["energy"]


def test_the_resolved_configuration_keeps_both_ends(tmp_path):
    """It runs to the same answer, and a resumed run with another end is warned."""
    configuration = merged(BASE, {"grid": ENDS, "boundary": MIXED[8], "initial": ROUGH, "time": {"steps": 2}})
    run(tmp_path / "run", configuration)
    text = (tmp_path / "run" / "config.ini").read_text()
    section = text[text.index("[boundary]") : text.index("[physics]")].split("\n")
    written = {"x_low = free", "x_high = wall", "y_low = absorbing", "y_high = wall", "z = free", "value = 0"}
    assert {line for line in section[1:] if line and not line.startswith(("absorption", "layer_"))} == written
    launch(tmp_path, 1, "run/config.ini", "output.directory=again")
    last = states(tmp_path / "run")[-1]
    assert fields(tmp_path / "again" / last).tobytes() == fields(tmp_path / "run" / last).tobytes()
    said = launch(tmp_path, 1, "run/config.ini", "boundary.x=wall", "time.steps=4", "restart.from=latest")
    assert "boundary.x_low" in said.stderr
