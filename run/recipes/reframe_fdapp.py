"""ReFrame checks of fdapp: decks tiny and small in both precisions, verified, with the figure of merit.

reframe -c run/recipes/reframe_fdapp.py -r [-S fdapp_benchmark.program=/path/to/fdapp] [-S num_tasks=4]
"""

import pathlib

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable

ROOT = pathlib.Path(__file__).resolve().parents[2]


@rfm.simple_test
class fdapp_benchmark(rfm.RunOnlyRegressionTest):
    deck = parameter(["tiny", "small"])
    precision = parameter(["double", "single"])
    program = variable(str, value=str(ROOT / "build" / "fdapp"))

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = 2
    time_limit = "10m"

    @run_before("run")
    def make_command(self):
        self.executable = self.program
        self.executable_opts = [
            str(ROOT / "config" / "benchmark" / f"{self.deck}.ini"),
            f"compute.precision={self.precision}",
            "output.directory=out",
        ]

    @sanity_function
    def verified(self):
        return sn.assert_found(r"^verified +passed", self.stdout)

    @performance_function("point updates/s")
    def figure_of_merit(self):
        return sn.extractsingle(r"^fom +(\S+) ", self.stdout, 1, float)
