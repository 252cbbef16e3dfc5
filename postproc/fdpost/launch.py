"""Starts runs of the program from Python: a script, a notebook, a loop over parameters."""

import numbers
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path

import numpy as np

from .errors import DataError, PostError, UsageError
from .reader import Run

PROGRESS = re.compile(r"step (\d+) of (\d+) \(\d+ %\), (t = [^,]*)(?:[^\r\n]*, ([^,\r\n]* left))?")
MOVED = re.compile(r"results of an earlier run moved to (.+)/(previous_\d+);")
RETURNED = weakref.WeakSet()  # runs
CHECKPOINT = re.compile(r"stopped at step .*")  # of a run that can be resumed
BAR = 30  # characters
WHOLE = 1e15  # whole numbers below it are written without a fraction: np.linspace may then give points of a grid
STOPPED = 75  # exit code of a run that stopped on request, after a checkpoint
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # of a user, of a batch system, of a closed terminal
OPEN_MPI = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
# A process that becomes the command, which Linux signals when Python has died, even of SIGKILL: mpirun and fdapp take
# SIGUSR1 as the request for a checkpoint. preexec_fn would do this in a fork of a process with threads, as notebooks.
STARTER = """import contextlib, os, signal, sys
with contextlib.suppress(ImportError, AttributeError, OSError):
    import ctypes
    ctypes.CDLL(None).prctl(1, int(signal.SIGUSR1), 0, 0, 0)  # PR_SET_PDEATHSIG
if os.getppid() != int(sys.argv[1]):
    sys.exit(75)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    print(f"fdapp: error: {sys.argv[2]}: cannot be started: {error.strerror}", file=sys.stderr)
    sys.exit(3)
"""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class RunError(PostError):
    """The program ended with another fault: a solution that blew up (4), a wrong hash (5), a crash. exit_code is its
    exit code."""

    def __init__(self, message, exit_code):
        super().__init__(message)
        self.exit_code = exit_code


def run(config, ranks=1, *, fdapp=None, launcher="mpirun", progress=None, **overrides):
    """Runs fdapp and returns its Run, whose snapshots, diagnostics and probes can be read.

        run = fdpost.run("config/rotation.ini", ranks=2, **{"grid.nz": 64, "output.directory": "runs/turned"})

    overrides: keys of the configuration, as on the command line, with values of Python: True, False and None become
    yes, no and none; lists, tuples and arrays their values with blanks between, and ; between lists in a list. fdapp:
    the program, by default $FDAPP, that of the project's build/, or that of the PATH. launcher: what stands before -np
    N FDAPP where ranks > 1, as a command line or a list of its words. progress: whether to draw a bar on standard
    output, by default in a terminal or a notebook.

    A run in the directory of an earlier one moves its results into previous_N there, and the earlier Run shows these;
    states that were taken from it before do not.

    A run that stops on request (SIGUSR1, wall_limit) returns what there is. Ctrl-C, or a notebook's interrupt, asks the
    run for a checkpoint, waits for its end, and is raised then, with the program's words; SIGTERM and SIGHUP likewise
    end Python after the run. A Python that is killed leaves a run that ends with a checkpoint. UsageError, DataError or
    RunError with the program's own message where it ends with exit code 2, 3 or another one."""
    ranks, launcher = rank_count(ranks), launcher_words(launcher)
    command = [str(program(fdapp)), str(config), *(f"{key}={text(value)}" for key, value in overrides.items())]
    if ranks > 1:
        command = [*launcher, "-np", str(ranks), *command]
    if broken := [word for word in command if "\0" in word]:
        raise UsageError(f"{broken[0]!r} has a null byte; accepted: text without")
    environment = OPEN_MPI | os.environ | (AS_ROOT if os.geteuid() == 0 else {})
    with tempfile.TemporaryFile("w+") as messages, Requests() as requests:
        code, lines = follow(command, environment, messages, watched() if progress is None else progress, requests)
        messages.seek(0)
        said = messages.read()
    follow_moved(lines)
    requests.obey(said)
    if code not in (0, STOPPED):
        raise fault(code, said)
    sys.stderr.write(said)
    found = [line.split(maxsplit=1)[1] for line in lines if line.startswith("results ")]
    RETURNED.add(result := Run(found[-1].strip()))
    return result


def follow_moved(lines):
    """Runs that were returned earlier, and whose results the program moved out of its directory, go on showing them."""
    for directory, folder in MOVED.findall("\n".join(lines)):
        for earlier in RETURNED:
            if earlier.directory.resolve() == Path(directory).resolve():
                earlier.follow(Path(directory, folder))
                print(f"note: the run that {directory} held is now in {earlier.path}", file=sys.stderr)


def watched():
    """Whether somebody sees standard output: a terminal, or a notebook, whose kernel has no terminal."""
    return sys.stdout.isatty() or "ipykernel" in sys.modules


def program(path=None):
    """The program to run. DataError if there is none."""
    built = Path(__file__).resolve().parents[2] / "build" / "fdapp"
    for candidate in (path, os.environ.get("FDAPP"), built, shutil.which("fdapp")):
        if candidate and (Path(candidate).is_file() or path):
            return candidate
    raise DataError(f"no program fdapp: neither $FDAPP, nor {built}, nor one of the PATH; give fdapp=")


