"""Whether every column tells where its content moves, over full turns in a panorama that was not learned from (C38)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flymotion.circuits.lobula_plate import lobula_plate
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.claims.trained_circuit.flights import DT, Flight

__all__ = ["told", "told_by_difference", "worth_asking"]


def told(circuit: T4T5Circuit, turns: Mapping[str, Flight]) -> dict[str, float]:
    """Return the share of columns whose motion vector, summed over a turn, is less than 90 degrees off, by the axis.

    Of those of :func:`worth_asking`. When the eye yaws, content moves along the horizontal, and the sign of that part
    of the vector decides.
    """
    return {axis: _share_right(turn, _vectors(circuit, turn.movie)) for axis, turn in turns.items()}


def told_by_difference(circuit: T4T5Circuit, turns: Mapping[str, Flight]) -> dict[str, float]:
    """Return the same of the vectors less those of the same turns backwards: what a column always says is taken off."""
    return {
        axis: _share_right(turn, _vectors(circuit, turn.movie) - _vectors(circuit, turn.movie[::-1]))
        for axis, turn in turns.items()
    }


def _vectors(circuit: T4T5Circuit, movie: np.ndarray) -> np.ndarray:
    return np.nanmean(lobula_plate(circuit.transform(movie, dt=DT)).local, axis=0)


def _share_right(turn: Flight, vectors: np.ndarray) -> float:
    return float(np.mean(((vectors * turn.motion[0]).sum(axis=1) > 0)[worth_asking(turn)]))


def worth_asking(flight: Flight) -> np.ndarray:
    """Return which columns see more than the median contrast, and more than the median motion, shape (n_columns,)."""
    contrast = flight.movie.std(axis=0) / flight.movie.mean(axis=0)
    speed = np.linalg.norm(flight.motion[0], axis=1)
    return (contrast > np.median(contrast)) & (speed > np.median(speed))
