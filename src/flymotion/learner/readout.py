"""What learned detectors answer: responses, velocities, and names and units from motion that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.learner import tiling
from flymotion.learner.probing import Probe, read_out, shifted
from flymotion.photoreceptors.stage import EarlyVision
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching

__all__ = ["MotionDetectors"]

N_PROBES = 4000
"""Pairs of patches to probe with."""

TRANSLATIONS = (("right", "left"), ("down", "up"))
"""Names of the motions of movies."""


class MotionDetectors(BaseEstimator):
    """Early vision, a network, and what to probe them with; :class:`flymotion.MotionLearner` adds the learning."""

    n_components: int
    patch: int
    feature: str
    warm_up: int
    pixels_: tuple[int, ...]
    scale_: int | None
    seed_: int
    whitening_: EarlyVision
    contrast_: EarlyVision
    network_: NonnegativeSimilarityMatching
    _kept: list[np.ndarray]
    _known: FramePairs | None

    # -- what all answers come through --------------------------------------------------------------------------------

    @property
    def _cuts_patches(self) -> bool:
        return len(self.pixels_) == 2 and max(self.pixels_) > self.patch and not self._names

    @property
    def _patch_shape(self) -> tuple[int, ...]:
        if not self._cuts_patches:
            return self.pixels_
        return tuple(min(self.patch, size) for size in self.pixels_)

    def _features(self, patches: FramePairs) -> OuterProducts:
        return outer_products(self._see(patches), self.feature)

    def _see(self, patches: FramePairs) -> FramePairs:
        return self.contrast_.transform(self.whitening_.transform(patches.flat()))

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
            for tiles, n in tiling.tiles(movie, self._patch_shape, self.scale_)
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
        velocities = [
            _solve(*self._regression(tiles, n)) @ scale
            for tiles, n in tiling.tiles(movie, self._patch_shape, self.scale_)
        ]
        return np.concatenate([np.zeros((0, scale.shape[1])), *velocities])

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
