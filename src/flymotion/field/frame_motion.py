r"""How the whole frame moves: translation, rotation and looming, from a field of velocities.

A camera that turns and zooms, or moves before something flat, takes a point p of the picture, from the frame's centre,
to :math:`A p + t` with :math:`A = s\, e^{-i \phi}`, but for perspective (positions as complex numbers, x right and y
down, so that positive :math:`\phi` is counter-clockwise as seen). Written for the place midway between both frames,
:math:`z = p + v / 2`, velocity is linear however large the motion is, and the other way round in reversed time,

.. math:: v = b + a z, \qquad A = \frac{2 + a}{2 - a},

with b the velocity of what passes the centre: a point p is at :math:`A (p + b / 2) + b / 2` in the next frame. A camera
that turns about an axis in the picture's plane adds :math:`\mathrm{Re}(\bar q z)\, z`, with :math:`q = b / f^2` at a
focal length f [pixels]; a plane seen obliquely adds the same with another q. Left out, these terms would be taken for
translation: a tenth of it at a field of view of 60 degrees, half of it at 100.

What moves otherwise has no say, however much contrast it has. Hypotheses (that the camera rests; velocities of single
places; the similarities of pairs of places) are held against many places, and each that has texture has a vote. The
one with most votes, refined, is where a fit begins that weighs each velocity with its precision and leaves out,
smoothly, what does not agree. The camera is taken to rest unless something else has clearly more votes: two lanes of
traffic make a similarity, too.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

__all__ = ["UNKNOWN", "GlobalMotion", "global_motion"]

N_SAMPLES = 1200
"""About as many pixels of a frame are looked at: velocities are those of windows, alike from one pixel to the next."""

TEXTURE = 0.15
"""Confidence of half a vote: texture has a vote, and strong texture hardly more of it than weak."""

NEAR = 0.25
"""Difference from a motion at which a velocity has a quarter of a vote for it, at least [pixels per frame]."""

ROUGH = 2.5
"""The same, relative to the standard deviation of velocities from one place to the next."""

LEAST_ERROR = 0.3
"""No velocity is taken to be surer than that, where a frame's mean precision is told [pixels per frame]: what a codec
has left as it was looks surest."""

N_SINGLE, N_PAIRS = 16, 32
"""Hypotheses: that the frame moves as a single place does; that it makes the similarity of two places."""

LEAST_DISTANCE = 0.2
"""Of the two places of a pair, relative to half the frame's diagonal."""

EVERY = 3
"""Hypotheses are held against every so many places."""

REST = 1.1
"""What has less votes than rest has, times this, is not believed."""

WIDENINGS = (3.0, 1.0)
"""What hypotheses agree with while they are refined, relative to what counts in the end."""

N_TURNS = 4
"""Times that the last fit is repeated."""

TOLERANCE = 4.0
"""Size of a residual, relative to the root mean square of those that agree, at which a velocity has a quarter of its
weight; a fixed point for normal residuals, of which it keeps 0.88. With 2 it keeps 0.61, and where small motions are
held back in parts of the frame, by a codec or weak texture, the fit closes in on those parts."""

ALIKE = 4.0
"""Neighbouring samples that have one error, as their windows overlap: what is known of perspective otherwise, that q is
no larger than b relative to half the frame's diagonal, has as much more weight."""

HELD = 0.1
"""Residual that may be nothing where errors are told, so of a camera's frames [pixels per frame]: a codec that has few
bits leaves half a frame as it was and moves the other half too far, and neither alone is the frame's motion."""

ROUNDING = 1e-4
"""Residual that is nothing [pixels per frame]."""

LEAST_SUPPORT = 0.002
"""Share of the frame below which there is no answer."""

LEAST_SPREAD = 0.05
"""Spread of what supports the answer, relative to half the frame's diagonal, below which only translation is told."""

