"""Dense motion fields: the compiled kernels against plain numpy, known motion, and what a stream promises."""

from itertools import product

import numba
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import correlate1d, fourier_shift, uniform_filter

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


def noise_oracle(before, after):
    """Variance of slopes that is noise: a quarter of all blocks has no more, and no block more than its slopes."""
    m, dx = (before + after) / 2, (after - before)[1:-1, 1:-1]
    x, y = (m[1:-1, 2:] - m[1:-1, :-2]) / 2, (m[2:, 1:-1] - m[:-2, 1:-1]) / 2
    found = []
    for i, j in product(range(0, len(dx), 32), range(0, dx.shape[1], 16)):
        t, g, h = (part[i : i + 32 : 8, j : j + 16].ravel() for part in (dx, x, y))
        regressors = np.stack([np.ones_like(t), g, h], axis=1)
        left = t - regressors @ np.linalg.lstsq(regressors, t)[0]
        slopes = (g.var() + h.var()) / 2 * len(t)
        found += [min(left @ left / 8, slopes) / max(len(t) - 3, 1)] * (len(t) >= 8)
    return sorted(found)[len(found) // 4] if found else 0.0


def velocity_oracle(before, after, radius=5, ridge=0.01, every=4, coarse=0.0, most=np.inf):
    """One scale: the normal equations of the ridge regression about the coarser's, and their smaller eigenvalue.

    What of that is signal, relative to all and the ridge, is the confidence.
    """

    def filtered(image, along_x, along_y):
        return inner(correlate1d(correlate1d(image, along_x, 1), along_y, 0))

    def power(frame):
        x = (frame[1:-1, 2:] - frame[1:-1, :-2])[::every] / 2
        y = (frame[2:, 1:-1] - frame[:-2, 1:-1])[::every] / 2
        return (x**2 + y**2).mean() / 2

    m = (before + after) / 2
    gradient = np.stack([filtered(m, SLOPE, SMOOTH), filtered(m, SMOOTH, SLOPE)])
    dx = filtered(after - before, SMOOTH, SMOOTH)
    window = 2 * radius + 1

    def total(image):
        return uniform_filter(image, window, mode="constant") * window**2

    G = np.array([[total(a * b) for a in gradient] for b in gradient]).transpose(2, 3, 0, 1)
    penalty = ridge * (power(before) + power(after)) / 2 * window**2
    target = np.stack([-total(a * dx) for a in gradient], axis=-1)
    target = target + penalty * np.moveaxis(coarse + np.zeros_like(gradient), 0, -1)
    velocity = np.linalg.solve(G + penalty * np.eye(2), target[..., None])[..., 0].transpose(2, 0, 1)
    least = np.linalg.eigvalsh(G)[..., 0]
    noise = window**2 * min(noise_oracle(before, after), most)
    return velocity, np.maximum(least - noise, 0) / (least + penalty)


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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", [0, 1, 4, 11])
def test_velocity_is_the_ridge_regression_of_suppl_c(make_frames, shape, radius):
    before, after = make_frames(shape=shape)
    field = MotionField(radius=radius, scales=1, ridge=0.1).between(before, after)
    velocity, confidence = velocity_oracle(*np.float64([before, after]), radius=radius, ridge=0.1)
    np.testing.assert_allclose(field.velocity, velocity, rtol=0, atol=2e-5)
    np.testing.assert_allclose(field.confidence, confidence, rtol=0, atol=1e-4)


def halves(frame):
    height, width = np.array(frame.shape) // 2
    return frame[: 2 * height, : 2 * width].reshape(height, 2, width, 2).mean(axis=(1, 3))


def enlarged(image, shape):
    """Linear interpolation between pixels twice as large."""
    y, x = (np.clip((np.arange(n) - 0.5) / 2, 0, m - 1) for n, m in zip(shape, image.shape, strict=True))
    rows = np.stack([np.interp(y, np.arange(len(column)), column) for column in image.T], axis=1)
    return np.stack([np.interp(x, np.arange(len(row)), row) for row in rows])


@pytest.mark.parametrize("shape", [(70, 90), (71, 1311)])
@pytest.mark.parametrize("finest", [0, 1])
def test_coarser_scale_is_taken_where_it_is_fast(make_frames, shape, finest):
    frames = make_frames(shape=shape, velocity=(0.5, 0.35))
    field = MotionField(scales=2, limit=0.6, finest=finest).between(*frames)
    frames = frames.astype(float)
    most = np.inf if finest else noise_oracle(*frames)
    coarse, doubt = velocity_oracle(*map(halves, frames), most=most)
    coarse, doubt = 2 * np.stack([enlarged(v, shape) for v in coarse]), enlarged(doubt, shape)
    fine, sure = velocity_oracle(*frames, coarse=coarse)
    fast = (np.hypot(*coarse) > 0.6) | (finest == 1)
    settled = np.abs(np.hypot(*coarse) - 0.6) > 1e-3
    assert 0.2 < fast.mean()
    np.testing.assert_allclose(field.velocity[:, settled], np.where(fast, coarse, fine)[:, settled], rtol=0, atol=2e-4)
    np.testing.assert_allclose(field.confidence[settled], np.where(fast, doubt, sure)[settled], rtol=0, atol=2e-4)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7])
