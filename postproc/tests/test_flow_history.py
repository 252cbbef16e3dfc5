"""The budget of a compressible flow: its loss of kinetic energy, and the picture."""

import numpy as np
import pytest

from fdpost import DataError, Run, UsageError, units
from fdpost.flow_history import COLUMNS, loss
from fdpost.flow_reference import compare, read_reference
from fdpost.history import draw_history

pytestmark = pytest.mark.quick

TIME = np.linspace(0.0, 2.0, 41)


def write_run(directory, columns):
    table = {name: np.ones(len(TIME)) for name in columns}
    table["step"] = np.arange(len(TIME))
    table["time"] = TIME
    if "kinetic" in table:
        table["kinetic"] = np.exp(-0.3 * TIME)
        table["enstrophy"] = TIME**2
        table["courant"][3] = 1.2
    lines = [",".join(table), *(",".join(f"{table[name][i]:.17g}" for name in table) for i in range(len(TIME)))]
    (directory / "diagnostics.csv").write_text("\n".join(lines) + "\n")
    (directory / "config.ini").write_text("[grid]\nnx = 9\nny = 9\nnz = 9\n[physics]\nequation = flow\n")
    return Run(directory)


def test_the_loss_is_the_slope():
    found = loss({"time": TIME, "kinetic": np.exp(-0.3 * TIME)})
    assert np.isnan(found[[0, -1]]).all()
    assert np.abs(found[1:-1] - 0.3 * np.exp(-0.3 * TIME[1:-1])).max() < 2e-5


def test_the_picture_shows_the_budget(tmp_path):
    fig = draw_history(write_run(tmp_path, COLUMNS))
    titles = [ax.get_title(loc="left") for ax in fig.axes]
    assert titles[0] == "Kinetic energy" and titles[1].startswith("Loss of kinetic") and titles[3] == "Enstrophy"
    (line,) = fig.axes[3].lines
    assert np.array_equal(line.get_xydata(), np.transpose([TIME, TIME**2]))
    assert any("at most Mach 1,  Courant 1.2 of 1" in text.get_text() for text in fig.texts)


def test_the_picture_has_units(tmp_path):
    """An energy of a volume is a pressure."""
    labels = [ax.get_ylabel() for ax in draw_history(write_run(tmp_path, COLUMNS)).axes]
    assert labels[1] == "per time" and labels[0].endswith("rangle$") and labels[3].endswith("rangle$")
    with open(tmp_path / "config.ini", "a") as file:
        file.write("[units]\ntime = s\ndensity = kg/m^3\nu = m/s\npressure = Pa\n")
    run = Run(tmp_path)
    labels = [ax.get_ylabel() for ax in draw_history(run).axes]
    assert labels[0].endswith("$ / Pa") and labels[1] == "Pa/s" and labels[3].endswith("$ / 1/s^2")
    found = units.of_flow(run)
    assert found["momentum_x"] == "(kg/m^3) (m/s)" and found["momentum_y"] == "" and found["pressure_work"] == "Pa/s"
    assert units.ratio("kg/m^3", "s") == "(kg/m^3)/s" and units.squared("m/s") == "(m/s)^2" and units.squared("") == ""


def test_a_missing_column_is_named(tmp_path):
    run = write_run(tmp_path, [name for name in COLUMNS if name != "dissipation"])
    with pytest.raises(DataError, match="no column dissipation"):
        draw_history(run)


def write_vortex(
    directory,
    reynolds=1600,
    edge=2 * np.pi,
    make=lambda reference: reference,
    stretch=1,
    law="constant",
    mach=0.1,
    dissipation=0,
    source="formula_w = none",
):
    """A run of the vortex whose table is what `make` returns for the reference."""
    directory.mkdir()
    (directory / "config.ini").write_text(
        f"[grid]\nnx = 9\nny = 9\nnz = 9\nlx = {edge}\nly = {edge * stretch}\nlz = {edge}\n"
        f"[physics]\nequation = flow\nviscosity_law = {law}\ndissipation = {dissipation}\n"
        f"[initial]\ncase = taylor_green_vortex\nreynolds = {reynolds}\nmach = {mach}\n"
        f"[source]\n{source}\nresample = no\nfactor = 1\n"
    )
    (directory / "diagnostics.csv").write_text("step,time\n0,0\n")
    reference = read_reference("taylor-green", Run(directory))
    time, kinetic = make(reference)
    table = {name: np.ones(len(time)) for name in COLUMNS} | {"step": np.arange(len(time)), "time": time}
    table["kinetic"] = kinetic
    lines = [",".join(table), *(",".join(f"{table[name][i]:.17g}" for name in table) for i in range(len(time)))]
    (directory / "diagnostics.csv").write_text("\n".join(lines) + "\n")
    return Run(directory), reference


