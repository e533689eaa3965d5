"""What experiments found in the summed motion signal (Section 3.3): contrast, oscillations, velocity (C17, C18, C19).

The three-pixel detector, the Hassenstein-Reichardt detector (HRD), and filters learned in L1 and L2 look at gratings.
Learned filters are in pixel coordinates, and their opponent signal is the right unit's response less the left unit's;
read as a whole patch, or by the change at the central pixel alone, as one T4 would (Section 3.2).

``lookers``: who looks. ``reconstruction_contrast``: another model of motion, of which contrast alone is asked (C17).
``contrast_response``, ``oscillations``, ``velocity_tuning``: what is measured, claimed, drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.summed_signal import contrast_response, oscillations, velocity_tuning
from flymotion.claims.summed_signal.lookers import NAMES, Config, look
from flymotion.claims.summed_signal.reconstruction_contrast import slopes_of_reconstruction, state_reconstruction
from flymotion.claims.worlds import WORLDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {
    "C17": "summed signal: quadratic in contrast, saturates normalised",
    "C18": "one detector oscillates as in closed form, the sum does not",
    "C19": "the best velocity is proportional to the wavelength",
}

QUICK = {"n_seeds": 2}

RECONSTRUCTION = "reconstruction"

PARTS = {"contrast_response": contrast_response, "oscillations": oscillations, "velocity_tuning": velocity_tuning}


def work(config: Config) -> Work:
    """Let filters learn, and show gratings to all detectors."""
    pieces = {name: each_seed(_measure, config.n_seeds if name in WORLDS else 1, config, name) for name in NAMES}
    return pieces | {RECONSTRUCTION: each_seed(slopes_of_reconstruction, config.n_seeds, config)}


def _measure(config: Config, name: str, seed: int) -> dict[str, Any]:
    looking = look(config, name, seed)
    return {part: module.measure(config, looking) for part, module in PARTS.items()}


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C17, C18 and C19."""
    for name in [name for name in NAMES if name in found]:
        for part, module in PARTS.items():
            for row in module.state(config, name, found[name][part]):
                yield row if name in WORLDS else replace(row, seeds=0)  # nothing is random in those of the literature
    if RECONSTRUCTION in found:
        yield from state_reconstruction(config, found[RECONSTRUCTION])


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw what all detectors do, of the first seed."""
    return {part: module.draw(config, {name: found[name][part] for name in NAMES}) for part, module in PARTS.items()}
