"""Slow feature analysis: the eigenproblem as printed, what its papers recover, and what of it tells motion."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from flymotion.claims.worlds import WORLDS
from flymotion.frames import FramePairs, pair_up
from flymotion.photoreceptors import ZCAWhitening
from flymotion.relations import SlowFeatures
from flymotion.relations.slowness import EXPANSIONS
from flymotion.world import Line, render
from flymotion.world.scenes import ExponentialNoise

# Movies


def correlated(n_frames, n_pixels, seed=0):
    """A movie whose pixels are mixtures of autoregressive processes of different speeds."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_frames, n_pixels))
    for t in range(1, n_frames):
        x[t] += np.linspace(0.9, 0.1, n_pixels) * x[t - 1]
    return x @ rng.standard_normal((n_pixels, n_pixels)) + 3.0


def runs(n_pixels, n_runs, length, seed, *, sizes=0.5, lasts=True):
    """Clips of a line's pixels in exponential noise that moves, all of one speed or of a new one at each frame."""
    scene = ExponentialNoise(3.0, period=32768.0, sharpest=0.6, random_state=seed)
    rng = np.random.default_rng([seed, 1])
    steps = rng.uniform(-sizes, sizes, (n_runs, length - 1))
    steps = np.repeat(steps[:, :1], length - 1, axis=1) if lasts else steps
    places = rng.uniform(0, 32768, n_runs)[:, None] - np.cumsum(np.pad(steps, ((0, 0), (1, 0))), axis=1)
    movie = render(scene, Line(n_pixels, 0.6), places.reshape(-1, 1))
    pairs = pair_up(movie, cuts=np.arange(length, len(movie), length))
    return FramePairs(pairs.before, pairs.after, steps.reshape(-1))


def correlation(a, b):
    return abs(np.corrcoef(a, b)[0, 1])


def readout(learner, pairs, new):
    """Accuracy of direction and correlation with velocity, both read linearly, labels known of the first pairs."""
    y, y_new = (np.c_[np.ones(len(some)), learner.transform(some)] for some in (pairs, new))
    velocity, true = pairs.motion[:, 0], new.motion[:, 0]
    direction, speed = (y_new @ np.linalg.lstsq(y, goal, rcond=None)[0] for goal in (np.sign(velocity), velocity))
    return np.mean(np.sign(direction) == np.sign(true)), np.corrcoef(speed, true)[0, 1]


# The equations


def products(u, quadratic):
    """All products of one input, and of two, by a loop."""
    pairs = itertools.combinations_with_replacement(range(u.shape[1]), 2) if quadratic else ()
    return np.stack([*u.T, *(u[:, i] * u[:, j] for i, j in pairs)], axis=1)


@pytest.mark.parametrize("expansion", EXPANSIONS)
@pytest.mark.parametrize("of", ["frames", "pairs"])
def test_outputs_solve_the_generalised_eigenproblem(of, expansion):
    """E[dz dz'] w = slowness E[z z'] w, of products written out, over both ends of each step."""
    movie = correlated(400, 3)
    seen = {"frames": movie, "pairs": np.hstack([movie[:-1], movie[1:]])}[of]
    z = products(seen, expansion == "quadratic")
    dz, ends = np.diff(z, axis=0), np.concatenate([z[:-1], z[1:]])
    values, w = eigh(dz.T @ dz / len(dz), np.cov(ends.T, bias=True))
    K = min(4, len(values))
    learner = SlowFeatures(K, of=of, expansion=expansion).fit(pair_up(movie))
    assert_allclose(learner.slowness_, values[:K], rtol=1e-6)
    expected = (z - ends.mean(axis=0)) @ w[:, :K]
    found = learner.transform(pair_up(movie))[:, :K]
    expected = expected[: len(found)]
    assert_allclose(found * np.sign((found * expected).sum(axis=0)), expected, atol=1e-5)


@pytest.mark.parametrize("of", ["frames", "pairs"])
def test_outputs_are_centred_of_variance_one_uncorrelated_and_as_slow_as_told(of):
    learner = SlowFeatures(5, of=of)
    pairs = pair_up(correlated(500, 4))
    y = learner.fit_transform(pairs)
    now, later = {"frames": (y[:, :5], y[:, 5:]), "pairs": (y[:-1], y[1:])}[of]
    both = np.concatenate([now, later])
    assert_allclose(both.mean(axis=0), 0, atol=1e-9)
    assert_allclose(both.T @ both / len(both), np.eye(5), atol=1e-8)
    assert_allclose(((later - now) ** 2).mean(axis=0), learner.slowness_, rtol=1e-6)
    assert np.all(np.diff(learner.slowness_) >= 0)


def test_invertible_maps_of_what_is_seen_change_nothing():
    """Products of mixed inputs span what those of the inputs span."""
    movie, mix = correlated(400, 3), np.random.default_rng(3).standard_normal((3, 3))
    one, other = (SlowFeatures(3).fit_transform(pair_up(seen)) for seen in (movie, movie @ mix - 5))
    assert_allclose(np.abs(one.T @ other).diagonal(), (one**2).sum(axis=0), rtol=1e-6)


