"""Three pixels or two (C4): the claim at a small size, detectors with known answers, and the figure."""

import io

import numpy as np
import pytest

from flymotion.claims import cartoon, content
from flymotion.claims.running import run
from flymotion.frames import FramePairs
from flymotion.similarity.features import outer_products

SMALL = cartoon.Config(n_seeds=1, n_pairs=8_000, n_test=6_000)
TINY = cartoon.Config(n_seeds=2, sizes=(5,), n_pairs=600, n_test=400, n_scenes=5, n_rows=5)


@pytest.fixture(scope="module")
def found():
    return run(cartoon.work(SMALL))


@pytest.fixture
def make_told():
    """Pairs of three pixels whose direction a rule tells."""

    def make(rule, n=4000, *, mean=0.0, seed=0):
        rng = np.random.default_rng(seed)
        before, change = rng.standard_normal((2, n, 3))
        change *= 1e-3
        signs = np.sign(rule(before.T, change.T))
        return FramePairs(before + mean, before + mean + change, signs[:, None])

    return make


def test_claim_holds(found):
    rows = list(cartoon.check(found, SMALL))
    assert [row for row in rows if row.holds is False] == []
    assert [row.id for row in rows if row.holds] == ["C4.three", "C4.one_change", "C4.every_change", "C4.hrd"]
    assert len({row.id for row in rows}) == len(rows)
    assert all(np.isfinite(row.value) for row in rows)


def test_two_pixels_are_a_worse_cut_than_three_and_not_whitened_frames_are_another_matter(found):
    for world in found.values():
        three, two, _, _, in_pixels, _ = world.correlations[0].T
        assert (three > two).all()
        assert (in_pixels[:1] < 0.9).all()


def test_two_pixels_with_both_changes_beat_the_cartoon(found):
    """A gradient half way between two pixels is finer than one across three; said so in the report."""
    row = next(row for row in cartoon.check(found, SMALL) if row.id == "C4.cartoon")
    assert row.holds is None
    assert row.value < 0


def test_quick_has_only_fewer_seeds():
    assert cartoon.QUICK == {"n_seeds": 2}
    for config in (cartoon.Config(**cartoon.QUICK), cartoon.Config()):
        assert {world: len(pieces) for world, pieces in cartoon.work(config).items()} == {
            "L1": config.n_seeds,
            "P": config.n_seeds,
        }


def test_pieces_are_independent(backwards):
    one, two = (run(cartoon.work(TINY), each) for each in (None, backwards))
    for world in cartoon.SCENES:
        for a, b in zip(one[world], two[world], strict=True):
            assert a.shape[0] == 2
            np.testing.assert_array_equal(a, b)


# -- the filter --------------------------------------------------------------------------------------------------


def test_kept_are_three_pixels_a_row():
    A = np.arange(1.0, 26.0).reshape(5, 5)
    whole, near, upper, lower, difference, row, row_of_three = cartoon._kept(A)
    np.testing.assert_array_equal(whole, A)
    np.testing.assert_array_equal((near != 0).sum(axis=1), [2, 3, 3, 3, 2])
    np.testing.assert_array_equal(near[2], [0, 12, 13, 14, 0])
    np.testing.assert_array_equal(near[near != 0], A[near != 0])
    np.testing.assert_array_equal((upper[2], lower[2]), ([0, 0, 13, 14, 0], [0, 12, 13, 0, 0]))
    np.testing.assert_array_equal(difference[2], [0, 0.5, 0, -0.5, 0])
    np.testing.assert_array_equal((row[2], row_of_three[2]), (A[2], near[2]))
    assert not row[[0, 1, 3, 4]].any()


def test_the_middle_of_an_eye_is_a_smaller_eye():
    """Optics and positions are the same: pairs seen by 15 pixels, cut to 5, are pairs seen by 5."""
    wide, narrow = (
        cartoon._noise(cartoon.Config(sizes=(n,), n_pairs=50, n_test=40, n_scenes=2), 0)[1][1] for n in (15, 5)
    )
    middle = cartoon._middle(wide, 5)
    np.testing.assert_allclose(middle.before, narrow.before, atol=1e-9)
    np.testing.assert_allclose(middle.after, narrow.after, atol=1e-9)


def test_a_filter_of_three_pixels_is_kept_whole():
    rng = np.random.default_rng(0)
    pairs = FramePairs(*rng.standard_normal((2, 100, 5)))
    whole, near, *_ = outer_products(pairs, "change").project(cartoon._kept(np.diag([1.0, 2, 3, 4], 1))).T
    np.testing.assert_allclose(whole, near, rtol=1e-12)


