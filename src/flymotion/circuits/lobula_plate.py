"""The lobula plate: what T4 and T5 say of each direction together, and the difference of opposite ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import unmasked
from flymotion.world.eyes import Eye
from flymotion.world.lattices import half_of

__all__ = ["LobulaPlate", "lobula_plate"]


class LobulaPlate(NamedTuple):
    """Sums of responses; every field has the axes of the responses before their columns.

    Attributes
    ----------
    layers : ndarray, shape (..., 4)
        T4 and T5 of all columns together, for subtypes a to d: layers 1 to 4.
    opponent : ndarray, shape (..., 2)
        Layer 2 less layer 1, back to front, and layer 3 less layer 4, upwards.
    local : ndarray, shape (..., n_columns, 2)
        Motion as each column sees it, to the right and up: the same difference, the other way round in a right eye.

    Examples
    --------
    >>> from flymotion.world import Hexagon
    >>> t4a_and_t5a = np.tile([1.0, 0, 0, 0, 1, 0, 0, 0], (7, 1))  # what goes front to back, everywhere
    >>> plate = lobula_plate(t4a_and_t5a, Hexagon(1))
    >>> plate.layers, plate.opponent
    (array([14.,  0.,  0.,  0.]), array([-14.,   0.]))
    """

    layers: np.ndarray
    opponent: np.ndarray
    local: np.ndarray

    def __repr__(self) -> str:
        """Return what it is, in one line."""
        return in_brief(self)


def lobula_plate(responses: Any, eye: Eye | None = None) -> LobulaPlate:
    """Sum responses by direction, and subtract those to opposite ones.

    Columns that saw nothing (NaN) are left out of sums; their own motion is NaN.

    Parameters
    ----------
    responses : array-like, shape (..., n_columns, 8)
        Of T4a-d and T5a-d.
    eye : Eye, optional
        Whose; by default a flat eye or a left one.

    Returns
    -------
    LobulaPlate
        Sums, opponents, and local motion.

    Raises
    ------
    ValueError
        Responses of another shape, or of another eye.

    Examples
    --------
    >>> found = lobula_plate([[0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0]])
    >>> found.layers.tolist(), found.opponent.tolist()
    ([0.0, 3.0, 0.0, 1.0], [3.0, -1.0])
    """
    responses = unmasked(responses, "responses", float)
    if responses.ndim < 2 or responses.shape[-1] != 8:
        raise ValueError(f"responses have shape {responses.shape}; expected (..., n_columns, 8), T4a-d and T5a-d")
    both = responses[..., :4] + responses[..., 4:]
    layers, local = np.nansum(both, axis=-2), _opponent(both)
    if eye is not None:
        half = half_of(eye)
        if len(half) != local.shape[-2]:
            raise ValueError(f"responses of {local.shape[-2]} columns, an eye of {len(half)} lenses; expected the same")
        local[..., 0] *= np.where(half == 1, -1.0, 1.0)
    return LobulaPlate(layers, _opponent(layers), local)


def _opponent(layers: np.ndarray) -> np.ndarray:
    return np.stack([layers[..., 1] - layers[..., 0], layers[..., 2] - layers[..., 3]], axis=-1)
