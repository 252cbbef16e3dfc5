"""Spectra and decays of probes against sines and damped cosines, and their pictures."""

import numpy as np
import pytest

from fdpost import Run, UsageError
from fdpost.probes import decay, draw_probes, spectrum

pytestmark = pytest.mark.quick

WHEN = np.arange(2000) * 3e-4
LINE = 1 / (2000 * 3e-4)  # between lines of a spectrum
UNITS = "[units]\ntime = s\np = Pa\n"


def wave(frequency, rate=0.0, phase=0.4):
    return np.exp(-rate * WHEN) * np.cos(2 * np.pi * frequency * WHEN + phase)


def write_run(directory, more="", **columns):
    directory.mkdir(parents=True)
    table = {"step": np.arange(len(WHEN)), "time": WHEN} | columns
    rows = [",".join(table), *(",".join(f"{column[i]:.17g}" for column in table.values()) for i in range(len(WHEN)))]
    (directory / "probes.csv").write_text("\n".join(rows) + "\n")
    (directory / "config.ini").write_text("[grid]\nnx = 9\nny = 9\nnz = 9\n" + more)
    return Run(directory)


@pytest.mark.parametrize("method", ["plain", "welch"])
def test_a_sine_has_its_amplitude_and_frequency(method):
    when = np.arange(2000) * 0.001
    found = spectrum(when, 3 * np.sin(2 * np.pi * 50.3 * when) + 7, method)
    ((frequency, amplitude),) = found.peaks
    assert frequency == pytest.approx(50.3, rel=1e-4) and amplitude == pytest.approx(3, rel=1e-3)


def test_a_shortened_last_step_is_left_out():
    when = np.append(np.arange(100) * 0.01, 0.9931)
    found, whole = spectrum(when, np.cos(40 * when)), spectrum(when[:-1], np.cos(40 * when[:-1]))
    assert np.array_equal(found.amplitude, whole.amplitude) and not found.interpolated


def cut(dt, end, *intervals):
    """Times of steps dt that are shortened to meet multiples of the intervals."""
    when = [0.0]
    while when[-1] < end:
        ends = [(np.floor(when[-1] / interval + 1e-9) + 1) * interval for interval in intervals]
        when.append(min(when[-1] + dt, *ends, end))
    return np.array(when)


@pytest.mark.parametrize("intervals", [(0.1,), (0.0301,), (0.00123,), (0.0100001,), (0.0031, 0.0047, 0.0101)])
def test_shortened_steps_count(intervals):
    """A tone of ten samples a period, and a low one that a part of the series would not show."""
    when = cut(0.00097, 0.4, *intervals)
    found = spectrum(when, np.cos(2 * np.pi * 34.3 * when) + 0.5 * np.cos(2 * np.pi * 100 * when + 1) + 3)
    (low, large), (high, small) = found.peaks
    assert found.interpolated and found.resolution == pytest.approx(1 / 0.4, rel=0.005)
    assert low == pytest.approx(34.3, rel=2e-4) and high == pytest.approx(100, rel=1e-4)
    assert large == pytest.approx(1, rel=2e-3) and small == pytest.approx(0.5, rel=2e-3)
    silent = found.amplitude[(found.frequency > 150) & (found.frequency < 400)]
    assert silent.max() < 1e-4  # a linear interpolation leaves 2 % there


def test_rounded_values_at_close_times():
    """Two samples 1e-5 steps apart say nothing of the slope between them."""
    when = cut(0.001, 0.4005, 0.01000001)
    values = np.float32(np.cos(2 * np.pi * 34.3 * when))
    ((frequency, amplitude),) = spectrum(when, values).peaks
    assert frequency == pytest.approx(34.3, rel=2e-4) and amplitude == pytest.approx(1, rel=2e-3)
    assert spectrum(when, values).amplitude[-1000:].max() < 1e-6


def test_wide_gaps_have_no_spectrum_and_the_series_is_drawn(tmp_path, fdplot, monkeypatch):
    monkeypatch.setattr(f"{__name__}.WHEN", np.cumsum([0.001] * 140 + [0.005] * 20))
    run = write_run(tmp_path / "run", UNITS, **{"p(0 0 0)": wave(60), "p(1 0 0)": wave(80)})
    with pytest.raises(UsageError, match=r"output\.probes_at gives .*for waves output\.probes_every"):
        spectrum(WHEN, wave(60))
    fig, (line,) = draw_probes(run, decays=True)
    left, right = fig.axes
    assert [len(drawn.get_xdata()) for drawn in left.lines] == [160, 160] and not right.lines
    assert line.startswith("run: no spectrum") and [text.get_text() for text in right.texts] == ["no spectrum"]
    assert not any("window" in text.get_text() for text in fig.texts)
    code, out, _ = fdplot("probes", tmp_path / "run")
    assert code == 0 and "probes_at" in out and (tmp_path / "run/probes.png").exists()


