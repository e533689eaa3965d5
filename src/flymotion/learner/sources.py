"""Learning from what a user has: videos, folders of frames, or photographs moved by simulated eye movements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.learner.corpus import GUISES
from flymotion.learner.estimator import MotionLearner
from flymotion.learner.starting import VISIONS
from flymotion.learner.video_vision import n_frames_of
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

KEPT = 0.2
"""Share of the patches of a video that is worth learning from, about."""

WATCHING = {"duplicates": "drop", "edits": "split"}
"""How videos are read, unless told otherwise."""

Progress = Callable[..., Any]
Source = str | Path | Movie


class Described(NamedTuple):
    """One learned detector, in words and figures.

    Examples
    --------
    >>> unit = Described("right", direction=1.5, gain=2.5, antisymmetric_share=0.99, cosine=0.93)
    >>> f"{unit.label}: {unit.direction} degrees, {unit.cosine:.0%} like the central difference"
    'right: 1.5 degrees, 93% like the central difference'
    """

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
        The angle is NaN of one that is silent.

    Examples
    --------
    >>> from flymotion import ExponentialNoise, Line, Translation
    >>> scene = ExponentialNoise(period=4096.0, random_state=0)
    >>> pairs = sample_pairs(scene, Line(5), Translation(0.5, ndim=1), 2000, random_state=0)
    >>> sorted((each.label, each.direction) for each in describe(MotionLearner(2).fit(pairs)))  # in degrees
    [('left', 180.0), ('right', 0.0)]
    """
    generators = learner.generators_
    directions = learner.directions_
    analytic = np.stack([derivative_operator(generators.shape, angle) for angle in directions])
    cosines = np.diagonal(generators.cosines(analytic))
    columns = (learner.labels_, directions, learner.gain_, generators.antisymmetric_share(), cosines)
    return [Described(label, *map(float, figures)) for label, *figures in zip(*columns, strict=True)]


def learn(
    sources: Source | Sequence[Source],
    *,
    n_components: int = 4,
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
    sources : path, array or Movie, or sequence of paths and Movies
        Videos, cameras, folders of frames, image stacks, or what :func:`flymotion.video.open_movie` returns; or single
        photographs, which an eye moves over; or ``"bundled"``. Several videos are one corpus.
    n_components : int
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
        videos how learning goes, in words. Learning ends early, with what was learned until then, if it returns True.
    **reading : Any
        Options of :func:`flymotion.video.open_movie`, for videos that are not open yet. Frames that only repeat the one
        before are left out unless ``duplicates`` is ``"keep"``, and no pair bridges an edit unless ``edits`` is.

    Returns
    -------
    MotionLearner
        Of plain vision for photographs, and otherwise of video.

    Raises
    ------
    VideoError
        No source; one that is missing, empty or cannot be decoded; photographs mixed with videos; videos that have
        nothing to learn from; options that have no effect on what was given.

    Examples
    --------
    >>> learner = learn("bundled", n_components=2, patch=3, n_pairs=1000)
    >>> learner.n_pairs_seen_, learner.transform(np.zeros((2, 3, 3))).shape
    (1000, (1, 2))
    """
    if hasattr(sources, "shape") and not isinstance(sources, Movie):
        sources = open_movie(sources, **WATCHING | reading)
    if isinstance(sources, str | Path | Movie):
        sources = [sources]
    if not sources:
        raise VideoError(f"no sources; expected at least one video, folder, photograph or {BUNDLED!r}")
    movies = [_open(source, photographs, reading) for source in sources]
    videos = [movie for movie in movies if movie is not None]
    opened = zip(sources, movies, strict=True)
    stills = [source for source, movie in opened if movie is None and not isinstance(source, Movie)]
    if not videos:
        if reading:
            raise VideoError(f"{next(iter(reading))} is for videos; {_listed(sources)}: photographs are read whole")
        scenes = [photograph(image, pixels_per_spacing=1.0) for image in load_photographs(stills)]
        learner = MotionLearner(n_components, patch=patch, random_state=seed)
        side = VISIONS["plain"][1] if patch is None else patch
        return _learn_pairs(learner, eye_movements(scenes, side, n_pairs, seed), n_pairs, progress)
    if stills:
        raise VideoError(f"{_listed(stills)}: photographs cannot be mixed with videos; learn from them apart")
    if photographs:
        raise VideoError(f"photographs is for images, and folders of them; {videos[0].name} is a video")
    n_candidates = int(np.clip(n_pairs / (GUISES * KEPT * sum(map(n_frames_of, videos))), 20, 20_000))
    learner = MotionLearner(n_components, vision="video", patch=patch, patches_per_pair=n_candidates, random_state=seed)
    return _learn_videos(learner, videos, n_pairs, progress)


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
    """Read photographs as luminance, shape (height, width) each; ``"bundled"`` gives scikit-learn's two.

    Examples
    --------
    >>> [photograph.shape for photograph in load_photographs(["bundled"])]
    [(427, 640), (427, 640)]
    """
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


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names))


def _open(source: Source, photographs: bool, reading: dict[str, Any]) -> Movie | None:
    """Open a video; None for photographs."""
    if isinstance(source, Movie):
        return source
    if _is_bundled(source):
        return None
    if get_close_matches(str(source), [BUNDLED], cutoff=0.8) and not Path(source).exists():
        raise VideoError(f"{source}: No such file or directory; the photographs that come with us are {BUNDLED!r}")
    movie = open_movie(source, **WATCHING | reading)
    if Path(source).is_dir():
        return None if photographs else movie
    may_be_still = not movie.live and (movie.n_frames_estimate or 1) == 1
    still = may_be_still and open_movie(source).n_frames_estimate == 1  # all of it, whatever part is read
    return None if still else movie


def _is_bundled(source: str | Path) -> bool:
    return source == BUNDLED and not Path(source).exists()


def _learn_pairs(
    learner: MotionLearner, batches: Iterator[FramePairs], n_pairs: int, progress: Progress
) -> MotionLearner:
    for pairs in batches:
        learner.partial_fit(pairs)
        if progress(learner.n_pairs_seen_, n_pairs):
            break
    return learner.finish()


def _learn_videos(learner: MotionLearner, videos: Sequence[Movie], n_pairs: int, progress: Progress) -> MotionLearner:
    """Learn, and tell how it goes; accuracy each time that twice as much was learned, as probing takes time."""
    known = all(movie.n_frames_estimate for movie in videos)
    total = sum(map(n_frames_of, videos)) if known else None
    n_at_probe, accuracy = 0, ""
    for _ in learner.steps(videos, enough=n_pairs):
        watched = learner.watched_
        told = learner.n_components > 1 and learner.n_patches_seen_ > 2 * n_at_probe
        if told and any(each.n_held_out for each in watched):
            n_at_probe, accuracy = learner.n_patches_seen_, f", {learner.direction_accuracy_:.0%} right"
        share = sum(each.share * each.n_pairs for each in watched) / max(learner.n_pairs_seen_, 1)
        what = f"{learner.n_patches_seen_:,} pairs of patches learned, {share:.0%} kept{accuracy}"
        if progress(learner.n_pairs_seen_, total, what):
            break
    else:
        return learner
    return learner.finish()  # without what was read ahead
