"""The stimuli of motion vision's classic experiments, in degrees and seconds."""

from __future__ import annotations

from collections.abc import Callable

from flymotion.stimuli.base import Drift, Part, Stimulus
from flymotion.stimuli.gratings import drifting_grating

__all__ = ["STIMULI", "Drift", "Part", "Stimulus", "drifting_grating"]

STIMULI: dict[str, Callable[..., Stimulus]] = {"drifting-grating": drifting_grating}
"""Stimuli by the names that commands know them by."""
