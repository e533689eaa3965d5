"""Dense motion fields: the compiled kernels against plain numpy, known motion, and what a stream promises."""

from itertools import product

import numba
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import binary_erosion, correlate1d, fourier_shift, map_coordinates, uniform_filter

from flymotion.field import OUTPUTS, Field, MotionField
from flymotion.field.forms import Form
from flymotion.generators import Generators, derivative_operator

SMOOTH, SLOPE = np.array([3, 10, 3]) / 16, np.array([-0.5, 0, 0.5])


@pytest.fixture
def make_frames():
    """Smooth noise that repeats itself, moved by exactly ``velocity`` a frame, from 0 to 255."""

    def make(n_frames=2, shape=(70, 90), *, velocity=(0.3, -0.2), blur=2.0, seed=0, dtype=np.uint8):
        rng = np.random.default_rng(seed)
        low = np.hypot(*np.meshgrid(np.fft.fftfreq(shape[0]), np.fft.fftfreq(shape[1]), indexing="ij"))
        spectrum = np.fft.fft2(rng.standard_normal(shape)) * np.exp(-2 * (np.pi * blur * low) ** 2)
        vx, vy = velocity
        movie = np.stack([np.fft.ifft2(fourier_shift(spectrum, (t * vy, t * vx))).real for t in range(n_frames)])
        return np.clip(128 + 45 * movie / movie.std(), 0, 255).astype(dtype)

    return make


@pytest.fixture
def make_detectors():
    """Operators that are derivatives on whitened patches, as learned ones are, taken to pixels; a little uneven."""

    def make(size=5, seed=0):
        y, x = np.divmod(np.arange(size**2), size)
        covariance = np.exp(-np.hypot(np.subtract.outer(y, y), np.subtract.outer(x, x)) / 3)
        values, vectors = np.linalg.eigh(covariance)
        whitening = (vectors / np.sqrt(values)) @ vectors.T
        noise = np.random.default_rng(seed).standard_normal((4, size**2, size**2))
        exact = np.stack([derivative_operator((size, size), angle) for angle in (0.0, 90.0, 180.0, 270.0)])
        return Generators(exact + 0.01 * noise, (size, size), whitening)

    return make


def inner(array):
    """Set what lacks a neighbour to 0."""
    return np.pad(array[1:-1, 1:-1], 1)


def opponent_oracle(before, after):
    m, dx = (before + after) / 2, after - before
    x, y = np.zeros((2, *m.shape))
    x[:, 1:-1] = dx[:, 1:-1] * (m[:, :-2] - m[:, 2:])
    y[1:-1] = dx[1:-1] * (m[:-2] - m[2:])
    return np.stack([x, y])


