"""Membranes: synapses open conductances, and the voltage they agree on is the response."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from flymotion.detectors.detector import Detector, along
from flymotion.detectors.taps_on_lattices import Taps
from flymotion.detectors.temporal import Chain, Gamma, GammaSlope, LowPass, Rectify

__all__ = ["conductance", "gruntman"]

FRAME = 1 / 240
"""Interval at which Zavatone-Veth et al. scale their filters [s]."""

PATHWAYS = {
    "T4": {"signs": (-1, 1, 1), "reversals": (-30.0, 60.0, -30.0), "gains": (0.3, 0.1, 0.3)},
    "T5": {"signs": (-1, -1, -1), "reversals": (60.0, 60.0, -30.0), "gains": (0.1, 0.1, 0.3)},
}
"""Polarity, reversal potential above rest [mV] and gain of the inputs that preferred motion meets first, second and
last: Mi9, Mi1 and Mi4 of T4; Tm9, Tm1 and CT1 of T5."""


def conductance(
    pathway: str = "T4",
    low_pass: Chain = (Gamma(0.15, unit_energy=FRAME),),
    high_pass: Chain = (GammaSlope(0.15, unit_energy=FRAME),),
    *,
    gains: tuple[float, float, float] | None = None,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the minimal synaptic model of T4 (Zavatone-Veth, Badwan & Clark 2020), or one of T5 made like it.

    .. math:: V_i = \frac{\sum_k E_k g_k}{1 + \sum_k g_k}, \quad R_i = ([V_i]^+)^2

    with the conductances, relative to the leak's, :math:`g_1 = 0.3 [-r_{i-1}]^+` (Mi9, OFF, inhibitory), :math:`g_2 =
    0.1 [s_i]^+` (Mi1, ON, excitatory) and :math:`g_3 = 0.3 [r_{i+1}]^+` (Mi4, ON, inhibitory), the reversal potentials
    :math:`E = (-30, 60, -30)` mV above rest, and low-passed signals r and high-passed signals s. R stands for calcium.

    Parameters
    ----------
    pathway : {"T4", "T5"}
        T5 is not of the paper: by its logic, from T5's anatomy, all three inputs are OFF cells, and the first excites:
        :math:`g_1 = 0.1 [-r_{i-1}]^+` (Tm9), :math:`g_2 = 0.1 [-s_i]^+` (Tm1), :math:`g_3 = 0.3 [-r_{i+1}]^+` (CT1), E
        = (60, 60, -30) mV. With T4's gain of 0.3 Tm9 alone would drive the cell, whatever the direction; ours is that
        of Tm1.
    low_pass, high_pass : tuple of Step
        Make r and s: :math:`t e^{-t / 150 ms}` and its slope, of unit energy when sampled at 240 Hz.
    gains : tuple of float, optional
        Of the first, second and third input [1/contrast]; by default as above.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        Unknown pathway.

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> movie = moving_edge().movie(Line(9), dt=0.01, spacing=5.0)
    >>> conductance()(movie, dt=0.01, direction=[0, 180]).max(axis=(0, 1)).round(1)  # squared mV: null motion shunts
    array([215.,   0.])
    """
    if pathway not in PATHWAYS:
        raise ValueError(f"pathway is {pathway!r}; expected 'T4' or 'T5'")
    usual = PATHWAYS[pathway]
    first, second, third = (Rectify(sign) for sign in usual["signs"])
    return Detector(
        arms={"first": (*low_pass, first), "second": (*high_pass, second), "third": (*low_pass, third)},
        displacements=along(-1, 1),
        combine=partial(_conductance, gains=usual["gains"] if gains is None else gains, reversals=usual["reversals"]),
        spacing=spacing,
        acceptance=acceptance,
        source="Zavatone-Veth, Badwan & Clark 2020" + (", adapted" if pathway == "T5" else ""),
        unit="mV^2",
        name=f"conductance-{pathway.lower()}",
    )


