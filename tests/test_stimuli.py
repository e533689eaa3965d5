"""Stimuli against closed forms, their definitions measured, and the contracts that all of them keep."""

import inspect
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.detectors import hassenstein_reichardt, three_pixel
from flymotion.stimuli import (
    STIMULI,
    Cosine,
    Drift,
    Lives,
    Part,
    Stepped,
    Stimulus,
    Table,
    Track,
    Turning,
    Window,
    apparent_motion,
    counterphase_grating,
    drifting_grating,
    flashed_bar,
    glider,
    moving_bar,
    moving_edge,
    opponent_gratings,
    plaid,
    random_dots,
    reverse_phi,
    rotating_grating,
    rotating_panorama,
    square_grating,
    sweeping_edge,
    ternary_noise,
    velocity_noise,
    velocity_steps,
)
from flymotion.world.eyes import Grid, Hexagon, Line, Sphere
from flymotion.world.rendering import render
from flymotion.world.scenes import Drum, Grating, SmoothNoise, panorama

EYES = {"line": Line(8), "grid": Grid(3, 8), "hexagon": Hexagon(2)}
DT, SPACING = 0.02, 5.0

each_stimulus = pytest.mark.parametrize("name", STIMULI)
each_eye = pytest.mark.parametrize("eye", EYES.values(), ids=EYES)


def having(parameter):
    return [name for name, make in STIMULI.items() if parameter in inspect.signature(make).parameters]


def places(eye):
    """Where pixels look, (x right, y down) [deg]."""
    flat = eye.positions * SPACING
    return np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))


def along(eye, direction):
    """Distances of pixels along a direction [deg]."""
    x, y = places(eye).T
    return x * math.cos(math.radians(direction)) - y * math.sin(math.radians(direction))


def times(stimulus, dt=DT):
    return np.arange(stimulus.n_frames(dt)) * dt


def sine(eye, t, *, wavelength, temporal_frequency, direction, contrast, phase):
    """A drifting grating through the optics, in closed form, shape (n_frames, *eye.shape)."""
    damping = math.exp(-((2 * math.pi * eye.sigma * SPACING / wavelength) ** 2) / 2)
    cycles = along(eye, direction) / wavelength - temporal_frequency * t[:, None]
    return contrast * damping * np.cos(2 * math.pi * cycles + phase).reshape(-1, *eye.shape)


# All stimuli


@each_stimulus
@each_eye
def test_every_stimulus_shows_on_every_eye(name, eye):
    stimulus = STIMULI[name]()
    movie = stimulus.movie(eye, DT, spacing=SPACING)
    assert movie.shape == (round(stimulus.duration / DT), *eye.shape)
    assert np.isfinite(movie).all()
    assert movie.std() > 0.01


@each_stimulus
def test_every_stimulus_is_called_by_its_name(name):
    make = STIMULI[name]
    assert make.__name__ == name.replace("-", "_")
    assert all(p.kind == p.KEYWORD_ONLY for p in inspect.signature(make).parameters.values())


@each_stimulus
def test_blocks_of_a_stream_and_pieces_are_the_movie(name):
    stimulus, eye = STIMULI[name](), Grid(3, 4)
    movie = stimulus.movie(eye, DT, spacing=SPACING)
    assert_allclose(
        np.concatenate(list(stimulus.stream(eye, DT, block=33, spacing=SPACING))), movie, rtol=0, atol=1e-11
    )
    assert_allclose(stimulus.movie(eye, DT, start=31, stop=52, spacing=SPACING), movie[31:52], rtol=0, atol=1e-11)


@each_stimulus
def test_every_stimulus_pickles(name, pickled):
    stimulus = STIMULI[name]()
    assert_array_equal(
        pickled(stimulus).movie(Grid(2, 3), DT, spacing=SPACING), stimulus.movie(Grid(2, 3), DT, spacing=SPACING)
    )


@each_stimulus
def test_a_mean_is_added(name):
    stimulus = STIMULI[name]()
    assert_allclose(
        stimulus.about(2.0).movie((5,), DT, spacing=SPACING), stimulus.movie((5,), DT, spacing=SPACING) + 2, atol=1e-12
    )


@pytest.mark.parametrize("name", having("random_state"))
def test_one_seed_one_movie(name):
    first, again, other = (
        STIMULI[name](random_state=seed).movie(Grid(2, 6), DT, spacing=SPACING) for seed in (3, 3, 4)
    )
    assert_array_equal(first, again)
    assert np.abs(other - first).max() > 0.01


@pytest.mark.parametrize("name", having("random_state"))
def test_global_generators_are_left_alone(name):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global stream is what must not move
    STIMULI[name](random_state=None)
    STIMULI[name](random_state=np.random.default_rng(0))
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002 - as above


ON_A_GLOBE = ["rotating-grating", "sweeping-edge"]
"""Longitudes and latitudes, along which flat eyes are wrapped there, are not turned into each other."""


