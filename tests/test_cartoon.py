"""Three pixels or two (C4): what holds and fails at a small size, detectors with known answers, and the figures."""

import io
from dataclasses import replace

import numpy as np
import pytest
import skimage.data
from PIL import Image
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression

from flymotion.claims import cartoon
from flymotion.claims.cartoon import buying, cutting, regimes
from flymotion.claims.nulls import NULLS
from flymotion.claims.running import run
from flymotion.frames import FramePairs
from flymotion.similarity.features import outer_products

SMALL = cartoon.Config(n_seeds=2, n_pairs=4_000, n_test=2_000)
TINY = cartoon.Config(n_seeds=2, sizes=(5, 7), n_pairs=600, n_test=400, n_rows=5)


@pytest.fixture(scope="module")
def found():
    return run(cartoon.work(SMALL))


@pytest.fixture(scope="module")
def rows(found):
    return {row.id: row for row in cartoon.check(found, SMALL)}


@pytest.fixture
def make_told():
    """Pairs of seven pixels whose direction a rule of the three middle ones tells."""

    def make(rule, n=3000, *, mean=0.0, seed=0):
        rng = np.random.default_rng(seed)
        before, change = rng.standard_normal((2, n, 7))
        change *= 1e-3
        signs = np.sign(rule(before.T[2:5], change.T[2:5]))
        return FramePairs(before + mean, before + mean + change, signs[:, None])

    return make


def test_three_pixels_stand_for_the_filter_in_noise_but_not_in_every_world(found, rows):
    """They fail on photographs seen by five pixels, and where sensor noise is whitened."""
    assert (rows["C4.three"].holds, rows["C4.three_40dB"].holds) == (False, False)
    assert found["cuts"]["L1"].correlations[:, 0, :, 0].min() > 0.95
    assert found["cuts"]["L1"].correlations[:, 1, 1, 0].max() < 0.9


def test_every_measure_has_a_row_of_its_own(rows, found):
    assert len(rows) == len(list(cartoon.check(found, SMALL)))
    assert all(np.isfinite(row.value) for row in rows.values())
    ids = list(rows)
    beside = [f"C4.three_{null}" for null in NULLS]
    assert ids[ids.index("C4.three") + 1 :][: len(beside)] == beside


def test_two_pixels_of_one_multiplication_beat_the_cartoon(rows):
    """A gradient half way between two pixels is finer than one across three: in every regime."""
    assert rows["C4.cartoon"].holds is None
    gains = [float(part.split()[-4]) for part in rows["C4.cartoon"].note.split("; ")[:12]]
    assert max(gains) < 0.02
    assert rows["C4.cartoon"].value < -0.02


def test_the_third_pixel_gains_more_than_the_fourth_without_noise(found):
    told = {name: cartoon.accuracies(found)["L1"][:, 0, 0, k] for k, name in enumerate(buying.DETECTORS)}
    assert (told["every 3"] - told["every 2"]).min() > 5 * (told["every 4"] - told["every 3"]).max()


def test_no_detector_tells_more_than_can_be_known(found):
    """In L1, raw; but for the chance of the pairs drawn."""
    best = cartoon.accuracies(found)["L1"][:, 0, :, : len(buying.PIXELS)].mean(axis=0)
    assert (best < found["told"]["L1"].known[:, 0].mean(axis=0) + 0.03).all()


def test_quick_has_only_fewer_seeds():
    assert cartoon.QUICK == {"n_seeds": 2}
    for config, draws in ((cartoon.Config(**cartoon.QUICK), 1), (cartoon.Config(), 2)):
        assert {world: len(pieces) for world, pieces in cartoon.work(config)["told"].items()} == {
            "L1": config.n_seeds,
            "P": draws,
        }


def test_pieces_are_independent(backwards):
    one, two = (run(cartoon.work(TINY), each) for each in (None, backwards))
    for name in ("cuts", "told"):
        for world in regimes.REGIMES:
            for a, b in zip(one[name][world], two[name][world], strict=True):
                np.testing.assert_array_equal(a, b)


# -- the filter --------------------------------------------------------------------------------------------------


