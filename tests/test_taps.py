"""Where taps are: offsets are displacements, whatever their order, and what fits no pixel is named, with the reason."""

import math
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.detectors import LATTICE_TOLERANCE, Detector, along, learned
from flymotion.generators import Generators, derivative_operator
from flymotion.photoreceptors import DivisiveNormalization
from flymotion.tuning import EXPERIMENTS, experiment, eye_for, tune
from flymotion.tuning.setup import Setup, pitch
from flymotion.world.eyes import Grid, Hexagon, Line

HALF = math.sqrt(3) / 2
"""Distance of a hexagon's columns."""


@pytest.fixture
def make_detector():
    """A detector whose response is one of its taps, or the caller's formula on them."""

    def make(displacements, offset=0.0, combine=None, **how):
        formula = combine or (lambda tap: tap("signal", offset))
        return Detector(arms={"signal": ()}, displacements=displacements, combine=formula, **how)

    return make


@pytest.fixture
def numbered():
    """A movie of one frame in which every pixel is its own number."""
    return lambda eye: np.arange(math.prod(eye.shape), dtype=float).reshape(1, *eye.shape)


ROWS = [
    [[-2.0, 0], [0, 0], [2, 0]],
    [[-1.0, 0], [0, 0], [1, 0], [2, 0]],
    [[0, 1.0], [0, 0], [1, 0], [-1, 0], [0, -1]],
]


@pytest.mark.parametrize("places", ROWS, ids=["two apart", "a row", "a cross"])
def test_offsets_are_displacements_in_whatever_order_taps_are(make_detector, numbered, places):
    """Every offset of every order, on a line or a grid: the pixel that far to the right."""
    eye = Grid(7, 7) if np.any(np.array(places)[:, 1]) else Line(7)
    for order in permutations(places):
        for offset in (x for x, y in places if y == 0):
            detector = make_detector(list(order), offset)
            found = detector(numbered(eye), 0.01)[0]
            assert_array_equal(found, detector.positions(eye) + offset)


@pytest.mark.parametrize("offset", [-2 * HALF, 0.0, 2 * HALF, 1.732])
def test_offsets_on_a_hexagon_are_no_whole_numbers(make_detector, numbered, offset):
    eye = Hexagon(3)
    detector = make_detector([[2 * HALF, 0], [0, 0], [-2 * HALF, 0], [HALF, 0.5]], offset)
    places = eye.positions[detector(numbered(eye), 0.01, eye=eye)[0].astype(int)]
    assert_allclose(
        places - eye.positions[detector.positions(eye)], np.tile([offset, 0.0], (len(places), 1)), atol=1e-3
    )


@pytest.mark.parametrize("offset", [1, -1, 0.5, 3])
def test_offsets_without_a_tap_are_refused_and_taps_off_the_axis_are_told_of(make_detector, numbered, offset):
    taps = [[-2, 0], [0, 0], [1, 1], [2, 0], [0, 1]]
    message = (
        rf"^the offset is {offset}; expected one of the taps along the preferred direction, which are at -2, 0, 2, "
        r"and 2 are off that axis, where all\(arm\) finds them$"
    )
    with pytest.raises(ValueError, match=message):
        make_detector(taps, offset)(numbered(Grid(5, 9)), 0.01)


def test_all_taps_come_in_their_own_order(make_detector, numbered):
    taps = [[1, 1], [-2, 0], [0, 0]]
    detector = make_detector(taps, combine=lambda tap: tap.all("signal"), directions=(0.0, 0.0, 0.0))
    found = detector(numbered(Grid(4, 6)), 0.01)[0]
    assert_array_equal(found, detector.positions(Grid(4, 6))[:, None] + [6 + 1, -2, 0])


# The lattice


@pytest.mark.parametrize(
    ("eye", "places"), [(Grid(7, 7), ROWS[2]), (Hexagon(3), Hexagon(1).positions), (Line(7), ROWS[0])]
)
@pytest.mark.parametrize("off", [0.9, -0.9])
def test_displacements_may_be_rounded(make_detector, eye, places, off):
    exact, moved = np.array(places, dtype=float), np.array(places, dtype=float)
    moved[:, 0] += off * LATTICE_TOLERANCE
    assert_array_equal(make_detector(moved).positions(eye), make_detector(exact).positions(eye))