def grain_oracle(frame):
    """Mean square of second differences along both axes, in the tenth of blocks with least: white noise's variance."""
    fine = correlate1d(correlate1d(frame, [1, -2, 1], 0), [1, -2, 1], 1)[1:-1, 1:-1] / 6
    side = 16 if min(frame.shape) >= 64 else 8
    n = (fine.shape[0] - side) // (2 * side) + 1, fine.shape[1] // side
    if min(n) < 1:
        return np.inf
    blocks = [fine[2 * side * i :, side * j :][:side, :side] for i, j in np.ndindex(n)]
    return sorted((block**2).mean() for block in blocks)[len(blocks) // 10]


def carried(image, velocity):
    """What is at the places where content has gone, by cubic splines; and which are inside the frame."""
    height, width = image.shape
    y, x = np.mgrid[:height, :width] + velocity[::-1]
    inside = (x == np.clip(x, 0, width - 1)) & (y == np.clip(y, 0, height - 1))
    taps = (3**0.5 - 2.0) ** np.abs(np.arange(-6, 7))
    splines = image
    for axis in (0, 1):
        splines = correlate1d(splines, taps / taps.sum(), axis, mode="nearest")
    splines = np.pad(splines, 2, mode="edge")
    at = np.clip(y, 0, height - 1) + 2, np.clip(x, 0, width - 1) + 2
    return map_coordinates(splines, at, prefilter=False), inside


def velocity_oracle(before, after, radius=2, ridge=5e-4, rounds=1, prior=None, grain=None):
    """One scale, in double precision: velocity of all cells about the prior, carried and averaged by votes."""
    shape = -(-np.array(before.shape) // 2)
    informed, prior = prior is not None, np.zeros((2, *shape)) if prior is None else prior
    grain = (grain_oracle(before) + grain_oracle(after)) / 2 if grain is None else grain
    slopes = [np.gradient(f, axis=axis)[1:-1, 1:-1][::4] for f in (before, after) for axis in (0, 1)]
    power = np.mean([slope**2 for slope in slopes])
    reference = plane_through(prior)
    velocity = prior
    for _ in range(rounds):
        known = np.stack([enlarged(v, before.shape) for v in velocity])
        x, vote = windows(before, after, known, prior, informed, reference, radius, ridge * power, grain, power)
        velocity = agreed(vote, x, max(radius, 1)) + reference(*cell_centres(shape))
    return velocity


def cell_centres(shape):
    """Places of cells, y and x [pixels]."""
    return 2 * np.mgrid[: shape[0], : shape[1]] + 0.5


def plane_through(velocity):
    """The plane through each component, by least squares over every fourth cell."""
    some = np.s_[2::4, 2::4]
    y, x = (part[some].ravel() for part in cell_centres(velocity.shape[1:]))
    if not y.size:
        return lambda y, x: np.zeros((2, *np.shape(y)))
    design = np.stack([np.ones_like(x), x, y], axis=1)
    fits = [np.linalg.lstsq(design, part[some].ravel())[0] for part in velocity]
    return lambda y, x: np.stack([a + b * x + c * y for a, b, c in fits])


def windows(before, after, velocity, prior, informed, reference, radius, ridge, grain, power):
    """The regression of each window, by plain linear algebra: light taken off, a ridge about the prior."""

    def filtered(image, along_x, along_y):
        return inner(correlate1d(correlate1d(image, along_x, 1, mode="nearest"), along_y, 0, mode="nearest"))

    n = 4 * (2 * radius + 1) ** 2
    moved, inside = carried(after, velocity)
    m, dx, rest = (before + moved) / 2, moved - before, after - before
    still = filtered(rest, SMOOTH, SMOOTH)
    weight = inner(inside * 1.0) * np.where(still == 0, 0.15, 1.0)
    g, h = filtered(m, SLOPE, SMOOTH), filtered(m, SMOOTH, SLOPE)
    beside = velocity - reference(*np.mgrid[: before.shape[0], : before.shape[1]])
    t = filtered(dx, SMOOTH, SMOOTH) - g * beside[0] - h * beside[1]
    planes = [weight * part for part in (g, h, t, filtered(m, SMOOTH, SMOOTH), still, weight)]

    def total(image):
        cells = 4 * halves(np.pad(image, [(0, side % 2) for side in image.shape]))
        return uniform_filter(cells, 2 * radius + 1, mode="constant") * (2 * radius + 1) ** 2

    S = np.array([[total(a * b) for a in planes[:4]] for b in planes[:4]])
    S = (S - S[3] * S[:, 3:4] / (S[3, 3] + 0.01 * n * power))[:3, :3].transpose(2, 3, 0, 1)
    G, target, left_at_0 = S[..., :2, :2], S[..., :2, 2], S[..., 2, 2]
    at = reference(*cell_centres(G.shape[:2]))
    c = np.moveaxis(prior - at, 0, -1)

    def solved(ridge):
        ridge = np.reshape(ridge, (*np.shape(ridge), 1, 1))
        return np.linalg.solve(G + ridge * np.eye(2), (ridge[..., 0] * c - target)[..., None])[..., 0]

    def left(x):
        return np.maximum(left_at_0 + 2 * (x * target).sum(-1) + np.einsum("yxi,yxij,yxj->yx", x, G, x), 0)

    trace = np.trace(G, axis1=-2, axis2=-1)
    firm = 0.5 + informed * 2 / (1 + 16 * (prior**2).sum(axis=0))
    own = n * ridge + firm * np.minimum(left(solved(1e-4 * trace + 1e-4 * n * ridge)), 1.5 * 0.425 * n * grain)
    x, count = np.moveaxis(solved(own), -1, 0), np.maximum(total(planes[5] ** 2), 1)
    unexplained, at_rest = left(np.moveaxis(x, 0, -1)) / count, total(planes[4] ** 2) / count
    fast = np.linalg.norm(x + at, axis=0) > 0.2
    rests = fast & (at_rest < unexplained / 2) & (at_rest < 4 * 1.5 * 0.425 * grain)
    unexplained = np.where(rests, at_rest, unexplained)
    vote = (0.05 + trace / (trace + 0.1 * n * power)) / (0.05 + unexplained / power) ** 3
    return np.where(rests, -at, x), vote


def agreed(vote, x, apart):
    """The mean of nine windows' votes about each cell."""
    height, width = vote.shape
    planes = np.pad(np.stack([vote, *(vote * x)]), ((0, 0), (apart, apart), (apart, apart)))
    steps = range(0, 2 * apart + 1, apart)
    votes, *total = sum(planes[:, i : i + height, j : j + width] for i, j in product(steps, steps))
    return np.stack(total) / votes


def learned_oracle(operators, before, after):
    size = int(np.sqrt(operators.shape[1]))
    x, dx = (sliding_window_view(f, (size, size)).reshape(-1, size**2) for f in ((before + after) / 2, after - before))
    y = np.einsum("ti,kij,tj->kt", dx, operators, x, optimize=True)
    before_it, behind = size // 2, size - 1 - size // 2
    rows, columns = np.subtract(before.shape, size - 1)
    return np.pad(y.reshape(-1, rows, columns), ((0, 0), (before_it, behind), (before_it, behind)))


def close(actual, expected, share=2e-5):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=share * np.abs(expected).max())


SHAPES = [(70, 90), (5, 6), (9, 700), (300, 5), (131, 1301)]


@pytest.mark.parametrize("shape", SHAPES)
def test_three_pixel_responses_are_the_change_times_the_neighbours_difference(make_frames, shape):
    before, after = make_frames(shape=shape)
    field = MotionField().between(before, after)
    x, y = expected = opponent_oracle(*np.float64([before, after]))
    np.testing.assert_array_equal(field.opponent, expected)
    rectified = np.maximum([x, -y, -x, y], 0)
    np.testing.assert_array_equal(field.directions, rectified)
    np.testing.assert_array_equal(MotionField().angles, [0, 90, 180, 270])


INSIDE = np.s_[:, 9:-9, 9:-9]
"""At the border some pixels seem to rest, when they are looked at once more."""


@pytest.mark.parametrize(
    ("shape", "radius", "rounds"),
    [((70, 90), 2, 1), ((71, 93), 1, 2), ((23, 700), 2, 1), ((131, 1301), 2, 2), ((40, 50), 5, 2), ((30, 31), 1, 1)],
)
def test_velocity_is_the_ridge_regression_of_suppl_c_and_the_windows_agree(make_frames, shape, radius, rounds):
    before, after = make_frames(shape=shape, velocity=(0.8, -0.6))
    field = MotionField(radius=radius, scales=1, ridge=0.01, rounds=rounds, finest=0).between(before, after)
    cells = velocity_oracle(*np.float64([before, after]), radius, 0.01, rounds)
    expected = np.stack([enlarged(v, shape) for v in cells])
    np.testing.assert_allclose(field.velocity[INSIDE], expected[INSIDE], rtol=0, atol=3e-4)


def halves(frame):
    height, width = np.array(frame.shape) // 2
    return frame[: 2 * height, : 2 * width].reshape(height, 2, width, 2).mean(axis=(1, 3))


def enlarged(image, shape):
    """Linear interpolation between pixels twice as large."""
    y, x = (np.clip((np.arange(n) - 0.5) / 2, 0, m - 1) for n, m in zip(shape, image.shape, strict=True))
    rows = np.stack([np.interp(y, np.arange(len(column)), column) for column in image.T], axis=1)
    return np.stack([np.interp(x, np.arange(len(row)), row) for row in rows])


@pytest.mark.parametrize("shape", [(70, 90), (71, 1311)])
def test_finer_scales_mend_what_coarser_ones_say(make_frames, shape):
    frames = make_frames(shape=shape, velocity=(2.5, 1.35))
    field, frames = MotionField(scales=2, finest=0).between(*frames), frames.astype(float)
    small = [halves(frame) for frame in frames]
    grains = [min(grain_oracle(few), grain_oracle(many) / 4) for few, many in zip(small, frames, strict=True)]
    coarse = velocity_oracle(*small, grain=np.mean(grains))
    cells = velocity_oracle(*frames, prior=2 * np.stack([enlarged(v, -(-np.array(shape) // 2)) for v in coarse]))
    expected = np.stack([enlarged(v, shape) for v in cells])
    np.testing.assert_allclose(field.velocity[INSIDE], expected[INSIDE], rtol=0, atol=2e-3)


def test_pixels_finer_than_the_finest_scale_are_interpolated(make_frames):
    frames = make_frames(shape=(71, 1311), velocity=(2.5, 1.35))
    field, small = MotionField(scales=2, finest=1).between(*frames), [halves(frame) for frame in frames.astype(float)]
    pixels = [enlarged(v, small[0].shape) for v in velocity_oracle(*small)]
    expected = 2 * np.stack([enlarged(v, (71, 1311)) for v in pixels])
    np.testing.assert_allclose(field.velocity[INSIDE], expected[INSIDE], rtol=0, atol=2e-3)


@pytest.mark.parametrize(("finest", "spacing"), [(0, 1), (1, 2), (2, 4), (3, 8), (9, 8)])
def test_what_is_not_interpolated_stands_where_it_is_estimated(make_frames, finest, spacing):
    frames, shape = make_frames(shape=(71, 331), velocity=(2.5, 1.35)), (71, 331)
    few, every = (MotionField(finest=finest, interpolated=way) for way in (False, True))
    assert (few.spacing(shape), every.spacing(shape)) == (spacing, 1)
    found, field = few.between(*frames), every.between(*frames)
    np.testing.assert_array_equal(found.directions, field.directions)
    places = (np.mgrid[:71, :331] - (spacing - 1) / 2) / spacing
    inside = np.s_[spacing : -2 * spacing, spacing : -2 * spacing]
    for name, of in product(("velocity", "confidence"), (0, -1)):
        values, expected = (
            getattr(part, name).reshape(-1, *getattr(part, name).shape[-2:])[of] for part in (found, field)
        )
        assert values.shape == (71 // spacing, 331 // spacing)
        atol = 0.05 * np.ptp(values) * (spacing > 4)  # by 2, and then by 4
        close = map_coordinates(values, places, order=1)[inside]
        np.testing.assert_allclose(close, expected[inside], rtol=1e-5, atol=1e-5 + atol)
    squares = map_coordinates(found.error**2, places, order=1)[inside]
    np.testing.assert_allclose(np.sqrt(squares), field.error[inside], rtol=1e-3 + 0.1 * (spacing > 4))


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7])
def test_exact_learned_responses_are_those_of_each_patch(make_frames, make_detectors, size):
    before, after = make_frames(shape=(20, 1100))
    detectors = make_detectors(size)
    field = MotionField(detectors, exact=True).between(before, after)
    y = learned_oracle(detectors.in_pixels().operators, *np.float64([before, after]))
    angles = np.radians(detectors.in_pixels().directions())
    close(field.directions, np.maximum(y, 0))
    close(field.opponent, np.einsum("ak,kyx->ayx", [np.cos(angles), -np.sin(angles)], y))
    three_pixel = MotionField().between(before, after).velocity
    np.testing.assert_array_equal(MotionField(detectors).between(before, after).velocity, three_pixel)


@pytest.mark.parametrize("size", [5, 9])
def test_fast_learned_responses_follow_the_exact_ones(make_frames, make_detectors, size):
    detectors = make_detectors(size)
    frames = make_frames(shape=(80, 100), blur=0.8)
    fast, exact = (MotionField(detectors, exact=e).between(*frames) for e in (False, True))
    for a, b in ((fast.directions, exact.directions), *zip(fast.opponent, exact.opponent, strict=True)):
        assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > 0.98


def test_kernels_are_compiled_for_one_kind_of_form(make_detectors):
    kinds = {numba.typeof(Form.of(make_detectors(size), exact)) for size in (2, 5) for exact in (False, True)}
    assert len(kinds) == 1


@pytest.mark.parametrize("size", [5, 6])
def test_learned_responses_are_the_same_wherever_a_patch_lies(make_frames, make_detectors, size):
    """Whichever band of rows, strip of columns and turn of the ring of rows it is in."""
    frames = make_frames(shape=(140, 1100), dtype=np.float32)
    whole, part = (MotionField(make_detectors(size)).between(*f).directions for f in (frames, frames[:, 97:, 501:]))
    close(part[:, size:-size, size:-size], whole[:, 97 + size : -size, 501 + size : -size], share=1e-6)


def test_fast_responses_follow_operators_that_are_no_translations(make_frames):
    """A rotation is in no line of modes: single terms are added until the share of the variance is reached."""
    y, x = np.divmod(np.arange(49), 7) - np.full((2, 49), 3.0)
    along_x, along_y = (derivative_operator((7, 7), angle) for angle in (0.0, 270.0))
    turn = Generators((x[:, None] * along_y - y[:, None] * along_x)[None], (7, 7))
    frames = make_frames(shape=(60, 80), blur=1.0)
    fast, exact = (MotionField(turn, exact=e).between(*frames).directions for e in (False, True))
    assert np.corrcoef(fast.ravel(), exact.ravel())[0, 1] > 0.9


@pytest.mark.parametrize(
    ("speed", "first"), [("fastest", (2, 2, 1, 0, 0)), ("fast", (1, 1, 1, 0, 0)), ("accurate", (0,) * 5)]
)
def test_setting_chooses_the_finest_scale_unless_frames_are_small(speed, first):
    shapes = ((1080, 1920), (240, 320), (97, 146), (31, 46), (3, 3))
    assert tuple(MotionField(speed=speed).first_scale(shape) for shape in shapes) == first
    assert MotionField(finest=3).first_scale((3, 3)) == 3


@pytest.mark.parametrize("speed", ["fastest", "fast", "accurate"])
@pytest.mark.parametrize("velocity", [(0.1, 0.0), (6.0, -8.0), (-23.3, 9.8)])
def test_motion_of_any_size_is_measured(make_frames, speed, velocity):
    frames = make_frames(shape=(240, 320), velocity=velocity, dtype=np.float32)
    field = MotionField(speed=speed).between(*frames)
    wrong = np.hypot(*(field.velocity - np.reshape(velocity, (2, 1, 1))))[40:-40, 40:-40]
    assert wrong.mean() < 0.1 and np.mean(wrong < 2 * field.error[40:-40, 40:-40]) > 0.9


@pytest.mark.case("B56")
@pytest.mark.parametrize("velocity", [0.0, 0.5])
@pytest.mark.parametrize("light", [0.9, 1.12, "torch"])
def test_light_that_changes_is_no_motion(make_frames, velocity, light):
    before, after = make_frames(shape=(256, 320), velocity=(velocity, 0.0), dtype=np.float32) * 0.7
    y, x = np.mgrid[:256, :320]
    lit = 1 + 0.12 * np.exp(-((x - 150) ** 2 + (y - 120) ** 2) / 5000) if light == "torch" else light
    velocities = [MotionField().between(before, frame).velocity for frame in (after, after * lit)]
    steady, changing = (np.hypot(v[0] - velocity, v[1])[20:-20, 20:-20].mean() for v in velocities)
    assert changing < max(2 * steady, 0.05)


def test_still_things_beside_moving_ones_are_still(make_frames):
    """A flat square and a textured one pass by; what does not change has no motion that is sure."""
    ground, thing = make_frames(2, shape=(240, 320), dtype=np.float32)[0], make_frames(2, shape=(60, 60), seed=3)[0]
    frames = np.stack([ground, ground])
    for t, x in enumerate((60, 74)):
        frames[t, 40:100, x : x + 60] = thing
        frames[t, 140:200, x + 100 : x + 160] = 250
    field = MotionField().between(*frames)
    still = binary_erosion(frames[0] == frames[1], np.ones((15, 15)))
    ghosts = still & (np.hypot(*field.velocity) > 0.3)
    assert np.mean(ghosts[still]) < 0.1 and np.mean((ghosts & (field.confidence > 0.5))[still]) < 5e-4


def test_patches_beyond_the_frame_give_nothing(make_frames, make_detectors):
    field = MotionField(make_detectors()).between(*make_frames(shape=(4, 4)))
    np.testing.assert_array_equal(field.directions, np.zeros((4, 4, 4)))


@pytest.mark.parametrize("velocity", [(0.35, 0.0), (0.0, -0.35), (-0.2, 0.1)])
def test_subpixel_shift_is_measured_to_half_a_percent(make_frames, velocity):
    frames = make_frames(velocity=velocity, dtype=np.float32)
    field = MotionField(scales=1, finest=0, ridge=1e-4).between(*frames)
    error = field.velocity[:, 8:-8, 8:-8] - np.reshape(velocity, (2, 1, 1))
    assert np.abs(error.mean(axis=(1, 2))).max() < 0.005 * np.hypot(*velocity)
    assert np.sqrt((error**2).mean()) < 0.01 * np.hypot(*velocity)


@pytest.mark.parametrize(("velocity", "first"), [((0.3, 0), 0), ((0, -0.3), 1), ((-0.3, 0), 2), ((0, 0.3), 3)])
def test_content_excites_the_detectors_of_its_direction(make_frames, make_detectors, velocity, first):
    frames = make_frames(velocity=velocity)
    for field in (MotionField(), MotionField(make_detectors())):
        assert field.between(*frames).directions.mean(axis=(1, 2)).argmax() == first


@pytest.mark.case("B05")
def test_time_reversal_flips_the_sign(make_frames):
    frames = make_frames(shape=(120, 150))
    there, back = MotionField().between(*frames), MotionField().between(*frames[::-1])
    np.testing.assert_array_equal(back.opponent, -there.opponent)
    inside = np.s_[:, 10:-10, 10:-10]
    np.testing.assert_allclose(back.velocity[inside], -there.velocity[inside], rtol=0, atol=0.05)


def test_unit_of_intensity_does_not_matter(make_frames):
    frames = make_frames().astype(np.float32)
    grey, unit = MotionField().between(*frames), MotionField().between(*frames / 255)
    np.testing.assert_allclose(unit.velocity, grey.velocity, rtol=0, atol=5e-5)
    np.testing.assert_allclose(unit.confidence, grey.confidence, rtol=0, atol=1e-4)


@pytest.mark.case("B40")
def test_responses_scale_with_contrast_squared(make_frames, make_detectors):
    """Twice the contrast, four times the response; the direction and the velocity are as before."""
    frames = make_frames().astype(np.float32)
    for detectors in (None, make_detectors()):
        once, twice = MotionField(detectors).between(*frames), MotionField(detectors).between(*2 * frames)
        np.testing.assert_allclose(twice.directions, 4 * once.directions, rtol=1e-5)
        np.testing.assert_array_equal(np.sign(twice.velocity), np.sign(once.velocity))


@pytest.mark.parametrize("ridge", [0.01, 0.0])
def test_constant_frames_give_zeros(make_detectors, ridge):
    frames = np.full((2, 60, 70), 200, np.uint8)
    for detectors in (None, make_detectors()):
        field = MotionField(detectors, ridge=ridge).between(*frames)
        for part in field[:4]:
            np.testing.assert_array_equal(part, np.zeros_like(part))
        assert np.isnan(field.error).all()
    flash = MotionField(ridge=ridge).between(frames[0], frames[0] + 20)
    np.testing.assert_array_equal(flash.velocity, np.zeros((2, 60, 70)))


@pytest.mark.parametrize("learned", [False, True])
def test_bytes_give_what_floats_give(make_frames, make_detectors, learned):
    frames = make_frames(3, shape=(150, 160))
    field = MotionField(make_detectors()) if learned else MotionField()
    for a, b in zip(field(frames), field(frames.astype(np.float32)), strict=True):
        np.testing.assert_array_equal(a, b)
    mixed = field([frames[0], frames[1].astype(float), frames[2]])
    np.testing.assert_array_equal(mixed.opponent, field(frames).opponent)


@pytest.mark.case("B04")
def test_stream_gives_what_pairs_and_movies_give(make_frames):
    frames = make_frames(4, shape=(300, 90))
    field, stream = MotionField(), MotionField().stream()
    movie = field(frames)
    assert stream.step(frames[0]) is None
    for t in range(3):
        step, pair = stream.step(frames[t + 1]), field.between(frames[t], frames[t + 1])
        for a, b, c in zip(step, pair, movie, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c[t])


@pytest.mark.case("B04")
def test_frames_across_a_cut_are_no_pair(make_frames):
    frames = make_frames(3)
    stream = MotionField().stream()
    stream.step(frames[0])
    stream.cut()
    assert stream.step(frames[1]) is None
    np.testing.assert_array_equal(stream.step(frames[2]).velocity, MotionField().between(frames[1], frames[2]).velocity)


def test_own_arrays_are_overwritten_and_given_ones_filled(make_frames):
    frames = make_frames(3)
    stream = MotionField().stream()
    stream.step(frames[0])
    own = stream.step(frames[1])
    given = Field(*(np.full_like(part, np.nan) for part in own))
    kept = own.velocity.copy()
    assert stream.step(frames[2], out=given).velocity is given.velocity
    np.testing.assert_array_equal(own.velocity, kept)
    again = stream.step(frames[2])
    assert again.velocity is own.velocity
    assert all(np.isfinite(part).all() for part in given)


@pytest.mark.parametrize("name", OUTPUTS)
def test_each_output_comes_alone(make_frames, make_detectors, name):
    frames = make_frames()
    for detectors in (None, make_detectors()):
        one = MotionField(detectors, outputs=(name,)).between(*frames)
        assert [part is not None for part in one] == [name == other for other in OUTPUTS]
        np.testing.assert_array_equal(getattr(one, name), getattr(MotionField(detectors).between(*frames), name))


def test_frames_are_left_alone_and_may_be_strided(make_frames):
    frames = make_frames(2, shape=(60, 160))
    frames.flags.writeable = False
    view = MotionField().between(frames[0, :, ::2], frames[1, :, ::2])
    whole = MotionField().between(*np.ascontiguousarray(frames[:, :, ::2]))
    np.testing.assert_array_equal(view.velocity, whole.velocity)


def test_wrong_frames_are_refused_and_change_nothing(make_frames):
    frames = make_frames(3, dtype=np.float32)
    stream = MotionField().stream()
    stream.step(frames[0])
    with pytest.raises(ValueError, match=r"shape \(60, 90\), but the first had \(70, 90\)"):
        stream.step(frames[1][:60])
    holed = frames[1].copy()
    holed[3, 4] = np.nan
    with pytest.raises(ValueError, match="row 3, column 4"):
        stream.step(holed)
    with pytest.raises(ValueError, match=r"expected \(height, width\), 3 or more pixels each way$"):
        stream.step(frames)
    with pytest.raises(ValueError, match=r"of colours take the luminance, `frame @ \(0\.299, 0\.587, 0\.114\)`"):
        stream.step(np.stack([frames[1]] * 3, axis=-1))
    with pytest.raises(TypeError, match="complex"):
        stream.step(frames[1] * 1j)
    with pytest.raises(ValueError, match=r"out\.directions"):
        stream.step(frames[1], out=Field(*(np.zeros((4, 70, 90), np.float64),) * 5))
    np.testing.assert_array_equal(stream.step(frames[1]).velocity, MotionField().between(*frames[:2]).velocity)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"outputs": ("flow",)}, "unknown outputs"),
        ({"outputs": "velocity"}, "unknown outputs 'velocity'; expected a tuple"),
        ({"speed": "slow"}, "speed is 'slow'; expected one of fastest, fast, accurate"),
        ({"scales": 0}, "scales is 0"),
        ({"rounds": 0}, "rounds 0"),
        ({"radius": 33}, "radius is 33"),
        ({"finest": -1}, "finest -1"),
        ({"ridge": -1.0}, "ridge"),
        ({"detectors": Generators(np.zeros((1, 6, 6)), (2, 3))}, "square"),
    ],
)
def test_wrong_descriptions_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        MotionField(**wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"radius": 2.5}, "radius is 2.5; expected a whole number"),
        ({"detectors": 3}, "of type int; expected Generators"),
    ],
)
def test_descriptions_of_other_types_are_refused(wrong, message):
    with pytest.raises(TypeError, match=message):
        MotionField(**wrong)