GENERATORS = (0.7548776662466927, 0.5698402909980532)
"""Multiples of these, less their integer parts, cover a square evenly (Roberts 2018, the R2 sequence)."""


class GlobalMotion(NamedTuple):
    """Motion of the frame as a whole; NaN where the frame does not tell.

    A point p from the centre is at ``A (p + t / 2) + t / 2`` in the next frame, A the rotation times 1 + looming.

    Attributes
    ----------
    x, y : float
        Translation (right, down) of the content that is at the frame's centre midway between both frames [pixels per
        frame].
    rotation : float
        Positive = counter-clockwise as seen [deg per frame].
    looming : float
        By how much of its size content grows, positive = approaching [1 per frame].
    support : float
        Share of the frame's texture, wherever that is, that moves so: within half a pixel, or 5 standard deviations of
        the velocity's noise; 0 to 1. Where it is small the frame holds many motions, and this is only the commonest.

    Examples
    --------
    >>> motion = global_motion(np.stack([np.full((9, 9), 2.0), np.zeros((9, 9))]), np.ones((9, 9)))
    >>> round(motion.x, 3), round(motion.rotation, 3), motion.support
    (2.0, 0.0, 1.0)
    """

    x: float
    y: float
    rotation: float
    looming: float
    support: float


UNKNOWN = GlobalMotion(math.nan, math.nan, math.nan, math.nan, 0.0)
"""What a frame without texture tells."""


def global_motion(
    velocity: np.ndarray,
    confidence: np.ndarray,
    error: np.ndarray | None = None,
    shape: tuple[int, int] | None = None,
) -> GlobalMotion:
    """Fit the motion of the whole frame: what most of its texture agrees with.

    Parameters
    ----------
    velocity : ndarray, shape (2, height, width)
        (x right, y down) [pixels per frame], of what is at each pixel in the frame before:
        :attr:`flymotion.field.Field.velocity`.
    confidence : ndarray, shape (height, width)
        0 to 1: :attr:`flymotion.field.Field.confidence`.
    error : ndarray, shape (height, width), optional
        Of the velocity [pixels per frame], NaN where it is not known: such places do not count. In the fit places weigh
        as their confidence, and those of more than common error as its inverse square, too.
    shape : tuple of int, optional
        Height and width of the frame [pixels], where velocities are those of every few pixels,
        :meth:`flymotion.field.MotionField.spacing`; by default those of the velocity.

    Returns
    -------
    GlobalMotion

    Examples
    --------
    >>> y, x = np.mgrid[-50:51, -80:81] / 100
    >>> motion = global_motion(np.stack([1 + y, -x]), np.ones(x.shape))
    >>> round(motion.x, 3), round(motion.y, 3), round(motion.rotation, 3), round(motion.looming, 3)
    (1.0, 0.0, 0.573, 0.0)
    """
    shape = shape or (velocity.shape[1], velocity.shape[2])
    seen = _seen(velocity, confidence, error, shape)
    if seen.texture < LEAST_SUPPORT:
        return UNKNOWN
    model, agreeing = _fitted(seen, _best_start(seen))
    near = _squares(seen, model)[0] < 4 * seen.near**2
    support = float(seen.votes[near].sum() / seen.votes.sum())
    total, z = agreeing.sum(), seen.z
    if support * seen.texture < LEAST_SUPPORT or not total > 0:
        return UNKNOWN
    spread = (agreeing @ (z.real**2 + z.imag**2)) / total - abs(agreeing @ z / total) ** 2
    if spread < LEAST_SPREAD**2:
        x, y = (seen.v @ agreeing / total).tolist()
        return GlobalMotion(x, y, math.nan, math.nan, support)
    x, y, grow, turn = model[0, :4].tolist()
    a = complex(grow, turn) / (math.hypot(*shape) / 2)
    to = (2 + a) / (2 - a)
    return GlobalMotion(x, y, -math.degrees(math.atan2(to.imag, to.real)), abs(to) - 1, support)


