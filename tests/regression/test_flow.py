"""Compressible flow as users run it: one answer over ranks and resumes, balances, known solutions, the table of a
Taylor-Green vortex, figures against numpy, and what is refused."""

import math
from pathlib import Path

import h5py
import numpy as np
import pytest

from program import hash_of, launch, many_steps, merged, rows, run, states, table, write_ini

TWO_PI = 2 * math.pi
BASE = {
    "grid": {"nx": 20, "ny": 18, "nz": 26, "lx": TWO_PI, "ly": TWO_PI, "lz": TWO_PI},
    "physics": {"equation": "flow"},
    "initial": {"case": "taylor_green_vortex", "mach": 0.3, "reynolds": 100},
    "time": {"t_end": 0.7},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 6, "diagnostics_every": 4},
}
NAMES = ("density", "u", "v", "w", "pressure")


def fields(path):
    with h5py.File(path) as file:
        return {name: data[:] for name, data in file["VTKHDF/PointData"].items()}


@pytest.mark.parametrize("physics", [{}, {"form": "keep", "viscosity_law": "sutherland"}, {"dissipation": 0.2}])
def test_one_answer_over_ranks_and_resumes(tmp_path, physics):
    configuration = merged(BASE, {"physics": physics})
    one = run(tmp_path / "one", configuration)
    three = run(tmp_path / "three", configuration, ranks=3)
    plain = run(tmp_path / "plain", configuration, "halo.overlap=no", "compute.threads=2", ranks=2)
    assert hash_of(one) == hash_of(three) == hash_of(plain)
    assert table(tmp_path / "one") == table(tmp_path / "three") == table(tmp_path / "plain")
    # steps follow from the state: a run that begins with a snapshot takes the same ones
    last = (tmp_path / "plain" / states(tmp_path / "plain")[-1]).unlink
    last()
    resumed = run(tmp_path / "plain", configuration, "restart.from=latest", ranks=2)
    assert hash_of(resumed) == hash_of(one) and table(tmp_path / "plain") == table(tmp_path / "one")


def test_the_largest_rates_are_those_of_all_ranks(tmp_path):
    """The limit of a step adds rates whose largest values lie on different ranks."""
    formulas = {"density": "1+0.2*sin(x+2*y)", "u": "0.3+0.5*sin(x)*cos(y)", "v": "0.2*cos(z)", "w": "0.1*sin(2*x)"}
    configuration = {
        **{key: BASE[key] for key in ("grid", "compute")},
        "physics": {"equation": "flow", "viscosity": 0.01, "viscosity_law": "sutherland", "dissipation": 0.1},
        "initial": {"case": "formula", "pressure": "2+0.3*cos(x)", **formulas},
        "time": {"courant": 0.9, "steps": 6},
    }
    assert len({hash_of(run(tmp_path / f"{ranks}", configuration, ranks=ranks)) for ranks in (1, 2, 5)}) == 1


@many_steps
def test_dissipation_of_what_is_not_resolved(tmp_path):
    """Without it the energy that reaches the grid's waves stays; with it these waves lose it to heat. Mass, momentum
    and total energy are kept, and the kinetic energy never grows by more than the pressure's work."""
    inviscid = {"grid": {"nx": 12, "ny": 12, "nz": 12}, "initial": {"reynolds": 0, "mach": 0.2}, "time": {"t_end": 12},
                "output": {"fields_every": 0}}  # fmt: skip
    left = {}
    for dissipation in (0, 0.1):
        place = tmp_path / f"{dissipation}"
        run(place, merged(BASE, inviscid, {"physics": {"dissipation": dissipation}}))
        found = rows(place)
        assert abs(found[-1]["mass"] - found[0]["mass"]) < 1e-13
        assert abs(found[-1]["energy"] / found[0]["energy"] - 1) < 1e-13
        assert max(abs(found[-1][f"momentum_{d}"]) for d in "xyz") < 1e-13
        left[dissipation] = found[-1]["kinetic"] / found[0]["kinetic"]
        assert max(row["kinetic"] for row in found) < 1.01 * found[0]["kinetic"]
    assert abs(left[0] - 1) < 0.01 and left[0.1] < 0.5


