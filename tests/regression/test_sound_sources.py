"""Point sources and receivers of sound: against dense matrices, against the solution in full space, reciprocity, one
answer over ranks and restarts, and what is refused. test_acoustics.py has the rest of sound.

FDAPP: the program. MPIEXEC: the launcher with its options.
"""

import h5py
import numpy as np
import pytest
from waves import wavelet, weights_of

from dense import classical, norm
from program import complaints, hash_of, launch, many_steps, merged, run, states, write_ini
from sound import DENSITY, SPEED, slope_of, spacings

BASE = {
    "grid": {"nx": 17, "ny": 18, "nz": 33, "ly": 0.8, "lz": 1.9},
    "physics": {"equation": "acoustics", "density": DENSITY, "sound_speed": SPEED},
    "initial": {"case": "formula", "formula": "0"},
    "point_sources": {"points": '"0.31 0.4 1.1; 0.02 0.78 1.86; 0.33 0.41 0.93"', "frequency": 4.0, "delay": 0.05},
    "receivers": {"points": '"0.6 0.3 0.5; 0.99 0.01 0.95; 1 0.8 1.9"', "every": 3},
    "time": {"courant": 0.8, "steps": 24},
    "compute": {"threads": 2, "backend": "cpu"},
}
AMPLITUDES = (1.5, -2.0, 0.7)
ENDS = {4: {"x": "wall", "y_low": "free", "y_high": "wall", "z": "absorbing", "absorption": 0.3}}
ENDS[8] = {"x_low": "free", "x_high": "wall", "y_low": "absorbing", "y_high": "wall", "z": "wall"}
MEDIUM = {"sound_speed": "x + z > 1.2 ? 1.7 : 2.2 + y", "density": "z > 1 ? 0.5 + x : 2"}


def places(text):
    return [[float(x) for x in point.split()] for point in text.strip('"').split(";")]


def mass(configuration):
    x, y, z = (norm(configuration, d)[0] for d in range(3))
    return z[:, None, None] * y[None, :, None] * x[None, None, :]


@pytest.mark.parametrize(("order", "ranks", "boundary"), [(8, 1, {}), (6, 3, {}), (4, 2, ENDS[4]), (8, 4, ENDS[8])])
def test_sources_and_receivers(tmp_path, order, ranks, boundary):
    """dp/dt gets rho c^2 W^T s/H with the norm of the closures, at each stage's time."""
    configuration = merged(BASE, {"compute": {"order": order}, "boundary": boundary})
    configuration = merged(configuration, {"point_sources": {"amplitude": '"1.5 -2 0.7"'}})
    run(tmp_path / "run", configuration, ranks=ranks)
    own, sources = slope_of(configuration), []
    for at, amplitude in zip(places(configuration["point_sources"]["points"]), AMPLITUDES, strict=True):
        sources.append(amplitude * DENSITY * SPEED**2 * weights_of(configuration, at) / mass(configuration))

    def slope(t, f):
        result = own(f)
        result[0] += sum(sources) * wavelet(configuration, t)
        return result

    grid = configuration["grid"]
    f, t, dt = np.zeros((4, grid["nz"], grid["ny"], grid["nx"])), 0.0, 0.8 / SPEED
    dt /= np.sqrt(sum(h**-2 for h in spacings(configuration)))
    receivers = [weights_of(configuration, at) for at in places(configuration["receivers"]["points"])]
    traces = [[0.0] * 3]
    for step in range(1, 25):
        f, t = classical(slope, f, t, dt), step * dt
        traces += [[np.sum(w * f[0]) for w in receivers]] if step % 3 == 0 else []
    with h5py.File(tmp_path / "run" / states(tmp_path / "run")[-1]) as file:
        last = np.array([file[f"VTKHDF/PointData/{name}"][:] for name in "puvw"])
    scale = np.max(np.abs(f[0]))
    assert scale > 0.1
    assert np.max(np.abs(last - f)) < 1e-12 * scale
    with h5py.File(tmp_path / "run" / "receivers.h5") as file:
        assert np.max(np.abs(file["p"][:] - traces)) < 1e-12 * scale
        assert file["time"][:] == pytest.approx(dt * np.arange(0, 25, 3), rel=1e-14)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize(("boundary", "medium"), [({}, {}), (ENDS[8], {}), (ENDS[8], MEDIUM)])
