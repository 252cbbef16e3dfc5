"""What the program prints: the plan, the summary, progress on a terminal, help, and keys without effect. A run whose
output nobody reads is the same run."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from program import BASE, LAST, command, complaints, launch, merged, rows, run, states, tree, variant, write_ini


@pytest.mark.parametrize("ranks", [1, 3])
def test_output(tmp_path, ranks):
    """The plan before, a summary after, on standard output; nothing on standard error."""
    result = run(tmp_path / "run", variant(), ranks=ranks)
    words = ("grid", "slabs", "memory", "case", "scheme", "time", "output", "backend", "halos", "done", "results")
    words += ("solution", "hash", "fom", "verified")
    for word in words:
        assert len(re.findall(rf"^{word} ", result.stdout, re.MULTILINE)) == 1, word
    assert "\x1b" not in result.stdout
    assert not complaints(result)


def test_summary_shows_the_range(tmp_path):
    """And the error, where it is known."""
    configuration = variant(velocity={"field": "uniform", "period": None, "u": 1, "v": 0, "w": 0})
    result = run(tmp_path / "run", configuration)
    last = rows(tmp_path / "run")[-1]
    said = re.search(r"^solution   phi (\S+) to (\S+), largest error (\S+) at step 24$", result.stdout, re.MULTILINE)
    assert float(said[1]) == pytest.approx(last["min"], rel=1e-3)
    assert float(said[2]) == pytest.approx(last["max"], rel=1e-3)
    assert float(said[3]) == pytest.approx(last["err_linf"], rel=1e-2)


CUBE = {"grid": {"nx": 64, "ny": 64, "nz": 64}, "time": {"steps": 0}}
FLOW = {"field": "formula", "u": "1", "v": "sin(2*pi*x)", "w": "0", "period": None}


def needed(folder, ranks, *changes):
    """MiB that the plan says: of the node's ranks, and in a run the same as --validate says of one rank."""
    write_ini(folder / "run.ini", merged(BASE, CUBE, *changes))
    said = launch(folder, ranks, "--validate", "run.ini").stdout
    each = re.search(r"^memory +per rank (\S+ \S+) on the host", said, re.MULTILINE)[1]
    assert ranks > 1 or f"memory     {each} needed by this node's ranks" in said
    assert f"memory     per rank {each} on the host" in launch(folder, ranks, "run.ini").stdout
    return float(re.search(r"^memory +(\S+) MiB needed by this node's ranks", said, re.MULTILINE)[1])


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_plan_counts_all_memory(tmp_path, ranks):
    """A field has 2 MiB, and its 8 halo planes 1/4 MiB more per rank."""
    field, halos = 2, 0.25 * ranks
    flow = {"velocity": FLOW}
    bare = needed(tmp_path, ranks, flow, {"output": {"overlap": "no"}})
    assert needed(tmp_path, ranks, flow) - bare == pytest.approx(field, abs=0.11)
    # every second point along each axis, with the gradient's length
    part = {"output": {"overlap": "no", "fields_stride": 2, "derived": "gradient"}}
    assert needed(tmp_path, ranks, flow, part) - bare == pytest.approx(2 * field / 8, abs=0.11)
    with h5py.File(tmp_path / "flow.h5", "w") as file:
        for name in "uvw":
            file[name] = np.ones((64, 64, 64))
    own = {"velocity": {"field": "file", "file": "flow.h5", "period": None}, "output": {"overlap": "no"}}
    assert needed(tmp_path, ranks, own) - bare == pytest.approx(3 * (field + halos), abs=0.11)


