r"""Velocity as a ridge regression, and as a correlation (Section 2.5, Supplement C; C15, C33).

Content moves by theta, so that :math:`\Delta x = \theta A x` and noise; the estimates are (Eqs. 28 and 29, of content)

.. math::
    \hat\theta = \arg\min_\theta |\Delta x - \theta A x|^2 + \lambda \theta^2
    = \frac{\Delta x' A x}{|A x|^2 + \lambda} \approx \frac{\Delta x' A x}{\lambda}.

A is minus the spatial derivative: for content, not for the eye, theta is *minus* the one printed in Supplement C. The
signal-to-noise ratio is the variance of a pixel's intensity over that of its noise; the change from frame to frame is
much smaller than the intensity, so that its own ratio is 35 dB lower in world L1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flymotion.claims.regression.known_in_noise import check_noise, draw, estimate
from flymotion.claims.regression.ridge_minimum import check_minimum, minimise
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {
    "C15": "velocity by ridge regression is nearly a correlation",
    "C33": "in much noise a correlation is the Bayesian estimate",
}


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of either experiment.
    n : int
        Pixels of the eye of world L1.
    n_minima : int
        Pairs whose minimum is looked for, with each penalty.
    penalties : tuple of float
        lambda, relative to the mean of :math:`|A x|^2`.
    n_pairs : int
        Pairs at each ratio of signal to noise.
    snrs : tuple of float
        Ratios of signal to noise [dB].
    """

    n_seeds: int = 10
    n: int = 15
    n_minima: int = 10
    penalties: tuple[float, ...] = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)
    n_pairs: int = 8000
    snrs: tuple[float, ...] = (30.0, 25.0, 20.0, 15.0, 10.0, 5.0, 0.0, -5.0, -10.0)


QUICK = {"n_seeds": 2}


def work(config: Config) -> Work:
    """Look for minima, and estimate motion in more and more noise."""
    return {
        name: each_seed(piece, config.n_seeds, config) for name, piece in (("minimum", minimise), ("known", estimate))
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C15 and C33."""
    yield from check_minimum(found["minimum"], config)
    yield from check_noise(found["known"], config)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw what correlations know of what can be known, and the best penalty, against signal to noise."""
    return {"regression": draw(found["known"], config)}
