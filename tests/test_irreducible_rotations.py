"""Planes that motion turns: what is found on data whose planes are known, and the contract of the learner."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from flymotion import FramePairs
from flymotion.claims.worlds import WORLDS, World, show_step
from flymotion.generators import cosine
from flymotion.relations import IrreducibleRotations
from flymotion.relations.irreducible_rotations import METHODS, _amounts, _component, _one_layer, _refined, planes_of
from flymotion.relations.plane_rates import most_likely
from flymotion.similarity import SimilarityMatching
from flymotion.similarity.features import outer_products
from flymotion.similarity.rivals import OuterProductPCA

WAVES = 2 * np.pi * np.outer(np.arange(1, 6), np.arange(11)) / 11


def cyclic(steps, *, falling=1.0, seed=0):
    """Periodic content of 11 pixels, of amplitudes k^-falling, moved by steps."""
    rng = np.random.default_rng(seed)
    k, shape = np.arange(1, 6), (len(steps), 5)
    content = (rng.normal(size=shape) + 1j * rng.normal(size=shape)) * k**-falling
    level = rng.normal(size=(len(steps), 1))
    moved = content * np.exp(-2j * np.pi * np.outer(steps, k) / 11)
    before, after = ((z @ np.exp(1j * WAVES)).real + level for z in (content, moved))
    return FramePairs(before, after, steps)


def both_ways(n=1000, largest=0.5, seed=0, **how):
    return cyclic(np.random.default_rng(seed).uniform(-largest, largest, n), seed=seed, **how)


def worst_angles(planes):
    """Largest principal angle of each plane, shape (n_planes, 2, n), with the nearest plane of waves [deg]."""
    waves = np.stack([np.cos(WAVES), np.sin(WAVES)], axis=1) * np.sqrt(2 / 11)
    cosines = np.linalg.svd(planes[:, None] @ waves.swapaxes(1, 2), compute_uv=False)[..., 1].max(axis=1)
    return np.degrees(np.arccos(np.minimum(cosines, 1)))


# -- recovery --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("falling", [0.0, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_planes_of_cyclic_translation_are_those_of_waves(method, falling):
    learner = IrreducibleRotations(method=method).fit(both_ways(falling=falling))
    assert worst_angles(learner.planes_).max() < 0.5
    assert_allclose(np.sort(learner.rates_) / learner.rates_.min(), [1, 2, 3, 4, 5], rtol=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_components_alone_find_the_planes_up_to_sampling_errors(method):
    learner = IrreducibleRotations(method=method, n_refinements=0).fit(both_ways(4000, falling=0.0))
    assert worst_angles(learner.planes_).max() < 15
    random = np.linalg.qr(np.random.default_rng(1).normal(size=(11, 10)))[0].T.reshape(5, 2, 11)
    assert worst_angles(random).min() > 40


def test_a_spectrum_that_makes_singular_values_equal_mixes_planes_of_one_layer_and_not_of_two():
    """At a power of 1 / k all planes have one lambda_k omega_k, the singular value; cot(omega_k s / 2) differs."""
    one, two = (
        worst_angles(IrreducibleRotations(method=method, n_refinements=0).fit(both_ways(4000, falling=0.5)).planes_)
        for method in METHODS
    )
    assert two.max() < 10 < one.min()


@pytest.mark.parametrize("method", METHODS)
def test_motion_one_way_only_will_do(method):
    pairs = cyclic(np.random.default_rng(0).uniform(0, 0.5, 1000))
    assert worst_angles(IrreducibleRotations(method=method).fit(pairs).planes_).max() < 0.5


def test_motion_far_beyond_a_pixel_is_read():
    learned = both_ways()
    learner = IrreducibleRotations().fit(learned)
    pixels = np.abs(learned.motion).mean() * np.sign(learner.velocity(learned) @ learned.motion)
    steps = np.tile([-5.0, -3.3, -1.0, 0.1, 2.0, 5.2], 50)
    new = cyclic(steps, seed=5)
    assert np.median(np.abs(pixels * learner.velocity(new) - steps)) < 0.01


def test_windows_of_an_endless_world_have_planes_too():
    world, steps = WORLDS["L2"], (0.3, 3.0)
    learner = IrreducibleRotations().fit(learned := world.pairs(15, 3000, [0, 0]))
    pixels = np.abs(learned.motion).mean() * np.sign(learner.velocity(learned) @ learned.motion)
    places = np.linspace(0, 1000, 100)
    for step in steps:
        shown = show_step(world.scene(1), world.eye(15), places, step)
        assert np.median(np.abs(pixels * learner.velocity(shown) - step)) < 0.15 * step


def test_motion_that_went_too_far_is_left_out():
    far = World(0.475, 3.0, "midpoint")
    learned, new = far.pairs(15, 3000, [0, 0]), far.pairs(15, 1000, [0, 1])

    def told(furthest):
        velocity = IrreducibleRotations(furthest=furthest).fit(learned).velocity(new)
        return abs(np.corrcoef(velocity, new.motion[:, 0])[0, 1])

    assert told(5.0) > 0.9 > 0.5 > told(200.0)


def test_the_network_of_similarity_matching_finds_the_planes():
    pairs = both_ways(2000, falling=0.0)
    chi = outer_products(pairs, "antisymmetric")
    learned, exact = (learner(1).fit(chi).generators_[0] for learner in (SimilarityMatching, OuterProductPCA))
    planes, _ = planes_of(learned, 5)
    assert worst_angles(np.stack([planes.real, planes.imag], axis=1)).max() < 30
    ours = _component(pairs.before, pairs.after)
    assert abs(cosine(exact, ours)) > 1 - 1e-9
    assert abs(cosine(learned, ours)) > 0.98


# -- equations -------------------------------------------------------------------------------------------------------


def test_operators_are_taken_apart_into_planes():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(7, 7)))[0]
    rates, (u, v) = np.array([3.0, 2.0, 0.0]), (Q[:, :6:2].T, Q[:, 1:6:2].T)
    A = np.einsum("k,ki,kj->ij", rates, v, u) - np.einsum("k,ki,kj->ij", rates, u, v)
    planes, found = planes_of(A, 3)
    assert_allclose(found, rates, atol=1e-12)
    assert_allclose(planes @ planes.T, np.zeros((3, 3)), atol=1e-12)  # u and v orthogonal, and of one length
    assert_allclose(planes @ planes.conj().T, 2 * np.eye(3), atol=1e-12)
    again = np.einsum("k,ki,kj->ij", found, planes.imag, planes.real)
    assert_allclose(again - again.T, A, atol=1e-12)


def test_the_refined_operator_has_the_least_squared_error_among_antisymmetric_ones():
    pairs = both_ways(200).map(lambda x: x + 0.1 * np.random.default_rng(3).normal(size=x.shape))
    learner = IrreducibleRotations(n_refinements=1).fit(pairs)
    x, x_next = pairs.before - learner.mean_, pairs.after - learner.mean_
    _, start = _one_layer(x, x_next, 5)
    A, s = _refined(start, x, x_next, 1), _amounts(start, x, x_next)[:, None]

    def error(operator):
        return np.sum((x_next - x - s * ((x + x_next) / 2) @ operator.T) ** 2)

    for i, j in [(0, 1), (2, 7), (4, 10)]:
        E = np.zeros((11, 11))
        E[i, j], E[j, i] = 1e-3, -1e-3
        assert error(A) < min(error(A + E), error(A - E))


def test_angles_and_amplitudes_are_atan2_and_products_of_sizes():
    pairs = both_ways(500)
    learner = IrreducibleRotations(3).fit(pairs)
    angles, amplitudes = learner.transform(pairs), learner.amplitudes(pairs)
    assert angles.shape == amplitudes.shape == (500, 3)
    (u, v), x, y = learner.planes_[1], pairs.before[7] - learner.mean_, pairs.after[7] - learner.mean_
    cross, dot = (u @ x) * (v @ y) - (v @ x) * (u @ y), (u @ x) * (u @ y) + (v @ x) * (v @ y)
    assert_allclose(angles[7, 1], np.arctan2(cross, dot))
    assert_allclose(amplitudes[7, 1], np.hypot(u @ x, v @ x) * np.hypot(u @ y, v @ y))
    assert_allclose(learner.transform(pairs.reversed()), -angles, atol=1e-12)


def test_what_is_kept_is_as_documented():
    learner = IrreducibleRotations(4).fit(both_ways())
    u, v = learner.planes_.swapaxes(0, 1)
    flat = learner.planes_.reshape(8, 11)
    assert_allclose(flat @ flat.T, np.eye(8), atol=1e-9)
    assert_allclose(learner.generators_[2], np.outer(v[2], u[2]) - np.outer(u[2], v[2]))
    total = learner.generator_
    assert_allclose(total, sum(r * A for r, A in zip(learner.rates_, learner.generators_, strict=True)))
    assert total.ravel()[np.abs(total).argmax()] > 0
    assert (learner.rates_ > 0).all()
    place = np.hypot(u, v).argmax(axis=1)
    assert_allclose(v[np.arange(4), place], 0, atol=1e-12)


def test_slow_planes_tell_fast_ones_apart():
    rates, s = np.array([0.5, 1.7, 4.1]), np.array([-5.0, 0.01, 3.9])
    assert_allclose(most_likely(1e6 * np.exp(1j * np.outer(s, rates)), rates), s, atol=1e-5)
    assert_allclose(most_likely(np.zeros((2, 3)), rates), 0, atol=1e-12)


# -- contract --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_frames_that_say_nothing_are_answered_with_0(method):
    still = FramePairs(np.ones((20, 5)), np.ones((20, 5)))
    learner = IrreducibleRotations(2, method=method).fit(still)
    assert_allclose(learner.transform(still), 0)
    assert_allclose(learner.velocity(still), 0)
    assert np.isfinite(learner.planes_).all()


@pytest.mark.parametrize("method", METHODS)
def test_it_is_a_learner_of_pairs(method):
    pairs = both_ways(300)
    before = pairs.before.copy()
    learner = IrreducibleRotations(2, method=method)
    outputs = learner.fit(pairs).transform(pairs)
    assert_allclose(clone(learner).fit(pairs).transform(pairs), outputs, rtol=0, atol=0)
    assert_allclose(pickle.loads(pickle.dumps(learner)).transform(pairs), outputs, rtol=0, atol=0)
    assert_allclose(pairs.before, before, rtol=0, atol=0)
    assert learner.get_feature_names_out().tolist() == ["irreduciblerotations0", "irreduciblerotations1"]
    assert learner.transform(pairs[:0]).shape == (0, 2)
    assert learner.velocity(pairs[:0]).shape == (0,)


@pytest.mark.parametrize(
    "how, message",
    [
        ({"n_planes": 0}, "n_planes is 0; expected a positive whole number"),
        ({"n_planes": 6}, "n_planes is 6; frames of 11 pixel\\(s\\) have 5 plane\\(s\\)"),
        ({"method": "svd"}, "method is 'svd'; expected one of 'antisymmetric', 'differences'"),
        ({"n_refinements": -1}, "n_refinements is -1; expected a whole number, 0 or more"),
        ({"furthest": 0.0}, "furthest is 0.0; expected a positive number of mean motions"),
    ],
)
def test_parameters_out_of_range_are_named(how, message):
    with pytest.raises(ValueError, match=message):
        IrreducibleRotations(**how).fit(both_ways(50))


def test_pairs_alone_will_do():
    with pytest.raises(ValueError, match="X is ndarray; expected FramePairs"):
        IrreducibleRotations().fit(np.ones((3, 4)))
