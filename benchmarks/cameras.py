"""Made cameras, each with a fault of its own, that look at photographs that move as is known."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter1d

Frames = np.ndarray

PHOTOGRAPHS = ("china.jpg", "flower.jpg")
"""scikit-learn's."""

SIZE = (240, 320)
"""Of the frames [pixels]."""

N_FRAMES, STEP = 64, 0.5
"""Of a video to learn from, and its mean speed [pixels per frame]."""

N_CODED = 10
"""Frames of a test clip that a codec sees; its last two are the pair."""


def plain(positions: np.ndarray) -> np.ndarray:
    return positions


class Camera(NamedTuple):
    """What turns a scene into frames."""

    sensor: Callable[[Frames, np.random.Generator], Frames]
    optics: float = 0.6
    """Width of its acceptance functions [photograph pixels]."""
    lens: Callable[[np.ndarray], np.ndarray] = plain
    """Moves viewing positions."""
    shaken: int = 1
    """How far it is moved to and fro along x while a frame is exposed [pixels]."""
    coded: bool = False
    """Whether a frame depends on those before it."""


def grey(frames: Frames) -> Frames:
    return np.clip(np.round(frames), 0, 255).astype(np.uint8)


def white(noise: float) -> Callable:
    return lambda frames, rng: grey(frames + noise * rng.standard_normal(frames.shape))


def lines(noise: float) -> Callable:
    """Return a sensor whose rows flicker, each by itself."""
    return lambda frames, rng: white(1.0)(frames + noise * rng.standard_normal((*frames.shape[:2], 1)), rng)


def photons(at_white: float) -> Callable:
    return lambda frames, rng: grey(rng.poisson(np.maximum(frames, 0) * at_white / 255) * 255 / at_white)


def h264(crf: int) -> Callable:
    """Return a sensor with noise of 2 grey levels whose frames a codec has seen."""
    return lambda frames, rng: coded(white(2.0)(frames, rng), crf)


def coded(frames: Frames, crf: int) -> Frames:
    import av

    n, height, width = frames.shape
    file, colours = io.BytesIO(), np.full((height // 2, width), 128, np.uint8)
    with av.open(file, "w", format="mp4") as container:
        stream: Any = container.add_stream("libx264", rate=25, options={"crf": str(crf), "threads": "1"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.concatenate([frame, colours]), "yuv420p")))
        container.mux(stream.encode())
    file.seek(0)
    with av.open(file) as container:
        planes = [frame.to_ndarray()[:height] for frame in container.decode(video=0)]
    assert len(planes) == n
    return np.stack(planes)


def fisheye(positions: np.ndarray) -> np.ndarray:
    """Return where a lens of equal angles looks: radially five times as far a pixel at the corners as in the middle."""
    radius = np.linalg.norm(positions, axis=1, keepdims=True)
    angle = radius / 180.0
    return 0.6 * positions * np.divide(np.tan(angle), angle, out=np.ones_like(angle), where=angle > 0)


CAMERAS = {
    "no noise": Camera(white(0.0)),
    **{f"noise {n}": Camera(white(n)) for n in (2, 5, 10, 20)},
    **{f"{n} photons at white": Camera(photons(n)) for n in (100, 20)},
    **{f"out of focus {s} px": Camera(white(2.0), optics=s) for s in (1.5, 2.5)},
    "shaken, 5 px along x": Camera(white(2.0), shaken=5),
    **{f"H.264 crf {crf}": Camera(h264(crf), coded=True) for crf in (28, 38)},
    "fish-eye": Camera(white(2.0), optics=0.8, lens=fisheye),
    "rows flicker by 4": Camera(lines(4.0)),
}


@cache
def scene(photograph: str) -> Any:
    from sklearn.datasets import load_sample_image

    from flymotion.world.scenes import photograph as flat

    return flat(load_sample_image(photograph), pixels_per_spacing=1.0)


@cache
def positions() -> np.ndarray:
    from flymotion.world.eyes import Grid

    return Grid(*SIZE).positions


def rendered(camera: Camera, photograph: str, places: Iterable[np.ndarray]) -> Frames:
    """Return what is seen at positions of the photograph, about its middle, before the sensor."""
    image = scene(photograph)
    middle = image.extent.mean(axis=1)
    frames = np.stack([image.sample(at + middle, camera.optics).reshape(SIZE) for at in places])
    return uniform_filter1d(frames, camera.shaken, axis=2)


def video(camera: Camera, photograph: str, seed: int) -> Frames:
    """Return what a camera sees that wanders about a photograph."""
    clean = _wandering(camera._replace(sensor=grey, coded=False), photograph, seed)
    return camera.sensor(clean, np.random.default_rng([seed, 0]))


@cache
def _wandering(camera: Camera, photograph: str, seed: int) -> Frames:
    rng = np.random.default_rng([seed, 1])
    angles = np.cumsum(rng.normal(0, 0.6, N_FRAMES)) + rng.uniform(0, 2 * np.pi)
    steps = np.stack([np.cos(angles), np.sin(angles)], axis=1) * STEP * rng.uniform(0.4, 1.6, (N_FRAMES, 1))
    path = np.cumsum(steps, axis=0)
    return rendered(camera, photograph, camera.lens(positions()) - (path - path.mean(axis=0))[:, None])


class Known(NamedTuple):
    """Two frames, their motion, and their noise."""

    before: np.ndarray
    after: np.ndarray
    truth: np.ndarray
    noise: np.ndarray


def known(camera: Camera, photograph: str, speed: float, seed: int) -> Known:
    """Return a pair whose content moves by a smooth field, waves of about 90 pixels, half before and half after.

    Its root mean square speed is ``speed`` [pixels per frame].
    """
    field = waves(speed, np.random.default_rng([seed, 2]))
    clean = _moving(camera._replace(sensor=grey), photograph, speed, seed)
    frames = camera.sensor(clean, np.random.default_rng([seed, 3]))[-2:].astype(float)
    return Known(*frames, field.reshape(2, *SIZE), frames - clean[-2:])


def waves(speed: float, rng: np.random.Generator) -> np.ndarray:
    field = np.zeros((2, len(positions())))
    for component in field:
        for angle, length, phase in rng.uniform([0, 60, 0], [2 * np.pi, 140, 2 * np.pi], (6, 3)):
            along = positions() @ [np.cos(angle), np.sin(angle)]
            component += np.cos(2 * np.pi * along / length + phase)
    return field * speed / np.sqrt((field**2).sum(axis=0).mean())


@cache
def _moving(camera: Camera, photograph: str, speed: float, seed: int) -> Frames:
    field = waves(speed, np.random.default_rng([seed, 2]))
    n = N_CODED if camera.coded else 2
    return rendered(camera, photograph, [camera.lens(positions() - (k - n + 1.5) * field.T) for k in range(n)])
