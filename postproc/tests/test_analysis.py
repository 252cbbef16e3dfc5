import importlib
import os
import pickle
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import synthetic

from fdpost import DataError, Run, UsageError, convergence, open_run
from fdpost.dataset import main as read_command
from fdpost.spectrum import draw_spectrum, power_spectrum

pytestmark = pytest.mark.quick


def write_error_run(path, n, order, t_end=1.0):
    """A run whose errors at its end are 3 h^order (and 2 h^order, 5 h^order)."""
    path.mkdir()
    h = 2.0 / n
    (path / "config.ini").write_text(f"[grid]\nnx = {n}\nny = {2 * n}\nnz = {2 * n}\nlx = 2\nly = 2\nlz = 2\n")
    errors = ",".join(f"{factor * h**order:.17g}" for factor in (2, 3, 5))
    (path / "diagnostics.csv").write_text(
        f"step,time,dt,mass,l2,min,max,courant,err_l1,err_l2,err_linf\n0,0,1,1,1,0,1,1,0,0,0\n1,{t_end},1,1,1,0,1,1,{errors}\n"
    )
    return Run(path)


@pytest.mark.parametrize("order", [2, 7.9])
def test_convergence_finds_the_order(tmp_path, order):
    runs = [write_error_run(tmp_path / f"n{n}", n, order) for n in (32, 16, 64)]
    samples = convergence.collect(runs, ["l1", "l2", "linf"])
    assert [sample.name for sample in samples] == ["n16", "n32", "n64"]
    assert samples[0].h == 2 / 16
    found, constant = convergence.fit_order([s.h for s in samples], [s.errors["l2"] for s in samples])
    assert found == pytest.approx(order) and constant == pytest.approx(3)
    text = convergence.table(samples, ["l1", "linf"])
    assert text.count(f"{order:5.2f}") == 4
    ends = np.array([2 / 16, 2 / 64])
    (ax,) = convergence.draw_convergence(runs, ["l2"])[0].axes
    fitted, measured, reference = (line.get_ydata() for line in ax.lines)
    assert fitted == pytest.approx(3 * ends**order) and sorted(measured) == pytest.approx(
        sorted(3 * np.array([2 / n for n in (16, 32, 64)]) ** order)
    )
    assert np.log(reference[0] / reference[1]) / np.log(4) == pytest.approx(round(order))


def test_convergence_refuses_what_cannot_be_compared(tmp_path):
    coarse, fine = write_error_run(tmp_path / "a", 16, 2), write_error_run(tmp_path / "b", 32, 2, t_end=0.5)
    with pytest.raises(DataError, match="different times"):
        convergence.collect([coarse, fine], ["l2"])
    with pytest.raises(UsageError, match="two grid spacings"):
        convergence.collect([coarse, coarse], ["l2"])
    bare = Run(synthetic.write_run(tmp_path / "c", errors=False, lengths=(2.0, 2.0, 2.0)))
    with pytest.raises(DataError, match="no exact solution"):
        convergence.collect([coarse, bare], ["l2"])
    table = fine.directory / "diagnostics.csv"
    table.write_text(table.read_text().replace("time", "other", 1))
    with pytest.raises(DataError, match="no column time"):
        convergence.collect([coarse, Run(fine.directory)], ["l2"])


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("lz = 2", "lz = 2.5", r"grid\.lz is 2\.0 in a, 2\.5 in b"),
        ("[grid]", "[physics]\ndiffusivity = 0.1\n[grid]", r"physics\.diffusivity is  in a, 0\.1 in b"),
        ("[grid]", "[compute]\norder = 4\n[grid]", r"methods differ.*compute\.order is  in a, 4\.0 in b"),
    ],
)
def test_convergence_refuses_other_problems(tmp_path, old, new, message):
    runs = [write_error_run(tmp_path / name, n, 2) for name, n in (("a", 16), ("b", 32))]
    path = tmp_path / "b" / "config.ini"
    path.write_text(path.read_text().replace("lx = 2", "lx = 2.0"))
    assert len(convergence.collect(runs, ["l2"])) == 2
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(DataError, match=message):
        convergence.collect([Run(tmp_path / "a"), Run(tmp_path / "b")], ["l2"])