def test_exact_learned_responses_are_those_of_each_patch(make_frames, make_detectors, size):
    before, after = make_frames(shape=(20, 1100))
    detectors = make_detectors(size)
    field = MotionField(detectors, exact=True).between(before, after)
    y = learned_oracle(detectors.in_pixels().operators, *np.float64([before, after]))
    angles = np.radians(detectors.in_pixels().directions())
    close(field.directions, np.maximum(y, 0))
    close(field.opponent, np.einsum("ak,kyx->ayx", [np.cos(angles), -np.sin(angles)], y))
    velocity, _ = velocity_oracle(*np.float64([before, after]))
    np.testing.assert_allclose(
        MotionField(detectors, scales=1).between(before, after).velocity, velocity, rtol=0, atol=2e-5
    )


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


@pytest.mark.parametrize(("shape", "first"), [((1080, 1920), 2), ((1280, 720), 1), ((480, 640), 0), ((3, 3), 0)])
def test_velocity_of_larger_frames_starts_at_a_coarser_scale(shape, first):
    assert MotionField().first_scale(shape) == first
    assert MotionField(finest=3).first_scale(shape) == 3


def test_default_scale_is_that_of_the_frames_size(make_frames):
    frames = make_frames(shape=(560, 570))
    default, explicit, finer = (MotionField(**how).between(*frames) for how in ({}, {"finest": 1}, {"finest": 0}))
    np.testing.assert_array_equal(default.velocity, explicit.velocity)
    assert np.abs(default.velocity - finer.velocity).max() > 1e-3


def test_patches_beyond_the_frame_give_nothing(make_frames, make_detectors):
    field = MotionField(make_detectors()).between(*make_frames(shape=(4, 4)))
    np.testing.assert_array_equal(field.directions, np.zeros((4, 4, 4)))


@pytest.mark.parametrize("velocity", [(0.35, 0.0), (0.0, -0.35), (-0.2, 0.1)])
def test_subpixel_shift_is_measured_to_half_a_percent(make_frames, velocity):
    frames = make_frames(velocity=velocity, dtype=np.float32)
    field = MotionField(scales=1, ridge=1e-4).between(*frames)
    error = field.velocity[:, 8:-8, 8:-8] - np.reshape(velocity, (2, 1, 1))
    assert np.abs(error.mean(axis=(1, 2))).max() < 0.005 * np.hypot(*velocity)
    assert np.sqrt((error**2).mean()) < 0.01 * np.hypot(*velocity)


def test_larger_shift_is_measured_at_coarser_scales(make_frames):
    frames = make_frames(shape=(240, 320), velocity=(-2.0, 1.5), blur=2.0, dtype=np.float32)
    near, far = (MotionField(scales=s).between(*frames).velocity[:, 40:-40, 40:-40].mean((1, 2)) for s in (1, 3))
    np.testing.assert_allclose(far, [-2.0, 1.5], rtol=0.06)
    assert np.hypot(*(near - [-2, 1.5])) > np.hypot(*(far - [-2, 1.5]))


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
    np.testing.assert_array_equal(back.velocity, -there.velocity)


def test_unit_of_intensity_does_not_matter(make_frames):
    frames = make_frames().astype(np.float32)
    grey, unit = MotionField().between(*frames), MotionField().between(*frames / 255)
    np.testing.assert_allclose(unit.velocity, grey.velocity, rtol=0, atol=1e-5)
    np.testing.assert_allclose(unit.confidence, grey.confidence, rtol=0, atol=1e-5)


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
        for part in field:
            np.testing.assert_array_equal(part, np.zeros_like(part))
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
    with pytest.raises(ValueError, match="expected \\(height, width\\)"):
        stream.step(frames)
    with pytest.raises(TypeError, match="complex"):
        stream.step(frames[1] * 1j)
    with pytest.raises(ValueError, match=r"out\.directions"):
        stream.step(frames[1], out=Field(*(np.zeros((4, 70, 90), np.float64),) * 4))
    np.testing.assert_array_equal(stream.step(frames[1]).velocity, MotionField().between(*frames[:2]).velocity)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"outputs": ("flow",)}, "unknown outputs"),
        ({"radius": 65}, "radius is 65"),
        ({"finest": -1}, "finest -1"),
        ({"ridge": -1.0}, "ridge"),
        ({"detectors": Generators(np.zeros((1, 6, 6)), (2, 3))}, "square"),
    ],
)
def test_wrong_descriptions_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        MotionField(**wrong)


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


def test_velocity_does_not_depend_on_the_noise(make_frames):
    frames = make_frames(shape=(120, 150))
    a, b = (MotionField(noise=noise).between(*frames).velocity for noise in (0.0, 9.0))
    np.testing.assert_array_equal(a, b)


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
