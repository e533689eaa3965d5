"""Slips of the paper, corrected: what is printed, what is right, and the rows and tests that show it.

In ``shown`` an id of a row in braces stands for what was measured.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SLIPS", "Slip"]


class Slip(NamedTuple):
    """One slip."""

    place: str
    printed: str
    right: str
    shown: str
    """By what."""


SLIPS = (
    Slip(
        "Suppl. E, last equation",
        "The first boundary product delays the outermost pixel.",
        "It is x₋ₙ(t − τ) x₋ₙ₋₁(t): the first centre is delayed.",
        "The identity's error is {C16.identity} corrected, and {C16.printed} as printed.",
    ),
    Slip(
        "Suppl. C, closed form of θ",
        "θ minimises |∂ₜx + θ ∂ᵢx|² + λθ².",
        "The minimum is at minus the printed θ; what is printed is right for an eye that moves, whose image moves "
        "back.",
        "Minus the printed θ correlates with the shift to the right: {C15.sign}.",
    ),
    Slip(
        "Suppl. E, HR(i, t)",
        "Without its direction; easily read as the detector for motion towards larger i.",
        "Content that moves towards larger i gives a negative sum; ours has the sign of content.",
        "tests/test_detectors_identities.py",
    ),
    Slip(
        "Secs. 1.1 to 2.4, shapes",
        "W is n x m in Eq. 4 and K x n² from Eq. 13 on; Eq. 12's left side lacks 1/T².",
        "Column (i − 1) n + j of W joins the change at i with the intensity at j; both sides are over T².",
        "tests/test_features.py, tests/test_offline.py",
    ),
    Slip(
        "Sec. 2.4, Eq. 15",
        "A condition that outputs meet, easily read as an iteration, as Eq. 5 is.",
        "Iterated all at once it may circle or grow for ever; one unit at a time it settles, and SM's outputs solve K "
        "linear equations.",
        "Share of pairs that whole steps do not settle, at most, of SM's eight units; of the paper's two and four, "
        "none: "
        "{C36.whole_steps}.",
    ),
    Slip(
        "Suppl. A, Eqs. 24-25",
        "The antisymmetric feature to first order, easily read as the midpoint feature.",
        "It is chi less its transpose, exactly, of either feature; the midpoint feature has a symmetric part, too.",
        "Largest error {C14.antisymmetric}; the paper's feature less the midpoint one is −Δx Δx'/2, to {C14.midpoint}.",
    ),
    Slip(
        "Suppl. B, PCA",
        "PCA of chi; its Eq. 26 is uncentred, what is called PCA elsewhere is not.",
        "Uncentred, as printed: centring removes what one-way motion has in common.",
        "tests/test_rivals.py",
    ),
    Slip(
        "Sec. 3.2, [salazar]",
        "Cited without its formula.",
        "Salazar-Gatzimas et al. (2018): the shared non-delay line, gᵢ (fᵢ₋₁ − fᵢ₊₁), f delayed and g not.",
        "Sums of all three over a ring differ by {C20.sums} at most.",
    ),
    Slip(
        "Sec. 3.3, the best velocity",
        "A constant given by the inverse of the time delay.",
        "A quarter of it, 1/(4τ), for a delay, and 1/(2πτ) for a low-pass.",
        "Best temporal frequency times the delay: {C19.three_pixel_delay_tau}.",
    ),
)
"""In the order in which they matter."""
