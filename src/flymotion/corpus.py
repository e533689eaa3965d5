r"""From videos to the pairs of patches worth learning from.

With plain whitening, what is learned from compressed video is sensor and codec noise. Here a video is first looked at,
and then read as a stream of pairs in which motion is the leading component:

1. *Scale.* Frames are reduced by area averages until contents move by less than a pixel, :func:`choose_scale`.
2. *Optics.* A Gaussian blur of ``OPTICS`` reduced pixels, :func:`view`, since without it the finest frequencies are
   mostly codec noise.
3. *Noise and whitening.* What changes more than motion explains is filtered out: :mod:`flymotion.noise`.
4. *Selection* of patches with contrast, that change as by sub-pixel motion, and whose texture is not oblique
   (:func:`worthwhile`).
5. *Balance.* Each pair is shown in all 16 guises: four turns, mirrored or not, forth and back (:func:`guise`), so that
   the statistics of a clip that moves mostly one way are those of motion every way.

Speeds are in pixels of the reduced frames, per frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np

from flymotion.frames import FramePairs, as_frames, random_patches
from flymotion.noise import Moments, contrasts, moments, random_pairs, speeds, symmetries, whitened
from flymotion.scenes import as_generator
from flymotion.video.luminance import area_sums

__all__ = ["PatchStream", "Survey", "choose_scale", "guise", "reduce", "survey", "view", "worthwhile"]

OPTICS = 0.7
"""Standard deviation of the optics [reduced pixels]."""

SLOW = 0.75
"""Median speed at which a scale is fine enough [reduced pixels per frame]."""

SPEEDS = (0.15, 0.8)
"""Speeds worth learning from: slower is noise, faster is no derivative [reduced pixels per frame]."""

OBLIQUE = 0.4
"""How upright or level the texture of a patch has to be: cotangent of twice its angle to the nearest axis."""

ROOM = 4
"""Patches that have to fit along the shorter side of reduced frames."""

STRETCH, HELD_OUT = 30, 3
"""Of so many pairs of frames in a row, the last so many are held out."""

POOL = 5000
"""Pairs of patches gathered before they are shown, mixed: those of one moment are too much alike to start from."""

N_KEPT = 8
"""Held-out frames kept."""


# -- scale and optics ------------------------------------------------------------------------------------------------


def reduce(frames: np.ndarray, factor: int) -> np.ndarray:
    """Reduce frames by area averages; rows and columns left over at the end are dropped.

    Parameters
    ----------
    frames : ndarray, shape (n_frames, height, width)
        Frames.
    factor : int
        Side of the squares that become one pixel [pixels].

    Returns
    -------
    ndarray, shape (n_frames, height // factor, width // factor), float32

    Examples
    --------
    >>> reduce(np.arange(12.0).reshape(1, 3, 4), 2)
    array([[[2.5, 4.5]]], dtype=float32)
    """
    sums = [area_sums(frame.astype(np.float32), factor) for frame in frames]
    shape = (len(frames), *(side // factor for side in frames.shape[1:]))
    return np.reshape(sums, shape).astype(np.float32) / np.float32(factor**2)


def view(frames: Any, scale: int) -> np.ndarray:
    """Return frames as the learner's eye sees them: reduced by ``scale``, then blurred by the optics; float32."""
    return _blurred(reduce(np.asarray(frames), scale))


def _blurred(frames: np.ndarray) -> np.ndarray:
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(frames, (0, OPTICS, OPTICS), truncate=3.0)


def choose_scale(clips: Sequence[np.ndarray], patch: int, random_state: Any = None) -> int:
    """Choose the factor to reduce frames by: the least power of two at which motion is sub-pixel.

    Motion is the median speed of patches of more than median contrast. Where no scale that leaves room for ``ROOM``
    patches will do, it is the largest of those.

    Parameters
    ----------
    clips : sequence of ndarray, shape (n_frames, height, width)
        Frames in a row, cut from clip to clip.
    patch : int
        Side of the patches to learn from [reduced pixels].
    random_state : int, Generator, RandomState or None
        Source of the places looked at.

    Raises
    ------
    ValueError
        Frames smaller than a patch, or no two in a row.
    """
    rng, scale, reduced = as_generator(random_state), 1, [reduce(clip, 1) for clip in clips]
    while True:
        before, after = random_pairs([_blurred(clip) for clip in reduced], patch, rng)
        contrast = before.std(axis=(1, 2))
        textured = (contrast >= np.median(contrast)) & (contrast > 0)
        fine = not textured.any() or np.median(speeds(before[textured], after[textured])) < SLOW
        if fine or min(clips[0].shape[1:]) < 2 * scale * ROOM * patch:
            return scale
        scale, reduced = 2 * scale, [reduce(clip, 2) for clip in reduced]


# -- selection and balance -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Survey:
    """What looking at a video said.

    Attributes
    ----------
    patch : int
        Side of the patches to learn from [reduced pixels].
    scale : int
        Factor to reduce frames by.
    contrast : float
        Median contrast of patches, below which they are not learned from [grey levels].
    moments : Moments
        Of the patches.
    """

    patch: int
    scale: int
    contrast: float
    moments: Moments


def survey(clips: Sequence[Any], patch: int = 9, random_state: Any = None) -> Survey:
    """Look at the beginning of a video.

    Parameters
    ----------
    clips : sequence of array, shape (n_frames, height, width)
        Frames in a row, cut from clip to clip, as decoded.
    patch : int
        Side of the patches to learn from [reduced pixels].
    random_state : int, Generator, RandomState or None
        Source of the places looked at.

    Raises
    ------
    ValueError
        Frames that are not finite or smaller than a patch, or no two in a row.
    """
    rng = as_generator(random_state)
    checked = [as_frames(clip, name="clip") for clip in clips]
    scale = choose_scale(checked, patch, rng)
    viewed = [view(clip, scale) for clip in checked]
    contrast = float(np.median(contrasts(*random_pairs(viewed, patch, rng))))
    return Survey(patch, scale, contrast, moments(viewed, patch, rng))


def worthwhile(before: np.ndarray, after: np.ndarray, contrast: float, Z: np.ndarray) -> np.ndarray:
    r"""Say which pairs of patches are worth learning from.

    Those of enough contrast, that change as by motion within ``SPEEDS``, and whose texture, as whitened, is not
    oblique: :math:`|\langle x_h^2 - x_v^2 \rangle| \ge 2 h |\langle x_h x_v \rangle|` for its derivatives along rows
    and columns. An edge tells only the motion across it, so edges decide in which two axes motion is taken apart; with
    oblique edges prevailing, four detectors for the diagonals are as good as four for the axes.

    Parameters
    ----------
    before, after : ndarray, shape (n_pairs, patch, patch)
        Patches.
    contrast : float
        Least standard deviation of a patch.
    Z : ndarray, shape (n, n)
        Whitening.

    Returns
    -------
    ndarray of bool, shape (n_pairs,)
    """
    worth = contrasts(before, after) >= max(contrast, np.finfo(np.float32).tiny)
    fast = speeds(before[worth], after[worth])
    worth[worth] = (fast > SPEEDS[0]) & (fast < SPEEDS[1])
    middle = (before[worth] + after[worth]).reshape(-1, len(Z)) @ Z
    middle = middle.reshape(-1, *before.shape[1:])
    across, down = middle[:, 1:-1, 2:] - middle[:, 1:-1, :-2], middle[:, 2:, 1:-1] - middle[:, :-2, 1:-1]
    upright, oblique = (across**2 - down**2).mean(axis=(1, 2)), (across * down).mean(axis=(1, 2))
    worth[worth] = np.abs(upright) >= 2 * OBLIQUE * np.abs(oblique)
    return worth


def guise(before: np.ndarray, after: np.ndarray, which: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return each pair of square patches in one of its 16 guises: turned, mirrored, and with time reversed.

    Over all 16, any second moment has the symmetries of the square exactly, and motion is as often one way as the
    other.

    Parameters
    ----------
    before, after : ndarray, shape (n_pairs, patch, patch)
        Patches.
    which : int or array-like of int, shape (n_pairs,)
        Guise of each pair, 0 to 15; 0 is as it is, and from 8 on time is reversed.

    Returns
    -------
    before, after : ndarray, shape (n_pairs, patch, patch)
    """
    n, side, _ = before.shape
    which = np.broadcast_to(which, n)
    shown = np.empty((2, n, side**2), dtype=before.dtype)
    for i in np.unique(which):
        rows, pair = which == i, (before, after)[:: -1 if i >= 8 else 1]
        for j, patches in enumerate(pair):
            shown[j, rows] = patches[rows].reshape(-1, side**2)[:, symmetries(side)[i % 8]]
    return shown[0].reshape(before.shape), shown[1].reshape(before.shape)


class PatchStream:
    """The pairs worth learning from, of frames as they come; any split of the stream gives the same pairs.

    Parameters
    ----------
    seen : Survey
        Of this video.
    Z : ndarray, shape (n, n)
        Whitening that textures are looked at through, perhaps of several videos: :func:`flymotion.noise.whitening`.
    n_candidates : int
        Patches to choose from, of each pair of frames.
    seed : int
        Of their places, and of the order that pairs are shown in.

    Attributes
    ----------
    n_pairs_seen : int
        Pairs of frames so far.
    held_out : list of ndarray, shape (height, width)
        The last ``N_KEPT`` frames kept for scoring, as viewed; no pair that is learned from touches them.
    """

    def __init__(self, seen: Survey, Z: np.ndarray, *, n_candidates: int = 200, seed: int = 0) -> None:
        self.seen, self.Z = seen, Z
        self.n_candidates, self.seed = n_candidates, seed
        self.n_pairs_seen = 0
        self.held_out: list[np.ndarray] = []
        self._last: np.ndarray | None = None
        self._gathered: list[FramePairs] = []

    def cut(self) -> Self:
        """Mark a cut: the next frame does not follow the last one."""
        self._last = None
        return self

    def push(self, frames: Any) -> Iterator[FramePairs]:
        """Take the next frames; yields pairs of patches, as whitened, whenever enough are gathered.

        A generator: nothing happens until it is looped over.

        Parameters
        ----------
        frames : array-like, shape (n_frames, height, width)
            As decoded.

        Raises
        ------
        ValueError
            Frames that are not finite; the state is as it was.
        """
        viewed = view(as_frames(frames, name="frames"), self.seen.scale)
        joined = viewed if self._last is None else np.concatenate([self._last[None], viewed])
        if len(joined):
            self._last = joined[-1].copy()
        for before, after in pairwise(joined):
            self._take(before, after)
            if sum(map(len, self._gathered)) >= POOL:
                yield from self.flush()

    def flush(self) -> Iterator[FramePairs]:
        """Yield the pairs gathered, as whitened: 16 times all of them, mixed, each time each in another guise."""
        if not any(map(len, self._gathered)):
            return
        pairs = whitened(FramePairs.concatenate(self._gathered), self.Z)  # before, as Z commutes with the symmetries
        self._gathered = []
        rng = np.random.default_rng([self.seed, 2, self.n_pairs_seen])
        first = rng.integers(16, size=len(pairs))
        for i in range(16):
            order = rng.permutation(len(pairs))
            yield FramePairs(*guise(pairs.before[order], pairs.after[order], (first[order] + i) % 16))

    def _take(self, before: np.ndarray, after: np.ndarray) -> None:
        number = self.n_pairs_seen
        self.n_pairs_seen += 1
        place = number % STRETCH - (STRETCH - HELD_OUT)
        if place < 0:
            self._gathered.append(self._choose(FramePairs(before[None], after[None]), number))
        elif place == 1:  # the pairs on either side of this frame are not learned from
            self.held_out = [*self.held_out, before.copy()][-N_KEPT:]

    def _choose(self, pair: FramePairs, number: int) -> FramePairs:
        size = self.seen.patch
        patches = random_patches(pair, (size, size), self.n_candidates, seed=self.seed, first=number)
        return patches[worthwhile(patches.before, patches.after, self.seen.contrast, self.Z)]
