"""Learning from videos: a look at the beginning of each, then all of them as one corpus.

One thread decodes frames and chooses pairs of patches, another learns from them; the pairs come in the same order
whatever the threads do. Videos are read in turns, so that any stretch of learning holds a part of each in proportion to
its length, and their pairs are mixed in one pool. Each has its own scale and contrast; they share the whitening.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from itertools import chain, islice, zip_longest
from operator import add
from typing import Any, NamedTuple

import numpy as np

from flymotion.frames import FramePairs
from flymotion.learner.corpus import PatchStream, Pool, Survey, survey
from flymotion.learner.estimator import MotionLearner
from flymotion.learner.probing import N_KEPT
from flymotion.learner.tiling import BATCH
from flymotion.learner.video_noise import whitening
from flymotion.video import Batch, Movie, VideoError
from flymotion.video.reading_ahead import ahead
from flymotion.video.viewing import view

__all__ = ["Watched", "learn_videos"]

LOOK_PIXELS = 2**25
"""Pixels of the beginning of a video that are looked at before learning; 16 to 64 frames."""

GUISES, KEPT = 16, 0.2
"""Times that each pair of patches is shown, and the share of patches that is worth it, about."""

N_FRAMES = 500
"""Frames that a video is taken to have where it does not tell."""

N_AHEAD = 8
"""Steps that the thread that reads may be ahead of the one that learns."""

Progress = Callable[..., Any]


class Watched(NamedTuple):
    """What was learned from one video.

    Attributes
    ----------
    name : str
        Of the video.
    scale : int
        Factor that its frames were reduced by.
    n_pairs : int
        Pairs of frames.
    share : float
        Share of the patches looked at that were worth learning from.
    n_held_out : int
        Frames kept for scoring.
    """

    name: str
    scale: int
    n_pairs: int
    share: float
    n_held_out: int


@dataclass
class _Video:
    """A video that has been looked at; ``spare`` is a frame to probe with, should none be held out."""

    movie: Movie
    seen: Survey
    batches: Iterator[Batch]
    spare: np.ndarray

    def stream(self, Z: np.ndarray, n_candidates: int, seed: int) -> None:
        self.patches = PatchStream(self.seen, Z, n_candidates=n_candidates, seed=seed)

    @property
    def n_frames(self) -> int:
        return self.movie.n_frames_estimate or N_FRAMES

    @property
    def watched(self) -> Watched:
        patches = self.patches
        share = patches.n_chosen / max(patches.n_candidates_seen, 1)
        return Watched(self.movie.name, self.seen.scale, patches.n_pairs_seen, share, len(patches.held_out))


class _Step(NamedTuple):
    """Pairs of patches to learn from, or None at the end of a batch, and where the reading was by then."""

    pairs: FramePairs | None
    watched: tuple[Watched, ...]
    held_out: list[np.ndarray]  # of all videos


def learn_videos(
    movies: Sequence[Movie],
    components: int,
    patch: int,
    n_pairs: int,
    seed: int,
    progress: Progress = lambda done, total, what: None,
) -> MotionLearner:
    """Learn motion detectors from videos, as one corpus (:mod:`flymotion.learner.corpus`).

    Parameters
    ----------
    movies : sequence of Movie
        Of any sizes and rates. Live ones are read once, until there are ``n_pairs`` or they end.
    components : int
        Number of detectors.
    patch : int
        Side of a patch [pixels as reduced].
    n_pairs : int
        About how many pairs of patches to learn from.
    seed : int
        Of everything random.
    progress : callable
        Called with the pairs of frames read, their estimated total or None, and how learning goes, in words.

    Returns
    -------
    MotionLearner
        With ``watched_``, a :class:`Watched` a video, which is not saved; ``scale_`` is that of the first.

    Raises
    ------
    VideoError
        A movie without two frames in a row or of frames that are not images; none that has something to learn from.
    """
    videos = [_look(movie, patch, seed) for movie in movies]
    Z = whitening(reduce(add, (video.seen.moments for video in videos)))
    learner = MotionLearner(components, patch=patch, feature="antisymmetric", half_saturation=0.0, random_state=seed)
    height, width = videos[0].spare.shape
    learner.adopt(Z, (height, width), videos[0].seen.scale)
    n_candidates = int(np.clip(n_pairs / (GUISES * KEPT * sum(video.n_frames for video in videos)), 20, 20_000))
    for i, video in enumerate(videos):
        video.stream(Z, n_candidates, seed + i)
    known = all(movie.n_frames_estimate for movie in movies)
    total = sum(video.n_frames for video in videos) if known else None
    with closing(ahead(_steps(videos, Pool(Z, seed=seed), n_pairs), N_AHEAD)) as steps:
        n_learned = _learn(learner, steps, lambda done, what: progress(done, total, what))
    learner.watched_ = tuple(video.watched for video in videos)
    if not n_learned:
        raise VideoError(
            f"{', '.join(movie.name for movie in movies)}: no pair of patches is worth learning from; expected content "
            f"that moves by a fraction of a pixel, perhaps reduced, in patches of {patch} pixels"
        )
    return learner.probe_with(_held_out(videos) or [video.spare for video in videos]).finish()


def _learn(learner: MotionLearner, steps: Iterable[_Step], told: Callable[[int, str], Any]) -> int:
    """Learn, and tell how it goes; accuracy each time that twice as much was learned, as probing takes time.

    Returns how many pairs of patches were learned from.
    """
    n_learned, n_at_probe, accuracy = 0, 0, ""
    for step in steps:
        learner.n_pairs_seen_ = sum(each.n_pairs for each in step.watched)
        if step.pairs is not None:
            learner.learn_seen(step.pairs)
            n_learned += len(step.pairs)
            continue
        if n_learned > 2 * n_at_probe and step.held_out:
            n_at_probe, accuracy = n_learned, f", {learner.probe_with(step.held_out).direction_accuracy_:.0%} right"
        share = sum(each.share * each.n_pairs for each in step.watched) / max(learner.n_pairs_seen_, 1)
        told(learner.n_pairs_seen_, f"{n_learned:,} pairs of patches learned, {share:.0%} kept{accuracy}")
    return n_learned


def _steps(videos: Sequence[_Video], pool: Pool, n_pairs: int) -> Generator[_Step]:
    def step(pairs: FramePairs | None) -> _Step:
        return _Step(pairs, tuple(video.watched for video in videos), _held_out(videos))

    for video, batch in _in_turns(videos, n_pairs):
        if batch.cut:
            video.patches.cut()
        for chosen in video.patches.push(batch.frames):
            yield from map(step, pool.add(chosen))
        yield step(None)
    yield from map(step, pool.flush())


def _in_turns(videos: Sequence[_Video], n_pairs: int) -> Iterator[tuple[_Video, Batch]]:
    """Yield the batches of all videos, of live ones until there are ``n_pairs`` of patches to learn from.

    The next is always of the one of which the smallest part has been read.
    """
    unread = list(videos)
    while unread:
        video = min(unread, key=lambda each: each.patches.n_pairs_seen / each.n_frames)
        enough = sum(each.patches.n_chosen for each in videos) * GUISES >= n_pairs
        batch = None if video.movie.live and enough else next(video.batches, None)
        if batch is None:
            unread.remove(video)
        else:
            yield video, batch


def _held_out(videos: Sequence[_Video]) -> list[np.ndarray]:
    """Return frames held out of all videos, in turns, the last ones first."""
    in_turns = zip_longest(*(video.patches.held_out[::-1] for video in videos))
    return list(islice((frame for frames in in_turns for frame in frames if frame is not None), N_KEPT))


def _look(movie: Movie, patch: int, seed: int) -> _Video:
    if len(movie.shape) != 2:
        raise VideoError(f"{movie.name}: frames have shape {movie.shape}; expected (height, width)")
    most, n, beginning = int(np.clip(LOOK_PIXELS // np.prod(movie.shape), BATCH, 64)), 0, []
    reading = movie.batches(BATCH)
    for batch in reading:
        beginning.append(batch)
        n += len(batch.frames)
        if n >= most:
            break
    clips = [batch.frames for batch in beginning]
    if max(map(len, clips)) < 2:
        raise VideoError(
            f"{movie.name}: the movie has fewer than 2 consecutive frames that differ; expected at least one pair"
        )
    seen = survey(clips, patch, seed)
    batches = chain(beginning, reading) if movie.live else movie.batches(BATCH)
    return _Video(movie, seen, batches, view(clips[-1][-1:], seen.scale)[0])