class _Seen(NamedTuple):
    """What a field says at n places."""

    z: np.ndarray
    """Midway between both frames, from the centre, x + iy, shape (n,) [half the frame's diagonal]."""
    design: np.ndarray
    """Velocities there of unit motions, of the six numbers b, a and q, shape (6, 2, n)."""
    v: np.ndarray
    """Velocity, shape (2, n)."""
    votes: np.ndarray
    """What each counts when motions are chosen from, 0 to 1, shape (n,)."""
    weights: np.ndarray
    """And in the fit: relative precision."""
    texture: float
    """How much of the frame there is: its mean square confidence."""
    near: float
    """Difference from a motion at which a velocity has a quarter of a vote for it [pixels per frame]."""
    least: float
    """Residual that is nothing, or may be [pixels per frame]."""

    def some(self) -> _Seen:
        """Return one of every few."""
        few = np.s_[..., EVERY // 2 :: EVERY]
        parts = {name: getattr(self, name)[few] for name in ("z", "design", "v", "votes", "weights")}
        return self._replace(**parts)


def _seen(velocity: np.ndarray, confidence: np.ndarray, error: np.ndarray | None, shape: tuple[int, int]) -> _Seen:
    at, pixels = _pixels(confidence.shape, shape)
    v, squares = velocity[:, *at].astype(float), confidence[at].astype(float) ** 2
    votes = squares / (squares + TEXTURE**2)
    near = math.hypot(NEAR, ROUGH * _roughness(v, votes))
    v, votes, squares = v.reshape(2, -1), votes.ravel(), squares.ravel()
    # not the squares: of small motion there is less confidence than of rest, and the fit would go for rest
    weights, texture, least = np.sqrt(squares), float(squares.mean()), ROUNDING
    if error is not None:
        sigma = error[at].astype(float).ravel()
        known, least = np.isfinite(sigma), HELD
        variance = np.where(known, sigma, 0.0) ** 2
        texture, votes = float((squares * known).mean()), votes * known
        precision = votes @ (1 / (LEAST_ERROR**2 + variance)) / max(votes.sum(), 1e-300)
        weights = weights * known / (1 + precision * variance)
    x, y = (pixels + v / 2) / (math.hypot(*shape) / 2)
    one, zero, xy = np.ones_like(x), np.zeros_like(x), x * y
    design = np.array([[one, zero], [zero, one], [x, y], [-y, x], [x * x, xy], [xy, y * y]])
    return _Seen(x + 1j * y, design, v, votes, weights, texture, near, least)


@lru_cache(maxsize=8)
def _pixels(few: tuple[int, int], shape: tuple[int, int]) -> tuple[Any, np.ndarray]:
    """Return which pixels of a field are looked at, as an index, and where from the frame's centre, shape (2, n)."""
    step = max(1, round(math.sqrt(math.prod(few) / N_SAMPLES)))
    spacing = 2 ** int(math.log2(shape[0] // few[0]))  # with what is left over at the bottom it may be more
    rows, columns = (
        spacing * np.arange(step // 2, n, step) + (spacing - side) / 2 for n, side in zip(few, shape, strict=True)
    )
    return (np.s_[step // 2 :: step],) * 2, np.stack(np.meshgrid(columns, rows)).reshape(2, -1)


def _roughness(v: np.ndarray, votes: np.ndarray) -> float:
    """Return the noise of velocities, a standard deviation, from second differences, which no similarity has."""
    firm = votes >= votes.mean()
    of = firm[:, :-2] & firm[:, 1:-1] & firm[:, 2:]
    differences = (v[..., :-2] - 2 * v[..., 1:-1] + v[..., 2:])[:, of]
    n = differences.shape[1]
    if n < 20:
        return 0.0
    squares = (differences**2).sum(axis=0)
    return math.sqrt(
        np.partition(squares, n // 2)[n // 2] / (6 * 2 * math.log(2))
    )  # the median of two squares is 2 ln 2


def _best_start(seen: _Seen) -> np.ndarray:
    """Return the motion, shape (1, 6), that has most votes, or rest unless that has clearly more."""
    seen = seen.some()
    models = _hypotheses(seen.z, seen.v, seen.votes)
    scores = _agreement(_squares(seen, models) / seen.near**2) @ seen.votes
    at_rest = scores[0]
    kinds = np.split(np.arange(len(models)), (1, 1 + N_SINGLE))
    models = models[np.concatenate([kind[np.argsort(-scores[kind])[:2]] for kind in kinds])]
    for wider in WIDENINGS:
        weights = seen.votes * _agreement(_squares(seen, models) / (wider * seen.near) ** 2)
        models = _solved(seen, weights, models, seen.near**2)
    scores = _agreement(_squares(seen, models) / seen.near**2) @ seen.votes
    best = 0 if REST * at_rest >= scores.max() else int(np.argmax(scores))
    return models[best : best + 1]


def _hypotheses(z: np.ndarray, v: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """Return motions, shape (n, 6): rest, those of single places and those of pairs, drawn evenly by their votes."""
    shares = np.arange(1, max(N_SINGLE, N_PAIRS) + 1) * np.array(GENERATORS)[:, None] % 1
    upto = np.cumsum(votes)
    i, j = np.minimum(np.searchsorted(upto, shares * upto[-1], side="right"), len(votes) - 1)
    models = np.zeros((1 + N_SINGLE + N_PAIRS, 6))
    models[1 : 1 + N_SINGLE, :2] = v[:, i[:N_SINGLE]].T
    i, j = i[:N_PAIRS], j[:N_PAIRS]
    w, apart = v[0] + 1j * v[1], z[i] - z[j]
    far = np.abs(apart) > LEAST_DISTANCE
    a = np.where(far, w[i] - w[j], 0) / np.where(far, apart, 1)
    b = w[i] - a * z[i]
    models[1 + N_SINGLE :, :4] = np.stack([b.real, b.imag, a.real, a.imag], axis=1)
    return models


def _fitted(seen: _Seen, model: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the motion of least squares of what agrees with it, shape (1, 6), and the weights, shape (n,)."""
    squares, scale = _squares(seen, model), seen.near**2
    for _ in range(N_TURNS):
        weights = seen.weights * _agreement(squares / scale)
        variance = float((weights * squares).sum() / weights.sum()) + seen.least**2
        scale = TOLERANCE**2 * variance
        model = _solved(seen, weights, model, variance)
        squares = _squares(seen, model)
    return model, weights[0]


def _squares(seen: _Seen, models: np.ndarray) -> np.ndarray:
    """Return squared differences from k motions, shape (k, n) [pixels per frame, squared]."""
    differences = (models @ seen.design.reshape(6, -1)).reshape(len(models), 2, -1)
    differences -= seen.v
    differences *= differences
    return differences[:, 0] + differences[:, 1]


def _agreement(squares: np.ndarray) -> np.ndarray:
    """Return weights of squared differences, in units of that with a quarter: Geman and McClure's."""
    more = squares + 1
    more *= more
    return 1 / more


def _solved(seen: _Seen, weights: np.ndarray, models: np.ndarray, variance: float) -> np.ndarray:
    """Return k motions, of weighted least squares with a ridge: q is about as large as b is, or less."""
    design, v = seen.design.reshape(6, -1), seen.v.ravel()
    weighted = np.concatenate([weights, weights], axis=1)[:, None] * design
    normal = weighted @ design.T
    diagonal = np.einsum("kii->ki", normal)
    diagonal += 1e-9 * weights.sum(axis=1, keepdims=True)
    diagonal[:, 4:] += ALIKE * variance / ((models[:, :2] ** 2).sum(axis=1, keepdims=True) + ROUNDING**2)
    return np.linalg.solve(normal, (weighted @ v)[..., None])[..., 0]
