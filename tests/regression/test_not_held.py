"""What the grid or the precision cannot hold, and a velocity with a divergence, is warned of with the number."""

from pathlib import Path

import pytest

from program import BASE, complaints, launch, merged, write_ini

CONFIG = Path(__file__).resolve().parents[2] / "config"


def said(folder, *parts):
    """What is said of BASE with these changes, before anything runs."""
    write_ini(folder / "run.ini", merged(BASE, {"velocity": {"period": None}}, *parts))
    return " ".join(complaints(launch(folder, 1, "run.ini", "time.steps=0")))


UNIFORM = {"velocity": {"field": "uniform"}, "physics": {"diffusivity": 0}}


PLAIN = dict.fromkeys(("width", "center_x", "background"))
FAINT = {"amplitude": 1e-5, "background": 300}
WARNED = [
    ({"case": "cosine", "kx": 16, **PLAIN}, "double", "initial.kx = 16 leaves 2.06 points per wave"),
    ({"case": "gaussian", "width": 0.02}, "double", "initial.width = 0.02 is 0.569 spacings (gaussian needs 1.5)"),
    ({"case": "slotted", "width": 0.1}, "double", "initial.width = 0.1 is 2.85 spacings (slotted needs 6)"),
    (FAINT, "single", "initial.amplitude = 1e-05 on a background of 300 is 0.28 steps of single precision"),
    (FAINT, "single", "the initial state is 300 at every point"),
    ({"case": "formula", "formula": "0*x + 2", **PLAIN}, "double", "the initial state is 2 at every point"),
]


@pytest.mark.parametrize(("initial", "precision", "words"), WARNED, ids=[words for _, _, words in WARNED])
def test_warned(tmp_path, initial, precision, words):
    assert words in said(tmp_path, UNIFORM, {"initial": initial, "compute": {"precision": precision}})


@pytest.mark.parametrize("precision", ["double", "single"])
def test_nothing_is_said_of_what_is_held(tmp_path, precision):
    text = said(tmp_path, UNIFORM, {"compute": {"precision": precision}})
    assert "hold" not in text
    assert "every point" not in text


@pytest.mark.parametrize("deck", sorted(path.name for path in CONFIG.glob("*.ini")))
def test_ready_cases_are_held(tmp_path, deck):
    text = " ".join(complaints(launch(tmp_path, 1, "--validate", CONFIG / deck)))
    assert "hold" not in text
    assert "divergence" not in text


# div = 2 pi 0.3 (cos 2 pi x) has that size; with v the two terms cancel.
COMPRESSED = {"field": "formula", "u": "0.3*sin(2*pi*x)*cos(2*pi*y/ly)", "v": 0, "w": 0}
CANCELLED = {**COMPRESSED, "v": "-0.3*ly*cos(2*pi*x)*sin(2*pi*y/ly)"}


def test_divergence(tmp_path):
    advective = {"physics": {"form": "advective", "diffusivity": 0}}
    assert "the velocity's divergence is up to 1.88" in said(tmp_path, advective, {"velocity": COMPRESSED})
    assert "divergence" not in said(tmp_path, advective, {"velocity": CANCELLED})
    assert "divergence" not in said(tmp_path, {"physics": {"form": "conservative"}}, {"velocity": COMPRESSED})
