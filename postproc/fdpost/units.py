"""Units of what is made of fields, length and time: texts, as [units] has them. "" is an unknown one."""


def bracketed(unit):
    """In brackets, unless it is letters alone."""
    return unit if unit.isascii() and unit.isalpha() else f"({unit})"


def squared(unit):
    return f"{bracketed(unit)}^2" if unit else ""


def product(unit, other):
    return f"{bracketed(unit)} {bracketed(other)}" if unit and other else ""


def ratio(unit, other):
    return f"{bracketed(unit)}/{bracketed(other)}" if unit and other else ""


def over_volume(unit, length, power="3"):
    """Of an integral over the volume; of the root of one, with the power (3/2)."""
    return f"{bracketed(unit)} {bracketed(length)}^{power}" if unit and length else ""


def shared(found):
    """The unit that all have."""
    found = set(found)
    return found.pop() if len(found) == 1 else ""


def of_flow(run):
    """{column: unit} of the diagnostics of a compressible flow, of which energies are those of a volume: as pressures.
    run: what has unit(name)."""
    pressure, density, time = (run.unit(name) for name in ("pressure", "density", "time"))
    found = {"mass": density, "density_min": density, "pressure_min": pressure, "energy": pressure, "kinetic": pressure}
    found |= {f"momentum_{axis}": product(density, run.unit(name)) for axis, name in zip("xyz", "uvw")}
    rates = ("dissipation", "dissipation_solenoidal", "dissipation_dilatational", "pressure_work")
    found |= dict.fromkeys(rates, ratio(pressure, time))
    return found | {"enstrophy": f"1/{squared(time)}" if time else ""}