def test_one_answer(tmp_path, precision, boundary, medium):
    configuration = merged(BASE, {"compute": {"precision": precision}, "boundary": boundary, "medium": medium})
    hashes, traces = set(), set()
    for ranks in (1, 2, 4):
        folder = tmp_path / f"on{ranks}"
        hashes.add(hash_of(run(folder, configuration, ranks=ranks)))
        traces.add((folder / "receivers.h5").read_bytes())
    run(tmp_path / "parts", merged(configuration, {"time": {"steps": 7}}), ranks=3)
    resumed = merged(configuration, {"restart": {"from": "latest"}})
    hashes.add(hash_of(run(tmp_path / "parts", resumed, ranks=2)))
    traces.add((tmp_path / "parts" / "receivers.h5").read_bytes())
    assert (len(hashes), len(traces)) == (1, 1)


@many_steps
def test_full_space(tmp_path):
    """p = rho s'(t - r/c)/(4 pi r): a source of volume. Upwind differences damp the waves of two points that
    it feeds."""
    source, receiver = np.array([0.513, 0.5, 0.507]), np.array([0.617, 0.47, 0.59])
    configuration = {
        "grid": {"nx": 48, "ny": 48, "nz": 48},
        "physics": {"equation": "acoustics", "density": DENSITY, "sound_speed": SPEED, "difference": "upwind"},
        "initial": {"case": "formula", "formula": "0"},
        "point_sources": {"points": " ".join(map(str, source)), "frequency": 2.5 * SPEED, "delay": 0.5 / SPEED},
        "receivers": {"points": " ".join(map(str, receiver))},
        "time": {"courant": 0.8, "t_end": 0.9 / SPEED},
        "compute": {"backend": "cpu"},
    }
    run(tmp_path / "run", configuration, ranks=2)
    with h5py.File(tmp_path / "run" / "receivers.h5") as file:
        time, p = file["time"][:], file["p"][:, 0]
    r, step = np.linalg.norm(receiver - source), 1e-5
    signal = np.array([wavelet(configuration, t + step) - wavelet(configuration, t - step) for t in time - r / SPEED])
    exact = DENSITY * signal / (2 * step) / (4 * np.pi * r)
    assert np.max(np.abs(p - exact)) < 2e-2 * np.max(np.abs(exact))


@pytest.mark.parametrize(
    ("medium", "difference"), [({}, "central"), (MEDIUM, "central"), (MEDIUM, "upwind"), ({}, "upwind")]
)
def test_reciprocity(tmp_path, medium, difference):
    """The signal from one place to another is that of the way back, beside ends of all kinds and in any medium, because
    a source is scaled with the stiffness of the points on which it acts."""
    there, traces = ("0.21 0.33 0.8", "0.93 0.01 1.7"), []
    boundary = {"x": "wall", "y_low": "wall", "y_high": "absorbing", "z": "free", "absorption": 0.2}
    for source, receiver in (there, there[::-1]):
        configuration = merged(
            BASE,
            {"boundary": boundary, "time": {"steps": 80}, "medium": medium, "physics": {"difference": difference}},
            {"point_sources": {"points": source}, "receivers": {"points": receiver, "every": 1}},
        )
        folder = tmp_path / source.replace(" ", "_")
        run(folder, configuration)
        with h5py.File(folder / "receivers.h5") as file:
            traces.append(file["p"][:, 0])
    scale = np.max(np.abs(traces[0]))
    assert scale > 0.01
    assert np.max(np.abs(traces[0] - traces[1])) < 1e-12 * scale


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"point_sources": {"points": "0.5 0.5 2.1"}}, "0 to 1.9"),
        ({"point_sources": {"file": "a.h5"}}, "one of the two"),
        ({"point_sources": {"frequency": 100.0}}, "the highest frequency of the grid"),
        ({"point_sources": {"amplitude": "1 2"}}, "2 numbers for 3 points"),
        ({"point_sources": {"wavelet": "file"}}, "both or none"),
        ({"receivers": {"points": "1.5 0.5 1"}}, "outside the domain"),
        ({"receivers": {"file": "a.h5"}}, "one of the two"),
    ],
)
def test_refused(tmp_path, change, said):
    write_ini(tmp_path / "run.ini", merged(BASE, change))
    assert said in "\n".join(complaints(launch(tmp_path, 1, "run.ini", code=2)))
    assert [path.name for path in tmp_path.iterdir()] == ["run.ini"]


