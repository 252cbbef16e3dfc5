"""Bad configurations and command lines, end to end: exit code, one message that says what is wrong, nothing written.

FDAPP: the program. MPIEXEC: the launcher with its options, for runs on several ranks.
"""

import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

FDAPP = os.environ["FDAPP"]
MPIEXEC = shlex.split(os.environ.get("MPIEXEC", "mpirun --oversubscribe --bind-to none"))

GOOD = """\
[grid]
nx = 12
ny = 13
nz = 14
[initial]
case = blob
[velocity]
field = abc
[time]
courant = 1.2
steps = 1
"""


@dataclass(frozen=True)
class Bad:
    """Arguments of the program, what is said, the configuration in run.ini, the exit code, on how many ranks, how many
    messages. Nothing is left behind."""

    name: str
    arguments: tuple
    says: tuple
    text: bytes = GOOD.encode()
    code: int = 2
    ranks: tuple = (1,)
    messages: int = 1


def command_line(name, *arguments, **more):
    return Bad(name, arguments, **more)


def override(name, text, *says, ranks=(1,)):
    return Bad(name, ("run.ini", text), says, ranks=ranks)


def value(key, text, *says, **more):
    """An override that is refused with the key and the value in the message."""
    return override(f"{key}={text}", f"{key}={text}", f"command line: {key} = {text}: ", *says, **more)


def formula(name, text, *says, ranks=(1,)):
    """An initial condition by a formula that is refused."""
    arguments = ("run.ini", "initial.case=formula", f"initial.formula={text}")
    return Bad(f"formula: {name}", arguments, (f"command line: initial.formula = {text[:80]}", *says), ranks=ranks)


def velocity(name, text, *says, ranks=(1,)):
    """A velocity by formulas, one of which is refused."""
    return Bad(f"velocity: {name}", ("run.ini", "velocity.field=formula", f"velocity.{text}"), says, ranks=ranks)


def sound(name, overrides, *says, ranks=(1,)):
    return Bad(f"sound: {name}", ("run.ini", "physics.equation=acoustics", *overrides), says, ranks=ranks)


def fixed(name, overrides, *says, ranks=(1,)):
    """Fixed values on the ends of z."""
    good = ("boundary.z=dirichlet", "physics.diffusivity=0.1", "boundary.value=0", "grid.nz=20")
    given = tuple(key.split("=")[0] for key in overrides)
    base = tuple(text for text in good if text.split("=")[0] not in given)
    return Bad(f"fixed value: {name}", ("run.ini", *base, *overrides), says, ranks=ranks)


def line(name, text, *says, ranks=(1,), place=12):
    """Lines at the end of a good file, in its section [time], the first of which is line 12."""
    return Bad(name, ("run.ini",), (f"run.ini:{place}: ", *says), (GOOD + text).encode(), ranks=ranks)


