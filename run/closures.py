#!/usr/bin/env python3
"""Difference operators at the ends of axes: checks kernels/closures.json, and makes the header of its tables.

An entry of the file is a family of operators with one norm, on points i = 0, 1, ... and spacing 1: `first` (D) and
`second` (D2, with the derivative `slope` at the end). `stiffness` is no less than the largest eigenvalue of H^-1 M
below, and less than 3 % above it; `resonance` is the same of H^-1 D^T H D, and less than 0.1 % above it: the square of
the highest frequency between walls by penalty. `damped_resonance` is within 0.1 % of an eigenvalue of sound between
such walls with upwind differences (negative real and imaginary part; order 2 has no wave beside walls that is faster
than those inside). `damping` are the largest eigenvalues of -Ds between walls or free ends, and between absorbing ends,
which damp too: of H^-1 (-H Ds + |B|/2); no less, and less than 3 % above. `absorbed` are a, e and s with which a +
s^2/(x + e) is the largest eigenvalue of A - K (x + E)^-1 K, or less than 2 % above it, where x <= -5/4 a; A = E = H^-1
|B|/2 and K = H^-1 (H D - B/2) are sound between absorbing ends. `fixed_mode` and `fixed_stiffness` are eigenvalues of
H^-1 A below, and `borrowing` is why A has this form. All numbers are exact fractions. Rows are those of the low end;
the high end has them mirrored, of D and of the slope with the other sign.

    run/closures.py                  checks the identities below, exactly
    run/closures.py --header FILE    writes the header, as the build does

With H = diag(norm), B = diag(-1, 0, ..., 0, 1), and the dissipation Ds = -H^-1 (D^m)^T D^m / (m C(2m, m)), where D^m is
the difference of order m = order/2:
    H D + (H D)^T = B; D is exact to degree order/2 at the ends and to degree `order` inside
    H Ds is symmetric and negative semi-definite; Ds annihilates degrees below order/2; inside, D - Ds does not read the
    farthest point downwind
    H D2 = -M + B S with M symmetric and positive semi-definite; D2 is exact to degree order/2 + 1
    stiffness H - M and resonance H - D^T H D are positive semi-definite

Diffusion with the value g on both ends, by penalty, is du/dt = -H^-1 (A u - (A - M + B S) g) with

    A = M - B S + (B S)^T + TAU |B|,    so that    u^T A u = u^T M u + TAU (u_0^2 + u_N^2)

is positive for any TAU >= 0. With -(B S)^T in its place A is symmetric, but TAU must then be at least 1/borrowing, the
largest number for which M - borrowing (B S)^T (B S) is positive semi-definite. That makes order 8 stiff: its largest
eigenvalue would be 2138. With + each end has one pair of conjugate eigenvalues, within 0.1 % of `fixed_mode` (real and
imaginary part), and all others are real, positive and at most `fixed_stiffness`, which is less than 5 % too large.

Sources: K. Mattsson and J. Nordstroem, J. Comput. Phys. 199 (2004) 503 (D, D2); K. Mattsson, M. Svaerd and
J. Nordstroem, J. Sci. Comput. 21 (2004) 57 (Ds); M. H. Carpenter, J. Nordstroem and D. Gottlieb, J. Comput. Phys. 148
(1999) 341, and J. Gong and J. Nordstroem, J. Comput. Appl. Math. 236 (2011) 602 (penalties of diffusion).
"""

import json
import sys
from fractions import Fraction
from math import comb
from pathlib import Path

from closures_exact import (
    annihilates,
    characteristic,
    differentiated,
    inverted,
    is_exact,
    is_positive,
    is_symmetric,
    roots,
    squared,
    value_at,
)

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "kernels" / "closures.json"
DIFFERENCES = ("first", "second", "dissipation")
# Strength of the penalty that fixes a value. With 10 the largest eigenvalue is 5.3, 4.5, 2.7 and 1.2 times as large
# (orders 2 to 8), and the error of the slowest mode on 31 points is 1.6, 0.13, 0.42 and 0.99 times as large.
TAU = 1
HEAD = """#ifndef FDAPP_KERNELS_CLOSURE_TABLES_H
#define FDAPP_KERNELS_CLOSURE_TABLES_H

/* Made by the build from closures.json. */

static const closure closures[] = {
"""
TAIL = """};

#endif
"""


class ClosureError(Exception):
    """An operator violates an identity; the message names both."""


def require(holds, family, what):
    """Raises ClosureError unless a property holds."""
    if not holds:
        raise ClosureError(f"{TABLES.name}: order {family['order']}: {what}")