PLACES = np.array([[0.5, 0.5, 1], [0.2, 0.3, 0.4]])


@pytest.mark.parametrize(
    ("datasets", "said"),
    [
        ({"points": PLACES[:, :2]}, "dataset points is not of shape (n, 3)"),
        ({"points": PLACES.ravel()}, "dataset points is not of shape (n, 3)"),
        ({"places": PLACES}, "no dataset points; accepted: one of shape (n, 3)"),
        ({"points": PLACES[:0]}, "s.h5: dataset points is empty; accepted: shape (n, 3) with n at least 1"),
        ({"points": PLACES, "delay": []}, "s.h5: dataset delay is empty; accepted: shape (n) with n at least 1"),
        ({"points": PLACES * [1, 1, 2]}, "number 1 (0.5, 0.5, 2) is outside the domain"),
        ({"points": PLACES * [1, np.nan, 1]}, "dataset points has a value that is not finite"),
        ({"points": PLACES, "amplitude": np.ones(3)}, "amplitude: 3 numbers for 2 points"),
        ({"points": PLACES, "amplitude": [1, np.inf]}, "dataset amplitude has a value that is not finite"),
        ({"points": PLACES, "amplitude": [1, -1e31]}, "amplitude: number 2 is -1e+31"),
        ({"points": PLACES, "delay": [1, -0.5]}, "delay: number 2 is -0.5; accepted: 0 to 1e+30"),
    ],
)
def test_files_of_sources_that_are_refused(tmp_path, datasets, said):
    with h5py.File(tmp_path / "s.h5", "w") as file:
        for name, values in datasets.items():
            file[name] = values
    result = run(tmp_path / "run", merged(BASE, {"point_sources": {"points": None, "file": "s.h5"}}), code=2)
    assert said in "\n".join(complaints(result))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("", "accepted: at least two"),
        ("0 1\n", "accepted: at least two"),
        ("0\n1\n", "line 1 is not two numbers; accepted: t and s, with blanks between them"),
        ("0,0\n1,1\n", "line 1 is not two numbers"),
        ("0 0\n# s\n \n1 nan\n", "line 4 is not two numbers"),
        ("0 0\n1 1 1\n", "line 2 is not two numbers"),
        ("0 0\n1 1\n  # then\n0.5 2\n", "line 4 is no later than the one before; accepted: rows of rising t"),
    ],
)
def test_wavelets_that_are_refused(tmp_path, rows, said):
    (tmp_path / "w.txt").write_text(rows)
    source = {"points": "0.5 0.5 1", "wavelet": "file", "wavelet_file": "w.txt"}
    result = run(tmp_path / "run", merged(BASE, {"point_sources": source}), code=2)
    assert said in "\n".join(complaints(result))
    assert not (tmp_path / "run").exists()


def test_comments_in_a_wavelet(tmp_path):
    """And blank lines, wherever they stand, however long: they change nothing."""
    (tmp_path / "bare.txt").write_text("0 0\n0.1 1\n0.4 0\n")
    (tmp_path / "told.txt").write_text(f"\n  # {'t and s ' * 99}\n0 0\n\t\n 0.1 1\r\n#\n0.4 0\n \n")
    source = {"points": "0.5 0.5 1", "wavelet": "file", "frequency": None}
    hashes, heard = set(), []
    for name in ("bare", "told"):
        made = run(tmp_path / name, merged(BASE, {"point_sources": {**source, "wavelet_file": f"{name}.txt"}}))
        hashes.add(hash_of(made))
        with h5py.File(tmp_path / name / "receivers.h5") as file:
            heard.append(np.abs(file["p"][:]).max())
    assert len(hashes) == 1 and heard[0] == heard[1] > 0