def test_kept_are_three_pixels_a_row():
    A = np.arange(1.0, 26.0).reshape(5, 5)
    whole, near, upper, lower, difference, row, row_of_three = cutting.kept(A)
    np.testing.assert_array_equal(whole, A)
    np.testing.assert_array_equal((near != 0).sum(axis=1), [2, 3, 3, 3, 2])
    np.testing.assert_array_equal(near[2], [0, 12, 13, 14, 0])
    np.testing.assert_array_equal(near[near != 0], A[near != 0])
    np.testing.assert_array_equal((upper[2], lower[2]), ([0, 0, 13, 14, 0], [0, 12, 13, 0, 0]))
    np.testing.assert_array_equal(difference[2], [0, 0.5, 0, -0.5, 0])
    np.testing.assert_array_equal((row[2], row_of_three[2]), (A[2], near[2]))
    assert not row[[0, 1, 3, 4]].any()


def test_a_filter_of_three_pixels_is_kept_whole():
    rng = np.random.default_rng(0)
    pairs = FramePairs(*rng.standard_normal((2, 100, 5)))
    whole, near, *_ = outer_products(pairs, "change").project(cutting.kept(np.diag([1.0, 2, 3, 4], 1))).T
    np.testing.assert_allclose(whole, near, rtol=1e-12)


# -- regimes -----------------------------------------------------------------------------------------------------


def test_each_photograph_is_tested_with_what_the_others_taught(monkeypatch):
    flat = [np.full((9, 60), level) for level in (1.0, 2.0, 3.0)]
    monkeypatch.setattr(regimes, "load_photographs", lambda sources: flat)
    parts = regimes.seen(TINY, "P", 0)
    for k, part in enumerate(parts):
        np.testing.assert_allclose(part.new.before, k + 1, atol=1e-9)
        assert set(part.lesson.before.round(6).ravel()) == {1.0, 2.0, 3.0} - {k + 1.0}


def test_filters_are_cut_on_the_other_halves_of_all_photographs(monkeypatch):
    image = np.concatenate([np.zeros((9, 60)), np.ones((9, 60))], axis=1)
    monkeypatch.setattr(regimes, "load_photographs", lambda sources: [image, image])
    lesson, new = regimes.seen_together(TINY, "P", 0)
    np.testing.assert_allclose(lesson.before, 0, atol=1e-9)
    np.testing.assert_allclose(new.before, 1, atol=1e-9)


def test_noise_has_its_share_of_the_variance_and_is_new_in_every_frame():
    part = regimes.seen(replace(TINY, n_pairs=5000), "L1", 0)[0]
    clean, noisy = (regimes.noisy(part, name, np.random.default_rng(0)).lesson for name in ("clean", "30dB"))
    before, after = noisy.before - clean.before, noisy.after - clean.after
    np.testing.assert_allclose(before.var() / part.lesson.before.var(), 1e-3, rtol=0.05)
    assert abs(np.corrcoef(before.ravel(), after.ravel())[0, 1]) < 0.03


# -- detectors at one centre -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "kind", "m", "others"),
    [
        (lambda x, dx: dx[1] * (x[0] - x[2]), "row", 3, [("row", 2), ("every", 2)]),
        (lambda x, dx: dx[1] * (x[0] - x[1]), "row", 2, []),
        (lambda x, dx: (dx[0] + dx[1]) * (x[0] - x[1]), "once", 2, [("row", 3)]),
        (lambda x, dx: dx[0] * x[1] - dx[1] * x[0], "every", 2, [("once", 3), ("row", 3)]),
    ],
    ids=["three", "two", "both changes", "HRD"],
)
def test_the_best_detector_of_a_kind_is_found(make_told, rule, kind, m, others):
    lesson, test = make_told(rule), make_told(rule, seed=1)

    def told(kind, m):
        reading = buying.best_detectors(m, lesson, test)[buying.KINDS.index(kind)]
        return np.mean(np.sign(reading) == test.motion[:, 0])

    assert told(kind, m) > 0.97
    assert max((told(*other) for other in others), default=0) < 0.87


def test_weights_blind_to_the_mean_are_found(make_told):
    """Under a mean that varies by far more than the gradient."""

    def rule(x, dx):
        return dx[1] * (x[0] - x[2])

    means = 100 * np.random.default_rng(2).standard_normal((3000, 1)) ** 3
    lesson, test = make_told(rule, mean=means), make_told(rule, mean=means[::-1], seed=1)
    reading = buying.best_detectors(3, lesson, test, blind=True)[buying.KINDS.index("row")]
    assert np.mean(np.sign(reading) == test.motion[:, 0]) > 0.98


