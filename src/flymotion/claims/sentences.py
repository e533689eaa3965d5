"""What the paper says that can be measured: each sentence in a few words, and the rows that decide it.

A sentence stands here whether it holds or not; :mod:`flymotion.claims.judging` says what the rows make of it. Where a
row only reports, the sentence gives the bound that its words ask for. Quotes are shortened, never changed.
"""

from __future__ import annotations

from flymotion.claims.judging import Sentence

__all__ = ["FIGURES", "SENTENCES"]

RIVALS = "issue “The rivals at their best”"

FLY = "issue “From synapses to the fly”"

SENTENCES = (
    # Abstract and introduction
    Sentence(
        "local motion detectors combine information from at least three adjacent pixels, something that contradicts "
        "the celebrated Hassenstein-Reichardt model",
        "Abstract",
        ("C4.three", "C4.hrd"),
        ("C4.cartoon > 0",),
        condition="a detector has one change to read: with two, two pixels do as well",
    ),
    Sentence(
        "The trained NN recapitulates major features of the well-studied motion detector", "Abstract", waits_for=FLY
    ),
    Sentence(
        "such an approach learns the operators and evaluates transformation magnitudes correctly", "1", waits_for=RIVALS
    ),
    # 1.1
    Sentence("optimized offline by a projection onto the principal subspace", "1.1", ("C26.reconstruction",)),
    Sentence("also solved by projecting the input data onto the principal subspace", "1.1", ("C26.descent",)),
    Sentence("can be converted algebraically to a tractable form", "1.1", ("C35.lyapunov",)),
    Sentence(
        "In contrast, in the SM approach the inhibitory interaction matrix M is learned via a local anti-Hebbian rule",
        "1.1",
        ("C36.equal",),
    ),
    Sentence(
        "clustering and learning manifolds by tiling them with localized receptive fields", "1.1", ("C26.ring_active",)
    ),
    # 2.1, 2.2
    Sentence("can store only the latest pair of images and a small number of variables", "2.1", ("C36.equal",)),
    Sentence("such neuron's response would be highly dependent on the image content", "2.2", ("C9.or",)),
    Sentence("Learning to detect content-independent transformations", "Abstract", ("C9.worst",)),
    Sentence(
        "we do not require separate neurons to represent different velocities but rather have a single output neuron",
        "2.2",
        ("C8.gratings", "C8.noise", "C8.sign"),
    ),
)

FIGURES = {
    "1, networks": "`figure1.png` (C26)",
    "2a, c-f, learned filters": "`figure2_L1.png`, `figure2_L2.png` (C1, C2)",
    "2b, cartoon": "`three_pixels.png` (C4)",
    "3, multi-compartment neuron": FLY,
    "4a-b, T4's circuit": FLY,
    "4c, impulse responses": FLY,
    "5a-b, rotation filters": "`filters_rotation.png` (C10, C12)",
    "5c, a bar turned again and again": "`turned_bars.png` (C11)",
    "6, translation filters": "`filters_translation.png` (C13)",
    "7, equivalence with the HRD": "`equivalence.png` (C16)",
}
"""Each figure of the paper, and what remakes it."""
