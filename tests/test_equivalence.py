"""Equal in sum, unlike one by one (C16, C20): the claims at a small size, closed forms, and the figure."""

import io

import numpy as np
import pytest

from flymotion.claims import equivalence, passing
from flymotion.claims.equivalence import apart, learned_sums, movies, singles, sums
from flymotion.claims.nulls import NULLS
from flymotion.claims.opponents import opponents
from flymotion.claims.running import run
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import hassenstein_reichardt, learned, shared_non_delay, three_pixel
from flymotion.detectors.temporal import Delay, LowPass
from flymotion.generators import Generators, derivative_operator
from flymotion.world.eyes import Line
from flymotion.world.rendering import render
from flymotion.world.scenes import Grating

SMALL = equivalence.Config(n_seeds=1)
TINY = equivalence.Config(
    n_seeds=2,
    n_frames=400,
    n_rows=2,
    n_row_frames=150,
    n_learned=150,
    n_pairs=2_000,
    fields=(8, 16),
    n=5,
    wavelengths=(6.0,),
    frequencies=(1.0,),
    speeds=(0.2,),
)

BOTH = pytest.mark.parametrize("step", [Delay(0.05), LowPass(0.15)], ids=["delay", "low-pass"])


@pytest.fixture(scope="module")
def found():
    return run(equivalence.work(SMALL))


@pytest.fixture
def make_movie():
    return lambda *shape, seed=0: np.random.default_rng(seed).standard_normal(shape)


@pytest.fixture(scope="module")
def rows(found):
    return {row.id: row for row in equivalence.check(found, SMALL)}


def test_claims_hold_but_for_what_is_learned_in_l2(rows):
    """One row of a filter learned in L2 is as like an HRD as random rows are: the bound of 0.5 is that near."""
    assert {id for id, row in rows.items() if row.holds is False} <= {"C20.learned_L2"}
    assert {id for id, row in rows.items() if row.holds is not None} == {
        "C16.identity", "C16.slope", "C16.learned", "C20.hrd", "C20.learned_L1", "C20.learned_L2", "C20.sums",
        "C20.theory",
    }  # fmt: skip
    assert all(np.isfinite(row.value) for row in rows.values())


