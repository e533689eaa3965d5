"""Any movie, in batches of frames or pairs, as pairs of frames, or as the pairs of patches that tile its frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import FramePairs, as_frames
from flymotion.models.packing import Given, Packed, packed
from flymotion.video.viewing import view
from flymotion.world.eyes import Eye, Grid

__all__ = [
    "BATCH",
    "BATCH_PIXELS",
    "MOST_PATCHES",
    "Pairing",
    "batches",
    "check_same_eye",
    "is_corpus",
    "part_of",
    "shown",
    "tiles",
]

BATCH = 16
"""Frames read from a stream at a time."""

BATCH_PIXELS = 2**18
"""Pixels of an array taken at a time, where that is more than ``BATCH`` frames."""

MOST_PATCHES = 2**20
"""Patches of a pair of frames that files may ask for."""

MOST_TILES = 1000
"""About as many tiles as stand for a large frame."""


def check_same_eye(of_learner: Any, of_pairs: Any) -> None:
    """Refuse pairs of another eye than a learner has seen; what does not know its eye is of the learner's.

    Raises
    ------
    ValueError
        Two eyes that look elsewhere, or through other optics.
    """
    if of_learner is not None and of_pairs is not None and of_learner != of_pairs:
        raise ValueError(
            f"the pairs are of {of_pairs}, and this learner has seen those of {of_learner}; expected these"
        )


def part_of(eye: Eye | None, shape: tuple[int, ...]) -> Eye | None:
    """Return the part of an eye that sees patches of this shape: the eye itself, but for those of larger grids."""
    return eye.part(*shape) if isinstance(eye, Grid) and len(shape) == 2 else eye


def is_corpus(movie: Any) -> bool:
    """Say whether this is several movies, each as :func:`flymotion.video.open_movie` returns it."""
    return isinstance(movie, list | tuple) and len(movie) > 0 and all(hasattr(each, "batches") for each in movie)


def batches(movie: Any) -> Iterator[tuple[Any, bool]]:
    """Yield frames or pairs, and whether they begin a new clip.

    Parameters
    ----------
    movie : array, shape (n_frames, *pixels), FramePairs, Movie, or sequence of Movie
        Frames, time first; pairs, which are yielded whole; or what :func:`flymotion.video.open_movie` returns, several
        one after the other.
    """
    if isinstance(movie, FramePairs):
        yield movie, True
    elif is_corpus(movie):
        for each in movie:
            yield from batches(each)
    elif hasattr(movie, "batches"):
        yield from ((batch.frames, batch.cut) for batch in movie.batches(BATCH))
    else:
        frames = as_frames(movie)
        size = max(BATCH, BATCH_PIXELS // int(np.prod(frames.shape[1:])))
        for start in range(0, len(frames), size):
            yield frames[start : start + size], start == 0


def shown(vision: Any, movie: Any) -> Iterator[tuple[FramePairs | None, Any]]:
    """Push a movie through early vision, batch by batch.

    Yields what the network sees, and None at the end of each batch, with what was seen by then.
    """
    for frames, cut in batches(movie):
        if cut:
            vision.cut()
        yield from ((pairs, vision.seen) for pairs in vision.push(frames))
        yield None, vision.seen


@dataclass
class Pairing:
    """Pairs each frame with the one before; any split of a stream gives the same pairs.

    Attributes
    ----------
    scale : int or None
        What frames are looked at through: :func:`flymotion.video.viewing.view`.
    last : ndarray or None
        The last frame, as viewed; None where the next one begins a clip.
    """

    scale: int | None = None
    last: np.ndarray | None = None

    __repr__ = in_brief

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the pairing of again."""
        return packed({}, {"last": self.last})

    @classmethod
    def unpack(cls, given: Given, pixels: tuple[int, ...], scale: int | None = None) -> Pairing:
        """Return the pairing that was packed, of frames of this shape as viewed."""
        return cls(scale, given.array("last", *pixels, optional=True))

    def cut(self) -> None:
        """Mark a cut: the next frame does not follow the last one."""
        self.last = None

    def pair(self, frames: np.ndarray) -> FramePairs:
        """Return the pairs that the next frames, shape (n_frames, *pixels), complete."""
        if self.scale is not None:
            frames = view(frames, self.scale)
        if self.last is not None:
            frames = np.concatenate([self.last[None].astype(frames.dtype), frames])
        if len(frames):
            self.last = frames[-1].copy()
        return FramePairs(frames[:-1], frames[1:])


def tiles(movie: Any, shape: tuple[int, ...], scale: int | None) -> Iterator[tuple[FramePairs, int]]:
    """Yield the patches that tile the pairs of frames of each batch, those of a pair together, and the number of pairs.

    Parameters
    ----------
    movie : array, FramePairs, Movie, or sequence of Movie
        As :func:`batches` takes it.
    shape : tuple of int
        Of a patch; frames of this shape are taken as they are, very large ones are tiled sparsely.
    scale : int, optional
        What frames (but not pairs) are looked at through: :func:`flymotion.video.viewing.view`.

    Raises
    ------
    ValueError
        Frames that hold no such patch.
    """
    pairing = Pairing(scale)
    for frames, cut in batches(movie):
        if cut:
            pairing.cut()
        pairs = frames if isinstance(frames, FramePairs) else pairing.pair(frames)
        if len(pairs):
            yield _tiled(pairs, shape), len(pairs)


def _tiled(pairs: FramePairs, shape: tuple[int, ...]) -> FramePairs:
    pairs = pairs.as_seen()
    if pairs.pixels == shape:
        return pairs
    if not len(pairs.pixels) == len(shape) == 2 or any(np.less(pairs.pixels, shape)):
        raise ValueError(f"frames of {pairs.pixels} hold no patch of {shape}, which this learner has learned on")
    n_tiles = np.prod(np.array(pairs.pixels) // shape)
    spread = max(1, round(np.sqrt(n_tiles / MOST_TILES)))

    def tile(frames: np.ndarray) -> np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(frames, shape, axis=(1, 2))
        return windows[:, :: shape[0] * spread, :: shape[1] * spread].reshape(-1, *shape)

    return FramePairs(tile(pairs.before), tile(pairs.after))
