"""Scenes, stimuli, motions and eyes at the limits of their parameters: right, or refused in one sentence.

Every parameter that is a number, of everything that makes one of these, takes every value of ``VALUES``; what is made
is looked at. Nothing hangs, runs out of memory, or shows what is no number.
"""

import inspect
import math
import re
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import erfcx

from flymotion.stimuli import STIMULI
from flymotion.world import eyes, motions, scenes
from flymotion.world.eyes import Grid, Line, Sphere
from flymotion.world.motions import Mixture, Motion, Rotation, Shear, Translation, Zoom
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import SmoothNoise, SphericalNoise, exponential_covariance

VALUES = [0.0, 1e-300, 1e-12, 1e-9, 1e9, 1e12, 1e49, 1e300, math.inf, -math.inf, math.nan, -1.0]
WHOLE = [0, -1, 3, 10**9]

IMAGE = np.random.default_rng(0).uniform(0, 255, (8, 16))
MODES = np.zeros((3, 5), dtype=complex)
MODES[1, 2] = 1.0

NEEDED = {
    "Bar": {"width": 2.0},
    "Dot": {"diameter": 2.0},
    "Drum": {"scene": scenes.Grating(30.0)},
    "Edge": {},
    "ExponentialNoise": {"correlation_length": 3.0, "period": 64.0, "sharpest": 0.3, "random_state": 0},
    "FourierScene": {"modes": MODES, "period": (8.0, 8.0), "extent": np.array([[0.0, 8.0]] * 2)},
    "Grating": {"wavelength": 5.0},
    "SmoothNoise": {"correlation_length": 3.0, "period": 64.0, "random_state": 0},
    "SphericalNoise": {"correlation_angle": 20.0, "random_state": 0},
    "SphericalScene": {"coefficients": np.eye(3, dtype=complex)},
    "SquareGrating": {"wavelength": 5.0},
    "exponential_covariance": {"correlation_length": 3.0, "sigma": 0.5},
    "panorama": {"image": IMAGE},
    "photograph": {"image": IMAGE},
    "smooth_covariance": {"correlation_length": 3.0, "sigma": 0.5},
    "spherical_covariance": {"correlation_angle": 10.0, "sigma": 5.0},
    "Motion": {"names": [("a", "b")], "flows": [[[0.0, 1.0]]], "ways": [[1.0]], "sizes": [[0.0, 1.0]]},
    "Mixture": {},
    "Rotation": {"max_angle": 5.0},
    "SelfTranslation": {"max_step": 0.1},
    "Shear": {"max_rate": 0.1},
    "Translation": {"max_shift": 0.5},
    "Turn": {"max_angle": 5.0},
    "Zoom": {"max_rate": 0.1},
    "Grid": {"height": 2, "width": 3},
    "Hexagon": {"radius": 1},
    "Line": {"n": 4},
    "Sphere": {"directions": np.eye(3)},
    "acceptance_sigma": {"fwhm": 5.7},
}
PROTOCOLS = {"Scene", "FlatScene", "Eye"}
MAKERS = {
    name: getattr(room, name)
    for room in (scenes, motions, eyes)
    for name in room.__all__
    if name not in PROTOCOLS and callable(getattr(room, name)) and name not in ("as_eye", "same_places")
} | STIMULI


def numbers_of(make, given):
    """Parameters that are numbers or sequences of them, and functions that make an argument of a number."""
    for name, parameter in inspect.signature(make).parameters.items():
        kind, default = str(parameter.annotation), given.get(name, parameter.default)
        if re.search(r"(tuple|Sequence)\[float", kind):
            yield name, lambda value, default=default: (value,) * len(default), VALUES
        elif "float" in kind:
            yield name, lambda value: value, VALUES
        elif re.match(r"int\b", kind):
            yield name, lambda value: value, WHOLE
        elif name in ("flows", "ways", "sizes", "axes", "directions"):
            yield name, lambda value, default=default: np.full(np.shape(default), value), VALUES


CASES = [
    pytest.param(name, parameter, as_argument, values, id=f"{name}-{parameter}")
    for name, make in MAKERS.items()
    for parameter, as_argument, values in numbers_of(make, NEEDED.get(name, {}))
]


