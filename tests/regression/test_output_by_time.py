"""Outputs that are due by time: steps end exactly at their times, by a rule in Python, and resumed runs are those that
never stopped, with steps of one size, steps that follow the velocity's factor, and steps that follow the state."""

import csv
import json
import math

import numpy as np
import pytest

from program import BASE, hash_of, launch, merged, phi, rows, run, series, states, table, write_ini

DT, END = 0.0131, 0.41
FIELDS, ROWS, PLANES, POINTS = 0.1, 0.03, 0.07, 0.05
TIMED = merged(
    BASE,
    {
        "time": {"courant": None, "dt": DT, "steps": None, "t_end": END},
        "output": {
            "fields_every": None,
            "fields_at": FIELDS,
            "diagnostics_every": None,
            "diagnostics_at": ROWS,
            "slices": "z=0.5",
            "slices_at": PLANES,
            "probes": "0.5 0.5 0.5",
            "probes_at": POINTS,
            "checkpoint_every": 5,
        },
    },
)
ADAPTIVE = merged(
    TIMED,
    {
        "time": {"courant": 0.8, "dt": None, "adaptive": "yes"},
        "velocity": {"field": "formula", "u": "1", "v": "sin(2*pi*x)", "factor": "cos(2*t)", "period": None},
    },
)
MEASURED = merged(
    TIMED,
    {
        "grid": {"nx": 17, "ny": 12, "nz": 19, "ly": 1.0, "lz": 1.0},
        "physics": {"equation": "flow", "form": None, "diffusivity": None},
        "initial": {"case": "taylor_green_vortex", "center_x": None, "width": None, "background": None},
        "velocity": {"field": None, "period": None},
        "time": {"dt": None},
    },
)


def multiples(interval, end):
    """The times of an output as the program has them: k times the interval, in double precision."""
    return [k * interval for k in range(int(end / interval + 1e-9) + 1)]


def stop_times(end, *intervals):
    """All of them, without those that only rounding tells apart, of which the smaller one stands."""
    result = [0.0]
    for time in sorted({t for interval in intervals for t in multiples(interval, end)} | {end}):
        if time > result[-1] * (1 + 1e-15):
            result.append(time)
    return result


def column(path):
    with open(path) as file:
        return [float(row["time"]) for row in csv.DictReader(file)]


def nearly(found, expected):
    return len(found) == len(expected) and np.allclose(found, expected, rtol=1e-15, atol=0)


def slice_times(directory):
    return list(series_of(directory / "slices/z_0.5.hdf.series").values())


def series_of(path):
    return {entry["name"]: entry["time"] for entry in json.loads(path.read_text())["files"]}


