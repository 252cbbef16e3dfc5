#!/usr/bin/env python3
"""Records of measurements: one JSON file per recorded run under run/results/, and the index page made from them.

A record has `title`, `command` (a list, for a run of several), `device`, `date`, `revision`, and `figures`: a list of
tables with `columns` and `rows`. Optional are `title` of a table, `notes` (a list of sentences) and `pictures` (files
beside the record). A record that timed kernels says which: `backend` and `kernels`, one of KERNELS.

    run/records.py            writes docs/reference/measurements.md
    run/records.py --check    fails if that page is not what the records say, or if a revision that a record names is
                              not in the history or had other kernels (looked at in a clone with its whole history)
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "run" / "results"
PAGE = ROOT / "docs" / "reference" / "measurements.md"
WIDTH = 118
LONGEST = 120
REQUIRED = ("title", "command", "device", "date", "revision", "figures")
DECLARED = {"cuda": "d665163", "cpu": "b093628"}  # the commits that made the kernels from their declarations
KERNELS = {"hand-written": {False}, "declared": {True}, "hand-written and declared": {False, True}}
INTRODUCTION = f"""# Recorded measurements

Each section is one recorded run: its device, date and revision, the command, and the figures. What they mean is in
[Performance](../explanation/performance.md). Shares are in per cent of a streaming loop with the same number of arrays
read and written, measured in the same run.

**Which kernels a record measured** stands in the table below. Kernels are *declared*, made from the declarations in
`kernels/operations.h`, since {DECLARED["cuda"]} on GPUs and {DECLARED["cpu"]} on CPUs (2026-11-25); before they were
*hand-written*. Both were measured in turn on one H100 at 512³: the shares of 25 kernels differ by at most 0.9 points
([table](#kernels-made-from-declarations-before-and-after)). The other tables of hand-written kernels were not measured
again with the declared ones: not on an H200, not on other grids, not on a CPU.

The page is made from the JSON files in `run/results` by `run/records.py`: edit the files, not the page.
"""


class RecordError(Exception):
    """An invalid record; the message names the file."""


def check(record, name):
    """Raises RecordError if `record` lacks something or a table's rows do not fit its columns."""
    missing = [key for key in REQUIRED if not record.get(key)]
    if missing:
        raise RecordError(f"{name}: no {', '.join(missing)}")
    if ("kernels" in record or "backend" in record) and (
        record.get("kernels") not in KERNELS or record.get("backend") not in DECLARED
    ):
        raise RecordError(f"{name}: kernels are one of {', '.join(KERNELS)}, backend one of {', '.join(DECLARED)}")
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
        PAGE.write_text(page(load()), encoding="utf-8")


def git(*words):
    """The output of git on this project, None if it fails."""
    done = subprocess.run(
        ["git", "-C", ROOT, *words], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return done.stdout if done.returncode == 0 else None


def history():
    """The revisions up to this one; None outside a clone with its whole history."""
    shallow = git("rev-parse", "--is-shallow-repository")
    return git("rev-list", "HEAD").split() if shallow and shallow.strip() == "false" else None


def revisions(text):
    """The abbreviated revisions in a text: words of seven hexadecimal digits, letters and decimal digits among them."""
    return re.findall(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7}\b", text)


def unknown(text, known):
    """Those revisions in a text that are not in the history `known`."""
    return sorted({name for name in revisions(text) if not any(full.startswith(name) for full in known)})


def check_history(record, name, known):
    """Raises RecordError if a revision is not in the history, or had other kernels than the record says."""
    gone = unknown(text(record), known)
    if gone:
        raise RecordError(f"{name}: not in the history: {', '.join(gone)}")
    if "kernels" in record:
        since = DECLARED[record["backend"]]
        names = revisions(record["revision"])
        kinds = {git("merge-base", "--is-ancestor", since, revision) is not None for revision in names}
        if kinds != KERNELS[record["kernels"]]:
            raise RecordError(f"{name}: the kernels of {', '.join(names)} are not {record['kernels']} (since {since})")


def load():
    """{name: record} of all records, checked; RecordError."""
    records = {}
    for path in sorted(RESULTS.rglob("*.json")):
        name = path.relative_to(RESULTS).as_posix()
        records[name] = json.loads(path.read_text(encoding="utf-8"))
        check(records[name], name)
    return records


def anchor(heading):
    """A heading's name in links, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def wrapped(sentence):
    """Lines of at most LONGEST bytes: a letter may have several."""
    for width in range(WIDTH, 0, -1):
        lines = textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False)
        if all(len(line.encode()) <= LONGEST or " " not in line for line in lines):
            break
    return lines


def shell(command):
    """`command`, continued over as many lines as it needs."""
    first, *more = textwrap.wrap(
        command, WIDTH - 2, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return " \\\n".join([first, *more])


def section(name, record):
    """The part of the page about one record."""
    commands = record["command"] if isinstance(record["command"], list) else [record["command"]]
    where = f"{record['device']}; {record['date']}, revision {record['revision']} (`run/results/{name}`)."
    lines = [f"## {record['title']}", "", *wrapped(where), "", "```", *map(shell, commands), "```"]
    for note in record.get("notes", []):
        lines += ["", *wrapped(note)]
    for picture in record.get("pictures", []):
        path = (RESULTS / name).parent / picture
        if not path.exists():
            raise RecordError(f"{name}: no picture {picture}")
        lines += ["", f"![{record['title']}]({Path(os.path.relpath(path, PAGE.parent)).as_posix()})"]
    for table in record["figures"]:
        lines += ["", f"{table['title']}:"] if table.get("title") else []
        cells = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
        lines += ["", *("| " + " | ".join(str(cell) for cell in row) + " |" for row in cells)]
    return "\n".join(lines) + "\n"


def overview(records):
    """The table of all records."""
    lines = ["| record | device | date | revision | kernels |", "| --- | --- | --- | --- | --- |"]
    for record in records:
        link = f"[{record['title']}](#{anchor(record['title'])})"
        device = re.split(r"[,;(]", record["device"])[0].strip()
        cells = link, device, record["date"], record["revision"], record.get("kernels", "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page(records):
    """The index page of load()'s records."""
    sections = [section(name, record) for name, record in records.items()]
    return "\n".join([INTRODUCTION, overview(records.values()), *sections])


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        records = load()
        wanted = page(records)
        known = history() if arguments else None
        for name, record in records.items() if known else ():
            check_history(record, name, known)
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
