"""A model of the time of a step from figures of the machine, for predictions of other grids and rank counts.

One Runge-Kutta stage on a slab of n planes, with w words moved per point (words of a step / stages), halo H = 4:
    plane(k) = k nx ny size / (bandwidth efficiency)       seconds for k words per point of a plane, on a device
    plane(k) = k nx ny size (1 / bandwidth + 1 / core)     on a CPU, where memory's time and the cores' add up
    halo     = latency + H nx ny size / link               both ways at once; 0 for a rank alone, which wraps around
    alone, or without overlap:
        interior = launch + plane(n w + 2 H pieces)
        stage    = interior + halo
    on a CPU, with overlap, edges and interior are two operations:
        edges    = launch + plane(8 w + 4 H) / thin        both ranges, which read H planes on either side
        interior = launch + plane((n - 8) w + 2 H)         overlaps with halo
        stage    = edges + interior + halo - hiding min(interior, halo) + join
    on a device, with overlap, one kernel computes the slab, its ends first; halo begins when the edges are there:
        interior = launch + plane(n w + 2 H max(pieces, 2))
        edges    = launch + turns plane(4 w + 2 H) part / thin + interior (rounds - 1) / rounds     within interior
        stage    = max(interior, edges + halo) + join      or interior + halo + join, if nothing is hidden

On a device as many blocks as fit march through the planes, and take `front` bytes of a plane together. A plane of more
is done in rounds = ceil(nx ny size / front), one after the other: the last one begins, with its edges, when the others
are done. A plane of less is done in pieces = floor(front / (nx ny size)) along z at once, each of which reads H planes
on either side; from 2 on both ends are computed at once (turns = 1), else one after the other (turns = 2). part =
front / (nx ny size): what marches together takes the device's whole bandwidth. Edges never take longer than all planes.
On a CPU pieces = 1.

hiding = 1 where messages move on by themselves. The slowest rank has ceil(nz / ranks) planes; on a CPU fewer than 8 are
all edge, in one range. bandwidth is the same-mix ceiling of a rank, measured in the same run; where ranks share one
host's memory, also beside the runs that are predicted, for how it is shared out is a figure of the machine. launch is
what starting a range and letting it run out costs, and thin the share of the bandwidth that the first planes reach of
what many reach: pipelines of planes fill up meanwhile. join is what passes from stage to stage beside that, waiting for
a slower neighbour included. efficiency or core, launch, thin and join are fitted to times of steps and of their parts,
latency and link to times of the exchange alone (fdbench halo). Not in the model: caches that hold a whole slab, GPUs
that differ, a network shared by many nodes, jitter of many ranks: beyond the ranks measured it is a bound from below on
time."""

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

HALO = 4
SIZES = {"double": 8, "single": 4}
NOISE = 0.02  # relative error of a measured step, the weight of the data in a fit
PART_NOISE = 0.1  # of a part: timed on the last stage of a step, and scaled to the mean one by its words
EXCHANGE_NOISE = 0.1  # of an exchange: the formula is a straight line, protocols are not
PRIOR_FACTOR = 3.0  # width, as a factor, of the prior around each figure's first guess
UNTOLD = 0.7  # the data determine a figure if the fit leaves less than this share of the prior's width
DISAGREEMENT = 0.10

# Bytes of a plane that a device computes at once: 132 multiprocessors, each with a tile of 16 KiB (H200, uniform
# velocity, kernels/cuda/tiles.cuh).
FRONT = 132 * 16384.0

# First guesses, of the size seen on H200s with copies from GPU to GPU over NVLink, and through shared host memory.
GUESSES = {
    "cuda": {"efficiency": 0.9, "latency": 20e-6, "link": 150e9, "launch": 5e-6, "thin": 0.7, "join": 10e-6},
    "cpu": {"core": 20e9, "latency": 10e-6, "link": 5e9, "launch": 10e-6, "thin": 1.0, "join": 5e-6},
}


