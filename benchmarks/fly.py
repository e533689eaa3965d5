"""The benchmark ``fly``: a video on both eyes of a fly, and through T4 and T5 of every column."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from run import Row, in_turns, row
from scipy.ndimage import gaussian_filter, map_coordinates

from flymotion.circuits.schooling import schooling
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.video import Camera, OntoEye
from flymotion.world import buchner

SIZES = ((240, 320), (480, 640), (720, 1280))
FOV = 120.0


def plainly(camera: Camera, eye: Any) -> Any:
    """Return what resamples a frame plainly: blurred as the median lens sees on the axis, then read at each lens."""
    width = float(np.median(eye.sigma)) / camera.pixel
    places = camera.pixels(eye.positions)[:, ::-1].T
    places = np.nan_to_num(places, nan=-1e6)

    def resample(frame: np.ndarray) -> np.ndarray:
        return map_coordinates(gaussian_filter(frame, width, truncate=4.0), places, order=1)

    return resample


def fly() -> Iterator[Row]:
    eye = buchner("both")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.perf_counter()
        clips = list(schooling(eye, random_state=0))
        rendered = time.perf_counter()
        circuit = T4T5Circuit(eye, dt=0.02, random_state=0).fit(clips)
        learned = time.perf_counter()
    note = f"both eyes, 1,398 columns, {len(clips)} clips of {len(clips[0])} frames of panoramas; rendering took"
    yield row("fly.train", learned - begun, None, "s", f"{note} {rendered - begun:.3g} s of it; at most 180")
    for height, width in SIZES:
        camera = Camera(height, width, fov=FOV)
        frame = np.random.default_rng(0).uniform(0, 255, (height, width)).astype(np.float32)
        onto, resample, stream = OntoEye(camera, eye), plainly(camera, eye), circuit.stream(dt=1 / 30)
        size = f"{width} x {height}"
        ours, peer = in_turns(lambda: onto(frame[None]), lambda: resample(frame), repeats=15)  # noqa: B023
        text = (
            f"{size} onto {onto.seen.sum()} of 1,398 lenses; peer: gaussian_filter and map_coordinates of scipy.ndimage"
        )
        yield row(f"fly.resample-{width}", 1e3 * ours, 1e3 * peer, "ms/frame", text)
        whole, peer = in_turns(lambda: stream.push(onto(frame[None])[0] / 255), lambda: resample(frame), repeats=15)  # noqa: B023
        text = f"{size} to T4a-T5d of 1,398 columns, {1 / whole:.0f} frames/s; peer: the plain resampling alone"
        yield row(f"fly.frame-{width}", 1e3 * whole, 1e3 * peer, "ms/frame", text)
    light = clips[0].astype(np.float32)
    stream, frames = circuit.stream(), iter(np.tile(light, (10, 1)))
    (whole,) = in_turns(lambda: stream.push(next(frames)), repeats=200)
    yield row(
        "fly.circuit", 1e3 * whole, None, "ms/frame", f"the circuit alone, all lenses see; {1 / whole:.0f} frames/s"
    )
