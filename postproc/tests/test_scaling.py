"""What the results of a scaling study are read as: curves, times of stages, the machine that fits them; and what is
refused."""

from dataclasses import replace

import pytest
from made_up_study import DEVICE, OLDER, TRUTH, rewrite, total_of, write_exchanges, write_study
from synthetic import stage_seconds

from fdpost import DataError, model, scaling, scaling_report

pytestmark = pytest.mark.quick


def test_curves_have_medians_spread_and_efficiency(tmp_path):
    weak, _, strong, _ = scaling.read_curves(write_study(tmp_path))
    assert (weak.mode, weak.grid, [point.ranks for point in weak.points]) == ("weak", "256³", [1, 2, 4, 8])
    one, eight = (4 * total_of(256 // ranks, ranks) for ranks in (1, 8))
    assert strong.points[0].seconds == pytest.approx((one, 0.98 * one, 1.02 * one))
    assert dict(strong.efficiencies())[8] == pytest.approx(one / (8 * eight))
    assert dict(weak.efficiencies())[1] == 1.0


def test_a_transport_that_changes_with_the_rank_count_is_one_curve(tmp_path):
    """One rank, one node, several nodes: `auto` takes another on each."""
    plain = [curve.efficiencies() for curve in scaling.read_curves(write_study(tmp_path))]
    taken = {"1": "cuda_aware", "2": "peer", "4": "peer", "8": "cuda_aware"}
    curves = rewrite(tmp_path, lambda row: [row | {"transport": taken[row["ranks"]]}])
    assert [curve.efficiencies() for curve in curves] == plain
    assert {(curve.transport, curve.label) for curve in curves[:1]} == {("cuda_aware, peer", "256³ double")}
    write_exchanges(tmp_path, "peer")
    (machine,) = scaling.fit_machines(curves, scaling.read_exchanges(tmp_path)).values()
    assert machine.link == pytest.approx(TRUTH["link"], rel=0.05)


def test_transports_that_are_compared_are_told_apart(tmp_path):
    def both(row):
        slower = row | {"transport": "staged", "seconds_per_step": 2 * float(row["seconds_per_step"])}
        return [row] if row["ranks"] == "1" else [row, slower]

    write_study(tmp_path, modes=("weak",))
    first, second = rewrite(tmp_path, both)[:2]
    assert (first.label, second.label) == ("256³ double, cuda_aware", "256³ double, staged")
    assert [point.ranks for point in second.points] == [1, 2, 4, 8]
    for (_, plain), (_, slow) in list(zip(first.efficiencies(), second.efficiencies()))[1:]:
        assert slow == pytest.approx(plain / 2)


@pytest.mark.parametrize(
    "column, value",
    [("ranks", "1.5"), ("ranks", "0"), ("nx", ""), ("words", "x"), ("mode", "week"), ("mode", "")]
    + [("seconds_per_step", text) for text in ("0", "-1", "nan", "inf", "")],
)
def test_values_that_cannot_be_are_named(tmp_path, fdplot, column, value):
    write_study(tmp_path, modes=("weak",))
    with pytest.raises(DataError, match=f"line 2: {column} = '{value}' cannot be"):
        rewrite(tmp_path, lambda row: [row | {column: value}])


def test_a_torn_last_line_is_passed_over(tmp_path):
    table = write_study(tmp_path, modes=("weak",)) / "results.csv"
    whole = len(scaling.read_rows(tmp_path))
    table.write_text(table.read_text() + "weak-512x512")
    assert len(scaling.read_rows(tmp_path)) == whole


def test_a_host_keeps_the_bandwidth_of_every_rank_count(tmp_path):
    curves = scaling.read_curves(write_study(tmp_path, modes=("weak",), backend="cpu"))
    (machine,) = scaling.fit_machines(curves).values()
    assert {ranks for ranks, _, _ in machine.ceilings.known} == {1, 2, 4, 8}
    assert "bandwidth of streams" in scaling_report.prediction_section(curves, scaling.fit_machines(curves))


def test_parts_are_those_of_a_mean_stage(tmp_path):
    weak = scaling.read_curves(write_study(tmp_path))[0]
    interior, edges, *_ = stage_seconds(256, 256, 256, 2, **DEVICE)
    assert weak.points[0].measurement.parts == {}
    assert weak.points[1].measurement.parts == pytest.approx({"interior": 4 * interior, "edges": 4 * edges})


def test_what_was_predicted_was_not_seen(tmp_path):
    """Any nonsense on 4 and 8 ranks leaves the model as it was."""
    for name, slow in (("a", 1.0), ("b", 3.0)):
        (tmp_path / name).mkdir()
        write_study(tmp_path / name, slow=slow, modes=("strong",))
    one, other = (scaling.fit_machines(scaling.read_curves(tmp_path / name)) for name in "ab")
    assert one == other


def test_exchange_is_taken_from_fdbench(tmp_path):
    write_exchanges(write_study(tmp_path))
    found = scaling.read_exchanges(tmp_path)
    assert found["cuda_aware"][0] == (4 * 64 * 64 * 8, pytest.approx(25e-6 + 4 * 64 * 64 * 8 / 90e9))
    (machine,) = scaling.fit_machines(scaling.read_curves(tmp_path), found).values()
    assert (machine.latency, machine.link) == (pytest.approx(25e-6, rel=0.02), pytest.approx(90e9, rel=0.02))
    hidden = scaling.read_curves(write_study(tmp_path, modes=("weak",)))
    assert scaling.fit_machines(hidden).popitem()[1].untold == ("latency", "link")
    (tmp_path / "bench.json").write_text('{"halo": 3}')
    with pytest.raises(DataError, match="not a report of fdbench"):
        scaling.read_exchanges(tmp_path)


def test_clear_errors(tmp_path, fdplot):
    assert fdplot("scaling", tmp_path / "nowhere")[0] == 3
    assert fdplot("scaling", tmp_path)[0] == 3
    (tmp_path / "results.csv").write_text("study,mode\n")
    with pytest.raises(DataError, match="no column ranks"):
        scaling.read_curves(tmp_path)
    write_study(tmp_path, modes=())
    with pytest.raises(DataError, match="no runs"):
        scaling.read_curves(tmp_path)


def test_parts_of_two_stages_in_one_sweep_are_left_out():
    seconds = {f"stage_{name}_seconds": "1e-3" for name in ("interior", "edges", "halo")}
    row = {"scheme": "rk4", "backend": "cuda", "stages": "4", "last_words": "3"} | seconds
    problem = model.Problem(64, 64, 64, 2, words=11)
    assert scaling.step_parts(problem, [row])
    assert scaling.step_parts(replace(problem, words=5), [row | {"last_words": ""}]) == {}


@pytest.mark.parametrize("words", ["0", "-1", "nan", "inf", "3.5"])
def test_words_of_the_last_stage_are_a_number_of_words(tmp_path, words):
    write_study(tmp_path)
    with pytest.raises(DataError, match="last_words = '"):
        rewrite(tmp_path, lambda row: [row | {"last_words": words}])


@pytest.mark.parametrize(
    ("scheme", "words", "known"),
    [
        ("rk4", 11, (4, 3)),  # reads f and the step's start, writes
        ("rk4", 13 + 4 * 2, (4, 7)),  # f, start, two earlier stages, two sources
        ("rk4", 13, (4, 5)),
        ("rk4", 5, (4, 0)),  # two stages in one sweep
        ("ssprk3", 8 + 3 * 2, (3, 5)),
        ("ck45", 14, (5, 3)),
    ],
)
def test_stages_of_version_0_1(scheme, words, known):
    assert scaling.stages_of({"scheme": scheme, "words": str(words)}) == known


def test_a_scheme_of_later_needs_its_column(tmp_path, fdplot):
    write_study(tmp_path, modes=("weak",))
    rewrite(tmp_path, lambda row: [row | {"scheme": "euler"}])
    write_study(tmp_path, modes=("weak",), columns=OLDER)
    with pytest.raises(DataError, match="no column stages, which a study of euler needs: repeat it"):
        rewrite(tmp_path, lambda row: [row | {"scheme": "euler"}])
