"""Lines and points of the plots of a scaling study, against the made-up machine that it is of."""

import numpy as np
import pytest
from made_up_study import DEVICE, MACHINE, total_of, write_study
from matplotlib.figure import Figure
from synthetic import stage_seconds

from fdpost import scaling, scaling_plots, style

pytestmark = pytest.mark.full


@pytest.fixture
def curves(tmp_path):
    return scaling.read_curves(write_study(tmp_path, slow=1.4))


def machines_of(curves):
    return {scaling.machine_key(curve): MACHINE for curve in curves}


def test_beyond_the_machine_each_panel_has_its_own_scaling(curves):
    strong, weak = scaling_plots.draw_extrapolation(curves, machines_of(curves)).axes[:2]
    assert [line.get_label() for line in strong.lines] == ["512³", "1024³", "2048³"]
    assert [line.get_label() for line in weak.lines] == ["256³ per rank", "512³ per rank"]
    for line, n in [*zip(strong.lines, (512, 1024, 2048)), *zip(weak.lines, (256, 512))]:
        one = stage_seconds(n, n, n, 1, **DEVICE).total
        for ranks, efficiency in line.get_xydata()[:6]:
            planes = n if line in weak.lines else n // int(ranks)
            there = stage_seconds(n, n, planes, int(ranks), **DEVICE).total
            expected = one / there if line in weak.lines else one / (ranks * there)
            assert efficiency == pytest.approx(expected, rel=1e-6)


def test_measured_lies_over_modelled(curves):
    """Points on the smallest two counts are open, those predicted filled; one is 1.4 times as slow as the model."""
    ax = scaling_plots.draw_agreement(curves, machines_of(curves), "").axes[0]
    points = [line for line in ax.lines if len(line.get_xdata()) == 1]
    shown = [
        (curve.mode, point.ranks, line.get_markerfacecolor() == "white", line.get_ydata()[0])
        for line, (curve, point) in zip(points, [(c, p) for c in curves for p in c.points], strict=True)
    ]
    assert [ranks > 2 for _, ranks, _, _ in shown] == [not white for _, _, white, _ in shown]
    for mode, ranks, _, ratio in shown:
        assert ratio == pytest.approx(1.4 if (mode, ranks) == ("strong", 8) else 1.0, rel=1e-6)


def test_halo_is_drawn_for_those_who_have_one(tmp_path):
    weak = scaling.read_curves(write_study(tmp_path))[0]
    machines = scaling.fit_machines([weak])
    panel = scaling_plots.draw_study([weak], machines, "weak", "").axes[3]
    points = panel.containers[0].lines[0].get_xydata()
    assert points[:, 0].tolist() == [2, 4, 8] and points[:, 1] == pytest.approx(4e3 * total_of(256, 2))
    alone = scaling.read_curves(write_study(tmp_path, modes=("strong",), counts=(1,)))
    panel = scaling_plots.draw_study(alone, scaling.fit_machines(alone), "strong", "").axes[3]
    assert panel.texts[0].get_text() == "one rank has none"


@pytest.fixture
def strong_panels(tmp_path):
    """The panels of one strong curve, drawn with the machine as it is."""
    (curve,) = scaling.read_curves(write_study(tmp_path, modes=("strong",)))[:1]
    return scaling_plots.draw_study([curve], {scaling.machine_key(curve): MACHINE}, "strong", "").axes


def model_line(panel):
    """{ranks: value} of the first line that is the model: points, ends of bars and the ideal are not."""
    return dict(next(line.get_xydata() for line in panel.lines if line.get_linestyle() not in ("None", ":")))


def test_lines_are_the_model(strong_panels):
    times, efficiencies, halo = (model_line(strong_panels[i]) for i in (0, 1, 3))
    one = total_of(256, 1)
    for ranks in (2, 4, 8):
        stage = stage_seconds(256, 256, 256 // ranks, ranks, **DEVICE)
        assert times[ranks] == pytest.approx(4e3 * stage.total)
        assert efficiencies[ranks] == pytest.approx(one / (ranks * stage.total))
        assert halo[ranks] == pytest.approx(4e3 * stage.exchange)


def test_the_ideal_is_dotted(strong_panels):
    """Half the time on twice the ranks."""
    (ideal,) = (line for line in strong_panels[0].lines if line.get_linestyle() == ":")
    expected = [(ranks, 4e3 * total_of(256, 1) / ranks) for ranks in (1, 2, 4, 8)]
    assert ideal.get_xydata() == pytest.approx(np.array(expected))


@pytest.mark.parametrize("values, bottom", [((1.0, 0.81), 0.75), ((1.0, 0.79), 0.0), ((), 0.0)])
def test_efficiencies_near_one_can_be_told_apart(values, bottom):
    ax = Figure().subplots()
    if values:
        ax.plot([1, 2], values)
    scaling_plots.percent_axis(ax)
    assert ax.get_ylim()[0] == bottom and ax.get_ylim()[1] > 1.0


def test_bars_reach_from_the_smallest_to_the_largest(strong_panels):
    times, efficiencies = (panel.containers[0].lines[2][0].get_segments() for panel in strong_panels[:2])
    one = total_of(256, 1)
    for ranks, time, efficiency in zip((1, 2, 4, 8), times, efficiencies):
        total = total_of(256 // ranks, ranks)
        assert time[:, 1] == pytest.approx([4e3 * 0.98 * total, 4e3 * 1.02 * total])
        middle = one / (ranks * total)
        assert efficiency[:, 1] == pytest.approx([middle / 1.02, middle / 0.98])


def test_points_of_many_curves_stay_with_their_rank_count(tmp_path):
    curves = scaling.read_curves(write_study(tmp_path)) * 5
    ax = scaling_plots.draw_agreement(curves, scaling.fit_machines(curves), "").axes[0]
    places = [float(line.get_xdata()[0]) for line in ax.lines if len(line.get_xdata()) == 1]
    assert len(set(places)) == 4 * len(curves)
    assert all(min(abs(x / ranks - 1) for ranks in (1, 2, 4, 8)) < 0.15 for x in places)


@pytest.mark.parametrize("ends", [(2.5, 4.5), (0.9, 1.1), (3.0, 400.0), (0.11, 0.19), (1.0, 1.0)])
def test_a_log_axis_has_numbers_however_little_it_spans(ends):
    ax = Figure().add_subplot()
    ax.plot([1, 2], ends)
    style.plain_log_axis(ax, "y")
    low, high = ax.get_ylim()
    assert sum(low <= tick <= high for tick in ax.get_yticks()) >= 2