def file(name, text, *says, ranks=(1,)):
    return Bad(name, ("run.ini",), says, text if isinstance(text, bytes) else text.encode(), ranks=ranks)


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
    command_line("verify of what is no state", "--verify", "run.ini", code=3, messages=2, says=("run.ini: ", "not a state of fdapp")),
    command_line("missing file", "nowhere.ini", says=("nowhere.ini: cannot be opened: No such file",), code=3, ranks=(1, 2)),
    command_line("missing folder", "no/where.ini", says=("no/where.ini: cannot be opened",), code=3),
    command_line("a folder as file", ".", says=(".: cannot be read: Is a directory",), code=3),
    command_line("an empty name", "", says=("cannot be opened",), code=3),
    command_line("a device without end", "/dev/zero", says=("/dev/zero: larger than 1048576 bytes",)),
    command_line("two files", "run.ini", "run.ini", says=("command line: run.ini: not understood", "section.key=value")),
    command_line("overrides only", "grid.nx=12", says=("grid.nx=12: cannot be opened",), code=3),
    command_line("validated, not run", "--validate", "run.ini", "grid.nx=8", says=("grid.nx = 8: out of range",), ranks=(1, 2)),
    command_line("option after the file", "run.ini", "--validate", "time.dt=0", says=("time.dt = 0: out of range",)),
    # Overrides.
    override("no equals sign", "grid.nx", "command line: grid.nx: not understood; accepted: section.key=value", ranks=(1, 3)),
    override("no section", "nx=12", "command line: nx=12: not understood"),
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
    value("output.probes", "0.5 0.5 nan", "a coordinate that is no number"),
    value("output.probes", "0.5 0.5 0.5;; 0.1 0.1 0.1", "a point without three coordinates"),
    value("output.probes", "0.5 0.5 0.5; 0.5 0.5 0.50", "a point that comes twice"),
    value("output.probes", "0.5 0.5 1.5", "the point 0.5 0.5 1.5 is outside the domain", "0 to 1, 0 to 1, 0 to 1"),
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
    value("output.derived", "curl", "not known", "none, gradient, intensity, gradient intensity"),
    value("output.derived", "gradint", "did you mean 'gradient'?"),
    value("output.derived", "gradient gradient", "not known"),
    value("output.derived", "intensity", "physics.equation = acoustics; accepted: gradient, or none"),
    value("output.fields_box", "0 1 0 1 0.5 0.51", "along z; accepted: two at least"),
    value("output.probes_every", "-1", "out of range", "an integer from 0"),
    value("benchmark.hash_every", "-1", "out of range", "an integer from 0"),
    # The file.
    file("empty", "", "run.ini: grid.nx: missing; accepted: an integer from 9", ranks=(1, 2)),
    file("no case", GOOD.replace("case = blob\n", ""), "run.ini: initial.case: missing; accepted: cosine, "),
    file("no field", GOOD.replace("field = abc\n", ""), "run.ini: velocity.field: missing"),
    file("no step size", GOOD.replace("courant = 1.2\n", ""), "time.courant: missing, and so is time.dt", "exactly one"),
    file("no end", GOOD.replace("steps = 1\n", ""), "time.t_end: missing, and so is time.steps", "exactly one"),
    line("a blank before the ; of points", "[output]\nprobes = 0.5 0.5 0.5 ; 0.1 0.1 0.1\n",
         "output.probes: ' 0.1 0.1 0.1' is a comment", place=13),
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
    # Formulas: all but the last are found before the grid is.
    override("no formula", "initial.case=formula", "initial.formula = none: missing; accepted: a formula of x, y, z"),
    formula("unknown name", "cosx(x)", "character 1: 'cosx' is not known; accepted: numbers, x, y, z, pi, lx, ly, lz, sin", ranks=(1, 2)),
    formula("time in space", "x + t", "character 5: 't' is not known"),
    formula("open parenthesis", "sin(x", "character 6: a parenthesis is not closed"),
    formula("closing parenthesis", "x)*2", "character 2: ')' is not expected"),
    formula("nothing behind an operator", "x +", "character 4: the formula ends where a value is expected"),
    formula("no operator", "2 x", "character 3: 'x' stands where an operator is expected"),
    formula("too many arguments", "sin(x, y)", "too many arguments of sin"),
    formula("a comma", "x, y", "character 2: a comma without a function"),
    formula("an assignment", "x = 1", "character 3: '=' cannot be read"),
    formula("half a condition", "x < 1 ? 2", "'?' without ':'"),
    formula("a text", '"x"', "character 1: '\"' cannot be read"),
    formula("division by zero at a corner", "1/x", "is inf at x = 0, y = 0, z = 0", ranks=(1, 3)),
    formula("a logarithm below zero", "log(x - 0.5)", "is nan at x = 0, y = 0, z = 0"),
    formula("too large", "1e31", "is 1e+31 at x = 0"),
    formula("too long", "x" + 2048 * "+x", "too long; accepted: a formula of at most 4095 bytes"),
    Bad("division by zero at one point", ("run.ini", "initial.case=formula", "initial.formula=1/(x - 0.25 + abs(y - 2/13) + abs(z - 3/14))"),
        ("run.ini: initial.formula = 1/(x - 0.25", "is inf at x = 0.25, y = 0.153846154, z = 0.214285714"), ranks=(1, 3)),
    formula("no arguments", "sin()", "character 5: too few arguments of sin; accepted: one"),
    formula("a function without parentheses", "sin x", "character 1: 'sin' without its arguments; accepted: sin(...)"),
    formula("a constant called", "pi(2)", "character 3: "),
    formula("two powers", "x^^2", "character 3: "),
    formula("two points", "1..5*x", "character 1: '1..5' is no number"),
    formula("half an exponent", "1e*x", "character 1: '1e' is no number; accepted: as 2, 0.5 or 1e-3"),
    formula("an empty parenthesis", "2*()", "character 4: ')' is not expected here"),
    formula("an operator alone", "*", "character 1: '*' stands where a value is expected; accepted: a number"),
    formula("another bracket", "[x]", "character 1: '[' cannot be read"),
    formula("an exclamation mark", "!x", "character 1: '!' cannot be read"),
    formula("a percent sign", "x % 2", "character 3: '%' cannot be read; accepted: + - * /"),
    formula("an unknown function", "besselj0(x)", "'besselj0' is not known"),
    formula("capitals", "SIN(X)", "character 1: 'SIN' is not known"),
    formula("a colon alone", "x : 2", "character 3: ':' without '?'; accepted: CONDITION ? VALUE : VALUE"),
    formula("a number beyond double precision", "1e400", "character 1: '1e400' is no number"),
    formula("a number of another language", "0x10*x", "character 1: '0x10' is no number"),
    formula("a pair", "(x, y)", "values with a comma in parentheses of no function; accepted: one value"),
    formula("a letter beyond ASCII", "2*\u03c0", "character 3: a character beyond ASCII cannot be read"),
    formula("nothing by nothing", "0/0", "is nan at x = 0, y = 0, z = 0"),
    formula("an overflow", "exp(1000*x)", "at x = "),
    formula("a root below zero", "sqrt(y - 0.5)", "is nan at x = 0, y = 0, z = 0"),
    formula("a power below zero", "(x - 0.5)^0.5", "is nan at x = 0"),
    formula("division by a constant zero", "x/(1 - 1)", "at x = "),
    formula("an arc beyond one", "acos(1 + z)", "is nan at x = 0, y = 0, z = 0.2"),
    velocity("a component left open", "v=sin(", "velocity.v = sin(: character 5"),
    velocity("time in space", "w=t", "velocity.w = t: character 1: 't' is not known"),
    velocity("a factor infinite at once", "factor=1/t", "velocity.factor = 1/t: is inf at t = 0"),
    velocity("a factor that is no number", "factor=sqrt(-1)", "velocity.factor = sqrt(-1): is nan at t = 0"),
    velocity("a component that is no number", "u=log(-1)", "velocity.u = log(-1): is nan at x = 0"),
    velocity("a name of nothing", "u=omega*x", "velocity.u = omega*x: character 1: 'omega' is not known", ranks=(1, 2)),
    velocity("no factor of space", "factor=x", "velocity.factor = x: character 1: 'x' is not known; accepted: numbers, t, pi"),
    velocity("factor above one", "factor=2*t + 1.5", "velocity.factor = 2*t + 1.5: is 1.5 at t = 0; accepted: at most 1 in magnitude"),
    velocity("infinite", "w=tan(pi/2)^2", "velocity.w = tan(pi/2)^2: is 2.66709e+32 at x = 0"),
    override("formula of a field that is none", "velocity.u=2*x", "velocity.u = 2*x: not a decimal number", "with velocity.field = formula"),
    value("constants.sin", "1", "not a name for a constant; accepted: a letter"),
    value("constants.lx", "1", "not a name for a constant"),
    value("constants.x", "1", "not a name for a constant"),
    value("constants.big", "1e31", "accepted: a number from -1e30 to 1e30"),
    value("constants." + "n" * 40, "1", "not a name for a constant"),
    value("constants.2a", "1", "not a name for a constant"),
    value("constants.a", "1/3", "not a decimal number; accepted: a number from -1e30 to 1e30"),
    line("a constant twice", "[constants]\na = 1\na = 2\n", "constants.a = 2: repeated", place=14),
    # What single values cannot tell.
    Bad("more bytes than 64 bits", ("run.ini", "grid.nx=67108864", "grid.ny=67108864", "grid.nz=1000"),
        ("command line: grid.nx = 67108864, ny = 67108864, nz = 1000", "64 bits")),
    Bad("more waves than points", ("run.ini", "initial.case=cosine", "initial.kx=7"),
        ("initial.kx = 7: more waves than 12 points can show", "from -6 to 6")),
    Bad("more waves than points, manufactured", ("run.ini", "initial.case=manufactured", "initial.kz=8"),
        ("initial.kz = 8: more waves than 14 points can show", "from -7 to 7")),
    Bad("too many steps", ("run.ini", "time.dt=1e-9", "time.t_end=1"), ("time.dt = 1e-09: ", "more than 99999999 steps")),
    Bad("adaptive steps of a given size", ("run.ini", "time.dt=0.1", "time.adaptive=yes", "velocity.field=deformation"),
        ("command line: time.adaptive = yes: ", "accepted: time.courant in its place, or no"), ranks=(1, 2)),
    Bad("too many adaptive steps", ("run.ini", "time.t_end=1e20", "time.adaptive=yes", "velocity.field=deformation"),
        ("command line: time.t_end = 1e+20: ", "more than 99999999 steps")),
    Bad("an initial file that is not there", ("run.ini", "initial.case=file", "initial.file=no.h5", "initial.resample=yes"),
        ("initial.file = no.h5: cannot be opened",), code=3, ranks=(1, 2)),
    Bad("an initial file that is none", ("run.ini", "initial.case=file", "initial.file=run.ini"), ("is no HDF5 file",), code=3),
    Bad("a velocity file that is a folder", ("run.ini", "velocity.field=file", "velocity.file=.", "velocity.resample=yes"),
        ("velocity.file = .: ",), code=3),
    Bad("nothing moves", ("run.ini", "velocity.field=uniform", "velocity.u=0"), ("run.ini:10: time.courant = 1.2: ", "time.dt")),
    Bad("too many steps of a Courant number", ("run.ini", "time.t_end=1e20"),
        ("command line: time.t_end = 1e+20: ", "more than 99999999 steps"), ranks=(1, 2)),
    Bad("two step sizes", ("run.ini", "time.dt=0.1", "time.courant=0.2"),
        ("command line: time.courant: ", "time.dt is on the command line", "exactly one"), ranks=(1, 2)),
    Bad("two ends", ("run.ini", "time.t_end=1", "time.steps=2"), ("command line: time.steps: ", "time.t_end is on the command line")),
    Bad("the same key twice", ("run.ini", "grid.nx=12", "grid.ny=9", "grid.nx=12"),
        ("command line: grid.nx: ", "already on the command line")),
    Bad("too many ranks", ("run.ini", "grid.nz=11"), ("command line: grid.nz = 11: ", "fewer than 4 planes to each of 3 ranks", "at most 2 ranks"), ranks=(3,)),
    Bad("small derivatives in single precision", ("run.ini", "compute.precision=single", "grid.lx=1e15", "initial.amplitude=1e-30"),
        ("command line: compute.precision = single: ", "too small for it; accepted: double")),
    Bad("small second derivatives in single precision", ("run.ini", "compute.precision=single", "grid.lx=1e16", "physics.diffusivity=1"),
        ("command line: compute.precision = single: ", "too small for it; accepted: double"), ranks=(1, 2)),
    # Ends of axes.
    # Sound.
    value("physics.equation", "acustics", "did you mean 'acoustics'?"),
    value("physics.density", "0", "out of range", "from 1e-09 to 1e+09"),
    value("physics.density", "-1.2", "out of range"),
    value("physics.density", "heavy", "accepted: a number from 1e-09"),
    value("physics.density", "1e10", "out of range"),
    value("physics.sound_speed", "0", "out of range", "from 1e-09 to 1e+09"),
    value("physics.sound_speed", "nan", "not a"),
    override("a key of sound misspelt", "physics.soundspeed=2", "physics.soundspeed = 2: unknown key", "did you mean 'sound_speed'?"),
    Bad("an open end of sound", ("run.ini", "physics.equation=acoustics", "boundary.x=open"), ("command line: boundary.x = open: the equation has no such ends; accepted: periodic, wall, free, absorbing",), ranks=(1, 2)),
    Bad("two open ends of sound", ("run.ini", "physics.equation=acoustics", "boundary.z_low=open", "boundary.z_high=open"), ("command line: boundary.z_low = open: the equation has no such ends",)),
    Bad("sound that is made a distance", ("run.ini", "physics.equation=acoustics", "initial.case=sphere_distance", "initial.width=0.3", "level_set.redistance_every=5"), ("level_set.redistance_every = 5: the equation has no velocity field", "accepted: 0")),
    Bad("sound without a case", ("run.ini",), ("initial.case: missing",), GOOD.replace("case = blob", "").replace("[velocity]\nfield = abc", "[physics]\nequation = acoustics").encode()),
    override("a wall of advection", "boundary.x=wall", "boundary.x = wall: the equation has no such ends; accepted: periodic, open", ranks=(1, 2)),
    Bad("a free end of advection", ("run.ini", "boundary.y_low=open", "boundary.y_high=free"), ("boundary.y_high = free: the equation has no such ends",)),
    override("an absorbing end of advection", "boundary.z=absorbing", "boundary.z = absorbing: the equation has no such ends"),
    sound("one open end among walls", ("boundary.x_low=wall", "boundary.x_high=open"), "boundary.x_high = open: the equation has no such ends"),
    sound("a wall and a periodic end", ("boundary.y_low=wall", "boundary.y_high=periodic"), "boundary.y_low: one end of the axis is periodic and the other is not"),
    sound("one wall alone", ("boundary.z_high=wall",), "boundary.z_high: one end of the axis is periodic"),
    sound("an axis and its wall", ("boundary.x=wall", "boundary.x_low=free"), "boundary.x_low: the axis is given, too"),
    sound("too few points between walls", ("boundary.y=wall",), "grid.ny = 13: too few points for an axis with ends; accepted: at least 16 at order 8"),
    sound("too few points between free ends", ("boundary.x=free", "compute.order=6", "grid.nx=11"), "grid.nx = 11: too few points", "at least 12 at order 6"),
    sound("too few planes between absorbing ends", ("boundary.z=absorbing", "compute.order=2", "grid.nz=8"), "grid.nz = 8: too few points", "at least 9 at order 2"),
    sound("slabs thinner than a wall's closure", ("boundary.z=wall", "grid.nz=20"), "20 planes on 3 ranks: 6 on the last; accepted: at least 8", ranks=(3,)),
    sound("a misspelt wall", ("boundary.x=wal",), "boundary.x = wal: not known", "did you mean 'wall'?"),
    override("an end that is not known", "boundary.x=opne", "boundary.x = opne: not known", "did you mean 'open'?", ranks=(1, 2)),
    Bad("one end alone", ("run.ini", "boundary.x_low=open"), ("boundary.x_low: one end of the axis is periodic and the other is not",)),
    Bad("the high end alone", ("run.ini", "boundary.z_high=open"), ("boundary.z_high: one end of the axis is periodic",)),
    Bad("an axis and its end", ("run.ini", "boundary.y=open", "boundary.y_low=open"), ("boundary.y_low: the axis is given, too",)),
    Bad("too few points for two closures", ("run.ini", "boundary.x=open"), ("grid.nx = 12: too few points for an axis with ends; accepted: at least 16 at order 8",)),
    Bad("too few planes with ends", ("run.ini", "boundary.z=open", "compute.order=2", "grid.nz=8"), ("grid.nz = 8: too few points", "at least 9 at order 2")),
    Bad("slabs thinner than a closure", ("run.ini", "boundary.z=open", "grid.nz=20"), ("20 planes on 3 ranks: 6 on the last; accepted: at least 8",), ranks=(3,)),
    Bad("no exact solution to enter", ("run.ini", "boundary.z=open", "grid.nz=20", "boundary.value=exact"), ("boundary.value = exact: the solution is not known at all times",)),
    Bad("a formula that cannot be read", ("run.ini", "boundary.z=open", "grid.nz=20", "boundary.value=2*"), ("boundary.value = 2*: ",)),
    Bad("a formula that is not finite", ("run.ini", "boundary.z=open", "grid.nz=20", "boundary.value=1/t"), ("boundary.value = 1/t: is ",)),
    fixed("without diffusion", ("physics.diffusivity=0",), "boundary.z = dirichlet: physics.diffusivity is 0, so that nothing brings the value in; accepted: open, or", ranks=(1, 2)),
    fixed("one end, without diffusion", ("boundary.x_low=open", "boundary.x_high=dirichlet", "physics.diffusivity=0", "grid.nx=16"), "boundary.x_high = dirichlet: physics.diffusivity is 0"),
    fixed("of sound", ("physics.equation=acoustics",), "boundary.z = dirichlet: the equation has no such ends; accepted: periodic, wall, free, absorbing"),
    fixed("a wall among them", ("boundary.y_low=dirichlet", "boundary.y_high=wall"), "boundary.y_high = wall: the equation has no such ends; accepted: periodic, open, dirichlet"),
    fixed("a misspelt one", ("boundary.y=dirichlett",), "boundary.y = dirichlett: not known", "did you mean 'dirichlet'?"),
    fixed("in capitals", ("boundary.y=Dirichlet",), "boundary.y = Dirichlet: not known", "did you mean 'dirichlet'?"),
    fixed("one alone", ("boundary.y_low=dirichlet",), "boundary.y_low: one end of the axis is periodic and the other is not"),
    fixed("too few points", ("boundary.y=dirichlet",), "grid.ny = 13: too few points for an axis with ends; accepted: at least 16 at order 8"),
    fixed("too few points of order 2", ("boundary.z=dirichlet", "compute.order=2", "grid.nz=8"), "grid.nz = 8: too few points", "at least 9 at order 2"),
    fixed("slabs thinner than a closure", (), "20 planes on 3 ranks: 6 on the last; accepted: at least 8", ranks=(3,)),
    fixed("a value that is not known", ("boundary.value=exact",), "boundary.value = exact: the solution is not known at all times"),
    fixed("exact beside an open end", ("boundary.value=exact", "initial.case=gaussian", "velocity.field=uniform", "boundary.x=open", "grid.nx=16"), "boundary.value = exact: the solution is not known at all times"),
    fixed("a value of other variables", ("boundary.value=x + r",), "boundary.value = x + r: ", "'r' is not known"),
    fixed("a value that is not finite", ("boundary.value=1/z",), "boundary.value = 1/z: is inf at x = 0"),
    fixed("a value that is too large", ("boundary.value=1e31",), "boundary.value = 1e31: is 1e+31", "a magnitude of at most 1e+30"),
    # The environment.
    Bad("more memory than there is", ("run.ini", "grid.nx=30000", "grid.ny=30000", "grid.nz=3000"),
        ("memory: ", "GiB needed"), code=3, ranks=(1, 2)),
    Bad("a file as directory", ("run.ini", "output.directory=run.ini"), ("run.ini: is not a directory",), code=3, ranks=(1, 2)),
    Bad("a directory below a file", ("run.ini", "output.directory=run.ini/x"), ("run.ini: is not a directory",), code=3),
    Bad("no state to restart from", ("run.ini", "restart.from=nowhere.hdf"), ("nowhere.hdf: ", "No such file"), code=3, ranks=(1, 2)),
    Bad("no state, but a text", ("run.ini", "restart.from=run.ini"), ("run.ini: ", "not a state of fdapp"), code=3, ranks=(1, 2)),
    Bad("no state, but a directory", ("run.ini", "restart.from=."), ("it is a directory",), code=3),
]


# Beginnings of arguments of problems of one's own and of what is watched of them.
OWN_PROBLEMS = ("initial.formula=", "velocity.field=formula", "constants.", "output.slices=", "output.probes=", "output.fields_")


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
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120, check=False)


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
    assert len(CASES) >= 180
    assert sum(any(a.startswith(OWN_PROBLEMS) for a in bad.arguments) for bad in CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)
