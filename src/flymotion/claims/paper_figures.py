"""The paper's figures: by which of ours each is remade, the claims behind it, and what to see.

In ``see`` an id of a row in braces, ``{C2.cos}``, stands for what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FIGURES", "PaperFigure"]


@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper, remade.

    Parameters
    ----------
    name : str
        Its number, its parts, and what it is of, for instance ``"2a, c-f, learned filters"``.
    drawn : tuple of str
        Names of the figures that remake it.
    claims : tuple of str
        Ids of the claims that they belong to.
    see : str
        What to see in them, in a sentence or two.
    """

    name: str
    drawn: tuple[str, ...]
    claims: tuple[str, ...]
    see: str

    def __str__(self) -> str:
        files = ", ".join(f"`{name}.png`" for name in self.drawn)
        return f"{files} ({', '.join(self.claims)})"


FIGURES = (
    PaperFigure(
        "1, networks",
        ("figure1",),
        ("C26",),
        see="With reconstruction (a) a synapse needs all other weights, with similarity matching (b, c) only what is "
        "at hand, its input and the two units that it joins. Single weights differ, but reconstruction and SM hold the "
        "same subspace of the digits ({C26.digits_reconstruction} and {C26.digits_sm} of the energy that can be held). "
        "Lateral weights leave SM's outputs less correlated, not uncorrelated: in the panels' titles of the digits; of "
        "patches of photographs {C26.correlation_sm}, where their drive has {C26.correlation_sm_drive}.",
    ),
    PaperFigure(
        "2a, c-f, learned filters",
        ("figure2_L1", "figure2_L2"),
        ("C1", "C2"),
        see="Each panel is a row of W, reshaped (a): opposite signs on both sides of an empty diagonal are a "
        "derivative. SM's first component (c) is PCA's (e), to a cosine of {C1.pca}; NSM's two units (d) are sign "
        "inversions of each other, cosine {C2.cos}, and so are K-means' centres (f), {C2.cos_kmeans}. From random "
        "starts the printed rule alone succeeds in {C2.seeds_random_start}, from the batch warm-up in {C2.seeds}.",
    ),
    PaperFigure(
        "2b, cartoon",
        ("figure2_L1", "three_pixels"),
        ("C4",),
        see="The filter cut to three pixels a row says nearly what the whole says (correlation {C4.three_L1} in L1, "
        "{C4.three_P} of photographs), and the cartoon, a bare central difference, hardly less in L1, and less in the "
        "worst world, photographs ({C4.difference}); with noise at 40 dB it says something else "
        "({C4.difference_40dB}).",
    ),
    PaperFigure(
        "3, multi-compartment neuron",
        ("compartments", "compartments_map"),
        ("C21",),
        see="Two branches a pixel, shunted by the change and by its negative, multiply: the soma follows dx' W x "
        "(correlation {C21.product}), and the local rule learns the filter (cosine {C21.learned}). One branch, as "
        "the paper draws it, follows the product to {C21.one_branch} with the learned weights, and to "
        "{C21.one_branch_any} with random ones.",
    ),
    PaperFigure(
        "4a-b, T4's circuit",
        ("dendrites", "along_preferred"),
        ("C22",),
        see="Intensities on either side of the centre have opposite signs, learned and in the connectome: on "
        "decorrelated intensities in {C22.column_signs_whitened} (of eight), on intensities in pixels in "
        "{C22.column_signs}. Of the synapses that bring the change a share of {C22.fly_change} is in the cell's own "
        "column.",
    ),
    PaperFigure(
        "4c, impulse responses",
        ("input_parts",),
        ("C22",),
        see="Published filters of T4's inputs: Mi1 and Tm3 are transient and follow the change over some 0.4 s "
        "(correlation {C22.filters_t4_change}; exchanged with Mi4 and Mi9, {C22.filters_t4_change_swapped}), Mi4 and "
        "Mi9 "
        "are sustained and follow the intensity ({C22.filters_t4_intensity}).",
    ),
    PaperFigure(
        "5a-b, rotation filters",
        ("filters_rotation_exponential_wide",),
        ("C10", "C12"),
        see="Of correlated noise seen through optics, and not the paper's images of random pixels, of which these come "
        "only if they are turned by better than linear interpolation. Tile by tile, a pixel of the change is joined to "
        "its neighbours along the turn, with opposite signs ahead and behind; both units are nearly sign inversions of "
        "each other. On whitened frames, as drawn, they are the rotation's derivative (cosine {C10.cos_whitened}); "
        "carried to pixels they are not ({C10.cos}). The weight onto the pixel itself is not absent: {C12.self} of a "
        "neighbour's energy, so half its weight.",
    ),
    PaperFigure(
        "5c, a bar turned again and again",
        ("turned_bars",),
        ("C11",),
        see="Not quite the paper's experiment: the operator that is drawn was regressed on known turns after "
        "learning (wide optics, midpoint feature). First-order steps (upper row) blow the bar up, the exponential "
        "(middle) follows the truth (lower): after 90 degrees the error is {C11.exponential}, {C11.ratio} times less. "
        "The paper's own, the learned filter itself, is off by {C11.filter_whitened_exponential}.",
    ),
    PaperFigure(
        "6, translation filters",
        ("filters_translation_exponential_wide", "filters_translation_exponential_fly"),
        ("C13",),
        see="One unit a direction: in every tile weights of opposite signs on both sides of the pixel, along the "
        "motion. The share of pairs named right differs from that of averages by label by {C13.apart} with wide "
        "optics (first) and by {C13.apart_fly} with a fly's (second).",
    ),
    PaperFigure(
        "7, equivalence with the HRD",
        ("equivalence",),
        ("C16", "C20"),
        see="Single detectors differ in time: a three-pixel one and an HRD correlate by {C20.hrd} at most at zero mean "
        "luminance; a learned patch about a mean is nearly an HRD ({C20.learned_L1_mean}). Their sums over a ring are "
        "one "
        "(differences of {C20.sums}); over a line of 60 pixels, as drawn, ends differ, and the boundary's share falls "
        "with "
        "a slope of {C16.slope} in the number of detectors.",
    ),
)
"""In the order of the paper."""
