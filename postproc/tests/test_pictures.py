import shutil
import subprocess
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import synthetic
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from fdpost import Run, UsageError, history, movie, open_run, slices, spectrum, style


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


def test_colours_follow_the_sign_of_the_data():
    positive, signed = np.array([[-0.01, 1.0]]), np.array([[-0.5, 1.0]])
    assert style.colour_scale([positive])[0].name == "viridis"
    colours, low, high = style.colour_scale([positive, signed])
    assert (colours.name, low, high) == ("RdBu_r", -1.0, 1.0)
    assert style.colour_scale([positive], "cividis", vmax=2.0)[0].name == "cividis"
    assert style.colour_scale([np.full((2, 2), 3.0)])[1:] == (2.5, 3.5)
    assert style.colour_scale([np.array([[np.nan, 1.0, 2.0]])])[1:] == (1.0, 2.0)
    with pytest.raises(UsageError, match="colour map"):
        style.colour_scale([positive], "nonsense")
    with pytest.raises(UsageError, match="exceeds"):
        style.colour_scale([positive], vmin=2, vmax=1)


def test_a_colour_bar_has_tips_where_values_go_further():
    planes = [np.array([[0.0, 0.5]]), np.array([[1.0, np.nan]])]
    ends = {(0.0, 1.0): "neither", (0.1, 1.0): "min", (0.0, 0.9): "max", (0.2, 0.7): "both", (0.001, 0.999): "neither"}
    assert {limits: style.beyond(planes, *limits) for limits in ends} == ends
    with style.look(log=True):
        assert style.beyond(planes, 1e-6, 1.0) == "min"  # zero has no logarithm


def test_chosen_limits_show_in_pictures_and_movies(run_dir, monkeypatch):
    drawn, bar = [], Figure.colorbar

    def colorbar(figure, image, **how):
        drawn.append(how["extend"])
        return bar(figure, image, **how)

    monkeypatch.setattr(Figure, "colorbar", colorbar)
    run = Run(run_dir)
    cuts, planes = [(2, 10)], [state.plane(2, 10) for state in run.states]
    slices.draw_slices(run, run.states, cuts, {"phi": [planes]}, vmax=0.5)
    movie.draw_frame(run, run.states[0], cuts[0], "phi", planes, ("viridis", 0.2, 2.0))
    assert drawn == ["max", "min"]


def test_drift_is_relative_and_keeps_its_size():
    values = np.array([2.0, 2.0, 2.0 + 2e-9])
    assert history.relative_drift(values) == pytest.approx([0, 0, 1e-9])
    assert history.relative_drift(values, 4.0) == pytest.approx([0, 0, 5e-10])


def test_mass_near_zero_is_measured_against_the_norm(run_dir):
    run = Run(run_dir)
    assert history.mass_scale(run, {"mass": np.array([0.5]), "l2": np.array([1.0])})[0] == 0.5
    assert history.mass_scale(run, {"mass": np.array([1e-17]), "l2": np.array([0.3])})[0] == pytest.approx(0.3)


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


def test_user_settings_stay_as_they_were(run_dir):
    import matplotlib

    matplotlib.rcParams["font.size"] = 33
    history.draw_history(Run(run_dir))
    assert matplotlib.rcParams["font.size"] == 33
    matplotlib.rcdefaults()


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


def test_wavenumbers_of_a_long_domain_are_labelled_plainly(tmp_path):
    run = Run(synthetic.write_run(tmp_path / "long", steps=(0,), lengths=(2.0, 1.0, 1.0)))
    figure = spectrum.draw_spectrum(run, run.states)
    FigureCanvasAgg(figure).draw()
    (ax,) = figure.axes
    assert {label.get_text() for label in ax.get_xticklabels(minor=True)} <= {""}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["5", "10", "20", "50"]


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


@pytest.mark.parametrize("command", ["slices", "history", "spectrum"])
def test_the_users_settings_do_not_reach_the_file(run_dir, tmp_path, fdplot, command):
    """matplotlib reads pdf.fonttype, svg.fonttype and savefig.* when it saves: text stays text, and the size is its
    own."""
    import matplotlib

    with matplotlib.rc_context({"savefig.bbox": "tight", "savefig.facecolor": "black", "pdf.fonttype": 3}):
        for ending in ("pdf", "svg", "png"):
            assert fdplot(command, run_dir, "-o", tmp_path / f"p.{ending}", "--size", 8, "--dpi", 50)[0] == 0
    assert b"/Type3" not in (tmp_path / "p.pdf").read_bytes()
    assert "<text" in (tmp_path / "p.svg").read_text()
    with Image.open(tmp_path / "p.png") as picture:
        assert picture.width == 400 and picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_a_movie_is_saved_in_the_projects_style(run_dir, tmp_path, fdplot):
    import matplotlib

    with matplotlib.rc_context({"savefig.facecolor": "black", "xtick.labelsize": 40}):
        assert fdplot("movie", run_dir, "-o", tmp_path / "m.gif", "--size", 4, "--dpi", 50)[0] == 0
    with Image.open(tmp_path / "m.gif") as made:
        assert made.width == 200 and min(made.convert("RGB").getpixel((0, 0))) > 250