def test_rows_have_names_of_their_own(found):
    ids = [row.id for row in equivalence.check(found, SMALL)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("id", ["C16.residual", "C16.residual_sum", "C20.learned_L1", "C20.learned_L2"])
def test_nulls_stand_beside_what_is_learned(rows, id, null):
    assert rows[f"{id}_{null}"].relation == "report"


def test_hrds_leave_out_little_of_what_is_learned_and_nearly_all_of_random_filters(found):
    left_out = found["learned"]["L1"].left_out[0, 1]
    assert left_out[0] < 0.02 and left_out[1 + list(NULLS).index("random")] > 0.8


def test_contrary_rows_are_contrary(rows):
    """A learned patch about a mean is like an HRD, and a shared line that is high-passed like three pixels."""
    assert rows["C20.learned_L1_mean"].value > 0.9
    assert rows["C20.shared_high_pass"].value > 0.9
    assert rows["C20.shared"].value == pytest.approx(1, abs=1e-6)  # a grating at twice the best frequency
    assert rows["C20.hrd_null_over"].value > rows["C20.hrd"].value


def test_the_printed_boundary_is_not_the_rest(found):
    assert found["fields"].printed.min() > 0.1


def test_quick_has_only_fewer_seeds():
    assert equivalence.QUICK == {"n_seeds": 2}
    for config in (equivalence.Config(**equivalence.QUICK), equivalence.Config()):
        assert {len(pieces) for pieces in equivalence.work(config).values()} == {config.n_seeds}


def test_pieces_are_independent(backwards):
    one, two = (run(equivalence.work(TINY), each) for each in (None, backwards))
    parts = [(found["singles"], found["fields"], [found["apart"]], found["learned"]["L2"]) for found in (one, two)]
    for of_one, of_two in zip(*parts, strict=True):
        for a, b in zip(of_one, of_two, strict=True):
            assert a.shape[0] == 2
            np.testing.assert_array_equal(a, b)


# -- movies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.05, 0.2, 0.3])
def test_profiles_move_right_as_the_renderer_moves_scenes(speed):
    scene, eye = Grating(7.0), Line(4, 0.8)
    moved = passing.moving(passing.profile(scene, 12, 3.0, 0.8), 4, 10, speed)
    last = 3.0 + 1.5  # where the middle of the eye is in the last frame
    poses = last + speed * np.arange(10)[::-1]
    np.testing.assert_allclose(moved, render(scene, eye, poses[:, None]), atol=1e-12)
    assert three_pixel(Delay(0.01))(moved, 0.01).mean() > 0


def test_a_profile_is_never_left():
    profile = np.arange(20.0 * 30)
    assert len(passing.moving(profile, 4, 10_000, 0.5)) == (20 * 30 - 20 * 4) // 10
    assert passing.moving(profile, 4, 10_000, 0.5).max() < 20 * 30


def test_gratings_move_on_by_a_cycle():
    movie = movies.grating(6.0, 25, 5, mean=1.0)
    np.testing.assert_allclose(movie[25:], movie[:-25], atol=1e-12)
    assert len(movie) == movies.SETTLED + 50
    np.testing.assert_allclose(movie[-25:].mean(axis=0), 1.0, atol=1e-12)


def test_photographs_are_luminances_of_mean_1_by_turns():
    rows = passing.photographed_rows(40)
    assert rows.min() > 0
    assert rows.mean() == pytest.approx(1, abs=0.1)
    np.testing.assert_array_equal(rows, passing.photographed_rows(40))


def test_correlation_of_a_constant_is_0():
    t = np.linspace(0, 1, 50)
    assert movies.correlation(t, 3 + 0 * t) == 0
    assert movies.correlation(t, 3 + 1e-15 * t) == 0
    np.testing.assert_allclose(movies.correlation(t, 1 - 2 * t), -1, atol=1e-12)


# -- sums --------------------------------------------------------------------------------------------------------


@pytest.mark.case("B42")
def test_boundary_by_hand():
    """Two centres: written out term by term."""
    f, g = np.random.default_rng(0).standard_normal((2, 4))
    three = (g[1] - f[1]) * (g[0] - g[2]) + (g[2] - f[2]) * (g[1] - g[3])
    hrd = f[1] * g[2] - g[1] * f[2]
    np.testing.assert_allclose(sums.boundary(f, g), three - hrd, atol=1e-13)


@pytest.mark.case("B42")
@BOTH
def test_sums_over_a_line_differ_by_the_boundary(make_movie, step):
    movie = make_movie(60, 13)
    assert sums._errors(movie, step)[0] < 1e-12
    assert sums._errors(movie, step)[1] > 0.01


@pytest.mark.case("B42")
@BOTH
def test_sums_over_a_ring_are_equal(make_movie, step):
    movie = make_movie(60, 13)
    ring = np.concatenate([movie[:, -1:], movie, movie[:, :1]], axis=1)
    three, hrd, shared = (
        detector(ring, 0.01)[:, :13].sum(axis=1)
        for detector in (three_pixel(step), hassenstein_reichardt(step), shared_non_delay((step,), ()))
    )
    np.testing.assert_allclose(three, hrd, atol=1e-12)
    np.testing.assert_allclose(three, shared, atol=1e-12)
    assert singles._ring_difference(movie, step) < 1e-12


def test_shares_of_a_grating_fall_with_fields_of_whole_wavelengths():
    """The boundary is the same, the sum grows with the field: exactly one over it."""
    movie = movies.grating(8.0, 20, 70)[-40:]
    mean, power = sums._sums(movie, Delay(0.05), (8, 16, 32, 64))
    np.testing.assert_allclose(power, power[0], rtol=1e-9)
    np.testing.assert_allclose(mean, mean[0] * np.array([1, 2, 4, 8]), rtol=1e-9)


def test_sums_are_of_as_many_detectors_as_said(make_movie):
    """Centres 7 to 12 of 20 pixels, HRDs between them, outer pixels 6 and 13."""
    movie = make_movie(50, 20)
    mean, power = sums._sums(movie, Delay(0.05), (5,))
    hrd = hassenstein_reichardt(Delay(0.05))(movie, 0.01)
    np.testing.assert_allclose(mean, hrd[:, 7:12].sum(axis=1).mean(), atol=1e-12)
    three = three_pixel(Delay(0.05))(movie, 0.01)[:, 6:12].sum(axis=1)
    np.testing.assert_allclose(power, ((three - hrd[:, 7:12].sum(axis=1)) ** 2).mean(), atol=1e-12)


# -- learned filters ---------------------------------------------------------------------------------------------


def test_the_toeplitz_antisymmetric_part_is_a_projection():
    A = np.random.default_rng(0).standard_normal((6, 6))
    T, weights = learned_sums.toeplitz_antisymmetric(A)
    np.testing.assert_allclose(T, -T.T)
    np.testing.assert_allclose(learned_sums.toeplitz_antisymmetric(T)[0], T, atol=1e-14)
    np.testing.assert_allclose([np.ptp(np.diagonal(T, k)) for k in range(-5, 6)], 0, atol=1e-14)
    np.testing.assert_allclose((T * (A - T)).sum(), 0, atol=1e-12)
    np.testing.assert_allclose(T[1:, 0], weights)
    np.testing.assert_allclose(learned_sums._energies(A).sum(), 1)
    np.testing.assert_allclose(learned_sums._energies(derivative_operator((6,))), [1, 0, 0], atol=1e-14)


def test_learned_filters_are_hrds_of_every_base(make_movie):
    """Written out: f is the frame before, g the frame after, both seen by one patch."""
    T, weights = learned_sums.toeplitz_antisymmetric(np.random.default_rng(1).standard_normal((5, 5)))
    movie = make_movie(9, 5)
    f, g = movie[:-1], movie[1:]
    hrds = sum(
        c * sum(f[:, i] * g[:, i + k] - g[:, i] * f[:, i + k] for i in range(5 - k)) for k, c in enumerate(weights, 1)
    )
    found = learned(Generators(T[None], (5,)), Delay(0.01))(movie, 0.01)[1:, 0, 0]
    np.testing.assert_allclose(found, hrds, atol=1e-12)


@BOTH
def test_errors_of_patch_and_ring_vanish(make_movie, step):
    movie, A = make_movie(60, 9), np.random.default_rng(1).standard_normal((5, 5))
    assert learned_sums._as_hrds(A, movie, step) < 1e-12


def test_what_is_antisymmetric_but_not_everywhere_alike_vanishes_from_a_ring(make_movie):
    """Sums over a ring see only the sums of diagonals."""
    A = np.random.default_rng(1).standard_normal((1, 5, 5))
    left_out = learned_sums._left_out_of_sums(A - A.swapaxes(1, 2), make_movie(160, 9), Delay(0.05), "change")
    np.testing.assert_allclose(left_out, 0, atol=1e-20)


@pytest.mark.parametrize("feature", ["change", "midpoint"])
def test_one_patch_is_read_as_the_detector_reads_it(make_movie, feature, monkeypatch):
    seen = []
    monkeypatch.setattr(learned_sums, "_sizes", lambda one, hrd, shared: seen.append(one) or (0.0, 0.0))
    A, movie = np.random.default_rng(1).standard_normal((1, 5, 5)), make_movie(40, 5)
    name = {"change": "L1", "midpoint": "L2"}[feature]
    learned_sums._beside({name: A}, movie, Delay(0.05), 6)
    expected = learned(Generators(A, (5,)), Delay(0.05), feature=feature)(movie, 0.01)[6:, 0, 0]
    np.testing.assert_allclose(seen[1], expected, atol=1e-12)


@pytest.mark.parametrize("world", WORLDS)
def test_opponents_agree_on_what_moves_right(world):
    filters = opponents(WORLDS[world], 5, 20_000, [0, 1]).filters
    likeness = {name: float((A * filters["population"]).sum()) for name, A in filters.items()}
    assert min(likeness[name] for name in ("learned", "start", "labelled")) > 0.7
    assert 0 <= likeness["random"] < 0.9
    assert (filters["population"] * derivative_operator((5,))).sum() > 0


# -- single detectors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relative", [0.25, 0.5, 1.0, 2.0])
def test_theory_of_gratings(relative):
    """-sin(omega tau / 2) for a delay; near 0 for a low-pass, exactly so as frames get shorter."""
    cycle = movies.period(5.0, relative)
    np.testing.assert_allclose(singles.shared_line_theory(Delay(0.05), cycle), -np.sin(np.pi * 5 / cycle), atol=1e-12)
    assert abs(singles.shared_line_theory(LowPass(0.15), 1000)) < 0.01


@BOTH
def test_one_detector_on_a_grating_is_as_theory_says(step):
    cycle = 40
    hrd, shared = singles._correlations(singles._outputs(movies.grating(9.0, cycle, 5), step, movies.SETTLED))[:2]
    assert hrd == 0
    np.testing.assert_allclose(shared, singles.shared_line_theory(step, cycle), atol=1e-9)


def test_the_hrd_is_compared_on_its_better_side():
    t = np.arange(5.0)
    outputs = np.stack([t, t**2, [0, 1, 0, 1, 0.0], -t, t, *3 * [t % 3]], axis=1)
    np.testing.assert_allclose(singles._correlations(outputs)[0], -1)


def test_trials_and_what_tells_detectors_apart():
    """d' between a constant and what varies about it is the standard deviation; 95 % at a distance of 3.29."""
    t = 2 * np.pi * np.arange(100) / 100
    three, flat = 1 + 3 * np.sin(t), np.ones(100)
    np.testing.assert_allclose(apart._hardest(np.stack([three, 1 - 3 * np.sin(t), flat, flat])), 3 / np.sqrt(2))
    assert apart.trials(np.array([3.3, 3.29 / 2])).tolist() == [1, 4]


def test_edges_pass_in_the_middle_of_a_trial():
    for speed in (0.05, 0.3):
        edge = apart._edge(speed)
        assert edge.shape == (movies.START + 100, 4)
        np.testing.assert_allclose(edge[movies.START + 50, 1], 0, atol=1e-12)
        assert (np.diff(edge, axis=1) <= 0).all() and (np.diff(edge, axis=0) >= 0).all()


def test_gratings_are_told_apart_as_in_closed_form():
    """With a delay the shared line differs from the HRD by its oscillation alone, at every frequency the same."""
    tiny = equivalence.Config(wavelengths=(12.0,), frequencies=(1.0, 1.5), speeds=(0.2,))
    d_prime = apart.tell_apart(tiny, 0)
    assert len(apart.stimuli(tiny)) == d_prime.shape[1] == 4
    np.testing.assert_allclose(d_prime[0, :2], np.sqrt(0.5), rtol=1e-6)


# -- figure ------------------------------------------------------------------------------------------------------


def test_figure_shows_one_of_each_and_sums(found):
    figure = equivalence.figures(found, SMALL)["equivalence"]
    figure.savefig(io.BytesIO(), dpi=40)
    *panels, shares = figure.axes
    assert [len(axes.lines) for axes in panels] == [4, 4, 4, 4]
    np.testing.assert_array_equal(panels[0].lines[1].get_ydata(), found["singles"].outputs[0, 0, 0, 0])
    np.testing.assert_array_equal(shares.lines[0].get_ydata(), sums.boundary_shares(found["fields"])[0])
