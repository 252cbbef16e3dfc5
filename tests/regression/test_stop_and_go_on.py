"""Runs that stop early and go on: on other ranks, at a limit of time, on signals, from a file. Bits, not tolerances."""

import os
import pathlib
import pty
import re
import signal
import subprocess
import time

import numpy as np
import pytest

from program import (
    LAST,
    VARIANTS,
    assert_same_end,
    attribute,
    command,
    phi,
    run,
    same_bits,
    series,
    states,
    table,
    tree,
    variant,
    write_ini,
)


@pytest.mark.parametrize(("scheme", "precision"), VARIANTS)
def test_shorter_run_goes_on(tmp_path, scheme, precision):
    """To step 13, where nothing else is due, then to the end on other ranks. The step size is one for which the times
    have other bits if they are counted from the restart (in row 21)."""
    configuration = variant(scheme, precision, time={"courant": None, "dt": 0.0101})
    run(tmp_path / "whole", configuration, ranks=2)
    run(tmp_path / "parts", configuration, "time.steps=13", ranks=3)
    run(tmp_path / "parts", configuration, "restart.from=latest", ranks=5)
    assert_same_end(tmp_path / "parts", tmp_path / "whole")
    assert "state_00000013.hdf" in series(tmp_path / "parts")


def test_wall_limit(tmp_path):
    """A limit that has passed before the first step: every run does one step, saves it and asks for the next."""
    configuration = variant(
        time={"steps": None, "t_end": 0.12, "courant": None, "dt": 0.0101}, output={"diagnostics_every": 1}
    )
    run(tmp_path / "whole", configuration)
    last = states(tmp_path / "whole")[-1]
    for ranks in (2, 3, 1, 2):
        result = run(
            tmp_path / "parts", configuration, "restart.from=latest", "output.wall_limit=0.001", ranks=ranks, code=75
        )
        assert result.stderr.count("after a checkpoint") == 1
        assert "wall-clock limit" in result.stderr
    assert attribute(tmp_path / "parts" / states(tmp_path / "parts")[-1], "step") == 4
    run(tmp_path / "parts", configuration, "restart.from=latest", ranks=3)
    assert_same_end(tmp_path / "parts", tmp_path / "whole", last)