def test_everything_that_makes_one_is_tried():
    assert set(NEEDED) == set(MAKERS) - set(STIMULI)
    tried = {(case.values[0], case.values[1]) for case in CASES}
    assert set(MAKERS) - {name for name, _ in tried} == {"Drum", "Mixture"}
    assert {("Grating", n) for n in ("direction", "wavelength", "contrast", "phase", "mean", "ndim")} <= tried
    assert {("velocity-steps", "speeds"), ("Dot", "position"), ("ExponentialNoise", "period")} <= tried
    assert {("Translation", "angles"), ("Turn", "axes"), ("Motion", "ways"), ("Sphere", "sigma")} <= tried


@contextmanager
def limited(seconds=4.0, gigabytes=4):
    """Stop what takes too long, and let what takes too much memory fail."""

    def stop(number, frame):
        raise TimeoutError(f"more than {seconds} s")

    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (now + gigabytes * 2**30, hard))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


LOOKERS = {1: Line(3), 2: Grid(2, 3), 3: Sphere.evenly(6)}
WORLDS = {
    1: SmoothNoise(2.0, period=64.0, random_state=0),
    2: SmoothNoise(2.0, ndim=2, period=64.0, random_state=0),
    3: SphericalNoise(20.0, depth=10.0, random_state=0),
}
STILL = {1: np.array([[0.0], [1.5]]), 2: np.array([[0.0, 0.0], [1.5, -3.0]]), 3: np.eye(3)[None]}


def look(made):
    """Return numbers that whatever was made shows."""
    if isinstance(made, Motion):
        return sample_pairs(WORLDS[made.ndim], LOOKERS[made.ndim], made, 4, random_state=0).after
    if hasattr(made, "movie"):
        movies = [made.movie(eye, dt, spacing=5.0, stop=4).ravel() for eye, dt in ((LOOKERS[2], 0.1), (Line(5), 0.01))]
        return np.concatenate(movies)
    if hasattr(made, "sample"):
        return render(made, LOOKERS[made.ndim], STILL[made.ndim])
    if hasattr(made, "positions"):
        ndim = made.positions.shape[1]
        return render(WORLDS[ndim], made, STILL[ndim])
    return np.asarray(made if np.ndim(made) == 0 and not callable(made) else covariances(made))


def covariances(covariance):
    flat = [[0.0], [0.5], [30.0]]
    for displacements in (flat, np.pad(flat, ((0, 0), (0, 1))), np.pad(np.array(flat) / 50, ((0, 0), (0, 2)))):
        try:
            return covariance(displacements)
        except (ValueError, IndexError):
            continue
    raise AssertionError("no displacements fit")


def told(name, **arguments):
    """Return what is shown, or zero and the reason why nothing is."""
    with limited():
        try:
            return look(MAKERS[name](**NEEDED.get(name, {}) | arguments)), ""
        except ValueError as error:
            return np.zeros(1), str(error)


@pytest.mark.parametrize(("name", "parameter", "as_argument", "values"), CASES)
def test_limits_are_right_or_refused_in_one_sentence(name, parameter, as_argument, values):
    for value in values:
        shown, reason = told(name, **{parameter: as_argument(value)})
        assert np.isfinite(shown).all(), value
        assert "\n" not in reason and len(reason) < 400, value


@pytest.mark.parametrize(("name", "parameter", "as_argument", "values"), CASES)
def test_numbers_that_are_none_are_refused(name, parameter, as_argument, values):
    shown, reason = told(name, **{parameter: as_argument(math.nan)})
    assert reason and not shown.any()


@pytest.mark.parametrize("spacing", [0.0, -1.0, math.inf, math.nan, 1e300, None])
def test_spacings_that_are_none_are_refused(spacing):
    """No flat eye knows its own: detectors are 5, 5.1 or 3.2 degrees apart, and 5 was taken for all."""
    stimulus = STIMULI["drifting-grating"]()
    for call in (stimulus.movie, lambda *how, **more: next(stimulus.stream(*how, **more))):
        with pytest.raises(ValueError, match="spacing is"):
            call(Line(3), 0.1, spacing=spacing)
    assert STIMULI["rotating-panorama"]().movie(Sphere.evenly(5), 0.5).shape == (4, 5)


