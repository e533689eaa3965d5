"""Frames and the pairs of consecutive frames that everything here learns from.

A movie is an array ``(n_frames, *pixels)``: time first, rows counted downwards, pixels row-major. Learning
uses *pairs* of consecutive frames, ``x_t`` and ``x_{t+1}`` of Bahroun et al. 2019, Eq. 8, held as
:class:`FramePairs`. A cut between two clips is never a pair.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.models.packing import Given, Packed, packed

__all__ = ["FramePairs", "as_frames", "in_order", "not_masked", "pair_up", "random_patches", "unmasked"]


def not_masked(array: Any, name: str, what: str = "values") -> None:
    """Refuse arrays that hide entries, alone or in a list: numpy would show what they hide.

    Raises
    ------
    ValueError
        A masked array, even one that hides nothing.
    """
    if _is_masked(array):
        raise ValueError(f"{name} is a masked array; fill it or drop the masked {what} first")


def unmasked(array: Any, name: str, dtype: Any = None) -> np.ndarray:
    """Return what is given as an array, refusing one that hides entries as :func:`not_masked` does."""
    not_masked(array, name)
    return np.asarray(array, dtype=dtype)


def _is_masked(array: Any) -> bool:
    if isinstance(array, list | tuple):
        return any(_is_masked(each) for each in array if not isinstance(each, float | int))
    return np.ma.isMaskedArray(array)


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
    not_masked(movie, name, "frames")
    array = np.asarray(in_order(movie))
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}; expected real numbers of one shape a frame")
    if array.ndim < 2 or 0 in array.shape[1:]:
        raise ValueError(f"{name} has shape {array.shape}; expected (n_frames, *pixels), time first")
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    elif array.dtype.itemsize == 2:
        array = array.astype(np.float32)
    elif array.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):  # what is too large for float64 becomes infinite, and is refused as that
            array = array.astype(np.float64)
    finite = np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
    if not finite.all():
        raise ValueError(f"{name} has a NaN or infinite pixel in frame {first + int(np.argmin(finite))}")
    return array


def in_order(movie: Any, *, others_first: bool = False) -> Any:
    """Return a movie whose dimensions have names time first, then ``y``, then ``x``, as :func:`as_frames` does.

    Parameters
    ----------
    movie : array-like
        One without names is passed on.
    others_first : bool
        Whether dimensions of other names come before the time, as those of movies side by side do, or last.
    """
    dims = getattr(movie, "dims", None)
    if dims is None or not hasattr(movie, "transpose"):
        return movie
    order = [d for names in (("time", "t", "frame"), ("y", "row"), ("x", "column")) for d in names if d in dims]
    others = [d for d in dims if d not in order]
    return movie.transpose(*(others + order if others_first else order + others))


@dataclass(frozen=True)
class FramePairs:
    """Pairs of consecutive frames, with the true motion, and the eye that saw them, where these are known.

    Parameters
    ----------
    before, after : ndarray, shape (n_pairs, *pixels)
        The frames ``x_t`` and ``x_{t+1}``.
    motion : ndarray, shape (n_pairs, n_parameters), optional
        True motion, e.g. of the image content, (x right, y down) [pixels per frame].
    names : sequence of (str, str), optional
        What motion along each parameter is called, when positive and when negative.
    eye : Eye, optional
        Whose frames they are: where their pixels look, and through what optics. Frames of a hexagon have the shape of
        those of a line, and only the eye tells which they are.

    Raises
    ------
    ValueError
        Frames, motions, names or an eye that do not fit each other.

    Examples
    --------
    >>> pairs = FramePairs([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0]], motion=[1.0], names=[("right", "left")])
    >>> len(pairs), pairs.n_pixels, pairs.motion
    (1, 3, array([[1.]]))
    """

    before: np.ndarray
    after: np.ndarray
    motion: np.ndarray | None = None
    names: Sequence[tuple[str, str]] | None = None
    eye: Any = None

    __repr__ = in_brief

    def __post_init__(self) -> None:
        for field in ("before", "after"):
            object.__setattr__(self, field, as_frames(getattr(self, field), name=field))
        if self.before.shape != self.after.shape:
            raise ValueError(f"before has shape {self.before.shape} and after {self.after.shape}; expected the same")
        if self.motion is not None:
            not_masked(self.motion, "motion", "pairs")
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
        if self.eye is not None and math.prod(self.eye.shape) != self.n_pixels:
            raise ValueError(f"frames have shape {self.pixels}, and the eye {self.eye.shape}; expected as many pixels")

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, rows: Any) -> FramePairs:
        """Return the pairs of these rows (a slice, mask or index array)."""
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        motion = None if self.motion is None else self.motion[rows]
        return replace(self, before=self.before[rows], after=self.after[rows], motion=motion)

    @property
    def shape(self) -> tuple[int, ...]:
        """``(n_pairs, *pixels)``; with it the folds of scikit-learn split pairs, which no longer depend on order."""
        return self.before.shape

    @property
    def pixels(self) -> tuple[int, ...]:
        """Shape of one frame."""
        return self.before.shape[1:]

    @property
    def n_pixels(self) -> int:
        """Number of pixels of one frame."""
        return int(np.prod(self.pixels))

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> FramePairs:
        """Apply one function of ``(n_pairs, *pixels)`` to both frames of each pair; see :meth:`with_frames`."""
        return self.with_frames(function(self.before), function(self.after))

    def with_frames(self, before: np.ndarray, after: np.ndarray) -> FramePairs:
        """Return the same pairs seen otherwise.

        Warns
        -----
        UserWarning
            Frames of another number of pixels than an eye that is known: they are no longer those of that eye.
        """
        n_pixels, eye = math.prod(np.shape(before)[1:]), self.eye
        if eye is not None and n_pixels != self.n_pixels:
            warnings.warn(
                f"frames of {n_pixels} pixels are no longer those of {eye}: without an eye, a learner takes them for "
                "those of a line or a grid",
                stacklevel=3,
            )
            eye = None
        return replace(self, before=before, after=after, eye=eye)

    def flat(self) -> FramePairs:
        """Return the same pairs with each frame as a vector of ``n_pixels``."""
        return self.map(lambda frames: frames.reshape(len(frames), self.n_pixels))

    def as_seen(self) -> FramePairs:
        """Return the same pairs with each frame in the shape that its eye gives it, if it is known."""
        if self.eye is None or self.eye.shape == self.pixels:
            return self
        return self.map(lambda frames: frames.reshape(len(frames), *self.eye.shape))

    def reversed(self) -> FramePairs:
        """Return the pairs with time running backwards."""
        motion = None if self.motion is None else -self.motion
        return replace(self, before=self.after, after=self.before, motion=motion)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the pairs of again."""
        arrays = {"before": self.before, "after": self.after, "motion": self.motion}
        return packed({"names": None if self.names is None else [list(name) for name in self.names]}, arrays)

    @classmethod
    def unpack(cls, given: Given) -> FramePairs:
        """Return the pairs that were packed.

        Raises
        ------
        ValueError
            What are no pairs.
        """
        before, after = given.array("before"), given.array("after")
        motion = given.array("motion", len(before), None, types=["float64"], optional=True)
        return cls(before, after, motion, given.texts("names", None, 2, optional=True))

    @staticmethod
    def concatenate(parts: Sequence[FramePairs]) -> FramePairs:
        """Join pairs end to end: with their motion where all have it; pairs without an eye are of the eye of others.

        Raises
        ------
        ValueError
            Pairs of different eyes.
        """
        motions = [p.motion for p in parts if p.motion is not None]
        known = len(motions) == len(parts)
        eyes = [p.eye for p in parts if p.eye is not None]
        if other := [eye for eye in eyes if eye != eyes[0]]:
            raise ValueError(f"pairs of {eyes[0]} and of {other[0]}; expected those of one eye")
        return FramePairs(
            np.concatenate([p.before for p in parts]),
            np.concatenate([p.after for p in parts]),
            np.concatenate(motions) if known else None,
            parts[0].names if known and all(p.names == parts[0].names for p in parts) else None,
            eyes[0] if eyes else None,
        )