@dataclass(frozen=True)
class Problem:
    """A problem on a number of ranks."""

    nx: int
    ny: int
    nz: int
    ranks: int
    size: int = 8  # bytes of a word
    words: int = 11  # per point and step
    stages: int = 4
    overlap: bool = True

    @property
    def planes(self):
        """Planes of the largest slab."""
        return -(-self.nz // self.ranks)

    @property
    def plane_bytes(self):
        return self.nx * self.ny * self.size


@dataclass(frozen=True)
class Ceilings:
    """Same-mix bandwidth of one rank as measured: (ranks, bytes of a slab's field, bytes per second)."""

    known: tuple
    shared: bool = False  # ranks share one memory: more ranks than measured get no more bandwidth in total

    def of(self, problem):
        """For a problem: from the nearest rank count that is not larger, by size of slab (on a log axis)."""
        counts = {ranks for ranks, _, _ in self.known}
        ranks = max((count for count in counts if count <= problem.ranks), default=min(counts))
        rows = sorted((math.log(slab), value) for count, slab, value in self.known if count == ranks)
        value = np.interp(math.log(problem.planes * problem.plane_bytes), *zip(*rows))
        return float(value) * (ranks / problem.ranks if self.shared and problem.ranks > ranks else 1.0)


@dataclass(frozen=True)
class Machine:
    """The machine's figures."""

    ceilings: Ceilings
    latency: float  # seconds, of an exchange
    link: float  # bytes per second, each way
    launch: float  # seconds, of a range of planes, whatever its size
    efficiency: float = 1.0  # share of the ceiling that a stage reaches on a thick slab, on a device
    core: float = math.inf  # bytes per second that a rank's threads process from their caches, on a CPU
    thin: float = 1.0  # bandwidth of the edges, as a share of the interior's
    join: float = 0.0  # seconds, of a stage that overlaps
    front: float = 0.0  # bytes of a plane that a device computes at once; 0: a CPU
    hiding: float = 1.0  # share of the halo's time that is hidden, of what could be
    untold: tuple = ()  # names of the figures that the data hardly determine


@dataclass(frozen=True)
class Terms:
    """Seconds of a step."""

    interior: float
    edges: float
    halo: float
    overhead: float
    hidden: float  # of the halo
    within: bool = False  # edges are a part of interior, not in addition to it

    @property
    def total(self):
        return sum(shown_terms(self).values())

    @property
    def exposed(self):
        """The part of the halo's time that is not hidden."""
        return self.halo - self.hidden


def stage_split(machine, problem, span):
    """(interior, edges, the part of the interior that can hide the halo) on a CPU. span(planes, planes beside them,
    share of the bandwidth): seconds of a range."""
    split = min(problem.planes, 2 * HALO)
    edges = span(split, 4 * HALO if problem.planes >= 2 * HALO else 2 * HALO, machine.thin)
    interior = span(problem.planes - split, 2 * HALO) if problem.planes > split else 0.0
    return interior, edges, interior


def pieces_of(machine, problem):
    """Pieces along z that a device computes at once."""
    return max(1, min(int(machine.front / problem.plane_bytes), problem.planes // (2 * HALO)))


def stage_ends_first(machine, problem, span):
    """As stage_split(), on a device."""
    pieces = pieces_of(machine, problem)
    interior = span(problem.planes, 2 * HALO * max(pieces, 2))
    turns = 1 if pieces > 1 else 2
    share = machine.thin * problem.plane_bytes / machine.front
    rounds = math.ceil(problem.plane_bytes / machine.front)
    edges = min(span(turns * HALO, turns * 2 * HALO, share) + interior * (rounds - 1) / rounds, interior)
    return interior, edges, interior - edges


def step_terms(machine, problem):
    """The terms of a step of `problem`."""
    speed = 1 / (1 / (machine.ceilings.of(problem) * machine.efficiency) + 1 / machine.core)
    words = problem.words / problem.stages
    alone = problem.ranks == 1
    overlap, device = problem.overlap and not alone, machine.front > 0

    def span(planes, beside, share=1.0):
        return machine.launch + (planes * words + beside) * problem.plane_bytes / (speed * share)

    halo = 0.0 if alone else machine.latency + HALO * problem.plane_bytes / machine.link
    if overlap:
        interior, edges, room = (stage_ends_first if device else stage_split)(machine, problem, span)
        values = interior, edges, halo, machine.join, machine.hiding * min(room, halo)
    else:
        pieces = pieces_of(machine, problem) if device else 1
        values = span(problem.planes, 2 * HALO * pieces), 0.0, halo, 0.0, 0.0
    return Terms(*(problem.stages * value for value in values), within=device)


def shown_terms(terms):
    """The terms that add up to the step: the halo without its hidden part, and no edges that are part of the
    interior."""
    edges = {} if terms.within else {"edges": terms.edges}
    return {"interior": terms.interior, **edges, "halo": terms.exposed, "overhead": terms.overhead}


def step_time(machine, problem):
    """Seconds of a step."""
    return step_terms(machine, problem).total


@dataclass(frozen=True)
class Measurement:
    """Median time of a step, and its measured parts (seconds per step; NaN if unknown)."""

    problem: Problem
    seconds: float
    ceiling: float  # bytes per second of all ranks
    parts: dict = field(default_factory=dict)  # interior, edges, halo (what is not hidden)

    @property
    def known(self):
        """The parts that were measured."""
        return {name: value for name, value in self.parts.items() if math.isfinite(value)}


def measured_ceilings(measurements, shared):
    """Ceilings of these measurements; equal rank counts and slabs are averaged. Unless ranks share a memory, the number
    of ranks does not matter."""
    found = {}
    for m in measurements:
        slab = m.problem.planes * m.problem.plane_bytes
        found.setdefault((m.problem.ranks if shared else 1, slab), []).append(m.ceiling / m.problem.ranks)
    return Ceilings(tuple((*key, float(np.mean(values))) for key, values in sorted(found.items())), shared)


def fit(measurements, backend="cuda", exchanges=(), streams=()):
    """The machine that fits the measurements best, with overlap that hides everything or nothing, whichever fits
    better.

    exchanges: [(bytes sent each way, seconds)] of the halo exchange alone. streams: the measurements whose ceilings are
    the machine's, if not the same ones; nothing else of them is used. Weighted least squares of the logarithms, with a
    prior of a factor of three around each first guess. A figure that the data do not determine, such as the latency
    that overlap hides, stays near its guess and is named in `untold`."""
    guess = GUESSES.get(backend, GUESSES["cuda"])
    ceilings = measured_ceilings(streams or measurements, shared=backend == "cpu")
    names, front = list(guess), 0.0 if backend == "cpu" else FRONT
    start = np.log([guess[name] for name in names])

    def machine_of(x, hiding):
        return Machine(ceilings, **dict(zip(names, map(float, np.exp(x)))), front=front, hiding=hiding)

    def residuals(x, hiding):
        machine = machine_of(x, hiding)
        data = [math.log(step_time(machine, m.problem) / m.seconds) / NOISE for m in measurements]
        for m in measurements:
            terms = step_terms(machine, m.problem)
            told = [(getattr(terms, name), value) for name, value in m.known.items() if name != "halo"]
            data += [math.log(ours / value) / PART_NOISE for ours, value in told if ours > 0 and value > 0]
        data += [
            math.log((machine.latency + sent / machine.link) / seconds) / EXCHANGE_NOISE for sent, seconds in exchanges
        ]
        return np.array([*data, *((x - start) / math.log(PRIOR_FACTOR))])

    fits = []
    for hiding in (1.0, 0.0):
        x, jacobian = least_squares(lambda x, hiding=hiding: residuals(x, hiding), start)
        fits.append((float(np.sum(residuals(x, hiding) ** 2)), machine_of(x, hiding), jacobian))
    _, machine, jacobian = min(fits, key=lambda found: found[0])
    width = np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian))) / math.log(PRIOR_FACTOR)
    return replace(machine, untold=tuple(name for name, left in zip(names, width) if left > UNTOLD))


