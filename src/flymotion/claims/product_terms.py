r"""How much of a unit's output only the product of change and intensity explains; and of which units most (C31).

A regression of the output on the unit's own inputs, their squares and products tells. Units are looked for among
nonlinearities of a sum z, in standard deviations of z, and among strengths of conductances:

.. math:: [z - b]_+^p, \qquad \frac{1}{1 + e^{-g (z - b)}}, \qquad \frac{E_0\, a E + I_0\, b I}{1 + a E + b I}.

A gain in front changes no share, nor does one of z but together with a threshold or where the output saturates: g.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

__all__ = ["EXPONENTS", "GAINS", "OTHERS", "STRENGTHS", "THRESHOLDS", "Scanned", "product_shares", "scan", "shares"]

THRESHOLDS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
"""b [standard deviations of the sum]."""

EXPONENTS = (1.0, 1.5, 2.0, 3.0, 4.0)
"""p."""

GAINS = (0.5, 1.0, 2.0, 5.0, 20.0)
"""g [1 / standard deviation of the sum]."""

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""a and b, times the conductances that the unit has."""

WEIGHTS = np.array([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
"""Of the change and the intensities before and behind, in a sum and in its mirror image."""

REVERSALS = (65.0, -10.0)
"""Of excitation and inhibition [mV]."""

THINNED = 4
"""One moment in as many is looked at; shares are those of all to 0.02."""

N_RANDOM, N_WAVES = 20, 6
"""Random nonlinearities, and the cosines that each is made of."""

OTHERS = {
    "linear": "the sum itself",
    "odd": "an odd nonlinearity, the hyperbolic tangent of the sum in standard deviations",
    "random": f"random nonlinearities, {N_WAVES} cosines of the sum each, mean of {N_RANDOM}",
    "multiplier": "the product itself",
}


class Scanned(NamedTuple):
    """Shares of the product; the last axis is of a unit and of a unit less its mirror image."""

    power: np.ndarray
    """Shape (n_thresholds, n_exponents, 2)."""
    logistic: np.ndarray
    """Shape (n_thresholds, n_gains, 2)."""
    conductances: np.ndarray
    """Of excitation and inhibition, shape (n_strengths, n_strengths, 2)."""
    nulls: np.ndarray
    """Of one unit of each of ``OTHERS``, shape (4,)."""


def scan(sums: np.ndarray, conductances: np.ndarray) -> Scanned:
    """Look at units of all parameters.

    Parameters
    ----------
    sums : ndarray, shape (n_movies, ..., 3)
        Inputs of the unit that adds: the change, and intensities before and behind.
    conductances : ndarray, shape (n_movies, ..., 3)
        E, and I of the unit and of its mirror image.
    """
    sums, conductances = (inputs.reshape(-1, 3)[::THINNED] for inputs in (sums, conductances))
    z, mirrored = np.moveaxis(sums @ WEIGHTS.T, -1, 0) / (sums @ WEIGHTS[0]).std()
    excited, own, others = np.moveaxis(conductances, -1, 0)
    pairs = list(itertools.product(STRENGTHS, STRENGTHS))
    voltages = [np.stack([_voltage(a * excited, b * each) for a, b in pairs]) for each in (own, others)]
    powers, logistics = ([np.stack(list(bend(some))) for some in (z, mirrored)] for bend in (_powers, _logistics))
    return Scanned(
        _of_both(powers, sums, sums).reshape(len(THRESHOLDS), len(EXPONENTS), 2),
        _of_both(logistics, sums, sums).reshape(len(THRESHOLDS), len(GAINS), 2),
        _of_both(voltages, conductances[..., :2], conductances).reshape(len(STRENGTHS), len(STRENGTHS), 2),
        _of_nulls(z, sums),
    )


def _powers(z: np.ndarray) -> Iterator[np.ndarray]:
    return (np.maximum(z - b, 0) ** p for b, p in itertools.product(THRESHOLDS, EXPONENTS))


def _logistics(z: np.ndarray) -> Iterator[np.ndarray]:
    return (1 / (1 + np.exp(-g * (z - b))) for b, g in itertools.product(THRESHOLDS, GAINS))


def _voltage(excited: np.ndarray, inhibited: np.ndarray) -> np.ndarray:
    return (REVERSALS[0] * excited + REVERSALS[1] * inhibited) / (1 + excited + inhibited)


def _of_both(outputs: list[np.ndarray], own: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Return shares of units and of units less their mirror images, shape (n_units, 2)."""
    unit, mirrored = outputs
    return np.stack([product_shares(unit, own), product_shares(unit - mirrored, inputs)], axis=1)


def _of_nulls(z: np.ndarray, sums: np.ndarray) -> np.ndarray:
    waves = np.random.default_rng(31).standard_normal((3, N_RANDOM, N_WAVES))
    random = [
        sum(a * np.cos(2 * k * z + np.pi * phase) for a, k, phase in zip(*unit, strict=True))
        for unit in waves.swapaxes(0, 1)
    ]
    product = sums[..., 0] * (sums[..., 1] - sums[..., 2])
    linear, odd, *others, multiplier = product_shares(np.stack([z, np.tanh(z), *random, product]), sums)
    return np.array([linear, odd, np.mean(others), multiplier])


# -- the regression ----------------------------------------------------------------------------------------------------


def product_shares(outputs: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Return the share of the variance of each of outputs, shape (n_units, ...), that only the products explain.

    ``inputs`` are as for :func:`shares`.
    """
    base, products = _terms(inputs)
    y = outputs.reshape(len(outputs), -1).T
    without, left = (_residual(terms, y)[0] for terms in (base, np.concatenate([base, products], axis=1)))
    return (without - left) / ((y - y.mean(axis=0)) ** 2).sum(axis=0)


def shares(output: np.ndarray, inputs: np.ndarray) -> tuple[float, float, float, float]:
    """Regress a unit's output on its inputs, their squares and products.

    Parameters
    ----------
    output : ndarray, shape (n_movies, ...)
        The first half of the movies is of motion right, the others of motion left.
    inputs : ndarray, shape (n_movies, ..., n_inputs)
        The change first, then intensities.

    Returns
    -------
    product : float
        Share of the output's variance that the products of the change with intensities explain beyond all other terms.
    alone : float
        Share that they explain alone.
    quadratic : float
        Share that all terms explain.
    made : float
        Difference between the mean outputs to motion right and left that they make.
    """
    (base, products), y = _terms(inputs), output.ravel()
    total = ((y - y.mean()) ** 2).sum()
    (without, _), (only, _), (left, weights) = (
        _residual(np.concatenate(terms, axis=1), y) for terms in ([base], [base[:, :1], products], [base, products])
    )
    right, left_ = (products @ weights[base.shape[1] :]).reshape(2, -1).mean(axis=1)
    return (without - left) / total, 1 - only / total, 1 - left / total, float(right - left_)


def _terms(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1, inputs, their squares and the intensities' product; and the products of the change, as columns."""
    change, intensities = inputs[..., :1], inputs[..., 1:]
    pairs = itertools.combinations(range(intensities.shape[-1]), 2)
    others = [intensities[..., i] * intensities[..., j] for i, j in pairs]
    rest = [np.ones_like(inputs[..., 0]), *np.moveaxis(inputs, -1, 0), *np.moveaxis(inputs**2, -1, 0), *others]
    base = np.stack([term.ravel() for term in rest], axis=1)
    return base, (change * intensities).reshape(len(base), -1)


def _residual(terms: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of squares that a regression leaves of y or of its columns, and its weights."""
    scale = np.linalg.norm(terms, axis=0)
    weights = (np.linalg.lstsq(terms / scale, y)[0].T / scale).T
    return ((y - terms @ weights) ** 2).sum(axis=0), weights