def rank_count(ranks):
    """UsageError if it is no positive integer."""
    if isinstance(ranks, bool) or not isinstance(ranks, numbers.Integral) or ranks < 1:
        raise UsageError(f"ranks = {ranks!r}; accepted: an integer from 1")
    return int(ranks)


def launcher_words(launcher):
    """The launcher's words; a command line is split as by a shell. UsageError if there are none."""
    try:
        words = shlex.split(launcher) if isinstance(launcher, str) else [os.fspath(word) for word in launcher]
    except (TypeError, ValueError):  # no list of texts; a quotation without an end
        words = []
    if not words:
        raise UsageError(f"launcher = {launcher!r}; accepted: a command line, or a list of its words")
    return words


def text(value):
    """A value as the configuration writes it. UsageError for a type that has no such form."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        parted = any(isinstance(part, list | tuple) or np.ndim(part) for part in value)
        return ("; " if parted else " ").join(map(text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if 0 < abs(value) < WHOLE and value.is_integer() else repr(value)
    if not isinstance(value, str | os.PathLike | numbers.Number | None):
        raise UsageError(f"{value!r}: a {type(value).__name__}; accepted: text, numbers, and lists or arrays of them")
    return "none" if value is None else str(value)


def fault(code, said):
    """The exception for an exit code, with the program's own message: what it printed last, without its name."""
    lines = [line for line in said.splitlines() if line.startswith("fdapp: ") and "warning: " not in line]
    message = (
        lines[-1].removeprefix("fdapp: ").removeprefix("error: ")
        if lines
        else said.strip() or f"the program ended with exit code {code}"
    )
    return {2: UsageError, 3: DataError}.get(code, lambda sentence: RunError(sentence, code))(message)


class Requests:
    """Signals that ask Python to end while a run computes. They ask the run for a checkpoint instead, whatever Python
    does at that moment, and act once the run has ended. Signals come to the main thread alone: a run that another one
    started is not asked."""

    def __init__(self):
        self.process, self.received, self.before = None, None, {}

    def __enter__(self):
        for number in ENDING if threading.current_thread() is threading.main_thread() else ():
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self.before[number] = signal.signal(number, self.receive)
        return self

    def __exit__(self, *_):
        for number in reversed(self.before):
            signal.signal(number, self.before[number])

    def receive(self, number, _):
        self.received = number
        self.stop()

    def watch(self, process):
        """The process of the run, once it is there."""
        self.process = process
        if self.received:
            self.stop()

    def stop(self):
        """Ask the run to end with a checkpoint."""
        if self.process:
            self.process.send_signal(signal.SIGUSR1)

    def obey(self, said):
        """Let the signal act, if there was one; said: by the program."""
        if self.received == signal.SIGINT and self.before[signal.SIGINT] == signal.default_int_handler:
            raise KeyboardInterrupt(*CHECKPOINT.findall(said)[-1:])
        if self.received:
            sys.stderr.write(said)
            signal.raise_signal(self.received)


def follow(command, environment, messages, progress, requests):
    """Runs the command to its end; returns its exit code and the lines that it printed. Its standard output is a
    terminal of its own, so that it tells its progress often."""
    command = [sys.executable or "python3", "-I", "-S", "-c", STARTER, str(os.getpid()), *command]
    terminal, output = pty.openpty()
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=messages, env=environment,
                                   start_new_session=True)  # fmt: skip
        requests.watch(process)
    except OSError as error:
        os.close(terminal)
        raise DataError(f"{command[0]}: cannot be started: {error.strerror}") from error
    finally:
        os.close(output)
    bar, printed = Bar(progress), ""
    try:
        while piece := read_piece(terminal):
            printed += piece.decode(errors="replace")
            bar.show(printed)
    except BaseException:  # standard output is closed, or another thread ends this one
        requests.stop()
        raise
    finally:
        os.close(terminal)
        code = process.wait()
    bar.end(code)
    return code, re.split(r"[\r\n]+", printed.replace("\033[K", ""))


def read_piece(terminal):
    """What the program printed next; empty once it has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""


class Bar:
    """A bar of progress on one line of standard output."""

    def __init__(self, wanted):
        self.wanted, self.drawn = wanted, ""

    def show(self, printed):
        """Draw the last progress that the program told."""
        told = PROGRESS.findall(printed[-2000:]) if self.wanted else []
        if not told:
            return
        step, last, time, left = told[-1]
        self.draw(int(step) / int(last), f"step {step} of {last}, {time}{', ' * bool(left)}{left}")

    def draw(self, share, words):
        full = round(BAR * share)
        line = f"[{'#' * full}{'.' * (BAR - full)}] {words}"
        if line != self.drawn:
            print(f"\r{line:<{len(self.drawn)}}", end="", flush=True)
            self.drawn = line

    def end(self, code):
        """The run has ended."""
        if self.wanted and code == 0:
            self.draw(1.0, "done")
        if self.drawn:
            print(flush=True)
