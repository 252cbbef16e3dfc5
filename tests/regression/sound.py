"""Sound by dense matrices: the right-hand side with the penalties of its ends, and the energy, in media of any speed
and density (numbers or arrays). They share no code with the program, and take f as p, u, v, w."""

import numpy as np

from dense import along, ends, matrix, norm

DENSITY, SPEED = 1.3, 2.1


def spacings(configuration):
    return [norm(configuration, d)[1] for d in range(3)]


def penalty(configuration, slopes, f, speed, density):
    """What the ends add to d/dt of p and of the velocity."""
    speed, density = (np.broadcast_to(number, f[0].shape) for number in (speed, density))
    for d in range(3):
        weight = norm(configuration, d)[0][0]
        for kind, sign, place in zip(ends(configuration, d), (-1, 1), (0, -1), strict=True):
            at = (*[slice(None)] * (2 - d), place)
            p, u, r, c = f[0][at], f[1 + d][at], density[at], speed[at]
            if kind == "wall":
                absorption = configuration["boundary"].get("absorption", 0)
                end = "low" if sign < 0 else "high"
                absorption = configuration["boundary"].get(f"absorption_{'xyz'[d]}_{end}", absorption)
                reflected = np.sqrt(1 - absorption)
                flow = u - sign * p * (1 - reflected) / (1 + reflected) / (r * c)
                slopes[0][at] += sign * r * c**2 * flow / weight
            elif kind == "free":
                slopes[1 + d][at] += sign * p / (r * weight)
            elif kind == "absorbing":
                left = p - sign * r * c * u
                slopes[0][at] -= c / 2 * left / weight
                slopes[1 + d][at] += sign * left / (2 * r * weight)
    return slopes


def slope_of(configuration, speed=SPEED, density=DENSITY):
    operators = [matrix(configuration, "first", d, 1) for d in range(3)]
    damping = [matrix(configuration, "dissipation", d, 1) for d in range(3)]
    stiffness, impedance = density * speed**2, density * speed

    def slope(f):
        p = -stiffness * sum(along(operators[d], f[1 + d], d) for d in range(3))
        slopes = np.array([p, *(-along(operators[d], f[0], d) / density for d in range(3))])
        for d in range(3 if configuration["physics"].get("difference") == "upwind" else 0):
            slopes[0] += stiffness / np.max(impedance) * along(damping[d], f[0], d)
            slopes[1 + d] += np.min(impedance) / density * along(damping[d], f[1 + d], d)
        return penalty(configuration, slopes, f, speed, density)

    return slope


def energy(configuration, f, speed=SPEED, density=DENSITY):
    weights = [norm(configuration, d)[0] for d in range(3)]
    densities = f[0] ** 2 / (density * speed**2) + density * sum(part**2 for part in f[1:])
    return 0.5 * np.einsum("zyx,z,y,x", densities, *weights[::-1])