@pytest.mark.parametrize("name", [name for name in having("direction") if name not in ON_A_GLOBE])
@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_direction_turns_the_stimulus(name, quarters):
    """Counter-clockwise as one looks: right, up, left, down."""
    make, eye = STIMULI[name], Grid(5, 5)
    turned = np.rot90(make(direction=0.0).movie(eye, DT, spacing=SPACING), quarters, axes=(1, 2))
    assert_allclose(make(direction=90.0 * quarters).movie(eye, DT, spacing=SPACING), turned, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ON_A_GLOBE)
@pytest.mark.parametrize("direction", [50.0, 90.0, 270.0])
def test_a_direction_turns_a_stimulus_all_round(name, direction):
    """Counter-clockwise about the line ahead, as one looks: what is at the right, -y, comes up, +z."""
    c, s = np.cos(np.radians(direction)), np.sin(np.radians(direction))
    eye = Sphere.evenly(60)
    turned = Sphere(eye.positions @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]))
    assert_allclose(STIMULI[name](direction=direction).movie(turned, DT), STIMULI[name]().movie(eye, DT), atol=1e-9)


@pytest.mark.parametrize("name", having("direction"))
def test_a_line_sees_what_the_middle_row_of_a_grid_sees(name):
    stimulus = STIMULI[name](direction=30.0)
    middle = stimulus.movie(Grid(3, 8), DT, spacing=SPACING)[:, 1]
    assert_allclose(stimulus.movie(Line(8), DT, spacing=SPACING), middle, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", having("contrast"))
def test_a_movie_is_proportional_to_contrast(name):
    single, double = (STIMULI[name](**how).movie((6,), DT, spacing=SPACING) for how in scaled(name))
    assert_allclose(double, 2 * single, rtol=0, atol=1e-12)


def scaled(name):
    both = [key for key in ("contrast", "opposing") if key in inspect.signature(STIMULI[name]).parameters]
    return [dict.fromkeys(both, value) for value in (0.2, 0.4)]


SIGNS = {
    "a grating": (drifting_grating, {}, 1),
    "a square grating": (square_grating, {}, 1),
    "a plaid": (plaid, {}, 1),
    "the stronger of two gratings": (opponent_gratings, {"opposing": 0.2}, 1),
    "the stronger opposing grating": (opponent_gratings, {"opposing": 0.8}, -1),
    "phi": (reverse_phi, {"reverse": False}, 1),
    "reverse phi": (reverse_phi, {}, -1),
    "an ON edge": (moving_edge, {}, 1),
    "an OFF edge": (moving_edge, {"contrast": -1.0}, 1),
    "an ON bar": (moving_bar, {}, 1),
    "an OFF bar": (moving_bar, {"contrast": -1.0}, 1),
    "ON, then ON": (apparent_motion, {}, 1),
    "OFF, then OFF": (apparent_motion, {"first": -1.0, "second": -1.0}, 1),
    "ON, then OFF": (apparent_motion, {"second": -1.0}, -1),
    "OFF, then ON": (apparent_motion, {"first": -1.0}, -1),
    "a positive glider": (glider, {}, 1),
    "a negative glider": (glider, {"parity": -1}, -1),
    "positive ternary noise": (ternary_noise, {"duration": 20.0}, 1),
    "negative ternary noise": (ternary_noise, {"duration": 20.0, "parity": -1}, -1),
    "ternary noise correlated backwards": (ternary_noise, {"duration": 20.0, "correlation_interval": -0.02}, -1),
    "dots": (random_dots, {}, 1),
    "dots, half of them coherent": (random_dots, {"coherence": 0.5}, 1),
    "a panorama": (rotating_panorama, {}, 1),
    "a drum": (rotating_grating, {}, 1),
    "a drum to the left": (rotating_grating, {"direction": 180.0}, -1),
    "a sweeping ON edge": (sweeping_edge, {}, 1),
    "a sweeping OFF edge": (sweeping_edge, {"contrast": -1.0}, 1),
    "a panorama to the left": (rotating_panorama, {"speed": -30.0}, -1),
    "a step of velocity": (velocity_steps, {"speeds": [0.0, 30.0, 10.0]}, 1),
    "a step of velocity to the left": (velocity_steps, {"speeds": [0.0, -30.0, -10.0]}, -1),
}


@pytest.mark.parametrize("detector", [three_pixel(), hassenstein_reichardt()], ids=["three-pixel", "HR"])
@pytest.mark.parametrize(("make", "how", "sign"), SIGNS.values(), ids=SIGNS)
def test_content_that_moves_right_is_positive(detector, make, how, sign):
    movie = make(**how).movie(Grid(1, 12), DT, spacing=SPACING)
    assert sign * detector(movie, DT).mean() > 0


@pytest.mark.parametrize("detector", [three_pixel(), hassenstein_reichardt()], ids=["three-pixel", "HR"])
@pytest.mark.parametrize("make", [counterphase_grating, opponent_gratings, flashed_bar])
def test_what_goes_nowhere_is_zero(detector, make):
    """Summed over six positions: a wavelength, or as much to either side of the bar."""
    assert abs(detector(make().movie(Grid(1, 8), DT, spacing=SPACING), DT)[..., :6].mean()) < 1e-12


# Gratings


@each_eye
@pytest.mark.parametrize("direction", [0.0, 60.0, 225.0])
def test_a_drifting_grating_is_a_cosine_damped_by_the_optics(eye, direction):
    how = dict(wavelength=17.0, temporal_frequency=1.7, direction=direction, contrast=0.3, phase=0.8)
    stimulus = drifting_grating(**how)
    assert_allclose(stimulus.movie(eye, DT, spacing=SPACING), sine(eye, times(stimulus), **how), rtol=0, atol=1e-12)


@each_eye
@pytest.mark.parametrize("wavelength", [9.0, 30.0])
def test_a_square_grating_is_its_odd_harmonics(eye, wavelength):
    stimulus = square_grating(
        wavelength=wavelength, temporal_frequency=1.7, direction=30.0, contrast=0.3, phase=0.8, duration=0.5
    )
    harmonics = [
        sine(
            eye,
            times(stimulus),
            wavelength=wavelength / m,
            temporal_frequency=1.7 * m,
            direction=30.0,
            contrast=0.3 * 4 / math.pi / m * math.sin(m * math.pi / 2),
            phase=0.8 * m,
        )
        for m in range(1, 40, 2)
    ]
    assert_allclose(stimulus.movie(eye, DT, spacing=SPACING), np.sum(harmonics, axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [drifting_grating, square_grating, counterphase_grating])
def test_contrast_is_michelsons(make):
    seen = make(contrast=0.3, phase=0.0, wavelength=30.0).about(1.0).movie(Line(121, sigma=0.0), 0.5, spacing=0.25)
    high, low = seen[0].max(), seen[0].min()
    assert_allclose((high - low) / (high + low), 0.3, atol=1e-12)


@each_eye
def test_a_counterphase_grating_is_two_opposed_gratings_of_half_the_contrast(eye):
    how = dict(wavelength=17.0, temporal_frequency=1.7, direction=30.0, phase=0.8)
    halves = [
        sine(eye, times(counterphase_grating(**how)), contrast=0.2, **(how | {"temporal_frequency": f}))
        for f in (1.7, -1.7)
    ]
    assert_allclose(
        counterphase_grating(contrast=0.4, **how).movie(eye, DT, spacing=SPACING), sum(halves), rtol=0, atol=1e-12
    )


@each_eye
def test_opponent_gratings_are_the_sum_of_both(eye):
    how = dict(wavelength=17.0, temporal_frequency=1.7, direction=30.0, phase=0.8)
    t = times(opponent_gratings(**how))
    preferred = sine(eye, t, contrast=0.4, **how)
    null = sine(eye, t, contrast=0.1, **(how | {"temporal_frequency": -1.7}))
    found = opponent_gratings(contrast=0.4, opposing=0.1, **how).movie(eye, DT, spacing=SPACING)
    assert_allclose(found, preferred + null, rtol=0, atol=1e-12)


@each_eye
def test_a_plaid_is_the_sum_of_its_gratings(eye):
    how = dict(wavelength=17.0, temporal_frequency=1.7, phase=0.8)
    t = times(plaid(**how))
    gratings = [sine(eye, t, contrast=0.2, direction=d, **how) for d in (-20.0, 80.0)]
    found = plaid(angle=100.0, direction=30.0, contrast=0.4, **how).movie(eye, DT, spacing=SPACING)
    assert_allclose(found, sum(gratings), rtol=0, atol=1e-12)


def test_a_plaid_moves_as_a_whole():
    """At f L / cos(angle / 2): here 30 / cos 60 deg = 60 deg/s, which is one pixel in 1/12 s."""
    movie = plaid(angle=120.0, wavelength=30.0).movie(Grid(4, 8), 1 / 12, spacing=SPACING)
    assert_allclose(movie[1:, :, 1:], movie[:-1, :, :-1], atol=1e-12)


def test_a_phase_that_is_not_given_is_drawn():
    rng = np.random.default_rng(7)
    drawn = drifting_grating(phase=rng.uniform(0, 2 * math.pi)).movie((5,), DT, spacing=SPACING)
    assert_array_equal(drifting_grating(random_state=7).movie((5,), DT, spacing=SPACING), drawn)


# Drums


def around(longitudes, latitude):
    """Unit vectors at longitudes to the right, shape (n, 3)."""
    right, up = np.radians(longitudes), np.radians(latitude)
    return np.stack([np.cos(up) * np.cos(right), -np.cos(up) * np.sin(right), np.full(len(right), np.sin(up))], axis=1)


@pytest.mark.parametrize("latitude", [0.0, 35.0, -70.0])
def test_a_drum_is_a_grating_in_longitude_damped_by_what_optics_see_of_it(latitude):
    longitudes, sigma = np.array([-170.0, -20.0, 0.0, 65.0]), 2.4
    movie = rotating_grating(wavelength=20.0, temporal_frequency=0.5, contrast=0.3, phase=0.8, duration=1.0).movie(
        Sphere(around(longitudes, latitude), sigma), 0.1
    )
    damping = math.exp(-((2 * math.pi * sigma / 20 / math.cos(math.radians(latitude))) ** 2) / 2)
    t = np.arange(10)[:, None] * 0.1
    cycles = longitudes / 20 - 0.5 * t
    assert_allclose(movie, 0.3 * damping * np.cos(2 * math.pi * cycles + 0.8), rtol=0, atol=1e-12)


def test_a_drum_is_what_harmonics_make_of_it():
    """Optics on the tangent plane against the heat kernel, with 30 degrees a period, seen by a fly."""
    eye, (left, _) = Sphere.evenly(200), np.meshgrid(np.arange(128), np.arange(64))
    image = np.cos(2 * math.pi * (left + 0.5 - 64) / 128 * 12)
    exact = panorama(image).sample(eye.positions, eye.sigma)
    drum = Drum(Grating(30.0)).sample(eye.positions, eye.sigma)
    assert_allclose(drum, exact, rtol=0, atol=0.007)


@pytest.mark.parametrize("wavelength", [25.0, 400.0, 1e9])
def test_a_drum_has_whole_periods(wavelength):
    with pytest.raises(ValueError, match=r"expected a whole part of the drum's 360 deg, such as 30"):
        rotating_grating(wavelength=wavelength)


def test_a_drum_is_of_one_dimension():
    with pytest.raises(ValueError, match=r"^a scene of 2 dimensions on a drum; expected one of 1 dimension$"):
        Drum(Grating(30.0, ndim=2))


def test_edges_sweep_over_everything_once_a_turn():
    longitudes = np.array([-175.0, -90.0, 0.0, 90.0, 175.0])
    movie = sweeping_edge(contrast=0.8).movie(Sphere(around(longitudes, 20.0), sigma=0.0), 1 / 60)
    arrives = (180 + longitudes)[:, None] + np.array([0, 180])  # at a degree a frame
    after = (np.arange(360) - arrives[..., None]) % 360 < 180
    at_edge = (np.arange(360) - arrives[..., None]) % 180 == 0
    assert_allclose(movie.T[~at_edge[:, 0]], 0.8 * after[:, 0][~at_edge[:, 0]], atol=1e-9)


# Apparent motion


@pytest.mark.parametrize("phase", [0.0, 0.8, 3.0])
def test_reverse_phi_by_quarters_is_phi_the_other_way(phase):
    back = reverse_phi(direction=210.0, phase=-phase, reverse=False).movie(Grid(3, 8), DT, spacing=SPACING)
    assert_allclose(
        reverse_phi(direction=30.0, phase=phase).movie(Grid(3, 8), DT, spacing=SPACING), back, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(("reverse", "signs"), [(False, [1, 1, 1, 1]), (True, [1, -1, 1, -1])])
def test_phi_jumps_every_interval(reverse, signs):
    how = dict(wavelength=40.0, temporal_frequency=1.25, phase=0.3)
    movie = reverse_phi(interval=0.1, reverse=reverse, duration=0.4, **how).movie(Line(8), 0.01, spacing=SPACING)
    smooth = drifting_grating(**how).movie(Line(8), 0.1, spacing=SPACING)[:4]
    expected = np.repeat(np.array(signs)[:, None] * smooth, 10, axis=0)
    assert_allclose(movie, expected, rtol=0, atol=1e-12)


def test_phi_without_rest_is_drift():
    how = dict(wavelength=17.0, temporal_frequency=1.7, direction=30.0, phase=0.8)
    phi = reverse_phi(interval=DT, reverse=False, **how).movie(Grid(3, 4), DT, spacing=SPACING)
    assert_allclose(phi, drifting_grating(**how).movie(Grid(3, 4), DT, spacing=SPACING), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dt", [1e-3, 0.01, 1 / 240])
@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, -1), (-0.5, 1), (-1, -1)])
def test_bars_of_apparent_motion_appear_on_time_and_stay(dt, first, second):
    stimulus = apparent_motion(first=first, second=second, onset=0.5, delay=0.2)
    movie = stimulus.movie(Line(4, sigma=0.0), dt, spacing=SPACING)  # pixels at -7.5, -2.5, 2.5 and 7.5 deg
    expected = np.zeros_like(movie)
    expected[round(0.5 / dt) :, 1] = first
    expected[round(0.7 / dt) :, 2] = second
    assert_array_equal(movie, expected)


def test_the_second_bar_lies_along_the_direction():
    movie = apparent_motion(separation=15.0, direction=90.0).movie(Grid(4, 1, sigma=0.0), 0.55, spacing=SPACING)
    assert_array_equal(movie[1], [[0], [0], [0], [1]])  # below, then above
    assert_array_equal(movie[2], [[1], [0], [0], [1]])


# Edges and bars


@pytest.mark.parametrize("contrast", [0.8, -0.8])
def test_an_edge_arrives_at_every_pixel_when_it_should(contrast):
    stimulus = moving_edge(speed=25.0, contrast=contrast, duration=2.0)
    movie = stimulus.movie(
        Line(9, sigma=0.0), DT, spacing=SPACING
    )  # pixels at -20, -15, ... 20 deg: an edge needs 10 frames from each
    arrives = 50 + 10 * np.arange(-4, 5)
    k = np.arange(100)[:, None]
    assert_allclose(movie, contrast * np.where(k == arrives, 0.5, k > arrives), atol=1e-12)


@each_eye
def test_an_edge_through_optics(eye):
    stimulus = moving_edge(speed=25.0, direction=60.0, contrast=0.8)
    behind = 25.0 * (times(stimulus)[:, None] - 1.0) - along(eye, 60.0)
    normal = [[0.5 * math.erfc(-d / (eye.sigma * SPACING * math.sqrt(2))) for d in row] for row in behind]
    assert_allclose(
        stimulus.movie(eye, DT, spacing=SPACING), 0.8 * np.reshape(normal, (-1, *eye.shape)), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("make", [moving_edge, moving_bar, flashed_bar])
@pytest.mark.parametrize("contrast", [0.5, -0.5])
def test_contrast_is_webers(make, contrast):
    seen = make(contrast=contrast).about(1.0).movie(Line(1, sigma=0.0), DT, spacing=SPACING)[:, 0]
    background, extreme = seen[0], seen[np.abs(seen - seen[0]).argmax()]
    assert background == 1.0
    assert_allclose((extreme - background) / background, contrast, atol=1e-12)


@each_eye
def test_a_bar_is_the_difference_of_two_edges(eye):
    """Half the width of the bar, 6 deg, is 12 frames of its motion."""
    bar = moving_bar(width=12.0, speed=25.0, direction=60.0, contrast=-0.7).movie(eye, DT, start=12, spacing=SPACING)
    edge = moving_edge(speed=25.0, direction=60.0, contrast=-0.7)
    ahead, behind = (edge.movie(eye, DT, start=s, stop=s + 88, spacing=SPACING) for s in (24, 0))
    assert_allclose(bar, ahead - behind, rtol=0, atol=1e-12)


def test_a_bar_is_where_it_should_be_to_the_degree():
    movie = moving_bar(width=5.0, speed=10.0, duration=4.0).movie(Line(81, sigma=0.0), 1.0, spacing=1.0)
    middles = [frame @ np.arange(-40, 41) / frame.sum() for frame in movie]
    assert_allclose(middles, [-20, -10, 0, 10], atol=1e-12)
    assert_array_equal((movie == 1).sum(axis=1), 5)


@pytest.mark.parametrize("dt", [1e-3, 0.01, 1 / 240])
def test_a_flashed_bar_is_there_while_it_should_be(dt):
    stimulus = flashed_bar(width=5.0, position=10.0, direction=180.0, contrast=-0.4, onset=0.3, on_time=0.6)
    movie = stimulus.movie(Line(7, sigma=0.0), dt, spacing=SPACING)
    expected = np.zeros_like(movie)
    expected[round(0.3 / dt) : round(0.9 / dt), 1] = -0.4
    assert_array_equal(movie, expected)


# Random bars


@pytest.fixture
def pattern():
    """Values of bars, shape (n_steps, n_bars), as an eye sees them that has a pixel for each."""

    def seen(make, n_steps=200, *, interval=0.04, **how):
        stimulus = make(interval=interval, duration=n_steps * interval, contrast=1.0, **how)
        return stimulus.movie(Line(24, sigma=0.0), interval, spacing=SPACING)

    return seen


GLIDERS = {
    "two-point": lambda s: s[:-1, :-1] * s[1:, 1:],
    "converging": lambda s: s[:-1, :-1] * s[:-1, 1:] * s[1:, 1:],
    "diverging": lambda s: s[:-1, :-1] * s[1:, :-1] * s[1:, 1:],
}


@pytest.mark.parametrize("kind", GLIDERS)
@pytest.mark.parametrize("parity", [1, -1])
def test_products_over_a_glider_are_its_parity(kind, parity, pattern):
    s = pattern(glider, kind=kind, parity=parity)
    assert_array_equal(np.abs(s), 1)
    assert_array_equal(GLIDERS[kind](s), parity)


@pytest.mark.parametrize("kind", GLIDERS)
@pytest.mark.parametrize("other", GLIDERS)
def test_products_over_other_gliders_are_random(kind, other, pattern):
    products = GLIDERS[other](pattern(glider, 2000, kind=kind))
    assert abs(products.mean() - (kind == other)) < 0.03  # 46,000 products


def correlation(s, x, k):
    """Mean product of bars x apart along the direction and k steps in time, the later one the further."""
    n_steps, n_bars = s.shape
    earlier = s[max(-k, 0) : n_steps - max(k, 0), max(-x, 0) : n_bars - max(x, 0)]
    later = s[max(k, 0) : n_steps - max(-k, 0), max(x, 0) : n_bars - max(-x, 0)]
    return (earlier * later).mean()


@pytest.mark.parametrize("kind", ["converging", "diverging"])
def test_three_point_gliders_correlate_no_two_bars(kind, pattern):
    s = pattern(glider, 4000, kind=kind)
    found = [[correlation(s, x, k) for x in range(-3, 4)] for k in range(4)]
    expected = np.zeros((4, 7))
    expected[0, 3] = 1.0
    assert_allclose(found, expected, atol=0.03)
    assert abs(s.mean()) < 0.03


def test_a_glider_of_two_points_is_a_picture_that_moves(pattern):
    s = pattern(glider)
    assert_array_equal(s[1:, 1:], s[:-1, :-1])


def test_a_pattern_lasts_for_its_interval():
    movie = glider(interval=0.04).movie(Line(24), 0.01, spacing=SPACING)
    assert_array_equal(movie, np.repeat(movie[::4], 4, axis=0))
    assert (np.abs(np.diff(movie[::4], axis=0)).max(axis=1) > 0.1).all()


@pytest.mark.parametrize("make", [glider, ternary_noise])
def test_beyond_the_bars_is_the_mean(make):
    movie = make(extent=20.0, width=4.9).movie(
        Line(12, sigma=0.0), DT, spacing=SPACING
    )  # five bars, from -12.25 to 12.25 deg
    assert_array_equal(np.abs(movie).max(axis=0) > 0, [False] * 4 + [True] * 4 + [False] * 4)


@pytest.mark.parametrize("parity", [1, -1])
@pytest.mark.parametrize("steps", [-2, 0, 1, 3])
def test_ternary_noise_correlates_where_it_should_and_nowhere_else(parity, steps, pattern):
    s = pattern(ternary_noise, 20_000, interval=0.02, correlation_interval=0.02 * steps, parity=parity)
    assert_array_equal(np.unique(s), [-1, 0, 1])
    assert_allclose([(s == 0).mean(), s.var(), s.mean()], [0.5, 0.5, 0.0], atol=0.01)
    found = [[correlation(s, x, k) for k in range(-4, 5)] for x in range(3)]
    expected = np.zeros((3, 9))
    expected[0, 4], expected[1, 4 + steps] = 0.5, parity / 4
    assert_allclose(found, expected, atol=0.005)  # 460,000 products each


# Dots


def test_coherent_dots_are_one_picture_that_moves():
    """One pixel every 10 frames, on a field wide enough for nothing to come back."""
    stimulus = random_dots(speed=25.0, lifetime=math.inf, duration=0.6, density=0.02)
    movie = stimulus.movie(Grid(5, 8), DT, spacing=SPACING)
    assert_allclose(movie[20:, :, 2:], movie[:-20, :, :-2], rtol=0, atol=1e-12)


@pytest.mark.parametrize("coherence", [0.0, 0.25, 1.0])
def test_a_share_of_the_dots_moves_together(coherence):
    stimulus = random_dots(speed=20.0, direction=60.0, coherence=coherence, lifetime=math.inf)
    steps = np.array([np.diff(part.path(np.array([0.0, 1e-3])), axis=0)[0] / 1e-3 for part in stimulus.parts])
    speeds = np.linalg.norm(steps, axis=1)
    together = np.abs(steps - [10.0, -20 * math.sin(math.pi / 3)]).max(axis=1) < 1e-6
    assert len(speeds) == 144
    assert_allclose(speeds, 20.0, rtol=1e-6)
    assert together.sum() == 144 * coherence


def test_a_dot_lives_for_its_lifetime():
    """At rest it is somewhere else at each death; that of the first life comes at any time."""
    t = np.arange(3000) * 1e-3
    moves = [
        np.diff(part.path(t), axis=0).any(axis=1) for part in random_dots(speed=0.0, lifetime=0.3, duration=3.0).parts
    ]
    deaths = np.array([np.flatnonzero(m) for m in moves])  # in frames
    assert deaths.shape == (144, 10)
    assert np.abs(np.diff(deaths, axis=1) - 300).max() <= 1
    assert_allclose(np.sort(deaths[:, 0]), np.linspace(0, 300, 144), atol=45)


def test_dots_cover_their_field_evenly():
    """On average the density times the area under a dot."""
    stimulus = random_dots(coherence=0.5, lifetime=0.1, duration=40.0, diameter=8.0, contrast=-0.6)
    movie = stimulus.movie(Grid(2, 2), 0.1, spacing=40.0)
    expected = -0.6 * 144 / 120**2 * math.pi * 8**2 / (4 * math.log(2))
    assert_allclose(movie.mean(axis=0), expected, rtol=0.2)
    assert_allclose(movie.mean(), expected, rtol=0.1)


# Velocities


def test_velocity_steps_are_where_they_should_be():
    path = velocity_steps(speeds=[0.0, 30.0, -10.0], interval=0.5, direction=90.0).parts[0].path
    assert_allclose(path(np.array([0, 0.5, 0.75, 1.0, 1.5, 9.0])), [[0, -y] for y in (0, 0, 7.5, 15, 10, 10)])


def test_a_velocity_step_is_a_drift_that_starts():
    still, moving = velocity_steps(speeds=[0.0, 30.0], phase=0.4), drifting_grating(phase=0.4)
    movie = still.movie(Line(6), DT, spacing=SPACING)
    assert still.duration == 1.0
    assert_allclose(movie[:26], np.tile(moving.movie(Line(6), DT, stop=1, spacing=SPACING), (26, 1)), atol=1e-12)
    assert_allclose(movie[25:], moving.movie(Line(6), DT, stop=25, spacing=SPACING), atol=1e-12)


@pytest.mark.parametrize("make", [velocity_steps, velocity_noise])
def test_any_scene_moves_on_the_path(make):
    scene = SmoothNoise(10.0, ndim=2, random_state=0)
    stimulus = make(scene=scene, direction=30.0, random_state=5)
    eye = Grid(3, 4, sigma=0.0)
    t = times(stimulus)
    path = make(direction=30.0, random_state=5).parts[0].path(t)
    far = [render(scene, Scaled(eye), -place[None])[0] for place in path[::20]]
    assert_allclose(stimulus.movie(eye, DT, spacing=SPACING)[::20], far, rtol=0, atol=1e-11)


class Scaled:
    """An eye in degrees."""

    def __init__(self, eye):
        self.positions, self.sigma, self.shape = eye.positions * SPACING, eye.sigma * SPACING, eye.shape


def velocities(stimulus, t):
    return np.diff(stimulus.parts[0].path(t)[:, 0]) / np.diff(t)


def test_velocity_noise_is_an_ornstein_uhlenbeck_process():
    """Standard error of the variance, relative: sqrt(2 tau / T) = 0.01."""
    v = velocities(velocity_noise(std=20.0, tau=0.02, duration=400.0), np.arange(400_000) * 1e-3)
    assert_allclose([v.std(), v.mean()], [20.0, 0.0], atol=0.8)
    lags = [1, 10, 20, 60]
    correlations = [(v[k:] * v[:-k]).mean() / 400 for k in lags]
    assert_allclose(correlations, np.exp(-np.array(lags) / 20), atol=0.04)


def test_velocity_noise_starts_as_it_goes_on():
    first = [velocities(velocity_noise(random_state=k), np.array([0.0, 1e-3]))[0] for k in range(400)]
    assert_allclose([np.std(first), np.mean(first)], [30.0, 0.0], atol=5.0)


def test_velocity_noise_is_a_function_of_time_and_seed_alone():
    short, long = (velocity_noise(duration=d, random_state=3) for d in (1.0, 2.0))
    assert_array_equal(long.movie((4,), DT, spacing=SPACING)[:50], short.movie((4,), DT, spacing=SPACING))
    assert_allclose(
        long.movie((4,), 1e-3, spacing=SPACING)[::20], long.movie((4,), DT, spacing=SPACING), rtol=0, atol=1e-12
    )
    halfway = long.parts[0].path(np.array([0.4, 0.4005, 0.401]))
    assert_allclose(halfway[1], halfway[[0, 2]].mean(axis=0), atol=1e-12)


# Panoramas


def horizon(azimuths):
    """Directions around the horizon, to the left of straight ahead [deg]."""
    a = np.radians(azimuths)
    return np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)


def test_a_panorama_turns_to_the_right():
    """What was 30 degrees to the left, and one second away, is straight ahead."""
    stimulus = rotating_panorama(speed=30.0, heading=10.0)
    movie = stimulus.movie(Sphere(horizon(np.array([30.0, 0.0, -30.0]))), 1.0, spacing=SPACING)
    assert_allclose(movie[1, 1:], movie[0, :-1], atol=1e-11)
    seen = stimulus.parts[0].scene.sample(horizon(np.array([40.0, 10.0, -20.0])), Sphere.evenly(3).sigma)
    assert_allclose(movie[0], seen, atol=1e-11)


def test_a_flat_eye_is_wrapped_on_the_globe():
    flat = Line(7)
    azimuths = -flat.positions[:, 0] * SPACING
    sphere = Sphere(horizon(azimuths), flat.sigma * SPACING)
    stimulus = rotating_panorama()
    assert_allclose(
        stimulus.movie(flat, DT, spacing=SPACING), stimulus.movie(sphere, DT, spacing=SPACING), rtol=0, atol=1e-11
    )


def test_a_panorama_comes_round():
    movie = rotating_panorama(speed=90.0, duration=8.0).movie(Grid(3, 4), 1.0, spacing=SPACING)
    assert_allclose(movie[4:], movie[:4], atol=1e-11)


def test_an_image_turns_by_its_columns():
    """The image is 1 in one column, which straight ahead comes to the middle when the scene has turned there."""
    image = np.zeros((16, 32))
    image[:, 20] = 1.0  # 50.6 deg to the right of straight ahead
    stimulus = rotating_panorama(scene=panorama(image), speed=-50.625, heading=0.0)
    movie = stimulus.movie(Sphere(horizon(np.array([0.0, -50.625])), 5.0), 1.0, spacing=SPACING)
    assert_allclose(movie[0, 1], movie[1, 0], atol=1e-11)
    assert movie[1, 0] > 3 * abs(movie[0, 0])


# Paths and gains


def test_gains_are_what_they_say():
    t = np.arange(6) * 0.1
    assert_array_equal(Window(0.3, 0.5)(t), [0, 0, 0, 1, 1, 0])
    assert_array_equal(Table(np.array([3.0, 1.0, 2.0]), 0.1)(t), [3, 1, 2, 2, 2, 2])
    assert_allclose(Cosine(2.5)(t), [1, 0, -1, 0, 1, 0], atol=1e-12)
    assert_allclose(Stepped(Cosine(2.5), 0.2)(t), [1, 1, -1, -1, 1, 1], atol=1e-12)


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.1 / 3])
def test_steps_begin_at_their_frame_however_times_are_rounded(dt):
    per_step = round(0.1 / dt)
    t = np.arange(300 * per_step) * dt
    assert_array_equal(Table(np.arange(300.0), 0.1)(t), np.repeat(np.arange(300), per_step))


