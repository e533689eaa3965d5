r"""From videos to the pairs of patches worth learning from.

With plain whitening, what is learned from compressed video is sensor and codec noise. Here a video is first looked at,
and then read as a stream of pairs in which motion is the leading component:

1. *Scale.* Frames are reduced by area averages until contents move by less than a pixel
   (:mod:`flymotion.video.viewing`).
2. *Optics.* A slight Gaussian blur, since without it the finest frequencies are mostly codec noise.
3. *Noise and whitening.* What changes more than motion explains is filtered out: :mod:`flymotion.learner.video_noise`.
4. *Selection* of patches with contrast, that change as by sub-pixel motion, and whose texture is not oblique
   (:func:`worthwhile`).
5. *Balance.* Each pair is shown in all 16 guises: four turns, mirrored or not, forth and back (:func:`guise`), so that
   the statistics of a clip that moves mostly one way are those of motion every way.
6. *Mixing.* Pairs of many moments, of all videos, are gathered before they are shown (:class:`Pool`).

Speeds are in pixels of the reduced frames, per frame. Longer than 350 lines: what is kept of each part is packed and
unpacked beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import FramePairs, as_frames, random_patches
from flymotion.learner.changes import SPEEDS, UNCHANGED, Changes, counted
from flymotion.learner.intake import MOST_PATCHES, Pairing
from flymotion.learner.probing import N_KEPT
from flymotion.learner.seen import Watched
from flymotion.learner.video_noise import Moments, moments, symmetries, whitened
from flymotion.models.packing import Given, Packed, packed
from flymotion.video.viewing import choose_scale, contrasts, random_pairs, speeds, view
from flymotion.world.conventions import as_generator

__all__ = ["GUISES", "PatchStream", "Pool", "Survey", "guise", "survey", "worthwhile"]

GUISES = 16
"""Ways in which each pair of patches is shown."""

OBLIQUE = 0.4
"""How upright or level the texture of a patch has to be: cotangent of twice its angle to the nearest axis."""

STRETCH, HELD_OUT = 30, 3
"""Of so many pairs of frames in a row, the last so many are held out."""

COUNTS = ("n_pairs_seen", "n_candidates_seen", "n_chosen")
"""What a stream counts."""

N_COUNTED = 64
"""Patches of each pair of frames, at most, of which it is counted what changes."""

POOL = 5000
"""Pairs of patches gathered before they are shown, mixed: those of one moment are too much alike to start from."""


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
    last : ndarray, shape (height, width)
        The last frame looked at, as viewed.
    """

    patch: int
    scale: int
    contrast: float
    last: np.ndarray

    __repr__ = in_brief

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the survey of again; a contrast that is not known as None."""
        contrast = None if np.isnan(self.contrast) else self.contrast
        return packed({"patch": self.patch, "scale": self.scale, "contrast": contrast}, {"last": self.last})

    @classmethod
    def unpack(cls, given: Given) -> Survey:
        """Return the survey that was packed."""
        patch, scale = given.number("patch", int, least=2), given.number("scale", int, least=1)
        contrast, last = given.number("contrast", least=0, optional=True), given.array("last", None, None)
        if min(last.shape) < patch:
            raise given.wrong("last", f"of {last.shape} pixels", f"frames that hold a patch of {patch}")
        return cls(patch, scale, np.nan if contrast is None else float(contrast), last)


def survey(clips: Sequence[Any], patch: int = 9, random_state: Any = None) -> tuple[Survey, Moments]:
    """Look at the beginning of a video.

    Parameters
    ----------
    clips : sequence of array, shape (n_frames, height, width)
        Frames in a row, cut from clip to clip, as decoded.
    patch : int
        Side of the patches to learn from [reduced pixels].
    random_state : int, Generator, RandomState or None
        Source of the places looked at.

    Returns
    -------
    Survey
        What to look for in the rest of it.
    Moments
        Of its patches, which the whitening is made of.

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
    return Survey(patch, scale, contrast, viewed[-1][-1]), moments(viewed, patch, rng)


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
    rows = np.arange(len(before))
    first, second = _picked(_turned(before, after), rows, np.broadcast_to(which, len(before)))
    return first.reshape(before.shape), second.reshape(after.shape)


