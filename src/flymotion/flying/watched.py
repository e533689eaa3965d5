"""What a fly has watched: the light that each lens received, and what T4 and T5 of its column answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.circuits.subtypes import SUBTYPES, preferred_in
from flymotion.video import Frame

__all__ = ["Watched", "watch"]


class Watched(NamedTuple):
    """Frames, and the answers to them.

    Attributes
    ----------
    eye : Eye
        That watched.
    times : ndarray, shape (n_frames,)
        [s].
    light : ndarray, shape (n_frames, n_columns)
        Luminance, NaN where a lens sees nothing of the picture.
    responses : ndarray, shape (n_frames, n_columns, 8)
        Of :data:`flymotion.circuits.SUBTYPES`, NaN where a column has no input.

    Examples
    --------
    >>> from flymotion import Hexagon
    >>> t4a_alone = np.tile(np.eye(8)[0], (2, 7, 1))  # answers, in two frames of seven columns
    >>> watched = Watched(Hexagon(1), np.array([0.0, 0.01]), np.full((2, 7), 0.5), t4a_alone)
    >>> watched.motion("T4")[0, 0].round(6) + 0.0  # (right, up): front to back is to the left, as the left eye sees it
    array([-1.,  0.])
    """

    eye: Any
    times: np.ndarray
    light: np.ndarray
    responses: np.ndarray

    def __repr__(self) -> str:
        return in_brief(self)

    def motion(self, kind: str) -> np.ndarray:
        """Return the sum of the four directions of ``"T4"`` or ``"T5"``, as vectors (right, up) as the eye sees them.

        Returns
        -------
        ndarray, shape (n_frames, n_columns, 2)

        Raises
        ------
        ValueError
            Another kind of cell.
        """
        if kind not in ("T4", "T5"):
            raise ValueError(f"the kind is {kind!r}; expected T4 or T5")
        ours = [k for k, cell in enumerate(SUBTYPES) if cell.startswith(kind)]
        angles = np.radians(preferred_in(self.eye))
        ways = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        return np.einsum("tck,ckx->tcx", self.responses[..., ours], ways)


def watch(
    circuit: Any, frames: Iterable[Frame], *, dt: float, progress: Callable[[int], None] | None = None
) -> Watched:
    """Show frames to a trained circuit, one at a time; a cut begins anew.

    Parameters
    ----------
    circuit : T4T5Circuit
        Trained, of the eye that the frames are of.
    frames : iterable of Frame
        The light that each lens receives, shape (n_columns,), and when [s].
    dt : float
        Time between frames [s].
    progress : callable, optional
        Told the number of frames so far.

    Raises
    ------
    ValueError
        No frames.

    Examples
    --------
    >>> from flymotion import Hexagon, T4T5Circuit
    >>> from flymotion.circuits.schooling import schooling
    >>> from flymotion.video import Frame
    >>> from flymotion.world.scenes import SmoothNoise
    >>> eye, noise = Hexagon(1), SmoothNoise(2.0, ndim=2, period=50.0, random_state=0)
    >>> circuit = T4T5Circuit(eye, contrasts=True, random_state=0)
    >>> circuit = circuit.fit(schooling(eye, n_clips=2, duration=4.0, scenes=[noise], random_state=0))
    >>> watched = watch(circuit, [Frame(np.zeros(7), 0.01 * k, k == 0) for k in range(3)], dt=0.01)
    >>> watched.responses.shape
    (3, 7, 8)
    """
    stream = circuit.stream(dt=dt)
    times: list[float] = []
    light, responses = [], []
    for frame in frames:
        if frame.cut and times:
            stream = circuit.stream(dt=dt)
        times.append(dt * len(times) if math.isnan(frame.time) else frame.time)
        light.append(np.asarray(frame.image, dtype=np.float32))
        responses.append(np.asarray(stream.push(frame.image), dtype=np.float32))
        if progress is not None:
            progress(len(times))
    if not times:
        raise ValueError("there are no frames to watch; expected one or more")
    return Watched(circuit.eye, np.array(times), np.stack(light), np.stack(responses))
