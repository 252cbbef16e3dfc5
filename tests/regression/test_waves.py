"""`physics.equation = wave` against a program of numpy that shares no code with it, its discrete energy, one answer
over ranks and restarts.

FDAPP: the program. MPIEXEC: the launcher with its options.
"""

import h5py
import numpy as np
import pytest
from waves import AXES, Waves, ends, spacing, wavelet

from program import hash_of, launch, many_steps, merged, rows, run, states, write_ini

SPEED = 1.7
BASE = {
    "grid": {"nx": 19, "ny": 18, "nz": 34, "ly": 0.8, "lz": 1.9},
    "physics": {"equation": "wave", "sound_speed": SPEED},
    "initial": {"case": "formula", "formula": "sin(9*x + 1)*cos(7*y) + exp(z)*x - 0.4*sin(40*x*y*z)"},
    "time": {"steps": 9},
    "compute": {"threads": 2, "backend": "cpu"},
    "output": {"diagnostics_every": 1},
}
MIXED = {
    2: {"x_low": "wall", "x_high": "absorbing", "y": "free", "z_low": "absorbing", "z_high": "free"},
    4: {"x": "wall", "y_low": "free", "y_high": "wall", "z": "absorbing"},
    6: {"x": "absorbing", "y": "wall", "z_low": "free", "z_high": "wall"},
    8: {"x_low": "free", "x_high": "wall", "y_low": "absorbing", "y_high": "wall", "z": "free"},
}


def fields(path):
    with h5py.File(path) as file:
        return [file[f"VTKHDF/PointData/{name}"][:].astype(np.float64) for name in ("p", "p_before")]


def compare(folder, configuration, c, tolerance=1e-12):
    first, last = (fields(folder / name) for name in states(folder))
    waves = Waves(configuration, first[0], c)
    scale = np.max(np.abs(first[0]))
    assert np.max(np.abs(first[1] - waves.before)) < tolerance * scale
    energies = [waves.energy()]
    for _ in range(int(states(folder)[-1][6:14])):
        waves.step()
        energies.append(waves.energy())
    assert np.max(np.abs(last[0] - waves.p)) < tolerance * scale
    assert np.max(np.abs(last[1] - waves.before)) < tolerance * scale
    found = [row["energy"] for row in rows(folder)]
    assert found == pytest.approx(energies, rel=tolerance * 10)
    return energies


@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
@pytest.mark.parametrize(
    ("order", "ranks", "boundary"),
    [*[(order, ranks, {}) for order, ranks in ((2, 1), (4, 2), (6, 3), (8, 4))]]
    + [(order, ranks, MIXED[order]) for order, ranks in ((2, 4), (4, 3), (6, 2), (8, 1))],
)
def test_step_n(tmp_path, scheme, order, ranks, boundary):
    configuration = merged(BASE, {"compute": {"order": order}, "time": {"scheme": scheme}, "boundary": boundary})
    run(tmp_path / "run", configuration, ranks=ranks)
    compare(tmp_path / "run", configuration, SPEED)


