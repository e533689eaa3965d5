r"""One scale of the last two frames, and the velocity that it says.

From the coarsest scale on, the frame after is carried back by the velocity so far, and every window says what is left
(:mod:`flymotion.field.velocity_kernels`); then the nine windows about a pixel agree, each with a vote of

.. math:: v = (0.05 + T / (T + T_0)) \, (r / P + 0.05)^{-3},

where T are its squared slopes, r is the mean square of what its velocity leaves unexplained and P the mean square slope
of the frame: a window across an edge of motion explains less than those beside it, and has no say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.field.agreeing_kernels import N_PLANES, agree_band, scatter_of_tiles, widen
from flymotion.field.bands import in_bands, n_workers
from flymotion.field.cubic import REACH, spline_rows
from flymotion.field.forms import Form
from flymotion.field.judging_kernels import differ_band, judge_band, judging_room
from flymotion.field.patch_kernels import PatchScratch, respond_band
from flymotion.field.propagating_kernels import N_ROWS, explain_band, propagate_band
from flymotion.field.pyramid_kernels import PAD, enlarge, grain_of_blocks, halve, slope_power, surround
from flymotion.field.response_kernels import three_pixel_band
from flymotion.field.uneven_light import UnevenLight
from flymotion.field.velocity_kernels import Regression, VelocityScratch, regress_band

if TYPE_CHECKING:
    from flymotion.field.description import MotionField

__all__ = ["Scale"]

EVERY = 4
"""The mean square slope is taken over every so many rows."""

APART = 4
"""Cells from one to the next of those that tell how the whole frame moves, about."""

BLOCK = 16
"""Side of the blocks whose grain is looked at [pixels]; half of it in small frames."""

SHARE = 0.1
"""Share of the blocks that are taken to hold noise alone."""

SMOOTHED = 0.425
"""Variance of the smoothed change, relative to that of a pixel's noise: twice the square of (9 + 100 + 9) / 256."""

CAP = 1.5
"""What a window leaves unexplained is noise up to this many times the noise."""

FIRMER = 2.0
"""Ridge a unit of what noise leaves unexplained where a coarser scale has said that motion is slow: that is known there
as well as it is here."""

TILE, ROUGH, ROUGHEST = 16, 0.6, 4.0
"""Side of the tiles in which velocities are held against the plane through them [cells]; how far they lie from it,
relative to their errors, both squared, where these are right; and what errors are multiplied by, at most."""

LOST = 8.0
"""Error beyond which it is not known [pixels of the scale]."""

LEAST = 0.006
"""Change that says nothing, where a pixel is looked at once more, relative to the mean square slope."""

FOREIGN = 16.0
"""Change left by what the coarser scale says, relative to that of noise, beyond which another velocity is searched."""

GAIN = 0.01
"""Ridge on the change of light, relative to the mean square slope."""

NOTHING = np.zeros((2, 0, 0), np.float32)

ENLARGED = np.array([2, 2, 4, 1], np.float32)
"""What velocity, squared error and confidence are multiplied by from one scale to the next."""

SAME = np.ones(4, np.float32)
"""What they are multiplied by from cells to pixels."""


