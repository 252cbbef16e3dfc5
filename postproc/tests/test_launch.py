"""Runs from Python, and the probes of a real one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fdpost
from fdpost import DataError, Run, UsageError, launch, probes

PROGRAM = os.environ.get("FDAPP")
ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.quick, pytest.mark.skipif(not PROGRAM, reason="FDAPP does not name the program")]
SMALL = {"grid.nx": 16, "grid.ny": 16, "grid.nz": 16}
ROOM = """[grid]
nx = 21
ny = 29
nz = 17
lx = 3
ly = 4
lz = 2.5
[boundary]
x = wall
y = wall
z = wall
[physics]
equation = acoustics
sound_speed = 343.2
[initial]
case = formula
formula = cos(pi*y/ly) + 0.5*cos(pi*x/lx)
[time]
courant = 0.8
t_end = 0.4
[output]
probes = 0 0 0
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_run_returns_what_it_left(tmp_path, capfd, ranks):
    run = fdpost.run(
        ROOT / "config/quickstart.ini", ranks, progress=True, **SMALL, **{"output.directory": tmp_path / "r"}
    )
    assert isinstance(run, Run) and run.directory == tmp_path / "r"
    assert run.states[-1].time == 1.5 and run.diagnostics["time"][-1] == 1.5
    out, err = capfd.readouterr()
    assert out.rstrip().endswith("done") and "#" * launch.BAR in out
    assert "warning" in err  # 16 points do not hold the blob


def test_statistics_of_a_run_and_no_bar_in_a_pipe(tmp_path, capfd):
    keys = SMALL | {"output.directory": tmp_path / "r", "time.steps": 3, "statistics.fields": "phi"}
    run = fdpost.run(ROOT / "config/gaussian.ini", **keys)
    assert "#" not in capfd.readouterr().out
    assert run.statistics.step == 3 and run.statistics.fields == ("mean_phi", "variance_phi")
    ends = [run.states[0].read(), run.states[-1].read()]
    mean = run.statistics.read("mean_phi")
    assert mean.shape == (16, 16, 16) and (mean <= np.maximum(*ends) + 0.2).all()
    assert repr(run.states[-1]) == f"State(state_00000003.hdf: step 3, t = {run.states[-1].time:g}, phi)"
    plain = fdpost.run(ROOT / "config/gaussian.ini", **keys | {"statistics.fields": "none"})
    with pytest.raises(DataError, match="no statistics"):
        _ = plain.statistics


@pytest.mark.parametrize(
    "value, written",
    [(True, "yes"), (np.True_, "yes"), (0.1, "0.1"), (np.float64(0.1), "0.1"), (np.float32(0.5), "0.5"),
     (1e-30, "1e-30"), (np.int64(7), "7"), (16.0, "16"), (np.float64(16), "16"), (-0.0, "-0.0"), (1e22, "1e+22"),
     (np.array(3.5), "3.5"),
     (["phi", "u"], "phi u"), ((0.5, 1, np.float64(0.25)), "0.5 1 0.25"), (np.array([0.5, 2]), "0.5 2"), (None, "none"),
     ([[0.5, 0, 1], (1, 1, 0)], "0.5 0 1; 1 1 0"), (np.array([[0.5, 1], [1, 2]]), "0.5 1; 1 2"),
     ([np.array([0.5, 1])], "0.5 1"), (Path("a b"), "a b"), ("1 + x", "1 + x")],
)  # fmt: skip
def test_values_of_python_as_the_configuration_writes_them(value, written):
    assert launch.text(value) == written


def test_a_sweep_by_numpy(tmp_path):
    keys = SMALL | {"output.directory": tmp_path / "r", "time.steps": 1, "compute.threads": 1}
    for width in np.linspace(0.15, 0.2, 2):
        more = {"initial.width": width, "output.probes": [[0.5, 0.5, 0.5], (0.25, 0.25, 0.25)]}
        run = fdpost.run(ROOT / "config/gaussian.ini", **keys, **more, ranks=np.int64(1))
        assert run.number("initial", "width", 0) == width
        assert sum(name.startswith("phi(") for name in run.probes) == 2


def test_runs_in_one_directory_show_their_own_results(tmp_path, capsys):
    """Results of an earlier run are moved, and its Run follows them."""
    keys = SMALL | {"output.directory": tmp_path / "r", "time.steps": 1, "compute.threads": 1}
    runs = []
    for points in (12, 16, 14):
        runs.append(fdpost.run(ROOT / "config/gaussian.ini", **keys | {"grid.nx": points}))
        assert runs[-1].states[-1].size[0] == points
    assert [run.states[-1].read().shape[2] for run in runs] == [12, 16, 14]
    assert [run.directory.name for run in runs] == ["previous_1", "previous_2", "r"]
    assert f"note: the run that {tmp_path / 'r'} held is now in {tmp_path / 'r/previous_2'}" in capsys.readouterr().err
    assert repr(runs[-1]) == f"Run({str(tmp_path / 'r')!r})"
    assert fdpost.open_run(runs[0]).sizes["x"] == 12


