"""Moving pictures for slow features, and what outputs tell of their motion."""

from __future__ import annotations

from functools import cache

import numpy as np

from flymotion.claims.worlds import WORLDS
from flymotion.frames import FramePairs
from flymotion.photoreceptors import ZCAWhitening
from flymotion.world import Grid, Line, render
from flymotion.world.scenes import ExponentialNoise, exponential_covariance, photograph

# -- what is shown -----------------------------------------------------------------------------------------------------


def clips(world: str, n: int, n_clips: int, length: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return runs of frames of one motion, shape (n_clips, length, n), and its velocity, (n_clips,)."""
    if world == "G":
        return rotating(n_clips, length, seed)
    rng = np.random.default_rng([seed, n_clips, 7])
    scene = WORLDS[world].scene(np.random.SeedSequence([seed, n_clips]))
    places, v = rng.uniform(0, 32768, n_clips), rng.uniform(-1, 1, n_clips) * WORLDS[world].max_shift
    poses = (places[:, None] - v[:, None] * np.arange(length)).reshape(-1, 1)
    return render(scene, WORLDS[world].eye(n), poses).reshape(n_clips, length, n), v


def unsteady(world: str, n: int, n_clips: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return clips of three frames whose velocity is new at each, and velocities, shape (n_clips, 2)."""
    rng, shown = np.random.default_rng([seed, 11]), WORLDS[world]
    places, v = rng.uniform(0, 32768, n_clips), rng.uniform(-1, 1, (n_clips, 2)) * shown.max_shift
    paths = np.c_[np.zeros(n_clips), np.cumsum(v, axis=1)]
    scene = shown.scene(np.random.SeedSequence([seed, n_clips]))
    return render(scene, shown.eye(n), (places[:, None] - paths).reshape(-1, 1)).reshape(n_clips, 3, n), v


@cache
def rotation_roots(length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return turns a frame [rad], their weights, and roots of the covariances of clips, shape (8, 25 length, ...)."""
    positions = Grid(5, 5, 0.8).positions
    nodes, weights = np.polynomial.legendre.leggauss(8)
    roots = []
    for turn in 0.12 * nodes:
        c, s = np.cos(turn * np.arange(length)), np.sin(turn * np.arange(length))
        seen = np.concatenate([positions @ one for one in np.array([[c, -s], [s, c]]).transpose(2, 0, 1)])
        covariance = exponential_covariance(3.0, 0.8, 2)(seen[:, None] - seen[None])
        values, vectors = np.linalg.eigh(covariance)
        roots.append(vectors * np.sqrt(np.maximum(values, 0)))
    return 0.12 * nodes, weights / weights.sum(), np.array(roots)


def rotating(n_clips: int, length: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw clips that turn, of 5 x 5 pixels, from their Gaussian."""
    turns, weights, roots = rotation_roots(length)
    rng = np.random.default_rng([seed, n_clips, 3])
    which = rng.choice(len(turns), n_clips, p=weights)
    frames = rng.standard_normal((n_clips, length * 25))
    for k, root in enumerate(roots):
        frames[which == k] = frames[which == k] @ root.T
    return frames.reshape(n_clips, length, 25), turns[which]


def as_pairs(frames: np.ndarray, v: np.ndarray) -> FramePairs:
    """Return all pairs of each clip in the order of a movie.

    Velocity has one row a clip, (n_clips, n_dims), or (n_clips,); or one a step, (n_clips, length - 1) on a line.
    """
    n_steps = frames.shape[1] - 1
    before, after = (some.reshape(-1, frames.shape[-1]) for some in (frames[:, :-1], frames[:, 1:]))
    of_steps = v.ndim == 2 and v.shape[1] == n_steps > 1
    return FramePairs(
        before, after, v.reshape(-1, 1) if of_steps else np.repeat(v.reshape(len(v), -1), n_steps, axis=0)
    )


def whitened(learned: np.ndarray, *others: np.ndarray, ridge: float = 0.0) -> list[np.ndarray]:
    """Whiten clips as those learned from are."""
    stage = ZCAWhitening(ridge).fit(learned.reshape(-1, learned.shape[-1]))
    return [stage.transform(some.reshape(-1, some.shape[-1])).reshape(some.shape) for some in (learned, *others)]


def noise_clips(
    scene: ExponentialNoise, n_clips: int, length: int, seed: int, lasts: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Show moving noise to 16 pixels of a line, velocities up to 2 pixels a frame.

    Returns
    -------
    clips : ndarray, shape (n_clips, length, 16)
    velocity : ndarray, shape (n_clips,)
    """
    rng = np.random.default_rng([seed, 5])
    low, high = scene.extent[0]
    v, places = rng.uniform(-2, 2, n_clips), rng.uniform(low, high, n_clips)
    steps = np.repeat(v[:, None], length - 1, axis=1) if lasts else rng.uniform(-2, 2, (n_clips, length - 1))
    paths = np.c_[np.zeros(n_clips), np.cumsum(steps, axis=1)]
    poses = (places[:, None] - paths).reshape(-1, 1)
    return render(scene, Line(16, 0.6), poses).reshape(n_clips, length, 16), v


def photograph_clips(
    images: list[np.ndarray], eye: Grid, n_clips: int, length: int, seed: int, lasts: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Show photographs that move in all directions, as many clips of each, each clip less its mean, over its contrast.

    Returns
    -------
    clips : ndarray, shape (n_clips, length, n)
    velocity : ndarray, shape (n_clips, 2)
    """
    shown = [
        _of_photograph(image, eye, n_clips // len(images), length, seed * 2 + i, lasts)
        for i, image in enumerate(images)
    ]
    clips, v = (np.concatenate(parts) for parts in zip(*shown, strict=True))
    clips = clips - clips.reshape(len(clips), -1).mean(axis=1)[:, None, None]
    return clips / clips.reshape(len(clips), -1).std(axis=1)[:, None, None], v


def _of_photograph(
    image: np.ndarray, eye: Grid, n_clips: int, length: int, seed: int, lasts: bool
) -> tuple[np.ndarray, np.ndarray]:
    scene = photograph(image, pixels_per_spacing=2.0)
    rng = np.random.default_rng([seed, 8])
    low, high = np.array(scene.extent).T
    margin = 4.5 + 2 * length
    places = rng.uniform(low + margin, high - margin, (n_clips, 2))
    if lasts:
        steps = np.repeat(_in_disc(n_clips, rng)[:, None], length - 1, axis=1)
    else:
        steps = _in_disc(n_clips * (length - 1), rng).reshape(n_clips, length - 1, 2)
    paths = np.concatenate([np.zeros((n_clips, 1, 2)), np.cumsum(steps, axis=1)], axis=1)
    frames = render(scene, eye, (places[:, None] - paths).reshape(-1, 2))
    return frames.reshape(n_clips, length, -1), steps[:, 0]


def _in_disc(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw velocities up to 2 pixels a frame in all directions, shape (n, 2)."""
    v = rng.uniform(-2, 2, (3 * n, 2))
    return v[(v**2).sum(axis=1) < 4][:n]


# -- what is told ------------------------------------------------------------------------------------------------------


def velocity(pairs: FramePairs) -> np.ndarray:
    assert pairs.motion is not None
    return np.asarray(pairs.motion)[:, 0]


def read(outputs: np.ndarray, v: np.ndarray, new_outputs: np.ndarray, new_v: np.ndarray) -> tuple[float, float]:
    """Return the share of directions and the correlation with velocity that outputs tell, read linearly with labels."""
    center, scale = outputs.mean(axis=0), outputs.std(axis=0) + 1e-12
    A, B = (np.c_[np.ones(len(some)), (some - center) / scale] for some in (outputs, new_outputs))
    told = B @ np.linalg.lstsq(A, np.c_[np.sign(v), v], rcond=1e-10)[0]
    return float(np.mean(np.sign(told[:, 0]) == np.sign(new_v))), float(np.corrcoef(told[:, 1], new_v)[0, 1])
