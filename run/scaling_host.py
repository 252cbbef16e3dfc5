"""For run/scaling and run/benchmark: the machine of a study, and how ranks are started there."""

import math
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # of the sources, or PREFIX/share/fdapp of an installation
INSTALLED = not (ROOT / "CMakeLists.txt").exists()
PROGRAM = ROOT.parents[1] / "bin" / "fdapp" if INSTALLED else ROOT / "build" / "fdapp"
RUNS = (Path.cwd() if INSTALLED else ROOT) / "runs"


class Failure(Exception):
    """A message, and the exit code of the script."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def command_output(*command):
    """The output of a command; empty if it cannot be run."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
        )
        return done.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def gpu_count():
    """Number of GPUs that a program started from here sees."""
    there = sum(line.startswith("GPU ") for line in command_output("nvidia-smi", "-L").splitlines())
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return there
    return min(there, sum(name.strip() not in ("", "-1") for name in visible.split(",")))


def backend_of(program, backend):
    """The backend that runs: for auto the CPU if the program has no CUDA, even if there are GPUs."""
    if backend != "auto" or not gpu_count():
        return backend
    return "auto" if "\n  cuda\n" in command_output(program, "--list") else "cpu"


def batch_number(name):
    """A number that the batch system sets in the environment, or None."""
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else None


def gpus_for(backend):
    """Number of GPUs that runs of this backend use; 0 on the CPU."""
    return 0 if backend == "cpu" else gpu_count()


def batch_tasks():
    """Tasks of the batch job, or None outside of one."""
    nodes = os.environ.get("PBS_NODEFILE", "")
    listed = len(Path(nodes).read_text().split()) if os.path.isfile(nodes) else None
    return batch_number("SLURM_NTASKS") or batch_number("PBS_NP") or listed


def places(backend):
    """Most ranks: tasks of the batch job, else GPUs, else cores."""
    return batch_tasks() or gpus_for(backend) or len(os.sched_getaffinity(0))


def cores():
    """Number of cores of the batch job, else of those that this process may use."""
    tasks = batch_tasks()
    each = batch_number("SLURM_CPUS_PER_TASK") or batch_number("OMP_NUM_THREADS") or 1
    return tasks * each if tasks else len(os.sched_getaffinity(0))


def time_left():
    """Seconds left in this Slurm job, less a minute for its end; infinite outside Slurm or without a limit."""
    job = os.environ.get("SLURM_JOB_ID")
    said = command_output("squeue", "--noheader", "--format=%L", "--job", job) if job else ""
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", said.strip())
    if not found:
        return math.inf
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return 86400 * days + 3600 * hours + 60 * minutes + seconds - 60


def launch_environment(backend):
    """The environment of mpirun, with what MPI needs to send GPU memory. Ranks are not bound to one core each, as Open
    MPI does with two ranks, because a rank's threads would share that core."""
    env = dict(os.environ)
    env.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")
    if "SLURM_JOB_ID" not in env and "PBS_JOBID" not in env:
        env.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
        env.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    if os.geteuid() == 0:
        env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    script = ROOT / "run" / "gpu-env"
    if gpus_for(backend) and "OMPI_MCA_pml" not in env and script.exists():
        unread = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "env": env}
        lines = subprocess.run([script], check=False, **unread)
        if lines.returncode == 0:
            shell = subprocess.run(["bash", "-c", f"{lines.stdout}\nenv -0"], check=True, **unread)
            env = dict(entry.split("=", 1) for entry in shell.stdout.split("\0") if "=" in entry)
        else:
            print(f"warning: run/gpu-env: {lines.stderr.strip()}", file=sys.stderr)
    return env


def find_program(args):
    """The program and the launcher's words, which still contain {ranks}."""
    program = args.fdapp or PROGRAM
    if not program.exists():
        found = None if args.fdapp else shutil.which("fdapp")
        if not found:
            raise Failure(
                2,
                f"{program}: no such program; build it (docs/reference/build.md) or name it with --fdapp",
            )
        program = Path(found)
    if args.launcher:
        try:
            words = shlex.split(args.launcher)
        except ValueError as error:
            raise Failure(2, f"--launcher '{args.launcher}': {error}") from error
        if not any("{ranks}" in word for word in words):
            raise Failure(2, f"--launcher '{args.launcher}' has no {{ranks}} in it")
        return program.resolve(), words
    if shutil.which("mpirun"):
        return program.resolve(), ["mpirun", "-np", "{ranks}"]
    if "SLURM_JOB_ID" in os.environ and shutil.which("srun"):
        return program.resolve(), ["srun", "-n", "{ranks}"]
    raise Failure(2, "no mpirun here; say with --launcher how ranks are started")


def started(launcher, ranks):
    """The launcher's words for this number of ranks."""
    return [word.replace("{ranks}", str(ranks)) for word in launcher]


def provenance(configuration, overrides, program, launcher, env):
    """Everything that the figures depend on. `identity` must not change within one study."""

    def first_line(*command):
        return command_output(*command).partition("\n")[0]

    def text(path):
        return Path(path).read_text().strip() if Path(path).exists() else ""

    shown = ("OMPI_", "UCX_", "OMP_", "SLURM_NTASKS", "SLURM_NNODES", "SLURM_JOB_ID", "CUDA_VISIBLE", "PBS_NP")
    cpu = [
        line.strip()
        for line in command_output("lscpu").splitlines()
        if line.startswith(("Model name", "CPU(s)", "Thread(s)", "Core(s)", "Socket(s)", "NUMA", "L2", "L3"))
    ]
    gpus = command_output(
        "nvidia-smi", "--query-gpu=name,memory.total,driver_version,clocks.max.sm", "--format=csv,noheader"
    ).splitlines()
    models = {line.partition(":")[2].strip() for line in cpu if line.startswith("Model name")}
    return {
        "identity": {
            "program": command_output(str(program), "--version").splitlines(),
            "configuration": configuration,
            "overrides": overrides,
            "launcher": launcher,
            "machine": sorted(models | {gpu.partition(",")[0] for gpu in gpus}),
        },
        "mpi": first_line("mpirun", "--version"),
        "revision of scripts": first_line("git", "describe", "--always", "--dirty"),
        "gpus": gpus,
        # its headings are underlined for a terminal
        "links": re.sub(r"\x1b\[[0-9;]*m", "", command_output("nvidia-smi", "topo", "-m")).splitlines(),
        "cpu": cpu,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "clock source": text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "environment": {name: env[name] for name in sorted(env) if name.startswith(shown)},
    }


def call_python(*words):
    """Runs Python with the package of postproc/; returns the finished process, its messages without the
    path by which a missing library was imported."""
    python = ROOT / ".venv" / "bin" / "python"
    paths = [str(ROOT / "postproc"), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [str(python) if python.exists() else sys.executable, *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, env=env, capture_output=True, text=True, check=False)
    done.stderr = done.stderr[done.stderr.rfind("\nModuleNotFoundError") + 1 :]
    return done
