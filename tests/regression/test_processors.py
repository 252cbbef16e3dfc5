"""One answer on every processor: the C library chooses its functions by what the processor can do, and none of them may
reach a field, a step size or a line of diagnostics."""

import pytest

from program import launch, merged, table, write_ini

# Without AVX2 and FMA, as glibc names them before and after version 2.26.
OLDER = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable"

SMALL = {
    "grid": {"nx": 40, "ny": 36, "nz": 44, "ly": 0.9, "lz": 1.1},
    "time": {"courant": 1.1, "steps": 6},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"diagnostics_every": 3},
}

# Every case and every velocity field that has a function of the C library in its formula.
RUNS = {
    "quickstart": [("initial", "case", "blob"), ("velocity", "field", "deformation"), ("velocity", "period", 1.5)],
    "gaussian": [("initial", "case", "gaussian"), ("velocity", "field", "uniform"), ("physics", "diffusivity", 1e-3)],
    "cosine": [("initial", "case", "cosine"), ("velocity", "field", "uniform"), ("physics", "diffusivity", 1e-3)],
    "rotation": [("initial", "case", "gaussian"), ("initial", "width", 0.03), ("velocity", "field", "rotation")],
    "abc": [("initial", "case", "gaussian"), ("velocity", "field", "abc")],
    "manufactured": [("initial", "case", "manufactured"), ("velocity", "field", "abc"), ("velocity", "period", 0.7)],
    "plane_wave": [("physics", "equation", "acoustics"), ("initial", "case", "plane_wave"), ("initial", "ky", 2)],
    "standing_wave": [("physics", "equation", "acoustics"), ("initial", "case", "cosine")],
    "shear_layer": [("initial", "case", "shear_layer"), ("velocity", "field", "taylor_green")],
}


def answer(folder, name, environment):
    """The hash that a run ends with, and its diagnostics to the last digit."""
    problem = {}
    for section, key, value in RUNS[name]:
        problem.setdefault(section, {})[key] = value
    write_ini(folder / "run.ini", merged(SMALL, problem))
    output = launch(folder, 1, "run.ini", environment=environment).stdout
    return [line for line in output.splitlines() if line.startswith("hash ")], table(folder / "runs" / "run")


@pytest.mark.parametrize("name", RUNS)
def test_older_processor_gives_the_same_bits(name, tmp_path):
    (tmp_path / "this").mkdir()
    (tmp_path / "older").mkdir()
    hashes, lines = answer(tmp_path / "this", name, {})
    hashes_older, lines_older = answer(tmp_path / "older", name, {"GLIBC_TUNABLES": OLDER})
    assert len(hashes) == 1
    assert hashes_older == hashes
    assert lines_older == lines