def test_frames_of_any_unit_are_measured_or_refused(make_frames):
    frames = make_frames(dtype=np.float32)
    expected = MotionField().between(*frames).velocity
    for unit in (1e-7, 1e4):
        np.testing.assert_allclose(MotionField().between(*unit * frames).velocity, expected, rtol=0, atol=1e-3)
    for unit in (1e-13, 1e-22, 1e-30):
        assert not MotionField().between(*unit * frames).velocity.any()
    with pytest.raises(
        ValueError, match=r"a pixel of .*e\+\d+ at row 0, column 0; expected magnitudes of 1e\+07 or less"
    ):
        MotionField().between(*1e8 * (frames + 1))


@pytest.mark.parametrize("speed", ["fastest", "fast", "accurate"])
@pytest.mark.parametrize("shape", [(97, 131), (193, 260), (400, 301)])
def test_the_number_of_cores_does_not_matter(make_frames, monkeypatch, speed, shape):
    frames, fields = make_frames(3, shape=shape, velocity=(3.3, -1.2)), []
    for n in (1, 3):
        for module in ("bands", "scales"):
            monkeypatch.setattr(f"flymotion.field.{module}.n_workers", lambda n=n: n)
        fields.append(MotionField(speed=speed)(frames))
    for one, several in zip(*fields, strict=True):
        np.testing.assert_array_equal(one, several)


