"""Whether every column tells where its content moves, over full turns in a panorama that was not learned from (C38)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from flymotion.circuits.lobula_plate import lobula_plate
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.claims.trained_circuit.flights import DT, Flight

__all__ = ["told", "told_by_difference", "worth_asking"]


def told(circuit: T4T5Circuit, turns: Mapping[str, Sequence[Flight]]) -> dict[str, float]:
    """Return the share of columns whose motion vector, summed over a turn, is less than 90 degrees off, by the axis.

    Of those of :func:`worth_asking` in any of the turns. When the eye yaws, content moves along the horizontal, and the
    sign of that part of the vector decides.
    """
    return {axis: _share_right(turned, [_vectors(circuit, f.movie) for f in turned]) for axis, turned in turns.items()}


def told_by_difference(circuit: T4T5Circuit, turns: Mapping[str, Sequence[Flight]]) -> dict[str, float]:
    """Return the same of the vectors less those of the same turns backwards: what a column always says is taken off."""
    return {
        axis: _share_right(turned, [_vectors(circuit, f.movie) - _vectors(circuit, f.movie[::-1]) for f in turned])
        for axis, turned in turns.items()
    }


def _vectors(circuit: T4T5Circuit, movie: np.ndarray) -> np.ndarray:
    return np.nanmean(lobula_plate(circuit.transform(movie, dt=DT)).local, axis=0)


def _share_right(turned: Sequence[Flight], vectors: Sequence[np.ndarray]) -> float:
    each = zip(turned, vectors, strict=True)
    right = [((v * flight.motion[0]).sum(axis=1) > 0)[worth_asking(flight)] for flight, v in each]
    return float(np.mean(np.concatenate(right)))


def worth_asking(flight: Flight) -> np.ndarray:
    """Return which columns see more than the median contrast, and more than the median motion, shape (n_columns,)."""
    contrast = flight.movie.std(axis=0) / flight.movie.mean(axis=0)
    speed = np.linalg.norm(flight.motion[0], axis=1)
    return (contrast > np.median(contrast)) & (speed > np.median(speed))
