"""What every stage of early vision is: a transformer of frames, or of pairs, whose two frames are treated alike."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from flymotion.frames import FramePairs
from flymotion.world.eyes import as_eye, same_places

__all__ = ["EarlyVision", "not_negative"]


def not_negative(**values: float) -> None:
    """Check that parameters, by name, are finite numbers of 0 or more.

    Raises
    ------
    ValueError
        Any that is not.
    """
    for name, value in values.items():
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} is {value}; expected 0 or more, finite")


class EarlyVision(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A transformer of frames or pairs; subclasses give ``_fit(X)`` and ``_transform(*frames)``."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit on frames, or on the first frames of pairs.

        Parameters
        ----------
        X : array, shape (n_samples, n_pixels), or FramePairs
            Frames.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Frames that are empty, not finite or of the wrong shape; pairs of another eye than the stage was made for.
        """
        if isinstance(X, FramePairs):
            self._check_eye(X)
            X = X.flat().before
        self._fit(validate_data(self, X, dtype=[np.float64, np.float32]))
        return self

    def transform(self, X: Any) -> Any:
        """Transform frames, shape (n_samples, n_pixels), or FramePairs; returns new ones of the same shape.

        Pairs whose frames get another number of pixels come back flat.
        """
        check_is_fitted(self)
        if isinstance(X, FramePairs):
            self._check_eye(X)
            flat = X.flat()
            before, after = self._transform(
                *(
                    validate_data(self, frames, reset=False, dtype=[np.float64, np.float32])
                    for frames in (flat.before, flat.after)
                )
            )
            shape = X.before.shape if before.shape == flat.before.shape else before.shape
            return X.with_frames(before.reshape(shape), after.reshape(shape))
        return self._transform(validate_data(self, X, reset=False, dtype=[np.float64, np.float32]))[0]

    def _check_eye(self, pairs: FramePairs) -> None:
        eye = getattr(self, "eye", None)
        if eye is not None and pairs.eye is not None and not same_places(as_eye(eye), pairs.eye):
            raise ValueError(f"the pairs are of {pairs.eye}, and this stage was made for {eye}")

    def _fit(self, X: np.ndarray) -> None:
        raise NotImplementedError

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        """Transform the frames before and after of pairs, or frames alone, each of shape (n_samples, n_pixels)."""
        raise NotImplementedError