def said_on_a_terminal(folder, ranks, *arguments, code=0):
    try:
        ours, theirs = pty.openpty()
    except OSError:
        pytest.skip("no terminals here: /dev/pts is not mounted")
    # Without a shell between, as `ssh -t` and containers have it: the parent's output is no terminal.
    process = subprocess.Popen(command(ranks, *arguments), cwd=folder, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # a terminal ends with an error, not with nothing to read
        while piece := os.read(ours, 4096):
            said += piece
    os.close(ours)
    assert process.wait(timeout=60) == code
    return said


# Not a bad end on two ranks: on a busy machine mpirun may drop what a rank that leaves with an error printed last.
@pytest.mark.parametrize(
    ("overrides", "code", "ranks"), [([], 0, 1), ([], 0, 2), (["time.courant=8", "time.steps=400"], 4, 1)]
)
def test_output_on_a_terminal(tmp_path, ranks, overrides, code):
    """There the line of progress is rewritten, and wiped away at the end, a bad one too."""
    write_ini(tmp_path / "run.ini", variant())
    ended = b"done " if code == 0 else b"blew up "
    assert b"\r\x1b[K" + ended in said_on_a_terminal(tmp_path, ranks, "run.ini", *overrides, code=code)


@pytest.mark.parametrize("end", ["time.steps=0", "time.t_end=0"])
def test_no_steps_are_summarised_too(tmp_path, end):
    result = run(tmp_path / "run", variant(), end)
    assert re.search(
        r"^done +0 steps; diagnostics .* s, output .* s\nsolution .* at step 0\nresults    run\n"
        r"hash       [0-9a-f]{16}\nfom        0 point updates per second\nverified   no reference\n\Z",
        result.stdout,
        re.MULTILINE,
    )


def test_nobody_reads_what_is_printed(tmp_path):
    """As with `fdapp run.ini | head -1`: the run goes on, and so does its exit code."""
    write_ini(tmp_path / "run.ini", variant(output={"directory": "run"}))
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs) as closed:
        result = subprocess.run(
            command(1, "run.ini"), cwd=tmp_path, stdout=closed, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert result.returncode == 0
    assert b"fdapp" not in result.stderr  # MPI may have its say about the machine
    assert states(tmp_path / "run")[-1] == LAST


def test_closed_output_is_nobody_elses(tmp_path):
    """As with `fdapp run.ini >&-`: what the program prints does not go into what MPI opens."""
    output = {"directory": "run", "fields_every": 0, "diagnostics_every": 1}
    write_ini(tmp_path / "run.ini", variant(time={"steps": 90000000}, output=output))
    closing = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh"]
    with subprocess.Popen([*closing, *command(1, "run.ini")], cwd=tmp_path) as process:
        while process.poll() is None and not (tmp_path / "run/diagnostics.csv").exists():
            time.sleep(0.005)
        places = [os.readlink(f"/proc/{process.pid}/fd/{descriptor}") for descriptor in (1, 2)]
        process.send_signal(signal.SIGUSR1)
        assert process.wait(60) == 75
    assert places == ["/dev/null", "/dev/null"]


@pytest.mark.parametrize("ranks", [1, 2])
def test_information(tmp_path, ranks):
    for option, said in (("--help", "Usage: "), ("--version", "fdapp "), ("--list", "  time.steps  ")):
        result = launch(tmp_path, ranks, option)
        assert said in result.stdout
        assert not complaints(result)
        assert option != "--list" or "| " not in result.stdout  # tables are for pages, not for terminals
    assert launch(tmp_path, ranks, "--version").stdout.count("revision") == 1
    assert not tree(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["--list"], ["--validate", "run.ini"], ["--verify", "run/state_00000012.hdf"]],
    ids=lambda words: words[0],
)
def test_words_that_are_lost_are_no_success(tmp_path, words):
    """One process: of several the launcher reads what they write."""
    run(tmp_path / "run", BASE)
    with open("/dev/full", "wb") as full:
        lost = subprocess.run(
            command(1, *words), cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert lost.returncode == 3
    assert complaints(lost) == ["fdapp: error: standard output cannot be written"]


def test_a_key_without_effect_is_named_once(tmp_path):
    """A deformation has a period and no u; the resolved configuration lists both, and nobody is warned of that."""
    ini = tmp_path / "run.ini"
    write_ini(ini, merged(BASE, {"velocity": {"u": 5}, "time": {"steps": 1}, "output": {"directory": "out"}}))
    for arguments in (["--validate", ini], [ini]):
        result = launch(tmp_path, 2, *arguments)
        warnings = [line for line in result.stderr.splitlines() if "without effect" in line]
        assert len(warnings) == 1, result.stderr
        assert warnings[0].endswith(": velocity.u")
    assert "without effect" not in launch(tmp_path, 1, "--validate", "out/config.ini").stderr


@pytest.mark.parametrize("equation", ["wave", "acoustics"])
def test_a_form_of_flow_where_no_equation_has_one(tmp_path, equation):
    box = {"grid": {"nx": 16, "ny": 16, "nz": 16}, "initial": {"case": "formula", "formula": "sin(2*pi*x)"}}
    run = {"time": {"steps": 2, "courant": 0.3}, "physics": {"equation": equation, "form": "keep_pe"}}
    write_ini(tmp_path / "run.ini", merged(box, run))
    said = launch(tmp_path, 1, "--validate", "run.ini").stderr
    assert "without effect, as nothing in this run uses them: physics.form" in said


FORMULA = {"velocity": {"field": "formula", "period": None, "u": "U", "v": "0", "w": "0"}, "time": {"steps": 1}}
UNIFORM = {"velocity": {"field": "uniform", "u": 1}, "constants": {"U": None}}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"output": {"slices": "z=0.5", "slices_every": 0}}, "output.slices"),
        ({"output": {"probes": "0.1 0.2 0.3", "probes_every": 0}}, "output.probes"),
        ({"output": {"overlap": "no", "fields_every": 0}}, "output.overlap"),
        ({"output": {"checkpoint_keep": 3}}, "output.checkpoint_keep"),
        ({"output": {"checkpoint_keep": 3, "wall_limit": 100}}, ""),
        ({"output": {"checkpoint_keep": 3, "checkpoint_every": 5}}, ""),
        ({"time": {"adaptive": "yes"}, "velocity": {"factor": "0"}}, "time.adaptive"),
        ({"statistics": {"fields": "none"}}, ""),
        ({"statistics": {"fields": "none", "every": 2}}, "statistics.every"),
        ({"constants": {"U2": 3}}, "constants.U2"),
        (UNIFORM, "physics.form"),
        ({"compute": {"pairs": "yes"}}, "compute.pairs"),
        ({"compute": {"pairs": "no"}, "halo": {"transport": "auto"}}, ""),
        ({"compute": {"pairs": "yes"}, "halo": {"transport": "staged"}}, "compute.pairs, halo.transport"),
        ({}, ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_keys_without_effect(tmp_path, change, named):
    write_ini(tmp_path / "run.ini", merged(BASE, FORMULA, {"constants": {"U": 1}}, change))
    said = launch(tmp_path, 1, "--validate", "run.ini").stderr
    warnings = [line for line in said.splitlines() if "without effect" in line]
    assert [line.rsplit(": ", 1)[1] for line in warnings] == ([named] if named else [])


@pytest.mark.parametrize(
    ("viscosity", "keys", "named"),
    [
        ({"viscosity": 0.01}, {"viscosity_law": "constant", "sutherland_temperature": 0.3}, "sutherland_temperature"),
        ({"viscosity": 0.01}, {"viscosity_law": "sutherland", "sutherland_temperature": 0.3, "prandtl": 2}, ""),
        ({"reynolds": 100}, {"viscosity_law": "sutherland", "viscosity_temperature": 2, "prandtl": 2}, ""),
        ({"reynolds": 0}, {"viscosity_law": "constant", "prandtl": 2}, "prandtl"),
        (
            {"viscosity": 0},
            {"prandtl": 2, "viscosity_law": "sutherland", "viscosity_temperature": 2, "sutherland_temperature": 0.3},
            "prandtl, viscosity_law, viscosity_temperature, sutherland_temperature",
        ),
    ],
    ids=["constant", "sutherland", "reynolds", "no reynolds", "no viscosity"],
)
def test_keys_of_viscosity_without_effect(tmp_path, viscosity, keys, named):
    ini = {
        "grid": {"nx": 16, "ny": 16, "nz": 16},
        "physics": {"equation": "flow", **keys},
        "initial": {"case": "shear_wave"},
        "time": {"steps": 1},
    }
    ini = merged(ini, {"initial" if "reynolds" in viscosity else "physics": viscosity})
    write_ini(tmp_path / "run.ini", ini)
    warnings = [line for line in launch(tmp_path, 1, "--validate", "run.ini").stderr.splitlines() if "effect" in line]
    named = ", ".join(f"physics.{name}" for name in named.split(", ") if name)
    assert [line.rsplit(": ", 1)[1] for line in warnings] == ([named] if named else [])
