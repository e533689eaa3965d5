r"""The reconstruction model's output against contrast (C17): :math:`\theta = \Delta x' A x / (|A x|^2 + \lambda)`.

Both products grow with the square of contrast, so that without lambda and noise theta does not depend on it; where
lambda, or noise in the frames, is larger than :math:`|A x|^2`, theta grows with the square. The operator is what
:class:`flymotion.relations.OperatorReconstruction` learns in L1. It looks, whitened as in L1, at a grating that goes
right, and at one that goes left from the same frame; the output is half the difference.

Noise, of each pixel, is 10 dB below a grating of contrast 1, and the lambda that it asks for is its variance over that
of theta: ``2 |dn|^2 / n`` of whitened frames, over the mean square of theta in what was learned from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.lessons import of_norm_1
from flymotion.claims.rows import Claim, below, report
from flymotion.claims.summed_signal.lookers import Config
from flymotion.claims.worlds import WORLDS
from flymotion.photoreceptors import ZCAWhitening
from flymotion.relations import OperatorReconstruction

__all__ = ["Slopes", "slopes_of_reconstruction", "state_reconstruction"]

N_PAIRS, N_PHASES, N_NOISES = 10_000, 16, 1_000

STEP = 0.1
"""Of the grating, either way [pixels]."""

SNR = 10.0
"""Variance of a grating of contrast 1 over that of the noise."""

LARGE = 1e6
"""A lambda that rules, in units of |A x|^2 of whitened frames, of which a grating's of the least contrast is 1e-4."""


class Slopes(NamedTuple):
    """Log-log slopes between the two least contrasts, by the key of a setting."""

    learned: dict[str, np.ndarray]
    random: dict[str, np.ndarray]
    """Of a random operator in its place."""
    asked: np.ndarray
    """The lambda that noise asks for."""


SETTINGS = {
    "": "lambda 0, no noise",
    "_noise": "lambda as noise asks for, in frames with that noise",
    "_lambda": "lambda as noise asks for, in frames without noise",
    "_only_noise": "lambda 0, in frames with noise",
    "_large": f"lambda {LARGE:g}, no noise",
}
"""By the suffix of their rows."""


def slopes_of_reconstruction(config: Config, seed: int) -> Slopes:
    """Learn an operator, and show it gratings."""
    pairs = WORLDS["L1"].pairs(config.n, N_PAIRS, [seed, 17, 9])
    whitening = ZCAWhitening(0.0).fit(pairs)
    seen, Z = whitening.transform(pairs), whitening.matrix_
    learner = OperatorReconstruction(random_state=seed).fit(seen)
    rng = np.random.default_rng([seed, 17, 10])
    noise = rng.normal(size=(N_NOISES, config.n)) * np.sqrt(0.5 / SNR) @ Z
    asked = 2 * (noise**2).mean() / np.mean(learner.transform(seen) ** 2)
    settings = {
        "": (0.0, np.zeros((1, config.n))),
        "_noise": (asked, noise),
        "_lambda": (asked, np.zeros((1, config.n))),
        "_only_noise": (0.0, noise),
        "_large": (LARGE, np.zeros((1, config.n))),
    }
    operators = learner.generators_[0], of_norm_1(rng.normal(size=(config.n, config.n)))
    learned, random = ({name: _slope(config, A, Z, *how) for name, how in settings.items()} for A in operators)
    return Slopes(learned, random, np.array(asked))


def _slope(config: Config, A: np.ndarray, Z: np.ndarray, ridge: float, noise: np.ndarray) -> np.ndarray:
    """Return the slope of the mean output, shape (), of noise and its negative, so that odd parts of it cancel."""
    k = 2 * np.pi * 5.0 / config.wavelength
    phases = 2 * np.pi * np.arange(N_PHASES)[:, None] / N_PHASES - k * np.arange(config.n)
    still, right, left = (np.cos(phases + k * step) @ Z for step in (0.0, STEP, -STEP))
    outputs = []
    for contrast in config.contrasts[:2]:
        frames = contrast * still[:, None] + np.concatenate([noise, -noise])
        predicted = frames @ A.T
        opposed = np.einsum("pti,pi->pt", predicted, contrast * (right - left) / 2)
        outputs.append(np.mean(opposed / ((predicted**2).sum(axis=-1) + ridge)))  # Eq. 29, of content
    return np.diff(np.log(np.abs(outputs)))[0] / np.diff(np.log(config.contrasts[:2]))[0]


def state_reconstruction(config: Config, found: Slopes) -> Iterator[Claim]:
    """State C17 of the reconstruction model: bounded where the model says so, reported elsewhere."""
    low, high = config.contrasts[:2]
    for suffix, words in SETTINGS.items():
        title = f"|log-log slope| of the reconstruction model's output in contrast, {words}"
        steep = np.abs(found.learned[suffix])
        note = f"grating of {config.wavelength:g} deg, contrasts {low:.2g} and {high:.2g}; operator learned in L1"
        if suffix in ("_noise", "_lambda"):
            note += f"; lambda {found.asked.mean():.3g}, noise {10 * np.log10(SNR):g} dB below contrast 1"
        id = f"C17.reconstruction{suffix}"
        row = below(id, title, steep, 0.1, note=f"{note}; algebra") if not suffix else None
        row = row or report(id, title, steep, worst=np.median, note=note)
        yield from beside(row, random=Null("a random operator", np.abs(found.random[suffix]), np.median))
