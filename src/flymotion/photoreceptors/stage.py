"""What every stage of early vision is: a transformer of frames, or of pairs, whose two frames are treated alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from flymotion.frames import FramePairs, not_masked
from flymotion.world.eyes import Eye, as_eye, same_places

__all__ = ["MOST", "EarlyVision", "as_it_was", "check_unchanged", "not_negative"]

MOST = 1e90
"""Largest number that is let in: the product of three is still one."""


def not_negative(**values: float) -> None:
    """Check that parameters, by name, are finite numbers of 0 or more.

    Raises
    ------
    ValueError
        Any that is not.
    """
    for name, value in values.items():
        if not (isinstance(value, Real) and 0 <= float(value) < np.inf):
            raise ValueError(f"{name} is {value!r}; expected 0 or more, finite")


def check_unchanged(estimator: Any, **learned: Any) -> None:
    """Check that parameters, by name, are still those with which an estimator has learned.

    Raises
    ------
    ValueError
        Any that was changed since, to what does not fit the state.
    """
    for name, value in learned.items():
        given = getattr(estimator, name)
        if given is not value and not (isinstance(given, str | Real | tuple) and given == value):
            raise ValueError(
                f"{name} is {given!r}, but this {type(estimator).__name__} has learned with {value!r}; "
                "set it back, or call fit to learn anew"
            )


@contextmanager
def as_it_was(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was where what is done inside fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class EarlyVision(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A transformer of frames or pairs; subclasses give ``_fit(X)`` and ``_transform(*frames)``."""

    _learned_with: ClassVar[tuple[str, ...]] = ()
    """Parameters that make part of what is learned; all others may change after ``fit``."""

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
            Frames that are masked, empty, not finite, too large or of the wrong shape; pairs of another eye than the
            stage was made for; parameters out of range. The stage is as it was.
        """
        if isinstance(X, FramePairs):
            self._check_eye(X)
            X = X.flat().before
        with as_it_was(self):
            self._check_parameters()
            self._fit(self._checked(X, reset=True))
            self._remember()
        return self

    def transform(self, X: Any) -> Any:
        """Transform frames, shape (n_samples, n_pixels), or FramePairs; returns new ones of the same shape.

        Pairs whose frames get another number of pixels come back flat.

        Raises
        ------
        ValueError
            Frames as in ``fit``; parameters out of range, or that were changed from those learned with.
        """
        self._check_parameters()
        self._check_remembered()
        if isinstance(X, FramePairs):
            self._check_eye(X)
            flat = X.flat()
            before, after = self._transform(*(self._checked(frames) for frames in (flat.before, flat.after)))
            shape = X.before.shape if before.shape == flat.before.shape else before.shape
            return replace(X, before=before.reshape(shape), after=after.reshape(shape), eye=self._eye_of(X.eye))
        return self._transform(self._checked(X))[0]

    def _checked(self, X: Any, *, reset: bool = False) -> np.ndarray:
        not_masked(X, "X", "frames")
        with np.errstate(over="ignore"):  # what is too large for float64 becomes infinite, and is refused as that
            X = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])
        largest = max(float(X.max()), -float(X.min()))
        if largest > MOST:
            raise ValueError(f"X has intensities up to {largest:.0e}; expected at most {MOST:.0e}")
        return X

    def _remember(self) -> None:
        """Remember what it has learned with."""
        self._given = {name: getattr(self, name) for name in self._learned_with}

    def _check_remembered(self) -> None:
        """Check that it has learned, and still has what it has learned with."""
        check_is_fitted(self)
        check_unchanged(self, **getattr(self, "_given", {}))

    def _check_parameters(self) -> None:
        """Check what may have been set since."""

    def _eye_of(self, eye: Eye | None) -> Eye | None:
        """Return whose the frames are that come out, of frames of an eye."""
        return eye

    def _check_eye(self, pairs: FramePairs) -> None:
        eye = getattr(self, "eye", None)
        if eye is not None and pairs.eye is not None and not same_places(as_eye(eye), pairs.eye):
            raise ValueError(f"the pairs are of {pairs.eye}, and this stage was made for {eye}")

    def _fit(self, X: np.ndarray) -> None:
        raise NotImplementedError

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        """Transform the frames before and after of pairs, or frames alone, each of shape (n_samples, n_pixels)."""
        raise NotImplementedError