def test_balances(tmp_path):
    run(tmp_path / "run", merged(BASE, {"output": {"diagnostics_every": 1}, "time": {"t_end": 1.5, "courant": 0.5}}))
    found = rows(tmp_path / "run")
    first = found[0]
    for row in found:
        assert abs(row["mass"] / first["mass"] - 1) < 1e-13
        assert abs(row["energy"] / first["energy"] - 1) < 1e-13
        assert max(abs(row[f"momentum_{d}"]) for d in "xyz") < 1e-13
    # kinetic energy: lost to friction, gained by pressure; differences of third order in time
    for before, row, after in zip(found, found[1:-1], found[2:-1]):
        if abs(row["dt"] - after["dt"]) > 1e-3 * row["dt"]:
            continue
        rate = (after["kinetic"] - before["kinetic"]) / (after["time"] - before["time"])
        assert abs(rate + row["dissipation"] - row["pressure_work"]) < 2e-2 * row["dissipation"]


@many_steps
def test_three_thousand_steps_keep_what_is_kept(tmp_path):
    """Mass, momentum (beside the sum of density and speed) and total energy, with constant viscosity, of a flow without
    symmetries."""
    state = {"case": "formula", "mach": None, "reynolds": None, "density": "1 + .2*sin(x+2*y) + .1*cos(y-z)",
             "u": ".3 + .5*sin(x)*cos(y) + .1*cos(2*z+.5)", "v": "-.2 + .4*cos(x+z) - .2*sin(2*y)",
             "w": ".1 + .3*sin(y+z)*cos(x)", "pressure": "2 + .3*cos(x-y) + .2*sin(z+1)"}  # fmt: skip
    changes = {
        "grid": {"nx": 12, "ny": 10, "nz": 12},
        "initial": state,
        "physics": {"viscosity": 0.01},
        "time": {"t_end": None, "steps": 3000},
        "output": {"fields_every": 0, "diagnostics_every": 300},
    }
    run(tmp_path / "run", merged(BASE, changes))
    found = rows(tmp_path / "run")
    first, last = found[0], found[-1]
    assert last["step"] == 3000 and last["kinetic"] < 0.9 * first["kinetic"]
    for row in found:
        assert abs(row["mass"] / first["mass"] - 1) < 1e-13
        assert abs(row["energy"] / first["energy"] - 1) < 1e-13
        for d in "xyz":
            assert abs(row[f"momentum_{d}"] - first[f"momentum_{d}"]) < 1e-13 * math.sqrt(2 * first["kinetic"])


@many_steps
def test_taylor_green_vortex_is_that_of_the_table(tmp_path):
    """Kinetic energy at Reynolds number 1600 and 16 points fewer than half of it: by another program."""
    configuration = merged(
        BASE,
        {
            "grid": {"nx": 32, "ny": 32, "nz": 32},
            "initial": {"mach": 0.1, "reynolds": 1600},
            "time": {"t_end": 8.0},
            "compute": {"threads": 2},
            "output": {"fields_every": 0, "diagnostics_every": 100},
        },
    )
    run(tmp_path / "run", configuration)
    assert abs(rows(tmp_path / "run")[-1]["kinetic"] - 0.09709) < 6e-6


@many_steps
@pytest.mark.parametrize(
    ("case", "keys", "ratio"),
    [
        ("shear_wave", {"reynolds": 10}, 200),
        ("sound_wave", {"kx": 1, "ky": 1, "kz": 0, "mach": 1, "amplitude": 1e-7, "reynolds": None}, 200),
        ("density_wave", {"kx": 1, "ky": 1, "kz": 1, "amplitude": 0.4, "reynolds": None}, 180),
    ],
)
def test_errors_fall_with_the_eighth_power(tmp_path, case, keys, ratio):
    errors = []
    for n in (9, 18):
        grid = {"nx": n, "ny": n, "nz": n}
        configuration = merged(
            BASE,
            {"grid": grid, "initial": {"case": case, **keys}, "time": {"t_end": 0.3, "courant": 0.1}},
        )
        if case == "shear_wave":
            configuration["initial"].update({"ky": 1, "mach": 0.5})
        run(tmp_path / f"{n}", configuration)
        last = rows(tmp_path / f"{n}")[-1]
        errors.append(last["err_l2_u"] if case != "density_wave" else last["err_l2"])
    assert errors[0] / errors[1] > ratio