@pytest.mark.parametrize("command", ["slices", "history", "spectrum"])
def test_a_figure_for_a_paper(run_dir, tmp_path, fdplot, command):
    """A width of 6 inches, 432 points, and no name of a directory anywhere in it."""
    path = tmp_path / "f.svg"
    assert fdplot(command, run_dir, "-o", path, "--title", "", "--size", 6, "--font-size", 7)[0] == 0
    text = path.read_text()
    assert "pulse" not in text and "points" not in text
    assert 'width="432pt"' in text
    assert fdplot(command, run_dir, "-o", path, "--title", "A $x$ wave")[0] == 0
    assert "A $x$ wave" in path.read_text() and "pulse" not in path.read_text()
    assert fdplot(command, run_dir, "--font", "Nonsense")[0] == 2
    assert fdplot(command, run_dir, "--size", 1)[0] == 2


@pytest.mark.parametrize(
    "title", ["A long title of many words for a figure of one column, and then some", "a$x_{$" * 15]
)
def test_a_long_title_stays_on_the_paper(run_dir, title):
    run = Run(run_dir)
    with style.look(title=title, size=(4.6,)):
        figures = [history.draw_history(run), spectrum.draw_spectrum(run, run.states)]
    with style.look(title=title):
        figures.append(draw(run, run.states[:1], [(2, 10)]))
    for fig in figures:
        FigureCanvasAgg(fig).draw()
        boxes = [text.get_window_extent() for text in fig.texts]
        assert max(box.x1 for box in boxes) <= fig.bbox.x1


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_type_has_the_size_asked_for(run_dir, factor):
    with style.look(font_size=9 * factor):
        fig = history.draw_history(Run(run_dir))
    assert fig.axes[3].xaxis.label.get_fontsize() == pytest.approx(9 * factor)
    assert fig.axes[3].get_xticklabels()[0].get_fontsize() == pytest.approx(8 * factor)
    assert fig.texts[0].get_fontsize() == pytest.approx(12 * factor)


def test_times_of_a_column_of_a_paper_keep_apart(run_dir):
    """Three times in 3.5 inches, without heading and steps."""
    run = Run(run_dir)
    with style.look(title="", size=(3.5,), font_size=6.5):
        fig = draw(run, run.select(count=3), [(2, 10)])
        FigureCanvasAgg(fig).draw()
    texts = [text for text in fig.texts if text.get_text()]
    assert [text.get_text() for text in texts] == ["t = 0", "t = 0.2", "t = 0.4"]
    boxes = [text.get_window_extent() for text in texts]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_slices_have_the_width_asked_for_and_stay_to_scale(run_dir):
    run = Run(run_dir)
    for width in (6.0, 12.0):
        with style.look(size=(width,)):
            fig = draw(run, run.select(count=3), slices.choose_cuts(run.states[0]))
        found, height = fig.get_size_inches()
        assert found == width
        box = fig.axes[0].get_position(original=True)
        assert box.width * width == pytest.approx(box.height * height)


def test_logarithmic_colours():
    values = np.array([[1e-9, 1e-4, 1e-2, 1.0]])
    with style.look(log=True):
        _, low, high = style.colour_scale([values])
        assert (low, high) == (1e-6, 1.0)
        assert style.colour_norm(low, high)([1e-6, 1e-3, 1.0]).tolist() == pytest.approx([0, 0.5, 1])
        _, low, high = style.colour_scale([np.array([[-1.0, 0.5]])])
        assert style.colour_norm(low, high)([-1.0, 0.0, 1.0]).tolist() == pytest.approx([0, 0.5, 1])
        with pytest.raises(UsageError, match="no value is above zero"):
            style.colour_scale([np.zeros((2, 2))])