@pytest.mark.parametrize("edge", [2 * np.pi, 1.0])
def test_the_reference_in_a_runs_units(tmp_path, edge):
    """The energy at the start is 1/8 of the box; times and losses scale with the edge; the loss is the energy's slope,
    and peaks at 0.0129 after 9 turnovers, as published."""
    _, reference = write_vortex(tmp_path / "run", edge=edge, make=lambda found: (found.time, found.kinetic))
    turnover = edge / (2 * np.pi)
    assert reference.kinetic[0] == 0.125
    peak = reference.loss.argmax()
    assert reference.loss[peak] * turnover == pytest.approx(0.0129, rel=5e-3)
    assert reference.time[peak] / turnover == pytest.approx(9.0)
    slope = -np.gradient(reference.kinetic, reference.time)[1:-1]
    assert np.abs(slope - reference.loss[1:-1]).max() < 0.004 * reference.loss[peak]


def test_differences_from_the_reference(tmp_path, fdplot):
    """One percent more energy at all times is one percent off, and one percent of the peak in its loss; the picture has
    the reference's lines."""
    run, _ = write_vortex(tmp_path / "run", make=lambda found: (found.time, 1.01 * found.kinetic))
    code, out, _ = fdplot("history", run.directory, "--reference", "taylor-green")
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith("kinetic energy: at most 1 % from the reference")
    assert float(lines[1].split("at most ")[1].split(" %")[0]) == pytest.approx(1.0, abs=0.3)
    assert lines[2].startswith("its peak: 0.0129") and lines[3] == str(run.directory / "history.png")
    axes = draw_history(run, read_reference("taylor-green", run)).axes
    assert [len(ax.lines) for ax in axes[:2]] == [2, 4]


def test_rows_beyond_the_reference_are_not_compared(tmp_path):
    run, reference = write_vortex(
        tmp_path / "run", make=lambda found: (np.append(found.time, 30.0), np.append(found.kinetic, 5.0))
    )
    assert compare(run.diagnostics, loss(run.diagnostics), reference)[0].startswith("kinetic energy: at most 0 %")


def test_another_reynolds_number_has_no_reference(tmp_path, run_dir, fdplot):
    with pytest.raises(UsageError, match="has taylor_green_vortex with 100"):
        write_vortex(tmp_path / "run", reynolds=100)
    code, out, err = fdplot("history", run_dir, "--reference", "taylor-green")
    assert code == 2 and "has no case" in err and not out


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"stretch": 0.5}, "of a cube; .* has the edges 6.28.*, 3.14.*, 6.28"),
        ({"law": "sutherland"}, "has sutherland"),
        ({"dissipation": 0.1}, "of physics.dissipation = 0"),
        ({"source": "formula_w = 2"}, "without sources"),
        ({"source": "file = a.hdf"}, "without sources"),
    ],
    ids=["box", "law", "dissipation", "formula", "file"],
)
def test_another_flow_has_no_reference(tmp_path, other, said):
    with pytest.raises(UsageError, match=said):
        write_vortex(tmp_path / "run", **other)


@pytest.mark.parametrize(("mach", "noted"), [(0.1, False), (0.5, True)])
def test_a_larger_mach_number_than_the_references_is_noted(tmp_path, fdplot, mach, noted):
    """The picture calls the reference incompressible in both cases."""
    run, _ = write_vortex(tmp_path / "run", mach=mach, make=lambda found: (found.time, found.kinetic))
    code, _, err = fdplot("history", run.directory, "--reference", "taylor-green")
    assert code == 0 and ("incompressible" in err and "initial.mach = 0.5" in err) == noted
    legend = draw_history(run, read_reference("taylor-green", run)).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["reference, incompressible"]
