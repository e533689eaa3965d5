"""Real videos: the frame's motion, what rests, noise, and time, beside OpenCV; fills the tables of docs/real-videos.md.

    python benchmarks/real_videos.py FOLDER [--only NAME ...] [--json FILE] [--docs docs]

FOLDER, or what the environment variable FLYMOTION_VIDEOS names, has the clips that `video_sources.py` lists; what is
not there is skipped, and said to be. `independent_motion.py` says what they are measured against.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from independent_motion import CELL, CLOSE, Cells, DenseFlow, by_features, cells
from run import Row, row
from video_sources import SOURCES, Source

from flymotion.writing import WriteError, check, whole

N_PIXELS, MOST_PAIRS = 30e6, 150
"""Of a clip, about so many pixels are looked at, in no more than so many pairs."""

STANDS = 0.05
"""Speed below which a frame stands [px]."""

FALSE_SPEED = 0.3
"""What no still pixel may have at a confidence above 0.5 [px]."""

REGION = 64
"""Pixels of a region, at least, side by side, of which each is false: a quarter of a cell."""

TEN = 10
"""Pairs that motion is added up over: a codec that skips blocks makes up for it before long."""

EVERY = 4
"""Rows and columns of the pixels whose speeds are kept."""


class Still(NamedTuple):
    """Pixels of one pair, while the camera stands, of cells that are known to rest."""

    witness: np.ndarray
    """Speeds of ours, confidence and speeds of DIS, of witnesses beside what moves, shape (3, n)."""
    refuted: np.ndarray
    """Ours and its confidence, of resting cells beside what moves; and 1 where rest is better by four times."""
    quiet: np.ndarray
    """As the first, far from what moves; the last row is our error."""
    regions: np.ndarray
    """Pixels of each region that is false, and whose it is: 0 ours, 1 of DIS."""
    moving: np.ndarray
    """Of each pair pixels of cells that move, and those of them that are said to by ours and by DIS, shape (3, n)."""


class Clip(NamedTuple):
    """All that was measured of one clip; arrays have a row a pair: x, y, rotation, looming."""

    source: Source
    size: tuple[int, int]
    ours: np.ndarray
    median: np.ndarray
    fitted: np.ndarray
    reference: np.ndarray
    halves: np.ndarray
    """x and y of both halves of what the reference is made of."""
    close: np.ndarray
    """x and y of corners that agree closely: of all, and of both halves."""
    sure: np.ndarray
    identical: np.ndarray
    errors: np.ndarray
    far: np.ndarray
    """Translation over TEN pairs: x and y of ours, added up, and of the reference at once."""
    still: Still
    seconds: dict[str, float]

    @property
    def stands(self) -> bool:
        """Whether the camera is fixed to something, and what is sure of it does not say otherwise.

        All pairs count then: where things fill the frame, corners follow them and not the ground.
        """
        speeds = np.hypot(*self.reference[self.sure, :2].T)
        return self.source.fixed and speeds.size > 0 and float(np.median(speeds)) < 2 * STANDS


# -- measuring ---------------------------------------------------------------------------------------------------------


def measured(source: Source, path: Path) -> Clip:
    """Go through a clip: once as `flymotion detect` does, against the clock, and once to look."""
    from flymotion.detecting import detect
    from flymotion.video import open_movie

    height, width = open_movie(path).shape
    n = int(min(MOST_PAIRS, N_PIXELS / (height * width)))
    part = {"start": source.start, "stop": source.start + n + 1}
    for _ in detect(path, dense=False, start=source.start, stop=source.start + 3):
        pass  # compiled
    seconds = {
        "detect": _seconds(iter(detect(path, dense=False, **part))),
        "decode": _seconds(iter(open_movie(path, **part))),
    }
    flow, motions, still, far = DenseFlow(), [], [], _Far()
    before = None
    for step in _at_pixels(detect(path, dense=False, **part)):
        image = _bytes(step.image).copy()
        if step.field is not None and before is not None:
            motions.append(_pair(before, image, step, flow, still))
        far.step(image, step)
        before = image
    parts = [np.array(column) for column in zip(*motions, strict=True)]
    joined = Still(*(np.concatenate(p, axis=1) for p in zip(*still, strict=True))) if still else _NOTHING
    return Clip(source, (height, width), *parts, far.found(), joined, seconds)


def _at_pixels(found: Any) -> Any:
    """Return the same with velocity, confidence and error at every pixel."""
    return replace(found, field=replace(found.field, interpolated=True, outputs=("velocity", "confidence", "error")))


def _seconds(frames: Iterator[Any]) -> float:
    """Return the time that a frame takes, of one processor, all threads together, from the second on."""
    next(frames)
    begun, n = time.process_time(), sum(1 for _ in frames)
    return (time.process_time() - begun) / max(n, 1)


def _bytes(image: np.ndarray) -> np.ndarray:
    return image if image.dtype == np.uint8 else np.clip(image, 0, 255).round().astype(np.uint8)


def _pair(before: np.ndarray, after: np.ndarray, step: Any, flow: DenseFlow, still: list[Still]) -> tuple[Any, ...]:
    """Return what a pair's frame does by each method; adds what its still pixels do."""
    dense = flow(before, after)
    reference, halves, close = by_features(before, after)
    median, fitted = flow.motion(dense)
    if reference.sure and reference.fastest(before.shape) < 3 * STANDS:
        still.append(_still_pixels(before, after, step.field, dense))
    error = step.field.error
    errors = [np.isnan(error).mean(), np.median(error[np.isfinite(error)])]
    four = [motion[:4] for motion in (step.motion, median, fitted, reference)]
    apart = [*halves[0][:2], *halves[1][:2]]
    closely = [number for motion in close for number in motion[:2]]
    return *four, apart, closely, reference.sure, np.mean(before == after), errors


