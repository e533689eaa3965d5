"""The gated network, sums along diagonals and units that add: against their equations, and what their papers say."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from flymotion.claims.worlds import WORLDS
from flymotion.frames import FramePairs
from flymotion.photoreceptors import ZCAWhitening
from flymotion.relations import AdditiveUnits, DiagonalSums, GatedBoltzmann
from flymotion.relations.additive import end_to_end
from flymotion.relations.gated_boltzmann import Gates, contrastive_divergence
from flymotion.world.eyes import Grid

QUICK = {"n_factors": 6, "n_passes": 2, "random_state": 0}
LEARNERS = {
    "gated": GatedBoltzmann(4, **QUICK),
    "gated onto the change": GatedBoltzmann(4, onto="change", **QUICK),
    "diagonals": DiagonalSums(2),
    "cyclic diagonals": DiagonalSums(cyclic=True),
    "additive": AdditiveUnits(3),
    "with a threshold": AdditiveUnits(3, threshold=0.5),
}


def shifted(n_pairs=300, n=8, reach=2, seed=0):
    """White noise that moves by whole pixels; content comes in at the borders."""
    rng = np.random.default_rng(seed)
    scene, shifts = rng.standard_normal((n_pairs, n + 2 * reach)), rng.integers(-reach, reach + 1, n_pairs)
    after = np.stack([row[reach - s : reach - s + n] for row, s in zip(scene, shifts, strict=True)])
    return FramePairs(scene[:, reach:-reach], after, shifts[:, None].astype(float))


@pytest.fixture(params=LEARNERS.values(), ids=LEARNERS)
def learner(request):
    return clone(request.param)


# -- what all promise -------------------------------------------------------------------------------------------------


def test_outputs_are_reproducible_named_and_leave_pairs_alone(learner):
    pairs = shifted()
    kept = FramePairs(pairs.before.copy(), pairs.after.copy())
    first, again = clone(learner).fit(pairs), pickle.loads(pickle.dumps(learner.fit(pairs)))
    outputs = first.transform(pairs)
    assert_array_equal(outputs, again.transform(pairs))
    assert outputs.shape == (300, len(first.get_feature_names_out()))
    assert_array_equal(pairs.before, kept.before)
    assert_array_equal(pairs.after, kept.after)


def test_other_pixels_are_refused_by_both_numbers(learner):
    with pytest.raises(ValueError, match=r"9 pixels.*8"):
        learner.fit(shifted()).transform(shifted(n=9))


def test_still_frames_of_nothing_are_answered_with_numbers(learner):
    nothing = FramePairs(np.zeros((5, 8)), np.zeros((5, 8)))
    learner.fit(shifted())
    assert np.isfinite(learner.transform(nothing)).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (GatedBoltzmann(0), "n_components is 0; expected a positive whole number"),
        (GatedBoltzmann(n_factors=1.5), "n_factors is 1.5"),
        (GatedBoltzmann(onto="last"), "onto is 'last'; expected 'next' or 'change'"),
        (GatedBoltzmann(learning_rate=0.0), r"learning_rate is 0.0; expected a rate in (0, 1]"),
        (GatedBoltzmann(momentum=1.0), r"momentum is 1.0; expected a share in [0, 1)"),
        (GatedBoltzmann(weight_decay=-1), "weight_decay is -1; expected a number from 0 to 1"),
        (GatedBoltzmann(2, learning_rate=1.0, momentum=0.99, n_passes=20, random_state=0), "grew beyond all bounds"),
        (DiagonalSums(0), "reach is 0"),
        (DiagonalSums(8), "reach is 8; expected at most 7"),
        (DiagonalSums(cyclic="yes"), "cyclic is 'yes'; expected True or False"),
        (AdditiveUnits(17), "n_components is 17; expected at most 16"),
        (AdditiveUnits(threshold=np.nan), "threshold is nan"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_parameters_out_of_range_are_named(wrong, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        wrong.fit(shifted())
    assert not [name for name in vars(wrong) if name.endswith("_")]


# -- the gated network ------------------------------------------------------------------------------------------------


def test_gradient_is_that_of_the_energy_seen_less_imagined():
    """Literal transcription: the derivatives of minus E, in a loop over pairs and factors."""
    rng = np.random.default_rng(0)
    gates = Gates(*(rng.normal(size=size) for size in ((4, 3), (4, 3), (2, 3), (4,), (2,))))
    x, y = rng.normal(size=(2, 5, 4))
    U, V, W, b, c = gates
    expected = Gates(*map(np.zeros_like, gates))
    draws = np.random.default_rng(1).random((5, 2))

    def on(x, y):
        return np.array([1 / (1 + np.exp(-c[k] - sum(W[k] * (U.T @ x) * (V.T @ y)))) for k in range(2)])

    def add(x, y, h, sign):
        for f in range(3):
            X, Y, H = U[:, f] @ x, V[:, f] @ y, W[:, f] @ h
            expected.U[:, f] += sign * x * Y * H / 5
            expected.V[:, f] += sign * y * X * H / 5
            expected.W[:, f] += sign * h * X * Y / 5
        expected.b[:] += sign * y / 5
        expected.c[:] += sign * h / 5

    for t in range(5):
        h = on(x[t], y[t])
        states = (h > draws[t]).astype(float)
        imagined = (
            b + sum(states[k] * sum(W[k, f] * np.outer(V[:, f], U[:, f]) for f in range(3)) for k in range(2)) @ x[t]
        )
        add(x[t], y[t], h, 1)
        add(x[t], imagined, on(x[t], imagined), -1)
    for one, other in zip(contrastive_divergence(gates, x, y, np.random.default_rng(1)), expected, strict=True):
        assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("onto", ["next", "change"])
def test_outputs_are_the_bilinear_filters_sigmoids(onto):
    pairs = shifted()
    gated = GatedBoltzmann(3, onto=onto, **QUICK).fit(pairs)
    target = pairs.after - pairs.before * (onto == "change")
    drive = np.einsum("ti,kij,tj->tk", target, gated.generators_, pairs.before)
    assert_allclose(gated.transform(pairs), 1 / (1 + np.exp(-gated.gates_.c - drive)), rtol=1e-9)


@pytest.mark.parametrize("onto", ["next", "change"])
def test_the_unit_of_intensity_does_not_matter(onto):
    pairs = shifted()
    one = GatedBoltzmann(3, onto=onto, **QUICK).fit(pairs).transform(pairs)
    bright = pairs.map(lambda frames: 1e6 * frames)
    assert_allclose(GatedBoltzmann(3, onto=onto, **QUICK).fit(bright).transform(bright), one, rtol=1e-6)


@pytest.fixture(scope="module")
def whole_pixels():
    """Shifts of white noise, and a network that has learned from them: the kind of data of its paper."""
    pairs = shifted(6000, 9)
    return pairs, GatedBoltzmann(12, n_factors=30, n_passes=15, weight_decay=0.01, random_state=0).fit(pairs)


def sinusoid_share(filters):
    """Mean share of the energy of filters, shape (n, F), that each one's best sinusoid has."""
    places = np.arange(len(filters))
    waves = [np.exp(2j * np.pi * f * places) for f in np.linspace(0.02, 0.48, 93)]
    bases = [np.linalg.qr(np.stack([wave.real, wave.imag], axis=1))[0] for wave in waves]
    energies = np.max([((basis.T @ filters) ** 2).sum(axis=0) for basis in bases], axis=0)
    return np.mean(energies / (filters**2).sum(axis=0))