def least_squares(residuals, start, rounds=200):
    """Levenberg and Marquardt with numerical derivatives, for a handful of parameters: (parameters, Jacobian there)."""
    x, damping = np.array(start, dtype=float), 1e-2
    r = residuals(x)

    def slope(x, r):
        return np.stack([(residuals(x + 1e-6 * unit) - r) / 1e-6 for unit in np.eye(x.size)], axis=1)

    for _ in range(rounds):
        jacobian = slope(x, r)
        normal, gradient = jacobian.T @ jacobian, jacobian.T @ r
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -gradient)
        trial = residuals(x + step)
        if trial @ trial < r @ r:
            done = r @ r - trial @ trial < 1e-10 * (r @ r)
            x, r, damping = x + step, trial, damping / 5
            if done:
                break
        else:
            damping *= 4
            if damping > 1e12:
                break
    return x, slope(x, r)


def compare_terms(machine, measurement):
    """[(name, measured, modelled)] in seconds per step, for terms that add up to the step; the last one is the rest
    that no measured part explains. Empty if no part was measured."""
    modelled = shown_terms(step_terms(machine, measurement.problem))
    pairs = [(name, value, modelled.pop(name)) for name, value in measurement.known.items() if name in modelled]
    if not pairs:
        return []
    if modelled.get("edges") == 0:
        del modelled["edges"]
    rest = measurement.seconds - sum(value for _, value, _ in pairs)
    return [*pairs, (" and ".join(modelled), rest, sum(modelled.values()))]


