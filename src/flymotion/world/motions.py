r"""Motions: how the image content moves between two frames.

A motion has parameters :math:`\theta`, one for each one-parameter group of which it is made, with known generators
(Eq. 8): content at p moves with the velocity :math:`L p + v` per unit of its parameter, so a step takes p to
:math:`g(p) = \exp(\theta [L | v]) p`. Each pair of frames makes one step along one *way*, a direction in parameter
space, of random size.

======================== ==============================================================================
:class:`Translation`     content moves by (x right, y down) [pixel spacings]
:class:`Rotation`        content turns about the eye's middle, counter-clockwise as seen [deg]
:class:`Zoom`            content grows by exp(theta) from the eye's middle
:class:`Shear`           content stretches by exp(theta) along an axis and shrinks as much across it: along the
                         horizontal; along the diagonal that falls to the right
:class:`Turn`            a spherical *eye* turns about x, y and z (roll, pitch, yaw), right-handed [deg]
:class:`SelfTranslation` a spherical *eye* moves along x, y and z (forward, left, up) [units of the scene's depth]
:class:`Mixture`         any of these, one a pair
======================== ==============================================================================

Steps of flat eyes are those of the content, as a velocity is in video; steps of a spherical eye are those of the eye,
as the fly's own motion is, and the content flows the other way: :math:`-\omega \times d - (t - (t \cdot d) d) / D` at
direction d and distance D (Longuet-Higgins and Prazdny 1980).
Longer than 350 lines because all kinds of motion stand here beside each other, each with an example.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import unmasked
from flymotion.world.conventions import HUGE, check_ndim, unit_vector

__all__ = ["CARDINAL", "Mixture", "Motion", "Rotation", "SelfTranslation", "Shear", "Translation", "Turn", "Zoom"]

CARDINAL = (0.0, 90.0, 180.0, 270.0)
"""The four cardinal directions [deg]: right, up, left, down."""

MOST = 50.0
"""How far a step may turn [rad], or by how many factors of e stretch, content."""

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""The axes of a spherical eye: forward, left, up."""


