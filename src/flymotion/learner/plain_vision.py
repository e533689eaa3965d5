"""Early vision of frames that are free of noise, as rendered ones are: whitening and contrast normalisation.

The first pairs of patches are kept until the warm-up is complete; then whitening and contrast are fitted on them, and
stay as they are. Patches are cut at random places that depend on the seed and the pair's number alone, so that any
split of a stream gives the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flymotion.frames import FramePairs, as_frames, random_patches
from flymotion.learner.intake import Pairing, shown
from flymotion.learner.probing import N_KEPT, N_PROBES
from flymotion.learner.seen import Seen
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening

__all__ = ["PlainVision"]

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
    pairing: Pairing = field(default_factory=Pairing)
    waiting: list[FramePairs] = field(default_factory=list)
    kept: list[np.ndarray] = field(default_factory=list)
    known: FramePairs | None = None
    whitening: ZCAWhitening | None = None
    contrast: ContrastNormalization | None = None

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
            Frames that are not finite or of another size than before; the state is as it was.
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
            self.waiting.append(patches)
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

    def _paired(self, frames: Any) -> FramePairs:
        if isinstance(frames, FramePairs):
            self._check_pixels(frames.pixels)
            return frames
        frames = as_frames(frames, name="frames", first=self.n_frames)
        self._check_pixels(frames.shape[1:])
        self.n_frames += len(frames)
        return self.pairing.pair(frames)

    def _check_pixels(self, pixels: tuple[int, ...]) -> None:
        if self.pixels not in (None, pixels):
            raise ValueError(f"frames have shape {pixels}, but this learner has seen frames of {self.pixels}")
        if int(np.prod(pixels)) == 1:
            raise ValueError("frames have 1 feature(s), a single pixel; expected more, as motion is between pixels")
        if len(pixels) > 2:
            raise ValueError(f"frames have shape {pixels}; expected (n,) or (height, width)")
        self.pixels = pixels

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
