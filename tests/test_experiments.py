"""Each experiment, at a small size, asserts its claims; and how claims are written and asked for."""

import json
from dataclasses import fields

import numpy as np
import pytest

from flymotion import plots
from flymotion.claims import (
    EXPERIMENTS,
    figure2,
    gratings,
    large_motions,
    larger_eyes,
    offline_online,
    optics,
    product_features,
    reproduce,
)
from flymotion.claims.rows import Claim, above, all_of, below, report, within, write
from flymotion.claims.work import in_turn, on_cores
from flymotion.claims.worlds import WORLDS, moved, rightward_first, share_right
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator

SMALL = {
    figure2: figure2.Config(n_seeds=1, n_seeds_signed=1, n_wide=9, n_test=20_000),
    larger_eyes: larger_eyes.Config(n_seeds=1, sizes=(9,), n_pairs=20_000, n_test=10_000),
    gratings: gratings.Config(n_seeds=1, n_pairs=20_000, n_test=8_000, n_speeds=6, n_places=8192),
    product_features: product_features.Config.quick(),
    offline_online: offline_online.Config(n_seeds=1, n_offline=100, n_starts=2),
    large_motions: large_motions.Config.quick(),
    optics: optics.Config(n_seeds=1, sigmas=(0.475, 0.8), max_shifts=(0.1, 1.5), n_pairs=20_000, n_test=2_000),
}


@pytest.fixture(scope="module")
def result_of():
    """Run an experiment at its small size, once."""
    results = {}

    def get(module):
        if module not in results:
            results[module] = module.run(SMALL[module])
        return results[module]

    return get


@pytest.mark.parametrize("module", SMALL, ids=lambda module: module.__name__.rpartition(".")[2])
def test_claims_hold(module, result_of):
    rows = module.check(result_of(module))
    assert [row for row in rows if row.holds is False] == []
    assert {row.id.partition(".")[0] for row in rows} == set(EXPERIMENTS[module.__name__.rpartition(".")[2]])
    assert len({row.id for row in rows}) == len(rows)
    assert all(np.isfinite(row.value) for row in rows)


@pytest.mark.parametrize("module", SMALL, ids=lambda module: module.__name__.rpartition(".")[2])
def test_quick_has_only_fewer_seeds_or_cells(module):
    full, quick = module.Config(), module.Config.quick()
    differ = {f.name for f in fields(full) if getattr(full, f.name) != getattr(quick, f.name)}
    assert differ <= {"n_seeds", "n_seeds_signed", "n_starts", "sigmas", "max_shifts"}
    assert len(module.jobs(quick)) < len(module.jobs(full))


def test_bars_turn_by_steps_and_at_once(result_of):
    """Both begin with the bar itself, and agree on a first small turn better than on a quarter of one."""
    result = result_of(large_motions)
    assert result.true.shape == result.first_order.shape == result.exponential.shape == (1, 10, 5, 5)
    np.testing.assert_array_equal(result.first_order[:, 0], result.true[:, 0])
    apart = np.abs(result.first_order - result.exponential).max(axis=(0, 2, 3))
    assert apart[1] < 0.1 * apart[9]
    plots.draw_turned_bars(result)


# -- figures -----------------------------------------------------------------------------------------------------


def test_figure_2_has_two_filters_of_each_learner_on_one_scale(result_of):
    figure = plots.draw_figure2(result_of(figure2), "L2")
    shown = [image for axes in figure.axes for image in axes.images]
    assert len(shown) == 8
    assert len({image.get_clim() for image in shown}) == 1


def test_motion_map_has_a_panel_for_each_feature(result_of):
    figure = plots.draw_motion_map(result_of(optics))
    assert sum(len(axes.images) for axes in figure.axes) == 2


def test_speeds_have_a_curve_for_each_wavelength(result_of):
    figure = plots.draw_speeds(result_of(gratings))
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert sum(label.startswith("wavelength") for label in labels) == len(SMALL[gratings].wavelengths)


