"""Whatever is public is shown in a line, however much it holds: notebooks show what the last line of a cell is."""

import dataclasses
import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest
import xarray as xr

import flymotion
from flymotion.detecting import detect
from flymotion.detectors import learned
from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.learner import MotionLearner
from flymotion.photoreceptors import DivisiveNormalization
from flymotion.similarity.features import outer_products
from flymotion.stimuli import random_dots
from flymotion.video import open_movie
from flymotion.world.compound_eyes import buchner
from flymotion.world.eyes import Hexagon, Sphere
from flymotion.world.motions import Mixture, Translation, Zoom
from flymotion.world.scenes import SmoothNoise, SphericalNoise, photograph

LONGEST = 300
"""Characters of a line."""

SCALARS = {"int": 7, "float": 0.1, "bool": True, "str": "name", "None": None, "Claim": None}
"""What fields of these types hold; those of others may hold much."""

FEW = re.compile(r"^tuple\[(?:int|float|str|bool|, |\.\.\.)*\]$|^Literal\[.*\]$")
"""Types of a few numbers or words."""

MUCH = {
    "an array": np.random.default_rng(0).normal(size=(200, 50)),
    "a vector": np.random.default_rng(0).normal(size=999),  # as many as numpy shows in full
    "many arrays": [np.zeros((20, 30))] * 100,
    "arrays by name": {f"name {i}": np.zeros(40) for i in range(100)},
    "a long tuple": tuple(np.linspace(0, 1, 500)),
    "labelled": xr.Dataset({"response": ("time", np.zeros(500))}),
    "a labelled number": xr.DataArray(np.float64(0.5), coords={"name": "a" * 400}),
    "pairs": FramePairs(np.zeros((400, 30, 40)), np.zeros((400, 30, 40))),
}


def public_records():
    """Every dataclass and named tuple that a package, or a module beside the rooms, lists."""
    names = [flymotion.__name__, *(m.name for m in pkgutil.walk_packages(flymotion.__path__, "flymotion."))]
    modules = [importlib.import_module(name) for name in names]
    fronts = [each for each in modules if hasattr(each, "__path__") or each.__name__.count(".") == 1]
    listed = [getattr(module, name) for module in fronts for name in getattr(module, "__all__", [])]
    classes = sorted({*filter(inspect.isclass, listed)}, key=lambda each: (each.__module__, each.__name__))
    return [each for each in classes if dataclasses.is_dataclass(each) or hasattr(each, "_fields")]


def types_of(kind):
    """The fields of a dataclass or named tuple and their types, as written."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    written = {field.name: field.type for field in fields} or kind.__annotations__
    return {name: getattr(each, "__forward_arg__", str(each)) for name, each in written.items()}


def held(name, annotation, much):
    """What a field holds: a number, some numbers, or as much as its type allows."""
    first = annotation.split(" | ")[0]
    several = dict.fromkeys(FEW.findall(first), (1.0, 2.0, 3.0))
    few = {"random_state": 0} | SCALARS | several
    return few.get(name, few.get(first, much))


def filled(kind, much):
    """An instance with all of its fields set, whether or not they fit each other."""
    values = {name: held(name, annotation, much) for name, annotation in types_of(kind).items()}
    thing = tuple.__new__(kind, values.values()) if issubclass(kind, tuple) else object.__new__(kind)
    for name, value in {} if issubclass(kind, tuple) else values.items():
        object.__setattr__(thing, name, value)
    return thing


def assert_in_a_line(thing):
    shown = repr(thing)
    assert len(shown) <= LONGEST and "\n" not in shown, shown[:1000]


@pytest.mark.parametrize("much", MUCH.values(), ids=MUCH)
@pytest.mark.parametrize("kind", public_records(), ids=lambda kind: kind.__name__)
def test_records_are_shown_in_a_line_whatever_they_hold(kind, much):
    thing = filled(kind, much)
    assert repr(thing).startswith(f"{kind.__name__}(")
    assert_in_a_line(thing)


def test_there_are_records_that_hold_much():
    names = {kind.__name__ for kind in public_records()}
    assert {"FramePairs", "Generators", "Detector", "Movie", "Sphere", "SphericalScene", "Stimulus", "Field"} <= names


def noise(*shape):
    return np.random.default_rng(0).normal(size=shape)


REAL = {
    "pairs": lambda: FramePairs(noise(500, 721), noise(500, 721), noise(500, 6), eye=Hexagon(15)),
    "products": lambda: outer_products(FramePairs(noise(50, 49), noise(50, 49)), "change"),
    "generators": lambda: Generators(noise(4, 120, 120), Sphere.evenly(120), noise(120, 120)),
    "operators": lambda: Generators(noise(4, 120, 120), Sphere.evenly(120)).on_raw_frames(),
    "match": lambda: Generators(noise(40, 5, 5), (5,)).match(noise(60, 5, 5)),
    "a detector": lambda: learned(Generators(noise(4, 721, 721), Hexagon(15))),
    "a stream": lambda: learned(Generators(noise(4, 81, 81), (9, 9))).stream(0.01, eye=(30, 30), before=noise(30, 30)),
    "a movie": lambda: open_movie(noise(20, 40, 50)),
    "its first frame": lambda: next(open_movie(noise(20, 40, 50)).frames()),
    "its first batch": lambda: next(open_movie(noise(20, 40, 50)).batches(16)),
    "motion in it": lambda: list(detect(noise(4, 48, 64)))[1],
    "detecting": lambda: detect(noise(4, 48, 64)),
    "an eye": lambda: Sphere.evenly(720),
    "a fly's eyes": lambda: buchner("both"),
    "a photograph": lambda: photograph(noise(100, 200)),
    "noise": lambda: SmoothNoise(2.0, ndim=2, period=64.0, random_state=0),
    "a sphere of noise": lambda: SphericalNoise(15.0, random_state=0),
    "a motion": lambda: Mixture(*(Translation(0.3, angles=np.arange(0, 360, 2.0)) for _ in range(3)), Zoom(0.1)),
    "a stimulus": lambda: random_dots(random_state=0),
    "a learner": lambda: MotionLearner(2, random_state=0).fit(noise(300, 9)),
    "its state": lambda: MotionLearner(2, random_state=0).fit(noise(300, 9)).state_,
    "its network": lambda: MotionLearner(2, random_state=0).fit(noise(300, 9)).network_,
}


@pytest.mark.parametrize("make", REAL.values(), ids=REAL)
def test_large_things_are_shown_in_a_line(make):
    assert_in_a_line(make())


def test_estimators_are_shown_as_scikit_learn_does_with_short_parts():
    """It breaks lines, and leaves out the middle of what is long."""
    assert len(repr(DivisiveNormalization(pool=2.0, eye=Sphere.evenly(500)))) <= LONGEST


def test_what_is_small_is_shown():
    assert repr(Hexagon(2, 0.5)) == "Hexagon(radius=2, sigma=0.5)"
    assert repr(FramePairs(np.zeros((1, 2)), np.ones((1, 2)), [[0.5]])) == (
        "FramePairs(before=array([[0., 0.]]), after=array([[1., 1.]]), motion=array([[0.5]]), names=None, eye=None)"
    )


def test_a_small_table_is_shown_by_its_shape():
    assert "motion=float64(2, 3)" in repr(FramePairs(np.zeros((2, 2)), np.ones((2, 2)), np.ones((2, 3))))
