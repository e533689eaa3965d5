"""Ten operators that anybody knows, which a component of chi might be (Section 2.5; C1).

On whitened frames Z x an operator A of raw frames is Z A Z^-1. A window does not see what lies past its border, so each
also has a form whose rows at the border are 0.
"""

from __future__ import annotations

import numpy as np

from flymotion.claims.worlds import CORRELATION_LENGTH, World
from flymotion.generators import cosine, derivative_operator
from flymotion.generators.theory import Population, population
from flymotion.world.motions import Motion
from flymotion.world.scenes import exponential_covariance

__all__ = ["best_known", "expansions", "known_operators", "on_whitened"]


def known_operators(n: int, *, interior: bool = False) -> dict[str, np.ndarray]:
    """Return operators on frames of a line, by name, each of shape (n, n).

    Parameters
    ----------
    n : int
        Pixels.
    interior : bool
        Whether the first and last rows, which look past the border, are 0.
    """
    middle = (n - 1) / 2
    places = np.arange(n) - middle

    def shift(k: int) -> np.ndarray:
        return np.eye(n, k=k)

    nearer = middle + places * (middle - 1) / middle  # what is a pixel from the border comes to it
    known = {
        "shift left": shift(1),
        "shift right": shift(-1),
        "central difference": derivative_operator((n,)),
        "second difference": shift(1) - 2 * shift(0) + shift(-1),
        "identity": shift(0),
        "mean": np.full((n, n), 1 / n),
        "blur": (shift(1) + 2 * shift(0) + shift(-1)) / 4,
        "shift difference of two pixels": (shift(-2) - shift(2)) / 2,
        "expansion about the centre": derivative_operator((n,), places[:, None]),
        "zoom": np.stack([np.interp(nearer, np.arange(n), pixel) for pixel in np.eye(n)], axis=1),
    }
    seen = np.ones((n, 1))
    seen[[0, -1]] = 0 if interior else 1
    return {name: seen * A for name, A in known.items()}


def on_whitened(operator: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return what moves whitened frames Z x as an operator moves raw ones, shape (n, n)."""
    return Z @ operator @ np.linalg.inv(Z)


def best_known(filters: np.ndarray, known: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return sizes of cosines of filters, shape (..., n, n), with the operator each is likest, and with all by name."""
    likeness = {name: np.abs(cosine(filters, A)) for name, A in known.items()}
    return np.max(list(likeness.values()), axis=0), likeness


def expansions(world: World, n: int) -> Population:
    """Return the theory of a world whose content expands and contracts, by up to half of its shift a pixel."""
    rates = 0.0, world.max_shift / 2
    motion = Motion([("expansion", "contraction")], [[[1.0, 0.0]]], [[1.0], [-1.0]], [rates, rates])
    covariance = exponential_covariance(CORRELATION_LENGTH, world.sigma)
    return population(covariance, world.eye(n), motion, feature=world.feature)
