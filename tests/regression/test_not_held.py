"""What the grid or the precision cannot hold, and a velocity with a divergence, is warned of with the number."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from program import BASE, complaints, launch, merged, rows, run, write_ini

CONFIG = Path(__file__).resolve().parents[2] / "config"


def said(folder, *parts):
    """What is said of BASE with these changes, before anything runs."""
    write_ini(folder / "run.ini", merged(BASE, {"velocity": {"period": None}}, *parts))
    return " ".join(complaints(launch(folder, 1, "run.ini", "time.steps=0")))


def write_start(path, n):
    """A gas at rest, for the deck that starts from a file."""
    path.parent.mkdir()
    with h5py.File(path, "w") as file:
        for name, value in {"density": 1, "u": 0, "v": 0, "w": 0, "pressure": 1}.items():
            file[f"VTKHDF/PointData/{name}"] = np.full((n, n, n), float(value))


UNIFORM = {"velocity": {"field": "uniform"}, "physics": {"diffusivity": 0}}


PLAIN = dict.fromkeys(("width", "center_x", "background"))
FAINT = {"amplitude": 1e-5, "background": 300}
WARNED = [
    ({"case": "cosine", "kx": 16, **PLAIN}, "double", "initial.kx = 16 leaves 2.06 points per wave"),
    ({"case": "gaussian", "width": 0.02}, "double", "initial.width = 0.02 is 0.569 spacings (gaussian needs 1.5)"),
    ({"case": "slotted", "width": 0.1}, "double", "initial.width = 0.1 is 2.85 spacings (slotted needs 6)"),
    (FAINT, "single", "initial.amplitude = 1e-05 on a background of 300 is 0.28 steps of single precision"),
    (FAINT, "single", "the initial state is 300 at every point"),
    ({"case": "formula", "formula": "0*x + 2", **PLAIN}, "double", "the initial state is 2 at every point"),
]


@pytest.mark.parametrize(("initial", "precision", "words"), WARNED, ids=[words for _, _, words in WARNED])
def test_warned(tmp_path, initial, precision, words):
    assert words in said(tmp_path, UNIFORM, {"initial": initial, "compute": {"precision": precision}})


def formula(text):
    return {"case": "formula", "formula": text, **PLAIN}


HOLDS_NOT = "the grid or the precision does not hold the initial condition: "
# Of one wave the number is its points. 33 x 20 x 37 points; a periodic axis has as many points per length as points.
FORMULAS = [
    ("cos(2*pi*16*x/lx)", "double", "along x its waves have 2.06 points in the mean (fewer than 6"),
    ("300 + cos(2*pi*10*y/ly)", "single", "along y its waves have 2 points in the mean"),
    ("sin(2*pi*7*z/lz)*cos(2*pi*x/lx)", "double", "along z its waves have 5.29 points in the mean"),
    ("x < 0.5*lx ? 1 : 0", "double", "along x its waves have 4 points in the mean"),
    ("z", "double", "along z its waves have 3.93 points in the mean"),
    ("300 + 1e-4*cos(2*pi*x/lx)", "single", "its values span 5.1 steps of single precision (fewer than 100)"),
    ("exp(-(x-0.4)^2/(2*0.1^2))*cos(2*pi*y/ly)", "double", None),
    ("300 + 0.1*sin(2*pi*6*z/lz)", "single", None),
    ("1e-20*cos(2*pi*x/lx)", "single", None),
]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(("text", "precision", "words"), FORMULAS, ids=[text for text, _, _ in FORMULAS])
def test_formulas(tmp_path, text, precision, words, ranks):
    """From the stored field, on any number of ranks; what only one axis does not hold is said of that one."""
    changes = {"initial": formula(text), "compute": {"precision": precision}}
    write_ini(tmp_path / "run.ini", merged(BASE, {"velocity": {"period": None}}, UNIFORM, changes))
    text = " ".join(complaints(launch(tmp_path, ranks, "run.ini", "time.steps=0")))
    assert " ".join(complaints(launch(tmp_path, ranks, "--validate", "run.ini", "time.steps=0"))) == text
    assert (HOLDS_NOT in text) == (words is not None)
    assert words is None or (words in text and text.count(" points in the mean") <= 1)


def test_a_file(tmp_path):
    """Values that double precision tells apart and single does not, and noise from point to point."""
    shape = tuple(BASE["grid"][f"n{axis}"] for axis in "zyx")
    z = np.arange(shape[0])[:, None, None] + np.zeros(shape)
    noise = np.random.default_rng(1).standard_normal(shape)
    own = {"initial": {"case": "file", "file": "own.h5", "dataset": "phi", **PLAIN}, "compute": {"precision": "single"}}
    for values, words in (
        (300 + 1e-4 * np.cos(2 * np.pi * z / shape[0]), "its values span 5.1 steps"),
        (noise, "along x its waves have "),
        (np.cos(2 * np.pi * z / shape[0]) + 1e-7 * noise, None),
    ):
        with h5py.File(tmp_path / "own.h5", "w") as file:
            file["phi"] = values
        text = said(tmp_path, UNIFORM, own)
        assert (HOLDS_NOT in text) == (words is not None)
        assert words is None or words in text
        for ranks in (1, 3):
            foreseen = " ".join(complaints(launch(tmp_path, ranks, "--validate", "run.ini")))
            assert (HOLDS_NOT in foreseen) == (words is not None)
            assert ranks == 3 or foreseen == text


def test_validate_evaluates_the_initial_condition(tmp_path):
    """A pole at one point, which no sample of rows meets."""
    place = {f"{axis}0": 3 * BASE["grid"].get(f"l{axis}", 1) / BASE["grid"][f"n{axis}"] for axis in "xyz"}
    changes = {"initial": formula("1/(abs(x-x0) + abs(y-y0) + abs(z-z0) < 1e-9 ? 0 : 1)"), "constants": place}
    write_ini(tmp_path / "run.ini", merged(BASE, {"velocity": {"period": None}}, UNIFORM, changes))
    refused = launch(tmp_path, 2, "--validate", "run.ini", code=2)
    assert "initial.formula" in refused.stderr


@pytest.mark.parametrize("precision", ["double", "single"])
def test_nothing_is_said_of_what_is_held(tmp_path, precision):
    text = said(tmp_path, UNIFORM, {"compute": {"precision": precision}})
    assert "hold" not in text
    assert "every point" not in text


@pytest.mark.parametrize("deck", sorted(path.name for path in CONFIG.glob("*.ini")))
def test_ready_cases_are_held(tmp_path, deck):
    if deck == "turbulence.ini":
        write_start(tmp_path / "runs" / "turbulence.hdf", 64)
    text = " ".join(complaints(launch(tmp_path, 1, "--validate", CONFIG / deck)))
    assert "hold" not in text
    assert "divergence" not in text


# div = 2 pi 0.3 (cos 2 pi x) has that size; with v the two terms cancel.
COMPRESSED = {"field": "formula", "u": "0.3*sin(2*pi*x)*cos(2*pi*y/ly)", "v": 0, "w": 0}
ADVECTIVE = {"physics": {"form": "advective", "diffusivity": 0}}
CANCELLED = {**COMPRESSED, "v": "-0.3*ly*cos(2*pi*x)*sin(2*pi*y/ly)"}


def test_divergence(tmp_path):
    assert "the velocity's divergence is up to 1.88" in said(tmp_path, ADVECTIVE, {"velocity": COMPRESSED})
    assert "divergence" not in said(tmp_path, ADVECTIVE, {"velocity": CANCELLED})
    assert "divergence" not in said(tmp_path, {"physics": {"form": "conservative"}}, {"velocity": COMPRESSED})


def test_the_divergence_of_a_jet(tmp_path):
    """That of all points, on any number of ranks; no row of the jet need be among a few that are looked at."""
    grid = BASE["grid"]
    x, y, z = (np.arange(grid[f"n{a}"]) * grid.get(f"l{a}", 1) / grid[f"n{a}"] for a in "xyz")
    u = np.exp(-((x - 0.5) ** 2 + (y[:, None] - 0.2) ** 2 + (z[:, None, None] - 0.9) ** 2) / 0.004)
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    slope = sum(w * (np.roll(u, -k, 2) - np.roll(u, k, 2)) for k, w in enumerate(weights, 1)) * grid["nx"]
    jet = {"field": "formula", "u": "exp(-((x-0.5)^2 + (y-0.2)^2 + (z-0.9)^2)/0.004)", "v": 0, "w": 0, "period": None}
    write_ini(tmp_path / "run.ini", merged(BASE, ADVECTIVE, {"velocity": jet}))
    for arguments in ([], ["--validate"]):
        for ranks in (1, 2, 4):
            text = " ".join(complaints(launch(tmp_path, ranks, "run.ini", "time.steps=0", *arguments)))
            assert f"the velocity's divergence is up to {abs(slope).max():.3g}, 1 of its terms" in text


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_divergence_at_ends(tmp_path, ranks):
    """Closures differentiate squares exactly: 2 (x + y + z) is largest at the upper ends."""
    squares = {"field": "formula", "u": "x^2", "v": "y^2", "w": "z^2", "period": None}
    ends = {"boundary": dict.fromkeys("xyz", "open"), "velocity": squares}
    write_ini(tmp_path / "run.ini", merged(BASE, ADVECTIVE, ends))
    text = " ".join(complaints(launch(tmp_path, ranks, "--validate", "run.ini")))
    assert "the velocity's divergence is up to 6, 1 of its terms" in text  # lengths 1, 0.7 and 1.3


def test_round_off_is_no_divergence(tmp_path):
    """All terms of these flows are zero but for the rounding of their values."""
    n = 24
    fraction = np.arange(n) / n
    wave, turned = np.sin(2 * np.pi * fraction), np.cos(2 * np.pi * fraction)
    flow = {"u": wave[:, None] + np.zeros((n, n, n)), "v": turned[:, None, None] + np.zeros((n, n, n))}
    with h5py.File(tmp_path / "flow.h5", "w") as file:
        for name, values in {**flow, "w": wave + np.zeros((n, n, n))}.items():
            file[name] = values
    one = "sqrt(sin(2*pi*x)^2 + cos(2*pi*x)^2)"
    for velocity in (
        {"field": "file", "file": "flow.h5", "resample": "yes"},
        {"field": "formula", "u": one, "v": 0, "w": one.replace("x", "z")},
    ):
        assert "divergence" not in said(tmp_path, ADVECTIVE, {"velocity": velocity})


def test_a_centre_outside_and_a_short_pulse_of_sound(tmp_path):
    room = {
        "grid": {"nx": 31, "ny": 31, "nz": 31, "lx": 3, "ly": 3, "lz": 3},
        "boundary": dict.fromkeys("xyz", "wall"),
        "physics": {"equation": "acoustics"},
        "initial": {"case": "gaussian", "width": 0.31, "center_x": 1.0},
        "time": {"dt": 0.01, "steps": 1},
    }
    write_ini(tmp_path / "room.ini", room)
    hear = lambda *keys: launch(tmp_path, 1, "--validate", "room.ini", *keys).stderr  # noqa: E731
    assert "hold" not in hear()
    assert "initial.width = 0.2 is 2 spacings (gaussian needs 2.25)" in hear("initial.width=0.2")
    assert "initial.center_x = 30 is outside the box, 0 to 3" in hear("initial.center_x=30")


@pytest.mark.parametrize("equation", ["acoustics", "wave", "advection"])
def test_jumps_of_cases_by_name(tmp_path, equation):
    """In sound and waves always, in advection with central differences; of a smooth case nothing is said."""
    box = {"grid": dict.fromkeys(("nx", "ny", "nz"), 24), "initial": {"width": 0.4}, "time": {"dt": 0.01, "steps": 0}}
    flow = {"velocity": {"field": "uniform"}} if equation == "advection" else {}
    write_ini(tmp_path / "run.ini", {**box, **flow, "physics": {"equation": equation}})
    say = lambda *keys: launch(tmp_path, 1, "run.ini", *keys).stderr  # noqa: E731
    for case in ("sphere", "slotted"):
        for option in ([], ["--validate"]):
            assert f"initial.case = {case} jumps at its edge" in say(f"initial.case={case}", *option)
    assert "hold" not in say("initial.case=blob")
    if equation != "wave":
        damped = say("initial.case=sphere", "physics.difference=upwind")
        assert ("jumps at its edge" in damped) == (equation == "acoustics")


def test_an_amplitude_of_zero(tmp_path):
    """Beside ends that absorb, too, where any other constant would leave; with a source there is something to see."""
    small = [*(f"grid.n{axis}=20" for axis in "xyz"), "initial.amplitude=0", f"output.directory={tmp_path / 'run'}"]
    point = ("point_sources.points=2 2 1", "point_sources.frequency=100")
    for deck, more, still in (
        ("room.ini", (), True),
        ("room.ini", ("source.formula=1",), False),
        ("room.ini", point, False),
        ("sound.ini", (), True),
    ):
        for option in ("--validate", "time.t_end=0"):
            text = launch(tmp_path, 1, CONFIG / deck, *small, *more, option).stderr
            assert ("the initial state is 0 at every point" in text) == still, (deck, more, option)


# Sound or advection with a spacing of 0.1; the pulse is highest on the first plane of the second of three slabs.
PULSE = {
    "grid": {"nx": 16, "ny": 16, "nz": 31, "lx": 1.5, "ly": 1.5, "lz": 3},
    "physics": {"equation": "acoustics"},
    "boundary": dict.fromkeys("xyz", "wall"),
    "initial": {"case": "formula", "formula": "0*x"},
    "time": {"dt": 0.01, "steps": 0},
}
MOVED = {
    "physics": {"equation": "advection", "form": "skew"},
    "boundary": dict.fromkeys("xyz", "open"),
    "velocity": {"field": "uniform"},
}


def pulse(width):
    return f"2 + 3*exp(-(z-1.1)^2/2/{width}^2)"


PULSES = [
    (
        {},
        "initial.formula",
        0.2,
        "along z its narrowest pulse or edge is that of a gaussian of 2 spacings (needs 2.25)",
    ),
    ({}, "initial.formula", 0.23, None),
    ({}, "source.formula", 0.2, "a gaussian of 2 spacings (needs 2.25)"),
    ({}, "source.formula_w", 0.03, "along z its waves have 3.0"),
    ({}, "source.formula", 0.23, None),
    (MOVED, "initial.formula", 0.14, "a gaussian of 1.4 spacings (needs 1.5)"),
    (MOVED, "initial.formula", 0.153, None),
    (MOVED, "source.formula", 0.14, "a gaussian of 1.4 spacings (needs 1.5)"),
]


@pytest.mark.parametrize(("changes", "key", "width", "words"), PULSES)
def test_narrow_pulses(tmp_path, changes, key, width, words):
    """By a formula as by name, of the start and of a source, on any number of ranks, before a run and in it."""
    write_ini(tmp_path / "run.ini", merged(PULSE, changes))
    for arguments in (["--validate"], []):
        for ranks in (1, 3):
            text = launch(tmp_path, ranks, "run.ini", f"{key}={pulse(width)}", *arguments).stderr
            if words is None:
                assert "does not hold" not in text
            else:
                held = "the initial condition" if key.startswith("initial") else key
                assert f"does not hold {held}: " in text and words in text


def test_narrow_pulses_of_files(tmp_path):
    """A source and a start of two spacings, as the formulas above have them."""
    z = np.arange(31)[:, None, None] + np.zeros((31, 16, 16))
    with h5py.File(tmp_path / "own.h5", "w") as file:
        file["p"] = np.exp(-((z - 11) ** 2) / 2 / 2**2)
    write_ini(tmp_path / "run.ini", PULSE)
    start = ("initial.case=file", "initial.file=own.h5", "initial.dataset=p")
    for held, keys in (("p of source.file", ["source.file=own.h5"]), ("the initial condition", start)):
        for ranks in (1, 3):
            text = launch(tmp_path, ranks, "--validate", "run.ini", *keys).stderr
            assert f"does not hold {held}: along z its narrowest pulse or edge is that of a gaussian of 2 spac" in text


# Through both ends of x and around cells of a quarter: the exact solution lies between 0 and 1.
CELLS = {
    "grid": {"nx": 33, "ny": 33, "nz": 16},
    "boundary": {"x": "open", "y": "open", "value": 1},
    "physics": {"form": "conservative", "diffusivity": 1e-3},
    "initial": {"case": "formula", "formula": "0*x"},
    "velocity": {
        "field": "formula",
        "u": "0.5 + sin(4*pi*x)*cos(4*pi*y)",
        "v": "-cos(4*pi*x)*sin(4*pi*y)",
        "w": "0",
    },
    "time": {"courant": 0.8, "t_end": 3},
    "output": {"fields_every": 100},
}


@pytest.mark.parametrize("ranks", [1, 2])
def test_values_that_were_nowhere(tmp_path, ranks):
    """The number, its place and the range; nothing in the skew form, nor of a velocity that converges."""
    write_ini(tmp_path / "cells.ini", CELLS)
    end = lambda *keys: launch(tmp_path, ranks, "cells.ini", *keys).stderr  # noqa: E731
    said = re.search(r"the solution is (\S+) at (\S+), (\S+), (\S+), beyond all .*, 0 to 1: .*form = skew", end())
    newest = max((tmp_path / "runs" / "cells").glob("state_*.hdf"))
    with h5py.File(newest, "r") as file:
        phi = file["VTKHDF/PointData/phi"][()]
    z, y, x = np.unravel_index(phi.argmax(), phi.shape)
    assert [float(part) for part in said.groups()] == pytest.approx([phi.max(), x / 32, y / 32, z / 16], rel=1e-3)
    assert "beyond" not in end("physics.form=skew", "physics.difference=upwind", "output.directory=skew")
    # a source widens the range by what it adds, be it nothing
    assert said[0] in end("source.formula=0", "output.directory=nothing")
    assert "entered, with what sources add, -3e-06 to 1:" in end("source.formula=0-1e-6", "output.directory=little")
    assert "beyond" not in end("source.formula=1", "physics.form=skew", "physics.difference=upwind")
    # the range is that of the beginning, however late the run resumes
    end("time.t_end=2.8", "output.directory=parts")
    assert said[0] in end("output.directory=parts", "restart.from=latest")
    flow = ("velocity.u=0.5-x", "velocity.v=0.5-y", "initial.formula=1", "time.t_end=0.5", "output.directory=sink")
    assert "beyond" not in end(*flow)
    # one that converges by a twentieth of its terms: exp(0.05 2 pi t) at the most
    flow = ("velocity.u=sin(2*pi*x)*cos(2*pi*y)", "velocity.v=-0.95*cos(2*pi*x)*sin(2*pi*y)", "boundary.x=periodic")
    flow += ("boundary.y=periodic", "grid.nx=24", "grid.ny=24", "initial.formula=1", "time.t_end=1")
    assert "beyond" not in end(*flow, "output.directory=weak_sink")


# A stream that enters by x = 0, through cells of a third of the box; at most 1 is there or enters.
BESIDE = {
    "grid": {"nx": 65, "ny": 33, "nz": 4, "ly": 0.5, "lz": 0.1},
    "constants": {"U": 0.5, "k": 18.849555921538759},
    "boundary": {"x_low": "dirichlet", "x_high": "open", "y": "open", "value": "exp(-((y-0.25)/0.08)^2)"},
    "physics": {"form": "conservative", "diffusivity": 1e-3},
    "initial": {"case": "formula"},
    "velocity": {"field": "formula", "u": "U + a*sin(k*x)*cos(k*y)", "v": "-a*cos(k*x)*sin(k*y)", "w": "0"},
    "time": {"dt": 0.004},
    "output": {"fields_every": 0, "diagnostics_every": 20},
}


@pytest.mark.parametrize(
    ("initial", "keys"),
    [
        ("0*x", ("constants.a=1", "time.t_end=2.5")),  # the jump at the end has long been smoothed by diffusion
        (BESIDE["boundary"]["value"], ("constants.a=2", "compute.order=6", "time.t_end=0.3")),  # there is none
    ],
)
def test_values_that_were_nowhere_beside_fixed_values(tmp_path, initial, keys):
    """Both ends of the range are left; ripples beside a jump would be tolerated."""
    said = run(tmp_path / "run", BESIDE, f"initial.formula={initial}", *keys).stderr
    low, high = reached(tmp_path / "run")
    assert "beyond all values that were there or entered" in said
    assert low < -0.04 and high > 1.04 and 0.1 < max(-low, high - 1) < 0.1 + 2 * min(-low, high - 1)


def test_values_that_were_nowhere_on_the_way(tmp_path):
    """A flow that turns back: the state at the end is within its range, those on the way are not."""
    flow = {"u": "sin(2*pi*x)*cos(2*pi*y)", "v": "-cos(2*pi*x)*sin(2*pi*y)", "w": "0", "factor": "t < 1 ? 1 : -1"}
    back = {
        "grid": {"nx": 32, "ny": 32, "nz": 8, "lz": 0.25},
        "velocity": {"field": "formula", **flow},
        "initial": {"case": "formula", "formula": "exp(-((x-0.5)^2+(y-0.3)^2)/0.01)"},
        "time": {"courant": 0.8, "t_end": 2},
        "output": {"fields_every": 0, "diagnostics_every": 5},
    }
    said = re.search(r"the solution was (\S+) at step (\d+), beyond all ", run(tmp_path / "run", back).stderr)
    table = rows(tmp_path / "run")
    worst = min(table, key=lambda row: float(row["min"]))
    assert int(said[2]) == int(worst["step"]) and float(said[1]) == pytest.approx(float(worst["min"]), rel=1e-3)
    assert float(worst["min"]) < -0.1 < float(table[-1]["min"])


def test_a_uniform_field(tmp_path):
    """Has no range to compare with: an error of a thousandth is none, one of a twentieth is."""
    flow = {"u": "sin(2*pi*x)*cos(4*pi*y)", "v": "-0.5*cos(2*pi*x)*sin(4*pi*y)", "w": "0"}
    still = {
        "grid": {"nx": 24, "ny": 20, "nz": 4},
        "physics": {"form": "conservative"},
        "initial": {"case": "formula", "formula": "1"},
        "velocity": {"field": "formula", **flow},
        "time": {"courant": 0.8, "t_end": 1},
        "output": {"fields_every": 0, "diagnostics_every": 1},
    }
    for keys in ((), ("source.formula=1e-9",), ("initial.formula=1 + 1e-9*sin(2*pi*x)",)):
        assert "beyond" not in run(tmp_path / "run", still, *keys).stderr
        assert 0.99 < reached(tmp_path / "run")[0] < 0.999
    assert (
        "beyond all values that were there or entered, 1 to 1:"
        in run(tmp_path / "run", still, "compute.order=4").stderr
    )
    assert reached(tmp_path / "run")[0] < 0.95


# Around cells that are three points wide: the exact solution of a smooth start stays between 0 and 1.
NARROW = {
    "grid": {"nx": 20, "ny": 40, "nz": 8, "lz": 0.2},
    "initial": {"case": "formula", "formula": "0.5 + 0.5*sin(2*pi*x)*sin(2*pi*y)"},
    "velocity": {
        "field": "formula",
        "u": "0.2*sin(12*pi*x)*cos(2*pi*y)",
        "v": "-1.2*cos(12*pi*x)*sin(2*pi*y)",
        "w": "0",
    },
    "time": {"courant": 0.8, "t_end": 0.5},
    "output": {"fields_every": 0, "diagnostics_every": 2},
}
# Edges carried along by central differences, whose ripples go both ways.
CARRIED = {
    "grid": {"nx": 64, "ny": 12, "nz": 12},
    "initial": {"case": "formula", "formula": "0*x"},
    "velocity": {"field": "uniform", "u": 1, "v": 0, "w": 0},
    "time": {"courant": 0.5, "t_end": 0.6},
    "output": {"fields_every": 0, "diagnostics_every": 2},
}


def reached(folder):
    table = rows(folder)
    return min(float(row["min"]) for row in table), max(float(row["max"]) for row in table)


@pytest.mark.parametrize("ranks", [1, 2])
def test_ripples_of_a_smooth_start(tmp_path, ranks):
    """Both ends of the range are left alike, as beside a jump; but there was none. A resumed run knows that, too."""
    write_ini(tmp_path / "run.ini", NARROW)
    end = lambda *keys: launch(tmp_path, ranks, "run.ini", *keys).stderr  # noqa: E731
    assert "beyond all values that were there or entered, 0 to 1" in end()
    low, high = reached(tmp_path / "runs/run")
    assert low < -0.15 and high > 1.15 and max(-low, high - 1) < 0.5
    end("output.directory=parts", "time.t_end=0.45", "output.checkpoint_every=1000")
    assert "beyond all values" in end("output.directory=parts", "restart.from=latest")


@pytest.mark.parametrize(
    "keys",
    [
        ("initial.formula=x > 0.3 && x < 0.6 ? 1 : 0",),
        ("boundary.x=open", "boundary.value=t > 0.1 && t < 0.3 ? 1 : 0"),
    ],
)
def test_ripples_beside_jumps(tmp_path, keys):
    """Of the start, and of what enters: nothing is said of an eighth of their height."""
    write_ini(tmp_path / "run.ini", CARRIED)
    assert "beyond" not in launch(tmp_path, 2, "run.ini", *keys).stderr
    low, high = reached(tmp_path / "runs/run")
    assert low < -0.105 or high > 1.105
