"""What the live page shows, in NumPy: what the tests hold the browser against."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.browser.lenses_of_frames import seen_by_lenses
from flymotion.browser.page_numbers import CELL, LiveModel, as_evaluated, subtypes
from flymotion.browser.slopes import slopes_velocity
from flymotion.circuits import PREFERRED
from flymotion.field import MotionField
from flymotion.field.frame_motion import GlobalMotion, global_motion
from flymotion.field.outputs import Field, mean_velocity
from flymotion.frames import unmasked
from flymotion.video.luminance import area_averages
from flymotion.video.viewing import view

__all__ = ["SeenLive", "seen_live"]

HALF = 2
"""Detectors look at frames that are reduced by so much more than those of velocity, as they are for slow motion."""

LUMINANCE = (0.299, 0.587, 0.114)
"""Of red, green and blue."""


class SeenLive(NamedTuple):
    """What the page shows of a pair of pictures; in pixels of the picture.

    Attributes
    ----------
    frame : ndarray, shape (height, width)
        What detectors see of the second picture: luminance, reduced by twice ``scale`` [grey levels].
    directions : ndarray, shape (n_directions, height, width)
        Rectified responses, as :class:`flymotion.field.MotionField` says.
    opponent : ndarray, shape (2, height, width)
        The same along (x right, y down), signed.
    t4, t5 : ndarray, shape (4, height, width)
        Rectified responses to what became brighter, and to what darker, of the detectors of subtypes a to d.
    responses : ndarray, shape (n_directions,)
        Mean of each of ``directions``.
    velocity : ndarray, shape (2, 2 height, 2 width)
        (x right, y down), of the picture reduced by ``scale`` [pixels of the picture per frame].
    confidence : ndarray, shape (2 height, 2 width)
        0 to 1.
    motion : GlobalMotion
        Of the picture as a whole.
    arrows, arrow_confidence : ndarray, shapes (2, n_rows, n_columns) and (n_rows, n_columns)
        Mean velocity of square cells, weighted with confidence; and their mean confidence.
    lenses : ndarray, shape (n_lens_columns, n_lenses)
        What each lens of the hexagonal eye sees of the frame [grey levels].
    lens_directions : ndarray, shape (n_directions, n_lens_columns, n_lenses)
        Mean responses before each lens.

    Examples
    --------
    >>> from flymotion.browser import live_model
    >>> still = np.full((2, 96, 128, 3), 90, np.uint8)
    >>> seen = seen_live(live_model(), still, 4)
    >>> seen.frame.shape, seen.velocity.shape, seen.motion.support  # nothing tells how it moves
    ((12, 16), (2, 24, 32), 0.0)
    """

    frame: np.ndarray
    directions: np.ndarray
    opponent: np.ndarray
    t4: np.ndarray
    t5: np.ndarray
    responses: np.ndarray
    velocity: np.ndarray
    confidence: np.ndarray
    motion: GlobalMotion
    arrows: np.ndarray
    arrow_confidence: np.ndarray
    lenses: np.ndarray
    lens_directions: np.ndarray

    def __repr__(self) -> str:
        return in_brief(self)


def seen_live(model: LiveModel, pictures: Any, scale: int) -> SeenLive:
    """Return what the page shows of two pictures in a row.

    Parameters
    ----------
    model : LiveModel
        Whose detectors.
    pictures : array-like of uint8, shape (2, height, width, 3)
        Red, green and blue.
    scale : int
        Side of the areas that are averaged first [pixels].

    Examples
    --------
    >>> from flymotion.browser import live_model
    >>> picture = np.uint8(127 + 60 * np.add.outer(np.sin(np.arange(96) / 9), np.sin(np.arange(144) / 9)))
    >>> pictures = np.stack([picture[:, 8:136], picture[:, 4:132]])[..., None].repeat(3, axis=3)
    >>> seen = seen_live(live_model(), pictures, 4)
    >>> round(seen.motion.x, 1), seen.t4.shape
    (4.0, (4, 12, 16))
    """
    frames = unmasked(pictures, "pictures", float) @ LUMINANCE
    before, after = working = area_averages(frames, scale).astype(np.float32)
    halves = view(working, HALF) if model.blurred else area_averages(working, HALF)
    field = MotionField(model.detectors, outputs=("directions", "opponent")).between(*halves)
    assert field.directions is not None and field.opponent is not None
    velocity, confidence = slopes_velocity(before, after)
    x, y, *rest = global_motion(velocity, confidence)
    arrows, sure = mean_velocity(Field(None, None, velocity, confidence), lambda planes: area_averages(planes, CELL))
    return SeenLive(
        halves[1],
        field.directions,
        field.opponent,
        *_cell_types(model, *halves),
        field.directions.mean(axis=(1, 2), dtype=float),
        scale * velocity,
        confidence,
        GlobalMotion(scale * x, scale * y, *rest),
        scale * arrows,
        sure,
        seen_by_lenses(after, after.shape),
        np.stack([seen_by_lenses(plane, after.shape, HALF) for plane in field.directions]),
    )


def _cell_types(model: LiveModel, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the responses of T4a to d to what became brighter, and of T5a to d to what darker."""
    operators, size, change = as_evaluated(model.detectors), model.detectors.shape[0], after - before
    h = size // 2
    subtype = np.eye(len(PREFERRED))[subtypes(model.angles)].T

    def patches(plane: np.ndarray) -> np.ndarray:
        found = np.lib.stride_tricks.sliding_window_view(plane.astype(float), (size, size))
        return found.reshape(*found.shape[:2], size**2)

    def responses(part: np.ndarray) -> np.ndarray:
        found = np.einsum("yxi,kij,yxj->kyx", patches(part), operators, patches((after + before) / 2), optimize=True)
        inside = np.tensordot(subtype, np.maximum(found, 0), axes=1)
        return np.pad(inside, ((0, 0), (h, size - 1 - h), (h, size - 1 - h)))

    return responses(np.maximum(change, 0)), responses(np.minimum(change, 0))
