"""Linear filters in space and time, followed by a nonlinearity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from flymotion.detectors.detector import Detector, along
from flymotion.detectors.taps_on_lattices import Taps
from flymotion.detectors.temporal import Chain, Gamma, GammaSlope, HighPass

__all__ = ["linear_nonlinear", "motion_energy"]


def linear_nonlinear(
    weights: Sequence[float] = (1.0, 1.0, -1.0),
    chains: Sequence[Chain] = ((Gamma(0.15),), (GammaSlope(0.15),), (Gamma(0.15),)),
    *,
    first: int = -1,
    nonlinearity: str = "half-wave",
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return a linear-nonlinear unit: filtered inputs, added up, then rectified or squared.

    .. math:: R_i = N\left(\sum_j w_j \, (k_j * x_{i+j})\right)

    Linear summation was found in T4 by Wienecke, Leong & Clandinin (2018) and Gruntman et al. (2018). The weights and
    filters by default are ours, those of :func:`~flymotion.detectors.conductance` made linear: the low-passed signal
    before, plus the slope of the low-passed signal at, less the low-passed signal behind the position. For a grating
    at the angular frequency :math:`\omega`, of contrast c and wavelength L, the sum has the amplitude :math:`c
    |H_{lp}| |\omega \tau + 2 \sin(2 \pi d / L)|`; in the null direction the sign between is minus.

    Parameters
    ----------
    weights : sequence of float
        One a tap, along the preferred direction.
    chains : sequence of tuple of Step
        The filter in time of each tap.
    first : int
        Offset of the first tap [pixel spacings].
    nonlinearity : {"half-wave", "squared"}
        N: the positive part, or the square.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        Not as many weights as filters, or an unknown nonlinearity.

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> movie = moving_edge().movie(Line(9), dt=0.01, spacing=5.0)
    >>> linear_nonlinear()(movie, dt=0.01, direction=[0, 180]).max(axis=(0, 1)).round(2)  # preferred and null direction
    array([0.97, 0.03])
    """
    if len(weights) != len(chains) or not len(weights):
        raise ValueError(f"{len(weights)} weights for {len(chains)} filters; expected one each, and one or more")
    if nonlinearity not in ("half-wave", "squared"):
        raise ValueError(f"nonlinearity is {nonlinearity!r}; expected 'half-wave' or 'squared'")
    taps = [(f"input {j}", first + j, float(weight)) for j, weight in enumerate(weights)]
    return Detector(
        arms={name: chain for (name, _, _), chain in zip(taps, chains, strict=True)},
        displacements=along(first, first + len(taps) - 1),
        combine=partial(_linear_nonlinear, taps=taps, squared=nonlinearity == "squared"),
        spacing=spacing,
        acceptance=acceptance,
        source="linear-nonlinear, after Gruntman, Romani & Reiser 2018",
        name="ln",
    )


def _linear_nonlinear(tap: Taps, *, taps: list[tuple[str, int, float]], squared: bool) -> np.ndarray:
    name, offset, weight = taps[0]
    total = weight * tap(name, offset)
    for name, offset, weight in taps[1:]:
        total += weight * tap(name, offset)
    return total**2 if squared else np.maximum(total, 0)


def motion_energy(
    fast: Chain = (Gamma(0.08), Gamma(0.08), HighPass(0.08), HighPass(0.08, dc=-2.0)),
    slow: Chain = (Gamma(0.08), Gamma(0.08), Gamma(0.08), HighPass(0.08), HighPass(0.08, dc=-2.0)),
    *,
    opponent: bool = True,
    wavelength: float = 6.0,
    width: float = 1.5,
    radius: int = 3,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the motion energy of a quadrature pair (Adelson & Bergen 1985).

    .. math:: R_+ = (e_s + o_f)^2 + (e_f - o_s)^2, \quad R_- = (e_s - o_f)^2 + (e_f + o_s)^2

    and, if opponent, :math:`R_+ - R_- = 4 (e_s o_f - e_f o_s)`; e and o are sums over a row of pixels with the even
    and odd weights of a Gabor function, s and f what the slow and fast filters make of them. For a grating of contrast
    c in the preferred direction with :math:`E = \sum_j w_j \cos(2 \pi j d / L)` and O likewise of sines, the mean is
    :math:`c^2 / 2 \, [(E^2 + O^2)(|S|^2 + |F|^2) - 4 E O \, \Im(S \bar F)]`, and opponent :math:`-4 c^2 E O \, \Im(S
    \bar F)` at every moment; S and F are the filters' :func:`~flymotion.detectors.temporal.transfer`.

    Parameters
    ----------
    fast, slow : tuple of Step
        Linear filters: by default, up to the sign, :math:`(t/\tau)^n e^{-t/\tau} [1/n! - (t/\tau)^2/(n + 2)!]` of the
        paper with n = 3 and 5, as a cascade. The paper's time is a human's; with ours, 80 ms, opponent energy peaks
        near 1 Hz, as T4 does.
    opponent : bool
        Whether the energy of the null direction is subtracted; else responses are never negative.
    wavelength, width : float
        Of the Gabor function and of its Gaussian envelope (standard deviation) [pixel spacings], weights of sum of
        squares 1 together. Choices of ours, for a peak near 30 degrees; the paper takes derivatives of a Gaussian as
        its example.
    radius : int
        Pixels of the row to either side of the position.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        A wavelength or width that is not positive, or a radius below 1.

    Examples
    --------
    >>> from flymotion.stimuli import drifting_grating
    >>> from flymotion.world.eyes import Line
    >>> movie = drifting_grating(duration=4.0).movie(Line(7), dt=0.01, spacing=5.0)
    >>> energy = motion_energy()(movie, dt=0.01)[200:]
    >>> round(float(energy.mean()), 2), round(float(energy.std()), 3)  # the same at every phase of the grating
    (0.16, 0.0)
    """
    if not (wavelength > 0 and width > 0 and radius >= 1):
        raise ValueError(
            f"wavelength, width and radius are {wavelength}, {width} and {radius}; expected the first two positive and "
            "1 pixel or more"
        )
    row = along(-radius, radius)
    gabor = np.exp(-((row[:, 0] / width) ** 2) / 2 + 2j * math.pi * row[:, 0] / wavelength)
    gabor /= np.linalg.norm(gabor)
    return Detector(
        arms={"fast": fast, "slow": slow},
        displacements=row,
        combine=partial(_motion_energy, weights=np.stack([gabor.real, gabor.imag], axis=1), opponent=opponent),
        opponent=opponent,
        spacing=spacing,
        acceptance=acceptance,
        source="Adelson & Bergen 1985",
        name="motion-energy-opponent" if opponent else "motion-energy",
    )


def _motion_energy(tap: Taps, *, weights: np.ndarray, opponent: bool) -> np.ndarray:
    slow, fast = tap.all("slow"), tap.all("fast")
    weights = weights.astype(slow.dtype)
    (e_s, o_s), (e_f, o_f) = (np.moveaxis(signal @ weights, -1, 0) for signal in (slow, fast))
    if opponent:
        return 4 * (e_s * o_f - e_f * o_s)
    return (e_s + o_f) ** 2 + (e_f - o_s) ** 2
