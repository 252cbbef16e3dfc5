"""What pictures and movies show, which files the commands write, and what they refuse; test_looks.py has how it
looks."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import synthetic
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from fdpost import Run, history, movie, open_run, panels, slices, spectrum, style

pytestmark = pytest.mark.quick
POSTPROC = Path(__file__).parents[1]


def draw(run, states, cuts):
    return slices.draw_slices(run, states, cuts, {"phi": slices.read_cuts(states, cuts, "phi")})


def images(fig):
    return [image for ax in fig.axes for image in ax.images]


def test_slices_show_the_planes_with_one_scale(run_dir):
    run = Run(run_dir)
    fig = draw(run, run.select(count=3), slices.choose_cuts(run.states[0]))
    shown = images(fig)
    assert len(shown) == 9
    assert len({image.get_clim() for image in shown}) == 1
    phi = synthetic.pulse((20, 16, 24), 0.4)
    last = [np.asarray(image.get_array()) for image in shown[2::3]]  # last time of each row
    assert np.array_equal(last[0][:-1, :-1], phi[10])
    assert np.array_equal(last[1][:-1, :-1], phi[:, 8])
    assert np.array_equal(last[2][:-1, :-1], phi[:, :, 12])
    assert np.array_equal(last[0][-1, :-1], phi[10][0])  # the period closes


def test_slices_to_scale(tmp_path):
    run = Run(synthetic.write_run(tmp_path / "r", shape=(8, 10, 20), lengths=(2.0, 1.0, 0.5), steps=(0, 1)))
    fig = draw(run, run.states, slices.choose_cuts(run.states[0]))
    width, height = fig.get_size_inches()
    for ax in [ax for ax in fig.axes if ax.images]:
        box, (left, right), (bottom, top) = ax.get_position(original=True), ax.get_xlim(), ax.get_ylim()
        assert box.width * width / (right - left) == pytest.approx(slices.PLANE_INCHES / 2)
        assert box.height * height / (top - bottom) == pytest.approx(slices.PLANE_INCHES / 2)


def test_axes_are_named_and_as_long_as_what_they_show(tmp_path):
    points, lengths = {"x": 20, "y": 10, "z": 8}, {"x": 2.0, "y": 1.0, "z": 0.5}
    run = Run(synthetic.write_run(tmp_path / "r", shape=(8, 10, 20), lengths=(2.0, 1.0, 0.5), steps=(0,)))
    fig = draw(run, run.states, [(2, 4), (1, 5), (0, 10)])
    width, height = fig.get_size_inches()
    for ax, across, up in zip(fig.axes, "xxy", "yzz"):
        assert (ax.get_xlabel(), ax.get_ylabel()) == (f"${across}$", f"${up}$")
        assert (ax.get_xlim(), ax.get_ylim()) == ((0, lengths[across]), (0, lengths[up]))
        assert ax.images[0].get_array().shape == (points[up] + 1, points[across] + 1)
        box = ax.get_position(original=True)
        assert box.width * width / (box.height * height) == pytest.approx(lengths[across] / lengths[up])


def test_drift_is_relative_and_keeps_its_size():
    values = np.array([2.0, 2.0, 2.0 + 2e-9])
    assert panels.relative_drift(values) == pytest.approx([0, 0, 1e-9])
    assert panels.relative_drift(values, 4.0) == pytest.approx([0, 0, 5e-10])


def test_mass_near_zero_is_measured_against_the_norm(run_dir):
    run = Run(run_dir)
    assert history.mass_scale(run, {"mass": np.array([0.5]), "l2": np.array([1.0])})[0] == 0.5
    assert history.mass_scale(run, {"mass": np.array([1e-17]), "l2": np.array([0.3])})[0] == pytest.approx(0.3)


def rewrite_table(run, **columns):
    """Give columns of the run's table other values, by functions of the row's number."""
    lines = (run / "diagnostics.csv").read_text().splitlines()
    names, rows = lines[0].split(","), [line.split(",") for line in lines[1:]]
    for name, value in columns.items():
        for number, row in enumerate(rows):
            row[names.index(name)] = f"{value(number):.17g}"
    (run / "diagnostics.csv").write_text("\n".join([lines[0], *(",".join(row) for row in rows)]) + "\n")


def test_history_from_zero_shows_the_values_themselves(tmp_path):
    """There is no start to divide by, and labels do not say so."""
    run = synthetic.write_run(tmp_path / "r")
    rewrite_table(run, mass=lambda row: 0.01 * row, l2=lambda row: 0.02 * row)
    fig = history.draw_history(Run(run))
    for ax, label, last in zip(fig.axes[:2], ("$|m|$", r"$\|\varphi\|$"), (0.4, 0.8)):
        assert ax.get_ylabel() == label and "zero at the start" in ax.get_title(loc="left")
        assert ax.lines[0].get_ydata()[40] == pytest.approx(last)


def test_history_of_waves_from_zero_shows_the_values_themselves(tmp_path):
    """Sources make the waves; the norm may stay below 1 or grow beyond."""
    for name, growth in (("soft", 0.1), ("loud", 10.0)):
        run = synthetic.write_waves(tmp_path / name)
        rewrite_table(run, energy=lambda row: 0.01 * row, l2=lambda row, growth=growth: growth * row)
        fig = history.draw_history(Run(run))
        for ax, label, last in zip(fig.axes[:2], ("$E$", r"$\|p\|$"), (0.02, 2 * growth)):
            assert ax.get_ylabel() == label and "zero at the start" in ax.get_title(loc="left")
            assert ax.lines[0].get_ydata()[2] == pytest.approx(last)


@pytest.mark.parametrize(
    "more, word",
    [
        ("", "Drift"),
        ("[boundary]\nx = periodic\ny = wall\nz_low = wall\nz_high = free\nabsorption = 0\n", "Drift"),
        ("[source]\nformula = none\nfile = none\nfactor = 1\n[point_sources]\npoints = none\nfrequency = 3\n", "Drift"),
        ("[boundary]\nx = open\n", "Change"),
        ("[boundary]\nx_low = absorbing\nx_high = wall\n", "Change"),
        ("[boundary]\nx = wall\nabsorption_x_low = 0.5\n", "Change"),
        ("[source]\nformula_u = sin(x)\n", "Change"),
        ("[point_sources]\nfile = shots.h5\n", "Change"),
    ],
)
def test_only_what_is_closed_drifts(tmp_path, more, word):
    """What enters and leaves through ends, and what sources add, changes the mass as it should."""
    run = synthetic.write_run(tmp_path / "r")
    (run / "config.ini").write_text((run / "config.ini").read_text() + more)
    fig = history.draw_history(Run(run))
    assert [ax.get_title(loc="left").split()[0] for ax in fig.axes[:2]] == [word, word]


@pytest.mark.parametrize("start, later, name", [(0.0, -0.3, "viridis"), (-1.0, -0.01, "RdBu_r")])
def test_a_field_has_one_map_in_all_pictures(tmp_path, start, later, name):
    """The start decides: neither a later undershoot nor a time without negative values gives another map."""
    run = synthetic.write_run(tmp_path / "r")
    rewrite_table(run, min=lambda row: start if row == 0 else later)
    assert slices.signed(Run(run), "phi") == (name == "RdBu_r")
    plane = np.array([[later, 1.0]])
    assert style.colour_scale([plane], signed=slices.signed(Run(run), "phi"))[0].name == name


def test_waves_and_velocities_are_shown_about_zero(tmp_path):
    run = synthetic.write_run(tmp_path / "r")
    (run / "config.ini").write_text((run / "config.ini").read_text() + "[physics]\nequation = acoustics\n")
    assert slices.signed(Run(run), "p") and style.colour_scale([np.array([[0.0, 1.0]])], signed=True)[1:] == (-1, 1)


def test_a_notebooks_backend_is_not_asked_for(run_dir):
    """fdplot writes files, whatever MPLBACKEND names: a module of a notebook that is not installed, too."""
    environment = os.environ | {"MPLBACKEND": "module://no_such_notebook.backend", "PYTHONPATH": str(POSTPROC)}
    command = [sys.executable, "-m", "fdpost", "slices", run_dir, "--steps", "last"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and (run_dir / "slices.png").exists()


def test_history_draws_what_the_table_says(run_dir):
    fig = history.draw_history(Run(run_dir))
    norm = fig.axes[1].lines[0].get_ydata()
    assert np.isnan(norm[0]) and norm[40] == pytest.approx(0.4e-6, rel=1e-6)
    assert fig.axes[3].lines[1].get_ydata()[40] == 4e-5 * 0.4
    mass = fig.axes[0].lines[0].get_ydata()
    assert mass[6] == pytest.approx(6 * 3e-16, rel=0.2, abs=0)  # of round-off's size, as the table's
    named = {text.get_text(): text.get_color() for text in fig.axes[2].texts}
    ends = {line.get_color(): line.get_ydata()[40] for line in fig.axes[2].lines}
    assert {name: ends[colour] for name, colour in named.items()} == {"max": 1 - 3e-3 * 0.4, "min": -1e-4 * 0.4}


def test_history_without_exact_solution_shows_courant(tmp_path):
    fig = history.draw_history(Run(synthetic.write_run(tmp_path / "r", errors=False)))
    assert fig.axes[3].get_title(loc="left") == "Courant number"


def test_history_of_rows_by_time_says_so(tmp_path):
    """Then all steps that it shows were shortened. Waves take the nearest step. Units are beside times."""
    for equation, said in (
        ("advection", "Courant number\n(steps shortened to meet the rows)"),
        ("wave", "Courant number"),
    ):
        run = synthetic.write_run(tmp_path / equation, errors=False)
        more = f"[physics]\nequation = {equation}\n[output]\ndiagnostics_at = 0.1\n[units]\ntime = s\n"
        (run / "config.ini").write_text((run / "config.ini").read_text() + more)
        fig = history.draw_history(Run(run))
        assert fig.axes[3].get_title(loc="left") == said
        assert any("t = 0.4 s," in text.get_text() for text in fig.texts)


def test_history_of_errors_known_only_at_the_start_shows_courant(tmp_path):
    """As those of a deformation or a rotation before a period is over."""
    run = synthetic.write_run(tmp_path / "r")
    lines = (run / "diagnostics.csv").read_text().splitlines()
    lines[2:] = [",".join(line.split(",")[:-3] + ["nan"] * 3) for line in lines[2:]]
    (run / "diagnostics.csv").write_text("\n".join(lines) + "\n")
    fig = history.draw_history(Run(run))
    assert fig.axes[3].get_title(loc="left") == "Courant number"


def test_history_of_one_row(tmp_path):
    run = synthetic.write_run(tmp_path / "r", steps=(0,))
    fig = history.draw_history(Run(run))
    assert [text.get_text() for text in fig.axes[0].texts] == ["one row only"]


def test_history_of_what_blew_up(tmp_path):
    run = synthetic.write_run(tmp_path / "r")
    row = ",".join(["nan"] * 6)
    (run / "diagnostics.csv").write_text(f"step,time,dt,mass,l2,min,max,courant\n0,0,{row}\n1,1,{row}\n")
    fig = history.draw_history(Run(run))
    FigureCanvasAgg(fig).draw()
    assert fig.axes[3].get_title(loc="left") == "Courant number"


def test_history_of_a_state_is_that_of_its_run(run_dir, fdplot):
    _, out, _ = fdplot("history", run_dir / "state_00000010.hdf")
    assert out.strip() == str(run_dir / "history.png")


@pytest.mark.parametrize("command, name", [("movie", "movie.gif"), ("slices", "slices.png")])
@pytest.mark.parametrize("fault, code", [(KeyboardInterrupt(), 130), (OSError(28, "No space left"), 3)])
def test_a_picture_is_whole_or_not_there(run_dir, fdplot, monkeypatch, command, name, fault, code):
    before = sorted(run_dir.iterdir())

    def stop(path):
        assert path.stat().st_size > 0  # what was written so far
        raise fault

    monkeypatch.setattr("fdpost.style.os.replace", lambda part, path: stop(part))
    found, out, err = fdplot(command, run_dir)
    assert found == code and not out and ("stopped" in err or f"{name}: cannot be written: No space" in err)
    assert sorted(run_dir.iterdir()) == before


class Frames:
    """A movie's writer that keeps what each frame shows: plane, clock, progress."""

    def __init__(self):
        self.seen = []

    @contextmanager
    def saving(self, fig, path, _):
        self.fig = fig
        Path(path).touch()
        yield

    def grab_frame(self):
        (image,) = images(self.fig)
        (clock,) = [text.get_text() for text in self.fig.texts if text.get_text().startswith("t = ")]
        (bar,) = [ax.patches[1].get_width() for ax in self.fig.axes if len(ax.patches) == 2]
        self.seen.append((np.asarray(image.get_array())[:-1, :-1], clock, bar))


