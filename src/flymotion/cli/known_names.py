"""Names that the shell completes, listed here as importing what they name takes a second; tests hold them together."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["DETECTORS", "EXPERIMENTS", "LEARNERS", "STIMULI", "WORLDS", "claims"]

DETECTORS = (
    *("three-pixel", "hrd", "hrd-on", "hrd-quadrants"),
    *("shared-non-delay", "shared-non-delay-t4", "shared-non-delay-t5"),
    *("barlow-levick", "barlow-levick-divisive", "hr-bl", "haag"),
    *("conductance-t4", "conductance-t5", "gruntman", "ln"),
    *("motion-energy", "motion-energy-opponent", "ridge-velocity"),
)

STIMULI = (
    *("drifting-grating", "square-grating", "counterphase-grating", "opponent-gratings", "plaid", "reverse-phi"),
    *("moving-edge", "moving-bar", "flashed-bar", "apparent-motion", "glider", "ternary-noise", "random-dots"),
    *("rotating-panorama", "rotating-grating", "sweeping-edge", "velocity-steps", "velocity-noise"),
)

EXPERIMENTS = (
    *("local", "summed", "direction", "frequency", "velocity", "contrast", "duration"),
    *("apparent-motion", "reverse-phi", "gliders", "edges"),
)

WORLDS = ("L1", "L2", "far", "ring", "translation", "rotation", "photographs")

LEARNERS = (
    *("nsm", "sm", "pca", "kmeans"),
    *("reconstruction", "reconstruction-change", "reconstruction-online", "reconstruction-nonnegative"),
    *("exponential", "rotations", "rotations-differences", "gated", "gated-of-20", "diagonal-sums", "additive"),
    *("fast-similarity-matching", "oja", "ccipca", "adaoja", "incremental-pca", "incremental-pca-centred"),
    *("mini-batch-kmeans", "slow-features", "random", "start", "labelled", "population"),
)


def claims() -> list[str]:
    """Return the names of the claims that are on record, C1 first."""
    recorded = Path(__file__).parents[1] / "claims" / "recorded.json"
    rows = json.loads(recorded.read_text(encoding="utf-8"))["quick"]
    return sorted({row.partition(".")[0] for row in rows}, key=lambda name: int(name[1:]))