def test_a_long_thin_domain_is_shown_and_its_labels_keep_apart(tmp_path):
    """200 by 1 by 1: to scale it would be a line of 1.9 by 0.0095 inches."""
    run = Run(synthetic.write_run(tmp_path / "thin", shape=(8, 8, 64), lengths=(200.0, 1.0, 1.0), steps=(0, 1, 2)))
    fig = draw(run, run.states, slices.choose_cuts(run.states[0]))
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    boxes = []
    for ax in [ax for ax in fig.axes if ax.images]:
        box = ax.get_window_extent()
        assert box.height / fig.dpi >= 0.3 and box.width / fig.dpi >= 0.3
        labels = (ax.get_xticklabels() if ax.get_xlabel() else []) + (ax.get_yticklabels() if ax.get_ylabel() else [])
        boxes += [label.get_window_extent() for label in [*labels, ax.xaxis.label, ax.title] if label.get_text()]
    overlaps = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
    assert not overlaps
    words = " ".join(text.get_text() for text in fig.texts)
    assert "y drawn 40 times as long, z drawn 40 times as long" in words
    image = fig.axes[0].images[0]
    assert np.asarray(image.get_array()).shape == (9, 65) and fig.axes[0].get_ylim() == (0, 1)


def test_a_plane_is_stretched_only_by_its_own_axes(tmp_path, fdplot):
    """Across a channel of 200 by 1 by 1 the plane is a square, to scale; the length does not count."""
    run = Run(synthetic.write_run(tmp_path / "thin", shape=(8, 8, 64), lengths=(200.0, 1.0, 1.0), steps=(0, 1)))
    fig = draw(run, run.states, [(0, 32)])
    (box, *_) = [ax.get_position(original=True) for ax in fig.axes if ax.images]
    assert (box.size * fig.get_size_inches()).tolist() == pytest.approx([slices.PLANE_INCHES] * 2)
    assert not any("times as long" in text.get_text() for text in fig.texts)


def test_what_is_not_to_scale_is_said_in_every_picture(tmp_path, fdplot):
    """In the heading; without one on standard error; in a movie beside the place of its plane."""
    path = synthetic.write_run(tmp_path / "thin", shape=(8, 8, 64), lengths=(200.0, 1.0, 1.0), steps=(0, 1))
    assert "times as long" not in fdplot("slices", path)[2]
    assert "note: y drawn 40 times as long" in fdplot("slices", path, "--title", "", "--axis", "z")[2]
    state = Run(path).states[0]
    fig, *_ = movie.draw_frame(Run(path), state, (2, 4), "phi", [state.plane(2, 4)], ("viridis", 0, 1))
    assert "$z = 0.5$;  y drawn 40 times as long" in [text.get_text() for text in fig.texts]


@pytest.mark.parametrize("width, count", [(6.0, 1), (5.0, 2)])
def test_narrow_pictures_of_thin_domains_keep_everything_inside(tmp_path, width, count):
    """The colour bar is taller than the planes; every label stays on the paper."""
    path = synthetic.write_run(tmp_path / "thin", shape=(8, 8, 64), lengths=(200.0, 1.0, 1.0), steps=(0, 1))
    run = Run(path)
    with style.look(title="", size=(width,), font_size=7):
        fig = draw(run, run.states[:count], slices.choose_cuts(run.states[0]))
        FigureCanvasAgg(fig).draw()
        tight = fig.get_tightbbox()
    assert tight.x0 >= 0 and tight.y0 >= 0 and tight.x1 <= width and tight.y1 <= fig.get_size_inches()[1]
    with style.look(title="", size=(3.0,)), pytest.raises(UsageError, match="too narrow for these planes; show fewer"):
        draw(run, run.states[:count], slices.choose_cuts(run.states[0]))


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
    assert fdplot("slices", run, "--field", "p", "u", "w")[0] == 0
    assert fdplot("spectrum", run, "--field", "p", "u")[0] == 0
    assert fdplot("history", run)[0] == fdplot("movie", run, "--field", "w")[0] == 0
    assert fdplot("movie", run, "--field", "u", "w")[0] == 2
    assert "no field 'phi'; there are: p, u, v, w" in fdplot("slices", run, "--field", "phi")[2]


def test_history_of_waves_shows_the_energy(tmp_path):
    fig = history.draw_history(Run(synthetic.write_waves(tmp_path / "waves")))
    assert fig.axes[0].get_title(loc="left") == "Drift of energy"
    assert fig.axes[0].lines[0].get_ydata()[2] == pytest.approx(2e-6)  # 2 (1 - 1e-6 step)
    assert fig.axes[2].get_ylabel() == "$p$"