@pytest.mark.parametrize("ranks", [0, -1, 2.5, 4.0, "2", None, True])
def test_ranks_are_a_positive_integer(ranks):
    with pytest.raises(UsageError, match=r"ranks = .*accepted: an integer from 1"):
        fdpost.run(ROOT / "config/gaussian.ini", ranks)


@pytest.mark.parametrize("launcher", ["mpirun --mca 'mpi_yield_when_idle' 1", ["mpirun"]])
def test_a_launcher_is_a_command_line_or_its_words(tmp_path, launcher):
    keys = SMALL | {"time.steps": 1, "output.directory": tmp_path / "r"}
    assert fdpost.run(ROOT / "config/gaussian.ini", 2, launcher=launcher, **keys).states[-1].step == 1


@pytest.mark.parametrize("launcher", ["mpirun 'open", "", [], None, ["mpirun", 2]])
def test_what_is_no_launcher_is_refused(launcher):
    with pytest.raises(UsageError, match=r"launcher = .*accepted: a command line, or a list of its words"):
        fdpost.run(ROOT / "config/gaussian.ini", 2, launcher=launcher)


@pytest.mark.parametrize("config, value", [("w\0", "1"), ("config/gaussian.ini", "1\0")])
def test_a_null_byte_is_refused(config, value):
    with pytest.raises(UsageError, match=r"a null byte; accepted: text without"):
        fdpost.run(config, **{"time.steps": value})


def test_a_value_of_no_form_is_refused():
    with pytest.raises(UsageError, match="a dict; accepted"):
        fdpost.run(ROOT / "config/gaussian.ini", **{"grid.nx": {}})


def test_constants_that_differ_in_case_alone(tmp_path, fdplot):
    keys = SMALL | {"initial.case": "formula", "initial.formula": "R*sin(2*pi*x/lx)+r", "time.steps": 1}
    keys |= {"constants.R": 1, "constants.r": 2, "output.directory": tmp_path / "r"}
    run = fdpost.run(ROOT / "config/gaussian.ini", **keys)
    assert run.config["constants"] == {"R": "1", "r": "2"} and run.states[0].config["constants"]["R"] == "1"
    assert fdpost.open_run(run.path).attrs["constants.r"] == "2"
    for command in ("slices", "history", "spectrum"):
        assert fdplot(command, tmp_path / "r")[0] == 0


def test_the_bar_shows_the_newest_line(capsys):
    """The program rewrites one line on a terminal, so that many arrive without an end of line."""
    told = [f"\r\033[Kstep {n} of 4 ({25 * n} %), t = 0.{n}, 1e+06 points/s, {4 - n} s left" for n in (1, 2)]
    launch.Bar(True).show("".join(told))
    assert capsys.readouterr().out.strip() == "[###############...............] step 2 of 4, t = 0.2, 2 s left"


def test_faults_have_the_programs_words(tmp_path):
    with pytest.raises(UsageError, match=r"grid\.nx = -2: .*accepted"):
        fdpost.run(ROOT / "config/quickstart.ini", **{"grid.nx": -2})
    with pytest.raises(DataError, match="no_such"):
        fdpost.run(tmp_path / "no_such.ini")
    with pytest.raises(DataError, match="cannot be started"):
        fdpost.run(ROOT / "config/quickstart.ini", fdapp=tmp_path)
    with pytest.raises(launch.RunError, match="blew up") as found:
        fdpost.run(ROOT / "config/quickstart.ini", **SMALL, **{"time.courant": 5, "output.directory": tmp_path / "r"})
    assert found.value.exit_code == 4


@pytest.fixture
def heard():
    """A shell's background jobs, and nohup's, ignore signals, and so would all that they start."""
    handlers = dict.fromkeys((signal.SIGTERM, signal.SIGHUP), signal.SIG_DFL)
    handlers[signal.SIGINT] = signal.default_int_handler
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


ENDLESS = SMALL | {"time.t_end": 1e4, "output.fields_every": 0, "output.diagnostics_every": 0,
                   "output.checkpoint_every": 0, "compute.threads": 1}  # fmt: skip


