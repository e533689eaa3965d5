"""Early vision before a detector: made ready for an eye, and put to work on movies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flymotion.frames import not_masked
from flymotion.tuning.streaming import first_piece, same_responses
from flymotion.world.eyes import Eye

__all__ = ["check_stages", "draws", "seen", "seen_once", "stages_for"]


TRIED = 256
"""Frames that early vision is tried with."""


def stages_for(early_vision: Any, eye: Eye, mean: float) -> Any:
    """Return a transformer of frames that fits an eye: itself if fitted, else a copy fitted on an even field.

    Raises
    ------
    ValueError
        One fitted on another number of pixels.
    """
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    n_pixels = math.prod(eye.shape)
    try:
        check_is_fitted(early_vision)
    except NotFittedError:
        return clone(early_vision).fit(np.full((1, n_pixels), float(mean)))
    fitted = getattr(early_vision, "n_features_in_", n_pixels)
    if fitted != n_pixels:
        raise ValueError(
            f"early vision was fitted on frames of {fitted} pixels, and the eye has {n_pixels}; expected as many: give "
            "an eye, or early vision that is not fitted"
        )
    return early_vision


def check_stages(early_vision: Any, shown: np.ndarray) -> None:
    """Check that early vision sees a movie's frames as they and those before are, whatever was before or comes after.

    It is shown noise of the intensities of ``shown``, frames of a stimulus, and of growing contrast: parts of a
    stimulus itself may have the mean, or the largest contrast, of the whole. What draws random numbers is not tried.

    Raises
    ------
    ValueError
        If it does not: it remembers the movie before, or looks ahead.
    """
    if draws(early_vision):
        return
    low, high = float(shown.min()), float(shown.max())
    growing = np.linspace(0.5, 1.0, TRIED)[:, None] * ((high - low) or abs(high) or 1.0)
    movie = (low + high) / 2 + growing * np.random.default_rng(0).uniform(-0.5, 0.5, (TRIED, shown[0].size))
    found, again = seen_once(early_vision, movie), seen_once(early_vision, movie)
    if not np.array_equal(again, found, equal_nan=True):
        raise ValueError(
            "early vision sees a movie otherwise when it is shown again, so it remembers what was before; expected "
            "stages that begin anew in every call of transform"
        )
    cut = first_piece(TRIED)
    if not same_responses(seen_once(early_vision, movie[:cut]), found[:cut]):
        raise ValueError(
            f"early vision sees the first {cut} frames of a movie otherwise without the {TRIED - cut} after them, so "
            "it looks ahead or at the whole movie; expected stages that see a frame by it and those before"
        )


def draws(early_vision: Any) -> bool:
    """Return whether early vision, or a stage of a pipeline, says that it draws random numbers."""
    from sklearn.utils import get_tags

    stages = [stage for _, stage in getattr(early_vision, "steps", [("", early_vision)])]
    return any(hasattr(stage, "__sklearn_tags__") and get_tags(stage).non_deterministic for stage in stages)


def seen(early_vision: Any, movies: np.ndarray) -> np.ndarray:
    """Return what early vision makes of movies, shape (n, n_frames, *pixels), each in one call by itself.

    So what filters in time begins anew with every movie.

    Raises
    ------
    ValueError
        If it changes the number of frames or pixels.
    """
    frames = movies.reshape(*movies.shape[:2], -1)
    found = [seen_once(early_vision, movie) for movie in frames]
    return np.stack(found).reshape(movies.shape)


def seen_once(early_vision: Any, frames: np.ndarray) -> np.ndarray:
    """Return what early vision makes of one movie, shape (n_frames, n_pixels).

    Raises
    ------
    ValueError
        Anything but real numbers of that shape.
    """
    found = early_vision.transform(frames)
    not_masked(found, "what early vision made of a movie", "pixels")
    found = np.asarray(found)
    if found.shape != frames.shape or found.dtype.kind not in "biuf":
        raise ValueError(
            f"early vision made {found.dtype} of shape {found.shape} of frames of shape {frames.shape}; expected real "
            "numbers of the same shape, for the detector's eye"
        )
    return found
