"""The one renderer: a scene, seen by an eye, from a path of poses.

A pose is where the middle of the eye is in the scene. Content that moves by ``+s`` is an eye that moves by ``-s``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.eyes import Eye
from flymotion.frames import FramePairs
from flymotion.motions import Translation
from flymotion.scenes import Scene, as_generator

__all__ = ["render", "sample_pairs"]


def render(scene: Scene, eye: Eye, poses: Any) -> np.ndarray:
    """Render a movie, exactly, through the eye's optics.

    Parameters
    ----------
    scene : Scene
        What there is to see.
    eye : Eye
        Viewing positions and optics.
    poses : array-like, shape (n_frames, ndim)
        Where the middle of the eye is at each frame [pixel spacings].

    Returns
    -------
    ndarray, shape (n_frames, *eye.shape)
        Intensities.

    Raises
    ------
    ValueError
        Poses, eye and scene of different dimensions.

    Examples
    --------
    >>> from flymotion.eyes import Line
    >>> from flymotion.scenes import Grating
    >>> render(Grating(4.0), Line(4, sigma=0), [[1.5], [0.5]]).round(9) + 0.0
    array([[ 1.,  0., -1.,  0.],
           [ 0.,  1.,  0., -1.]])
    """
    poses = np.asarray(poses, dtype=float)
    if poses.ndim != 2 or not poses.shape[1] == eye.positions.shape[1] == scene.ndim:
        raise ValueError(
            f"poses of shape {poses.shape}, an eye of {eye.positions.shape[1]} and a scene of {scene.ndim} "
            "dimension(s); expected poses (n_frames, ndim) and the same ndim throughout"
        )
    points = poses[:, None, :] + eye.positions
    return scene.sample(points, eye.sigma).reshape(len(poses), *eye.shape)


def sample_pairs(scene: Scene, eye: Eye, motion: Translation, n_pairs: int, random_state: Any = None) -> FramePairs:
    """Draw pairs of frames: a random place in the scene, and one small motion a pair.

    Parameters
    ----------
    scene : Scene
        What there is to see.
    eye : Eye
        Viewing positions and optics.
    motion : Translation
        Distribution of the content's displacement.
    n_pairs : int
        Number of pairs.
    random_state : int, Generator, RandomState or None
        Source of places and motions.

    Returns
    -------
    FramePairs
        With the true ``motion``, shape (n_pairs, ndim) [pixels per frame].

    Raises
    ------
    ValueError
        A scene too small for the eye, or dimensions that differ.
    """
    if motion.ndim != scene.ndim:
        raise ValueError(f"a motion of {motion.ndim} dimension(s) in a scene of {scene.ndim}; expected the same")
    rng = as_generator(random_state)
    low, high = scene.extent.T
    if not scene.wraps:
        margin = np.abs(eye.positions).max(axis=0) + motion.max_shift
        low, high = low + margin, high - margin
        if (high <= low).any():
            raise ValueError(f"a scene of {np.ptp(scene.extent, axis=1)} pixel spacings does not hold the eye")
    places = rng.uniform(low, high, size=(n_pairs, scene.ndim))
    steps = motion.steps(n_pairs, rng)
    both = render(scene, eye, np.concatenate([places, places - steps]))
    return FramePairs(both[:n_pairs], both[n_pairs:], steps)
