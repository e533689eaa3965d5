"""What learning starts from: parameters, checked, and the state of a learner that has seen nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flymotion.learner.intake import MOST_PATCHES
from flymotion.learner.learned_state import LearnedState
from flymotion.learner.plain_vision import PlainVision
from flymotion.learner.video_vision import VideoVision
from flymotion.models.packing import Given
from flymotion.similarity.features import check_feature
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.samples import check_forgetting
from flymotion.world.conventions import as_generator

__all__ = ["VISIONS", "first_state", "follow", "parameters"]

VISIONS = {"plain": ("midpoint", 7), "video": ("antisymmetric", 9)}
"""Kinds of early vision, with the feature and the side of a patch [pixels] that go with them."""

LEAST = {"n_components": 1, "patch": 2, "patches_per_pair": 1, "warm_up": 1, "n_passes": 1}
"""Smallest values of the parameters that are whole numbers."""


def first_state(learner: Any) -> LearnedState:
    """Return what learning starts from.

    Parameters
    ----------
    learner : MotionLearner
        Its parameters are all that is read.

    Raises
    ------
    ValueError
        Parameters out of range.
    """
    _check(learner)
    seed = int(as_generator(learner.random_state).integers(2**31))
    feature, patch = VISIONS[learner.vision]
    patch = patch if learner.patch is None else learner.patch
    vision: PlainVision | VideoVision
    if learner.vision == "plain":
        fitted = learner.warm_up, learner.regularization, learner.half_saturation
        vision = PlainVision(patch, learner.patches_per_pair, *fitted, seed)
    else:
        given = isinstance(learner.random_state, int | np.integer)
        vision = VideoVision(patch, learner.patches_per_pair, int(learner.random_state) if given else seed)
    network = NonnegativeSimilarityMatching(learner.n_components, forgetting=learner.forgetting)
    return LearnedState(vision, network, feature if learner.feature is None else learner.feature, learner.warm_up, seed)


def follow(learner: Any, state: LearnedState) -> None:
    """Check that a learner's parameters fit what was learned; those that may change count from now on.

    Parameters
    ----------
    learner : MotionLearner
        Its parameters are all that is read.
    state : LearnedState
        What it has learned; its network takes over the forgetting.

    Raises
    ------
    ValueError
        Parameters out of range, or that are not those which learning began with.
    """
    _check(learner)
    feature, patch = VISIONS[learner.vision]
    vision = state.vision
    learned: dict[str, Any] = {
        "vision": "plain" if isinstance(vision, PlainVision) else "video",
        "n_components": state.network.n_components,
        "feature": state.feature,
        "patch": vision.patch,
        "patches_per_pair": vision.patches_per_pair,
        "warm_up": state.warm_up,
    }
    if isinstance(vision, PlainVision):
        learned |= {"regularization": vision.regularization, "half_saturation": vision.half_saturation}
    defaults = {"feature": feature, "patch": patch}
    for name, value in learned.items():
        given = getattr(learner, name)
        if (defaults.get(name) if given is None else given) != value:
            raise ValueError(
                f"{name} is {given!r}, but this MotionLearner has learned with {value!r}; "
                "set it back, or call fit to learn anew"
            )
    state.network.forgetting = learner.forgetting


def _check(learner: Any) -> None:
    if learner.vision not in VISIONS:
        raise ValueError(f"vision is {learner.vision!r}; expected one of {', '.join(map(repr, VISIONS))}")
    for name, least in LEAST.items():
        value = getattr(learner, name)
        if not (isinstance(value, int | np.integer) and value >= least) and (name, value) != ("patch", None):
            raise ValueError(f"{name} is {value!r}; expected a whole number of {least} or more")
    if learner.feature is not None:
        check_feature(learner.feature)
    check_forgetting(learner.forgetting)
    for name in ("regularization", "half_saturation"):
        if not getattr(learner, name) >= 0:
            raise ValueError(f"{name} is {getattr(learner, name)!r}; expected 0 or more")


def parameters(given: Given) -> dict[str, Any]:
    """Return the parameters of a learner from a file; :func:`first_state` checks their ranges.

    Raises
    ------
    ValueError
        Parameters that are missing or of another kind.
    """
    most = {"patches_per_pair": MOST_PATCHES}
    whole = {
        name: given.number(name, int, least=least, most=most.get(name, math.inf), optional=name == "patch")
        for name, least in LEAST.items()
    }
    real = {name: given.number(name) for name in ("regularization", "half_saturation", "forgetting")}
    vision, feature = given.number("vision", str), given.number("feature", str, optional=True)
    return (
        whole | real | {"vision": vision, "feature": feature, "random_state": given.seed("random_state", optional=True)}
    )
