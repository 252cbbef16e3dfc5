"""What the fault tests share: starting runs, ending them, and looking at what they leave.

Environment: FDAPP, the program; FDAPP_INTERPOSER, the library that makes calls fail; FDAPP_FAULTS_BACKEND, the backend
of the runs that meet a fault; FDAPP_FAULTS_EQUATION, advection or flow, what they solve.
"""

import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAM = os.environ.get("FDAPP", "build/fdapp")
INTERPOSER = os.environ.get("FDAPP_INTERPOSER", "build/tests/faults/libfdapp_interposer.so")
BACKEND = os.environ.get("FDAPP_FAULTS_BACKEND", "cpu")
EQUATION = os.environ.get("FDAPP_FAULTS_EQUATION", "advection")
FIELDS = {"advection": 1, "flow": 5}[EQUATION]  # of a snapshot
ELSEWHERE = "compute.backend=cpu"  # of runs that others are compared with or that go on from them: one answer
LONGEST = 120  # seconds; whatever takes longer hangs
# Runs at a time: most of their time they wait, for the disk and for mpirun to notice that ranks have ended.
TOGETHER = max(4, min(8, os.cpu_count() // 2))

# Stages in pairs on a grid so small that every call can be struck: those of upwind differences hand rims to one another
# on grids of any size, also between GPUs if each rank has one.
PAIRS = ("compute.pairs=yes", "velocity.field=uniform", "physics.difference=upwind", "compute.precision=double")
PAIRS += ("grid.nx=32", "grid.ny=32", "grid.nz=32")

MPI = dict(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_mpi_yield_when_idle="1",
    OMPI_MCA_hwloc_base_binding_policy="none",
    OMP_NUM_THREADS="1",
)

# Warnings of what these problems are, whatever happens to a run.
OF_THE_PROBLEM = ("does not hold the initial condition", "beyond all values that were there or entered")

PROBLEMS = {
    "advection": "[initial]\ncase = blob\nwidth = 0.3\n[velocity]\nfield = abc",
    "flow": "[physics]\nequation = flow\n[initial]\ncase = taylor_green_vortex\nmach = 0.3\nreynolds = 100",
}

CONFIG = f"""
[grid]
nx = 13
ny = 11
nz = 23
{PROBLEMS[EQUATION]}
[time]
courant = 0.8
steps = 24
[compute]
backend = {BACKEND}
[output]
fields_every = 8
checkpoint_every = 2
diagnostics_every = 4
"""


def device_memory():
    """MiB in use on each GPU; [] where there is none."""
    words = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        return [int(line) for line in subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()]
    except (OSError, subprocess.CalledProcessError):
        return []


class Hang(Exception):
    """A run that did not end by itself."""


class LauncherHang(Hang):
    """All ranks are dead and had not got beyond MPI_Init; only mpirun is left (Open MPI 4.1.4: a rank that dies while
    it connects leaves mpirun waiting, with a PMIX error). No fault of the program, but no orderly end: counted."""


class Run:
    """A run under way: mpirun with its ranks in a process group of their own."""

    def __init__(self, directory, *overrides, ranks=2, mpi=(), environment=None, command=()):
        self.directory = pathlib.Path(directory)
        self.directory.parent.mkdir(parents=True, exist_ok=True)
        config = self.directory.parent / "faults.ini"
        if not config.exists():
            config.write_text(CONFIG)
        exports = [flag for name in environment or {} for flag in ("-x", name)]
        words = [*command, "mpirun", "-np", str(ranks), *mpi, *exports, PROGRAM, str(config)]
        latest = {word.split("=")[0]: word for word in overrides}  # the program takes a key once
        words += [f"output.directory={self.directory}", *latest.values()]
        self.out = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.err = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=self.out,
            stderr=self.err,
            env={**os.environ, **MPI, **(environment or {})},
            start_new_session=True,
        )

    def ranks(self):
        """Process ids of the ranks that are alive."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or (entry / "comm").read_text().strip() != "fdapp":
                    continue
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == self.process.pid:
                    found.append(int(entry.name))
            except OSError:
                pass  # ended while we looked
        return sorted(found)

    @staticmethod
    def state(process):
        """The letter the system has for what a process does; Z: dead, not yet fetched."""
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return "Z"

    def wait_for(self, condition, what, longest=LONGEST):
        """Waits until the condition holds or the run has ended."""
        while not condition() and self.process.poll() is None:
            if time.monotonic() - self.started > longest:
                self.kill()
                raise Hang(f"waiting for {what}: {self.text(self.err)}")
            time.sleep(0.002)

    def kill(self):
        """Kills mpirun and its ranks; they are gone, and what they had locked is free, when this returns."""
        ranks = self.ranks()  # asked for first: without mpirun they are nobody's children
        for kill, number in [(os.killpg, self.process.pid), *((os.kill, rank) for rank in ranks)]:
            try:
                kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself
        while any(self.state(rank) != "Z" for rank in ranks):
            time.sleep(0.002)

    def finish(self, longest=LONGEST):
        """Waits for the end; afterwards code, errors (lines of the program's own) and seconds are known."""
        try:
            self.code = self.process.wait(longest)
        except subprocess.TimeoutExpired:
            left = {rank: self.state(rank) for rank in self.ranks()}
            self.kill()
            printed, said = self.text(self.out), self.text(self.err)
            launcher = not set(left.values()) - {"Z"} and not printed and "PMIX ERROR: UNREACHABLE" in said
            kind = LauncherHang if launcher else Hang
            raise kind(f"ranks left: {left}; printed: {printed!r}; {said}") from None
        self.seconds = time.monotonic() - self.started
        self.stderr = self.text(self.err)
        self.stdout = self.text(self.out)
        self.errors = [line for line in self.stderr.splitlines() if "fdapp: error:" in line]
        warnings = [line for line in self.stderr.splitlines() if "fdapp: warning:" in line]
        # Grids of these tests are small, and every run says that they do not hold the initial condition.
        self.warnings = [line for line in warnings if not any(words in line for words in OF_THE_PROBLEM)]
        return self

    @staticmethod
    def text(file):
        file.seek(0)
        return file.read()


def run(directory, *overrides, **options):
    """A run from start to end."""
    longest = options.pop("longest", LONGEST)
    return Run(directory, *overrides, **options).finish(longest)


def verify(*paths):
    """What `fdapp --verify` has to say against these files: "" if all of them are whole."""
    if not paths:
        return ""
    words = [PROGRAM, "--verify", *map(str, paths)]
    done = subprocess.run(
        words, env={**os.environ, **MPI}, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    return "" if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr}"


def header(path):
    """The text block at the head of a state file."""
    with open(path, "rb") as file:
        block = file.read(2048).rstrip(b"\0").decode()
    return dict(line.rsplit(" ", 1) for line in block.splitlines())  # of a field "field NAME" is the key


def values(path):
    """The bytes of all fields."""
    known = header(path)
    size = 4 if known["precision"] == "single" else 8
    count = int(known["nx"]) * int(known["ny"]) * int(known["nz"]) * size
    offsets = [offset for key, offset in known.items() if key.startswith("field ")] or [known["data_offset"]]
    found = []
    with open(path, "rb") as file:
        for offset in offsets:
            file.seek(int(offset))
            found.append(file.read(count))
            assert len(found[-1]) == count
    return b"".join(found)


def states(directory):
    """State files of a directory, oldest first."""
    return sorted(pathlib.Path(directory).glob("state_*.hdf"))


def partials(directory):
    """Files that have not got their name yet."""
    return sorted(pathlib.Path(directory).glob("*.partial"))


def same_end(directory, reference):
    """Whether two runs ended with the same bits: last state and last row of diagnostics."""
    ends = [states(place)[-1] for place in (directory, reference)]
    rows = [(pathlib.Path(place) / "diagnostics.csv").read_text().splitlines() for place in (directory, reference)]
    return ends[0].name == ends[1].name and values(ends[0]) == values(ends[1]) and rows[0] == rows[1]


def fault(rank, **how):
    """Environment that makes the interposer act on a rank: fault(1, call=7, how="fail")."""
    settings = {f"FDAPP_FAULT_{name.upper()}": str(value) for name, value in how.items()}
    # A program built with AddressSanitizer wants to be loaded first; the interposer passes on to it what it lets pass.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return {"LD_PRELOAD": INTERPOSER, "FDAPP_FAULT_RANK": str(rank), "ASAN_OPTIONS": sanitizer, **settings}


def together(work, cases):
    """The results of work(case), in order, some of them at a time: each has to have a folder of its own."""
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        return list(pool.map(work, cases))


def fresh(path):
    """The path, with nothing there."""
    shutil.rmtree(path, ignore_errors=True)
    return path