def pair_up(movie: Any, *, cuts: Sequence[int] = (), eye: Any = None) -> FramePairs:
    """Pair each frame of a movie with the next one.

    Parameters
    ----------
    movie : array-like, shape (n_frames, *pixels)
        Consecutive frames.
    cuts : sequence of int
        Numbers of the frames that begin a new clip: no pair joins such a frame to the one before.
    eye : Eye, optional
        Whose frames they are.

    Returns
    -------
    FramePairs
        ``n_frames - 1`` pairs, less one a cut.

    Raises
    ------
    ValueError
        Fewer than two frames, or frames that are not the eye's.

    Examples
    --------
    >>> pairs = pair_up([[0, 1, 2], [1, 2, 3], [8, 9, 9], [9, 9, 9]], cuts=[2])  # frame 2 begins a new clip
    >>> pairs.before.tolist(), pairs.after.tolist()
    ([[0.0, 1.0, 2.0], [8.0, 9.0, 9.0]], [[1.0, 2.0, 3.0], [9.0, 9.0, 9.0]])
    """
    frames = as_frames(movie)
    if len(frames) < 2:
        raise ValueError(f"the movie has {len(frames)} frame(s); expected at least 2 to make a pair")
    keep = np.setdiff1d(np.arange(len(frames) - 1), np.asarray(cuts, dtype=int) - 1)
    return FramePairs(frames[keep], frames[keep + 1], eye=eye)


def random_patches(pairs: FramePairs, size: tuple[int, int], per_pair: int, *, seed: int, first: int = 0) -> FramePairs:
    """Cut patches at random positions out of each pair of frames, the same position in both.

    Positions depend on the seed and the number of the pair alone, so any split of a stream gives the same patches.

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
        ``len(pairs) * per_pair`` pairs, those of one together, as :meth:`flymotion.world.eyes.Grid.part` sees them.

    Raises
    ------
    ValueError
        Frames that are not images or smaller than a patch.
    """
    pairs = pairs.as_seen()
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
    eye = None if pairs.eye is None else pairs.eye.part(*size)
    return replace(pairs, before=cut(pairs.before), after=cut(pairs.after), motion=motion, eye=eye)