def test_filters_become_sinusoids(whole_pixels):
    _, gated = whole_pixels
    random = np.random.default_rng(0).normal(size=gated.gates_.U.shape)
    assert min(sinusoid_share(gated.gates_.U), sinusoid_share(gated.gates_.V)) > 0.78
    assert sinusoid_share(random) < 0.7


def test_mapping_units_tell_shifts_whatever_moves(whole_pixels):
    pairs, gated = whole_pixels
    new = shifted(1000, 9, seed=1)
    reader = LogisticRegression(max_iter=500).fit(gated.transform(pairs), pairs.motion[:, 0])
    assert reader.score(gated.transform(new), new.motion[:, 0]) > 0.9


def test_a_transformation_is_transferred_to_other_images(whole_pixels):
    """Analogies; where the middle of the image goes is known, what comes in at its borders is not."""
    _, gated = whole_pixels
    seen = shifted(500, 9, seed=2)
    other = np.random.default_rng(3).normal(size=(500, 9))
    moved = np.stack([np.roll(row, int(s)) for row, s in zip(other, seen.motion[:, 0], strict=True)])
    made = gated.analogies(seen, other)
    middle = slice(2, -2)
    assert np.corrcoef(made[:, middle].ravel(), moved[:, middle].ravel())[0, 1] > 0.7
    assert np.corrcoef(made[::-1, middle].ravel(), moved[:, middle].ravel())[0, 1] < 0.4


