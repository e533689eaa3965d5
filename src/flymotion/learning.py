"""Learning from what a user has: videos, folders of frames, or photographs moved by simulated eye movements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flymotion.corpus import PatchStream, Survey, survey, view
from flymotion.eyes import Grid
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.learner import BATCH, MotionLearner
from flymotion.motions import Translation
from flymotion.noise import whitening
from flymotion.render import sample_pairs
from flymotion.scenes import FourierScene, photograph
from flymotion.video import Movie, VideoError, open_movie, read_movie
from flymotion.video.images import is_image

__all__ = ["BUNDLED", "Described", "describe", "eye_movements", "learn", "load_photographs"]

BUNDLED = "bundled"
"""Source that stands for the two photographs that come with scikit-learn, china.jpg and flower.jpg."""

PHOTO_SIGMA = 0.6
"""Acceptance width of the eye that looks at photographs [photograph pixels]."""

PHOTO_SHIFT = 0.3
"""Largest simulated eye movement between two frames [photograph pixels]."""

LOOK_PIXELS = 2**25
"""Pixels of the beginning of a video that are looked at before learning; 16 to 64 frames."""

GUISES, KEPT = 16, 0.2
"""Times that each pair of patches is shown, and the share of patches that is worth it, about."""

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
    patch: int | None = None,
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
    patch : int, optional
        Side of a patch [pixels]; of videos as reduced. By default 7 for photographs and 9 for videos.
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
        patch = 7 if patch is None else patch
        learner = MotionLearner(components, patch=patch, random_state=seed)
        return _learn_pairs(learner, eye_movements(scenes, patch, n_pairs, seed), n_pairs, progress)
    if any(stills):
        names = [str(s) for s, still in zip(sources, stills, strict=True) if still]
        raise VideoError(f"{', '.join(names)}: photographs cannot be mixed with videos; learn from them apart")
    movies = [open_movie(source) for source in sources]
    return _learn_movies(movies, components, 9 if patch is None else patch, n_pairs, seed, progress)


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
    """Look at the beginning of every movie, then learn from the pairs of patches worth it (:mod:`flymotion.corpus`)."""
    seen, spare = zip(*(_look(movie, patch, seed) for movie in movies), strict=True)
    Z = whitening(reduce(add, (each.moments for each in seen)))
    learner = MotionLearner(components, patch=patch, feature="antisymmetric", half_saturation=0.0, random_state=seed)
    height, width = (side // seen[0].scale for side in movies[0].shape)
    learner.adopt(Z, (height, width), seen[0].scale)
    estimates = [movie.n_frames_estimate for movie in movies]
    total = sum(n for n in estimates if n) if all(estimates) else None
    n_candidates = int(np.clip(n_pairs / (GUISES * KEPT * (total or 500)), 20, 20_000))
    n_learned, held_out = 0, list[np.ndarray]()
    for i, (movie, each) in enumerate(zip(movies, seen, strict=True)):
        stream = PatchStream(each, Z, n_candidates=n_candidates, seed=seed + i)
        n_learned += _learn_stream(learner, movie, stream, lambda n: progress(n, total))
        held_out += stream.held_out
    if not n_learned:
        raise VideoError(
            f"{', '.join(movie.name for movie in movies)}: no pair of patches is worth learning from; expected content "
            f"that moves by a fraction of a pixel, perhaps reduced, in patches of {patch} pixels"
        )
    return learner.probe_with(held_out or spare[0]).finish()


def _learn_stream(learner: MotionLearner, movie: Movie, stream: PatchStream, told: Callable[[int], Any]) -> int:
    """Learn from one movie; returns how many pairs of patches were learned from."""
    n_before, n_learned = learner.n_pairs_seen_, 0

    def learn_from(several: Iterator[FramePairs]) -> int:
        n = 0
        for pairs in several:
            learner.learn_seen(pairs)
            n += len(pairs)
        return n

    for batch in movie.batches(BATCH):
        if batch.cut:
            stream.cut()
        n_learned += learn_from(stream.push(batch.frames))
        learner.n_pairs_seen_ = n_before + stream.n_pairs_seen
        told(learner.n_pairs_seen_)
    return n_learned + learn_from(stream.flush())


def _look(movie: Movie, patch: int, seed: int) -> tuple[Survey, np.ndarray]:
    """Look at the beginning of a movie; returns what that said, and a frame to probe with, should none be held out."""
    clips = _beginning(movie)
    seen = survey(clips, patch, seed)
    return seen, view(clips[-1][-1:], seen.scale)


def _beginning(movie: Movie) -> list[np.ndarray]:
    """Read the first frames, at most ``LOOK_PIXELS``, as clips, cut from each other."""
    if len(movie.shape) != 2:
        raise VideoError(f"{movie.name}: frames have shape {movie.shape}; expected (height, width)")
    most = int(np.clip(LOOK_PIXELS // np.prod(movie.shape), 16, 64))
    clips: list[np.ndarray] = []
    for batch in movie.batches(most):
        clips.append(batch.frames)
        if sum(map(len, clips)) >= most:
            break
    if max(map(len, clips)) < 2:
        raise VideoError(f"{movie.name}: the movie has fewer than 2 consecutive frames; expected at least one pair")
    return clips