def fractions(values):
    """Exact numbers from texts."""
    return [Fraction(value) for value in values]


def dissipation(order, norm):
    """The rows of Ds."""
    m, closed = order // 2, len(norm)
    difference = [(-1) ** i * comb(m, i) for i in range(m + 1)]
    differences = [[0] * k + difference + [0] * (closed - k) for k in range(closed)]
    return [
        [-sum(row[i] * row[j] for row in differences) / (weight * m * comb(order, m)) for j in range(i + m + 1)]
        for i, weight in enumerate(norm)
    ]


def matrix(family, name, points, sign):
    """The whole operator on `points` points; mirrored rows have this sign. H times it is symmetric beside the corners
    (antisymmetric with -1), so the last row ends with half of the coefficients inside, divided by its weight."""
    rows = [fractions(row) for row in family[name + "_rows"]]
    reach = family["order"] // 2
    half = [Fraction(family["norm"][-1]) * value for value in rows[-1][-reach:]]
    inside = [sign * value for value in half[::-1]] + [-(1 + sign) * sum(half)] + half
    whole = [[Fraction(0)] * points for _ in range(points)]
    for i in range(len(rows), points - len(rows)):
        for j, value in enumerate(inside):
            whole[i][i - reach + j] = value
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            whole[i][j] = value
            whole[points - 1 - i][points - 1 - j] = sign * value
    return whole


def slope_row(family, points):
    """The derivative `slope` at the low end, as a row of S on `points` points."""
    return fractions(family["slope"]) + [Fraction(0)] * (points - len(family["slope"]))


def weighted(family, whole):
    """H times a matrix."""
    points = len(whole)
    weights = [Fraction(1)] * points
    for i, value in enumerate(fractions(family["norm"])):
        weights[i] = weights[points - 1 - i] = value
    return [[weight * value for value in row] for weight, row in zip(weights, whole)]


