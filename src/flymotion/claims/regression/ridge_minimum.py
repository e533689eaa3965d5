"""The minimum of the ridge regression, in closed form and found numerically (Supplement C; C15)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from flymotion.claims.rows import Claim, below, report, within
from flymotion.claims.worlds import WORLDS
from flymotion.generators import derivative_operator

if TYPE_CHECKING:
    from flymotion.claims.regression import Config

__all__ = ["Minimum", "argmin", "check_minimum", "minimise"]


class Minimum(NamedTuple):
    """The ridge regression beside a numeric minimiser and beside the plain correlation (C15); a figure a penalty."""

    closed: np.ndarray
    """Largest error of the closed form, relative to the largest theta."""
    plain: np.ndarray
    """Root mean square of the relative error of the correlation over lambda."""
    sign: np.ndarray
    """Correlation of theta with the true motion."""


def minimise(config: Config, seed: int) -> Minimum:
    """Look for the minimum of a few pairs, with each penalty, and compare."""
    pairs = WORLDS["L1"].pairs(config.n, config.n_minima, [seed, 15])
    change, predicted = pairs.after - pairs.before, pairs.before @ derivative_operator((config.n,)).T
    products, sizes = (change * predicted).sum(axis=1), (predicted**2).sum(axis=1)
    assert pairs.motion is not None
    found = []
    for penalty in np.array(config.penalties) * sizes.mean():
        minima = np.array([argmin(dx, Ax, penalty) for dx, Ax in zip(change, predicted, strict=True)])
        closed = np.abs(products / (sizes + penalty) - minima).max() / np.abs(minima).max()
        plain = np.sqrt(np.mean((products / penalty / minima - 1) ** 2))
        found.append((closed, plain, np.corrcoef(minima, pairs.motion[:, 0])[0, 1]))
    return Minimum(*np.array(found).T)


def argmin(dx: np.ndarray, Ax: np.ndarray, penalty: float) -> float:
    """Minimise ``|dx - theta A x|^2 + penalty theta^2``, knowing nothing of it but its terms."""

    def terms(theta: np.ndarray) -> np.ndarray:
        return np.append(dx - theta * Ax, np.sqrt(penalty) * theta)  # Eq. 28, of content

    # Derivatives by complex steps are exact; from values of the sum alone theta could be told to 1e-8 only.
    return float(least_squares(terms, [0.0], jac="cs", xtol=1e-15, ftol=1e-15, gtol=1e-15).x[0])


def check_minimum(minimum: Minimum, config: Config) -> Iterator[Claim]:
    """State C15."""
    penalties = f"lambda from {config.penalties[0]:g} to {config.penalties[-1]:g} of the mean of |A x|^2"
    note = f"algebra, shown on frames of L1, not whitened, {config.n} pixels, {penalties}"
    title = "largest error of theta = dx' A x / (|A x|^2 + lambda) against a numeric minimiser, relative to theta"
    yield below("C15.closed", title, minimum.closed, 1e-10, note=note)
    slopes = np.polyfit(np.log(config.penalties), np.log(minimum.plain).T, 1)[0]
    title = "log-log slope, in lambda, of the relative error of dx' A x / lambda"
    exact = "algebra: the relative error is |A x|^2 / lambda, so that the slope is -1 at every lambda"
    yield within("C15.slope", title, slopes, -1 - 1e-6, -1 + 1e-6, note=f"{penalties}; {exact}")
    title = "correlation of theta with how far the content moved to the right: minus the printed theta, least"
    yield report("C15.sign", title, minimum.sign, worst=np.min, note=note)
