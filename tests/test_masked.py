"""Masked arrays, which numpy unmasks without a word, are refused wherever one can be handed in: B32.

Every array that a public function, class or method of these rooms takes is masked, one at a time, hiding nothing: what
is handed in otherwise works, so it is the mask that is refused.
"""

import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

from flymotion.detectors import Detector, FunctionDetector, Taps, along, hassenstein_reichardt
from flymotion.detectors.taps_on_lattices import tapped
from flymotion.detectors.temporal import LowPass, filtered, start, transfer
from flymotion.frames import FramePairs
from flymotion.generators import Generators, Operators, cosine, derivative_operator
from flymotion.generators.optics_map import motion_map
from flymotion.generators.quadratic_forms import probability_positive
from flymotion.generators.theory import Population, antisymmetric_share, population
from flymotion.stimuli import drifting_grating
from flymotion.tuning import direction_selectivity, experiment, half_width, peak, preferred_direction, tune
from flymotion.tuning.circle import round_the_circle
from flymotion.tuning.recordings import compare, published
from flymotion.world.compound_eyes import CompoundEye, buchner
from flymotion.world.eyes import Grid, Line, Sphere
from flymotion.world.globe import on_the_globe
from flymotion.world.lattice_finding import axial_coordinates
from flymotion.world.lattices import Lattice, as_seen
from flymotion.world.motions import Motion, SelfTranslation, Translation, Turn
from flymotion.world.rendering import render, stepped_pairs
from flymotion.world.scenes import (
    Bar,
    Dot,
    Edge,
    ExponentialNoise,
    FourierScene,
    Grating,
    SmoothNoise,
    SphericalScene,
    SquareGrating,
    exponential_covariance,
    panorama,
    photograph,
    smooth_covariance,
    spherical_covariance,
)

ROOMS = ("world", "generators", "detectors", "tuning")

HRD = hassenstein_reichardt()
MOVIE = np.random.default_rng(0).uniform(size=(12, 5))
CURVE, ANGLES = np.array([4.0, 1.0, -1.0, 1.0]), np.array([0.0, 90.0, 180.0, 270.0])
CIRCLE = {"tuning": CURVE, "directions": ANGLES}
A = derivative_operator((5,))
OPERATORS = Operators(A[None], (5,))
PAIRS = FramePairs(MOVIE[:-1], MOVIE[1:])
MOVES = Translation(0.5, ndim=1)
POPULATION = population(exponential_covariance(3.0, 0.5), Line(5), MOVES)
STEP = np.array([0.1])
MODES = np.zeros((3, 3), dtype=complex)
BALL = SphericalScene(np.eye(3, dtype=complex), 4.0)
SEEN = {"points": np.ones((2, 3, 2)), "sigma": np.tile(np.eye(2), (2, 1, 1))}
ALL_ROUND = {"points": np.eye(3), "sigma": 1.0}
DISTANCES = {"displacements": np.ones((3, 2)), "extra": np.tile(np.eye(2), (3, 1, 1))}
TUNED = tune(HRD, drifting_grating, {"direction": ANGLES.tolist()}, dt=0.02, repeats=2, keep_time=True)
TAPS = {"pixels": np.array([[0, 1]]), "displacements": along(0, 1), "dt": 0.01}

