"""The gated network's later form, a denoising autoencoder (Memisevic 2011, 2013): each frame is rebuilt from the other.

Mapping units see pixels of both frames, some of them put out, and name the map from one to the other and back.
"""

from __future__ import annotations

import numpy as np

from flymotion.relations import GatedBoltzmann
from flymotion.relations.gated_boltzmann import Gates, _start

PUT_OUT = 0.3
"""Share of the pixels that mapping units do not see."""


class GatedAutoencoder(GatedBoltzmann):
    """The same machine, learning to rebuild both frames; the frame before has no bias of its own."""

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        rng = np.random.default_rng(self.random_state)
        self.scales_, self.onto_ = np.sqrt([(before**2).mean(), (after**2).mean()]), "next"
        x, y = self._visible(before, after)
        gates = _start(x.shape[1], self.n_factors, self.n_components, rng)
        speed = Gates(*map(np.zeros_like, gates))
        for _ in range(self.n_passes):
            order = rng.permutation(len(x))
            for start in range(0, len(x), self.batch_size):
                rows = order[start : start + self.batch_size]
                gates, speed = self._step(gates, speed, rebuilding(gates, x[rows], y[rows], rng))
        self.gates_ = gates


def rebuilding(gates: Gates, x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Gates:
    """Return the gradient of the squared error of both frames rebuilt, its sign that of a step to less error."""
    U, V, W = gates[:3]
    seen, seen_after = (frames * (rng.random(frames.shape) > PUT_OUT) for frames in (x, y))
    X, Y = seen @ U, seen_after @ V
    h = gates.mapping(seen, seen_after)
    H = h @ W
    error, error_after = (Y * H) @ U.T - x, gates.b + (X * H) @ V.T - y
    from_after, from_before = error_after @ V, error @ U
    of_H = from_after * X + from_before * Y
    of_h = of_H @ W.T * h * (1 - h)
    of_product = of_h @ W
    of_X, of_Y = from_after * H + of_product * Y, from_before * H + of_product * X
    descent = Gates(
        seen.T @ of_X + error.T @ (Y * H),
        seen_after.T @ of_Y + error_after.T @ (X * H),
        h.T @ of_H + of_h.T @ (X * Y),
        error_after.sum(axis=0),
        of_h.sum(axis=0),
    )
    return Gates(*(-each / len(x) for each in descent))
