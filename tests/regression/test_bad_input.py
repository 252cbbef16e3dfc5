"""Bad configurations and command lines, end to end: exit code, one message that says what is wrong, nothing written.

FDAPP: the program. MPIEXEC: the launcher with its options, for runs on several ranks.
"""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from bad import GOOD, Bad, command_line, file, line, override, value
from bad_problems import ENDS, FORMULAS
from bad_sections import SECTIONS

FDAPP = os.environ["FDAPP"]
MPIEXEC = shlex.split(os.environ.get("MPIEXEC", "mpirun --oversubscribe --bind-to none"))

CASES = [
    # The command line.
    command_line("nothing", says=("no configuration file given", "usage: mpirun"), ranks=(1, 3)),
    command_line("unknown option", "--frobnicate", says=("unknown option '--frobnicate'", "--validate")),
    command_line("unknown short option", "-x", "run.ini", says=("unknown option",)),
    command_line("option with a value", "--validate=yes", "run.ini", says=("option '--validate=yes'",)),
    command_line("abbreviated option", "--valid", "run.ini", says=("unknown option '--valid'", "--validate")),
    command_line("a letter alone", "--v", says=("unknown option '--v'",)),
    command_line("two options", "--list", "--version", says=("one option at a time",)),
    command_line("list with an argument", "--list", "run.ini", says=("unexpected argument 'run.ini'",)),
    command_line("validate without a file", "--validate", says=("no configuration file given",)),
    command_line("verify without a file", "--verify", says=("no snapshot given", "usage: fdapp --verify FILE...")),
    command_line("hash without a file", "--hash", says=("no snapshot given", "usage: fdapp --hash FILE...")),
    command_line(
        "verify of what is no state",
        "--verify",
        "run.ini",
        code=3,
        messages=2,
        says=("run.ini: ", "not a state of fdapp"),
    ),
    command_line(
        "missing file", "nowhere.ini", says=("nowhere.ini: cannot be opened: No such file",), code=3, ranks=(1, 2)
    ),
    command_line("missing folder", "no/where.ini", says=("no/where.ini: cannot be opened",), code=3),
    command_line("a folder as file", ".", says=(".: cannot be read: Is a directory",), code=3),
    command_line("an empty name", "", says=("cannot be opened",), code=3),
    command_line("a device without end", "/dev/zero", says=("/dev/zero: larger than 1048576 bytes",)),
    command_line(
        "two files", "run.ini", "run.ini", says=("command line: run.ini: not understood", "section.key=value")
    ),
    command_line("overrides only", "grid.nx=12", says=("grid.nx=12: cannot be opened",), code=3),
    command_line(
        "validated, not run", "--validate", "run.ini", "grid.nx=8", says=("grid.nx = 8: out of range",), ranks=(1, 2)
    ),
    command_line("option after the file", "run.ini", "--validate", "time.dt=0", says=("time.dt = 0: out of range",)),
    # Overrides.
    override(
        "no equals sign", "grid.nx", "command line: grid.nx: not understood; accepted: section.key=value", ranks=(1, 3)
    ),
    override("no section", "nx=12", "command line: nx=12: not understood", "did you mean 'grid.nx'?"),
    override(
        "no section, of another key",
        "courant=0.5",
        "not understood; accepted: section.key=value; did you mean 'time.courant'?",
    ),
    override(
        "neither a section nor a key", "nix=12", "command line: nix=12: not understood; accepted: section.key=value"
    ),
    override("no key", "grid.=12", "command line: grid.=12: not understood"),
    override("nothing at all", "", "command line: : not understood"),
    override("no value", "grid.nx=", "command line: grid.nx = : no value", "an integer from 9"),
    override("unknown section", "gird.nx=12", "[gird]: unknown section", "did you mean 'grid'?"),
    override("unknown key", "time.curant=1", "time.curant = 1: unknown key", "did you mean 'courant'?", ranks=(1, 2)),
    override("key of another section", "time.order=4", "unknown key", "did you mean 'compute.order'?"),
    override("too long", "output.directory=" + "x" * 181, "too long; accepted: a path of at most 180 bytes"),
    override("much too long", "output.directory=" + "x" * 5000, "command line: ", "too long"),
    override("unprintable", "time.scheme=\x01\x1b[31m", "time.scheme = ??[31m: not known"),
    # Values.
    value("grid.nx", "12abc", "not an integer"),
    value("grid.nx", "1 2", "not an integer"),
    value("grid.nx", "0x20", "not an integer"),
    value("grid.nx", "010", "leading zero"),
    value("grid.nx", "12.0", "not an integer"),
    value("grid.nx", "1e2", "not an integer"),
    value("grid.ny", "-12", "out of range", "an integer from 9"),
    value("grid.nz", "3", "out of range", "an integer from 4"),
    value("grid.nx", "99999999999999999999", "out of range", ranks=(1, 2)),
    value("grid.lx", "nan", "not a decimal number", ranks=(1, 3)),
    value("grid.ly", "inf", "not a decimal number"),
    value("grid.lz", "1e400", "out of range"),
    value("grid.lx", "1e-400", "out of range"),
    value("grid.lx", "1,5", "not a decimal number"),
    value("grid.lx", "0x1p3", "not a decimal number"),
    value("grid.lx", "1d0", "not a decimal number"),
    value("physics.form", "divergence", "accepted: advective, conservative, skew"),
    value("physics.diffusivity", "-1e-9", "out of range", "from 0"),
    value("initial.case", "guassian", "did you mean 'gaussian'?"),
    value("initial.width", "0", "out of range"),
    value("initial.width", "0.6", "too wide for blob"),
    override("centre far away", "initial.center_x=1e9", "initial.center_x = 1e+09: too far away"),
    value("velocity.field", "rotational", "accepted: uniform, rotation", "did you mean 'rotation'?"),
    value("velocity.period", "-1", "out of range"),
    value("physics.equation", "advektion", "did you mean 'advection'?"),
    value("time.scheme", "RK4", "did you mean 'rk4'?"),
    value("time.courant", "0", "out of range"),
    value("time.dt", "-0.1", "out of range"),
    value("time.t_end", "-1", "out of range"),
    value("time.adaptive", "maybe", "accepted: yes, no"),
    value("initial.resample", "1", "accepted: yes, no"),
    value("velocity.resample", "cubic", "accepted: yes, no"),
    value("output.overlap", "on", "accepted: yes, no"),
    value("time.steps", "100000000", "out of range", "to 99999999"),
    value("compute.backend", "gpu", "accepted: auto, "),
    value("compute.precision", "float", "accepted: double, single"),
    value("compute.order", "5", "accepted: 8, 6, 4, 2", ranks=(1, 2)),
    value("compute.threads", "-1", "out of range"),
    value("halo.transport", "cuda", "accepted: auto, cuda_aware, staged"),
    value("halo.overlap", "true", "accepted: yes, no"),
    value("compute.pairs", "true", "accepted: no, auto, yes"),
    value("output.fields_every", "-1", "out of range"),
    value("output.checkpoint_keep", "1", "out of range", "an integer from 2"),
    value("output.wall_limit", "1h", "not a decimal number"),
    value("output.directory", "~/runs", "not expanded"),
    value("benchmark.reference", "0x664e54e4bbf7d826", "not a hash", "16 hexadecimal digits, or none"),
    value("benchmark.reference_single", "664e54e4", "not a hash", "16 hexadecimal digits, or none"),
    value("output.slices", "z", "not a list of planes", "planes as x=0.25 z=0.5: up to 16 different ones, or none"),
    value("output.slices", "0.5", "not a list of planes"),
    value("output.slices", "w=0.5", "not a list of planes"),
    value("output.slices", "z=0.5,x=0.5", "a plane whose place is no number"),
    value("output.slices", "z=middle", "a plane whose place is no number"),
    value("output.slices", "z=1e264", "the plane z=1e+264 is outside the domain", "0 to 1 along z"),
    value("output.slices", "z=1e400", "is outside the domain", "0 to 1 along z"),
    value("output.slices", "z= 0.5", "a plane whose place is no number"),
    value("output.slices", "z=0.5 x=0.5 z=0.50", "a plane that comes twice"),
    value("output.slices", "z=1.01", "the plane z=1.01 is outside the domain", "0 to 1 along z"),
    value("output.slices", "x=-1e-9", "is outside the domain"),
    override("17 slices", "output.slices=" + " ".join(f"y={i / 100}" for i in range(17)), "too many planes"),
    value("output.slices_every", "1.5", "not an integer"),
    value("output.probes", "0.5 0.5", "a point without three coordinates", "x y z; x y z: up to 64 different points"),
    value("output.probes", "0.5 0.5 0.5 0.5", "more than three coordinates"),
    value("output.probes", "0.5 0.5 half", "a coordinate that is no number"),
    value("output.probes", "0.5,0.5,0.5", "a coordinate that is no number"),
    value("output.probes", "'0.5 0.5 0.5'", "in single quotes", "double ones are"),
    line(
        "points in single quotes",
        "[output]\nprobes = '0.5 0.5 0.5; 0.1 0.1 0.1'\n",
        "output.probes",
        "in single quotes",
        place=13,
    ),
    value("output.probes", "0.5 0.5 nan", "a coordinate that is no number"),
    value("output.probes", "0.5 0.5 0.5;; 0.1 0.1 0.1", "a point without three coordinates"),
    value("output.probes", "0.5 0.5 0.5; 0.5 0.5 0.50", "a point that comes twice"),
    value("output.probes", "0.5 0.5 1.5", "the point 0.5 0.5 1.5 is outside the domain", "0 to 1, 0 to 1, 0 to 1"),
    value("output.probes", "0.5 1.0000001 0.5", "the point 0.5 1.0000001 0.5 is outside the domain"),
    value("output.slices", "y=1.00000000002", "the plane y=1.00000000002 is outside the domain"),
    value(
        "output.fields_box",
        "0 1.0000001 0 1 0 1",
        "from 0 to 1.0000001 goes beyond the domain along x; accepted: 0 to 1",
    ),
    value("output.probes", "-0.1 0.5 0.5", "is outside the domain"),
    value("output.probes", "0.5 -1e264 0.5", "the point 0.5 -1e+264 0.5 is outside the domain"),
    override("65 probes", "output.probes=" + "; ".join(f"0 0 {i / 100}" for i in range(65)), "too many points"),
    value("output.fields_stride", "0", "out of range", "an integer from 1"),
    value("output.fields_stride", "1.5", "an integer from 1"),
    value("output.fields_stride", "12", "leaves 1 of the 12 points along x; accepted: two at least"),
    value("output.fields_precision", "half", "accepted: same, single"),
    value("output.fields_box", "0 1 0 1 0", "a box without six coordinates", "x0 x1 y0 y1 z0 z1, or none"),
    value("output.fields_box", "0 1 0 1 0 1 0", "a box with more than six coordinates"),
    value("output.fields_box", "0 1 0 1 0 top", "a coordinate that is no number"),
    value("output.fields_box", "0 1 0.5 0.5 0 1", "whose high side is not above its low one"),
    value("output.fields_box", "0 1 0 1.5 0 1", "goes beyond the domain along y; accepted: 0 to 1"),
    value("output.fields_box", "0 1e264 0 1 0 1", "goes beyond the domain along x; accepted: 0 to 1"),
    value("output.fields_box", "-1e29 1 0 1 0 1", "goes beyond the domain along x"),
    value("output.derived", "curl", "not known", "none, or some of gradient, intensity, vorticity"),
    value("output.derived", "gradint", "did you mean 'gradient'?"),
    value("output.derived", "gradient gradient", "the same twice"),
    value("output.derived", "gradient mach", "physics.equation = flow; accepted: gradient, or none"),
    value("output.derived", "intensity", "physics.equation = acoustics; accepted: gradient, or none"),
    value("output.fields_box", "0 1 0 1 0.5 0.51", "along z; accepted: two at least"),
    value("output.probes_every", "-1", "out of range", "an integer from 0"),
    value("benchmark.hash_every", "-1", "out of range", "an integer from 0"),
    # The file.
    file("empty", "", "run.ini: grid.nx: missing; accepted: an integer from 9", ranks=(1, 2)),
    file("no case", GOOD.replace("case = blob\n", ""), "run.ini: initial.case: missing; accepted: cosine, "),
    file("no field", GOOD.replace("field = abc\n", ""), "run.ini: velocity.field: missing"),
    file(
        "no step size", GOOD.replace("courant = 1.2\n", ""), "time.courant: missing, and so is time.dt", "exactly one"
    ),
    file("no end", GOOD.replace("steps = 1\n", ""), "time.t_end: missing, and so is time.steps", "exactly one"),
    line(
        "a blank before the ; of points",
        "[output]\nprobes = 0.5 0.5 0.5 ; 0.1 0.1 0.1\n",
        "output.probes: ' 0.1 0.1 0.1' is a comment",
        place=13,
    ),
    line(
        "a blank before the ; of receivers",
        "[receivers]\npoints = 0.5 0.5 0.5 ; 0.1 0.1 0.1\n",
        "receivers.points: ' 0.1 0.1 0.1' is a comment",
        place=13,
    ),
    line("both step sizes", "dt = 0.1\n", "time.dt", "time.courant is in line 10", "exactly one", ranks=(1, 2)),
    line("both ends", "t_end = 1\n", "time.t_end", "time.steps is in line 11", "exactly one"),
    line("repeated key", "courant = 1.2\n", "time.courant", "already in line 10"),
    line("misspelt section", "[ouput]\n", "[ouput]: unknown section", "did you mean 'output'?"),
    line("misspelt key", "shceme = rk4\n", "time.shceme = rk4: unknown key", "did you mean 'scheme'?", ranks=(1, 3)),
    line("key in capitals", "Scheme = rk4\n", "time.Scheme = rk4: unknown key", "did you mean 'scheme'?"),
    line("open section", "[output\n", "closing bracket"),
    line("text after a section", "[output] directory = x\n", "alone in its line"),
    line("neither one nor the other", "run quickly\n", "run quickly: not understood"),
    line("value without a key", "= 5\n", "unknown key"),
    line("key without a value", "scheme =\n", "time.scheme = : no value"),
    line("only a comment as value", "scheme = ; rk4\n", "time.scheme = : no value"),
    line("comment of another kind", "scheme = rk4 # classical\n", "a comment after a value begins with ' ;'"),
    line("continued line", "  scheme = rk4,\n    ck45\n", "time.scheme = rk4,: not known"),
    line("long line", "scheme = rk4" + 5000 * "x" + "\n", "time.scheme = rk4xxxx", "not known"),
    line("control character", "scheme = rk4\x07\n", "control character"),
    file("key before the first section", "nx = 12\n" + GOOD, "run.ini:1: nx: a key before the first [section]"),
    file("zero bytes", GOOD.encode("utf-16"), "run.ini: contains zero bytes", ranks=(1, 2)),
    file("large file", b"\n" * (1 << 20) + b"\n", "run.ini: larger than 1048576 bytes"),
    *FORMULAS,
    # What single values cannot tell.
    Bad(
        "more bytes than 64 bits",
        ("run.ini", "grid.nx=67108864", "grid.ny=67108864", "grid.nz=1000"),
        ("command line: grid.nx = 67108864, ny = 67108864, nz = 1000", "64 bits"),
    ),
    Bad(
        "more waves than points",
        ("run.ini", "initial.case=cosine", "initial.kx=7"),
        ("initial.kx = 7: more waves than 12 points can show", "from -6 to 6"),
    ),
    Bad(
        "more waves than points, manufactured",
        ("run.ini", "initial.case=manufactured", "initial.kz=8"),
        ("initial.kz = 8: more waves than 14 points can show", "from -7 to 7"),
    ),
    Bad(
        "too many steps", ("run.ini", "time.dt=1e-9", "time.t_end=1"), ("time.dt = 1e-09: ", "more than 99999999 steps")
    ),
    Bad(
        "adaptive steps of a given size",
        ("run.ini", "time.dt=0.1", "time.adaptive=yes", "velocity.field=deformation"),
        ("command line: time.adaptive = yes: ", "accepted: time.courant in its place, or no"),
        ranks=(1, 2),
    ),
    Bad(
        "too many adaptive steps",
        ("run.ini", "time.t_end=1e20", "time.adaptive=yes", "velocity.field=deformation"),
        ("command line: time.t_end = 1e+20: ", "more than 99999999 steps"),
    ),
    Bad(
        "an initial file that is not there",
        ("run.ini", "initial.case=file", "initial.file=no.h5", "initial.resample=yes"),
        ("initial.file = no.h5: cannot be opened",),
        code=3,
        ranks=(1, 2),
    ),
    Bad(
        "an initial file that is none",
        ("run.ini", "initial.case=file", "initial.file=run.ini"),
        ("is no HDF5 file",),
        code=3,
    ),
    Bad(
        "a velocity file that is a folder",
        ("run.ini", "velocity.field=file", "velocity.file=.", "velocity.resample=yes"),
        ("velocity.file = .: ",),
        code=3,
    ),
    Bad(
        "nothing moves",
        ("run.ini", "velocity.field=uniform", "velocity.u=0"),
        ("run.ini:10: time.courant = 1.2: ", "time.dt"),
    ),
    Bad(
        "too many steps of a Courant number",
        ("run.ini", "time.t_end=1e20"),
        ("command line: time.t_end = 1e+20: ", "more than 99999999 steps"),
        ranks=(1, 2),
    ),
    Bad(
        "two step sizes",
        ("run.ini", "time.dt=0.1", "time.courant=0.2"),
        ("command line: time.courant: ", "time.dt is on the command line", "exactly one"),
        ranks=(1, 2),
    ),
    Bad(
        "two ends",
        ("run.ini", "time.t_end=1", "time.steps=2"),
        ("command line: time.steps: ", "time.t_end is on the command line"),
    ),
    Bad(
        "the same key twice",
        ("run.ini", "grid.nx=12", "grid.ny=9", "grid.nx=12"),
        ("command line: grid.nx: ", "already on the command line"),
    ),
    Bad(
        "too many ranks",
        ("run.ini", "grid.nz=11"),
        ("command line: grid.nz = 11: ", "fewer than 4 planes to each of 3 ranks", "at most 2 ranks"),
        ranks=(3,),
    ),
    Bad(
        "small derivatives in single precision",
        ("run.ini", "compute.precision=single", "grid.lx=1e15", "initial.amplitude=1e-30"),
        ("command line: compute.precision = single: ", "too small for it; accepted: double"),
    ),
    Bad(
        "small second derivatives in single precision",
        ("run.ini", "compute.precision=single", "grid.lx=1e16", "physics.diffusivity=1"),
        ("command line: compute.precision = single: ", "too small for it; accepted: double"),
        ranks=(1, 2),
    ),
    *ENDS,
    *SECTIONS,
    # The environment.
    Bad(
        "more memory than there is",
        ("run.ini", "grid.nx=30000", "grid.ny=30000", "grid.nz=3000"),
        ("memory: ", "iB needed"),
        code=3,
        ranks=(1, 2),
    ),
    Bad(
        "a file as directory",
        ("run.ini", "output.directory=run.ini"),
        ("run.ini: is not a directory",),
        code=3,
        ranks=(1, 2),
    ),
    Bad(
        "a directory below a file", ("run.ini", "output.directory=run.ini/x"), ("run.ini: is not a directory",), code=3
    ),
    Bad(
        "no state to restart from",
        ("run.ini", "restart.from=nowhere.hdf"),
        ("nowhere.hdf: ", "No such file"),
        code=3,
        ranks=(1, 2),
    ),
    Bad(
        "no state, but a text",
        ("run.ini", "restart.from=run.ini"),
        ("run.ini: ", "not a state of fdapp"),
        code=3,
        ranks=(1, 2),
    ),
    Bad("no state, but a directory", ("run.ini", "restart.from=."), ("it is a directory",), code=3),
]


