"""Ramble application of fdapp: a workload per deck; the figure of merit, and success only with a verified answer."""

from ramble.appkit import *


class Fdapp(ExecutableApplication):
    """Advection and diffusion by high-order finite differences; a benchmark with one right answer."""

    name = "fdapp"
    tags("mini-app", "stencil", "benchmark")

    software_spec("fdapp", pkg_spec="fdapp@main", package_manager="spack*")
    required_package("fdapp", package_manager="spack*")

    executable(
        "run",
        "fdapp {fdapp_path}/share/fdapp/config/benchmark/{deck}.ini compute.precision={precision} "
        "output.directory={experiment_run_dir}/out {overrides}",
        use_mpi=True,
    )

    for deck in ("tiny", "small", "node"):
        workload(deck, executables=["run"])
        workload_variable("deck", default=deck, description="Deck of config/benchmark", workloads=[deck])
    workload_variable("precision", default="double", description="double or single",
                      workloads=["tiny", "small", "node"])  # fmt: skip
    workload_variable(
        "overrides", default="", description="More section.key=value", workloads=["tiny", "small", "node"]
    )

    figure_of_merit("Figure of merit", fom_regex=r"fom +(?P<fom>[0-9.e+]+) point updates", group_name="fom",
                    units="point updates/s")  # fmt: skip
    figure_of_merit("Hash", fom_regex=r"hash +(?P<hash>[0-9a-f]{16})", group_name="hash", units="")

    success_criteria("verified", mode="string", match=r"verified +passed", file="{log_file}")
