"""Early vision of real video: a look at the beginning, then the patches worth learning from, in all guises.

Whether it comes as a stream of frames or as movies, one or several that make one corpus: first the beginning of each is
looked at, which gives its scale and contrast, and the whitening that all share; then patches are chosen
(:mod:`flymotion.learner.corpus`) and mixed in one pool.

Movies are read ahead: one thread decodes frames and chooses pairs of patches, another learns from them; the pairs come
in the same order whatever the threads do. They are read in turns, so that any stretch of learning holds a part of each
in proportion to its length. Longer than 350 lines: what is kept of it is packed and unpacked here too.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, chain, islice, zip_longest
from operator import add
from typing import Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import FramePairs, as_frames
from flymotion.learner.corpus import GUISES, PatchStream, Pool, Survey, survey
from flymotion.learner.intake import BATCH, MOST_PATCHES, is_corpus, shown
from flymotion.learner.probing import N_KEPT
from flymotion.learner.seen import Seen
from flymotion.learner.verdict import causes
from flymotion.learner.video_noise import GivenWhitening, Moments, whitening
from flymotion.models.packing import Given, Packed, packed
from flymotion.photoreceptors import ContrastNormalization
from flymotion.video import Batch, Movie, VideoError
from flymotion.video.reading_ahead import ahead

__all__ = ["Part", "VideoVision", "n_frames_of"]

LOOK_PIXELS = 2**25
"""Pixels of the beginning of a video that are looked at before learning; 16 to 64 frames."""

N_FRAMES = 500
"""Frames that a video is taken to have where it does not tell."""

N_AHEAD = 8
"""Steps that the thread that reads may be ahead of the one that learns."""

PATIENCE = 0.2
"""Time without a step after which whoever learns may leave [s]."""


def n_frames_of(movie: Movie) -> int:
    """Return how many frames a movie has, about."""
    return movie.n_frames_estimate or N_FRAMES


class Part(NamedTuple):
    """Frames in a row of what is to be looked at, at most ``BATCH``, and whether they begin a clip."""

    frames: np.ndarray
    cut: bool

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the part of again."""
        return {"cut": self.cut}, {"frames": self.frames}

    @classmethod
    def unpack(cls, given: Given, pixels: tuple[int, ...]) -> Part:
        """Return the part that was packed, of frames of this shape."""
        frames = given.array("frames", None, *pixels, types=["float32"])
        if not 1 <= len(frames) <= BATCH:
            raise given.wrong("frames", f"{len(frames)} frames", f"1 to {BATCH}")
        return cls(frames, given.number("cut", bool))


