"""Detectors with an arm that vetoes or divides: what motion in the null direction meets first suppresses what is next.

As everywhere, f is the delayed signal of a photoreceptor and g the fast one; the preferred direction leads from i - 1
over i to i + 1, so that null motion meets i + 1 first. All need signals about 0, such as contrasts: what is rectified
is the deviation from it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from flymotion.detectors.detector import Detector, along
from flymotion.detectors.taps_on_lattices import Taps
from flymotion.detectors.temporal import Chain, Delay, HighPass, LowPass, Rectify, Step, start

__all__ = ["barlow_levick", "haag", "hr_bl_hybrid"]


def barlow_levick(
    delayed: Chain = (LowPass(0.1),),
    fast: Chain = (),
    *,
    form: str = "subtractive",
    weight: float | None = None,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the Barlow-Levick detector: null motion meets the arm of the veto first.

    .. math:: R_i = [[g_i]^+ - 2 [f_{i+1}]^+]^+ \quad \text{or} \quad R_i = \frac{[g_i]^+}{1 + [f_{i+1}]^+}

    Barlow & Levick (1965) describe the scheme in words; these are forms that models of the fly give it. Only ON signals
    count: for OFF, invert the contrast.

    Parameters
    ----------
    delayed : tuple of Step
        Makes f: by default a low-pass of 100 ms.
    fast : tuple of Step
        Makes g: by default the photoreceptor's signal, an assumption.
    form : {"subtractive", "divisive"}
        Which of the two equations.
    weight : float, optional
        Of the veto: by default 2 where it is subtracted, 1 where it divides.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        Unknown form.

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> movie = moving_edge().movie(Line(9), dt=0.01, spacing=5.0)
    >>> barlow_levick()(movie, dt=0.01, direction=[0, 180]).max(axis=(0, 1)).round(2)  # null motion is vetoed
    array([0.76, 0.  ])
    """
    if form not in ("subtractive", "divisive"):
        raise ValueError(f"form is {form!r}; expected 'subtractive' or 'divisive'")
    combine, usual = {"subtractive": (_subtracted, 2.0), "divisive": (_divided, 1.0)}[form]
    return Detector(
        arms={"fast": (*fast, Rectify(1)), "delayed": (*delayed, Rectify(1))},
        displacements=along(0, 1),
        combine=partial(combine, weight=usual if weight is None else float(weight)),
        spacing=spacing,
        acceptance=acceptance,
        source="Barlow & Levick 1965",
        name="barlow-levick" if form == "subtractive" else "barlow-levick-divisive",
    )


def _subtracted(tap: Taps, *, weight: float) -> np.ndarray:
    return np.maximum(tap("fast") - weight * tap("delayed", 1), 0)


def _divided(tap: Taps, *, weight: float) -> np.ndarray:
    return tap("fast") / (1 + weight * tap("delayed", 1))


