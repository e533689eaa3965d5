"""An eye whose every pixel is there twice, as after :class:`flymotion.photoreceptors.OnOff`: ON and OFF channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.models.packing import Given, Packed, packed
from flymotion.world.eyes import Eye

__all__ = ["CHANNELS", "TwoChannels"]

CHANNELS = ("ON", "OFF")
"""Channels, in the order of the pixels: all of the first, then all of the second."""


@dataclass(frozen=True)
class TwoChannels:
    """The ON and the OFF parts of what an eye sees: its pixels twice, at the same places through the same optics.

    Frames are flat, the ON parts of all pixels first. Content moves over each channel on its own, so that only pixels
    of one channel are neighbours; derivatives, directions and flow follow from that.

    Parameters
    ----------
    eye : Eye
        Whose pixels they are.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> seen = TwoChannels(Line(3))
    >>> seen.shape, seen.positions[:, 0].tolist(), seen.neighbours.tolist()
    ((6,), [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0], [[0, 1], [1, 2], [3, 4], [4, 5]])
    """

    eye: Eye

    __repr__ = in_brief

    @property
    def sigma(self) -> float:
        """Standard deviation of the acceptance function [pixel spacings, or deg on the sphere]."""
        return self.eye.sigma

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame, ``(n_pixels,)``: twice as many as the eye has."""
        return (2 * len(self.eye.positions),)

    @property
    def positions(self) -> np.ndarray:
        """Viewing positions of the ON parts, then of the OFF parts, shape (n_pixels, ndim)."""
        return np.concatenate([self.eye.positions] * 2)

    @property
    def neighbours(self) -> np.ndarray:
        """Pairs of pixels of one channel next to each other, the smaller index first, shape (n_links, 2)."""
        links = self.eye.neighbours
        return np.concatenate([links, links + len(self.eye.positions)])

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the eye of again."""
        return packed({"kind": type(self).__name__}, eye=self.eye)

    @classmethod
    def unpack(cls, given: Given) -> Any:
        """Return the eye that was packed.

        Raises
        ------
        ValueError
            What is no eye.
        """
        from flymotion.world.kinds_of_eyes import unpack_eye  # which lists this one, too

        return cls(unpack_eye(given.part("eye")))