@dataclass(eq=False)
class VideoVision:
    """Turns the frames of videos into the pairs of patches that the network sees.

    Attributes
    ----------
    patch : int
        Side of a patch [pixels as reduced].
    patches_per_pair : int
        Patches to choose from, of each pair of frames.
    seed : int
        Of the places of patches, and of their order.
    n_frames : int
        Frames so far.
    pixels : tuple of int or None
        Shape of a frame.
    beginning : list of Part
        Frames, until there are enough to look at.
    is_cut : bool
        Whether the next frame of the beginning begins a clip.
    streams : list of PatchStream
        One a video, once it has been looked at; frames that are pushed belong to the first.
    pool : Pool
        Where their patches are mixed, once they have been looked at.
    whitening, contrast : EarlyVision
        What the network sees through; None before.
    """

    patch: int
    patches_per_pair: int
    seed: int
    n_frames: int = 0
    pixels: tuple[int, ...] | None = None
    beginning: list[Part] = field(default_factory=list)
    streams: list[PatchStream] = field(default_factory=list)
    pool: Pool | None = None
    whitening: GivenWhitening | None = None
    contrast: ContrastNormalization | None = None
    is_cut: bool = True

    __repr__ = in_brief

    eye = patch_eye = None  # pixels of a camera are taken for those of a grid

    @property
    def scale(self) -> int | None:
        """Factor that frames are reduced by; of several videos that of the first."""
        return self.streams[0].survey.scale if self.streams else None

    @property
    def patch_shape(self) -> tuple[int, int]:
        """Shape of a patch."""
        return self.patch, self.patch

    @property
    def seen(self) -> Seen:
        """What was seen so far."""
        in_turns = zip_longest(*(stream.held_out[::-1] for stream in self.streams))
        held_out = islice((frame for frames in in_turns for frame in frames if frame is not None), N_KEPT)
        frames = list(held_out) or [stream.survey.last for stream in self.streams][-N_KEPT:]
        watched = tuple(stream.watched for stream in self.streams)
        return Seen(sum(each.n_pairs for each in watched), _cut_alike(frames), None, watched)

    @property
    def so_far(self) -> str:
        """Why nothing is learned yet."""
        return f"has chosen {sum(stream.n_chosen for stream in self.streams)} pairs of patches and starts with more"

    def read(self, movie: Any, enough: int | None = None) -> Iterator[tuple[FramePairs | None, Seen]]:
        """Yield what the network sees of movies, and at the end of each batch None, with what was seen by then.

        Where nothing comes for a while, as of a camera that has gone silent, that is yielded again, so that whoever
        learns can leave.

        Parameters
        ----------
        movie : array, shape (n_frames, height, width), Movie, or sequence of Movie
            Several make one corpus.
        enough : int, optional
            Pairs of patches at which to leave movies that are live.

        Raises
        ------
        VideoError
            A movie without two frames in a row, or of frames that are not images.
        """
        if is_corpus(movie) or hasattr(movie, "batches"):
            movies = movie if is_corpus(movie) else [movie]
            opened = self._opened(movies)
            seen, turns = self.seen, self._in_turns(movies, opened, enough)
            with closing(ahead(turns, N_AHEAD, idle=(PATIENCE, None))) as steps:
                for step in steps:
                    pairs, seen = step or (None, seen)
                    yield pairs, seen
        else:
            yield from shown(self, movie)
        self.cut()

    def cut(self) -> None:
        """Mark a cut: the next frame does not follow the last one."""
        self.is_cut = True
        for stream in self.streams:
            stream.cut()

    def push(self, frames: Any) -> Iterator[FramePairs]:
        """Take the next frames of the first video; returns pairs of patches as the network sees them.

        Raises
        ------
        ValueError
            Pairs; frames that are not finite, not images, or of another size than before; the state is as it was.
        """
        if isinstance(frames, FramePairs):
            raise ValueError("pairs of frames were given; expected frames, as learning from video looks at them first")
        if self.streams and np.isnan(self.streams[0].survey.contrast):
            raise ValueError("the model file does not hold what learning from video goes on from; learn anew")
        frames = as_frames(frames, name="frames", first=self.n_frames)
        if self.pixels not in (None, frames.shape[1:]):
            raise ValueError(f"frames have shape {frames.shape[1:]}, but this learner has seen frames of {self.pixels}")
        if frames.ndim != 3:
            raise ValueError(f"frames have shape {frames.shape[1:]}; expected (height, width)")
        self.pixels = frames.shape[1:]
        self.n_frames += len(frames)
        if self.streams:
            return self._chosen(self.streams[0], frames)
        self._put_by(frames.astype(np.float32))
        return self._choose_if_enough()

    def flush(self) -> Iterator[FramePairs]:
        """End a stream: yield what the pool holds.

        Raises
        ------
        ValueError
            No pair of frames seen, or none with a pair of patches worth learning from.
        """
        if not self.streams and max((len(part.frames) for part in self.beginning), default=0) > 1:
            yield from self._look_and_choose(len(self.beginning))
        if not self.seen.n_pairs or self.pool is None:
            raise ValueError("the movie has fewer than 2 consecutive frames; expected at least one pair")
        yield from self.pool.flush()
        if not self.pool.n_shown:
            why = "; ".join(cause for cause, _ in causes(self.seen.watched))
            raise VideoError(
                f"{', '.join(stream.name for stream in self.streams)}: no pair of patches is worth learning from"
                f"{f' ({why})' if why else ''}; expected content that moves by a fraction of a pixel, perhaps reduced, "
                f"in patches of {self.patch} pixels"
            )

    def see(self, patches: FramePairs) -> FramePairs:
        """Return pairs of patches as the network sees them: vectors, whitened, divided by the pair's contrast."""
        assert self.whitening is not None and self.contrast is not None
        return self.contrast.transform(self.whitening.transform(patches.flat()))

    # -- kept --------------------------------------------------------------------------------------------------------

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the vision of again."""
        numbers = {name: getattr(self, name) for name in ("patch", "patches_per_pair", "seed", "n_frames", "is_cut")}
        numbers["pixels"] = None if self.pixels is None else list(self.pixels)
        return packed(numbers, beginning=self.beginning, streams=self.streams, pool=self.pool)

    @classmethod
    def unpack(cls, given: Given) -> VideoVision:
        """Return the vision that was packed.

        Raises
        ------
        ValueError
            What is no such vision.
        """
        patch = given.number("patch", int, least=2, most=2**20)
        vision = cls(patch, given.number("patches_per_pair", int, least=1, most=MOST_PATCHES), given.seed("seed"))
        vision.n_frames, vision.is_cut = given.number("n_frames", int, least=0), given.number("is_cut", bool)
        pixels = vision.pixels = given.sizes("pixels")
        if len(pixels) != 2:
            raise given.wrong("pixels", str(pixels), "height and width")
        vision.beginning = [Part.unpack(part, pixels) for part in given.parts("beginning")]
        streams, pool = given.parts("streams"), given.part("pool", optional=True)
        if bool(streams) != (pool is not None) or (streams and vision.beginning):
            raise given.wrong("pool", "without streams, or with a beginning", "one with them, once that was looked at")
        if vision.beginning and not (vision.beginning[0].cut or vision.is_cut):
            raise given.wrong("beginning", "without a cut at its start", "one")
        if pool is not None:
            gathered = Pool.unpack(pool, patch)
            vision.start([PatchStream.unpack(stream, gathered.Z) for stream in streams], gathered)
            seen = vision.streams[0].survey
            if seen.last.shape != tuple(size // seen.scale for size in pixels):
                raise given.wrong("streams", f"of {seen.last.shape} pixels", f"of {pixels}, reduced by {seen.scale}")
        return vision

    # -- the beginning -----------------------------------------------------------------------------------------------

    def _put_by(self, frames: np.ndarray) -> None:
        """Keep frames in parts as those of a movie, however they come."""
        while len(frames):
            parts = self.beginning
            if self.is_cut or len(parts[-1].frames) == BATCH:
                parts.append(Part(frames[:BATCH].copy(), self.is_cut))
                frames, self.is_cut = frames[BATCH:], False
            else:
                room = BATCH - len(parts[-1].frames)
                parts[-1] = Part(np.concatenate([parts[-1].frames, frames[:room]]), parts[-1].cut)
                frames = frames[room:]

    def _choose_if_enough(self) -> Iterator[FramePairs]:
        """Look at the beginning, and choose from it, once there is enough of it."""
        lengths = [len(part.frames) for part in self.beginning]
        if lengths and lengths[-1] < BATCH:
            lengths.pop()  # it may go on
        enough = [total >= _most(self.pixels) for total in accumulate(lengths)]
        return self._look_and_choose(enough.index(True) + 1) if any(enough) else iter(())

    def _look_and_choose(self, n_parts: int) -> Iterator[FramePairs]:
        looked = survey([part.frames for part in self.beginning[:n_parts]], self.patch, self.seed)
        parts, self.beginning = self.beginning, []
        self._take_in([looked], ["frames"])
        [stream] = self.streams
        for part in parts:
            if part.cut:
                stream.cut()
            yield from self._chosen(stream, part.frames)

    def _take_in(self, looked: Sequence[tuple[Survey, Moments]], names: Sequence[str]) -> None:
        Z = whitening(reduce(add, (moments for _, moments in looked)))
        streams = [
            PatchStream(survey, Z, self.patches_per_pair, self.seed + i, name)
            for i, ((survey, _), name) in enumerate(zip(looked, names, strict=True))
        ]
        self.start(streams, Pool(Z, self.seed))

    def start(self, streams: list[PatchStream], pool: Pool) -> None:
        """Begin to choose from videos that have been looked at, and to see through the whitening of the pool."""
        self.streams, self.pool = streams, pool
        blank = np.ones((2, len(pool.Z)), dtype=np.float32)
        self.whitening = GivenWhitening(pool.Z).fit(blank)
        self.contrast = ContrastNormalization(0.0).fit(blank)

    # -- the rest ----------------------------------------------------------------------------------------------------

    def _chosen(self, stream: PatchStream, frames: np.ndarray) -> Iterator[FramePairs]:
        assert self.pool is not None
        for pairs in stream.push(frames):
            yield from self.pool.add(pairs)

    def _opened(self, movies: Sequence[Movie]) -> list[Iterator[Batch]]:
        """Look at movies, unless that was done; returns their batches, those that were looked at too."""
        if self.streams:
            return [movie.batches(BATCH) for movie in movies]
        looked, opened = zip(*(_look(movie, self.patch, self.seed) for movie in movies), strict=True)
        self._take_in(looked, [movie.name for movie in movies])
        self.pixels = movies[0].shape
        return list(opened)

    def _in_turns(
        self, movies: Sequence[Movie], opened: Sequence[Iterator[Batch]], enough: int | None
    ) -> Generator[tuple[FramePairs | None, Seen] | None]:
        """Yield what the network sees of all movies, of live ones until there is enough.

        The next batch is always of the one of which the smallest part has been read.
        """
        unread = list(range(len(movies)))
        while unread:
            i = min(unread, key=lambda i: self.streams[i].n_pairs_seen / n_frames_of(movies[i]))
            stream = self.streams[i]
            left = movies[i].live and enough is not None and self._n_chosen * GUISES >= enough
            batch = None if left else next(opened[i], None)
            if batch is None:
                unread.remove(i)
                continue
            if batch.cut:
                stream.cut()
            self.n_frames += len(batch.frames)
            yield from ((pairs, self.seen) for pairs in self._chosen(stream, batch.frames))
            yield None, self.seen

    @property
    def _n_chosen(self) -> int:
        return sum(stream.n_chosen for stream in self.streams)


def _cut_alike(frames: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return what all frames have, so that they are of one size."""
    height, width = np.min([frame.shape for frame in frames], axis=0) if frames else (0, 0)
    return [frame[:height, :width] for frame in frames]