@pytest.mark.parametrize("rate", [1000, 240, 60])
def test_windows_open_and_close_at_their_frames_however_times_are_rounded(rate):
    """The time of frame k, k * dt, may be above or below k / rate."""
    t, moments = np.arange(1001) * (1 / rate), np.arange(1001) / rate
    assert [Window(on)(t).sum() for on in moments] == list(range(1001, 0, -1))
    assert [Window(0.0, off)(t).sum() for off in moments] == list(range(1001))


def test_paths_are_what_they_say():
    t = np.array([-1.0, 0.0, 1.0, 1.5, 9.0])
    assert_allclose(Drift(2.0, 90.0, start=1.0, stop=3.0)(t), [[0, -y] for y in (0, 0, 0, 1, 4)])
    assert_allclose(Track(np.array([0.0, 4.0, 2.0]), 1.0, 180.0)(t), [[-x, 0] for x in (0, 0, 4, 3, 2)], atol=1e-12)
    lives = Lives(
        np.array([0.0, 1.0]), np.array([[1.0, 2.0], [4.0, 0.0]]), np.array([[0.0, 1.0], [2.0, 0.0]]), 10.0, 90.0
    )
    assert_allclose(lives(t[1:4]), [[-2, -1], [0, -4], [0, 5]], atol=1e-12)  # along is up, to its left is left
    turn = Turning(90.0)(np.array([0.0, 1.0]))
    assert_allclose(turn @ [1.0, 0.0, 0.0], [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    assert_allclose(turn @ [0.0, 0.0, 1.0], [[0, 0, 1], [0, 0, 1]], atol=1e-12)


def test_parts_add_up():
    parts = plaid().parts
    whole, halves = Stimulus(parts, 2.0), [Stimulus((part,), 2.0) for part in parts]
    assert_allclose(
        whole.movie((6,), DT, spacing=SPACING),
        sum(half.movie((6,), DT, spacing=SPACING) for half in halves),
        atol=1e-15,
    )
    assert_array_equal(Part(parts[0].scene).frames(Line2D(), np.arange(3) * DT).shape, (3, 2))


class Line2D:
    """Two pixels in the plane."""

    positions, sigma, shape = np.array([[0.0, 0.0], [1.0, 0.0]]), 0.5, (2,)


# What is refused

REFUSED = [
    (moving_bar, {"width": -1.0}, "width is -1.0; expected a positive, finite number"),
    (flashed_bar, {"on_time": 0.0}, "on_time is 0.0; expected a positive"),
    (apparent_motion, {"delay": -0.1}, "delay is -0.1; expected 0 or more"),
    (moving_edge, {"speed": -5.0}, "speed is -5.0; expected a positive"),
    (drifting_grating, {"wavelength": 0.0}, "wavelength is 0.0; expected a positive"),
    (drifting_grating, {"wavelength": math.nan}, "wavelength is nan; expected a positive"),
    (square_grating, {"wavelength": -3.0}, "wavelength is -3.0; expected a positive"),
    (counterphase_grating, {"duration": math.inf}, "duration is inf; expected a positive, finite"),
    (opponent_gratings, {"wavelength": 0.0}, "wavelength is 0.0"),
    (plaid, {"duration": -1.0}, "duration is -1.0"),
    (reverse_phi, {"interval": 0.0}, "interval is 0.0"),
    (glider, {"kind": "four-point"}, "kind is 'four-point'; expected 'two-point', 'converging' or 'diverging'"),
    (glider, {"parity": 0}, "parity is 0; expected 1 or -1"),
    (glider, {"width": 0.0}, "width is 0.0"),
    (ternary_noise, {"parity": 0.5}, "parity is 0.5; expected 1 or -1"),
    (ternary_noise, {"correlation_interval": 0.03}, "0.03 s is 1.5 intervals of 0.02 s; expected a whole number"),
    (random_dots, {"coherence": 1.5}, "coherence is 1.5; expected a share"),
    (random_dots, {"lifetime": 0.0}, "lifetime is 0.0; expected a positive"),
    (random_dots, {"density": -1.0}, "density is -1.0"),
    (velocity_steps, {"speeds": []}, "no speeds; expected one or more"),
    (velocity_noise, {"std": -1.0}, "std is -1.0; expected a finite standard deviation"),
    (velocity_noise, {"tau": 0.0}, "tau is 0.0"),
    (rotating_panorama, {"duration": 0.0}, "duration is 0.0"),
]


@each_stimulus
def test_an_argument_that_there_is_not_is_refused(name):
    with pytest.raises(TypeError, match="unexpected keyword argument 'wave'"):
        STIMULI[name](wave=1)


@pytest.mark.parametrize("dt", [0.0, -0.02, math.inf, math.nan])
def test_time_between_frames_is_positive_and_finite(dt):
    with pytest.raises(ValueError, match=f"dt is {dt}; expected a positive, finite time"):
        drifting_grating().movie(Line(3), dt, start=0, stop=5, spacing=SPACING)


@pytest.mark.parametrize(("make", "how", "message"), REFUSED)
def test_nonsense_is_refused(make, how, message):
    with pytest.raises(ValueError, match=message) as refused:
        make(**how)
    assert "\n" not in str(refused.value)
