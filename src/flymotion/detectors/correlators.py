"""Correlators: detectors whose response is a product of signals, summed; and one that normalises the sum.

In all, f is the delayed signal of a photoreceptor and g the fast one, and the preferred direction leads from i - 1 over
i to i + 1. Summed over a ring of photoreceptors, :func:`three_pixel`, :func:`hassenstein_reichardt` and
:func:`shared_non_delay` of the same filters are equal (Suppl. E); at a single position they are not.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from flymotion.detectors.detector import Detector, along
from flymotion.detectors.taps_on_lattices import Taps
from flymotion.detectors.temporal import Chain, Delay, Gamma, GammaSlope, LowPass, Rectify, Step

__all__ = [
    "hassenstein_reichardt",
    "ridge_velocity",
    "shared_non_delay",
    "shared_non_delay_t4",
    "shared_non_delay_t5",
    "three_pixel",
]


def three_pixel(delayed: Step = LowPass(0.15), *, spacing: float = 5.0, acceptance: float = 5.7) -> Detector:
    r"""Return the paper's three-pixel ("cartoon") detector (Fig. 2b, Suppl. E).

    .. math:: R_i = (g_i - f_i)(g_{i-1} - g_{i+1})

    the change of the central pixel times the difference of its neighbours, with the sign of content that moves.

    Parameters
    ----------
    delayed : Step
        Makes f of the photoreceptor's signal, g: a :class:`~flymotion.detectors.temporal.Delay` in the paper, which
        names no time; here by default the low-pass of :func:`hassenstein_reichardt`, which suits every frame rate.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> movie = moving_edge(contrast=-1.0).movie(Line(9), dt=0.01, spacing=5.0)  # an OFF edge to the right
    >>> three_pixel()(movie, dt=0.01, direction=[0, 180]).sum(axis=(0, 1)).round(1)  # of detectors for right and left
    array([ 58.8, -58.8])
    """
    return Detector(
        arms={"fast": (), "delayed": (delayed,)},
        displacements=along(-1, 1),
        combine=_three_pixel,
        opponent=True,
        spacing=spacing,
        acceptance=acceptance,
        source="Bahroun, Sengupta & Chklovskii 2019",
        name="three-pixel",
    )


def _three_pixel(tap: Taps) -> np.ndarray:
    return (tap("fast") - tap("delayed")) * (tap("fast", -1) - tap("fast", 1))  # Eqs. 33, 34, of content


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
    \sin(\varphi_B - \varphi_A)`, with the gains and phases A and B of f and g; with one first-order low-pass it is
    largest at :math:`1 / (2 \pi \tau)`, 1.06 Hz for 150 ms, and it inverts for L < 2 d.

    Parameters
    ----------
    delayed : Step
        Makes f: a low-pass, or a :class:`~flymotion.detectors.temporal.Delay`.
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

    Examples
    --------
    >>> from flymotion.stimuli import drifting_grating
    >>> from flymotion.world.eyes import Line
    >>> for wavelength in (30.0, 8.0):  # both to the right, but for L < 2 d that looks like motion to the left
    ...     grating = drifting_grating(wavelength=wavelength, duration=3.0)
    ...     movie = grating.movie(Line(12, sigma=0.0), dt=0.01, spacing=5.0)
    ...     print(round(float(hassenstein_reichardt()(movie, dt=0.01)[100:].mean()), 2))
    0.1
    -0.09
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
        name={None: "hrd", "same": "hrd-quadrants", "on": "hrd-on", "off": "hrd-off"}[quadrants],
    )


def _hassenstein_reichardt(tap: Taps, *, polarities: tuple[str, ...]) -> np.ndarray:
    products = [  # HR of Eq. 35, of content: negative
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

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> movie = moving_edge(direction=180.0).movie(Line(9), dt=0.01, spacing=5.0)
    >>> shared_non_delay()(movie, dt=0.01, direction=[0, 180]).sum(axis=(0, 1)).round(1)  # an edge to the left
    array([-53.,  53.])
    """
    return Detector(
        arms={"delayed": delayed, "fast": fast},
        displacements=along(-1, 1),
        combine=_shared_non_delay,
        opponent=True,
        spacing=spacing,
        acceptance=acceptance,
        source="Salazar-Gatzimas, Agrochao, Fitzgerald & Clark 2018",
        name="shared-non-delay",
    )


def _shared_non_delay(tap: Taps) -> np.ndarray:
    return tap("fast") * (tap("delayed", -1) - tap("delayed", 1))


