"""Frames and the pairs of consecutive frames that everything here learns from.

A movie is an array ``(n_frames, *pixels)``: time first, rows counted downwards, pixels row-major. Learning
uses *pairs* of consecutive frames, ``x_t`` and ``x_{t+1}`` of Bahroun et al. 2019, Eq. 8, held as
:class:`FramePairs`. A cut between two clips is never a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["FramePairs", "as_frames", "pair_up", "random_patches", "time_first"]


def as_frames(movie: Any, *, name: str = "movie", first: int = 0) -> np.ndarray:
    """Check frames and return them as floating point, time first.

    Integers and booleans (0 and 1) become float64, so that differences never wrap; float32 and float64 keep
    their precision, float16 becomes float32. The caller's array is never changed, and not copied without need.

    Parameters
    ----------
    movie : array-like, shape (n_frames, *pixels)
        Frames; ``(n_frames, n)`` or ``(n_frames, height, width)``. An xarray ``DataArray`` with a dimension named
        ``time``, ``t`` or ``frame`` is put time first, then ``y``, then ``x``.
    name : str
        What to call the frames in an error.
    first : int
        Number of the first frame, for errors in a stream.

    Returns
    -------
    ndarray, shape (n_frames, *pixels)

    Raises
    ------
    TypeError
        Frames that are not real numbers (complex, objects, text).
    ValueError
        Ragged, masked, empty or non-finite frames, or a single image; names the frame.
    """
    if np.ma.isMaskedArray(movie):
        raise ValueError(f"{name} is a masked array; fill it or drop the masked frames first")
    array = np.asarray(time_first(movie))
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}; expected real numbers of one shape a frame")
    if array.ndim < 2 or 0 in array.shape[1:]:
        raise ValueError(f"{name} has shape {array.shape}; expected (n_frames, *pixels), time first")
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    elif array.dtype.itemsize == 2:
        array = array.astype(np.float32)
    elif array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    finite = np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
    if not finite.all():
        raise ValueError(f"{name} has a NaN or infinite pixel in frame {first + int(np.argmin(finite))}")
    return array


def time_first(movie: Any) -> Any:
    """Put named dimensions in order, time first, then rows and columns; anything else is as it was."""
    dims = getattr(movie, "dims", None)
    if dims is None or not hasattr(movie, "transpose"):
        return movie
    order = [d for names in (("time", "t", "frame"), ("y", "row"), ("x", "column")) for d in names if d in dims]
    return movie.transpose(*order, *(d for d in dims if d not in order))


@dataclass(frozen=True)
class FramePairs:
    """Pairs of consecutive frames, with the true motion where it is known.

    Parameters
    ----------
    before, after : ndarray, shape (n_pairs, *pixels)
        The frames ``x_t`` and ``x_{t+1}``.
    motion : ndarray, shape (n_pairs, n_parameters), optional
        True motion, e.g. of the image content, (x right, y down) [pixels per frame].
    names : sequence of (str, str), optional
        What motion along each parameter is called, when positive and when negative.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = pair_up(np.eye(4))
    >>> len(pairs), pairs.n_pixels
    (3, 4)
    """

    before: np.ndarray
    after: np.ndarray
    motion: np.ndarray | None = None
    names: Sequence[tuple[str, str]] | None = None

    def __post_init__(self) -> None:
        for field in ("before", "after"):
            object.__setattr__(self, field, as_frames(getattr(self, field), name=field))
        if self.before.shape != self.after.shape:
            raise ValueError(f"before has shape {self.before.shape} and after {self.after.shape}; expected the same")
        if self.motion is not None:
            motion = np.asarray(self.motion, dtype=float)
            object.__setattr__(
                self,
                "motion",
                motion[:, None] if motion.ndim == 1 else motion.reshape(len(motion), int(np.prod(motion.shape[1:]))),
            )
            if len(motion) != len(self.before):
                raise ValueError(f"{len(motion)} motions for {len(self.before)} pairs; expected one each")
        if self.names is not None and (self.motion is None or len(self.names) != self.motion.shape[1]):
            raise ValueError(f"{len(self.names)} names for motions of another number of parameters")

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, rows: Any) -> FramePairs:
        """Return the pairs of these rows (a slice, mask or index array)."""
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        motion = None if self.motion is None else self.motion[rows]
        return replace(self, before=self.before[rows], after=self.after[rows], motion=motion)

    @property
    def pixels(self) -> tuple[int, ...]:
        """Shape of one frame."""
        return self.before.shape[1:]

    @property
    def n_pixels(self) -> int:
        """Number of pixels of one frame."""
        return int(np.prod(self.pixels))

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> FramePairs:
        """Apply one function of ``(n_pairs, *pixels)`` to both frames of each pair."""
        return replace(self, before=function(self.before), after=function(self.after))

    def flat(self) -> FramePairs:
        """Return the same pairs with each frame as a vector of ``n_pixels``."""
        return self.map(lambda frames: frames.reshape(len(frames), self.n_pixels))

    def reversed(self) -> FramePairs:
        """Return the pairs with time running backwards."""
        motion = None if self.motion is None else -self.motion
        return replace(self, before=self.after, after=self.before, motion=motion)

    @staticmethod
    def concatenate(parts: Sequence[FramePairs]) -> FramePairs:
        """Join pairs end to end."""
        motions = [p.motion for p in parts if p.motion is not None]
        known = len(motions) == len(parts)
        return FramePairs(
            np.concatenate([p.before for p in parts]),
            np.concatenate([p.after for p in parts]),
            np.concatenate(motions) if known else None,
            parts[0].names if known and all(p.names == parts[0].names for p in parts) else None,
        )


def pair_up(movie: Any, *, cuts: Sequence[int] = ()) -> FramePairs:
    """Pair each frame of a movie with the next one.

    Parameters
    ----------
    movie : array-like, shape (n_frames, *pixels)
        Consecutive frames.
    cuts : sequence of int
        Numbers of the frames that begin a new clip: no pair joins such a frame to the one before.

    Returns
    -------
    FramePairs
        ``n_frames - 1`` pairs, less one a cut.

    Raises
    ------
    ValueError
        Fewer than two frames.
    """
    frames = as_frames(movie)
    if len(frames) < 2:
        raise ValueError(f"the movie has {len(frames)} frame(s); expected at least 2 to make a pair")
    keep = np.setdiff1d(np.arange(len(frames) - 1), np.asarray(cuts, dtype=int) - 1)
    return FramePairs(frames[keep], frames[keep + 1])


def random_patches(pairs: FramePairs, size: tuple[int, int], per_pair: int, *, seed: int, first: int = 0) -> FramePairs:
    """Cut patches at random positions out of each pair of frames, the same position in both.

    The positions depend on the seed and the number of the pair alone, so a stream cut up differently gives the same
    patches.

    Parameters
    ----------
    pairs : FramePairs, frames of shape (height, width)
        Whole frames.
    size : (int, int)
        Height and width of a patch [pixels].
    per_pair : int
        Patches out of each pair.
    seed : int
        Seed of the positions.
    first : int
        Number in the stream of the first of these pairs.

    Returns
    -------
    FramePairs
        ``len(pairs) * per_pair`` pairs of patches, those of one pair together.

    Raises
    ------
    ValueError
        Frames that are not images or smaller than a patch.
    """
    if len(pairs.pixels) != 2 or any(f < s for f, s in zip(pairs.pixels, size, strict=True)):
        raise ValueError(f"frames of shape {pairs.pixels} hold no patch of {size[0]} x {size[1]} pixels")
    room = np.subtract(pairs.pixels, size) + 1
    places = np.zeros((len(pairs), per_pair, 2), dtype=int)
    for i in range(len(pairs)):
        places[i] = np.random.default_rng([seed, first + i]).integers(room, size=(per_pair, 2))
    corners = places.reshape(-1, 2)
    which = np.repeat(np.arange(len(pairs)), per_pair)

    def cut(frames: np.ndarray) -> np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(frames, size, axis=(1, 2))
        return windows[which, corners[:, 0], corners[:, 1]]

    motion = None if pairs.motion is None else pairs.motion[which]
    return replace(pairs, before=cut(pairs.before), after=cut(pairs.after), motion=motion)
