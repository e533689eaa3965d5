"""How a detector is measured: what looks, at how many frames a second, and what is averaged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from flymotion.brevity import in_brief
from flymotion.detectors import LATTICE_TOLERANCE, Detector, FunctionDetector, as_detector
from flymotion.detectors.between_axes import axes_of, first_axis, steps_along
from flymotion.detectors.temporal import Delay, LowPass, Rectify
from flymotion.stimuli import Stimulus
from flymotion.tuning.provenance import brief
from flymotion.world.compound_eyes import CompoundEye
from flymotion.world.eyes import Eye, Grid, Hexagon, Line, acceptance_sigma, as_eye
from flymotion.world.lattices import lattice_of

__all__ = ["Setup", "dt_for", "eye_for", "pitch"]

MARGIN = 6
"""Positions to either side of those whose mean is taken, that early vision has something to pool over."""

COLUMNS_APART = math.sqrt(3) / 2
"""Distance of a hexagon's columns [pixel spacings]."""

LONGEST, FINEST = 1 / 200, 20
"""Longest time between frames of an experiment [s], and into how many it may be divided."""


ROW = 24
"""Pixels that a plain function is shown: 120 degrees, if they are 5 degrees apart."""


def eye_for(detector: Any, n_positions: int = 1) -> Grid | Hexagon | Line:
    """Return a small eye on which a detector has a row of so many positions, with the optics of its source.

    A grid, the smallest, for taps in rows and columns; else a hexagon, whose row runs from column to column, half a
    pixel up and half a pixel down. Of a plain function nobody knows it: a row of 24 pixels, and one more for each
    position more.

    Raises
    ------
    ValueError
        Taps that fit neither.

    Examples
    --------
    >>> from flymotion.detectors import gruntman, hassenstein_reichardt
    >>> eye_for(hassenstein_reichardt()).shape, eye_for(gruntman(), n_positions=6).shape
    ((1, 2), (1, 11))
    """
    detector = as_detector(detector)
    sigma = acceptance_sigma(detector.acceptance, detector.spacing)
    if isinstance(detector, FunctionDetector):
        return Line(ROW + n_positions - 1, sigma)
    if _on_hexagon(detector):
        rings = _rings(_axial(detector.places)).max() + _rings(_row(n_positions)).max()
        return Hexagon(max(1, round(rings)), sigma)
    off = _off(detector.places)
    if off.max() > LATTICE_TOLERANCE:
        x, y = detector.places[off.argmax()]
        raise ValueError(
            f"the detector's taps, such as that at ({x:.4g}, {y:.4g}), are neither in rows and columns nor on a "
            "hexagonal lattice; expected either, or an eye"
        )
    width, height = np.ptp(detector.places, axis=0).round().astype(int) + 1
    return Grid(int(height), int(width) + n_positions - 1, sigma)


def pitch(detector: Detector | FunctionDetector) -> float:
    """Return the angle between neighbours of the row of positions on :func:`eye_for` a detector [deg]."""
    return detector.spacing * (COLUMNS_APART if _on_hexagon(detector) else 1.0)


def _on_hexagon(detector: Detector | FunctionDetector) -> bool:
    """Say whether a detector's taps are on a hexagonal lattice and not on a square one."""
    if isinstance(detector, FunctionDetector):
        return False
    taps = detector.places
    return _off(taps).max() > LATTICE_TOLERANCE >= _off(_axial(taps)).max()


def _off(places: np.ndarray) -> np.ndarray:
    """Return how far coordinates are from whole numbers, shape (n,)."""
    return np.abs(places - places.round()).max(axis=1)


def _axial(displacements: np.ndarray) -> np.ndarray:
    """Return the axial coordinates (q, r) of displacements on a hexagon, shape (n, 2)."""
    q = displacements[:, 0] / COLUMNS_APART
    return np.stack([q, displacements[:, 1] - q / 2], axis=1)


def _rings(axial: np.ndarray) -> np.ndarray:
    """Return how many rings of a hexagon places are away from its middle, shape (n,)."""
    return np.abs(np.column_stack([axial, axial.sum(axis=1)])).max(axis=1)


def _near(eye: Eye, lens: int, n_rings: int) -> CompoundEye:
    """Return what of a compound eye is within so many rings about a lens, the lens first."""
    lattice = lattice_of(eye)
    around = lattice.around(n_rings)[lens]
    others = around[(around >= 0) & (around != lens)]
    pixels = np.concatenate([[lens], others])
    sigma = eye.sigma if np.ndim(eye.sigma) == 0 else np.asarray(eye.sigma)[pixels]
    half = None if lattice.half is None else lattice.half[pixels]
    return CompoundEye(eye.positions[pixels], sigma, axial=lattice.axial[pixels], half=half)


