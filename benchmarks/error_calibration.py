"""What the constants of `Field.error` were set on: python benchmarks/error_calibration.py.

Photographs of scikit-image's, none of them in the accuracy table, moved by whole pixels of twice as fine an original,
so that half pixels are exact: as they are, with noise, through codecs, and with things that move before a ground.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from truth_cameras import through_codec
from truth_pairs import Pair, seen

from flymotion.field import MotionField
from flymotion.field.truth import endpoint_error
from flymotion.video.luminance import area_averages

NAMES = ("astronaut", "coffee", "rocket", "camera", "immunohistochemistry", "retina")

MOVES = ((0.5, -0.5), (-1.5, 0.5), (2.0, 1.0), (0.5, 0.0), (-0.5, -1.0), (0.0, 1.5))
"""Of photographs [pixels per frame]; each makes every third."""

CODECS = (("libx264", 23), ("libx264", 33), ("mpeg4", 5), ("mpeg4", 14))
"""With a constant rate factor, or a scale of quantisation."""

SHAPE, GROUND = (224, 224), (150, 240)
"""Of frames, and of those with things in them [pixels]."""


def photograph(name: str) -> np.ndarray:
    import skimage.data

    image = np.asarray(getattr(skimage.data, name)(), float)
    grey = image if image.ndim == 2 else image[..., :3] @ np.array([0.299, 0.587, 0.114])
    return grey[200:1200, 200:1200] if name == "retina" else grey


def inside(velocity: np.ndarray) -> np.ndarray:
    """Return velocities, NaN where content leaves the frame."""
    y, x = np.mgrid[: velocity.shape[1], : velocity.shape[2]] + velocity[::-1]
    return np.where((x >= 0) & (x <= x.shape[1] - 1) & (y >= 0) & (y <= x.shape[0] - 1), velocity, np.nan)


def moving(name: str, move: tuple[float, float], n_frames: int) -> list[np.ndarray]:
    """Return frames of a photograph's middle, as floats."""
    image = photograph(name)
    height, width = (min(side, (whole - 60) // 32 * 16) for side, whole in zip(SHAPE, image.shape, strict=True))
    frames = []
    for t in range(n_frames):
        x, y = ((np.array(image.shape[::-1]) // 2 - (width, height)) - 2 * (t - n_frames // 2) * np.array(move)).astype(
            int
        )
        frames.append(area_averages(image[y : y + 2 * height, x : x + 2 * width], 2))
    return frames


def things(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (before, after, truth), as floats, of three discs or boxes of one photograph before another."""
    rng = np.random.default_rng(number)
    ground, cover = photograph(NAMES[number]), photograph(NAMES[(number + 1) % len(NAMES)])
    height, width = 2 * GROUND[0], 2 * GROUND[1]
    moves = np.round(2 * rng.uniform(-1, 1, (4, 2)) * np.array([1.5, 2, 5, 9])[:, None]).astype(int)
    at, size = rng.uniform(0.2, 0.8, (3, 2)) * (width, height), rng.uniform(40, 90, 3)
    frames, labels = [], []
    y, x = np.mgrid[:height, :width]
    for t in (0, 1):
        x0, y0 = 24 - t * moves[0]
        frame, label = ground[y0 : y0 + height, x0 : x0 + width].copy(), np.zeros((height, width), int)
        for k in range(3):
            dx, dy = x - t * moves[k + 1, 0], y - t * moves[k + 1, 1]
            far = (np.hypot, lambda a, b: np.maximum(abs(a), 1.3 * abs(b)))[(k + number) % 2](
                dx - at[k, 0], dy - at[k, 1]
            )
            rows, columns = dy.clip(0, cover.shape[0] - 1), (dx + 60 * k).clip(0, cover.shape[1] - 1)
            frame[far < size[k]], label[far < size[k]] = cover[rows, columns][far < size[k]], k + 1
        frames.append(area_averages(frame, 2))
        labels.append(label[::2, ::2])
    truth = inside(moves[labels[0]].transpose(2, 0, 1) / 2)
    rows, columns = (np.indices(GROUND) + np.nan_to_num(np.round(truth[::-1]))).astype(int)
    return *frames, np.where(labels[1][rows, columns] == labels[0], truth, np.nan)


def material() -> Iterator[tuple[str, Pair]]:
    """Yield pairs, and what kind they are."""
    for j, name in enumerate(NAMES):
        for move in (move for k, move in enumerate(MOVES) if (k + j) % 3 == 0):
            frames = moving(name, move, 9)
            truth = inside(np.broadcast_to(np.reshape(move, (2, 1, 1)), (2, *frames[0].shape)))
            for noise in (0, 2, 5):
                yield (
                    "with noise" if noise else "clean",
                    Pair(seen(frames[6], noise, 0), seen(frames[7], noise, 1), truth),
                )
            for codec, quality in CODECS:
                decoded = through_codec([seen(frame, 2, t) for t, frame in enumerate(frames)], codec, quality)
                yield f"{codec}, {quality}", Pair(*decoded[6:8], truth)
        before, after, truth = things(j)
        for noise in (0, 2):
            yield "things before a ground", Pair(seen(before, noise, 0), seen(after, noise, 1), truth)


def main() -> None:
    field, found = MotionField(outputs=("velocity", "error")), {}
    for kind, pair in material():
        told, known = field.between(pair.before, pair.after), np.isfinite(pair.truth[0])
        both = np.stack([endpoint_error(told.velocity, pair.truth), told.error])[:, known]
        found.setdefault(kind, []).append(both[:, np.isfinite(both[1])])
    for kind, parts in found.items():
        true, told = np.concatenate(parts, axis=1)
        within, median = 100 * np.mean(true <= 2 * told), np.median(told) / np.median(true)
        print(f"{kind:24}{within:6.1f} % within twice, median estimate {median:.2f} median errors")


if __name__ == "__main__":
    main()
