"""Eyes: where an eye looks, and through what optics.

An eye is a set of viewing positions and the standard deviation ``sigma`` of its Gaussian acceptance function, both in
pixel spacings. A fly's ommatidia accept light over 5.7 degrees (full width at half maximum) at a spacing of 5.1
degrees, which makes ``sigma = 0.475``. Positions are (x right, y down), row-major, centred on the eye's middle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

__all__ = ["FLY_SIGMA", "Eye", "Grid", "Line", "acceptance_sigma"]


def acceptance_sigma(fwhm: float, interommatidial_angle: float) -> float:
    """Return the acceptance function's standard deviation in pixel spacings.

    Parameters
    ----------
    fwhm : float
        Acceptance angle, full width at half maximum [deg].
    interommatidial_angle : float
        Angle between neighbouring pixels [deg].

    Raises
    ------
    ValueError
        An angle that is not positive.

    Examples
    --------
    >>> round(acceptance_sigma(5.7, 5.1), 3)
    0.475
    """
    if not (fwhm > 0 and interommatidial_angle > 0):
        raise ValueError(f"angles are {fwhm} and {interommatidial_angle} deg; expected both positive")
    return fwhm / interommatidial_angle / math.sqrt(8 * math.log(2))


FLY_SIGMA = acceptance_sigma(5.7, 5.1)


class Eye(Protocol):
    """What an eye has to offer."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the acceptance function [pixel spacings]."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame."""

    @property
    def positions(self) -> np.ndarray:
        """Viewing positions, shape (n_pixels, ndim) [pixel spacings]."""


def _check(sigma: float, *sizes: int) -> None:
    if not all(isinstance(s, (int, np.integer)) and s > 0 for s in sizes):
        raise ValueError(f"an eye of {' x '.join(map(str, sizes))} pixels; expected positive whole numbers")
    if not 0 <= sigma < math.inf:
        raise ValueError(f"sigma is {sigma}; expected a finite acceptance width of 0 or more pixel spacings")


@dataclass(frozen=True)
class Line:
    """A one-dimensional eye of ``n`` pixels, index growing to the right.

    Parameters
    ----------
    n : int
        Number of pixels.
    sigma : float
        Standard deviation of the Gaussian acceptance function [pixel spacings]; see :func:`acceptance_sigma`.

    Raises
    ------
    ValueError
        A size or width out of range.
    """

    n: int
    sigma: float = FLY_SIGMA

    def __post_init__(self) -> None:
        _check(self.sigma, self.n)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame, ``(n,)``."""
        return (self.n,)

    @property
    def positions(self) -> np.ndarray:
        """Viewing positions, shape (n, 1) [pixel spacings]."""
        return (np.arange(self.n) - (self.n - 1) / 2)[:, None]


@dataclass(frozen=True)
class Grid:
    """A rectangular eye of ``height`` rows and ``width`` columns, rows counted downwards.

    Parameters
    ----------
    height, width : int
        Number of rows and columns.
    sigma : float
        Standard deviation of the isotropic Gaussian acceptance function [pixel spacings].

    Raises
    ------
    ValueError
        A size or width out of range.
    """

    height: int
    width: int
    sigma: float = FLY_SIGMA

    def __post_init__(self) -> None:
        _check(self.sigma, self.height, self.width)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame, ``(height, width)``."""
        return (self.height, self.width)

    @property
    def positions(self) -> np.ndarray:
        """Viewing positions (x right, y down), shape (height * width, 2) [pixel spacings]."""
        rows, columns = np.indices(self.shape).reshape(2, -1)
        return np.stack([columns - (self.width - 1) / 2, rows - (self.height - 1) / 2], axis=1)
