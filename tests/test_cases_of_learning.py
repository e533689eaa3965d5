"""Inputs that neighbouring software got wrong (B03 to B47), over everything that can meet them."""

import io
from functools import cache, partial

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from flymotion.detecting import detect
from flymotion.detectors import DETECTORS, three_pixel
from flymotion.field import MotionField
from flymotion.frames import FramePairs, as_frames, pair_up
from flymotion.generators import Generators, Operators, derivative_operator
from flymotion.learner import BUNDLED, MotionLearner, load_photographs
from flymotion.learner.probing import shifted
from flymotion.learner.sources import eye_movements
from flymotion.photoreceptors import ZCAWhitening
from flymotion.plots import draw_filters, filter_sheet
from flymotion.similarity.features import outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA
from flymotion.video import open_movie, read_movie
from flymotion.world.eyes import Grid, Hexagon, Line, Sphere
from flymotion.world.motions import Translation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import ExponentialNoise, SmoothNoise, photograph

RIGHT = derivative_operator((5,))
"""Of content that moves to the right; minus the paper's."""

LEARNERS = {"SM": SimilarityMatching, "NSM": NonnegativeSimilarityMatching}
ALL_LEARNERS = LEARNERS | {"PCA": OuterProductPCA, "K-means": partial(OuterProductKMeans, n_init=2, random_state=0)}


@pytest.fixture
def make_learner():
    return lambda **how: MotionLearner(2, **{"warm_up": 20, "random_state": 0} | how)


# B03: shifts of a fraction of a pixel


@cache
def autoregressive(n):
    """One row of a picture, correlated exponentially from pixel to pixel."""
    rng, row = np.random.default_rng(0), np.zeros(n)
    for i in range(1, n):
        row[i] = np.exp(-1 / 3) * row[i - 1] + rng.normal()
    return row


@cache
def rows_of_photographs(n_pairs):
    """The middle rows of patches that simulated eye movements over photographs give, where those are along the row."""
    scenes = [photograph(image, pixels_per_spacing=1.0) for image in load_photographs([BUNDLED])]
    pairs = FramePairs.concatenate(list(eye_movements(scenes, 5, n_pairs, 0)))
    level = pairs[np.abs(pairs.motion[:, 1]) < 1e-12]
    return FramePairs(level.before[:, 2], level.after[:, 2], level.motion[:, :1])


def seen(scene, largest, n_pairs):
    return sample_pairs(scene, Line(5), Translation(largest, ndim=1), n_pairs, random_state=0)