# -- detectors at one centre -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "best", "others"),
    [
        (lambda x, dx: dx[1] * (x[0] - x[2]), "three, one change", ("left two, one change", "left two, every change")),
        (lambda x, dx: dx[1] * (x[0] - x[1]), "left two, one change", ("right two, one change",)),
        (lambda x, dx: (dx[1] + dx[2]) * (x[1] - x[2]), "right two, every change", ("three, one change",)),
    ],
    ids=["three", "two", "both changes"],
)
def test_the_best_detector_of_a_class_is_found(make_told, rule, best, others):
    lesson, test = make_told(rule), make_told(rule, seed=1)
    told = {name: np.mean(np.sign(cartoon._best(*cartoon.BEST[name], lesson, test)) == test.motion[:, 0])
            for name in (best, *others)}  # fmt: skip
    assert told[best] > 0.99
    assert max(told[name] for name in others) < 0.85


def test_weights_blind_to_the_mean_are_found(make_told):
    """Under a mean that varies by far more than the gradient."""

    def rule(x, dx):
        return dx[1] * (x[0] - x[2])

    means = 100 * np.random.default_rng(2).standard_normal((4000, 1)) ** 3
    lesson, test = make_told(rule, mean=means), make_told(rule, mean=means[::-1], seed=1)
    reading = cartoon._best(*cartoon.BEST["three, one change"], lesson, test)
    assert np.mean(np.sign(reading) == test.motion[:, 0]) > 0.98


def test_fixed_detectors_are_the_papers():
    """Literal transcription, before = delayed, after = fast; about the mean of the pairs learned from."""
    rng = np.random.default_rng(0)
    lesson = FramePairs(*rng.standard_normal((2, 300, 3)), rng.choice([-1.0, 1.0], (300, 1)))
    readings = cartoon._directions(lesson, lesson)
    f, g = (frames - lesson.before.mean() for frames in (lesson.before, lesson.after))
    assert readings.shape == (300, len(cartoon.DETECTORS))
    for name, expected in (
        ("three-pixel cartoon", (g[:, 1] - f[:, 1]) * (g[:, 0] - g[:, 2])),
        ("left HRD", f[:, 0] * g[:, 1] - g[:, 0] * f[:, 1]),
        ("right HRD", f[:, 1] * g[:, 2] - g[:, 1] * f[:, 2]),
    ):
        np.testing.assert_allclose(readings[:, cartoon.DETECTORS.index(name)], expected, atol=1e-12)


def test_interval_is_students():
    """Mean 2, standard error 1/sqrt(3), 4.303 of them with 2 degrees of freedom."""
    low, high = cartoon.interval(np.array([[1.0, 2.0, 3.0]]))
    np.testing.assert_allclose([low, high], [2 - 4.3027 / np.sqrt(3), 2 + 4.3027 / np.sqrt(3)], atol=1e-3)


def test_gain_is_over_the_better_side():
    accuracies = np.zeros((1, 2, len(cartoon.DETECTORS)))
    accuracies[..., cartoon.DETECTORS.index("three, one change")] = [0.9, 0.8]
    accuracies[..., cartoon.DETECTORS.index("left two, one change")] = [0.6, 0.6]
    accuracies[..., cartoon.DETECTORS.index("right two, one change")] = [0.5, 0.8]
    np.testing.assert_allclose(cartoon.gain(accuracies, "three, one change", "two, one change"), [[0.4, 0.0]])


def test_new_photographs_are_of_other_halves(monkeypatch):
    image = np.concatenate([np.zeros((9, 60)), np.ones((9, 60))], axis=1)
    monkeypatch.setattr(content, "load_photographs", lambda sources: [image])
    lesson, new = cartoon._photographs(TINY, 0)
    np.testing.assert_allclose(lesson.before, 0, atol=1e-9)
    np.testing.assert_allclose(new[0].before, 1, atol=1e-9)


# -- figure ------------------------------------------------------------------------------------------------------


def test_figure_shows_filter_outputs_and_detectors(found):
    figure = cartoon.figures(found, SMALL)["three_pixels"]
    figure.savefig(io.BytesIO(), dpi=40)
    images = [image for axes in figure.axes for image in axes.images]
    np.testing.assert_array_equal(images[0].get_array(), found["L1"].filter[0])
    assert images[0].get_clim()[0] == -images[0].get_clim()[1]
    labels = [text.get_text() for text in figure.axes[-1].get_xticklabels()]
    assert labels == [name.replace(", ", "\n") for name in cartoon.DETECTORS]