def test_logistic_regression_is_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6))
    y = np.sign(X @ np.arange(6.0) + 2 * rng.standard_normal(2000))
    reference = LogisticRegression(C=1 / buying.RIDGE, fit_intercept=False, solver="newton-cholesky", tol=1e-10)
    np.testing.assert_allclose(buying.logistic(X, y), reference.fit(X, y).coef_[0], rtol=1e-4, atol=1e-4)


def test_fixed_detectors_are_the_papers():
    """Literal transcription, before = delayed, after = fast."""
    rng = np.random.default_rng(0)
    pairs = FramePairs(*rng.standard_normal((2, 3000, 7)), rng.choice([-1.0, 1.0], (3000, 1)))
    shares = buying.told(regimes.Seen(pairs, pairs), blind=False, rng=rng)
    f, g = (frames[:, 2:5] for frames in (pairs.before, pairs.after))
    for name, expected in (
        ("cartoon", (g[:, 1] - f[:, 1]) * (g[:, 0] - g[:, 2])),
        ("HRD", f[:, 0] * g[:, 1] - g[:, 0] * f[:, 1]),
    ):
        assert shares[buying.DETECTORS.index(name)] == np.mean(np.sign(expected) == pairs.motion[:, 0])


# -- what it costs -----------------------------------------------------------------------------------------------


def test_interval_is_students():
    """Mean 2, standard error 1/sqrt(3), 4.303 of them with 2 degrees of freedom."""
    low, high = buying.interval(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose([low, high], [2 - 4.3027 / np.sqrt(3), 2 + 4.3027 / np.sqrt(3)], atol=1e-3)
    assert buying.interval(np.array([1.0])) == (-np.inf, np.inf)


def test_the_best_buy_is_of_the_largest_squared_discriminability_a_pixel():
    pixels = np.array(buying.PIXELS)
    equal = ndtr(np.sqrt(0.5 * pixels))
    np.testing.assert_allclose(buying.worth(equal, 10**6), 0.5)
    better = np.where(pixels == 3, ndtr(np.sqrt(0.6 * pixels)), equal)
    assert buying.best_buy(better, 10**6) == 3
    assert buying.best_buy(np.ones(len(pixels)), 1000) == 2


def test_photographs_are_independent_and_draws_of_their_rows_are_not(found):
    by = cartoon.accuracies(found)
    assert len(by["L1"]) == SMALL.n_seeds
    assert len(by["P"]) == 2


@pytest.mark.slow
def test_three_pixels_gain_on_many_photographs(tmp_path):
    """Over photographs as what is independent: the third pixel gains, the fourth less, and the cartoon loses to two."""
    names = ("astronaut", "camera", "chelsea", "coffee", "rocket", "brick", "grass", "gravel")
    for name in names:
        Image.fromarray(getattr(skimage.data, name)()).save(tmp_path / f"{name}.png")
    config = replace(SMALL, n_seeds=1, photographs=(str(tmp_path),))
    told = run({"P": cartoon.work(config)["told"]["P"]})["P"].accuracies.mean(axis=0)[:, 0, 0]
    assert len(told) == len(names)
    by = {name: told[:, k] for k, name in enumerate(buying.DETECTORS)}
    third, fourth = by["every 3"] - by["every 2"], by["every 4"] - by["every 3"]
    assert buying.interval(third)[0] > 0
    assert buying.interval(third - fourth)[0] > 0
    assert buying.interval(by["cartoon"] - by["once 2"])[1] < 0


# -- figures -----------------------------------------------------------------------------------------------------


def test_figures_show_filter_outputs_and_a_panel_a_world_and_noise(found):
    drawn = cartoon.figures(found, SMALL)
    assert list(drawn) == ["three_pixels", "pixels_cost"]
    for figure in drawn.values():
        figure.savefig(io.BytesIO(), dpi=40)
    images = [image for axes in drawn["three_pixels"].axes for image in axes.images]
    np.testing.assert_array_equal(images[0].get_array(), found["cuts"]["L1"].filter[0])
    assert images[0].get_clim()[0] == -images[0].get_clim()[1]
    titles = [axes.get_title() for axes in drawn["pixels_cost"].axes]
    assert titles == [f"{w}, {n}" for w in ("L1", "P") for n in ("no noise", "noise at 40 dB", "noise at 30 dB")]
