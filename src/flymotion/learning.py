"""Learning from what a user has: videos, folders of frames, or photographs moved by simulated eye movements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flymotion.eyes import Grid
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.learner import BATCH, MotionLearner
from flymotion.motions import Translation
from flymotion.render import sample_pairs
from flymotion.scenes import FourierScene, photograph
from flymotion.video import Movie, VideoError, _is_image, open_movie, read_movie

__all__ = ["BUNDLED", "Described", "describe", "eye_movements", "learn", "load_photographs"]

BUNDLED = "bundled"
"""Source that stands for the two photographs that come with scikit-learn, china.jpg and flower.jpg."""

PHOTO_SIGMA = 0.6
"""Acceptance width of the eye that looks at photographs [photograph pixels]."""

PHOTO_SHIFT = 0.3
"""Largest simulated eye movement between two frames [photograph pixels]."""

N_PAIRS = 100_000
"""Pairs of patches to learn from."""

Progress = Callable[[int, int | None], Any]


class Described(NamedTuple):
    """One learned detector, in words and figures."""

    label: str
    direction: float
    gain: float
    antisymmetric_share: float
    cosine: float


def describe(learner: MotionLearner) -> list[Described]:
    """Score each learned detector.

    Returns
    -------
    list of Described
        The name and angle [deg] of its preferred direction, its mean response [per pixel per frame], the antisymmetric
        share of its operator, and that operator's cosine with the central-difference operator of the same direction.
    """
    generators = learner.generators_
    directions = learner.directions_
    analytic = np.stack([derivative_operator(generators.shape, angle) for angle in directions])
    cosines = np.diagonal(generators.cosines(analytic))
    columns = (learner.labels_, directions, learner.gain_, generators.antisymmetric_share(), cosines)
    return [Described(label, *map(float, figures)) for label, *figures in zip(*columns, strict=True)]


def learn(
    sources: Sequence[str | Path],
    *,
    components: int = 4,
    patch: int = 7,
    photographs: bool = False,
    n_pairs: int = N_PAIRS,
    seed: int = 0,
    progress: Progress = lambda done, total: None,
) -> MotionLearner:
    """Learn motion detectors from files.

    Parameters
    ----------
    sources : sequence of path
        Videos, folders of frames, image stacks; or single photographs, which an eye moves over; or ``"bundled"``.
    components : int
        Number of detectors.
    patch : int
        Side of a patch [pixels].
    photographs : bool
        Take each image of a folder as a photograph of its own, not as a frame.
    n_pairs : int
        About how many pairs of patches to learn from.
    seed : int
        Of everything random.
    progress : callable
        Called with the number of pairs learned from and their estimated total, or None.

    Raises
    ------
    VideoError
        No source; one that is missing, empty or cannot be decoded; photographs mixed with videos.
    """
    if not sources:
        raise VideoError(f"no sources; expected at least one video, folder, photograph or {BUNDLED!r}")
    stills = [_is_photograph(source, photographs) for source in sources]
    if all(stills):
        scenes = [photograph(image, pixels_per_spacing=1.0) for image in load_photographs(sources)]
        learner = MotionLearner(components, patch=patch, random_state=seed)
        return _learn_pairs(learner, eye_movements(scenes, patch, n_pairs, seed), n_pairs, progress)
    if any(stills):
        names = [str(s) for s, still in zip(sources, stills, strict=True) if still]
        raise VideoError(f"{', '.join(names)}: photographs cannot be mixed with videos; learn from them apart")
    return _learn_movies([open_movie(source) for source in sources], components, patch, n_pairs, seed, progress)


def eye_movements(scenes: Sequence[FourierScene], patch: int, n_pairs: int, seed: int) -> Iterator[FramePairs]:
    """Yield pairs of patches of photographs seen by an eye that makes small movements, photographs well mixed."""
    eye, motion = Grid(patch, patch, PHOTO_SIGMA), Translation(PHOTO_SHIFT)
    n_batches = max(1, n_pairs // 10_000)
    for batch in range(n_batches):
        shares = np.full(len(scenes), n_pairs // n_batches // len(scenes))
        shares[: n_pairs // n_batches - shares.sum()] += 1
        rng = np.random.default_rng([seed, batch])
        parts = [sample_pairs(s, eye, motion, int(n), rng) for s, n in zip(scenes, shares, strict=True) if n]
        pairs = FramePairs.concatenate(parts)
        yield pairs[rng.permutation(len(pairs))]


def load_photographs(sources: Sequence[str | Path]) -> list[np.ndarray]:
    """Read photographs as luminance, shape (height, width) each; ``"bundled"`` gives scikit-learn's two."""
    images: list[np.ndarray] = []
    for source in sources:
        if _is_bundled(source):
            from sklearn.datasets import load_sample_image

            images += list(read_movie(np.stack([load_sample_image(name) for name in ("china.jpg", "flower.jpg")])))
        elif Path(source).is_dir():
            files = sorted(file for file in Path(source).iterdir() if _is_image(file))
            images += [read_movie(file)[0] for file in files]
        else:
            images.append(read_movie(source)[0])
    return images


def _is_photograph(source: str | Path, photographs: bool) -> bool:
    if _is_bundled(source):
        return True
    movie = open_movie(source)
    return photographs if Path(source).is_dir() else movie.n_frames_estimate == 1


def _is_bundled(source: str | Path) -> bool:
    return source == BUNDLED and not Path(source).exists()


def _learn_pairs(
    learner: MotionLearner, batches: Iterator[FramePairs], n_pairs: int, progress: Progress
) -> MotionLearner:
    for pairs in batches:
        learner.partial_fit(pairs)
        progress(learner.n_pairs_seen_, n_pairs)
    return learner.finish()


def _learn_movies(
    movies: list[Movie], components: int, patch: int, n_pairs: int, seed: int, progress: Progress
) -> MotionLearner:
    estimates = [movie.n_frames_estimate for movie in movies]
    total = sum(n for n in estimates if n) if all(estimates) else None
    per_pair = int(np.clip(n_pairs // max(total or 500, 1), 20, 5000))
    learner: MotionLearner | None = None
    for movie in movies:
        if learner is None:
            learner = MotionLearner(components, patch=patch, patches_per_pair=per_pair, random_state=seed)
        for frames, cut in movie.batches(BATCH):
            if cut:
                learner.cut()
            learner.partial_fit(frames)
            progress(learner.n_pairs_seen_, total)
    assert learner is not None
    return learner.finish()