def _most(pixels: Any) -> int:
    """Return how many frames are looked at."""
    return int(np.clip(LOOK_PIXELS // np.prod(pixels), BATCH, 64))


def _look(movie: Movie, patch: int, seed: int) -> tuple[tuple[Survey, Moments], Iterator[Batch]]:
    if len(movie.shape) != 2:
        raise VideoError(f"{movie.name}: frames have shape {movie.shape}; expected (height, width)")
    beginning: list[Batch] = []
    reading = movie.batches(BATCH)
    for batch in reading:
        beginning.append(batch)
        if sum(len(batch.frames) for batch in beginning) >= _most(movie.shape):
            break
    clips = [batch.frames for batch in beginning]
    if max(map(len, clips)) < 2:
        raise VideoError(f"{movie.name}: {_why_unpaired(len(clips))}")
    try:
        looked = survey(clips, patch, seed)
    except ValueError as error:
        raise VideoError(f"{movie.name}: {error}") from error
    return looked, chain(beginning, reading) if movie.live or movie.lazy else movie.batches(BATCH)


def _why_unpaired(n_clips: int) -> str:
    """Say why no two frames are in a row."""
    if n_clips < 2:
        return "the movie has fewer than 2 consecutive frames that differ; expected at least one pair"
    return (
        f"each of the {n_clips} frames looked at begins a clip of its own, as it shows something else than the frame "
        "before it, or frames are missing or damaged between them; expected frames that follow each other"
    )
