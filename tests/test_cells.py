"""Detectors learned from video beside recorded T4 and T5 (C30), and the videos made for it."""

import io

import numpy as np
import pytest

from flymotion.claims import cells
from flymotion.claims.cells import Config, nearness
from flymotion.claims.cells.filming import film, hand_held
from flymotion.claims.running import run
from flymotion.detectors import of_learner
from flymotion.video import open_movie, read_movie
from flymotion.world.eyes import Grid
from flymotion.world.rendering import render
from flymotion.world.scenes import Grating

SMALL = Config(n_seeds=1, n_pairs=20_000, wavelengths=(40.0,))


@pytest.fixture(scope="module")
def found():
    return run(cells.work(SMALL))


@pytest.fixture
def grating():
    return Grating(12.0, 40.0, direction=30.0, mean=100.0, ndim=2)


@pytest.fixture(scope="module")
def rows(found):
    return {row.id: row for row in cells.check(found, SMALL)}


def test_c30_fails_as_it_is_not_nearer_than_every_null(rows):
    """Of T5's half widths in every seed; the rest at full size, to the start alone and to a cosine's half width."""
    failing = {id for id, row in rows.items() if row.holds is False}
    bounded = {f"C30.nearer{what}" for what in ("", "_width", "_t5", "_width_t5")}
    assert {"C30.nearer_width_t5"} <= failing <= bounded == {id for id, row in rows.items() if row.relation == ">"}
    assert all(np.isfinite(row.value) for row in rows.values())
    assert "C30.correlation_40" in rows
    for null in ("cosine", "hrd", "conductance", "gruntman", "random"):
        assert rows["C30.correlation"].value > rows[f"C30.correlation_{null}"].value


def test_every_row_says_that_its_video_was_made(rows):
    assert all("made video, as no real one was given" in row.note for row in rows.values())


@pytest.mark.parametrize("null", nearness.BESIDE)
@pytest.mark.parametrize("id", ["C30.correlation", "C30.half_width", "C30.dsi"])
def test_nulls_stand_beside_what_is_learned(rows, id, null):
    assert rows[f"{id}_{null}"].relation == "report"


def test_a_rectified_cosine_has_the_published_curves_correlation(rows):
    """The published curves of T4a-d, sampled every 30 degrees, against max(0, cos)."""
    assert rows["C30.correlation_cosine"].value == pytest.approx(0.921, abs=1e-3)


def test_the_start_is_of_the_pairs_that_were_learned_from(found):
    """Learning goes on from there, so that little more is learned from a made video."""
    tuned = found["videos"]["made"]
    learned, start = tuned.beside[0].sel(wavelength=30.0), tuned.nulls["start"][0]
    np.testing.assert_allclose(start.model, learned.model, atol=0.25)


def test_advantages_are_over_the_worst_null_in_the_worst_seed():
    learned, null = (
        nearness.Near(np.full((2, 4), c), np.full((2, 4), w), np.ones((2, 4))) for c, w in ((0.9, 12), (0.8, 10))
    )
    near = {
        "made": {
            "learned": learned,
            "cosine": null,
            "hrd": null._replace(correlation=np.array([[0.7] * 4, [0.95] * 4])),
        }
    }
    row = nearness._nearer("C30.nearer", "", near, "correlation", 1)
    assert row.value == pytest.approx(-0.05) and not row.holds
    assert nearness._nearer("C30.nearer_width", "", near, "width", -1).value == pytest.approx(-2)
    assert "cosine 0.1 [0.1, 0.1]" in row.note


def test_all_four_directions_are_learned(found):
    [generators] = found["videos"]["made"].generators
    off = (generators.directions()[:, None] - [0, 90, 180, 270] + 180) % 360 - 180
    assert (np.abs(off).min(axis=0) < 15).all()


def test_its_figure_is_drawn(found):
    figure = cells.figures(found, SMALL)["cells"]
    figure.savefig(io.BytesIO(), dpi=40)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:4] == ["T4a", "T4b", "T4c", "T4d"] and "filter like a: left" in titles


def test_videos_that_cannot_be_read_are_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match="nosuch"):
        Config(videos=(str(tmp_path / "nosuch.mp4"),))


@pytest.mark.parametrize(
    ("videos", "names"),
    [
        ((), ["made"]),
        (("a/road.mp4", "a/beach.mp4"), ["road", "beach"]),
        (("a/road.mp4", "b/road.mp4"), ["a/road.mp4", "b/road.mp4"]),
    ],
)
def test_videos_are_named_briefly_where_that_tells_them_apart(videos, names, monkeypatch):
    monkeypatch.setattr(cells, "open_movie", lambda video: None)
    assert list(cells.work(Config(n_seeds=1, videos=videos))["videos"]) == names


def test_a_learner_of_video_has_the_optics_of_a_fly(found):
    """The blur of 0.7 pixels and the mean over a pixel's area are 5.7 degrees wide together."""
    [generators] = found["videos"]["made"].generators
    width = 2.3548 * np.hypot(0.7, 12**-0.5)
    assert of_learner(_Learned(generators)).spacing == pytest.approx(5.7 / width, rel=1e-3)
    assert of_learner(_Learned(generators), spacing=4.0).spacing == 4.0


class _Learned:
    feature_, scale_, eye_ = "antisymmetric", 1, None

    def __init__(self, generators):
        self.generators_ = generators


# -- videos that are made --------------------------------------------------------------------------------------------


def test_a_hand_moves_as_fast_as_asked_and_smoothly():
    velocity = np.diff(hand_held(20_000, 0), axis=0)
    np.testing.assert_allclose(velocity.std(axis=0), 0.4, rtol=0.1)
    np.testing.assert_allclose(hand_held(50, 0).mean(axis=0), 0, atol=1e-12)
    correlation = np.corrcoef(velocity[1:, 0], velocity[:-1, 0])[0, 1]
    assert correlation == pytest.approx(0.8, abs=0.05)


def test_a_film_shows_the_scene_from_the_hand_s_path(tmp_path, grating):
    path = film(tmp_path / "a.mp4", grating, (48, 64), 12, noise=0.0, random_state=3)
    movie = open_movie(path)
    assert (movie.shape, movie.rate) == ((48, 64), 25.0)
    places = grating.extent.mean(axis=1) + hand_held(12, np.random.default_rng(3))
    seen, expected = read_movie(path), render(grating, Grid(48, 64), places)
    assert np.corrcoef(seen.ravel(), expected.ravel())[0, 1] > 0.99


def test_a_film_has_the_sensor_s_noise_and_is_the_same_again(tmp_path, grating):
    clean, noisy, again = (
        read_movie(film(tmp_path / f"{k}.mp4", grating, (48, 64), 6, noise=noise, random_state=0))
        for k, noise in enumerate((0.0, 8.0, 8.0))
    )
    assert (noisy - clean).std() > 3
    np.testing.assert_array_equal(noisy, again)


@pytest.mark.slow
def test_real_videos_are_told_apart_from_made_ones(real_video):
    config = Config(n_seeds=2, videos=(str(real_video),))
    rows = list(cells.check(run(cells.work(config)), config))
    assert all(np.isfinite(row.value) for row in rows)
    assert not any("made video" in row.note for row in rows)
