"""The one renderer: a scene, seen by an eye, from a path of poses.

A pose says where the eye is: a place, or an affine map ``[A | b]`` that takes the eye's coordinates to the scene's.
Content that moves by g, as the eye sees it, is an eye whose pose follows the inverse of g.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from flymotion.frames import FramePairs, unmasked
from flymotion.world.conventions import as_generator
from flymotion.world.eyes import Eye
from flymotion.world.motions import Motion
from flymotion.world.scenes import FlatScene, Scene, SphericalScene

__all__ = ["render", "sample_pairs", "stepped_pairs"]


def render(scene: Scene, eye: Eye, poses: Any) -> np.ndarray:
    """Render a movie, exactly, through the eye's optics.

    The acceptance function is moved with the eye: where a pose stretches the eye it becomes an ellipse in the scene.

    Parameters
    ----------
    scene : Scene
        What there is to see.
    eye : Eye
        Viewing positions and optics.
    poses : array-like, shape (n_frames, ndim), (n_frames, ndim, ndim) or (n_frames, ndim, ndim + 1)
        Where the middle of the eye is at each frame [pixel spacings]; or how it is turned; or ``[A | b]``: the pixel at
        position p looks at ``A p + b``. For a spherical eye A is a rotation and b where the eye is, in the units of the
        scene's depth.

    Returns
    -------
    ndarray, shape (n_frames, *eye.shape)
        Intensities.

    Raises
    ------
    ValueError
        Poses that are not finite, or eye and scene of other dimensions; a spherical eye stretched, or moved in a scene
        infinitely far away.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> from flymotion.world.scenes import Grating
    >>> render(Grating(4.0), Line(4, sigma=0), [[1.5], [0.5]]).round(9) + 0.0
    array([[ 1.,  0., -1.,  0.],
           [ 0.,  1.,  0., -1.]])
    """
    poses = unmasked(poses, "poses", float)
    ndim = scene.ndim
    if eye.positions.shape[1] != ndim or poses.shape[1:] not in ((ndim,), (ndim, ndim), (ndim, ndim + 1)):
        raise ValueError(
            f"poses of shape {poses.shape}, an eye of {eye.positions.shape[1]} and a scene of {ndim} "
            "dimension(s); expected poses (n_frames, ndim) or (n_frames, ndim, ndim + 1) and the same ndim throughout"
        )
    if not np.isfinite(poses).all():
        raise ValueError(f"pose {np.argwhere(~np.isfinite(poses))[0, 0]} is not finite")
    turned, places = _turns_and_places(poses)
    points = eye.positions if turned is None else eye.positions @ turned.swapaxes(1, 2)
    stretched = None if turned is None else _stretched(turned)
    if ndim == 3 and stretched is not None:
        raise ValueError("poses stretch a spherical eye; expected rotations")
    if ndim < 3:
        points = places[:, None] + points
    elif places.any():
        points = cast(SphericalScene, scene).toward(
            places[:, None], np.broadcast_to(points, (len(poses), *points.shape[-2:]))
        )
    sigma = eye.sigma if stretched is None else eye.sigma**2 * stretched
    if ndim < 3 and stretched is None and np.ndim(sigma) == 1:  # of each pixel, which scenes have along the first axis
        each = scene.sample(points.swapaxes(0, 1), np.square(sigma)[:, None, None] * np.eye(ndim))
        return each.T.reshape(len(poses), *eye.shape)
    return scene.sample(points, sigma).reshape(len(poses), *eye.shape)


def _turns_and_places(poses: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    if poses.ndim == 2:
        return None, poses
    ndim = poses.shape[1]
    places = poses[..., ndim] if poses.shape[2] > ndim else np.zeros(poses.shape[:2])
    turned = poses[..., :ndim]
    return (None, places) if ndim < 3 and (turned == np.eye(ndim)).all() else (turned, places)


def _stretched(turned: np.ndarray) -> np.ndarray | None:
    """Return what acceptance functions of width 1 are in the scene, their covariances; None where all are round."""
    covariances = turned @ turned.swapaxes(1, 2)
    return None if np.abs(covariances - np.eye(turned.shape[1])).max(initial=0.0) < 1e-9 else covariances


def sample_pairs(scene: Scene, eye: Eye, motion: Motion, n_pairs: int, random_state: Any = None) -> FramePairs:
    """Draw pairs of frames: a random place in the scene, and one motion a pair.

    A spherical eye is at the origin, in a random attitude; a flat one is upright.

    Parameters
    ----------
    scene : Scene
        What there is to see.
    eye : Eye
        Viewing positions and optics.
    motion : Motion
        Distribution of the steps.
    n_pairs : int
        Number of pairs.
    random_state : int, Generator, RandomState or None
        Source of places and motions.

    Returns
    -------
    FramePairs
        With the true ``motion``, shape (n_pairs, n_parameters) [per frame], and the ``eye``.

    Raises
    ------
    ValueError
        A scene too small for the eye, dimensions that differ, or a number of pairs that is not whole or is below 0.

    Examples
    --------
    >>> from flymotion import ExponentialNoise, Line, Translation
    >>> scene = ExponentialNoise(period=1024.0, random_state=0)
    >>> pairs = sample_pairs(scene, Line(5), Translation(0.5, ndim=1), n_pairs=3, random_state=0)
    >>> pairs.before.shape, pairs.motion.ravel().round(2)  # pixels per frame, positive to the right
    ((3, 5), array([-0.01, -0.41, -0.46]))
    """
    if not isinstance(n_pairs, (int, np.integer)) or n_pairs < 0:
        raise ValueError(f"n_pairs is {n_pairs!r}; expected a whole number, 0 or more")
    if motion.ndim != scene.ndim:
        raise ValueError(f"a motion of {motion.ndim} dimension(s) in a scene of {scene.ndim}; expected the same")
    rng = as_generator(random_state)
    if scene.ndim == 3:
        poses = _attitudes(n_pairs, rng)
    else:
        places = rng.uniform(*_room(cast(FlatScene, scene), eye, motion), size=(n_pairs, scene.ndim))
        poses = np.concatenate(
            [np.broadcast_to(np.eye(scene.ndim), (n_pairs, scene.ndim, scene.ndim)), places[..., None]], 2
        )
    steps = motion.steps(n_pairs, rng)
    return stepped_pairs(scene, eye, motion, poses, steps)


def stepped_pairs(scene: Scene, eye: Eye, motion: Motion, poses: np.ndarray, steps: np.ndarray) -> FramePairs:
    """Show given steps from given poses.

    Parameters
    ----------
    scene, eye, motion
        As for :func:`sample_pairs`.
    poses : ndarray, shape (n_pairs, ndim, ndim + 1)
        Of the frames before.
    steps : ndarray, shape (n_pairs, n_parameters)
        Of the motion.
    """
    poses, steps = unmasked(poses, "poses"), unmasked(steps, "steps")
    back = motion.maps(-steps)
    A, b = poses[..., :-1], poses[..., -1:]
    after = np.concatenate([A @ back[..., :-1], A @ back[..., -1:] + b], axis=2)
    return FramePairs(render(scene, eye, poses), render(scene, eye, after), steps, motion.names, eye)


def _attitudes(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rotations, uniformly, about the origin, shape (n, 3, 4)."""
    from scipy.spatial.transform import Rotation

    return np.pad(Rotation.random(n, rng=rng).as_matrix(), ((0, 0), (0, 0), (0, 1)))


