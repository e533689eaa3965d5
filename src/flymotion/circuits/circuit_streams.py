"""A circuit that watches frame by frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.circuits.column_signals import check_light
from flymotion.circuits.competing_columns import respond
from flymotion.frames import unmasked

if TYPE_CHECKING:
    from flymotion.circuits.t4t5 import T4T5Circuit

__all__ = ["CircuitStream"]


class CircuitStream:
    """What a circuit's cells remember of the frames so far. Made by :meth:`T4T5Circuit.stream`; it does not learn.

    Parameters
    ----------
    circuit : T4T5Circuit
        That has learned.
    dt : float
        Time between frames [s].
    """

    def __init__(self, circuit: T4T5Circuit, dt: float) -> None:
        self.dt = dt
        self._patches, self._inputs, self._signals = circuit.patches_, circuit.inputs_, circuit.signals(dt)
        self.cells: list[tuple[np.ndarray, np.ndarray]] = []
        for network, order in zip(circuit.networks_, circuit.order_, strict=True):
            W = np.take_along_axis(network.W, order.T[:, None], axis=0)
            M = np.take_along_axis(np.take_along_axis(network.M, order.T[:, None], 0), order.T[None], 1)
            self.cells.append((W, M))

    def push(self, frame: Any) -> np.ndarray:
        """Answer the next frame.

        Parameters
        ----------
        frame : array-like, shape (n_columns,)
            Luminance, or contrast; NaN where nothing is seen.

        Returns
        -------
        ndarray, shape (n_columns, 8)
            Responses of T4a-d and T5a-d, 0 or more; NaN where a column's inputs are.

        Raises
        ------
        ValueError
            A frame of another shape, or of luminance that is not finite or below 0.
        """
        frame, n = unmasked(frame, "frame", float), len(self._patches.there)
        if frame.shape != (n,):
            raise ValueError(f"the frame has shape {frame.shape}; expected ({n},), a number for each lens")
        check_light("frame", frame, self._signals.contrasts)
        return self.respond(frame[None])[0]

    def respond(self, frames: np.ndarray) -> np.ndarray:
        """Answer the next frames, shape (n_frames, n_columns); returns shape (n_frames, n_columns, 8)."""
        change, intensity, seen = self._signals.push(frames)
        responses = np.empty((*frames.shape, 8))
        for k, (W, M) in enumerate(self.cells):
            chi = self._inputs[k](change[k], self._patches.gather(intensity[k]))
            theta = respond(np.stack([np.einsum("in,i...n->...n", w, chi) for w in W]), M)
            responses[..., 4 * k : 4 * k + 4] = np.moveaxis(theta, 0, -1)
        if not seen.all():
            responses[~self._patches.known(seen)] = np.nan
        return responses
