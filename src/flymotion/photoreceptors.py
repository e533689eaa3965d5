r"""Early vision: what happens to frames between the photoreceptors and the motion detector.

Scikit-learn transformers of frames ``(n_samples, n_pixels)`` and of :class:`~flymotion.frames.FramePairs`: they are
fitted on first frames and do the same to both frames of a pair, so that what changes within a pair is motion alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from flymotion.frames import FramePairs

__all__ = ["ContrastNormalization", "LogIntensity", "ZCAWhitening"]


class _EarlyVision(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A transformer of frames or pairs; subclasses give ``_fit(X)`` and ``_transform(before, after)``."""

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
            Frames that are empty, not finite or of the wrong shape.
        """
        if isinstance(X, FramePairs):
            X = X.flat().before
        self._fit(validate_data(self, X, dtype=[np.float64, np.float32]))
        return self

    def transform(self, X: Any) -> Any:
        """Transform frames, shape (n_samples, n_pixels), or FramePairs; returns new ones of the same shape."""
        check_is_fitted(self)
        if isinstance(X, FramePairs):
            flat = X.flat()
            before, after = (
                validate_data(self, frames, reset=False, dtype=[np.float64, np.float32])
                for frames in (flat.before, flat.after)
            )
            before, after = self._transform(before, after)
            return replace(X, before=before.reshape(X.before.shape), after=after.reshape(X.after.shape))
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self._transform(X, X)[0]

    def _fit(self, X: np.ndarray) -> None:
        raise NotImplementedError

    def _transform(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError


class LogIntensity(_EarlyVision):
    r"""Logarithm of intensity above a floor, :math:`\log \max(x / f \bar x, 1)`: equal contrasts become equal steps.

    Intensities at or below the floor, also negative ones, become 0. The mean :math:`\bar x` of the absolute intensities
    fitted on sets the floor, so that the unit of intensity does not matter.

    Parameters
    ----------
    floor : float
        f: the floor, relative to the mean intensity. Through a fly's optics natural scenes are darkest at 0.01 or more,
        even with the sun in view.

    Attributes
    ----------
    floor_ : float
        The floor in the unit of the frames; f itself where those fitted on are black.

    Raises
    ------
    ValueError
        In ``fit``, for a floor that is not positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> LogIntensity(0.1).fit([[1.0]]).transform(0.1 * np.exp([[-1.0], [0.0], [1.0], [2.0]])).round(9).ravel()
    array([0., 0., 1., 2.])
    """

    def __init__(self, floor: float = 1e-2) -> None:
        self.floor = floor

    def _fit(self, X: np.ndarray) -> None:
        if not 0 < self.floor < np.inf:
            raise ValueError(f"floor is {self.floor}; expected more than 0, finite")
        self.floor_ = self.floor * (float(np.abs(X).mean(dtype=np.float64)) or 1.0)

    def _transform(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        floor = before.dtype.type(self.floor_)
        return np.log(np.maximum(before, floor) / floor), np.log(np.maximum(after, floor) / floor)


class ZCAWhitening(_EarlyVision):
    r"""Whitening by the symmetric root of the inverse covariance (ZCA; Bell & Sejnowski 1997).

    :math:`Z = V (\Lambda + \rho\, \mathrm{tr}\Lambda / n)^{-1/2} V'`, after subtraction of each pixel's mean.
    Directions without variance, as of a constant pixel, become 0.

    Parameters
    ----------
    regularization : float
        :math:`\rho`, relative to the mean variance of a pixel, so that frames and 255 times the frames whiten alike.

    Attributes
    ----------
    mean_ : ndarray, shape (n_pixels,)
        Mean of each pixel.
    matrix_ : ndarray, shape (n_pixels, n_pixels)
        Z, symmetric.

    Raises
    ------
    ValueError
        In ``fit``, for a negative regularization.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 3)) @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    >>> np.cov(ZCAWhitening(0.0).fit_transform(X), rowvar=False, bias=True).round(6) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, regularization: float = 1e-4) -> None:
        self.regularization = regularization

    def _fit(self, X: np.ndarray) -> None:
        if not self.regularization >= 0:
            raise ValueError(f"regularization is {self.regularization}; expected 0 or more")
        from_first = (X - X[0]).astype(np.float64)  # exactly 0 where a pixel is constant
        self.mean_ = (X[0] + from_first.mean(axis=0)).astype(X.dtype)
        centred = from_first - from_first.mean(axis=0)
        values, vectors = np.linalg.eigh(centred.T @ centred / len(X))
        damped = np.maximum(values, 0) + self.regularization * max(values.mean(), 0)
        kept = values > len(values) * np.finfo(X.dtype).eps * max(values[-1], 0)
        roots = np.divide(1, np.sqrt(damped), out=np.zeros_like(damped), where=kept)
        self.matrix_ = ((vectors * roots) @ vectors.T).astype(X.dtype)

    def _transform(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (before - self.mean_) @ self.matrix_, (after - self.mean_) @ self.matrix_


class ContrastNormalization(_EarlyVision):
    r"""Division of each pair by its contrast, :math:`\sqrt{c^2 + (h \bar c)^2}`.

    ``c`` is the root mean square of the pixels of both frames of the pair (a lone frame is its own pair), so the same
    divisor serves both and time reversal changes nothing; :math:`\bar c` is the same over the frames fitted on.

    Parameters
    ----------
    half_saturation : float
        h: the contrast, relative to the mean one, at which the response to contrast is half way to saturation.

    Attributes
    ----------
    contrast_ : float
        Root mean square of the frames fitted on.

    Raises
    ------
    ValueError
        In ``fit``, for a negative half-saturation.
    """

    def __init__(self, half_saturation: float = 0.1) -> None:
        self.half_saturation = half_saturation

    def _fit(self, X: np.ndarray) -> None:
        if not self.half_saturation >= 0:
            raise ValueError(f"half_saturation is {self.half_saturation}; expected 0 or more")
        self.contrast_ = float(np.sqrt(np.mean(X.astype(np.float64) ** 2)))

    def _transform(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        power = (np.mean(before**2, axis=1) + np.mean(after**2, axis=1)) / 2
        divisor = np.sqrt(power + (self.half_saturation * self.contrast_) ** 2)[:, None]
        scale = np.divide(1, divisor, out=np.zeros_like(divisor), where=divisor > 0)
        return before * scale, after * scale
