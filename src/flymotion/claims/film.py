"""A video like a real one, made on the spot: a photograph before a hand-held camera, with sensor noise, in H.264."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.world.eyes import Grid
from flymotion.world.rendering import render
from flymotion.world.scenes import FlatScene

__all__ = ["film", "hand_held"]

RATE = 25
"""Frames per second."""

QUALITY = {"crf": "23", "preset": "veryfast", "threads": "1"}
"""Of the encoder: libx264's own default quality; one thread, as its results depend on their number."""

SPEED = 0.4
"""Standard deviation of the camera's velocity along each axis [pixels per frame]."""

STEADINESS = 0.8
"""Correlation of the camera's velocity from frame to frame."""


def hand_held(n_frames: int, speed: float, random_state: Any = None) -> np.ndarray:
    """Return the path of a hand-held camera: its velocity is noise with a memory of some frames, along each axis.

    Parameters
    ----------
    n_frames : int
        Frames.
    speed : float
        Standard deviation of the velocity along each axis [pixels per frame].
    random_state : int, Generator or None
        Source of the noise.

    Returns
    -------
    ndarray, shape (n_frames, 2)
        Places (x right, y down), about 0 [pixels].
    """
    from scipy.signal import lfilter

    pushes = np.random.default_rng(random_state).standard_normal((n_frames + 50, 2))
    velocity = lfilter([speed * np.sqrt(1 - STEADINESS**2)], [1, -STEADINESS], pushes, axis=0)[50:]
    places = np.cumsum(velocity, axis=0)
    return places - places.mean(axis=0)


def film(
    path: Path, scene: FlatScene, shape: tuple[int, int], n_frames: int, *, noise: float = 2.0, random_state: Any = None
) -> Path:
    """Film a scene with a hand-held camera, and write the video.

    Parameters
    ----------
    path : Path
        Where to; the container is told by its ending.
    scene : FlatScene
        What there is to see, in grey levels of 0 to 255.
    shape : (int, int)
        Height and width of a frame, both even [pixels].
    n_frames : int
        Frames.
    noise : float
        Standard deviation of the sensor's noise [grey levels].
    random_state : int, Generator or None
        Source of path and noise.
    """
    rng = np.random.default_rng(random_state)
    middle = scene.extent.mean(axis=1)
    frames = render(scene, Grid(*shape), middle + hand_held(n_frames, SPEED, rng))
    frames = frames + noise * rng.standard_normal(frames.shape)
    _encode(path, np.clip(np.rint(frames), 0, 255).astype(np.uint8))
    return path


def _encode(path: Path, frames: np.ndarray) -> None:
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options=QUALITY)
        stream.height, stream.width, stream.pix_fmt = *frames.shape[1:], "yuv420p"
        for number, image in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(image, format="gray").reformat(format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