# -- noise -------------------------------------------------------------------------------------------------------------


def test_noise_alone_is_seen_to_be_noise():
    frames = np.random.default_rng(0).normal(40, 3, (3, 200, 300)).astype(np.float32)
    stream = MotionField().stream()
    first, second, third = (stream.step(frame) for frame in frames)
    assert first is None and second.confidence.max() < 0.3
    assert (third.confidence > 0.1).mean() < 0.02
    assert 2.4 < stream.noise < 3.1


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_faint_texture_that_noise_does_not_hide_is_seen(make_frames, noise):
    """Slopes of a fifth more than the noise's, or of ten times as much."""
    clean = make_frames(shape=(200, 300), velocity=(0.4, -0.2), dtype=np.float32)
    frames = clean / 8 + noise * np.random.default_rng(0).normal(size=clean.shape)
    field = MotionField().between(*frames)
    sure = field.confidence > 0.2
    assert sure.mean() > {0.3: 0.9, 3.0: 0.01}[noise]
    np.testing.assert_allclose(field.velocity[:, sure].mean(axis=1), [0.4, -0.2], atol=0.1)


def test_least_noise_hides_what_is_no_more(make_frames):
    frames = make_frames(shape=(120, 150), dtype=np.float32) / 45
    sure, unsure = (MotionField(noise=noise).between(*frames).confidence for noise in (0.0, 3.0))
    assert np.median(sure) > 0.5 and unsure.max() == 0
    assert MotionField(noise=3.0).between(*100 * frames).confidence.mean() > 0.5


def test_a_single_frame_is_no_movie(make_frames):
    with pytest.raises(ValueError, match="1 frame"):
        MotionField()(make_frames(1))


def test_field_and_stream_go_through_pickle(make_frames, pickled):
    frames = make_frames(3)
    stream = pickled(MotionField()).stream()
    stream.step(frames[0])
    np.testing.assert_array_equal(pickled(stream).step(frames[1]).velocity, stream.step(frames[1]).velocity)


@pytest.mark.parametrize("finest", [0, 1, 2])
def test_the_least_noise_is_the_same_on_every_scale(finest):
    stream = MotionField(finest=finest, noise=0.9).stream()
    for _ in range(2):
        stream.step(np.full((96, 128), 7, np.uint8))
    assert stream.noise == pytest.approx(2**0.5 * 0.9)
