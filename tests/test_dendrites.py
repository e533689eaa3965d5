"""Starts that a brain could have: which synapses a dendrite has before anything is learned."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.similarity.dendrites import misplaced_dendrites, oriented_dendrites, round_dendrites
from flymotion.world.eyes import Grid, Hexagon, Line, Sphere

MAKERS = {
    "oriented": lambda eye, **how: oriented_dendrites(eye, [0.0, 180.0, 0.0], **how),
    "round": lambda eye, **how: round_dendrites(eye, 3, **how),
    "misplaced": lambda eye, **how: misplaced_dendrites(eye, 3, **how),
}


@pytest.mark.parametrize(
    ("eye", "angle", "expected"),
    [
        (Line(5), 0.0, [[1, 0]]),
        (Line(5), 180.0, [[-1, 0]]),
        (Grid(5, 5), 0.0, [[1, 0]]),
        (Grid(5, 5), 90.0, [[0, -1]]),  # up, as rows count downwards
        (Grid(3, 5), 270.0, [[0, 1]]),
        (Grid(5, 5), 45.0, [[0, -1], [1, 0]]),
        (Hexagon(2), 90.0, [[0, -1]]),
        (Hexagon(2), 0.0, [[np.sqrt(0.75), -0.5], [np.sqrt(0.75), 0.5]]),
        (Hexagon(2), 210.0, [[-np.sqrt(0.75), 0.5]]),
    ],
)
def test_a_dendrite_reaches_from_the_middle_to_the_neighbours_on_its_side(eye, angle, expected):
    [W] = oriented_dendrites(eye, [angle])
    changes, intensities = np.nonzero(W)
    positions = np.pad(eye.positions, ((0, 0), (0, 2 - eye.positions.shape[1])))
    assert_array_equal(positions[changes], 0)
    reached = positions[intensities]
    assert_allclose(reached[np.lexsort(reached.T[::-1])], expected, atol=1e-12)
    assert_allclose(W[changes, intensities], 1 / np.sqrt(len(expected)))


@pytest.mark.parametrize("eye", [Line(5), Grid(3, 3), Hexagon(1)])
def test_a_round_one_reaches_to_all_neighbours_of_the_middle_alike(eye):
    [W] = round_dendrites(eye, 1)
    [middle] = np.unique(np.nonzero(W)[0])
    links = eye.neighbours[(eye.neighbours == middle).any(axis=1)]
    around = np.unique(links[links != middle])
    assert_array_equal(np.nonzero(W[middle])[0], around)
    assert_allclose(W[middle, around], 1 / np.sqrt(len(around)))


def test_a_misplaced_one_is_one_synapse_anywhere():
    W = misplaced_dendrites(Grid(3, 3), 500, random_state=0).reshape(500, -1)
    assert_array_equal(W.sum(axis=1), 1)
    assert_array_equal(np.count_nonzero(W, axis=1), 1)
    assert len(np.unique(W.argmax(axis=1))) == 81


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
class TestAll:
    def test_random_weights_have_the_norm_that_was_asked_for(self, make):
        plain, scattered = (make(Grid(3, 3), scatter=scatter, random_state=3) for scatter in (0.0, 2.0))
        assert_allclose(np.linalg.norm(scattered - plain, axis=(1, 2)), 2.0)
        assert_allclose(np.linalg.norm(plain, axis=(1, 2)), 1.0)

    def test_a_seed_gives_the_same_again_and_another_one_does_not(self, make):
        one, again, other = (make(Line(5), scatter=1.0, random_state=seed) for seed in (1, 1, 2))
        assert_array_equal(one, again)
        assert (one != other).any()

    @pytest.mark.parametrize("scatter", [-0.1, np.nan, np.inf])
    def test_scatter_out_of_range_is_refused(self, make, scatter):
        with pytest.raises(ValueError, match="scatter is"):
            make(Line(5), scatter=scatter)

    def test_an_eye_that_is_not_flat_is_refused(self, make):
        with pytest.raises(ValueError, match="Sphere; expected a flat one"):
            make(Sphere.evenly(20))

    def test_an_eye_of_one_pixel_is_refused(self, make):
        with pytest.raises(ValueError, match="none next to the middle"):
            make(Line(1))


@pytest.mark.parametrize("angles", [[], [[0.0]], [np.nan], 0.0])
def test_angles_that_are_no_list_of_numbers_are_refused(angles):
    with pytest.raises(ValueError, match="one a unit"):
        oriented_dendrites(Line(5), angles)


@pytest.mark.parametrize("make", [round_dendrites, misplaced_dendrites])
@pytest.mark.parametrize("n_units", [0, -1, 1.5, "two"])
def test_numbers_of_units_that_are_none_are_refused(make, n_units):
    with pytest.raises(ValueError, match=r"n_units is .*; expected a positive whole number"):
        make(Line(5), n_units)


def test_a_side_without_pixels_is_refused():
    with pytest.raises(ValueError, match="at 90 deg"):
        oriented_dendrites(Line(5), [0.0, 90.0])


def test_masked_angles_are_refused():
    with pytest.raises(ValueError, match="angles is a masked array"):
        oriented_dendrites(Line(5), np.ma.array([0.0, 180.0], mask=[0, 1]))
