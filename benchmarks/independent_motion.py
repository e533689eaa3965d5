r"""Motion of real video by other means than ours, with OpenCV: what `real_videos.py` sets beside our figures.

**The frame's motion**: corners (Shi and Tomasi) followed by pyramidal Lucas-Kanade there and back, and a similarity
through them by RANSAC. It is done twice, with the corners of the black and of the white squares of a chessboard, and
believed (`sure`) only where

- each half has 30 corners or more that come back to within 0.3 pixels, and 0.6 or more of them agree to within a pixel;
- both translations of the frame's centre differ by no more than 0.1 pixels, or 0.05 of their length if that is more;
- those that agree lie in half of the frame's sixteenths or more: where a road has no corners, those of a car agree.

**Rest**: the mean square change of a cell of 16 x 16 pixels is what noise makes of it, at most twice that of the
median cell of the pair, or one squared grey level, and in none of its sixteenths four times that. A cell is a witness
of rest if that holds, and if a shift of 2 pixels in any of eight directions would make four times as much. A cell moves
where its change is ten times as much.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CELL", "DenseFlow", "Followed", "Similarity", "by_features", "cells", "shifted"]

LEAST_CORNERS, LEAST_SHARE, LEAST_SPREAD, COMES_BACK = 30, 0.6, 0.5, 0.3
WITHIN, CLOSE = 1.0, 0.3
"""How near corners have to be to a motion to have a say in it [px]; and where only the commonest is meant: what moves
by less than a pixel of its own is in the mean of the first, and not of the second."""

DIFFER, DIFFER_SHARE = 0.1, 0.05
SQUARES = 8
"""Of the chessboard, along the frame's width."""

CELL = 16
NEAR = 3
"""Cells about one that moves which are beside it."""


class Similarity(NamedTuple):
    """Motion of a frame, as :class:`flymotion.field.frame_motion.GlobalMotion` has it."""

    x: float
    y: float
    rotation: float
    looming: float
    share: float
    """Of what was followed that agrees."""
    spread: float = 1.0
    """Share of the frame's sixteenths that have some of it."""
    sure: bool = True

    def fastest(self, shape: tuple[int, ...]) -> float:
        """Return about the largest speed of the frame, at its corners [px]."""
        turn = math.hypot(math.radians(self.rotation), self.looming)
        return math.hypot(self.x, self.y) + turn * math.hypot(*shape) / 2


LOST = Similarity(math.nan, math.nan, math.nan, math.nan, 0.0, 0.0, False)


class Followed(NamedTuple):
    """What corners say of a pair."""

    both: Similarity
    halves: tuple[Similarity, Similarity]
    """Of the black and of the white squares alone."""
    close: tuple[Similarity, Similarity, Similarity]
    """Of all, and of both halves, from corners that agree closely."""


def by_features(before: np.ndarray, after: np.ndarray) -> Followed:
    """Return how corners move from one frame to the next."""
    halves = [_followed(before, after, colour) for colour in (0, 1)]
    if min(len(start) for start, _ in halves) < LEAST_CORNERS:
        return Followed(LOST, (LOST, LOST), (LOST, LOST, LOST))
    samples = [tuple(np.concatenate(part) for part in zip(*halves, strict=True)), *halves]
    (both, one, other), close = (
        tuple(_similarity(*sample, before.shape, within) for sample in samples) for within in (WITHIN, CLOSE)
    )
    apart, length = math.hypot(one.x - other.x, one.y - other.y), math.hypot(both.x, both.y)
    agree = apart <= max(DIFFER, DIFFER_SHARE * length)  # False for NaN
    sure = agree and min(one.share, other.share) >= LEAST_SHARE and both.spread >= LEAST_SPREAD
    return Followed(both._replace(sure=sure), (one, other), close)