# Beginnings of arguments of problems of one's own and of what is watched of them.
OWN_PROBLEMS = (
    "initial.formula=",
    "velocity.field=formula",
    "constants.",
    "output.slices=",
    "output.probes=",
    "output.fields_",
)


def tree(folder):
    """Everything below a folder with contents and times of change, the folder's own included."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in [folder, *folder.rglob("*")]
    }


def run(folder, arguments, ranks):
    command = [FDAPP, *arguments]
    if ranks > 1:
        command = [*MPIEXEC, "-np", str(ranks), *command]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("bad", "ranks"), [pytest.param(bad, ranks, id=f"{bad.name} np={ranks}") for bad in CASES for ranks in bad.ranks]
)
def test_refused(tmp_path, bad, ranks):
    (tmp_path / "run.ini").write_bytes(bad.text)
    before = tree(tmp_path)
    result = run(tmp_path, bad.arguments, ranks)
    assert result.returncode == bad.code, result.stderr
    messages = [row for row in result.stderr.splitlines() if "fdapp: error: " in row]
    assert len(messages) == bad.messages, result.stderr
    for piece in bad.says:
        assert piece in messages[0]
    if any(argument.startswith(OWN_PROBLEMS) for argument in bad.arguments):
        assert "accepted: " in messages[0] or "did you mean" in messages[0]
    assert tree(tmp_path) == before, "something was written"


def test_the_good_one_runs(tmp_path):
    """The file that the cases above spoil is a good one: what they are refused for is what they change."""
    (tmp_path / "run.ini").write_text(GOOD)
    before = tree(tmp_path)
    result = run(tmp_path, ("run.ini",), 1)
    assert result.returncode == 0, result.stderr
    assert "fdapp: error" not in result.stderr
    assert tree(tmp_path) != before
    assert Path(tmp_path, "runs", "run", "perf.json").is_file()


def test_enough_cases():
    assert len(CASES) >= 220
    assert sum(any(a.startswith(OWN_PROBLEMS) for a in bad.arguments) for bad in CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)