def _reach(eye: Eye, motion: Motion) -> np.ndarray:
    """Return how far from the middle of the eye its pixels look before or after any step, along each axis, (ndim,).

    A corner that turns goes beyond where it begins and ends: steps are tried as finely as 1/500 of what turns or
    stretches by 1, between which a path bends by less than 1e-6 of its distance.
    """
    linear = np.abs(np.tensordot(motion.largest, motion.flows[..., :-1], axes=1)).sum(axis=-1).max(initial=0.0)
    shares = np.linspace(1, 0, math.ceil(500 * float(linear)) + 1)[:, None, None]
    reach = np.abs(eye.positions).max(axis=0)
    for some in np.array_split(shares, math.ceil(len(shares) / 64)):
        sizes = some * motion.sizes[:, 1:] + (1 - some) * motion.sizes[:, :1]
        maps = motion.maps(-sizes * motion.ways)
        seen = eye.positions @ maps[..., :-1].swapaxes(-2, -1) + maps[..., None, :, -1]
        reach = np.maximum(reach, np.abs(seen).max(axis=(0, 1, 2)))
    return reach


def _room(scene: FlatScene, eye: Eye, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Return where the middle of the eye may be, so that it sees nothing but the scene."""
    low, high = scene.extent.T
    if scene.wraps:
        return low, high
    margin = _reach(eye, motion)
    low, high = low + margin, high - margin
    if not (high > low).all():
        raise ValueError(f"a scene of {np.ptp(scene.extent, axis=1)} pixel spacings does not hold the eye")
    return low, high
