"""What the paper says that can be measured: each sentence in a few words, and the rows that decide it.

A sentence stands here whether it holds or not; :mod:`flymotion.claims.judging` says what the rows make of it. Where a
row only reports, the sentence gives the bound that its words ask for. Quotes are shortened (...), never changed.
"""

from __future__ import annotations

from flymotion.claims.judging import Sentence

__all__ = ["FIGURES", "SENTENCES"]

RIVALS = "issue “The rivals at their best”"

FLY = "issue “From synapses to the fly”"

SENTENCES = (
    # -- Abstract and introduction
    Sentence(
        "local motion detectors combine information from at least three adjacent pixels, something that contradicts "
        "the celebrated Hassenstein-Reichardt model",
        "Abstract",
        ("C4.one_change", "C4.hrd"),
        ("C4.cartoon > 0",),
        condition="a detector reads one change: two pixels that read the change of both do better",
    ),
    Sentence(
        "The trained NN recapitulates major features of the well-studied motion detector in the fly",
        "Abstract",
        waits_for=FLY,
    ),
    Sentence(
        "such an approach learns the operators and evaluates transformation magnitudes correctly",
        "1",
        waits_for=RIVALS,
    ),
    # -- 1.1, vectors
    Sentence("optimized offline by a projection onto the principal subspace", "1.1", ()),
    Sentence("also solved by projecting the input data onto the principal subspace", "1.1", ("C26.descent",)),
    Sentence("can be converted algebraically to a tractable form", "1.1", ("C35.lyapunov",)),
    Sentence("The learning rules ... are local", "1.1", ()),
    Sentence("the inhibitory interaction matrix M is learned for y_j's via a local anti-Hebbian rule", "1.1", ()),
    Sentence(
        "decorrelate different output channels via a competition implemented by the lateral connections", "1.1", ()
    ),
    Sentence("clustering and learning manifolds by tiling them with localized receptive fields", "1.1", ()),
    # -- 2.1 to 2.4, the objective and the network
    Sentence("can store only the latest pair of images and a small number of variables", "2.1", ()),
    Sentence("such neuron's response would be highly dependent on the image content", "2.2", ("C9.or",)),
    Sentence("content-independent detection of translations", "2.2", ()),
    Sentence("the velocity of the object is given by the most active neuron", "2.2", ()),
    Sentence(
        "a single output neuron (for each direction of motion), whose activity increases with velocity",
        "2.2",
        ("C8.gratings", "C8.noise", "C8.sign"),
    ),
    Sentence("the cross-terms are the same", "2.3", ("C35.cross_term",)),
    Sentence("equivalent, up to an orthogonal rotation, to PCA", "2.3", ("C1.pca", "C26.descent")),
    Sentence("this objective function clusters data or tiles data manifolds", "2.3", ()),
    Sentence("we break up W into rank-1 components, each of which is computed in a separate neuron", "2.4", ()),
    # -- 2.5, numerical experiments
    Sentence("They replicate the known operator of translation, a spatial derivative", "2.5", ()),
    Sentence("do not account for a known transformation matrix", "2.5", ()),
    Sentence(
        "a reversal of translation is represented by a change of sign of the transformation magnitude",
        "2.5",
        ("C7.reversal",),
    ),
    Sentence("two filters, which are sign inversions of each other", "2.5", ()),
    Sentence("identical except for a shift, i.e. the same operator is applied at each image location", "2.5", ()),
    Sentence("can be approximated by the filter keeping only the three central pixels", "2.5", ("C4.three",)),
    Sentence("may be viewed as a Bayesian optimal estimate of velocity in the low SNR regime", "2.5", ()),
    Sentence("the same structure was observed with larger values of n", "2.5", ()),
    Sentence("Similar results were also obtained with models trained on moving periodic sine-wave gratings", "2.5", ()),
    Sentence(
        "distinguish between motion in the four cardinal directions, and clockwise and counterclockwise rotations",
        "2.5",
        (),
    ),
    Sentence("which was not possible with prior approaches", "2.5", waits_for=RIVALS),
    # -- 3, the fly
    Sentence("A formal analysis shows that this operation can be viewed as a multiplication", "3.1", waits_for=FLY),
    Sentence(
        "receives light intensity variation from only one pixel ... and light intensities from nearby pixels",
        "3.2",
        waits_for=FLY,
    ),
    Sentence("in each T4 neuron Delta x is a scalar and W is a vector", "3.2", ()),
    Sentence("implemented by inhibitory lateral connections", "3.2", waits_for=FLY),
    Sentence("The summed output of our detectors is equivalent to the summed output of HRDs", "3.2", ()),
    Sentence("the neuronal output nonlinearity can generate multiplicative terms", "3.2", ()),
    Sentence("somewhat different receptive fields for different natural image statistics", "3.2", waits_for=FLY),
    Sentence(
        "the predicted output of a single motion detector in our model is different from both HRD and [salazar]",
        "3.2",
        (),
    ),
    Sentence("the output should be proportional to contrast squared", "3.3", ()),
    Sentence("this prediction differs from [rao] whose output is contrast-independent", "3.3", waits_for=RIVALS),
    Sentence("in the high SNR regime, the output becomes contrast independent", "3.3", ()),
    Sentence("Our model reproduces such oscillations", "3.3", ()),
    Sentence("output first increases with the velocity of the visual stimulus and then decreases", "3.3", ()),
    Sentence("The optimal velocity is proportional to the spatial wavelength", "3.3", ()),
    Sentence("a constant given by the inverse of the time delay", "3.3", ()),
    Sentence("learning of other content-preserving transformation", "Conclusion", ()),
    # -- Supplement
    Sentence("in the first order our model and that of [bethge] are related", "A", ()),
    Sentence("this feature has a time-reversal anti-symmetry. This helps detecting the direction of change", "A", ()),
    Sentence("is expected to arise from the data rather than by construction", "A", ()),
    Sentence("the regularizer lambda dominates the denominator in the realistic setting", "C", ()),
    Sentence("matches the generator of translation learned by the various models above", "C", ()),
    Sentence("learns transformation matrix of clockwise and counter-clockwise rotations", "D.1", ()),
    Sentence("K-means recovers both generators of rotations", "D.1", ()),
    Sentence("SM and PCA recover only one rotation generator", "D.1", ()),
    Sentence(
        "only account for one direction of rotation, either clockwise or counter-clockwise", "D.1", waits_for=RIVALS
    ),
    Sentence("After multiple application of the rotation operator, artifacts start to appear", "D.1", ()),
    Sentence("connects ... only to nearby", "D.1", ()),
    Sentence("is absent as before", "D.1", ()),
    Sentence("responsible for detecting roll, pitch and yaw ... is learned", "D.1", ()),
    Sentence("our model learns two different generators, left-right and up-down motion", "D.2", ()),
    Sentence("each accounting for a motion in a cardinal direction", "D.2", ()),
    Sentence("a formal equivalence between the proposed model and the HRD when averaged", "E", ()),
    Sentence("for large fields the boundary contribution vanishes", "E", ()),
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