class Scale:
    """One scale: two frames with their borders, and what velocity is estimated with and into.

    Parameters
    ----------
    shape : tuple of int
        Height and width.
    dtype : dtype
        Of the frames.
    radius : int
        Of the windows [cells].
    estimated : bool
        Whether velocity is estimated here; otherwise there is no room for it.
    searches : bool
        Whether velocities are searched that the coarser scale has not seen.
    """

    def __init__(self, shape: tuple[int, int], dtype: Any, radius: int, estimated: bool, searches: bool) -> None:
        self.shape = shape
        padded = (shape[0] + 2 * PAD, shape[1] + 2 * PAD)
        self.frames = [np.zeros(padded, dtype), np.zeros(padded, dtype)]
        self.powers = [0.0, 0.0]
        self.grains = [0.0, 0.0]
        cells = (-(-shape[0] // 2), -(-shape[1] // 2))
        self.prior = np.zeros((3, *cells) if estimated else (0, 0, 0), np.float32)
        self.estimated, self.informed, self.gain = estimated, False, np.float32(1)
        self._radius = radius
        if estimated:
            self.estimates = np.zeros((4, *cells), np.float32)
            self._enlarged = np.zeros_like(self.prior)
            self._left = np.zeros([-(-n // 2) for n in cells] if searches else (0, 0), np.float32)
            self._propagating = [np.zeros((N_ROWS, cells[1] + 2), np.float32) for _ in range(n_workers())]
            self._votes = np.zeros((N_PLANES, *cells), np.float32)
            self._cells = np.zeros((4, *cells), np.float32)
            self._judged = np.zeros((0, 0, 0), np.float32)
            self._known = np.zeros((2, *shape), np.float32)
            self._splines = np.zeros(padded, np.float32)
            self._plane_fit = _plane_fit(cells)
            self._judging = [judging_room() for _ in range(n_workers())]
            self._scratch = [VelocityScratch.of(radius) for _ in range(n_workers())]
        self._learned_scratch: list[PatchScratch] = []
        self._rows = [
            np.zeros((N_PLANES, shape[1] + 2 * max(radius, REACH) + 3), np.float32) for _ in range(n_workers())
        ]

    def take(self, frame: np.ndarray) -> None:
        """Copy a frame; a float32 one among uint8 ones makes them all float32."""
        if frame.dtype == np.float32 != self.frames[0].dtype:
            self.frames = [kept.astype(np.float32) for kept in self.frames]
        np.copyto(self.frames[1][PAD:-PAD, PAD:-PAD], frame)
        surround(self.frames[1])

    def halve(self, finer: Scale) -> None:
        """Take the next frame from the next finer scale."""
        self.reduce(finer.frames[1], PAD)

    def reduce(self, frame: np.ndarray, border: int = 0) -> None:
        """Take the next frame from one twice as large, with a border of so many pixels."""
        out = self.frames[1]
        in_bands(lambda first, last, worker: halve(frame, border, out, first, last), self.shape[0], 0.5 * self.shape[1])
        surround(out)

    def look(self, most: float) -> float:
        """Measure slopes and noise of the next frame, no more than ``most``, and find its splines."""
        frame, splines, row = self.frames[1], self._splines, self._row
        height, width = self.shape
        in_bands(lambda first, last, worker: spline_rows(frame, splines, first, last, row(worker)), height, 1.5 * width)
        surround(splines)
        self.powers[1] = slope_power(frame, EVERY)
        side = BLOCK if min(self.shape) >= 4 * BLOCK else BLOCK // 2
        n_rows, n_columns = (self.shape[0] - 2 - side) // (2 * side) + 1, (self.shape[1] - 2) // side
        if min(n_rows, n_columns) > 0:
            found = np.zeros((n_rows, n_columns), np.float32)
            grain_of_blocks(frame, side, found)
            k = int(SHARE * found.size)
            most = min(most, float(np.partition(found, k, axis=None)[k]))
        self.grains[1] = most
        return most

    def turn(self) -> None:
        """Let the next frame be the last one."""
        self.frames.reverse()
        self.powers.reverse()
        self.grains.reverse()

    def uneven_light(self, light: UnevenLight) -> np.ndarray | None:
        """Return how light changes, where it does so unevenly, and take how the frame moves as the prior."""
        found = light.look(self.frames[0], self.frames[1], self._splines, self._plane(), sum(self.powers) / 2)
        if found is None:
            return None
        gain, plane = found
        y, x = (0.5 + 2 * np.arange(n) for n in self.prior.shape[1:])
        for prior, (first, along, down) in zip(self.prior, plane, strict=False):
            prior[:] = first + along * x + down * y[:, None]
        return gain

    def brighten(self, gain: np.ndarray) -> None:
        """Multiply the last frame."""
        self.frames[0][PAD:-PAD, PAD:-PAD] *= gain
        surround(self.frames[0])

    def descend(self, coarser: Scale | None, field: MotionField, quality: bool) -> None:
        """Take what the coarser scale says as the prior: on the coarsest rest, which may be all wrong."""
        self.informed = coarser is not None
        if coarser is None:
            self.prior[:2] = 0
            self.prior[2] = max(self.shape) ** 2
        else:
            n = 3 if quality else 2
            told = self._enlarged[:n]
            self.enlarge(coarser.estimates[:n], ENLARGED[:n], told)
            self._propagate(told, coarser, self._noise(field))

    def _noise(self, field: MotionField) -> float:
        """Return the variance of the change that says nothing."""
        return 2 * max(sum(self.grains) / 2, field.noise**2) + LEAST * sum(self.powers) / 2

    def _propagate(self, told: np.ndarray, coarser: Scale, noise: float) -> None:
        """Let each cell take over what explains more; search, too, where what is left is more than noise."""
        before, after = self.frames
        left, self.gain = self._left, coarser.gain
        # the coarsest scale has carried nothing: how bright the same content is, is only seen by what it says
        quiet = np.float32(FOREIGN * noise if coarser.informed else np.inf)
        out = self.prior[: len(told)]
        sums = np.zeros((len(left), 2))

        def explain(first: int, last: int, worker: int) -> None:
            sums[first] = explain_band(before, after, self.gain, first, last, told, left)

        def band(first: int, last: int, worker: int) -> None:
            propagate_band(before, after, self.gain, first, last, told, left, quiet, out, self._propagating[worker])

        if len(left):
            in_bands(explain, len(left), 15 * left.shape[1])
            was, seen = sums.sum(axis=0)
            self.gain = np.float32(was / seen) if was > 0 and seen > 0 else self.gain
        in_bands(band, out.shape[1], 20 * out.shape[2])

    def between(self, estimates: np.ndarray, n: int) -> np.ndarray:
        """Return the first n planes of what the next coarser scale says, where nothing is estimated."""
        if not len(self.prior):
            self.prior = np.zeros((4, *self.shape), np.float32)
        self.enlarge(estimates[:n], ENLARGED[:n], self.prior[:n])
        return self.prior

    def enlarge(self, coarse: np.ndarray, gains: np.ndarray, out: np.ndarray, times: int = 2) -> None:
        """Write planes 1, 2 or 4 times as large, each times a gain."""

        def band(first: int, last: int, worker: int) -> None:
            enlarge(coarse, times, gains, out, first, last, self._row(worker))

        in_bands(band, out.shape[1], 0.4 * len(out) * out.shape[2])

    def _row(self, worker: int) -> np.ndarray:
        return self._rows[worker][0]

    def estimate(self, field: MotionField, quality: bool) -> None:
        """Estimate velocity: so many times the frame after is carried by what is known, and what is left is added."""
        before, after = self.frames
        n = 4 * (2 * self._radius + 1) ** 2
        power, grain = sum(self.powers) / 2, sum(self.grains) / 2
        regression = Regression(
            self._radius,
            np.float32(field.ridge * n * power),
            np.float32(n * CAP * SMOOTHED * max(grain, field.noise**2)),
            np.float32(FIRMER if self.informed else 0),
            np.float32(GAIN * n * power),
            np.float32(power),
            tuple(np.float32(number) for number in self._plane().ravel()),
        )
        known = self.prior
        for turn in range(field.rounds):
            self.enlarge(known[:2], SAME[:2], self._known)
            votes = self._votes if quality and turn == field.rounds - 1 else self._votes[:3]
            into = self.estimates[2:] if len(votes) > 3 else NOTHING
            self._regress(before, after, self._known, regression, votes)
            self._agree(votes, regression.reference, into)
            known = self.estimates

    def _plane(self) -> np.ndarray:
        """Return the planes through the prior's components."""
        some = self.prior[:2, APART // 2 :: APART, APART // 2 :: APART]
        return some.reshape(2, -1) @ self._plane_fit

    def judge(self, field: MotionField, n: int) -> np.ndarray:
        """Return velocity at every pixel, for n = 4 squared error and confidence, too, once all cells are judged."""
        before, after = self.frames
        noise = np.float32(self._noise(field))
        if len(self._judged) < n:
            self._judged = np.zeros((n, *self.shape), np.float32)
        if n == 4:
            self._widen()
        estimates, known, cells, out = self.estimates[:n], self._known, self._cells[:n], self._judged[:n]
        self.enlarge(estimates[:2], SAME[:2], known)

        def judge(first: int, last: int, worker: int) -> None:
            room = self._judging[worker]
            judge_band(before, after, self._splines, first, last, estimates, known, noise, cells, room)

        def differ(first: int, last: int, worker: int) -> None:
            differ_band(cells[:2], cells[3], first, last, self._row(worker))

        in_bands(judge, cells.shape[1], 30 * cells.shape[2])
        if n == 4:
            in_bands(differ, cells.shape[1], 5 * cells.shape[2])
        self.enlarge(cells, SAME[:n], out)
        if n == 4:
            out[2][out[2] > LOST**2] = np.nan
        return out

    def _widen(self) -> None:
        """Multiply errors where velocities lie further from the plane through them than their errors say.

        Birge (1932) multiplies errors by the root of that ratio of squares. Here it is the ratio itself: what is wrong
        over more than a tile, as blocks that a codec has copied, scatters less in it than it is wrong.
        """
        velocity, error = self.estimates[:2], self.estimates[2]
        side = min(TILE, *error.shape)
        found = np.zeros((error.shape[0] // side, error.shape[1] // side), np.float32)
        scatter_of_tiles(velocity, error, side, found)
        widen(error, np.clip(found / np.float32(ROUGH), np.float32(1), np.float32(ROUGHEST)), side)

    def _regress(
        self, before: np.ndarray, after: np.ndarray, known: np.ndarray, regression: Regression, votes: np.ndarray
    ) -> None:
        def band(first: int, last: int, worker: int) -> None:
            regress_band(
                before, after, self._splines, first, last, known, self.prior, regression, votes, self._scratch[worker]
            )

        in_bands(band, votes.shape[1], 45 * votes.shape[2])

    def _agree(self, votes: np.ndarray, reference: Any, into: np.ndarray) -> None:
        def band(first: int, last: int, worker: int) -> None:
            agree_band(votes, first, last, self._radius, reference, self.estimates[:2], into, self._rows[worker])

        in_bands(band, votes.shape[1], 5 * votes.shape[2])

    def respond(self, out: Any) -> None:
        """Write three-pixel responses."""
        if not (out.directions.size or out.opponent.size):
            return
        before, after = self.frames

        def band(first: int, last: int, worker: int) -> None:
            three_pixel_band(before, after, first, last, out.directions, out.opponent, self._rows[worker])

        in_bands(band, self.shape[0])

    def respond_learned(self, form: Form, out: Any) -> None:
        """Write learned responses."""
        if not (out.directions.size or out.opponent.size):
            return
        if not self._learned_scratch:
            self._learned_scratch = [form.scratch() for _ in range(n_workers())]
        before, after = (frame[PAD:-PAD, PAD:-PAD] for frame in self.frames)

        def band(first: int, last: int, worker: int) -> None:
            respond_band(before, after, first, last, form, out, self._learned_scratch[worker])

        in_bands(band, self.shape[0])


def _plane_fit(shape: tuple[int, int]) -> np.ndarray:
    """Return what gives the plane through every fourth cell: at the first pixel, and its slopes along x and y."""
    y, x = (0.5 + 2 * axis for axis in np.mgrid[: shape[0], : shape[1]][:, APART // 2 :: APART, APART // 2 :: APART])
    return np.linalg.pinv(np.stack([np.ones(x.size), x.ravel(), y.ravel()], axis=1)).T
