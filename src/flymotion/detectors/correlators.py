"""Correlators: detectors whose response is a product of signals, summed.

In all, f is the delayed signal of a photoreceptor and g the fast one, and the preferred direction leads from i - 1 over
i to i + 1. Summed over a ring of photoreceptors, :func:`three_pixel`, :func:`hassenstein_reichardt` and
:func:`shared_non_delay` of the same filters are equal (Suppl. E); at a single position they are not.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from flymotion.detectors.base import Detector, Taps, along
from flymotion.temporal import Chain, Gamma, GammaSlope, LowPass, Rectify, Step

__all__ = ["hassenstein_reichardt", "shared_non_delay", "three_pixel"]


def three_pixel(delayed: Step = LowPass(0.15), *, spacing: float = 5.0, acceptance: float = 5.7) -> Detector:
    r"""Return the paper's three-pixel ("cartoon") detector (Fig. 2b, Suppl. E).

    .. math:: R_i = (g_i - f_i)(g_{i-1} - g_{i+1})

    the change of the central pixel times the difference of its neighbours, with the sign of content that moves.

    Parameters
    ----------
    delayed : Step
        Makes f of the photoreceptor's signal, g: a :class:`~flymotion.temporal.Delay` in the paper, which names no
        time; here by default the low-pass of :func:`hassenstein_reichardt`, which suits every frame rate.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].
    """
    return Detector(
        arms={"fast": (), "delayed": (delayed,)},
        displacements=along(-1, 1),
        combine=_three_pixel,
        opponent=True,
        spacing=spacing,
        acceptance=acceptance,
        source="Bahroun, Sengupta & Chklovskii 2019",
    )


def _three_pixel(tap: Taps) -> np.ndarray:
    return (tap("fast") - tap("delayed")) * (tap("fast", -1) - tap("fast", 1))


def hassenstein_reichardt(
    delayed: Step = LowPass(0.15),
    fast: Chain = (),
    *,
    quadrants: str | None = None,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the Hassenstein-Reichardt detector.

    .. math:: R_i = f_i g_{i+1} - g_i f_{i+1}

    For a grating of wavelength L and contrast c, at a spacing d, its mean is :math:`c^2 |A| |B| \sin(2 \pi d / L)
    \sin(\varphi_B - \varphi_A)`, with the gains and phases A and B of f and g; with one first-order low-pass it is largest
    at :math:`1 / (2 \pi \tau)`, 1.06 Hz for 150 ms, and it inverts for L < 2 d.

    Parameters
    ----------
    delayed : Step
        Makes f: a low-pass, or a :class:`~flymotion.temporal.Delay`.
    fast : tuple of Step
        Makes g, e.g. ``(HighPass(0.25),)``; by default g is the photoreceptor's signal.
    quadrants : {"same", "on", "off"}, optional
        Split both arms into ON and OFF parts before the delay, and multiply only those of the same polarity, or only
        one polarity (Eichner et al. 2011); by default the arms are multiplied as they are.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        Unknown quadrants.
    """
    if quadrants not in (None, "same", "on", "off"):
        raise ValueError(f"quadrants is {quadrants!r}; expected 'same', 'on', 'off' or None")
    polarities = {None: ("",), "same": ("on ", "off "), "on": ("on ",), "off": ("off ",)}[quadrants]
    split: dict[str, Chain] = {"": (), "on ": (Rectify(1),), "off ": (Rectify(-1),)}
    arms = {f"{p}delayed": (*split[p], delayed) for p in polarities} | {
        f"{p}fast": (*fast, *split[p]) for p in polarities
    }
    return Detector(
        arms=arms,
        displacements=along(0, 1),
        combine=partial(_hassenstein_reichardt, polarities=polarities),
        opponent=True,
        spacing=spacing,
        acceptance=acceptance,
        source="Hassenstein & Reichardt 1956" if quadrants is None else "Eichner et al. 2011",
    )


def _hassenstein_reichardt(tap: Taps, *, polarities: tuple[str, ...]) -> np.ndarray:
    products = [
        tap(f"{p}delayed", 0) * tap(f"{p}fast", 1) - tap(f"{p}fast", 0) * tap(f"{p}delayed", 1) for p in polarities
    ]
    return products[0] if len(products) == 1 else products[0] + products[1]


def shared_non_delay(
    delayed: Chain = (Gamma(0.02),),
    fast: Chain = (GammaSlope(0.02),),
    *,
    spacing: float = 5.1,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the shared non-delay line detector (Salazar-Gatzimas et al. 2018).

    .. math:: R_i = g_i (f_{i-1} - f_{i+1})

    Parameters
    ----------
    delayed, fast : tuple of Step
        Make f and g: :math:`t e^{-t / 20 ms}` and its derivative in the paper.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].
    """
    return Detector(
        arms={"delayed": delayed, "fast": fast},
        displacements=along(-1, 1),
        combine=_shared_non_delay,
        opponent=True,
        spacing=spacing,
        acceptance=acceptance,
        source="Salazar-Gatzimas, Agrochao, Fitzgerald & Clark 2018",
    )


def _shared_non_delay(tap: Taps) -> np.ndarray:
    return tap("fast") * (tap("delayed", -1) - tap("delayed", 1))