@pytest.fixture(scope="module", params=["fixed", "adaptive", "measured"])
def whole(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp(request.param)
    configuration = {"fixed": TIMED, "adaptive": ADAPTIVE, "measured": MEASURED}[request.param]
    return folder, configuration, run(folder / "whole", configuration)


def test_outputs_are_at_their_times(whole):
    folder, _, said = whole
    directory = folder / "whole"
    assert nearly(column(directory / "diagnostics.csv"), [*multiples(ROWS, END), END])
    assert nearly(column(directory / "probes.csv"), multiples(POINTS, END))
    assert nearly(slice_times(directory), multiples(PLANES, END))
    kept = [t for t in series(directory).values() if any(math.isclose(t, k) for k in multiples(FIELDS, END))]
    assert nearly(kept, multiples(FIELDS, END))
    assert "6 snapshots to keep" in said.stdout  # with the first and the last


@pytest.mark.parametrize(
    ("timed", "uneven"), [({"fields_at": 0.2}, True), ({"probes_at": 0.2}, False), ({"fields_every": 12}, False)]
)
def test_the_plan_says_where_samples_of_probes_are_uneven(tmp_path, timed, uneven):
    output = {"fields_every": None, "probes": "0.5 0.5 0.5", **timed}
    write_ini(tmp_path / "run.ini", merged(BASE, {"output": output}))
    said = launch(tmp_path, 1, "run.ini", "--validate").stdout
    assert ("at uneven times, since steps change: output.probes_at" in said) == uneven


def test_steps_are_those_of_the_rule(tmp_path):
    every = merged(TIMED, {"output": {"diagnostics_every": 1, "diagnostics_at": None}})
    said = run(tmp_path / "run", every, "output.slices_at=0.03", "output.probes_at=0.05")
    intervals = (FIELDS, 0.03, 0.05)
    times, stops = [0.0], stop_times(END, *intervals)
    while times[-1] < END:
        stop = min(t for t in stops if t > times[-1] * (1 + 1e-15))
        times.append(stop if stop - times[-1] <= DT * (1 + 1e-9) else times[-1] + DT)
    assert nearly([row["time"] for row in rows(tmp_path / "run")], times)
    shortened = sum(step < DT * (1 - 1e-9) for step in np.diff(times[:-1]))  # the last one meets t_end
    assert f"steps 0 to {len(times) - 1}, t" in said.stdout
    assert f"by time    {shortened} of the steps are shortened to meet outputs\n" in said.stdout


def test_the_plan_counts_no_step_where_none_is_shortened(tmp_path):
    every = {"fields_at": 0.05, "slices": None, "slices_at": None, "probes": None, "probes_at": None}
    write_ini(tmp_path / "run.ini", merged(TIMED, {"time": {"dt": 0.01, "t_end": 0.2}, "output": every}))
    said = launch(tmp_path, 1, "run.ini", "--validate", "output.diagnostics_at=0.1").stdout
    assert "steps 0 to 20, t" in said and "by time    no step is shortened to meet outputs\n" in said


def test_the_plan_of_steps_that_follow_the_state(tmp_path):
    """The estimate of their number leaves out the steps that outputs add; an output at t_end adds none."""
    write_ini(tmp_path / "run.ini", MEASURED)
    said = launch(tmp_path, 1, "run.ini", "--validate").stdout
    outputs = sum(len(multiples(i, END)) - 1 for i in (FIELDS, ROWS, PLANES, POINTS))
    assert f"meet outputs: at most {outputs} steps more than estimated\n" in said
    at_end = launch(tmp_path, 1, "run.ini", "--validate", f"output.fields_at={END / 2}").stdout
    assert f"at most {outputs - len(multiples(FIELDS, END)) + 2} steps more" in at_end
    write_ini(tmp_path / "run.ini", merged(MEASURED, {"time": {"t_end": None, "steps": 7}}))
    said = launch(tmp_path, 1, "run.ini", "--validate").stdout
    assert "by time    steps are shortened to meet outputs, so the run ends earlier in time\n" in said


def test_a_resumed_run_is_the_run_that_never_stopped(whole):
    folder, configuration, said = whole
    directory = folder / "parts"
    first = run(directory, configuration, ranks=3)
    assert hash_of(first) == hash_of(said)
    kept = states(directory)
    for name in kept[-2:]:  # to a checkpoint between outputs
        (directory / name).unlink()
    assert int(kept[-3][6:14]) % 5 == 0
    resumed = run(directory, configuration, "restart.from=latest", ranks=2)
    assert "restart    from" in resumed.stdout and "warning" not in resumed.stderr
    assert hash_of(resumed) == hash_of(said)
    assert table(directory) == table(folder / "whole")
    assert (directory / "probes.csv").read_bytes() == (folder / "whole/probes.csv").read_bytes()
    for path in (folder / "whole/slices").iterdir():
        assert (directory / "slices" / path.name).read_bytes() == path.read_bytes()


def test_steps_given_and_outputs_nearer_than_steps(tmp_path):
    """With time.steps the number of steps stands; an interval below dt is the step."""
    steps = merged(TIMED, {"time": {"t_end": None, "steps": 20}, "output": {"diagnostics_at": None}})
    said = run(tmp_path / "steps", steps, "output.probes_at=0.001", "output.diagnostics_every=1")
    assert nearly([row["time"] for row in rows(tmp_path / "steps")], multiples(0.001, 0.02))
    assert "steps 0 to 20, t = 0 to 0.02" in said.stdout
    assert "by time    20 of the steps are shortened to meet outputs, so the run ends earlier in time\n" in said.stdout


def test_waves_take_the_nearest_step(tmp_path):
    dt, end, interval = 0.004, 0.2, 0.0311
    wave = {
        "grid": {"nx": 16, "ny": 16, "nz": 16},
        "physics": {"equation": "wave"},
        "initial": {"case": "gaussian"},
        "time": {"dt": dt, "t_end": end},
        "output": {"probes": "0.5 0.5 0.5", "probes_at": interval, "diagnostics_at": 0.06},
    }
    said = run(tmp_path / "run", wave)
    expected = [round(k * interval / dt) * dt for k in range(int(end / interval) + 1)]
    assert nearly(column(tmp_path / "run/probes.csv"), expected)
    assert nearly(column(tmp_path / "run/diagnostics.csv"), [0, 0.06, 0.12, 0.18, 0.2])
    assert "outputs take the step nearest to their time, at most 0.002 away" in said.stdout
    assert "0.0311 are 7.775 steps" in said.stderr and "time.dt = 0.0038875" in said.stderr


def test_steps_of_waves_divide_the_interval(tmp_path):
    """Unless time.dt is given. A longer t_end, or a number of steps, leaves the step as it is."""
    interval, end = 0.1, 1.0
    wave = {
        "grid": {"nx": 16, "ny": 16, "nz": 16},
        "physics": {"equation": "wave"},
        "initial": {"case": "gaussian"},
        "time": {"t_end": end},
        "output": {"probes": "0.5 0.5 0.5", "probes_at": interval, "diagnostics_at": 2 * interval},
    }
    longest = 0.7 * 1.3586 / 16 / math.sqrt(3)  # of leapfrog4 at order 8
    said = run(tmp_path / "run", wave)
    assert "outputs are evenly spaced" in said.stdout and "evenly" not in said.stderr
    assert nearly(column(tmp_path / "run/probes.csv"), [k * interval for k in range(11)])
    assert nearly(column(tmp_path / "run/diagnostics.csv"), [2 * k * interval for k in range(6)])
    steps = [int(row["step"]) for row in csv.DictReader((tmp_path / "run/probes.csv").open())]
    assert steps == [k * math.ceil(interval / longest) for k in range(11)] and steps[1] == 3
    longer = run(tmp_path / "run", merged(wave, {"time": {"t_end": 2 * end}, "restart": {"from": "latest"}}), ranks=2)
    straight = run(tmp_path / "straight", merged(wave, {"time": {"t_end": None, "steps": 2 * steps[-1]}}))
    assert hash_of(longer) == hash_of(straight)
    resumed = merged(wave, {"time": {"t_end": 3 * end}, "restart": {"from": "latest"}})
    refused = run(tmp_path / "run", resumed, "output.probes_at=0.02", code=2)
    assert "dt = 0.02, which divides output.probes_at = 0.02; accepted: the same dt" in refused.stderr
    assert f"by time.dt = {interval / steps[1]:.17g} with time.steps = {3 * steps[-1]} (t = 3)" in refused.stderr


@pytest.mark.parametrize("output", ["fields", "slices", "probes", "diagnostics"])
def test_one_of_the_two(tmp_path, output):
    """Both in one place are a contradiction; on the command line either replaces the file's."""
    ini = tmp_path / "run.ini"
    write_ini(ini, merged(TIMED, {"output": {f"{output}_every": 3}}))
    refused = launch(tmp_path, 1, "run.ini", code=2)
    assert f"output.{output}_" in refused.stderr and "accepted: exactly one of the two" in refused.stderr
    assert not (tmp_path / "runs").exists()
    write_ini(ini, TIMED)
    launch(tmp_path, 1, "run.ini", f"output.{output}_every=3")
    resolved = (tmp_path / "runs/run/config.ini").read_text()
    assert f"{output}_every = 3\n" in resolved and f"{output}_at" not in resolved
    for value in ("0", "-1", "nan", "1e-12"):
        wrong = launch(tmp_path, 1, "run.ini", f"output.{output}_at={value}", code=2)
        assert f"output.{output}_at = {value}" in wrong.stderr and "accepted: a number from" in wrong.stderr


def test_kept_in_part_by_time(tmp_path):
    run(tmp_path / "run", TIMED, "output.fields_stride=2", "output.fields_at=0.2")
    kept = series_of(tmp_path / "run/fields/state.hdf.series")
    assert nearly(list(kept.values()), [0, 0.2, 0.4, END])
    assert phi(tmp_path / "run/fields" / list(kept)[1]).shape == (19, 10, 17)