def shared_non_delay_t4(
    delayed: Chain = (Gamma(0.02),),
    fast: Chain = (GammaSlope(0.02),),
    *,
    spacing: float = 5.1,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the half-wave form of :func:`shared_non_delay` for T4 (Salazar-Gatzimas et al. 2018).

    .. math:: R_i = f^+_{i-1} g^+_i - g^+_i f^-_{i+1}

    with :math:`x = x^+ + x^-`: the negative part is negative, and both terms are positive. Of the four products of the
    whole detector whose g is positive they are the two that motion in the preferred direction makes large; the other
    two are T4's of the opposite direction. So T4 and T5, each less the same turned by 180 degrees, add up to the whole
    detector at every position.

    Parameters
    ----------
    delayed, fast : tuple of Step
        Make f and g, as of :func:`shared_non_delay`.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> on, off = (moving_edge(contrast=c).movie(Line(9), dt=0.01, spacing=5.0) for c in (1.0, -1.0))
    >>> [round(float(shared_non_delay_t4()(edge, dt=0.01).max()), 2) for edge in (on, off)]  # T4 sees ON
    [0.33, 0.0]
    """
    return _half_shared_non_delay(1, delayed, fast, spacing, acceptance)


def shared_non_delay_t5(
    delayed: Chain = (Gamma(0.02),),
    fast: Chain = (GammaSlope(0.02),),
    *,
    spacing: float = 5.1,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the half-wave form of :func:`shared_non_delay` for T5 (Salazar-Gatzimas et al. 2018).

    .. math:: R_i = f^-_{i-1} g^-_i - g^-_i f^+_{i+1}

    :func:`shared_non_delay_t4` with the opposite polarity of g; which two of the products with negative g belong to the
    preferred direction then follows, and T5's response is T4's to inverted contrast.

    Parameters
    ----------
    delayed, fast : tuple of Step
        Make f and g, as of :func:`shared_non_delay`.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> on, off = (moving_edge(contrast=c).movie(Line(9), dt=0.01, spacing=5.0) for c in (1.0, -1.0))
    >>> [round(float(shared_non_delay_t5()(edge, dt=0.01).max()), 2) for edge in (on, off)]  # T5 sees OFF
    [0.0, 0.33]
    """
    return _half_shared_non_delay(-1, delayed, fast, spacing, acceptance)


def _half_shared_non_delay(sign: int, delayed: Chain, fast: Chain, spacing: float, acceptance: float) -> Detector:
    return Detector(
        arms={
            "fast": (*fast, Rectify(sign)),
            "same": (*delayed, Rectify(sign)),
            "opposite": (*delayed, Rectify(-sign)),
        },
        displacements=along(-1, 1),
        combine=_half_of_shared_non_delay,
        spacing=spacing,
        acceptance=acceptance,
        source="Salazar-Gatzimas, Agrochao, Fitzgerald & Clark 2018",
        name=f"shared-non-delay-{'t4' if sign > 0 else 't5'}",
    )


def _half_of_shared_non_delay(tap: Taps) -> np.ndarray:
    return tap("fast") * (tap("same", -1) + tap("opposite", 1))


def ridge_velocity(
    delayed: LowPass | Delay = LowPass(0.15),
    *,
    ridge: float = 0.01,
    radius: int = 1,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the ridge regression of the change in time on the slope in space (Suppl. C), a velocity [deg/s].

    .. math:: \theta_i = - d \frac{\sum_j \Delta_t x_j \Delta_i x_j}{\sum_j (\Delta_i x_j)^2 + \lambda}, \quad
        \Delta_t x = \frac{g - f}{\tau}, \quad \Delta_i x_j = \frac{f_{j+1} - f_{j-1}}{2}

    over a window of pixels j about i, with the minus sign that the paper's minimum has and its printed form lacks; d
    is the spacing. Where f is a low-pass its slope in time is :math:`\Delta_t x`, so that for content that moves
    steadily and varies slowly from pixel to pixel the velocity is right at every speed; with a delay it is, while the
    content moves by much less than a wavelength meanwhile. A ridge far above the sum of squares leaves the plain
    correlation, :math:`-d \sum_j \Delta_t x_j \Delta_i x_j / \lambda`, the model of Fig. 2b.

    Parameters
    ----------
    delayed : LowPass or Delay
        Makes f, with the time :math:`\tau`; the paper's is a delay of one frame.
    ridge : float
        :math:`\lambda`, 0 or more [squared contrast per squared pixel spacing]; the paper gives no number. By default
        it is reached by slopes of a tenth. Without contrast and ridge the velocity is 0.
    radius : int
        Pixels of the window to either side of the position; the slope needs one more.
    spacing, acceptance : float
        Of the eye that experiments give it [deg]; velocities are in terms of the spacing.

    Raises
    ------
    ValueError
        A ridge or radius below 0, or another kind of step.

    Examples
    --------
    >>> from flymotion.stimuli import drifting_grating
    >>> from flymotion.world.eyes import Line
    >>> for speed in (20.0, 40.0):
    ...     wave = drifting_grating(wavelength=40.0, temporal_frequency=speed / 40.0, duration=3.0)
    ...     print(round(float(ridge_velocity()(wave.movie(Line(9), dt=0.01, spacing=5.0), dt=0.01)[100:].mean())))
    20
    38
    """
    if not (0 <= ridge < math.inf and radius >= 0):
        raise ValueError(f"ridge is {ridge} and radius {radius}; expected finite numbers of 0 or more")
    if not isinstance(delayed, (LowPass, Delay)):
        raise ValueError(
            f"delayed is {delayed}; expected a LowPass or a Delay, whose change over tau is a slope in time"
        )
    return Detector(
        arms={"fast": (), "delayed": (delayed,)},
        displacements=along(-radius - 1, radius + 1),
        combine=partial(_ridge_velocity, tau=delayed.tau, ridge=ridge, spacing=spacing),
        opponent=True,
        spacing=spacing,
        acceptance=acceptance,
        source="Bahroun, Sengupta & Chklovskii 2019, Suppl. C",
        unit="deg/s",
        name="ridge-velocity",
    )


def _ridge_velocity(tap: Taps, *, tau: float, ridge: float, spacing: float) -> np.ndarray:
    fast, delayed = tap.all("fast"), tap.all("delayed")
    change = (fast - delayed)[..., 1:-1] / tau
    slope = (delayed[..., 2:] - delayed[..., :-2]) / 2  # Eq. 30
    correlation, power = -(change * slope).sum(axis=-1), (slope**2).sum(axis=-1) + ridge  # Eq. 32, of content
    return tap.scale * spacing * np.divide(correlation, power, out=np.zeros_like(power), where=power > 0)  # Eq. 29
