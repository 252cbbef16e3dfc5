"""How pictures look: colours and their bars, type, sizes, axes to scale. A user's settings change none of it."""

from itertools import pairwise

import h5py
import numpy as np
import pytest
import synthetic
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from test_pictures import draw

from fdpost import Run, UsageError, history, movie, slices, spectrum, style

pytestmark = pytest.mark.quick


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


def test_user_settings_stay_as_they_were(run_dir):
    import matplotlib

    matplotlib.rcParams["font.size"] = 33
    history.draw_history(Run(run_dir))
    assert matplotlib.rcParams["font.size"] == 33
    matplotlib.rcdefaults()


def test_wavenumbers_of_a_long_domain_are_labelled_plainly(tmp_path):
    run = Run(synthetic.write_run(tmp_path / "long", steps=(0,), lengths=(2.0, 1.0, 1.0)))
    figure = spectrum.draw_spectrum(run, run.states)
    FigureCanvasAgg(figure).draw()
    (ax,) = figure.axes
    assert {label.get_text() for label in ax.get_xticklabels(minor=True)} <= {""}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["5", "10", "20", "50"]


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


def overlapping(texts):
    """Pairs of these texts that lie on top of each other, after the figure was drawn."""
    shown = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_visible() and text.get_text()]
    return [(a, b) for i, (a, box) in enumerate(shown) for b, other in shown[:i] if box.overlaps(other)]


@pytest.mark.parametrize("choices", [{}, dict(title="", size=(3.4, 3.0), font_size=7)])
@pytest.mark.parametrize("errors", [True, False])
def test_labels_of_a_history_keep_apart(tmp_path, choices, errors):
    """Up to t = 0.02, in the default size and in that of a column of a paper."""
    run = Run(synthetic.write_run(tmp_path / "r", shape=(4, 4, 4), steps=(0, 40), dt=0.0005, errors=errors))
    with style.look(**choices):
        fig = history.draw_history(run)
        FigureCanvasAgg(fig).draw()
        for ax in fig.axes:
            assert not overlapping(ax.get_xticklabels()) and not overlapping(ax.get_yticklabels())
        assert len(fig.axes[2].get_xticks()) > 1
        assert max(text.get_window_extent().x1 for text in fig.axes[2].texts) < fig.axes[3].yaxis.get_tightbbox().x0


@pytest.mark.parametrize("choices", [{}, dict(font_size=14)])
def test_labels_of_a_narrow_box_keep_apart(tmp_path, choices):
    lengths = (2.0, 0.685, 3.5)
    run = synthetic.write_run(tmp_path / "r", (35, 7, 20), (0, 25, 50), dt=0.07795 / 25, lengths=lengths)
    with style.look(**choices):
        fig = draw(Run(run), Run(run).states, slices.choose_cuts(Run(run).states[0]))
        FigureCanvasAgg(fig).draw()
        panels = [ax for ax in fig.axes if ax.images]
        for row in (panels[:3], panels[3:6], panels[6:]):
            assert not overlapping([label for ax in row for label in ax.get_xticklabels()])
        for ax in panels:
            assert not overlapping(ax.get_yticklabels())
        assert "t = 0.07795" in [text.get_text() for text in fig.texts] and not overlapping(fig.texts)


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


def test_a_plane_is_stretched_only_by_its_own_axes(tmp_path):
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


