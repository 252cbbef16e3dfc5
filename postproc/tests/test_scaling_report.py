"""The report of a scaling study, against the made-up machine that it is of."""

import json

import pytest
from made_up_study import COLUMNS, DEVICE, MACHINE, OLDER, TRUTH, rewrite, total_of, write_exchanges, write_study
from synthetic import stage_seconds

from fdpost import scaling, scaling_plots, scaling_report

pytestmark = pytest.mark.full


def lines_of(report, section):
    """Lines of one section of a report."""
    return report.split(f"## {section}\n")[1].split("\n## ")[0].splitlines()


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def number(cell):
    """The number that a cell begins with."""
    return float(cell.split()[0])


def test_a_report_explains_its_words(tmp_path, fdplot):
    """No word of the authors' own; what somebody of the field need not know stands at the end, with what it means."""
    assert fdplot("scaling", write_study(tmp_path, modes=("strong",)))[0] == 0
    report, words = (tmp_path / "report.md").read_text().split("## Words")
    assert "join" not in report and "hardly told" not in report
    for word in ("ceiling", "share of ceiling", "stage", "halo", "start of a kernel", "time between stages"):
        assert word in report and f"| {word} | " in words


def test_what_was_measured_stands_in_the_table(tmp_path, fdplot):
    assert fdplot("scaling", write_study(tmp_path, slow=1.4, modes=("strong",)))[0] == 0
    section = "strong, 256³ double (cuda, cuda_aware, overlap yes)"
    _, header, _, *found = lines_of((tmp_path / "report.md").read_text(), section)[:7]
    assert cells(header)[:6] == ["ranks", "runs", "ms per step", "spread", "speed-up", "efficiency"]
    one = total_of(256, 1)
    for line, ranks in zip(found, (1, 2, 4, 8), strict=True):
        row = dict(zip(cells(header), cells(line)))
        milliseconds = 4e3 * total_of(256 // ranks, ranks) * (1.4 if ranks == 8 else 1)
        assert (row["ranks"], row["runs"], row["share of ceiling"]) == (str(ranks), "3", "50.0 %")
        assert float(row["ms per step"]) == pytest.approx(milliseconds, rel=1e-3)
        low, high = (float(text) for text in row["spread"].split(" – "))
        assert (low, high) == pytest.approx((0.98 * milliseconds, 1.02 * milliseconds), rel=1e-3)
        speed_up = one * 4e3 / milliseconds
        assert row["speed-up"] == f"{speed_up:.2f} of {ranks}"
        assert number(row["efficiency"]) == pytest.approx(100 * 4e3 * one / (ranks * milliseconds), abs=0.06)
        assert row["model, ms"].endswith("(**predicted**)" if ranks > 2 else "(fitted)")
        modelled = float(row["model, ms"].split()[0])
        assert number(row["measured against model"]) == pytest.approx(100 * (milliseconds / modelled - 1), abs=0.1)
        assert bool(row["halo and waiting, ms per step"]) == (ranks > 1)
        if ranks > 1:  # of a device: the exchange as timed, which lasts as long as the stage here
            middle = float(row["halo and waiting, ms per step"].split()[0])
            assert middle == pytest.approx(4e3 * total_of(256 // ranks, ranks), rel=6e-3)


def test_threads_tell_curves_of_the_host_apart(tmp_path):
    """Labels, colours, machines; and the combinations side by side, in points per second."""
    write_study(tmp_path, modes=("weak",), backend="cpu", counts=(1, 2))

    def timed(row, threads, speed):
        seconds = float(row["seconds_per_step"]) / speed
        return row | {"study": f"{row['study']}-t{threads}", "threads": threads, "seconds_per_step": seconds}

    curves = rewrite(tmp_path, lambda row: [timed(row, 1, 1.0), timed(row, 12, 4.0)])
    assert [curve.label for curve in curves[:2]] == ["256³ double, 1 thread", "256³ double, 12 threads"]
    assert len(set(scaling_plots.colours_of(curves).values())) == 4
    assert len(scaling.fit_machines(curves)) == 2
    found = [cells(line) for line in scaling_report.threads_section(curves)[2].splitlines()[2:6]]
    assert [row[1] for row in found] == ["1 × 1", "1 × 12", "2 × 1", "2 × 12"]
    one, two = total_of(256, 1, TRUTH), total_of(256, 2, TRUTH)
    for row, expected in zip(found, (1.0, 4.0, 2 * one / two, 8 * one / two)):
        assert float(row[4]) == pytest.approx(expected, abs=0.006)
    assert scaling_report.threads_section(curves[::2]) == []


@pytest.mark.parametrize("backend", ["cuda", "cpu"])
def test_a_stage_is_taken_apart(tmp_path, backend):
    """Measured parts: on a device edges lie within the interior, on a CPU they come before it."""
    weak = scaling.read_curves(write_study(tmp_path, modes=("weak",), backend=backend, counts=(1, 2)))[0]
    row = cells(scaling_report.terms_section([weak], scaling.fit_machines([weak])).splitlines()[-1])
    stage = stage_seconds(256, 256, 256, 2, **(TRUTH if backend == "cpu" else DEVICE))
    shown = [float(cell.split(" / ")[0] or 0) for cell in row[2:7]]
    expected = [stage.total, stage.interior, stage.edges, 0.0, stage.join]
    assert shown == pytest.approx([1e6 * value for value in expected], rel=5e-3)
    modelled = [float(row[column].split(" / ")[1]) for column in (3, 4)]
    assert modelled == pytest.approx([1e6 * stage.interior, 1e6 * stage.edges], rel=0.05)


def test_two_rank_counts_have_no_model(tmp_path, fdplot):
    """A model with as many figures as times agrees with them by itself: nothing is drawn or claimed."""
    assert fdplot("scaling", write_study(tmp_path, modes=("weak",), backend="cpu", counts=(1, 2)))[0] == 0
    report = (tmp_path / "report.md").read_text()
    assert "No measurement tests the model" in report and "Nowhere" not in report and "(fitted)" not in report
    assert not (tmp_path / "model.png").exists() and "model.png" not in report
    curves = scaling.read_curves(tmp_path)
    assert scaling.tested_machines(curves, scaling.fit_machines(curves)) == {}
    fig = scaling_plots.draw_study(curves, {}, "weak", "fitted on 1 and 2 ranks")
    assert "model" not in " ".join(text.get_text() for text in fig.texts)
    lines = [line for line in fig.axes[0].lines if line.get_linestyle() in ("-", "--")]
    assert not [line for line in lines if len(line.get_xdata()) > 2]


def test_report_predicts_from_the_two_smallest_counts(tmp_path, fdplot):
    write_exchanges(write_study(tmp_path, slow=1.4))
    assert fdplot("scaling", tmp_path)[0] == 0
    report = (tmp_path / "report.md").read_text()
    lines = lines_of(report, "Prediction")
    assert "The model saw the runs on 1 and 2 ranks alone, and was asked for the rest." in lines
    rows = [cells(line) for line in lines if line.startswith(("| weak", "| strong"))]
    assert [(row[0], row[1]) for row in rows] == [
        (f"{mode} {n}³ double", ranks) for mode in ("weak", "strong") for n in (256, 512) for ranks in ("4", "8")
    ]
    for row in rows:  # predicted against the test's own formula, and the slow ones to blame on the interior
        late = row[0].startswith("strong") and row[1] == "8"
        n, ranks = int(row[0].split()[1][:3]), int(row[1])
        truth = 4e3 * stage_seconds(n, n, n if row[0].startswith("weak") else n // ranks, ranks, **DEVICE).total
        assert float(row[2]) == pytest.approx(truth, rel=0.03)
        assert float(row[3]) == pytest.approx(1.4 * truth if late else truth, rel=1e-3)
        assert float(row[4].rstrip(" %")) == pytest.approx(100 * (float(row[3]) / float(row[2]) - 1), abs=0.2)
        work = 1 if row[0].startswith("weak") else ranks
        efficiency = 100 * 4e3 * stage_seconds(n, n, n, 1, **DEVICE).total / (work * truth)
        assert number(row[5]) == pytest.approx(efficiency, rel=0.05)
        assert number(row[6]) == pytest.approx(efficiency / (1.4 if late else 1), abs=0.6)
        assert row[7].startswith("**interior**") if late else row[7] == ""
    assert report.count("(**predicted**)") == 8 and report.count("(fitted)") == 8


def test_the_smallest_counts_may_be_others_than_one_and_two(tmp_path):
    curves = scaling.read_curves(write_study(tmp_path, counts=(2, 4, 8)))
    assert list(scaling.fitted_ranks(curves).values()) == [[2, 4]]
    machines = scaling.fit_machines(curves)
    assert "on 2 and 4 ranks alone" in scaling_report.prediction_section(curves, machines)
    few = scaling.read_curves(write_study(tmp_path, counts=(1, 2)))
    assert "Nothing to predict" in scaling_report.prediction_section(few, scaling.fit_machines(few))


def test_report_says_where_it_fails_and_what_lies_beyond(tmp_path, fdplot):
    write_study(tmp_path, slow=1.4)
    (tmp_path / "notes.md").write_text("The third switch was cold.\n")
    code, out, _ = fdplot("scaling", tmp_path)
    assert code == 0
    names = ["report.md", "weak.png", "strong.png", "model.png", "extrapolation.png"]
    assert [line.rsplit("/", 1)[1] for line in out.split()] == names
    report = (tmp_path / "report.md").read_text()
    lines = [line for line in report.splitlines() if "main cause: " in line]
    assert len(lines) == 2
    assert "strong, 256³ double, 8 ranks: +" in lines[0] and "**interior**" in lines[0]
    assert "| 2048³ double" in report and "| 512³ per rank double |" in report
    assert "(barely fixed by these data)" in report  # no bench.json: what overlap hides is not known
    assert "Strong scaling is with a link that these data barely fix" in report
    write_exchanges(tmp_path)
    assert fdplot("scaling", tmp_path)[0] == 0
    assert "Strong scaling is with the link measured" in (tmp_path / "report.md").read_text()
    assert report.endswith("## Notes\n\nThe third switch was cold.\n")


@pytest.mark.parametrize("slow, told", [(1.12, 2), (1.08, 0)])
def test_ten_per_cent_are_the_limit(tmp_path, slow, told):
    curves = scaling.read_curves(write_study(tmp_path, slow=slow))
    lines = scaling_report.disagreements(curves, {scaling.machine_key(curves[0]): MACHINE})
    assert len([line for line in lines if "8 ranks" in line]) == told


def test_figures_of_a_machine_are_told_in_their_units():
    key = ("cuda", "double", "cuda_aware", "yes", "")
    row = cells(scaling_report.machines_section({key: MACHINE}, {key: [1, 2]}).splitlines()[2])
    assert row[4] == ""  # a rank's own rate, of CPUs
    told = [number(cell) for cell in [*row[2:4], *row[5:10]]]
    assert told == [4000, 75, 6, 40, 15, 25, 90]  # GB/s, %, µs, %, µs, µs, GB/s


def test_what_lies_beyond_by_the_formula_written_out(tmp_path):
    curves = scaling.read_curves(write_study(tmp_path))
    section = scaling_report.extrapolation_section(curves, {scaling.machine_key(curves[0]): MACHINE})
    rows = [cells(line) for line in section.splitlines() if " double |" in line]
    for n, row, gains in zip((512, 1024, 2048), rows[:3], rows[5:]):
        stages = {ranks: stage_seconds(n, n, n // ranks, ranks, **DEVICE) for ranks in (1, 4, 8, 16, 32, 64)}
        expected = [100 * stages[1].total / (ranks * stages[ranks].total) for ranks in (4, 8, 16, 32, 64)]
        assert [number(cell) for cell in row[1:6]] == pytest.approx(expected, abs=0.51)
        assert gains[1] == row[2]  # as it is, on 8 ranks
        end = int(row[6])
        there = stage_seconds(n, n, n // end, end, **DEVICE).total
        assert (int(row[7]), number(row[8])) == (n // end, pytest.approx(4e3 * there, rel=6e-3))
    for n, row in zip((256, 512), rows[3:5]):
        one, two = (stage_seconds(n, n, n, ranks, **DEVICE) for ranks in (1, 2))
        assert [number(cell) for cell in row[1:3]] == pytest.approx([100 * one.total / two.total] * 2, abs=0.51)
        assert number(row[3]) == pytest.approx(4e3 * two.total, rel=6e-3)
        hiding = two.interior - two.edges - TRUTH["latency"]
        assert number(row[4]) == pytest.approx(1e-9 * 4 * n * n * 8 / hiding, rel=6e-3)


def test_report_of_a_host_is_not_carried_to_thousands(tmp_path, fdplot):
    assert fdplot("scaling", write_study(tmp_path, backend="cpu"))[0] == 0
    assert not (tmp_path / "extrapolation.png").exists()
    assert "say nothing about many hosts" in (tmp_path / "report.md").read_text()


def test_report_without_times_of_stages(tmp_path, fdplot):
    assert fdplot("scaling", write_study(tmp_path, slow=1.4, columns=scaling.NEEDED))[0] == 0
    assert "were not measured" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    "facts",
    [
        [],
        {},
        {"identity": []},
        {"identity": {"program": [1]}},
        {"identity": {}, "starts": [{"load": "high"}]},
        {"identity": {}, "links": [3]},
    ],
    ids=str,
)
def test_circumstances_of_another_shape_are_named(tmp_path, fdplot, facts):
    write_study(tmp_path)
    (tmp_path / "provenance.json").write_text(json.dumps(facts))
    code, _, said = fdplot("scaling", tmp_path)
    assert (code, said) == (3, f"error: {tmp_path / 'provenance.json'}: not written by run/scaling\n")


def test_a_busy_machine_and_runs_far_apart_are_doubtful(tmp_path, fdplot):
    """The load before a start against a quarter of the cores; times of one command beyond a factor of 1.25."""
    write_study(tmp_path, modes=("strong",))
    starts = [{"date": "Monday", "load": 4.9, "cores": 2}, {"date": "Tuesday", "load": 0.4, "cores": 2}, {"load": 9.0}]
    (tmp_path / "provenance.json").write_text(json.dumps({"identity": {}, "starts": starts}))
    assert fdplot("scaling", tmp_path)[0] == 0
    lines = lines_of((tmp_path / "report.md").read_text(), "Doubtful figures")
    said = [line for line in lines if line.startswith("- ")][:1]
    assert said == ["- Other programs were running on Monday: the load was 4.9 on 2 cores before the first run."]
    assert "the same command" not in (tmp_path / "report.md").read_text()
    first = {"nx": "256", "ranks": "1", "repeat": "0"}
    late = {"seconds_per_step": 12 * total_of(256, 1)}
    rewrite(tmp_path, lambda row: [row | late if row | first == row else row])
    assert fdplot("scaling", tmp_path)[0] == 0
    found = [line for line in (tmp_path / "report.md").read_text().splitlines() if "the same command took" in line]
    assert len(found) == 1 and found[0].startswith("- strong, 256³ double, 1 rank: the same command took ")


def test_a_study_of_version_0_1_has_the_same_report(tmp_path, fdplot):
    """It has columns for neither stages nor the words of the last one."""
    for name, columns in (("older", OLDER), ("newer", COLUMNS)):
        (tmp_path / name).mkdir()
        assert fdplot("scaling", write_study(tmp_path / name, columns=columns))[0] == 0
    older, newer = ((tmp_path / name / "report.md").read_text() for name in ("older", "newer"))
    assert older.replace("older", "newer") == newer
