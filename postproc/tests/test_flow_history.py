"""The budget of a compressible flow: its loss of kinetic energy, and the picture."""

import numpy as np
import pytest

from fdpost import DataError, Run
from fdpost.flow_history import COLUMNS, loss
from fdpost.history import draw_history

pytestmark = pytest.mark.quick

TIME = np.linspace(0.0, 2.0, 41)


def write_run(directory, columns):
    table = {name: np.ones(len(TIME)) for name in columns}
    table["step"] = np.arange(len(TIME))
    table["time"] = TIME
    if "kinetic" in table:
        table["kinetic"] = np.exp(-0.3 * TIME)
    lines = [",".join(table), *(",".join(f"{table[name][i]:.17g}" for name in table) for i in range(len(TIME)))]
    (directory / "diagnostics.csv").write_text("\n".join(lines) + "\n")
    (directory / "config.ini").write_text("[grid]\nnx = 9\nny = 9\nnz = 9\n[physics]\nequation = flow\n")
    return Run(directory)


def test_the_loss_is_the_slope():
    found = loss({"time": TIME, "kinetic": np.exp(-0.3 * TIME)})
    assert np.isnan(found[[0, -1]]).all()
    assert np.abs(found[1:-1] - 0.3 * np.exp(-0.3 * TIME[1:-1])).max() < 2e-5


def test_the_picture_shows_the_budget(tmp_path):
    titles = [ax.get_title(loc="left") for ax in draw_history(write_run(tmp_path, COLUMNS)).axes]
    assert titles[0] == "Kinetic energy" and titles[1].startswith("Loss of kinetic")


def test_a_missing_column_is_named(tmp_path):
    run = write_run(tmp_path, [name for name in COLUMNS if name != "dissipation"])
    with pytest.raises(DataError, match="no column dissipation"):
        draw_history(run)
