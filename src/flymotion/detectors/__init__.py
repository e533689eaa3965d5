"""Local motion detectors, all of one signature: ``detector(movie, dt) -> responses``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flymotion.detectors.between_axes import LATTICE_TOLERANCE
from flymotion.detectors.conductances import conductance, gruntman
from flymotion.detectors.correlators import (
    hassenstein_reichardt,
    ridge_velocity,
    shared_non_delay,
    shared_non_delay_t4,
    shared_non_delay_t5,
    three_pixel,
)
from flymotion.detectors.detector import Detector, Stream, along
from flymotion.detectors.from_learners import learned, of_learner
from flymotion.detectors.functions import FunctionDetector, as_detector, rectified
from flymotion.detectors.linear import linear_nonlinear, motion_energy
from flymotion.detectors.suppression import barlow_levick, haag, hr_bl_hybrid
from flymotion.detectors.taps_on_lattices import Taps

__all__ = [
    "DETECTORS",
    "LATTICE_TOLERANCE",
    "Detector",
    "FunctionDetector",
    "Stream",
    "Taps",
    "along",
    "as_detector",
    "barlow_levick",
    "conductance",
    "gruntman",
    "haag",
    "hassenstein_reichardt",
    "hr_bl_hybrid",
    "learned",
    "linear_nonlinear",
    "motion_energy",
    "of_learner",
    "rectified",
    "ridge_velocity",
    "shared_non_delay",
    "shared_non_delay_t4",
    "shared_non_delay_t5",
    "three_pixel",
]

DETECTORS: dict[str, Callable[[], Detector]] = {
    "three-pixel": three_pixel,
    "hrd": hassenstein_reichardt,
    "hrd-on": partial(hassenstein_reichardt, quadrants="on"),
    "hrd-quadrants": partial(hassenstein_reichardt, quadrants="same"),
    "shared-non-delay": shared_non_delay,
    "shared-non-delay-t4": shared_non_delay_t4,
    "shared-non-delay-t5": shared_non_delay_t5,
    "barlow-levick": barlow_levick,
    "barlow-levick-divisive": partial(barlow_levick, form="divisive"),
    "hr-bl": hr_bl_hybrid,
    "haag": haag,
    "conductance-t4": conductance,
    "conductance-t5": partial(conductance, pathway="T5"),
    "gruntman": gruntman,
    "ln": linear_nonlinear,
    "motion-energy": partial(motion_energy, opponent=False),
    "motion-energy-opponent": motion_energy,
    "ridge-velocity": ridge_velocity,
}
"""Detectors of published parameters by the names that commands know them by."""
