"""What stands beside detectors learned from video and was not learned: nulls of C30, shown the same gratings."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from flymotion.claims.nulls import labelled_means, random_filters, start_alone
from flymotion.detectors import (
    Detector,
    conductance,
    gruntman,
    hassenstein_reichardt,
    learned,
    of_learner,
    rectified,
)
from flymotion.generators import Generators
from flymotion.learner.probing import probes
from flymotion.learner.sources import WATCHING
from flymotion.learner.starting import first_state
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.initialisation import warm_up_length
from flymotion.tuning import experiment
from flymotion.tuning.recordings import compare, published
from flymotion.video import open_movie

if TYPE_CHECKING:
    from flymotion.learner import MotionLearner

__all__ = ["filters_beside", "models", "shown"]

WAYS = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
"""Of patches at known shifts, of which labelled averages are made, one a way."""


def shown(detector: Any, **changes: Any) -> xr.Dataset:
    """Show gratings in 24 directions, and put the curve beside the cells'.

    One phase will do: what is settled repeats itself, and the mean is over whole periods.
    """
    return compare(experiment("direction", detector, repeats=1, **changes), published())


def models() -> dict[str, xr.Dataset]:
    """Show gratings to models of the literature; of the one that compares peaks, these."""
    return {
        "hrd": shown(rectified(hassenstein_reichardt())),
        "conductance": shown(conductance()),
        "conductance_t5": shown(conductance("T5")),
        "gruntman": shown(gruntman(), keep_time=True),
    }


def filters_beside(learner: MotionLearner, source: str | Path, seed: int) -> dict[str, Detector]:
    """Return random filters, the start alone, and averages by label, as the detectors that a learner's filters make.

    The learner's own pairs are made again. The averages are of patches of the frames kept for probing, at known shifts.
    """
    K, found = learner.n_components, learner.generators_
    vision = first_state(learner).vision
    n = found.operators.shape[1]
    first: list[OuterProducts] = []
    watching: dict[str, Any] = WATCHING
    read = (pairs for pairs, _ in vision.read([open_movie(source, **watching)]) if pairs is not None)
    for pairs in chain(read, vision.flush()):  # to the end, as frames are kept for probing until then
        if sum(len(chi) for chi in first) < warm_up_length(n**2, 2 * n):
            first.append(outer_products(pairs, learner.feature_))
    known = probes(vision.seen, vision.patch_shape, seed)
    assert known.motion is not None
    chi, way = outer_products(vision.see(known), learner.feature_), np.argmax(known.motion @ WAYS.T, axis=1)
    filters = {
        "random": random_filters(K, chi, np.random.default_rng([seed, 31])),
        "start": start_alone(K, OuterProducts.concatenate(first)),
        "labelled": labelled_means(chi, way),
    }
    spacing = of_learner(learner).spacing
    return {name: _detector(each, found, learner.feature_, spacing) for name, each in filters.items()}


def _detector(filters: np.ndarray, found: Generators, feature: str, spacing: float) -> Detector:
    generators = Generators(filters, found.eye, found.whitening)
    return learned(generators, feature=feature, rectify=True, spacing=spacing)