def test_a_movie_moves(run_dir, tmp_path):
    run, frames = Run(run_dir), Frames()
    planes = [state.plane(1, 8) for state in run.states]
    movie.make_movie(run, run.states, (1, 8), planes, tmp_path / "m.gif", frames, "phi", ("viridis", 0.0, 1.0))
    times = (0.0, 0.1, 0.2, 0.3, 0.4)
    assert [clock for _, clock, _ in frames.seen] == [f"t = {time:.4f}" for time in times]
    assert [bar for _, _, bar in frames.seen] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    for (shown, _, _), time in zip(frames.seen, times):
        assert np.array_equal(shown, synthetic.pulse((20, 16, 24), time)[:, 8])


def test_movie_has_a_frame_for_each_state(run_dir, fdplot):
    assert fdplot("movie", run_dir, "--fps", 60)[0] == 2  # beyond what a GIF can hold
    code, out, _ = fdplot("movie", run_dir, "--axis", "y", "--fps", 10)
    assert code == 0 and out.strip() == str(run_dir / "movie.gif")
    with Image.open(run_dir / "movie.gif") as made:
        assert made.n_frames == 5
        assert made.info["duration"] == 100


@pytest.mark.skipif(not shutil.which("ffprobe"), reason="no ffmpeg here")
def test_mp4_has_a_frame_for_each_state(run_dir, tmp_path, fdplot):
    path = tmp_path / "m.mp4"
    assert fdplot("movie", run_dir, "--fps", 5, "-o", path)[0] == 0
    shown = "stream=codec_name,pix_fmt,r_frame_rate,nb_frames"
    words = ["ffprobe", "-v", "error", "-show_entries", shown, "-of", "csv=p=0", str(path)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said.strip() == "h264,yuv420p,5/1,5"


def test_default_places_and_chosen_ones(run_dir, tmp_path, fdplot):
    assert fdplot("slices", run_dir)[0] == 0
    assert fdplot("history", run_dir, "-o", tmp_path / "new" / "h.pdf")[0] == 0
    assert fdplot("slices", run_dir / "state_00000010.hdf", "--axis", "x", "--index", -1)[0] == 0
    with Image.open(run_dir / "slices.png") as picture:
        assert picture.width > 1000
    assert (tmp_path / "new" / "h.pdf").read_bytes().startswith(b"%PDF")
    assert (run_dir / "state_00000010_slices.png").exists()


@pytest.mark.parametrize(
    "code, message, arguments",
    [
        (2, "no field 'psi'; there are: phi", ["slices", "RUN", "--field", "psi"]),
        (2, "no state of step 5", ["slices", "RUN", "--steps", "0,5"]),
        (2, "outside the grid", ["slices", "RUN", "--axis", "z", "--position", "7"]),
        (2, "need --axis", ["slices", "RUN", "--index", "3"]),
        (2, "invalid choice", ["slices", "RUN", "--axis", "w"]),
        (2, "steps are numbers", ["slices", "RUN", "--steps", "a"]),
        (2, "unknown colour map", ["slices", "RUN", "--cmap", "nonsense"]),
        (2, "unknown picture format", ["slices", "RUN", "-o", "x.nonsense"]),
        (2, "ends in .gif or .mp4", ["movie", "RUN", "-o", "x.avi"]),
        (2, "positive", ["movie", "RUN", "--fps", "0"]),
        (2, "positive", ["movie", "RUN", "--fps", "inf"]),
        (2, "invalid number", ["slices", "RUN", "--axis", "x", "--position", "nan"]),
        (2, "invalid number", ["slices", "RUN", "--vmin", "nan"]),
        (2, "invalid number", ["slices", "RUN", "--vmax", "inf"]),
        (2, "not allowed with", ["slices", "RUN", "--steps", "all", "--count", "2"]),
        (3, "no such run directory", ["slices", "RUN/nowhere"]),
        (3, "no states", ["slices", "EMPTY"]),
        (3, "diagnostics.csv: no such file", ["history", "EMPTY"]),
    ],
)
def test_clear_errors(run_dir, tmp_path, fdplot, code, message, arguments):
    (tmp_path / "empty").mkdir()
    places = {"RUN": str(run_dir), "EMPTY": str(tmp_path / "empty")}
    before = sorted(run_dir.iterdir())
    words = [places.get(word, word.replace("RUN/", places["RUN"] + "/")) for word in arguments]
    found, out, err = fdplot(*words)
    assert found == code and message in err and not out
    assert sorted(run_dir.iterdir()) == before


def test_mp4_without_ffmpeg_says_so(run_dir, fdplot, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: None)
    code, _, err = fdplot("movie", run_dir, "-o", run_dir / "m.mp4")
    assert code == 3 and "ffmpeg" in err


@pytest.mark.parametrize("command", ["slices", "history", "movie"])
def test_help_has_examples(fdplot, command):
    code, out, _ = fdplot(command, "--help")
    assert code == 0 and "examples:" in out and "--output" in out


@pytest.mark.parametrize("edge, peak", [(1.0, 7.0), (2.0, 7 * np.pi)])
def test_spectrum_counts_waves_of_the_unit_cube_and_radians_elsewhere(tmp_path, edge, peak):
    def wave(shape, *_):
        z, y, x = np.meshgrid(*(np.arange(n) / n for n in shape), indexing="ij")
        return np.cos(2 * np.pi * (2 * x + 3 * y + 6 * z))  # 7 waves along (2, 3, 6) / 7

    run = Run(synthetic.write_run(tmp_path / "r", steps=(0,), lengths=(edge,) * 3, make=wave))
    line = spectrum.draw_spectrum(run, run.states).axes[0].lines[0]
    assert line.get_xdata()[np.argmax(line.get_ydata())] == pytest.approx(peak)


def test_planes_that_miss_what_there_is_are_told(run_dir, fdplot):
    """diagnostics.csv knows how far phi goes; a plane beside the pulse reaches little of it, a projection all."""
    run = Run(run_dir)
    first = run.states[0]
    values = np.array([np.ptp(first.plane(2, index)) for index in range(first.size[2])])
    weak, strong = int(np.argmin(values)), int(np.argmax(values))
    options = (run_dir, "--steps", "first", "--axis", "z")
    assert "note: phi goes from" in fdplot("slices", *options, "--index", weak)[2]
    assert fdplot("slices", *options, "--index", strong)[2] == ""
    assert fdplot("slices", *options, "--project")[2] == ""


def test_movie_is_judged_by_all_of_its_planes(tmp_path, fdplot):
    def passing(shape, time, lengths):
        return synthetic.pulse(shape, 0.0, lengths) * (0.9 if time == 0.1 else 0.0) + synthetic.pulse(
            shape, 2.0, lengths, velocity=(0, 0, 0.25)
        )

    run = synthetic.write_run(tmp_path / "passing", shape=(16, 12, 12), steps=(0, 10, 20), make=passing)
    assert "note: phi goes from" in fdplot("movie", run, "--steps", "0,20")[2]
    assert fdplot("movie", run)[2] == ""


def test_a_run_without_diagnostics(tmp_path, fdplot):
    run = synthetic.write_run(tmp_path / "bare")
    table = run / "diagnostics.csv"
    table.write_text(table.read_text().split("\n")[0] + "\n")  # output.diagnostics_every = 0
    assert fdplot("slices", run)[0] == 0 and fdplot("movie", run)[0] == 0
    assert "diagnostics_mass" not in open_run(run)
    code, _, err = fdplot("history", run)
    assert code == 3 and "was output.diagnostics_every 0?" in err


@pytest.mark.parametrize("command", ["history", "slices", "movie"])
@pytest.mark.parametrize("column", ["step", "min"])
def test_a_table_without_a_column(tmp_path, fdplot, command, column):
    run = synthetic.write_run(tmp_path / "odd", steps=(0, 10))
    table = run / "diagnostics.csv"
    table.write_text(table.read_text().replace(column, "other", 1))
    code, _, err = fdplot(command, run)
    assert (code, f"no column {column}" in err) == ((3, True) if command == "history" else (0, False))


def test_a_movie_leaves_out_what_lies_between_its_frames(tmp_path, fdplot):
    """Snapshots every 16 steps, checkpoints at 50 and 100, the last step at 111: steps of equal length alone."""
    steps = (0, 16, 32, 48, 50, 64, 80, 96, 100, 111)
    run = synthetic.write_run(tmp_path / "r", shape=(4, 6, 6), steps=steps)
    for said in ("", "[output]\nfields_every = 16\n"):
        with open(run / "config.ini", "a") as file:
            file.write(said)
        even, out = movie.even_frames(Run(run).states, Run(run).every(Run(run).states))
        assert [state.step for state in even] == [0, 16, 32, 48, 64, 80, 96]
        assert [state.step for state in out] == [50, 100, 111]
    code, _, err = fdplot("movie", run)
    assert code == 0 and "step 50, 100, 111" in err
    with Image.open(run / "movie.gif") as made:
        assert made.n_frames == 7
    assert fdplot("movie", run, "--steps", "all")[0] == 0
    with Image.open(run / "movie.gif") as made:
        assert made.n_frames == 10


def test_frames_of_a_resumed_run_need_no_step_zero(tmp_path):
    run = Run(synthetic.write_run(tmp_path / "r", shape=(4, 4, 4), steps=(7, 17, 27, 30)))
    assert [state.step for state in movie.even_frames(run.states)[0]] == [7, 17, 27]


def test_fields_by_name(tmp_path, fdplot):
    """A wave equation's four unknowns, listed by the alphabet in the file: the first of the equation is the default."""
    run = synthetic.write_waves(tmp_path / "waves")
    states = Run(run).states
    assert states[0].fields == ("p", "u", "v", "w") and Run(run).field == "p"
    cuts = slices.choose_cuts(states[0])
    shown = {field: slices.read_cuts(states, cuts, field) for field in ("p", "v")}
    fig = slices.draw_slices(Run(run), states, cuts, shown)
    panels = [np.asarray(image.get_array())[:-1, :-1] for image in images(fig)]
    assert len(panels) == 2 * 3 * len(states)
    assert np.array_equal(panels[0], synthetic.waves((6, 8, 10))["p"][3])
    assert np.array_equal(panels[9], synthetic.waves((6, 8, 10))["v"][3])
    titles = [ax.get_title() for ax in fig.axes if not ax.images and ax.get_title()]
    assert titles == ["$p$", "$v$"]
    assert fdplot("slices", run, "--field", "p")[1] == f"{run}/slices.png\n"
    assert fdplot("slices", run, "--field", "p", "u", "w")[1] == f"{run}/slices_p_u_w.png\n"
    assert fdplot("spectrum", run, "--field", "p", "u")[1] == f"{run}/spectrum_p_u.png\n"
    assert fdplot("history", run)[0] == 0
    assert fdplot("movie", run, "--field", "w")[1] == f"{run}/movie_w.gif\n"
    state = run / "state_00000001.hdf"
    assert fdplot("slices", state, "--field", "u")[1] == f"{run}/state_00000001_slices_u.png\n"
    assert fdplot("movie", run, "--field", "u", "w")[0] == 2
    assert "no field 'phi'; there are: p, u, v, w" in fdplot("slices", run, "--field", "phi")[2]


def test_history_of_waves_shows_the_energy(tmp_path):
    fig = history.draw_history(Run(synthetic.write_waves(tmp_path / "waves")))
    assert fig.axes[0].get_title(loc="left") == "Drift of energy"
    assert fig.axes[0].lines[0].get_ydata()[2] == pytest.approx(2e-6)  # 2 (1 - 1e-6 step)
    assert fig.axes[1].get_title(loc="left") == "$L_2$ norm, relative to the start"
    assert fig.axes[1].get_ylabel() == r"$\|p\|\,/\,\|p_0\|$"
    assert fig.axes[2].get_ylabel() == "$p$"
    assert fig.axes[3].get_ylabel() == r"$c\,\Delta t\,\sqrt{\Sigma\,1/h^2}$"


def test_history_of_waves_that_leave_shows_what_is_left(tmp_path):
    """A quarter of the first energy leaves per step."""
    fig = history.draw_history(Run(synthetic.write_waves(tmp_path / "waves", lost=0.25)))
    assert fig.axes[0].get_title(loc="left") == "Energy, relative to the start"
    assert fig.axes[0].lines[0].get_ydata().tolist() == [1, 0.75, 0.5]
    assert fig.axes[0].get_yscale() == "linear" and fig.axes[0].get_ylim()[0] == 0
