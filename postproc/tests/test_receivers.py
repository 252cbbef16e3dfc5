"""Traces of receivers: reading, interpolation in time, the picture, and SEG-Y as segyio reads it."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import fdpost
from fdpost import DataError, Run, UsageError
from fdpost.receivers import Receivers, draw_receivers, write_segy

pytestmark = pytest.mark.quick

SOURCE = np.array([0.75, 0.5, 0.05])
DT = 0.00123456
TIME = DT * np.arange(400)


def signal(t, distance):
    return np.exp(-(((t - 0.1 - distance) / 0.04) ** 2)) * np.sin(40 * (t - distance))


def write_run(directory, count=11, time=TIME, spacing=0.13):
    """A line of receivers at z = 0.02, each with a signal that comes later the farther it is."""
    positions = np.stack([0.1 + spacing * np.arange(count), np.full(count, 0.5), np.full(count, 0.02)], axis=1)
    distance = np.linalg.norm(positions - SOURCE, axis=1)
    directory.mkdir()
    with h5py.File(directory / "receivers.h5", "w") as file:
        file["positions"], file["time"], file["step"] = positions, time, np.arange(len(time))
        file["p"] = signal(time[:, None], distance)
    (directory / "config.ini").write_text(f'[point_sources]\npoints = "{" ".join(map(str, SOURCE))}"\n')
    return Run(directory)


def test_a_run_reads_its_traces(tmp_path):
    receivers = write_run(tmp_path / "r").receivers
    assert receivers.p.shape == (400, 11) and receivers.axis == 0
    distance = np.linalg.norm(receivers.positions[3] - SOURCE)
    assert np.array_equal(receivers.p[:, 3], signal(receivers.time, distance))


def one_trace(time, values):
    return Receivers(np.zeros((1, 3)), time, np.arange(len(time)), values[:, None])


def test_interpolation_in_time_has_order_eight():
    errors = []
    for count in (41, 81):
        time, wanted = np.linspace(0, 1, count), np.linspace(0, 1, 333)
        found = one_trace(time, np.sin(9 * time)).at(wanted)[:, 0]
        errors.append(np.max(np.abs(found - np.sin(9 * wanted))))
    assert errors[1] < 1e-8 and np.log2(errors[0] / errors[1]) > 7.5
    assert one_trace(time, time).at(time)[:, 0] == pytest.approx(time, abs=1e-14)


def test_traces_begin_at_the_first_sample():
    """A file that a resumed run began at t = 0.6, in which an extrapolation to t = 0 would have huge values."""
    time = 0.6 + 0.01 * np.arange(31)
    receivers = one_trace(time, np.sin(9 * time))
    found = receivers.evenly(0.004)
    assert found.shape == (76, 1)
    assert found[:, 0] == pytest.approx(np.sin(9 * (0.6 + 0.004 * np.arange(76))), abs=1e-9)
    for beyond in (0.59, 0.91):
        with pytest.raises(UsageError, match=r"from 0\.6 to 0\.9"):
            receivers.at([0.7, beyond])
    assert one_trace(time[:1], time[:1]).evenly(0.004) == pytest.approx(0.6)


def shortened(end, *intervals):
    """Times at steps of DT up to `end`, which begin again after each of the intervals' ends."""
    ends = np.array([*intervals, end])
    parts = [np.arange(start, stop, DT) for start, stop in zip([0, *ends], ends)]
    return np.concatenate([*parts, [end]])


def test_an_odd_last_sample_is_left_out():
    time = shortened(20.3 * DT)
    receivers = one_trace(time, np.cos(9 * time))
    assert len(time) == 22 and receivers.even[1] == pytest.approx(DT, rel=1e-12)
    assert receivers.evenly(DT)[:, 0] == pytest.approx(np.cos(9 * time[:21]), abs=1e-14)


def test_shortened_steps_are_interpolated():
    """A run resumed beyond its t_end: the shortened step stands in the middle."""
    time, wanted = shortened(0.5, 40.3 * DT, 200.8 * DT), 1.1 * DT * np.arange(369)
    found = one_trace(time, np.sin(40 * time)).evenly(1.1 * DT)[:, 0]
    assert len(found) == 369 and np.max(np.abs(found - np.sin(40 * wanted))) < 1e-9


def test_long_gaps_are_refused():
    with pytest.raises(UsageError, match=r"receivers\.every"):
        one_trace(np.cumsum([0.001] * 140 + [0.005] * 20), np.zeros(160)).evenly(0.001)


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


