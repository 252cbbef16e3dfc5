"""For run/benchmark: the runs and their grids."""

import dataclasses
import re
import subprocess
from pathlib import Path

import scaling_host
from scaling_host import ROOT, Failure

DECKS = ("tiny", "small", "node", "memory", "wave-small", "wave-node", "flow-tiny", "flow-node")
SHARED_UPDATES = 2e9  # points times steps of a run of the throughput curve, so that each takes some time
CUBES = (32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1280)


@dataclasses.dataclass(frozen=True)
class Case:
    """Equal runs of one deck."""

    deck: str
    config: Path
    precision: str
    ranks: int
    changes: tuple = ()  # overrides of the deck

    @property
    def name(self):
        return f"{self.deck} {self.precision}"

    def overrides(self, directory):
        whole = ["output.wall_limit=0", "restart.from=none"]
        return [*self.changes, f"compute.precision={self.precision}", f"output.directory={directory}", *whole]


def find_deck(name):
    path = ROOT / "config" / "benchmark" / f"{name}.ini" if name in DECKS else Path(name)
    if not path.is_file():
        raise Failure(2, f"deck '{name}': neither one of {', '.join(DECKS)} nor a file")
    return path.resolve()


def precisions(args):
    names = list(dict.fromkeys(args.precision.split(",")))
    if unknown := set(names) - {"double", "single"}:
        raise Failure(2, f"precision '{unknown.pop()}': single and double exist")
    return names


def decks(runs, args, ranks):
    """The cases of the requested decks."""
    cases = []
    for name in args.deck or ("tiny", "small"):
        for precision in precisions(args):
            case = Case(name if name in DECKS else Path(name).stem, find_deck(name), precision, ranks)
            if name == "memory":
                case = filling(runs, case, args.memory)
            cases.append(case)
    return cases


def plan_of(runs, case):
    """The output of fdapp --validate for a case: {first word: rest of the line}. Failure 2 or 3."""
    words = [*dataclasses.replace(runs, config=case.config).words(case, case.ranks), "--validate"]
    done = subprocess.run(words, env=runs.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(2 if done.returncode == 2 else 3, f"{case.name}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def free_bytes(runs, case, said):
    """Bytes free for one rank: of the smallest GPU, or its share of this node's memory."""
    gpus = scaling_host.gpus_for(runs.backend)
    if gpus:
        free = scaling_host.command_output("nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits")
        each = -(-case.ranks // gpus) if scaling_host.batch_tasks() is None else 1
        return min(float(line) for line in free.split()) * 2**20 / each
    found = re.search(r"^memory +\S+ \S+ needed by this node's ranks, (\S+ \S+) free on this node", said, re.MULTILINE)
    if not found:
        raise Failure(3, f"{case.name}: the program does not say how much memory is free")
    tasks = scaling_host.batch_number("SLURM_NTASKS_PER_NODE") or case.ranks
    return size(found[1]) / min(tasks, case.ranks)


def size(text):
    """Bytes of '1.5 GiB'."""
    number, unit = text.split()
    return float(number) * 1024 ** ("B", "KiB", "MiB", "GiB", "TiB", "PiB").index(unit)


def fields_of(said):
    """Number of arrays with a slab's shape in a run."""
    return int(re.search(r"\((\d+) fields\)", said)[1])


def filling(runs, case, percent):
    """The case with as many planes as fill this share of the memory. Failure 3 if they are too few for a run."""
    said = plan_of(runs, case)
    points = [int(n) for n in re.search(r"^grid +(\d+) x (\d+) x (\d+)", said, re.MULTILINE).groups()]
    plane = points[0] * points[1] * fields_of(said) * (4 if case.precision == "single" else 8)
    each = int(percent / 100 * free_bytes(runs, case, said) / plane) - 8  # halo planes
    nz = case.ranks * each
    if each < 4 or nz < points[2]:
        raise Failure(3, f"{case.name}: {percent:g} % of the memory is less than {points[2]} planes")
    return dataclasses.replace(case, changes=(f"grid.nz={nz}", f"grid.lz={nz / points[0]!r}"))


def throughput(runs, args, ranks):
    """Deck small on cubes of all sizes, with about the same number of updates each."""
    deck = find_deck("small")
    largest = None
    cases = []
    for precision in precisions(args):
        base = Case("throughput", deck, precision, ranks)
        if args.sizes is None:
            said = plan_of(runs, base)
            room = 0.5 * free_bytes(runs, base, said) * ranks
            largest = (room / fields_of(said) / (4 if precision == "single" else 8)) ** (1 / 3)
        for n in args.sizes or [n for n in CUBES if n <= largest and n >= 4 * ranks]:
            steps = max(20, min(2000, round(SHARED_UPDATES / n**3)))
            cube = [f"grid.n{axis}={n}" for axis in "xyz"]
            changes = (*cube, f"time.dt={0.3 / n!r}", f"time.steps={steps}")
            none = ("benchmark.reference=none", "benchmark.reference_single=none")
            cases.append(dataclasses.replace(base, changes=(*changes, *none)))
    return cases
