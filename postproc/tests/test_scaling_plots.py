"""Lines and points of the plots of a scaling study, against the made-up machine that it is of."""

import pytest
from made_up_study import DEVICE, MACHINE, write_study
from synthetic import stage_seconds

from fdpost import scaling, scaling_plots


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