def check(family):
    """Raises ClosureError if an identity does not hold."""
    order, closed = family["order"], len(family["norm"])
    points = 2 * closed + 2 * order
    inside = range(closed, points - closed)
    require(all(weight > 0 for weight in fractions(family["norm"])), family, "a weight is not positive")
    require(all(len(family[name + "_rows"]) == closed for name in DIFFERENCES), family, "rows as many as weights")

    first = matrix(family, "first", points, -1)
    sided = weighted(family, first)
    corner = {(0, 0): -1, (points - 1, points - 1): 1}
    holds = all(sided[i][j] + sided[j][i] == corner.get((i, j), 0) for i in range(points) for j in range(i + 1))
    require(holds, family, "H D + (H D)^T is not B")
    require(is_exact(first, 1, order // 2, range(points)), family, "D is not exact at the ends")
    require(is_exact(first, 1, order, inside), family, "D is not exact inside")

    even = matrix(family, "dissipation", points, 1)
    damping = [[-value for value in row] for row in weighted(family, even)]
    require(is_symmetric(damping) and is_positive(damping), family, "H Ds is not negative")
    require(annihilates(even, order // 2 - 1), family, "Ds leaves a polynomial")
    biased = all(first[i][i + order // 2] == even[i][i + order // 2] for i in inside)
    require(biased, family, "D - Ds reads the farthest point downwind")
    for at_ends, most in zip((0, Fraction(1, 2)), fractions(family["damping"])):
        damping[0][0] += at_ends
        damping[-1][-1] += at_ends
        require(is_positive(below(family, most, damping)), family, "a mode is damped more than `damping` says")
        less = below(family, most * Fraction(97, 100), damping)
        require(not is_positive(less), family, "`damping` is too large")

    second = matrix(family, "second", points, 1)
    require(is_exact(second, 2, order // 2 + 1, range(points)), family, "D2 is not exact at the ends")
    require(is_exact(second, 2, order + 1, inside), family, "D2 is not exact inside")
    slope = slope_row(family, points)
    require(is_exact([slope] * points, 1, order // 2 + 1, [0]), family, "the slope is not exact")
    stiff = stiffness(family, second)
    require(is_symmetric(stiff) and is_positive(stiff), family, "H D2 - B S is not negative")
    most = Fraction(family["stiffness"])
    require(is_positive(below(family, most, stiff)), family, "an eigenvalue is beyond the stiffness")
    require(not is_positive(below(family, most * Fraction(97, 100), stiff)), family, "the stiffness is too large")
    check_resonance(family)
    check_damped(family)
    check_absorbed(family)
    check_fixed(family)


def stiffness(family, second):
    """M = B S - H D2, of the second derivative D2."""
    stiff = [[-value for value in row] for row in weighted(family, second)]
    for j, value in enumerate(fractions(family["slope"])):
        stiff[0][j] -= value
        stiff[-1][-1 - j] -= value
    return stiff


def check_resonance(family):
    """Checks `resonance` on more points, so that the two ends of order 2 do not interact."""
    points = 2 * len(family["norm"]) + 24
    first = matrix(family, "first", points, -1)
    both = zip(*first)
    columns = [list(column) for column in zip(*weighted(family, first))]
    square = [[sum(a * b for a, b in zip(left, right) if a and b) for right in columns] for left in both]
    most = Fraction(family["resonance"])
    require(is_positive(below(family, most, square)), family, "a frequency between walls is beyond the resonance")
    require(not is_positive(below(family, most * Fraction(999, 1000), square)), family, "the resonance is too large")


def check_damped(family):
    """Checks `damped_resonance`: dp/dt = Ds p - H^-1 (H D - B) u, du/dt = Ds u - D p, p even and u odd."""
    mode = fractions(family["damped_resonance"])
    if not any(mode):
        return
    half = range(12)  # enough for the two ends not to interact
    points, size = 2 * len(half), 2 * len(half)
    first, even = matrix(family, "first", points, -1), matrix(family, "dissipation", points, 1)
    wall = [list(row) for row in first]
    wall[0][0] += 1 / Fraction(family["norm"][0])
    block = [[Fraction(0)] * size for _ in range(size)]
    for i in half:
        for j in half:
            far = points - 1 - j
            block[i][j] = even[i][j] + even[i][far]
            block[i][points // 2 + j] = -wall[i][j] + wall[i][far]
            block[points // 2 + i][j] = -first[i][j] - first[i][far]
            block[points // 2 + i][points // 2 + j] = even[i][j] - even[i][far]
    # A root of p lies within degree |p/p'| of any point x, and p'/p is the trace of (x - block)^-1.
    both = [[Fraction(0)] * (2 * size) for _ in range(2 * size)]
    for i in range(size):
        for j in range(size):
            both[i][j] = both[size + i][size + j] = -mode[0] * (i == j) - block[i][j]
        both[i][size + i], both[size + i][i] = -mode[1], mode[1]
    inverse = inverted(both)
    trace = [sum(inverse[row + i][i] for i in range(size)) for row in (0, size)]
    require(size**2 * 10**6 <= squared(mode) * squared(trace), family, "no eigenvalue is near the damped resonance")


def check_absorbed(family):
    """Checks `absorbed`. H K = H D - B/2 has no diagonal at the ends, and A = H^-1 |B|/2 is zero elsewhere."""
    decay, drift, frequency = fractions(family["absorbed"])
    points = 2 * len(family["norm"]) + 8
    sided = weighted(family, matrix(family, "first", points, -1))
    sided[0][0] = sided[-1][-1] = Fraction(0)
    weights = [sum(row) for row in weighted(family, [[Fraction(i == j) for j in range(points)] for i in range(points)])]
    at_end = 1 / (2 * weights[0])
    square = sum(value**2 / weight for value, weight in zip(sided[0], weights)) / weights[0]
    require(at_end <= decay < at_end * Fraction(10001, 10000), family, "`absorbed` has another decay")
    require(abs(frequency**2 / square - 1) < Fraction(1, 10000), family, "`absorbed` has another frequency")
    for times in (Fraction(5, 4), Fraction(7, 4), Fraction(5, 2)):
        x = -times * decay
        size = [1 / (weights[j] * (x + at_end * (j in (0, points - 1)))) for j in range(points)]
        form = [
            [sum(sided[i][k] * sided[j][k] * size[k] for k in range(points)) for j in range(points)]
            for i in range(points)
        ]
        form[0][0] += Fraction(1, 2)
        form[-1][-1] += Fraction(1, 2)
        mode = decay + frequency**2 / (x + drift)
        require(is_positive(below(family, mode, form)), family, "`absorbed` damps too little")
        require(not is_positive(below(family, mode * Fraction(98, 100), form)), family, "`absorbed` damps too much")


def check_fixed(family):
    """Checks `borrowing`, `fixed_mode` and `fixed_stiffness`, on so many points that the two ends do not interact."""
    points, borrowing = 2 * len(family["norm"]) + 16, Fraction(family["borrowing"])
    stiff = stiffness(family, matrix(family, "second", points, 1))
    slope = slope_row(family, points)
    require(len(family["slope"]) <= len(family["norm"]), family, "the slope reaches beyond the closure")

    def lent(share):
        rows = range(points)
        ends = (slope, slope[::-1])
        return [[stiff[i][j] - share * sum(end[i] * end[j] for end in ends) for j in rows] for i in rows]

    require(is_positive(lent(borrowing)), family, "the borrowing is too large")
    require(not is_positive(lent(borrowing * Fraction(1001, 1000))), family, "the borrowing is too small")

    whole = [list(row) for row in stiff]
    for j in range(points):
        for end, other in ((0, j), (points - 1, points - 1 - j)):
            whole[end][other] += slope[j]
            whole[other][end] -= slope[j]
    for end in (0, points - 1):
        whole[end][end] += TAU
    weights = fractions(family["norm"]) + [Fraction(1)] * points
    for mirror in (1, -1):  # eigenvectors are even or odd
        half = range(points // 2)
        block = [[(whole[i][j] + mirror * whole[i][points - 1 - j]) / weights[i] for j in half] for i in half]
        check_spectrum(family, characteristic(block))


def check_spectrum(family, polynomial):
    """Checks the eigenvalues of one block: one pair near `fixed_mode`, all others in (0, fixed_stiffness]."""
    degree = len(polynomial) - 1
    mode = fractions(family["fixed_mode"])
    at, change = (squared(value_at(of, mode)) for of in (polynomial, differentiated(polynomial)))
    near = squared(mode) / 10**6  # a root lies within degree |p/p'| of any point
    require(degree**2 * at <= near * change, family, "no eigenvalue is near the fixed mode")
    most = Fraction(family["fixed_stiffness"])
    require(roots(polynomial, most) == degree - 2, family, "an eigenvalue is beyond the fixed stiffness")
    less = most * Fraction(95, 100)
    require(roots(polynomial, less) < degree - 2, family, "the fixed stiffness is too large")


def below(family, most, stiff):
    """The matrix most H - M."""
    points = len(stiff)
    identity = [[Fraction(i == j) * most for j in range(points)] for i in range(points)]
    return [[a - b for a, b in zip(*rows)] for rows in zip(weighted(family, identity), stiff)]


def pull(family):
    """The penalty that fixes the value at the end: what (g - u_0) is multiplied with at each point of the closure."""
    slope = slope_row(family, len(family["norm"]))
    parts = [TAU * (i == 0) - value for i, value in enumerate(slope)]
    return [part / weight for part, weight in zip(parts, fractions(family["norm"]))]


def closed_second(family):
    """Rows of D2 with a penalty that lets no flux through the end: those of -H^-1 M."""
    rows = [fractions(row) for row in family["second_rows"]]
    slope = fractions(family["slope"])
    rows[0] += [Fraction(0)] * (len(slope) - len(rows[0]))
    for j, value in enumerate(slope):
        rows[0][j] += value / Fraction(family["norm"][0])
    return rows


def braces(values):
    """The doubles nearest to exact numbers, in C's notation."""
    return "{" + ", ".join(repr(float(value)) for value in values) + "}"


def header(families):
    """The text of the header."""
    text = HEAD
    for family in families:
        rows = {name: [fractions(row) for row in family[name + "_rows"]] for name in DIFFERENCES}
        rows["second"] = closed_second(family)
        width = max(len(row) for name in DIFFERENCES for row in rows[name])
        text += f"    {{.order = {family['order']}, .rows = {len(family['norm'])}, .width = {width},\n"
        text += f"     .weight = {braces(fractions(family['norm']))},\n"
        text += f"     .fixed = {braces(fractions(family['second_rows'][0]))},\n"
        text += f"     .pull = {braces(pull(family))},\n     .row = {{\n"
        for name in DIFFERENCES:
            text += f"       [DIFFERENCE_{name.upper()}] = {{\n"
            text += "".join(f"         {braces(row)},\n" for row in rows[name]) + "       },\n"
        text += "     }},\n"
    return text + TAIL


def main():
    """Writes the header, or checks the file."""
    families = json.loads(TABLES.read_text(encoding="utf-8"))
    for family in families:
        family["dissipation_rows"] = dissipation(family["order"], fractions(family["norm"]))
    if sys.argv[1:2] == ["--header"]:
        Path(sys.argv[2]).write_text(header(families), encoding="utf-8")
        return
    try:
        for family in families:
            check(family)
    except ClosureError as fault:
        sys.exit(str(fault))


if __name__ == "__main__":
    main()
