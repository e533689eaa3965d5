"""Detection end to end, from a 1280 x 720 file of 60 frames a second to global motion, beside the video's own rate."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.writing import whole

SIZE = (720, 1280)
RATE = 60
N_FRAMES = 600
N_TURNS = 3
"""Times that detection and decoding are run, in turns."""


def write_video(path: Path) -> None:
    """Write a photograph as a hand-held camera sees it, moved by fractions of a pixel, with sensor noise."""
    import av
    from scipy.ndimage import gaussian_filter1d, shift, zoom
    from sklearn.datasets import load_sample_image

    photograph = load_sample_image("china.jpg").mean(axis=2).astype(np.float32)
    large = zoom(photograph, ((SIZE[0] + 160) / photograph.shape[0], (SIZE[1] + 160) / photograph.shape[1]), order=1)
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 2, (SIZE[0] + 64, SIZE[1] + 64)).astype(np.float32)
    sway = gaussian_filter1d(rng.standard_normal((2, N_FRAMES)), 12.0, mode="wrap")
    places = 80 + 25 * sway / sway.std()
    with whole(path) as place, av.open(str(place), "w") as container:
        stream = container.add_stream("h264", rate=RATE, options={"preset": "veryfast", "crf": "21"})
        stream.height, stream.width = SIZE
        stream.pix_fmt = "yuv420p"
        for t, (y, x) in enumerate(places.T):
            window = large[int(y) : int(y) + SIZE[0] + 1, int(x) : int(x) + SIZE[1] + 1]
            seen = shift(window, (-(y % 1), -(x % 1)), order=1)[: SIZE[0], : SIZE[1]]
            v, u = rng.integers(0, 64, 2)
            seen = np.clip(seen + noise[v : v + SIZE[0], u : u + SIZE[1]], 0, 255).astype(np.uint8)
            frame = av.VideoFrame.from_ndarray(seen, format="gray").reformat(format="yuv420p")
            frame.pts, frame.time_base = t, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def run_detection(path: Path) -> float:
    """Return the frames per second of what ``flymotion detect`` does, from its first pair on."""
    from flymotion.detecting import MotionTable, detect

    found = detect(path, dense=False)  # as the command does
    with MotionTable(path.with_suffix(".csv"), found) as table:
        for step in found:
            if step.number == 1:
                begun = time.perf_counter()
            table.write(step)
    return (step.number - 1) / (time.perf_counter() - begun)


def run_decoding(path: Path) -> float:
    """Return the frames per second of reading the frames alone."""
    from flymotion.video import open_movie

    begun = time.perf_counter()
    n = sum(1 for _ in open_movie(path))
    return n / (time.perf_counter() - begun)


def detect() -> Iterator[dict[str, Any]]:
    row = sys.modules["__main__"].row  # run.py, which imports us
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "walk.mp4"
        write_video(path)
        rates = np.median([(run_detection(path), run_decoding(path)) for _ in range(N_TURNS)], axis=0)
    ours, decoding = map(float, rates)
    note = f"1280 x 720, {RATE} frames/s, H.264, {N_FRAMES} frames, to a table of global motion, against real time"
    yield row("detect.realtime", ours, float(RATE), "frames/s", f"{note}; at least 1", higher=True)
    yield row("detect.decoding", ours, decoding, "frames/s", "the same, against reading the frames alone", higher=True)
