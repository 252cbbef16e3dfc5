"""run/records.py and run/docs_headings.py: the records of measurements, their page, and references to headings."""

import importlib.util
import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

RUN = Path(__file__).parents[2] / "run"


def module(name):
    """A module of run/, by itself."""
    spec = importlib.util.spec_from_file_location(name, RUN / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def records(tmp_path, monkeypatch):
    loaded = module("records")
    monkeypatch.setattr(loaded, "RESULTS", tmp_path)
    monkeypatch.setattr(loaded, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr("sys.argv", ["records.py", "--check"])
    return loaded


def record(**changes):
    figures = [{"title": "Times", "columns": ["grid", "ms"], "rows": [["64³", 1.5], ["128³", 12]]}]
    return {"title": "A run", "command": "fdbench", "device": "none", "date": "2026-01-02", "revision": "abc",
            "figures": figures} | changes  # fmt: skip


def test_a_record_and_its_page(records, tmp_path):
    records.write(tmp_path / "one.json", record(notes=["Quiet."]))
    assert json.loads((tmp_path / "one.json").read_text()) == record(notes=["Quiet."])
    assert records.main() == 0
    page = (tmp_path / "page.md").read_text()
    assert "## A run\n\nnone; 2026-01-02, revision abc (`run/results/one.json`)." in page
    assert "Quiet.\n\nTimes:\n\n| grid | ms |\n| --- | --- |\n| 64³ | 1.5 |\n| 128³ | 12 |\n" in page


def test_a_page_that_is_not_what_the_records_say(records, tmp_path, capsys):
    records.write(tmp_path / "one.json", record())
    path = tmp_path / "one.json"
    path.write_text(path.read_text().replace("1.5", "1.4"))
    assert records.main() == 1
    assert "run/records.py" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"revision": ""}, "no revision"),
        ({"figures": [{"columns": ["grid", "ms"], "rows": [["64³"]]}]}, "a row of 1 cells in a table of 2 columns"),
        ({"pictures": ["none.png"]}, "no picture none.png"),
        ({"kernels": "new"}, "kernels are one of hand-written, declared"),
    ],
)
def test_what_is_no_record(records, tmp_path, capsys, changes, message):
    (tmp_path / "one.json").write_text(records.text(record(**changes)))
    assert records.main() == 1
    assert message in capsys.readouterr().err


def test_revisions_are_in_the_history(records):
    known = ["abc1234" + 33 * "0", "def5678" + 33 * "0"]
    records.check_history(record(revision="abc1234 (before), def5678"), "one", known)
    with pytest.raises(records.RecordError, match="not in the history: abc1235"):
        records.check_history(record(notes=["Since abc1235 it is slower."]), "one", known)


def test_kernels_are_those_of_the_revision(records):
    known = records.history()
    if not known:
        pytest.skip("no clone with its whole history")
    measured = record(revision="d665163", backend="cuda")
    records.check_history(measured | {"kernels": "declared"}, "one", known)
    for kernels in ("hand-written", "hand-written and declared"):
        with pytest.raises(records.RecordError, match="are not"):
            records.check_history(measured | {"kernels": kernels}, "one", known)


def test_references_to_headings(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\n## The choice of tiles\n")
    (tmp_path / "good.c").write_text('/* Chosen (docs/a.md, "The choice\n * of tiles"). */\n')
    (tmp_path / "bad.c").write_text('/* Chosen (docs/a.md,\n * "The choice"); docs/b.md, "A". */\n')
    assert module("docs_headings").dangling(tmp_path, ["good.c", "bad.c", "gone.c"]) == [
        'bad.c: docs/a.md has no heading "The choice"',
        'bad.c: docs/b.md has no heading "A"',
    ]