def test_the_signal_of_a_file(tmp_path):
    """Its jump is a share of its peak; it has no frequency and no cycles."""
    (tmp_path / "w.txt").write_text("0 1.5\n0.1 -6\n0.2 0\n")
    keys = {"points": "0.5 0.5 1", "wavelet": "file", "wavelet_file": "w.txt", "frequency": None, "delay": None}
    write_ini(tmp_path / "run.ini", merged(BASE, {"point_sources": keys, "time": {"steps": 1}}))
    for more, idle in (({}, False), ({"frequency": 4.0, "cycles": 2}, True)):
        write_ini(tmp_path / "more.ini", merged(BASE, {"point_sources": keys | more}))
        said = launch(tmp_path, 1, "--validate", "more.ini").stderr
        assert (": point_sources.frequency, point_sources.cycles" in said) == idle
    assert "the wavelet is 0.25 of its peak at t = 0" in launch(tmp_path, 1, "run.ini").stderr


def test_receivers_of_a_file_without_rows(tmp_path):
    with h5py.File(tmp_path / "r.h5", "w") as file:
        file["points"] = PLACES[:0]
    said = run(tmp_path / "run", merged(BASE, {"receivers": {"points": None, "file": "r.h5"}}), code=2).stderr
    assert "receivers.file = r.h5: dataset points is empty; accepted: shape (n, 3) with n at least 1" in said
    said = run(tmp_path / "run", merged(BASE, {"receivers": {"points": None, "file": "no.h5"}}), code=3).stderr
    assert "receivers.file = no.h5: cannot be opened: No such file or directory" in said


def test_receivers_of_a_file_at_one_place(tmp_path):
    """Are refused, as in a list; sources may share a place, with delays of their own."""
    with h5py.File(tmp_path / "r.h5", "w") as file:
        file["points"] = [*PLACES, [0.5, 0.5, 0.5], PLACES[1]]
    places = {"points": None, "file": "r.h5"}
    said = run(tmp_path / "run", merged(BASE, {"receivers": places}), code=2)
    assert "receivers.file: number 4 is at the place of number 2; accepted: each place once" in "\n".join(
        complaints(said)
    )
    run(tmp_path / "run", merged(BASE, {"point_sources": places, "time": {"steps": 1}}))


@pytest.mark.parametrize("equation", [{"equation": "acoustics"}, {"equation": "wave", "density": None}])
def test_a_peak_between_two_steps(tmp_path, equation):
    """A table that is finer than the steps can lose it, by how much its straight lines say. Not one of as many rows
    whose waves the steps hold."""
    dt, times = 0.01, 0.001 * np.arange(300)
    table = {"wavelet": "file", "wavelet_file": "w.txt", "frequency": None, "delay": None}
    keys = {"point_sources": table, "physics": equation, "time": {"steps": 20, "courant": None, "dt": dt}}
    late = 3 * np.exp(-(((times - 0.215) / 0.002) ** 2))  # beyond the last step
    for signal, kept in (
        (np.exp(-(((times - 0.055) / 0.002) ** 2)) + late, 0.0019),
        (-2 * np.maximum(0, 1 - np.abs(times - 0.054) / 0.008) + late, 0.5),
        (np.sin(2 * np.pi * times / (8 * dt)) + late, None),
    ):
        np.savetxt(tmp_path / "w.txt", np.stack([times, signal], axis=1))
        write_ini(tmp_path / "run.ini", merged(BASE, keys))
        said = launch(tmp_path, 1, "--validate", "run.ini").stderr
        assert ("between two steps" in said) == (kept is not None), said
        if kept is not None:
            top = np.argmax(np.abs(signal[:200]))
            text = (
                f"until the run ends, {signal[top]:.6g} at t = {times[top]:.6g}, lies between two steps (dt = 0.01), "
            )
            assert f"w.txt: its largest value {text}which take at most {kept:g} of it" in said


def test_keys_of_sources_and_receivers_without_places(tmp_path):
    keys = {"point_sources": {"points": None}, "receivers": {"points": None}}
    assert (
        ": point_sources.frequency, point_sources.delay, receivers.every"
        in run(tmp_path / "run", merged(BASE, keys)).stderr
    )