def hr_bl_hybrid(
    early: Chain = (HighPass(0.25),),
    delayed: Step = LowPass(0.05),
    *,
    offset: float = 0.1,
    mirror: float = 1.0,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the hybrid of both schemes: enhancement by the arm before, division by the one behind.

    .. math:: R_i = \sum_{ON, OFF} \frac{f_{i-1} g_i}{0.1 + f_{i+1}} - m \frac{f_{i+1} g_i}{0.1 + f_{i-1}}

    of signals split into ON and OFF, g, and those delayed, f. The equation, with its numbers, is from a description of
    the models of that group, not checked against the paper.

    Parameters
    ----------
    early : tuple of Step
        Filters of the photoreceptor's signal before the split: by default a high-pass of 250 ms.
    delayed : Step
        Makes f of g, after the split: by default a low-pass of 50 ms.
    offset : float
        What keeps the division finite [contrast].
    mirror : float
        m, the weight of the mirrored half: 1 makes the detector fully opponent, 0 leaves one half. The description
        says that it is weighted, not by how much; 1 is our choice.
    spacing, acceptance : float
        Of the eye that experiments give it [deg].

    Raises
    ------
    ValueError
        An offset that is not positive.

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> movie = moving_edge().movie(Line(9), dt=0.01, spacing=5.0)
    >>> hybrid, half = hr_bl_hybrid(), hr_bl_hybrid(mirror=0.0)
    >>> [each(movie, dt=0.01, direction=[0, 180]).mean(axis=(0, 1)).round(2).tolist() for each in (hybrid, half)]
    [[0.11, -0.11], [0.2, 0.1]]
    """
    if not offset > 0:
        raise ValueError(f"offset is {offset}; expected more than 0, which keeps the division finite")
    arms: dict[str, Chain] = {}
    for name, sign in (("on", 1), ("off", -1)):
        arms |= {f"{name} fast": (*early, Rectify(sign)), f"{name} delayed": (*early, Rectify(sign), delayed)}
    return Detector(
        arms=arms,
        displacements=along(-1, 1),
        combine=partial(_hr_bl_hybrid, offset=offset, mirror=float(mirror)),
        opponent=mirror > 0,
        spacing=spacing,
        acceptance=acceptance,
        source="Haag, Mishra & Borst 2017",
        name="hr-bl",
    )


def _hr_bl_hybrid(tap: Taps, *, offset: float, mirror: float) -> np.ndarray:
    def half(name: str, before: int) -> np.ndarray:
        return tap(f"{name} delayed", before) * tap(f"{name} fast") / (offset + tap(f"{name} delayed", -before))

    return half("on", -1) + half("off", -1) - mirror * (half("on", 1) + half("off", 1))


def haag(
    early: Chain = (HighPass(0.25, dc=0.1), Rectify()),
    delayed: Step = LowPass(0.25),
    *,
    gains: tuple[float, float, float] = (5.0, 5.0, 10.0),
    rest: float | None = 0.0,
    spacing: float = 5.0,
    acceptance: float = 5.7,
) -> Detector:
    r"""Return the three-arm detector of Haag et al. (2016): enhancement, direct drive and suppression.

    .. math:: R_i = \frac{(1 + 5 E_{i-1})(1 + 5 D_i)}{1 + 10 S_{i+1}}

    of rectified signals, D, and of those delayed, E and S. Without a stimulus all are 0 and R is 1; what becomes of
    this baseline is not said in the description that we have: here it is subtracted unless ``rest`` is None.

    Parameters
    ----------
    early : tuple of Step
        Makes D: by default a high-pass of 250 ms with a tenth of the signal itself, rectified.
    delayed : Step
        Makes E and S of D: by default a low-pass of 250 ms. The paper calculates in steps of 10 ms.
    gains : tuple of float
        Of E, D and S [1/contrast].
    rest : float, optional
        Intensity without a stimulus, whose response is subtracted: 0 for contrasts, 1 for luminances about 1.
        Suppression then shows as a negative response. None subtracts nothing.
    spacing, acceptance : float
        Of the eye that experiments give it [deg]; the paper's has 40 columns over 200 degrees.

    Examples
    --------
    >>> from flymotion.stimuli import moving_edge
    >>> from flymotion.world.eyes import Line
    >>> movie = moving_edge().movie(Line(9), dt=0.01, spacing=5.0)
    >>> haag()(movie, dt=0.01, direction=[0, 180]).max(axis=(0, 1)).round(1)  # preferred and null direction
    array([9.9, 0.8])
    """
    return Detector(
        arms={"direct": early, "delayed": (*early, delayed)},
        displacements=along(-1, 1),
        combine=partial(_haag, gains=gains, baseline=_at_rest(early, delayed, gains, rest)),
        spacing=spacing,
        acceptance=acceptance,
        source="Haag, Arenz, Serbe, Gabbiani & Borst 2016",
        name="haag",
    )


def _at_rest(early: Chain, delayed: Step, gains: tuple[float, float, float], rest: float | None) -> float:
    """Return the response to an endless constant."""
    if rest is None:
        return 0.0
    direct = _level(early, rest)
    return _three_arms(_level((delayed,), direct), direct, _level((delayed,), direct), gains)


def _haag(tap: Taps, *, gains: tuple[float, float, float], baseline: float) -> np.ndarray:
    return _three_arms(tap("delayed", -1), tap("direct"), tap("delayed", 1), gains) - baseline


def _three_arms(enhancing: Any, direct: Any, suppressing: Any, gains: tuple[float, float, float]) -> Any:
    return (1 + gains[0] * enhancing) * (1 + gains[1] * direct) / (1 + gains[2] * suppressing)


def _level(chain: Chain, constant: float) -> float:
    """Return what an endless constant becomes; gains for a constant depend on no frame rate."""
    level = np.array([constant], dtype=float)
    for step in chain:
        if not isinstance(step, Delay):
            level = start(step, level, dt=1e-3)[1]
    return float(level[0])