class _Far:
    """Motion of every tenth frame since the tenth before it."""

    def __init__(self) -> None:
        self._first, self._sum, self._n = np.zeros((0, 0), np.uint8), np.zeros(2), 0
        self._found: list[list[float]] = []

    def step(self, image: np.ndarray, step: Any) -> None:
        if step.cut:
            self._first, self._sum, self._n = image, np.zeros(2), 0
            return
        self._sum, self._n = self._sum + step.motion[:2], self._n + 1
        if self._n == TEN:
            at_once = by_features(self._first, image).both
            if at_once.sure:
                self._found.append([*self._sum, at_once.x, at_once.y])
            self._first, self._sum, self._n = image, np.zeros(2), 0

    def found(self) -> np.ndarray:
        return np.array(self._found).reshape(-1, 4)


def _still_pixels(before: np.ndarray, after: np.ndarray, field: Any, dense: np.ndarray) -> Still:
    tested = cells(before, after)
    speed, other = np.hypot(*field.velocity), np.hypot(*dense)
    here = np.stack([speed, field.confidence, other])
    better = _rest_is_better(before, after, field.velocity, tested)
    beside = _pixels(tested.rests & tested.beside, speed.shape)
    witness = _pixels(tested.witness & tested.beside, speed.shape)
    moves = _pixels(tested.moves, speed.shape)
    bold = [(speed > FALSE_SPEED) & (field.confidence > 0.5), other > FALSE_SPEED]
    false = [_regions(witness & pixels) for pixels in bold]
    sparse = _pixels(~tested.beside, speed.shape)
    sparse &= (np.arange(speed.shape[0])[:, None] % EVERY == 0) & (np.arange(speed.shape[1]) % EVERY == 0)
    return Still(
        here[:, witness],
        np.stack([speed, field.confidence, better])[:, beside],
        np.stack([*here, field.error])[:, sparse],
        np.concatenate([np.stack([areas, np.full_like(areas, k)]) for k, areas in enumerate(false)], 1),
        np.array([[moves.sum()], [(moves & bold[0]).sum()], [(moves & bold[1]).sum()]], float),
    )


def _regions(false: np.ndarray) -> np.ndarray:
    """Return how many pixels each region has that is false."""
    import cv2

    areas = cv2.connectedComponentsWithStats(false.astype(np.uint8), connectivity=4)[2][1:, cv2.CC_STAT_AREA]
    return areas[areas >= REGION].astype(float)


