"""What early vision has seen so far: how much, of which videos, and what to probe the detectors with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import FramePairs
from flymotion.learner.changes import Changes

__all__ = ["Seen", "Watched"]


class Watched(NamedTuple):
    """What was learned from one video.

    Attributes
    ----------
    name : str
        Of the video.
    scale : int
        Factor that its frames were reduced by.
    n_pairs : int
        Pairs of frames.
    share : float
        Share of the patches looked at that were worth learning from.
    n_held_out : int
        Frames kept for scoring.
    changes : Changes or None
        What changes from frame to frame; None where a model file does not tell.

    Examples
    --------
    >>> watched = Watched("street.mp4", scale=3, n_pairs=250, share=0.2, n_held_out=50)
    >>> f"{watched.name}: {watched.share:.0%} of the patches of {watched.n_pairs} pairs"
    'street.mp4: 20% of the patches of 250 pairs'
    """

    name: str
    scale: int
    n_pairs: int
    share: float
    n_held_out: int
    changes: Changes | None = None

    def __repr__(self) -> str:
        return in_brief(self)


class Seen(NamedTuple):
    """What was seen by some moment.

    Attributes
    ----------
    n_pairs : int
        Pairs of frames.
    frames : sequence of ndarray, shape (n,) or (height, width)
        Frames to probe with, at known shifts, as early vision takes them.
    known : FramePairs or None
        Pairs of known motion to probe with instead.
    watched : tuple of Watched
        The videos.
    """

    n_pairs: int = 0
    frames: Sequence[np.ndarray] = ()
    known: FramePairs | None = None
    watched: tuple[Watched, ...] = ()
