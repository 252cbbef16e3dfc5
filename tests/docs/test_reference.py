"""The pages of docs/reference that `run/docs --reference` writes are those of this program."""

import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

TABLE = (ROOT / "docs" / "reference" / "equations-table.md").read_text()
EQUATIONS = re.findall(r"`(\w+)`", re.search(r"^\| \| .*$", TABLE, re.MULTILINE)[0])  # its columns

# Largest symbols of the first and the second difference, of orders 8, 6, 4, 2.
SYMBOLS = (1.730598, 1.585978, 1.372219, 1.0), (6.501587, 6.044444, 5.333333, 4.0)


@pytest.mark.parametrize("page", ["configuration.md", "command-line.md"])
def test_page_is_what_the_program_says(page, tmp_path):
    build = pathlib.Path(os.environ["FDAPP"]).parent
    subprocess.run(
        [sys.executable, ROOT / "run" / "docs_reference.py", build, tmp_path], check=True, stdin=subprocess.DEVNULL
    )
    written = (tmp_path / page).read_text()
    assert written == (ROOT / "docs" / "reference" / page).read_text(), "run/docs --reference writes it anew"


def test_limits_and_words_of_schemes_are_those_of_the_tables():
    """The tables of docs/explanation/equations.md against what the program computes from its schemes."""
    said = subprocess.run([os.environ["FDAPP"], "--list"], check=True, capture_output=True, text=True).stdout
    page = (ROOT / "docs" / "explanation" / "equations.md").read_text()
    block = said[said.index("Schemes (time.scheme)") :].split("\n\n")[0]
    for line in block.splitlines()[1:]:
        name = line.split()[0]
        facts = re.search(
            r"order (\d+), (\d+) stages, stable up to ([\d.]+) i and -([\d.]+), (\d+) words(, (\d+) if)?", line
        )
        order, stages, imaginary, real, words, _, fewer = facts.groups()
        row = [order, stages, imaginary, real, f"{words} ({fewer})" if fewer else words]
        assert f"| `{name}` | {' | '.join(row)} |" in page
        for limit, symbols in zip((float(imaginary), float(real)), SYMBOLS, strict=True):
            assert any(
                max(abs(float(cell) - limit / symbol) for cell, symbol in zip(cells, symbols, strict=True)) < 1.1e-3
                for cells in re.findall(rf"^\| `{name}` \|" + 4 * r" ([\d.]+) \|" + "$", page, re.MULTILINE)
            ), f"{name}: no row of limits over {symbols}"


PROBLEM = """\
[grid]
nx = 20
ny = 40
nz = 20
[physics]
[initial]
case = formula
formula = 1
[velocity]
field = uniform
[time]
courant = 0.1
steps = 1
"""


def accepts(folder, *overrides):
    """Whether the program takes a problem."""
    (folder / "run.ini").write_text(PROBLEM)
    words = [os.environ["FDAPP"], "--validate", "run.ini", *overrides]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode in (0, 2), result.stderr
    return result.returncode == 0


@pytest.mark.parametrize("equation, end", [("advection", "open"), ("acoustics", "wall"), ("wave", "wall")])
def test_the_fewest_points_between_ends_are_those_of_the_table(equation, end, tmp_path):
    row = next(line for line in TABLE.splitlines() if line.startswith("| points of an axis with ends, at least |"))
    cell = row.split("|")[EQUATIONS.index(equation) + 2]
    for order in (8, 6, 4):
        least = re.search(rf"(\d+) at orders? {order}", cell) or re.fullmatch(r" (\d+) ", cell)
        for points in (int(least[1]) - 1, int(least[1])):
            grid = f"boundary.x={end}", f"compute.order={order}", f"grid.nx={points}"
            assert accepts(tmp_path, f"physics.equation={equation}", *grid) == (points == int(least[1])), order


