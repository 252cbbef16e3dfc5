#!/usr/bin/env python3
"""Records of measurements: one JSON file per recorded run under run/results/, and the index page made from them.

A record has `title`, `command` (a list, for a run of several), `device`, `date`, `revision`, and `figures`: a list of
tables with `columns` and `rows`. Optional are `title` of a table, `notes` (a list of sentences) and `pictures` (files
beside the record).

    run/records.py            writes docs/reference/measurements.md
    run/records.py --check    fails if that page is not what the records say
"""

import json
import os
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "run" / "results"
PAGE = ROOT / "docs" / "reference" / "measurements.md"
WIDTH = 118
REQUIRED = ("title", "command", "device", "date", "revision", "figures")
INTRODUCTION = """# Recorded measurements

Each section is one recorded run: its device, date and revision, the command, and the figures. What they mean is in
[Performance](../explanation/performance.md). Shares are in per cent of a streaming loop with the same number of arrays
read and written, measured in the same run. Logs of earlier revisions are in the repository's history.

The page is made from the JSON files in `run/results` by `run/records.py`: edit the files, not the page.
"""


class RecordError(Exception):
    """An invalid record; the message names the file."""


def check(record, name):
    """Raises RecordError if `record` lacks something or a table's rows do not fit its columns."""
    missing = [key for key in REQUIRED if not record.get(key)]
    if missing:
        raise RecordError(f"{name}: no {', '.join(missing)}")
    for table in record["figures"]:
        for row in table["rows"]:
            if len(row) != len(table["columns"]):
                raise RecordError(
                    f"{name}: a row of {len(row)} cells in a table of {len(table['columns'])} columns: {row}"
                )


def text(record):
    """`record` as JSON with one table row per line, so that changing a figure changes one line."""

    def compact(value):
        return json.dumps(value, ensure_ascii=False)

    lines = [f" {compact(key)}: {compact(value)}" for key, value in record.items() if key != "figures"]
    tables = []
    for table in record["figures"]:
        head = [f"   {compact(key)}: {compact(value)}" for key, value in table.items() if key != "rows"]
        rows = ",\n".join(f"    {compact(row)}" for row in table["rows"])
        tables.append("  {\n" + ",\n".join(head) + f',\n   "rows": [\n{rows}\n   ]' + "\n  }")
    return "{\n" + ",\n".join([*lines, ' "figures": [\n' + ",\n".join(tables) + "\n ]"]) + "\n}\n"


def write(path, record):
    """Writes a record and the page that shows it."""
    check(record, path)
    Path(path).write_text(text(record), encoding="utf-8")
    if RESULTS in Path(path).resolve().parents:
        PAGE.write_text(page(), encoding="utf-8")


def wrapped(sentence):
    return textwrap.wrap(sentence, WIDTH, break_long_words=False, break_on_hyphens=False)


def shell(command):
    """`command`, continued over as many lines as it needs."""
    first, *more = textwrap.wrap(
        command, WIDTH - 2, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return " \\\n".join([first, *more])


def section(path):
    """The part of the page about one record."""
    record = json.loads(path.read_text(encoding="utf-8"))
    name = path.relative_to(RESULTS).as_posix()
    check(record, name)
    commands = record["command"] if isinstance(record["command"], list) else [record["command"]]
    where = f"{record['device']}; {record['date']}, revision {record['revision']} (`run/results/{name}`)."
    lines = [f"## {record['title']}", "", *wrapped(where), "", "```", *map(shell, commands), "```"]
    for note in record.get("notes", []):
        lines += ["", *wrapped(note)]
    for picture in record.get("pictures", []):
        if not (path.parent / picture).exists():
            raise RecordError(f"{name}: no picture {picture}")
        lines += ["", f"![{record['title']}]({Path(os.path.relpath(path.parent / picture, PAGE.parent)).as_posix()})"]
    for table in record["figures"]:
        lines += ["", f"{table['title']}:"] if table.get("title") else []
        cells = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
        lines += ["", *("| " + " | ".join(str(cell) for cell in row) + " |" for row in cells)]
    return "\n".join(lines) + "\n"


def page():
    """The index page."""
    return "\n".join([INTRODUCTION, *(section(path) for path in sorted(RESULTS.rglob("*.json")))])


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        wanted = page()
    except (RecordError, KeyError, json.JSONDecodeError) as fault:
        print(f"run/results: {fault}", file=sys.stderr)
        return 1
    if not arguments:
        PAGE.write_text(wanted, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted:
        print("docs/reference/measurements.md is not what the records say: run/records.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
