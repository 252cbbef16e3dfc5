"""The pages of docs/reference that `run/docs --reference` writes are those of this program."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

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
