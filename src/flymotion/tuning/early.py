"""Early vision before a detector: made ready for an eye, and put to work on movies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flymotion.world.eyes import Eye

__all__ = ["draws", "seen", "stages_for"]


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
        If it changes the number of frames or pixels, or remembers the movie before, without drawing random numbers.
    """
    frames = movies.reshape(*movies.shape[:2], -1)
    found = [early_vision.transform(movie) for movie in frames]
    if found[0].shape != frames[0].shape:
        raise ValueError(
            f"early vision made {found[0].shape[-1]} pixels of {frames[0].shape[-1]}; expected as many, for the "
            "detector's eye"
        )
    if not draws(early_vision) and not np.array_equal(early_vision.transform(frames[0]), found[0], equal_nan=True):
        raise ValueError(
            "early vision sees a movie otherwise when it is shown again, so it remembers what was before; expected "
            "stages that begin anew in every call of transform"
        )
    return np.stack(found).reshape(movies.shape)
