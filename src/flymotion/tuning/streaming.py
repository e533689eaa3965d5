"""What a detector answers must not depend on how a movie is shown: at once or in pieces, beside others or alone."""

from __future__ import annotations

import math

import numpy as np

from flymotion.detectors import Detector, FunctionDetector
from flymotion.world.eyes import Eye

__all__ = ["check_answers", "check_finite", "first_piece", "same_responses"]

TOLERANCE = 1e-6
"""Relative to the largest response."""


def first_piece(n_frames: int) -> int:
    """Return how many frames of a movie its first piece has: no whole cycles, whose means are all alike."""
    return max(1, round(n_frames / math.e))


def same_responses(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether responses are the same, but for rounding relative to the largest of the other."""
    size = np.nanmax(np.abs(other), initial=0.0)
    return np.allclose(one, other, rtol=0, atol=TOLERANCE * size, equal_nan=True)


def check_finite(responses: np.ndarray, what: str, first: int = 0) -> None:
    """Check that responses, shape (n, n_frames, ...), the first frame of which has this number, are finite.

    Raises
    ------
    ValueError
        If they are not; says in which frame.
    """
    finite = np.isfinite(responses).all(axis=(0, *range(2, responses.ndim)))
    if not finite.all():
        raise ValueError(
            f"{what} answers with NaN or infinite numbers, first in frame {first + int(np.argmin(finite))} of a "
            "movie; expected finite responses"
        )


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
        stream, cut = detector.stream(dt, eye=eye, direction=direction), first_piece(len(movie))
        how = "in two pieces, frame by frame, so its formula looks along time or across movies"
        again = np.concatenate([stream.push(movie[:cut]), stream.push(movie[cut:])])
    if not same_responses(again, responses):
        raise ValueError(
            f"{detector.name or 'the detector'} answers a movie otherwise {how}; expected the same responses to the "
            "same frames"
        )
