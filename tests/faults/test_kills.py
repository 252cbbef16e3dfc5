"""A rank, or all of them, killed at any moment: what is on the disk is whole, going on from it gives the same bits."""

import os
import random
import signal
import threading
import time

import pytest

import harness

KILLS = int(os.environ.get("FDAPP_FAULTS_KILLS", "20"))
SEED = int(os.environ.get("FDAPP_FAULTS_SEED", "1"))
STEPS = 150
LONG = (f"time.steps={STEPS}", "output.fields_every=50", "restart.from=latest")
RANKS = (1, 2, 3, 5)
PROBLEMS = {"": ()}
if harness.BACKEND == "cuda":
    PROBLEMS[", stages in pairs where each rank has a GPU"] = harness.PAIRS
LIMIT = 60  # seconds within which survivors have left


def newest_step(directory):
    """Of the newest state that has its name; -1: none."""
    steps = [int(path.name[len("state_") : -len(".hdf")]) for path in harness.states(directory)]
    return max(steps, default=-1)


def wait_for_moment(run, ranks, chance):
    """Until a random moment of the run: one in ten while it starts, the others as its states go by."""
    run.wait_for(lambda: len(run.ranks()) == ranks, "ranks to start")
    moment = chance.random()
    if chance.random() < 0.1:
        time.sleep(moment * 0.5)
        return
    done = newest_step(run.directory)
    step = done + moment * (STEPS - done)
    run.wait_for(lambda: newest_step(run.directory) >= step, f"step {step}")
    time.sleep(chance.random() * 0.02)  # about what two steps and a state take


def kill_somebody(run, victims, chance):
    """A rank chosen at random, now and then mpirun, or all of them at once as when a machine goes down."""
    kind = chance.random()
    if kind < 0.1:
        run.kill()
        return
    try:
        os.kill(run.process.pid if kind < 0.2 else chance.choice(victims), signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended by itself: counted as a kill all the same only if the run did not


def all_gone(ranks):
    """Survivors, those of a killed mpirun too, end by themselves within a bounded time."""
    end = time.monotonic() + LIMIT
    while any(harness.Run.state(rank) != "Z" for rank in ranks) and time.monotonic() < end:
        time.sleep(0.01)
    return all(harness.Run.state(rank) == "Z" for rank in ranks)


class Campaign:
    """Chains of runs in a directory each: killed once or twice, then brought to the end, always on other ranks."""

    def __init__(self, base, words, reference):
        self.base, self.words, self.reference = base, (*LONG, *words), reference
        self.lock = threading.Lock()
        self.kills = self.late = self.resumed = self.finished = self.launcher_hangs = 0
        self.slowest = 0.0

    def count(self, name, number=1):
        with self.lock:
            setattr(self, name, getattr(self, name) + number)

    def killed_run(self, directory, ranks, chance):
        """Starts a run and kills it. Returns whether it was the kill that ended it."""
        run = harness.Run(directory, *self.words, ranks=ranks)
        wait_for_moment(run, ranks, chance)
        processes = run.ranks()
        if run.process.poll() is None and processes:
            kill_somebody(run, processes, chance)
        moment = time.monotonic()
        try:
            run.finish(LIMIT)
        except harness.LauncherHang:
            self.count("launcher_hangs")
            return True
        assert all_gone(processes), "ranks are left"
        with self.lock:
            self.slowest = max(self.slowest, time.monotonic() - moment)
            self.resumed += "restart    from" in run.stdout
        # The launcher's own code: a rank that is ended by signal N makes it 128 + N.
        assert run.code >= 0 or run.code == -signal.SIGKILL, (run.code, run.stderr)
        assert harness.verify(*harness.states(directory)) == ""
        return run.code != 0

    def chain(self, number):
        chance = random.Random(1000003 * SEED + number)
        directory = self.base / f"{number}" / "run"
        order = chance.sample(RANKS, 3)
        for ranks in order[: 1 + number % 2]:
            self.count("kills", self.killed_run(directory, ranks, chance))
            self.count("late", newest_step(directory) >= STEPS // 2)
        run = harness.run(directory, *self.words, harness.ELSEWHERE, ranks=order[-1])
        assert run.code == 0, (SEED, number, run.stderr)
        assert harness.same_end(directory, self.reference), (SEED, number)
        assert not harness.partials(directory)
        self.count("resumed", "restart    from" in run.stdout)
        self.count("finished")
        harness.fresh(directory.parent)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_random_kills(tmp_path, figures, problem):
    straight = tmp_path / "straight" / "run"
    assert harness.run(straight, *LONG, *PROBLEMS[problem], harness.ELSEWHERE, ranks=3).code == 0
    campaign = Campaign(tmp_path, PROBLEMS[problem], straight)
    started = 0
    while campaign.kills < KILLS:
        more = max(1, (KILLS - campaign.kills) * 2 // 3)
        harness.together(campaign.chain, range(started, started + more))
        started += more
    assert campaign.resumed >= campaign.kills // 2
    figures[f"kills at random moments{problem}"] = campaign.kills
    figures[f"of these, in the second half of a run{problem}"] = campaign.late
    figures[f"of these in MPI_Init, all ranks ended but mpirun itself did not (Open MPI 4.1.4){problem}"] = (
        campaign.launcher_hangs
    )
    figures[f"runs that resumed from a state after a kill, on another number of ranks{problem}"] = campaign.resumed
    figures[f"killed runs brought to their end, all with the reference's bits{problem}"] = campaign.finished
    figures[f"longest time from a kill to the last process's end, s{problem}"] = f"{campaign.slowest:.1f}"