def test_the_picture_says_what_was_interpolated(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.WHEN", cut(0.001, 0.4, 0.0301))
    fig, (line,) = draw_probes(write_run(tmp_path / "run", UNITS, **{"p(0 0 0)": wave(34.3)}), decays=False)
    assert any(f"{len(WHEN)} samples to t = 0.4 s, interpolated to equal steps" in text.get_text()
               for text in fig.texts)  # fmt: skip
    assert line == (
        "p(0 0 0): peaks at (in Hz) 34.30 (1); lines are 2.494 apart; modes nearer than 4.988 may appear as one peak,"
        " up to about a line off; samples interpolated to equal steps"
    )


def test_close_peaks_are_marked_and_none_is_dropped(tmp_path):
    """Two tones 1.95 lines apart, whose curve has two maxima, beside one alone."""
    values = wave(68.0) + 0.8 * wave(71.25, phase=2.2) + wave(120.0)
    found = spectrum(WHEN, values)
    assert [round(frequency) for frequency, _ in found.peaks] == [68, 71, 120]
    assert found.close == [True, True, False]
    fig, (line,) = draw_probes(write_run(tmp_path / "run", UNITS, **{"p(0 0 0)": values}), most=200)
    first, second = (frequency for frequency, _ in found.peaks[:2])
    assert f"peaks at (in Hz) {first:.1f}* (" in line and f", {second:.1f}* (" in line and ", 120.00 (" in line
    assert "*: within two lines of another peak" in line
    _, right = fig.axes
    dots = [line.get_markerfacecolor() == "white" for line in right.lines if line.get_marker() == "o"]
    assert dots == [True, True, False] and right.get_ylabel() == "amplitude / Pa"
    assert any("hollow" in text.get_text() for text in fig.texts)
    _, (_, told) = draw_probes(Run(tmp_path / "run"), most=200, decays=True)
    assert told.endswith(" at 120") and "68" not in told  # a rate of peaks that stand alone


def test_modes_that_appear_as_one_peak_are_spoken_of(tmp_path):
    """Two tones 1.06 lines apart, whose curve has one maximum."""
    values = wave(65.96) + 0.7 * wave(65.96 + 1.06 * LINE, phase=np.pi)
    found = spectrum(WHEN, values)
    assert len(found.peaks) == 1 and 0.1 * LINE < abs(found.peaks[0][0] - 65.96) < LINE
    run = write_run(tmp_path / "run", UNITS, **{"p(0 0 0)": values})
    line = draw_probes(run, most=200)[1][0]
    assert line.endswith(f"modes nearer than {2 * LINE:.4g} may appear as one peak, up to about a line off")
    assert "may appear" not in draw_probes(run, most=1)[1][0]  # where no peak is listed


def test_what_is_beyond_the_highest_frequency_is_not_listed(tmp_path):
    run = write_run(tmp_path / "run", **{"p(0 0 0)": wave(60) + wave(300)})
    assert "300.0" in draw_probes(run)[1][0]
    assert "60.0" in draw_probes(run, most=100)[1][0] and "300.0" not in draw_probes(run, most=100)[1][0]


@pytest.mark.parametrize("rate", [0.5, 7.65, 49.0])
def test_a_damped_cosine_has_its_rate_and_frequency(rate):
    found = decay(WHEN, 3 * wave(57.2, rate) + 0.2, 56.8)
    assert found.rate == pytest.approx(rate, rel=1e-3) and found.frequency == pytest.approx(57.2, abs=3e-3)
    assert found.width == pytest.approx(rate / np.pi, rel=1e-3)
    assert found.reverberation == pytest.approx(6.9078 / rate, rel=1e-3)  # ln 1000 / rate: 60 dB of energy


def test_modes_beside_one_another_have_rates_of_their_own(tmp_path, fdplot):
    """Four lines of the spectrum and more apart; one that does not fall, and one that grows."""
    values = wave(57.2, 2.0) + 0.5 * wave(68.0, 5.0, 1.0) + 0.3 * wave(90) + 0.01 * wave(120, -5)
    assert decay(WHEN, values, 57.2).rate == pytest.approx(2, rel=0.01)
    assert decay(WHEN, values, 68.0).rate == pytest.approx(5, rel=0.02)
    assert abs(decay(WHEN, values, 90).rate) < 0.01
    grows = decay(WHEN, values, 120)
    assert grows.rate == pytest.approx(-5, rel=0.01) and grows.reverberation == np.inf
    write_run(tmp_path / "run", UNITS, **{"p(0 0 0)": values})
    code, out, _ = fdplot("probes", tmp_path / "run", "--decay", "--most", 100)
    told = next(line for line in out.splitlines() if "modes fall" in line)
    rates = [float(part.split(" at ")[0]) for part in told.split("(in 1/s) ")[1].split(", ")]
    assert code == 0 and rates == pytest.approx([2, 5, 0], abs=0.1)


def test_a_window_of_few_periods_is_refused():
    with pytest.raises(UsageError, match=r"at least 4 periods, 0\.8, and less than the series"):
        decay(WHEN, wave(5), 5)
    with pytest.raises(UsageError, match="less than the series"):
        decay(WHEN, wave(50), 50, window=0.6)


def test_runs_of_a_sweep_in_one_picture(tmp_path, fdplot):
    """Grids of a sweep have columns of other names."""
    first = write_run(tmp_path / "sweep/a", UNITS, **{"p(1 1 1)": wave(50), "u(1 1 1)": wave(60)})
    second = write_run(tmp_path / "sweep/b", UNITS, **{"p(1 0.9 1)": wave(55), "u(1 0.9 1)": wave(65)})
    fig, lines = draw_probes([first, second], ["p"])
    left, _ = fig.axes
    assert [line.get_label() for line in left.lines] == ["a", "b"] and len(lines) == 2
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["a", "b"]
    assert lines[0].startswith("p(1 1 1) of a: peaks at (in Hz) 50.0") and "of b: peaks at (in Hz) 55.0" in lines[1]
    code, out, _ = fdplot("probes", tmp_path / "sweep/a", tmp_path / "sweep/b")
    assert code == 0 and out.splitlines()[-1] == str((tmp_path / "sweep/probes.png").resolve())
    code, _, err = fdplot("probes", tmp_path / "sweep/a", tmp_path / "sweep/b", "--field", "w")
    assert code == 2 and "no field 'w'" in err