SHIFTING = {
    "exponential noise": partial(seen, ExponentialNoise(3.0, period=4096.0, random_state=0)),
    "smooth noise": partial(seen, SmoothNoise(2.0, period=4096.0, random_state=0)),
    "pixels of a picture": lambda *how: seen(photograph(autoregressive(4096), pixels_per_spacing=1.0), *how),
    "probes": lambda largest, n: shifted(autoregressive(4096), (5,), n, np.random.default_rng(0)),
    "eye movements": lambda largest, n: rows_of_photographs(n // 2),
}


@pytest.mark.case("B03")
@pytest.mark.parametrize("learner", [OuterProductPCA(1), SimilarityMatching(1)], ids=["PCA", "SM"])
@pytest.mark.parametrize("largest", [0.5, 0.1])
@pytest.mark.parametrize("shift", SHIFTING.values(), ids=SHIFTING)
def test_shifts_by_parts_of_a_pixel_mix_in_no_blur(shift, largest, learner):
    """The first component is the operator: linear interpolation gives 0.00 to 0.03, cubic 0.07 to 0.92."""
    pairs = ZCAWhitening(1e-5).fit_transform(shift(largest, 20_000))
    [operator] = clone(learner).fit(outer_products(pairs, "midpoint")).generators_
    assert abs(Generators(operator[None], (5,)).cosines(RIGHT)[0, 0]) > 0.7


# B04: streams, and cuts


@pytest.mark.case("B04")
@pytest.mark.parametrize("split", [[3, 6], [1, 2, 3, 4, 5, 6], [0, 0, 1, 7], []], ids=str)
def test_seven_frames_are_six_pairs_however_they_come(make_learner, split):
    movie = np.random.default_rng(0).normal(size=(7, 5))
    learner, whole = make_learner(), make_learner().fit(movie)
    for part in np.split(movie, split):
        learner.partial_fit(part)
    assert learner.finish().n_pairs_seen_ == whole.n_pairs_seen_ == 6
    assert_array_equal(learner.network_.S_, whole.network_.S_)
    assert_array_equal(learner.whitening_.matrix_, whole.whitening_.matrix_)


@pytest.mark.case("B04")
@pytest.mark.parametrize("split", [[3, 5], [1, 2, 3, 4, 5], []], ids=str)
@pytest.mark.parametrize("Learner", LEARNERS.values(), ids=LEARNERS)
def test_networks_take_pairs_in_any_batches(Learner, split):
    """A lone frame is no pair, and said to be none; a lone pair is."""
    chi = outer_products(pair_up(np.random.default_rng(0).normal(size=(7, 5))), "midpoint")
    parts = [chi[rows] for rows in np.split(np.arange(6), split)]
    learner, whole = Learner(2), Learner(2).partial_fit(chi)
    for part in parts:
        learner.partial_fit(part)
    assert learner.n_samples_seen_ == 6
    assert_allclose(learner.components_, whole.components_, rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match=r"the movie has 1 frame\(s\); expected at least 2 to make a pair"):
        pair_up(np.zeros((1, 5)))


def responses_after(stream, movie, number):
    """Of a field's stream, to one frame, or None."""
    return [stream.step(frame) for frame in movie][number]


UNRELATED = [np.random.default_rng(seed).normal(size=(4, 12, 12)) for seed in (1, 2)]
CUTTING = {
    "pair_up": lambda one, two: len(pair_up(np.concatenate([one, two]), cuts=[4])),
    "learner": lambda one, two: (
        MotionLearner(2, patch=3, warm_up=20, random_state=0).partial_fit(one).cut().partial_fit(two).n_pairs_seen_
    ),
    "learner of several": lambda one, two: (
        MotionLearner(2, patch=3, warm_up=20, random_state=0).fit([open_movie(one), open_movie(two)]).n_pairs_seen_
    ),
    "field": lambda one, two: sum(
        field is not None
        for stream in [MotionField().stream()]
        for field in [*map(stream.step, one), stream.cut(), *map(stream.step, two)]
    ),
}


@pytest.mark.case("B04")
@pytest.mark.parametrize("count", CUTTING.values(), ids=CUTTING)
def test_two_clips_make_no_pair_of_the_last_and_the_first(count):
    assert count(*UNRELATED) == 6


# B05: to the right is positive


BEFORE, AFTER = np.array([[0.0, 1, 2, 1, 0]]), np.array([[0.0, 0, 1, 2, 1]])


@pytest.mark.case("B05")
def test_the_score_of_a_step_to_the_right_has_the_sign_of_the_convention():
    pairs = FramePairs(BEFORE, AFTER)
    chi = outer_products(pairs, "change")
    assert_allclose(chi.project(np.stack([-RIGHT, -RIGHT.T, RIGHT])), [[-2.5, 2.5, 2.5]])
    dx, predicted = (AFTER - BEFORE)[0], RIGHT @ BEFORE[0]
    assert dx @ predicted / (predicted @ predicted) == pytest.approx(1, abs=1e-12)  # Suppl. C, of content
    assert_array_equal(chi.dense()[0], np.outer(dx, BEFORE).ravel())  # vec row by row
    assert_allclose(chi.accumulate(np.ones((1, 1))), np.outer(dx, BEFORE)[None])  # and back


def bump(n_frames=6, n=17):
    """Content that moves one pixel to the right a frame, shape (n_frames, n)."""
    places = np.arange(n) - 5 - np.arange(n_frames)[:, None]
    return np.exp(-((places / 1.5) ** 2))


def told_by_generators(movie):
    """Direction of the mean outer product, as of a filter that would be learned from this motion alone."""
    chi = outer_products(pair_up(movie), "antisymmetric").dense().mean(axis=0)
    angle = Generators(chi.reshape(1, *movie.shape[1:] * 2), movie.shape[1:]).directions()[0]
    return np.cos(np.radians(angle))


def learned(movie):
    scene, eye = SmoothNoise(2.0, period=4096.0, random_state=0), Line(movie.shape[1])
    learner = MotionLearner(2, random_state=0, warm_up=2000)
    return learner.fit(sample_pairs(scene, eye, Translation(0.3, ndim=1), 4000, random_state=0))


def as_images(movie):
    """The content of a line below waves that tell where it is along the other axis, too."""
    rows = np.arange(32)[:, None]
    return np.stack([(1 + np.cos(rows / 2)) * np.interp(np.arange(48), np.arange(17) * 3, line) for line in movie])


READERS = {
    "regression": lambda movie: (
        Operators(derivative_operator(movie.shape[1:])[None], movie.shape[1:]).estimate(pair_up(movie)).mean()
    ),
    "registration": lambda movie: (
        Operators(derivative_operator(movie.shape[1:])[None], movie.shape[1:]).register(pair_up(movie)).mean()
    ),
    "direction of generators": told_by_generators,
    "learner's velocity": lambda movie: learned(movie).predict(movie).mean(),
    "field": lambda movie: MotionField()(as_images(movie)).velocity[:, 0].mean(),
    "whole frame": lambda movie: np.mean([step.motion.x for step in list(detect(as_images(movie)))[1:]]),
    **{
        name: lambda movie, make=make: make()(movie, 0.1)[1:].sum()
        for name, make in DETECTORS.items()
        if make().opponent
    },
}


@pytest.mark.case("B05")
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_content_to_the_right_is_positive_whoever_tells(read):
    movie = bump()
    right, left = read(movie), read(movie[:, ::-1])
    assert right > 0 > left
    assert_allclose(left, -right, rtol=0.05)


@pytest.mark.case("B05")
@pytest.mark.parametrize("feature", ["midpoint", "antisymmetric"])
def test_mirroring_and_time_reversal_flip_the_sign_exactly(feature):
    pairs = pair_up(bump())
    score = outer_products(pairs, feature).project(RIGHT_17[None])
    assert_allclose(outer_products(pairs.reversed(), feature).project(RIGHT_17[None]), -score, rtol=1e-12)
    mirrored = pairs.map(lambda frames: frames[:, ::-1])
    assert_allclose(outer_products(mirrored, feature).project(RIGHT_17[None]), -score, rtol=1e-12)


RIGHT_17 = derivative_operator((17,))


# B24: time first


CORNER = np.zeros((5, 16, 18))
CORNER[:, 0, -1] = 1.0
CORNER += np.random.default_rng(0).normal(size=CORNER.shape) / 100
ORDERS = [(1, 2, 0), (2, 1, 0), (0, 2, 1), (1, 0, 2)]
TAKING = {
    "as_frames": as_frames,
    "pair_up": lambda movie: pair_up(movie).after,
    "open_movie": lambda movie: np.stack(list(open_movie(movie))),
    "read_movie": read_movie,
    "learner": lambda movie: MotionLearner(2, patch=3, warm_up=20, random_state=0).fit(movie).transform(movie),
    "partial_fit": lambda movie: MotionLearner(2, patch=3, warm_up=20, random_state=0).partial_fit(movie).gain_,
    "detector": lambda movie: three_pixel()(movie, 0.01),
    "detector, eye given": lambda movie: three_pixel()(movie, 0.01, eye=Grid(16, 18)),
    "stream": lambda movie: three_pixel().stream(0.01, eye=(16, 18)).push(movie),
    "field": lambda movie: MotionField()(movie).velocity,
    "detect": lambda movie: np.array([step.responses for step in detect(movie)][1:]),
}


@pytest.mark.case("B24")
@pytest.mark.parametrize("take", TAKING.values(), ids=TAKING)
def test_named_dimensions_come_in_any_order(take):
    expected = take(CORNER)
    for order in ORDERS:
        names = np.array(["time", "y", "x"])[list(order)]
        assert_array_equal(take(xr.DataArray(CORNER.transpose(order), dims=list(names))), expected)


@pytest.mark.case("B24")
def test_named_dimensions_of_movies_side_by_side_come_in_any_order():
    movies = np.random.default_rng(0).normal(size=(2, 6, 6, 6))  # of which no shape tells which is which
    named = xr.DataArray(movies.transpose(2, 0, 3, 1), dims=["y", "phase", "x", "time"])
    detector, eye = three_pixel(), Grid(6, 6)
    assert_array_equal(detector(named, 0.01, eye=eye), detector(movies, 0.01, eye=eye))
    cube = xr.DataArray(movies[0].transpose(1, 2, 0), dims=["y", "x", "time"])
    assert_array_equal(detector(cube, 0.01), detector(movies[0], 0.01))


@pytest.mark.case("B24")
@pytest.mark.parametrize("take", [detect, lambda image: list(MotionField()(image))], ids=["detect", "field"])
def test_a_single_image_is_no_movie(take):
    with pytest.raises(ValueError, match=r"expected \(height, width\)|flat frames|frames of one image"):
        take(CORNER[0])


# B29: fit, then transform


@pytest.mark.case("B29")
def test_fitting_and_transforming_at_once_or_one_after_the_other(make_learner):
    movie = np.random.default_rng(0).normal(size=(60, 5))
    assert_array_equal(make_learner().fit_transform(movie), make_learner().fit(movie).transform(movie))


@pytest.mark.case("B29")
def test_sm_and_pca_agree_in_their_subspace(make_products):
    chi = make_products(3000)
    learners = SimilarityMatching(2), OuterProductPCA(2)
    spaces = [np.linalg.qr(learner.fit(chi).components_.T)[0] for learner in learners]
    overlaps = np.linalg.svd(spaces[0].T @ spaces[1])[1]
    assert overlaps.min() > 0.98


# B30: fewer directions than units


@pytest.mark.case("B30")
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # that units are too many, the test's input
@pytest.mark.parametrize("n_directions", [1, 2])
@pytest.mark.parametrize("name", ALL_LEARNERS)
def test_beyond_the_rank_there_is_nothing(name, n_directions):
    """A still scene and one motion; three units, of which none sees what is outside the span."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(50, n_directions))) @ np.eye(n_directions, 9)
    learner = ALL_LEARNERS[name](3).fit(X)
    outputs = learner.transform(X)
    assert np.isfinite(outputs).all() and outputs.shape == (50, 3)
    filters = getattr(learner, {"K-means": "cluster_centers_"}.get(name, "components_"))
    assert_allclose(filters[:, n_directions:], 0, atol=1e-12)
    most = {"SM": n_directions, "PCA": n_directions}.get(name, 3)  # others may tell apart what is within one direction
    assert np.linalg.matrix_rank(filters, tol=1e-9) == n_directions <= np.linalg.matrix_rank(outputs, tol=1e-6) <= most


@pytest.mark.case("B30")
@pytest.mark.parametrize("Learner", [SimilarityMatching, NonnegativeSimilarityMatching, OuterProductPCA])
def test_more_units_than_directions_are_told_of_once(Learner):
    with pytest.warns(ConvergenceWarning) as caught:
        Learner(3).fit(np.tile(np.arange(1.0, 10.0), (50, 1)))
    assert len(caught) == 1


# B45: cross-validation


CROSS_VALIDATED = ALL_LEARNERS | {"MotionLearner": partial(MotionLearner, warm_up=50, random_state=0)}
SIZE = {"K-means": "n_clusters"}


@pytest.mark.case("B45")
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # folds of a few pairs may leave a unit out
@pytest.mark.parametrize("name", CROSS_VALIDATED)
def test_folds_of_pairs_are_scored(name):
    """Rows are pairs, made before they are split, so that no fold makes pairs of frames that were apart."""
    pairs = sample_pairs(ExponentialNoise(3.0, random_state=0), Line(5), Translation(0.3, ndim=1), 90, random_state=0)
    samples = {"MotionLearner": pairs}.get(name, outer_products(pairs, "midpoint"))
    folds, size = KFold(3, shuffle=True, random_state=0), SIZE.get(name, "n_components")
    search = GridSearchCV(CROSS_VALIDATED[name](2), {size: [2]}, cv=folds, error_score="raise").fit(samples)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    scores = cross_val_score(CROSS_VALIDATED[name](2), samples, cv=folds, error_score="raise")
    expected = [CROSS_VALIDATED[name](2).fit(samples[a]).score(samples[b]) for a, b in folds.split(samples)]
    assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.case("B45")
def test_frames_that_folds_tore_apart_are_refused_in_words(make_learner):
    movie, folds = np.random.default_rng(0).normal(size=(60, 5)), KFold(3, shuffle=True, random_state=0)
    with pytest.raises(ValueError, match="the motion is not known; expected y, or pairs that know theirs"):
        cross_val_score(make_learner(), movie, cv=folds, error_score="raise")


# B47: figures of little


WEIGHTS = {
    "zero": lambda n: np.zeros((1, n, n)),
    "one-sided": lambda n: np.abs(np.random.default_rng(0).normal(size=(1, n, n))),
    "negative": lambda n: -np.abs(np.random.default_rng(0).normal(size=(3, n, n))),
    "NaN among them": lambda n: np.where(np.eye(n) > 0, np.nan, 1.0)[None],
}


@pytest.mark.case("B47")
@pytest.mark.parametrize("weigh", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("eye", [Line(5), Grid(2, 4), Hexagon(1), Sphere.evenly(12)])
@pytest.mark.parametrize("draw", [filter_sheet, draw_filters])
def test_filters_of_little_are_drawn_on_limits_symmetric_about_zero(draw, eye, weigh):
    operators = weigh(len(eye.positions))
    figure = draw(Generators(operators, eye), [str(k) for k in range(len(operators))])
    figure.savefig(io.BytesIO(), dpi=20)
    shown = [each for axes in figure.axes for each in axes.images if axes.get_label() != "<colorbar>"]
    for low, high in {each.get_clim() for each in shown}:
        assert low == -high < 0
