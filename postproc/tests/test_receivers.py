"""Traces of receivers: reading, interpolation in time, the picture, and SEG-Y as segyio reads it."""

import h5py
import numpy as np
import pytest

from fdpost import DataError, Run, UsageError
from fdpost.receivers import draw_receivers, resampled, write_segy

pytestmark = pytest.mark.quick

SOURCE = np.array([0.75, 0.5, 0.05])
DT = 0.00123456


def signal(t, distance):
    return np.exp(-(((t - 0.1 - distance) / 0.04) ** 2)) * np.sin(40 * (t - distance))


def write_run(directory, count=11, samples=400):
    """A line of receivers at z = 0.02, each with a signal that comes later the farther it is."""
    positions = np.stack([np.linspace(0.1, 1.4, count), np.full(count, 0.5), np.full(count, 0.02)], axis=1)
    time = DT * np.arange(samples)
    distance = np.linalg.norm(positions - SOURCE, axis=1)
    directory.mkdir()
    with h5py.File(directory / "receivers.h5", "w") as file:
        file["positions"], file["time"], file["step"] = positions, time, np.arange(samples)
        file["p"] = signal(time[:, None], distance)
    (directory / "config.ini").write_text(f'[point_sources]\npoints = "{" ".join(map(str, SOURCE))}"\n')
    return Run(directory)


def test_a_run_reads_its_traces(tmp_path):
    receivers = write_run(tmp_path / "r").receivers
    assert receivers.p.shape == (400, 11) and receivers.axis == 0
    distance = np.linalg.norm(receivers.positions[3] - SOURCE)
    assert np.array_equal(receivers.p[:, 3], signal(receivers.time, distance))


def test_interpolation_in_time_has_order_eight():
    errors = []
    for count in (41, 81):
        time, wanted = np.linspace(0, 1, count), np.linspace(0, 1, 333)
        found = resampled(time, np.sin(9 * time)[:, None], wanted)[:, 0]
        errors.append(np.max(np.abs(found - np.sin(9 * wanted))))
    assert errors[1] < 1e-8 and np.log2(errors[0] / errors[1]) > 7.5
    assert resampled(time, time[:, None], time)[:, 0] == pytest.approx(time, abs=1e-14)
    with pytest.raises(UsageError, match="evenly"):
        resampled(time**2, time[:, None], time)


def test_the_picture_has_a_section_and_traces(tmp_path):
    run = write_run(tmp_path / "line")
    section, traces = draw_receivers(run, [2, 5]).axes[:2]
    assert section.get_xlabel() == "$x$" and section.yaxis_inverted()
    assert np.array_equal(np.asarray(section.images[0].get_array()), run.receivers.p)
    left, right, end, start = section.images[0].get_extent()
    assert (left, right) == pytest.approx((0.1 - 0.065, 1.4 + 0.065))
    assert (start, end) == pytest.approx((-DT / 2, 399.5 * DT))
    assert [line.get_label() for line in traces.lines] == ["2: 0.36 0.5 0.02", "5: 0.75 0.5 0.02"]
    assert np.array_equal(traces.lines[1].get_ydata(), run.receivers.p[:, 5])
    few = write_run(tmp_path / "few", count=3)
    assert len(draw_receivers(few).axes) == 1 and len(draw_receivers(few).axes[0].lines) == 3


def test_fdplot_draws_and_refuses(tmp_path, fdplot):
    run = write_run(tmp_path / "r")
    code, out, _ = fdplot("receivers", run.directory)
    assert code == 0 and out.strip().endswith("receivers.png") and (run.directory / "receivers.png").exists()
    code, _, err = fdplot("receivers", run.directory, "--traces", 11)
    assert code == 2 and "0 to 10" in err
    (run.directory / "receivers.h5").write_bytes(b"no HDF5")
    code, _, err = fdplot("receivers", run.directory)
    assert code == 3 and "not a file of receivers" in err
    (run.directory / "receivers.h5").unlink()
    code, _, err = fdplot("receivers", run.directory)
    assert code == 3 and "[receivers]" in err


def test_traces_without_times_are_refused(tmp_path):
    run = write_run(tmp_path / "r")
    with h5py.File(run.directory / "receivers.h5", "r+") as file:
        del file["time"]
        file["time"] = np.zeros(7)
    with pytest.raises(DataError, match="7 times"):
        _ = run.receivers


@pytest.mark.parametrize(("interval", "microseconds"), [(None, 1234), (2000, 2000)])
def test_segy_is_what_segyio_reads(tmp_path, interval, microseconds):
    segyio = pytest.importorskip("segyio")
    run = write_run(tmp_path / "r")
    receivers = run.receivers
    path = write_segy(run, tmp_path / "r.sgy", interval)
    with segyio.open(path, ignore_geometry=True) as file:
        assert file.tracecount == 11 and segyio.tools.dt(file) == microseconds
        assert file.bin[segyio.BinField.Interval] == microseconds
        times = np.arange(len(file.samples)) * microseconds * 1e-6
        assert times[-1] <= receivers.time[-1] < times[-1] + microseconds * 1e-6
        for number in range(11):
            distance = np.linalg.norm(receivers.positions[number] - SOURCE)
            assert np.max(np.abs(file.trace[number] - signal(times, distance))) < 1e-6
            header = file.header[number]
            scale = -header[segyio.TraceField.SourceGroupScalar]
            place = [header[name] / scale for name in (segyio.TraceField.GroupX, segyio.TraceField.GroupY,
                                                       segyio.TraceField.ReceiverGroupElevation)]  # fmt: skip
            x, y, z = receivers.positions[number]
            assert place == pytest.approx([x, y, -z], abs=1e-4)
            assert header[segyio.TraceField.offset] == (1 if abs(x - SOURCE[0]) > 0.5 else 0)
            assert header[segyio.TraceField.SourceDepth] / scale == SOURCE[2]
            assert header[segyio.TraceField.SourceSurfaceElevation] == 0
            assert header[segyio.TraceField.SourceX] / scale == 0.75


def test_segy_refuses_what_it_cannot_hold(tmp_path):
    pytest.importorskip("segyio")
    run = write_run(tmp_path / "r")
    for options, said in (({"seconds": 1e-6}, "seconds"), ({"seconds": 100}, "123456"), ({"interval": 40000}, "32767")):
        with pytest.raises(UsageError, match=said):
            write_segy(run, tmp_path / "r.sgy", **options)
    with pytest.raises(UsageError, match="samples"):
        write_segy(run, tmp_path / "r.sgy", interval=1)
    assert not (tmp_path / "r.sgy").exists()