def test_figures_are_those_of_the_fields(tmp_path):
    derived = "vorticity q_criterion dilatation mach temperature density_gradient"
    configuration = merged(BASE, {"output": {"derived": derived, "checkpoint_every": 6}, "time": {"t_end": 0.3}})
    run(tmp_path / "run", configuration)
    path = sorted((tmp_path / "run" / "fields").glob("state_*.hdf"))[-1]
    of = fields(path)
    weights = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])

    def slope(f, axis):
        h = TWO_PI / f.shape[2 - axis]
        shifted = [np.roll(f, -k, 2 - axis) - np.roll(f, k, 2 - axis) for k in range(1, 5)]
        return sum(w * s for w, s in zip(weights, shifted)) / h

    g = np.array([[slope(of[name], d) for d in range(3)] for name in "uvw"])
    theta = g[0, 0] + g[1, 1] + g[2, 2]
    vorticity = [g[2, 1] - g[1, 2], g[0, 2] - g[2, 0], g[1, 0] - g[0, 1]]
    q = 0.5 * (theta**2 - sum(g[i, j] * g[j, i] for i in range(3) for j in range(3)))
    speed = np.sqrt(of["u"] ** 2 + of["v"] ** 2 + of["w"] ** 2)
    gradient = np.sqrt(sum(slope(of["density"], d) ** 2 for d in range(3)))
    expected = {
        **{f"vorticity_{'xyz'[d]}": vorticity[d] for d in range(3)},
        "q_criterion": q,
        "dilatation": theta,
        "mach": speed / np.sqrt(1.4 * of["pressure"] / of["density"]),
        "temperature": of["pressure"] / of["density"],
        "density_gradient": gradient,
    }
    for name, values in expected.items():
        assert np.abs(of[name] - values).max() < 1e-13 * max(1.0, np.abs(values).max()), name
    last = rows(tmp_path / "run")[-1]
    assert abs(last["enstrophy"] - 0.5 * sum(np.mean(v**2) for v in vorticity)) < 1e-13
    assert abs(last["pressure_work"] - np.mean(of["pressure"] * theta)) < 1e-13
    assert abs(last["kinetic"] - np.mean(0.5 * of["density"] * speed**2)) < 1e-14
    assert last["pressure_min"] == of["pressure"].min() and last["density_min"] == of["density"].min()
    assert abs(last["mach_max"] - expected["mach"].max()) < 1e-14


def test_a_snapshot_is_a_state_to_begin_with(tmp_path):
    run(tmp_path / "first", BASE)
    begun = fields(tmp_path / "first" / states(tmp_path / "first")[-1])
    configuration = merged(
        BASE, {"initial": {"case": "file", "mach": None, "reynolds": None}, "physics": {"viscosity": 0.01}}
    )
    last = tmp_path / "first" / states(tmp_path / "first")[-1]
    run(tmp_path / "second", configuration, f"initial.file={last}", "time.t_end=0.1")
    for name in NAMES:
        assert np.array_equal(fields(tmp_path / "second" / "state_00000000.hdf")[name], begun[name])


def test_a_negative_density_ends_the_run(tmp_path):
    """Nothing dissipates: a collision at Mach number 5 is beyond any grid."""
    formulas = {"case": "formula", "u": "5*sin(x)", "density": "1+0.5*cos(y)", "mach": None, "reynolds": None}
    configuration = merged(BASE, {"initial": formulas, "time": {"t_end": 5.0}, "output": {"diagnostics_every": 1}})
    said = run(tmp_path / "run", configuration, code=4)
    assert "the solution blew up" in said.stderr and "last good snapshot" in said.stderr
    assert "not positive at x = " in said.stderr


def test_a_pressure_that_is_negative_for_some_steps_ends_the_run(tmp_path):
    """With steps of one size and no row of diagnostics: two streams leave a hole of pressure -2e-5, which fills up."""
    formulas = {
        "case": "formula",
        "density": "1",
        "u": "0.8*tanh((x-0.5)/0.02)*exp(-((x-0.5)/0.2)^4)",
        "pressure": "1-0.99*exp(-((x-0.5)/0.035)^8)",
    }
    configuration = {
        "grid": {"nx": 64, "ny": 9, "nz": 9},
        "physics": {"equation": "flow", "viscosity": 0.0005},
        "initial": formulas,
        "time": {"dt": 0.0005, "steps": 120},
        "output": {"diagnostics_every": 0, "checkpoint_every": 0},
    }
    said = run(tmp_path / "run", configuration, code=4)
    assert "at step 64" in said.stderr and "pressure is -" in said.stderr and "not positive at x = " in said.stderr


