"""Statistics that a run finds while it goes on: against numpy over the snapshots of all steps, one answer over ranks,
precisions apart, and resumes, and what is refused."""

import h5py
import numpy as np
import pytest

from program import BASE, hash_of, launch, merged, run, states, write_ini

SOUND = {
    "grid": {"nx": 20, "ny": 18, "nz": 24, "ly": 1.0, "lz": 1.3},
    "physics": {"equation": "acoustics"},
    "boundary": {"x": "wall"},
    "initial": {"case": "gaussian", "center_x": 0.3, "width": 0.15},
    "time": {"courant": 0.8, "steps": 24},
    "compute": {"threads": 1, "backend": "cpu"},
    "output": {"fields_every": 1, "diagnostics_every": 0},
    "statistics": {"fields": "p u w", "products": "yes"},
}
NAMES = ("p", "u", "w")
LAST = "statistics_00000024.hdf"
ANEW = "statistics begin anew, because those of step 1"
NONE = "no state was a sample of statistics, so there is no file of them"


def fields(path):
    with h5py.File(path) as file:
        return {name: data[:].astype(float) for name, data in file["VTKHDF/PointData"].items()}


def samples(path):
    with h5py.File(path) as file:
        return int(file["fdapp"].attrs["samples"])


def expected(directory, steps, weights=None, names=NAMES):
    """Mean, variance and mean products of the snapshots of these steps, by numpy."""
    found = [fields(directory / f"state_{step:08d}.hdf") for step in steps]
    series = {name: np.array([one[name] for one in found]) for name in names}

    def mean(values):
        return np.average(values, axis=0, weights=weights)

    result = {f"mean_{name}": mean(values) for name, values in series.items()}
    result |= {f"variance_{name}": mean((values - mean(values)) ** 2) for name, values in series.items()}
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return result | {f"product_{a}_{b}": mean(series[a] * series[b]) for a, b in pairs}


def times_of(directory):
    times = {}
    for name in states(directory):
        with h5py.File(directory / name) as file:
            times[int(file["fdapp"].attrs["step"])] = float(file["fdapp"].attrs["time"])
    return times


def off(found, wanted):
    return max(np.abs(found[name] - wanted[name]).max() / np.abs(wanted[name]).max() for name in wanted)