def test_labels_of_statistics_and_of_long_numbers_are_whole(tmp_path):
    """A picture is as wide as the label of its colour bar, and its margin as the numbers beside the vertical axis."""
    path = synthetic.write_run(tmp_path / "run", (12, 8, 16), (3,), lengths=(12345.0, 100.0, 54321.0))
    state = path / "state_00000003.hdf"
    synthetic.mark(state, units_length="m", samples=129, samples_time=3.0, config="[statistics]\nfrom = 1\n")
    with h5py.File(state, "r+") as file:
        file.move("VTKHDF/PointData/phi", "VTKHDF/PointData/variance_phi")
        file["VTKHDF/PointData/variance_phi"].attrs["units"] = np.bytes_("(kg/m^3)^2")
    run = Run(state)
    with style.look(size=(5,)):
        cuts = slices.choose_cuts(run.frame, "y")
        figure = slices.draw_slices(run, [run.frame], cuts, {"variance_phi": slices.read_cuts([run.frame], cuts, None)})
        FigureCanvasAgg(figure).draw()
        tight = figure.get_tightbbox()
    assert tight.x0 > 0.03 and tight.x1 < 4.97 and figure.get_size_inches()[0] == 5
    assert "variance_phi / (kg/m^3)^2" in {ax.get_title(loc="left") for ax in figure.axes}
    assert any("129 samples, t = 1 to 3,  step 3" in text.get_text() for text in figure.texts)


def test_z_points_downwards_if_asked_for(run_dir, tmp_path, fdplot, monkeypatch):
    axes = []
    plain = slices.draw_plane
    monkeypatch.setattr(slices, "draw_plane", lambda ax, *rest: axes.append(ax) or plain(ax, *rest))
    assert fdplot("slices", run_dir, "--steps", "last", "--depth", "-o", tmp_path / "a.png")[0] == 0
    assert [ax.yaxis_inverted() for ax in axes] == [False, True, True]  # planes normal to z, y, x
    assert not any(ax.xaxis_inverted() for ax in axes)
    axes.clear()
    assert fdplot("movie", run_dir, "--axis", "x", "--depth", "--steps", "0,10", "-o", tmp_path / "a.gif")[0] == 0
    assert fdplot("slices", run_dir, "--axis", "x", "--steps", "last", "-o", tmp_path / "b.png")[0] == 0
    assert [ax.yaxis_inverted() for ax in axes] == [True, False]


def test_units_stand_on_axes_and_colour_bars(tmp_path):
    """Those that the files name: of a state, and of a run's configuration."""
    path = synthetic.write_run(tmp_path / "run", (12, 8, 16), (0, 10), make=synthetic.pulse)
    for state in path.glob("state_*.hdf"):
        synthetic.mark(state, units_length="m", units_time="s")
        with h5py.File(state, "r+") as file:
            file["VTKHDF/PointData/phi"].attrs["units"] = np.bytes_("K")
    with open(path / "config.ini", "a") as file:
        file.write("[units]\nlength = m\ntime = s\nphi = K\n")
    run = Run(path)
    states = run.states
    assert slices.time_text(states[1]) == "t = 0.1 s" and slices.bar_label(states[1], "phi").endswith(" / K")
    assert slices.cut_title(states[1], 2, 3).endswith("$ m")
    cuts = [(2, 3)]
    figure = slices.draw_slices(run, states, cuts, {"phi": slices.read_cuts(states, cuts, "phi")})
    assert {ax.get_xlabel() for ax in figure.axes if ax.get_xlabel()} == {"$x$ / m"}
    assert r"$\varphi$ / K" in {ax.get_title(loc="left") for ax in figure.axes}  # begins at the bar
    (ax,) = spectrum.draw_spectrum(run, states).axes
    assert ax.get_ylabel().endswith(" in a shell / K^2") and ax.lines[1].get_label() == "t = 0.1 s"
    assert ax.get_xlabel().endswith("(waves across the domain)")
    assert spectrum.wavenumber_label(states, False) == "$|k|$  (radians per m)"
    drawn = history.draw_history(run)
    assert any(f"Δt = {style.number(run.diagnostics['dt'][0])} s," in text.get_text() for text in drawn.texts)
    assert "error in $L_q$ / K m^(3/q)" in {ax.get_ylabel() for ax in drawn.axes}
    run.diagnostics["l2"][0] = 0  # a field that begins as zero has no norm to compare with
    labels = {ax.get_ylabel() for ax in history.draw_history(run).axes}
    assert {"$|m|$ / K m^3", r"$\|\varphi\|$ / K m^(3/2)"} <= labels