@dataclass(frozen=True, eq=False)
class Motion:
    """One-parameter motions, one a pair, of random size.

    Parameters
    ----------
    names : sequence of (str, str), one a parameter
        What a positive and a negative step are called.
    flows : array-like, shape (n_parameters, ndim, ndim + 1)
        ``[L | v]``, the velocity ``L p + v`` of content at p, in the eye's coordinates, for each parameter.
    ways : array-like, shape (n_ways, n_parameters)
        Directions of the steps in parameter space, all equally likely.
    sizes : array-like, shape (n_ways, 2)
        Least and largest size of a step along each way; sizes are uniform between them.

    Raises
    ------
    ValueError
        Shapes that do not fit, no way to move, sizes out of order; numbers that are not finite, or steps that turn by
        more than 50 rad or stretch by more than a factor of e^50.

    Examples
    --------
    >>> drift = Motion([("right", "left")], [[[0.0, 1.0]]], ways=[[1.0]], sizes=[[0.2, 0.5]])  # to the right only
    >>> drift.ndim, drift.largest.tolist(), drift.called([-1.0])
    (1, [[0.5]], 'left')
    >>> drift.steps(3, np.random.default_rng(0)).ravel().round(2)  # pixels per frame
    array([0.39, 0.28, 0.21])
    """

    names: Sequence[tuple[str, str]]
    flows: Any
    ways: Any
    sizes: Any

    __repr__ = in_brief

    def __post_init__(self) -> None:
        flows, ways, sizes = (np.array(unmasked(getattr(self, k), k, float)) for k in ("flows", "ways", "sizes"))
        if flows.ndim != 3 or flows.shape[2] != flows.shape[1] + 1 or len(flows) != len(self.names):
            raise ValueError(f"{len(self.names)} names and flows of {flows.shape}; expected (n, ndim, ndim + 1)")
        if len(ways) == 0:
            raise ValueError("no direction to move in; expected at least one angle (0 or 180 in one dimension)")
        if ways.shape != (len(ways), len(flows)) or sizes.shape != (len(ways), 2):
            raise ValueError(f"ways of shape {ways.shape}, sizes of {sizes.shape}; expected (m, {len(flows)}), (m, 2)")
        if not ((sizes >= 0) & (sizes <= HUGE)).all() or (sizes[:, 0] > sizes[:, 1]).any():
            raise ValueError(f"sizes of steps from and to {sizes.tolist()}; expected 0 <= min <= max <= {HUGE:g}")
        if not (np.isfinite(flows).all() and np.isfinite(ways).all()):
            raise ValueError("flows or ways of the motion are not finite; expected finite numbers")
        linear = np.tensordot(sizes[:, 1:] * ways, flows[..., :-1], axes=1)
        if (furthest := np.abs(linear).sum(axis=-1).max(initial=0.0)) > MOST:
            raise ValueError(
                f"a step of {sizes.max():g} turns or stretches by {furthest:g}; expected {MOST:g} rad, or factors of "
                "e, at most"
            )
        for name, value in (("flows", flows), ("ways", ways), ("sizes", sizes)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "names", tuple((str(a), str(b)) for a, b in self.names))

    @property
    def ndim(self) -> int:
        """Dimensions of what moves: 1, 2, or 3 for a spherical eye."""
        return self.flows.shape[1]

    def steps(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw steps, shape (n, n_parameters)."""
        share = rng.random((n, 1))
        which = rng.integers(len(self.ways), size=n)
        low, high = self.sizes[which].T[..., None]
        return (low + (high - low) * share) * self.ways[which]

    def quadrature(self, order: int = 8) -> tuple[np.ndarray, np.ndarray]:
        """Return steps, shape (m, n_parameters), and weights, shape (m,): weighted means are population means."""
        nodes, weights = np.polynomial.legendre.leggauss(order)
        low, high = self.sizes.T[..., None]
        steps = (low + (high - low) * (nodes + 1) / 2)[..., None] * self.ways[:, None]
        return steps.reshape(-1, len(self.flows)), np.tile(weights / 2, len(self.ways)) / len(self.ways)

    def maps(self, steps: Any) -> np.ndarray:
        """Return what steps, shape (..., n_parameters), do to content: ``[A | b]``, shape (..., ndim, ndim + 1).

        Content at p is at ``A p + b`` after the step.
        """
        generator = np.tensordot(unmasked(steps, "steps", float), self.flows, axes=1)
        if not self.flows[..., :-1].any():  # exactly, and cheap
            generator[..., :-1] += np.eye(self.ndim)
            return generator
        return _exponential(np.pad(generator, [(0, 0)] * (generator.ndim - 2) + [(0, 1), (0, 0)]))[..., :-1, :]

    def flow(self, positions: np.ndarray, depth: Any = math.inf) -> np.ndarray:
        """Return the velocity of the content per unit of each parameter.

        Parameters
        ----------
        positions : ndarray, shape (n_pixels, ndim)
            An eye's positions.
        depth : float or array-like, shape (n_pixels,)
            Distance of the content, for a spherical eye.

        Returns
        -------
        ndarray, shape (n_parameters, n_pixels, ndim)
            Per frame; on the sphere tangent to it [rad].
        """
        positions = unmasked(positions, "positions")
        linear, constant = positions @ self.flows[..., :-1].swapaxes(1, 2), self.flows[:, None, :, -1]
        if self.ndim < 3:
            return linear + constant
        away = (constant * positions).sum(axis=2, keepdims=True) * positions
        return linear + (constant - away) / np.broadcast_to(unmasked(depth, "depth"), len(positions))[:, None]

    @property
    def largest(self) -> np.ndarray:
        """The largest step along each way, shape (n_ways, n_parameters)."""
        return self.sizes[:, 1:] * self.ways

    def called(self, way: Any) -> str:
        """Name a direction in parameter space, shape (n_parameters,), by its largest part."""
        parts = unmasked(way, "way", float)
        which = int(np.argmax(np.abs(parts)))
        return self.names[which][int(parts[which] < 0)]


def _exponential(matrices: np.ndarray) -> np.ndarray:
    """Matrix exponentials by Taylor's series and squaring: for many small ones 7 times as fast as scipy's, or more."""
    linear, shift = np.abs(matrices[..., :-1]).sum(axis=-1), np.abs(matrices[..., -1])
    size = (linear + np.minimum(shift, 64.0)).max(initial=1e-300)  # shifts, however large, only come along
    n_squarings = max(0, math.ceil(math.log2(size)) + 1)
    scaled, result = matrices / 2**n_squarings, np.eye(matrices.shape[-1])
    for k in range(16, 0, -1):
        result = np.eye(matrices.shape[-1]) + scaled @ result / k
    for _ in range(n_squarings):
        result = result @ result
    return result


def _both_ways(n_parameters: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    ways = np.concatenate([np.eye(n_parameters), -np.eye(n_parameters)])
    return ways, np.tile([low, high], (len(ways), 1))


class Translation(Motion):
    """Shifts of random size along one direction a pair.

    Sizes are uniform in (min_shift, max_shift) and directions equally likely, so in one dimension with the default
    ``min_shift`` the signed shift is uniform in (-max_shift, max_shift).

    Parameters
    ----------
    max_shift : float
        Largest shift [pixel spacings].
    min_shift : float
        Smallest shift.
    angles : sequence of float
        Directions of the image content [deg]: 0 = right, 90 = up.
    ndim : int
        1 (angles 0 and 180) or 2.

    Raises
    ------
    ValueError
        Shifts out of order; no angle.

    Examples
    --------
    >>> shifts = Translation(0.5)
    >>> [(shifts.called(way), way.tolist()) for way in shifts.largest.round(1) + 0.0]  # (x right, y down)
    [('right', [0.5, 0.0]), ('up', [0.0, -0.5]), ('left', [-0.5, 0.0]), ('down', [0.0, 0.5])]
    """

    def __init__(
        self, max_shift: float, min_shift: float = 0.0, angles: Sequence[float] = CARDINAL, ndim: int = 2
    ) -> None:
        check_ndim(ndim)
        angles = [a for a in unmasked(angles, "angles").tolist() if ndim == 2 or a % 180 == 0]
        flows = np.concatenate([np.zeros((ndim, ndim, ndim)), np.eye(ndim)[..., None]], axis=2)
        ways = np.reshape([unit_vector(angle, ndim) for angle in angles], (-1, ndim))
        sizes = np.tile([min_shift, max_shift], (len(angles), 1))
        super().__init__((("right", "left"), ("down", "up"))[:ndim], flows, ways, sizes)


class Rotation(Motion):
    """Content turns about the eye's middle, counter-clockwise (as seen) for positive steps [deg].

    Parameters
    ----------
    max_angle, min_angle : float
        Largest and smallest angle [deg].

    Examples
    --------
    >>> Rotation(5.0).flow(np.array([[10.0, 0.0]])).round(3).tolist()  # what is right of the middle goes up, per degree
    [[[0.0, -0.175]]]
    """

    def __init__(self, max_angle: float, min_angle: float = 0.0) -> None:
        turn = math.radians(1) * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # y counts down
        super().__init__([("counter-clockwise", "clockwise")], turn[None], *_both_ways(1, min_angle, max_angle))


class Zoom(Motion):
    """Content expands from the eye's middle by exp(theta), or shrinks.

    Parameters
    ----------
    max_rate, min_rate : float
        Largest and smallest theta: the logarithm of the factor.

    Examples
    --------
    >>> Zoom(0.1).maps([0.1]).round(3).tolist()  # content is 10.5 % farther from the middle after a step of 0.1
    [[1.105, 0.0, 0.0], [0.0, 1.105, 0.0]]
    """

    def __init__(self, max_rate: float, min_rate: float = 0.0) -> None:
        super().__init__([("expansion", "contraction")], np.eye(2, 3)[None], *_both_ways(1, min_rate, max_rate))


class Shear(Motion):
    """Content stretches by exp(theta) along an axis and shrinks as much across it: the two area-keeping shears.

    Parameters
    ----------
    max_rate, min_rate : float
        Largest and smallest theta.

    Examples
    --------
    >>> Shear(0.1).maps([0.1, 0.0]).round(3).tolist()  # wider and lower, of the same area
    [[1.105, 0.0, 0.0], [0.0, 0.905, 0.0]]
    """

    def __init__(self, max_rate: float, min_rate: float = 0.0) -> None:
        names = [("horizontal stretch", "vertical stretch"), ("falling stretch", "rising stretch")]
        flows = np.array([[[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]])
        super().__init__(names, flows, *_both_ways(2, min_rate, max_rate))


class Turn(Motion):
    """A spherical eye turns about one of its axes a pair, right-handed for positive steps [deg].

    Parameters
    ----------
    max_angle, min_angle : float
        Largest and smallest angle [deg].
    axes : array-like, shape (n_axes, 3)
        Axes (x forward, y left, z up): roll, pitch and yaw by default. The parameters are always the three components
        of the rotation vector.

    Raises
    ------
    ValueError
        An axis of length 0; angles out of order.

    Examples
    --------
    >>> yaw = Turn(4.0, axes=[0, 0, 1])
    >>> [yaw.called(way) for way in yaw.ways]
    ['yaw left', 'yaw right']
    >>> yaw.maps([0, 0, 90.0])[:, :3].round(3) @ [1, 0, 0] + 0.0  # what was ahead is on the right after turning left
    array([ 0., -1.,  0.])
    """

    def __init__(self, max_angle: float, min_angle: float = 0.0, axes: Any = AXES) -> None:
        names = [("roll right", "roll left"), ("pitch down", "pitch up"), ("yaw left", "yaw right")]
        cross = np.cross(np.eye(3)[:, None], np.eye(3)).swapaxes(1, 2)  # cross[k] @ d = e_k x d
        flows = np.concatenate([-math.radians(1) * cross, np.zeros((3, 3, 1))], axis=2)
        super().__init__(names, flows, *_along(axes, min_angle, max_angle))


class SelfTranslation(Motion):
    """A spherical eye moves along one of its axes a pair, past a scene of finite depth.

    Parameters
    ----------
    max_step, min_step : float
        Largest and smallest step, in the units of the scene's depth.
    axes : array-like, shape (n_axes, 3)
        Directions (x forward, y left, z up). The parameters are always the three components of the step.

    Raises
    ------
    ValueError
        An axis of length 0; steps out of order.

    Examples
    --------
    >>> walk = SelfTranslation(0.1, axes=[1, 0, 0])
    >>> np.rad2deg(walk.flow(np.array([[0.0, 1.0, 0.0]]), depth=2.0)[0]).round(1).tolist()  # per unit of the way ahead
    [[-28.6, 0.0, 0.0]]
    """

    def __init__(self, max_step: float, min_step: float = 0.0, axes: Any = AXES) -> None:
        names = [("forward", "backward"), ("leftward", "rightward"), ("upward", "downward")]
        flows = np.concatenate([np.zeros((3, 3, 3)), -np.eye(3)[..., None]], axis=2)
        super().__init__(names, flows, *_along(axes, min_step, max_step))


def _along(axes: Any, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    axes = np.atleast_2d(unmasked(axes, "axes", float))
    sizes = np.abs(axes).max(axis=-1, initial=0.0)
    if axes.shape[1:] != (3,) or not ((sizes >= 1 / HUGE) & (sizes <= HUGE)).all():
        raise ValueError(f"axes {axes.tolist()}; expected vectors of three numbers, none 0, up to {HUGE:g}")
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    return np.concatenate([axes, -axes]), np.tile([low, high], (2 * len(axes), 1))


class Mixture(Motion):
    """Several motions, one a pair: the ways of each, all equally likely.

    Parameters
    ----------
    *motions : Motion
        All of the same dimensions. Their parameters come one after the other.

    Raises
    ------
    ValueError
        No motion, or motions of different dimensions.

    Examples
    --------
    >>> affine = Mixture(Translation(0.3), Rotation(5.0), Zoom(0.1), Shear(0.1))
    >>> [affine.called(way) for way in affine.ways[4:8]]  # of twelve
    ['counter-clockwise', 'clockwise', 'expansion', 'contraction']
    """

    def __init__(self, *motions: Motion) -> None:
        if other := [type(motion).__name__ for motion in motions if not isinstance(motion, Motion)]:
            raise ValueError(f"{other[0]} among the motions; expected motions alone, as in Mixture(one, another)")
        if len({motion.ndim for motion in motions}) != 1:
            raise ValueError(f"motions of {[motion.ndim for motion in motions]} dimensions; expected one or more alike")
        sizes = [len(motion.flows) for motion in motions]
        offsets = np.cumsum([0, *sizes])
        room = zip(motions, offsets[:-1], offsets[-1] - offsets[1:], strict=True)
        ways = [np.pad(motion.ways, ((0, 0), (before, after))) for motion, before, after in room]
        super().__init__(
            [name for motion in motions for name in motion.names],
            np.concatenate([motion.flows for motion in motions]),
            np.concatenate(ways),
            np.concatenate([motion.sizes for motion in motions]),
        )
