"""The pages of docs/reference that `run/docs --reference` writes are those of this program."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["configuration.md", "command-line.md"])
def test_page_is_what_the_program_says(page, tmp_path):
    build = pathlib.Path(os.environ["FDAPP"]).parent
    subprocess.run(
        [sys.executable, ROOT / "run" / "docs_reference.py", build, tmp_path], check=True, stdin=subprocess.DEVNULL
    )
    written = (tmp_path / page).read_text()
    assert written == (ROOT / "docs" / "reference" / page).read_text(), "run/docs --reference writes it anew"
