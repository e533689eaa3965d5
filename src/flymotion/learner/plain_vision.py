"""Early vision of frames that are free of noise, as rendered ones are: whitening and contrast normalisation.

The first pairs of patches are kept until the warm-up is complete; then whitening and contrast are fitted on them, and
stay as they are. Patches are cut at random places that depend on the seed and the pair's number alone, so that any
split of a stream gives the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import FramePairs, as_frames, random_patches
from flymotion.learner.intake import MOST_PATCHES, Pairing, check_same_eye, part_of, shown
from flymotion.learner.probing import N_KEPT, N_PROBES
from flymotion.learner.seen import Seen
from flymotion.models.packing import Given, Packed, packed
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.world.eyes import Eye
from flymotion.world.kinds_of_eyes import unpack_eye

__all__ = ["PlainVision"]

OPTIONS = {
    "patch": (int, 2, math.inf),
    "patches_per_pair": (int, 1, MOST_PATCHES),
    "warm_up": (int, 1, math.inf),
    "regularization": (float, 0, math.inf),
    "half_saturation": (float, 0, math.inf),
}
"""What it was given: of what kind, and the least and most that files may have."""

ALIKE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-6}
"""Difference of pixels, relative to the largest, that is rounding, as of rendering, by precision."""


@dataclass(eq=False)
class PlainVision:
    """Turns frames, or pairs of them, into the pairs of patches that the network sees.

    Attributes
    ----------
    patch : int
        Side of a patch [pixels].
    patches_per_pair, warm_up, regularization, half_saturation, seed
        As of :class:`flymotion.MotionLearner`.
    n_frames, n_pairs : int
        Frames, other than those of pairs, and pairs so far.
    pixels : tuple of int or None
        Shape of a frame.
    eye : Eye or None
        Whose frames they are, once pairs that know theirs have come; frames that come alone are taken to be of it.
    pairing : Pairing
        The frame that the next one follows.
    waiting : list of FramePairs
        Patches, until the warm-up is complete.
    kept : list of ndarray
        Frames to probe with.
    known : FramePairs or None
        Pairs whose motion came with them, to probe with instead.
    whitening, contrast : ZCAWhitening, ContrastNormalization
        None until the warm-up is complete.
    """

    patch: int
    patches_per_pair: int
    warm_up: int
    regularization: float
    half_saturation: float
    seed: int
    n_frames: int = 0
    n_pairs: int = 0
    pixels: tuple[int, ...] | None = None
    eye: Eye | None = None
    pairing: Pairing = field(default_factory=Pairing)
    waiting: list[FramePairs] = field(default_factory=list)
    kept: list[np.ndarray] = field(default_factory=list)
    known: FramePairs | None = None
    whitening: ZCAWhitening | None = None
    contrast: ContrastNormalization | None = None

    __repr__ = in_brief

    scale = None

    @property
    def seen(self) -> Seen:
        """What was seen so far."""
        return Seen(self.n_pairs, self.kept, self.known)

    @property
    def so_far(self) -> str:
        """Why nothing is learned yet."""
        if self.n_pairs and not self.waiting:
            return f"has seen {self.n_pairs} pairs of frames without texture"
        return f"has seen {self._n_waiting} pairs of patches and starts to learn after {self.warm_up}"

    @property
    def patch_shape(self) -> tuple[int, ...]:
        """Shape of a patch; that of the frames where these are taken whole."""
        assert self.pixels is not None
        return tuple(min(self.patch, size) for size in self.pixels) if self._cuts_patches else self.pixels

    @property
    def patch_eye(self) -> Eye | None:
        """What sees a patch, where the eye is known."""
        return part_of(self.eye, self.patch_shape)

    @property
    def _cuts_patches(self) -> bool:
        assert self.pixels is not None
        named = self.known is not None and self.known.names
        return len(self.pixels) == 2 and max(self.pixels) > self.patch and not named

    @property
    def _n_waiting(self) -> int:
        return sum(map(len, self.waiting))

    def read(self, movie: Any, enough: int | None = None) -> Iterator[tuple[FramePairs | None, Seen]]:
        """Yield what the network sees of a whole movie, and at the end of each batch None, with what was seen by then.

        Parameters
        ----------
        movie : array, FramePairs, Movie, or sequence of Movie
            As :func:`flymotion.learner.intake.batches` takes it.
        enough : int, optional
            Of no account here: pairs at which to stop.
        """
        yield from shown(self, movie)
        self.cut()

    def cut(self) -> None:
        """Mark a cut: the next frame does not follow the last one."""
        self.pairing.cut()

    def push(self, frames: Any) -> list[FramePairs]:
        """Take the next frames or pairs; returns pairs of patches as the network sees them.

        Raises
        ------
        ValueError
            Frames that are not finite or of another size or eye than before; the state is as it was.
        """
        pairs = self._paired(frames)
        if len(pairs) == 0:
            return []
        self._keep(pairs)
        patches = self._cut_patches(pairs)
        self.n_pairs += len(pairs)
        if self.whitening is not None:
            return [self.see(patches)]
        if not self.waiting:
            patches = patches[_first_textured(patches) :]  # nothing is whitened by the dark before a movie
        if len(patches):
            self.waiting.append(patches if self._cuts_patches else patches.map(np.copy))  # memory may be used again
        return self._settle() if self._n_waiting >= self.warm_up else []

    def flush(self) -> list[FramePairs]:
        """End a stream: return what waits for the warm-up, complete or not.

        Raises
        ------
        ValueError
            No pair of frames seen, or none with texture.
        """
        if self.n_pairs == 0:
            raise ValueError("the movie has fewer than 2 consecutive frames; expected at least one pair")
        if self.whitening is None and not self.waiting:
            raise ValueError("the pixels of each frame are all alike; expected frames with texture")
        return self._settle() if self.whitening is None else []

    def see(self, patches: FramePairs) -> FramePairs:
        """Return pairs of patches as the network sees them: vectors, whitened, divided by the pair's contrast."""
        assert self.whitening is not None and self.contrast is not None
        return self.contrast.transform(self.whitening.transform(patches.flat()))

    # -- kept --------------------------------------------------------------------------------------------------------

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the vision of again."""
        numbers = {name: getattr(self, name) for name in (*OPTIONS, "seed", "n_frames", "n_pairs")}
        return packed(
            numbers | {"pixels": None if self.pixels is None else list(self.pixels)},
            {"kept": np.array(self.kept) if self.kept else None},
            eye=self.eye,
            pairing=self.pairing,
            waiting=FramePairs.concatenate(self.waiting) if self.waiting else None,
            known=self.known,
            whitening=self.whitening,
            contrast=self.contrast,
        )

    @classmethod
    def unpack(cls, given: Given) -> PlainVision:
        """Return the vision that was packed.

        Raises
        ------
        ValueError
            What is no such vision.
        """
        options = {
            name: given.number(name, kind, least=least, most=most) for name, (kind, least, most) in OPTIONS.items()
        }
        vision = cls(**options, seed=given.seed("seed"))
        vision.n_frames, vision.n_pairs = (given.number(name, int, least=0) for name in ("n_frames", "n_pairs"))
        vision.pixels = given.sizes("pixels")
        pairing, known, waiting, whitening, contrast = (
            given.part(name, optional=name != "pairing")
            for name in ("pairing", "known", "waiting", "whitening", "contrast")
        )
        eye = given.part("eye", optional=True)
        vision.eye = None if eye is None else unpack_eye(eye)
        if vision.eye is not None and vision.eye.shape != vision.pixels:
            raise given.wrong("eye", f"one of {vision.eye.shape} pixels", f"one of {vision.pixels}")
        if len(vision.pixels) > 2:
            raise given.wrong("pixels", str(vision.pixels), "one or two sizes")
        vision.pairing = Pairing.unpack(pairing, vision.pixels)
        kept = given.array("kept", None, *vision.pixels, optional=True)
        vision.kept = [] if kept is None else list(kept)
        vision.known = None if known is None else FramePairs.unpack(known)
        vision.waiting = [] if waiting is None else [FramePairs.unpack(waiting)]
        vision.whitening = None if whitening is None else ZCAWhitening.unpack(whitening)
        vision.contrast = None if contrast is None else ContrastNormalization.unpack(contrast)
        vision._check_whole(given)
        return vision

    def _check_whole(self, given: Given) -> None:
        """Check that what was read goes together."""
        n = math.prod(self.patch_shape)
        stages = [stage for stage in (self.whitening, self.contrast) if stage is not None]
        if len(stages) == 1 or any(stage.n_features_in_ != n for stage in stages):
            raise given.wrong("whitening", "not one for its patches", f"one of {n} pixels, with a contrast, or none")
        if stages and self.waiting:
            raise given.wrong("waiting", "there, though the warm-up is complete", "none")
        if any(pairs.pixels != self.patch_shape for pairs in self.waiting):
            raise given.wrong("waiting", f"pairs of {self.waiting[0].pixels} pixels", f"patches of {self.patch_shape}")
        if self.known is not None and (
            self.known.pixels != self.patch_shape or self.known.motion is None or len(self.known) == 0
        ):
            raise given.wrong(
                "known", f"pairs of {self.known.pixels} pixels", f"some of {self.patch_shape}, with motion"
            )
        if self.n_pairs and self.known is None and not self.kept:
            raise given.wrong("kept", "missing", "frames to probe with")

    # -- pairs -------------------------------------------------------------------------------------------------------

    def _paired(self, frames: Any) -> FramePairs:
        if isinstance(frames, FramePairs):
            frames = frames.as_seen()
            self._check(frames.pixels, frames.eye)
            return frames
        frames = as_frames(frames, name="frames", first=self.n_frames)
        self._check(frames.shape[1:], self.eye)
        self.n_frames += len(frames)
        return self.pairing.pair(frames)

    def _check(self, pixels: tuple[int, ...], eye: Eye | None) -> None:
        if self.pixels not in (None, pixels):
            raise ValueError(f"frames have shape {pixels}, but this learner has seen frames of {self.pixels}")
        if int(np.prod(pixels)) == 1:
            raise ValueError("frames have 1 feature(s), a single pixel; expected more, as motion is between pixels")
        if len(pixels) > 2:
            raise ValueError(f"frames have shape {pixels}; expected (n,) or (height, width)")
        check_same_eye(self.eye, eye)
        self.pixels, self.eye = pixels, self.eye if eye is None else eye

    def _keep(self, pairs: FramePairs) -> None:
        """Keep what to probe with: pairs of known motion, or some frames, of any split of the stream the same."""
        if pairs.motion is not None and (pairs.names or not self._cuts_patches):
            known = [pairs] if self.known is None else [self.known, pairs]
            self.known = FramePairs.concatenate(known)[:N_PROBES] if len(known[0]) < N_PROBES else known[0]
            return
        numbers = np.arange(self.n_pairs, self.n_pairs + len(pairs))
        powers_of_two = (numbers & (numbers - 1)) == 0
        self.kept = [*self.kept, *(frame.copy() for frame in pairs.before[powers_of_two])][-N_KEPT:]

    def _cut_patches(self, pairs: FramePairs) -> FramePairs:
        if not self._cuts_patches:
            return pairs
        height, width = self.patch_shape
        return random_patches(pairs, (height, width), self.patches_per_pair, seed=self.seed, first=self.n_pairs)

    def _settle(self) -> list[FramePairs]:
        """Fit whitening and contrast on the waiting pairs, and return all of them as seen."""
        patches = FramePairs.concatenate(self.waiting)
        first = patches[: self.warm_up]
        whitening = ZCAWhitening(self.regularization).fit(first)
        self.contrast = ContrastNormalization(self.half_saturation).fit(whitening.transform(first))
        self.whitening, self.waiting = whitening, []
        return [self.see(patches)]


def _first_textured(patches: FramePairs) -> int:
    """Return the number of the first pair of which a frame has texture; that of all pairs if none has."""
    textured = np.zeros(len(patches), dtype=bool)
    for frames in (patches.before, patches.after):
        flat = frames.reshape(len(frames), -1)
        textured |= np.ptp(flat, axis=1) > ALIKE[flat.dtype] * np.abs(flat).max(axis=1)
    return int(np.argmax(textured)) if textured.any() else len(patches)
