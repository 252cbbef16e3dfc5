"""Bad input over all sections: words and figures that people carry over from other codes, spreadsheets and shells, and
choices of one equation given to another. test_bad_input.py runs them."""

from bad import Bad, line, value

WAVE = ("physics.equation=wave", "time.courant=0.5")
FLOW = ("physics.equation=flow", "time.courant=0.5")


def with_equation(equation, overrides, *says):
    """An override of a problem of another equation; the good file's courant is on the command line again."""
    return Bad(f"{equation[0]}: {' '.join(overrides)}", ("run.ini", *equation, *overrides), says)


def wave(*overrides, says):
    return with_equation(WAVE, overrides, *says)


def flow(*overrides, says):
    return with_equation(FLOW, overrides, *says)


SECTIONS = [
    value("grid.nx", "16.0", "not an integer in decimal digits; accepted: an integer from 9"),
    value("grid.ny", "1e2", "not an integer in decimal digits"),
    value("grid.nz", "14 14", "not an integer in decimal digits"),
    value("grid.lx", "1/2", "not a decimal number; accepted: a number from 1e-30 to 1e+30"),
    value("grid.ly", "1,5", "not a decimal number"),
    value("grid.lz", "2*pi", "not a decimal number"),
    value("boundary.z", "Periodic", "not known; accepted: periodic, open", "did you mean 'periodic'?"),
    value("boundary.x", "outflow", "not known; accepted: periodic, open"),
    value("physics.equation", "heat", "not known; accepted: advection, acoustics, wave, flow"),
    value("physics.difference", "weno", "not known; accepted: central, upwind"),
    value("physics.gamma", "1", "out of range; accepted: a number from 1.000001 to 100"),
    value("physics.form", "keep", "of another equation; accepted: advective, conservative, skew"),
    value("initial.width", "0.1m", "not a decimal number"),
    value("initial.amplitude", "--1", "not a decimal number"),
    value("initial.kx", "0.5", "not an integer in decimal digits"),
    value("velocity.field", "Uniform", "not known; accepted: uniform", "did you mean 'uniform'?"),
    value("velocity.period", "1e-31", "out of range; accepted: a number from 1e-30"),
    value("source.formula", "exp(-x^2)*t", "character 11: 't' is not known"),
    value("source.force_z", "down", "not a decimal number; accepted: a number from -1e+30 to 1e+30"),
    value("source.factor", "sin(x)", "character 5: 'x' is not known; accepted: numbers, t, pi"),
    value("level_set.redistance_every", "0.5", "not an integer in decimal digits"),
    value("time.scheme", "leapfrog", "is for physics.equation = wave alone"),
    value("time.scheme", "rk5", "not known; accepted: rk4"),
    value("time.steps", "1e3", "not an integer in decimal digits"),
    value("time.adaptive", "true", "not known; accepted: yes, no"),
    value("compute.precision", "float32", "not known; accepted: double, single"),
    value("compute.order", "10", "not known; accepted: 8, 6, 4, 2"),
    value("compute.backend", "rocm", "not known; accepted: auto"),
    value("compute.pairs", "on", "not known; accepted: no, auto, yes"),
    value("halo.overlap", "1", "not known; accepted: yes, no"),
    value("output.compress", "gzip", "not known; accepted: yes, no"),
    value("output.slices", "z=50%", "a plane whose place is no number"),
    value("output.probes", "0.5, 0.5, 0.5", "no number"),
    value("output.wall_limit", "1:00:00", "not a decimal number"),
    value("output.fields_at", "0", "out of range; accepted: a number from 1e-30"),
    value("output.fields_at", "1e-12", "due more than 99999999 times up to t = "),
    value("statistics.fields", "phi; u", "not a list of names; accepted: different names, separated by blanks"),
    value("statistics.fields", "Phi", "Phi is no field; accepted: some of phi, or none"),
    value("benchmark.reference", "0xdeadbeef", "not a hash; accepted: 16 hexadecimal digits"),
    value("constants.pi", "3.14", "not a name for a constant"),
    value("constants.k", "2*3", "not a decimal number; accepted: a number from -1e30 to 1e30"),
    value("units.pressure", "Pa", "nothing of this run has that name; accepted: length, time, phi"),
    line("a section in capitals", "[Output]\n", "[Output]: unknown section; accepted: grid", "did you mean 'output'?"),
    line("a key of Fortran", "dt = 1d-3\n", "time.dt: time.courant is in line 10"),
    line(
        "two outputs", "[output]\nfields_every = 2\nfields_at = 0.1\n", "output.fields_at", "exactly one of", place=14
    ),
    line("a unit twice", "[units]\nphi = K\nphi = C\n", "units.phi = C: repeated", place=14),
    flow("initial.case=blob", says=("initial.case = blob: of another equation; accepted: taylor_green_vortex",)),
    flow(
        "initial.case=formula",
        "initial.pressure=0-x",
        says=("initial.pressure = 0-x", "is not positive at x = 0, y = 0, z = 0; accepted: above 0 at every point"),
    ),
    flow(
        "initial.case=taylor_green_vortex",
        "boundary.x=wall",
        says=("boundary.x = wall: the equation has no such ends; accepted: periodic",),
    ),
    wave("medium.sound_speed=x-2", says=("medium.sound_speed = x-2: the speed is -", "accepted: above 0")),
    wave("receivers.points=0.5 0.5 7", says=("receivers.points: number 1 (0.5, 0.5, 7) is outside the domain",)),
    wave(
        "--validate",
        "receivers.points=0.5 0.5 0.5; 7 0.5 0.5",
        says=("receivers.points: number 2 (7, 0.5, 0.5) is outside the domain",),
    ),
    wave(
        "--validate",
        "point_sources.points=0.5 0.5 0.5",
        "point_sources.wavelet=file",
        "point_sources.wavelet_file=run.ini",
        says=("point_sources.wavelet_file = run.ini: line 1 is not two numbers",),
    ),
    with_equation(
        ("--validate",),
        ("source.formula=1/(x-0.5)",),
        "source.formula = 1/(x-0.5): is inf at x = 0.5, y = 0, z = 0; accepted: a magnitude of at most 1e+30",
    ),
    wave("time.scheme=rk4", says=("time.scheme = rk4: is no scheme of second order in time",)),
]
