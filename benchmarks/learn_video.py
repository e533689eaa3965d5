"""Learning from a 960 x 540 video, end to end, beside scikit-learn on outer products of patches."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.writing import whole

N_FRAMES, SIZE = 120, (540, 960)

PATCH, COMPONENTS = 5, 4

N_PAIRS, N_PEER = 1_000_000, 20_000
"""Pairs of patches to learn from, about: ours, and the peers', which are slower."""

BATCH = 2000
"""Pairs that a peer learns from at a time."""


def write_video(path: Path) -> None:
    """Write a photograph that moves by a pixel or two a frame, with sensor noise, H.264."""
    import av
    from scipy.ndimage import shift, zoom
    from sklearn.datasets import load_sample_image

    rng = np.random.default_rng(0)
    large = zoom(load_sample_image("china.jpg").mean(axis=2), 2.0, order=1)
    position = np.zeros(2)
    with whole(path) as place, av.open(str(place), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.height, stream.width, stream.pix_fmt = *SIZE, "yuv420p"
        for _ in range(N_FRAMES):
            position += rng.normal(0, 1.2, 2)
            moved = shift(large, position, order=1, mode="reflect")[100 : 100 + SIZE[0], 100 : 100 + SIZE[1]]
            image = np.clip(moved + rng.normal(0, 2, SIZE), 0, 255).astype(np.uint8)
            frame = av.VideoFrame.from_ndarray(image, format="gray").reformat(format="yuv420p")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def ours(source: Any) -> int:
    """Learn from all of a video, and return the number of pairs of patches learned from."""
    from flymotion import learn

    how = {"duplicates": "keep", "edits": "keep"}
    learner = learn([source], n_components=COMPONENTS, patch=PATCH, n_pairs=N_PAIRS, **how)
    return learner.network_.n_samples_seen_


def peer(make: Callable[[], Any], frames: np.ndarray) -> int:
    """Feed outer products of change and patch, at random places, to an estimator of scikit-learn."""
    estimator, rng = make(), np.random.default_rng(0)
    room = np.array([len(frames) - 1, SIZE[0] - PATCH + 1, SIZE[1] - PATCH + 1])
    windows = np.lib.stride_tricks.sliding_window_view(frames, (PATCH, PATCH), axis=(1, 2))
    for _ in range(N_PEER // BATCH):
        t, y, x = (rng.random((BATCH, 3)) * room).astype(int).T
        before, after = (windows[s, y, x].reshape(BATCH, -1).astype(np.float32) for s in (t, t + 1))
        estimator.partial_fit(((after - before)[:, :, None] * before[:, None, :]).reshape(BATCH, -1))
    return N_PEER


def learn_video() -> Iterator[dict[str, Any]]:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import IncrementalPCA

    from flymotion.video import read_movie

    row, in_turns = (getattr(sys.modules["__main__"], name) for name in ("row", "in_turns"))  # run.py, which imports us
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moving.mp4"
        write_video(path)
        frames = np.round(read_movie(path)).astype(np.uint8)
        counts = {}

        def counted(name: str, run: Callable[[], int]) -> None:
            counts[name] = run()

        runs = {
            "memory": partial(ours, frames),
            "file": partial(ours, str(path)),
            "ipca": partial(peer, lambda: IncrementalPCA(COMPONENTS), frames),
            "kmeans": partial(peer, lambda: MiniBatchKMeans(COMPONENTS, random_state=0, n_init=1), frames),
        }
        seconds = in_turns(*(partial(counted, name, run) for name, run in runs.items()), repeats=3)
    rate = {name: counts[name] / taken for name, taken in zip(runs, seconds, strict=True)}
    what = f"{PATCH} x {PATCH}, K = {COMPONENTS}, 960 x 540, {counts['memory']:,} pairs of patches"
    bound = "; at least 150,000/s"
    for name, beside in (("memory", "decoded frames in memory"), ("file", "H.264 decoded meanwhile")):
        for other, called in (("ipca", "IncrementalPCA on chi"), ("kmeans", "MiniBatchKMeans on chi")):
            note = f"{what}, {beside}, {called}{bound}"
            yield row(f"learn-video.{name}.{other}", rate[name], rate[other], "pairs/s", note, higher=True)
