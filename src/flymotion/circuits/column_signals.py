"""What the columns of an eye hand on: the change at each, and its intensity, as T4 and as T5 see them.

Luminance is adapted to by the whole eye: contrast is luminance relative to its mean over the columns that see,
low-passed in time, less 1. Each cell filters its column's contrast in time, and with its surround, where that is asked
for.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from flymotion.circuits.input_neurons import INPUTS, PATHWAYS, InputNeuron
from flymotion.detectors.temporal import Chain, HighPass, LowPass, filtered, start
from flymotion.world.eyes import Eye, acceptance_sigma
from flymotion.world.lattices import half_of

__all__ = ["ADAPTATION", "SPACING", "ColumnSignals", "Signals", "check_light", "receptive_field"]

ADAPTATION = 0.5
"""Time constant of the adaptation to light; assumed [s]."""

SPACING = 5.0
"""Between the pixels of a flat eye [deg]."""

REACH = 2.5
"""Standard deviations up to which surrounds are summed."""


class Signals(NamedTuple):
    """What T4 (first) and T5 (second) see of some frames.

    Attributes
    ----------
    change : ndarray, shape (2, n_frames, n_columns)
        Changes of the polarity that the cells answer, 0 or more.
    intensity : ndarray, shape (2, n_frames, n_columns)
        Contrast, low-passed; bright is positive for both.
    seen : ndarray of bool, shape (n_frames, n_columns)
        Where there was anything.
    """

    change: np.ndarray
    intensity: np.ndarray
    seen: np.ndarray


class ColumnSignals:
    """Early vision of all columns of an eye, frame by frame: any split of a movie gives the same signals.

    Before the first frame the eye saw that frame for ever.

    Parameters
    ----------
    eye : Eye
        Whose columns.
    dt : float
        Time between frames [s].
    contrasts : bool
        Whether frames are contrasts already, so that nothing is adapted to.
    surrounds : bool
        Whether cells have the surrounds that were published.
    """

    def __init__(self, eye: Eye, dt: float, *, contrasts: bool = False, surrounds: bool = False) -> None:
        self.dt, self.contrasts = dt, contrasts
        names = {name for pathway in PATHWAYS.values() for name in (*pathway.change, *pathway.intensity)}
        self._fields = {name: receptive_field(INPUTS[name], eye) for name in names} if surrounds else {}
        self._states: dict[Any, Any] = {}
        steps = {LowPass(ADAPTATION), *(step for name in names for step in INPUTS[name].chain)}
        self._coefficients = {step: step.coefficients(dt) for step in steps if isinstance(step, LowPass | HighPass)}

    def push(self, frames: np.ndarray) -> Signals:
        """Return what T4 and T5 see of the next frames, shape (n_frames, n_columns), NaN where nothing is seen."""
        seen = np.isfinite(frames)
        contrast = np.where(seen, frames if self.contrasts else self._contrast(frames, seen), 0.0)
        cells: dict[Any, np.ndarray] = {}
        change, intensity = [], []
        for pathway in PATHWAYS.values():
            change.append(np.maximum(pathway.polarity * self._mixed(pathway.change, contrast, cells), 0))
            intensity.append(self._mixed(pathway.intensity, contrast, cells))
        return Signals(np.array(change), np.array(intensity), seen)

    def _contrast(self, frames: np.ndarray, seen: np.ndarray) -> np.ndarray:
        n_seen = seen.sum(axis=1, keepdims=True)
        mean = np.where(seen, frames, 0.0).sum(axis=1, keepdims=True) / np.maximum(n_seen, 1)
        level = self._through((LowPass(ADAPTATION),), mean, "level")
        return np.divide(frames, level, out=np.ones_like(frames), where=level > 0) - 1

    def _mixed(self, shares: dict[str, float], contrast: np.ndarray, cells: dict[Any, np.ndarray]) -> np.ndarray:
        """Return what several cells carry together; cells that do alike are computed once."""
        total = np.zeros_like(contrast)
        for name, share in shares.items():
            neuron = INPUTS[name]
            key = (neuron.chain, neuron.centre, neuron.surround) if self._fields else neuron.chain
            if key not in cells:
                seen = contrast @ self._fields[name].T if self._fields else contrast
                cells[key] = self._through(neuron.chain, seen, key)
            total += share * cells[key]
        return total

    def _through(self, chain: Chain, signals: np.ndarray, key: Any) -> np.ndarray:
        for k, step in enumerate(chain):
            if (key, k) not in self._states and len(signals):
                self._states[key, k] = start(step, signals[0], self.dt)[0]
            if len(signals) == 1 and isinstance(step, LowPass | HighPass):
                signals = self._next(step, signals, self._states[key, k])
            elif len(signals):
                signals, self._states[key, k] = filtered(step, signals, self._states[key, k], self.dt)
        return signals

    def _next(self, step: LowPass | HighPass, frame: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Filter one frame, as ``filtered`` does in twenty times the time; ``state``, shape (1, n), goes on."""
        (b0, b1), (_, a1) = self._coefficients[step]
        out = b0 * frame + state
        state[...] = b1 * frame - a1 * out
        return out


def receptive_field(neuron: InputNeuron, eye: Eye) -> csr_array:
    """Return how a cell weighs the columns about its own, shape (n_columns, n_columns).

    A centre of sum 1 and a surround of as much as its size and strength make it; both are what lenses leave to do, so
    that the eye's own optics are taken off them.
    """
    from scipy.spatial import cKDTree

    places, spacing, optics = _in_degrees(eye)
    widths = [math.sqrt(max(acceptance_sigma(fwhm) ** 2 - optics**2, 0.0)) for fwhm in (neuron.centre, neuron.surround)]
    reach = REACH * max(*widths, spacing / 2)
    pairs = cKDTree(places).query_pairs(reach, output_type="ndarray")
    half = half_of(eye)
    pairs = pairs[half[pairs[:, 0]] == half[pairs[:, 1]]]
    i, j = np.concatenate([pairs, pairs[:, ::-1], np.tile(np.arange(len(places))[:, None], 2)]).T
    distance = np.linalg.norm(places[i] - places[j], axis=1)
    ratio = neuron.strength * (neuron.surround / neuron.centre) ** 2
    weights = 0.0
    for width, share in zip(widths, (1.0, -ratio), strict=True):
        gauss = np.exp(-((distance / max(width, 1e-3)) ** 2) / 2)
        weights = weights + share * gauss / np.bincount(i, gauss)[i]
    return csr_array((weights, (i, j)), shape=(len(places),) * 2)


def _in_degrees(eye: Eye) -> tuple[np.ndarray, float, float]:
    """Return places, a spacing and the width of the optics, all in degrees."""
    places = np.asarray(eye.positions, dtype=float)
    if places.shape[1] == 3:
        return np.degrees(places), SPACING, float(np.median(eye.sigma))
    return SPACING * places, SPACING, SPACING * float(eye.sigma)


def check_light(name: str, light: np.ndarray, contrasts: bool) -> None:
    """Check that luminance is finite and 0 or more, or contrasts finite; NaN is where nothing is seen.

    Raises
    ------
    ValueError
        Any that is not.
    """
    if np.isinf(light).any() or (not contrasts and (light < 0).any()):
        raise ValueError(
            f"the {name} has values from {np.nanmin(light):g} to {np.nanmax(light):g}; expected luminance, finite and "
            "0 or more, or contrasts=True"
        )
