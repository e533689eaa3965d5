"""Fields on coarser grids, for the eye: means over cells."""

from __future__ import annotations

import numpy as np

from flymotion.field import Field
from flymotion.video.luminance import area_sums

__all__ = ["means", "pooled_responses", "pooled_velocity", "preferred"]


def means(planes: np.ndarray, side: int) -> np.ndarray:
    """Return means over cells of planes.

    Parameters
    ----------
    planes : ndarray, shape (n, height, width)
        What to average.
    side : int
        Of a cell [pixels]; what does not fill one is left out, at the bottom and right.

    Returns
    -------
    ndarray, shape (n, height // side, width // side)

    Examples
    --------
    >>> means(np.arange(15.0).reshape(1, 3, 5), 2)
    array([[[3., 5.]]])
    """
    return np.stack([area_sums(plane, side) for plane in planes]) / planes.dtype.type(side**2)


def pooled_velocity(field: Field, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return mean velocities of cells, weighted with confidence, shape (2, *cells), and mean confidence."""
    assert field.velocity is not None and field.confidence is not None
    *weighted, confidence = means(np.stack([*(field.velocity * field.confidence), field.confidence]), side)
    return np.stack(weighted) / np.maximum(confidence, 1e-9), confidence


def pooled_responses(field: Field, side: int) -> np.ndarray:
    """Return mean responses of cells, shape (n_directions, *cells)."""
    assert field.directions is not None
    return means(field.directions, side)


def preferred(responses: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the direction [deg] and length of the sum of responses as vectors along their directions."""
    turned = np.exp(1j * np.radians(angles)).astype(np.complex64)
    total = np.tensordot(turned, responses, axes=1)
    return np.degrees(np.angle(total)) % 360.0, np.abs(total)