def _turned(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return both patches of each pair in their eight symmetries, as vectors: shape (2, n_pairs, 8, patch^2)."""
    n, side, _ = before.shape
    return np.take(np.stack([before, after]).reshape(2, n, side**2), symmetries(side), axis=2)


def _picked(turned: np.ndarray, rows: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    time, way = which // 8, which % 8
    return turned[time, rows, way], turned[1 - time, rows, way]


@dataclass(eq=False)
class PatchStream:
    """Chooses the pairs worth learning from, of frames as they come; any split of the stream gives the same pairs.

    Attributes
    ----------
    survey : Survey
        Of this video.
    Z : ndarray, shape (n, n)
        Whitening that textures are looked at through, perhaps of several videos:
        :func:`flymotion.learner.video_noise.whitening`.
    n_candidates : int
        Patches to choose from, of each pair of frames.
    seed : int
        Of their places.
    name : str
        Of the video.
    pairing : Pairing
        The frame that the next one follows.
    n_pairs_seen : int
        Pairs of frames so far.
    n_candidates_seen, n_chosen : int
        Patches so far, and those of them that were worth learning from.
    held_out : list of ndarray, shape (height, width)
        The last ``N_KEPT`` frames kept for scoring, as viewed; no pair that is learned from touches them.
    changes : Changes or None
        What changes from frame to frame; None where that was not kept.
    """

    survey: Survey
    Z: np.ndarray
    n_candidates: int = 200
    seed: int = 0
    name: str = "frames"
    pairing: Pairing = field(default_factory=Pairing)
    n_pairs_seen: int = 0
    n_candidates_seen: int = 0
    n_chosen: int = 0
    held_out: list[np.ndarray] = field(default_factory=list)
    changes: Changes | None = UNCHANGED

    __repr__ = in_brief

    def __post_init__(self) -> None:
        self.pairing.scale = self.survey.scale

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the stream of again, but for its whitening."""
        numbers = {name: getattr(self, name) for name in ("n_candidates", "seed", "name", *COUNTS)}
        held_out = np.array(self.held_out) if self.held_out else None
        parts = {"survey": self.survey, "pairing": self.pairing}
        parts |= {} if self.changes is None else {"changes": self.changes}  # as in files of before it was counted
        return packed(numbers, {"held_out": held_out}, **parts)

    @classmethod
    def unpack(cls, given: Given, Z: np.ndarray) -> PatchStream:
        """Return the stream that was packed, of the whitening that it shares with others.

        Raises
        ------
        ValueError
            What is no such stream.
        """
        survey = Survey.unpack(given.part("survey"))
        if survey.patch**2 != len(Z):
            raise given.wrong("survey.patch", str(survey.patch), f"that of a whitening of {len(Z)} pixels")
        held_out = given.array("held_out", None, *survey.last.shape, optional=True)
        if held_out is not None and not 1 <= len(held_out) <= N_KEPT:
            raise given.wrong("held_out", f"{len(held_out)} frames", f"1 to {N_KEPT}")
        return cls(
            survey,
            Z,
            n_candidates=given.number("n_candidates", int, least=1, most=MOST_PATCHES),
            seed=given.seed("seed"),
            name=given.number("name", str),
            pairing=Pairing.unpack(given.part("pairing"), survey.last.shape, survey.scale),
            **{name: given.number(name, int, least=0) for name in COUNTS},
            held_out=[] if held_out is None else list(held_out),
            changes=Changes.unpack(given.part("changes")) if given.has("changes") else None,
        )

    @property
    def watched(self) -> Watched:
        """What was learned from so far."""
        share = self.n_chosen / max(self.n_candidates_seen, 1)
        seen = self.name, self.survey.scale, self.n_pairs_seen, share, len(self.held_out)
        return Watched(*seen, self.changes)

    def cut(self) -> Self:
        """Mark a cut: the next frame does not follow the last one."""
        if self.pairing.last is not None and self.changes is not None:
            self.changes += Changes(n_clips=1)
        self.pairing.cut()
        return self

    def push(self, frames: Any) -> list[FramePairs]:
        """Take the next frames; returns the pairs of patches worth learning from, of each pair of frames.

        Parameters
        ----------
        frames : array-like, shape (n_frames, height, width)
            As decoded.

        Raises
        ------
        ValueError
            Frames that are not finite; the state is as it was.
        """
        pairs = self.pairing.pair(as_frames(frames, name="frames"))
        first = self.n_pairs_seen
        self.n_pairs_seen += len(pairs)
        places = np.arange(first, self.n_pairs_seen) % STRETCH - (STRETCH - HELD_OUT)
        for frame in pairs.before[places == 1]:  # the pairs on either side of it are not learned from
            self.held_out = [*self.held_out, frame.copy()][-N_KEPT:]
        return self._choose(pairs, first, np.flatnonzero(places < 0)) if len(pairs) else []

    def _choose(self, pairs: FramePairs, first: int, to_learn: np.ndarray) -> list[FramePairs]:
        size, n = self.survey.patch, self.n_candidates
        patches = random_patches(pairs, (size, size), n, seed=self.seed, first=first)
        worth = worthwhile(patches.before, patches.after, self.survey.contrast, self.Z)
        self._count(patches)
        chosen = [patches[i * n + np.flatnonzero(worth[i * n : (i + 1) * n])] for i in to_learn]
        self.n_candidates_seen += n * len(to_learn)
        self.n_chosen += sum(map(len, chosen))
        return chosen

    def _count(self, patches: FramePairs) -> None:
        """Count what changes in some of the patches of each pair of frames."""
        if self.changes is not None:
            n_pairs, some = len(patches) // self.n_candidates, min(self.n_candidates, N_COUNTED)
            which = np.arange(len(patches)).reshape(n_pairs, self.n_candidates)[:, :some].ravel()
            looked = counted(patches.before[which], patches.after[which], self.survey.contrast)
            self.changes += looked._replace(n_pairs=n_pairs)


@dataclass(eq=False)
class Pool:
    """Gathers pairs of patches, and shows them mixed, as whitened, in every guise.

    Attributes
    ----------
    Z : ndarray, shape (n, n)
        Whitening: :func:`flymotion.learner.video_noise.whitening`.
    seed : int
        Of the order.
    gathered : list of FramePairs
        Pairs that wait to be shown.
    n_shown : int
        Pairs shown so far, not counting guises.
    """

    Z: np.ndarray
    seed: int = 0
    gathered: list[FramePairs] = field(default_factory=list)
    n_shown: int = 0

    __repr__ = in_brief

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the pool of again."""
        gathered = FramePairs.concatenate(self.gathered) if self.gathered else None
        return packed({"seed": self.seed, "n_shown": self.n_shown}, {"Z": self.Z}, gathered=gathered)

    @classmethod
    def unpack(cls, given: Given, patch: int) -> Pool:
        """Return the pool that was packed, of patches of this side.

        Raises
        ------
        ValueError
            What is no such pool.
        """
        Z, gathered = given.array("Z", patch**2, patch**2, types=["float32"]), given.part("gathered", optional=True)
        pairs = [] if gathered is None else [FramePairs.unpack(gathered)]
        if any(each.pixels != (patch, patch) or each.motion is not None for each in pairs):
            raise given.wrong("gathered", f"pairs of {pairs[0].pixels} pixels", f"patches of {patch} x {patch}")
        return cls(Z, given.seed("seed"), pairs, given.number("n_shown", int, least=0))

    def add(self, pairs: FramePairs) -> Iterator[FramePairs]:
        """Gather pairs of patches; returns what is shown once there are ``POOL`` of them, as :meth:`flush` does."""
        if len(pairs):
            self.gathered.append(pairs)
        return self.flush() if sum(map(len, self.gathered)) >= POOL else iter(())

    def flush(self) -> Iterator[FramePairs]:
        """Return the pairs gathered, as whitened: 16 times all of them, mixed, each time each in another guise.

        Patches come as vectors, shape (n_pairs, patch^2).
        """
        if not self.gathered:
            return iter(())
        pairs = whitened(FramePairs.concatenate(self.gathered), self.Z)  # before, as Z commutes with the symmetries
        rng = np.random.default_rng([self.seed, 2, self.n_shown])
        self.gathered = []
        self.n_shown += len(pairs)
        return _in_all_guises(pairs, rng)


def _in_all_guises(pairs: FramePairs, rng: np.random.Generator) -> Iterator[FramePairs]:
    turned = _turned(pairs.before, pairs.after)
    first = rng.integers(GUISES, size=len(pairs))
    for i in range(GUISES):
        order = rng.permutation(len(pairs))
        yield FramePairs(*_picked(turned, order, (first[order] + i) % GUISES))
