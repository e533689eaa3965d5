"""Documented shapes are executed: what a docstring says that an array's shape is, a call of the function shows.

Of every public function, method and property of the rooms up to ``tuning`` that returns arrays. A shape is read off the
section Returns, or else off the end of the docstring's first paragraph. In it ``...`` and ``*pixels`` stand for any
number of axes, and axes in brackets are there where the call says how long they are. The file is as long as its table.
"""

import importlib
import inspect
import pkgutil
import re
import warnings
from functools import cache
from itertools import cycle

import numpy as np
import pytest
from sklearn.decomposition import IncrementalPCA

import flymotion
from flymotion import MotionLearner, NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.circuits import CompartmentalNeurons, Membrane, T4T5Circuit
from flymotion.circuits.column_signals import ColumnSignals
from flymotion.circuits.connectome import effective
from flymotion.circuits.decorrelating import normalised_covariance
from flymotion.circuits.lobula_plate import lobula_plate
from flymotion.circuits.membranes import Synapses, let_through
from flymotion.circuits.schooling import attitudes, wandering
from flymotion.circuits.subtypes import preferred_in
from flymotion.circuits.wiring import likeness, profile, shuffled, weight_at
from flymotion.detectors import Detector, FunctionDetector, Taps, along, three_pixel
from flymotion.detectors.between_axes import axes_of, steps_along
from flymotion.detectors.taps_on_lattices import tapped
from flymotion.detectors.temporal import Gamma, GammaSlope, HighPass, LowPass, filtered, start, transfer
from flymotion.frames import FramePairs, as_frames, pair_up
from flymotion.generators import Generators, Operators, cosine, derivative_operator
from flymotion.generators.analytic import interior
from flymotion.generators.flows import implied_flow, mean_filters
from flymotion.generators.optics_map import motion_map
from flymotion.generators.patch_modes import cosine_modes
from flymotion.generators.quadratic_forms import probability_positive
from flymotion.generators.theory import antisymmetric_share, population
from flymotion.learner.corpus import guise, worthwhile
from flymotion.learner.sources import load_photographs
from flymotion.learner.video_noise import Moments, whitening
from flymotion.photoreceptors import DivisiveNormalization, LogIntensity, OnOff, WeberContrast, ZCAWhitening
from flymotion.relations import (
    AdditiveUnits,
    DiagonalSums,
    ExponentialOperators,
    GatedBoltzmann,
    IrreducibleRotations,
    OperatorReconstruction,
    SlowFeatures,
)
from flymotion.relations.additive import end_to_end
from flymotion.relations.alternation import Penalty, best_magnitudes, best_operators
from flymotion.relations.exponential_action import moved, moved_and_slopes, operator_slopes
from flymotion.relations.exponential_magnitudes import spacing
from flymotion.relations.irreducible_rotations import planes_of
from flymotion.relations.plane_rates import fit_rates, most_likely
from flymotion.similarity import dendrites, initialisation, optima, samples
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.literal import RateNetwork
from flymotion.similarity.rivals import (
    CCIPCA,
    AdaOja,
    FastSimilarityMatching,
    OjaSubspace,
    OuterProductKMeans,
    OuterProductPCA,
    ReconstructionNetwork,
    WrittenOut,
)
from flymotion.similarity.rivals.stream_learner import factors_of, orthonormal_rows
from flymotion.similarity.vectors import Vectors, signed
from flymotion.stimuli import Cosine, Drift, Lives, RandomBars, Stepped, Table, Track, Turning, Window, plaid
from flymotion.stimuli.paths import across
from flymotion.tuning.circle import around, read_at, round_the_circle
from flymotion.tuning.early import seen, seen_once
from flymotion.tuning.phases import rendered
from flymotion.video import Camera, OntoEye, read_movie
from flymotion.video.edits import thumbnail
from flymotion.video.luminance import area_averages, area_sums, cell_averages, luminance
from flymotion.video.reader import Grey
from flymotion.video.viewing import blur, contrasts, random_pairs, speeds, view
from flymotion.world import Grid, Hexagon, Line, SelfTranslation, Sphere, Translation, TwoChannels, render, unit_vector
from flymotion.world.compound_eyes import buchner
from flymotion.world.globe import on_the_globe, seen_from
from flymotion.world.lattice_finding import axial_coordinates
from flymotion.world.lattices import as_seen, half_of, lattice_of, rings
from flymotion.world.scenes import (
    Bar,
    Dot,
    Drum,
    Edge,
    ExponentialNoise,
    Grating,
    SmoothNoise,
    SphericalNoise,
    SquareGrating,
    exponential_covariance,
    harmonics,
)
from flymotion.world.scenes.scene import as_covariances, as_luminance

ROOMS = {
    *("frames", "world", "video", "photoreceptors", "stimuli"),
    *("similarity", "generators", "relations", "learner", "detectors", "tuning", "circuits"),
}


# What there is to call


def exports():
    """All that modules of the rooms export."""
    for info in pkgutil.walk_packages(flymotion.__path__, "flymotion."):
        if info.name.split(".")[1] in ROOMS:
            module = importlib.import_module(info.name)
            yield from (getattr(module, name) for name in module.__all__)


def public_functions():
    """Functions, methods and properties by their qualified names."""
    return {name: function for thing in exports() for name, function in functions_of(thing).items()}


def functions_of(thing):
    if not inspect.isclass(thing):
        return {thing.__qualname__: thing} if inspect.isfunction(thing) else {}
    if getattr(thing, "_is_protocol", False):  # has nothing to run: the classes that follow it are run
        return {}
    members = (inspect.getattr_static(thing, name) for name in dir(thing) if is_public(name))
    functions = (next((f for f in inside(m) if inspect.isfunction(f)), None) for m in members)
    return {f.__qualname__: f for f in functions if f is not None and f.__module__.startswith("flymotion.")}


def is_public(name):
    return name == "__call__" or not name.startswith("_")


def inside(member):
    """A member of a class, and the function in a property, cached property or static method."""
    return member, *(getattr(member, name, None) for name in ("fget", "func", "__func__"))


def returns_arrays(function):
    annotation = str(function.__annotations__.get("return", ""))
    if annotation in ("Any", "tuple[Any, Any]"):  # arrays of any library, if their shapes are told
        return documented(function) != []
    return "ndarray" in annotation and not annotation.startswith("Callable")


# What the docstrings say

SHAPE = r"\((?:[^()]|\([^()]*\))*\)"


