"""Normalisation: contrast divided by what contrast there is."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs
from flymotion.photoreceptors.stage import EarlyVision, not_negative
from flymotion.world.eyes import Eye, as_eye
from flymotion.world.kinds_of_eyes import unpack_eye

__all__ = ["ContrastNormalization", "DivisiveNormalization"]


class ContrastNormalization(EarlyVision):
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
        In ``fit``, for a half-saturation that is negative or infinite.

    Examples
    --------
    >>> faint_and_strong = np.array([[1.0, -1.0], [10.0, -10.0]])
    >>> ContrastNormalization().fit_transform(faint_and_strong).round(2)  # ten times the contrast
    array([[ 0.82, -0.82],
           [ 1.  , -1.  ]])
    """

    def __init__(self, half_saturation: float = 0.1) -> None:
        self.half_saturation = half_saturation

    def _check_parameters(self) -> None:
        not_negative(half_saturation=self.half_saturation)

    def _fit(self, X: np.ndarray) -> None:
        self.contrast_ = float(np.sqrt(np.mean(X.astype(np.float64) ** 2)))

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        power = sum(np.square(x, dtype=np.float64).mean(axis=1) for x in frames) / len(frames)
        scale = _inverse_root(power + (self.half_saturation * self.contrast_) ** 2)[:, None]
        return tuple((x * scale).astype(x.dtype) for x in frames)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the stage of again."""
        self._check_remembered()
        return packed({"half_saturation": self.half_saturation, "contrast": self.contrast_} | inputs_of(self))

    @classmethod
    def unpack(cls, given: Given) -> ContrastNormalization:
        """Return the stage that was packed."""
        stage = cls(given.number("half_saturation", least=0))
        stage.contrast_ = float(given.number("contrast", least=0))
        restore_inputs(stage, given)
        stage._remember()
        return stage


class DivisiveNormalization(EarlyVision):
    r"""Division of each frame by its own contrast near each pixel, :math:`x_i / \sqrt{c^2 + \sum_j w_{ij} x_j^2}`.

    The form of Heeger (1992) and of Carandini & Heeger (2012) with exponent 2, signs kept. In the fly, contrast around
    a pixel compresses the motion detector's inputs, fast (Drews et al. 2020; Matulis et al. 2020).

    Parameters
    ----------
    half_saturation : float
        c: the root mean square contrast at which the response to contrast is half way to saturation in energy, what
        detectors that multiply put out [units of the frames].
    pool : float, optional
        Standard deviation of the Gaussian weights w of the pixels about each, whose sum is 1 [pixel spacings; deg for a
        spherical eye]; by default all pixels weigh the same.
    eye : Eye or tuple of int, optional
        Whose frames, for the distances between pixels; for a line or grid of pixels their number, (n,) or (height,
        width), will do. Needed with ``pool``.

    Attributes
    ----------
    weights_ : ndarray, shape (n_pixels, n_pixels), or None
        w, row by row; None where all are the same.

    Raises
    ------
    ValueError
        In ``fit``, for a half-saturation that is negative or infinite, a pool that is not positive or without an eye,
        or frames of another eye.

    Notes
    -----
    :class:`ContrastNormalization` divides both frames of a pair by the same number, and knows contrast only relative to
    that of the frames fitted on. This divides each frame by itself, whatever was before and after, so that it works on
    movies, and its half-saturation is absolute; a change of contrast within a pair is compressed too.

    Examples
    --------
    >>> DivisiveNormalization(0.5).fit_transform([[0.5, -0.5], [50.0, -50.0]]).round(3)
    array([[ 0.707, -0.707],
           [ 1.   , -1.   ]])
    """

    _learned_with: ClassVar[tuple[str, ...]] = ("pool", "eye")

    def __init__(
        self, half_saturation: float = 0.1, pool: float | None = None, eye: Eye | tuple[int, ...] | None = None
    ) -> None:
        self.half_saturation = half_saturation
        self.pool = pool
        self.eye = eye

    def _check_parameters(self) -> None:
        not_negative(half_saturation=self.half_saturation)

    def _fit(self, X: np.ndarray) -> None:
        self.weights_ = None if self.pool is None else self._weights(self.pool, X.shape[1])

    def _weights(self, pool: float, n_pixels: int) -> np.ndarray:
        if self.eye is None or not pool > 0:
            raise ValueError(f"pool is {pool} and eye {self.eye}; expected a width of more than 0, and an eye")
        positions = as_eye(self.eye).positions
        if len(positions) != n_pixels:
            raise ValueError(f"frames of {n_pixels} pixels, an eye of {len(positions)}; expected the same")
        distances = np.linalg.norm(positions[:, None] - positions, axis=2)
        if positions.shape[1] == 3:
            distances = np.degrees(2 * np.arcsin(np.minimum(distances / 2, 1)))
        weights = np.exp(-((distances / pool) ** 2) / 2)
        return weights / weights.sum(axis=1, keepdims=True)

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        scales = (_inverse_root(self._power(x) + self.half_saturation**2) for x in frames)
        return tuple((x * scale).astype(x.dtype) for x, scale in zip(frames, scales, strict=True))

    def _power(self, x: np.ndarray) -> np.ndarray:
        squares = np.square(x, dtype=np.float64)
        return squares.mean(axis=1, keepdims=True) if self.weights_ is None else squares @ self.weights_.T

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the stage of again."""
        self._check_remembered()
        numbers = {"half_saturation": self.half_saturation, "pool": self.pool} | inputs_of(self)
        return packed(numbers, {"weights": self.weights_}, eye=None if self.eye is None else as_eye(self.eye))

    @classmethod
    def unpack(cls, given: Given) -> DivisiveNormalization:
        """Return the stage that was packed."""
        pool, eye = given.number("pool", least=0, optional=True), given.part("eye", optional=True)
        stage = cls(given.number("half_saturation", least=0), pool, None if eye is None else unpack_eye(eye))
        n = restore_inputs(stage, given)
        stage.weights_ = None if pool is None else given.array("weights", n, n, least=0)
        stage._remember()
        return stage


def _inverse_root(power: np.ndarray) -> np.ndarray:
    """Return 1 over the root, and 0 where there is no power."""
    root = np.sqrt(power)
    return np.divide(1, root, out=np.zeros_like(root), where=root > 0)