PUSHED = {
    "grid": {"nx": 16, "ny": 9, "nz": 9},
    "physics": {"equation": "flow"},
    "initial": {"case": "formula", "pressure": "10", "u": "0.1*sin(2*pi*x)"},
    "source": {"formula_u": "8", "formula_energy": "100"},
    "time": {"steps": 21, "dt": 0.01, "scheme": "rk4"},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 1, "diagnostics_every": 5},
}


def share_of_the_limit(of, dt):
    """By equations.md, for rk4 with order 8 (limit 2.8284, largest symbol 1.7306)."""
    counts = (16, 9, 9)
    sound = np.sqrt(1.4 * of["pressure"] / of["density"]) * math.sqrt(sum(n * n for n in counts))
    rate = sound + sum(np.abs(of[name]) * n for name, n in zip("uvw", counts))
    return dt * rate.max() * 1.7306 / 2.8284


def test_the_courant_number_is_that_of_the_state_at_the_steps_start(tmp_path):
    """A gas that is pushed and heated, with steps of one size, which become too long."""
    run(tmp_path / "run", PUSHED)
    found = rows(tmp_path / "run")
    for row in found:
        start = fields(tmp_path / "run" / f"state_{max(0, int(row['step']) - 1):08d}.hdf")
        assert abs(row["courant"] / share_of_the_limit(start, 0.01) - 1) < 1e-4
    assert found[-1]["courant"] > 1.2 * found[0]["courant"]
    whole = table(tmp_path / "run")
    for path in sorted((tmp_path / "run").glob("state_*.hdf"))[8:]:
        path.unlink()
    run(tmp_path / "run", PUSHED, "restart.from=latest", ranks=2)
    assert table(tmp_path / "run") == whole


def test_a_speed_of_sound_beyond_single_precision(tmp_path):
    fast = {"initial": {"pressure": "1e30", "density": "1e-20"}, "time": {"dt": None, "courant": 0.9, "steps": 1}}
    said = run(tmp_path / "run", merged(PUSHED, fast), "compute.precision=single", code=4).stderr
    assert "at step 0, t = 0, no step size follows from it (dt = " in said


def test_a_message_of_a_blow_up_has_the_courant_number_of_the_step(tmp_path):
    """Not that of t = 0, which is 0.9."""
    of = {"initial": {"pressure": None}, "source": {"formula_u": "8+sin(2*pi*x)", "formula_energy": None},
          "time": {"dt": None, "courant": 0.9, "steps": 2000, "adaptive": "no"}}  # fmt: skip
    said = run(tmp_path / "run", merged(PUSHED, of), "output.fields_every=0", "output.diagnostics_every=4", code=4)
    assert float(said.stderr.split("Courant number ")[1].split(")")[0]) > 1


def test_a_run_from_a_file_resumes_without_it(tmp_path):
    """With steps of a given size, whose Courant number and warning are of the snapshot."""
    run(tmp_path / "first", PUSHED, "time.steps=0")
    state = (tmp_path / "first" / "state_00000000.hdf").rename(tmp_path / "first.hdf")
    configuration = merged(PUSHED, {"initial": {"case": "file", "file": state, "u": None, "pressure": None}})
    run(tmp_path / "run", configuration, "time.steps=12")
    state.unlink()
    said = run(tmp_path / "run", configuration, "restart.from=latest", "--validate")
    assert "Courant number" not in said.stderr
    run(tmp_path / "run", configuration, "restart.from=latest")
    run(tmp_path / "whole", PUSHED)
    assert table(tmp_path / "run") == table(tmp_path / "whole")
    said = run(tmp_path / "run", configuration, "restart.from=latest", "time.dt=0.03", "time.steps=22")
    told = float(said.stderr.split("gives a Courant number of ")[1].split(",")[0])
    last = fields(tmp_path / "whole" / "state_00000021.hdf")
    assert abs(told / share_of_the_limit(last, 0.03) - 1) < 1e-3