def section(thing, title):
    """A section of a docstring; empty if there is none."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n\w+\n-|\Z)", inspect.getdoc(thing) or "", re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def shapes_in(text):
    pairs = re.findall(rf"shapes? ({SHAPE})(?: and ({SHAPE}))?", text)
    return [shape for pair in pairs for shape in pair if shape]


def attributes(kind):
    """Shapes of a class's attributes, as its docstring writes them, by name."""
    lines = re.findall(r"^(\w[\w, ]*) : (.*)$", section(kind, "Attributes"), re.MULTILINE)
    told = [(names.split(", "), shapes_in(what)) for names, what in lines]
    return {name: shape for names, shapes in told if shapes for name, shape in zip(names, cycle(shapes), strict=False)}


def documented(function):
    """Shapes of what a function returns, as its docstring writes them."""
    returned = section(function, "Returns")
    text = returned or (inspect.getdoc(function) or "").split("\n\n")[0]
    shapes = shapes_in(text)
    return shapes if returned or "shapes" in text or "tuple" in str(function.__annotations__["return"]) else shapes[-1:]


def expected(shape, sizes):
    """The shape that a docstring says, for axes of these sizes."""
    optional = re.findall(r"\[, (\w+)\]", shape)
    for name in optional:
        shape = shape.replace(f"[, {name}]", f", {name}" if name in sizes else "")
    axes = [axis.strip() for axis in shape[1:-1].split(",") if axis.strip()]
    return tuple(length for axis in axes for length in lengths(axis, sizes))


def lengths(axis, sizes):
    if axis == "..." or axis.startswith("*"):
        return sizes[axis.lstrip("*")]
    formula = re.sub(r"^(\d) (?=\w)", r"\1 * ", axis.replace("^", "**"))
    return (eval(formula, {}, sizes),)


# How to call it


@cache
def movie(n_frames=7, height=20, width=26):
    """A texture that moves right by half a pixel a frame, float32."""
    texture = SmoothNoise(2.0, ndim=2, random_state=0)
    return render(texture, Grid(height, width), -0.5 * np.arange(n_frames)[:, None] * [1.0, 0.0]).astype(np.float32)


@cache
def products():
    rng = np.random.default_rng(0)
    return OuterProducts(rng.standard_normal((30, 2, 4)), rng.standard_normal((30, 2, 3)))


@cache
def vectors():
    return Vectors(np.random.default_rng(0).standard_normal((30, 12)))


@cache
def network(kind=SimilarityMatching):
    return kind(2, warm_up=20).fit(products())


@cache
def reconstruction():
    return ReconstructionNetwork(2, random_state=0).fit(vectors().x)


@cache
def written_out():
    return WrittenOut(IncrementalPCA(2), both_signs=True).fit(products())


@cache
def fast_matching():
    return FastSimilarityMatching(2, random_state=0).fit(products())


@cache
def learned():
    """A learner of motion in the plane; 4 detectors of patches of 25 pixels."""
    scene = SmoothNoise(1.5, ndim=2, random_state=0)
    batch = flymotion.sample_pairs(scene, Grid(5, 5), Translation(0.5), 3000, random_state=0)
    return MotionLearner(4, patch=5, warm_up=1000, random_state=0).fit(batch)


@cache
def line_pairs():
    """Pairs of a movie of 4 pixels."""
    return pair_up(np.random.default_rng(0).standard_normal((31, 4)))


@cache
def gated():
    return GatedBoltzmann(2, n_factors=5, n_passes=1, random_state=0).fit(line_pairs())


@cache
def rotations():
    return IrreducibleRotations().fit(line_pairs())


@cache
def reconstructing():
    return OperatorReconstruction(2, solver="gradient", n_init=3, random_state=0).fit(line_pairs())


@cache
def slow():
    return SlowFeatures(2, of="pairs").fit(line_pairs())


@cache
def operators():
    """Two translations of a grid of 4 x 5 pixels."""
    return Operators(np.stack([derivative_operator(Grid(4, 5), v) for v in ((1.0, 0.0), (0.0, 1.0))]), Grid(4, 5))


@cache
def filters():
    """Three filters of a hexagon of 19 pixels."""
    return Generators(np.random.default_rng(0).standard_normal((3, 19, 19)), Hexagon(2))


@cache
def camera():
    return Camera(6, 8, fov=40.0)


def onto_eye():
    return OntoEye(camera(), Hexagon(1), spacing=5.0)


def moments():
    matrices = np.random.default_rng(0).standard_normal((3, 30, 9))
    C, D, G = (m.T @ m for m in matrices)
    return Moments(C, D, G, 30)


@cache
def line_population():
    return population(exponential_covariance(3.0, 0.5), Line(4), Translation(0.2, ndim=1))


def taps():
    return Taps({"arm": np.zeros((2, 7, 12))}, np.zeros((5, 3), dtype=int), along(-1, 1), 0.01)


def stacked(found):
    """The first of an array and a list of arrays."""
    one, several = found
    return one, several[0][0].pixels


def points(n, ndim):
    return np.random.default_rng(0).uniform(1, 2, (n, 8, ndim))


TIMES = np.arange(7) * 0.1
PATCHES = np.random.default_rng(0).standard_normal((2, 11, 5, 5)).astype(np.float32)
PAIRED = {"n_pairs": 30, "n_pixels": 4, "n_planes": 2}
BENT = 0.1 * np.random.default_rng(0).standard_normal((2, 4, 4))
TURNED = np.random.default_rng(0).standard_normal((2, 30, 2)) @ [1, 1j]
THETA = np.random.default_rng(0).uniform(size=(30, 2))
SAMPLED = {"...": (6, 8)}
FRAMES = {"n_frames": 7, "height": 20, "width": 26}
RULES = {"nonnegative": False, "max_sweeps": 100}
LEARNED = {"n_samples": 30, "K": 2}
NETWORK = {
    "n_components": 2,
    "n_samples": 30,
    "n_features": 12,
    "n_dead": 0,
    "n_u": 4,
    "n_v": 3,
    "feature_shape": (4, 3),
}
SHIFTS = {"...": (6,), "n": 4, "p": 1}

COLUMNS = {"n_columns": 19, "n_offsets": 7}


