"""The pictures of docs/gallery are those that the commands beside them give: `run/gallery --check` on the quick ones,
and every picture says what it shows, so that the others can be checked by hand."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = ("cosine", "outflow")  # seconds each
loader = importlib.machinery.SourceFileLoader("gallery", str(ROOT / "run" / "gallery"))
gallery = importlib.util.module_from_spec(importlib.util.spec_from_loader("gallery", loader))
loader.exec_module(gallery)


def test_the_gallery_is_what_its_commands_give():
    words = [sys.executable, ROOT / "run" / "gallery", "--check", *QUICK]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_picture_is_made_by_commands_and_says_what_it_shows():
    made = {name for names in gallery.blocks() for name in names}
    assert made == {path.stem for path in (ROOT / gallery.PLACE).glob("*.png")}
    assert not [name for name in made if not gallery.shown(ROOT / gallery.PLACE / f"{name}.png")]