_NOTHING = Still(np.zeros((3, 0)), np.zeros((3, 0)), np.zeros((4, 0)), np.zeros((2, 0)), np.zeros((3, 0)))


def _pixels(of_cells: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a mask of cells as one of pixels; what is no whole cell is left out."""
    mask = np.zeros(shape, bool)
    large = np.kron(of_cells, np.ones((CELL, CELL), bool))
    mask[: large.shape[0], : large.shape[1]] = large
    return mask


def _rest_is_better(before: np.ndarray, after: np.ndarray, velocity: np.ndarray, tested: Cells) -> np.ndarray:
    """Return where, in a cell, what is claimed leaves four times the change that rest leaves, and noise; per pixel."""
    import cv2

    y, x = np.mgrid[: before.shape[0], : before.shape[1]].astype(np.float32)
    claimed = cv2.remap(before.astype(np.float32), x - velocity[0], y - velocity[1], cv2.INTER_LINEAR)
    left = [cv2.boxFilter((image - after) ** 2, -1, (9, 9)) for image in (claimed, before.astype(np.float32))]
    return (left[0] > 4 * np.maximum(left[1], 1.0)).astype(np.float32)


# -- rows --------------------------------------------------------------------------------------------------------------


def rows_of(clip: Clip) -> Iterator[Row]:
    name = f"real.{clip.source.name}"
    n, sure = len(clip.sure), clip.sure
    height, width = clip.size
    note = f"{clip.source.shows}; {width} x {height}, {n} pairs"
    yield row(f"{name}.sure", float(sure.mean()), None, "share", f"{note}; pairs whose motion is known independently")
    yield row(
        f"{name}.identical", float(np.median(clip.identical)), None, "share", f"{note}; pixels that do not change"
    )
    if clip.stands:
        yield from standing_rows(name, clip)
    elif sure.sum() >= 10:
        yield from moving_rows(name, clip)
    if clip.stands:
        yield from still_rows(name, clip.still)
    if np.isfinite(clip.errors).any():
        unknown, error = np.nanmedian(clip.errors, axis=0)
        yield row(f"{name}.error.nan", float(unknown), None, "share", "pixels whose error is not told; median of pairs")
        yield row(f"{name}.error.median", float(error), None, "px", "of the pixels; median of pairs")
    ours, decode = clip.seconds["detect"], clip.seconds["decode"]
    yield row(f"{name}.time", 1e3 * ours, 1e3 * decode, "ms", "of one processor, a frame; detect, and decoding alone")


def standing_rows(name: str, clip: Clip) -> Iterator[Row]:
    """Yield how far the frame is said to move while the camera stands: in all pairs, since it stands in all."""
    speeds = [np.hypot(*motion[:, :2].T) for motion in (clip.ours, clip.fitted)]
    unknown = float(np.mean(np.isnan(speeds[0])))
    yield row(f"{name}.stands.unknown", unknown, None, "share", "pairs without an answer")
    for label, share in (("median", 50), ("95", 95), ("max", 100)):
        a, b = (float(np.nanpercentile(speed, share)) if np.isfinite(speed).any() else None for speed in speeds)
        yield row(f"{name}.stands.{label}", a, b, "px", "speed of the frame; DIS fast, a similarity by RANSAC")
    off = [np.hypot(*(m - clip.reference)[clip.sure, :2].T) for m in (clip.ours, clip.fitted)]
    yield row(f"{name}.stands.off", *map(_largest, off), "px", "from corners, of sure pairs, largest; DIS fast, fitted")
    corners = np.hypot(*clip.reference[clip.sure, :2].T)
    yield row(f"{name}.stands.corners", _largest(corners), None, "px", "speed of the frame, of corners, largest")
    turn = np.abs(clip.ours[:, 2])
    yield row(f"{name}.stands.rotation", _largest(turn), _largest(np.abs(clip.fitted[:, 2])), "deg", "largest")


def moving_rows(name: str, clip: Clip) -> Iterator[Row]:
    """Yield how the frame's motion agrees with the independent one, of the pairs where that is sure."""
    for label, method in (("median", clip.median), ("fitted", clip.fitted)):
        peer = f"DIS fast, {'median' if label == 'median' else 'similarity by RANSAC'}"
        for what, columns, unit in (("translation", [0, 1], "px"), ("rotation", [2], "deg"), ("looming", [3], "1")):
            if label == "median" and what != "translation":
                continue
            ours, theirs = (
                agreement(m[:, columns], clip.reference[:, columns], clip.sure) for m in (clip.ours, method)
            )
            for key, unit_of in (("correlation", "r"), ("slope", "ratio"), ("rms", unit), ("size", unit)):
                higher = key == "correlation"
                yield row(f"{name}.{what}.{key}.{label}", ours[key], theirs[key], unit_of, peer, higher=higher)
    itself = agreement(clip.halves[:, :2], clip.halves[:, 2:], clip.sure)["correlation"]
    yield row(f"{name}.translation.itself", itself, 1.0, "r", "between both halves of the reference", higher=True)
    if len(far := clip.far[np.isfinite(clip.far).all(axis=1)]) >= 2:
        ours, truth = far[:, :2], far[:, 2:]
        slope, size = float(np.sum(ours * truth) / np.sum(truth**2)), float(np.sqrt(np.mean(np.sum(truth**2, axis=1))))
        yield row(
            f"{name}.far.slope", slope, 1.0, "ratio", f"of {TEN} pairs' motions added up, to that of corners at once"
        )
        yield row(f"{name}.far.size", size, None, "px", f"rms motion over {TEN} pairs")
    yield from close_rows(name, clip)
    lost = float(np.mean(np.isnan(clip.ours[clip.sure, 0])))
    yield row(f"{name}.translation.unknown", lost, None, "share", "sure pairs without an answer")


def close_rows(name: str, clip: Clip) -> Iterator[Row]:
    """Yield the same of corners that agree closely, on the same pairs: what moves otherwise is not in their mean."""
    reference, halves = clip.close[:, :2], (clip.close[:, 2:4], clip.close[:, 4:])
    ours, theirs = (agreement(motion[:, :2], reference, clip.sure) for motion in (clip.ours, clip.fitted))
    note = f"of corners within {CLOSE} px of one motion; DIS fast, similarity by RANSAC"
    for key, unit in (("correlation", "r"), ("slope", "ratio"), ("rms", "px"), ("size", "px")):
        yield row(f"{name}.close.{key}", ours[key], theirs[key], unit, note, higher=key == "correlation")
    itself = agreement(*halves, clip.sure)
    for key, unit in (("correlation", "r"), ("rms", "px")):
        note = f"between both halves of the corners within {CLOSE} px of one motion"
        yield row(f"{name}.close.itself.{key}", itself[key], None, unit, note, higher=key == "correlation")


def agreement(motion: np.ndarray, reference: np.ndarray, sure: np.ndarray) -> dict[str, float | None]:
    """Return correlation of both axes jointly, slope, root mean square difference, and the reference's size."""
    known = sure & np.isfinite(motion).all(axis=1)
    if known.sum() < 5:
        return dict.fromkeys(("correlation", "slope", "rms", "size"))
    a, b = motion[known], reference[known]
    p, q = (a - a.mean(axis=0)).ravel(), (b - b.mean(axis=0)).ravel()
    both = np.sqrt((p @ p) * (q @ q))
    return {
        "correlation": float(p @ q / both) if both > 0 else None,
        "slope": float(np.sum(a * b) / np.sum(b * b)),
        "rms": float(np.sqrt(np.mean(np.sum((a - b) ** 2, axis=1)))),
        "size": float(np.sqrt(np.mean(np.sum(b**2, axis=1)))),
    }


def still_rows(name: str, still: Still) -> Iterator[Row]:
    """Yield what still pixels are said to do, beside what moves and far from it."""
    for rows in (beside_rows, ghost_rows, quiet_rows):
        yield from rows(name, still)


def beside_rows(name: str, still: Still) -> Iterator[Row]:
    """Yield what is said of still, textured pixels beside what moves."""
    speed, sure, other = still.witness
    bold = (speed > FALSE_SPEED) & (sure > 0.5)
    if speed.size:
        note = (
            f"of {speed.size} still, textured pixels beside what moves: above {FALSE_SPEED} px at confidence above .5"
        )
        yield row(
            f"{name}.beside.share", float(bold.mean()), float(np.mean(other > FALSE_SPEED)), "share", f"{note}; DIS"
        )
        yield row(f"{name}.beside.largest", _largest(speed[sure > 0.5]), _largest(other), "px", "of them; DIS")
        areas = [still.regions[0, still.regions[1] == k] for k in (0, 1)]
        note = f"false pixels of these, side by side, {REGION} or more; DIS"
        each = [float(a.size / still.moving.shape[1]) for a in areas]
        yield row(f"{name}.beside.regions", *each, "1/pair", f"regions a pair: {note}")
        yield row(f"{name}.beside.region", *(_largest(a) or 0.0 for a in areas), "px^2", f"the largest region: {note}")
        pixels, *said = still.moving.sum(axis=1)
        note = f"of {pixels:.0f} pixels of cells that move: said to, above {FALSE_SPEED} px at confidence above .5; DIS"
        yield row(f"{name}.beside.moving", *(float(n / max(pixels, 1)) for n in said), "share", note, higher=True)


def ghost_rows(name: str, still: Still) -> Iterator[Row]:
    """Yield what is said of still pixels beside what moves that rest explains better."""
    speed, sure, better = still.refuted
    if speed.size:
        wrong = (speed > FALSE_SPEED) & (sure > 0.5) & (better > 0)
        note = f"of {speed.size} pixels that rest beside what moves, textured or not: false at confidence above .5"
        yield row(f"{name}.ghosts.share", float(wrong.mean()), None, "share", f"{note}: rest explains them 4 x better")
        yield row(f"{name}.ghosts.largest", _largest(speed[wrong]), None, "px", "of them")


def quiet_rows(name: str, still: Still) -> Iterator[Row]:
    """Yield what is said of still pixels far from what moves."""
    speed, sure, other, error = still.quiet
    if speed.size:
        for least in (0.2, 0.5):
            kept = sure > least
            a, b = (float(np.percentile(s[kept], 99)) if kept.any() else None for s in (speed, other))
            yield row(
                f"{name}.quiet.{least}", a, b, "px", f"99th percentile of speeds at confidence above {least}; DIS there"
            )
            yield row(f"{name}.quiet.{least}.share", float(kept.mean()), None, "share", "so confident")
        yield row(
            f"{name}.quiet.all", float(np.percentile(speed, 99)), float(np.percentile(other, 99)), "px", "of all; DIS"
        )
        if np.isfinite(error).any():
            told = np.isfinite(error)
            within = float(np.mean(speed[told] <= 2 * error[told]))
            yield row(
                f"{name}.quiet.within",
                within,
                0.95,
                "share",
                "speeds, truly 0, within twice the error told",
                higher=True,
            )


def _largest(values: np.ndarray) -> float | None:
    values = values[np.isfinite(values)]
    return float(values.max()) if values.size else None


def real_videos(folder: Path, only: list[str]) -> Iterator[Row]:
    for source in SOURCES:
        if only and source.name not in only:
            continue
        if not (path := folder / source.file).exists():
            yield row(f"real.{source.name}", None, None, "", f"skipped: no {source.file} in the folder")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from rows_of(measured(source, path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("FLYMOTION_VIDEOS"), metavar="FOLDER")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--docs", metavar="FOLDER", help="where real-videos.md is")
    arguments = parser.parse_args()
    if not arguments.folder:
        parser.error("no folder of clips: give one, or name it in FLYMOTION_VIDEOS")
    if arguments.json:
        try:
            check(arguments.json)
        except WriteError as error:
            parser.error(str(error))
    rows = []
    for result in real_videos(Path(arguments.folder), arguments.only):
        values = [result[column] for column in ("ours", "peer", "ratio")]
        figures = [f"{'-':>10}" if value is None else f"{value:10.4g}" for value in values]
        print(f"{result['name']:44}", *figures, f"{result['unit']:6}", result["note"], flush=True)
        rows.append(result)
    if arguments.json:
        with whole(arguments.json) as place:
            place.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if arguments.docs:
        from real_videos_report import fill

        fill(rows, Path(arguments.docs))


if __name__ == "__main__":
    main()
