import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import synthetic


@pytest.fixture
def run_dir(tmp_path):
    return synthetic.write_run(tmp_path / "pulse")


@pytest.fixture
def fdplot(capsys):
    """Call the command line; returns (exit code, standard output, standard error)."""
    from fdpost.cli import main

    def call(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as leave:  # argparse
            code = leave.code
        out, err = capsys.readouterr()
        return code, out, err

    return call
