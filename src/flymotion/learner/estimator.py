"""MotionLearner: frames in, labelled motion out.

Early vision, a product feature and nonnegative similarity matching, behind one scikit-learn estimator. It has one life:
frames come in, early vision turns them into pairs of patches, and the network learns from these. When asked, it is
shown its own frames at known shifts, so that its outputs have names and units. What it does is in ``learned_state`` and
in its early vision. Longer than 350 lines: this is what users see, parameters, attributes and methods, each described.
"""

from __future__ import annotations

from collections.abc import Iterator
from mimetypes import guess_type
from typing import Any, Self
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from flymotion.frames import not_masked
from flymotion.generators import Generators
from flymotion.learner.intake import is_corpus
from flymotion.learner.learned_state import LearnedState
from flymotion.learner.seen import Watched
from flymotion.learner.starting import first_state, follow, parameters
from flymotion.learner.verdict import Verdict
from flymotion.models.packing import Given, Packed, packed, seed_of
from flymotion.photoreceptors.stage import EarlyVision
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.world.eyes import Eye

__all__ = ["MotionLearner"]


class MotionLearner(TransformerMixin, BaseEstimator):
    """Learn motion detectors from frames, without labels.

    Parameters
    ----------
    n_components : int
        Number of detectors; one a direction, so 4 for motion in the plane and 2 along a line.
    vision : {"plain", "video"}
        Early vision. Plain: whitening and contrast normalisation, for frames that are free of noise, as rendered ones
        are; of real video, noise is what is learned like this. Video: its beginning is looked at, to tell motion from
        noise and to reduce frames until motion is a fraction of a pixel; then only patches worth learning from are
        learned from, in all 16 guises, and pairs count alike whatever their contrast.
    patch : int, optional
        Side of the square patches cut out of frames [pixels; of video, as reduced]; by default 7, and 9 of video.
        Without noise, smaller frames are taken whole, and so are the frames of pairs whose motion is named, as rendered
        ones are.
    feature : str, optional
        Product feature, see :data:`flymotion.similarity.features.FEATURES`; by default "midpoint", and "antisymmetric"
        of video.
    regularization : float
        Of the whitening of plain vision, relative to the mean variance of a pixel.
    half_saturation : float
        Of the contrast normalisation of plain vision, relative to the mean contrast.
    patches_per_pair : int
        Patches out of each pair of larger frames; of video, to choose from.
    warm_up : int
        Pairs of patches that plain vision is fitted on before learning starts.
    n_passes : int
        Passes over the movie in ``fit``.
    forgetting : float
        Of the network, see :class:`~flymotion.similarity.networks.NonnegativeSimilarityMatching`.
    random_state : int, Generator, RandomState or None
        Source of the positions of patches.

    Attributes
    ----------
    ways_ : ndarray, shape (n_components, n_parameters)
        The motion that each detector prefers, a unit vector: (x right, y down) for movies. NaN of silent detectors,
        which answer no motion.
    directions_ : ndarray, shape (n_components,)
        Direction of image content that each detector prefers [deg]: 0 = right, 90 = up; NaN of silent ones. Only of
        translations. By its responses to known shifts of frames as were seen; what the shape of its filter says,
        ``generators_.directions()``, is the direction that detectors are turned by, and within about 5 degrees of it.
    gain_ : ndarray, shape (n_components,)
        Mean response to content moving that way, per pixel per frame; 0 of silent ones.
    direction_accuracy_ : float
        Share of single patches, shifted by known amounts along the preferred directions, whose strongest detector is
        the right one; chance is one in ``n_components``, and of a single detector, which would always be right, it is
        NaN. The honest score: opposed filters alone prove nothing.
    verdict_ : Verdict
        Whether learning has succeeded: each motion has a detector of its own, which tells it from the opposite one, and
        enough single patches are right. Where not, the reasons, what in the videos explains them, and what may help.
    labels_ : list of str
        Names of the directions, or of the motions that pairs of frames came with; "silent" of detectors that answer
        none.
    motions_ : tuple of (str, str)
        Names of the motion along each parameter, when positive and when negative.
    generators_ : Generators
        What was learned, on whitened frames; ``generators_.in_pixels()`` for raw ones.
    eye_ : Eye or None
        Whose frames these were, where pairs came that know theirs; ``generators_.eye`` is what sees a patch of them.
    scale_ : int or None
        What ``transform`` and ``predict`` reduce frames by, where it was learned from video: of several that of the
        first.
    watched_ : tuple of Watched
        What was learned from each video.
    n_frames_seen_, n_pairs_seen_, n_patches_seen_ : int
        Frames, pairs of frames, and pairs of patches learned from.
    whitening_, contrast_, network_ : EarlyVision, EarlyVision, NonnegativeSimilarityMatching
        What frames go through.

    Notes
    -----
    Names and units (``ways_``, ``directions_``, ``gain_``, ``direction_accuracy_``, ``labels_``, ``verdict_``) are
    found out when first asked for after learning, by probing with known motion, and kept. Which motions there are
    (``motions_``) is known without. Plain vision warns then of silent detectors and, from 5000 pairs of patches on,
    where there is a detector a motion, where ``verdict_`` is not ok or detectors are oblique; at the end of ``fit``
    where pairs come with their motion.

    Once learning has begun, ``forgetting`` and ``n_passes`` may be set anew; ``random_state`` counts at the next
    ``fit``, and any other parameter that is changed is an error until then.

    Examples
    --------
    >>> from flymotion import ExponentialNoise, Line, Translation, sample_pairs
    >>> pairs = sample_pairs(ExponentialNoise(random_state=0), Line(7), Translation(0.3, ndim=1), 5000, random_state=0)
    >>> learner = MotionLearner(2).fit(pairs)
    >>> sorted(learner.labels_)
    ['left', 'right']
    >>> shifts = learner.predict(pairs)  # in pixels per frame, of single pairs of seven pixels
    >>> round(float(np.corrcoef(shifts[:, 0], pairs.motion[:, 0])[0, 1]), 1)
    0.8
    """

    _state: LearnedState

    def __init__(
        self,
        n_components: int = 4,
        *,
        vision: str = "plain",
        patch: int | None = None,
        feature: str | None = None,
        regularization: float = 1e-5,
        half_saturation: float = 1.0,
        patches_per_pair: int = 200,
        warm_up: int = 5000,
        n_passes: int = 1,
        forgetting: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.vision = vision
        self.patch = patch
        self.feature = feature
        self.regularization = regularization
        self.half_saturation = half_saturation
        self.patches_per_pair = patches_per_pair
        self.warm_up = warm_up
        self.n_passes = n_passes
        self.forgetting = forgetting
        self.random_state = random_state

    # -- kept ----------------------------------------------------------------------------------------------------

    def pack(self) -> Packed:
        """Return all that learning goes on from, as :meth:`unpack` takes it.

        A ``random_state`` that is no number is not kept: what was drawn from it is.

        Raises
        ------
        ValueError
            A learner that has seen no frames, or whose parameters were changed since learning began.
        """
        if not hasattr(self, "_state") or self._state.vision.pixels is None:
            raise ValueError("the learner has seen no frames; fit it before saving")
        follow(self, self._state)
        return packed({"parameters": self.get_params() | {"random_state": seed_of(self)}}, state=self._state)

    @classmethod
    def unpack(cls, given: Given) -> Self:
        """Return the learner that was packed.

        Raises
        ------
        ValueError
            What is no such learner.
        """
        learner = cls(**parameters(given.part("parameters")))
        learner._state = LearnedState.unpack(given.part("state"), type(first_state(learner).vision))
        found = learner.network_.n_components
        if learner.n_components != found:
            raise given.wrong("parameters.n_components", str(learner.n_components), f"{found}, as of the network")
        return learner

    # -- learning ------------------------------------------------------------------------------------------------

    def fit(self, movie: Any, y: Any = None) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        movie : array, shape (n_frames, *pixels), FramePairs, Movie, or sequence of Movie
            Frames, time first; pairs, but not of video; or what :func:`flymotion.video.open_movie` returns, read as a
            stream. Several movies are one corpus. Without ``vision="video"``, a video file or camera makes this warn.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Parameters out of range; fewer than two frames, or frames that are not finite, before anything is learned
            from them; frames that never change or have no texture; video without a pair of patches worth learning from.
        """
        if self.vision == "plain":
            _warn_of_noise(movie)
        for _ in self.steps(movie):
            pass
        return self

    def steps(self, movie: Any, *, enough: int | None = None) -> Iterator[Self]:
        """Learn from scratch as ``fit`` does, and yield the learner after each batch of frames, to tell how it goes.

        Movies of video are read ahead, so that until the last step the learner answers, but must not be saved.

        Parameters
        ----------
        movie : array, FramePairs, Movie, or sequence of Movie
            As ``fit`` takes it.
        enough : int, optional
            About how many pairs of patches to learn from, of video that is live; by default until it ends.

        Raises
        ------
        ValueError
            As ``fit``.
        """
        state = self._state = first_state(self)
        for _ in range(self.n_passes):
            for pairs, seen in state.vision.read(movie, enough):
                state.learn(pairs, seen)
                if pairs is None:
                    yield self
        self.finish()

    def partial_fit(self, frames: Any, y: Any = None) -> Self:
        """Learn from the next frames of a stream; the last frame is remembered, see ``cut``.

        Any split of the stream gives the same result. Until ``warm_up`` pairs of patches have been seen, or the
        beginning of a video has been looked at, they are only kept.

        Parameters
        ----------
        frames : array, shape (n_frames, *pixels), or FramePairs
            Frames, perhaps one or none; no pairs of video. After several videos these are of the first.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Frames that are not finite, of another size than before, or pairs of another eye; parameters other than
            ``forgetting`` and ``n_passes`` that were changed since learning began; the state is as it was.
        """
        self._go_on()
        self._learn(self._state.vision.push(frames))
        return self

    def cut(self) -> Self:
        """Mark a cut: the next frame does not follow the last one."""
        if hasattr(self, "_state"):
            self._state.vision.cut()
        return self

    def finish(self) -> Self:
        """End a stream: learn from what was seen even if the warm-up is not complete.

        Raises
        ------
        ValueError
            No pair of frames seen; frames that never change or have no texture; video without a pair of patches worth
            learning from.
        """
        self._go_on()
        self._learn(self._state.vision.flush())
        if not self._state.has_learned:
            raise ValueError("no frame differs from the one before; expected content that moves")
        if self._state.seen.known is not None:
            self._state.meaning  # noqa: B018 - found out at once, as nothing has to be rendered, to warn
        return self

    def _go_on(self) -> None:
        if hasattr(self, "_state"):
            follow(self, self._state)
        else:
            self._state = first_state(self)

    def _learn(self, shown: Any) -> None:
        state = self._state
        for pairs in shown:
            state.learn(pairs, state.seen)
        state.learn(None, state.vision.seen)

    # -- answers -------------------------------------------------------------------------------------------------

    def transform(self, movie: Any) -> np.ndarray:
        """Return the detectors' responses to each pair of frames, without learning.

        Larger frames are tiled with patches, very large ones sparsely, and the mean over the tiles is returned.

        Parameters
        ----------
        movie : array, shape (n_frames, *pixels), FramePairs, or Movie
            Frames; or pairs, of video as already reduced.

        Returns
        -------
        ndarray, shape (n_pairs, n_components)
            Responses, nonnegative.

        Raises
        ------
        NotFittedError
            Before the warm-up is complete.
        ValueError
            Frames that are not finite, or hold no patch of the size learned on; pairs of another eye.
        """
        return self._answering.responses(movie)

    def predict(self, movie: Any) -> np.ndarray:
        r"""Return the velocity of the image content between consecutive frames, or the motion of another kind learned.

        The ridge regression of Suppl. C with the learned generators, over all tiles of a frame:
        :math:`\min_\theta \sum |\Delta x - \sum_a \theta_a A_a \bar x|^2`, scaled by the known shifts of the probe.

        Parameters
        ----------
        movie : array, shape (n_frames, *pixels), FramePairs, or Movie
            Frames; or pairs, of video as already reduced.

        Returns
        -------
        ndarray, shape (n_pairs, n_parameters)
            (x right, y down) [pixels per frame].

        Raises
        ------
        NotFittedError, ValueError
            As ``transform``.
        """
        return self._answering.velocities(movie)

    def score(self, movie: Any, y: Any = None) -> float:
        """Return the direction accuracy: the share of pairs that move whose strongest detector is the right one.

        NaN of a single detector, which is always the strongest.

        Parameters
        ----------
        movie : array, shape (n_frames, *pixels), FramePairs, or Movie
            Frames; or pairs, of video as already reduced.
        y : array-like, shape (n_pairs, n_parameters), optional
            The motion of each pair: (x right, y down) for movies. Not needed of pairs that know theirs.

        Raises
        ------
        NotFittedError
            As ``transform``.
        ValueError
            No motion known, or of another number of pairs or parameters.
        """
        state, motion = self._answering, getattr(movie, "motion", None) if y is None else y
        if motion is None:
            raise ValueError("the motion is not known; expected y, or pairs that know theirs")
        not_masked(motion, "y", "pairs")
        return state.accuracy(movie, np.asarray(motion, dtype=float))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the detectors, ``labels_``, shape (n_components,)."""
        return np.array(self.labels_, dtype=object)

    # -- what was learned ----------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state") and self._state.is_ready

    @property
    def state_(self) -> LearnedState | None:
        """All that was learned, and goes on from; None before anything was seen."""
        return getattr(self, "_state", None)

    @property
    def _begun(self) -> LearnedState:
        if not hasattr(self, "_state"):
            raise NotFittedError("this MotionLearner has seen nothing yet; call fit or partial_fit")
        return self._state

    @property
    def _ready(self) -> LearnedState:
        state = self._begun
        if not state.is_ready:
            raise NotFittedError(f"this MotionLearner {state.vision.so_far}")
        return state

    @property
    def _answering(self) -> LearnedState:
        state = self._ready
        follow(self, state)
        return state

    @property
    def generators_(self) -> Generators:
        """The learned operators, on whitened frames."""
        return self._ready.generators

    @property
    def ways_(self) -> np.ndarray:
        """The motion that each detector prefers, a unit vector, shape (n_components, n_parameters)."""
        return self._ready.meaning.probe.ways

    @property
    def directions_(self) -> np.ndarray:
        """Direction of content that each detector prefers [deg]: 0 = right, 90 = up; shape (n_components,)."""
        return self._ready.directions

    @property
    def gain_(self) -> np.ndarray:
        """Mean response to content moving in the preferred direction [per pixel per frame], shape (n_components,)."""
        return self._ready.meaning.probe.gain

    @property
    def direction_accuracy_(self) -> float:
        """Share of single patches at known shifts whose strongest detector is the right one."""
        return self._ready.meaning.probe.accuracy

    @property
    def verdict_(self) -> Verdict:
        """Whether learning has succeeded; and where not, why, and what may help."""
        return self._ready.meaning.verdict

    @property
    def labels_(self) -> list[str]:
        """Names of the preferred motions; directions between right, up, left and down in degrees."""
        return self._ready.labels

    @property
    def motions_(self) -> tuple[tuple[str, str], ...]:
        """Names of the motion along each parameter, when positive and when negative; known without probing."""
        return self._ready.motions

    @property
    def feature_(self) -> str:
        """The product feature."""
        return self._begun.feature

    @property
    def eye_(self) -> Eye | None:
        """Whose frames were seen; None where they came without."""
        return self._begun.vision.eye

    @property
    def scale_(self) -> int | None:
        """What frames are reduced by; None where they are not."""
        return self._begun.vision.scale

    @property
    def watched_(self) -> tuple[Watched, ...]:
        """What was learned from each video."""
        return self._begun.seen.watched

    @property
    def n_frames_seen_(self) -> int:
        """Frames seen, other than those of pairs."""
        return self._begun.vision.n_frames

    @property
    def n_pairs_seen_(self) -> int:
        """Pairs of frames seen."""
        return self._begun.seen.n_pairs

    @property
    def n_patches_seen_(self) -> int:
        """Pairs of patches learned from."""
        return self._begun.n_patches

    @property
    def n_features_in_(self) -> int:
        """Number of pixels of a frame."""
        return int(np.prod(self._ready.vision.pixels or 0))

    @property
    def whitening_(self) -> EarlyVision:
        """What patches are whitened by."""
        whitening = self._ready.vision.whitening
        assert whitening is not None
        return whitening

    @property
    def contrast_(self) -> EarlyVision:
        """What pairs are divided by their contrast by."""
        contrast = self._ready.vision.contrast
        assert contrast is not None
        return contrast

    @property
    def network_(self) -> NonnegativeSimilarityMatching:
        """The network that learns."""
        return self._begun.network


def _warn_of_noise(movie: Any) -> None:
    for each in movie if is_corpus(movie) else [movie]:
        name = str(getattr(each, "name", ""))
        if getattr(each, "live", False) or (hasattr(each, "batches") and "video" in (guess_type(name)[0] or "")):
            warn(
                f'{name}: frames are learned from as if they were free of noise; vision="video" is for video',
                stacklevel=3,
            )