def test_convergence_goes_beside_the_runs(tmp_path, fdplot):
    for n in (16, 32):
        write_error_run(tmp_path / f"n{n}", n, 4)
    code, out, _ = fdplot("convergence", tmp_path / "n16", tmp_path / "n32", "--orders", 2, 4)
    assert code == 0 and " 4.00" in out
    assert (tmp_path / "convergence.png").exists()


def test_convergence_of_a_state_is_refused(tmp_path, run_dir, fdplot):
    """Errors are of a run's last row, not of any state."""
    state = run_dir / "state_00000000.hdf"
    code, _, err = fdplot("convergence", state, run_dir)
    assert code == 2 and f"{state}: a run directory is needed" in err


@pytest.mark.parametrize("shape", [(8, 10, 12), (9, 7, 11)])
@pytest.mark.parametrize("lengths", [(1.0, 1.0, 1.0), (2.0, 1.0, 0.5)])
def test_spectrum_keeps_all_power(shape, lengths):
    phi = np.random.default_rng(1).standard_normal(shape)
    _, mean, count = power_spectrum(phi, lengths)
    assert count.sum() == phi.size
    assert (mean * count).sum() == pytest.approx((phi**2).mean(), rel=1e-12)


def test_spectrum_puts_a_wave_into_its_shell():
    z, y, x = np.meshgrid(*(np.arange(n) / n for n in (16, 12, 20)), indexing="ij")
    phi = 3 * np.cos(2 * np.pi * (2 * x + 3 * y + 6 * z))  # |k| = 7 exactly
    k, mean, count = power_spectrum(phi, (1.0, 1.0, 1.0))
    shell = np.argmax(mean)
    assert k[shell] == pytest.approx(7 * 2 * np.pi)
    assert (mean * count)[shell] == pytest.approx(4.5)
    assert np.delete(mean, shell).max() < 1e-28


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_spectrum_of_a_long_domain(axis):
    lengths, size = [1.0, 2.0, 3.0], [8, 8, 8]
    lengths[axis], size[2 - axis] = 4.0, 32
    x = np.arange(32) * (4.0 / 32)
    shape = [1, 1, 1]
    shape[2 - axis] = 32
    phi = np.broadcast_to(np.cos(2 * np.pi * x).reshape(shape), size)  # four waves along the edge of 4
    k, mean, _ = power_spectrum(phi, tuple(lengths))
    assert k[np.argmax(mean)] == pytest.approx(2 * np.pi)


def test_spectrum_of_many_states_names_the_ends_and_some_between(tmp_path):
    run = Run(synthetic.write_run(tmp_path / "many", shape=(4, 4, 8), steps=range(0, 400, 10)))
    fig = draw_spectrum(run, run.states)
    named = [text.get_text() for text in fig.axes[0].get_legend().get_texts()]
    assert len(fig.axes[0].lines) == 42  # and Nyquist's along x, and along y and z
    assert len(named) == 12 and (named[0], named[-1]) == ("t = 0", "t = 3.9")


def test_spectrum_of_a_run_that_blew_up(tmp_path, fdplot):
    def growing(shape, time, lengths):
        return synthetic.pulse(shape, time, lengths) * 10 ** (1000 * time)  # 1, 1e100, 1e147, 1e200: squared no number

    run = synthetic.write_run(tmp_path / "up", steps=(0, 100, 147, 200), dt=1e-3, make=growing)
    assert fdplot("spectrum", run)[0] == 0
    (ax,) = draw_spectrum(Run(run), Run(run).states).axes
    assert ax.get_legend_handles_labels()[1][-1] == "t = 0.2: blown up"
    assert fdplot("spectrum", run, "--steps", "last")[::2] == (3, f"error: {run}: phi is the same everywhere, or not"
                                                               " finite, and has no spectrum\n")  # fmt: skip


def test_only_nyquist_numbers_within_the_axis_are_named(tmp_path):
    """32, 16 and 8 waves along x, y, z; a wave of 3 along z alone is shown up to 4 at most."""

    def wave(shape, *_):
        return np.cos(2 * np.pi * 3 * np.arange(shape[0]) / shape[0])[:, None, None] * np.ones(shape)

    run = Run(synthetic.write_run(tmp_path / "r", shape=(8, 32, 64), steps=(0,), make=wave))
    (ax,) = draw_spectrum(run, run.states).axes
    assert [text.get_text() for text in ax.texts] == ["Nyquist z"] and ax.get_xlim()[1] < 16