# What the papers recover


def test_first_example_of_wiskott_and_sejnowski():
    """x = (sin t + cos^2 11 t, cos 11 t): sin t is found exactly by products of two, and by none of one."""
    t = np.linspace(0, 2 * np.pi, 4000)
    pairs = pair_up(np.stack([np.sin(t) + np.cos(11 * t) ** 2, np.cos(11 * t)], axis=1))
    quadratic, linear = (SlowFeatures(1, expansion=expansion).fit(pairs) for expansion in ("quadratic", "linear"))
    assert correlation(quadratic.transform(pairs)[:, 0], np.sin(t[:-1])) > 1 - 1e-9
    assert correlation(linear.transform(pairs)[:, 0], np.sin(t[:-1])) < 0.9


def test_optimal_free_responses_are_half_waves():
    """Wiskott 2003: of one passage, free functions become cosines of j half waves, of slowness (pi j / T)^2."""
    T = 2000
    position = np.linspace(0, 30, T)
    bumps = np.exp(-((position[:, None] - np.arange(-3, 34)) ** 2) / 4)
    learner = SlowFeatures(4, expansion="linear").fit(pair_up(bumps))
    y, j = learner.transform(pair_up(bumps)), np.arange(1, 5)
    waves = np.cos(np.pi * j * np.linspace(0, 1, T)[:-1, None])
    assert min(correlation(y[:, k], waves[:, k]) for k in range(4)) > 0.9999
    assert_allclose(learner.slowness_, (np.pi * j / T) ** 2, rtol=0.01)


PHASES = 2 * np.pi * np.arange(32) / 32


def modulation(learner, n_outputs, *, amplitude):
    """AC/DC of rectified outputs at each one's best grating: half of peak to peak over the mean."""
    x, frequencies = np.arange(learner.n_features_in_), np.arange(1, 8) / 16
    waves = learner.mean_ + amplitude * np.cos(2 * np.pi * frequencies[:, None, None] * x - PHASES[:, None])
    blank = learner._outputs(learner.mean_[None])
    responses = np.stack([learner._outputs(wave) - blank for wave in waves])[..., :n_outputs]
    best = np.abs(responses).mean(axis=1).argmax(axis=0)
    at_best = responses[best, :, np.arange(n_outputs)]
    rectified = np.maximum(at_best * np.where(at_best.mean(axis=1) < -1e-9, -1, 1)[:, None], 0)
    return np.ptp(rectified, axis=1) / 2 / rectified.mean(axis=1)


def test_complex_cells_from_moving_noise():
    """Berkes & Wiskott 2005: quadratic units do not mind the phase; linear ones have pi / 2, as simple cells."""
    pairs = runs(16, 1500, 4, 0, sizes=2.0)
    complex_cells, simple = (SlowFeatures(6, expansion=expansion).fit(pairs) for expansion in ("quadratic", "linear"))
    amplitude = np.sqrt(2) * pairs.before.std()
    assert modulation(complex_cells, 6, amplitude=amplitude).max() < 1
    assert_allclose(modulation(simple, 6, amplitude=amplitude), np.pi / 2, rtol=0.02)


def test_direction_and_speed_are_slow_where_motion_lasts_and_not_where_it_does_not():
    """Berkes & Wiskott's direction selectivity, in 12 outputs of pairs; the null is motion new at every frame."""
    new = runs(9, 2000, 2, 7)
    lasting, fitful = runs(9, 2000, 4, 0), runs(9, 2000, 4, 0, lasts=False)
    accuracy, r = readout(SlowFeatures(12, of="pairs").fit(lasting), lasting, new)
    assert accuracy > 0.95
    assert r > 0.8
    accuracy, r = readout(SlowFeatures(12, of="pairs").fit(fitful), lasting, new)
    assert abs(accuracy - 0.5) < 0.05
    assert abs(r) < 0.1


# What of it tells motion


def test_single_frames_tell_nothing_of_direction():
    """A function of one frame has one mean in a stationary world, before a motion and after it."""
    pairs, new = runs(9, 2000, 2, 0), runs(9, 2000, 2, 7)
    accuracy, r = readout(SlowFeatures(8, of="frames").fit(pairs), pairs, new)
    assert abs(accuracy - 0.5) < 0.04
    assert abs(r) < 0.08


