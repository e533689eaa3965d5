"""Learning from what a user has: videos, folders of frames, or photographs moved by simulated eye movements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.learner.estimator import MotionLearner
from flymotion.learner.watching import Progress, learn_videos
from flymotion.video import Movie, VideoError, open_movie, read_movie
from flymotion.video.images import is_image
from flymotion.world.eyes import Grid
from flymotion.world.motions import Translation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import FourierScene, photograph

__all__ = ["BUNDLED", "Described", "describe", "eye_movements", "learn", "load_photographs"]

BUNDLED = "bundled"
"""Source that stands for the two photographs that come with scikit-learn, china.jpg and flower.jpg."""

PHOTO_SIGMA = 0.6
"""Acceptance width of the eye that looks at photographs [photograph pixels]."""

PHOTO_SHIFT = 0.3
"""Largest simulated eye movement between two frames [photograph pixels]."""

N_PAIRS = 100_000
"""Pairs of patches to learn from."""

WATCHING = {"duplicates": "drop", "edits": "split"}
"""How videos are read, unless told otherwise."""


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
    patch: int | None = None,
    photographs: bool = False,
    n_pairs: int = N_PAIRS,
    seed: int = 0,
    progress: Progress = lambda done, total, what=None: None,
    **reading: Any,
) -> MotionLearner:
    """Learn motion detectors from files.

    Parameters
    ----------
    sources : sequence of path
        Videos, cameras, folders of frames, image stacks; or single photographs, which an eye moves over; or
        ``"bundled"``. Several videos are one corpus.
    components : int
        Number of detectors.
    patch : int, optional
        Side of a patch [pixels]; of videos as reduced. By default 7 for photographs and 9 for videos.
    photographs : bool
        Take each image of a folder as a photograph of its own, not as a frame.
    n_pairs : int
        About how many pairs of patches to learn from.
    seed : int
        Of everything random.
    progress : callable
        Called with the number of pairs learned from (of videos, of frames), their estimated total or None, and of
        videos how learning goes, in words.
    **reading : Any
        Options of :func:`flymotion.video.open_movie`, for videos. Frames that only repeat the one before are left out
        unless ``duplicates`` is ``"keep"``, and no pair bridges an edit unless ``edits`` is.

    Raises
    ------
    VideoError
        No source; one that is missing, empty or cannot be decoded; photographs mixed with videos.
    """
    if not sources:
        raise VideoError(f"no sources; expected at least one video, folder, photograph or {BUNDLED!r}")
    movies = [_open(source, photographs, WATCHING | reading) for source in sources]
    videos = [movie for movie in movies if movie is not None]
    if not videos:
        scenes = [photograph(image, pixels_per_spacing=1.0) for image in load_photographs(sources)]
        patch = 7 if patch is None else patch
        learner = MotionLearner(components, patch=patch, random_state=seed)
        return _learn_pairs(learner, eye_movements(scenes, patch, n_pairs, seed), n_pairs, progress)
    if len(videos) < len(movies):
        names = [str(s) for s, movie in zip(sources, movies, strict=True) if movie is None]
        raise VideoError(f"{', '.join(names)}: photographs cannot be mixed with videos; learn from them apart")
    return learn_videos(videos, components, 9 if patch is None else patch, n_pairs, seed, progress)


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
            files = sorted(file for file in Path(source).iterdir() if is_image(file))
            images += [read_movie(file)[0] for file in files]
        else:
            images.append(read_movie(source)[0])
    return images


def _open(source: str | Path, photographs: bool, reading: dict[str, Any]) -> Movie | None:
    """Open a video; None for photographs."""
    if _is_bundled(source):
        return None
    movie = open_movie(source, **reading)
    if Path(source).is_dir():
        return None if photographs else movie
    still = not movie.live and open_movie(source).n_frames_estimate == 1  # all of it, whatever part is read
    return None if still else movie


def _is_bundled(source: str | Path) -> bool:
    return source == BUNDLED and not Path(source).exists()


def _learn_pairs(
    learner: MotionLearner, batches: Iterator[FramePairs], n_pairs: int, progress: Progress
) -> MotionLearner:
    for pairs in batches:
        learner.partial_fit(pairs)
        progress(learner.n_pairs_seen_, n_pairs)
    return learner.finish()
