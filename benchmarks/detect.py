"""Detection end to end, from a file of 60 frames a second to a table, beside the video's rate and what has to be done.

What has to be done is reading the frames and the field of each pair, where it is estimated, one after the other. Memory
is that of a video of seven times the frames, of the same packets.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.writing import whole

SIZES = {"720p": (720, 1280), "1080p": (1080, 1920)}
RATE = 60
N_FRAMES = {"720p": 600, "1080p": 200}
SPEEDS = {"720p": ("fast", "fastest"), "1080p": ("fast",)}
N_TURNS = 3
"""Times that detection, decoding and what has to be done are run, in turns."""

N_TIMES = 7
"""Length of the video that memory is measured over, in those of that of 720 rows."""


def write_video(path: Path, size: tuple[int, int], n_frames: int) -> None:
    """Write a photograph as a hand-held camera sees it, moved by fractions of a pixel, with sensor noise."""
    import av
    from scipy.ndimage import gaussian_filter1d, shift, zoom
    from sklearn.datasets import load_sample_image

    photograph = load_sample_image("china.jpg").mean(axis=2).astype(np.float32)
    large = zoom(photograph, ((size[0] + 160) / photograph.shape[0], (size[1] + 160) / photograph.shape[1]), order=1)
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 2, (size[0] + 64, size[1] + 64)).astype(np.float32)
    sway = gaussian_filter1d(rng.standard_normal((2, n_frames)), 12.0, mode="wrap")
    places = 80 + 25 * sway / sway.std()
    with whole(path) as place, av.open(str(place), "w") as container:
        stream = container.add_stream("h264", rate=RATE, options={"preset": "veryfast", "crf": "21"})
        stream.height, stream.width = size
        stream.pix_fmt = "yuv420p"
        for t, (y, x) in enumerate(places.T):
            window = large[int(y) : int(y) + size[0] + 1, int(x) : int(x) + size[1] + 1]
            seen = shift(window, (-(y % 1), -(x % 1)), order=1)[: size[0], : size[1]]
            v, u = rng.integers(0, 64, 2)
            seen = np.clip(seen + noise[v : v + size[0], u : u + size[1]], 0, 255).astype(np.uint8)
            frame = av.VideoFrame.from_ndarray(seen, format="gray").reformat(format="yuv420p")
            frame.pts, frame.time_base = t, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def repeated(path: Path, times: int) -> Path:
    """Write the packets of a video so many times, one after the other."""
    import av

    longer = path.with_name("longer.mp4")
    with whole(longer) as place, av.open(str(place), "w") as container:
        for number in range(times):
            with av.open(str(path)) as source:
                [video] = source.streams.video
                stream = container.streams.video[0] if number else container.add_stream_from_template(video)
                for packet in (packet for packet in source.demux(video) if packet.size):
                    packet.pts += round(number * video.frames / RATE / packet.time_base)
                    packet.dts += round(number * video.frames / RATE / packet.time_base)
                    packet.stream = stream
                    container.mux(packet)
    return longer


def run_detection(path: Path, speed: str) -> None:
    """Do what ``flymotion detect`` does, but the figure."""
    from flymotion.detecting import MotionTable, detect

    found = detect(path, dense=False, speed=speed)  # as the command does
    with MotionTable(path.with_suffix(".csv"), found) as table:
        for step in found:
            table.write(step)


def run_decoding(path: Path, speed: str) -> None:
    """Read the frames alone."""
    from flymotion.video import open_movie

    for _ in open_movie(path):
        pass


def run_needed(path: Path, speed: str) -> None:
    """Read the frames and compute the field that detection takes, nothing else, one after the other."""
    from flymotion.detecting import detect

    found = detect(path, dense=False, speed=speed)
    stream = found.field.stream()
    for frame in found.movie:
        stream.step(frame)


def rates(path: Path, n_frames: int, speed: str) -> tuple[np.ndarray, np.ndarray]:
    """Return frames per second, and per second of processors, of detection, decoding and what is needed, in turns."""
    runs = (run_detection, run_decoding, run_needed)
    taken = [[_seconds(run, path, speed) for run in runs] for _ in range(N_TURNS + 1)]
    wall, busy = n_frames / np.median(taken[1:], axis=0).T  # the first ones warm up
    return wall, busy


def _seconds(run: Callable[[Path, str], None], path: Path, speed: str) -> tuple[float, float]:
    wall, busy = time.perf_counter(), time.process_time()
    run(path, speed)
    return time.perf_counter() - wall, time.process_time() - busy


def resident() -> float:
    """Return the memory of this process [MB]; of Linux."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def growth(path: Path) -> tuple[float, int]:
    """Return by how much memory grows with each frame, in the second half of a video [MB], and its frames."""
    from flymotion.detecting import MotionTable, detect

    found, sizes = detect(path, dense=False), []
    with MotionTable(path.with_suffix(".csv"), found) as table:
        for step in found:
            table.write(step)
            sizes.append(resident())
    later = sizes[len(sizes) // 2 :]
    return float(np.polyfit(np.arange(len(later)), later, 1)[0]), len(sizes)


def rows_of(name: str, path: Path, speed: str) -> Iterator[dict[str, Any]]:
    """Measure a video of a size at a speed of the field."""
    row = sys.modules["__main__"].row  # run.py, which imports us
    (height, width), n = SIZES[name], N_FRAMES[name]
    wall, busy = rates(path, n, speed)
    ours, decoding, needed = map(float, wall)
    bits = 8 * path.stat().st_size / n * RATE / 1e6
    note = f"{width} x {height}, {RATE} frames/s, H.264, {bits:.1f} Mbit/s, {n} frames, to a table, {speed}"
    if (name, speed) == ("720p", "fast"):
        yield row("detect.realtime", ours, RATE, "frames/s", f"{note}, against real time; at least 1", higher=True)
        yield row("detect.decoding", ours, decoding, "frames/s", "the same, against reading alone", higher=True)
    bound = f"against reading and the field, one after the other; at least {1 / 1.3:.2f}"
    of = f"detect.{name}" + f".{speed}" * (speed != "fast")
    yield row(of, ours, needed, "frames/s", f"{note}, {bound}", higher=True)
    ours, _, needed = map(float, busy)
    yield row(f"{of}.cpu", ours, needed, "frames/s", "the same, a second of processors", higher=True)


def detect() -> Iterator[dict[str, Any]]:
    row = sys.modules["__main__"].row  # run.py, which imports us
    with tempfile.TemporaryDirectory() as folder:
        for name, size in SIZES.items():
            path = Path(folder) / f"{name}.mp4"
            write_video(path, size, N_FRAMES[name])
            for speed in SPEEDS[name]:
                yield from rows_of(name, path, speed)
        longer = repeated(Path(folder) / "720p.mp4", N_TIMES)
        slope, n = growth(longer)
        note = f"growth over ten minutes, 36,000 frames, as in the second half of {n} of 1280 x 720; at most 50"
        yield row("detect.memory", 36_000 * slope, 50.0, "MB", note)