def _followed(before: np.ndarray, after: np.ndarray, colour: int) -> tuple[np.ndarray, np.ndarray]:
    """Return corners of half the squares, and where they go, of those that come back; shape (n, 2) each."""
    import cv2

    side = max(before.shape[1] // SQUARES, 8)
    rows, columns = (np.arange(n) // side for n in before.shape)
    mask = ((rows[:, None] + columns) % 2 == colour).astype(np.uint8)
    start = cv2.goodFeaturesToTrack(before, 400, 0.003, max(5, side // 10), mask=mask, blockSize=5)
    if start is None:
        return np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)
    options = {"winSize": (21, 21), "maxLevel": 4}
    end, found, _ = cv2.calcOpticalFlowPyrLK(before, after, start, None, **options)
    back, returned, _ = cv2.calcOpticalFlowPyrLK(after, before, end, None, **options)
    start, end, back = (points.reshape(-1, 2) for points in (start, end, back))
    kept = (found.ravel() == 1) & (returned.ravel() == 1) & (np.hypot(*(back - start).T) < COMES_BACK)
    return start[kept], end[kept]


def _similarity(start: np.ndarray, end: np.ndarray, shape: tuple[int, ...], within: float = WITHIN) -> Similarity:
    """Return the similarity about the frame's centre that most points follow."""
    import cv2

    centre = (np.array(shape[::-1], np.float32) - 1) / 2
    cv2.setRNGSeed(0)
    matrix, inliers = cv2.estimateAffinePartial2D(start - centre, end - centre, ransacReprojThreshold=within)
    if matrix is None:
        return LOST
    (a, _, x), (b, _, y) = matrix
    column, row = (4 * start[inliers.ravel() > 0] / shape[::-1]).astype(int).T
    spread = len(np.unique(4 * row + column)) / 16
    return Similarity(x, y, -math.degrees(math.atan2(b, a)), math.hypot(a, b) - 1, float(inliers.mean()), spread)


class DenseFlow:
    """OpenCV's DIS, preset fast: the field, its median, and a similarity by RANSAC through about 1500 places."""

    def __init__(self) -> None:
        import cv2

        self._flow: Any = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_FAST)

    def __call__(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return the velocity, shape (2, height, width)."""
        return self._flow.calc(before, after, None).transpose(2, 0, 1)

    @staticmethod
    def motion(velocity: np.ndarray) -> tuple[Similarity, Similarity]:
        """Return the median with no rotation told, and the similarity fitted."""
        shape = velocity.shape[1:]
        step = max(1, round(math.sqrt(velocity[0].size / 1500)))
        rows, columns = (np.arange(step // 2, n, step) for n in shape)
        start = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2).astype(np.float32)
        moved = velocity[:, rows[:, None], columns].reshape(2, -1).T
        x, y = np.median(moved, axis=0)
        return Similarity(float(x), float(y), math.nan, math.nan, 1.0), _similarity(start, start + moved, shape)


# -- rest --------------------------------------------------------------------------------------------------------------


class Cells(NamedTuple):
    """What the photometric test says of each cell, shape (n_rows, n_columns)."""

    rests: np.ndarray
    """No more changed than noise."""
    witness: np.ndarray
    """And would have changed, had it moved."""
    moves: np.ndarray
    beside: np.ndarray
    """Near a cell that moves."""


def cells(before: np.ndarray, after: np.ndarray) -> Cells:
    """Test every whole cell of a pair."""
    a, b = before.astype(np.float32), after.astype(np.float32)
    parts = _means((b - a) ** 2, CELL // 4)
    height, width = (n // CELL for n in before.shape)
    parts = parts[: 4 * height, : 4 * width].reshape(height, 4, width, 4)
    change = parts.mean(axis=(1, 3))
    most = max(2 * float(np.median(change)), 1.0)
    rests, moves = (change <= most) & (parts.max(axis=(1, 3)) <= 4 * most), change > 10 * most
    directions = [(2 * i, 2 * j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    least = np.min([_means((b - shifted(a, *by)) ** 2) for by in directions], axis=0)
    padded = np.pad(moves, NEAR)
    reach = range(2 * NEAR + 1)
    beside = np.any([padded[i : i + height, j : j + width] for i in reach for j in reach], axis=0)
    return Cells(rests, rests & (least > 4 * most), moves, beside)


def shifted(image: np.ndarray, x: int, y: int) -> np.ndarray:
    """Return an image whose content is moved by whole pixels; its border stays."""
    to = np.pad(image, 2, mode="edge")
    height, width = image.shape
    return to[2 - y : 2 - y + height, 2 - x : 2 - x + width]


def _means(values: np.ndarray, side: int = CELL) -> np.ndarray:
    height, width = (n // side for n in values.shape)
    blocks = values[: height * side, : width * side].reshape(height, side, width, side)
    return blocks.mean(axis=(1, 3))