def test_spectrum_command(run_dir, fdplot):
    assert fdplot("spectrum", run_dir)[0] == 0
    assert (run_dir / "spectrum.png").exists()
    assert fdplot("spectrum", run_dir, "--field", "psi")[0] == 2


def test_a_field_without_waves_has_no_spectrum(tmp_path, fdplot):
    fading = synthetic.write_run(
        tmp_path / "fading", steps=(0, 1), make=lambda shape, t, *_: synthetic.pulse(shape, 0) * (t < 0.005)
    )
    (ax,) = draw_spectrum(Run(fading), Run(fading).states).axes
    assert ax.get_legend_handles_labels()[1] == ["t = 0", "t = 0.01: constant"]
    run = synthetic.write_run(tmp_path / "zero", make=lambda shape, *_: np.zeros(shape), errors=False)
    code, _, said = fdplot("spectrum", run)
    assert code == 3 and "the same everywhere" in said


def test_names_of_directories_are_no_formulas(tmp_path, fdplot):
    assert fdplot("spectrum", synthetic.write_run(tmp_path / "a$x_{$"))[0] == 0


def test_dataset_has_values_coordinates_and_attributes(run_dir):
    pytest.importorskip("xarray")
    dataset = open_run(run_dir)
    assert dict(dataset.phi.sizes) == {"time": 5, "z": 20, "y": 16, "x": 24}
    assert dataset.time.values == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    assert dataset.step.values.tolist() == [0, 10, 20, 30, 40]
    assert dataset.time_diagnostics.attrs["long_name"] == "time of diagnostics"
    assert dataset.z.values == pytest.approx(np.arange(20) / 20)
    assert dataset.attrs["grid.nx"] == "24" and dataset.attrs["dt"] == 0.01
    assert dataset.diagnostics_l2.values[-1] == pytest.approx(0.1 * (1 - 0.4e-6))
    whole = np.stack([synthetic.pulse((20, 16, 24), step * 0.01) for step in range(0, 41, 10)])
    phi = dataset.phi
    assert np.array_equal(phi.values, whole)
    assert np.array_equal(phi.isel(time=-1, z=3).values, whole[-1, 3])
    assert np.array_equal(phi[::2, ::-3, 1:9:2, -5].values, whole[::2, ::-3, 1:9:2, -5])
    assert np.array_equal(phi.isel(x=[5, 2, 9], y=slice(4, 2)).values, whole[:, :, 4:2][..., [5, 2, 9]])
    assert phi[3:3].values.shape == (0, 20, 16, 24)
    assert float(phi.sel(time=0.2, x=0.5, y=0.5, z=0.25)) == whole[2, 5, 8, 12]


def test_dataset_has_units_of_columns(run_dir):
    pytest.importorskip("xarray")
    with open(run_dir / "config.ini", "a", encoding="utf-8") as file:
        file.write("[units]\ntime = s\nphi = K\n")
    dataset = open_run(run_dir)
    units = {name: dataset[f"diagnostics_{name}"].attrs.get("units") for name in ("dt", "min", "max", "mass", "step")}
    assert units == {"dt": "s", "min": "K", "max": "K", "mass": None, "step": None}


def test_xarray_opens_a_snapshot_by_the_engine_that_the_package_names(run_dir):
    xarray = pytest.importorskip("xarray")
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    module, name = project["project"]["entry-points"]["xarray.backends"]["fdapp"].split(":")
    engine = getattr(importlib.import_module(module), name)
    snapshots = [xarray.open_dataset(run_dir / f"state_{step:08d}.hdf", engine=engine) for step in (10, 30)]
    both = xarray.concat(snapshots, "time")
    assert both.phi.dims == ("time", "z", "y", "x") and both.time.values.tolist() == [0.1, 0.3]
    wanted = np.stack([synthetic.pulse((20, 16, 24), time) for time in (0.1, 0.3)])
    assert np.array_equal(both.phi.values, wanted) and list(both) == ["phi"]
    whole = xarray.open_dataset(run_dir, engine=engine, drop_variables="phi")
    assert whole.sizes["time"] == 5 and not list(whole)
    with pytest.raises(DataError, match="no such"):
        xarray.open_dataset(run_dir / "nowhere.hdf", engine=engine)


