"""Writes the pages of docs/reference from what the programs print about keys and options. fdplot and fdread must be
in .venv (run/setup).

usage: docs_reference.py BUILD_DIRECTORY OUTPUT_DIRECTORY
"""

import os
import pathlib
import re
import subprocess
import sys

CONFIGURATION = """# Configuration

An INI file; `section.key=value` on the command line overrides it. Unknown, repeated, contradictory or out-of-range
entries are errors that name the file and line, or the command line, and what is accepted, before anything is written.

`run/docs --reference` writes this page from `fdapp --list`.

"""

COMMAND_LINE = """# Command lines

`run/docs --reference` writes this page from what the programs print with `--help`.

## Environment

| variable | what it does |
|---|---|
| `OMP_NUM_THREADS` | threads per rank where `compute.threads = 0` |
| `CUDA_VISIBLE_DEVICES` | GPUs that may be used |
| `UCX_TLS` | if set, must name `cuda_copy`, `cuda` or `all` for `halo.transport = cuda_aware` |
| `FDAPP_CUDA_SYNC` | 1: wait after each launch, so that the error of a kernel names the kernel |
| `OMPI_ALLOW_RUN_AS_ROOT`, `OMPI_ALLOW_RUN_AS_ROOT_CONFIRM` | 1: Open MPI may be run as root |

"""

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCRIPTS = (
    *("quickstart", "setup", "benchmark", "burnin", "scaling", "slurm.sbatch", "pbs.sh", "bundle", "gpu-env"),
    *("test", "lint", "docs", "faults", "mpich", "gpu-check", "compare", "gallery", "release"),
)


def output(*command):
    """The output of a command for a terminal of fixed width."""
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(
        command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment
    ).stdout


def table(rows, header):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def words(text):
    """A list's entry "name   meaning" as a row, the name as code."""
    name, _, meaning = text.strip().partition(" ")
    return [f"`{name}`", meaning.strip()]


def keys(lines):
    """A table of keys per section. An entry has two lines: "section.key   accepted; default: D" (or "; required"), and
    what the key means."""
    result, section = [], None
    for entry, meaning in zip(lines[::2], lines[1::2], strict=True):
        name, _, rest = entry.strip().partition(" ")
        accepted, _, default = rest.strip().rpartition("; ")
        own, _, key = name.partition(".")
        if own != section:
            section = own
            result += ["", f"## \\[{section}\\]", "", *table([], ["key", "accepted", "default", "meaning"])]
        default = default.removeprefix("default: ")
        result.append("| " + " | ".join([f"`{key}`", accepted, default, meaning.strip()]) + " |")
    return result


def configuration(text):
    """The lists of names, then the keys; the same page whether or not this build has the CUDA backend."""
    text = text.replace("auto, cpu;", "auto, cuda, cpu;")
    result = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines[0] == "Keys":
            result += keys(lines[1:])
        elif not lines[0].startswith("Backends"):
            result += ["", f"## {lines[0]}", "", *table([words(line) for line in lines[1:]], ["name", "meaning"])]
    return CONFIGURATION + "\n".join(result).strip() + "\n"


def section(title, *command):
    return f"## {title}\n\n```text\n{output(*command, '--help').rstrip()}\n```\n"


def command_line(build):
    parts = [section(name, build / name) for name in ("fdapp", "fdbench", "fddistance")]
    fdplot = ROOT / ".venv" / "bin" / "fdplot"
    parts.append(section("fdplot", fdplot))
    for name in re.findall(r"^    ([a-z]+)(?: |$)", output(fdplot, "--help"), re.MULTILINE):
        parts.append(section(f"fdplot {name}", fdplot, name))
    parts.append(section("fdread", ROOT / ".venv" / "bin" / "fdread"))
    parts += [section(f"run/{name}", ROOT / "run" / name) for name in SCRIPTS]
    return COMMAND_LINE + "\n".join(parts)


def main():
    build, target = (pathlib.Path(argument) for argument in sys.argv[1:3])
    (target / "configuration.md").write_text(configuration(output(build / "fdapp", "--list")))
    (target / "command-line.md").write_text(command_line(build))


main()