# -- claims ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (above("C0.a", "", 0.5, 0.4, seeds=1), True),
        (above("C0.a", "", 0.4, 0.4, seeds=1), False),
        (above("C0.a", "", np.nan, 0.4, seeds=1), False),
        (below("C0.a", "", 0.3, 0.4, seeds=1), True),
        (below("C0.a", "", 0.4, 0.4, seeds=1), False),
        (within("C0.a", "", 2.05, 1.95, 2.05, seeds=1), True),
        (within("C0.a", "", np.nan, 1.95, 2.05, seeds=1), False),
        (all_of("C0.a", "", [True, True], seeds=2), True),
        (all_of("C0.a", "", [True, False], seeds=2), False),
        (report("C0.a", "", 1.0, seeds=1), None),
    ],
)
def test_holds(claim, holds):
    assert claim.holds is holds


def test_rows_are_plain_json_without_nan(tmp_path):
    rows = [above("C0.a", "t", np.float32(0.5), 0.4, seeds=3), within("C0.b", "t", np.nan, 0, 1, seeds=1, unit="px")]
    write([*rows, report("C0.c", "t", np.inf, seeds=0)], tmp_path / "claims.json")
    first, second, third = json.loads((tmp_path / "claims.json").read_text(), parse_constant=pytest.fail)
    assert set(first) == {f.name for f in fields(Claim)}
    assert first == {
        "id": "C0.a",
        "title": "t",
        "value": 0.5,
        "unit": "",
        "relation": ">",
        "least": 0.4,
        "seeds": 3,
        "holds": True,
        "note": "",
    }
    assert (second["value"], second["least"], second["holds"], second["unit"]) == (None, [0.0, 1.0], False, "px")
    assert (third["value"], third["holds"]) == (None, None)


# -- reproduce ---------------------------------------------------------------------------------------------------


def test_reproduces_what_was_asked_for(tmp_path):
    seen = []
    rows = reproduce(["C14"], n_seeds=2, out=tmp_path / "new", n_jobs=1, progress=lambda *a: seen.append(a[:2]))
    assert {row.id.partition(".")[0] for row in rows} == {"C14"}
    assert {row.seeds for row in rows} == {2}
    assert [row["id"] for row in json.loads((tmp_path / "new" / "claims.json").read_text())] == [r.id for r in rows]
    assert seen == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(("ids", "match"), [(["C2", "C99"], "unknown claim C99; expected some of C1, C2"), ("X", "X")])
def test_unknown_claims_are_named(ids, match, tmp_path):
    with pytest.raises(ValueError, match=match):
        reproduce(ids, out=tmp_path)


def test_no_seeds_are_refused(tmp_path):
    with pytest.raises(ValueError, match="n_seeds is 0"):
        reproduce(["C14"], n_seeds=0, out=tmp_path)


def test_no_claim_belongs_to_two_experiments():
    claims = [claim for held in EXPERIMENTS.values() for claim in held]
    assert len(claims) == len(set(claims))


def test_cores_give_the_same_in_the_same_order():
    work = product_features.jobs(product_features.Config(n_seeds=3, n_places=50, shifts=(0.01, 0.02)))
    finished = []
    parallel = list(on_cores(2, lambda: finished.append(1))(work))
    for one, other in zip(parallel, in_turn(work), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-13)
    assert len(finished) == 3


# -- worlds ------------------------------------------------------------------------------------------------------


def test_moved_content_is_that_of_a_pair():
    world = WORLDS["L1"]
    eye, scene = world.eye(5), world.scene(0)
    places = np.array([100.0, 200.0])
    pairs = moved(scene, eye, places, 1.0)
    np.testing.assert_allclose(pairs.after[:, 1:], pairs.before[:, :-1], atol=1e-9)
    np.testing.assert_array_equal(pairs.motion, [[1.0], [1.0]])


def test_the_filter_of_rightward_motion_comes_first():
    right = derivative_operator((5,))
    assert rightward_first(np.stack([right, -right])) == [0, 1]
    assert rightward_first(np.stack([-right, right])) == [1, 0]


def test_an_undecided_reading_is_not_right():
    pairs = FramePairs(np.zeros((4, 3)), np.zeros((4, 3)), np.array([1.0, -1.0, 1.0, -1.0]))
    assert share_right(np.array([2.0, -1.0, 0.0, 1.0]), pairs) == 0.5
