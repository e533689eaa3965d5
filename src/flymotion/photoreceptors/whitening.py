"""Whitening: what neighbouring pixels share is taken out."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs
from flymotion.photoreceptors.stage import EarlyVision, not_negative

__all__ = ["ZCAWhitening"]


class ZCAWhitening(EarlyVision):
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
        In ``fit``, for a regularization that is negative or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 3)) @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    >>> np.cov(ZCAWhitening(0.0).fit_transform(X), rowvar=False, bias=True).round(6) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    _learned_with: ClassVar[tuple[str, ...]] = ("regularization",)

    def __init__(self, regularization: float = 1e-4) -> None:
        self.regularization = regularization

    def _check_parameters(self) -> None:
        not_negative(regularization=self.regularization)

    def _fit(self, X: np.ndarray) -> None:
        from_first = X.astype(np.float64) - X[0]  # exactly 0 where a pixel is constant
        self.mean_ = X[0] + from_first.mean(axis=0)  # float64, since the whitened are as far off as the mean
        centred = from_first - from_first.mean(axis=0)
        values, vectors = np.linalg.eigh(centred.T @ centred / len(X))
        damped = np.maximum(values, 0) + self.regularization * max(values.mean(), 0)
        kept = values > len(values) * np.finfo(X.dtype).eps * max(values[-1], 0)
        roots = np.divide(1, np.sqrt(damped), out=np.zeros_like(damped), where=kept)
        self.matrix_ = ((vectors * roots) @ vectors.T).astype(X.dtype)

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple((x - self.mean_).astype(x.dtype) @ self.matrix_ for x in frames)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the stage of again."""
        self._check_remembered()
        numbers = {"regularization": self.regularization} | inputs_of(self)
        return packed(numbers, {"mean": self.mean_, "matrix": self.matrix_})

    @classmethod
    def unpack(cls, given: Given) -> ZCAWhitening:
        """Return the stage that was packed."""
        stage = cls(given.number("regularization", least=0))
        n = restore_inputs(stage, given)
        stage.mean_, stage.matrix_ = given.array("mean", n), given.array("matrix", n, n)
        stage._remember()
        return stage
