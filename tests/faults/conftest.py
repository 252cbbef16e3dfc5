"""Fixtures of the fault tests. Environment, beside harness's: FDAPP_FAULTS_KILLS, FDAPP_FAULTS_CALLS: how many;
run/faults raises them."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import harness


def pytest_sessionstart():
    if harness.BACKEND == "cuda" and not harness.device_memory():
        pytest.exit("no GPU here", returncode=77)


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """An undisturbed run that the others are compared with."""
    directory = tmp_path_factory.mktemp("reference") / "run"
    assert harness.run(directory, ranks=1).code == 0
    return directory


@pytest.fixture(scope="session")
def figures():
    """Counts for the record; written where FDAPP_FAULTS_FIGURES says."""
    counts = {}
    yield counts
    path = os.environ.get("FDAPP_FAULTS_FIGURES")
    if path:
        with open(path, "a") as file:
            for name, count in counts.items():
                file.write(f"{name}\t{count}\n")
