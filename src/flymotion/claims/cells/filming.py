"""Videos made for C30: a scene before a hand-held camera, with its noise, through an encoder."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import lfilter

from flymotion.world.eyes import Grid
from flymotion.world.rendering import render
from flymotion.world.scenes import FlatScene
from flymotion.writing import whole

__all__ = ["film", "hand_held"]

RATE = 25
"""Frames per second of a video that is made."""

SPEED, STEADINESS = 0.4, 0.8
"""Of the camera's velocity along each axis: standard deviation [pixels per frame], correlation from frame to frame."""

QUALITY = {"crf": "23", "preset": "veryfast", "threads": "1"}
"""Of the encoder: libx264's own default quality; one thread, as its results depend on their number."""


def hand_held(n_frames: int, random_state: Any = None) -> np.ndarray:
    """Return the path of a hand-held camera, whose velocity is noise with a memory of some frames.

    Places are (x right, y down), about 0 [pixels], shape (n_frames, 2).
    """
    pushes = np.random.default_rng(random_state).standard_normal((n_frames + 50, 2))
    velocity = lfilter([SPEED * np.sqrt(1 - STEADINESS**2)], [1, -STEADINESS], pushes, axis=0)[50:]
    places = np.cumsum(velocity, axis=0)
    return places - places.mean(axis=0)


def film(
    path: Path, scene: FlatScene, shape: tuple[int, int], n_frames: int, *, noise: float = 2.0, random_state: Any = None
) -> Path:
    """Film a scene of grey levels of 0 to 255 with a hand-held camera, with noise [grey levels], and write the video.

    Height and width are even [pixels].
    """
    import av

    rng = np.random.default_rng(random_state)
    frames = render(scene, Grid(*shape), scene.extent.mean(axis=1) + hand_held(n_frames, rng))
    frames = np.clip(np.rint(frames + noise * rng.standard_normal(frames.shape)), 0, 255).astype(np.uint8)
    with whole(path) as place, av.open(str(place), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options=QUALITY)
        stream.height, stream.width, stream.pix_fmt = *shape, "yuv420p"
        for number, image in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(image, format="gray").reformat(format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path
