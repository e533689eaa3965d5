"""Rotations: both senses are learned (C10), by filters that link pixels to their neighbours (C12).

C10 asks for likeness *in pixels*, of filters carried there, :math:`Z A Z`. There the population's own generator is
:math:`C^{-1} D C^{-1}`, with D the derivative of the covariance C, and this is hardly like the discrete derivative: no
learner can be. Nor are averages by label of the paper's feature like the population's generator there: their mean has
a symmetric part, which is small on whitened frames and is blown up by Z. So the rows in pixels fail. The same bounds
are asked of the filters as they are learned and drawn in the paper, on whitened frames, against the same operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from flymotion.claims.beside import Null, beside, nulls_by
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, above, all_of, below, report
from flymotion.claims.running import Found
from flymotion.claims.transformations.learned_in_planes import generators_found
from flymotion.claims.transformations.planes import MOTIONS, PLANES
from flymotion.claims.ways import FEATURES, LIKE, succeeded
from flymotion.generators import cosine, derivative_operator
from flymotion.world.eyes import Grid

__all__ = ["ROTATION", "check_rotations", "check_weights", "derivatives", "signed_cosines"]

ROTATION = "rotation_exponential_wide"

LEARNERS = {"nsm": "NSM", "kmeans": "K-means"}

CALLED = {"nsm": NULLS, "kmeans": NULLS | {"start": "the start of NSM alone, before learning"}}
"""Nulls, which are the same for K-means: how they are called."""

WHY = {
    "cos": "there the optimum itself is unlike the derivative; met on whitened frames",
    "match": "Z blows up what two senses share, and the noise of its own estimate; met on whitened frames",
}
"""Why likeness in pixels is less than asked for."""

LEAST = {"change": (0.85, 0.93), "midpoint": (0.9, 0.97)}
"""Cosines asked for: with the derivative operator, and with the population's generator."""


def derivatives(side: int, motion: str) -> np.ndarray:
    """Return the discrete derivative along the flow of each parameter, shape (p, n, n)."""
    eye = Grid(side, side)
    return np.stack([derivative_operator(eye, flow) for flow in MOTIONS[motion].flow(eye.positions)])


def signed_cosines(
    filters: np.ndarray, operators: np.ndarray, ways: np.ndarray, Z: np.ndarray | None = None
) -> np.ndarray:
    """Cosines of filters, shape (n_seeds, K, n, n), with the operator of each way; shape (n_seeds, K).

    Parameters
    ----------
    operators : ndarray, shape (p, n, n) or (n_seeds, p, n, n)
        One a parameter.
    ways : ndarray, shape (K, p)
        Of the motion.
    Z : ndarray, shape (n_seeds, n, n), optional
        Carry filters to pixels by this, and operators too where each seed has its own.
    """
    if Z is not None:
        filters = Z[:, None] @ filters @ Z[:, None]
        operators = Z[:, None] @ operators @ Z[:, None] if operators.ndim == 4 else operators
    return cosine(filters, np.einsum("kp,...pij->...kij", ways, operators))


def check_rotations(found: Found) -> Iterator[Claim]:
    """State C10: in noise, by either feature."""
    for feature, learned in found.items():
        end = "" if feature == "change" else f"_{feature}"
        for name in LEARNERS:
            yield from _likeness(end, feature, name, learned)
        for name in LEARNERS:
            suffix = end if name == "nsm" else f"{end}_kmeans"
            title = f"seeds in which {LEARNERS[name]} finds both senses, {FEATURES[feature]}"
            note = f"whitened frames, each above {LIKE} with the population's generator"
            row = all_of(f"C10.seeds{suffix}", title, succeeded(learned[name]), note=note)
            yield from beside(row, start=Null(CALLED[name]["start"], succeeded(learned["start"]), np.sum))
        for name in ("sm", "pca"):
            yield from generators_found(f"C10.generators_{name}{end}", name, FEATURES[feature], learned, 1)
        title = f"share of new pairs whose sense NSM names, {FEATURES[feature]}"
        row = report(f"C10.accuracy{end}", title, learned["nsm"].accuracy, worst=np.min)
        yield from beside(row, **nulls_by(lambda null: null.accuracy, learned, np.min))


