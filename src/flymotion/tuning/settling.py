"""How long responses take to settle: until what was before the first frame no longer shows in any filter."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from flymotion.detectors import Detector, FunctionDetector, as_detector
from flymotion.detectors.temporal import Chain, Rectify, filtered, latency, start
from flymotion.tuning.early import draws, seen_once
from flymotion.tuning.streaming import check_answers, check_finite
from flymotion.world.eyes import Eye

__all__ = ["LEAST", "TOLERANCE", "settling_of", "settling_of_stages"]

TOLERANCE = 5e-3
"""What may be left of a step, relative to the most that it was: 5.3 time constants of a low-pass."""

LEAST = 1.0
"""The shortest time to settle that is taken by default [s]: a whole second of a 2 s stimulus is left."""

ROUNDING = 1e-12
"""Of responses, relative to the largest."""

SHORT = 256
"""Frames that it is looked at first, or a second of them."""

MOST, MOST_SHOWN = 2**20, 2**16
"""Frames after which filters, and whatever else is shown a step, have to have settled."""


def settling_of(detector: Any, dt: float, eye: Eye) -> float:
    """Return how long a detector takes to settle [s].

    Of a :class:`~flymotion.detectors.Detector` the longest of its arms: what a chain, its rectification left out,
    makes of a step is then within 0.5 % of where it goes. A plain function is shown a scene that changes once, and its
    responses are.

    Raises
    ------
    ValueError
        What does not settle within 2^20 frames, a function 2^16; a function that remembers or draws numbers.
    """
    detector = as_detector(detector)
    if isinstance(detector, FunctionDetector):
        scene = _changing(eye, 0.0)
        answered = detector(scene(SHORT), dt, eye=eye)
        check_finite(answered[None], detector.name)
        check_answers(detector, scene(SHORT), answered, dt, eye, 0.0)
        return dt * _faded(lambda n: detector(scene(n), dt, eye=eye)[1:], dt, MOST_SHOWN, detector.name)
    return dt * max(_chain(chain, dt, detector) for chain in detector.arms.values())


def settling_of_stages(early_vision: Any, dt: float, eye: Eye, mean: float) -> float:
    """Return how long fitted early vision, or None, takes to settle when a scene changes [s]; 0 of noise.

    Raises
    ------
    ValueError
        What does not settle within 2^16 frames.
    """
    if early_vision is None or draws(early_vision):
        return 0.0
    scene = _changing(eye, mean)

    def responses(n: int) -> np.ndarray:
        return seen_once(copy.deepcopy(early_vision), scene(n).reshape(n + 1, -1))[1:]

    return dt * _faded(responses, dt, MOST_SHOWN, "early vision")


def _chain(chain: Chain, dt: float, detector: Detector) -> int:
    steps = [step for step in chain if not isinstance(step, Rectify)]

    def responses(n: int) -> np.ndarray:
        level, signals = np.zeros(1), np.ones((n, 1))
        for step in steps:
            state, level = start(step, level, dt)
            signals, _ = filtered(step, signals, state, dt)
        return signals

    return _faded(responses, dt, MOST, f"{detector.name or 'the detector'}'s {chain}", latency(chain, dt))


def _changing(eye: Eye, mean: float) -> Callable[[int], np.ndarray]:
    """Return a function that makes a movie of one pattern, and then n frames of another about the same mean.

    Of two patterns, as one that appears is nothing to a correlator, whose product with its own past is even.
    """
    one, other = mean + (mean or 1.0) * np.random.default_rng(0).uniform(-0.5, 0.5, (2, *eye.shape))

    def scene(n: int) -> np.ndarray:
        movie = np.repeat(other[None], n + 1, axis=0)
        movie[0] = one
        return movie

    return scene


def _faded(responses: Callable[[int], np.ndarray], dt: float, most: int, what: str, delayed: int = 0) -> int:
    """Return after how many frames the responses to n frames, shape (n, ...), stay near the last of them."""
    n = min(max(SHORT, round(LEAST / dt), 4 * delayed), most)
    while n <= most:
        found = np.reshape(responses(n), (n, -1))
        check_finite(found[None], what, 1)
        off = np.abs(found - found[-1]).max(axis=1)
        floor = ROUNDING * np.abs(found).max()
        late = np.flatnonzero(~(off <= max(TOLERANCE * off.max(), floor)))
        faded = int(late[-1]) + 1 if len(late) else 0
        if faded <= n // 2:
            return faded
        n *= 2
    raise ValueError(
        f"{what} has not settled after {most * dt:g} s, {most} frames; expected settle [s], longer dt, or no memory of "
        "the whole movie, which a sum of its frames has"
    )