def test_frames_to_transform_are_one_a_pair(whole_pixels):
    pairs, gated = whole_pixels
    with pytest.raises(ValueError, match=r"\(2, 9\); expected \(6000, 9\)"):
        gated.analogies(pairs, np.zeros((2, 9)))


def test_onto_the_change_still_frames_stay():
    pairs = shifted()
    gated = GatedBoltzmann(3, onto="change", **QUICK).fit(pairs)
    still = FramePairs(pairs.before, pairs.before)
    made = gated.analogies(still, np.zeros_like(pairs.before))
    assert_allclose(made, gated.scales_[1] * gated.gates_.b * np.ones((300, 1)))


@pytest.mark.parametrize(("onto", "least", "most"), [("next", 0.4, 0.6), ("change", 0.88, 1.0)])
def test_fractions_of_a_pixel_are_learned_from_the_change(onto, least, most):
    """World L2, two units, one a direction; from the next frame they learn what is there whatever moves."""
    world = WORLDS["L2"]
    pairs, new = (world.pairs(5, n_pairs, [0, k]) for k, n_pairs in enumerate((5000, 2000)))
    whitening = ZCAWhitening(0.0).fit(pairs)
    gated = GatedBoltzmann(2, n_factors=20, n_passes=20, onto=onto, random_state=0).fit(whitening.transform(pairs))
    first, second = gated.transform(whitening.transform(new)).T
    right = np.mean((first > second) == (new.motion[:, 0] > 0))
    assert least < max(right, 1 - right) < most


# -- sums along diagonals ---------------------------------------------------------------------------------------------


def test_sums_are_traces_of_the_outer_product():
    pairs = shifted(20)
    literal = [
        [np.trace(np.outer(x, y), offset=d) for d in range(-3, 4)]
        for x, y in zip(pairs.before, pairs.after, strict=True)
    ]
    sums = DiagonalSums(3).fit(pairs)
    assert_allclose(sums.transform(pairs), literal, atol=1e-12)
    assert_array_equal(sums.displacements_[:, 0], range(-3, 4))


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("shape", [(8,), (2, 4)])
def test_outputs_are_projections_on_the_shifted_diagonals(shape, cyclic):
    pairs = shifted(20).map(lambda frames: frames.reshape(-1, *shape))
    sums = DiagonalSums(1, cyclic=cyclic).fit(pairs)
    flat = pairs.flat()
    projected = np.einsum("ti,kij,tj->tk", flat.after, sums.generators_, flat.before)
    assert_allclose(sums.transform(pairs), projected, atol=1e-12)
    assert sums.displacements_.shape == (3 ** len(shape), len(shape))


@pytest.mark.parametrize("flat", [False, True], ids=["by its shape", "by its eye"])
def test_a_grid_has_displacements_of_two_dimensions(flat):
    rng = np.random.default_rng(0)
    scenes, steps = rng.standard_normal((100, 11, 12)), rng.integers(-2, 3, (100, 2))
    after = np.stack([s[2 - y : 9 - y, 2 - x : 10 - x] for s, (x, y) in zip(scenes, steps, strict=True)])
    pairs = FramePairs(scenes[:, 2:9, 2:10], after, eye=Grid(7, 8))
    pairs = [pairs, pairs.flat()][flat]
    assert np.mean(DiagonalSums(2).fit(pairs).velocities(pairs) == steps) > 0.95


# -- units that add ---------------------------------------------------------------------------------------------------


def test_units_that_add_are_components_of_both_frames_end_to_end():
    pairs = shifted()
    both = np.concatenate([pairs.before, pairs.after], axis=1)
    assert_array_equal(end_to_end(pairs), both)
    vectors = np.linalg.svd(both, full_matrices=False)[2][:3]
    linear, rectified = (AdditiveUnits(3, threshold=t).fit_transform(pairs) for t in (None, 0.5))
    assert_allclose(np.abs(linear), np.abs(both @ vectors.T), atol=1e-9)
    assert_allclose(rectified, np.maximum(linear - 0.5 * linear.std(axis=0), 0), atol=1e-12)