def cell_averages(configuration, speed):
    """c from the mean of 1/c^2 over 4 x 4 x 4 midpoints of each point's cell, which ends at ends of axes."""
    places = []
    for d in range(3):
        n, h = configuration["grid"][f"n{AXES[d]}"], spacing(configuration, d)
        low, high = np.full(n, -0.5), np.full(n, 0.5)
        if ends(configuration, d)[0] != "periodic":
            low[0] = high[-1] = 0
        length = configuration["grid"].get(f"l{AXES[d]}", 1)
        middle = (np.arange(n)[:, None] + low[:, None] + (high - low)[:, None] * (np.arange(4) + 0.5) / 4) * h
        places.append((middle % length).ravel())
    x, y, z = places
    c = speed(x[None, None, :], y[None, :, None], z[:, None, None])
    shape = [len(axis) // 4 for axis in (z, y, x)]
    means = (1 / c**2).reshape(shape[0], 4, shape[1], 4, shape[2], 4).mean(axis=(1, 3, 5))
    return 1 / np.sqrt(means)


@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
@pytest.mark.parametrize(("ranks", "boundary"), [(1, {}), (3, MIXED[8]), (4, MIXED[2])])
def test_medium_of_a_formula(tmp_path, scheme, ranks, boundary):
    medium = {"sound_speed": "x + 2*y > 1.1 ? 1.2 + sin(5*z)/4 : 2.3"}
    configuration = merged(BASE, {"time": {"scheme": scheme}, "boundary": boundary, "medium": medium})
    run(tmp_path / "run", configuration, ranks=ranks)
    c = cell_averages(configuration, lambda x, y, z: np.where(x + 2 * y > 1.1, 1.2 + np.sin(5 * z) / 4, 2.3))
    compare(tmp_path / "run", configuration, c)


SOURCED = merged(
    BASE,
    {
        "initial": {"formula": "0"},
        "point_sources": {"points": '"0.31 0.4 1.1; 0.02 0.78 1.89; 0.33 0.41 0.93"', "frequency": 5.0},
        "receivers": {"points": '"0.6 0.3 0.5; 0.99 0.01 0.95; 1 0.8 1.9"', "every": 3},
        "time": {"steps": 24},
    },
)
AMPLITUDES = (1.5, -2.0, 0.7)


def places(text):
    return [[float(x) for x in point.split()] for point in text.strip('"').split(";")]


@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
@pytest.mark.parametrize(("ranks", "boundary", "wavelet_name"), [(1, {}, "sine"), (3, MIXED[8], "ricker")])
def test_sources_and_receivers(tmp_path, scheme, ranks, boundary, wavelet_name):
    medium = {"sound_speed": "1.4 + x"}
    keys = {"wavelet": wavelet_name, "amplitude": '"1.5 -2 0.7"', "delay": 0.05}
    configuration = merged(SOURCED, {"time": {"scheme": scheme}, "boundary": boundary, "medium": medium})
    configuration = merged(configuration, {"point_sources": keys})
    run(tmp_path / "run", configuration, ranks=ranks)
    c = cell_averages(configuration, lambda x, y, z: 1.4 + x + 0 * y + 0 * z)
    waves = Waves(configuration, np.zeros_like(c), c)
    for at, amplitude in zip(places(configuration["point_sources"]["points"]), AMPLITUDES, strict=True):
        waves.add_source(at, amplitude, lambda t: wavelet(configuration, t))
    receivers = places(configuration["receivers"]["points"])
    traces, times = [], []
    for step in range(25):
        if step % 3 == 0:
            traces.append([waves.receive(at) for at in receivers])
            times.append(step * waves.dt)
        if step < 24:
            waves.step()
    last = fields(tmp_path / "run" / states(tmp_path / "run")[-1])
    scale = np.max(np.abs(waves.p))
    assert scale > 0.01
    assert np.max(np.abs(last[0] - waves.p)) < 1e-12 * scale
    with h5py.File(tmp_path / "run" / "receivers.h5") as file:
        assert np.max(np.abs(file["p"][:] - traces)) < 1e-12 * scale
        assert file["time"][:] == pytest.approx(times, rel=1e-14)
        assert file["positions"][:].tolist() == receivers


@pytest.mark.parametrize(
    ("keys", "times", "warned"),
    [
        *[({}, 2.76, 0), ({"frequency": 9.0}, 2.76, 1), ({"wavelet": "gaussian", "frequency": 3.5}, 2.15, 0)],
        ({"wavelet": "sine", "cycles": 4, "frequency": 5.0}, 1.5, 0),
    ],
)
def test_points_per_wavelength_are_in_the_plan(tmp_path, keys, times, warned):
    configuration = merged(
        SOURCED, {"grid": {"nz": 44, "ny": 22, "nx": 28}, "point_sources": keys, "time": {"steps": 1}}
    )
    said = run(tmp_path / "run", merged(configuration, {"point_sources": {"frequency": keys.get("frequency", 3.0)}}))
    points = SPEED / (times * keys.get("frequency", 3.0)) / max(spacing(configuration, d) for d in range(3))
    assert f"{points:.3g} points per wavelength" in said.stdout
    assert ("they are late and leave a trail" in said.stderr) == (points < 4) == warned


def test_one_answer_of_sources_and_receivers(tmp_path):
    """A source lies at the edge of slabs, so that two ranks have a part of it."""
    for boundary in ({}, MIXED[8]):
        configuration = merged(SOURCED, {"boundary": boundary})
        kind = "ends" if boundary else "periodic"
        hashes, traces = set(), set()
        for ranks in (1, 2, 3, 4):
            folder = tmp_path / f"{kind}{ranks}"
            hashes.add(hash_of(run(folder, configuration, ranks=ranks)))
            traces.add((folder / "receivers.h5").read_bytes())
        folder = tmp_path / f"{kind}_resumed"
        run(folder, merged(configuration, {"time": {"steps": 7}}), ranks=3)
        hashes.add(hash_of(run(folder, merged(configuration, {"restart": {"from": "latest"}}), ranks=2)))
        traces.add((folder / "receivers.h5").read_bytes())
        assert (len(hashes), len(traces)) == (1, 1)


@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
def test_reciprocity(tmp_path, scheme):
    """The signal from one place to another is that of the way back, in any medium, beside walls too."""
    places = ("0.21 0.33 0.8", "0.93 0 1.7")
    traces = []
    for source, receiver in (places, places[::-1]):
        configuration = merged(
            SOURCED,
            {"boundary": {"x": "wall", "y": "wall", "z": "free"}, "medium": {"sound_speed": "1 + x*z"}},
            {"point_sources": {"points": source}, "receivers": {"points": receiver, "every": 1}},
            {"time": {"steps": 160, "scheme": scheme}},
        )
        folder = tmp_path / source.replace(" ", "_")
        run(folder, configuration)
        with h5py.File(folder / "receivers.h5") as file:
            traces.append(file["p"][:, 0])
    scale = np.max(np.abs(traces[0]))
    assert scale > 0.01
    assert np.max(np.abs(traces[0] - traces[1])) < 1e-12 * scale


@many_steps
def test_full_space_and_image_source(tmp_path):
    """p = s(t - r/c)/(4 pi r); beyond a wall the image's is added, beyond a free end subtracted."""
    for end, sign in (("wall", 1), ("free", -1)):
        configuration = {
            "grid": {"nx": 49, "ny": 48, "nz": 48},
            "boundary": {"x_low": end, "x_high": "wall"},
            "physics": {"equation": "wave"},
            "initial": {"case": "formula", "formula": "0"},
            "point_sources": {"points": "0.213 0.5 0.507", "frequency": 3.0, "delay": 0.4},
            "receivers": {"points": "0.317 0.47 0.59"},
            "time": {"t_end": 0.7},
        }
        run(tmp_path / end, configuration, ranks=2)
        with h5py.File(tmp_path / end / "receivers.h5") as file:
            time, p = file["time"][:], file["p"][:, 0]
        source, receiver = np.array([0.213, 0.5, 0.507]), np.array([0.317, 0.47, 0.59])
        exact = np.zeros_like(p)
        for factor, place in ((1, source), (sign, source * [-1, 1, 1])):
            r = np.linalg.norm(receiver - place)
            exact += [factor * wavelet(configuration, t - r) / (4 * np.pi * r) for t in time]
        assert np.max(np.abs(p - exact)) < 2e-3 * np.max(np.abs(exact))


@many_steps
@pytest.mark.parametrize("midway", [False, True])
def test_reflections_have_their_amplitude_to_order_2(tmp_path, midway):
    """A plane Ricker pulse along z, which starts at rest and so splits in two, against the coefficient of reflection of
    a boundary at a right angle."""
    boundary, start, time, speed = 220 + 0.5 * midway, 120, 190, 2200 / 1500
    reflected = (speed - 1) / (speed + 1) / 2
    off = []
    for points in (5, 10):
        length = 2.8 * points  # the spectrum ends at 2.8 times the peak's wavenumber
        pulse = f"(pi*(z - {start})/{length})^2"
        wave = {
            "grid": {"nx": 16, "ny": 16, "nz": 401, "lx": 16, "ly": 16, "lz": 400},
            "boundary": {"z": "absorbing"},
            "physics": {"equation": "wave"},
            "initial": {"case": "formula", "formula": f"(1 - 2*{pulse})*exp(-{pulse})"},
            "medium": {"sound_speed": f"z < {boundary} ? 1 : {speed}"},
            "time": {"t_end": time},
            "output": {"diagnostics_every": 0},
        }
        run(tmp_path / f"{points}", wave)
        p = fields(tmp_path / f"{points}" / states(tmp_path / f"{points}")[-1])[0][:, 0, 0]
        z = np.arange(100.0, 161.0)
        a = (np.pi * (2 * boundary - z - start - time) / length) ** 2
        exact = (1 - 2 * a) * np.exp(-a)
        off.append(np.dot(p[100:161], exact) / np.dot(exact, exact) / reflected - 1)
    assert abs(off[0]) < 0.08 and 3 < off[0] / off[1] < 6


def test_medium_of_a_file(tmp_path):
    c = 1 + np.random.default_rng(3).random((34, 18, 19))
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["c"] = c
    configuration = merged(BASE, {"boundary": MIXED[4], "medium": {"file": "c.h5"}})
    run(tmp_path / "run", configuration, ranks=2)
    compare(tmp_path / "run", configuration, c)
    for value in (0.0, -1.0, np.nan):
        with h5py.File(tmp_path / "c.h5", "r+") as file:
            file["c"][20, 3, 2] = value
        assert "[20, 3, 2]" in run(tmp_path / "refused", configuration, ranks=2, code=2).stderr
        assert not (tmp_path / "refused").exists()
    x = np.linspace(0, 1, 17)
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["c"] = 2 + np.sin(2 * np.pi * (x[:, None, None] + x[:, None] + x))
    box = {"grid": {"nx": 16, "ny": 16, "nz": 16, "ly": 1, "lz": 1}}
    periodic = merged(BASE, {"medium": {"file": "c.h5"}}, box)
    for change in ({"nx": 17, "ny": 17, "nz": 17}, {}):
        asked = {"grid": change, "medium": {"resample": "no" if change else "yes"}}
        refused = run(tmp_path / "period", merged(periodic, asked), code=2)
        assert "medium.file" in refused.stderr and "one period" in refused.stderr


def linear(configuration, values):
    """The function of x, y, z that is linear between the values of a file with points from end to end of the box."""

    def function(*places):
        found = values
        for d, place in enumerate(places):
            count, axis = values.shape[2 - d], 2 - d
            bounded = ends(configuration, d)[0] != "periodic"
            at = place.ravel() / configuration["grid"].get(f"l{AXES[d]}", 1) * (count - 1 if bounded else count)
            below = np.minimum(np.floor(at).astype(int), count - 2) if bounded else np.floor(at).astype(int)
            share = (at - below).reshape([-1 if k == axis else 1 for k in range(3)])
            low, high = (found.take((below + k) % count, axis) for k in (0, 1))
            found = (1 - share) * low + share * high
        return found

    return function


@pytest.mark.parametrize("boundary", [{}, MIXED[8]])
def test_medium_of_a_finer_file(tmp_path, boundary):
    """Its averages over cells, as those of a formula; jumps do not ring. At points on demand."""
    configuration = merged(BASE, {"boundary": boundary, "medium": {"file": "c.h5", "resample": "yes"}})
    bounded = [ends(configuration, d)[0] != "periodic" for d in range(3)]
    counts = [4 * configuration["grid"][f"n{AXES[d]}"] - 3 * bounded[d] for d in range(3)]
    if not bounded[2]:
        counts[2] += 1  # the last plane and the first one, its neighbour, are 8 n apart
    c = 1 + np.random.default_rng(4).random(counts[::-1])
    c[counts[2] // 3 :] *= 1.9
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["c"] = c
    said = {ranks: run(tmp_path / f"{ranks}", configuration, ranks=ranks) for ranks in (1, 3)}
    assert hash_of(said[1]) == hash_of(said[3])
    compare(tmp_path / "3", configuration, cell_averages(configuration, linear(configuration, c)))
    if not bounded[2]:
        return
    at_points = merged(configuration, {"medium": {"average": "point"}})
    run(tmp_path / "points", at_points, ranks=2)
    compare(tmp_path / "points", at_points, c[::4, ::4, ::4])


@pytest.mark.parametrize("boundary", [{}, MIXED[8]])
def test_medium_of_a_coarser_file(tmp_path, boundary):
    """Smooth values keep their order; beside a jump the interpolation does not leave the file's range."""
    configuration = merged(BASE, {"boundary": boundary, "medium": {"file": "c.h5", "resample": "yes"}})
    counts = [11, 12, 17]
    bounded = [ends(configuration, d)[0] != "periodic" for d in range(3)]
    lengths = [configuration["grid"].get(f"l{axis}", 1) for axis in AXES]

    def smooth(x, y, z):
        return 2 + 0.3 * np.sin(2 * np.pi * (x / lengths[0] + 0.1)) * np.cos(
            2 * np.pi * (y / lengths[1] - z / lengths[2])
        )

    x, y, z = (np.arange(n) * length / (n - end) for n, length, end in zip(counts, lengths, bounded, strict=True))
    c = smooth(x[None, None], y[None, :, None], z[:, None, None])
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["c"] = c
    run(tmp_path / "smooth", configuration, ranks=2)
    compare(tmp_path / "smooth", configuration, cell_averages(configuration, smooth), tolerance=1e-3)
    with h5py.File(tmp_path / "c.h5", "r+") as file:
        file["c"][...] = np.where((z[:, None, None] > 0.9) & (x < 0.6), 2.5, 1.5)
    said = run(tmp_path / "jump", configuration, ranks=3).stdout
    assert "the least speed is 1.5," in said
    formula = merged(BASE, {"boundary": boundary, "medium": {"sound_speed": "z > 0.9 && x < 0.6 ? 2.5 : 1.5"}})
    step = [
        next(line for line in text.splitlines() if line.startswith("time "))
        for text in (said, run(tmp_path / "formula", formula).stdout)
    ]
    assert step[0] == step[1]  # from the largest speed


@many_steps
@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
@pytest.mark.parametrize("boundary", [{}, {"x": "wall", "y_low": "free", "y_high": "wall", "z": "free"}])
def test_energy_is_kept_to_rounding(tmp_path, scheme, boundary):
    configuration = merged(BASE, {"time": {"scheme": scheme, "steps": 300}, "boundary": boundary})
    run(tmp_path / "run", merged(configuration, {"output": {"diagnostics_every": 20}}))
    energies = [row["energy"] for row in rows(tmp_path / "run")]
    assert energies == pytest.approx([energies[0]] * len(energies), rel=1e-12)


@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
@pytest.mark.parametrize("boundary", [{}, MIXED[8], MIXED[6]])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_one_answer(tmp_path, scheme, boundary, precision):
    configuration = merged(BASE, {"time": {"scheme": scheme}, "boundary": boundary})
    configuration = merged(configuration, {"compute": {"precision": precision}})
    hashes = {hash_of(run(tmp_path / f"on{ranks}", configuration, ranks=ranks)) for ranks in (1, 2, 3, 4)}
    run(tmp_path / "parts", merged(configuration, {"time": {"steps": 4}}), ranks=3)
    resumed = merged(configuration, {"restart": {"from": "latest"}})
    hashes.add(hash_of(run(tmp_path / "parts", resumed, ranks=2)))
    assert len(hashes) == 1


@many_steps
def test_a_box_resounds_with_order_4_in_time(tmp_path):
    """A mode of a box between walls and free ends is cos(pi c |k| t); with many points per wave errors are those in
    time, of order 4, or 2."""
    for scheme, order in (("leapfrog4", 4), ("leapfrog", 2)):
        errors = []
        for steps in (8, 16):
            configuration = {
                "grid": {"nx": 25, "ny": 25, "nz": 25},
                "boundary": {"x": "wall", "y": "free", "z_low": "free", "z_high": "wall"},
                "physics": {"equation": "wave", "sound_speed": SPEED},
                "initial": {"case": "formula", "formula": "cos(pi*x)*sin(pi*y)*sin(pi*z/2)"},
                "time": {"scheme": scheme, "t_end": 0.25 / SPEED, "dt": 0.25 / SPEED / steps},
            }
            folder = tmp_path / f"{scheme}{steps}"
            run(folder, configuration)
            first, last = (fields(folder / name)[0] for name in states(folder))
            exact = first * np.cos(np.pi * 0.25 * 1.5)
            errors.append(np.max(np.abs(last - exact)))
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1), (scheme, errors)


def test_places_on_the_command_line_replace_a_file(tmp_path):
    """And a file replaces places, a formula a file; both there, or both in the file, are one too many."""
    with h5py.File(tmp_path / "own.h5", "w") as file:
        file["points"] = [[0.5, 0.5, 0.5]]
    write_ini(tmp_path / "run.ini", merged(BASE, {"receivers": {"file": "own.h5"}, "source": {"file": "none.h5"}}))
    launch(tmp_path, 1, "run.ini", "receivers.points=0.25 0.5 1; 0.5 0.5 1", "source.formula=x")
    with h5py.File(tmp_path / "runs/run/receivers.h5") as file:
        assert file["positions"][:].tolist() == [[0.25, 0.5, 1], [0.5, 0.5, 1]]
    launch(tmp_path, 1, "runs/run/config.ini", "receivers.file=own.h5", "output.directory=again")
    with h5py.File(tmp_path / "again/receivers.h5") as file:
        assert file["positions"][:].tolist() == [[0.5, 0.5, 0.5]]
    both = ("receivers.points=0.5 0.5 1", "receivers.file=own.h5", "source.file=none")
    assert "one of the two" in launch(tmp_path, 1, "run.ini", *both, code=2).stderr
    launch(tmp_path, 1, "--validate", "run.ini", both[0], "receivers.file=none", "source.file=none")


def test_a_medium_on_the_command_line_replaces_that_of_the_file(tmp_path):
    """Both in the file, or both on the command line, are one too many."""
    speed = np.full((34, 18, 19), 1.5)
    with h5py.File(tmp_path / "own.h5", "w") as file:
        file["c"] = speed
    write_ini(tmp_path / "run.ini", merged(BASE, {"medium": {"sound_speed": "2"}}))
    launch(tmp_path, 1, "run.ini", "medium.file=own.h5", "output.directory=run")
    compare(tmp_path / "run", BASE, speed)
    write_ini(tmp_path / "run.ini", merged(BASE, {"medium": {"file": "none.h5"}}))
    launch(tmp_path, 1, "run.ini", "medium.sound_speed=1.5", "output.directory=again")
    compare(tmp_path / "again", BASE, speed)
    both = ("medium.file=own.h5", "medium.sound_speed=2")
    assert "accepted: one of the two" in launch(tmp_path, 1, "--validate", "run.ini", *both, code=2).stderr


def test_receivers_on_an_end_but_for_rounding(tmp_path):
    """0.1 + 0.2 is 0.30000000000000004: the point on the end of a box of 0.3."""
    box = merged(BASE, {"grid": {"lx": 0.3}, "boundary": {"x": "wall"}})
    traces = []
    for name, point in (("rounded", "0.30000000000000004 0.4 -1e-17"), ("exact", "0.3 0.4 0")):
        run(tmp_path / name, box, f"receivers.points={point}")
        with h5py.File(tmp_path / name / "receivers.h5") as file:
            assert file["positions"][:].tolist() == [[0.3, 0.4, 0]]
            traces.append(file["p"][:, 0])
    assert np.all(traces[0] == traces[1]) and np.all(np.abs(traces[0]) > 0)