WRONG = [
    (Grid(5, 5), [[0, 0], [0.4, 0]], 0.0, r"the tap at \(0\.4, 0\) is 0\.4 pixel spacings off its lattice"),
    (Grid(5, 5), [[0, 0], [1, 0]], 45.0, r"the tap at \(1, 0\) is 0\.41 pixel spacings off its lattice"),
    (Grid(5, 5), [[0, 0], [1.002, 0]], 0.0, r"the tap at \(1\.002, 0\) is 0\.002 pixel spacings off its lattice"),
    (Grid(1, 5), [[0, 0], [1, 0]], 90.0, r"the tap at \(1, 0\) is beyond its border wherever the others are"),
    (Grid(3, 3), [[0, 0], [5, 0]], 0.0, r"the tap at \(5, 0\) is beyond its border wherever the others are"),
    (Grid(3, 3), [[-2, 0], [0, 0], [2, 0]], 0.0, r"about no pixel all of them are inside"),
    (Line(5), [[0, 0], [1, 0]], 90.0, r"the tap at \(1, 0\) is off the line of its pixels"),
    (Line(5), [[0, 0], [0, 1]], 0.0, r"the tap at \(0, 1\) is off the line of its pixels"),
    (Hexagon(2), [[0, 0], [0.5, 0]], 0.0, r"the tap at \(0\.5, 0\) is 0\.5 pixel spacings off its lattice"),
    (Hexagon(1), [[-2, 0], [0, 0], [2, 0]], 0.0, r"about no pixel all of them are inside"),
]


@pytest.mark.parametrize(("eye", "displacements", "direction", "why"), WRONG)
def test_the_tap_that_fits_no_pixel_is_named_with_the_reason(make_detector, eye, displacements, direction, why):
    with pytest.raises(
        ValueError, match=rf"taps along direction {direction:g} deg, as {why}; expected a larger eye, or"
    ):
        make_detector(displacements).positions(eye, direction)


# The eye that experiments give a detector


@pytest.fixture
def correlator():
    """A delay-and-compare pair on a hexagon, along a column's neighbour; its taps are not on a grid."""
    step = np.array([HALF, 0.5])
    return Detector(
        arms={"signal": ()}, displacements=[[0, 0], step], combine=lambda tap: np.prod(tap.all("signal"), axis=-1)
    )


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_taps_on_a_hexagon_get_one(make_detector, radius):
    patch = Hexagon(radius)
    A = learned(Generators(derivative_operator(patch)[None], patch))
    for detector in (make_detector(patch.positions), make_detector(patch.positions.round(4)[::-1]), A):
        assert (type(eye_for(detector)), eye_for(detector).radius) == (Hexagon, radius)
        assert eye_for(detector).sigma == eye_for(make_detector(along(-1, 1))).sigma
        assert pitch(detector) == pytest.approx(5 * HALF)


@pytest.mark.parametrize("displacements", [along(-1, 1), [[0, -1], [0, 1]], [[-1, -1], [2, 1]], [[0, 0]]])
def test_taps_in_rows_and_columns_get_a_grid(make_detector, displacements):
    detector = make_detector(displacements)
    assert eye_for(detector, 3).shape == tuple(np.add(np.ptp(displacements, axis=0)[::-1], [1, 3]))
    assert pitch(detector) == 5.0


@pytest.mark.parametrize("margin", [False, True], ids=["alone", "behind early vision"])
@pytest.mark.parametrize("n_positions", [1, 2, 6, 7])
@pytest.mark.parametrize("direction", [0.0, 60.0, 180.0])
def test_the_mean_is_over_a_row_of_neighbours(correlator, n_positions, margin, direction):
    """As many as asked for, one a column, about the middle; with early vision six more are seen to either side."""
    stages = DivisiveNormalization() if margin else None
    how = Setup(n_positions=n_positions, early_vision=stages, preferred=direction)
    eye, positions = how.eye_of(correlator), correlator.positions(how.eye_of(correlator), direction)
    row = eye.positions[positions[how.averaged(correlator, len(positions))]]
    assert_allclose(np.diff(np.sort(row[:, 0])), HALF)
    assert len(row) == n_positions and np.ptp(row[:, 1]) <= 0.5 and abs(row[:, 0].mean()) < HALF
    beyond = HALF * eye.radius - np.abs(row[:, 0]).max()
    assert beyond >= (6 * HALF if margin else 0) - 1e-9


def test_the_mean_over_a_row_of_a_wavelength_does_not_oscillate(correlator):
    local, summed = (
        experiment(name, correlator, dt=0.01).course.sel(motion="preferred") for name in ("local", "summed")
    )
    assert float(summed.std()) < 0.05 * float(local.std())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_shown_to_a_hexagon(correlator, name):
    how = {"gliders": {"duration": 1.1, "repeats": 1}, "frequency": {"wavelength": 30.0}}.get(name, {})
    results = experiment(name, correlator, dt=0.02, **how)
    assert np.isfinite(results.response).all() and results.attrs["eye"].startswith("Hexagon(")


def test_early_vision_comes_before_a_hexagon(correlator):
    alone, behind = (
        tune(correlator, EXPERIMENTS["contrast"].stimulus, {"contrast": [0.5, 1.0]}, dt=0.05, early_vision=stages)
        for stages in (None, DivisiveNormalization())
    )
    assert float(alone.response[1] / alone.response[0]) == pytest.approx(4)
    assert float(behind.response[1] / behind.response[0]) < 1.2


def test_taps_on_neither_lattice_need_an_eye(make_detector):
    detector = make_detector([[0, 0], [0.3, 0]])
    with pytest.raises(
        ValueError, match=r"such as that at \(0\.3, 0\), are neither in rows and columns nor on a hexagonal"
    ):
        experiment("contrast", detector, dt=0.05)
