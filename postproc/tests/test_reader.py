import h5py
import numpy as np
import pytest
import synthetic
from matplotlib.figure import Figure

from fdpost import DataError, Run, UsageError, slices
from fdpost.frames import plane_index

pytestmark = pytest.mark.quick


def test_states_in_order_with_their_times(run_dir):
    states = Run(run_dir).states
    assert [state.step for state in states] == [0, 10, 20, 30, 40]
    assert [state.time for state in states] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    assert states[0].shape == (20, 16, 24) and states[0].size == (24, 16, 20)
    assert states[0].lengths == pytest.approx((1, 1, 1))


def test_planes_are_those_of_the_field(run_dir):
    state = Run(run_dir).states[2]
    phi = synthetic.pulse((20, 16, 24), 0.2)
    assert np.array_equal(state.plane(2, 7), phi[7])
    assert np.array_equal(state.plane(1, 3), phi[:, 3])
    assert np.array_equal(state.plane(0, -1), phi[:, :, -1])


def test_projection_takes_the_strongest_value(tmp_path):
    phi = np.random.default_rng(3).standard_normal((5, 9, 10))
    synthetic.write_state(tmp_path / "state_00000000.hdf", phi, 0.0, 0)
    state = Run(tmp_path).states[0]
    for axis in range(3):
        along = 2 - axis
        expected = np.where(phi.max(along) > -phi.min(along), phi.max(along), phi.min(along))
        assert np.array_equal(state.projection(axis), expected)


def test_index_of_states_wins_over_the_files_there(run_dir):
    synthetic.write_state(run_dir / "state_00000099.hdf", np.zeros((20, 16, 24)), 9.9, 99)
    assert Run(run_dir).states[-1].step == 40
    (run_dir / "state.hdf.series").unlink()
    assert Run(run_dir).states[-1].step == 99


def test_listed_state_that_is_gone_is_named(run_dir, capsys):
    (run_dir / "state_00000010.hdf").unlink()
    assert [state.step for state in Run(run_dir).states] == [0, 20, 30, 40]
    assert "state_00000010.hdf" in capsys.readouterr().err


@pytest.mark.parametrize(
    "count, steps", [(1, [40]), (2, [0, 40]), (3, [0, 20, 40]), (5, [0, 10, 20, 30, 40]), (9, [0, 10, 20, 30, 40])]
)
def test_states_spread_over_the_run(run_dir, count, steps):
    assert [state.step for state in Run(run_dir).select(count=count)] == steps


def test_unknown_step_lists_those_there(run_dir):
    with pytest.raises(UsageError, match="no state of step 11; there are: 0, 10, 20, 30, 40"):
        Run(run_dir).select(steps=[0, 11])


def test_diagnostics_by_name(run_dir):
    table = Run(run_dir).diagnostics
    assert list(table)[:4] == ["step", "time", "dt", "mass"]
    assert table["step"].tolist() == list(range(41))
    assert table["err_l2"][40] == 4e-5 * 0.4


def test_a_torn_last_row_is_passed_over(run_dir):
    path = run_dir / "diagnostics.csv"
    whole = path.read_text()
    for torn in ("41,0.5,0.1", whole.splitlines()[-1][:-3]):
        path.write_text(whole + torn)
        assert Run(run_dir).diagnostics["step"].tolist() == list(range(41))


def test_states_that_the_index_does_not_list_are_named(run_dir, capsys):
    synthetic.write_state(run_dir / "state_00000099.hdf", np.zeros((20, 16, 24)), 9.9, 99)
    assert Run(run_dir).states[-1].step == 40
    assert "state_00000099.hdf not listed" in capsys.readouterr().err


def test_spacing_from_configuration(tmp_path):
    run = Run(synthetic.write_run(tmp_path / "r", shape=(8, 10, 20), lengths=(2.0, 1.0, 4.0), steps=(0,)))
    assert run.spacing == pytest.approx((0.1, 0.1, 0.5))
    (run.directory / "config.ini").unlink()
    assert Run(run.directory).spacing == pytest.approx((0.1, 0.1, 0.5))


@pytest.mark.parametrize("text", ["a", "-1", "nan", "", "\udcff"])
def test_what_is_no_length_is_named(run_dir, text):
    text = f"[grid]\nnx = 24\nny = 16\nnz = 20\nlx = {text}\n"
    (run_dir / "config.ini").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(DataError, match=r"config.ini: grid.lx = .*: not a number above zero"):
        _ = Run(run_dir).spacing


def test_an_index_of_other_things_is_damaged(run_dir):
    (run_dir / "state.hdf.series").write_text('{"files": [{"name": 7}]}')
    with pytest.raises(DataError, match="damaged index of states"):
        _ = Run(run_dir).states