@pytest.mark.parametrize("column, equation", enumerate(EQUATIONS, start=1))
def test_the_table_of_equations_is_what_the_program_takes(column, equation, tmp_path):
    rows = {cells[1].strip(): cells[2:] for line in TABLE.splitlines() if len(cells := line.split("|")) > 5}
    said = subprocess.run([os.environ["FDAPP"], "--list"], check=True, capture_output=True, text=True).stdout

    def listed(title):
        block = next(part for part in said.split("\n\n") if part.startswith(title))
        return [line.split()[0] for line in block.splitlines()[1:]]

    def named(row):
        return set(re.findall(r"`(\w+)`", rows[row][column - 1]))

    base = [f"physics.equation={equation}"] + ["physics.diffusivity=0.01"] * (equation == "advection")
    assert listed("Equations") == EQUATIONS, "each equation has a column in docs/reference/equations-table.md"
    for name in listed("Schemes (") + listed("Schemes of waves"):
        assert accepts(tmp_path, *base, f"time.scheme={name}") == (name in named("schemes")), name
    for name in listed("Ends of axes")[1:]:
        taken = accepts(tmp_path, *base, f"boundary.y={name}", "boundary.value=1")
        assert taken == (name in named("ends beside `periodic`")), name
    for name in listed("Forms"):
        taken = accepts(tmp_path, *base, "velocity.field=taylor_green", f"physics.form={name}")
        forms = named("forms")
        assert not forms or taken == (name in forms), name
    for order in rows["order in space"][column - 1].split(","):
        assert accepts(tmp_path, *base, f"compute.order={order.strip()}")
    for precision in rows["precision"][column - 1].split(","):
        assert accepts(tmp_path, *base, f"compute.precision={precision.strip()}")
    for name in ("gradient", "intensity", "vorticity", "q_criterion", "dilatation", "mach", "temperature"):
        assert accepts(tmp_path, *base, f"output.derived={name}") == (name in named("derived data")), name


# What the table of equations calls a stage: the record's file and the beginning of its row. An equation without an
# entry has no record.
STAGES = {
    "H200": [
        [("kernels-sums-h200", "stage_uniform"), ("kernels-sums-h200", "stage_formula")],
        [("kernels-sums-h200", "divergence_stage"), ("kernels-sums-h200", "gradient_stage")],
        [("waves-h200", "leapfrog"), ("waves-h200", "leapfrog4")],
        [("flow-h200", "Euler"), ("flow-h200", "Navier-Stokes")],
    ],
    "H100": [
        [("kernels-declared-h100", "stage_uniform"), ("kernels-declared-h100", "stage_formula")],
        [("layers-h100", "divergence_stage"), ("layers-h100", "gradient_stage")],
    ],
}


def recorded(record, stage):
    """The shares of a stage at 512³ in a record, single / double precision."""
    for figure in record["figures"]:
        names = figure["columns"]
        found = [row for row in figure["rows"] if row[0] == stage]
        if "share" not in f"{figure.get('title')}".lower() or not found:
            continue
        if "precision" in names:
            cells = {row[2]: row[-1] for row in found if row[1] == "512³"}
            return f"{cells['single']} / {cells['double']}"
        columns = [i for i, name in enumerate(names) if name == "after"] or [1, 2]
        return " / ".join(found[0][i] for i in columns)
    raise AssertionError(f"no share of {stage}")


@pytest.mark.parametrize("device", STAGES)
def test_shares_in_the_table_of_equations_are_those_of_the_records(device):
    row = next(line for line in TABLE.splitlines() if re.match(rf"\| [^|]*on an {device}, %", line))
    for cell, stages in itertools.zip_longest(row.split("|")[2:-1], STAGES[device], fillvalue=[]):
        records = [json.loads((ROOT / "run" / "results" / f"{file}.json").read_text()) for file, _ in stages]
        shares = [recorded(record, stage) for record, (_, stage) in zip(records, stages, strict=True)]
        assert re.findall(r"[\d.]+ / [\d.]+", cell) == shares
        assert stages or cell.strip() == "–"
        for record in records:
            heading = re.sub(r"[^\w -]", "", record["title"].lower()).replace(" ", "-")
            assert f"(measurements.md#{heading})" in cell