def blame(machine, measurement):
    """None if model and measurement agree within 10 %, else (measured / model, the term to blame, why).

    The term whose own measured time is farthest from its modelled one."""
    terms = step_terms(machine, measurement.problem)
    ratio = measurement.seconds / terms.total
    if abs(ratio - 1) <= DISAGREEMENT:
        return None
    compared = compare_terms(machine, measurement)
    if compared:
        if compared[-1][1] < 0:  # parts, scaled from one stage, that exceed the step
            compared = compared[:-1]
        worst, measured, modelled = (max if ratio > 1 else min)(compared, key=lambda row: row[1] - row[2])
        return ratio, worst, f"{1e3 * measured:.3g} ms measured, {1e3 * modelled:.3g} ms in the model"
    modelled = shown_terms(terms)
    gap = measurement.seconds - terms.total
    worst = min(
        modelled, key=lambda name: abs(math.log(max(1 + gap / modelled[name], 1e-9))) if modelled[name] else 1e9
    )
    return ratio, worst, "the smallest change of one term that would explain it; the terms were not measured"


def strong(machine, problem, counts):
    """[(ranks, seconds, efficiency)] of one grid; efficiency against the model's own time on one rank."""
    single = step_time(machine, replace(problem, ranks=1))
    times = [(ranks, step_time(machine, replace(problem, ranks=ranks))) for ranks in counts]
    return [(ranks, seconds, single / (ranks * seconds)) for ranks, seconds in times]


def weak(machine, problem, counts):
    """[(ranks, seconds, efficiency)] with problem.nz planes per rank."""
    grown = [replace(problem, nz=problem.nz * ranks, ranks=ranks) for ranks in counts]
    times = [step_time(machine, each) for each in grown]
    single = step_time(machine, replace(problem, ranks=1))
    return [(ranks, seconds, single / seconds) for ranks, seconds in zip(counts, times)]


def least_link(machine, problem):
    """Bytes per second each way with which overlap still hides the halo; infinite where it cannot."""
    terms = step_terms(machine, problem)
    left = (terms.interior - terms.within * terms.edges) / problem.stages - machine.latency
    return HALO * problem.plane_bytes / left if problem.overlap and left > 0 else math.inf


def powers(most):
    """1, 2, 4 ... up to `most`."""
    return [2**k for k in range(int(math.log2(most)) + 1)]


def improved(machine):
    """{change: the machine with it}: the gain from improving one term."""
    return {
        "as it is": machine,
        "edges as fast as the interior": replace(machine, thin=1.0),
        "no time between stages": replace(machine, join=0.0),
        "exchange in half the time": replace(machine, latency=machine.latency / 2, link=2 * machine.link),
    }


def strong_end(machine, problem, gain=1.25):
    """The end of strong scaling: (ranks, efficiency there, reason). Beyond it, doubling the ranks does not make a step
    `gain` times faster, or leaves ranks with fewer than H planes."""
    counts = powers(problem.nz // HALO)
    curve = strong(machine, problem, counts)
    for (ranks, seconds, efficiency), (_, faster, _) in pairwise(curve):
        if seconds < gain * faster:
            before, after = (shown_terms(step_terms(machine, replace(problem, ranks=n))) for n in (ranks, 2 * ranks))
            return ranks, efficiency, max(after, key=lambda name: after[name] - before[name] / 2)
    ranks, _, efficiency = curve[-1]
    return ranks, efficiency, f"slabs of {HALO} planes"