@pytest.mark.parametrize("equation", [{"equation": "acoustics"}, {"equation": "wave", "density": None}])
def test_signals_that_begin_after_the_end(tmp_path, equation):
    """It warns if all do; a ricker's formula says what it has reached by then."""
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file["points"], file["delay"] = PLACES, [9.0, 0.0]
    (tmp_path / "w.txt").write_text("0.5 0\n0.6 1\n0.9 0\n")
    (tmp_path / "falls.txt").write_text("0 1\n0.1 0\n")
    a = (np.pi * 0.01 * (0.3 - 120)) ** 2
    table = {"wavelet": "file", "wavelet_file": "w.txt", "frequency": None}
    for change, reached, delay in (
        ({"frequency": 0.01, "delay": None}, abs(1 - 2 * a) * np.exp(-a), 120),
        ({"wavelet": "sine", "cycles": 3, "delay": 0.3}, 0, 0.3),
        (table | {"delay": None}, 0, 0),
        (table | {"delay": 0.1}, 0, 0.1),
        (table | {"wavelet_file": "falls.txt", "delay": None}, None, None),
        ({"wavelet": "sine", "cycles": 3, "delay": 0.29}, None, None),
        ({"frequency": 1.0, "delay": 1.0}, None, None),
        ({"points": None, "file": "s.h5", "delay": None}, None, None),
    ):
        keys = {"point_sources": change, "physics": equation, "time": {"steps": None, "courant": 0.5, "t_end": 0.3}}
        write_ini(tmp_path / "run.ini", merged(BASE, keys))
        said = launch(tmp_path, 1, "--validate", "run.ini").stderr
        if reached is None:
            assert "no signal exceeds" not in said
        else:
            numbers = f"t = 0.3 no signal exceeds {reached:.2g} of its peak; the shortest delay is {delay:g}\n"
            assert numbers in said


def test_keys_that_a_file_of_sources_replaces(tmp_path):
    """Amplitudes and delays of the file count, and keys beside them have no effect."""
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file["points"], file["amplitude"] = PLACES, [1.0, 2.0]
    configuration = merged(BASE, {"point_sources": {"points": None, "file": "s.h5"}, "time": {"steps": 3}})
    asked = merged(configuration, {"point_sources": {"amplitude": "5"}})
    said = {name: run(tmp_path / name, c) for name, c in (("alone", configuration), ("both", asked))}
    assert "without effect" not in said["alone"].stderr
    assert "uses them: point_sources.amplitude\n" in said["both"].stderr
    assert hash_of(said["alone"]) == hash_of(said["both"])
    with h5py.File(tmp_path / "s.h5", "r+") as file:
        file["delay"] = file.pop("amplitude")[:]
    assert "uses them: point_sources.delay\n" in run(tmp_path / "delay", asked).stderr
    written = launch(tmp_path, 1, "--validate", "delay/config.ini", "output.directory=next")
    assert "without effect" not in written.stderr


@pytest.mark.parametrize(("absorption", "error"), [(0, 0.03), (1, 0.008)])
def test_receivers_beside_a_wall(tmp_path, absorption, error):
    """A pulse that a wall reflects is even about it, and one that leaves through it is not."""
    width, h = 0.08, 0.02
    places = [2 - offset * h for offset in (0, 0.25, 0.5, 1.5, 2.5, 3.5)]
    configuration = {
        "grid": {"nx": 101, "ny": 9, "nz": 9, "lx": 2},
        "boundary": {"x": "wall", "absorption_x_high": absorption},
        "physics": {"equation": "acoustics", "difference": "upwind"},
        "receivers": {"points": '"' + "; ".join(f"{x} 0.5 0.5" for x in places) + '"'},
        "initial": {"case": "formula", "formula": f"exp(-(x - 1)^2/(2*{width}^2))"},
        "time": {"scheme": "rk4", "dt": 0.2 * h, "t_end": 1.6},
        "output": {"diagnostics_every": 0},
    }
    run(tmp_path / "run", configuration)
    with h5py.File(tmp_path / "run" / "receivers.h5") as file:
        t, traces = file["time"][:], file["p"][:]
    for x, trace in zip(places, traces.T if traces.shape[1] == len(places) else traces, strict=True):
        exact = sum(s * np.exp(-((d - t) ** 2) / (2 * width**2)) / 2 for s, d in ((1, x - 1), (1 - absorption, 3 - x)))
        assert np.abs(trace - exact).max() < error * np.abs(exact).max()


def traces_of(path):
    with h5py.File(path) as file:
        return file["positions"][:].tolist(), file["step"][:].tolist(), file["p"][:]


