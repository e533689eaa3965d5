"""The state of a learner: what it sees through, its network, and what its outputs mean once they have been probed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.learner.intake import check_same_eye, part_of, tiles
from flymotion.learner.plain_vision import PlainVision
from flymotion.learner.probing import Probe, accuracy, probes, read_out
from flymotion.learner.seen import Seen
from flymotion.learner.verdict import ENOUGH, SILENT, Verdict, judged, shown_motions
from flymotion.learner.video_vision import VideoVision
from flymotion.models.packing import Given, Packed, packed
from flymotion.similarity.features import FEATURES, OuterProducts, outer_products
from flymotion.similarity.initialisation import warm_up_length
from flymotion.similarity.networks import NonnegativeSimilarityMatching

__all__ = ["TRANSLATIONS", "LearnedState", "Meaning"]

TRANSLATIONS = (("right", "left"), ("down", "up"))
"""Names of the motions of movies."""


class Meaning(NamedTuple):
    """What the outputs mean.

    Attributes
    ----------
    probe : Probe
        Preferred motions, and how well the outputs tell them.
    velocity : ndarray, shape (n_parameters, n_parameters)
        What turns the regression's results into motion.
    verdict : Verdict
        Whether learning has succeeded.
    """

    probe: Probe
    velocity: np.ndarray
    verdict: Verdict


@dataclass(eq=False)
class LearnedState:
    """All that a learner has learned, and goes on from.

    Attributes
    ----------
    vision : PlainVision or VideoVision
        Turns frames into the pairs of patches that the network sees.
    network : NonnegativeSimilarityMatching
        Learns from their features.
    feature : str
        Product feature, a key of :data:`flymotion.similarity.features.FEATURES`.
    warm_up : int
        Pairs of patches that the network starts from, at most, where more than it needs are wanted.
    seed : int
        Of the probes.
    seen : Seen
        What was seen of what the network has learned from.
    n_patches : int
        Pairs of patches learned from.
    """

    vision: PlainVision | VideoVision
    network: NonnegativeSimilarityMatching
    feature: str
    warm_up: int
    seed: int
    seen: Seen = field(default_factory=Seen)
    n_patches: int = 0
    _meaning: Meaning | None = None

    __repr__ = in_brief

    # -- learning ----------------------------------------------------------------------------------------------------

    def learn(self, pairs: FramePairs | None, seen: Seen) -> None:
        """Learn from pairs of patches as the network sees them, if any, and take note of what was seen by then."""
        if pairs is not None:
            if not self.is_ready:
                self.prepare(pairs.n_pixels)
            self.network.partial_fit(outer_products(pairs, self.feature))
            self.n_patches += len(pairs)
        self.seen, self._meaning = seen, None

    @property
    def is_ready(self) -> bool:
        """Whether there are answers."""
        return self.network.__sklearn_is_fitted__()

    @property
    def has_learned(self) -> bool:
        """Whether anything changed in what was seen, so that there was something to learn."""
        return self.is_ready and self.network.n_samples_seen_ > 0

    def prepare(self, n_pixels: int) -> None:
        """Let the network start from enough pairs: with fewer than two a pixel, motion does not rise above noise."""
        enough = warm_up_length(n_pixels**2, 2 * n_pixels)
        self.network.set_params(warm_up=max(enough, min(4 * n_pixels, self.warm_up)))

    # -- kept --------------------------------------------------------------------------------------------------------

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the state of again; what the outputs mean is found out anew."""
        numbers = {name: getattr(self, name) for name in ("feature", "warm_up", "seed", "n_patches")}
        return packed(numbers, vision=self.vision, network=self.network)

    @classmethod
    def unpack(cls, given: Given, vision: type[PlainVision] | type[VideoVision]) -> LearnedState:
        """Return the state that was packed, of a learner with this kind of vision.

        Raises
        ------
        ValueError
            What is no such state.
        """
        state = cls(
            vision.unpack(given.part("vision")),
            NonnegativeSimilarityMatching.unpack(given.part("network")),
            given.number("feature", str, among=FEATURES),
            given.number("warm_up", int, least=1),
            given.seed("seed"),
            n_patches=given.number("n_patches", int, least=0),
        )
        state.seen = state.vision.seen
        state._check_whole(given)
        return state

    def _check_whole(self, given: Given) -> None:
        """Check that the network has learned from what the vision sees."""
        if not self.is_ready:
            return
        if self.vision.whitening is None or not (self.seen.n_pairs or self.seen.known):
            raise given.wrong("vision", "not ready", "one that what the network has learned from came through")
        n = math.prod(self.vision.patch_shape)
        seen = outer_products(FramePairs(np.zeros((1, n)), np.zeros((1, n))), self.feature)
        if self.network.feature_shape_ != seen.feature_shape:
            raise given.wrong("network", f"one of {self.network.feature_shape_}", f"one of {seen.feature_shape}")
        for waiting in getattr(self.network, "_waiting", []):
            if not isinstance(waiting, OuterProducts) or waiting.u.shape[1:] != seen.u.shape[1:]:
                raise given.wrong("network", f"one of other samples than the {self.feature} feature", "one of these")

    # -- answers -----------------------------------------------------------------------------------------------------

    def features(self, patches: FramePairs) -> OuterProducts:
        """Return the features of pairs of patches, seen through early vision."""
        return outer_products(self.vision.see(patches), self.feature)

    def responses(self, movie: Any) -> np.ndarray:
        """Return the outputs for each pair of frames, mean over its tiles; shape (n_pairs, n_components)."""
        K = self.network.n_components
        responses = [
            self.network.transform(self.features(patches)).reshape(n, -1, K).mean(axis=1)
            for patches, n in self._tiles(movie)
        ]
        return np.concatenate([np.zeros((0, K)), *responses])

    def velocities(self, movie: Any) -> np.ndarray:
        r"""Return the motion of each pair of frames, shape (n_pairs, n_parameters).

        The ridge regression of Suppl. C over all tiles of a frame:
        :math:`\min_\theta \sum |\Delta x - \sum_a \theta_a A_a \bar x|^2`, scaled by what it gives for known motions.
        """
        probe, units, _ = self.meaning
        if not isinstance(movie, FramePairs):
            units = units * (self.vision.scale or 1)
        axes = self._axes(probe.ways)
        velocities = [_solve(*self._regression(axes, patches, n)) @ units for patches, n in self._tiles(movie)]
        return np.concatenate([np.zeros((0, units.shape[1])), *velocities])

    def accuracy(self, movie: Any, motion: np.ndarray) -> float:
        """Return the share of pairs of frames whose strongest output is the right one.

        Raises
        ------
        ValueError
            Motions, shape (n_pairs, n_parameters), of another shape.
        """
        responses, n_parameters = self.responses(movie), len(self.motions)
        motion = motion[:, None] if motion.ndim == 1 else motion
        if motion.shape != (len(responses), n_parameters):
            raise ValueError(f"the motion has shape {motion.shape}; expected {(len(responses), n_parameters)}")
        probe = self.meaning.probe
        return accuracy(motion / probe.units, responses, probe.ways)

    @property
    def generators(self) -> Generators:
        """The learned operators, on whitened frames."""
        assert self.vision.whitening is not None
        eye = self.vision.patch_eye or self.vision.patch_shape
        return Generators(self.network.generators_, eye, self.vision.whitening.matrix_)

    @property
    def motions(self) -> tuple[tuple[str, str], ...]:
        """Names of the motion along each parameter, when positive and when negative; known without probing."""
        known = self.seen.known
        if known is None:
            return TRANSLATIONS[: self._ndim] if self._is_flat else ()
        if known.names:
            return tuple((positive, negative) for positive, negative in known.names)
        assert known.motion is not None
        n = known.motion.shape[1]
        translates = self._is_flat and n <= len(TRANSLATIONS)
        return TRANSLATIONS[:n] if translates else tuple((f"+{i}", f"-{i}") for i in range(n))

    @property
    def _ndim(self) -> int:
        eye = self.vision.patch_eye
        return len(self.vision.patch_shape) if eye is None else eye.positions.shape[1]

    @property
    def _is_flat(self) -> bool:
        return self._ndim < 3

    @property
    def tells_directions(self) -> bool:
        """Whether the motions are translations in the plane; a sphere knows none, whatever its motions are called."""
        return self._is_flat and self.motions == TRANSLATIONS[: len(self.motions)]

    @property
    def directions(self) -> np.ndarray:
        """Direction that each output prefers [deg]: 0 = right, 90 = up, NaN of silent ones; shape (n_components,).

        Raises
        ------
        AttributeError
            Other motions than translations.
        """
        if not self.tells_directions:
            raise AttributeError("this learner has learned other motions than translations; see labels_ and ways_")
        x, *down = self.meaning.probe.ways.T
        return np.degrees(np.arctan2(-down[0] if down else np.zeros(len(x)), x)) % 360.0

    @property
    def labels(self) -> list[str]:
        """Names of the preferred motions; directions between right, up, left and down in degrees; "silent"."""
        return [self._label(way) for way in self.meaning.probe.ways]

    def _label(self, way: np.ndarray) -> str:
        if np.isnan(way).any():
            return SILENT
        largest = int(np.argmax(np.abs(way)))
        if abs(way[largest]) > np.cos(np.radians(30)):
            return self.motions[largest][int(way[largest] < 0)]
        if self.tells_directions and len(way) == 2:
            return f"{np.degrees(np.arctan2(-way[1], way[0])) % 360:.0f} deg"
        return "mixed"

    @property
    def meaning(self) -> Meaning:
        """What the outputs mean, found out once after learning.

        Raises
        ------
        ValueError
            Nothing to find it out with: no known motion, and frames of which shifts cannot be made.
        """
        if self._meaning is None:
            if not self.tells_motions:
                raise ValueError(
                    f"what detectors of {self.vision.patch_eye} mean is not known: shifts are made of the frames of "
                    "lines and grids alone; expected pairs of frames that know their motion"
                )
            known = probes(self.seen, self.vision.patch_shape, self.seed)
            assert known.motion is not None
            probe = read_out(known, self.network.transform(self.features(known)))
            normal, target = self._regression(self._axes(probe.ways), known, len(known))
            theta_of_motion = np.linalg.pinv(normal.mean(axis=0)) @ target.T @ np.linalg.pinv(known.motion).T
            verdict = self._verdict(probe, known.motion)
            self._meaning = Meaning(probe, np.linalg.pinv(theta_of_motion).T, verdict)
            if isinstance(self.vision, PlainVision):
                self._warn_of_doubt(verdict, len(shown_motions(known.motion, self.motions)))
        return self._meaning

    @property
    def tells_motions(self) -> bool:
        """Whether it can be found out what outputs mean: by known motion, or shifts of frames of lines and grids."""
        eye = self.vision.patch_eye
        return self.seen.known is not None or eye is None or len(eye.shape) == eye.positions.shape[1]

    def _verdict(self, probe: Probe, motion: np.ndarray) -> Verdict:
        labels, shown = [self._label(way) for way in probe.ways], shown_motions(motion, self.motions)
        return judged(probe, motion, labels, shown, self.n_patches, self.seen.watched)

    def _warn_of_doubt(self, verdict: Verdict, n_shown: int) -> None:
        """Warn of silent units; and, where there is one unit a motion shown, if these are not those motions."""
        labels = self.labels
        doubtful = not verdict.ok or verdict.oblique
        if doubtful and n_shown == len(labels) > 1 and self.n_patches >= ENOUGH:
            warn(
                f"the detectors ({', '.join(labels)}) tell {verdict.accuracy:.0%} of single pairs right, by chance "
                f"{verdict.chance:.0%}, and are up to {verdict.off:.0f} deg off the motions shown: more pairs, more "
                "scenes at once, or feature='antisymmetric' may help",
                stacklevel=4,
            )
        elif SILENT in labels:
            warn(f"detectors {[i for i, name in enumerate(labels) if name == SILENT]} answer no motion", stacklevel=4)

    def _tiles(self, movie: Any) -> Any:
        if isinstance(movie, FramePairs):
            check_same_eye(self.vision.patch_eye, part_of(movie.eye, self.vision.patch_shape))
        return tiles(movie, self.vision.patch_shape, self.vision.scale)

    def _axes(self, ways: np.ndarray) -> np.ndarray:
        """One operator an axis (x right, y down): the detectors' filters, weighted by their ways."""
        filters = self.network.generators_
        filters = filters / np.maximum(np.linalg.norm(filters, axis=(1, 2), keepdims=True), 1e-30)
        return np.tensordot(np.nan_to_num(ways).T, filters, axes=1)

    def _regression(self, axes: np.ndarray, patches: FramePairs, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
        """Regress on the axes' operators over the tiles of each pair; normal matrices and right-hand sides."""
        seen = self.vision.see(patches)
        middle = (seen.before + seen.after) / 2
        predicted = np.stack([middle @ A.T for A in axes], axis=1)
        change = seen.after - seen.before
        n_axes, n_pixels = predicted.shape[1:]
        gathered = predicted.reshape(n_pairs, -1, n_axes, n_pixels)
        normal = np.einsum("btan,btcn->bac", gathered, gathered)
        target = np.einsum("btan,btn->ba", gathered, change.reshape(n_pairs, -1, n_pixels))
        return normal, target


def _solve(normal: np.ndarray, target: np.ndarray) -> np.ndarray:
    ridge = 1e-9 * np.trace(normal, axis1=1, axis2=2)[:, None, None] + 1e-30
    return np.linalg.solve(normal + ridge * np.eye(normal.shape[1]), target[..., None])[..., 0]
