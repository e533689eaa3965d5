"""Learned operators as detectors."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.detectors.detector import Detector
from flymotion.detectors.taps_on_lattices import Taps
from flymotion.detectors.temporal import LowPass, Step
from flymotion.generators import Generators
from flymotion.similarity.features import FEATURES, check_feature
from flymotion.video.viewing import OPTICS
from flymotion.world.channels import TwoChannels
from flymotion.world.eyes import acceptance_sigma

if TYPE_CHECKING:
    from flymotion.learner import MotionLearner

__all__ = ["learned", "of_learner"]

SPACING, ACCEPTANCE = 5.0, 5.7
"""Of a fly's eye [deg]."""

SIGMA_OF_VIDEO = math.hypot(OPTICS, 12**-0.5)
"""Standard deviation of what a pixel of a video looks at: the mean over its area, blurred by the optics [pixels]."""


def learned(
    generators: Generators,
    delayed: Step = LowPass(0.15),
    *,
    feature: str = "change",
    rectify: bool = False,
    spacing: float = SPACING,
    acceptance: float = ACCEPTANCE,
) -> Detector:
    r"""Return learned operators as a detector with one unit an operator.

    .. math:: R_k = \langle A_k, \chi(f, g) \rangle, \quad \text{for the paper's feature } (g - f)' A_k f

    over the patch that they were learned on, in pixels that are not whitened; f is the delayed signal, the frame before
    to the learner, and g the fast one, the frame after. Preferred directions are those of the filters' shape,
    :meth:`flymotion.generators.Generators.directions`; gratings are preferred in the same to 0.3 degrees where filters
    are learned from video, and to 9 degrees where from photographs.

    Parameters
    ----------
    generators : Generators
        Of a flat eye; :attr:`flymotion.MotionLearner.generators_`. Those of a hexagon are a detector on compound eyes,
        too: learn on :func:`flymotion.world.around_pixels` of what such an eye sees.
    delayed : Step
        Makes f: what one frame was to the learner.
    feature : str
        :math:`\chi`, a key of :data:`flymotion.similarity.features.FEATURES`: what the operators were learned on.
    rectify : bool
        Whether responses are half-wave rectified, as outputs of NSM are.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        Generators of a spherical eye or of ON and OFF parts, an operator that is 0, or an unknown feature.

    Examples
    --------
    >>> from flymotion.generators import Generators, derivative_operator
    >>> from flymotion.stimuli import moving_edge
    >>> operators = [derivative_operator((3,), angle) for angle in (0, 180)]  # as if learned from three pixels
    >>> detector = learned(Generators(operators, (3,)), rectify=True)
    >>> detector(moving_edge().movie((9,), dt=0.01, spacing=5.0), dt=0.01).sum(axis=(0, 1)).round(1)  # right, left
    array([57.6,  0. ])
    """
    check_feature(feature)
    places = generators.eye.positions
    if isinstance(generators.eye, TwoChannels):
        raise ValueError("the generators are of ON and OFF parts of frames; expected those of frames, as stimuli are")
    if places.shape[1] == 3:
        raise ValueError(
            "the generators are of a spherical eye; expected a line, a grid or a hexagon, such as sees the patches "
            "that flymotion.world.around_pixels makes of its frames"
        )
    if (dark := np.setdiff1d(np.arange(len(generators)), generators.answering)).size:
        raise ValueError(f"operators {dark.tolist()} are 0, which prefer no direction; leave them out")
    middle = places[np.argmin(np.linalg.norm(places, axis=1))]
    displacements = np.pad(places - middle, ((0, 0), (0, 2 - places.shape[1])))
    return Detector(
        arms={"fast": (), "delayed": (delayed,)},
        displacements=displacements,
        combine=partial(_learned, operators=generators.in_pixels().operators, feature=feature, rectify=rectify),
        opponent=not rectify,
        spacing=spacing,
        acceptance=acceptance,
        source="learned (Bahroun, Sengupta & Chklovskii 2019)",
        directions=tuple(generators.directions().tolist()),
        name="learned",
    )


def of_learner(learner: MotionLearner, **options: Any) -> Detector:
    """Return what a learner learned as a detector, as far as the learner tells what :func:`learned` asks for.

    The feature is the learner's. Its eye is one of pixels, whose acceptance functions are so many pixels wide: those of
    the eye that the pairs came with, or of a pixel of a video as it was looked at. A fly's are 5.7 degrees wide, and so
    this tells how far apart pixels are: 5.1 degrees of an eye as by default, 3.2 of a video. Of frames without an eye,
    or one that sees points, they are 5 degrees apart. Units that have never answered are left out.

    Parameters
    ----------
    learner : MotionLearner
        Fitted.
    **options : Any
        Of :func:`learned`, which go before.

    Raises
    ------
    ValueError
        As of :func:`learned`; a learner of which no unit has ever answered.

    Examples
    --------
    >>> from flymotion import ExponentialNoise, Line, MotionLearner, Translation, sample_pairs
    >>> scene = ExponentialNoise(period=4096.0, random_state=0)
    >>> learner = MotionLearner(2).fit(sample_pairs(scene, Line(5), Translation(0.5, ndim=1), 2000, random_state=0))
    >>> detector = of_learner(learner)
    >>> sorted(detector.directions), detector.spacing
    ([0.0, 180.0], 5.1)
    """
    generators = learner.generators_
    lit = generators.answering
    if not lit.size:
        raise ValueError("no unit of the learner has ever answered; expected one that has learned")
    eye = learner.eye_
    sigma = SIGMA_OF_VIDEO if learner.scale_ is not None else 0.0 if eye is None else float(np.mean(eye.sigma))
    spacing = acceptance_sigma(ACCEPTANCE) / sigma if sigma > 0 else SPACING
    of_it: dict[str, Any] = {"feature": learner.feature_, "spacing": spacing}
    return learned(generators[lit], **of_it | options)


def _learned(tap: Taps, *, operators: np.ndarray, feature: str, rectify: bool) -> np.ndarray:
    u, v = FEATURES[feature](tap.all("delayed"), tap.all("fast"))
    K, n, _ = operators.shape
    weighted = v @ operators.reshape(K * n, n).T.astype(v.dtype)
    responses = np.vecdot(weighted.reshape(*v.shape[:-1], K, n), u[..., None, :])  # Eq. 19, its first sum
    if feature == "antisymmetric":  # two products
        responses = responses.sum(axis=-2)
    return np.maximum(responses, 0) if rectify else responses