def test_movies_larger_than_any_memory_are_refused_and_can_be_streamed():
    long = STIMULI["drifting-grating"](duration=1e30)
    with pytest.raises(ValueError, match=r"a movie of 1e\+32 frames of 3 pixels; expected 134217728 numbers at most"):
        long.movie(Line(3), 0.01, spacing=5.0)
    assert next(long.stream(Line(3), 0.01, spacing=5.0)).shape == (256, 3)


# Right


@pytest.mark.parametrize("ratio", [1.0, 20.0, 31.0, 100.0, 1e4, 1e9, 1e40])
def test_covariance_of_noise_far_finer_than_the_optics(ratio):
    """At 0 it is exp(a^2 / 2) erfc(a / sqrt 2), with a the optics of both over the length."""
    a = math.sqrt(2) * ratio
    found = exponential_covariance(1 / ratio, 1.0)([[0.0], [0.5]])
    assert_allclose(found[0], erfcx(a / math.sqrt(2)), rtol=1e-8)
    assert_allclose(found[1] / found[0], math.exp(-1 / 16), rtol=4 / ratio**2 + 1e-12)


@pytest.mark.parametrize("shift", [0.3, 10.0, 1e6, 1e30])
def test_a_turn_is_a_turn_however_far_it_also_shifts(shift):
    flows = [[[0.0, 0.1, shift], [-0.1, 0.0, 0.0]]]
    step = Motion([("a", "b")], flows, [[1.0]], [[0.0, 1.0]]).maps([1.0])
    expected = [[math.cos(0.1), math.sin(0.1)], [-math.sin(0.1), math.cos(0.1)]]
    assert_allclose(step[:, :2], expected, atol=1e-14)
    assert_allclose(step[:, 2], np.array([math.sin(0.1), math.cos(0.1) - 1]) * shift / 0.1, rtol=1e-12)


@pytest.mark.parametrize(("name", "huge"), [("Rotation", 1e9), ("Zoom", 800.0), ("Shear", 1e3), ("Turn", 1e6)])
def test_steps_that_turn_or_stretch_beyond_all_numbers_are_refused(name, huge):
    with pytest.raises(ValueError, match=r"turns or stretches by .*; expected 50 rad, or factors of e, at most"):
        getattr(motions, name)(huge)


class Seen:
    """A scene that remembers how far from its middle it was looked at."""

    ndim, wraps, extent = 2, False, np.array([[0.0, 30.0], [0.0, 40.0]])

    def __init__(self):
        self.low, self.high = np.full(2, np.inf), np.full(2, -np.inf)

    def sample(self, points, sigma):
        flat = points.reshape(-1, 2)
        self.low, self.high = np.minimum(self.low, flat.min(axis=0)), np.maximum(self.high, flat.max(axis=0))
        return np.zeros(points.shape[:-1])


MOVED = {
    "quarter turn": Rotation(90.0),
    "half turn": Rotation(180.0),
    "only large turns": Rotation(180.0, 150.0),
    "shear": Shear(1.0),
    "zoom": Zoom(0.5),
    "shift": Translation(3.0),
    "one way": Translation(3.0, angles=[30.0]),
    "mixed": Mixture(Translation(2.0), Rotation(120.0), Zoom(0.3)),
    "spiral": Motion([("a", "b")], [[[0.5, 1.0, 0.4], [-1.0, 0.5, 0.0]]], [[1.0], [-1.0]], [[0.0, 1.2]] * 2),
}


@pytest.mark.parametrize("motion", MOVED.values(), ids=MOVED)
@pytest.mark.parametrize("eye", [Grid(7, 7), Grid(3, 9)], ids=["square", "wide"])
def test_margins_hold_for_every_step_on_the_way(motion, eye):
    """A square that turns by 90 degrees is as wide as before, and 1.4 times as wide at 45."""
    scene = Seen()
    sample_pairs(scene, eye, motion, 3_000, random_state=0)
    low, high = scene.extent.T
    assert (scene.low >= low - 1e-5).all() and (scene.high <= high + 1e-5).all()
