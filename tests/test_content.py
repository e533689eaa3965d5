"""Content (C9): the claim at a small size, the scenes, and the figure."""

import io

import numpy as np
import pytest

from flymotion.claims import content
from flymotion.claims.running import run
from flymotion.frames import FramePairs
from flymotion.world.scenes import exponential_covariance

SMALL = content.Config(n_seeds=1, n_pairs=8_000, n_test=4_000, n_scenes=50)
TINY = content.Config(n_seeds=2, n=5, n_pairs=200, n_test=100, n_scenes=10)


@pytest.fixture(scope="module")
def found():
    return run(content.work(SMALL))


def test_claim_holds(found):
    rows = list(content.check(found, SMALL))
    assert [row for row in rows if row.holds is False] == []
    assert [row.id for row in rows if row.holds] == ["C9.worst", "C9.or"]
    assert {f"C9.{a}_{b}" for a in content.CLASSES for b in content.CLASSES} < {row.id for row in rows}
    assert len({row.id for row in rows}) == len(rows)
    assert all(np.isfinite(row.value) for row in rows)


def test_filters_tell_direction_and_not_merely_alike(found):
    assert found["learned"].shared.min() > 0.95


def test_quick_has_only_fewer_seeds():
    assert content.QUICK == {"n_seeds": 2}
    assert len(content.work(content.Config(**content.QUICK))["learned"]) < len(
        content.work(content.Config())["learned"]
    )


def test_pieces_are_independent(backwards):
    one, two = (run(content.work(TINY), each)["learned"] for each in (None, backwards))
    for a, b in zip(one, two, strict=True):
        assert a.shape[0] == 2
        np.testing.assert_array_equal(a, b)


def test_losses_are_against_the_filter_learned_from_the_class_tested_on():
    np.testing.assert_allclose(content.losses(np.array([[0.9, 0.7], [0.6, 0.8]])), [[0.0, 0.1], [0.3, 0.0]])


# -- scenes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", content.CLASSES)
@pytest.mark.parametrize("new", [False, True])
def test_scenes_are_static_but_for_small_steps_both_ways(name, new):
    pairs = content.CLASSES[name](TINY, 600, np.random.default_rng(0), new)
    assert isinstance(pairs, FramePairs)
    assert pairs.before.shape == (600, 5)
    assert 0.4 < np.mean(pairs.motion > 0) < 0.6
    assert np.abs(pairs.motion).max() <= content.WORLD.max_shift
    gradient = np.gradient(pairs.before, axis=1)[:, 1:-1]
    change = (pairs.after - pairs.before)[:, 1:-1]
    assert np.corrcoef((-gradient * pairs.motion).ravel(), change.ravel())[0, 1] > 0.8


def test_edges_have_the_covariance_of_the_noise():
    """A random telegraph that turns at rate 1 / 2 l has correlation exp(-d / l)."""
    config = content.Config(n=15)
    before = content.CLASSES["edges"](config, 40_000, np.random.default_rng(0), False).before
    steps = np.diff(before, axis=1)
    places = np.arange(15.0)
    covariance = exponential_covariance(3.0, content.WORLD.sigma)((places[:, None] - places)[..., None])
    expected = np.diff(np.diff(covariance, axis=0), axis=1)
    measured = steps.T @ steps / len(steps)
    np.testing.assert_allclose(measured / measured.trace(), expected / expected.trace(), atol=0.01)


def test_new_photographs_are_of_other_halves(monkeypatch):
    image = np.concatenate([np.zeros((9, 60)), np.ones((9, 60))], axis=1)
    monkeypatch.setattr(content, "load_photographs", lambda sources: [image])
    old, new = (content.CLASSES["photographs"](TINY, 50, np.random.default_rng(0), new) for new in (False, True))
    np.testing.assert_allclose(old.before, 0, atol=1e-9)
    np.testing.assert_allclose(new.before, 1, atol=1e-9)


# -- figure ------------------------------------------------------------------------------------------------------


def test_figure_shows_every_accuracy_as_a_figure(found):
    figure = content.figures(found, SMALL)["content"]
    figure.savefig(io.BytesIO(), dpi=40)
    images = [image for axes in figure.axes for image in axes.images]
    written = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert {image.get_clim() for image in images} == {(0.5, 1.0)}
    assert len(written) == 4 * 4 + 2 * 4
    assert written[0] == f"{found['learned'].shared[0, 0, 0]:.3f}"
