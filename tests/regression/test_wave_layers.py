"""Absorbing layers of waves against a program of numpy, what they reflect, their stability over long times, and one
answer over ranks and restarts.

FDAPP: the program. MPIEXEC: the launcher with its options.
"""

import itertools

import h5py
import numpy as np
import pytest
from test_waves import BASE, SPEED, compare

from program import hash_of, launch, many_steps, merged, rows, run, states, write_ini

LAYERED = {
    2: {"x": "layer", "y_low": "free", "y_high": "wall", "z": "layer", "layer_points": 4},
    4: {"x_low": "wall", "x_high": "layer", "y": "layer", "z_low": "wall", "z_high": "free", "layer_points": 3},
    6: {"y_low": "layer", "y_high": "absorbing", "z_low": "free", "z_high": "layer", "layer_points": 7},
    8: {"x": "layer", "y": "layer", "z": "layer", "layer_points": 4, "layer_reflection": 1e-5},
}


@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
@pytest.mark.parametrize(("order", "ranks"), [(2, 2), (4, 3), (6, 2), (8, 1)])
def test_layers(tmp_path, scheme, order, ranks):
    """The boundary of order 4 has a periodic neighbour in none, that of order 6 in x."""
    configuration = merged(BASE, {"compute": {"order": order}, "time": {"scheme": scheme, "steps": 40}})
    configuration = merged(configuration, {"boundary": LAYERED[order], "output": {"diagnostics_every": 1}})
    run(tmp_path / "run", configuration, ranks=ranks)
    compare(tmp_path / "run", configuration, SPEED)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize(
    ("scheme", "boundary", "ranks"),
    [("leapfrog4", LAYERED[4], (1, 2, 4)), ("leapfrog4", {"x": "layer", "y_low": "wall", "y_high": "layer",
                                                          "layer_points": 3}, (1, 3, 4))]
    + [(scheme, LAYERED[order], (1, 2)) for scheme, order in (("leapfrog", 8), ("leapfrog4", 8), ("leapfrog4", 6))],
)  # fmt: skip
def test_layers_have_one_answer(tmp_path, scheme, boundary, ranks, precision):
    """What layers remember is in the snapshots: a run that resumes on other ranks has the same bits, those in the
    halo planes of layers included."""
    sources = {"points": '"0.55 0.42 0.81"', "frequency": 5.0, "delay": 0.05}
    configuration = merged(
        BASE, {"boundary": boundary, "time": {"scheme": scheme, "steps": 40}, "point_sources": sources}
    )
    configuration = merged(configuration, {"compute": {"precision": precision}})
    hashes = {hash_of(run(tmp_path / f"on{count}", configuration, ranks=count)) for count in ranks}
    for first, then in ((ranks[0], ranks[-1]), (ranks[-1], ranks[0])):
        folder = tmp_path / f"parts{first}"
        run(folder, merged(configuration, {"time": {"steps": 17}}), ranks=first)
        hashes.add(hash_of(run(folder, merged(configuration, {"restart": {"from": "latest"}}), ranks=then)))
    assert len(hashes) == 1


@many_steps
@pytest.mark.parametrize(("scheme", "courant"), [("leapfrog", 0.77), ("leapfrog4", 0.95), ("leapfrog4", 1.33)])
def test_layers_are_stable(tmp_path, scheme, courant):
    """Noise of all wavelengths, in a medium that varies, dies out in a box of layers, at steps near the limit."""
    inside = "x > 0.36 && x < 0.64 && y > 0.36 && y < 0.64 && z > 0.36 && z < 0.64"
    configuration = {
        "grid": {"nx": 31, "ny": 31, "nz": 31},
        "boundary": {"x": "layer", "y": "layer", "z": "layer"},
        "physics": {"equation": "wave"},
        "medium": {"sound_speed": "x + y > 0.9 ? 1 : 1.6"},
        "initial": {"case": "formula", "formula": f"{inside} ? sin(90000*x*y + 7777*z) : 0"},
        "time": {"scheme": scheme, "courant": courant, "steps": 3000},
        "compute": {"threads": 2, "backend": "cpu"},
        "output": {"diagnostics_every": 1000},
    }
    run(tmp_path / "run", configuration)
    energies = [row["energy"] for row in rows(tmp_path / "run")]
    assert energies[1] < 0.01 * energies[0]
    assert all(later < earlier / 2 for earlier, later in itertools.pairwise(energies[1:]))


# Source and receiver stand `away` points from the layer, `across` points from each other along it, or with the
# receiver `nearer` to it; the bound is twice what layers of the literature's form reflect in two dimensions, as a
# share of the direct wave.
REFLECTED = {0: (20, 0, 10, 2e-4), 47: (15, 32, 0, 6.6e-4), 69: (10, 52, 0, 1.1e-2)}


