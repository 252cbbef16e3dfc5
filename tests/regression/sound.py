"""Sound by dense matrices: the right-hand side with the penalties of its ends, and the energy. They share no code with
the program, and take f as p, u, v, w."""

import numpy as np

from dense import along, ends, matrix, norm

DENSITY, SPEED = 1.3, 2.1


def spacings(configuration):
    return [norm(configuration, d)[1] for d in range(3)]


def penalty(configuration, slopes, f):
    """What the ends add to d/dt of p and of the velocity."""
    stiffness, impedance = DENSITY * SPEED**2, DENSITY * SPEED
    for d in range(3):
        weight = norm(configuration, d)[0][0]
        for kind, sign, place in zip(ends(configuration, d), (-1, 1), (0, -1), strict=True):
            at = (*[slice(None)] * (2 - d), place)
            p, u = f[0][at], f[1 + d][at]
            if kind == "wall":
                absorption = configuration["boundary"].get("absorption", 0)
                end = "low" if sign < 0 else "high"
                absorption = configuration["boundary"].get(f"absorption_{'xyz'[d]}_{end}", absorption)
                reflected = np.sqrt(1 - absorption)
                flow = u - sign * p * (1 - reflected) / (1 + reflected) / impedance
                slopes[0][at] += sign * stiffness * flow / weight
            elif kind == "free":
                slopes[1 + d][at] += sign * p / (DENSITY * weight)
            elif kind == "absorbing":
                left = p - sign * impedance * u
                slopes[0][at] -= stiffness / (2 * impedance) * left / weight
                slopes[1 + d][at] += sign * left / (2 * DENSITY * weight)
    return slopes


def slope_of(configuration):
    operators = [matrix(configuration, "first", d, 1) for d in range(3)]
    damping = [SPEED * matrix(configuration, "dissipation", d, 1) for d in range(3)]

    def slope(f):
        p = -DENSITY * SPEED**2 * sum(along(operators[d], f[1 + d], d) for d in range(3))
        slopes = np.array([p, *(-along(operators[d], f[0], d) / DENSITY for d in range(3))])
        for d in range(3 if configuration["physics"].get("difference") == "upwind" else 0):
            slopes[0] += along(damping[d], f[0], d)
            slopes[1 + d] += along(damping[d], f[1 + d], d)
        return penalty(configuration, slopes, f)

    return slope


def energy(configuration, f):
    weights = [norm(configuration, d)[0] for d in range(3)]
    sums = [np.einsum("zyx,z,y,x", part**2, *weights[::-1]) for part in f]
    return 0.5 * (sums[0] / (DENSITY * SPEED**2) + DENSITY * sum(sums[1:]))
