"""The benchmark ``fly``: a video on both eyes of a fly, and through T4 and T5 of every column.

Times are those of one core, so that what else the machine does counts for less.
"""

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
        begun = time.process_time()
        clips = list(schooling(eye, random_state=0))
        rendered = time.process_time()
        circuit = T4T5Circuit(eye, dt=0.02, random_state=0).fit(clips)
        learned = time.process_time()
    note = f"both eyes, 1,398 columns, {len(clips)} clips of {len(clips[0])} frames of panoramas; rendering took"
    yield row("fly.train", learned - begun, None, "s", f"{note} {rendered - begun:.3g} s of it; at most 180")
    for shape in SIZES:
        yield from of_frames(circuit, shape)
    light = clips[0].astype(np.float32)
    stream, frames = circuit.stream(), iter(np.tile(light, (10, 1)))
    (whole,) = in_turns(lambda: stream.push(next(frames)), repeats=200, clock=time.process_time)
    yield row(
        "fly.circuit", 1e3 * whole, None, "ms/frame", f"the circuit alone, all lenses see; {1 / whole:.0f} frames/s"
    )


def of_frames(circuit: T4T5Circuit, shape: tuple[int, int]) -> Iterator[Row]:
    """Frames of a size onto the eye, and through the circuit."""
    height, width = shape
    camera = Camera(height, width, fov=FOV)
    frame = np.random.default_rng(0).uniform(0, 255, shape).astype(np.float32)
    onto, resample, stream = OntoEye(camera, circuit.eye), plainly(camera, circuit.eye), circuit.stream(dt=1 / 30)

    def plain() -> Any:
        return resample(frame)

    ours, peer = in_turns(lambda: onto(frame[None]), plain, repeats=15, clock=time.process_time)
    note = f"{width} x {height} onto {onto.seen.sum()} of 1,398 lenses; peer: scipy's gaussian_filter, map_coordinates"
    yield row(f"fly.resample-{width}", 1e3 * ours, 1e3 * peer, "ms/frame", note)
    ours, peer = in_turns(lambda: stream.push(onto(frame[None])[0] / 255), plain, repeats=15, clock=time.process_time)
    note = f"{width} x {height} to T4 and T5 of all columns, {1 / ours:.0f} frames/s; peer: that resampling alone"
    yield row(f"fly.frame-{width}", 1e3 * ours, 1e3 * peer, "ms/frame", note)