def _row(n_positions: int) -> np.ndarray:
    """Return the axial coordinates of a row of positions across the middle of a hexagon, shape (n_positions, 2)."""
    q = np.arange(n_positions) - (n_positions - 1) // 2
    return np.stack([q, -(q // 2)], axis=1)


def dt_for(detector: Any) -> float:
    """Return a time between frames [s] at which a detector's filters are near those of continuous time.

    The longest that is 5 ms divided by a whole number, 20 at most, so that the intervals of the classic stimuli are
    whole frames; that is at most 1/32 of the shortest time constant of low-passes, and 1/64 of that of other filters,
    which are off by more; and of which pure delays are whole multiples, if there is one. A low-pass that is sampled
    lags half a frame less, so a correlator's mean is off by about dt / (2 tau). 5 ms for a plain function, of whose
    filters nothing is known.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt, shared_non_delay
    >>> dt_for(hassenstein_reichardt()), dt_for(shared_non_delay())  # 150 ms, 20 ms
    (0.0025, 0.0003125)
    """
    detector = as_detector(detector)
    arms = {} if isinstance(detector, FunctionDetector) else detector.arms
    steps = [step for chain in arms.values() for step in chain]
    finest = [
        step.tau / (32 if isinstance(step, LowPass) else 64)
        for step in steps
        if not isinstance(step, (Delay, Rectify)) and hasattr(step, "tau")
    ]
    least = min(FINEST, math.ceil(LONGEST / min(finest, default=LONGEST) - 1e-9))
    delays = [step.tau for step in steps if isinstance(step, Delay)]
    whole = (n for n in range(max(1, least), FINEST + 1) if all(_is_whole(n * tau / LONGEST) for tau in delays))
    return LONGEST / next(whole, max(1, least))


def _is_whole(number: float) -> bool:
    return round(number) >= 1 and abs(number - round(number)) < 1e-6


@dataclass(frozen=True)
class Setup:
    """How a detector is measured: the options of :func:`flymotion.tuning.tune`.

    Parameters
    ----------
    dt : float
        Time between frames [s].
    settle : float, optional
        Start of every stimulus that is left out of the mean [s]. By default 1 s, and longer where filters need it:
        until what early vision and the detector's arms make of a step is within 0.5 % of where it goes, each by
        itself, the two times added up. A stimulus that goes on evenly, with a ``phase`` or a ``random_state``, and is
        as long as it is by default, is then as much longer; one that happens once, and is still in its first two
        frames, was so for ever, and needs none. A number is taken as it is, with a warning where it is too small.
    repeats : int
        Phases, evenly spaced, of a stimulus that has a ``phase``; or seeds of one that has a ``random_state``.
    eye : Eye, optional
        What looks, ``detector.spacing`` degrees between pixels of a flat one, and the mean over all its positions is
        taken. By default :func:`eye_for` the detector; with early vision six positions wider to either side, those
        being seen but not in the mean, so that what pools over pixels has a neighbourhood. A spherical eye has to be a
        :class:`~flymotion.world.compound_eyes.CompoundEye`: all of it sees stimuli all round, such as
        :func:`~flymotion.stimuli.rotating_grating`, others see those at a lens.
    at : int, optional
        The lens of a spherical eye about which stimuli are shown, and whose response is taken, or that of the row of
        ``n_positions`` about it; no more of the eye looks than that, with its margin, needs.
    preferred : float
        The direction that the detector is turned to [deg]; of a plain function, which nothing turns, its own.
    n_positions : int
        Positions in a row whose mean is taken, where no eye is given; see :func:`eye_for`.
    early_vision : transformer, optional
        Made to work on frames, shape (n_frames, n_pixels), before the detector sees them, such as those of
        :mod:`flymotion.photoreceptors`, in a pipeline or not. One that is not fitted is copied and fitted on an even
        field of the mean luminance; one that learns from scenes, such as whitening, has to be fitted before. Each call
        of ``transform`` is one movie: what filters in time begins anew in it.
    mean : float, optional
        Mean luminance that contrasts are added to: 1 for early vision that needs luminances. By default the
        stimulus's own, which is 0 as stimuli are made.
    keep_time : bool
        Whether to keep the course of time too.

    Raises
    ------
    ValueError
        No time between frames, a time to settle below 0, or no repeats; a spherical eye without a lattice, or a lens
        of none or that it does not have.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> from flymotion.stimuli import drifting_grating
    >>> from flymotion.tuning import tune
    >>> Setup(dt=0.01, settle=0.5).n_settled  # frames left out of the mean
    50
    >>> tuning = tune(hassenstein_reichardt(), drifting_grating, {"contrast": [0.5]}, dt=0.01, keep_time=True)
    >>> dict(tuning.course.sizes), tuning.attrs["settle"]
    ({'contrast': 1, 'time': 200}, 1.0)
    """

    dt: float = 1e-3
    settle: float | None = None
    repeats: int = 8
    eye: Eye | None = None
    at: int | None = None
    preferred: float = 0.0
    n_positions: int = 1
    early_vision: Any = None
    mean: float | None = None
    keep_time: bool = False

    __repr__ = in_brief

    def __post_init__(self) -> None:
        settle = 0.0 if self.settle is None else self.settle
        if not (0 < self.dt < math.inf and 0 <= settle < math.inf and self.repeats >= 1):
            raise ValueError(
                f"dt is {self.dt}, settle {self.settle} and repeats {self.repeats}; expected finite times [s], dt "
                "above 0 and settle not below, and 1 repeat or more"
            )
        spherical = self.eye is not None and as_eye(self.eye).positions.shape[1] == 3
        if spherical and not hasattr(self.eye, "axial"):
            raise ValueError(
                f"the eye is {self.eye}, whose lattice nobody worked out; expected a CompoundEye, such as "
                "CompoundEye.from_directions makes of directions, or a line, a grid or a hexagon"
            )
        n_lenses = len(self.eye.positions) if self.eye is not None and spherical else 0
        if self.at is not None and not (isinstance(self.at, (int, np.integer)) and 0 <= self.at < n_lenses):
            expected = f"0 to {n_lenses - 1}" if spherical else "none, as the eye is not spherical"
            raise ValueError(f"at is {self.at!r}; expected the number of a lens, {expected}")

    @property
    def n_settled(self) -> int:
        """Frames at the start that are left out of the mean; 0 until a time is given."""
        return round((self.settle or 0.0) / self.dt)

    @property
    def margin(self) -> int:
        """Positions to either side that are seen and not in the mean."""
        return MARGIN if self.early_vision is not None and (self.eye is None or self.at is not None) else 0

    def eye_of(self, detector: Detector | FunctionDetector) -> Eye:
        """Return what looks.

        Raises
        ------
        ValueError
            A lens at which not all taps are inside the eye; or one for a plain function, of which nobody knows what it
            needs.
        """
        n_positions = self.n_positions + 2 * self.margin
        if self.eye is None:
            return eye_for(detector, n_positions)
        if self.at is None:
            return self.eye
        if isinstance(detector, FunctionDetector):
            raise ValueError(f"at is {self.at} for {detector.name}, a plain function; expected a Detector, or no lens")
        return self._about_lens(detector, n_positions)

    def _about_lens(self, detector: Detector, n_positions: int) -> CompoundEye:
        taps, eye = detector.places, cast(Eye, self.eye)
        steps, _ = steps_along(taps, first_axis(taps) or 0.0)
        piece = _near(eye, cast(int, self.at), round(_rings(steps).max() + _rings(_row(n_positions)).max()))
        axes = axes_of(taps, lattice_of(piece))
        if axes is not None and not axes.to_either_side(self.preferred)[0][0]:
            raise ValueError(
                f"lens {self.at} has no place for the detector's {len(taps)} taps along direction {self.preferred:g} "
                "deg; expected one farther from the rim of its eye"
            )
        return piece

    def shown(self, stimulus: Stimulus) -> Stimulus:
        """Return a stimulus about the mean luminance, and about the lens."""
        stimulus = stimulus if self.mean is None else stimulus.about(self.mean)
        return stimulus if self.at is None or self.eye is None else stimulus.at(self.eye.positions[self.at])

    def averaged(self, detector: Detector | FunctionDetector, n_positions: int) -> Any:
        """Return which of a detector's positions on its eye, so many, are in the mean: a slice or indices."""
        eye = self.eye_of(detector)
        on_lattice = isinstance(eye, Hexagon) if self.eye is None else self.at is not None
        if not (on_lattice and isinstance(detector, Detector)):
            return slice(self.margin, n_positions - self.margin)
        axial = lattice_of(eye).axial - (0 if self.at is None else lattice_of(eye).axial[0])
        placed = axial[detector.positions(eye, self.preferred)]
        return np.flatnonzero((placed[:, None] == _row(self.n_positions)).all(axis=2).any(axis=1))

    def attributes(self, detector: Detector | FunctionDetector) -> dict[str, Any]:
        """Return what results say of it."""
        return {
            "dt": self.dt,
            "settle": self.settle,
            "repeats": self.repeats,
            "preferred": float(self.preferred),
            "eye": brief(self.eye_of(detector) if self.eye is None else self.eye),
            "at": "all positions" if self.at is None else int(self.at),
            "mean": "as the stimulus" if self.mean is None else float(self.mean),
        }
