"""A rank, or all of them, killed at any moment: what is on the disk is whole, going on from it gives the same bits."""

import os
import pathlib
import random
import signal
import time

import harness

KILLS = int(os.environ.get("FDAPP_FAULTS_KILLS", "20"))
SEED = int(os.environ.get("FDAPP_FAULTS_SEED", "1"))
# Longer than it takes to start ranks, so that most kills hit steps and states.
LONG = ("time.steps=150", "output.fields_every=50", "restart.from=latest")


def kill_somebody(victims, mpirun, chance):
    """A rank chosen at random, now and then mpirun itself."""
    victim = mpirun if chance.random() < 0.1 else chance.choice(victims)
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def alive(process):
    """Whether it still runs; a zombie does not."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_gone(ranks):
    """Survivors, those of a killed mpirun too, end by themselves within a bounded time."""
    end = time.monotonic() + 60
    while any(map(alive, ranks)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(alive, ranks))


def test_random_kills(tmp_path, figures):
    chance = random.Random(SEED)
    kills = resumed = finished = launcher_hangs = 0
    slowest = 0.0
    directory = tmp_path / "run"
    # How long an undisturbed run takes from its first file on: kills are spread over that.
    reference = tmp_path / "reference"
    timed = harness.run(reference, *LONG, ranks=3).seconds
    while kills < KILLS:
        ranks = chance.choice((1, 2, 3, 5))
        run = harness.Run(directory, *LONG, ranks=ranks)
        run.wait_for(lambda run=run, ranks=ranks: len(run.ranks()) == ranks, "ranks to start")
        processes = run.ranks()
        time.sleep(chance.random() * 0.7 * timed)  # a resumed run has less to do
        killed = bool(processes) and run.process.poll() is None and kill_somebody(processes, run.process.pid, chance)
        moment = time.monotonic()
        try:
            run.finish(60)
        except harness.LauncherHang:
            launcher_hangs += 1
            kills += killed
            continue
        assert all_gone(processes)
        slowest = max(slowest, time.monotonic() - moment)
        assert harness.verify(*harness.states(directory)) == ""
        resumed += "restart    from" in run.stdout
        if run.code == 0:
            finished += 1
            assert harness.same_end(directory, reference), (SEED, kills)
            harness.fresh(directory)
        else:
            assert killed, (run.code, run.stderr)
        kills += killed
    run = harness.run(directory, *LONG, ranks=2)
    assert run.code == 0 and harness.same_end(directory, reference)
    figures["kills at random moments"] = kills
    figures["of these in MPI_Init, all ranks ended but mpirun itself did not (Open MPI 4.1.4)"] = launcher_hangs
    figures["runs resumed after a kill"] = resumed
    figures["runs brought to their end between kills, all with the reference's bits"] = finished + 1
    figures["longest time from a kill to the last process's end, s"] = f"{slowest:.1f}"
    assert resumed > 0
