r"""The numbers that the live page needs: what was learned, as lines of cosine modes, and all constants of the rest.

:class:`flymotion.field.MotionField` keeps, of learned operators, the terms that make most of the responses: in the
modes of the patch, those that differ along one axis only. What it keeps is asked of it, one product of two pixels at a
time, and is then a sum over both axes,

.. math:: \Delta x' A_k \bar x = \sum_p w_{kp} \sum_a (b_a \Delta x)' M_{pa} (b_a \bar x)
    + \sum_q w_{kq} \sum_a (\Delta x\, b_a)' M_{qa} (\bar x\, b_a),

with :math:`\Delta x` and :math:`\bar x` as squares of pixels, and :math:`b_a` the cosine modes: few enough products
for a browser. Terms of two different modes along y, which hardly any model has, are lines of two modes.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.browser.lenses_of_frames import EYE
from flymotion.browser.slopes import CONSTANTS
from flymotion.circuits import PREFERRED
from flymotion.detecting.detection import learner_of_directions
from flymotion.field import MotionField, frame_motion
from flymotion.generators import Generators
from flymotion.generators.patch_modes import cosine_modes
from flymotion.models.packing import ModelError
from flymotion.video.viewing import blur

if TYPE_CHECKING:
    from flymotion.learner import MotionLearner

__all__ = ["CELL", "LiveModel", "as_evaluated", "live_model", "numbers_of", "subtypes"]

BUNDLED = "the two photographs that come with scikit-learn"
"""What the detectors of ``bundled.safetensors`` were learned from, by ``flymotion learn bundled``."""

CELL = 8
"""Side of the cells that an arrow is drawn for [pixels that the detectors look at]."""

NOISE = 1.0
"""Standard deviation of the noise of a pixel, that panels show as black [grey levels]."""

ROUNDING = 1e-7
"""Size of a line that is rounding, relative to the largest: kernels are of single precision."""

NEGLIGIBLE = 2e-6
"""Size of a part that is made of such, relative to the largest."""


class LiveModel(NamedTuple):
    """Detectors, and how they look at frames.

    Attributes
    ----------
    detectors : Generators
        Of square patches.
    angles : ndarray, shape (n_directions,)
        Directions that they prefer [deg]: 0 = right, 90 = up.
    blurred : bool
        Whether they look at frames through the optics that a learner of video has.
    name : str
        What they were learned from, or what holds them.
    doubt : str
        Why they are not to be trusted, if learning has failed; else nothing.

    Examples
    --------
    >>> live_model()
    LiveModel(detectors=Generators of 4, angles=..., blurred=False, name='the two photographs ...', doubt='')
    """

    detectors: Generators
    angles: np.ndarray
    blurred: bool
    name: str
    doubt: str = ""

    def __repr__(self) -> str:
        return in_brief(self)


def live_model(model: str | os.PathLike[str] | MotionLearner | Generators | None = None) -> LiveModel:
    """Return the detectors of a model.

    Parameters
    ----------
    model : path, MotionLearner or Generators, optional
        What ``flymotion learn`` wrote; by default what it writes of the photographs that come with scikit-learn.

    Raises
    ------
    ModelError
        A model that cannot be read, or whose detectors are not three or more directions in square patches of frames.

    Examples
    --------
    >>> live_model().angles.round()
    array([177., 358., 270.,  94.])
    """
    from flymotion.keeping import load
    from flymotion.learner import MotionLearner

    name = BUNDLED if model is None else "the model" if isinstance(model, MotionLearner | Generators) else str(model)
    what = model
    if not isinstance(model, MotionLearner | Generators):
        what = load(Path(__file__).with_name("bundled.safetensors") if model is None else model)
    if isinstance(what, MotionLearner):
        learner = learner_of_directions(what)
        answering = learner.generators_.answering
        detectors, told = learner.generators_[answering], learner.directions_[answering]
        angles = np.where(np.isfinite(told), told, _by_shape(detectors))
        doubt = "" if learner.verdict_.ok else str(learner.verdict_)
        videos = ", ".join(os.path.basename(str(video.name)) for video in learner.watched_)
        return LiveModel(detectors, angles, learner.scale_ is not None, videos or os.path.basename(name), doubt)
    if not isinstance(what, Generators):
        raise ModelError(f"{name}: holds a {type(what).__name__}; expected a MotionLearner or Generators")
    if len(shape := what.shape) != 2 or shape[0] != shape[1] or len(what) < 3:
        raise ModelError(f"{name}: has {len(what)} detectors of {shape} pixels; expected 3 or more of square patches")
    return LiveModel(what, _by_shape(what), False, os.path.basename(name))


def _by_shape(detectors: Generators) -> np.ndarray:
    return np.nan_to_num(detectors.in_pixels().directions())


def numbers_of(model: LiveModel) -> dict[str, Any]:
    """Return the numbers that the page needs, as JSON has them."""
    detectors = model.detectors.in_pixels()
    field = MotionField(detectors)
    shape_angles = np.radians(np.nan_to_num(field.angles))
    constants = {name: value for name, value in vars(frame_motion).items() if name.isupper() and name != "UNKNOWN"}
    return {
        "model": model.name,
        "angles": model.angles.tolist(),
        "subtypes": subtypes(model.angles).tolist(),
        "preferred": list(PREFERRED.values()),
        "axes": [np.cos(shape_angles).tolist(), (-np.sin(shape_angles)).tolist()],
        "floors": field.floor(NOISE).tolist(),
        "operators": _in_lines(as_evaluated(detectors)),
        "optics": blur().tolist() if model.blurred else [],
        "slopes": CONSTANTS,
        "frame_motion": constants,
        "lenses": EYE,
        "cell": CELL,
    }


def subtypes(angles: np.ndarray) -> np.ndarray:
    """Return which of the four subtypes prefers what is nearest to each direction [deg], shape (n_directions,)."""
    away = np.abs((angles[:, None] - list(PREFERRED.values()) + 180) % 360 - 180)
    return away.argmin(axis=1)


def as_evaluated(detectors: Generators) -> np.ndarray:
    """Return the operators whose responses :class:`flymotion.field.MotionField` gives, shape (n_directions, n, n).

    One frame holds a patch for each pair of pixels, of which one changes and the other has intensity.
    """
    size = detectors.shape[0]
    one = np.eye(size**2).reshape(size**2, size, size)
    field = MotionField(detectors, outputs=("directions",))

    def responses(change: float) -> np.ndarray:
        pair = (one + sign * change * one[:, None] for sign in (-0.5, 0.5))
        before, after = (tiles.transpose(0, 2, 1, 3).reshape(size**3, size**3) for tiles in pair)
        found = field.between(before, after).directions
        assert found is not None
        return found[:, size // 2 :: size, size // 2 :: size].astype(float)

    return responses(1.0) - responses(-1.0)


def _in_lines(operators: np.ndarray) -> dict[str, Any]:
    """Write operators in cosine modes: lines along y, and all else as lines along x."""
    count, size = len(operators), math.isqrt(operators.shape[1])
    basis, modes = cosine_modes(size)
    terms = (modes @ operators @ modes.T).reshape(count, size, size, size, size)
    down = np.zeros_like(terms)
    k, odd = np.arange(size), (np.add.outer(np.arange(size), np.arange(size)) % 2).astype(bool)
    for b in k:
        down[:, :, b, :, b] = np.where(odd, terms[:, :, b, :, b], 0)
    axes = (terms - down).transpose(0, 1, 3, 2, 4), down.transpose(0, 2, 4, 1, 3)
    least = ROUNDING * np.abs(terms).max()
    return {
        "size": size,
        "count": count,
        "modes": basis.tolist(),
        "axes": [_parts(np.where(_largest(axis) > least, axis, 0), basis) for axis in axes],
    }


def _largest(terms: np.ndarray) -> np.ndarray:
    """Return the size of the largest term of each line: what is small, too, counts beside the brightness of a frame."""
    return np.abs(terms).max(axis=(0, 3, 4), keepdims=True)


def _parts(terms: np.ndarray, basis: np.ndarray) -> list[dict[str, Any]]:
    """Return what few mixtures of the detectors are, each as lines: modes of the change and intensity, and a matrix."""
    U, s, V = np.linalg.svd(terms.reshape(len(terms), -1), full_matrices=False)
    parts = []
    for weights, part in zip((U * s).T[s > NEGLIGIBLE * s[0]], V[s > NEGLIGIBLE * s[0]], strict=True):
        grid = part.reshape(terms.shape[1:])
        used = np.argwhere(grid.any(axis=(2, 3)))
        lines = [[int(a), int(b), (basis.T @ grid[a, b] @ basis).ravel().tolist()] for a, b in used]
        parts.append({"weights": weights.tolist(), "lines": lines})
    return parts