@pytest.mark.parametrize("adaptive", ["yes", "no"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_first_row_has_the_step_that_comes(tmp_path, precision, adaptive):
    """By the state as the fields hold it: the formulas of the initial state are not rounded to single precision."""
    changes = {"compute": {"precision": precision}, "time": {"adaptive": adaptive, "courant": 0.9, "t_end": 0.3},
               "output": {"diagnostics_every": 1}}  # fmt: skip
    run(tmp_path / "run", merged(BASE, changes))
    first, second = rows(tmp_path / "run")[:2]
    assert (first["dt"], first["courant"]) == (second["dt"], second["courant"])


def test_a_resumed_run_tells_the_step_that_comes(tmp_path):
    """Its state may be faster than that at t = 0, for whose step it is then no warning."""
    time = {"dt": None, "courant": 0.9, "adaptive": "yes", "steps": 60}
    configuration = merged(PUSHED, {"initial": {"u": "0"}, "source": {"force_x": 5}, "time": time})
    run(tmp_path / "run", configuration, "time.steps=40")
    said = run(tmp_path / "run", configuration, "restart.from=latest")
    assert "Courant number" not in said.stderr
    told = float(said.stdout.split("dt = ")[1].split(" at first")[0])
    taken = next(float(row["dt"]) for row in rows(tmp_path / "run") if float(row["step"]) > 40)
    assert abs(told / taken - 1) < 0.05


@pytest.mark.parametrize("output", [{}, {"diagnostics_every": None, "diagnostics_at": 0.031}])
def test_steps_of_one_size_need_no_initial_file_to_resume(tmp_path, output):
    """They follow from the state at t = 0, whose rates snapshots hold, by the run's own courant and scheme."""
    time = {"dt": None, "courant": 0.7, "adaptive": "no", "steps": 12}
    run(tmp_path / "first", PUSHED, "time.steps=0")
    state = (tmp_path / "first" / "state_00000000.hdf").rename(tmp_path / "first.hdf")
    initial = {"case": "file", "file": state, "u": None, "pressure": None}
    configuration = merged(PUSHED, {"initial": initial, "time": time, "output": output})
    run(tmp_path / "whole", configuration)
    run(tmp_path / "run", configuration, "time.steps=7")
    other = ("time.courant=0.5", "time.scheme=kgu35", "restart.from=run/state_00000007.hdf")
    run(tmp_path / "other", configuration, *other)
    state.unlink()
    run(tmp_path / "run", configuration, "time.steps=9", "restart.from=latest", "--validate", ranks=2)
    run(tmp_path / "run", configuration, "time.steps=9", "restart.from=latest", ranks=2)
    run(tmp_path / "run", configuration, "restart.from=latest")
    assert table(tmp_path / "run") == table(tmp_path / "whole")
    run(tmp_path / "without", configuration, *other)
    assert table(tmp_path / "without") == table(tmp_path / "other")


@pytest.mark.parametrize("time", [{"dt": 0.0011}, {"dt": None, "courant": 0.9}])
@pytest.mark.parametrize("physics", [{"dissipation": 0.1}, {"viscosity": 0.01, "viscosity_law": "sutherland"}])
def test_a_negative_pressure_is_named_with_the_place(tmp_path, physics, time):
    """Of a gas that is cooled most at x = y = 0, also where a root of the pressure is taken within a step."""
    cooled = {"formula_u": None, "formula_energy": "-8*(1+cos(2*pi*x))*(1+cos(2*pi*y))"}
    of = {"initial": {"pressure": None}, "source": cooled, "physics": physics, "time": {"steps": 2000, **time}}
    said = run(tmp_path / "run", merged(PUSHED, of), "output.fields_every=0", "output.diagnostics_every=0", code=4)
    assert "pressure is -" in said.stderr and "not positive at x = " in said.stderr
    assert "not finite" not in said.stdout + said.stderr


@pytest.mark.parametrize("temperature", [None, 3])
def test_a_reynolds_number_with_sutherlands_law_is_that_of_the_case(tmp_path, temperature):
    """A vortex of uniform temperature 1/(1.4 mach^2): the dissipation over twice the enstrophy is the viscosity."""
    law = {"viscosity_law": "sutherland", "viscosity_temperature": temperature, "gas_constant": 2}
    said = run(tmp_path / "run", merged(BASE, {"physics": law, "time": {"t_end": 0.1}}))
    first = rows(tmp_path / "run")[0]
    assert abs(first["dissipation_solenoidal"] / (2 * first["enstrophy"]) - 1 / 100) < 1e-14
    at = 1 / (1.4 * 0.3**2) / 2
    t0 = temperature or at
    s = 0.4 if temperature else 0.4 * at
    viscosity = 0.01 / ((at / t0) ** 1.5 * (t0 + s) / (at + s))
    line = next(line for line in said.stdout.splitlines() if line.startswith("viscosity"))
    assert line == (
        f"viscosity  {viscosity:.6g} at temperature {t0:.6g}, Sutherland's law with S = {s:.6g}, "
        f"Reynolds number 100 at the case's temperature, {at:.6g}"
    )
    again = launch(tmp_path, 1, "run/config.ini", "output.directory=again")
    assert hash_of(again) == hash_of(said)


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("boundary.x=wall", "no such ends; accepted: periodic; wall is for physics.equation = acoustics or wave\n"),
        ("initial.mach=5", "initial.case = taylor_green_vortex, initial.mach = 5: the density or the pressure is not"),
        ("physics.form=skew", "accepted: keep_pe, keep, kennedy_gruber, divergence"),
        ("physics.viscosity=0.1", "accepted: one of the two"),
        ("physics.viscosity=0", "initial.reynolds = 100: the viscosity follows from it"),
        ("initial.case=gaussian", "of another equation; accepted: taylor_green_vortex"),
        ("physics.gamma=1", "accepted: a number from"),
        ("output.derived=intensity", "physics.equation = acoustics; accepted: gradient, vorticity"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, override, expected):
    write_ini(tmp_path / "a.ini", BASE)
    said = launch(tmp_path, 1, "a.ini", override, code=2)
    assert expected in said.stderr and not (tmp_path / "runs").exists()


def test_a_state_without_pressure_is_refused(tmp_path):
    formulas = {"case": "formula", "pressure": "sin(x)", "mach": None, "reynolds": None}
    write_ini(tmp_path / "a.ini", merged(BASE, {"initial": formulas}))
    said = launch(tmp_path, 2, "a.ini", code=2)
    assert "not positive at x = 0, y = 0, z = 0" in said.stderr and not (tmp_path / "runs").exists()


@pytest.mark.parametrize("key", ["density", "pressure"])
def test_what_single_precision_does_not_hold_is_refused(tmp_path, key):
    """Its least number is 2^-126; the same state is accepted in double precision."""
    formulas = {"case": "formula", "mach": None, "reynolds": None, key: "1e-40*(2+sin(x))"}
    write_ini(tmp_path / "a.ini", merged(BASE, {"initial": formulas, "time": {"t_end": 1e-30}}))
    said = launch(tmp_path, 1, "a.ini", "--validate", "compute.precision=single", code=2)
    assert "not positive at x = 0, y = 0, z = 0" in said.stderr and "single precision" in said.stderr
    launch(tmp_path, 1, "a.ini", "--validate")


@pytest.mark.parametrize("case", ["shear_wave", "sound_wave"])
def test_the_plan_says_how_far_a_linear_solution_is_known(tmp_path, case):
    write_ini(tmp_path / "a.ini", merged(BASE, {"initial": {"case": case, "reynolds": None}}))
    said = launch(tmp_path, 1, "a.ini", "--validate").stdout
    assert "exact      known\n" in said
    said = launch(tmp_path, 1, "a.ini", "--validate", "initial.amplitude=0.03").stdout
    assert "exact      known for small amplitudes: errors of the order of amplitude^2 = 0.0009\n" in said


def test_the_resolved_configuration_runs_again(tmp_path):
    """It has the Reynolds number, and not the viscosity, which follows from it."""
    keys = ("grid.nx=16", "grid.ny=16", "grid.nz=16", "time.t_end=0", "output.directory=run")
    launch(tmp_path, 1, Path(__file__).parents[2] / "config" / "taylor-green.ini", *keys)
    launch(tmp_path, 1, "--validate", "run/config.ini", "output.directory=again")