def begun(tmp_path, ranks=1):
    """A Python that has started an endless run in tmp_path/r."""
    script = f"import fdpost; fdpost.run({str(ROOT / 'config/gaussian.ini')!r}, {ranks}, progress=True, **{ENDLESS},"
    script += f" **{{'output.directory': {str(tmp_path / 'r')!r}}})"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "postproc")}
    process = subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    while process.stdout.read(1) != "[":  # the bar: steps are made
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    return process


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_a_checkpoint(tmp_path, number):
    """As of Ctrl-C, and of a notebook's stop: the run ends in its own way, and can be resumed."""
    process = begun(tmp_path)
    process.send_signal(number)
    _, errors = process.communicate()
    last = Run(tmp_path / "r").whole[-1].step
    assert process.returncode == -number and last > 0
    said = "KeyboardInterrupt: stopped" if number == signal.SIGINT else "fdapp: warning: stopped"
    assert f"{said} at step {last} of" in errors and "restart.from=latest" in errors


@pytest.mark.usefixtures("heard")
def test_an_interrupt_while_the_bar_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(launch.Bar, "draw", lambda *_: signal.raise_signal(signal.SIGINT))
    keys = ENDLESS | {"output.directory": tmp_path / "r"}
    with pytest.raises(KeyboardInterrupt, match=r"stopped at step .* restart\.from=latest"):
        fdpost.run(ROOT / "config/gaussian.ini", progress=True, **keys)
    assert Run(tmp_path / "r").whole[-1].step > 0 and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("heard")
def test_an_interrupt_while_the_program_is_started(tmp_path, monkeypatch):
    """Before fdpost knows the process."""
    start, started = subprocess.Popen, []

    def interrupted(*words, **options):
        started.append(start(*words, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr(launch.subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fdpost.run(ROOT / "config/gaussian.ini", **ENDLESS, **{"output.directory": tmp_path / "r"})
    ended = started[0].poll() is not None
    started[0].kill()
    assert ended


def test_a_bar_that_cannot_be_drawn_ends_the_run(tmp_path, monkeypatch):
    def draw(*_):
        raise BrokenPipeError

    monkeypatch.setattr(launch.Bar, "draw", draw)
    with pytest.raises(BrokenPipeError):
        fdpost.run(ROOT / "config/gaussian.ini", progress=True, **ENDLESS, **{"output.directory": tmp_path / "r"})
    assert Run(tmp_path / "r").whole[-1].step > 0


def alive(process):
    """Whether it computes: it is there, and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="needs PR_SET_PDEATHSIG")
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_killed_python_leaves_a_checkpoint(tmp_path, ranks):
    process = begun(tmp_path, ranks)
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert alive(child)
    process.kill()
    process.communicate()
    while alive(child):  # the test suite has a limit
        time.sleep(0.02)
    assert Run(tmp_path / "r").whole[-1].step > 0


@pytest.mark.parametrize("keys", [{}, {"output.fields_at": 0.0301}])
def test_a_rooms_modes_are_found(tmp_path, fdplot, keys):
    """The lowest mode of a room of 4 m to 0.1 %, from 0.4 s: the lines of the spectrum are 2.5 Hz apart."""
    (tmp_path / "room.ini").write_text(ROOM + f"directory = {tmp_path / 'room'}\n")
    run = fdpost.run(tmp_path / "room.ini", progress=False, **keys, **{"compute.threads": 1})
    found = probes.spectrum(run.probes["time"], run.probes["p(0 0 0)"])
    assert found.resolution == pytest.approx(2.5, rel=0.01)
    (low, high), (next_low, next_high) = found.peaks
    assert low == pytest.approx(343.2 / 8, rel=1e-3) and next_low == pytest.approx(343.2 / 6, rel=1e-3)
    assert high == pytest.approx(1.0, abs=0.02) and next_high == pytest.approx(0.5, abs=0.02)
    code, out, _ = fdplot("probes", tmp_path / "room", "--most", 200)
    assert code == 0 and "peaks at" in out and (tmp_path / "room" / "probes.png").exists()
    assert f"{low:.2f} (" in out  # to a hundredth of 2.5 Hz


def test_a_mode_decays_as_its_wall_absorbs(tmp_path):
    """The wall reflects the share R = sqrt(1 - 0.3) of the pressure once in the time 2 l/c: the rate is -c ln R / 2 l,
    here with l = 3."""
    (tmp_path / "room.ini").write_text(ROOM + f"directory = {tmp_path / 'room'}\n")
    keys = {"initial.formula": "cos(pi*x/lx)", "grid.ny": 16, "grid.nz": 16, "boundary.absorption_x_high": 0.3}
    run = fdpost.run(tmp_path / "room.ini", **keys, **{"compute.threads": 1, "physics.difference": "upwind"})
    found = probes.decay(run.probes["time"], run.probes["p(0 0 0)"], 57)
    assert found.rate == pytest.approx(-343.2 * np.log(np.sqrt(0.7)) / 6, rel=2e-3)
    assert found.frequency == pytest.approx(343.2 / 6, rel=1e-3)