def test_generators_are_what_turns_sign_with_time():
    """A movie that runs forth and back has one mean before and after, so that nothing else is odd but linear forms."""
    movie = correlated(200, 3)
    pairs = pair_up(np.concatenate([movie, movie[::-1]]))
    learner = SlowFeatures(27, of="pairs").fit(pairs)
    odd = (learner.transform(pairs) - learner.transform(pairs.reversed())) / 2
    dx, middle = pairs.after - pairs.before, (pairs.after + pairs.before) / 2 - learner.mean_[3:]
    linear = dx @ (learner.linear_forms_[:, 3:] - learner.linear_forms_[:, :3]).T / 2
    found = np.einsum("ti,kij,tj->tk", dx, learner.generators_, middle) + linear
    assert_allclose(found, odd, atol=1e-8 * np.abs(odd).max())
    x_next_x, A = learner.quadratic_forms_[:, 3:, :3], learner.generators_
    assert_allclose(A - A.swapaxes(1, 2), x_next_x - x_next_x.swapaxes(1, 2), atol=1e-9 * np.abs(A).max())


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_direction_in_the_papers_worlds(world):
    """Four slowest outputs of pairs, read with labels, of five seeds; runs of three frames, new pairs."""
    told = WORLDS[world]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        step, place = rng.uniform(-told.max_shift, told.max_shift, 9000), rng.uniform(0, 32768, 9000)
        movie = render(told.scene(seed), told.eye(9), (place[:, None] - step[:, None] * np.arange(3)).reshape(-1, 1))
        pairs = pair_up(movie, cuts=np.arange(3, len(movie), 3))
        pairs = ZCAWhitening(0.0).fit_transform(FramePairs(pairs.before, pairs.after, np.repeat(step, 2)))
        accuracy, r = readout(SlowFeatures(4, of="pairs").fit(pairs[:10000]), pairs[:10000], pairs[10000:])
        assert accuracy > 0.95
        assert r > 0.8


# Ends of its range


def test_few_products_leave_outputs_of_zero():
    still = np.ones((20, 3))
    with pytest.warns(ConvergenceWarning, match="0 products with variance for 2 outputs"):
        learner = SlowFeatures(2).fit(pair_up(still))
    assert_allclose(learner.transform(pair_up(still)), 0)
    movie = correlated(50, 1)
    with pytest.warns(ConvergenceWarning, match="2 products with variance for 3 outputs"):
        y = SlowFeatures(3).fit_transform(pair_up(movie))
    assert_allclose(y[:, [2, 5]], 0)
    assert np.all(y[:, [0, 1]].std(axis=0) > 0.5)


def test_a_pixel_twice_changes_nothing():
    movie = correlated(300, 3)
    one, other = (SlowFeatures(3).fit_transform(pair_up(m)) for m in (movie, np.c_[movie, movie[:, :1] * 2]))
    assert_allclose(np.abs(one), np.abs(other), atol=1e-5)


def test_principal_components_alone_are_expanded():
    learner = SlowFeatures(3, n_inputs=2).fit(pair_up(correlated(300, 6)))
    assert [np.linalg.matrix_rank(H, tol=1e-9 * np.abs(H).max()) for H in learner.quadratic_forms_] == [2, 2, 2]
    assert SlowFeatures(3, n_inputs=99).fit(pair_up(correlated(300, 2))).slowness_.shape == (3,)


def test_early_vision_of_the_whole_movie_keeps_its_order():
    pairs = ZCAWhitening().fit_transform(runs(5, 300, 4, 0))
    assert SlowFeatures(2, of="pairs").fit(pairs).slowness_[0] < 0.1


@pytest.mark.parametrize(
    "given, match",
    [
        ({"n_components": 0}, "n_components is 0; expected a positive whole number"),
        ({"n_inputs": 0.5}, r"n_inputs is 0\.5; expected a positive whole number"),
        ({"of": "movies"}, "of is 'movies'; expected one of frames, pairs"),
        ({"expansion": "cubic"}, "expansion is 'cubic'; expected one of linear, quadratic"),
    ],
)
def test_parameters_out_of_range_are_named(given, match):
    with pytest.raises(ValueError, match=match):
        SlowFeatures(**given).fit(pair_up(correlated(30, 2)))


def test_pairs_in_no_order_are_refused(make_frame_pairs):
    with pytest.raises(ValueError, match="no pair of X begins with the frame that the one before it ends with"):
        SlowFeatures(of="pairs").fit(make_frame_pairs())


def test_only_quadratic_features_of_pairs_have_generators():
    pairs = pair_up(correlated(60, 2))
    for learner in (SlowFeatures(), SlowFeatures(of="pairs", expansion="linear")):
        with pytest.raises(AttributeError, match="only for quadratic features of pairs"):
            _ = learner.fit(pairs).generators_


def test_what_it_is_of_may_not_change_after_learning():
    learner = SlowFeatures().fit(pair_up(correlated(60, 2)))
    with pytest.raises(ValueError, match="of is 'pairs', but this SlowFeatures has learned with 'frames'"):
        learner.set_params(of="pairs").transform(pair_up(correlated(60, 2)))


@pytest.mark.parametrize("of, d", [("frames", 3), ("pairs", 6)])
def test_what_is_learned_has_the_shapes_of_the_docstring(of, d):
    learner = SlowFeatures(4, of=of).fit(pair_up(correlated(60, 3)))
    shapes = {
        "slowness_": (4,),
        "mean_": (d,),
        "offsets_": (4,),
        "linear_forms_": (4, d),
        "quadratic_forms_": (4, d, d),
    }
    assert {name: getattr(learner, name).shape for name in shapes} == shapes