ENTRIES = {
    "Bar.sample": (Bar(2.0, ndim=2).sample, SEEN),
    "Detector": (Detector, {"arms": {"now": ()}, "displacements": along(0, 1), "combine": lambda tap: tap("now")}),
    "Detector.__call__": (HRD, {"movie": MOVIE, "dt": 0.02, "before": MOVIE[0]}),
    "Detector.stream": (HRD.stream, {"dt": 0.02, "eye": Line(5), "before": MOVIE[0], "direction": np.array([0, 180])}),
    "Detector.positions": (HRD.positions, {"eye": Line(5), "direction": np.array([0, 180])}),
    "Dot.sample": (Dot(2.0).sample, SEEN),
    "Edge.sample": (Edge(ndim=2).sample, SEEN),
    "ExponentialNoise.sample": (ExponentialNoise(ndim=2, period=16.0, random_state=0).sample, SEEN),
    "FourierScene": (FourierScene, {"modes": MODES, "period": (8.0, 8.0), "extent": np.array([[0.0, 8.0]] * 2)}),
    "FourierScene.views": (
        lambda points, modes: next(SmoothNoise(3.0, ndim=2, random_state=0).views(points, modes)),
        {"points": np.ones((2, 3, 2)), "modes": np.zeros((1, 3, 3), dtype=complex)},
    ),
    "FourierScene.sample": (SmoothNoise(3.0, ndim=2, period=16.0, random_state=0).sample, SEEN),
    "FunctionDetector.__call__": (FunctionDetector(lambda movie, dt: movie), {"movie": MOVIE, "dt": 0.02}),
    "FunctionDetector returns": (lambda made: FunctionDetector(lambda movie, dt: made)(MOVIE, 0.02), {"made": MOVIE}),
    "formula returns": (
        lambda made: Detector({"now": ()}, along(0, 0), lambda tap: made)(MOVIE, 0.02),
        {"made": MOVIE},
    ),
    "Generators": (Generators, {"operators": A[None], "eye": (5,), "whitening": np.eye(5)}),
    "Generators.match": (Generators(A[None], (5,)).match, {"analytic": A[None]}),
    "Generators.cosines": (Generators(A[None], (5,)).cosines, {"analytic": A[None]}),
    "Grating.sample": (Grating(5.0, ndim=2).sample, SEEN),
    "Motion": (
        Motion,
        {"names": [("a", "b")], "flows": np.ones((1, 1, 2)), "ways": STEP[None], "sizes": MODES.real[:1, :2]},
    ),
    "Motion.maps": (MOVES.maps, {"steps": STEP}),
    "Motion.flow": (SelfTranslation(0.1).flow, {"positions": np.eye(3), "depth": np.full(3, 4.0)}),
    "Motion.called": (MOVES.called, {"way": STEP}),
    "Operators": (Operators, {"operators": A[None], "eye": (5,), "mean": np.zeros(5)}),
    "Operators.apply": (OPERATORS.apply, {"frames": MOVIE, "theta": STEP}),
    "Operators.transform": (OPERATORS.transform, {"frames": MOVIE, "theta": STEP}),
    "Operators.estimate": (OPERATORS.estimate, {"pairs": PAIRS, "weights": np.ones(5)}),
    "Operators.register": (OPERATORS.register, {"pairs": PAIRS, "windows": np.ones((1, 5))}),
    "Population": (Population, vars(POPULATION) | {"Z": np.eye(5)}),
    "Population.frame_covariance": (POPULATION.frame_covariance, {"step": STEP}),
    "Population.mean_given_step": (POPULATION.mean_given_step, {"step": STEP}),
    "Population.mean_response": (POPULATION.mean_response, {"A": A, "step": STEP}),
    "Population.axis": (POPULATION.axis, {"A": A}),
    "Population.peak_speed": (POPULATION.peak_speed, {"A": A}),
    "Population.direction_accuracy": (POPULATION.direction_accuracy, {"A": A}),
    "SelfTranslation": (SelfTranslation, {"max_step": 0.1, "axes": np.eye(3)}),
    "Sphere": (Sphere, {"directions": np.eye(3)}),
    "on_the_globe": (on_the_globe, {"angles": np.eye(2)}),
    "as_seen": (as_seen, {"directions": np.eye(3)}),
    "CompoundEye": (
        CompoundEye,
        {"directions": np.eye(3), "sigma": np.ones(3), "axial": np.arange(6).reshape(3, 2), "half": np.arange(3) // 2},
    ),
    "axial_coordinates": (axial_coordinates, {"directions": buchner("left").directions}),
    "Lattice": (Lattice, {"axial": np.array([[0, 0], [1, 0]]), "places": np.eye(2), "half": np.array([0, 0])}),
    "Lattice.at": (Lattice(np.array([[0, 0], [1, 0]]), np.eye(2)).at, {"offsets": np.array([[1, 0]])}),
    "SphericalScene": (SphericalScene, {"coefficients": np.eye(3, dtype=complex)}),
    "SphericalScene.sample": (BALL.sample, ALL_ROUND),
    "SphericalScene.toward": (BALL.toward, {"position": np.array([1.0, 0.0, 0.0]), "directions": np.eye(3)}),
    "SquareGrating.sample": (SquareGrating(5.0, ndim=2).sample, SEEN),
    "Stream.push": (lambda frames: HRD.stream(0.02, eye=Line(5)).push(frames), {"frames": MOVIE}),
    "Taps": (Taps, {"arms": {"now": MOVIE}} | TAPS),
    "Taps, an arm": (lambda arm: Taps({"now": arm}, **TAPS), {"arm": MOVIE}),
    "Translation": (Translation, {"max_shift": 0.5, "angles": ANGLES}),
    "Turn": (Turn, {"max_angle": 5.0, "axes": np.eye(3)}),
    "antisymmetric_share": (antisymmetric_share, {"A": A}),
    "compare": (compare, {"tuning": TUNED, "recording": published(), "indicator_kernel": np.ones(3)}),
    "cosine": (cosine, {"a": A, "b": A}),
    "derivative_operator": (derivative_operator, {"eye": (5,), "velocity": np.ones(1)}),
    "direction_selectivity": (direction_selectivity, CIRCLE),
    "experiment": (lambda at: experiment("contrast", HRD, contrast=at, dt=0.02, repeats=1), {"at": np.array([0.5])}),
    "exponential_covariance": (exponential_covariance(3.0, 0.5, 2), DISTANCES),
    "filtered": (filtered, {"step": LowPass(0.1), "signals": MOVIE, "state": np.zeros((1, 5)), "dt": 0.02}),
    "half_width": (half_width, CIRCLE),
    "motion_map": (motion_map, {"sigmas": np.array([0.5]), "max_shifts": np.array([0.1])}),
    "panorama": (panorama, {"image": np.ones((4, 8))}),
    "peak": (peak, {"tuning": CURVE, "axis": np.arange(4.0)}),
    "photograph": (photograph, {"image": np.ones((4, 8))}),
    "population": (
        population,
        {"covariance": exponential_covariance(3.0, 0.5), "eye": Line(5), "motion": MOVES, "whitening": A + np.eye(5)},
    ),
    "preferred_direction": (preferred_direction, CIRCLE),
    "probability_positive": (probability_positive, {"weights": np.array([3.0, -1.0])}),
    "render": (render, {"scene": Grating(4.0), "eye": Line(4), "poses": np.ones((2, 1))}),
    "round_the_circle": (round_the_circle, {"responses": CURVE, "directions": ANGLES, "at": ANGLES}),
    "smooth_covariance": (smooth_covariance(3.0, 0.5, 2), DISTANCES),
    "spherical_covariance": (spherical_covariance(10.0, 0.5), {"chords": np.ones((2, 3)) / 10}),
    "start": (start, {"step": LowPass(0.1), "level": MOVIE[0], "dt": 0.02}),
    "stepped_pairs": (
        stepped_pairs,
        {"scene": Grating(4.0), "eye": Line(4), "motion": MOVES, "poses": np.ones((2, 1, 2)), "steps": np.ones((2, 1))},
    ),
    "tapped": (tapped, {"displacements": along(0, 1), "eye": Grid(3, 3), "directions": ANGLES}),
    "transfer": (transfer, {"chain": (LowPass(0.1),), "frequency": np.array([1.0]), "dt": 0.02}),
    "tune": (lambda at: tune(HRD, drifting_grating, {"contrast": at}, dt=0.02, repeats=1), {"at": np.array([0.5])}),
}
"""What takes arrays, and arguments that work."""

CHECKED_BEFORE = {
    *("around", "as_covariances", "as_luminance", "check_answers", "check_finite", "check_seen", "check_stages"),
    *(
        "Widths",
        "legendre",
        "read_at",
        "same_responses",
        "seen",
        "seen_once",
        "series_in_colatitude",
        "shared_widths",
        "toward",
    ),
}
"""Inside the rooms: what calls them has checked, or is here."""


def taking_arrays():
    """Names, and parameters, that annotations or docstrings say are arrays, of all that the rooms' modules list."""
    for room in ROOMS:
        package = importlib.import_module(f"flymotion.{room}")
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            listed = importlib.import_module(module.name)
            for name in getattr(listed, "__all__", []):
                thing = getattr(listed, name)
                yield from ((name, parameter) for parameter in arrays_of(thing))
                yield from ((f"{name}.{m}", parameter) for m, f in methods_of(thing) for parameter in arrays_of(f))


def methods_of(thing):
    own = vars(thing).items() if inspect.isclass(thing) and not getattr(thing, "_is_protocol", False) else ()
    return [(n, f) for n, f in own if (n == "__call__" or not n.startswith("_")) and inspect.isfunction(f)]


def is_taking(thing):
    """Whether it is a function or class, but for results, whose fields are arrays, and protocols."""
    return inspect.isroutine(thing) or (inspect.isclass(thing) and not hasattr(thing, "_fields"))


def arrays_of(thing):
    """Parameters of a function or class that are arrays."""
    known = inspect.signature(thing).parameters if is_taking(thing) else {}
    described = re.findall(
        r"(?m)^ *(\w[\w, ]*) : .*array", str(inspect.getdoc(thing)).split("Returns\n")[0].split("Attributes\n")[0]
    )
    named = {name.strip() for names in described for name in names.split(",")}
    for name, parameter in known.items():
        annotated = "ndarray" in str(parameter.annotation) and "Callable" not in str(parameter.annotation)
        if name in named or annotated:
            yield name


def test_all_that_takes_arrays_is_tried():
    found = {(name, p) for name, p in taking_arrays() if name.split(".")[0] not in CHECKED_BEFORE}
    assert len(found) > 60
    assert found <= {(name, parameter) for name, (_, given) in ENTRIES.items() for parameter in given}


CASES = [
    pytest.param(take, given, name, id=f"{entry}-{name}")
    for entry, (take, given) in ENTRIES.items()
    for name, value in given.items()
    if isinstance(value, np.ndarray)
]


@pytest.mark.case("B32")
@pytest.mark.parametrize(("take", "given", "name"), CASES)
@pytest.mark.parametrize("hide", [False, True], ids=["nothing hidden", "one hidden"])
def test_masked_arrays_are_refused(take, given, name, hide):
    take(**given)
    masked = np.ma.array(given[name])
    masked.mask = np.arange(masked.size).reshape(masked.shape) == (0 if hide else -1)
    with pytest.raises(ValueError, match="is a masked array; fill it or drop the masked"):
        take(**given | {name: masked})
