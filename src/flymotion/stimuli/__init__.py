"""The stimuli of motion vision's classic experiments, in degrees and seconds."""

from __future__ import annotations

from collections.abc import Callable

from flymotion.stimuli.bars import apparent_motion, flashed_bar, moving_bar, moving_edge
from flymotion.stimuli.gratings import (
    Wave,
    counterphase_grating,
    drifting_grating,
    opponent_gratings,
    plaid,
    reverse_phi,
    square_grating,
)
from flymotion.stimuli.noise import RandomBars, glider, random_dots, ternary_noise
from flymotion.stimuli.panoramas import rotating_grating, rotating_panorama, sweeping_edge
from flymotion.stimuli.paths import Cosine, Lives, Stepped, Table, Track, Turning, Window
from flymotion.stimuli.stimulus import Drift, Part, Stimulus
from flymotion.stimuli.velocity import velocity_noise, velocity_steps

__all__ = [
    "STIMULI",
    "Cosine",
    "Drift",
    "Lives",
    "Part",
    "RandomBars",
    "Stepped",
    "Stimulus",
    "Table",
    "Track",
    "Turning",
    "Wave",
    "Window",
    "apparent_motion",
    "counterphase_grating",
    "drifting_grating",
    "flashed_bar",
    "glider",
    "moving_bar",
    "moving_edge",
    "opponent_gratings",
    "plaid",
    "random_dots",
    "reverse_phi",
    "rotating_grating",
    "rotating_panorama",
    "square_grating",
    "sweeping_edge",
    "ternary_noise",
    "velocity_noise",
    "velocity_steps",
]

STIMULI: dict[str, Callable[..., Stimulus]] = {
    constructor.__name__.replace("_", "-"): constructor
    for constructor in (
        drifting_grating,
        square_grating,
        counterphase_grating,
        opponent_gratings,
        plaid,
        reverse_phi,
        moving_edge,
        moving_bar,
        flashed_bar,
        apparent_motion,
        glider,
        ternary_noise,
        random_dots,
        rotating_panorama,
        rotating_grating,
        sweeping_edge,
        velocity_steps,
        velocity_noise,
    )
}
"""Stimuli by the names that commands know them by."""
