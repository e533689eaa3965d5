"""Tuning curves: what a detector answers to the classic experiments, labelled, with units, and what sums them up."""

from __future__ import annotations

from flymotion.tuning.design import UNITS, tune
from flymotion.tuning.experiments import EXPERIMENTS, Experiment, experiment
from flymotion.tuning.measures import (
    Peak,
    Selectivity,
    direction_selectivity,
    half_width,
    peak,
    preferred_direction,
)
from flymotion.tuning.setup import Setup, dt_for, eye_for
from flymotion.tuning.sheet import Characterisation, characterise

__all__ = [
    "EXPERIMENTS",
    "UNITS",
    "Characterisation",
    "Experiment",
    "Peak",
    "Selectivity",
    "Setup",
    "characterise",
    "direction_selectivity",
    "dt_for",
    "experiment",
    "eye_for",
    "half_width",
    "peak",
    "preferred_direction",
    "tune",
]