def _conductance(tap: Taps, *, gains: tuple[float, ...], reversals: tuple[float, ...]) -> np.ndarray:
    inputs = (tap("first", -1), tap("second", 0), tap("third", 1))
    conductances = [gain * signal for gain, signal in zip(gains, inputs, strict=True)]
    driven = sum(reversal * g for reversal, g in zip(reversals, conductances, strict=True))
    return np.maximum(driven / (1 + sum(conductances)), 0) ** 2


def gruntman(
    excitatory: Chain = (LowPass(0.03),),
    inhibitory: Chain = (LowPass(0.1),),
    *,
    displacement: float = 1.0,
    width: float = 0.8,
    gains: tuple[float, float] = (0.5, 2.0),
    reversals: tuple[float, float] = (65.0, -10.0),
    radius: int = 2,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the T4 model of fast excitation and slow, displaced inhibition (Gruntman, Romani & Reiser 2018).

    .. math:: V - V_L = (V_E - V_L) \frac{E - a I}{1 + E + I}, \quad a = -\frac{V_I - V_L}{V_E - V_L}

    where E and I are the ON signals, each filtered in time and added up over a row of pixels with Gaussian weights of
    sum 1: E's about the position, I's on the trailing side, that is, towards the end of motion in the preferred
    direction. A bar or an edge in the preferred direction excites before it inhibits, and the voltage peaks higher
    than in the null direction. The mean voltage, nearly linear, hardly differs: compare peaks, as the paper does.

    Parameters
    ----------
    excitatory, inhibitory : tuple of Step
        Filters of the rectified signal. This and all numbers below are choices of ours; the paper fits them to each
        cell.
    displacement : float
        Of the middle of I from that of E, along the preferred direction [pixel spacings].
    width : float
        Standard deviation of both [pixel spacings].
    gains : tuple of float
        Of E and I [conductance of the leak per contrast].
    reversals : tuple of float
        Of excitation and inhibition, above the leak's [mV].
    radius : int
        Pixels of the row to either side of the position; one more on the trailing side for each spacing begun of the
        displacement.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        A width that is not positive, or a displacement or radius below 0.

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> movie = moving_edge().movie(Line(15), dt=0.01, spacing=5.0)
    >>> gruntman()(movie, dt=0.01, direction=[0, 180]).max(axis=(0, 1)).round(1)  # peaks [mV], preferred and null
    array([10.9,  3.6])
    """
    if not (width > 0 and displacement >= 0 and radius >= 0):
        raise ValueError(
            f"width, displacement and radius are {width}, {displacement} and {radius}; expected a width above 0, and "
            "the others not below 0"
        )
    row = along(-radius, radius + math.ceil(displacement))
    excited, inhibited = (_gaussian(row[:, 0] - middle, width) for middle in (0.0, displacement))
    return Detector(
        arms={"excitatory": (Rectify(1), *excitatory), "inhibitory": (Rectify(1), *inhibitory)},
        displacements=row,
        combine=partial(_gruntman, weights=(gains[0] * excited, gains[1] * inhibited), reversals=reversals),
        spacing=spacing,
        acceptance=acceptance,
        source="Gruntman, Romani & Reiser 2018",
        unit="mV",
        name="gruntman",
    )


def _gaussian(x: np.ndarray, width: float) -> np.ndarray:
    weights = np.exp(-((x / width) ** 2) / 2)
    return weights / weights.sum()


def _gruntman(tap: Taps, *, weights: tuple[np.ndarray, np.ndarray], reversals: tuple[float, float]) -> np.ndarray:
    inputs = (tap.all("excitatory"), tap.all("inhibitory"))
    excited, inhibited = (signal @ row.astype(signal.dtype) for signal, row in zip(inputs, weights, strict=True))
    return (reversals[0] * excited + reversals[1] * inhibited) / (1 + excited + inhibited)
