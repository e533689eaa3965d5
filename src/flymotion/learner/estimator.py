"""MotionLearner: frames in, labelled motion out.

Patches at random positions in space and time, early vision (whitening, contrast normalisation), a product feature and
nonnegative similarity matching, behind one scikit-learn estimator. After learning it is shown its own frames at known
shifts, so that its outputs have names and units.
"""

from __future__ import annotations

from collections.abc import Sequence
from mimetypes import guess_type
from typing import Any, Self
from warnings import warn

import numpy as np

from flymotion.frames import FramePairs, as_frames, random_patches
from flymotion.learner.probing import N_KEPT
from flymotion.learner.readout import N_PROBES, MotionDetectors
from flymotion.learner.tiling import batches
from flymotion.learner.video_noise import GivenWhitening
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.similarity.features import FEATURES, OuterProducts
from flymotion.similarity.initialisation import warm_up_length
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.world.conventions import as_generator

__all__ = ["MotionLearner"]

LEAST = {"n_components": 1, "patch": 2, "patches_per_pair": 1, "warm_up": 1, "n_passes": 1}
"""Smallest values of the parameters that are whole numbers."""


class MotionLearner(MotionDetectors):
    """Learn motion detectors from frames, without labels.

    Frames are taken to be free of noise, as rendered ones are. From real video, noise is what is learned like this;
    :func:`flymotion.learner.sources.learn` makes a learner that knows noise from motion.

    Parameters
    ----------
    n_components : int
        Number of detectors; one a direction, so 4 for motion in the plane and 2 along a line.
    patch : int
        Side of the square patches cut out of larger frames [pixels]; smaller frames are taken whole, and so are the
        frames of pairs whose motion is named, as rendered ones are.
    feature : str
        Product feature, see :data:`flymotion.similarity.features.FEATURES`.
    regularization : float
        Of the whitening, relative to the mean variance of a pixel.
    half_saturation : float
        Of the contrast normalisation, relative to the mean contrast.
    patches_per_pair : int
        Patches out of each pair of larger frames.
    warm_up : int
        Pairs of patches that the whitening is fitted on before learning starts.
    n_passes : int
        Passes over the movie in ``fit``.
    forgetting : float
        Of the network, see :class:`~flymotion.similarity.networks.NonnegativeSimilarityMatching`.
    random_state : int, Generator, RandomState or None
        Source of the positions of patches.

    Attributes
    ----------
    ways_ : ndarray, shape (n_components, n_parameters)
        The motion that each detector prefers, a unit vector: (x right, y down) for movies.
    directions_ : ndarray, shape (n_components,)
        Direction of image content that each detector prefers [deg]: 0 = right, 90 = up. Only of translations.
    gain_ : ndarray, shape (n_components,)
        Mean response to content moving that way, per pixel per frame.
    direction_accuracy_ : float
        Share of single patches, shifted by known amounts along the preferred directions, whose strongest detector is
        the right one; chance is one in ``n_components``. The honest score: opposed filters alone prove nothing.
    labels_ : list of str
        Names of the directions, or of the motions that pairs of frames came with.
    generators_ : Generators
        What was learned, on whitened frames; ``generators_.in_pixels()`` for raw ones.
    scale_ : int or None
        What ``transform`` and ``predict`` reduce frames by, where it was learned from video.

    Examples
    --------
    >>> from flymotion import ExponentialNoise, Line, Translation, sample_pairs
    >>> pairs = sample_pairs(ExponentialNoise(random_state=0), Line(7), Translation(0.3, ndim=1), 5000, random_state=0)
    >>> learner = MotionLearner(2).fit(pairs)
    >>> sorted(learner.labels_)
    ['left', 'right']
    """

    _last: np.ndarray | None
    _waiting: list[FramePairs]

    def __init__(
        self,
        n_components: int = 4,
        *,
        patch: int = 7,
        feature: str = "midpoint",
        regularization: float = 1e-5,
        half_saturation: float = 1.0,
        patches_per_pair: int = 200,
        warm_up: int = 5000,
        n_passes: int = 1,
        forgetting: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.patch = patch
        self.feature = feature
        self.regularization = regularization
        self.half_saturation = half_saturation
        self.patches_per_pair = patches_per_pair
        self.warm_up = warm_up
        self.n_passes = n_passes
        self.forgetting = forgetting
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------

    def fit(self, movie: Any, y: Any = None) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        movie : array, shape (n_frames, *pixels), FramePairs, or Movie
            Frames, time first; pairs; or what :func:`flymotion.video.open_movie` returns, read as a stream. Of a video
            file or camera this warns: see above.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Parameters out of range; fewer than two frames, or frames that are not finite, before anything is learned
            from them.
        """
        self._reset()
        _warn_of_noise(movie)
        for _ in range(self.n_passes):
            for frames, cut in batches(movie):
                if cut:
                    self.cut()
                self._learn(frames)
            self.cut()
        return self.finish()

    def partial_fit(self, frames: Any, y: Any = None) -> Self:
        """Learn from the next frames of a stream; the last frame is remembered, see ``cut``.

        Any split of the stream gives the same result. Until ``warm_up`` pairs of patches have been seen they are only
        kept.

        Parameters
        ----------
        frames : array, shape (n_frames, *pixels), or FramePairs
            Frames, perhaps one or none.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Frames that are not finite or of another size than before; the state is as it was.
        """
        if not hasattr(self, "n_pairs_seen_"):
            self._reset()
        self._learn(frames)
        return self

    def cut(self) -> Self:
        """Mark a cut: the next frame does not follow the last one."""
        self._last = None
        return self

    def finish(self) -> Self:
        """End a stream: learn from what was seen even if the warm-up is not complete.

        Raises
        ------
        ValueError
            No pair of frames seen.
        """
        if not getattr(self, "n_pairs_seen_", 0):
            raise ValueError("the movie has fewer than 2 consecutive frames; expected at least one pair")
        self._settle()
        return self

    def _check_parameters(self) -> None:
        for name, least in LEAST.items():
            value = getattr(self, name)
            if not (isinstance(value, (int, np.integer)) and value >= least):
                raise ValueError(f"{name} is {value!r}; expected a whole number of {least} or more")
        if self.feature not in FEATURES:
            raise ValueError(f"feature is {self.feature!r}; expected one of {', '.join(map(repr, FEATURES))}")
        if not 0 < self.forgetting <= 1:
            raise ValueError(f"forgetting is {self.forgetting!r}; expected a factor in (0, 1]")
        for name in ("regularization", "half_saturation"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected 0 or more")

    def _reset(self) -> None:
        self._check_parameters()
        for name in [n for n in vars(self) if n.endswith("_") or n in ("_last", "_waiting", "_kept", "_probed")]:
            delattr(self, name)
        self.n_pairs_seen_ = 0
        self.n_frames_seen_ = 0
        self.network_ = NonnegativeSimilarityMatching(self.n_components, forgetting=self.forgetting)
        self.seed_ = int(as_generator(self.random_state).integers(2**31))
        self._last = self._known = self.scale_ = None
        self._waiting = []
        self._kept = []

    def adopt(self, whitening: np.ndarray, pixels: tuple[int, int], scale: int) -> Self:
        """Start anew with the early vision of a video, known beforehand (:mod:`flymotion.learner.corpus`).

        What follows is :meth:`learn_seen`. ``transform`` and ``predict`` look at frames through
        :func:`flymotion.video.viewing.view`; pairs count alike whatever their contrast.

        Parameters
        ----------
        whitening : ndarray, shape (patch^2, patch^2)
            Symmetric, without a mean: :func:`flymotion.learner.video_noise.whitening`.
        pixels : (int, int)
            Of a frame as viewed.
        scale : int
            Factor to reduce frames by.

        Raises
        ------
        ValueError
            Parameters out of range; a ``half_saturation`` that is not 0.
        """
        self._reset()
        if self.half_saturation:
            raise ValueError(f"half_saturation is {self.half_saturation}; expected 0, as pairs are divided by contrast")
        self.pixels_, self.scale_ = pixels, scale
        blank = np.ones((2, len(whitening)), dtype=np.float32)
        self.whitening_ = GivenWhitening(whitening).fit(blank)
        self.contrast_ = ContrastNormalization(0.0).fit(blank)
        self._prepare_network(len(whitening))
        return self

    def learn_seen(self, pairs: FramePairs) -> Self:
        """Learn from pairs of patches, as vectors, that early vision has seen; pairs of frames are not counted."""
        self.network_.partial_fit(OuterProducts(*FEATURES[self.feature](pairs.before, pairs.after)))
        self.__dict__.pop("_probed", None)
        return self

    def probe_with(self, frames: Sequence[np.ndarray]) -> Self:
        """Keep frames, as viewed, to be probed with: shape (height, width) each, what all of them have is kept."""
        height, width = np.min([frame.shape for frame in frames], axis=0)
        self._kept = [np.asarray(frame)[:height, :width] for frame in frames][-N_KEPT:]
        self.__dict__.pop("_probed", None)
        return self

    def _learn(self, frames: Any) -> None:
        if self.scale_ is not None:
            raise ValueError(
                "this learner has learned from video; learn anew from all of it (flymotion.learner.sources.learn)"
            )
        pairs = self._new_pairs(frames)
        if len(pairs) == 0:
            return
        self._keep(pairs)
        patches = self._cut_patches(pairs)
        self.n_pairs_seen_ += len(pairs)
        self.__dict__.pop("_probed", None)
        if hasattr(self, "whitening_"):
            self.network_.partial_fit(self._features(patches))
            return
        self._waiting.append(patches)
        if sum(map(len, self._waiting)) >= self.warm_up:
            self._settle()

    def _new_pairs(self, frames: Any) -> FramePairs:
        """Check the new frames, then pair them with the last one; nothing changes if they are refused."""
        if isinstance(frames, FramePairs):
            self._check_pixels(frames.pixels)
            return frames
        frames = as_frames(frames, name="frames", first=self.n_frames_seen_)
        self._check_pixels(frames.shape[1:])
        self.n_frames_seen_ += len(frames)
        if self._last is not None:
            frames = np.concatenate([self._last[None].astype(frames.dtype), frames])
        if len(frames):
            self._last = frames[-1].copy()
        return FramePairs(frames[:-1], frames[1:])

    def _check_pixels(self, pixels: tuple[int, ...]) -> None:
        if getattr(self, "pixels_", pixels) != pixels:
            raise ValueError(f"frames have shape {pixels}, but this learner has seen frames of {self.pixels_}")
        if len(pixels) > 2:
            raise ValueError(f"frames have shape {pixels}; expected (n,) or (height, width)")
        self.pixels_ = pixels

    def _keep(self, pairs: FramePairs) -> None:
        """Keep what to probe with: pairs of known motion, or some frames, of any split of the stream the same."""
        if pairs.motion is not None and (pairs.names or not self._cuts_patches):
            known = [pairs] if self._known is None else [self._known, pairs]
            self._known = FramePairs.concatenate(known)[:N_PROBES] if len(known[0]) < N_PROBES else known[0]
            return
        numbers = np.arange(self.n_pairs_seen_, self.n_pairs_seen_ + len(pairs))
        powers_of_two = (numbers & (numbers - 1)) == 0
        self._kept = [*self._kept, *(frame.copy() for frame in pairs.before[powers_of_two])][-N_KEPT:]

    def _cut_patches(self, pairs: FramePairs) -> FramePairs:
        if not self._cuts_patches:
            return pairs
        height, width = self._patch_shape
        return random_patches(pairs, (height, width), self.patches_per_pair, seed=self.seed_, first=self.n_pairs_seen_)

    def _settle(self) -> None:
        """Fit early vision on the waiting pairs, and learn from them."""
        if hasattr(self, "whitening_"):
            return
        patches = FramePairs.concatenate(self._waiting)
        first = patches[: self.warm_up]
        whitening = ZCAWhitening(self.regularization).fit(first)
        self.contrast_ = ContrastNormalization(self.half_saturation).fit(whitening.transform(first))
        self.whitening_ = whitening
        self._waiting = []
        self._prepare_network(patches.n_pixels)
        self.network_.partial_fit(self._features(patches))

    def _prepare_network(self, n_pixels: int) -> None:
        """Let the network start from enough pairs: with fewer than two a pixel, motion does not rise above noise."""
        enough = warm_up_length(n_pixels**2, 2 * n_pixels)
        self.network_.set_params(warm_up=max(enough, min(4 * n_pixels, self.warm_up)))


def _warn_of_noise(movie: Any) -> None:
    name = str(getattr(movie, "name", ""))
    if getattr(movie, "live", False) or (hasattr(movie, "batches") and "video" in (guess_type(name)[0] or "")):
        warn(
            f"{name}: frames are learned from as if they were free of noise; flymotion.learn is for video",
            stacklevel=3,
        )