def contents(path):
    """The values' bytes; what the file says of the run besides may differ."""
    with h5py.File(path) as file:
        return {name: data[:].tobytes() for name, data in file["VTKHDF/PointData"].items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("statistics")
    return folder, run(folder / "whole", SOUND)


def test_against_numpy(whole):
    folder, said = whole
    assert "statistics mean and variance, and mean products, over time of p u w every step\n" in said.stdout
    found = fields(folder / "whole" / LAST)
    wanted = expected(folder / "whole", range(25))
    assert found.keys() == wanted.keys() and samples(folder / "whole" / LAST) == 25
    assert off(found, wanted) < 1e-12
    half = fields(folder / "whole/statistics_00000012.hdf")
    assert off(half, expected(folder / "whole", range(13))) < 1e-12
    launch(folder, 1, "--verify", f"whole/{LAST}")


def test_a_window_and_steps_between(whole, tmp_path):
    folder, _ = whole
    times = times_of(folder / "whole")
    window = (f"statistics.from={times[5]!r}", f"statistics.to={times[20]!r}", "statistics.every=3")
    run(tmp_path / "run", SOUND, *window, "output.fields_every=0")
    assert [path.name for path in tmp_path.glob("run/*.hdf")] == [LAST]
    assert samples(tmp_path / "run" / LAST) == 5
    assert off(fields(tmp_path / "run" / LAST), expected(folder / "whole", (6, 9, 12, 15, 18))) < 1e-12


def test_steps_of_any_size(tmp_path):
    """Means over time: a sample weighs the time since the one before, and the first one as much as the second. Steps
    are shortened to meet outputs by time and the end."""
    shortened = ("output.probes=0.5 0.5 0.5", "output.probes_at=0.11", "time.t_end=0.5", "statistics.every=2")
    run(tmp_path / "run", SOUND, *shortened)
    times = times_of(tmp_path / "run")
    steps = sorted(times)[::2]
    last = tmp_path / f"run/statistics_{max(times):08d}.hdf"
    weights = np.diff([times[step] for step in steps])
    assert weights.max() > 1.3 * weights.min()
    weights = np.insert(weights, 0, weights[0])
    assert off(fields(last), expected(tmp_path / "run", steps, weights)) < 1e-12
    assert off(fields(last), expected(tmp_path / "run", steps)) > 1e-3
    # Step 7 is no sample: the time of the one before is in the file.
    resumed = ("restart.from=run/state_00000007.hdf", *shortened)
    run(tmp_path / "resumed", SOUND, *resumed, ranks=2)
    assert contents(tmp_path / "resumed" / last.name) == contents(last)


def test_a_far_mean_loses_no_digits(tmp_path):
    """A variance 1e12 times smaller than the squared mean, which the difference of sums would lose."""
    far = merged(BASE, {"initial": {"background": 1e6}, "statistics": {"fields": "phi"}, "output": {"fields_every": 1}})
    run(tmp_path / "run", far)
    series = np.array([fields(tmp_path / "run" / name)["phi"] for name in states(tmp_path / "run")])
    found = fields(tmp_path / "run" / LAST)
    assert np.abs(found["mean_phi"] / series.mean(0) - 1).max() < 1e-14
    # The samples' own rounding is 1e-10, of a deviation of up to 0.3.
    assert np.abs(found["variance_phi"] - series.var(0)).max() < 1e-8 * series.var(0).max()


@pytest.mark.parametrize("precision", ["double", "single"])
def test_one_answer_over_ranks_and_resumes(tmp_path, precision):
    overrides = (f"compute.precision={precision}", "output.fields_every=0", "output.checkpoint_every=5")
    said = run(tmp_path / "one", SOUND, *overrides)
    run(tmp_path / "three", SOUND, *overrides, ranks=3)
    assert contents(tmp_path / "three" / LAST) == contents(tmp_path / "one" / LAST)
    run(tmp_path / "parts", SOUND, *overrides, "time.steps=13", ranks=2)
    # Only beside snapshots that are there.
    parts = sorted(path.name for path in tmp_path.glob("parts/*.hdf"))
    assert parts == [f"{kind}_{step:08d}.hdf" for kind in ("state", "statistics") for step in (10, 13)]
    (tmp_path / "parts/state_00000013.hdf").unlink()  # the step 13 was taken, and is taken again
    resumed = run(tmp_path / "parts", SOUND, *overrides, "restart.from=latest", ranks=3)
    assert "warning" not in resumed.stderr and hash_of(resumed) == hash_of(said)
    assert contents(tmp_path / "parts" / LAST) == contents(tmp_path / "one" / LAST)
    assert samples(tmp_path / "parts" / LAST) == 25
    elsewhere = run(tmp_path / "other", SOUND, *overrides, "restart.from=parts/state_00000020.hdf")
    assert "warning" not in elsewhere.stderr
    assert contents(tmp_path / "other" / LAST) == contents(tmp_path / "one" / LAST)


def test_statistics_that_cannot_be_continued_begin_anew(whole, tmp_path):
    folder, _ = whole
    source = f"restart.from={folder}/whole/state_00000010.hdf"
    other = run(tmp_path / "other", SOUND, source, "statistics.fields=p u v")
    assert ANEW in other.stderr and "holds the fields mean_p" in other.stderr
    assert samples(tmp_path / "other" / LAST) == 15


def test_another_window_begins_anew(whole, tmp_path):
    """A sample of a time that the window leaves out would spoil the mean."""
    folder, _ = whole
    times = times_of(folder / "whole")
    source = f"restart.from={folder}/whole/state_00000010.hdf"
    windows = {
        f"statistics.from={times[5]!r}": range(10, 25),
        f"statistics.from={times[15]!r}": range(15, 25),
        "statistics.every=4": range(12, 25, 4),
    }
    for number, (window, steps) in enumerate(windows.items()):
        said = run(tmp_path / f"run{number}", SOUND, source, window, "output.fields_every=0")
        assert ANEW in said.stderr and "holds samples from t = 0 to 1e+30 every step; this run's are" in said.stderr
        last = tmp_path / f"run{number}" / LAST
        assert samples(last) == len(steps) and off(fields(last), expected(folder / "whole", steps)) < 1e-12


def test_another_end_of_the_window(whole, tmp_path):
    """Statistics continue if no sample is lost by the change, and none is too many."""
    folder, _ = whole
    times = times_of(folder / "whole")
    earlier = (f"restart.from={folder}/whole/state_00000010.hdf", "output.fields_every=0")
    said = run(tmp_path / "earlier", SOUND, *earlier, f"statistics.to={times[20]!r}")
    assert "warning" not in said.stderr and samples(tmp_path / "earlier" / LAST) == 21
    said = run(tmp_path / "past", SOUND, *earlier, f"statistics.to={times[8]!r}")
    assert ANEW in said.stderr and NONE in said.stderr
    assert not (tmp_path / "past" / LAST).exists()

    run(tmp_path / "short", SOUND, f"statistics.to={times[12]!r}")
    later = "output.fields_every=0"
    said = run(tmp_path / "later", SOUND, "restart.from=short/state_00000012.hdf", later)
    assert "warning" not in said.stderr
    assert contents(tmp_path / "later" / LAST) == contents(folder / "whole" / LAST)
    said = run(tmp_path / "lost", SOUND, "restart.from=short/state_00000014.hdf", later)
    assert ANEW in said.stderr and samples(tmp_path / "lost" / LAST) == 11


def test_a_window_without_a_sample_is_warned_of(tmp_path):
    for words in (("statistics.from=50",), ("statistics.from=50", "time.t_end=0.2")):
        said = run(tmp_path / "run", SOUND, *words)
        assert "statistics.from = 50 is after the end of the run, t = " in said.stderr and NONE in said.stderr
    assert not list(tmp_path.glob("run/statistics*"))
    write_ini(tmp_path / "run.ini", SOUND)
    assert "statistics.from = 50" in launch(tmp_path, 1, "--validate", "run.ini", "statistics.from=50").stderr
    said = run(tmp_path / "between", SOUND, "statistics.from=1e-5", "statistics.to=2e-5")
    assert NONE in said.stderr


def test_a_damaged_file_has_a_way_out(tmp_path):
    run(tmp_path / "run", SOUND, "time.steps=10", "output.fields_every=0", "output.checkpoint_every=5")
    file = tmp_path / "run/statistics_00000010.hdf"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    for ranks in (1, 2):
        said = run(tmp_path / "run", SOUND, "restart.from=latest", ranks=ranks, code=3)
        assert "statistics_00000010.hdf: damaged" in said.stderr
        assert "remove this file, and statistics begin anew; or resume from an earlier snapshot" in said.stderr
    file.unlink()
    said = run(tmp_path / "run", SOUND, "restart.from=latest")
    assert ANEW in said.stderr and samples(tmp_path / "run" / LAST) == 15


def test_a_fresh_run_moves_them_away(tmp_path):
    run(tmp_path / "run", SOUND, "output.fields_every=0")
    run(tmp_path / "run", SOUND, "output.fields_every=0", "time.steps=3")
    assert (tmp_path / "run/previous_1" / LAST).exists() and not (tmp_path / "run" / LAST).exists()


@pytest.mark.parametrize(
    "override, says",
    [
        ("statistics.fields=p q", "q is no field; accepted: some of p, u, v, w, or none"),
        ("statistics.fields=p p", "a name that comes twice"),
        ("statistics.fields=p,u", "not a list of names"),
        ("statistics.fields=", "no value"),
        ("statistics.from=2e30", "out of range"),
        ("statistics.to=-1", "out of range"),
        ("statistics.every=0", "out of range; accepted: an integer from 1"),
        ("statistics.products=maybe", "not known; accepted: yes, no"),
    ],
)
def test_refused(tmp_path, override, says):
    write_ini(tmp_path / "run.ini", SOUND)
    said = launch(tmp_path, 1, "run.ini", override, code=2)
    assert says in said.stderr and "command line: statistics." in said.stderr
    assert not (tmp_path / "runs").exists()
    said = launch(tmp_path, 1, "run.ini", "statistics.from=2", "statistics.to=1", code=2)
    assert "statistics.from = 2: after statistics.to = 1" in said.stderr


def test_all_of_a_flow(tmp_path):
    """Five means, five variances and ten products, the most that there are."""
    names = ("density", "u", "v", "w", "pressure")
    flow = {
        "grid": {"nx": 16, "ny": 16, "nz": 16},
        "physics": {"equation": "flow"},
        "initial": {"case": "taylor_green_vortex"},
        "time": {"dt": 0.005, "adaptive": "no", "steps": 6},
        "output": {"fields_every": 1, "derived": "none"},
        "statistics": {"fields": " ".join(names), "products": "yes"},
    }
    run(tmp_path / "run", flow, ranks=2)
    found = fields(tmp_path / "run/statistics_00000006.hdf")
    wanted = expected(tmp_path / "run", range(7), names=names)
    assert len(found) == 20 and found.keys() == wanted.keys()
    size = {name: np.abs(wanted[f"mean_{name}"]).max() for name in names}
    for name, values in found.items():
        kind, first, *second = name.split("_")
        largest = size[first] if kind == "mean" else size[first] * size[(second or [first])[0]]
        assert np.abs(values - wanted[name]).max() < 1e-12 * largest, name
    resumed = run(tmp_path / "resumed", flow, "restart.from=run/state_00000003.hdf")
    assert "warning" not in resumed.stderr
    assert contents(tmp_path / "resumed/statistics_00000006.hdf") == contents(tmp_path / "run/statistics_00000006.hdf")
