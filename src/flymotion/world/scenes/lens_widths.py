r"""A scene through lenses of different widths: combined from views through a few widths, the same for all lenses.

Optics of width sigma damp degree l by :math:`\exp(-l (l + 1) \sigma^2 / 2)`, which is smooth in sigma: a polynomial
through its values at Chebyshev's nodes is the damping at every lens's own width to 1e-8, whatever the scene.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BarycentricInterpolator

from flymotion.brevity import in_brief

__all__ = ["Widths", "shared_widths"]

TOLERANCE = 1e-8
"""Of the damping, which is 1 at most."""

MOST_NODES = 16
"""Widths that lenses share; where more would be needed, they are parted into narrower and wider ones."""


@dataclass(frozen=True, eq=False)
class Widths:
    """Lenses, and the widths that they share.

    Parameters
    ----------
    lenses : ndarray of int, shape (n_lenses,)
        Which these are.
    nodes : ndarray, shape (n_nodes,)
        Widths to see the scene through [deg].
    weights : ndarray, shape (n_nodes, n_lenses)
        Of the views through these, for each lens.
    """

    lenses: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray

    __repr__ = in_brief


def shared_widths(sigma: np.ndarray) -> list[Widths]:
    """Return what to see a scene through, and how to combine it to what each lens sees.

    Parameters
    ----------
    sigma : ndarray, shape (n_lenses,)
        Width of each lens's acceptance function [deg].

    Examples
    --------
    >>> one, = shared_widths(np.linspace(2.0, 3.0, 700))
    >>> one.nodes.shape, one.weights.shape
    ((8,), (8, 700))
    """
    return list(_shared(np.arange(len(sigma)), sigma))


def _shared(lenses: np.ndarray, sigma: np.ndarray) -> list[Widths]:
    distinct, which = np.unique(sigma[lenses], return_inverse=True)
    for n_nodes in range(2, MOST_NODES + 1, 2):
        if len(distinct) <= n_nodes:
            return [Widths(lenses, distinct, np.eye(len(distinct))[:, which])]
        low, high = distinct[[0, -1]]
        nodes = (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)
        weights = BarycentricInterpolator(nodes, np.eye(n_nodes))(distinct)
        at = np.concatenate([[0.0], np.geomspace(0.01, 40.0, 400) / high]) if high > 0 else np.zeros(1)
        exact, nodal = (np.exp(-((at[:, None] * widths) ** 2) / 2) for widths in (distinct, nodes))
        if np.abs(nodal @ weights.T - exact).max() < TOLERANCE:
            return [Widths(lenses, nodes, weights[which].T)]
    wide = which >= len(distinct) // 2
    return [*_shared(lenses[~wide], sigma), *_shared(lenses[wide], sigma)]
