"""Early vision before a detector: made ready for an eye, and put to work on movies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flymotion.world.eyes import Eye

__all__ = ["seen", "stages_for"]


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


def seen(early_vision: Any, movies: np.ndarray) -> np.ndarray:
    """Return what early vision makes of movies, shape (n, n_frames, *pixels), frame by frame.

    Raises
    ------
    ValueError
        If it changes the number of pixels.
    """
    frames = movies.reshape(movies.shape[0] * movies.shape[1], -1)
    transformed = early_vision.transform(frames)
    if transformed.shape != frames.shape:
        raise ValueError(
            f"early vision made {transformed.shape[1]} pixels of {frames.shape[1]}; expected as many, for the "
            "detector's eye"
        )
    return transformed.reshape(movies.shape)
