"""What a detector answers must not depend on how a movie is shown: at once or in pieces, beside others or alone."""

from __future__ import annotations

import numpy as np

from flymotion.detectors import Detector, FunctionDetector
from flymotion.world.eyes import Eye

__all__ = ["check_answers"]

TOLERANCE = 1e-6
"""Relative to the largest response."""


def check_answers(
    detector: Detector | FunctionDetector,
    movie: np.ndarray,
    responses: np.ndarray,
    dt: float,
    eye: Eye,
    direction: float,
) -> None:
    """Check that a detector answers a movie alone, and in two pieces, as it answered it whole and beside others.

    A plain function, which has no pieces, is shown it again.

    Raises
    ------
    ValueError
        If it does not: it has a state of its own, looks ahead, or mixes movies.
    """
    if isinstance(detector, FunctionDetector):
        how, again = "when it is shown again, so it remembers or draws numbers", detector(movie, dt, eye=eye)
    else:
        stream, cut = detector.stream(dt, eye=eye, direction=direction), len(movie) // 3
        how = "in two pieces, frame by frame, so its formula looks along time or across movies"
        again = np.concatenate([stream.push(movie[:cut]), stream.push(movie[cut:])])
    size = np.nanmax(np.abs(responses), initial=0.0)
    if not np.allclose(again, responses, rtol=0, atol=TOLERANCE * size, equal_nan=True):
        raise ValueError(
            f"{detector.name or 'the detector'} answers a movie otherwise {how}; expected the same responses to the "
            "same frames"
        )
