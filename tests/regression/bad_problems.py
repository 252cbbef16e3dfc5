"""Bad problems of one's own by formulas, bad sound, and bad ends of axes. test_bad_input.py runs them."""

from bad import GOOD, Bad, line, override, value


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


FORMULAS = [
    override("no formula", "initial.case=formula", "initial.formula = none: missing; accepted: a formula of x, y, z"),
    formula(
        "unknown name",
        "cosx(x)",
        "character 1: 'cosx' is not known; accepted: numbers, x, y, z, pi, lx, ly, lz, sin",
        ranks=(1, 2),
    ),
    formula("time in space", "x + t", "character 5: 't' is not known"),
    formula("open parenthesis", "sin(x", "character 6: a parenthesis is not closed"),
    formula("closing parenthesis", "x)*2", "character 2: ')' is not expected"),
    formula("nothing behind an operator", "x +", "character 4: the formula ends where a value is expected"),
    formula("no operator", "2 x", "character 3: 'x' stands where an operator is expected"),
    formula("too many arguments", "sin(x, y)", "too many arguments of sin"),
    formula("a comma", "x, y", "character 2: a comma without a function"),
    formula("an assignment", "x = 1", "character 3: '=' cannot be read; accepted: == for a comparison"),
    formula("half a condition", "x < 1 ? 2", "'?' without ':'"),
    formula("a text", '"x"', "character 1: '\"' cannot be read"),
    formula("division by zero at a corner", "1/x", "is inf at x = 0, y = 0, z = 0", ranks=(1, 3)),
    formula("a logarithm below zero", "log(x - 0.5)", "is nan at x = 0, y = 0, z = 0"),
    formula("too large", "1e31", "is 1e+31 at x = 0"),
    formula("too long", "x" + 2048 * "+x", "too long; accepted: a formula of at most 4095 bytes"),
    Bad(
        "division by zero at one point",
        ("run.ini", "initial.case=formula", "initial.formula=1/(x - 0.25 + abs(y - 2/13) + abs(z - 3/14))"),
        ("initial.formula = 1/(x - 0.25", "is inf at x = 0.25, y = 0.153846154, z = 0.214285714"),
        ranks=(1, 3),
    ),
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
    formula(
        "a chain of comparisons",
        "0.25 < x < 0.75 ? 1 : 0",
        "character 10: a comparison of a comparison",
        "accepted: && between two",
        ranks=(1, 2),
    ),
    formula("a chain that ends with equality", "x < y == 1", "character 7: a comparison of a comparison"),
    formula("a chain of equalities", "x == y == z", "character 8: a comparison of a comparison"),
    formula("a chain of inequalities", "x != y != z", "character 8: a comparison of a comparison"),
    formula("a chain downwards", "1 >= x >= 0", "character 8: a comparison of a comparison"),
    formula("a chain of sums", "1 < 2 + x < 3", "character 11: a comparison of a comparison"),
    formula("a chain in a function", "max(0, 0.2<x<0.8)", "character 13: a comparison of a comparison"),
    formula("a chain after a condition", "x > 0 && 0 < y < 1", "character 16: a comparison of a comparison"),
    formula("a chain in a branch", "x > 0 ? 0 < y < 1 : 2", "character 15: a comparison of a comparison"),
    formula("an equality of three signs", "x === y", "character 5: '=' stands where a value is expected"),
    formula("at most, the wrong way round", "x =< y", "character 3: '=' cannot be read; accepted: == for"),
    formula("unequal as in other languages", "x <> y", "character 4: '>' stands where a value is expected"),
    formula("at most, in print", "x \u2264 y", "character 3: a character beyond ASCII"),
    formula("a square, in print", "x\u00b2", "character 2: a character beyond ASCII"),
    formula("absolute in bars", "|x|", "character 1: '|' cannot be read"),
    formula("and, as one sign", "x & y", "character 3: '&' cannot be read"),
    formula("and, as a word", "x > 0 and y > 0", "character 7: "),
    formula("a power of a function's name", "sin^2(x)", "character 1: 'sin' without its arguments"),
    formula("a factor before a parenthesis", "2(x + 1)", "character 2: '(' is not expected here"),
    formula("two parentheses", "(x)(y)", "character 4: '(' is not expected here"),
    formula("a factor before a name", "2x", "character 2: 'x' stands where an operator is expected"),
    formula("a product of names", "xy", "character 1: 'xy' is not known"),
    formula("two signs", "--x", "'-' stands where a value is expected"),
    formula("a factorial", "3!", "character 2: '!' cannot be read"),
    formula("whole division", "x // 2", "character 4: '/' stands where a value is expected"),
    formula("Fortran's exponent", "1d3*x", "character 1: '1d3' is no number"),
    formula("a letter as Euler's number", "e^x", "character 1: 'e' is not known"),
    formula("a constant of muParser", "_pi*x", "character 1: '_pi' is not known"),
    formula("pi in capitals", "PI*x", "character 1: 'PI' is not known"),
    formula("the first point that overflows", "1e300*x", "is 8.33333e+298 at x = 0.0833333, y = 0, z = 0"),
    formula("hardly too large", "1e30 + 1e24", "is 1.000001e+30 at x = 0"),
    velocity("a chain of comparisons", "u=0<x<1", "velocity.u = 0<x<1: character 4: a comparison of a comparison"),
    velocity(
        "hardly above one",
        "factor=1 + 1e-9",
        "velocity.factor = 1 + 1e-9: is 1.000000001 at t = 0; accepted: at most 1",
    ),
    formula("an arc beyond one", "acos(1 + z)", "is nan at x = 0, y = 0, z = 0.0714286"),
    velocity("a component left open", "v=sin(", "velocity.v = sin(: character 5"),
    velocity("time in space", "w=t", "velocity.w = t: character 1: 't' is not known"),
    velocity("a factor infinite at once", "factor=1/t", "velocity.factor = 1/t: is inf at t = 0"),
    velocity("a factor that is no number", "factor=sqrt(-1)", "velocity.factor = sqrt(-1): is nan at t = 0"),
    velocity("a component that is no number", "u=log(-1)", "velocity.u = log(-1): is nan at x = 0"),
    velocity("a name of nothing", "u=omega*x", "velocity.u = omega*x: character 1: 'omega' is not known", ranks=(1, 2)),
    velocity(
        "no factor of space", "factor=x", "velocity.factor = x: character 1: 'x' is not known; accepted: numbers, t, pi"
    ),
    velocity(
        "factor above one",
        "factor=2*t + 1.5",
        "velocity.factor = 2*t + 1.5: is 1.5 at t = 0; accepted: at most 1 in magnitude",
    ),
    velocity("infinite", "w=tan(pi/2)^2", "velocity.w = tan(pi/2)^2: is 2.66709e+32 at x = 0"),
    override(
        "formula of a field that is none",
        "velocity.u=2*x",
        "velocity.u = 2*x: not a decimal number",
        "with velocity.field = formula",
    ),
    override("a source of time", "source.formula=x*t", "source.formula = x*t: character 3: 't' is not known"),
    override("a source that is no number", "source.formula=1/x", "source.formula = 1/x: is inf at x = 0, y = 0, z = 0"),
    override("a source's factor of space", "source.factor=y", "source.factor = y: character 1: 'y' is not known"),
    override(
        "a source's factor infinite at once",
        "source.factor=1/t",
        "source.factor = 1/t: is inf at t = 0; accepted: a magnitude",
    ),
    value("constants.sin", "1", "not a name for a constant; accepted: a letter"),
    value("constants.lx", "1", "not a name for a constant"),
    value("constants.x", "1", "not a name for a constant"),
    value("constants.big", "1e31", "accepted: a number from -1e30 to 1e30"),
    value("constants." + "n" * 40, "1", "not a name for a constant"),
    value("constants.2a", "1", "not a name for a constant"),
    value("constants.a", "1/3", "not a decimal number; accepted: a number from -1e30 to 1e30"),
    line("a constant twice", "[constants]\na = 1\na = 2\n", "constants.a = 2: repeated", place=14),
]
ENDS = [
    value("physics.equation", "acustics", "did you mean 'acoustics'?"),
    value("physics.density", "0", "out of range", "from 1e-09 to 1e+09"),
    value("physics.density", "-1.2", "out of range"),
    value("physics.density", "heavy", "accepted: a number from 1e-09"),
    value("physics.density", "1e10", "out of range"),
    value("physics.sound_speed", "0", "out of range", "from 1e-09 to 1e+09"),
    value("physics.sound_speed", "nan", "not a"),
    override(
        "a key of sound misspelt",
        "physics.soundspeed=2",
        "physics.soundspeed = 2: unknown key",
        "did you mean 'sound_speed'?",
    ),
    Bad(
        "an open end of sound",
        ("run.ini", "physics.equation=acoustics", "boundary.x=open"),
        ("command line: boundary.x = open: the equation has no such ends; accepted: periodic, wall, free, absorbing",),
        ranks=(1, 2),
    ),
    Bad(
        "two open ends of sound",
        ("run.ini", "physics.equation=acoustics", "boundary.z_low=open", "boundary.z_high=open"),
        ("command line: boundary.z_low = open: the equation has no such ends",),
    ),
    Bad(
        "sound that is made a distance",
        (
            "run.ini",
            "physics.equation=acoustics",
            "initial.case=sphere_distance",
            "initial.width=0.3",
            "level_set.redistance_every=5",
        ),
        ("level_set.redistance_every = 5: the equation has no velocity field", "accepted: 0"),
    ),
    Bad(
        "sound without a case",
        ("run.ini",),
        ("initial.case: missing",),
        GOOD.replace("case = blob", "").replace("[velocity]\nfield = abc", "[physics]\nequation = acoustics").encode(),
    ),
    override(
        "a wall of advection",
        "boundary.x=wall",
        "boundary.x = wall: the equation has no such ends; accepted: periodic, open, dirichlet; wall is for physics.equation = acoustics",
        ranks=(1, 2),
    ),
    Bad(
        "a free end of advection",
        ("run.ini", "boundary.y_low=open", "boundary.y_high=free"),
        ("boundary.y_high = free: the equation has no such ends",),
    ),
    override(
        "an absorbing end of advection", "boundary.z=absorbing", "boundary.z = absorbing: the equation has no such ends"
    ),
    sound(
        "one open end among walls",
        ("boundary.x_low=wall", "boundary.x_high=open"),
        "boundary.x_high = open: the equation has no such ends",
    ),
    sound(
        "a wall and a periodic end",
        ("boundary.y_low=wall", "boundary.y_high=periodic"),
        "boundary.y_low: one end of the axis is periodic and the other is not",
    ),
    sound("one wall alone", ("boundary.z_high=wall",), "boundary.z_high: one end of the axis is periodic"),
    sound("an axis and its wall", ("boundary.x=wall", "boundary.x_low=free"), "boundary.x_low: the axis is given, too"),
    sound(
        "too few points between walls",
        ("boundary.y=wall",),
        "grid.ny = 13: too few points for an axis with ends; accepted: at least 16 at order 8",
    ),
    sound(
        "too few points between free ends",
        ("boundary.x=free", "compute.order=6", "grid.nx=11"),
        "grid.nx = 11: too few points",
        "at least 12 at order 6",
    ),
    sound(
        "too few planes between absorbing ends",
        ("boundary.z=absorbing", "compute.order=2", "grid.nz=8"),
        "grid.nz = 8: too few points",
        "at least 9 at order 2",
    ),
    sound(
        "slabs thinner than a wall's closure",
        ("boundary.z=wall", "grid.nz=20"),
        "20 planes on 3 ranks: 6 on the last; accepted: at least 8",
        ranks=(3,),
    ),
    sound(
        "walls that absorb more than there is",
        ("boundary.x=wall", "boundary.absorption=1.2"),
        "boundary.absorption = 1.2",
        "0 to 1",
    ),
    sound(
        "walls that absorb less than nothing",
        ("boundary.x=wall", "boundary.absorption=-0.1"),
        "boundary.absorption = -0.1",
        "0 to 1",
    ),
    sound("absorption that is no number", ("boundary.x=wall", "boundary.absorption=nan"), "boundary.absorption = nan"),
    sound(
        "absorption in words", ("boundary.x=wall", "boundary.absorption_x_low=much"), "boundary.absorption_x_low = much"
    ),
    sound(
        "one wall that absorbs too much",
        ("boundary.x=wall", "boundary.absorption_x_high=2"),
        "boundary.absorption_x_high = 2",
        "0 to 1",
    ),
    sound(
        "a layer around sound",
        ("boundary.x=layer",),
        "boundary.x = layer: the equation has no such ends",
        "layer is for physics.equation = wave",
    ),
    sound("a misspelt wall", ("boundary.x=wal",), "boundary.x = wal: not known", "did you mean 'wall'?"),
    override(
        "an end that is not known",
        "boundary.x=opne",
        "boundary.x = opne: not known",
        "did you mean 'open'?",
        ranks=(1, 2),
    ),
    Bad(
        "one end alone",
        ("run.ini", "boundary.x_low=open"),
        ("boundary.x_low: one end of the axis is periodic and the other is not",),
    ),
    Bad(
        "the high end alone", ("run.ini", "boundary.z_high=open"), ("boundary.z_high: one end of the axis is periodic",)
    ),
    Bad(
        "an axis and its end",
        ("run.ini", "boundary.y=open", "boundary.y_low=open"),
        ("boundary.y_low: the axis is given, too",),
    ),
    Bad(
        "too few points for two closures",
        ("run.ini", "boundary.x=open"),
        ("grid.nx = 12: too few points for an axis with ends; accepted: at least 16 at order 8",),
    ),
    Bad(
        "too few planes with ends",
        ("run.ini", "boundary.z=open", "compute.order=2", "grid.nz=8"),
        ("grid.nz = 8: too few points", "at least 9 at order 2"),
    ),
    Bad(
        "slabs thinner than a closure",
        ("run.ini", "boundary.z=open", "grid.nz=20"),
        ("20 planes on 3 ranks: 6 on the last; accepted: at least 8",),
        ranks=(3,),
    ),
    Bad(
        "no exact solution to enter",
        ("run.ini", "boundary.z=open", "grid.nz=20", "boundary.value=exact"),
        ("boundary.value = exact: the solution is not known at all times",),
    ),
    Bad(
        "a formula that cannot be read",
        ("run.ini", "boundary.z=open", "grid.nz=20", "boundary.value=2*"),
        ("boundary.value = 2*: ",),
    ),
    Bad(
        "a formula that is not finite",
        ("run.ini", "boundary.z=open", "grid.nz=20", "boundary.value=1/t"),
        ("boundary.value = 1/t: is ",),
    ),
    fixed(
        "without diffusion",
        ("physics.diffusivity=0",),
        "boundary.z = dirichlet: physics.diffusivity is 0, so that nothing brings the value in; accepted: open, or",
        ranks=(1, 2),
    ),
    fixed(
        "one end, without diffusion",
        ("boundary.x_low=open", "boundary.x_high=dirichlet", "physics.diffusivity=0", "grid.nx=16"),
        "boundary.x_high = dirichlet: physics.diffusivity is 0",
    ),
    fixed(
        "of sound",
        ("physics.equation=acoustics",),
        "boundary.z = dirichlet: the equation has no such ends; accepted: periodic, wall, free, absorbing",
    ),
    fixed(
        "a wall among them",
        ("boundary.y_low=dirichlet", "boundary.y_high=wall"),
        "boundary.y_high = wall: the equation has no such ends; accepted: periodic, open, dirichlet",
    ),
    fixed(
        "a misspelt one", ("boundary.y=dirichlett",), "boundary.y = dirichlett: not known", "did you mean 'dirichlet'?"
    ),
    fixed("in capitals", ("boundary.y=Dirichlet",), "boundary.y = Dirichlet: not known", "did you mean 'dirichlet'?"),
    fixed(
        "one alone",
        ("boundary.y_low=dirichlet",),
        "boundary.y_low: one end of the axis is periodic and the other is not",
    ),
    fixed(
        "too few points",
        ("boundary.y=dirichlet",),
        "grid.ny = 13: too few points for an axis with ends; accepted: at least 16 at order 8",
    ),
    fixed(
        "too few points of order 2",
        ("boundary.z=dirichlet", "compute.order=2", "grid.nz=8"),
        "grid.nz = 8: too few points",
        "at least 9 at order 2",
    ),
    fixed("slabs thinner than a closure", (), "20 planes on 3 ranks: 6 on the last; accepted: at least 8", ranks=(3,)),
    fixed(
        "a value that is not known",
        ("boundary.value=exact",),
        "boundary.value = exact: the solution is not known at all times",
    ),
    fixed(
        "exact beside an open end",
        ("boundary.value=exact", "initial.case=gaussian", "velocity.field=uniform", "boundary.x=open", "grid.nx=16"),
        "boundary.value = exact: the solution is not known at all times",
    ),
    fixed("a value of other variables", ("boundary.value=x + r",), "boundary.value = x + r: ", "'r' is not known"),
    fixed(
        "a chain of comparisons",
        ("boundary.value=0 < x < 1",),
        "boundary.value = 0 < x < 1: character 7: a comparison of a comparison",
    ),
    fixed("a value that is not finite", ("boundary.value=1/z",), "boundary.value = 1/z: is inf at x = 0"),
    fixed(
        "a value that is too large",
        ("boundary.value=1e31",),
        "boundary.value = 1e31: is 1e+31",
        "a magnitude of at most 1e+30",
    ),
]
