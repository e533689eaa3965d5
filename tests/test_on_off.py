"""ON and OFF (C24): photographs and their controls, cells that learn alone, exchanges of labels, and the figures."""

import io
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from flymotion.claims import on_off
from flymotion.claims.on_off.contrasts import N_STRIPS, PATCHES, SCENES, blocks_seen
from flymotion.claims.on_off.lone_cells import learn_cells
from flymotion.claims.on_off.telling_apart import MEASURES, apart, likeness, measures, permuted
from flymotion.claims.running import run
from flymotion.frames import FramePairs

SMALL = on_off.Config(n_seeds=1, n_pairs=300)


@pytest.fixture(scope="module")
def found():
    return run(on_off.work(SMALL))


@pytest.fixture(scope="module")
def rows(found):
    return {row.id: row for row in on_off.check(found, SMALL)}


@pytest.fixture(scope="module")
def seen():
    return {
        name: blocks_seen(name, {"line": PATCHES["line"]}, 200, 0) for name in ("photographs", "reversed", "scrambled")
    }


@pytest.mark.slow
def test_every_scene_and_measure_has_its_rows_and_nothing_is_bounded(rows, found):
    assert len(rows) == len(list(on_off.check(found, SMALL)))
    assert all(np.isfinite(row.value) and row.holds is None for row in rows.values())
    for name, key in product(MEASURES, PATCHES):
        assert {f"C24.{name}_{key}", f"C24.{name}_{key}_scrambled", f"C24.{name}_{key}_weber"} <= set(rows)
    assert rows["C24.alike_start"].value == pytest.approx(1)


@pytest.mark.slow
def test_the_difference_flips_with_contrast(rows):
    """Other patches of the same places; with scrambled scenes it has nothing in common."""
    for key in ("", "_line"):
        assert rows[f"C24.reversed{key}"].value < -0.1
        assert abs(rows[f"C24.reversed{key}_scrambled"].value) < 0.4


def test_quick_has_only_fewer_seeds():
    assert on_off.QUICK == {"n_seeds": 1}


@pytest.mark.slow
def test_figures_have_filters_of_both_channels_and_every_scene(found):
    figures = on_off.figures(found, SMALL)
    assert len(figures["on-off-filters"].axes) == 3 * 4 + 1
    labels = [text.get_text() for text in figures["on-off"].legends[0].get_texts()]
    assert labels == list(SCENES.values())
    for figure in figures.values():
        figure.savefig(io.BytesIO())


# The world


def test_blocks_are_of_both_photographs_and_are_textured(seen):
    for blocks in seen["photographs"].values():
        assert len(blocks) == 2 * N_STRIPS
        assert min(block.before.std() for block in blocks) > 0.02


def test_reversed_contrast_is_that_of_the_same_places(seen):
    """The root mean square contrast of a block, and its ON and OFF parts exchanged."""
    plain, other = (np.concatenate([b.before.ravel() for b in seen[s]["line"]]) for s in ("photographs", "reversed"))
    assert_allclose(np.maximum(plain, 0).std(), np.maximum(-other, 0).std(), rtol=0.1)


def test_scrambled_scenes_are_not_skewed(seen):
    contrast = np.concatenate([block.before.ravel() for block in seen["scrambled"]["line"]])
    assert abs(np.mean((contrast - contrast.mean()) ** 3)) < 0.3 * contrast.std() ** 3


def test_steps_go_where_their_label_says(seen):
    """Of content that is a slope along the line, upwards: motion upwards makes every pixel darker."""
    [up, down] = PATCHES["line"].angles
    pairs = FramePairs.concatenate(seen["photographs"]["line"])
    x, change = pairs.before, pairs.after - pairs.before
    slope = (x[:, 2:] - x[:, :-2]) / 2  # downwards
    says_down = -(change[:, 1:-1] * slope).sum(axis=1)
    upwards = pairs.motion[:, 0] == 0
    assert (up, down) == (90.0, 270.0)
    assert np.mean(says_down[upwards] < 0) > 0.8 and np.mean(says_down[~upwards] > 0) > 0.8


def test_cells_of_swapped_contrast_are_swapped(seen):
    """What learns of ON of a scene is what learns of OFF of its negative, exactly."""
    blocks = seen["photographs"]["line"][:2]
    negative = [replace(block, before=-block.before, after=-block.after) for block in blocks]
    one, other = (learn_cells(each, PATCHES["line"], "change", 0).learned for each in (blocks, negative))
    assert_allclose(one, other[:, ::-1], atol=1e-9)


# Telling apart


def test_exchanges_are_all_of_them():
    """Against a loop over every choice of signs."""
    d = np.random.default_rng(0).normal(size=(6, 3))
    sums = [np.sum((np.array(s)[:, None] * d).sum(axis=0) ** 2) for s in product((1, -1), repeat=6)]
    p, size = permuted(d)
    assert p == pytest.approx(np.mean(sums >= sums[0] * (1 - 1e-9)))
    assert size == pytest.approx(sums[0] / np.mean(sums))


def test_labels_that_do_not_matter_are_exchanged_at_any_p():
    ps = [permuted(np.random.default_rng(k).normal(size=(8, 4)))[0] for k in range(200)]
    assert np.mean(np.array(ps) < 0.1) == pytest.approx(0.1, abs=0.06)


def test_a_difference_that_all_blocks_share_is_found():
    one = apart(0.2 + 0.05 * np.random.default_rng(0).normal(size=16))
    assert one.p < 1e-3 and one.low > 0.1 and one.effect > 2
    assert one.each == (pytest.approx(0.2, abs=0.06), pytest.approx(0.2, abs=0.06))


def test_measures_of_a_three_pixel_row():
    patch = PATCHES["line"]
    up = np.zeros((2, 7))
    up[0, [2, 4]], up[1, [2, 4]] = (-0.6, 0.8), (0.8, -0.6)  # content moves up, from larger rows; and down
    found = {name: float(value) for name, value in measures(up, patch).items()}
    assert found == pytest.approx({"behind": 0.8, "centre": 0.0, "ahead": -0.6, "balance": 0.2, "width": 1.0})
    assert likeness(up, -up) == pytest.approx(-1)
