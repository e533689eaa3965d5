"""Learned operators as detectors."""

from __future__ import annotations

from functools import partial

import numpy as np

from flymotion.detectors.base import Detector, Taps
from flymotion.generators import Generators
from flymotion.temporal import LowPass, Step

__all__ = ["learned"]


def learned(
    generators: Generators,
    delayed: Step = LowPass(0.15),
    *,
    feature: str = "change",
    rectify: bool = False,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return learned operators as a detector with one unit an operator.

    .. math:: R_k = (g - f)' A_k \bar x

    over the patch that they were learned on, in pixels that are not whitened; f is the delayed signal, g the fast one.

    Parameters
    ----------
    generators : Generators
        Of a flat eye; :attr:`flymotion.MotionLearner.generators_`.
    delayed : Step
        Makes f: what one frame was to the learner.
    feature : {"change", "midpoint"}
        What :math:`\bar x` is: f, the paper's feature, or (f + g) / 2 (Suppl. A).
    rectify : bool
        Whether responses are half-wave rectified, as outputs of NSM are.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        Generators of a spherical eye, or an unknown feature.
    """
    if feature not in ("change", "midpoint"):
        raise ValueError(f"feature is {feature!r}; expected 'change' or 'midpoint'")
    places = generators.eye.positions
    if places.shape[1] == 3:
        raise ValueError("the generators are of a spherical eye; expected a line, a grid or a hexagon")
    middle = places[np.argmin(np.linalg.norm(places, axis=1))]
    displacements = np.pad(places - middle, ((0, 0), (0, 2 - places.shape[1])))
    share = {"change": 1.0, "midpoint": 0.5}[feature]
    return Detector(
        arms={"fast": (), "delayed": (delayed,)},
        displacements=displacements,
        combine=partial(_learned, operators=generators.in_pixels().operators, share=share, rectify=rectify),
        opponent=not rectify,
        spacing=spacing,
        acceptance=acceptance,
        source="learned (Bahroun, Sengupta & Chklovskii 2019)",
        directions=tuple(generators.directions().tolist()),
        name="learned",
    )


def _learned(tap: Taps, *, operators: np.ndarray, share: float, rectify: bool) -> np.ndarray:
    fast, delayed = tap.all("fast"), tap.all("delayed")
    change, intensity = fast - delayed, share * delayed + (1 - share) * fast
    K, n, _ = operators.shape
    weighted = intensity @ operators.reshape(K * n, n).T.astype(fast.dtype)
    responses = (weighted.reshape(*intensity.shape[:-1], K, n) * change[..., None, :]).sum(axis=-1)
    return np.maximum(responses, 0) if rectify else responses
