"""MotionLearner: frames in, labelled motion out.

Patches at random positions in space and time, early vision (whitening, contrast normalisation), a product feature and
nonnegative similarity matching, behind one scikit-learn estimator. After learning it is shown its own frames at known
shifts, so that its outputs have names and units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from flymotion.corpus import view
from flymotion.features import FEATURES, OuterProducts, outer_products
from flymotion.frames import FramePairs, as_frames, random_patches
from flymotion.generators import Generators
from flymotion.initialisation import warm_up_length
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.probing import Probe, read_out, shifted
from flymotion.scenes import as_generator
from flymotion.similarity import NonnegativeSimilarityMatching

__all__ = ["MotionLearner"]

N_KEPT = 8
"""Frames kept for probing."""

N_PROBES = 4000
"""Pairs of patches to probe with."""

MOST_TILES = 1000
"""About as many tiles as stand for a large frame."""

BATCH = 16
"""Frames read from a stream at a time."""

BATCH_PIXELS = 2**18
"""Pixels of an array taken at a time, where that is more than ``BATCH`` frames."""

LEAST = {"n_components": 1, "patch": 2, "patches_per_pair": 1, "warm_up": 1, "n_passes": 1}
"""Smallest values of the parameters that are whole numbers."""

TRANSLATIONS = (("right", "left"), ("down", "up"))
"""Names of the motions of movies."""


class MotionLearner(BaseEstimator):
    """Learn motion detectors from frames, without labels.

    Parameters
    ----------
    n_components : int
        Number of detectors; one a direction, so 4 for motion in the plane and 2 along a line.
    patch : int
        Side of the square patches cut out of larger frames [pixels]; smaller frames are taken whole, and so are the
        frames of pairs whose motion is named, as rendered ones are.
    feature : str
        Product feature, see :data:`flymotion.features.FEATURES`.
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
        Of the network, see :class:`~flymotion.similarity.NonnegativeSimilarityMatching`.
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

    Examples
    --------
    >>> from flymotion import ExponentialNoise, Line, Translation, sample_pairs
    >>> pairs = sample_pairs(ExponentialNoise(random_state=0), Line(7), Translation(0.3, ndim=1), 5000, random_state=0)
    >>> learner = MotionLearner(2).fit(pairs)
    >>> sorted(learner.labels_)
    ['left', 'right']
    """

    pixels_: tuple[int, ...]
    _last: np.ndarray | None
    _known: FramePairs | None

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
            Frames, time first; pairs; or what :func:`flymotion.video.open_movie` returns, read as a stream.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Parameters out of range; fewer than two frames, or frames that are not finite, before anything is learned
            from them.
        """
        self._reset()
        for _ in range(self.n_passes):
            for frames, cut in _batches(movie):
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
        self._last = None
        self._waiting: list[FramePairs] = []
        self._kept: list[np.ndarray] = []
        self._known = None
        self.scale_: int | None = None

    def adopt(self, whitening: np.ndarray, pixels: tuple[int, int], scale: int) -> Self:
        """Start anew with the early vision of a video, known beforehand (:mod:`flymotion.corpus`).

        Frames are then looked at through :func:`flymotion.corpus.view` before patches are cut, and ``scale_`` is kept
        for it; pairs count alike whatever their contrast.

        Parameters
        ----------
        whitening : ndarray, shape (patch^2, patch^2)
            Symmetric, without a mean: :func:`flymotion.noise.whitening`.
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
        self.whitening_ = ZCAWhitening(self.regularization).fit(blank)
        self.whitening_.mean_, self.whitening_.matrix_ = 0 * blank[0], np.asarray(whitening, dtype=np.float32)
        self.contrast_ = ContrastNormalization(0.0).fit(blank)
        self._prepare_network(len(whitening))
        return self

    def learn_seen(self, pairs: FramePairs) -> Self:
        """Learn from pairs of patches that early vision has seen already; pairs of frames are not counted."""
        self.network_.partial_fit(outer_products(pairs, self.feature))
        self.__dict__.pop("_probed", None)
        return self

    def probe_with(self, frames: Sequence[np.ndarray]) -> Self:
        """Keep frames, as viewed, to be probed with: shape (height, width) each."""
        self._kept = [np.asarray(frame) for frame in frames][-N_KEPT:]
        return self

    def _learn(self, frames: Any) -> None:
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

    @property
    def _cuts_patches(self) -> bool:
        return len(self.pixels_) == 2 and max(self.pixels_) > self.patch and not self._names

    @property
    def _patch_shape(self) -> tuple[int, ...]:
        if not self._cuts_patches:
            return self.pixels_
        return tuple(min(self.patch, size) for size in self.pixels_)

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

    def _features(self, patches: FramePairs) -> OuterProducts:
        return outer_products(self._see(patches), self.feature)

    def _see(self, patches: FramePairs) -> FramePairs:
        return self.contrast_.transform(self.whitening_.transform(patches.flat()))

    # -- using it ------------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "whitening_")

    def _check_fitted(self) -> None:
        seen = sum(map(len, getattr(self, "_waiting", [])))
        check_is_fitted(
            self, msg=f"this %(name)s has seen {seen} pairs of patches and starts to learn after {self.warm_up}"
        )

    def transform(self, movie: Any) -> np.ndarray:
        """Return the detectors' responses to each pair of frames, without learning.

        Larger frames are tiled with patches, very large ones sparsely, and the mean over the tiles is returned.

        Parameters
        ----------
        movie : array, shape (n_frames, *pixels), FramePairs, or Movie
            Frames.

        Returns
        -------
        ndarray, shape (n_pairs, n_components)
            Responses, nonnegative.

        Raises
        ------
        NotFittedError
            Before the warm-up is complete.
        ValueError
            Frames that are not finite, or hold no patch of the size learned on.
        """
        self._check_fitted()
        responses = [
            self.network_.transform(self._features(tiles)).reshape(n, -1, self.n_components).mean(axis=1)
            for tiles, n in self._tiles(movie)
        ]
        return np.concatenate([np.zeros((0, self.n_components)), *responses])

    def predict(self, movie: Any) -> np.ndarray:
        r"""Return the velocity of the image content between consecutive frames, or the motion of another kind learned.

        The ridge regression of Suppl. C with the learned generators, over all tiles of a frame:
        :math:`\min_\theta \sum |\Delta x - \sum_a \theta_a A_a \bar x|^2`, scaled by the known shifts of the probe.

        Parameters
        ----------
        movie : array, shape (n_frames, *pixels), FramePairs, or Movie
            Frames.

        Returns
        -------
        ndarray, shape (n_pairs, n_parameters)
            (x right, y down) [pixels per frame].

        Raises
        ------
        NotFittedError, ValueError
            As ``transform``.
        """
        scale = self._scale()
        if not isinstance(movie, FramePairs):
            scale = scale * (self.scale_ or 1)
        velocities = [_solve(*self._regression(tiles, n)) @ scale for tiles, n in self._tiles(movie)]
        return np.concatenate([np.zeros((0, scale.shape[1])), *velocities])

    def _tiles(self, movie: Any) -> Iterator[tuple[FramePairs, int]]:
        last = None
        for frames, cut in _batches(movie):
            if not isinstance(frames, FramePairs):
                frames = frames if self.scale_ is None else view(frames, self.scale_)
                joined = frames if cut or last is None else np.concatenate([last, frames])
                last = frames[-1:]
                frames = FramePairs(joined[:-1], joined[1:])
            if len(frames):
                yield self._tile(frames), len(frames)

    def _tile(self, pairs: FramePairs) -> FramePairs:
        shape = self._patch_shape
        if pairs.pixels == shape:
            return pairs
        if not len(pairs.pixels) == len(shape) == 2 or any(np.less(pairs.pixels, shape)):
            raise ValueError(f"frames of {pairs.pixels} hold no patch of {shape}, which this learner has learned on")

        def tile(frames: np.ndarray) -> np.ndarray:
            windows = np.lib.stride_tricks.sliding_window_view(frames, shape, axis=(1, 2))
            return windows[:, :: shape[0] * spread, :: shape[1] * spread].reshape(-1, *shape)

        n_tiles = np.prod(np.array(pairs.pixels) // shape)
        spread = max(1, round(np.sqrt(n_tiles / MOST_TILES)))

        return pairs.map(tile)

    def _scale(self) -> np.ndarray:
        """Invert what the regression makes of known motions, all patches pooled; shape (ndim, ndim)."""
        known = self._probe_pairs()
        assert known.motion is not None
        normal, target = self._regression(known, len(known))
        theta_of_motion = np.linalg.pinv(normal.mean(axis=0)) @ target.T @ np.linalg.pinv(known.motion).T
        return np.linalg.pinv(theta_of_motion).T

    def _regression(self, tiles: FramePairs, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
        """Regress on the axes' operators over the tiles of each pair; normal matrices and right-hand sides."""
        seen = self._see(tiles)
        middle = (seen.before + seen.after) / 2
        predicted = np.stack([middle @ A.T for A in self._axes()], axis=1)
        change = seen.after - seen.before
        n_axes, n_pixels = predicted.shape[1:]
        gathered = predicted.reshape(n_pairs, -1, n_axes, n_pixels)
        normal = np.einsum("btan,btcn->bac", gathered, gathered)
        target = np.einsum("btan,btn->ba", gathered, change.reshape(n_pairs, -1, n_pixels))
        return normal, target

    def _axes(self) -> np.ndarray:
        """One operator an axis (x right, y down): the detectors' filters, weighted by their directions."""
        filters = self.network_.generators_
        filters = filters / np.maximum(np.linalg.norm(filters, axis=(1, 2), keepdims=True), 1e-30)
        return np.tensordot(self.ways_.T, filters, axes=1)

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def generators_(self) -> Generators:
        """The learned operators, on whitened frames."""
        self._check_fitted()
        return Generators(self.network_.generators_, self._patch_shape, self.whitening_.matrix_)

    @property
    def ways_(self) -> np.ndarray:
        """The motion that each detector prefers, a unit vector, shape (n_components, n_parameters)."""
        return self._probe().ways

    @property
    def directions_(self) -> np.ndarray:
        """Direction of content that each detector prefers [deg]: 0 = right, 90 = up; shape (n_components,)."""
        x, *down = self._probe().ways.T
        if (self._names or TRANSLATIONS)[0] != TRANSLATIONS[0] or len(down) > 1:
            raise AttributeError("this learner has learned other motions than translations; see labels_ and ways_")
        return np.degrees(np.arctan2(-down[0] if down else np.zeros(len(x)), x)) % 360.0

    @property
    def gain_(self) -> np.ndarray:
        """Mean response to content moving in the preferred direction [per pixel per frame], shape (n_components,)."""
        return self._probe().gain

    @property
    def direction_accuracy_(self) -> float:
        """Share of single patches at known shifts whose strongest detector is the right one."""
        return self._probe().accuracy

    @property
    def labels_(self) -> list[str]:
        """Names of the preferred motions; directions between right, up, left and down in degrees."""
        ways, names, labels = self.ways_, self._names or TRANSLATIONS, []
        for way in ways:
            largest = int(np.argmax(np.abs(way)))
            if abs(way[largest]) > np.cos(np.radians(30)):
                labels.append(names[largest][int(way[largest] < 0)])
            elif names[0] == TRANSLATIONS[0] and len(way) == 2:
                labels.append(f"{np.degrees(np.arctan2(-way[1], way[0])) % 360:.0f} deg")
            else:
                labels.append("mixed")
        return labels

    @property
    def _names(self) -> Sequence[tuple[str, str]] | None:
        return None if self._known is None else self._known.names

    def _probe(self) -> Probe:
        if not hasattr(self, "_probed"):
            pairs = self._probe_pairs()
            self._probed = read_out(pairs, self.network_.transform(self._features(pairs)))
        return self._probed

    def _probe_pairs(self) -> FramePairs:
        """Pairs of patches of known motion: those of the training that had it, or kept frames at known shifts."""
        self._check_fitted()
        if self._known is not None:
            return self._known
        rngs = [np.random.default_rng([self.seed_, 1, i]) for i in range(len(self._kept))]
        n = N_PROBES // len(self._kept)
        return FramePairs.concatenate(
            [shifted(frame, self._patch_shape, n, rng) for frame, rng in zip(self._kept, rngs, strict=True)]
        )


def _solve(normal: np.ndarray, target: np.ndarray) -> np.ndarray:
    ridge = 1e-9 * np.trace(normal, axis1=1, axis2=2)[:, None, None] + 1e-30
    return np.linalg.solve(normal + ridge * np.eye(normal.shape[1]), target[..., None])[..., 0]


def _batches(movie: Any) -> Iterator[tuple[Any, bool]]:
    """Yield frames or pairs, and whether they begin a new clip."""
    if isinstance(movie, FramePairs):
        yield movie, True
    elif hasattr(movie, "batches"):
        yield from ((batch.frames, batch.cut) for batch in movie.batches(BATCH))
    else:
        frames = as_frames(movie)
        size = max(BATCH, BATCH_PIXELS // int(np.prod(frames.shape[1:])))
        for start in range(0, len(frames), size):
            yield frames[start : start + size], start == 0
