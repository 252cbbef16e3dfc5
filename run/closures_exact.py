"""Matrices and polynomials of exact fractions, for closures.py. A matrix is a list of rows, a polynomial a list of its
coefficients with the constant first."""

import itertools
from fractions import Fraction


def is_symmetric(whole):
    """True if a matrix is symmetric."""
    return all(whole[i][j] == whole[j][i] for i in range(len(whole)) for j in range(i))


def is_positive(whole):
    """True if a matrix is positive semi-definite: no negative pivot, and a zero pivot only in a zero row."""
    rest = [list(row) for row in whole]
    for k in range(len(rest)):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[k][k:])):
            return False
        for i in range(k + 1, len(rest) if pivot else 0):
            factor = rest[i][k] / pivot
            if factor:
                for j in range(k, len(rest)):
                    rest[i][j] -= factor * rest[k][j]
    return True


def inverted(square):
    """The inverse of a matrix."""
    size = range(len(square))
    rows = [list(row) + [Fraction(i == j) for j in size] for i, row in enumerate(square)]
    for k in size:
        pivot = next(i for i in size[k:] if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in size:
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [a - factor * b if b else a for a, b in zip(rows[i], rows[k])]
    return [row[len(square) :] for row in rows]


def derivative(degree, times, x):
    """The derivative of order `times` of x^degree at x."""
    factor = Fraction(1)
    for k in range(times):
        factor *= degree - k
    return factor * Fraction(x) ** (degree - times) if degree >= times else Fraction(0)


def is_exact(whole, times, degree, rows):
    """True if these rows differentiate powers up to a degree exactly."""
    points = len(whole)
    return all(
        sum(whole[i][j] * Fraction(j) ** k for j in range(points)) == derivative(k, times, i)
        for k in range(degree + 1)
        for i in rows
    )


def annihilates(whole, degree):
    """True if all powers up to a degree give zero."""
    points = range(len(whole))
    return all(sum(whole[i][j] * Fraction(j) ** k for j in points) == 0 for k in range(degree + 1) for i in points)


def characteristic(block):
    """The polynomial det(x - block), by Faddeev and LeVerrier."""
    size = range(len(block))
    coefficients = [Fraction(1)]
    power = [[Fraction(0)] * len(block) for _ in size]
    for k in range(1, len(block) + 1):
        for i in size:
            power[i][i] += coefficients[0]
        power = [[sum(a * row[j] for a, row in zip(line, power) if a) for j in size] for line in block]
        coefficients.insert(0, -sum(power[i][i] for i in size) / k)
    return coefficients


def differentiated(polynomial):
    """The derivative of a polynomial."""
    return [k * value for k, value in enumerate(polynomial)][1:]


def value_at(polynomial, z):
    """A polynomial at a complex number."""
    real, imaginary = Fraction(0), Fraction(0)
    for value in reversed(polynomial):
        real, imaginary = real * z[0] - imaginary * z[1] + value, real * z[1] + imaginary * z[0]
    return real, imaginary


def squared(z):
    """The squared magnitude of a complex number."""
    return z[0] ** 2 + z[1] ** 2


def roots(polynomial, most):
    """Number of different real roots in (0, most], by Sturm's sequence."""
    sequence = [polynomial, differentiated(polynomial)]
    while len(sequence[-1]) > 1:
        rest, by = list(sequence[-2]), sequence[-1]
        while len(rest) >= len(by):
            factor = rest.pop() / by[-1]
            for k in range(1, len(by)):
                rest[-k] -= factor * by[-1 - k]
        while rest and rest[-1] == 0:
            rest.pop()
        if not rest:
            break
        scale = abs(rest[-1])
        sequence.append([-value / scale for value in rest])

    def changes(x):
        signs = [value for value in (value_at(of, (x, Fraction(0)))[0] for of in sequence) if value]
        return sum((a > 0) != (b > 0) for a, b in itertools.pairwise(signs))

    return changes(Fraction(0)) - changes(most)