def test_the_section_shows_samples_at_their_times(tmp_path):
    """Steps that are shortened in the middle, and twice as long ones after a resume: a cell reaches halfway to the
    next. With one shortened step at the end, too."""
    late = np.concatenate([shortened(200.8 * DT, 40.3 * DT), 200.8 * DT + 2 * DT * np.arange(1, 60)])
    for name, time in (("resumed", late), ("ended", shortened(20.3 * DT))):
        section = draw_receivers(write_run(tmp_path / name, time=time)).axes[0]
        (mesh,) = section.collections
        places = np.asarray(mesh.get_coordinates())
        halfway = (time[1:] + time[:-1]) / 2
        ends = [2 * time[0] - halfway[0], 2 * time[-1] - halfway[-1]]
        assert places[:, 0, 1] == pytest.approx(np.array([ends[0], *halfway, ends[1]]))
        assert places[0, :, 0] == pytest.approx(0.1 + 0.13 * (np.arange(12) - 0.5)) and section.yaxis_inverted()
        assert mesh.get_array().shape == (len(time), 11) and not section.images


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


def test_segy_begins_at_a_whole_millisecond(tmp_path):
    """DelayRecordingTime has no fraction: zeros stand from there to the first sample, and nothing is extrapolated."""
    segyio = pytest.importorskip("segyio")
    time = 0.0627 + DT * np.arange(300)
    run = write_run(tmp_path / "r", time=time)
    with segyio.open(write_segy(run, tmp_path / "r.sgy", interval=100), ignore_geometry=True) as file:
        assert {header[segyio.TraceField.DelayRecordingTime] for header in file.header} == {62}
        times = file.samples / 1000
        assert times[0] == 0.062 and times[-1] <= time[-1] < times[-1] + 1e-4
        for number, position in enumerate(run.receivers.positions):
            right = signal(times, np.linalg.norm(position - SOURCE)) * (times > 0.06265)
            assert np.max(np.abs(file.trace[number] - right)) < 1e-6
    with pytest.raises(UsageError, match="62700 ms"):
        write_segy(run, tmp_path / "r.sgy", interval=30000, seconds=1000)


def test_segy_as_documented(tmp_path):
    """By the names and the types in docs/reference/python.md, in a process that has imported nothing else."""
    pytest.importorskip("segyio")
    write_run(tmp_path / "r", time=shortened(50.3 * DT))
    text = 'import fdpost; print(fdpost.receivers.write_segy(fdpost.Run("r"), "shot.sgy"))'
    place = os.environ | {"PYTHONPATH": str(Path(fdpost.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", text], check=False, cwd=tmp_path, env=place, capture_output=True, text=True
    )
    assert done.stdout == "shot.sgy\n" and (tmp_path / "shot.sgy").exists(), done.stderr


def test_segy_tells_receivers_apart(tmp_path, fdplot):
    """Places 0.04 mm apart are the same in SEG-Y's 0.1 mm, and are not if millimetres count as metres."""
    segyio = pytest.importorskip("segyio")
    run = write_run(tmp_path / "r", spacing=4e-5)
    with pytest.raises(UsageError, match=r"receivers 0 and 1 .* 0\.0001 m.*metres"):
        fdpost.receivers.write_segy(run, tmp_path / "r.sgy")
    code, _, err = fdplot("receivers", run.directory, "--segy", tmp_path / "r.sgy", "--metres", 1000)
    assert code == 0, err
    with segyio.open(tmp_path / "r.sgy", ignore_geometry=True) as file:
        header = file.header[7]
        assert header[segyio.TraceField.GroupX] == round(100.28 * 10000)
        assert header[segyio.TraceField.SourceX] == 750 * 10000 and header[segyio.TraceField.offset] == 650
        assert file.bin[segyio.BinField.MeasurementSystem] == 1
    with pytest.raises(UsageError, match="metres"):
        write_segy(run, tmp_path / "r.sgy", metres=1e10)


def test_segy_refuses_what_it_cannot_hold(tmp_path):
    pytest.importorskip("segyio")
    run = write_run(tmp_path / "r")
    for options, said in (({"seconds": 1e-6}, "seconds"), ({"seconds": 100}, "123456"), ({"interval": 40000}, "32767")):
        with pytest.raises(UsageError, match=said):
            write_segy(run, tmp_path / "r.sgy", **options)
    with pytest.raises(UsageError, match="samples"):
        write_segy(run, tmp_path / "r.sgy", interval=1)
    assert not (tmp_path / "r.sgy").exists()
