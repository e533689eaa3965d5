"""Columns against the connectome, units that compete or not, and published filters in their parts (C22, C23)."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose

from flymotion.circuits import SUBTYPES
from flymotion.circuits.connectome import CENTRE, along, effective
from flymotion.claims import anatomy
from flymotion.claims.anatomy import columns, input_parts, lateral_inhibition, rows_at_work
from flymotion.claims.anatomy.columns import ANGLES, MIDDLE, OFFSETS, learn_all, seen_in
from flymotion.claims.running import run, stack
from flymotion.detectors.temporal import LowPass


@pytest.fixture(scope="module")
def sphere():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(columns, "N_PLACES", 300)
        yield seen_in("S", 0)


@pytest.fixture(scope="module")
def learned(sphere):
    return learn_all({"": sphere[""]} | {"_noisy": sphere["_noisy"]}, 0)


def test_a_column_learns_the_signs_of_the_connectome_onto_whitened_intensities(learned):
    rows = learned["column"]["nsm"].whitened
    assert anatomy.against_the_connectome._counted(rows, "signs") == 8
    assert anatomy.against_the_connectome._counted(-rows, "signs") == 0
    assert_allclose(np.abs(rows).sum(axis=1), 1)


def test_where_all_changes_are_learned_from_t5_is_t4_turned_in_sign(learned):
    for kind in ("patch", "column"):
        rows = learned[kind]["nsm"].pixels
        assert_allclose(rows[:4], -rows[4:])
    halves = learned["halves"]["nsm"].whitened
    assert not np.allclose(halves[:4], -halves[4:], atol=1e-3)


def test_pixels_are_what_whitening_makes_of_whitened_weights(sphere, learned):
    one = learned["column"]["nsm"]
    expected = one.whitened @ sphere[""].Z
    assert_allclose(one.pixels, expected / np.abs(expected).sum(axis=1, keepdims=True))


def test_motions_are_those_that_subtypes_prefer(sphere):
    """The middle's change times the intensity beside it is positive on average where content comes from that side."""
    seen = sphere[""]
    chi = (seen.frames.after - seen.frames.before)[:, [MIDDLE]] * seen.frames.before
    for k, cell in enumerate(SUBTYPES[:4]):
        assert chi[seen.way == k].mean(axis=0) @ along(cell, OFFSETS) < 0, cell


@pytest.mark.parametrize("column", [False, True])
def test_units_compete_and_learn_alone(sphere, column):
    found = lateral_inhibition.compete(sphere[""], 0, column=column)
    together, alone = found["oriented"]["together"], found["oriented"]["alone"]
    assert together.named > found["oriented"]["start"].named - 0.05
    assert together.orthogonal > together.opponent >= 0  # units of one axis are hardly ever active together
    assert abs(together.named - alone.named) < 0.1
    assert_allclose(alone.driven, [alone.opponent, alone.orthogonal])


def test_published_filters_play_their_parts_and_tell_directions():
    found = stack([input_parts.play(0)])
    change, intensity = ([input_parts.NAMES.index(n) for n in names] for names in input_parts.CELLS["T4"])
    assert found.change[0][change].mean() > 0.8 > 0.6 > found.intensity[0][change].mean()
    assert found.intensity[0][intensity].mean() > 0.9 > 0.6 > found.change[0][intensity].mean()
    assert found.told[""].mean() > 0.9 > 0.6 > found.told["_same"].mean() > found.told["_swapped"].mean()
    assert all(np.isfinite(row.value) for row in input_parts.check(found))


@pytest.mark.parametrize("wavelength", [20.0, 60.0, 150.0])
def test_what_a_row_prefers_is_what_gratings_say(wavelength):
    """Literally: a grating drifts both ways over the columns, and is filtered as the change and as intensities."""
    cell, row = "T4c", effective("T4c", OFFSETS)
    t = np.arange(0, 6, input_parts.DT)[:, None]
    phase = 2 * np.pi * along(cell, OFFSETS) * input_parts.SPACING / wavelength
    answers = []
    for way in (1, -1):
        movie = np.cos(2 * np.pi * rows_at_work.FREQUENCY * t - way * phase)
        low = input_parts.through((LowPass(0.15),), movie)
        answers.append(((movie - low)[:, [MIDDLE]] * low * row).sum(axis=1)[300:].mean())
    at = int(np.argmin(np.abs(wavelength - rows_at_work.WAVELENGTHS)))
    said = rows_at_work._preferred(np.tile(row, (8, 1)), rows_at_work._delayed)[SUBTYPES.index(cell), at]
    assert said == (answers[0] > answers[1])


def test_the_connectomes_rows_prefer_their_own_direction_at_all_wavelengths():
    rows = np.stack([effective(cell, OFFSETS) for cell in SUBTYPES])
    assert rows_at_work._preferred(rows, rows_at_work._published).all()
    assert not rows_at_work._preferred(-rows, rows_at_work._published).any()


def test_a_row_that_turns_round_is_told_at_its_wavelength():
    preferred = np.array([[True, True, False, True], [True] * 4, [False, True, True, True]])
    preferred = np.pad(preferred, ((0, 0), (0, len(rows_at_work.WAVELENGTHS) - 4)), constant_values=True)
    first = rows_at_work.WAVELENGTHS
    assert_allclose(rows_at_work._longest(preferred), [first[1], first[-1], 0])


def test_patches_of_photographs_are_columns_with_two_rings():
    assert OFFSETS[MIDDLE].tolist() == [0, 0] and len(OFFSETS) == 19
    assert ANGLES.tolist() == [180, 0, 90, 270] and CENTRE == {"T4": 1, "T5": -1}


@pytest.mark.slow
def test_the_group_states_all_rows_and_draws_its_figures():
    config = anatomy.Config(n_seeds=1)
    found = run(anatomy.work(config))
    rows = {row.id: row for row in anatomy.check(found, config)}
    assert all(np.isfinite(row.value) for row in rows.values())
    assert rows["C22.column_signs_whitened"].holds and rows["C22.patch_signs_whitened"].holds
    assert not rows["C22.column_signs"].holds  # in P, in pixels
    assert rows["C23.fly_inhibits"].value == 0
    drawn = anatomy.figures(found, config)
    for figure in drawn.values():
        figure.savefig(io.BytesIO(), dpi=40)
    assert list(drawn) == ["dendrites", "input_parts", "along_preferred"]