def _likeness(end: str, feature: str, name: str, learned: Found) -> Iterator[Claim]:
    """Likeness of the filters of one learner with both operators, in pixels and on whitened frames."""
    ways, Z, analytic = MOTIONS["rotation"].ways, learned["Z"], learned["analytic"]
    suffix = end if name == "nsm" else f"{end}_kmeans"
    derivative = derivatives(5, "rotation")
    for id, what, operators, least in zip(
        ("cos", "match"),
        ("the rotation's derivative operator", "the population's generator of rotation"),
        (derivative, analytic),
        LEAST[feature],
        strict=True,
    ):

        def in_pixels(of: Any, operators: np.ndarray = operators) -> np.ndarray:
            return signed_cosines(of.filters, operators, ways, Z)

        def whitened(of: Any, operators: np.ndarray = operators) -> np.ndarray:
            return signed_cosines(of.filters, operators, ways)

        for where, words, measure, why in (
            ("", "in pixels", in_pixels, WHY[id]),
            ("_whitened", "of whitened frames", whitened, f"asked for in pixels, see C10.{id}{suffix}"),
        ):
            title = f"cosine of filters {words} with {what}, {FEATURES[feature]}: {LEARNERS[name]}"
            row = above(f"C10.{id}{where}{suffix}", title, measure(learned[name]), least)
            row = replace(row, note=f"{PLANES[ROTATION].described()}{'' if row.holds and not where else f'; {why}'}")
            rows = beside(row, **nulls_by(measure, learned, np.min, CALLED[name]))
            yield from rows if name == "nsm" else [next(rows)]  # K-means has the same nulls


def check_weights(found: Found) -> Iterator[Claim]:
    """State C12."""
    between = Grid(5, 5).positions[:, None] - Grid(5, 5).positions
    distances = np.linalg.norm(between, axis=2)
    own, near, far = distances == 0, (distances > 0) & (distances < 1.5), distances > 2

    def ratio(of: Any) -> np.ndarray:
        return _energy(of.filters, own) / own.sum() / (_energy(of.filters, near) / near.sum())

    def beyond(of: Any) -> np.ndarray:
        return _energy(of.filters, far)

    for feature, learned in found.items():
        end = "" if feature == "change" else f"_{feature}"
        whose = f"NSM's filters of rotation, {FEATURES[feature]}"
        title = f"energy per weight onto the pixel itself over that onto one of its eight neighbours, {whose}"
        pixels = learned["nsm"]._replace(filters=_carried(learned["nsm"].filters, learned["Z"]))
        known = "small, but not absent" if feature == "change" else "0 in the mean by construction"
        note = f"whitened frames, {PLANES[ROTATION].described()}; equal weights 1; {known}; "
        note += f"carried to pixels {ratio(pixels).max():.3f}"
        row = below(f"C12.self{end}", title, ratio(learned["nsm"]), 0.5, note=note)
        yield from beside(row, **nulls_by(ratio, learned, np.max))
        title = f"share of energy in weights from more than 2 pixels away, {whose}"
        note = f"whitened frames; equal weights {far.mean():.3f}"
        row = report(f"C12.far{end}", title, beyond(learned["nsm"]), worst=np.max, note=note)
        yield from beside(row, **nulls_by(beyond, learned, np.max))


def _carried(filters: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return Z[:, None] @ filters @ Z[:, None]


def _energy(filters: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Share of the energy of filters, shape (n_seeds, K, n, n), in some weights, shape (n, n); (n_seeds, K)."""
    return (filters**2)[..., where].sum(axis=-1) / (filters**2).sum(axis=(-2, -1))