@many_steps
@pytest.mark.parametrize(("scheme", "angle"), [("leapfrog", 47), *(("leapfrog4", angle) for angle in REFLECTED)])
def test_layers_reflect_little(tmp_path, scheme, angle):
    """What comes back from a layer of ten points is the difference from a box that goes on there. The run ends before
    waves come back from that box's end, or by a periodic axis."""
    away, across, nearer, bound = REFLECTED[angle]
    end = 27 + float(np.hypot(across, 2 * (away + 10) - nearer))
    traces = []
    for kind, outside in (("layer", 10), ("wall", 50)):
        planes, z = outside + away + 20, outside + away
        configuration = {
            "grid": {"nx": int(across + end), "ny": int(np.sqrt(end**2 - across**2)) + 2, "nz": planes},
            "boundary": {"z_low": kind, "z_high": "wall"},
            "physics": {"equation": "wave"},
            "initial": {"case": "formula", "formula": "0"},
            "point_sources": {"points": f"20.3 20.2 {z}", "frequency": 0.1},
            "receivers": {"points": f"{20.3 + across} 20.2 {z - nearer}"},
            "time": {"t_end": end, "scheme": scheme},
            "compute": {"backend": "cpu", "precision": "single"},
            "output": {"diagnostics_every": 0},
        }
        grid = configuration["grid"]
        grid |= {"lx": grid["nx"], "ly": grid["ny"], "lz": planes - 1}
        run(tmp_path / kind, configuration)
        with h5py.File(tmp_path / kind / "receivers.h5") as file:
            traces.append(file["p"][:, 0])
    assert np.max(np.abs(traces[0] - traces[1])) < bound * np.max(np.abs(traces[1]))


def test_what_layers_remember_is_checked(tmp_path):
    configuration = merged(BASE, {"boundary": LAYERED[8]})
    run(tmp_path / "run", configuration)
    newest = tmp_path / "run" / states(tmp_path / "run")[-1]
    launch(tmp_path, 1, "--verify", newest)
    with h5py.File(newest, "r+") as file:
        memory = file["fdapp/memory"]
        assert memory.size == 2 * (4 + 8) * (34 * (20 + 20) + 18 * 20) and np.any(memory[:] != 0)
        memory[7] = memory[7] + 1
    assert "does not match its checksum" in launch(tmp_path, 1, "--verify", newest, code=3).stderr
    resumed = merged(configuration, {"restart": {"from": str(newest)}, "time": {"steps": 12}})
    assert "does not match its checksum" in run(tmp_path / "again", resumed, code=3).stderr


def test_slabs_thinner_than_layers_are_refused(tmp_path):
    write_ini(tmp_path / "run.ini", merged(BASE, {"boundary": {"z": "layer"}}))
    assert "accepted: at least 18 with leapfrog4 and layers along z" in launch(tmp_path, 2, "run.ini", code=2).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run.ini"]


def test_layers_that_may_grow_are_named(tmp_path):
    """Few points, with leapfrog4, by s dt on their ends, and in a medium that varies; an initial pressure in them."""
    configuration = {
        "grid": {"nx": 31, "ny": 31, "nz": 31},
        "boundary": {"x": "layer", "layer_points": 3, "layer_reflection": 1e-6},
        "physics": {"equation": "wave"},
        "initial": {"case": "gaussian", "width": 0.1},
        "time": {"courant": 1.31, "steps": 1},
    }
    h = (1 / 30, 1 / 31, 1 / 31)
    dt = 1.31 / np.sqrt(sum(d**-2.0 for d in h))
    absorbed = 1.5 * np.log(1e6) * dt / (3 * h[0])
    said = run(tmp_path / "thin", configuration).stderr
    assert f"e^-{absorbed:.3g} in a step" in said and "in the layers" not in said
    points = int(np.ceil(3 * absorbed / 2.5))
    assert f"layer_points = {points}," in said
    for change in ({"boundary": {"layer_points": points}}, {"time": {"scheme": "leapfrog", "courant": 0.7}}):
        assert "in a step" not in run(tmp_path / "good", merged(configuration, change)).stderr
    for speed, few, warned in (("1 + x", 4, True), ("1 + x", 5, False), ("1", 4, False)):
        change = {
            "medium": {"sound_speed": speed},
            "boundary": {"layer_points": few},
            "time": {"scheme": "leapfrog", "courant": 0.5},
        }
        assert ("may grow slowly" in run(tmp_path / "few", merged(configuration, change)).stderr) == warned
    for centre, warned in ((0.5, False), (0.2, True)):
        said = run(tmp_path / "begins", merged(configuration, {"initial": {"width": 0.08, "center_x": centre}})).stderr
        assert ("in the layers that absorb" in said) == warned