OTHER = [
    (
        {"points": '"0.6 0.3 0.5; 0.9 0.01 0.95; 1 0.8 1.9"'},
        "has receiver 2 at (0.99, 0.01, 0.95), and this run at (0.9, ",
    ),
    ({"points": '"0.6 0.3 0.5; 0.99 0.01 0.95"'}, "holds 3 receivers, and this run has 2"),
    ({"weights": "sinc"}, "is of receivers.weights = lagrange, and this run has sinc"),
]


@pytest.mark.parametrize(("keys", "said"), OTHER)
def test_traces_of_other_receivers_are_moved_away(tmp_path, keys, said):
    """The file of a run that resumes holds traces of its own receivers alone, the same as in a run of these."""
    changed = merged(BASE, {"receivers": keys})
    run(tmp_path / "run", merged(BASE, {"time": {"steps": 12}}))
    whole = (tmp_path / "run/receivers.h5").read_bytes()
    resumed = run(tmp_path / "run", merged(changed, {"restart": {"from": "latest"}}))
    assert f"run/receivers.h5 {said}" in resumed.stderr
    assert "previous_1, and a new one begins at step 12" in resumed.stderr
    assert (tmp_path / "run/previous_1/receivers.h5").read_bytes() == whole
    run(tmp_path / "fresh", changed)
    at, steps, p = traces_of(tmp_path / "run/receivers.h5")
    fresh = traces_of(tmp_path / "fresh/receivers.h5")
    assert at == fresh[0] == places(changed["receivers"]["points"]) and steps == [12, 15, 18, 21, 24]
    assert np.array_equal(p, fresh[2][4:])


@pytest.mark.parametrize("equation", [{"equation": "acoustics"}, {"equation": "wave", "density": None}])
def test_resuming_tells_of_other_sources(tmp_path, equation):
    """Of the same files' names with other places, amplitudes or rows of the wavelet; not of the same values."""

    def write(points, amplitude, end):
        with h5py.File(tmp_path / "s.h5", "w") as file:
            file["points"], file["amplitude"] = points, amplitude
        (tmp_path / "w.txt").write_text(f"0 0\n0.1 1\n0.5 {end}\n")

    keys = {
        "points": None,
        "file": "s.h5",
        "wavelet": "file",
        "wavelet_file": "w.txt",
        "frequency": None,
        "delay": None,
    }
    change = {"physics": equation, "point_sources": keys, "time": {"courant": 0.5, "steps": 3}}
    resume = ("restart.from=run/state_00000003.hdf", "output.directory=next", "time.steps=4")
    said = "point_sources.file = s.h5 or point_sources.wavelet_file = w.txt holds other values than those"
    write(PLACES, [1.0, 2.0], 0)
    run(tmp_path / "run", merged(BASE, change), ranks=2)
    assert said not in launch(tmp_path, 1, "run.ini", *resume).stderr
    for other in ((PLACES[::-1], [1.0, 2.0], 0), (PLACES, [1.0, 3.0], 0), (PLACES, [1.0, 2.0], 1)):
        write(*other)
        assert said in launch(tmp_path, 1, "run.ini", *resume).stderr


def test_samples_that_a_resumed_run_lacks(tmp_path):
    """It warns of lost ones, and of another spacing; not of samples that are not due."""
    file = tmp_path / "run/receivers.h5"
    said = []
    for steps, every in ((11, 3), (13, 3), (18, 2), (20, 2)):
        change = {"time": {"steps": steps}, "receivers": {"every": every}, "restart": {"from": "latest"}}
        said.append(run(tmp_path / "run", merged(BASE, change)).stderr)
    assert traces_of(file)[1] == [0, 3, 6, 9, 12, 14, 16, 18, 20]
    assert "receivers.h5" not in said[0] + said[1] + said[3]
    assert "samples up to step 12 are 3 apart in steps, and later ones 2, by receivers.every" in said[2]
    file.unlink()
    change = {"time": {"steps": 22}, "restart": {"from": "latest"}}
    lost = "run/receivers.h5: no sample up to step 20, where the run resumes: lost, or not due in the run before"
    assert lost in run(tmp_path / "run", merged(BASE, change)).stderr
