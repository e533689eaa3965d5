"""Photographs as other cameras see them: a rolling shutter, a long exposure, little light, a codec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from truth_pairs import Pair, seen
from truth_rendered import OPTICS, PHOTOGRAPHS, SIZE, displaced, inside, photographs, scene, ways

READOUT = 0.9
"""Share of the frame interval that a rolling shutter takes from the first row to the last."""

READ_NOISE = 2.0
"""Standard deviation of what reading a pixel adds [electrons]."""

DECODERS = {"libx264": "h264", "mpeg4": "mpeg4"}
"""By coder."""

CLIP = 9
"""Frames of a coded clip; the pair is the third and second from its end, both predicted from earlier ones."""


def moving() -> Iterator[tuple[str, np.ndarray]]:
    """Yield each photograph with each direction that it moves in."""
    yield from ((name, way) for name in PHOTOGRAPHS for way in ways())


def moved(velocity: np.ndarray) -> np.ndarray:
    from flymotion.world.eyes import Grid

    start = Grid(*SIZE).positions
    return inside(start, start + velocity)


# -- rolling shutter ---------------------------------------------------------------------------------------------------


def rolling_shutter(size: float) -> list[Any]:
    """Return (before, after, truth), as floats, of a camera whose rows are exposed one after another.

    It pans by ``size`` pixels a frame and shakes across that by half as much, one period in two frames, so that rows
    move differently.
    """
    return [shuttered(name, size * way) for name, way in moving()]


def shuttered(name: str, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from flymotion.world.eyes import Grid

    across = np.array([-velocity[1], velocity[0]]) / 2

    def place(time: np.ndarray) -> np.ndarray:
        return time[:, None] * velocity + np.sin(np.pi * time)[:, None] * across

    def exposed(y: np.ndarray, frame: int) -> np.ndarray:
        return frame + READOUT * (y / SIZE[0] + 0.5)  # y is measured from the middle

    start = Grid(*SIZE).positions
    frames = []
    for frame in (0, 1):
        points = scene(name).extent.mean(axis=1) + start - place(exposed(start[:, 1], frame))
        frames.append(scene(name).sample(points[None], OPTICS).reshape(SIZE))
    content = start - place(exposed(start[:, 1], 0))
    end = start
    for _ in range(20):  # where a row sees the content depends on when that row is exposed
        end = content + place(exposed(end[:, 1], 1))
    return *frames, inside(start, end)


# -- long exposures ----------------------------------------------------------------------------------------------------


@cache
def blurred(size: float) -> list[Any]:
    """Return (before, after, truth), as floats, of exposures as long as the frame interval.

    Each is the mean of exactly rendered poses, two a pixel of motion.
    """
    n = int(np.ceil(2 * size))
    times = (np.arange(2 * n) + 0.5) / n - 1  # the second exposure begins where the first ends
    pairs = []
    for name, way in moving():
        before, after = displaced(name, times[:, None] * size * way).reshape(2, n, *SIZE).mean(axis=1)
        pairs.append((before, after, moved(size * way)))
    return pairs


# -- little light ------------------------------------------------------------------------------------------------------


def dim(size: float, photons: float) -> list[Pair]:
    """Return photographs that move by ``size`` pixels, of so many photons a pixel in the mean (Poisson), and reading.

    Levels are those of the photographs in full light.
    """
    rng = np.random.default_rng(0)
    pairs = []
    for *frames, truth in photographs("translation", size):
        gain = np.mean(frames[0]) / photons
        counted = [rng.poisson(np.maximum(frame, 0) / gain) for frame in frames]
        read = [electrons + READ_NOISE * rng.standard_normal(SIZE) for electrons in counted]
        pairs.append(Pair(*(np.clip(np.round(gain * electrons), 0, 255).astype(np.uint8) for electrons in read), truth))
    return pairs


# -- codecs ------------------------------------------------------------------------------------------------------------


@cache
def clips(size: float) -> list[np.ndarray]:
    """Return clips of photographs that move by ``size`` pixels a frame, with noise of 2 grey levels, uint8."""
    times = np.arange(CLIP)[:, None] - CLIP / 2
    found = [displaced(name, times * size * way) for name, way in moving()]
    return [np.stack([seen(frame, 2, k) for k, frame in enumerate(frames)]) for frames in found]


def coded(size: float, crf: int) -> list[Pair]:
    """Return pairs of frames from inside such clips' groups of pictures, H.264 at a constant rate factor."""
    pairs = []
    for frames, (_, way) in zip(clips(size), moving(), strict=True):
        *_, before, after, _ = through_codec(frames, "libx264", crf)
        pairs.append(Pair(before, after, moved(size * way)))
    return pairs


def through_codec(frames: Sequence[np.ndarray] | np.ndarray, codec: str, quality: int) -> list[np.ndarray]:
    """Return frames through a codec: an intra frame, then predicted ones; one thread, on which results depend.

    Quality is the constant rate factor of "libx264", or the scale of quantisation of "mpeg4".
    """
    import av

    coder: Any = av.CodecContext.create(codec, "w")
    (coder.height, coder.width), coder.pix_fmt, coder.time_base = frames[0].shape, "yuv420p", Fraction(1, 30)
    if codec == "mpeg4":
        coder.framerate, coder.qmin, coder.qmax = Fraction(30), quality, quality
    else:
        coder.options = {"crf": str(quality), "threads": "1", "x264-params": "bframes=0:scenecut=0"}
    packets = []
    for number, image in enumerate(frames):
        frame = av.VideoFrame.from_ndarray(image, "gray").reformat(format="yuv420p")
        frame.pts, frame.time_base = number, coder.time_base
        packets += coder.encode(frame)
    decoder: Any = av.CodecContext.create(DECODERS[codec], "r")
    decoder.extradata = coder.extradata
    packets += [*coder.encode(None), None]
    return [frame.to_ndarray(format="gray") for packet in packets for frame in decoder.decode(packet)]