def test_without_xarray_the_error_names_the_package(run_dir, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(DataError, match="needs the package xarray: pip install xarray"):
        open_run(run_dir)
    assert read_command([str(run_dir)]) == 3 and "package xarray" in capsys.readouterr().err


def test_dataset_reads_only_what_is_asked_for(run_dir, monkeypatch):
    pytest.importorskip("xarray")
    from fdpost import State

    dataset, reads = open_run(run_dir), []
    plain = State.read
    monkeypatch.setattr(
        State, "read", lambda self, field, key=...: reads.append((self.step, key)) or plain(self, field, key)
    )
    plane = dataset.phi.isel(time=1, z=4)
    assert reads == []
    _ = plane.values
    assert reads == [(10, (4, slice(0, 16, 1), slice(0, 24, 1)))]


def test_dataset_goes_to_other_processes_unread(run_dir):
    pytest.importorskip("xarray")
    sent = pickle.dumps(open_run(run_dir))
    assert len(sent) < 20 * 16 * 24 * 4  # bytes: less than one state has
    assert np.array_equal(pickle.loads(sent).phi[1, 3].values, synthetic.pulse((20, 16, 24), 0.1)[3])


def test_a_dataset_is_read_from_wherever_one_goes(run_dir, tmp_path, monkeypatch):
    pytest.importorskip("xarray")
    monkeypatch.chdir(run_dir.parent)
    dataset = open_run(run_dir.name)
    monkeypatch.chdir(tmp_path)
    assert np.array_equal(dataset.phi[1, 3].values, synthetic.pulse((20, 16, 24), 0.1)[3])
    assert dataset.attrs["run"] == str(run_dir)


def test_a_dataset_of_a_name_that_is_no_text_can_be_printed_and_stored(tmp_path):
    pytest.importorskip("xarray")
    run = synthetic.write_run(tmp_path / os.fsdecode(b"r\xff"), steps=(0,))
    with open(run / "config.ini", "ab") as file:
        file.write(b"[output]\ndirectory = a/r\xff\n")
    dataset = open_run(run)
    assert dataset.attrs["output.directory"] == "a/r\\xff"
    assert str(dataset).encode() and dataset.attrs["run"] == f"{tmp_path}/r\\xff"
    assert dataset.phi.shape == (1, 20, 16, 24) and dataset.phi.values.max() > 0


def test_fdread_shows_a_run(run_dir, capsys):
    pytest.importorskip("xarray")
    assert read_command([str(run_dir)]) == 0
    assert "phi" in capsys.readouterr().out
    assert read_command([str(run_dir / "nowhere")]) == 3


def write_grid_run(path, n, errors, lengths=(1, 1, 1)):
    """A run on the grid n (x, y, z) with these errors at its end."""
    path.mkdir()
    lines = [f"n{axis} = {count}\nl{axis} = {length}\n" for axis, count, length in zip("xyz", n, lengths)]
    (path / "config.ini").write_text("[grid]\n" + "".join(lines))
    end = ",".join(f"{error:.17g}" for error in errors)
    header = "step,time,dt,mass,l2,min,max,courant,err_l1,err_l2,err_linf"
    (path / "diagnostics.csv").write_text(f"{header}\n0,0,1,1,1,0,1,1,0,0,0\n1,1,1,1,1,0,1,1,{end}\n")
    return Run(path)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("counts", [(16, 32, 64, 128), (32, 64, 128)])
def test_convergence_with_one_direction_refined(tmp_path, axis, counts):
    """Errors 3 h^4 of the refined direction, whose spacing is not the largest of all: order 4, not 11.9."""
    runs = []
    for n in counts:
        grid = [32, 32, 32]
        grid[axis] = n
        runs.append(write_grid_run(tmp_path / f"n{n}", grid, [3 * (1 / n) ** 4] * 3))
    samples = convergence.collect(runs, ["l2"])
    assert [sample.h for sample in samples] == [1 / n for n in counts]
    order, constant = convergence.fit_order([s.h for s in samples], [s.errors["l2"] for s in samples])
    assert (order, constant) == (pytest.approx(4), pytest.approx(3))
    fig, text = convergence.draw_convergence(runs, ["l2"])
    assert fig.axes[0].get_xlabel() == f"grid spacing $h_{'xyz'[axis]}$"
    assert text.count(" 4.00") == len(counts) - 1 and f"h is the spacing along {'xyz'[axis]};" in text


def test_convergence_of_a_flat_box_refined_alike(tmp_path):
    """Spacings 0.5, 0.25 and 0.125 along the axes, halved twice: the largest of the spacings is as good as any."""
    runs = [write_grid_run(tmp_path / f"n{n}", (n, n, n), [n**-2.0] * 3, (8, 4, 2)) for n in (16, 32, 64)]
    samples = convergence.collect(runs, ["l1"])
    assert [sample.h for sample in samples] == [0.5, 0.25, 0.125]
    assert convergence.fit_order([s.h for s in samples], [s.errors["l1"] for s in samples])[0] == pytest.approx(2)


def test_convergence_with_two_directions_refined(tmp_path):
    runs = [write_grid_run(tmp_path / f"n{n}", (n, 8, 2 * n), [n**-6.0] * 3) for n in (16, 32)]
    assert [sample.h for sample in convergence.collect(runs, ["l1"])] == [1 / 16, 1 / 32]


def test_convergence_refuses_axes_refined_by_different_factors(tmp_path):
    runs = [write_grid_run(tmp_path / f"n{n}", (n, n, m), [1.0 / n] * 3) for n, m in ((16, 16), (32, 24))]
    with pytest.raises(DataError, match=r"from n16 to n32 .*different factors \(x by 0\.5, y by 0\.5, z by 0\.6667\)"):
        convergence.collect(runs, ["l1"])


def shown_waves(run):
    """Wavenumbers and powers that the picture of a spectrum shows, with what its axis cuts off left out."""
    (ax,) = draw_spectrum(run, run.states).axes
    low, high = ax.get_xlim()
    k, power = ax.lines[0].get_data()
    inside = (k >= low) & (k <= high)
    return k[inside], power[inside]


@pytest.mark.parametrize("precision", ["f8", "f4"])
@pytest.mark.parametrize(
    "n, shape", [((20, 0, 0), (16, 16, 128)), ((0, 0, 7), (16, 16, 128)), ((28, 28, 28), (64, 64, 64))]
)
def test_spectrum_shows_waves_beyond_the_coarsest_axis(tmp_path, n, shape, precision):
    """Along x, 128 points hold 64 waves, whatever 16 points along y and z hold; in a cube a diagonal wave may be
    shorter than Nyquist's. It alone is shown, with the power a^2/4 of a cosine, in two of the waves of its shell, and
    no round-off."""

    def wave(shape, *_):
        z, y, x = np.meshgrid(*(np.arange(count) / count for count in shape), indexing="ij")
        return (3 * np.cos(2 * np.pi * (n[0] * x + n[1] * y + n[2] * z))).astype(precision)

    run = Run(synthetic.write_run(tmp_path / "r", shape=shape, steps=(0,), make=wave, errors=False))
    k, power = shown_waves(run)
    _, mean, count = power_spectrum(run.states[0].read(), (1.0, 1.0, 1.0))
    shell = np.argmax(power)
    assert k[shell] == pytest.approx(round(np.hypot(np.hypot(*n[:2]), n[2])))
    assert power[shell] * count[np.argmax(mean)] == pytest.approx(2 * 9 / 4, rel=1e-6)
    assert power.sum() - power[shell] < (1e-25 if precision == "f8" else 1e-12)


def test_spectrum_of_small_waves_on_a_large_background(tmp_path):
    """1e-3 on 300 in single precision: the wave is shown, and of the rest no more than what the precision stores."""

    def wave(shape, *_):
        x = np.arange(shape[2]) / shape[2]
        return np.broadcast_to(300 + 1e-3 * np.cos(6 * np.pi * x), shape).astype("f4")

    run = Run(synthetic.write_run(tmp_path / "r", shape=(16, 16, 32), steps=(0,), make=wave, errors=False))
    k, power = shown_waves(run)
    assert k[np.argmax(power)] == pytest.approx(3)


def test_spectrum_of_single_precision_is_computed_in_double(tmp_path):
    """Values of 1e25, whose squares single precision does not hold."""

    def wave(shape, *_):
        return np.broadcast_to(1e25 * np.cos(6 * np.pi * np.arange(shape[2]) / shape[2]), shape).astype("f4")

    run = Run(synthetic.write_run(tmp_path / "r", shape=(8, 8, 32), steps=(0,), make=wave, errors=False))
    _, mean, count = power_spectrum(run.states[0].read(), (1.0, 1.0, 1.0))
    assert (mean * count).sum() == pytest.approx(0.5e50, rel=1e-6)
    k, power = shown_waves(run)
    assert k[np.argmax(power)] == pytest.approx(3)