# Long enough for a signal to come before the end; under sanitizers a step takes fifty times as long.
MANY = int(os.environ.get("FDAPP_MANY_STEPS", "700"))
LONG = {"time": {"steps": MANY}, "output": {"fields_every": MANY, "diagnostics_every": MANY // 14}}


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("long") / "whole"
    run(directory, variant(**LONG), ranks=2)
    return directory


@pytest.mark.parametrize(
    ("number", "ranks"),
    [
        (signal.SIGUSR1, 3),
        (signal.SIGUSR2, 3),
        (signal.SIGTERM, 1),
        (signal.SIGINT, 1),
        (signal.SIGHUP, 1),
        (signal.SIGXCPU, 1),
    ],
)
def test_signal(tmp_path, long_run, number, ranks):
    """Asked to stop as soon as the first state is there, long before the last of many steps."""
    configuration = variant(**LONG)
    directory = tmp_path / "parts"
    write_ini(tmp_path / "parts.ini", configuration)
    process = subprocess.Popen(
        command(ranks, "parts.ini", "output.directory=parts"), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    while not (directory / "state_00000000.hdf").exists():
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 75, errors
    assert errors.count("on request") == 1
    assert (directory / "perf.json").exists()
    assert 0 < attribute(directory / states(directory)[-1], "step") < MANY
    run(directory, configuration, "restart.from=latest", ranks=3 - ranks % 2)
    assert_same_end(directory, long_run, f"state_{MANY:08}.hdf")


def start_long_run(folder):
    """A run of very many steps, under way when this returns."""
    write_ini(folder / "run.ini", variant(time={"steps": 90000000}, output={"directory": "run"}))
    return subprocess.Popen(command(1, "run.ini"), cwd=folder, stderr=subprocess.PIPE, text=True)


def wait_for_the_first_state(process, folder):
    while not (folder / "run/state_00000000.hdf").exists():
        assert process.poll() is None
        time.sleep(0.005)


def test_one_interrupt_after_another_signal_asks_too(tmp_path):
    process = start_long_run(tmp_path)
    wait_for_the_first_state(process, tmp_path)
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 75, errors


def test_nohup_is_heeded(tmp_path):
    """A run started with SIGHUP ignored outlives its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start_long_run(tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for_the_first_state(process, tmp_path)
    ignored = int(re.search(r"SigIgn:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1], 16)
    process.send_signal(signal.SIGUSR1)
    process.communicate(timeout=60)
    assert process.returncode == 75
    assert ignored >> (signal.SIGHUP - 1) & 1


def test_restart_from_a_file_into_another_directory(tmp_path):
    configuration = variant()
    run(tmp_path / "first", configuration, ranks=2)
    before = tree(tmp_path / "first")
    run(tmp_path / "second", configuration, "restart.from=first/state_00000012.hdf", ranks=3)
    assert tree(tmp_path / "first") == before
    assert states(tmp_path / "second") == ["state_00000012.hdf", LAST]
    assert same_bits(phi(tmp_path / "second" / LAST), phi(tmp_path / "first" / LAST))
    header, *rows = table(tmp_path / "first").splitlines()
    assert table(tmp_path / "second").splitlines() == [header, *[row for row in rows if int(row.split(",")[0]) >= 12]]


def test_restart_from_a_file_in_the_same_directory(tmp_path):
    """The later states belong to a future that is computed again; they are set aside, not lost."""
    configuration = variant()
    run(tmp_path / "run", configuration, ranks=2)
    old, rows = phi(tmp_path / "run" / LAST), table(tmp_path / "run")
    run(tmp_path / "run", configuration, "restart.from=run/state_00000012.hdf", ranks=3)
    assert same_bits(phi(tmp_path / "run" / LAST), old)
    assert same_bits(phi(tmp_path / "run" / "previous_1" / LAST), old)
    assert table(tmp_path / "run") == rows


def test_restart_at_the_end(tmp_path):
    configuration = variant()
    run(tmp_path / "run", configuration, ranks=2)
    last, rows = phi(tmp_path / "run" / LAST), table(tmp_path / "run")
    result = run(tmp_path / "run", configuration, "restart.from=latest", ranks=3)
    assert "nothing to do" in result.stdout
    assert same_bits(phi(tmp_path / "run" / LAST), last)
    assert table(tmp_path / "run") == rows


def test_restart_where_nothing_is_yet(tmp_path):
    """What a batch script says every time."""
    configuration = variant()
    run(tmp_path / "whole", configuration)
    result = run(tmp_path / "run", configuration, "restart.from=latest", ranks=2)
    assert "warning: restart.from = latest: no snapshot in run: starting at t = 0" in result.stderr
    assert_same_end(tmp_path / "run", tmp_path / "whole")


def test_progress_of_a_resumed_run(tmp_path):
    """It shows the range of the snapshot, as long as nothing else is measured."""
    configuration = variant(output={"fields_every": 12, "diagnostics_every": 0})
    run(tmp_path / "run", configuration, "time.steps=12")
    least, most = (f"{f(phi(tmp_path / 'run/state_00000012.hdf')):.4g}" for f in (np.min, np.max))
    words = ["run.ini", "output.directory=run", "restart.from=latest", "time.steps=9999999", "output.fields_every=0"]
    terminal, its_end = pty.openpty()  # lines come twice per second there
    process = subprocess.Popen(command(1, *words), cwd=tmp_path, stdout=its_end, stderr=its_end)
    os.close(its_end)
    said = b""
    while b" left" not in said:
        said += os.read(terminal, 4096)
    process.kill()
    process.wait()
    os.close(terminal)
    line = said.decode().splitlines()[-1]
    assert f", phi {least} to {most} at step 12, " in line, line