def test_plane_index(run_dir):
    state = Run(run_dir).states[0]
    assert plane_index(state, 0) == 12
    assert plane_index(state, 2, position=0.26) == 5  # h = 0.05
    assert plane_index(state, 2, index=-1) == 19
    assert plane_index(state, 2, position=1.0) == plane_index(state, 2, position=0.98) == 0  # the period's end
    for options in ({"position": 1.01}, {"position": -0.1}, {"position": 1e308}, {"index": 20}, {"index": -21}):
        with pytest.raises(UsageError, match="outside the grid"):
            plane_index(state, 2, **options)


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-1000])


def no_hdf5(path):
    path.write_bytes(b"fdapp-state 1\n" * 400)


def other_grid(path):
    synthetic.write_state(path, np.zeros((6, 6, 6)), 0.2, 20)


@pytest.mark.parametrize("damage", [cut_short, no_hdf5, other_grid])
def test_damaged_state_is_named(run_dir, damage):
    damage(run_dir / "state_00000020.hdf")
    with pytest.raises(DataError, match=r"state_00000020\.hdf"):
        _ = Run(run_dir).states


def test_foreign_hdf5_file_is_not_a_state(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "state_00000000.hdf", "w") as file:
        file["phi"] = np.zeros(3)
    with pytest.raises(DataError, match="not a state of fdapp"):
        _ = Run(tmp_path).states


def test_empty_directory_and_damaged_tables(tmp_path):
    with pytest.raises(DataError, match="no states"):
        _ = Run(tmp_path).states
    with pytest.raises(DataError, match="diagnostics_every"):
        _ = Run(tmp_path).diagnostics
    for text in ("", "step,time\n", "step,time\n1,2\n3\n", "step,time\n1,two\n"):
        (tmp_path / "diagnostics.csv").write_text(text)
        with pytest.raises(DataError, match="not a table"):
            _ = Run(tmp_path).diagnostics
    (tmp_path / "diagnostics.csv").write_text("")
    with pytest.raises(DataError, match="it is empty"):
        _ = Run(tmp_path).diagnostics
    (tmp_path / "config.ini").write_bytes(b"nx = 8\n")
    with pytest.raises(DataError, match=r"config\.ini"):
        _ = Run(tmp_path).config
    (tmp_path / "state.hdf.series").write_text("{")
    with pytest.raises(DataError, match="damaged index"):
        _ = Run(tmp_path).states
    with pytest.raises(DataError, match="no such run"):
        Run(tmp_path / "nowhere")


def test_a_part_ends_at_its_last_point(tmp_path):
    """Not a spacing beyond it, as a period does: in lengths and in pictures."""
    path = synthetic.write_run(tmp_path / "part", shape=(6, 5, 4), steps=(0,)) / "state_00000000.hdf"
    with h5py.File(path, "r+") as file:
        file["fdapp"].attrs["part"] = 1
        file["VTKHDF"].attrs["Origin"] = np.array([0.5, 0.25, 0.0])
    state = Run(path).states[0]
    assert np.allclose(state.lengths, (3 * 0.25, 4 * 0.2, 5 / 6))
    ax = Figure().add_subplot()
    image = slices.draw_plane(ax, state, state.plane(2, 0), 2, "viridis", 0, 1)
    assert np.allclose([*ax.get_xlim(), *ax.get_ylim()], [0.5, 0.5 + 0.75, 0.25, 0.25 + 0.8])
    rows, columns = image.get_array().shape
    left, right, bottom, top = image.get_extent()  # a pixel's middle is its point
    assert np.isclose((right - left) / columns, 0.25) and np.isclose((top - bottom) / rows, 0.2)
    assert np.isclose(left + 0.125, 0.5) and np.isclose(bottom + 0.1, 0.25)


def test_an_axis_with_ends_ends_at_its_last_point(tmp_path):
    """The others a spacing beyond it; by the configuration in the file, and by that of the directory."""
    config = "[grid]\nnx = 4\nny = 5\nnz = 6\nlx = 3\n[boundary]\nx_low = wall\nx_high = free\ny = periodic\nz = open\n"
    path = synthetic.write_run(tmp_path / "run", shape=(6, 5, 4), steps=(0,)) / "state_00000000.hdf"
    synthetic.mark(path, config=config)
    (path.parent / "config.ini").write_text(config)
    state = Run(path).states[0]
    assert state.bounded == (True, False, True)
    assert np.allclose(state.lengths, (3 * 0.25, 1, 5 / 6))
    assert np.allclose(Run(path.parent).spacing, (1, 1 / 5, 1 / 5))
    ax = Figure().add_subplot()
    slices.draw_plane(ax, state, state.plane(2, 0), 2, "viridis", 0, 1)
    assert np.allclose([*ax.get_xlim(), *ax.get_ylim()], [0, 0.75, 0, 1])
