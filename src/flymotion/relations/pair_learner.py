"""What every learner of pairs of frames is: an estimator that is given pairs, and answers each with a few numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import FramePairs
from flymotion.photoreceptors.stage import MOST, as_it_was

__all__ = ["PairLearner"]


class PairLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator of pairs of frames.

    Subclasses give ``_fit(before, after)``, ``_transform(before, after)`` and ``_n_features_out``; where what they
    learn is an operator an output, ``generators_``, shape (n_outputs, n_pixels, n_pixels), too.

    Examples
    --------
    >>> from flymotion import pair_up
    >>> from flymotion.relations import AdditiveUnits
    >>> pairs = pair_up(np.random.default_rng(0).normal(size=(50, 4)))
    >>> AdditiveUnits(2).fit(pairs).transform(pairs).shape  # two units answer each of 49 pairs
    (49, 2)
    """

    def fit(self, X: FramePairs, y: Any = None) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        X : FramePairs
            Pairs of frames, as early vision leaves them.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            What is no pairs, or none; intensities that are too large; parameters out of range. The estimator is as it
            was.
        """
        with as_it_was(self):
            self._check_parameters()
            before, after = self._checked(X, reset=True)
            self._fit(before, after)
        return self

    def transform(self, X: FramePairs) -> np.ndarray:
        """Return the outputs, one row a pair, shape (n_pairs, n_outputs).

        Raises
        ------
        ValueError
            What is no pairs; intensities that are too large; another number of pixels than learned.
        """
        check_is_fitted(self)
        return self._transform(*self._checked(X, reset=False))

    def _checked(self, X: Any, *, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return both frames of pairs as vectors, shape (n_pairs, n_pixels), float64."""
        if not isinstance(X, FramePairs):
            raise ValueError(f"X is {type(X).__name__}; expected FramePairs (flymotion.pair_up makes them of a movie)")
        if reset and len(X) == 0:
            raise ValueError("X has 0 pairs; expected at least one")
        if reset:
            self.n_features_in_ = X.n_pixels
        elif X.n_pixels != self.n_features_in_:
            raise ValueError(f"X has {X.n_pixels} pixels; {type(self).__name__} has learned from {self.n_features_in_}")
        flat = X.flat()
        before, after = (frames.astype(np.float64, copy=False) for frames in (flat.before, flat.after))
        largest = max(np.abs(before).max(initial=0.0), np.abs(after).max(initial=0.0))
        if largest > MOST:
            raise ValueError(f"X has intensities up to {largest:.0e}; expected at most {MOST:.0e}")
        return before, after

    def _check_parameters(self) -> None:
        """Check parameters; a ValueError names the one that is out of range."""

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        raise NotImplementedError

    def _transform(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        raise NotImplementedError