@cache
def taught():
    """A circuit of few columns that has seen noise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from so little few columns learn four directions
        return T4T5Circuit(Hexagon(2), contrasts=True).fit(np.random.default_rng(0).normal(size=(30, 19)))


CALLS = {
    # frames and world
    "as_frames": (lambda: as_frames(np.zeros((7, 3, 4), dtype=int)), {"n_frames": 7, "pixels": (3, 4)}),
    "unit_vector": (lambda: unit_vector(30.0), {"ndim": 2}),
    "Line.positions": (lambda: Line(9).positions, {"n": 9}),
    "Line.neighbours": (lambda: Line(9).neighbours, {"n_links": 8}),
    "Grid.positions": (lambda: Grid(3, 5).positions, {"height": 3, "width": 5}),
    "Grid.neighbours": (lambda: Grid(3, 5).neighbours, {"n_links": 2 * 5 + 3 * 4}),
    "Hexagon.positions": (lambda: Hexagon(2).positions, {"n_pixels": 19}),
    "Hexagon.axial": (lambda: Hexagon(2).axial, {"n_pixels": 19}),
    "Hexagon.neighbours": (lambda: Hexagon(1).neighbours, {"n_links": 12}),
    "rings": (lambda: rings(2), {"n_offsets": 19}),
    "as_seen": (lambda: as_seen(np.eye(3)), {"...": (3,)}),
    "half_of": (lambda: half_of(Hexagon(2)), {"n_pixels": 19}),
    "preferred_in": (lambda: preferred_in(Hexagon(2)), COLUMNS),
    "Lattice.around": (lambda: lattice_of(Hexagon(2)).around(1), {"n_pixels": 19, "n_offsets": 7}),
    "Lattice.at": (lambda: lattice_of(Hexagon(2)).at([[1, 0], [0, 1]]), {"n_pixels": 19, "n_offsets": 2}),
    "Lattice.neighbours": (lambda: lattice_of(Hexagon(2)).neighbours, {"n_pixels": 19}),
    "Lattice.bearings": (lambda: lattice_of(Hexagon(2)).bearings, {"n_pixels": 19}),
    "Lattice.spacings": (lambda: lattice_of(Hexagon(2)).spacings, {"n_pixels": 19}),
    "TwoChannels.positions": (lambda: TwoChannels(Line(3)).positions, {"n_pixels": 6, "ndim": 1}),
    "TwoChannels.neighbours": (lambda: TwoChannels(Line(3)).neighbours, {"n_links": 4}),
    "on_the_globe": (lambda: on_the_globe(np.zeros((4, 2))), {"...": (4,)}),
    "seen_from": (lambda: seen_from(Hexagon(1), 5.0), {"n_pixels": 7}),
    "Camera.directions": (lambda: camera().directions(), {"height": 6, "width": 8}),
    "Camera.pixels": (lambda: camera().pixels(np.eye(3)), {"...": (3,)}),
    "Camera.solid_angles": (lambda: camera().solid_angles(np.eye(3)), {"...": (3,)}),
    "OntoEye.__call__": (lambda: onto_eye()(np.zeros((2, 6, 8))), {"n_frames": 2, "n_pixels": 7}),
    "axial_coordinates": (lambda: axial_coordinates(buchner("left").directions), {"n_lenses": 699}),
    "CompoundEye.neighbours": (lambda: buchner("left").neighbours, {"n_links": 1997}),
    "colatitudes": (lambda: harmonics.colatitudes(5), {"n": 5}),
    "damping": (lambda: harmonics.damping(5, 0.1), {"degree": 5}),
    "fejer": (lambda: harmonics.fejer(5), {"n": 5}),
    "legendre": (lambda: list(harmonics.legendre(np.arange(4.0), 2))[2], {"l": 2, "n": 4}),
    "series_in_colatitude": (lambda: harmonics.series_in_colatitude(np.ones((3, 4))), {"n_orders": 3, "n": 4}),
    "FourierScene.views": (
        lambda: next(SmoothNoise(3.0, ndim=2, random_state=0).views(np.zeros((4, 2)), [np.ones((3, 3)) + 0j])),
        {"...": (4,)},
    ),
    "Sphere.positions": (lambda: Sphere.evenly(12).positions, {"n_pixels": 12}),
    "Sphere.neighbours": (lambda: Sphere(np.vstack([np.eye(3), -np.eye(3)])).neighbours, {"n_links": 12}),
    "Motion.steps": (lambda: Translation(1.0).steps(9, np.random.default_rng(0)), {"n": 9, "n_parameters": 2}),
    "Motion.quadrature": (lambda: Translation(1.0).quadrature(5), {"m": 5 * 4, "n_parameters": 2}),
    "Motion.maps": (lambda: Translation(1.0).maps(np.zeros((6, 8, 2))), {**SAMPLED, "ndim": 2}),
    "Motion.flow": (
        lambda: Translation(1.0).flow(Grid(3, 5).positions),
        {"n_parameters": 2, "n_pixels": 15, "ndim": 2},
    ),
    "Motion.largest": (lambda: SelfTranslation(0.1).largest, {"n_ways": 6, "n_parameters": 3}),
    "render": (
        lambda: render(Grating(9.0, ndim=2), Grid(3, 5), np.zeros((7, 2))),
        {"n_frames": 7, "eye.shape": (3, 5)},
    ),
    "Grating.extent": (lambda: Grating(9.0, ndim=1).extent, {"ndim": 1}),
    "SquareGrating.extent": (lambda: SquareGrating(9.0, ndim=2).extent, {"ndim": 2}),
    "Bar.extent": (lambda: Bar(2.0, ndim=1).extent, {"ndim": 1}),
    "Edge.extent": (lambda: Edge(ndim=1).extent, {"ndim": 1}),
    "Dot.extent": (lambda: Dot(2.0).extent, {}),
    "Grating.sample": (lambda: Grating(9.0, ndim=2).sample(points(6, 2), 0.5), SAMPLED),
    "SquareGrating.sample": (lambda: SquareGrating(9.0, ndim=2).sample(points(6, 2), 0.5), SAMPLED),
    "Bar.sample": (lambda: Bar(2.0, ndim=1).sample(points(6, 1), 0.5), SAMPLED),
    "Edge.sample": (lambda: Edge(ndim=2).sample(points(6, 2), 0.5), SAMPLED),
    "Drum.sample": (lambda: Drum(Grating(30.0)).sample(points(6, 3), 0.5), SAMPLED),
    "Dot.sample": (lambda: Dot(2.0).sample(points(6, 2), 0.5), SAMPLED),
    "FourierScene.sample": (lambda: SmoothNoise(2.0, ndim=2, random_state=0).sample(points(6, 2), 0.5), SAMPLED),
    "ExponentialNoise.sample": (
        lambda: ExponentialNoise(3.0, period=64.0, random_state=0).sample(points(6, 1), 0.5),
        SAMPLED,
    ),
    "SphericalScene.sample": (
        lambda: SphericalNoise(20.0, random_state=0).sample(np.full((6, 8, 3), 3**-0.5), 2.0),
        SAMPLED,
    ),
    "SphericalScene.toward": (
        lambda: SphericalNoise(20.0, random_state=0).toward(np.zeros(3), np.ones((6, 8, 3))),
        SAMPLED,
    ),
    "as_luminance": (lambda: as_luminance(np.zeros((20, 26, 3))), FRAMES),
    "as_covariances": (lambda: as_covariances(np.tile(np.eye(2), (6, 1, 1)), points(6, 2)), {"n": 6, "ndim": 2}),
    # video
    "read_movie": (lambda: read_movie(movie()), FRAMES),
    "area_averages": (lambda: area_averages(movie(), 3), {"...": (7,), **FRAMES, "scale": 3}),
    "cell_averages": (lambda: cell_averages(movie(), (4, 5)), {"n": 7, "shape": (4, 5)}),
    "area_sums": (lambda: area_sums(movie()[0], 3), {**FRAMES, "scale": 3}),
    "luminance": (lambda: luminance(Grey(movie()[0]), 3), {**FRAMES, "scale": 3}),
    "blur": (blur, {}),
    "view": (lambda: view(movie(), 3), {**FRAMES, "scale": 3}),
    "contrasts": (lambda: contrasts(*PATCHES), {"n_pairs": 11}),
    "speeds": (lambda: speeds(*PATCHES), {"n_pairs": 11}),
    "random_pairs": (
        lambda: random_pairs([movie()], 5, np.random.default_rng(0)),
        {"n_patches": 6 * -(-20_000 // 6), "patch": 5},
    ),
    # photoreceptors and stimuli
    "EarlyVision.transform": (
        lambda: WeberContrast().fit_transform(np.ones((7, 12))),
        {"n_samples": 7, "n_pixels": 12},
    ),
    "OnOff.get_feature_names_out": (lambda: OnOff().fit(np.ones((7, 12))).get_feature_names_out(), {"n_pixels": 12}),
    "Cosine.__call__": (lambda: Cosine(1.0)(TIMES), {"n_frames": 7}),
    "Window.__call__": (lambda: Window(0.2)(TIMES), {"n_frames": 7}),
    "Table.__call__": (lambda: Table(np.arange(3.0), 0.1)(TIMES), {"n_frames": 7}),
    "Stepped.__call__": (lambda: Stepped(Drift(5.0), 0.2)(TIMES), {"n_frames": 7, "...": (2,)}),
    "Drift.__call__": (lambda: Drift(5.0)(TIMES), {"n_frames": 7}),
    "Track.__call__": (lambda: Track(np.arange(3.0), 0.1)(TIMES), {"n_frames": 7}),
    "Lives.__call__": (
        lambda: Lives(np.array([0.0, 0.3]), np.ones((2, 2)), np.ones((2, 2)), 9.0)(TIMES),
        {"n_frames": 7},
    ),
    "Turning.__call__": (lambda: Turning(30.0)(TIMES), {"n_frames": 7}),
    "across": (lambda: across(30.0), {}),
    "RandomBars.signs": (lambda: RandomBars(duration=0.2, extent=35.0).signs(), {"n_steps": 10, "n_bars": 7}),
    "Part.frames": (lambda: plaid().parts[0].frames(Grid(3, 5), TIMES), {"n_frames": 7, "eye.shape": (3, 5)}),
    "Stimulus.movie": (
        lambda: plaid(duration=0.7).movie(Grid(3, 5), 0.1, spacing=5.0),
        {"n_frames": 7, "eye.shape": (3, 5)},
    ),
    "Stimulus.stream": (
        lambda: next(plaid().stream(Grid(3, 5), 0.1, block=7, spacing=5.0)),
        {"n_frames": 7, "eye.shape": (3, 5)},
    ),
    # similarity
    "OuterProducts.factors": (lambda: products().factors(), {"n_samples": 30, "r": 2, "n_u": 4, "n_v": 3}),
    "OuterProducts.project": (lambda: products().project(np.zeros((2, 4, 3))), {"n_samples": 30, "K": 2}),
    "OuterProducts.gram": (lambda: products().gram(products()[:5]), {"n_samples": 30, "n_others": 5}),
    "OuterProducts.accumulate": (lambda: products().accumulate(THETA), {"K": 2, "n_u": 4, "n_v": 3}),
    "OuterProducts.norms": (lambda: products().norms(), {"n_samples": 30}),
    "OuterProducts.dense": (lambda: products().dense(), {"n_samples": 30, "n_u": 4, "n_v": 3}),
    "Vectors.dense": (lambda: vectors().dense(), {"n_samples": 30, "n_features": 12}),
    "Vectors.factors": (lambda: vectors().factors(), {"n_samples": 30, "n_features": 12}),
    "Vectors.project": (lambda: vectors().project(np.zeros((2, 12))), {"n_samples": 30, "K": 2}),
    "Vectors.gram": (lambda: vectors().gram(vectors()[:5]), {"n_samples": 30, "n_others": 5}),
    "Vectors.accumulate": (lambda: vectors().accumulate(THETA), {"K": 2, "n_features": 12}),
    "Vectors.norms": (lambda: vectors().norms(), {"n_samples": 30}),
    "project": (lambda: samples.project(products(), np.zeros((2, 12))), {"n_samples": 30, "K": 2}),
    "energies": (lambda: samples.energies(products()), {"n_samples": 30}),
    "outputs_like": (lambda: samples.outputs_like(products(), np.zeros((30, 2))), {"n_samples": 30, "K": 2}),
    "accumulate": (lambda: samples.accumulate(products(), THETA), {"K": 2, "n_features": 12}),
    "generators_of": (
        lambda: samples.generators_of(OuterProductPCA(2).fit(products()), np.zeros((5, 12))),
        {"K": 5, "n_u": 4, "n_v": 3},
    ),
    "sparsest_rotation": (lambda: initialisation.sparsest_rotation(THETA), {"n_samples": 30, "m": 2}),
    "warm_start": (
        lambda: initialisation.warm_start(products(), 4, nonnegative=True),
        {"n_samples": 30, "n_components": 4},
    ),
    "descend": (lambda: optima.descend(products().gram(), THETA), {"T": 30, "K": 2}),
    "offline_sm": (lambda: optima.offline_sm(products().gram(), 2), {"T": 30, "K": 2}),
    "oriented_dendrites": (
        lambda: dendrites.oriented_dendrites(Line(5), [180.0, 0.0]),
        {"n_units": 2, "n_pixels": 5},
    ),
    "round_dendrites": (lambda: dendrites.round_dendrites(Line(5), 3), {"n_units": 3, "n_pixels": 5}),
    "misplaced_dendrites": (lambda: dendrites.misplaced_dendrites(Line(5), 3), {"n_units": 3, "n_pixels": 5}),
    "optimal_synapses": (lambda: optima.optimal_synapses(THETA, products()), {"K": 2, "feature_shape": (4, 3)}),
    "lyapunov_slopes": (
        lambda: optima.lyapunov_slopes(THETA, products(), np.zeros((2, 4, 3)), np.eye(2)),
        {"T": 30, "K": 2, "feature_shape": (4, 3)},
    ),
    "SimilarityMatching.components_": (lambda: network().components_, NETWORK),
    "NonnegativeSimilarityMatching.components_": (lambda: network(NonnegativeSimilarityMatching).components_, NETWORK),
    "State.W": (lambda: network()._state.W, {**NETWORK, "K": 2}),
    "State.M": (lambda: network()._state.M, {"K": 2}),
    "State.advance": (lambda: network.__wrapped__()._state.advance(products(), **RULES, forgetting=1.0)[0], LEARNED),
    "State.respond": (lambda: network()._state.respond(products(), **RULES)[0], LEARNED),
    "seen_once": (
        lambda: seen_once(LogIntensity().fit(np.ones((3, 5))), np.ones((7, 5))),
        {"n_frames": 7, "n_pixels": 5},
    ),
    "signed": (lambda: signed(THETA), {"n_rows": 30, "m": 2}),
    "tapped": (lambda: stacked(tapped(along(-1, 1), Grid(3, 5), np.zeros(1))), {"n_positions": 9, "n_taps": 3}),
    "steps_along": (lambda: steps_along(along(-1, 1), 30.0), {"n_taps": 3}),
    "Axes.to_either_side": (
        lambda: axes_of(along(-1, 1), lattice_of(Hexagon(1))).to_either_side(0.0)[0],
        {"n_pixels": 7},
    ),
    "Detector.places": (lambda: Detector({"a": ()}, along(-1, 1), np.sum).places, {"n_taps": 3}),
    "Lattice.seen": (lambda: lattice_of(Hexagon(1)).seen(np.zeros((7, 4), dtype=int)), {"n_pixels": 7, "n": 4}),
    "OnlineNetwork.W_": (lambda: network().W_, NETWORK),
    "OnlineNetwork.M_": (lambda: network().M_, NETWORK),
    "OnlineNetwork.S_": (lambda: network().S_, NETWORK),
    "OnlineNetwork.R_": (lambda: network().R_, NETWORK),
    "OnlineNetwork.generators_": (lambda: network().generators_, NETWORK),
    "OnlineNetwork.dead_units_": (lambda: network().dead_units_, NETWORK),
    "OnlineNetwork.transform": (lambda: network().transform(products()), NETWORK),
    "OnlineNetwork.partial_fit_transform": (
        lambda: SimilarityMatching(2, warm_up=20).partial_fit_transform(products()),
        NETWORK,
    ),
    "OuterProductPCA.transform": (
        lambda: OuterProductPCA(2).fit(products()).transform(products()),
        {"n_samples": 30, "n_components": 2},
    ),
    "OuterProductPCA.generators_": (
        lambda: OuterProductPCA(2).fit(products()).generators_,
        {"n_components": 2, "n_u": 4, "n_v": 3},
    ),
    "OuterProductKMeans.transform": (
        lambda: OuterProductKMeans(5, random_state=0).fit(products()).transform(products()),
        {"n_samples": 30, "n_clusters": 5},
    ),
    "OuterProductKMeans.predict": (
        lambda: OuterProductKMeans(5, random_state=0).fit(products()).predict(products()),
        {"n_samples": 30},
    ),
    "OuterProductKMeans.generators_": (
        lambda: OuterProductKMeans(5, random_state=0).fit(products()).generators_,
        {"n_clusters": 5, "n_u": 4, "n_v": 3},
    ),
    "StreamLearner.transform": (
        lambda: CCIPCA(2).fit(products()).transform(products()),
        {"n_samples": 30, "n_components": 2},
    ),
    "StreamLearner.components_": (lambda: CCIPCA(2).fit(products()).components_, NETWORK),
    "StreamLearner.generators_": (lambda: CCIPCA(2).fit(products()).generators_, NETWORK),
    "CCIPCA.components_": (lambda: CCIPCA(2).fit(products()).components_, NETWORK),
    "CCIPCA.explained_energy_": (lambda: CCIPCA(2).fit(products()).explained_energy_, NETWORK),
    "AdaOja.components_": (lambda: AdaOja(2).fit(products()).components_, NETWORK),
    "OjaSubspace.components_": (lambda: OjaSubspace(2).fit(products()).components_, NETWORK),
    "FastSimilarityMatching.components_": (lambda: fast_matching().components_, NETWORK),
    "FastSimilarityMatching.explained_energy_": (lambda: fast_matching().explained_energy_, NETWORK),
    "FastSimilarityMatching.W_": (lambda: fast_matching().W_, NETWORK),
    "FastSimilarityMatching.M_": (lambda: fast_matching().M_, NETWORK),
    "factors_of": (lambda: factors_of(products(), 2.0), {"n": 30, "r": 2, "n_u": 4, "n_v": 3}),
    "WrittenOut.transform": (lambda: written_out().transform(products()), {"n_outputs": 2, **NETWORK}),
    "WrittenOut.generators_": (lambda: written_out().generators_, {"n_outputs": 2, **NETWORK}),
    "orthonormal_rows": (lambda: orthonormal_rows(np.ones((2, 3))), {"n_rows": 2, "n": 3}),
    # relations
    "PairLearner.transform": (lambda: slow().transform(line_pairs()), {"n_outputs": 2, **PAIRED}),
    "end_to_end": (lambda: end_to_end(line_pairs()), PAIRED),
    "DiagonalSums.generators_": (lambda: DiagonalSums(1).fit(line_pairs()).generators_, {"n_outputs": 3, **PAIRED}),
    "DiagonalSums.velocities": (
        lambda: DiagonalSums(1).fit(line_pairs()).velocities(line_pairs()),
        {"n_dims": 1, **PAIRED},
    ),
    "GatedBoltzmann.analogies": (lambda: gated().analogies(line_pairs(), line_pairs().before), PAIRED),
    "GatedBoltzmann.generators_": (lambda: gated().generators_, {"n_components": 2, **PAIRED}),
    "Gates.mapping": (
        lambda: gated().gates_.mapping(line_pairs().before, line_pairs().after),
        {"B": 30, "K": 2},
    ),
    "Gates.after": (lambda: gated().gates_.after(line_pairs().before, THETA), {"B": 30, "n": 4}),
    "best_magnitudes": (
        lambda: best_magnitudes(line_pairs().after, line_pairs().before, BENT, Penalty())[0],
        {"T": 30, "K": 2},
    ),
    "best_operators": (
        lambda: best_operators(line_pairs().after, line_pairs().before, BENT, THETA, Penalty()),
        {"K": 2, "n": 4},
    ),
    "IrreducibleRotations.amplitudes": (lambda: rotations().amplitudes(line_pairs()), PAIRED),
    "IrreducibleRotations.velocity": (lambda: rotations().velocity(line_pairs()), PAIRED),
    "IrreducibleRotations.generator_": (lambda: rotations().generator_, PAIRED),
    "IrreducibleRotations.generators_": (lambda: rotations().generators_, PAIRED),
    "OperatorReconstruction.generators_": (lambda: reconstructing().generators_, {"n_components": 2, **PAIRED}),
    "SlowFeatures.generators_": (lambda: slow().generators_, {"n_components": 2, **PAIRED}),
    "planes_of": (lambda: planes_of(BENT[0] - BENT[0].T, 2), {"n_planes": 2, "n": 4}),
    "most_likely": (lambda: most_likely(TURNED[0][:, None] * [1, 1], np.array([1.0, 2.0])), PAIRED),
    "fit_rates": (lambda: fit_rates(*(z[:, None] * [1, 1j] for z in TURNED), np.array([1.0, 2.0])), PAIRED),
    "moved": (lambda: moved(BENT, THETA, line_pairs().before), {"T": 30, "n": 4}),
    "moved_and_slopes": (lambda: moved_and_slopes(BENT, THETA, line_pairs().before), {"T": 30, "K": 2, "n": 4}),
    "operator_slopes": (
        lambda: operator_slopes(BENT, THETA, line_pairs().before, line_pairs().after),
        {"K": 2, "n": 4},
    ),
    "spacing": (lambda: spacing(BENT, line_pairs().before), {"K": 2}),
    "ReconstructionNetwork.transform": (
        lambda: reconstruction().transform(vectors().x),
        {"n_samples": 30, "n_components": 2},
    ),
    "ReconstructionNetwork.components_": (lambda: reconstruction().components_, {"n_components": 2, "n_features": 12}),
    "ReconstructionNetwork.gramian_": (lambda: reconstruction().gramian_, {"n_components": 2}),
    # generators
    "cosine": (lambda: cosine(np.ones((6, 8, 3, 3)), np.ones((3, 3))), SAMPLED),
    "antisymmetric_share": (lambda: antisymmetric_share(np.ones((6, 8, 3, 3))), SAMPLED),
    "derivative_operator": (lambda: derivative_operator(Grid(3, 5)), {"n_pixels": 15}),
    "cosine_modes": (lambda: cosine_modes(3), {"size": 3}),
    "interior": (lambda: interior(Grid(5, 6), 1), {"n_pixels": 30}),
    "Generators.cosines": (lambda: filters().cosines(np.ones((2, 19, 19))), {"n_components": 3, "m": 2}),
    "Generators.antisymmetric_share": (lambda: filters().antisymmetric_share(), {"n_components": 3}),
    "Generators.toeplitz_share": (lambda: filters().toeplitz_share(), {"n_components": 3}),
    "Generators.locality": (lambda: filters().locality(), {"n_components": 3}),
    "Generators.directions": (lambda: filters().directions(), {"n_components": 3}),
    "Generators.answering": (lambda: filters().answering, {"n_answering": 3}),
    "Generators.rows": (lambda: filters().rows(), {"n_components": 3, "shape": (19,)}),
    "Operators.apply": (
        lambda: operators().apply(np.zeros((7, 4, 5)), [0.1, 0.2]),
        {"n_frames": 7, "pixels": (4, 5)},
    ),
    "Operators.transform": (
        lambda: operators().transform(np.zeros((7, 4, 5)), [0.1, 0.2]),
        {"n_frames": 7, "pixels": (4, 5)},
    ),
    "Operators.estimate": (
        lambda: operators().estimate(FramePairs(*PATCHES[:, :, :4])),
        {"n_pairs": 11, "n_parameters": 2},
    ),
    "Operators.register": (
        lambda: operators().register(FramePairs(*PATCHES[:, :, :4]), windows=[np.ones(20)], n_iterations=2),
        {"n_pairs": 11, "n_parameters": 2},
    ),
    "Operators.windows": (
        lambda: Operators(np.zeros((1, 81, 81)), Grid(9, 9)).windows()[0],
        {"n_pixels": 81},
    ),
    "implied_flow": (lambda: implied_flow(filters()), {"n_components": 3, "n_pixels": 19, "ndim": 2}),
    "mean_filters": (lambda: mean_filters(filters(), 1.0), {"n_components": 3, "n_offsets": 7, "ndim": 2}),
    "probability_positive": (lambda: probability_positive(np.ones((6, 8, 3))), SAMPLED),
    "MotionMap.motion_first": (
        lambda: motion_map([0.4, 0.5, 0.6], [0.1, 0.5], n=4).motion_first,
        {"n_sigmas": 3, "n_shifts": 2},
    ),
    "Population.frame_covariance": (lambda: line_population().frame_covariance(np.zeros((6, 1))), SHIFTS),
    "Population.mean_given_step": (lambda: line_population().mean_given_step(np.zeros((6, 1))), SHIFTS),
    "Population.mean_response": (lambda: line_population().mean_response(np.eye(4), np.zeros((6, 1))), SHIFTS),
    "Population.second_moment": (lambda: line_population().second_moment, SHIFTS),
    "Population.components": (lambda: line_population().components(3), {"n_components": 3, "n": 4}),
    "Population.axis": (lambda: line_population().axis(np.eye(4, k=1) - np.eye(4, k=-1)), SHIFTS),
    # learner
    "guise": (lambda: guise(*PATCHES, np.arange(11)), {"n_pairs": 11, "patch": 5}),
    "worthwhile": (lambda: worthwhile(*PATCHES, 0.1, np.eye(25)), {"n_pairs": 11}),
    "load_photographs": (lambda: load_photographs(["bundled"])[0], {"height": 427, "width": 640}),
    "Moments.noise": (lambda: moments().noise(), {"n": 9}),
    "whitening": (lambda: whitening(moments()), {"n": 9}),
    "MotionLearner.get_feature_names_out": (lambda: learned().get_feature_names_out(), {"n_components": 4}),
    "LearnedState.directions": (lambda: learned().state_.directions, {"n_components": 4}),
    "LearnedState.responses": (lambda: learned().state_.responses(movie()), {"n_pairs": 6, "n_components": 4}),
    "LearnedState.velocities": (lambda: learned().state_.velocities(movie()), {"n_pairs": 6, "n_parameters": 2}),
    "MotionLearner.transform": (lambda: learned().transform(movie()), {"n_pairs": 6, "n_components": 4}),
    "MotionLearner.predict": (lambda: learned().predict(movie()), {"n_pairs": 6, "n_parameters": 2}),
    "MotionLearner.ways_": (lambda: learned().ways_, {"n_components": 4, "n_parameters": 2}),
    "MotionLearner.directions_": (lambda: learned().directions_, {"n_components": 4}),
    "MotionLearner.gain_": (lambda: learned().gain_, {"n_components": 4}),
    # detectors
    "along": (lambda: along(-1, 3), {"n_taps": 5}),
    "Detector.__call__": (
        lambda: three_pixel()(np.zeros((2, 7, 3, 6)), 0.01, eye=Grid(3, 6), direction=[0.0, 180.0]),
        {"...": (2,), "n_frames": 7, "n_positions": 12, "n_directions": 2},
    ),
    "FunctionDetector.__call__": (
        lambda: FunctionDetector(lambda movie, dt: np.zeros((len(movie), 5, 2)), directions=(0.0, 90.0))(
            np.zeros((3, 7, 6)), 0.01, eye=Line(6)
        ),
        {"...": (3,), "n_frames": 7, "n_positions": 5, "n_units": 2},
    ),
    "Detector.positions": (lambda: three_pixel().positions(Grid(3, 6)), {"n_positions": 12}),
    "Stream.push": (
        lambda: three_pixel().stream(0.01, eye=Grid(3, 6)).push(np.zeros((7, 3, 6))),
        {"...": (), "n_frames": 7, "n_positions": 12},
    ),
    "Taps.__call__": (lambda: taps()("arm", 1), {"...": (2,), "n_frames": 7, "n_positions": 5}),
    "Taps.all": (lambda: taps().all("arm"), {"...": (2,), "n_frames": 7, "n_positions": 5, "n_taps": 3}),
    "LowPass.coefficients": (lambda: LowPass(0.1).coefficients(0.01), {"order": 1}),
    "HighPass.coefficients": (lambda: HighPass(0.1).coefficients(0.01), {"order": 1}),
    "Gamma.coefficients": (lambda: Gamma(0.1).coefficients(0.01), {"order": 2}),
    "GammaSlope.coefficients": (lambda: GammaSlope(0.1).coefficients(0.01), {"order": 2}),
    "transfer": (lambda: transfer((LowPass(0.1),), np.ones((6, 8)), 0.01), SAMPLED),
    "start": (lambda: start(LowPass(0.1), np.zeros((2, 12)), 0.01)[1], {"...": (2,), "n_pixels": 12}),
    "filtered": (
        lambda: filtered(LowPass(0.1), np.zeros((2, 7, 12)), start(LowPass(0.1), np.zeros((2, 12)), 0.01)[0], 0.01)[0],
        {"...": (2,), "n_frames": 7, "n_pixels": 12},
    ),
    # tuning
    "round_the_circle": (
        lambda: round_the_circle(np.zeros((6, 8, 4)), [0, 90, 180, 270], np.arange(5)),
        {**SAMPLED, "n": 5},
    ),
    "around": (
        lambda: around(np.zeros((6, 8, 5)), np.array([0, 90, 180, 270, 360.0]))[0],
        {"...": (6, 8), "n_places": 4},
    ),
    "read_at": (
        lambda: read_at(*around(np.zeros((6, 8, 4)), np.array([0.0, 90, 180, 270])), np.arange(5)),
        {"...": (6, 8), "n": 5},
    ),
    "seen": (
        lambda: seen(WeberContrast().fit(np.ones((1, 15))), np.ones((2, 7, 3, 5))),
        {"n": 2, "n_frames": 7, "pixels": (3, 5)},
    ),
    "rendered": (
        lambda: next(rendered([[plaid(duration=0.7)] * 2], Grid(3, 5), 5.0, 0.1)),
        {"n": 2, "n_frames": 7, "eye.shape": (3, 5)},
    ),
    # circuits
    "let_through": (lambda: let_through(Membrane(), Synapses(*np.ones((3, 6, 8, 4)))), {"...": (6, 8), "B": 4}),
    "CompartmentalNeurons.W": (lambda: CompartmentalNeurons(np.zeros((2, 3, 3))).W, {"K": 2, "n": 3}),
}

CALLS |= {
    "T4T5Circuit.transform": (lambda: taught().transform(np.ones((3, 19))), {"n_frames": 3, **COLUMNS}),
    "CircuitStream.push": (lambda: taught().stream().push(np.ones(19)), COLUMNS),
    "CircuitStream.respond": (lambda: taught().stream().respond(np.ones((3, 19))), {"n_frames": 3, **COLUMNS}),
    "LearnedColumns.weights_": (lambda: taught().weights_, COLUMNS),
    "LearnedColumns.start_": (lambda: taught().start_, COLUMNS),
    "LearnedColumns.lateral_": (lambda: taught().lateral_, COLUMNS),
    "LearnedColumns.named_": (lambda: taught().named_, COLUMNS),
    "LearnedColumns.order_": (lambda: taught().order_[0], COLUMNS),
    "CellInputs.__call__": (
        lambda: taught().inputs_[0](np.ones((3, 19)), np.ones((7, 3, 19))),
        {"...": (3,), **COLUMNS},
    ),
    "Decorrelation.__call__": (
        lambda: taught().inputs_[0].decorrelation(np.ones((7, 3, 19))),
        {"...": (3,), **COLUMNS},
    ),
    "Columns.W": (lambda: taught().networks_[0].W, {"n_cells": 4, **COLUMNS}),
    "Columns.M": (lambda: taught().networks_[0].M, {"n_cells": 4, **COLUMNS}),
    "Patches.offsets": (lambda: taught().patches_.offsets, {"n": 19, **COLUMNS}),
    "Patches.preferred": (lambda: taught().patches_.preferred, {"n": 19}),
    "Patches.gather": (lambda: taught().patches_.gather(np.ones((3, 19))), {"...": (3,), **COLUMNS}),
    "Patches.known": (lambda: taught().patches_.known(np.eye(3, 19) > 0), {"n_frames": 3, **COLUMNS}),
    "Patches.oriented": (lambda: taught().patches_.oriented(), COLUMNS),
    "Patches.random": (lambda: taught().patches_.random(np.random.default_rng(0)), {"n_cells": 4, **COLUMNS}),
    "Patches.directions": (lambda: taught().patches_.directions(np.ones((19, 8, 7))), {"n_cells": 8, **COLUMNS}),
    "Patches.named": (lambda: taught().patches_.named(np.ones((19, 4, 2))), COLUMNS),
    "attitudes": (lambda: attitudes(np.ones((5, 3)), 0.1, 0), {"n_frames": 5}),
    "wandering": (lambda: wandering(5, 3, 0.1, 10.0, 0.2, 0), {"n_frames": 5, "n_axes": 3}),
    "normalised_covariance": (
        lambda: normalised_covariance(np.random.default_rng(0).normal(size=(50, 7)), 3, 0.1),
        {"n_offsets": 7},
    ),
    "effective": (lambda: effective("T4a", rings(1)), {"n": 7}),
    "likeness": (lambda: likeness(np.eye(2, 7), rings(1), "T4a"), {"...": (2,)}),
    "weight_at": (lambda: weight_at(np.eye(2, 7), rings(1), "T4a", 1), {"...": (2,)}),
    "profile": (lambda: profile(np.eye(2, 7), rings(1), "T4a"), {"...": (2,), "n_positions": 3}),
    "shuffled": (
        lambda: shuffled(np.eye(2, 7), 5, np.random.default_rng(0)),
        {"n": 5, "...": (2,), "n_offsets": 7},
    ),
}

NOT_RUN = {
    "to_numpy": "any array, of any shape",
    "unmasked": "any array, of any shape",
}
"""Functions that return arrays and are not run, and why."""


ATTRIBUTES = {
    "T4T5Circuit": (lambda: taught(), COLUMNS),
    "LobulaPlate": (lambda: lobula_plate(np.ones((3, 19, 8))), {"...": (3,), **COLUMNS}),
    "Signals": (lambda: ColumnSignals(Hexagon(2), 0.02).push(np.ones((3, 19))), {"n_frames": 3, **COLUMNS}),
    "Thumbnail": (lambda: thumbnail(movie()[0]), {"n_rows": 12, "n_columns": 16}),
    "DivisiveNormalization": (
        lambda: DivisiveNormalization(pool=1.0, eye=(12,)).fit(np.ones((7, 12))),
        {"n_pixels": 12},
    ),
    "ZCAWhitening": (lambda: ZCAWhitening().fit(np.eye(12)), {"n_pixels": 12}),
    "SimilarityMatching": (network, {"K": 2, **NETWORK}),
    "NonnegativeSimilarityMatching": (lambda: network(NonnegativeSimilarityMatching), {"K": 2, **NETWORK}),
    "OuterProductPCA": (lambda: OuterProductPCA(2).fit(products()), {"K": 2, **NETWORK}),
    "OuterProductKMeans": (lambda: OuterProductKMeans(2, random_state=0).fit(products()), {"K": 2, **NETWORK}),
    "CCIPCA": (lambda: CCIPCA(2).fit(products()), {"K": 2, **NETWORK}),
    "AdaOja": (lambda: AdaOja(2).fit(products()), {"K": 2, **NETWORK}),
    "OjaSubspace": (lambda: OjaSubspace(2).fit(products()), {"K": 2, **NETWORK}),
    "FastSimilarityMatching": (fast_matching, {"K": 2, **NETWORK}),
    "WrittenOut": (written_out, {"K": 2, **NETWORK}),
    "ReconstructionNetwork": (reconstruction, {"K": 2, "n_features": 12}),
    "AdditiveUnits": (lambda: AdditiveUnits(3).fit(line_pairs()), {"n_components": 3, **PAIRED}),
    "DiagonalSums": (lambda: DiagonalSums(1).fit(line_pairs()), {"n_outputs": 3, "n_dims": 1, **PAIRED}),
    "ExponentialOperators": (
        lambda: ExponentialOperators(1, n_starts=1, tol=1.0).fit(line_pairs()),
        {"K": 1, **PAIRED},
    ),
    "GatedBoltzmann": (gated, {"n_components": 2, **PAIRED}),
    "IrreducibleRotations": (rotations, PAIRED),
    "OperatorReconstruction": (reconstructing, {"K": 2, "n_init": 3, **PAIRED}),
    "SlowFeatures": (slow, {"K": 2, "d": 8}),
    "CompartmentalNeurons": (lambda: CompartmentalNeurons(np.zeros((2, 3, 3))), {"K": 2, "n": 3}),
    "RateNetwork": (lambda: RateNetwork(np.zeros((2, 4, 3))), {"K": 2, "n_u": 4, "n_v": 3}),
    "OntoEye": (onto_eye, {"n_pixels": 7, "n_blocks": 6 * 8}),
    "Match": (lambda: filters().match(np.ones((2, 19, 19))), {"n_components": 3}),
    "Meaning": (lambda: learned().state_.meaning, {"n_parameters": 2}),
    "Moments": (moments, {"n": 9}),
    "Verdict": (lambda: learned().verdict_, {"n_components": 4}),
    "MotionLearner": (learned, {"n_components": 4, "n_parameters": 2}),
}

NOT_MADE = {
    "GivenWhitening": "what it is given, test_learning.py",
    "PatchStream": "needs a video, test_corpus.py",
    "Pool": "what it is given, test_corpus.py",
    "Probe": "what a learner's attributes come from",
    "Seen": "frames of several sizes",
    "Survey": "needs a video, test_corpus.py",
}
"""Classes whose attributes have shapes and are not looked at, and why."""


@pytest.fixture(scope="module")
def kinds():
    return {thing.__name__: thing for thing in exports() if inspect.isclass(thing) and attributes(thing)}


@pytest.fixture(scope="module")
def functions():
    return {name: function for name, function in public_functions().items() if returns_arrays(function)}


def test_all_that_returns_arrays_is_run_or_has_a_reason(functions):
    assert sorted(CALLS.keys() | NOT_RUN.keys()) == sorted(functions)


def test_all_that_returns_arrays_says_their_shapes(functions):
    assert [name for name, function in functions.items() if name not in NOT_RUN and not documented(function)] == []


@pytest.mark.parametrize("name", CALLS)
def test_shapes_are_as_documented(functions, name):
    call, sizes = CALLS[name]
    found, shapes = call(), documented(functions[name])
    arrays = found if isinstance(found, tuple) else (found,)
    said = [expected(shape, sizes) for shape in (shapes * len(arrays))[-len(arrays) :]]
    assert [array.shape for array in arrays] == said


def test_all_that_has_arrays_is_made_or_has_a_reason(kinds):
    assert sorted(kinds.keys() - ATTRIBUTES.keys() - NOT_MADE.keys()) == []


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_have_the_shapes_that_are_documented(kinds, name):
    make, sizes = ATTRIBUTES[name]
    made, said = make(), attributes(kinds[name])
    assert {key: getattr(made, key).shape for key in said} == {key: expected(said[key], sizes) for key in said}
