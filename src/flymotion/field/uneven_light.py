r"""Light that changes otherwise here than there: the shadow of a cloud, a torch.

The edge of a shadow over flat ground moves, and is all that is to be seen there. What tells is the rest of the frame:
where the motion of the whole frame leaves of the change :math:`d` what the light of blocks of pixels explains, less
that of the frame,

.. math:: s = \frac{\sum_{blocks} (\sum d m)^2 / \sum m^2}{\sum d^2}

(m is the mean of both frames), there light is uneven. The motion of the frame is a plane; what the coarser scale says
of it may be that of the light. Where that leaves too much, the frame may rest; either is mended by least squares of
what :math:`m`, :math:`m x` and :math:`m y`, the light of a block and its slopes, do not explain. The light at a pixel
is then what explains the change best, under a Gaussian of 8 pixels of the frame about it,

.. math:: k = \frac{G * (d m)}{G * m^2 + \rho},

and what that leaves once more. The frame *before* is multiplied by it, so that both are lit alike, and velocity is
estimated as of any other pair: nothing else changes, and nothing is left of it when the frame after is the one before.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.carrying import STRIDE
from flymotion.field.light_kernels import (
    BESIDE,
    N_ROWS,
    carry_frame,
    explained_change,
    find_gain,
    mend_plane,
    share_along,
    sum_blocks,
)
from flymotion.field.memory import aligned

__all__ = ["LIGHT", "UnevenLight"]

LIGHT = 3
"""Scale at which light is looked at."""

BLOCK = 8
"""Side of the blocks that have one light [pixels of that scale]."""

PIECE = 6
"""Side of those by which the motion of the frame is mended: less light is in them, and less motion."""

TURNS = 3
"""Times that it is mended."""

TELLING = 5e-4
"""Square of the share that light explains, times the change relative to the mean square slope: eight times the most
that was seen under steady light (Dimetrodon, panoramas), a sixth of the least under clouds and torches."""

WHOLE = 0.2
"""What neither explains, relative to the mean square slope, up to which light may be told: the middle of the most that
was seen under clouds and torches, 0.12, and the least of a stereo pair whose blocks look as if they were lit, 0.27."""

EASE = 2.0
"""Both may be as many times worse before the motion of the frame is mended: a torch has 4.9e-4 by then."""

MOST = 0.7
"""Share of the frame's squared slopes whose blocks have to move with it once light is taken off: the middle of the
least under clouds and torches, 0.90, and the most of a stereo pair, 0.5. What is near moves otherwise than what is far,
and what it covers changes, too."""

DARK = 0.01
"""Ridge on light, relative to the mean square of the frame."""


class UnevenLight:
    """What looks for uneven light, with its room.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the frames, without their borders.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = height, width = shape
        self._mean, self._change, self._known = (np.zeros(shape, np.float32) for _ in range(3))
        self._rows = aligned(N_ROWS * STRIDE)
        self._products = np.zeros((height + 2 * BESIDE, width + 2 * BESIDE), np.float32)
        self._mixed = np.zeros(width + 2 * BESIDE, np.float32)
        self._smooth = np.zeros((2, *shape), np.float32)
        self._gain = np.zeros(shape, np.float32)
        self._sums = {side: np.zeros((-(-height // side), -(-width // side), 6, 6)) for side in (BLOCK, PIECE)}

    def look(
        self, before: np.ndarray, after: np.ndarray, splines: np.ndarray, plane: np.ndarray, power: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return how light has changed, where it has unevenly, and how the frame moves; None under even light.

        Parameters
        ----------
        before, after, splines : ndarray, shape (height + 2 PAD, width + 2 PAD)
            Frames with their borders, and the coefficients of the frame after.
        plane : ndarray, shape (2, 3)
            Motion of the frame, about: along x and y at the first pixel, and its slopes along x and y.
        power : float
            Mean square slope of the frames.

        Returns
        -------
        gain : ndarray, shape (height, width)
            What the frame before has to be multiplied by; it is overwritten by the next call.
        plane : ndarray, shape (2, 3)
            Motion of the frame.
        """
        if not power > 0:
            return None
        self._carry(before, after, splines, plane)
        telling, left = self._explained(power)
        plane = plane.copy()
        if left > EASE * WHOLE:  # what the coarser scale says is not how the frame moves: perhaps it rests
            plane[:] = 0
            self._carry(before, after, splines, plane)
            telling, left = self._explained(power)
        if EASE * telling < TELLING or left > EASE * WHOLE:
            return None
        for _ in range(TURNS):
            mend_plane(self._summed(PIECE), PIECE, self.shape, plane)
            self._carry(before, after, splines, plane)
        telling, left = self._explained(power)
        if telling < TELLING or left > WHOLE or share_along(self._sums[BLOCK]) < MOST:
            return None
        ridge = np.float32(DARK * float(np.mean(self._mean**2)))
        find_gain(self._mean, self._change, self._known, ridge, self._products, self._mixed, self._smooth, self._gain)
        return self._gain, plane

    def _carry(self, before: np.ndarray, after: np.ndarray, splines: np.ndarray, plane: np.ndarray) -> None:
        numbers = tuple(np.float32(number) for number in plane.ravel())
        carry_frame(before, after, splines, numbers, self._mean, self._change, self._known, self._rows)

    def _summed(self, side: int) -> np.ndarray:
        """Return the sums over blocks of the frame that was carried."""
        sum_blocks(self._mean, self._change, self._known, side, self._rows, self._sums[side])
        return self._sums[side]

    def _explained(self, power: float) -> tuple[float, float]:
        """Return how telling it is what light explains of the change, and what neither light nor motion explains."""
        change, explained = explained_change(self._summed(BLOCK))
        if not change > 0:
            return 0.0, 0.0
        share, relative = explained / change, change / (max(float(self._known.sum()), 1.0) * power)
        return share * share * relative, (1 - share) * relative
